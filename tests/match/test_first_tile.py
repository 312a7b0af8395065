"""Tiles of another shape: what is computed for an element, and where both begin, is compared all the same."""

from __future__ import annotations

import pytest

from tests.match.snippets import found, kernel

BODY = """
%lanes = iota : tile<{n}xi32>
%size = constant <i32: {n}> : tile<i32>
%begin = muli %{block}, %size : tile<i32>
%r = reshape %begin : tile<i32> -> tile<1xi32>
%b = broadcast %r : tile<1xi32> -> tile<{n}xi32>
%i = addi %lanes, %b : tile<{n}xi32>
%twice = addi %i, %i : tile<{n}xi32>
%ra = reshape %arg0 : tile<ptr<f32>> -> tile<1xptr<f32>>
%ba = broadcast %ra : tile<1xptr<f32>> -> tile<{n}xptr<f32>>
%pa = offset %ba, %i : tile<{n}xptr<f32>>, tile<{n}xi32> -> tile<{n}xptr<f32>>
%v, %vt = load_ptr_tko weak %pa token=%t : tile<{n}xptr<f32>> -> tile<{n}xf32>, token
%two = constant <f32: {factor}> : tile<{n}xf32>
%w = mulf %v, %two : tile<{n}xf32>
%ro = reshape %arg1 : tile<ptr<f32>> -> tile<1xptr<f32>>
%bo = broadcast %ro : tile<1xptr<f32>> -> tile<{n}xptr<f32>>
%po = offset %bo, %{at} : tile<{n}xptr<f32>>, tile<{n}xi32> -> tile<{n}xptr<f32>>
%s = store_ptr_tko weak %po, %w token=%vt : tile<{n}xptr<f32>>, tile<{n}xf32> -> token
"""
PROLOGUE = "%t = make_token : token\n%x, %y, %z = get_tile_block_id : tile<i32>"
PARAMETERS = "%arg0: tile<ptr<f32>>, %arg1: tile<ptr<f32>>"


def scaled(n: int, factor: str = "2.0", block: str = "x", at: str = "i") -> str:
    """An array times a number, in tiles of so many elements."""
    body = BODY.format(n=n, factor=factor, block=block, at=at)
    return kernel(body, parameters=PARAMETERS, prologue=PROLOGUE)


@pytest.mark.parametrize(
    ("changed", "rules"),
    [
        ({}, {"tile-shape/changed"}),
        ({"factor": "3.0"}, {"tile-shape/changed", "constant/value"}),
        ({"block": "y"}, {"tile-shape/changed", "grid/axis"}),
        ({"at": "lanes"}, {"tile-shape/changed", "grid/axis"}),
        ({"at": "twice"}, {"tile-shape/changed", "addressing/index"}),
    ],
)
@pytest.mark.parametrize("sizes", [(32, 128), (128, 32), (1024, 256)])
def test_what_is_wrong_beside_the_tile_is_found(
    sizes: tuple[int, int], changed: dict[str, str], rules: set[str]
) -> None:
    ours, theirs = sizes
    told = {each.rule for each in found(scaled(ours), scaled(theirs, **changed))}
    assert told == rules
