"""Runs the LALR tables that Lark made of the grammar: twice as fast as Lark, whose import is saved too.

Only texts that the grammar accepts end here. For all others `parse` gives None, and Lark, which keeps lines,
columns and what it expected, says what is wrong.
"""

from __future__ import annotations

import re
from operator import itemgetter
from typing import Any

from tileir_diff.syntax.token import Token


class Driver:
    """Tables and actions, laid out for one tight loop.

    `tables` is what `generate.tables` writes. A state maps a terminal to the next state (an `int`) or to what
    it reduces, as (length, rule, action); the action is the method of `actions` that the grammar names.
    """

    def __init__(self, tables: dict[str, Any], actions: object) -> None:
        self._starts: dict[str, int] = tables["starts"]
        self._ends: dict[str, int] = tables["ends"]
        self._pattern: Any = re.compile(tables["pattern"], tables["flags"])  # its `scanner` has no type
        self._ignored = frozenset[str](tables["ignored"])
        reductions = [
            (length, origin, getattr(actions, action) if action else itemgetter(0))
            for length, origin, action in tables["reductions"]
        ]
        self._states: dict[int, dict[str, Any]] = {
            number: {**shifts, **{symbol: reductions[rule] for symbol, rule in reduces.items()}}
            for number, (shifts, reduces) in enumerate(tables["states"])
        }

    def parse(self, text: str, start: str) -> Any:
        """What the start symbol's action returns, or None where the text is not of the grammar.

        Raises what the actions raise.
        """
        states, ignored = self._states, self._ignored
        path: list[int] = [self._starts[start]]
        values: list[Any] = []
        actions = states[path[0]]
        at = 0
        for match in iter(self._pattern.scanner(text).match, None):
            kind = match.lastgroup
            begin, at = match.span()
            if kind in ignored:
                continue
            token = Token(text[begin:at])
            token.type, token.start_pos, token.end_pos = kind, begin, at
            action: Any = actions.get(kind)
            while action.__class__ is tuple:
                length, origin, act = action
                if length:
                    result = act(values[-length:])
                    del path[-length:], values[-length:]
                else:
                    result = act([])
                values.append(result)
                state: int = states[path[-1]][origin]
                path.append(state)
                actions = states[state]
                action = actions.get(kind)
            if action is None:
                return None
            path.append(action)
            values.append(token)
            actions = states[action]
        if at != len(text):
            return None
        while path[-1] != self._ends[start]:
            action: Any = actions.get("$END")
            if action.__class__ is not tuple:
                return None
            actions = self._reduce(action, path, values)
        return values[-1]

    def _reduce(self, rule: tuple[int, str, Any], path: list[int], values: list[Any]) -> dict[str, Any]:
        """The same as in the loop above, which spares the calls."""
        length, origin, act = rule
        result = act(values[-length:] if length else [])
        if length:
            del path[-length:], values[-length:]
        values.append(result)
        path.append(self._states[path[-1]][origin])
        return self._states[path[-1]]
