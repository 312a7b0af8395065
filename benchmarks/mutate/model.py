"""What a mutation is: edits of a dump's text, and what the comparison should say about them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, NamedTuple

DEFECT = "defect"
HINT = "hint"
HARMLESS = "harmless"

Class = Literal["defect", "hint", "harmless"]


class Edit(NamedTuple):
    """Replaces `text[start:end]` of the dump. Offsets are 0-based; `start == end` inserts."""

    start: int
    end: int
    text: str


@dataclass(frozen=True)
class Change:
    """One mutation before it is applied.

    - `edits`: they do not overlap.
    - `families`: rule families that a right finding may have.
    - `doubt`: why the change may mean nothing; such mutants are counted apart.
    - `anchors`: offsets whose lines count as changed besides those of the edits.
    """

    edits: tuple[Edit, ...]
    what: str
    families: tuple[str, ...] = ()
    doubt: str = ""
    anchors: tuple[int, ...] = ()


@dataclass(frozen=True)
class Mutant:
    """A changed dump.

    - `lines`: changed lines in `text`, 1-based; `reference_lines`: the same places in the dump before.
    - `families`: rule families that a right finding may have; empty for harmless rewrites.
    - `doubt`: why the mutant may mean the same as the original; empty when it surely does not.
    """

    kind: str
    cls: Class
    path: str
    text: str = field(repr=False)
    lines: tuple[int, ...]
    reference_lines: tuple[int, ...]
    families: tuple[str, ...]
    what: str
    doubt: str = ""
    shifts: tuple[tuple[int, int], ...] = ()
    """From which line of `text` on lines are so many further down than before; in order."""

    def line_before(self, line: int) -> int:
        """The line of the original that a line of the mutant was."""
        moved = 0
        for start, shift in self.shifts:
            if line < start:
                break
            moved = shift
        return line - moved


def apply_edits(text: str, edits: tuple[Edit, ...]) -> str:
    """The text after all edits. Raises ValueError if two of them overlap."""
    parts: list[str] = []
    at = 0
    for start, end, replacement in sorted(edits, key=lambda edit: (edit.start, edit.end)):
        if start < at:
            raise ValueError("edits overlap")
        parts += (text[at:start], replacement)
        at = end
    parts.append(text[at:])
    return "".join(parts)


def make_mutant(kind: str, cls: Class, path: str, text: str, change: Change) -> Mutant:
    """Applies a change. Raises ValueError if its edits overlap."""
    mutated = apply_edits(text, change.edits)
    lines: list[int] = []
    reference_lines: list[int] = []
    shift = moved = 0
    shifts: list[tuple[int, int]] = []
    for start, end, replacement in sorted(change.edits, key=lambda edit: (edit.start, edit.end)):
        reference_lines += _lines(text, start, end)
        # The line breaks that frame a whole inserted or removed line are not themselves changed lines.
        lead = len(replacement) - len(replacement.lstrip("\n"))
        begin = start + shift
        lines += _lines(mutated, begin + lead, begin + max(lead, len(replacement.rstrip("\n"))))
        shift += len(replacement) - (end - start)
        added = replacement.count("\n") - text.count("\n", start, end)
        if added:
            moved += added
            shifts.append((mutated.count("\n", 0, end + shift) + 1, moved))
    for anchor in change.anchors:
        reference_lines += _lines(text, anchor, anchor)
        moved = anchor + sum(len(new) - (end - start) for start, end, new in change.edits if end <= anchor)
        lines += _lines(mutated, moved, moved)
    return Mutant(
        kind,
        cls,
        path,
        mutated,
        tuple(dict.fromkeys(lines)),
        tuple(dict.fromkeys(reference_lines)),
        change.families,
        change.what,
        change.doubt,
        tuple(shifts),
    )


def _lines(text: str, start: int, end: int) -> range:
    first = text.count("\n", 0, start) + 1
    return range(first, first + text.count("\n", start, end) + 1)
