"""Strides that the port has as numbers: a condition on the host, unless rows would overlap."""

from __future__ import annotations

import pytest

from tests.match.snippets import assert_equal, assert_found, kernel

PROLOGUE = "%t = make_token : token\n%x, %y, %z = get_tile_block_id : tile<i32>\n"
SIZED = "%a: tile<ptr<f32>>, %n: tile<i32>, %m: tile<i32>, %s: tile<i32>"


def stored(shape: str, strides: str, view: str, parameters: str, name: str) -> str:
    """A tile of ones is stored to a view of `shape` and `strides`, and of the type `view`."""
    part, tile = f"partition_view<tile=(32x32), {view}>", "tile<32x32xf32>"
    indices = " : tile<i32>" if "%" in shape + strides else " :"
    return kernel(
        f"%one = constant <f32: 1.0> : {tile}\n"
        f"%v = make_tensor_view %a, shape = [{shape}], strides = [{strides}]{indices}"
        f"{' ->' if '%' in shape + strides else ''} {view}{' // here' if name != 'k' else ''}\n"
        f"%p = make_partition_view %v : {part}\n"
        f"%st = store_view_tko weak %one, %p[%x, %y] token = %t : {tile}, {part}, tile<i32> -> token",
        parameters=parameters,
        prologue=PROLOGUE,
        name=name,
    )


REFERENCE = stored("%n, %m", "%s, 1", "tensor_view<?x?xf32, strides=[?,1]>", SIZED, "k")


def port(rows: int, columns: int, stride: int) -> str:
    view = f"tensor_view<{rows}x{columns}xf32, strides=[{stride},1]>"
    return stored(f"{rows}, {columns}", f"{stride}, 1", view, "%a: tile<ptr<f32>>", "_Z1k")


@pytest.mark.parametrize("stride", [180, 192, 1000])
def test_rows_that_do_not_overlap_are_a_condition(stride: int) -> None:
    assert_equal(REFERENCE, port(300, 180, stride))


@pytest.mark.parametrize("stride", [179, 100, 2])
def test_rows_that_overlap_are_a_finding(stride: int) -> None:
    told = assert_found(REFERENCE, port(300, 180, stride), "stride/changed")
    assert (told.impact, told.expected, told.actual) == (
        "logic",
        "at least 180 along dimension 0",
        f"{stride} along dimension 0",
    )


def test_a_single_row_has_any_stride() -> None:
    assert_equal(REFERENCE, port(1, 180, 100))


def test_a_reference_may_have_rows_that_overlap() -> None:
    assert_equal(port(300, 180, 100).replace("_Z1k", "k"), port(300, 180, 100))


# ---- accesses by pointers -------------------------------------------------------------------------------

TYPES = "tile<128xptr<f32>>, tile<128xf32>, tile<128xi1> -> token"
BY_ARRAY = "%a: tile<ptr<f32>>, %n: tile<i32>, %m: tile<i32>, %s: tile<i32>, %u: tile<i32>"


def row(size: str, stride: str, name: str, parameters: str = BY_ARRAY) -> str:
    """Each block stores ones to a row of an array."""
    return kernel(
        f"{size}\n{stride}\n%one = constant <f32: 1.0> : tile<128xf32>\n%first = muli %x, %step : tile<i32>\n"
        "%p = offset %a, %first : tile<ptr<f32>>, tile<i32> -> tile<ptr<f32>>\n"
        "%p1 = reshape %p : tile<ptr<f32>> -> tile<1xptr<f32>>\n"
        "%pv = broadcast %p1 : tile<1xptr<f32>> -> tile<128xptr<f32>>\n%lane = iota : tile<128xi32>\n"
        "%at = offset %pv, %lane : tile<128xptr<f32>>, tile<128xi32> -> tile<128xptr<f32>>\n"
        "%e1 = reshape %end : tile<i32> -> tile<1xi32>\n%ev = broadcast %e1 : tile<1xi32> -> tile<128xi32>\n"
        "%in = cmpi less_than %lane, %ev, signed : tile<128xi32> -> tile<128xi1>\n"
        f"%st = store_ptr_tko weak %at, %one, %in token=%t : {TYPES}",
        parameters=parameters,
        prologue=PROLOGUE,
        name=name,
    )


@pytest.mark.parametrize(("size", "overlaps"), [(100, False), (90, False), (101, True)])
def test_the_size_of_a_row_in_a_mask_counts_too(size: int, overlaps: bool) -> None:
    reference = row(
        "%end = assume bounded<0, ?>, %m : tile<i32>", "%step = assume bounded<0, ?>, %s : tile<i32>", "k"
    )
    numbers = f"%end = constant <i32: {size}> : tile<i32>", "%step = constant <i32: 100> : tile<i32>"
    generated = row(*numbers, "_Z1k", "%a: tile<ptr<f32>>")
    if overlaps:
        assert_found(reference, generated, "stride/changed")
    else:
        assert_equal(reference, generated)


def test_rows_at_one_place_overlap() -> None:
    by_size = "%end = assume bounded<0, ?>, %m : tile<i32>"
    reference = row(by_size, "%step = assume bounded<0, ?>, %s : tile<i32>", "k")
    told = assert_found(
        reference, row(by_size, "%step = constant <i32: 0> : tile<i32>", "k_entry"), "stride", "addressing"
    )
    assert told.impact == "logic"
    zero = stored(
        "%n, %m", "%none, 1", "tensor_view<?x?xf32, strides=[?,1]>", SIZED + ", %u: tile<i32>", "_Z1k"
    )
    made = zero.replace("%one =", "%none = subi %n, %n : tile<i32>\n%one =", 1)
    assert assert_found(REFERENCE, made, "stride/changed").impact == "logic"
