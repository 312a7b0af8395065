"""Two texts that are the same but for an edit: the finding is on the edited op, and names what was edited."""

from __future__ import annotations

from typing import Any

import pytest

from tests.match.fixtures import ROOT, dump
from tests.match.snippets import LOAD, PROLOGUE, STORE, assert_found, found, kernel, parsed, with_value
from tileir_diff.match.align import Alignment, align

T = "tile<128xf32>"
SOFTMAX = (ROOT / "kernels" / "softmax" / "py.mlir").read_text(encoding="utf-8")
MATMUL = (ROOT / "kernels" / "matmul" / "py.mlir").read_text(encoding="utf-8")
SCAN = (ROOT / "kernels" / "running_total" / "py.mlir").read_text(encoding="utf-8")
SWIGLU = (ROOT / "kernels" / "swiglu" / "py.mlir").read_text(encoding="utf-8")
LOCK = (ROOT / "kernels" / "locked_sum" / "py.mlir").read_text(encoding="utf-8")

EDITS = [
    # name, dump, what is replaced (once), by what, rule, impact
    ("exp approx", SOFTMAX, "exp %2  :", "exp %2 rounding<approx> :", "float-mode/approx", "precision"),
    ("full division", SOFTMAX, "rounding<approx> flush_to_zero", "flush_to_zero", "float-mode/approx", "ulp"),
    ("flush lost", SOFTMAX, "rounding<approx> flush_to_zero", "rounding<approx>", "float-mode/ftz", "edge"),
    ("maximum as minimum", SOFTMAX, "%7 = maxf", "%7 = minf", "reduction/combiner", "logic"),
    (
        "NaN kept",
        SOFTMAX,
        "%7 = maxf %reduce_lhs, %reduce_rhs :",
        "%7 = maxf %reduce_lhs, %reduce_rhs propagate_nan :",
        "float-mode/nan",
        "edge",
    ),
    (
        "identity",
        SOFTMAX,
        "identities=[0.000000e+00 : f32]",
        "identities=[1.000000e+00 : f32]",
        "reduction/identity",
        "logic",
    ),
    ("operands", SOFTMAX, "subf %1, %bcast ", "subf %bcast, %1 ", "arithmetic/operands", "logic"),
    ("op", SOFTMAX, "%2 = subf", "%2 = addf", "arithmetic/op", "logic"),
    ("occupancy", SOFTMAX, "{occupancy = 4}", "{occupancy = 2}", "entry-hint/changed", "hint"),
    ("scan direction", SCAN, "reverse=false", "reverse=true", "scan/direction", "logic"),
    ("scan combiner", SCAN, "addf %arg10, %arg11", "mulf %arg10, %arg11", "scan/combiner", "logic"),
    ("release", LOCK, "atomic_rmw_tko release", "atomic_rmw_tko relaxed", "memory-order/ordering", "logic"),
    ("acquire", LOCK, "atomic_cas_tko acquire", "atomic_cas_tko relaxed", "memory-order/ordering", "logic"),
    (
        "scope",
        LOCK,
        "atomic_rmw_tko release device",
        "atomic_rmw_tko release tl_blk",
        "memory-order/scope",
        "logic",
    ),
]
USABLE = [edit for edit in EDITS if edit[2] in edit[1]]


def test_edits_apply() -> None:
    """Names of values in a dump may change with its compiler; most edits must still fit."""
    assert len(USABLE) >= len(EDITS) - 2, [edit[0] for edit in EDITS if edit not in USABLE]


@pytest.mark.parametrize(
    ("name", "text", "old", "new", "rule", "impact"), USABLE, ids=[edit[0] for edit in USABLE]
)
def test_an_edit_of_a_dump(name: str, text: str, old: str, new: str, rule: str, impact: str) -> None:
    edited = text.replace(old, new, 1)
    result = found(text, edited)
    assert [(each.rule, each.impact) for each in result] == [(rule, impact)]
    (only,) = result
    line = text[: text.index(old)].count("\n") + 1
    assert only.generated is not None
    assert only.reference is not None
    assert {only.generated.op.span.line, only.reference.op.span.line} == {line}


def local(reference: str, generated: str) -> Alignment:
    return align(*(next(iter(parsed(text).entries)) for text in (reference, generated)))


def described(alignment: Alignment) -> list[tuple[str, str]]:
    def name(op: Any) -> str:
        return "-" if op is None else str(op.short)

    return [(item.what, f"{name(item.reference)} {name(item.generated)}") for item in alignment.local]


BASE = with_value(f"%e = exp %v : {T}\n%w = addf %e, %one : {T}")


def test_equal_texts_align_without_a_difference() -> None:
    alignment = local(BASE, BASE)
    assert alignment.local == []
    assert alignment.close
    assert 2 * len(alignment.pairs) == alignment.total


