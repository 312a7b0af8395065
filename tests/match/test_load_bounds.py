"""What a load reads counts, whether or not the value is used."""

from __future__ import annotations

import pytest

from tests.match.snippets import PARAMETERS, STORE, assert_equal, assert_found, kernel

INT, F = "tile<128xi32>", "tile<128xf32>"
P, Q, M = "tile<128xptr<f32>>", "tile<128xptr<i32>>", "tile<128xi1>"


def index(load: str) -> str:
    """Indices `%g` read from `%q`, and the addresses `%pg` that they give."""
    return f"""
%q1 = reshape %q : tile<ptr<i32>> -> tile<1xptr<i32>>
%qv = broadcast %q1 : tile<1xptr<i32>> -> {Q}
%pq = offset %qv, %o : {Q}, {INT} -> {Q}
%pad = constant <i32: 0> : {INT}
%g, %gt = load_ptr_tko weak {load}
%pg = offset %av, %g : {P}, {INT} -> {P}
"""


INDEX = index(f"%pq, %in, %pad token=%t : {Q}, {M}, {INT} -> {INT}, token")
UNPADDED = index(f"%pq, %in token=%t : {Q}, {M} -> {INT}, token // here")
MASKED = f"%w, %wt = load_ptr_tko weak %pg, %in, %zero token=%t : {P}, {M}, {F} -> {F}, token"
BARE = f"%w, %wt = load_ptr_tko weak %pg token=%t : {P} -> {F}, token"


def gather(read: str, load: str) -> str:
    """A kernel that stores ``a[q[o]]`` where the offset is inside."""
    return kernel(f"{read}{load}\n{STORE}", parameters=f"{PARAMETERS}, %q: tile<ptr<i32>>")


def test_a_gather_that_lost_its_mask() -> None:
    found = assert_found(gather(INDEX, MASKED), gather(INDEX, f"{BARE} // here"), "mask/missing")
    assert found.impact == "bounds"


@pytest.mark.parametrize("read", [INDEX, UNPADDED])
def test_the_same_gather_is_silent(read: str) -> None:
    for load in (MASKED, BARE):
        assert_equal(gather(read, load), gather(read, load))


def test_an_address_from_lanes_that_lost_their_padding() -> None:
    found = assert_found(gather(INDEX, BARE), gather(UNPADDED, BARE), "padding/missing")
    assert found.impact == "bounds"


def test_the_other_way_round_nothing_is_lost() -> None:
    assert_equal(gather(UNPADDED, BARE), gather(INDEX, BARE))
    assert_equal(gather(UNPADDED, MASKED), gather(INDEX, MASKED))


# ---- the same elements read once more ----------------------------------------------------------------

READ = f"%v, %vt = load_ptr_tko weak %pa, %in, %zero token=%t : {P}, {M}, {F} -> {F}, token"
OTHER = (
    f"%c1 = reshape %c : tile<ptr<f32>> -> tile<1xptr<f32>>\n%cv = broadcast %c1 : tile<1xptr<f32>> -> {P}"
)
TO_OTHER = f"%pc = offset %cv, %o : {P}, {INT} -> {P}\n{STORE.replace('%pb', '%pc').replace('%st', '%su')}"


def twice(again: str, second: str = "%u") -> str:
    """A kernel that stores ``a[o]`` to two arrays, and may read it again for the second."""
    body = f"{READ}\n{again}\n{OTHER}\n{STORE.replace('%w', '%v')}\n{TO_OTHER.replace('%w', second)}"
    return kernel(body, parameters=f"{PARAMETERS}, %c: tile<ptr<f32>>")


def test_a_second_load_that_reads_more() -> None:
    bare = f"%u, %ut = load_ptr_tko weak %pa token=%t : {P} -> {F}, token // here"
    found = assert_found(twice("", "%v"), twice(bare), "mask/missing")
    assert found.impact == "bounds"


def test_a_second_load_that_reads_no_more() -> None:
    masked = READ.replace("%v, %vt", "%u, %ut")
    assert_equal(twice("", "%v"), twice(masked))
    assert_equal(twice(masked), twice("", "%v"))


def test_two_loads_that_together_read_as_much() -> None:
    parts = f"""
%all = constant <i1: true> : {M}
%not = xori %in, %all : {M}
{READ}
%w, %wt = load_ptr_tko weak %pa, %not, %v token=%t : {P}, {M}, {F} -> {F}, token
"""
    whole = f"%u, %ut = load_ptr_tko weak %pa token=%t : {P} -> {F}, token"
    store = STORE.replace(", %in", "").replace(f", {M}", "")
    assert_equal(kernel(f"{parts}{store}"), kernel(f"{parts}{whole}\n{store.replace('%w', '%u')}"))
