"""Severity, cause, owner, and the verdict over all findings."""

from __future__ import annotations

from datetime import date
from types import SimpleNamespace
from typing import cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tileir_diff.dialect.ir import TileOp
from tileir_diff.match.model import Site
from tileir_diff.rules.catalogue import details
from tileir_diff.rules.model import IMPACTS, STATUSES, Finding
from tileir_diff.verdict import (
    EXIT_STATUS,
    FAIL_ON,
    FrontEnd,
    Judgement,
    Policy,
    Selection,
    Waiver,
    judge,
    severity_of,
)

RULES = [name for name, _ in details()]
RUST = FrontEnd("cutile-rust", "0.5.0")


def found(
    rule: str = "mask/missing",
    impact: str = "bounds",
    status: str = "DIFFERS",
    entry: str = "k",
    expected: str = "this",
    actual: str = "that",
) -> Finding:
    site = Site(cast("TileOp", SimpleNamespace(short="op")), entry)  # the verdict looks at names only
    return Finding(rule, impact, status, site, site, expected, actual, "a message", "an effect", "a fix")


def verdict(*findings: Finding, policy: Policy = Policy(), notes: int = 0) -> str:
    return judge(list(findings), policy, obligations=notes).verdict


@pytest.mark.parametrize(
    ("impact", "severity"),
    [
        ("none", "info"),
        ("hint", "warn"),
        ("edge", "critical"),
        ("ulp", "critical"),
        ("precision", "critical"),
        ("bounds", "critical"),
        ("assume", "critical"),
        ("logic", "critical"),
        ("no impact at all", "critical"),
    ],
)
def test_severity_follows_from_impact(impact: str, severity: str) -> None:
    assert severity_of(impact) == severity


@pytest.mark.parametrize("level", FAIL_ON)
def test_fail_on_moves_the_line_and_what_lies_below_is_a_warning(level: str) -> None:
    at = IMPACTS.index(level)
    assert [severity_of(impact, level) for impact in IMPACTS] == ["info"] + ["warn"] * (at - 1) + [
        "critical"
    ] * (len(IMPACTS) - at)


def test_verdicts() -> None:
    assert verdict() == "PASS"
    assert verdict(found(impact="none")) == "PASS"
    assert verdict(found(impact="hint")) == "PASS_WITH_NOTES"
    assert verdict(notes=1) == "PASS_WITH_NOTES"
    assert verdict(found()) == "FAIL_FIXABLE"
    assert verdict(found(impact="hint"), found(), found(impact="none")) == "FAIL_FIXABLE"


def test_a_failure_says_who_has_to_act_and_why() -> None:
    judgement = judge([found(impact="hint"), found(impact="logic", rule="scan/axis")], Policy())
    assert judgement.owner == "kernel"
    assert judgement.why == "scan/axis: a message"
    assert [each.severity for each in judgement.findings] == ["critical", "warn"]


def test_findings_of_one_severity_keep_the_order_of_the_comparison() -> None:
    rules = ["token-order/missing", "addressing/index", "mask/missing"]
    judgement = judge([found(rule, "logic") for rule in rules], Policy())
    assert [each.finding.rule for each in judgement.findings] == rules


def test_strict_fails_notes_but_not_what_the_project_set_aside() -> None:
    strict = Policy(strict=True)
    assert verdict(policy=strict) == "PASS"
    assert verdict(found(impact="none"), policy=strict) == "PASS"
    assert verdict(found(impact="hint"), policy=strict) == "FAIL_FIXABLE"
    assert verdict(policy=strict, notes=1) == "FAIL_FIXABLE"
    waived = Policy(strict=True, waivers=(Waiver("mask/*", "known"),))
    assert verdict(found(), policy=waived) == "PASS_WITH_NOTES"


@pytest.mark.parametrize(
    ("findings", "obligations", "not_checked", "owner"),
    [((), 2, 0, "host"), ((), 2, 1, "host"), ((), 0, 1, "kernel"), (("hint",), 2, 0, "kernel")],
)
def test_strict_that_fails_for_the_host_alone_is_the_hosts(
    findings: tuple[str, ...], obligations: int, not_checked: int, owner: str
) -> None:
    judgement = judge(
        [found(impact=impact) for impact in findings],
        Policy(strict=True),
        obligations=obligations,
        not_checked=not_checked,
    )
    assert (judgement.verdict, judgement.owner) == ("FAIL_FIXABLE", owner)


def test_a_mistake_of_the_host_is_the_hosts() -> None:
    judgement = judge([found()._replace(cause="host")], Policy())
    assert (judgement.owner, judgement.findings[0].cause) == ("host", "host")


def test_strict_says_what_fails() -> None:
    hint = found(impact="hint")
    judgement = judge([hint], Policy(strict=True), obligations=3, not_checked=1)
    assert judgement.why == (
        "with --strict these fail: 1 warning, 3 conditions on the host, 1 part not checked"
    )


