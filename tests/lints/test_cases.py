"""Each lint reports what it is for, at the right op, and is silent on the nearest harmless kernel."""

from __future__ import annotations

import pytest

from tileir_diff.dialect import parse_text
from tileir_diff.dialect.verifier import verify
from tileir_diff.lints import LINTS, MESSAGE_LIMIT, SEVERITIES, LintFinding, lint_module

from .cases import CASES, Case

NAMES = [f"{case.lint}-{case.severity}-{number}" for number, case in enumerate(CASES)]


def found(text: str) -> list[LintFinding]:
    module = parse_text(text)
    assert not verify(module), verify(module)
    return lint_module(module)


@pytest.mark.parametrize("case", CASES, ids=NAMES)
def test_reported(case: Case) -> None:
    hits = [hit for hit in found(case.bad) if hit.rule == f"lint/{case.lint}"]
    assert hits
    assert {hit.severity for hit in hits} == {case.severity}
    assert case.at in case.bad.splitlines()[hits[0].line - 1]
    assert hits[0].entry == "k"
    assert hits[0].fix


@pytest.mark.parametrize("case", CASES, ids=NAMES)
def test_silent(case: Case) -> None:
    severity = case.severity
    hits = [hit for hit in found(case.good) if hit.rule == f"lint/{case.lint}" and hit.severity == severity]
    assert hits == []


@pytest.mark.parametrize("text", [text for case in CASES for text in (case.bad, case.good)])
def test_well_formed(text: str) -> None:
    hits = found(text)
    assert all(len(hit.message) <= MESSAGE_LIMIT and hit.severity in SEVERITIES for hit in hits)
    assert hits == sorted(hits, key=lambda hit: (hit.line, hit.column, hit.rule, hit.message))


def test_every_lint_has_a_case() -> None:
    assert {case.lint for case in CASES} == set(LINTS)
