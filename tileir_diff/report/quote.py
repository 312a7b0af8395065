"""Quotes an op as its dump prints it, and finds in it the part that a finding is about."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from tileir_diff.report.result import Place, Source

if TYPE_CHECKING:
    from tileir_diff.dialect.ir import SourceLoc, TileOp
    from tileir_diff.match.model import Site

PATTERNS: dict[str, str] = {
    "axis": r"\bdim\s*=\s*-?\d+",
    "condition": r"(?<=\bif )%[\w$.#-]+",
    "element": r":\s*.*$",
    "padding": r"\bpadding_value\s*=\s*\w+",
    "shape": r"\b(?:shape\s*=\s*\[[^\]]*\]|tile=\([^)]*\))",
    "tile": r"\btile=\([^)]*\)",
    "type": r":\s*.*$",
}
"""Parts that are neither an operand group nor an attribute of the op: they stand in its types."""


def place_of(site: Site | None) -> Place | None:
    """The site as the report prints it."""
    if site is None:
        return None
    op = site.op
    span, source = op.span, op.source
    text, mark = _squeeze(op.text, _part(op, site.part))
    return Place(
        entry=site.entry,
        op=op.short,
        line=span.line,
        column=span.column,
        text=text or op.short,
        part=site.part,
        mark=mark if text else None,
        source=_source(source),
    )


def _source(source: SourceLoc | None) -> Source | None:
    if source is None:
        return None
    return Source(source.file, source.line, source.column, _source(source.called))


def _part(op: TileOp, part: str | None) -> tuple[int, int] | None:
    """Where `part` stands in the op's text; the op's name if the text does not show it."""
    text = op.text
    if part:
        found = _printed(op, part) or _search(PATTERNS.get(part, ""), text) or _search(_word(part), text)
        if found is not None:
            return found
    return _search(_word(op.short), text)


def _printed(op: TileOp, part: str) -> tuple[int, int] | None:
    """The span that the dialect knows of the part, as offsets into the op's text."""
    span = op.part_span(part)
    if span is None:
        return None
    start = _offset(op, span.line, span.column)
    end = _offset(op, span.end_line, span.end_column)
    return (start, end) if 0 <= start < end <= len(op.text) else None


def _offset(op: TileOp, line: int, column: int) -> int:
    """Offset in the op's text of a position in the dump, both 1-based; negative if it lies before."""
    head = op.span
    if line == head.line:
        return column - head.column
    starts = [index + 1 for index, char in enumerate(op.text) if char == "\n"]
    below = line - head.line - 1
    return starts[below] + column - 1 if 0 <= below < len(starts) else -1


def _word(word: str) -> str:
    return rf"(?<![\w$.%-]){re.escape(word)}(?![\w$.-])"


def _search(pattern: str, text: str) -> tuple[int, int] | None:
    found = re.search(pattern, text) if pattern else None
    return found.span() if found is not None and found.end() > found.start() else None


def _squeeze(text: str, mark: tuple[int, int] | None) -> tuple[str, tuple[int, int] | None]:
    """On one line: each run of white space becomes one space, and the mark moves along."""
    kept: list[str] = []
    moved: list[int] = []
    for char in text.rstrip():
        moved.append(len(kept))
        if not char.isspace():
            kept.append(char if char.isprintable() else "?")
        elif kept and kept[-1] != " ":
            kept.append(" ")
    moved.append(len(kept))
    squeezed = "".join(kept)
    if mark is None:
        return squeezed, None
    return squeezed, (moved[min(mark[0], len(moved) - 1)], moved[min(mark[1], len(moved) - 1)])
