"""Mutants: valid, where they say, the same every time, and meaning what their class says."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.mutate import DEFECT, HARMLESS, HINT, KINDS, Context, Rejects, broken, mutants
from benchmarks.mutate.model import Change, Edit, Mutant, apply_edits, make_mutant
from tests.benchmarks.kernels import KERNEL


def of_kind(kind: str, text: str = KERNEL) -> list[Mutant]:
    return list(mutants(text, kinds=[kind], per_kind=99))


def changed(mutant: Mutant) -> list[str]:
    """The changed lines, stripped."""
    lines = mutant.text.splitlines()
    return [lines[number - 1].strip() for number in mutant.lines]


def test_kernel_is_valid() -> None:
    assert broken(KERNEL) == ""


def test_mask_is_dropped_with_its_type() -> None:
    texts = {changed(mutant)[0] for mutant in of_kind("mask.drop")}
    assert texts == {
        "%result, %result_token = load_ptr_tko weak %5, %cst_f32 token=%0",
        "%10 = store_ptr_tko weak %8, %6 token=%0 : tile<8xptr<f32>>, tile<8xf32> -> token",
    }


@pytest.mark.parametrize(
    ("kind", "before", "after"),
    [
        ("operands.swap", "subf %result, %bcast_6", "subf %bcast_6, %result"),
        ("cmp.predicate", "cmpi less_than %1", "cmpi less_than_or_equal %1"),
        ("memory.order", "store_ptr_tko weak %8", "store_ptr_tko release device %8"),
        ("reduce.identity", "identities=[0.000000e+00 : f32]", "identities=[1.00000000e+00 : f32]"),
        ("grid.axis", "%blockId_x, %blockId_y, %blockId_z =", "%blockId_y, %blockId_x, %blockId_z ="),
        ("div-by.stronger", "div_by<16>", "div_by<32>"),
        ("bounded.stronger", "bounded<0, ?>", "bounded<7, ?>"),
        ("entry-hint.change", "occupancy = 2", "occupancy = 7"),
        ("latency.add", "%2 token=%0 :", "%2 token=%0 optimization_hints = <default = {latency = 7}> :"),
        ("same.mirror", "cmpi less_than %1, %bcast,", "cmpi greater_than %bcast, %1,"),
        ("same.commute", "addi %bcast_2, %1", "addi %1, %bcast_2"),
        ("ftz.add", "subf %result, %bcast_6 ", "subf %result, %bcast_6 flush_to_zero "),
    ],
)  # fmt: skip
def test_edit(kind: str, before: str, after: str) -> None:
    assert before in KERNEL
    wanted = KERNEL.replace(before, after, 1)
    assert wanted in [mutant.text for mutant in of_kind(kind)]


def test_dead_code_is_left_alone() -> None:
    # `mulf` has no user: no defect may touch it.
    number = next(i for i, line in enumerate(KERNEL.splitlines(), 1) if "mulf" in line)
    defects = list(mutants(KERNEL, classes=[DEFECT], per_kind=99))
    assert len(defects) > 60
    assert not [mutant for mutant in defects if mutant.reference_lines == (number,)]


def test_equal_values_are_no_replacement() -> None:
    # %assume and %arg0 are one value: a base or operand exchanged for the other changes nothing.
    texts = {line for mutant in of_kind("operand.replace") for line in changed(mutant)}
    assert "%reshape_3 = reshape %arg3 : tile<ptr<f32>> -> tile<1xptr<f32>>" in texts
    assert "%reshape_3 = reshape %arg0 : tile<ptr<f32>> -> tile<1xptr<f32>>" not in texts


@pytest.mark.slow
def test_every_mutant_of_the_fixtures_is_valid_and_another_text(kernel_dumps: list[Path]) -> None:
    rejects = Rejects()
    seen: set[str] = set()
    for path in [path for path in kernel_dumps if not path.name.endswith(".g.mlir")][::3]:
        text = path.read_text(encoding="utf-8")
        for mutant in mutants(text, str(path), rejects=rejects):
            seen.add(mutant.cls)
            assert mutant.text != text
            assert mutant.lines or mutant.reference_lines
            assert (mutant.families == ()) == (mutant.cls == HARMLESS)
    assert seen == {DEFECT, HINT, HARMLESS}
    assert not rejects.examples


def test_samples_are_the_same_every_time() -> None:
    first = [(mutant.kind, mutant.text) for mutant in mutants(KERNEL, seed=4)]
    assert first == [(mutant.kind, mutant.text) for mutant in mutants(KERNEL, seed=4)]
    assert first != [(mutant.kind, mutant.text) for mutant in mutants(KERNEL, seed=5)]


def test_kinds_have_a_class() -> None:
    assert {kind.cls for kind in KINDS.values()} == {DEFECT, HINT, HARMLESS}
    assert all((kind.cls == HARMLESS) == name.startswith("same.") for name, kind in KINDS.items())


def test_lines_of_inserted_and_removed_text() -> None:
    text = "aa\nbb\ncc\ndd\n"
    inserted = make_mutant("k", DEFECT, "p", text, Change((Edit(3, 3, "x\ny\n"),), "w"))
    assert inserted.text == "aa\nx\ny\nbb\ncc\ndd\n"
    assert inserted.lines == (2, 3)
    assert [inserted.line_before(line) for line in (1, 4, 6)] == [1, 2, 4]
    removed = make_mutant("k", DEFECT, "p", text, Change((Edit(3, 6, ""),), "w"))
    assert removed.text == "aa\ncc\ndd\n"
    assert 2 in removed.reference_lines
    assert [removed.line_before(line) for line in (1, 2, 3)] == [1, 3, 4]


def test_overlapping_edits_are_refused() -> None:
    with pytest.raises(ValueError, match="overlap"):
        apply_edits("abc", (Edit(0, 2, "x"), Edit(1, 3, "y")))


def test_operands_are_found_in_the_text() -> None:
    context = Context(KERNEL)
    for _, op in context.ops:
        parts = context.parts(op) if op.text else None
        if parts is not None:
            names = [parts.text[start + 1 : end] for start, end in parts.operands]
            assert names == [str(operand.name_hint).removesuffix("#0") for operand in op.operands]