@pytest.mark.parametrize(
    ("rule", "notice"),
    [
        ("mask/mising", "no rule 'mask/mising'; did you mean mask/missing"),
        ("maks/*", "no rule 'maks/*'; did you mean mask"),
        ("mask", "no rule 'mask'; did you mean mask/*?"),
        ("mask/", "no rule 'mask/'; did you mean mask/*?"),
        ("*/nothing", "no rule '*/nothing'"),
        ("mask/*", "was not needed for this pair"),
        ("*/missing", "was not needed for this pair"),
    ],
)
def test_a_waiver_of_a_rule_that_is_not_there_says_so(rule: str, notice: str) -> None:
    judgement = judge([], Policy(waivers=(Waiver(rule, "known"),)), entries=("k",))
    assert len(judgement.notices) == 1
    assert notice in judgement.notices[0]
    assert "any more" not in judgement.notices[0].replace(notice, "")


def test_ignored_findings_are_counted_and_keep_the_verdict_from_a_plain_pass() -> None:
    judgement = judge([found(), found("scan/axis", "logic")], Policy(selection=Selection(ignore=("mask",))))
    assert [each.finding.rule for each in judgement.ignored] == ["mask/missing"]
    assert judgement.verdict == "FAIL_FIXABLE"
    assert verdict(found(), policy=Policy(selection=Selection(ignore=("mask",)))) == "PASS_WITH_NOTES"
    assert verdict(found(), policy=Policy(selection=Selection(select=("scan",)))) == "PASS_WITH_NOTES"


def test_what_only_a_waiver_lets_pass_is_said_first() -> None:
    waivers = (Waiver("mask/*", "known"),)
    one = judge([found()], Policy(waivers=waivers))
    assert one.why == "1 critical finding waived; no other difference that can change results was found"
    more = judge(
        [found(), found(), found(impact="hint")], Policy(waivers=waivers), obligations=1, not_checked=2
    )
    assert more.why == (
        "2 critical findings waived; no other difference that can change results was found if the host "
        "guarantees 1 condition; 2 parts not checked, 1 warning waived"
    )
    ignored = judge([found(), found("scan/axis", "hint")], Policy(selection=Selection(ignore=("mask",))))
    assert ignored.why == (
        "1 critical finding ignored; no other difference that can change results was found; 1 warning"
    )
    both = Policy(waivers=waivers, selection=Selection(ignore=("mask",)))
    assert judge([found()], both).why.startswith("1 critical finding ignored; no other ")
    harmless = judge([found(impact="hint")], Policy(waivers=waivers))
    assert harmless.why == "no difference that can change results was found; 1 warning waived"


def test_what_only_fail_on_lets_pass_is_said_first() -> None:
    judgement = judge([found(), found(impact="hint")], Policy(fail_on="logic"))
    assert judgement.verdict == "PASS_WITH_NOTES"
    assert judgement.why == (
        "1 difference below --fail-on logic; no other difference that can change results was found; "
        "2 warnings"
    )


class TestWaivers:
    def waive(self, *waivers: Waiver, today: date | None = None, entry: str = "softmax_entry") -> Judgement:
        return judge([found(entry=entry)], Policy(waivers=waivers, today=today), entries=(entry,))

    def test_a_waived_finding_stays_listed(self) -> None:
        judgement = self.waive(Waiver("mask/*", "the tail is padded by the host", "softmax*"))
        assert judgement.verdict == "PASS_WITH_NOTES"
        assert judgement.findings == []
        assert [each.finding.rule for each in judgement.waived] == ["mask/missing"]
        assert judgement.notices == []

    @pytest.mark.parametrize(
        "waiver", [Waiver("mask/*", "x", "matmul*"), Waiver("padding/*", "x", "softmax*")]
    )
    def test_a_waiver_covers_only_its_rule_and_kernel(self, waiver: Waiver) -> None:
        assert self.waive(waiver).verdict == "FAIL_FIXABLE"

    def test_a_waiver_ends_on_its_day(self) -> None:
        waiver = Waiver("mask/*", "until the next release", expires=date(2027, 1, 31))
        assert self.waive(waiver, today=date(2027, 1, 30)).verdict == "PASS_WITH_NOTES"
        expired = self.waive(waiver, today=date(2027, 1, 31))
        assert expired.verdict == "FAIL_FIXABLE"
        assert "expired on 2027-01-31" in expired.notices[0]

    def test_a_waiver_that_nothing_needs_is_reported_but_only_for_its_kernel(self) -> None:
        assert "not needed" in self.waive(Waiver("scan/*", "x", "softmax*")).notices[0]
        assert self.waive(Waiver("scan/*", "x", "matmul*")).notices == []

    def test_an_expired_waiver_does_not_hide_one_in_force(self) -> None:
        old = Waiver("mask/*", "old", expires=date(2020, 1, 1))
        assert (
            self.waive(old, Waiver("mask/missing", "new"), today=date(2026, 1, 1)).verdict
            == "PASS_WITH_NOTES"
        )


