"""Parses dumps with the Lark grammar, from its saved LALR tables.

The tables (`tables.json`) are made from the grammar by `python -m tileir_diff.syntax.generate`; a test keeps
the two in step.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lark import Lark, Token
from lark.exceptions import ConfigurationError, UnexpectedCharacters, UnexpectedToken

from tileir_diff.syntax.actions import Actions, MisplacedToken
from tileir_diff.syntax.drive import Driver
from tileir_diff.syntax.source import Problem, SourceText
from tileir_diff.syntax.words import describe_expected, describe_found, explain_characters

if TYPE_CHECKING:
    from tileir_diff.syntax.nodes import SyntaxFile, Term

TABLES = Path(__file__).with_name("tables.json")
STARTS = ["file", "body", "location"]
OPTIONS: dict[str, Any] = {
    "parser": "lalr",
    "lexer": "basic",
    "start": STARTS,
    "keep_all_tokens": True,
    "maybe_placeholders": False,
}


def parse_file_syntax(source: SourceText) -> SyntaxFile:
    """The syntax of a whole dump.

    Raises InputError with the position of the first thing that cannot be read.
    """
    try:
        return _parse(source.text, "file")
    except Problem as problem:
        raise source.error(problem.message, problem.offset) from None


def parse_body(text: str) -> list[Term]:
    """The inside of `<...>` or `{...}`, as its comma-separated terms. Raises Problem."""
    return _parse(text, "body")


def parse_location(text: str) -> tuple[Any, ...]:
    """The inside of `loc(...)` as nested tuples. Raises Problem."""
    return _parse(text, "location")


def _parse(text: str, start: str) -> Any:
    parser, driver, actions = engine()
    if start == "file":
        actions.aliases = {}
    try:
        parsed = driver.parse(text, start)
        return parser.parse(text, start=start) if parsed is None else parsed
    except UnexpectedToken as error:
        raise _unexpected_token(text, error) from None
    except UnexpectedCharacters as error:
        offset: int = error.pos_in_stream  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType, reportAssignmentType]
        raise Problem(explain_characters(text, offset), offset) from None
    except MisplacedToken as error:
        raise Problem(error.message, _offset(error.token)) from None


def _unexpected_token(text: str, error: UnexpectedToken) -> Problem:
    token: Token = error.token
    if token.type == "$END":
        end = max(len(text.rstrip()) - 1, 0)
        return Problem(f"unexpected end of input, {describe_expected(error.expected)}", end)
    return Problem(f"unexpected {describe_found(token)}, {describe_expected(error.expected)}", _offset(token))


def _offset(token: Token) -> int:
    """Offset of the first visible character of a token."""
    text = str(token)
    return (token.start_pos or 0) + len(text) - len(text.lstrip())


@cache
def engine() -> tuple[Any, Driver, Actions]:
    """The Lark parser, the fast loop over its tables, and the actions that both call."""
    actions = Actions()
    parser = _lark(actions)
    return parser, Driver(parser), actions


def _lark(actions: Actions) -> Any:
    parser: Any = Lark
    try:
        saved = restore(json.loads(TABLES.read_text(encoding="utf-8")))
        return parser._load_from_dict(saved["data"], saved["memo"], transformer=actions)
    except (OSError, ValueError, KeyError, TypeError, AttributeError, ConfigurationError):
        # Tables of another Lark release: its format is its own. The grammar does as well, 50 ms later.
        from tileir_diff.syntax.generate import grammar_path

        return parser(grammar_path().read_text(encoding="utf-8"), transformer=actions, **OPTIONS)


def restore(saved: dict[str, Any]) -> dict[str, Any]:
    """Undoes what JSON does to the tables: numbers that were keys became strings. Changes its argument."""
    saved["memo"] = {int(key): item for key, item in saved["memo"].items()}
    tables = saved["data"]["parser"]["parser"]
    tables["states"] = {int(key): item for key, item in tables["states"].items()}
    return saved
