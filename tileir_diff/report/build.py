"""Builds the result value from what the comparison and the verdict say."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

from tileir_diff.report.quote import place_of
from tileir_diff.report.result import (
    SCHEMA,
    Argument,
    EquivalenceRecord,
    ErrorRecord,
    FindingRecord,
    LoweredKernel,
    LoweredOperation,
    LoweringRecord,
    Pair,
    Result,
    SemanticsRecord,
    Side,
    Summary,
    WaivedRecord,
)
from tileir_diff.verdict import BLOCKED, FrontEnd, Judged, Judgement

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from tileir_diff.errors import InputError
    from tileir_diff.lowering.cubin import Kernel
    from tileir_diff.lowering.evidence import Lowering
    from tileir_diff.match.model import Comparison


MANY_CRITICAL = 5
"""So many critical findings in kernels that are not alike are no slips of a port."""

UNLIKE = 0.5
"""Kernels less alike than this are probably not two versions of one, if they access memory otherwise."""
LONE = frozenset(
    f"{family}/{detail}" for family in ("memory-family", "atomic") for detail in ("extra", "missing")
)
"""Accesses that only one side has."""


class Dump(NamedTuple):
    """One input as the report needs it."""

    path: str
    format: str = "unknown"
    entries: tuple[str, ...] = ()
    front_end: FrontEnd = FrontEnd()


def build_result(
    reference: Dump,
    generated: Dump,
    comparison: Comparison,
    judgement: Judgement,
    versions: dict[str, str],
    timing: dict[str, float] | None = None,
    lowerings: Sequence[Lowering] = (),
) -> Result:
    """The result of a comparison that went through."""
    findings = [_finding(judged) for judged in judgement.findings]
    return Result(
        schema=SCHEMA,
        verdict=judgement.verdict,
        owner=judgement.owner,
        why=_why(judgement, comparison),
        reference=_side(reference),
        generated=_side(generated),
        pairs=[Pair(a, b, round(similarity, 4)) for a, b, similarity in comparison.pairs],
        arguments=[
            Argument(list(pair.reference), list(pair.generated), pair.how) for pair in comparison.arguments
        ],
        findings=findings,
        waived=[_waived(judged) for judged in judgement.waived],
        equivalences=[
            EquivalenceRecord(each.name, place_of(each.reference), place_of(each.generated), each.why)
            for each in comparison.equivalences
        ],
        obligations=list(comparison.obligations),
        assumptions=list(comparison.assumptions),
        not_checked=list(comparison.not_checked),
        semantics=[SemanticsRecord(*each[:-1], list(each.commands)) for each in comparison.semantics],
        notices=[
            *_same_file(reference.path, generated.path),
            *_bytecode(reference, generated),
            *judgement.notices,
        ],
        summary=_summary(findings, judgement, len(comparison.equivalences)),
        error=None,
        lowering=[_lowering(each) for each in lowerings],
        versions=versions,
        timing=timing or {},
    )


def blocked_result(reference: Dump, generated: Dump, error: InputError, versions: dict[str, str]) -> Result:
    """The result of a comparison that an unreadable input, or a wrong call, kept from starting.

    A generated dump that breaks a constraint of the dialect is the front end's fault.
    """
    return Result(
        schema=SCHEMA,
        verdict=BLOCKED,
        owner="frontend" if error.rule and error.path == generated.path else None,
        why=error.message,
        reference=_side(reference),
        generated=_side(generated),
        pairs=[],
        arguments=[],
        findings=[],
        waived=[],
        equivalences=[],
        obligations=[],
        assumptions=[],
        not_checked=["everything: the inputs could not be compared"],
        semantics=[],
        notices=[],
        summary=Summary(0, 0, 0, 0, 0, 0, {}, {}),
        error=ErrorRecord(error.message, error.path, error.line, error.column, error.rule),
        lowering=[],
        versions=versions,
        timing={},
    )


def _why(judgement: Judgement, comparison: Comparison) -> str:
    """What the verdict says; where it fails, first whether the kernels are meant to be the same at all.

    Ops of two front ends are seldom alike; that they access the same memory says that the kernels are, unless
    they differ in all they do there.
    """
    alike = max((similarity for *_, similarity in comparison.pairs), default=1.0)
    lone = any(each.finding.rule in LONE for each in judgement.findings)
    critical = sum(each.severity == "critical" for each in judgement.findings)
    apart = lone or critical >= MANY_CRITICAL
    if not judgement.verdict.startswith("FAIL") or not 0 < alike < UNLIKE or not apart:
        return judgement.why
    return f"these look like different kernels ({alike:.0%} alike); {judgement.why}"


def _same_file(reference: str, generated: str) -> list[str]:
    same = reference == generated or os.path.realpath(reference) == os.path.realpath(generated)
    return ["a file compared with itself"] if same else []


def _bytecode(*dumps: Dump) -> list[str]:
    """Where the lines are that a report names of bytecode."""
    paths = dict.fromkeys(dump.path for dump in dumps if dump.format == "bytecode")
    return [f"lines of {path} are those that `tileirdisasm -g` prints" for path in paths]


def _side(dump: Dump) -> Side:
    return Side(
        path=dump.path,
        format=dump.format,
        front_end=dump.front_end.name or None,
        front_end_version=dump.front_end.version or None,
        entries=list(dump.entries),
    )


def _finding(judged: Judged) -> FindingRecord:
    finding = judged.finding
    return FindingRecord(
        rule=finding.rule,
        severity=judged.severity,
        impact=finding.impact,
        status=finding.status,
        cause=judged.cause,
        owner=judged.owner,
        reference=place_of(finding.reference),
        generated=place_of(finding.generated),
        expected=finding.expected,
        actual=finding.actual,
        message=finding.message,
        effect=finding.effect,
        fix=judged.fix,
        evidence=judged.evidence,
        also=list(finding.also),
    )


def _waived(judged: Judged) -> WaivedRecord:
    waiver = judged.waiver
    assert waiver is not None  # only waived findings come here
    expires = waiver.expires.isoformat() if waiver.expires else None
    return WaivedRecord(_finding(judged), waiver.rule, waiver.reason, expires)


def _lowering(lowering: Lowering) -> LoweringRecord:
    kernels = lowering.reference, lowering.generated
    return LoweringRecord(
        lowering.arch,
        lowering.version,
        lowering.entries,
        _kernel(kernels[0]),
        _kernel(kernels[1]),
        None not in kernels and len({kernel.code for kernel in kernels if kernel}) == 1,
        [
            LoweredOperation(
                place_of(each.reference), place_of(each.generated), str(each.expected), str(each.actual)
            )
            for each in lowering.operations
        ],
    )


def _kernel(kernel: Kernel | None) -> LoweredKernel | None:
    if kernel is None:
        return None
    fields = kernel._asdict()
    return LoweredKernel(*(fields[name] for name in LoweredKernel._fields))


def _summary(findings: list[FindingRecord], judgement: Judgement, equivalences: int) -> Summary:
    severities = [finding.severity for finding in findings]
    return Summary(
        critical=severities.count("critical"),
        warn=severities.count("warn"),
        info=severities.count("info"),
        waived=len(judgement.waived),
        ignored=len(judgement.ignored),
        equivalences=equivalences,
        impacts=_counts(finding.impact for finding in findings),
        ignored_rules=_counts(judged.finding.rule for judged in judgement.ignored),
    )


def _counts(names: Iterable[str]) -> dict[str, int]:
    counts: dict[str, int] = {}
    for name in names:
        counts[name] = counts.get(name, 0) + 1
    return dict(sorted(counts.items()))
