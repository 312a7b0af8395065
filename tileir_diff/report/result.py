"""The result of one comparison, ready to print.

Plain records: a text report must not pay for building pydantic models, which costs as much as parsing two
dumps.
`tileir_diff.report.model` holds the same fields as pydantic models, for the API and the published schema;
a test compares the two. Field order is the order in JSON.
"""

from __future__ import annotations

from dataclasses import dataclass, field

SCHEMA = "tileir-diff/1"


@dataclass(slots=True)
class Source:
    """A line of the kernel's own source."""

    file: str
    line: int
    column: int


@dataclass(slots=True)
class Place:
    """An op in a dump, with its text as printed there."""

    entry: str
    op: str
    line: int
    """In the dump as given, 1-based; 0: not known."""
    column: int
    text: str
    part: str | None
    """The operand group or attribute that matters."""
    mark: tuple[int, int] | None
    """That part in `text`: first character and the one after the last, 0-based."""
    source: Source | None


@dataclass(slots=True)
class FindingRecord:
    """One finding, judged."""

    rule: str
    severity: str
    impact: str
    status: str
    cause: str
    owner: str | None
    reference: Place | None
    generated: Place | None
    expected: str
    actual: str
    message: str
    effect: str
    fix: str
    evidence: str


@dataclass(slots=True)
class WaivedRecord:
    """A finding that the project accepts, and why."""

    finding: FindingRecord
    waiver: str
    reason: str
    expires: str | None


@dataclass(slots=True)
class Side:
    """One of the two inputs."""

    path: str
    format: str
    front_end: str | None
    front_end_version: str | None
    entries: list[str]


@dataclass(slots=True)
class Pair:
    """Two entries that were compared; None: no partner."""

    reference: str | None
    generated: str | None
    similarity: float


@dataclass(slots=True)
class Argument:
    """Arguments that stand for each other."""

    reference: list[str]
    generated: list[str]
    how: str


@dataclass(slots=True)
class EquivalenceRecord:
    """Something written differently and treated as equal."""

    name: str
    reference: Place | None
    generated: Place | None
    why: str


@dataclass(slots=True)
class Summary:
    """Counts over the whole result."""

    critical: int = 0
    warn: int = 0
    info: int = 0
    waived: int = 0
    ignored: int = 0
    equivalences: int = 0
    impacts: dict[str, int] = field(default_factory=lambda: dict[str, int]())
    """Findings by impact, waived and ignored ones left out."""
    ignored_rules: dict[str, int] = field(default_factory=lambda: dict[str, int]())
    """Findings that `--select` or `--ignore` took out, by rule: they are counted, never dropped."""


@dataclass(slots=True)
class ErrorRecord:
    """Why a comparison is BLOCKED. Line and column are 0 when the error has no position."""

    message: str
    path: str
    line: int
    column: int
    rule: str | None


@dataclass(slots=True)
class Result:
    """All of one comparison."""

    schema: str
    verdict: str
    owner: str | None
    why: str
    reference: Side
    generated: Side
    pairs: list[Pair]
    arguments: list[Argument]
    findings: list[FindingRecord]
    waived: list[WaivedRecord]
    equivalences: list[EquivalenceRecord]
    obligations: list[str]
    assumptions: list[str]
    not_checked: list[str]
    notices: list[str]
    summary: Summary
    error: ErrorRecord | None
    versions: dict[str, str]
    timing: dict[str, float]
    """Seconds by step. Empty unless asked for: the same inputs must give the same bytes."""
