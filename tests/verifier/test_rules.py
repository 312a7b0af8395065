"""Every rule is broken by a snippet that breaks nothing else, next to a snippet that is valid."""

from __future__ import annotations

import pytest

from tileir_diff.check import BROKEN, OK, check_text
from tileir_diff.dialect.verifier import RULES

from . import cases_control, cases_debug, cases_memory, cases_ops, cases_types
from .snippets import Case
from .test_objects import MUTATIONS

CASES = [*cases_types.CASES, *cases_ops.CASES, *cases_memory.CASES, *cases_control.CASES, *cases_debug.CASES]
IDS = [f"{case.rule}-{number}" for number, case in enumerate(CASES)]


@pytest.mark.parametrize("case", CASES, ids=IDS)
def test_broken_constraint_is_named(case: Case) -> None:
    result = check_text(case.broken)
    assert [error.rule for error in result.errors] == [case.rule], result.errors
    assert result.status == BROKEN
    error = result.errors[0]
    assert 1 <= error.line <= len(result.lines)
    assert 1 <= error.column <= len(result.lines[error.line - 1]) + 1
    assert error.message
    assert not error.message.endswith(".")


@pytest.mark.parametrize("case", CASES, ids=IDS)
def test_valid_neighbour_passes(case: Case) -> None:
    result = check_text(case.valid)
    assert result.errors == ()
    assert result.status == OK


def test_every_rule_has_a_case() -> None:
    assert {case.rule for case in CASES} | {mutation.rule for mutation in MUTATIONS} == set(RULES)


def test_rules_are_described() -> None:
    for rule, text in RULES.items():
        area, _, name = rule.partition("/")
        assert area, rule
        assert name, rule
        assert not text.endswith("."), rule
