"""Debug locations of a dump as values: scopes, places and call sites, aliases resolved.

Only what bytecode can hold: a place needs a scope. `None` is no location.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from tileir_diff.dialect.reading import unescape

if TYPE_CHECKING:
    from collections.abc import Mapping

TOKEN: Final = re.compile(r'\s*("(?:[^"\\]|\\.)*"|#?[A-Za-z_][\w.$\-]*|-?\d+|[<>(),=:\[\]])')
DEPTH: Final = 64  # deeper than any compiler inlines; bounds what a hostile dump can ask for


class File(NamedTuple):
    name: str
    directory: str


class CompileUnit(NamedTuple):
    file: File


class Subprogram(NamedTuple):
    """A function of the kernel's source; lines are 1-based."""

    file: File
    line: int
    name: str
    linkage_name: str
    unit: CompileUnit
    scope_line: int


class LexicalBlock(NamedTuple):
    scope: Any
    file: File
    line: int
    column: int


class Place(NamedTuple):
    """A line of a file, in a scope."""

    scope: Any
    filename: str
    line: int
    column: int


class CallSite(NamedTuple):
    """Inlined code: where it is from, and where it was called."""

    callee: Any
    caller: Any


class FilePlace(NamedTuple):
    """A line of a file in no scope; only part of a `Place` in bytecode."""

    filename: str
    line: int
    column: int


class NotHeldError(Exception):
    """A location that bytecode cannot hold, or that is malformed."""


class LocationReader:
    """Reads the locations of one dump, given its aliases with their text."""

    def __init__(self, aliases: Mapping[str, str]) -> None:
        self._aliases = aliases
        self._known: dict[str, Any] = {}

    def read(self, text: str) -> Place | CallSite | None:
        """The value of `loc(...)`. Raises NotHeldError."""
        found = self._value(text, 0)
        if found is not None and not isinstance(found, (Place, CallSite)):
            raise NotHeldError
        return found

    def _value(self, text: str, depth: int) -> Any:
        if text in self._known:
            return self._known[text]
        if depth > DEPTH:
            raise NotHeldError
        tokens = TOKEN.findall(text)
        reader = _Tokens(tokens, self, depth)
        found = reader.value()
        if reader.at != len(tokens):
            raise NotHeldError
        self._known[text] = found
        return found

    def alias(self, name: str, depth: int) -> Any:
        text = self._aliases.get(name)
        if text is None:
            raise NotHeldError
        return self._value(text, depth + 1)


class _Tokens:
    """A cursor over the tokens of one text."""

    def __init__(self, tokens: list[str], reader: LocationReader, depth: int) -> None:
        self.tokens = tokens
        self.reader = reader
        self.depth = depth
        self.at = 0

    def next(self) -> str:
        if self.at >= len(self.tokens):
            raise NotHeldError
        self.at += 1
        return self.tokens[self.at - 1]

    def take(self, *expected: str) -> None:
        for token in expected:
            if self.next() != token:
                raise NotHeldError

    def number(self) -> int:
        token = self.next()
        if not token.isdigit():
            raise NotHeldError
        return int(token)

    def value(self) -> Any:
        """A location, scope, file or number."""
        self.depth += 1
        if self.depth > DEPTH:
            raise NotHeldError
        token = self.next()
        kind = token.removeprefix("#cuda_tile.")
        if kind in ATTRIBUTES and kind != token:
            self.take("<")
            found = ATTRIBUTES[kind](self)
            self.take(">")
        elif token == "loc":
            self.take("(")
            found = self.value()
            self.take(")")
        elif token == "callsite":
            self.take("(")
            callee = self.value()
            self.take("at")
            found = CallSite(callee, self.value())
            self.take(")")
        elif token == "unknown":
            found = None
        elif token.startswith("#"):
            found = self.reader.alias(token, self.depth)
        elif token.startswith('"'):
            self.take(":")
            line = self.number()
            self.take(":")
            found = FilePlace(unescape(token), line, self.number())
        else:
            raise NotHeldError
        self.depth -= 1
        return found

    def fields(self, **kinds: type) -> list[Any]:
        """`name = value, ...` in any order, each of the kind given. Raises NotHeldError if one lacks."""
        found: dict[str, Any] = {}
        while not found or self.tokens[self.at : self.at + 1] == [","]:
            if found:
                self.take(",")
            name = self.next()
            self.take("=")
            if kinds.get(name) is int:
                found[name] = self.number()
            elif kinds.get(name) is str:
                found[name] = _text(self.next())
            else:
                found[name] = self.value()
        if set(found) != set(kinds) or not all(isinstance(found[name], kinds[name]) for name in kinds):
            raise NotHeldError
        return [found[name] for name in kinds]


def _text(token: str) -> str:
    if not token.startswith('"'):
        raise NotHeldError
    return unescape(token)


def _file(tokens: _Tokens) -> File:
    name = _text(tokens.next())
    tokens.take("in")
    return File(name, _text(tokens.next()))


def _compile_unit(tokens: _Tokens) -> CompileUnit:
    return CompileUnit(*tokens.fields(file=File))


def _subprogram(tokens: _Tokens) -> Subprogram:
    return Subprogram(
        *tokens.fields(file=File, line=int, name=str, linkageName=str, compileUnit=CompileUnit, scopeLine=int)
    )


def _lexical_block(tokens: _Tokens) -> LexicalBlock:
    return LexicalBlock(*tokens.fields(scope=object, file=File, line=int, column=int))


def _place(tokens: _Tokens) -> Place:
    place = tokens.value()
    tokens.take("in")
    if not isinstance(place, FilePlace):
        raise NotHeldError
    return Place(tokens.value(), *place)


ATTRIBUTES: Final[dict[str, Any]] = {
    "di_file": _file,
    "di_compile_unit": _compile_unit,
    "di_subprogram": _subprogram,
    "di_lexical_block": _lexical_block,
    "di_loc": _place,
}
