"""How often an effect takes place over all blocks: loops that blocks share, and axes that nothing uses."""

from __future__ import annotations

import pytest

from tests.match.snippets import STORE, assert_equal, assert_found, compared, found, kernel
from tileir_diff.match.launch import ArgValue, Launch, SideLaunch
from tileir_diff.match.model import CompareOptions

F, P = "tile<128xf32>", "tile<128xptr<f32>>"
GRID = "%gx, %gy, %gz = get_num_tile_blocks : tile<i32>"
BY_X, BY_Y, WHOLE = "%x to %m, step %gx", "%y to %m, step %gy", "%i0 to %m, step %i1"
PLACE = f"""
  %s = muli %i, %i128 : tile<i32>
  %s1 = reshape %s : tile<i32> -> tile<1xi32>
  %sv = broadcast %s1 : tile<1xi32> -> tile<128xi32>
  %l = addi %sv, %lane : tile<128xi32>
  %pl = offset %bv, %l : {P}, tile<128xi32> -> {P}
"""
FILL = f"%st = store_ptr_tko weak %pl, %one token=%t : {P}, {F} -> token"
UPDATE = f"""
  %v, %vt = load_ptr_tko weak %pl token=%t : {P} -> {F}, token
  %w = addf %v, %one : {F}
  %st = store_ptr_tko weak %pl, %w token=%vt : {P}, {F} -> token
"""


def atomic(mode: str, value: str = "%one", kind: str = F) -> str:
    types = f"{P}, {kind} -> {kind}, token"
    return f"%r, %rt = atomic_rmw_tko relaxed device %pl, {mode}, {value} token=%t : {types}"


ADD, EXCHANGE = atomic("addf"), atomic("xchg")


def looping(bounds: str, body: str) -> str:
    return kernel(f"{GRID}\nfor %i in ({bounds}) : tile<i32> {{ // here\n{PLACE}\n{body}\n}}")


@pytest.mark.parametrize("body", [ADD, EXCHANGE, UPDATE])
@pytest.mark.parametrize(("reference", "generated"), [(BY_X, WHOLE), (WHOLE, BY_X), (BY_X, BY_Y)])
def test_an_update_that_every_block_makes(reference: str, generated: str, body: str) -> None:
    first = assert_found(looping(reference, body), looping(generated, body), "loop/step", "loop/bounds")
    assert first.impact == "logic"


@pytest.mark.parametrize(("reference", "generated"), [(BY_X, WHOLE), (WHOLE, BY_X), (BY_X, BY_Y)])
def test_a_store_that_every_block_makes_costs_only(reference: str, generated: str) -> None:
    (only,) = found(looping(reference, FILL), looping(generated, FILL))
    assert (only.rule, only.impact) == ("loop/step", "hint")


@pytest.mark.parametrize("body", [ADD, UPDATE, FILL])
@pytest.mark.parametrize("bounds", [BY_X, BY_Y, WHOLE])
def test_loops_that_the_blocks_share_alike(bounds: str, body: str) -> None:
    assert_equal(looping(bounds, body), looping(bounds, body))


def test_an_end_that_depends_on_the_block_is_not_shared() -> None:
    end = "%e = addi %x, %m : tile<i32>\nfor %i in"
    sides = (looping(bounds.replace("%m", "%e"), ADD).replace("for %i in", end) for bounds in (BY_X, WHOLE))
    assert_found(*sides, "loop/bounds")


# ---- launches ----------------------------------------------------------------------------------------

COPY = f"%w, %vt = load_ptr_tko weak %pa token=%t : {P} -> {F}, token\n{STORE}"
ONCE = ADD.replace("%pl", "%pb")
IN_PLACE = UPDATE.replace("%pl", "%pb")
FIRST = "%pl = reshape %b : tile<ptr<f32>> -> tile<1xptr<f32>>\n%v = constant <f32: 1.0> : tile<1xf32>\n" + (
    atomic("addf", "%v", "tile<1xf32>").replace(P, "tile<1xptr<f32>>")
)


def side(grid: tuple[int, int, int]) -> SideLaunch:
    args = ArgValue("ptr", "a"), ArgValue("ptr", "b"), ArgValue("i32", 1024), ArgValue("i32", 8)
    return SideLaunch(None, grid, args)


def at_grids(text: str, reference: tuple[int, int, int], generated: tuple[int, int, int]) -> list[str]:
    options = CompareOptions(launch=Launch(side(reference), side(generated), "launch.json"))
    return [difference.rule for difference in compared(text, text, options).differences]


@pytest.mark.parametrize("body", [ONCE, IN_PLACE])
@pytest.mark.parametrize("more", [(8, 3, 1), (8, 1, 2)])
def test_more_blocks_along_an_axis_that_nothing_uses(more: tuple[int, int, int], body: str) -> None:
    for grids in (((8, 1, 1), more), (more, (8, 1, 1)), (more, (8, 4, 4))):
        assert set(at_grids(kernel(body), *grids)) == {"grid/size"}
    assert at_grids(kernel(COPY), (8, 1, 1), more) == []
    assert at_grids(kernel(body), more, more) == []


def test_one_place_that_each_block_adds_to() -> None:
    assert at_grids(kernel(FIRST), (4, 1, 1), (8, 1, 1)) == ["grid/size"]


@pytest.mark.parametrize("grid", [2, 3])
def test_a_shared_loop_adds_the_same_in_every_grid(grid: int) -> None:
    assert at_grids(looping(BY_X, ADD), (3, 1, 1), (grid, 1, 1)) == []


def test_one_block_shares_with_nobody() -> None:
    options = CompareOptions(launch=Launch(side((3, 1, 1)), side((1, 1, 1)), "launch.json"))
    assert_equal(looping(BY_X, ADD), looping(WHOLE, ADD), options)


def test_atomics_that_settle() -> None:
    settle = (
        looping(BY_X, atomic("max").replace("f32", "i32").replace("%pl", "%pi"))
        .replace(
            "%r, %rt",
            "%c1 = constant <i32: 1> : tile<128xi32>\n"
            "%pi = ptr_to_ptr %pl : tile<128xptr<f32>> -> tile<128xptr<i32>>\n%r, %rt",
        )
        .replace("%one token", "%c1 token")
    )
    (only,) = found(settle, settle.replace(BY_X, WHOLE))
    assert only.impact == "hint"