class TestKnownGaps:
    def judged(self, finding: Finding, front_end: FrontEnd) -> Judgement:
        return judge([finding], Policy(), front_end=front_end)

    def test_a_gap_becomes_the_cause_and_keeps_the_severity(self) -> None:
        judgement = self.judged(found("scan/identity", "logic"), RUST)
        assert judgement.findings[0].cause == "known-gap"
        assert judgement.findings[0].severity == "critical"
        assert "cutile-rust-scan-identity" in judgement.findings[0].evidence

    def test_without_a_workaround_the_kernel_cannot_fix_it(self) -> None:
        judgement = self.judged(found("scan/identity", "logic"), RUST)
        assert (judgement.verdict, judgement.owner) == ("FAIL_COMPILER_BUG", None)

    def test_with_a_workaround_it_can(self) -> None:
        judgement = self.judged(found("scan/axis", "logic"), RUST)
        assert (judgement.verdict, judgement.owner) == ("FAIL_FIXABLE", "kernel")
        assert judgement.findings[0].fix.startswith("transpose")

    def test_one_fixable_finding_beside_a_gap_is_fixable(self) -> None:
        judgement = judge([found("scan/identity", "logic"), found()], Policy(), front_end=RUST)
        assert judgement.verdict == "FAIL_FIXABLE"

    @pytest.mark.parametrize(
        ("version", "cause"), [("0.2.0", "known-gap"), ("0.5.0", "translation"), ("", "translation")]
    )
    def test_a_gap_of_some_versions_needs_the_version(self, version: str, cause: str) -> None:
        finding = found("entry-hint/missing", "hint", expected="num_worker_warps_per_cta = 8")
        judged = self.judged(finding, FrontEnd("cutile-rust", version)).findings[0]
        assert judged.cause == cause
        assert ("known gap" in judged.evidence) == (version != "0.5.0")
        fixes = {
            "0.2.0": "upgrade cutile-rust to 0.5.0 or later, then a fix",
            "0.5.0": "a fix",
            "": "with cutile-rust 0.5.0 or later: a fix",
        }
        assert judged.fix == fixes[version]

    def test_a_gap_that_depends_on_the_source_is_evidence_only(self) -> None:
        judged = self.judged(found("latency-hint/missing", "hint"), FrontEnd("tile-cpp", "13.4")).findings[0]
        assert judged.cause == "translation"
        assert judged.evidence.endswith("if the hint stands on a declaration with initializer")
        assert judged.fix == "a fix"

    @pytest.mark.parametrize(("short", "cause"), [("divf", "known-gap"), ("sqrt", "translation")])
    def test_a_gap_of_one_op_is_none_of_another(self, short: str, cause: str) -> None:
        site = Site(cast("TileOp", SimpleNamespace(short=short)), "k")
        finding = found("float-mode/approx", "ulp", expected="full")._replace(reference=site, generated=site)
        assert self.judged(finding, RUST).findings[0].cause == cause

    def test_another_front_end_does_not_have_it(self) -> None:
        assert (
            self.judged(found("scan/identity", "logic"), FrontEnd("tile-cpp")).findings[0].cause
            == "translation"
        )


def test_what_is_equivalent_has_no_owner() -> None:
    judged = judge([found(impact="none", status="SEMANTIC_EQUIV")], Policy()).findings[0]
    assert (judged.cause, judged.owner) == ("equivalent", None)


findings = st.builds(
    found,
    st.sampled_from(RULES),
    st.sampled_from(IMPACTS),
    st.sampled_from(STATUSES),
    st.sampled_from(["k", "other"]),
)
policies = st.builds(
    Policy,
    st.sampled_from(FAIL_ON),
    st.booleans(),
    st.builds(
        Selection,
        st.lists(st.sampled_from(["mask", "scan", "ALL"]), max_size=2).map(tuple),
        st.lists(st.sampled_from(["mask", "mask/missing", "loop"]), max_size=2).map(tuple),
    ),
    st.lists(st.sampled_from([Waiver("mask/*", "x"), Waiver("*", "y", "other")]), max_size=2).map(tuple),
)


@given(
    st.lists(findings, max_size=6),
    findings,
    st.integers(0, 6),
    policies,
    st.integers(0, 2),
    st.integers(0, 2),
)
def test_adding_to_a_failing_result_never_makes_it_pass(
    before: list[Finding], more: Finding, position: int, policy: Policy, notes: int, more_notes: int
) -> None:
    failing = EXIT_STATUS[judge(before, policy, front_end=RUST, not_checked=notes).verdict]
    after = [*before[:position], more, *before[position:]]
    assert (
        EXIT_STATUS[judge(after, policy, front_end=RUST, not_checked=notes + more_notes).verdict] >= failing
    )


@given(st.lists(findings, max_size=6), policies)
def test_no_finding_is_lost(given_findings: list[Finding], policy: Policy) -> None:
    judgement = judge(given_findings, policy)
    listed = [*judgement.findings, *judgement.waived, *judgement.ignored]
    assert sorted(id(each.finding) for each in listed) == sorted(map(id, given_findings))