@pytest.mark.parametrize(
    ("lines", "wanted"),
    [
        (f"%e = exp2 %v : {T}\n%w = addf %e, %one : {T}", [("kind", "exp exp2")]),
        (f"%e = exp %v rounding<approx> : {T}\n%w = addf %e, %one : {T}", [("attribute", "exp exp")]),
        (f"%e = exp %v : {T}\n%w = addf %e, %zero : {T}", [("operand", "addf addf")]),
        (f"%e = exp %v : {T}\n%h = negf %e : {T}\n%w = addf %e, %one : {T}", [("extra", "- negf")]),
    ],
    ids=["kind", "attribute", "operand", "extra"],
)
def test_one_edit_is_one_local_difference(lines: str, wanted: list[tuple[str, str]]) -> None:
    alignment = local(BASE, with_value(lines))
    assert described(alignment) == wanted
    assert alignment.close


def test_another_argument_list_is_not_aligned() -> None:
    entry = next(iter(parsed(BASE).entries))
    other = next(iter(dump(ROOT / "kernels" / "softmax" / "py.mlir").entries))
    assert align(entry, other).gave_up


def test_different_kernels_are_not_close() -> None:
    reference, generated = (
        next(iter(dump(ROOT / "kernels" / name / "rs.mlir").entries)) for name in ("softmax", "transpose")
    )
    assert not align(reference, generated).close


def test_two_edits_are_two_findings() -> None:
    edited = SOFTMAX.replace("%2 = subf", "%2 = addf", 1).replace("exp %2  :", "exp %2 rounding<approx> :", 1)
    assert {each.rule for each in found(SOFTMAX, edited)} == {"arithmetic/op", "float-mode/approx"}


def test_an_edit_inside_a_loop_is_found_on_its_line() -> None:
    wrong = MATMUL.replace("tile=(128x32), padding_value = zero", "tile=(128x32), padding_value = nan")
    first = found(MATMUL, wrong)[0]
    assert first.rule == "padding/changed"
    assert first.impact == "bounds"
    assert first.generated is not None
    assert "nan" in wrong.split("\n")[first.generated.op.span.line - 1]


def test_renamed_and_reordered_dumps_are_silent() -> None:
    lines = SWIGLU.split("\n")
    assumes = [index for index, each in enumerate(lines) if " = assume div_by" in each]
    first, second = assumes[0], assumes[1]
    lines[first], lines[second] = lines[second], lines[first]
    assert found(SWIGLU, "\n".join(lines)) == []


def test_the_first_finding_of_a_chain_is_its_cause() -> None:
    """What follows from a wrong op is not told again."""
    reference = with_value(
        f"%e = exp %v : {T}\n%f = mulf %e, %e : {T}\n%g = absf %f : {T}\n%w = sqrt %g : {T}"
    )
    generated = with_value(
        f"%e = exp2 %v : {T} // here\n%f = mulf %e, %e : {T}\n%g = absf %f : {T}\n%w = sqrt %g : {T}"
    )
    assert_found(reference, generated, "arithmetic/op")
    assert len(found(reference, generated)) == 1


ROW = "tile<1x128xf32>"


def scanned(dim: int) -> str:
    return with_value(
        f"%r = reshape %v : {T} -> {ROW}\n"
        f"%s = scan %r dim={dim} reverse=false identities=[0.0 : f32] : {ROW} -> {ROW}\n"
        f"(%p: tile<f32>, %q: tile<f32>) {{\n%u = addf %p, %q : tile<f32>\nyield %u : tile<f32>\n}}\n"
        f"%w = reshape %s : {ROW} -> {T}"
    )


def scanned_flat() -> str:
    return with_value(
        f"%s = scan %v dim=0 reverse=false identities=[0.0 : f32] : {T} -> {T}\n"
        f"(%p: tile<f32>, %q: tile<f32>) {{\n%u = addf %p, %q : tile<f32>\nyield %u : tile<f32>\n}}\n"
        f"%w = addf %s, %zero : {T}"
    )


@pytest.mark.parametrize(("first", "second"), [(1, 0), (0, 1)])
def test_a_scan_along_an_axis_of_extent_one_is_another_axis(first: int, second: int) -> None:
    result = assert_found(scanned(first), scanned(second), "scan/axis")
    assert result.impact == "logic"


def test_a_lost_scan_is_missing() -> None:
    plain = with_value(f"%e = exp %v : {T}\n%w = addf %v, %zero : {T}")
    assert assert_found(scanned_flat(), plain, "scan/missing").impact == "logic"
    assert assert_found(plain, scanned_flat(), "scan/extra").impact == "logic"


def test_one_wrong_mask_is_one_finding() -> None:
    """The load and the store read one `cmpi`: its line is told once, with the other place."""
    right = with_value(f"%w = exp %v : {T}")
    wrong = kernel(
        f"{LOAD}\n%w = exp %v : {T}\n{STORE}\n".replace("%in", "%other"),
        prologue=PROLOGUE
        + "%other = cmpi less_than_or_equal %o, %nv, signed : tile<128xi32> -> tile<128xi1>\n",
    )
    assert [each.rule for each in found(right, wrong)] == ["mask/changed"]


