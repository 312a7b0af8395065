"""The one error class for bad input: it knows where, and prints itself with the source line and a caret."""

from __future__ import annotations

# A caret line is only useful while the quoted line fits a terminal; long lines are cut around the caret.
QUOTE_WIDTH = 160


class InputError(Exception):
    """Input that cannot be read: a missing file, broken syntax, an unknown op, a type that does not fit.

    `line` and `column` are 1-based, 0 when the error has no position. `rule` names the checked rule, if there
    is one.
    """

    def __init__(
        self,
        message: str,
        path: str = "",
        line: int = 0,
        column: int = 0,
        source_line: str | None = None,
        rule: str | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.path = path
        self.line = line
        self.column = column
        self.source_line = source_line
        self.rule = rule

    def __str__(self) -> str:
        head = ":".join([part for part in (printable(self.path), *self._position()) if part])
        text = f"{head}: error: {self.message}" if head else f"error: {self.message}"
        if self.source_line is None or not self.column:
            return text
        quoted, caret = _quote(self.source_line, self.column)
        return f"{text}\n  {quoted}\n  {' ' * caret}^"

    def _position(self) -> tuple[str, ...]:
        return (str(self.line), str(self.column)) if self.line else ()


class MissingToolError(InputError):
    """A program that is not installed: nothing is said of the input."""


def printable(text: str) -> str:
    """A name or a sentence as one line that no terminal takes for a command: the rest is escaped."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def _quote(line: str, column: int) -> tuple[str, int]:
    """The line as it can be printed, and the caret's offset in it; long lines are cut around the caret."""
    line = "".join(char if char.isprintable() else " " for char in line.rstrip("\r\n"))
    offset = min(column - 1, len(line))
    if len(line) <= QUOTE_WIDTH:
        return line, offset
    start = max(0, offset - QUOTE_WIDTH // 2)
    end = start + QUOTE_WIDTH
    lead, tail = ("…" if start else ""), ("…" if end < len(line) else "")
    return f"{lead}{line[start:end]}{tail}", offset - start + len(lead)
