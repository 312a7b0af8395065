"""A store that is overwritten before anyone can see it, and those that are not."""

from __future__ import annotations

import pytest

from tests.match.snippets import LOAD, STORE, assert_equal, found, kernel

F = "tile<128xf32>"
P, M = "tile<128xptr<f32>>", "tile<128xi1>"
LAST = STORE.replace("token=%t ", "token=%s1 ")
FIRST = f"%s1 = store_ptr_tko weak %pb, %v, %in token=%t : {P}, {F}, {M} -> token\n"
WORK = f"%w = addf %v, %one : {F}"


def stored(*lines: str) -> str:
    return kernel("\n".join((LOAD, WORK, *lines)))


PLAIN = stored(STORE)


def test_a_store_that_is_overwritten_at_once() -> None:
    for first in (FIRST, FIRST.replace("%v", "%w")):
        assert_equal(PLAIN, stored(first, LAST))
        assert_equal(stored(first, LAST), PLAIN)
    elsewhere = f"%u, %ut = load_ptr_tko weak %pa token=%t : {P} -> {F}, token"
    assert_equal(stored(elsewhere, STORE), stored(FIRST, elsewhere, LAST))


READ = f"%u, %ut = load_ptr_tko weak %pb, %in, %zero token=%s1 : {P}, {M}, {F} -> {F}, token\n"


@pytest.mark.parametrize(
    "lines",
    [
        (FIRST.replace("%pb", "%pa"), LAST),
        (FIRST.replace(", %in", "").replace(f", {M}", ""), LAST),
        (FIRST, STORE),
        (FIRST.replace("weak", "release device"), LAST),
        (FIRST, "%fence = memory_fence_alias_tko %s1", LAST),
        (FIRST, "print_tko \"%f\", %v : " + F, LAST),
    ],
    ids=["elsewhere", "more lanes", "not ordered", "released", "a fence between", "something seen between"],
)  # fmt: skip
def test_a_store_that_may_be_seen(lines: tuple[str, ...]) -> None:
    seen = stored(*lines)
    assert found(PLAIN, seen)
    assert found(seen, PLAIN)


def test_a_store_that_is_read_back() -> None:
    add = f"%o9 = addf %u, %w : {F}\n"
    back = kernel("\n".join((LOAD, WORK, FIRST, READ, add, LAST.replace("%w", "%o9").replace("%s1", "%ut"))))
    assert found(PLAIN, back)
    assert found(back, PLAIN)
