"""A store that is overwritten before anyone can see it, and those that are not."""

from __future__ import annotations

import pytest

from tests.match.snippets import LOAD, STORE, found, kernel

F = "tile<128xf32>"
P, M = "tile<128xptr<f32>>", "tile<128xi1>"
LAST = STORE.replace("token=%t ", "token=%s1 ")
FIRST = f"%s1 = store_ptr_tko weak %pb, %v, %in token=%t : {P}, {F}, {M} -> token\n"
WORK = f"%w = addf %v, %one : {F}"


def stored(*lines: str) -> str:
    return kernel("\n".join((LOAD, WORK, *lines)))


PLAIN = stored(STORE)


def costs_only(status: str, reference: str, generated: str) -> None:
    (finding,) = found(reference, generated)
    assert (finding.rule, finding.impact, finding.status) == ("dead-code/dead-store", "hint", status)
    assert "overwrites it before anything" in finding.evidence or "was stored there" in finding.evidence


def harmful(reference: str, generated: str) -> list[str]:
    return [each.rule for each in found(reference, generated) if each.impact != "hint"]


def test_a_store_that_is_overwritten_at_once() -> None:
    for first in (FIRST, FIRST.replace("%v", "%w")):
        costs_only("EXTRA", PLAIN, stored(first, LAST))
        costs_only("MISSING", stored(first, LAST), PLAIN)
    elsewhere = f"%u, %ut = load_ptr_tko weak %pa token=%t : {P} -> {F}, token"
    costs_only("EXTRA", stored(elsewhere, STORE), stored(FIRST, elsewhere, LAST))


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
    assert harmful(PLAIN, seen)
    assert harmful(seen, PLAIN)


def test_a_store_that_is_read_back() -> None:
    add = f"%o9 = addf %u, %w : {F}\n"
    back = kernel("\n".join((LOAD, WORK, FIRST, READ, add, LAST.replace("%w", "%o9").replace("%s1", "%ut"))))
    assert harmful(PLAIN, back)
    assert harmful(back, PLAIN)
