"""Sizes of one array that have to be equal are a finding; values that few launches have are told first."""

from __future__ import annotations

import pytest

from tests.match.fixtures import ROOT
from tests.match.snippets import compared, found
from tests.match.test_arguments import POINTERS, copy
from tileir_diff.api import diff
from tileir_diff.match.launch import parse_launch
from tileir_diff.match.model import CompareOptions
from tileir_diff.report.layout import obligation_lines

RULE = "entry-signature/square"


def rules(reference: str, generated: str, options: CompareOptions | None = None) -> list[str]:
    return [each.rule for each in found(reference, generated, options or CompareOptions())]


def test_one_size_for_both_dimensions_is_right_for_square_arrays_only() -> None:
    wrong = copy(POINTERS, name="k_entry", sizes="%aw, %aw", out="%aw, %aw")
    (each,) = found(copy(), wrong)
    assert (each.rule, each.actual) == (RULE, "a.shape0 = a.shape1")
    assert each.evidence == "generated %aw stands for both"
    assert rules(copy(), copy(POINTERS, name="k_entry", sizes="%ah, %aw", out="%ah, %aw")) == []


def test_two_sizes_that_bound_each_other() -> None:
    """The output has the sizes of the input the other way round, so each must be at most the other."""
    wrong = copy(POINTERS, name="_Z1k", sizes="%ah, %aw", out="%aw, %ah", strides=("%as", "%bs"))
    reference = copy(out="%ah, %aw")
    assert rules(reference, reference.replace("@k", "@_Z1k")) == []
    assert [each.impact for each in found(reference, wrong)] == ["logic"]


def test_a_launch_that_says_they_are_equal_settles_it() -> None:
    wrong = copy(POINTERS, name="k_entry", sizes="%aw, %aw", out="%aw, %aw")
    facts = [f"reference.{name}=64" for name in ("ah", "aw", "bh", "bw")] + ["generated.aw=64"]
    assert rules(copy(), wrong, CompareOptions(parse_launch(tuple(facts)))) == []


@pytest.mark.parametrize(
    ("kernel", "mistake"),
    [("swiglu", "wrong_mask_operand"), ("transpose", "cpp_extents_swapped")],
)
def test_real_ports_that_are_right_for_square_arrays_only(kernel: str, mistake: str) -> None:
    report = diff(ROOT / f"kernels/{kernel}/py.mlir", ROOT / f"mistakes/{mistake}/gen.mlir")
    critical = [each for each in report.findings if each.severity == "critical"]
    assert [(each.rule, each.impact) for each in critical] == [(RULE, "logic")]


# ---- what few launches keep ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kernel", "mistake", "first"),
    [
        ("rms_norm", "stride_of_input", "reference arg8.stride0 = arg0.stride0 (one value in the generated"),
        ("embedding", "table_stride", "reference arg3.stride0 = arg8.stride0 (one value in the generated"),
        ("layer_norm", "eps_fixed", "reference arg22 = 1e-06 (a number in the generated"),
        ("swiglu", "cpp_row_stride", "reference arg0.stride0 = 512 (a number in the generated"),
        ("rms_norm", "cpp_one_stride", "reference arg8.stride0 = arg0.stride0 (one value in the generated"),
        ("transpose", "static_rows", "reference arg5.shape0 = 200 (a number in the generated"),
    ],
)
def test_what_few_launches_keep_comes_first(kernel: str, mistake: str, first: str) -> None:
    sides = ROOT / f"kernels/{kernel}/py.mlir", ROOT / f"mistakes/{mistake}/gen.mlir"
    report = diff(*sides)
    marked = [line.endswith(" kernel)") for line in report.obligations]
    assert marked == sorted(marked, reverse=True)
    assert any(line.startswith(first) for line, mark in zip(report.obligations, marked, strict=True) if mark)
    assert f"equal if the host guarantees {len(report.obligations)} conditions" in report.why
    assert obligation_lines(report.obligations)[0].startswith("holds only if reference ")
    listed = [each for each in report.equivalences if each.name == "host-values"]
    assert len(listed) == sum(marked)
    strict = diff(*sides, disabled_equivalences=["host-values"])
    assert {each.rule for each in strict.findings if each.impact == "logic"} == {"entry-signature/argument"}


def test_sizes_of_several_arrays_are_no_such_condition() -> None:
    same = copy(POINTERS, name="k_entry", out="%ah, %aw")
    lines = compared(copy(), same).obligations
    assert lines
    assert not any(line.endswith(" kernel)") for line in lines)


def test_a_fix_names_arguments_as_the_port_does() -> None:
    sides = ROOT / "kernels/vector_add/py.mlir", ROOT / "mistakes/store_mask_lost/gen.mlir"
    (lost,) = [each for each in diff(*sides).findings if each.rule == "mask/missing"]
    assert "with 256*block.x + i0 < %arg3 at" in lost.fix
    assert "arg6.shape0 of the reference; %arg3 is its arg0.shape0" in lost.fix
    wrong = copy(POINTERS, name="k_entry", op="exp", strides=("%as", "%as"))
    assert not any("%as" in each.fix for each in found(copy(), wrong))


@pytest.mark.parametrize(
    ("kernel", "mistake", "fix"),
    [
        (
            "swiglu",
            "wrong_mask_operand",
            "compare with %arg4, the reference's arg10.shape1, not with %arg3 at kernel.rs:64",
        ),
        (
            "transpose",
            "cpp_extents_swapped",
            "compare with %arg3, the reference's arg5.shape0, not with %arg2 at kernel.cu:16",
        ),
    ],
)
def test_with_a_launch_the_fix_of_a_mask_is_an_argument_and_no_number(
    kernel: str, mistake: str, fix: str
) -> None:
    folder = ROOT / f"mistakes/{mistake}"
    report = diff(ROOT / f"kernels/{kernel}/py.g.mlir", folder / "gen.g.mlir", launch=folder / "launch.json")
    (mask,) = [each for each in report.findings if each.rule == "mask/changed"]
    assert mask.fix == fix
    assert mask.evidence is not None
    assert "the reference with arg" in mask.evidence
