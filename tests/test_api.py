"""`tileir_diff.diff`: what it takes, beside what the command takes."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.docs.console import FIXTURES
from tileir_diff import InputError, Waiver, diff

KERNEL = FIXTURES / "kernels" / "vector_add"
PAIR = KERNEL / "py.g.mlir", FIXTURES / "mistakes" / "store_mask_lost" / "gen.g.mlir"
ALIKE = KERNEL / "py.g.mlir", KERNEL / "rs.g.mlir"


@pytest.mark.parametrize("rule", ["mask", "mask/missing", "padding, mask/*"])
def test_a_rule_may_be_one_string(rule: str) -> None:
    assert diff(*PAIR, ignore=rule).verdict == diff(*PAIR, ignore=[rule]).verdict == "PASS_WITH_NOTES"
    assert diff(*PAIR, select=rule).verdict == "FAIL_FIXABLE"


def test_a_waiver_is_a_record_or_a_mapping() -> None:
    assert diff(*PAIR).verdict == "FAIL_FIXABLE"
    for waiver in (Waiver("mask/*", "known"), {"rule": "mask/*", "reason": "known"}):
        report = diff(*PAIR, waivers=[waiver])
        assert (report.verdict, report.waived[0].reason) == ("PASS_WITH_NOTES", "known")
    with pytest.raises(InputError, match="waivers: error: a waiver needs a 'reason'"):
        diff(*PAIR, waivers=[{"rule": "mask/*"}])


def test_a_launch_is_a_path_a_fact_several_or_a_mapping() -> None:
    file: Path = KERNEL / "launch.json"
    assert diff(*ALIKE, launch=file).verdict == diff(*ALIKE, launch=str(file)).verdict == "PASS"
    assert diff(*ALIKE, launch=[file, "generated.arg3=900"]).verdict == "FAIL_FIXABLE"
    facts = diff(*ALIKE, launch={"grid.x": 4, "generated.arg3": 1000})
    assert facts.assumptions == diff(*ALIKE, launch=["grid.x=4", "generated.arg3=1000"]).assumptions
    assert any("grid.x=4, generated.arg3=1000" in line for line in facts.assumptions)
