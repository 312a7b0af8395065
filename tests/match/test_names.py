"""Names of parameters: they choose between equally good matchings, and a contradiction is told."""

from __future__ import annotations

import re

import pytest

from tests.match.snippets import compared, found, kernel
from tests.match.test_arguments import POINTERS, copy
from tileir_diff.dialect import parse_text
from tileir_diff.match.names import key
from tileir_diff.match.roles import argument_index, entry_roles, role_names

SUM = (
    "%va, %ta = load_ptr_tko weak %{0} token=%t : tile<ptr<f32>> -> tile<f32>, token\n"
    "%vb, %tb = load_ptr_tko weak %{1} token=%t : tile<ptr<f32>> -> tile<f32>, token\n"
    "%w = addf %va, %vb : tile<f32>\n"
    "%st = store_ptr_tko weak %{2}, %w token=%t : tile<ptr<f32>>, tile<f32> -> token"
)


def add(*names: str, extra: str = "") -> str:
    parameters = ", ".join(f"%{name}: tile<ptr<f32>>" for name in names)
    body = SUM.format("left", "right", "out")
    return kernel(body, parameters=parameters + extra, prologue="%t = make_token : token")


def arguments(reference: str, generated: str) -> dict[tuple[str, ...], tuple[str, ...]]:
    return {pair.reference: pair.generated for pair in compared(reference, generated).arguments}


def about_names(reference: str, generated: str) -> list[str]:
    return [line for line in compared(reference, generated).obligations if "by its name" in line]


@pytest.mark.parametrize(
    "names", [("left", "right", "out"), ("right", "left", "out"), ("out", "right", "left")]
)
def test_of_two_arrays_that_are_used_alike_each_is_the_one_of_its_name(names: tuple[str, ...]) -> None:
    reference, generated = add("left", "right", "out", extra=", %n: tile<i32>"), add(*names)
    assert {(name,): (name,) for name in names}.items() <= arguments(reference, generated).items()
    assert about_names(reference, generated) == []


def sized(sizes: str, out: str) -> str:
    """`copy` with the names that cuTile Rust gives to sizes."""
    text = copy(POINTERS, sizes=sizes, out=out)
    for array, dim in ("ah", "aw", "bh", "bw"):
        text = re.sub(f"%{array}{dim}\\b", f"%{array}_dim_{'hw'.index(dim)}", text)
    return text


def test_a_size_that_stands_for_the_size_of_another_array_is_told() -> None:
    reference, generated = copy(), sized("%bh, %aw", "%ah, %bw")
    assert found(reference, generated) == []
    assert about_names(reference, generated) == [
        "b.shape0 = %a_dim_0, by use; by its name it is a.shape0",
        "a.shape0 = %b_dim_0, by use; by its name it is b.shape0",
    ]


def test_nothing_is_told_where_names_agree_or_say_nothing() -> None:
    assert about_names(copy(), sized("%ah, %aw", "%bh, %bw")) == []
    swapped = copy(POINTERS, sizes="%bh, %aw", out="%ah, %bw")
    assert about_names(copy(), swapped) != []
    unnamed = re.sub("%(ah|bh)", lambda name: f"%arg{len(name[1])}{name[1] == 'ah':d}", swapped)
    assert about_names(copy(), unnamed) == []


def test_a_size_that_stands_for_two_has_the_name_of_one() -> None:
    assert about_names(copy(), sized("%ah, %aw", "%ah, %bw")) == []


def test_arguments_of_equal_lists_that_have_changed_places_are_told() -> None:
    lines = about_names(add("left", "right", "out"), add("right", "left", "out"))
    assert lines == [
        "left = %right, by role; by its name it is right",
        "right = %left, by role; by its name it is left",
    ]


@pytest.mark.parametrize(
    ("one", "other"), [("A.shape0", "a_dim_0"), ("x", "x_ptr"), ("aStride1", "a_ld_1"), ("maxLen", "max_len")]
)
def test_spellings_of_one_name(one: str, other: str) -> None:
    assert key(one) == key(other) is not None


@pytest.mark.parametrize("name", ["arg0", "arg12.shape1", "0", "p3", ""])
def test_names_that_printers_make_up_say_nothing(name: str) -> None:
    assert key(name) is None


@pytest.mark.parametrize(("symbol", "named"), [("_Z4kernPfii", "arg2"), ("kernel_entry", "arg0.shape1")])
def test_a_role_is_no_name_where_it_is_guessed(symbol: str, named: str) -> None:
    """C++ has pointers and numbers in any order: two numbers behind a pointer need not be its array's."""
    numbers = ", ".join(f"%arg{index}: tile<i32>" for index in range(1, 5))
    entry = parse_text(f"entry @{symbol}(%arg0: tile<ptr<f32>>, {numbers}) {{\n  return\n}}\n").entries[0]
    assert role_names(entry, entry_roles(entry, []))[2] == named
    assert argument_index(entry, "arg0.shape1") == 2
