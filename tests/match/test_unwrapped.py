"""Rows that are loaded and multiplied by a stride: as pointers that promise not to wrap, and as a gather."""

from __future__ import annotations

import pytest

from tests.match.snippets import assert_equal, assert_found, compared, found, kernel

PARAMETERS = "%a: tile<ptr<f32>>, %b: tile<ptr<f32>>, %ids: tile<ptr<i32>>, %n: tile<i32>, %m: tile<i32>"
INT, MASK, VALUES, PLACES = (f"tile<128x64x{kind}>" for kind in ("i32", "i1", "f32", "ptr<f32>"))
ROWS = f"""
%q1 = reshape %ids : tile<ptr<i32>> -> tile<1xptr<i32>>
%qv = broadcast %q1 : tile<1xptr<i32>> -> tile<128xptr<i32>>
%pi = offset %qv, %o : tile<128xptr<i32>>, tile<128xi32> -> tile<128xptr<i32>>
%id, %idt = load_ptr_tko weak %pi token=%t : tile<128xptr<i32>> -> tile<128xi32>, token
%M0 = assume bounded<0, ?>, %m : tile<i32>
%column = iota : tile<64xi32>
%column1 = reshape %column : tile<64xi32> -> tile<1x64xi32>
%columns = broadcast %column1 : tile<1x64xi32> -> {INT}
%id1 = reshape %id : tile<128xi32> -> tile<128x1xi32>
%rows = broadcast %id1 : tile<128x1xi32> -> {INT}
%none = constant <f32: 0.0> : {VALUES}
%zeros = constant <i32: 0> : {INT}
"""
OUT = f"""
%bv2 = reshape %b : tile<ptr<f32>> -> tile<1x1xptr<f32>>
%bs = broadcast %bv2 : tile<1x1xptr<f32>> -> {PLACES}
%o2 = reshape %o : tile<128xi32> -> tile<128x1xi32>
%os = broadcast %o2 : tile<128x1xi32> -> {INT}
%packed = constant <i32: 64> : {INT}
%orow = muli %os, %packed : {INT}
%oo = addi %orow, %columns : {INT}
%po = offset %bs, %oo : {PLACES}, {INT} -> {PLACES}
%st = store_ptr_tko weak %po, %v token=%t : {PLACES}, {VALUES} -> token
"""
STRIDES = {
    "packed": ("64", "64", f"%stride = constant <i32: 64> : {INT}"),
    "strided": (
        "?",
        "%M0",
        f"%s1 = reshape %M0 : tile<i32> -> tile<1x1xi32>\n%stride = broadcast %s1 : tile<1x1xi32> -> {INT}",
    ),
}
EACH_STRIDE = pytest.mark.parametrize("stride", STRIDES)


def pointers(
    stride: str, flag: str = "", *, second: str | None = None, name: str = "k", row: str = ""
) -> str:
    first, then = (
        f" overflow<{each}>" if each else "" for each in (flag, flag if second is None else second)
    )
    body = f"""{ROWS}{row or STRIDES[stride][2]}
%first = muli %rows, %stride{first} : {INT}
%at = addi %first, %columns{then} : {INT}
%av2 = reshape %a : tile<ptr<f32>> -> tile<1x1xptr<f32>>
%as = broadcast %av2 : tile<1x1xptr<f32>> -> {PLACES}
%p = offset %as, %at : {PLACES}, {INT} -> {PLACES}
%n2 = reshape %N : tile<i32> -> tile<1x1xi32>
%ns = broadcast %n2 : tile<1x1xi32> -> {INT}
%below = cmpi less_than %rows, %ns, signed : {INT} -> {MASK}
%above = cmpi greater_than_or_equal %rows, %zeros, signed : {INT} -> {MASK}
%inside = andi %below, %above : {MASK}
%v, %vt = load_ptr_tko weak %p, %inside, %none token=%t : {PLACES}, {MASK}, {VALUES} -> {VALUES}, token
{OUT}"""
    return kernel(body, parameters=PARAMETERS, name=name)


def gathered(stride: str, *, name: str = "k") -> str:
    static, dynamic, _ = STRIDES[stride]
    tensor = f"tensor_view<?x64xf32, strides=[{static},1]>"
    view = f"gather_scatter_view<tile=(128x64), padding_value = zero, {tensor}, sparse_dim=0>"
    body = f"""{ROWS}
%tv = make_tensor_view %a, shape = [%N, 64], strides = [{dynamic}, 1] : tile<i32> -> {tensor}
%gv = make_gather_scatter_view %tv : {view}
%v, %vt = load_view_tko weak %gv[%id, %i0] token = %t : {view}, tile<128xi32>, tile<i32> -> {VALUES}, token
{OUT}"""
    return kernel(body, parameters=PARAMETERS, name=name)


