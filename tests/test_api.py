"""`tileir_diff.diff`: what it takes, beside what the command takes."""

from __future__ import annotations

from pathlib import Path
from typing import Any, cast

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
    with pytest.raises(InputError, match="waivers: error: a waiver needs a 'reason'"):
        diff(*PAIR, waivers=[Waiver("mask/*", " ")])


@pytest.mark.parametrize("waivers", ["mask/*", ["mask/*"], Waiver("mask/*", "known")])
def test_what_is_no_waiver(waivers: Any) -> None:
    with pytest.raises(TypeError, match="a list of Waiver or of mappings, not of str"):
        diff(*PAIR, waivers=waivers)


def test_one_standard_input_is_not_two_sides() -> None:
    with pytest.raises(InputError, match="both sides cannot be standard input"):
        diff("-", "-")


def test_an_entry_may_be_named_as_reports_name_it() -> None:
    assert diff(*ALIKE, entry="@vector_add_entry") == diff(*ALIKE, entry="vector_add_entry")


@pytest.mark.parametrize("launch", [{"gird.x": 4}, {"grid.x": -1}, "generated.gird.x=4"])
def test_a_launch_fact_that_is_wrong_names_the_argument(launch: dict[str, object] | str) -> None:
    with pytest.raises(InputError, match=r"^launch: error: ") as caught:
        diff(*ALIKE, launch=launch)
    assert "--" not in str(caught.value)


def test_an_entry_that_is_not_there_names_the_argument() -> None:
    with pytest.raises(InputError, match=r"^entry: error: no entry '@other'"):
        diff(*ALIKE, entry="other")


def test_files_that_the_launch_shows_to_be_exchanged() -> None:
    with pytest.raises(InputError, match=r"the reference side does not have; are the two files exchanged\?"):
        diff(*reversed(ALIKE), launch=KERNEL / "launch.json")


def test_a_file_compared_with_itself_is_told() -> None:
    assert diff(ALIKE[0], ALIKE[0]).notices == ["a file compared with itself"]
    assert diff(*ALIKE).notices == []


def test_kernels_that_are_hardly_alike_are_told_first() -> None:
    other = FIXTURES / "kernels" / "softmax" / "py.g.mlir"
    assert diff(ALIKE[0], other).why.startswith("these look like different kernels (")
    assert not diff(*PAIR).why.startswith("these")


def test_kernels_that_differ_in_all_they_do_are_told_first_though_each_access_has_a_partner() -> None:
    sides = [FIXTURES / "kernels" / name / "py.mlir" for name in ("softmax", "attention")]
    report = diff(*sides)
    assert not any(
        each.rule.endswith(("/missing", "/extra")) and "family" in each.rule for each in report.findings
    )
    assert report.why.startswith("these look like different kernels (")


def test_a_launch_is_a_path_a_fact_several_or_a_mapping() -> None:
    file: Path = KERNEL / "launch.json"
    assert diff(*ALIKE, launch=file).verdict == diff(*ALIKE, launch=str(file)).verdict == "PASS"
    assert diff(*ALIKE, launch=[file, "generated.arg3=900"]).verdict == "FAIL_FIXABLE"
    facts = diff(*ALIKE, launch={"grid.x": 4, "generated.arg3": 1000})
    assert facts.assumptions == diff(*ALIKE, launch=["grid.x=4", "generated.arg3=1000"]).assumptions
    assert any("grid.x=4, generated.arg3=1000" in line for line in facts.assumptions)


@pytest.mark.parametrize("names", ["flush-with-norml", ["double", "flush-with-norml"]])
def test_an_equivalence_that_does_not_exist(names: str | list[str]) -> None:
    with pytest.raises(InputError, match=r"^disabled_equivalences: error: no equivalence 'flush-with-norml'"):
        diff(*ALIKE, disabled_equivalences=names)


@pytest.mark.parametrize("argument", ["launch", "args"])
def test_a_key_that_stands_twice(argument: str, tmp_path: Path) -> None:
    file = tmp_path / "given.json"
    file.write_text('{"reference": {"n": 1, "n": 2}}', encoding="utf-8")
    with pytest.raises(InputError, match=r"given\.json: error: the key 'n' stands twice in one object"):
        diff(*ALIKE, **cast("Any", {argument: file}))
