"""The result of one comparison, ready to print.

Named tuples: a text report must not pay for making pydantic models, nor even dataclasses, at import.
`tileir_diff.report.model` holds the same fields as pydantic models, for the API and the published schema;
a test compares the two. Field order is the order in JSON.
"""

from __future__ import annotations

from typing import NamedTuple

SCHEMA = "tileir-diff/1"


class Source(NamedTuple):
    """A line of the kernel's own source."""

    file: str
    line: int
    column: int
    called: Source | None = None
    """Of a place in a function that the kernel calls: the outermost call, in the same file."""


class Place(NamedTuple):
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


class FindingRecord(NamedTuple):
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
    also: list[int]
    """Other lines of the generated dump where the same shows."""


class WaivedRecord(NamedTuple):
    """A finding that the project accepts, and why."""

    finding: FindingRecord
    waiver: str
    reason: str
    expires: str | None


class Side(NamedTuple):
    """One of the two inputs."""

    path: str
    format: str
    front_end: str | None
    front_end_version: str | None
    entries: list[str]


class Pair(NamedTuple):
    """Two entries that were compared; None: no partner."""

    reference: str | None
    generated: str | None
    similarity: float


class Argument(NamedTuple):
    """Arguments that stand for each other."""

    reference: list[str]
    generated: list[str]
    how: str


class EquivalenceRecord(NamedTuple):
    """Something written differently and treated as equal."""

    name: str
    reference: Place | None
    generated: Place | None
    why: str


class LoweredKernel(NamedTuple):
    """One kernel as the assembler made it; memory and code in bytes."""

    registers: int
    shared: int
    local: int
    """The stack of a thread, spilled registers too."""
    threads: int
    blocks_a_cluster: int
    code_bytes: int


class LoweredOperation(NamedTuple):
    """A matched operation, and what the assembler made of it on each side."""

    reference: Place | None
    generated: Place | None
    expected: str
    actual: str


class LoweringRecord(NamedTuple):
    """One pair of entries on one architecture."""

    arch: str
    assembler: str
    """Version of tileiras."""
    entries: tuple[str, str]
    reference: LoweredKernel | None
    generated: LoweredKernel | None
    same_code: bool
    operations: list[LoweredOperation]


class SemanticsRecord(NamedTuple):
    """What running both sides of a pair of entries gave."""

    reference: str
    generated: str
    outcome: str
    detail: str
    runs: int
    seed: int
    commands: list[str]


class Summary(NamedTuple):
    """Counts over the whole result."""

    critical: int
    warn: int
    info: int
    waived: int
    ignored: int
    equivalences: int
    impacts: dict[str, int]
    """Findings by impact, waived and ignored ones left out."""
    ignored_rules: dict[str, int]
    """Findings that `--select` or `--ignore` took out, by rule: they are counted, never dropped."""


class ErrorRecord(NamedTuple):
    """Why a comparison is BLOCKED. Line and column are 0 when the error has no position."""

    message: str
    path: str
    line: int
    column: int
    rule: str | None


class Result(NamedTuple):
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
    semantics: list[SemanticsRecord]
    notices: list[str]
    summary: Summary
    error: ErrorRecord | None
    lowering: list[LoweringRecord]
    """What the assembler makes of both sides; empty unless asked for."""
    versions: dict[str, str]
    timing: dict[str, float]
    """Seconds by step. Empty unless asked for: the same inputs must give the same bytes."""
