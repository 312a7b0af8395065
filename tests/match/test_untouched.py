"""Loads from an array that a loop writes: as they stand before it where it writes other rows, else not."""

from __future__ import annotations

import pytest

from tests.match.snippets import assert_equal, assert_found, found, kernel

VALUES, PLACES, INT = "tile<128xf32>", "tile<128xptr<f32>>", "tile<128xi32>"
CONSTANTS = "".join(f"%c{n} = constant <i32: {n}> : tile<i32>\n" for n in (9, 200))
LOAD = f"%v, %vt = load_ptr_tko weak {{at}} token=%t : {PLACES} -> {VALUES}, token\n"


def row(name: str, number: str) -> str:
    return f"""%{name}0 = muli {number}, %c200 : tile<i32>
%{name}1 = reshape %{name}0 : tile<i32> -> tile<1xi32>
%{name}v = broadcast %{name}1 : tile<1xi32> -> {INT}
%{name} = offset %pa, %{name}v : {PLACES}, {INT} -> {PLACES}
"""


def loop(*, inside: bool, first: str = "%i1", read: str = "%i0", written: str = "%i") -> str:
    """Row `read` is added to nothing and stored to each row: the load stands in the loop or before it."""
    load = row("from", read) + LOAD.format(at="%from")
    store = f"""{row("to", written)}%w = addf %v, %one : {VALUES}
%st = store_ptr_tko weak %to, %w token=%k : {PLACES}, {VALUES} -> token
"""
    before, within = ("", load) if inside else (load, "")
    return kernel(f"""{CONSTANTS}{before}
%e = for %i in ({first} to %c9, step %i1) : tile<i32> iter_values(%k = %t) -> (token) {{
{within}{store}continue %st : token
}}""")


def test_a_row_that_the_loop_does_not_write() -> None:
    assert_equal(loop(inside=True), loop(inside=False))
    assert_equal(loop(inside=False), loop(inside=True))
    assert_equal(loop(inside=True, read="%c9"), loop(inside=False, read="%c9"))


@pytest.mark.parametrize(
    "rows",
    [
        {"first": "%i0"},
        {"read": "%i4"},
        {"written": "%i0"},
        {"written": "%x"},
        {"written": "%m"},
        {"read": "%m"},
        {"first": "%m"},
    ],
    ids=lambda rows: str(rows),
)
def test_a_row_that_some_iteration_may_write(rows: dict[str, str]) -> None:
    for one, other in ((True, False), (False, True)):
        result = found(loop(inside=one, **rows), loop(inside=other, **rows))
        assert result
        assert result[0].impact == "logic"


NESTED = f"""{CONSTANTS}{{outside}}
%e = for %j in ({{first}} to %c9, step %i1) : tile<i32> iter_values(%k = %t) -> (token) {{{{
{{between}}
%f = for %i in (%i0 to %i4, step %i1) : tile<i32> iter_values(%u = %k) -> (token) {{{{
{{within}}
%bo = muli %i, %c200 : tile<i32>
%bo1 = reshape %bo : tile<i32> -> tile<1xi32>
%bov = broadcast %bo1 : tile<1xi32> -> {INT}
%to = offset %pb, %bov : {PLACES}, {INT} -> {PLACES}
%st = store_ptr_tko weak %to, %v token=%u : {PLACES}, {VALUES} -> token
continue %st : token
}}}}
{row("after", "%j").replace("{", "{{").replace("}", "}}")}
%sa = store_ptr_tko weak %after, %one token=%f : {PLACES}, {VALUES} -> token
continue %sa : token
}}}}"""


def nested(place: str, first: str) -> str:
    places: dict[str, str] = dict.fromkeys(("outside", "between", "within"), "")
    places[place] = LOAD.format(at="%pa")
    return kernel(NESTED.format(first=first, **places))


@pytest.mark.parametrize("place", ["between", "within"])
def test_around_two_loops(place: str) -> None:
    assert_equal(nested("outside", "%i1"), nested(place, "%i1"))
    assert_found(nested("outside", "%i0"), nested(place, "%i0"), "token-order", "memory-order")


def test_within_one_iteration_of_the_loop_around() -> None:
    """It writes the row after the loop inside: that reads it as it was, in each of its iterations."""
    assert_equal(nested("between", "%i0"), nested("within", "%i0"))


VIEWED = """%tv = make_tensor_view %a, shape = [16, 128], strides = [128, 1] : {tensor}
%p = make_partition_view %tv : {view}
{before}
%e = for %i in ({first} to %c9, step %i1) : tile<i32> iter_values(%k = %t) -> (token) {{
{within}
%u, %ut = load_view_tko weak %p[%i, %i0] token = %k : {view}, tile<i32> -> tile<1x128xf32>, token
%w = addf %u, %v : tile<1x128xf32>
%st = store_view_tko weak %w, %p[%i, %i0] token = %ut : tile<1x128xf32>, {view}, tile<i32> -> token
continue %st : token
}}"""


def viewed(first: str, *, inside: bool) -> str:
    tensor = "tensor_view<16x128xf32, strides=[128,1]>"
    view = f"partition_view<tile=(1x128), {tensor}>"
    load = (
        f"%v, %vt = load_view_tko weak %p[%i0, %i0] token = %t : {view}, tile<i32> -> tile<1x128xf32>, token"
    )
    before, within = ("", load) if inside else (load, "")
    body = VIEWED.format(tensor=tensor, view=view, first=first, before=before, within=within)
    return kernel(CONSTANTS + body)


def test_through_views() -> None:
    assert_equal(viewed("%i1", inside=True), viewed("%i1", inside=False))
    assert_equal(viewed("%i1", inside=False), viewed("%i1", inside=True))
    assert_found(viewed("%i0", inside=True), viewed("%i0", inside=False), "token-order", "memory-order")