@EACH_STRIDE
@pytest.mark.parametrize("flag", ["no_signed_wrap", "no_wrap"])
def test_pointers_that_do_not_wrap_are_a_gather(stride: str, flag: str) -> None:
    result = found(pointers(stride, flag), gathered(stride, name="k_entry"))
    assert [each.rule for each in result] == ["memory-family/changed"]
    assert result[0].impact == "hint"


@EACH_STRIDE
def test_a_gather_is_pointers_that_do_not_wrap(stride: str) -> None:
    """What tile C++ says of its signed arithmetic is no difference."""
    result = found(gathered(stride), pointers(stride, "no_signed_wrap", name="_Z1k"))
    assert [each.rule for each in result] == ["memory-family/changed"]


@EACH_STRIDE
def test_pointers_that_may_wrap_are_none(stride: str) -> None:
    assert_found(pointers(stride), gathered(stride, name="k_entry"), "addressing/index")
    assert_found(gathered(stride), pointers(stride, name="_Z1k"), "addressing/index")
    half = pointers(stride, "no_signed_wrap", second="", name="_Z1k")
    assert_found(gathered(stride), half, "addressing/index")


@EACH_STRIDE
@pytest.mark.parametrize("flags", [("", "no_signed_wrap"), ("no_signed_wrap", ""), ("no_signed_wrap",) * 2])
def test_beside_pointers_the_promise_alone_differs(stride: str, flags: tuple[str, str]) -> None:
    assert_equal(pointers(stride, flags[0]), pointers(stride, flags[1], name="_Z1k"))


def test_another_stride_is_found_beside_the_promise() -> None:
    half = f"%stride = constant <i32: 32> : {INT}"
    other = pointers("packed", "no_signed_wrap", row=half, name="_Z1k")
    assert_found(gathered("packed"), other, "stride", "addressing", "constant")


@EACH_STRIDE
@pytest.mark.parametrize("name", ["k", "k_entry"])
def test_that_a_port_of_a_gather_does_not_wrap_is_the_hosts_to_guarantee(stride: str, name: str) -> None:
    """To drop the promise would make the port wrong: that is no fix of it."""
    sides = gathered(stride), pointers(stride, "no_signed_wrap", name=name)
    assert [each.rule for each in found(*sides)] == ["memory-family/changed"]
    conditions = [line for line in compared(*sides).obligations if "fits i32" in line]
    assert len(conditions) == 1
    assert "load[" in conditions[0]


@EACH_STRIDE
def test_a_lost_bound_of_rows_is_told_beside_the_promise(stride: str) -> None:
    lost = pointers(stride, "no_signed_wrap").replace("andi %below, %above", "andi %above, %above")
    result = found(gathered(stride), lost)
    assert [each.rule.partition("/")[0] for each in result if each.impact != "hint"] == ["mask"]


# ---- rows that are widened without their sign ------------------------------------------------------------


def widened(test: str) -> str:
    """Rows read without their sign, in 64 bits; `test`: what keeps them from being negative."""
    long = INT.replace("i32", "i64")
    wide = "\n".join(
        f"%{name}_l = exti %{name} unsigned : {INT} -> {long}" for name in ("rows", "stride", "columns")
    )
    first = pointers("strided").replace("andi %below, %above", test)
    first = first.replace("%first = muli %rows, %stride :", f"{wide}\n%first = muli %rows_l, %stride_l :")
    first = first.replace("%at = addi %first, %columns :", "%at = addi %first, %columns_l :")
    lines = first.split("\n")
    for number, line in enumerate(lines):
        if line.startswith(("%first =", "%at =")):
            lines[number] = line.replace("i32", "i64")
        elif line.startswith("%p ="):
            lines[number] = line.replace(f", {INT}", f", {long}")
    return "\n".join(lines)


def test_rows_that_the_mask_shows_not_to_be_negative_may_be_widened_so() -> None:
    sides = gathered("strided"), widened("andi %below, %above")
    for reference, generated in (sides, sides[::-1]):
        assert [each.rule for each in found(reference, generated)] == ["memory-family/changed"]
    assert any(each.impact != "hint" for each in found(gathered("strided"), widened("andi %below, %below")))
