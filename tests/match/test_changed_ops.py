"""One integer op of another kind is told on its line, also where the texts of the two sides differ."""

from __future__ import annotations

import pytest

from tests.match.snippets import PARAMETERS, assert_found, found, kernel

DEAD = "\n".join(f"%dead{n} = constant <i32: {n}> : tile<i32>" for n in range(20))
"""Enough other text that the two entries are not aligned op by op."""
SHAPE = "tensor_view<?x128xf32, strides=[128,1]>"
VIEW = f"partition_view<tile=(16x32), {SHAPE}>"


def tiled(op: str, *, dead: str = "", ids: str = "%x, %y, %z", index: str = "%q, %y") -> str:
    """A kernel that stores a tile at an index that one op computes of a block's and a size."""
    mark = " // here" if dead else ""
    return kernel(
        f"{dead}\n{ids} = get_tile_block_id : tile<i32>{mark if 'y, %x' in ids else ''}\n"
        f"%q = {op} : tile<i32>{mark if 'y, %x' not in ids else ''}\n"
        f"%tb = make_tensor_view %b, shape = [%N, 128], strides = [128, 1] : tile<i32> -> {SHAPE}\n"
        f"%pb2 = make_partition_view %tb : {VIEW}\n"
        "%w = constant <f32: 1.0> : tile<16x32xf32>\n"
        f"%st = store_view_tko weak %w, %pb2[{index}] token=%t : tile<16x32xf32>, {VIEW}, tile<i32> -> token",
        parameters=PARAMETERS,
        prologue="%t = make_token : token\n%N = assume bounded<0, ?>, %n : tile<i32>\n"
        "%i4 = constant <i32: 4> : tile<i32>\n%i3 = constant <i32: 3> : tile<i32>",
        name="k_entry" if dead else "k",
    )


@pytest.mark.parametrize(
    ("right", "wrong", "rule"),
    [
        (
            "divi %x, %i3 signed rounding<positive_inf>",
            "divi %x, %i3 signed",
            "integer-mode/division-rounding",
        ),
        ("mini %x, %i4 signed", "maxi %x, %i4 signed", "arithmetic/op"),
        ("subi %x, %m", "subi %m, %x", "arithmetic/operands"),
    ],
)
def test_an_op_in_an_index(right: str, wrong: str, rule: str) -> None:
    assert_found(tiled(right), tiled(wrong, dead=DEAD), rule)
    assert len(found(tiled(right), tiled(wrong, dead=DEAD))) == 1


def test_another_value_that_both_sides_compute_is_no_changed_op() -> None:
    """The remainder for the quotient: both are there on both sides, and the index is wrong."""
    both = "divi %x, %i3 signed : tile<i32>\n%r = remi %x, %i3 signed"
    right, wrong = tiled(both, index="%q, %r"), tiled(both, dead=DEAD, index="%r, %r")
    assert [each.rule for each in found(right, wrong)] == ["addressing/index"]


def test_two_axes_exchanged_are_one_finding_at_the_indices() -> None:
    right = tiled("addi %x, %i3")
    first = assert_found(right, tiled("addi %x, %i3", dead=DEAD, ids="%y, %x, %z"), "grid/axis")
    assert (first.expected, first.actual) == ("block.x, block.y", "block.y, block.x")
    assert len(found(right, tiled("addi %x, %i3", dead=DEAD, ids="%y, %x, %z"))) == 1


def test_ops_of_two_kinds_with_the_same_operands_are_not_each_others() -> None:
    """A ceiling division spelled out, and the number that is added taken for the divisor."""
    wrong = "addi %x, %i3 : tile<i32>\n%u = divi %q, %i3 signed"
    right = tiled("divi %x, %i3 signed rounding<positive_inf>")
    assert {each.rule for each in found(right, tiled(wrong, dead=DEAD, index="%u, %y"))} == {
        "addressing/index"
    }
