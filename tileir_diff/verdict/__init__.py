"""The verdict: severity, cause and owner of each finding, waivers, known gaps, and what follows from it all.

Adding a finding, a rule that was skipped or an approximation never turns a failing verdict into a passing
one.
"""

from __future__ import annotations

from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, NamedTuple

from tileir_diff.rules.model import impact_rank
from tileir_diff.verdict.config import Waiver
from tileir_diff.verdict.front_ends import FrontEnd
from tileir_diff.verdict.known_gaps import Gap, matching_gap
from tileir_diff.verdict.selection import Selection

if TYPE_CHECKING:
    from datetime import date

    from tileir_diff.rules.model import Finding

__all__ = ["FrontEnd", "Judged", "Judgement", "Policy", "Selection", "Waiver", "judge", "severity_of"]

PASS = "PASS"
PASS_WITH_NOTES = "PASS_WITH_NOTES"
FAIL_FIXABLE = "FAIL_FIXABLE"
FAIL_COMPILER_BUG = "FAIL_COMPILER_BUG"
BLOCKED = "BLOCKED"

EXIT_STATUS = {PASS: 0, PASS_WITH_NOTES: 0, FAIL_FIXABLE: 1, FAIL_COMPILER_BUG: 1, BLOCKED: 2}

SEVERITIES = ("critical", "warn", "info")
"""From worst to harmless, the order of a report."""

ROUNDING = ("ulp", "precision")
"""Impacts that change digits alone: never the cause of another finding."""

ON_THE_HOST = " on the host"
"""What conditions are on."""

FAIL_ON = ("hint", "edge", "ulp", "precision", "bounds", "assume", "logic")
"""Impacts that `--fail-on` takes: that one and all above are critical."""

OWNERS = {
    "translation": "kernel",
    "frontend-bug": "frontend",
    "tileiras-bug": "tileiras",
    "host": "host",
    "unknown": "kernel",
}
"""Who has to act, by cause. A difference in structure is the port's own until evidence says otherwise."""


class Policy(NamedTuple):
    """What the user and the project decided."""

    fail_on: str = "edge"
    strict: bool = False
    selection: Selection = Selection()
    waivers: tuple[Waiver, ...] = ()
    today: date | None = None
    """The day on which waivers are judged; None: waivers never expire."""
    settings: str = ""
    """What a settings file decided of these, for the report; waivers are told where they apply."""


class Judged(NamedTuple):
    """A finding with what the verdict makes of it."""

    finding: Finding
    severity: str
    cause: str
    owner: str | None
    evidence: str
    fix: str
    waiver: Waiver | None


class Judgement(NamedTuple):
    """The verdict and the findings behind it."""

    verdict: str
    owner: str | None
    why: str
    findings: list[Judged]
    """Those that count, by severity; within one severity as the comparison gave them, root causes first,
    and last what only rounds otherwise."""
    waived: list[Judged]
    ignored: list[Judged]
    """Those that `--select` or `--ignore` took out."""
    notices: list[str]
    """What a settings file decided, and waivers that expired or that nothing needed."""


def judge(
    findings: list[Finding],
    policy: Policy,
    *,
    front_end: FrontEnd = FrontEnd(),
    entries: tuple[str, ...] = (),
    obligations: int = 0,
    not_checked: int = 0,
) -> Judgement:
    """The verdict over all findings.

    `front_end` is that of the generated side, `entries` the symbols that were compared.
    `obligations` of the host and what was `not_checked` keep a report from being a plain PASS too.
    """
    counted: list[Judged] = []
    waived: list[Judged] = []
    ignored: list[Judged] = []
    waivers = _Waivers(policy)
    for finding in findings:
        judged = _judged(finding, policy, front_end, waivers.accepts(finding))
        if not policy.selection.includes(finding.rule):
            ignored.append(judged)
        elif judged.waiver is not None:
            waived.append(judged)
        else:
            counted.append(judged)
    counted.sort(key=lambda each: (SEVERITIES.index(each.severity), each.finding.impact in ROUNDING))
    notices = [*filter(None, [policy.settings]), *waivers.notices(entries)]
    notes = [  # those for the host first
        _count(obligations, f"condition{ON_THE_HOST}", f"conditions{ON_THE_HOST}"),
        _count(not_checked, "part not checked", "parts not checked"),
    ]
    verdict, owner, why = _verdict(counted, waived, ignored, policy, notes)
    return Judgement(verdict, owner, why, counted, waived, ignored, notices)


