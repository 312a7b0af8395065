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
