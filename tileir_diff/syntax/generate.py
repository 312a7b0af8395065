"""Writes the LALR tables of the grammar: `python -m tileir_diff.syntax.generate`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from lark import Lark
from lark.grammar import Rule
from lark.lexer import TerminalDef

from tileir_diff.syntax.parser import OPTIONS, TABLES

PACKAGED = Path(__file__).parents[1] / "grammars" / "tileir.lark"
CHECKOUT = Path(__file__).parents[2] / "grammars" / "tileir.lark"


def grammar_path() -> Path:
    """The grammar file: inside an installed package, else at the top of a checkout."""
    return PACKAGED if PACKAGED.exists() else CHECKOUT


def tables(grammar: str) -> str:
    """The parser for a grammar text, serialised as JSON; equal text gives equal bytes."""
    parser: Any = Lark(grammar, **OPTIONS)
    data, memo = parser.memo_serialize([TerminalDef, Rule])
    saved = canonical(json.loads(json.dumps({"data": data, "memo": memo})))
    return json.dumps(saved, separators=(",", ":"), sort_keys=True) + "\n"


def canonical(saved: dict[str, Any]) -> dict[str, Any]:
    """Numbers rules, terminals and states by what they are: Lark numbers them in the order of its sets."""
    memo: dict[str, Any] = saved["memo"]
    by_content = sorted(memo, key=lambda old: json.dumps(memo[old], sort_keys=True))
    number = {old: new for new, old in enumerate(by_content)}
    data = _renumber(saved["data"], number)
    tables = data["parser"]["parser"]
    tables["tokens"], tables["states"] = _by_token_name(tables["tokens"], tables["states"])
    _order_states(tables)
    return {"data": data, "memo": {str(number[old]): memo[old] for old in by_content}}


def _renumber(value: Any, number: dict[str, int]) -> Any:
    """Replaces references `{"@": n}` to the memo."""
    if isinstance(value, list):
        return [_renumber(item, number) for item in value]  # pyright: ignore[reportUnknownVariableType]
    if not isinstance(value, dict):
        return value
    if list(value) == ["@"]:  # pyright: ignore[reportUnknownArgumentType]
        return {"@": number[str(value["@"])]}  # pyright: ignore[reportUnknownArgumentType]
    return {key: _renumber(item, number) for key, item in value.items()}  # pyright: ignore[reportUnknownVariableType]


def _by_token_name(tokens: dict[str, str], states: dict[str, Any]) -> tuple[dict[str, str], dict[str, Any]]:
    order = {old: str(new) for new, (old, _) in enumerate(sorted(tokens.items(), key=lambda item: item[1]))}
    renamed = {order[old]: name for old, name in tokens.items()}
    return renamed, {
        state: {order[old]: action for old, action in actions.items()} for state, actions in states.items()
    }


def _order_states(tables: dict[str, Any]) -> None:
    """Numbers states as a walk from the start states meets them."""
    states: dict[str, Any] = tables["states"]
    number: dict[int, int] = {}
    queue = [tables["start_states"][name] for name in sorted(tables["start_states"])]
    while queue:
        state = queue.pop(0)
        if state in number:
            continue
        number[state] = len(number)
        actions = states[str(state)]
        queue += [actions[token][1] for token in sorted(actions, key=int) if actions[token][0] == 0]
    for name in ("start_states", "end_states"):
        tables[name] = {start: number[state] for start, state in tables[name].items()}
    tables["states"] = {
        str(number[int(state)]): {
            token: [kind, number[target] if kind == 0 else target]
            for token, (kind, target) in actions.items()
        }
        for state, actions in states.items()
        if int(state) in number
    }


if __name__ == "__main__":
    TABLES.write_text(tables(grammar_path().read_text(encoding="utf-8")), encoding="utf-8")