def severity_of(impact: str, fail_on: str = "edge") -> str:
    """critical from `fail_on` on, warn below it, info for what cannot matter."""
    if impact == "none":
        return "info"
    return "critical" if impact_rank(impact) >= impact_rank(fail_on) else "warn"


def _judged(finding: Finding, policy: Policy, front_end: FrontEnd, waiver: Waiver | None) -> Judged:
    severity = "critical" if finding.matters else severity_of(finding.impact, policy.fail_on)
    equivalent = finding.impact == "none" or (finding.status == "SEMANTIC_EQUIV" and severity != "critical")
    cause = "equivalent" if equivalent else finding.cause
    judged = Judged(
        finding=finding,
        severity=severity,
        cause=cause,
        owner=OWNERS.get(cause),
        evidence=finding.evidence,
        fix=finding.fix,
        waiver=waiver,
    )
    gap = matching_gap(finding, front_end) if cause == "translation" else None
    return judged if gap is None else _with_gap(judged, gap, front_end)


def _with_gap(judged: Judged, gap: Gap, front_end: FrontEnd) -> Judged:
    """A gap that is known to apply becomes the cause; one that may apply is only evidence."""
    versions = f" {gap.versions}" if gap.versions else ""
    text = f"known gap {gap.id} of {front_end.name}{versions}: {gap.reason}"
    if gap.only_if:
        return judged._replace(evidence=_join(judged.evidence, f"{text}, if {gap.only_if}"))
    if gap.open_in(front_end.version) is None:
        hint = f"version not known, name it with --front-end generated={front_end.name}@VERSION"
        fix = f"with {front_end.name} {gap.before} or later: {judged.fix}" if gap.before else judged.fix
        return judged._replace(evidence=_join(judged.evidence, f"{text} ({hint})"), fix=fix)
    return judged._replace(
        cause="known-gap",
        owner="kernel" if gap.workaround else None,
        evidence=_join(judged.evidence, text),
        fix=gap.workaround or _without_workaround(judged, gap, front_end),
    )


def _without_workaround(judged: Judged, gap: Gap, front_end: FrontEnd) -> str:
    if gap.before:
        return f"upgrade {front_end.name} to {gap.before} or later, then {judged.fix}"
    return f"none in {front_end}: {gap.reason}; waive it, or wait for a version that can"


def _join(first: str, second: str) -> str:
    return f"{first}; {second}" if first else second


def _verdict(
    counted: list[Judged], waived: list[Judged], ignored: list[Judged], policy: Policy, notes: list[str]
) -> tuple[str, str | None, str]:
    critical = [each for each in counted if each.severity == "critical"]
    if critical:
        return _failing(critical)
    warnings = _count(_number(counted, "warn"), "warning", "warnings")
    owner = "kernel" if warnings or not notes[0] else "host"
    notes = [warnings, *notes]
    # What only a waiver, `--ignore` or `--fail-on` lets pass is the first thing to say.
    lowered = [each for each in counted if severity_of(each.finding.impact) == "critical"]
    below = f"below --fail-on {policy.fail_on}"
    passed = [
        _count(len(lowered), f"difference {below}", f"differences {below}"),
        _count(_number(waived, "critical"), "critical finding waived", "critical findings waived"),
        _count(_number(ignored, "critical"), "critical finding ignored", "critical findings ignored"),
    ]
    rest = [
        *notes,
        _count(_number(waived, "warn"), "warning waived", "warnings waived"),
        _count(_number(ignored, "warn"), "warning ignored", "warnings ignored"),
    ]
    if not any((*passed, *rest)):
        return PASS, None, "no difference that matters was found"
    if policy.strict and any(notes):
        return FAIL_FIXABLE, owner, f"with --strict these fail: {_listed(notes)}"
    why = [_listed(passed), _found(notes, any(passed)), _listed([part for part in rest if part != notes[1]])]
    return PASS_WITH_NOTES, None, "; ".join(part for part in why if part)


