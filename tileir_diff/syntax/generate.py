"""Writes the LALR tables of the grammar: `python -m tileir_diff.syntax.generate`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from lark import Lark
from lark.parsers.lalr_analysis import Shift

from tileir_diff.syntax.parser import OPTIONS, TABLES

PACKAGED = Path(__file__).parents[1] / "grammars" / "tileir.lark"
CHECKOUT = Path(__file__).parents[2] / "grammars" / "tileir.lark"


def grammar_path() -> Path:
    """The grammar file: inside an installed package, else at the top of a checkout."""
    return PACKAGED if PACKAGED.exists() else CHECKOUT


def lark(**more: Any) -> Any:
    """Lark's own parser for the grammar; it takes 50 ms."""
    return Lark(grammar_path().read_text(encoding="utf-8"), **OPTIONS, **more)


def tables(parser: Any) -> str:
    """What `drive.Driver` needs of a Lark parser, as JSON; the same grammar gives the same bytes."""
    table = parser.parser.parser.parser.parse_table
    lexer = parser.parser.lexer
    (pattern,) = lexer.scanner._mres
    number = _numbers(table)
    rules = {
        rule: (len(rule.expansion), rule.origin.name, _action(rule))
        for actions in table.states.values()
        for action, rule in actions.values()
        if action is not Shift
    }
    reductions = sorted(set(rules.values()))
    place = {rule: reductions.index(content) for rule, content in rules.items()}
    states: list[Any] = [[{}, {}] for _ in number]
    for state, actions in table.states.items():
        if state in number:
            for symbol, (action, target) in sorted(actions.items()):
                shifts, reduces = states[number[state]]
                if action is Shift:
                    shifts[symbol] = number[target]
                else:
                    reduces[symbol] = place[target]
    saved = {
        "starts": {name: number[state] for name, state in table.start_states.items()},
        "ends": {name: number[state] for name, state in table.end_states.items()},
        "pattern": pattern.pattern,
        "flags": pattern.flags,
        "ignored": sorted(lexer.ignore_types),
        "reductions": reductions,
        "states": states,
    }
    return json.dumps(saved, separators=(",", ":"), sort_keys=True) + "\n"


def _action(rule: Any) -> str:
    """The method of the actions for a rule; "" where the rule is its only child (`?rule` in the grammar)."""
    single = rule.options.expand1 and not rule.alias and len(rule.expansion) == 1
    return "" if single else rule.alias or rule.origin.name


def _numbers(table: Any) -> dict[int, int]:
    """Numbers states as a walk from the start states meets them: Lark does it in the order of its sets."""
    number: dict[int, int] = {}
    queue = [table.start_states[name] for name in sorted(table.start_states)]
    while queue:
        state = queue.pop(0)
        if state not in number:
            number[state] = len(number)
            queue += [
                target for _, (action, target) in sorted(table.states[state].items()) if action is Shift
            ]
    return number


if __name__ == "__main__":
    TABLES.write_text(tables(lark()), encoding="utf-8")
