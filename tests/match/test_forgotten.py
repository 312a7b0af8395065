"""A factor that the port left out is no value of a parameter: one block, a stride that is there already."""

from __future__ import annotations

import pytest

from tests.match.snippets import LOAD, PARAMETERS, STORE, compared, kernel
from tests.match.test_launch_facts import LOOP, LOOPING

ROWS = """
%left = muli %x, {row} : tile<i32>
%at = addi %left, {col} : tile<i32>
%at1 = reshape %at : tile<i32> -> tile<1xi32>
%atv = broadcast %at1 : tile<1xi32> -> tile<128xi32>
%lanes = muli %lane, {lanes} : tile<128xi32>
%index = addi %atv, %lanes : tile<128xi32>
%pc = offset %av, %index : tile<128xptr<f32>>, tile<128xi32> -> tile<128xptr<f32>>
%v, %vt = load_ptr_tko weak %pc token=%t : tile<128xptr<f32>> -> tile<128xf32>, token
%st = store_ptr_tko weak %pb, %v token=%t : tile<128xptr<f32>>, tile<128xf32> -> token
"""
ONES = "%ones = constant <i32: 1> : tile<128xi32>"


def rows(row: str, *, lanes: str = "%ones", name: str = "k") -> str:
    """Copies a row, at stride ``row``; its elements are ``lanes`` apart."""
    return kernel(ONES + ROWS.format(row=row, col="%i0", lanes=lanes), name=name)


def test_a_row_stride_left_out_is_no_stride_of_one() -> None:
    result = compared(rows("%m"), rows("%i1", name="k_entry"))
    assert [each.rule for each in result.differences] == ["addressing/index"]


@pytest.mark.parametrize("number", ["%i4", "%i128"])
def test_a_row_stride_that_is_written_out_is_a_condition(number: str) -> None:
    result = compared(rows("%m"), rows(number, name="k_entry"))
    assert result.differences == []
    assert any(line.startswith("reference b.stride0 = ") for line in result.obligations)


def test_a_stride_of_one_between_elements_is_a_condition() -> None:
    result = compared(rows("%i128", lanes="%mv"), rows("%i128", name="k_entry"))
    assert result.differences == []
    assert any(line.startswith("reference b.stride0 = 1 ") for line in result.obligations)


def test_a_step_left_out_is_no_grid_of_one_block() -> None:
    other = kernel(LOOP.replace("step %gx", "step %i1"), name="k_entry", parameters=PARAMETERS)
    result = compared(LOOPING, other)
    assert [each.rule for each in result.differences] == ["loop/step"]
    assert not any("grid" in line for line in result.obligations)


SCALED = """
{load}
%e = reshape %eps : tile<f32> -> tile<1xf32>
%ev = broadcast %e : tile<1xf32> -> tile<128xf32>
%v1 = addf %v, %ev : tile<128xf32>
%s = reshape %scale : tile<f32> -> tile<1xf32>
%sv = broadcast %s : tile<1xf32> -> tile<128xf32>
%w = {last}
{store}
"""


def test_a_scale_left_out_says_nothing_of_the_other_scalars() -> None:
    more = f"{PARAMETERS}, %eps: tile<f32>, %scale: tile<f32>"
    texts = ("mulf %v1, %sv : tile<128xf32>", "addf %v, %ev : tile<128xf32>")
    bodies = (SCALED.format(load=LOAD, last=last, store=STORE) for last in texts)
    names, parameters = ("k", "k_entry"), (more, more.replace(", %scale: tile<f32>", ""))
    first, second = (
        kernel(body, name=name, parameters=own)
        for body, name, own in zip(bodies, names, parameters, strict=True)
    )
    dead = [line for line in second.split("\n") if "%scale" not in line and "%s " not in line]
    result = compared(first, "\n".join(dead))
    assert [each.rule for each in result.differences] == ["arithmetic/missing"]
    assert not any("eps" in line for line in result.obligations)


def test_a_bound_that_is_a_constant_is_told_as_a_number() -> None:
    four = "%four = constant <i32: 4> : tile<i32>"
    loop = "for %k in (%i0 to {}, step %i1) : tile<i32> {{\n" + "{}\ncontinue\n}}"
    body = f"{LOAD}\n%st = store_ptr_tko weak %pb, %v, %in token=%vt : {STORE.rpartition(' : ')[2]}"
    reference, generated = kernel(f"{four}\n{loop.format('%four', body)}"), kernel(loop.format("%m", body))
    (told,) = compared(reference, generated).differences
    assert (told.rule, told.expected, told.actual) == ("loop/bounds", "%four: 4", "%m: b.stride0")


SPLIT = """
%q = divi %x, %m signed : tile<i32>
%r = remi %x, %m signed : tile<i32>
%rows = muli {outer}, %m : tile<i32>
%row = addi %rows, {inner} : tile<i32>
"""


def split(outer: str, inner: str, *, name: str = "k") -> str:
    """Copies the row of the block, whose index is taken apart by ``%m`` and put together again."""
    row = ROWS.format(row="%i128", col="%i0", lanes="%ones").replace("muli %x", "muli %row")
    return kernel(ONES + SPLIT.format(outer=outer, inner=inner) + row, name=name)


def test_an_index_put_together_as_it_was_taken_apart_is_the_index() -> None:
    result = compared(rows("%i128"), split("%q", "%r", name="k_entry"))
    assert result.differences == []
    assert result.obligations == []


@pytest.mark.parametrize("port_splits", [True, False])
def test_quotient_and_remainder_exchanged_are_no_divisor_of_one(port_splits: bool) -> None:
    wrong = "%r", "%q"
    sides = rows("%i128"), split(*wrong, name="k_entry")
    if not port_splits:
        sides = split(*wrong), rows("%i128", name="k_entry")
    result = compared(*sides)
    assert [each.rule.split("/")[0] for each in result.differences] == ["addressing"]
    assert not any(" = 1 " in line for line in result.obligations)
