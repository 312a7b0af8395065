"""What a finding says of both sides: the values that differ, not the ops that happen to stand there."""

from __future__ import annotations

import pytest

from tests.match.fixtures import ROOT, compare_files, dump, edits, findings
from tests.match.snippets import LOAD, STORE, assert_found, found, kernel, with_value
from tileir_diff.dialect import parse_text
from tileir_diff.match.compare import compare
from tileir_diff.match.model import CompareOptions
from tileir_diff.rules import finding

T = "tile<128xf32>"
SPLAT = """%m1f = itof %m signed : tile<i32> -> tile<f32>
%mr = reshape %m1f : tile<f32> -> tile<1xf32>
%f = broadcast %mr : tile<1xf32> -> tile<128xf32>"""
EDITS = {edit.name: edit for edit in edits("mistakes")}


@pytest.mark.parametrize(
    ("name", "parts"),
    [
        ("scale_lost", ["multiplication by arg13", "has no counterpart"]),
        ("py_scale_inverse", ["stores divf(1, ", "the reference stores maxf("]),
        ("py_unchecked_scatter", ["256*block.x + i0 < "]),
        ("py_key_order", ["no dim_map", "dim_map=[0, 2, 1]"]),
        ("tile_columns", ["shape0", "shape1"]),
    ],
)
def test_the_message_names_what_differs(name: str, parts: list[str]) -> None:
    edit = EDITS[name]
    comparison = compare_files(edit.kernel / "py.g.mlir", edit.folder / "gen.g.mlir", None)
    told = findings(comparison)[0]
    for part in parts:
        assert part in told.message
    assert told.message.count("(") == told.message.count(")")


@pytest.mark.parametrize(
    ("op", "words"),
    [
        (f"%w = mulf %h, %f : {T}", "multiplication by itof("),
        (f"%w = addf %h, %f : {T}", "addition of itof("),
        (f"%w = subf %h, %f : {T}", "subtraction of itof("),
        (f"%w = divf %h, %f : {T}", "division by itof("),
        (f"%w = maxf %h, %f : {T}", "maximum with itof("),
    ],
)
def test_an_op_that_one_side_lacks_is_named_with_its_operand(op: str, words: str) -> None:
    """Behind another cast, so that no edit of one op explains it."""
    head = f"{SPLAT}\n%h = exp %v : {T}"
    there = with_value(f"{head}\n{op.replace('%w', '%x1')}\n%w = absf %x1 : {T}")
    absent = with_value(f"%h = exp %v : {T}\n%w = absf %h : {T}")
    missing, extra = found(there, absent), found(absent, there)
    assert any(words in each.message for each in missing), [each.message for each in missing]
    assert any(words in each.message for each in extra), [each.message for each in extra]


def test_what_is_computed_in_other_types_is_told_by_the_types() -> None:
    def computed(element: str) -> str:
        tile = f"tile<128x{element}>"
        cast = f"%c = ftof %v : {T} -> {tile}" if element != "f32" else ""
        back = f"%w = ftof %s : {tile} -> {T}" if element != "f32" else f"%w = negf %s : {T}"
        value = "%c" if cast else "%v"
        return f"{cast}\n%p = exp {value} : {tile}\n%s = mulf %p, {value} : {tile}\n{back}"

    wide = with_value(computed("f32").replace("%w = negf %s", "%w = absf %s"))
    narrow = with_value(computed("f16").replace("%w = ftof %s", "%q = ftof %s") + f"\n%w = absf %q : {T}")
    told = found(narrow, wide)
    assert any("computes in f32; the reference in f16" in each.message for each in told), [
        each.message for each in told
    ]


def test_a_rounding_that_is_lost_is_no_extra_one() -> None:
    half = "tile<128xf16>"
    ops = f"%g = exp %v : {T}\n%h = ftof %g : {T} -> {half}\n%c = ftof %v : {T} -> {half}\n"
    twice = with_value(f"{ops}%p = mulf %h, %c : {half}\n%w = ftof %p : {half} -> {T}")
    once = with_value(
        f"%g = exp %v : {T}\n%c = ftof %v : {T} -> {half}\n%k = ftof %c : {half} -> {T}\n"
        f"%p = mulf %g, %k : {T}\n%q = ftof %p : {T} -> {half}\n%w = ftof %q : {half} -> {T}"
    )
    assert "conversion/missing" in {each.rule for each in found(twice, once)}
    assert "conversion/missing" not in {each.rule for each in found(once, twice)}


def test_a_lost_mask_is_told_as_a_formula() -> None:
    body = f"{LOAD}\n%w = absf %v : {T}\n"
    unmasked = STORE.replace(", %in token", " token").replace("tile<128xf32>, tile<128xi1>", "tile<128xf32>")
    told = assert_found(kernel(body + STORE), kernel(body + unmasked), "mask")
    assert "%in" not in told.message
    assert "128*block.x + i0 < " in told.message


def test_a_view_without_the_dim_map_of_the_reference() -> None:
    text = (ROOT / "kernels" / "attention" / "py.mlir").read_text(encoding="utf-8")
    assert text.count(", dim_map=[0, 2, 1]") > 0
    comparison = compare(
        dump(ROOT / "kernels" / "attention" / "py.mlir"),
        parse_text(text.replace(", dim_map=[0, 2, 1]", "")),
        CompareOptions(),
    )
    first = finding(comparison.differences[0])
    assert (first.expected, first.actual) == ("dim_map=[0, 2, 1]", "no dim_map")


def test_what_is_computed_of_other_arrays_is_no_wrong_address() -> None:
    """Both loads are right, and each is read in the other's place."""
    other = LOAD.replace("%v, %vt", "%u, %ut").replace("%pa", "%pb")
    there, here = (
        kernel(f"{LOAD}\n{other}\n%w = subf {args} : {T}\n{STORE}") for args in ("%v, %u", "%u, %v")
    )
    told = assert_found(there, here, "arithmetic/operands")
    assert (told.message, told.fix[:6]) == ("the subf uses %u; in the reference %v", "use %v")


def test_integers_of_other_arrays_are_no_wrong_address_either() -> None:
    pointers = "%ia = ptr_to_ptr %pa : {P} -> {Q}\n%ib = ptr_to_ptr %pb : {P} -> {Q}".format(
        P="tile<128xptr<f32>>", Q="tile<128xptr<i32>>"
    )
    loads = "\n".join(
        f"%{name}, %{name}t = load_ptr_tko weak %{at} token=%t : tile<128xptr<i32>> -> tile<128xi32>, token"
        for name, at in (("v", "ia"), ("u", "ib"))
    )
    there, here = (
        kernel(
            f"{pointers}\n{loads}\n%q = divi {args} signed : tile<128xi32>\n"
            f"%w = itof %q signed : tile<128xi32> -> {T}\n{STORE}"
        )
        for args in ("%v, %u", "%u, %v")
    )
    assert_found(there, here, "arithmetic/operands")
