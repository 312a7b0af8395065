"""Reads the remarks of `tileiras --remark-format=yaml`, in which LLVM's writer leaves little to YAML."""

from __future__ import annotations

import re
from typing import Final, NamedTuple

HEAD: Final = re.compile(r"^--- !(\w+)$")
FIELD: Final = re.compile(r"^(\w+): +(.*)$")
ARGUMENT: Final = re.compile(r"^  - (\w+): +(.*)$")
PLACE: Final = re.compile(r"^\{ File: (.*), Line: (\d+), Column: (\d+) \}$")
REASON_PLACE: Final = re.compile(r'^loc\((?:"(?:[^"\\]|\\.)*":\d+:\d+|unknown)\): ')
ESCAPES: Final = {"n": "\n", "t": "\t", '"': '"', "\\": "\\"}


class Remark(NamedTuple):
    """One thing that the assembler did, or could not do, with an op.

    `kind` is Passed, Missed, Failure or Analysis; `line` and `column` are those of the debug location, 0
    where there is none. `arguments` are named values in order, repeated ones once, without the location
    that reasons begin with.
    """

    kind: str
    name: str
    function: str
    line: int
    column: int
    arguments: tuple[tuple[str, str], ...]

    def texts(self, name: str) -> tuple[str, ...]:
        """The values of the arguments with that name."""
        return tuple(text for key, text in self.arguments if key == name)


def parse_remarks(text: str) -> tuple[Remark, ...]:
    """The remarks of a file, each once, in order.

    Raises ValueError for a line that is none of the format's.
    """
    found: dict[Remark, None] = {}
    kind = ""
    fields: dict[str, str] = {}
    arguments: dict[tuple[str, str], None] = {}
    for line in text.splitlines():
        if head := HEAD.match(line):
            kind, fields, arguments = head[1], {}, {}
        elif line == "...":
            found[_remark(kind, fields, tuple(arguments))] = None
        elif line == "Args:" or not line.strip():
            continue
        elif argument := ARGUMENT.match(line):
            value = REASON_PLACE.sub("", _scalar(argument[2]))
            if argument[1] != "RemarkId":  # a number of its own for each place of the generated code
                arguments[argument[1], value] = None
        elif field := FIELD.match(line):
            fields[field[1]] = field[2]
        else:
            raise ValueError(f"not a line of a remark: {line}")
    return tuple(found)


def _remark(kind: str, fields: dict[str, str], arguments: tuple[tuple[str, str], ...]) -> Remark:
    place = PLACE.match(fields.get("DebugLoc", ""))
    line, column = (int(place[2]), int(place[3])) if place else (0, 0)
    name, function = (_scalar(fields.get(key, "")) for key in ("Name", "Function"))
    return Remark(kind, name, function, line, column, arguments)


def _scalar(text: str) -> str:
    """A plain, single-quoted or double-quoted YAML scalar on one line."""
    text = text.strip()
    if len(text) >= 2 and text[0] == text[-1] == "'":
        return text[1:-1].replace("''", "'")
    if len(text) >= 2 and text[0] == text[-1] == '"':
        return re.sub(r"\\(.)", lambda match: ESCAPES.get(match[1], match[1]), text[1:-1])
    return text
