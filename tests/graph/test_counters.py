"""What is known of an index that a `loop` carries: its range, its last value, and that it is left at once."""

from __future__ import annotations

import pytest

from tests.graph.test_evaluate_control import TILE_I, left, over
from tests.match.snippets import assert_equal, found, kernel

BELOW = "%l = cmpi less_than %i, %i4, unsigned : tile<i32> -> tile<i1>"
INDICES = (
    f"{BELOW}\n%u = exti %l unsigned : tile<i1> -> tile<i32>",
    "%u = mini %i, %i128 unsigned : tile<i32>",
    "%u = mini %i, %i128 signed : tile<i32>",
    "%u = maxi %i, %i0 signed : tile<i32>",
    "%u = divi %i, %i4 unsigned : tile<i32>",
    "%u = divi %i, %i4 signed : tile<i32>",
    "%u = remi %i, %i4 unsigned : tile<i32>",
    "%u = shri %i, %i1 unsigned : tile<i32>",
    "%w1 = exti %i unsigned : tile<i32> -> tile<i64>\n%u = trunci %w1 : tile<i64> -> tile<i32>",
    "%u = absi %i : tile<i32>",
)


def tile(index: str) -> str:
    """Store tile `index`."""
    return TILE_I.replace("muli %i,", f"muli {index},")


def matters(reference: str, generated: str) -> bool:
    return "logic" in {each.impact for each in found(reference, generated)}


@pytest.mark.parametrize("index", INDICES)
@pytest.mark.parametrize("end", ["%m", "%i4"])
def test_an_index_that_is_carried_has_the_range_of_a_loop_index(index: str, end: str) -> None:
    counted, carried = (
        text.replace(TILE_I, index + tile("%u"))
        for text in (over("%i0", end, "%i1"), left("%i0", end, "%i1"))
    )
    assert_equal(counted, carried)
    assert_equal(carried, counted)
    assert matters(counted, carried.replace("muli %u, %i128", "addi %u, %i128"))


def test_an_index_that_may_be_negative() -> None:
    """Only its step is known: where it begins may be anywhere."""
    index = INDICES[1]
    signed, unsigned = (
        left("%m", "%n", "%i1").replace(TILE_I, each + tile("%u"))
        for each in (index.replace("unsigned", "signed"), index)
    )
    assert matters(signed, unsigned)


def test_a_loop_that_is_left_in_its_first_or_second_pass_is_straight_line_code() -> None:
    once, none = left("%i1", "%i4", "%i4"), left("%i4", "%i4", "%i1")
    for straight, loop in ((kernel(tile("%i1")), once), (kernel(""), none)):
        assert_equal(straight, loop)
        assert_equal(loop, straight)
    assert matters(kernel(tile("%i1")), left("%i1", "%i4", "%i1"))
    assert matters(kernel(tile("%i1")), none)
    assert matters(kernel(tile("%i1")), left("%m", "%i4", "%i4"))


def test_a_loop_that_is_left_at_the_end_of_its_first_pass() -> None:
    def at_end(start: str) -> str:
        return kernel(
            f"loop iter_values(%i = {start}) : tile<i32> {{\n{TILE_I}\n%next = addi %i, %i1 : tile<i32>\n"
            "%out = cmpi greater_than_or_equal %next, %i4, signed : tile<i32> -> tile<i1>\n"
            "if %out {\nbreak\n}\ncontinue %next : tile<i32>\n}"
        )

    straight = kernel(tile("%i4"))
    assert_equal(straight, at_end("%i4"))
    assert_equal(at_end("%i4"), straight)
    assert matters(straight, at_end("%i1"))


HANDED_OUT = {
    "%r = mini %k, %c3 signed : TILE": 3,
    "%r = maxi %k, %c1 signed : TILE": 4,
    "%r = divi %k, %c4 signed : TILE": 1,
    "%q = cmpi less_than %k, %c4, signed : TILE -> BITS\n%r = select %q, %c1, %c3 : BITS, TILE": 3,
}


@pytest.mark.parametrize("value", HANDED_OUT)
@pytest.mark.parametrize("width", [1, 2])
def test_what_is_handed_out_is_of_the_pass_in_which_a_loop_is_left(value: str, width: int) -> None:
    """There the index is 4, while it is 3 at most where the loop goes on."""
    constants = "\n".join(f"%c{number} = constant <i32: {number}> : TILE" for number in (0, 1, 3, 4))
    looping = f"""%w = loop iter_values(%j = %i0, %k = %c0) : tile<i32>, TILE -> TILE {{
      {value}
      %out = cmpi greater_than_or_equal %j, %i4, signed : tile<i32> -> tile<i1>
      if %out {{
        break %r : TILE
      }}
      %j2 = addi %j, %i1 : tile<i32>
      %k2 = addi %k, %c1 : TILE
      continue %j2, %k2 : tile<i32>, TILE
    }}"""

    def stored(result: str) -> str:
        return kernel(
            f"""{constants}
            {result}
            %f = itof %w signed : TILE -> FLOATS
            %p1 = reshape %b : tile<ptr<f32>> -> tile<1xptr<f32>>
            %p2 = broadcast %p1 : tile<1xptr<f32>> -> POINTERS
            %s = store_ptr_tko weak %p2, %f token=%t : POINTERS, FLOATS -> token""".replace(
                "TILE", f"tile<{width}xi32>"
            )
            .replace("BITS", f"tile<{width}xi1>")
            .replace("FLOATS", f"tile<{width}xf32>")
            .replace("POINTERS", f"tile<{width}xptr<f32>>")
        )

    for number in range(5):
        pair = stored(f"%w = constant <i32: {number}> : TILE"), stored(looping)
        for reference, generated in (pair, pair[::-1]):
            assert bool(found(reference, generated)) == (number != HANDED_OUT[value])


SKIPS = (
    "%skip = cmpi equal %i, %n, signed : tile<i32> -> tile<i1>\nif %skip {\ncontinue %next : tile<i32>\n}\n"
)


def skipping(spelled: str) -> str:
    """A loop that goes on early in one iteration, with its next index in other words."""
    plain = left("%i0", "%m", "%i1")
    step = "%next = addi %i, %i1 : tile<i32>\n"
    return plain.replace(step, "").replace(TILE_I, f"{spelled}\n{SKIPS}{TILE_I}")


@pytest.mark.parametrize("again", ["muli %a, %i1", "muli %i1, %a"])
def test_an_index_times_one_is_an_index(again: str) -> None:
    plain = skipping("%next = addi %i, %i1 : tile<i32>")
    times = skipping(f"%a = addi %i, %i1 : tile<i32>\n%next = {again} : tile<i32>")
    assert_equal(plain, times)
    assert_equal(times, plain)
    doubled = again.replace("%i1", "%i4")
    assert matters(plain, skipping(f"%a = addi %i, %i1 : tile<i32>\n%next = {doubled} : tile<i32>"))