def _found(notes: list[str], passed: bool) -> str:
    """What was found, and under which conditions; ``passed``: whether a difference was let pass.

    Equal is only what was all looked at.
    """
    _, conditions, not_checked = notes
    condition = f" if the host guarantees {conditions.removesuffix(ON_THE_HOST)}" if conditions else ""
    if condition and not passed and not not_checked:
        return f"equal{condition}"
    other = "no other difference" if passed else "no difference"
    return f"{other} that can change results was found{condition}"


def _number(findings: list[Judged], severity: str) -> int:
    return sum(each.severity == severity for each in findings)


def _listed(parts: list[str]) -> str:
    return ", ".join(part for part in parts if part)


def _failing(critical: list[Judged]) -> tuple[str, str | None, str]:
    """Fixable if someone can act on one of them; else the front end stands in the way of all."""
    first = critical[0]
    rest = f" (and {len(critical) - 1} more)" if len(critical) > 1 else ""
    why = f"{first.finding.rule}: {first.finding.message}{rest}"
    owners = [each.owner for each in critical if each.owner in ("kernel", "host")]
    if owners:
        return FAIL_FIXABLE, owners[0], why
    return FAIL_COMPILER_BUG, first.owner, why


def _count(number: int, one: str, many: str) -> str:
    return f"{number} {one if number == 1 else many}" if number else ""


class _Waivers:
    """Applies waivers, and remembers which ones were needed."""

    def __init__(self, policy: Policy) -> None:
        self._waivers = policy.waivers
        self._expired = [
            waiver.expires is not None and policy.today is not None and policy.today >= waiver.expires
            for waiver in policy.waivers
        ]
        self._hits = [0 for _ in policy.waivers]

    def accepts(self, finding: Finding) -> Waiver | None:
        """The first waiver in force that covers the finding."""
        accepted: Waiver | None = None
        for index, waiver in enumerate(self._waivers):
            if not _covers(waiver, finding):
                continue
            self._hits[index] += 1
            if accepted is None and not self._expired[index]:
                accepted = waiver
        return accepted

    def notices(self, entries: tuple[str, ...]) -> list[str]:
        """One line for each waiver that names no rule, expired or was not needed.

        That one for other kernels is not needed says nothing.
        """
        lines: list[str] = []
        for waiver, expired, hits in zip(self._waivers, self._expired, self._hits, strict=True):
            unknown = "" if hits else _unknown_rule(waiver.rule)
            if unknown:
                lines.append(f"{waiver}: {unknown}")
            elif expired and hits:
                lines.append(f"{waiver} expired on {waiver.expires}, and does not apply")
            elif not hits and any(fnmatchcase(entry, waiver.kernel) for entry in entries):
                lines.append(f"{waiver} was not needed for this pair")
        return lines


def _unknown_rule(pattern: str) -> str:
    from tileir_diff.rules.catalogue import unknown_rule  # loads all rules: only a waiver without a hit asks

    return unknown_rule(pattern)


def _covers(waiver: Waiver, finding: Finding) -> bool:
    sites = [site for site in (finding.reference, finding.generated) if site is not None]
    named = waiver.kernel == "*" or any(
        fnmatchcase(site.entry.removeprefix("@"), waiver.kernel) for site in sites
    )
    return named and fnmatchcase(finding.rule, waiver.rule)
