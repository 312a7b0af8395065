"""Runs the comparison once and keeps what a score needs."""

from __future__ import annotations

import time
import traceback
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tileir_diff import InputError, diff
from tileir_diff.dialect import parse_text
from tileir_diff.match.compare import compare
from tileir_diff.match.launch import parse_launch
from tileir_diff.match.model import CompareOptions

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tileir_diff.report.model import Finding, Report


@dataclass(frozen=True)
class Found:
    """One finding. Lines are 0 where it has no place on that side."""

    rule: str
    severity: str
    impact: str
    reference_line: int
    generated_line: int
    actual: str
    message: str

    @property
    def family(self) -> str:
        return self.rule.partition("/")[0]

    def key(self, line_of: Callable[[int], int] = lambda line: line) -> tuple[str, int, int, str]:
        """What makes it the same finding in two runs; `line_of` maps lines of a mutant to those before."""
        return (self.rule, self.reference_line, line_of(self.generated_line), self.actual)

    def place(self, line_of: Callable[[int], int] = lambda line: line) -> tuple[str, str, int, int]:
        """The same without its words."""
        return (self.rule, self.impact, self.reference_line, line_of(self.generated_line))

    def __str__(self) -> str:
        where = f"ref:{self.reference_line or '-'} gen:{self.generated_line or '-'}"
        return f"{self.severity} {self.rule} ({self.impact}) {where}: {self.message}"


@dataclass(frozen=True)
class Outcome:
    """A verdict with its findings; `error` is set where the comparison raised or refused."""

    verdict: str
    findings: tuple[Found, ...] = ()
    error: str = ""
    seconds: float = 0.0
    obligations: tuple[str, ...] = ()
    not_checked: tuple[str, ...] = ()
    extra: dict[str, object] = field(default_factory=lambda: dict[str, object]())

    @property
    def critical(self) -> list[Found]:
        return [finding for finding in self.findings if finding.severity == "critical"]

    @property
    def warned(self) -> list[Found]:
        return [finding for finding in self.findings if finding.severity == "warn"]

    @property
    def failed(self) -> bool:
        return self.verdict.startswith("FAIL")


def judge_texts(reference: str, generated: str, launch: Path | str | None = None) -> Outcome:
    """Compares two dumps given as text. Never raises: what it raised is the outcome's error."""
    start = time.perf_counter()
    try:
        report = diff(
            parse_text(reference, "reference"),
            parse_text(generated, "generated"),
            launch=str(launch) if launch is not None else None,
        )
    except InputError as error:
        return Outcome("BLOCKED", error=str(error).splitlines()[0], seconds=time.perf_counter() - start)
    except Exception:
        # A crash is a result that the score must show, not the end of the run.
        return Outcome("CRASHED", error=traceback.format_exc(limit=-4), seconds=time.perf_counter() - start)
    return _outcome(report, time.perf_counter() - start)


def counterparts(
    reference: str, generated: str, launch: Path | str | None = None
) -> dict[int, frozenset[int]]:
    """By line of the generated side, the lines of the reference's accesses that it is paired with."""
    facts = parse_launch([str(launch)]) if launch is not None else None
    modules = parse_text(reference, "reference"), parse_text(generated, "generated")
    found: dict[int, set[int]] = {}
    for matched in compare(*modules, CompareOptions(facts)).matched:
        for ref, gen in matched.operations:
            found.setdefault(gen.span.line, set()).add(ref.span.line)
    return {line: frozenset(lines) for line, lines in found.items()}


def _outcome(report: Report, seconds: float) -> Outcome:
    findings = tuple(_found(finding) for finding in report.findings)
    return Outcome(
        report.verdict,
        findings,
        seconds=seconds,
        obligations=tuple(report.obligations),
        not_checked=tuple(report.not_checked),
    )


def _found(finding: Finding) -> Found:
    return Found(
        finding.rule,
        finding.severity,
        finding.impact,
        finding.reference.line if finding.reference else 0,
        finding.generated.line if finding.generated else 0,
        finding.actual,
        finding.message,
    )
