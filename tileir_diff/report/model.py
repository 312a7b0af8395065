"""The report as pydantic models: what `tileir_diff.diff` returns, and the source of docs/schema/report.json.

The same fields as `tileir_diff.report.result`, with their meaning. Imported only where models are needed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from pydantic import BaseModel, ConfigDict, Field

from tileir_diff.report.json_format import as_data, render_json

if TYPE_CHECKING:
    from tileir_diff.report.result import Result

Verdict = Literal["PASS", "PASS_WITH_NOTES", "FAIL_FIXABLE", "FAIL_COMPILER_BUG", "BLOCKED"]
Owner = Literal["kernel", "host", "frontend", "tileiras"]
Severity = Literal["critical", "warn", "info"]
Impact = Literal["none", "hint", "edge", "ulp", "precision", "bounds", "assume", "logic"]
Status = Literal["DIFFERS", "MISSING", "EXTRA", "SEMANTIC_EQUIV"]
Cause = Literal["translation", "frontend-bug", "tileiras-bug", "host", "known-gap", "equivalent", "unknown"]
SemanticOutcome = Literal["settled", "equal", "different", "not-run"]
How = Literal["given", "role", "name", "use", "unmatched"]


class _Model(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Source(_Model):
    """A line of the kernel's own source, where the dump carries debug locations."""

    file: str
    line: int
    column: int
    called: Source | None = Field(
        description="Of a place in a function that the kernel calls: the outermost call, in the same file."
    )


class Place(_Model):
    """An op in a dump."""

    entry: str = Field(description="Symbol of the entry that holds the op.")
    op: str = Field(description="Name of the op, without dialect.")
    line: int = Field(description="Line in the dump as given, from 1; 0: not known.")
    column: int
    text: str = Field(description="The op as printed in the dump.")
    part: str | None = Field(description="Operand group or attribute that matters.")
    mark: tuple[int, int] | None = Field(
        description="That part in `text`: first character, and one after the last."
    )
    source: Source | None


class Finding(_Model):
    """One difference, root causes first."""

    rule: str = Field(description="`family/detail`; `tileir-diff explain RULE` describes it.")
    severity: Severity
    impact: Impact = Field(description="What the difference can do at worst.")
    status: Status
    cause: Cause
    owner: Owner | None = Field(description="Who has to act.")
    reference: Place | None
    generated: Place | None
    expected: str = Field(description="How the reference reads.")
    actual: str = Field(description="How the generated kernel reads.")
    message: str = Field(description="One line, at most 100 characters.")
    effect: str
    fix: str
    evidence: str
    also: list[int] = Field(description="Other lines of the generated dump where the same shows.")


class Waived(_Model):
    """A finding that the project accepts."""

    finding: Finding
    waiver: str = Field(description="The waiver's rule glob.")
    reason: str
    expires: str | None = Field(description="ISO date.")


class Side(_Model):
    """One of the two inputs."""

    path: str
    format: str
    front_end: str | None = Field(description="Front end that made the dump, as far as it tells.")
    front_end_version: str | None
    entries: list[str]


class Pair(_Model):
    """Two entries that were compared; null: no partner."""

    reference: str | None
    generated: str | None
    similarity: float


class Argument(_Model):
    """Arguments that stand for each other."""

    reference: list[str]
    generated: list[str]
    how: How


class Equivalence(_Model):
    """Something written differently and treated as equal."""

    name: str = Field(description="As `--no-equivalence` takes it.")
    reference: Place | None
    generated: Place | None
    why: str


class LoweredKernel(_Model):
    """One kernel as the assembler made it; memory and code in bytes."""

    registers: int
    shared: int = Field(description="Static shared memory of a block.")
    local: int = Field(description="The stack of a thread, spilled registers too.")
    threads: int
    blocks_a_cluster: int
    code_bytes: int


class LoweredOperation(_Model):
    """A matched operation, and what the assembler made of it on each side."""

    reference: Place | None
    generated: Place | None
    expected: str
    actual: str


class Lowering(_Model):
    """One pair of entries on one architecture."""

    arch: str
    assembler: str = Field(description="Version of tileiras.")
    entries: tuple[str, str]
    reference: LoweredKernel | None = Field(description="null: the assembler did not take it.")
    generated: LoweredKernel | None
    same_code: bool = Field(description="Whether both have the same instructions.")
    operations: list[LoweredOperation]


class Semantics(_Model):
    """What running both sides of a pair of entries gave; only with `--exec`."""

    reference: str
    generated: str
    outcome: SemanticOutcome = Field(
        description="settled: by structure, nothing was run; equal: in all runs, which proves nothing; "
        "different: on the input in `detail`; not-run: why is in `detail`."
    )
    detail: str
    runs: int = Field(description="Inputs on which both sides ran.")
    seed: int
    commands: list[str] = Field(description="Runs either side on the input that shows the difference.")


class Summary(_Model):
    """Counts over the whole report."""

    critical: int
    warn: int
    info: int
    waived: int
    ignored: int
    equivalences: int
    impacts: dict[str, int] = Field(description="Findings by impact, without waived and ignored ones.")
    ignored_rules: dict[str, int] = Field(description="Findings that --select or --ignore took out, by rule.")


class Error(_Model):
    """Why the comparison is BLOCKED."""

    message: str
    path: str
    line: int = Field(description="From 1; 0: the error has no position.")
    column: int
    rule: str | None


class Report(_Model):
    """Result of comparing a generated kernel with its reference."""

    schema_: Literal["tileir-diff/1"] = Field(alias="schema")
    verdict: Verdict
    owner: Owner | None
    why: str = Field(description="The verdict in one sentence.")
    reference: Side
    generated: Side
    pairs: list[Pair]
    arguments: list[Argument]
    findings: list[Finding] = Field(description="By severity; within one severity root causes first.")
    waived: list[Waived]
    equivalences: list[Equivalence]
    obligations: list[str] = Field(description="What the host must guarantee for the verdict to hold.")
    assumptions: list[str] = Field(description="Approximations that the comparison made.")
    not_checked: list[str] = Field(description="What was not compared, and why.")
    semantics: list[Semantics] = Field(description="What running both sides gave; empty unless asked for.")
    notices: list[str] = Field(
        description="Waivers that expired or were not needed; a file compared with itself."
    )
    summary: Summary
    error: Error | None = Field(description="Set if, and only if, the verdict is BLOCKED.")
    lowering: list[Lowering] = Field(description="Empty unless asked for with --lower.")
    versions: dict[str, str]
    timing: dict[str, float] = Field(description="Seconds by step; empty unless asked for.")

    @property
    def ok(self) -> bool:
        """Whether the verdict passes: PASS or PASS_WITH_NOTES."""
        return self.verdict in ("PASS", "PASS_WITH_NOTES")

    @classmethod
    def from_result(cls, result: Result) -> Report:
        """The model of a result record."""
        return cls.model_validate(as_data(result))

    def to_json(self) -> str:
        """As `--format json` prints it."""
        return render_json(self.model_dump(by_alias=True))
