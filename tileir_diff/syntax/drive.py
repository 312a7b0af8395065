"""Runs the LALR tables that Lark made of the grammar: twice as fast as Lark, whose import is saved too.

Only texts that the grammar accepts end here. For all others `parse` gives None, and Lark, which keeps lines,
columns and what it expected, says what is wrong.
"""

from __future__ import annotations

import re
from typing import Any, TypeAlias

from tileir_diff.syntax.token import Token

State: TypeAlias = dict[str, Any]

# Spaces within a line, skipped before a token: as matches of their own they are a third of all.
# Left to the grammar's terminals are those before a line's end or `else`, which may be part of what follows.
BLANKS = r"(?:[^\S\n]++(?!\n|\Z|else(?![\w$.])))?+"


class Driver:
    """Tables and actions, laid out for one tight loop.

    `tables` is what `generate.tables` writes. A state is a dictionary: it maps a terminal to the next state
    or to what it reduces, as (length, rule, action), and a rule to the state after it. The action is the
    method of `actions` that the grammar names; where that is None, the rule's one part stands for it.
    """

    def __init__(self, tables: dict[str, Any], actions: object) -> None:
        self._pattern: Any = re.compile(f"{BLANKS}(?:{tables['pattern']})", tables["flags"])
        self._ignored = frozenset[str](tables["ignored"])
        reductions = [
            (length, origin, getattr(actions, action) if action else None)
            for length, origin, action in tables["reductions"]
        ]
        states: list[State] = [{} for _ in tables["states"]]
        for state, (shifts, reduces) in zip(states, tables["states"], strict=True):
            state.update({symbol: states[number] for symbol, number in shifts.items()})
            state.update({symbol: reductions[rule] for symbol, rule in reduces.items()})
        self._starts: dict[str, State] = {start: states[at] for start, at in tables["starts"].items()}
        self._ends: dict[str, State] = {start: states[at] for start, at in tables["ends"].items()}

    def parse(self, text: str, start: str) -> Any:
        """What the start symbol's action returns, or None where the text is not of the grammar.

        Raises what the actions raise.
        """
        ignored = self._ignored
        state = self._starts[start]
        path: list[State] = [state]
        values: list[Any] = []
        at = 0
        for match in iter(self._pattern.scanner(text).match, None):
            kind = match.lastgroup
            begin, at = match.span(kind)
            if kind in ignored:
                continue
            action: Any = state.get(kind)
            while action.__class__ is tuple:
                length, origin, act = action
                if act is not None:
                    if length:
                        values[-length:] = (act(values[-length:]),)
                        del path[-length:]
                    else:
                        values.append(act([]))
                else:
                    path.pop()
                state = path[-1][origin]
                path.append(state)
                action = state.get(kind)
            if action is None:
                return None
            token = Token(text[begin:at])
            token.type, token.start_pos, token.end_pos = kind, begin, at
            values.append(token)
            path.append(action)
            state = action
        if at != len(text):
            return None
        while state is not self._ends[start]:
            action: Any = state.get("$END")
            if action.__class__ is not tuple:
                return None
            state = _reduce(action, path, values)
        return values[-1]


def _reduce(rule: tuple[int, str, Any], path: list[State], values: list[Any]) -> State:
    """The same as in the loop above, which spares the calls."""
    length, origin, act = rule
    if length:
        part = values[-length:]
        values[-length:] = [part[0] if act is None else act(part)]
        del path[-length:]
    else:
        values.append(act([]))
    path.append(path[-1][origin])
    return path[-1]
