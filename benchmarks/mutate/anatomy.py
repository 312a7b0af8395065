"""The parts of an op's head as it stands in the dump: where its operands, attributes and types are."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tileir_diff.dialect.ir import TileOp

TOKEN = re.compile(r"%[A-Za-z0-9_$.-]+(?:#\d+)?")
STRING = re.compile(r'"(?:[^"\\]|\\.)*"')


@dataclass(frozen=True)
class Anatomy:
    """An op's head. All offsets count from the start of the head.

    - `text`: the head; `clean`: the same with strings blanked out, so that positions agree.
    - `body`: where the op's name begins.
    - `operands`: (start, end) of each operand, in the order of `op.operands`.
    - `types`: where the type list begins (after `: `), -1 if there is none.
    """

    text: str
    clean: str
    body: int
    operands: tuple[tuple[int, int], ...]
    types: int

    def type_spans(self) -> list[tuple[int, int]]:
        """Where each type left of `->` in the type list stands."""
        if self.types < 0:
            return []
        end = top_level_arrow(self.clean, self.types)
        return split_list(self.clean, self.types, end)


def anatomy(op: TileOp) -> Anatomy | None:
    """The parts of `op`; None for an op without text or whose operands cannot be told from its text."""
    text = op.text
    if not text:
        return None
    clean = STRING.sub(lambda match: " " * len(match.group()), text)
    body = 0
    if clean.startswith("%"):
        equals = clean.find(" = ")
        if equals < 0:
            return None
        body = equals + 3
    operands: list[tuple[int, int]] = []
    if op.spec.custom != "function":
        induction = op.short == "for"
        for match in TOKEN.finditer(clean, body):
            after = clean[match.end() : match.end() + 2]
            if after.startswith(":") or after == " =":
                continue
            if induction:
                induction = False
                continue
            operands.append(match.span())
    if len(operands) != len(op.operands):
        return None
    for (start, end), value in zip(operands, op.operands, strict=True):
        name = text[start + 1 : end]
        hint = value.name_hint
        if hint is None or (hint != name and hint != f"{name}#0"):
            return None
    return Anatomy(text, clean, body, tuple(operands), _types_start(clean, body))


def split_list(text: str, start: int, end: int) -> list[tuple[int, int]]:
    """The items of a comma-separated list, brackets respected, without surrounding blanks."""
    items: list[tuple[int, int]] = []
    depth, begin = 0, start
    for at in range(start, end + 1):
        char = text[at] if at < end else ","
        if char in "<([{":
            depth += 1
        elif char in ">)]}" and not (char == ">" and text[at - 1] == "-"):
            depth -= 1
        elif char == "," and (depth == 0 or at == end):
            first, last = begin, at
            while first < last and text[first].isspace():
                first += 1
            while last > first and text[last - 1].isspace():
                last -= 1
            if last > first:
                items.append((first, last))
            begin = at + 1
    return items


def top_level_arrow(text: str, start: int) -> int:
    """Where ` -> ` begins at bracket depth 0 after `start`; the end of the text if it does not."""
    depth = 0
    for at in range(start, len(text)):
        char = text[at]
        if char in "<([{":
            depth += 1
        elif char == ">" and text[at - 1] == "-":
            if depth == 0:
                return at - 1
        elif char in ">)]}":
            depth -= 1
    return len(text)


def _types_start(text: str, body: int) -> int:
    depth, found = 0, -1
    for at in range(body, len(text)):
        char = text[at]
        if char in "<([{":
            depth += 1
        elif char in ">)]}" and not (char == ">" and text[at - 1] == "-"):
            depth -= 1
        elif char == ":" and depth == 0 and text[at - 1] == " " and found < 0:
            found = at + 1
    while 0 <= found < len(text) and text[found] == " ":
        found += 1
    return found
