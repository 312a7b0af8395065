"""Parses dumps with the tables that Lark made of the grammar.

The tables (`tables.json`) are written by `python -m tileir_diff.syntax.generate`; a test keeps them in step
with the grammar. Lark itself is loaded only for texts that it refuses.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tileir_diff.syntax.actions import Actions, MisplacedToken
from tileir_diff.syntax.drive import Driver
from tileir_diff.syntax.source import Problem, SourceText
from tileir_diff.syntax.words import describe_expected, describe_found, explain_characters

if TYPE_CHECKING:
    from lark import Token as LarkToken
    from lark.exceptions import UnexpectedToken

    from tileir_diff.syntax.nodes import SyntaxFile, Term
    from tileir_diff.syntax.token import Token

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
    driver, actions = engine()
    if start == "file":
        actions.aliases = {}
    try:
        parsed = driver.parse(text, start)
    except MisplacedToken as error:
        raise Problem(error.message, _offset(error.token)) from None
    if parsed is None:
        raise refusal(text, start)
    return parsed


def refusal(text: str, start: str) -> Problem:
    """What Lark says of a text that is not of the grammar."""
    from lark.exceptions import UnexpectedCharacters, UnexpectedToken

    try:
        lark().parse(text, start=start)
    except UnexpectedToken as error:
        return _unexpected_token(text, error)
    except UnexpectedCharacters as error:
        offset: int = error.pos_in_stream  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType, reportAssignmentType]
        return Problem(explain_characters(text, offset), offset)
    raise AssertionError("the saved tables are not those of the grammar")


def _unexpected_token(text: str, error: UnexpectedToken) -> Problem:
    token: LarkToken = error.token
    if token.type == "$END":
        end = max(len(text.rstrip()) - 1, 0)
        return Problem(f"unexpected end of input, {describe_expected(error.expected)}", end)
    return Problem(f"unexpected {describe_found(token)}, {describe_expected(error.expected)}", _offset(token))


def _offset(token: Token | LarkToken) -> int:
    """Offset of the first visible character of a token."""
    text = str(token)
    return (token.start_pos or 0) + len(text) - len(text.lstrip())


@cache
def engine() -> tuple[Driver, Actions]:
    """The loop over the tables, and the actions that it calls."""
    actions = Actions()
    return Driver(json.loads(TABLES.read_text(encoding="utf-8")), actions), actions


@cache
def lark() -> Any:
    """Lark's own parser, without actions."""
    from tileir_diff.syntax import generate

    return generate.lark()
