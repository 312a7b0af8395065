"""Counts by kind, as a table of text and as JSON."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from typing import Any


@dataclass
class Row:
    """Counts of one kind, and what went wrong, in the order in which it was met."""

    counts: dict[str, int] = field(default_factory=lambda: defaultdict(int))
    failures: list[str] = field(default_factory=lambda: list[str]())

    def add(self, **flags: bool) -> None:
        self.counts["n"] += 1
        for name, value in flags.items():
            self.counts[name] += bool(value)


class Tally:
    """Rows by kind with fixed columns; each column is a share of `n`."""

    def __init__(self, title: str, columns: tuple[str, ...]) -> None:
        self.title = title
        self.columns = columns
        self.rows: dict[str, Row] = {}

    def row(self, kind: str) -> Row:
        return self.rows.setdefault(kind, Row())

    def total(self) -> Row:
        total = Row()
        for row in self.rows.values():
            for name, count in row.counts.items():
                total.counts[name] += count
            total.failures += row.failures
        return total

    def text(self) -> str:
        width = max([len(kind) for kind in self.rows] + [24])
        head = f"{self.title:{width}}  {'n':>6}" + "".join(f"  {column:>12}" for column in self.columns)
        lines = [head, "-" * len(head)]
        for kind, row in [*sorted(self.rows.items()), ("TOTAL", self.total())]:
            count = row.counts["n"]
            cells = "".join(f"  {share(row.counts[column], count):>12}" for column in self.columns)
            lines.append(f"{kind:{width}}  {count:>6}{cells}")
        return "\n".join(lines)

    def json(self) -> dict[str, Any]:
        rows = {kind: dict(row.counts) for kind, row in sorted(self.rows.items())}
        return {"title": self.title, "rows": rows, "total": dict(self.total().counts)}

    def failures(self) -> str:
        parts: list[str] = []
        for kind, row in sorted(self.rows.items()):
            if row.failures:
                parts.append(f"== {self.title}: {kind} ({len(row.failures)} of {row.counts['n']})")
                parts += row.failures
        return "\n".join(parts)


def share(count: int, of: int) -> str:
    """A percentage, rounded down: what is not all must not look like all."""
    if not of:
        return "-"
    return "100%" if count == of else f"{count * 10_000 // of / 100:.2f}%"