def test_unrelated_ops_are_not_taken_for_each_other() -> None:
    first = with_value(f"%e = exp %v : {T}\n%w = addf %e, %one : {T}")
    second = with_value(f"%e = ftof %v : {T} -> tile<128xf16>\n%w = ftof %e : tile<128xf16> -> {T}")
    assert ("kind", "exp ftof") not in described(local(first, second))


def test_a_lost_permute_is_a_shape_op() -> None:
    square = "tile<2x2xf32>"
    flat = (
        "%r = extract %v[%i0] : tile<128xf32> -> tile<4xf32>\n"
        "%q = reshape %r : tile<4xf32> -> tile<2x2xf32>\n"
    )
    tail = (
        "%c = reshape {} : tile<2x2xf32> -> tile<1x4xf32>\n%d = reshape %c : tile<1x4xf32> -> tile<4x1xf32>\n"
    )
    tail += f"%g = broadcast %d : tile<4x1xf32> -> tile<4x32xf32>\n%w = reshape %g : tile<4x32xf32> -> {T}"
    turned = with_value(f"{flat}%p = permute %q [1, 0] : {square} -> {square} // here\n" + tail.format("%p"))
    assert_found(turned, with_value(flat + tail.format("%q")), "shape-op")


def test_a_store_moved_under_an_if_is_control_flow() -> None:
    plain = with_value(f"%w = exp %v : {T}")
    guard = "%g = cmpi less_than %x, %m, signed : tile<i32> -> tile<i1>\n"
    moved = kernel(f"{LOAD}\n%w = exp %v : {T}\n{guard}if %g {{ // here\n{STORE}\nyield\n}}")
    assert assert_found(plain, moved, "control-flow/extra").impact == "logic"


def test_and_for_or_in_a_mask_is_the_mask() -> None:
    both = "%other = cmpi greater_than %o, %mv, signed : tile<128xi32> -> tile<128xi1>\n"

    def joined(op: str) -> str:
        body = f"%two = {op} %in, %other : tile<128xi1> // here\n{LOAD}\n%w = exp %v : {T}\n"
        return kernel(body + STORE.replace("%in", "%two"), prologue=PROLOGUE + both)

    assert_found(joined("andi"), joined("ori"), "mask/changed")


@pytest.mark.parametrize(
    ("extra", "used", "told"),
    [
        ("%e, %et = load_ptr_tko weak %pb token=%t : tile<128xptr<f32>> -> tile<128xf32>, token", "%v", True),
        (
            (
                "%e, %et = load_ptr_tko weak %pa, %in, %zero token=%t : "
                "tile<128xptr<f32>>, tile<128xi1>, tile<128xf32> -> tile<128xf32>, token"
            ),
            "%v",
            False,
        ),
        (
            "%e, %et = load_ptr_tko weak %pb token=%t : tile<128xptr<f32>> -> tile<128xf32>, token",
            "%e",
            False,
        ),
    ],
    ids=["unmasked", "masked", "used"],
)
def test_a_load_that_nothing_reads(extra: str, used: str, told: bool) -> None:
    plain = kernel(f"{LOAD}\n%w = exp %v : {T}\n{STORE}")
    other = kernel(f"{LOAD}\n{extra}\n%w = exp {used} : {T}\n{STORE}")
    dead = [each for each in found(plain, other) if each.rule == "dead-code/dead-load"]
    assert [each.impact for each in dead] == ["hint"] * told


@pytest.mark.parametrize("tokens", [1, 2])
def test_a_branch_that_hands_on_one_token_more_is_no_difference_beside_one(tokens: int) -> None:
    def branched(number: int, bound: str, mark: str = "") -> str:
        types, names = (", ".join([each] * number) for each in ("token", "{0}"))
        result = "%r" if number == 1 else f"%r:{number}"
        stored = STORE.replace("%in", "%wanted")
        return kernel(
            f"{LOAD}\n%w = exp %v : {T}\n%g = cmpi less_than %x, %m, signed : tile<i32> -> tile<i1>\n"
            f"{result} = if %g -> ({types}) {{\n"
            f"%wanted = cmpi less_than %o, {bound}, signed : tile<128xi32> -> tile<128xi1>{mark}\n{stored}\n"
            f"yield {names.format('%st')} : {types}\n}} else {{\nyield {names.format('%t')} : {types}\n}}"
        )

    reference, generated = branched(1, "%nv"), branched(tokens, "%mv", " // here")
    assert_found(reference, generated, "mask")
    assert len(found(reference, generated)) == 1
    assert found(reference, branched(tokens, "%nv")) == []
