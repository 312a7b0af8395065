"""Text with positions: offsets to lines and columns, quoted lines for errors."""

from __future__ import annotations

from bisect import bisect_right
from typing import NamedTuple

from tileir_diff.errors import InputError


class Span(NamedTuple):
    """A stretch of a dump, 1-based; the end column is that of the first character after it."""

    line: int
    column: int
    end_line: int
    end_column: int


class SourceText:
    """One dump's text. Offsets are 0-based indices into `text`."""

    __slots__ = ("_starts", "path", "text")

    def __init__(self, text: str, path: str = "<text>") -> None:
        self.text = text
        self.path = path
        self._starts: list[int] | None = None

    def position(self, offset: int) -> tuple[int, int]:
        """Line and column of an offset, both 1-based."""
        if self._starts is None:
            starts, at = [0], self.text.find("\n")
            while at >= 0:
                starts.append(at + 1)
                at = self.text.find("\n", at + 1)
            self._starts = starts
        line = bisect_right(self._starts, offset)
        return line, offset - self._starts[line - 1] + 1

    def span(self, start: int, end: int) -> Span:
        return Span(*self.position(start), *self.position(end))

    def line_at(self, offset: int) -> str:
        """The whole line that holds an offset, without its line break."""
        start = self.text.rfind("\n", 0, offset) + 1
        end = self.text.find("\n", offset)
        return self.text[start : end if end >= 0 else len(self.text)]

    def error(self, message: str, offset: int, rule: str | None = None) -> InputError:
        line, column = self.position(offset)
        return InputError(message, self.path, line, column, self.line_at(offset), rule)


class Problem(Exception):  # noqa: N818  (an error once it knows its file)
    """A fault in a piece of text; `offset` counts from the start of that piece.

    Pieces nest (a type in a type in an op): `with Problem.shifted(n)` moves the offsets of a part to those of
    its whole. `rule` names the constraint of the dialect that is broken, where it is one.
    """

    def __init__(self, message: str, offset: int = 0, rule: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.offset = offset
        self.rule = rule

    @staticmethod
    def shifted(start: int) -> _Shift:
        return _Shift(start)


class _Shift:
    __slots__ = ("start",)

    def __init__(self, start: int) -> None:
        self.start = start

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if isinstance(error, Problem):
            error.offset += self.start
