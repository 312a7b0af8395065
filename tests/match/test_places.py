"""Places of parameters: sizes and strides that stand for others than theirs are told."""

from __future__ import annotations

import pytest

from tests.match.snippets import compared, found, kernel

VIEW = "tensor_view<?x?xf32, strides=[?,1]>"
TILES = f"partition_view<tile=(16x16), {VIEW}>"
BODY = """
%va = make_tensor_view %{a}, shape = [%{an}, %{am}], strides = [%{as_}, 1] : tile<i32> -> {view}
%pa = make_partition_view %va : {tiles}
%v, %vt = load_view_tko weak %pa[%x, %y] token = %t : {tiles}, tile<i32> -> tile<16x16xf32>, token
%vb = make_tensor_view %{b}, shape = [%{bn}, %{bm}], strides = [%{bs}, 1] : tile<i32> -> {view}
%pb = make_partition_view %vb : {tiles}
%st = store_view_tko weak %v, %pb[%x, %y] token = %t : tile<16x16xf32>, {tiles}, tile<i32> -> token
"""
PROLOGUE = "%t = make_token : token\n%x, %y, %z = get_tile_block_id : tile<i32>"
OWN = {
    "a": "arg0",
    "an": "arg1",
    "am": "arg2",
    "as_": "arg3",
    "b": "arg5",
    "bn": "arg6",
    "bm": "arg7",
    "bs": "arg8",
}


def copy(name: str, *more: str, **changed: str) -> str:
    """A copy of a matrix, both as pointer, sizes, strides; `more` arguments stand behind."""
    sizes = ", ".join(f"%arg{index}: tile<{'ptr<f32>' if index in (0, 5) else 'i32'}>" for index in range(10))
    parameters = ", ".join((sizes, *more))
    body = BODY.format(view=VIEW, tiles=TILES, **{**OWN, **changed})
    return kernel(body, parameters=parameters, prologue=PROLOGUE, name=name)


REFERENCE = copy("copy", "%arg10: tile<f32>")


def told(generated: str) -> list[str]:
    assert found(REFERENCE, generated) == []
    return [line for line in compared(REFERENCE, generated).obligations if "by its place" in line]


@pytest.mark.parametrize(
    ("changed", "line"),
    [
        ({"as_": "arg9"}, "arg0.stride0 = %arg9, by use; by its place it is arg5.stride1"),
        ({"bm": "arg9"}, "arg5.shape1 = %arg9, by use; by its place it is arg5.stride1"),
    ],
)
def test_an_argument_that_stands_for_another_than_its_place_says_is_told(
    changed: dict[str, str], line: str
) -> None:
    assert told(copy("copy_entry", **changed)) == [line]


@pytest.mark.parametrize(
    ("changed", "expected", "actual"),
    [
        ({"as_": "arg4"}, "arg0.stride0", "%arg4 (arg0.stride1 by its place)"),
        ({"an": "arg2", "am": "arg1"}, "arg0.shape1", "%arg1 (arg0.shape0 by its place)"),
    ],
)
def test_dimensions_of_one_array_that_changed_places_are_a_finding(
    changed: dict[str, str], expected: str, actual: str
) -> None:
    result = found(REFERENCE, copy("copy_entry", **changed))
    told = [(each.rule, each.expected, each.actual) for each in result]
    assert told == [("entry-signature/argument", expected, actual)]


@pytest.mark.parametrize("changed", [{"as_": "arg4"}, {"an": "arg2", "am": "arg1"}, {"bs": "arg9"}])
def test_what_the_reference_has_exchanged_too_is_in_its_place(changed: dict[str, str]) -> None:
    reference = copy("copy", "%arg10: tile<f32>", **changed)
    for generated in (reference, copy("copy_entry", **changed)):
        assert found(reference, generated) == []
        lines = compared(reference, generated).obligations
        assert not [line for line in lines if "by its place" in line]


def test_nothing_is_told_where_places_agree_or_say_nothing() -> None:
    assert told(copy("copy_entry")) == []
    assert told(copy("_Z4copyPf", as_="arg4")) == []
