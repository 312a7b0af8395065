"""Lanes that a load leaves undetermined: they may not decide anything by way of a comparison."""

from __future__ import annotations

from itertools import product

import pytest

from tests.match.snippets import PARAMETERS, assert_equal, assert_found, found, kernel

F, M, INT = "tile<128xf32>", "tile<128xi1>", "tile<128xi32>"
OUT = f"token=%t : tile<128xptr<f32>>, {F}"

COMPARISONS = {
    "i1": ("cmpi equal %v, %k", "cmpi not_equal %v, %pad", "cmpi less_than %v, %k", "cmpi equal %v, %in"),
    "i8": ("cmpi equal %v, %k", "cmpi not_equal %v, %pad", "cmpi less_than %v, %k"),
    "i32": ("cmpi equal %v, %k", "cmpi not_equal %v, %pad", "cmpi less_than %v, %k"),
    "f32": ("cmpf equal ordered %v, %k", "cmpf not_equal unordered %v, %pad"),
}
ONE = {"i1": "true", "f32": "1.0"}
USES = {
    "value": f"%w = select %c, %one, %zero : {M}, {F}\n%st = store_ptr_tko weak %pb, %w {OUT} -> token",
    "mask": f"%st = store_ptr_tko weak %pb, %one, %c {OUT}, {M} -> token",
    "part of a mask": f"%d = andi %c, %in : {M}\n%st = store_ptr_tko weak %pb, %one, %d {OUT}, {M} -> token",
    "branch": f"""%r = reduce %c dim=0 identities=[false : i1] : {M} -> tile<i1>
(%l: tile<i1>, %m2: tile<i1>) {{
  %any = ori %l, %m2 : tile<i1>
  yield %any : tile<i1>
}}
if %r {{
  %st = store_ptr_tko weak %pb, %one, %in {OUT}, {M} -> token
}}""",
}
"""Where the load's own mask does not bound the lanes that count."""
COVERED = f"%w = select %c, %one, %zero : {M}, {F}\n%st = store_ptr_tko weak %pb, %w, %in {OUT}, {M} -> token"

CASES = [(element, comparison) for element, each in COMPARISONS.items() for comparison in each]


def flags(element: str, comparison: str, use: str, *, padded: bool) -> str:
    """A kernel that reads flags from `%q` under a mask, and decides something by comparing them."""
    tile, pointers = f"tile<128x{element}>", f"tile<128xptr<{element}>>"
    signed = ", unsigned" if comparison.startswith("cmpi") else ""
    padding, kinds = (", %pad", f", {tile}") if padded else ("", "")
    zero = "0.0" if element == "f32" else "0"
    body = f"""
%q1 = reshape %q : tile<ptr<{element}>> -> tile<1xptr<{element}>>
%qv = broadcast %q1 : tile<1xptr<{element}>> -> {pointers}
%pq = offset %qv, %o : {pointers}, {INT} -> {pointers}
%pad = constant <{element}: {zero}> : {tile}
%k = constant <{element}: {ONE.get(element, "1")}> : {tile}
%v, %vt = load_ptr_tko weak %pq, %in{padding} token=%t : {pointers}, {M}{kinds} -> {tile}, token
%c = {comparison}{signed} : {tile} -> {M}
{use}"""
    return kernel(body, parameters=f"{PARAMETERS}, %q: tile<ptr<{element}>>")


@pytest.mark.parametrize(("case", "use"), [*product(CASES, USES)], ids=str)
def test_a_comparison_hides_no_lost_padding(case: tuple[str, str], use: str) -> None:
    padded, bare = (flags(*case, USES[use], padded=each) for each in (True, False))
    assert_found(padded, bare, "padding/missing")
    assert_equal(bare, bare)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_a_comparison_that_counts_only_where_the_load_reads(case: tuple[str, str]) -> None:
    padded, bare = (flags(*case, COVERED, padded=each) for each in (True, False))
    assert_equal(padded, bare)
    assert_equal(bare, padded)


# ---- two loads of one place ----------------------------------------------------------------------------

FLAGS_IN, FLAGS_OUT = "%q: tile<ptr<i32>>", "%r: tile<ptr<i32>>"
INTS = "tile<128xptr<i32>>"


def twice(value: str, second: str = "%in", stored: str = "") -> str:
    """A kernel that loads integers twice from one place, neither padded, and stores what it makes of them."""
    addresses = "".join(
        f"%{p}1 = reshape %{p} : tile<ptr<i32>> -> tile<1xptr<i32>>\n"
        f"%{p}v = broadcast %{p}1 : tile<1xptr<i32>> -> {INTS}\n"
        f"%p{p} = offset %{p}v, %o : {INTS}, {INT} -> {INTS}\n"
        for p in "qr"
    )
    body = f"""{addresses}
%in2 = cmpi less_than %o, %mv, signed : {INT} -> {M}
%v, %vt = load_ptr_tko weak %pq, %in token=%t : {INTS}, {M} -> {INT}, token
%u, %ut = load_ptr_tko weak %pq, {second} token=%t : {INTS}, {M} -> {INT}, token
{value}
%st = store_ptr_tko weak %pr, %w{stored and f", {stored}"} token=%t :
  {INTS}, {INT}{stored and f", {M}"} -> token"""
    return kernel(body, parameters=f"{PARAMETERS}, {FLAGS_IN}, {FLAGS_OUT}")


NOTHING = f"%w = constant <i32: 0> : {INT}"
CANCELLED = {
    "difference": f"%w = subi %v, %u : {INT}",
    "bits": f"%w = xori %v, %u : {INT}",
    "comparison": f"%c = cmpi not_equal %v, %u, signed : {INT} -> {M}\n%w = exti %c unsigned : {M} -> {INT}",
}


@pytest.mark.parametrize("value", CANCELLED.values(), ids=CANCELLED)
@pytest.mark.parametrize("second", ["%in", "%in2"])
def test_two_loads_leave_other_things_in_their_lanes(value: str, second: str) -> None:
    """Where both were read they are equal; elsewhere nobody knows what is left of them."""
    reference, generated = twice(NOTHING, second), twice(value, second)
    assert found(reference, generated)
    assert found(generated, reference)
    assert_equal(generated, generated)


@pytest.mark.parametrize("value", CANCELLED.values(), ids=CANCELLED)
def test_where_both_read_they_are_equal(value: str) -> None:
    assert_equal(twice(NOTHING, stored="%in"), twice(value, stored="%in"))


def test_one_load_or_two_of_one_place() -> None:
    """What is undetermined stays so, whichever load left it."""
    once, again = (twice(f"%w = addi %v, {other} : {INT}") for other in ("%v", "%u"))
    assert_equal(once, again)
    assert_equal(again, once)


def test_what_nothing_uses_counts_for_no_load() -> None:
    first, second = (twice(f"%w = muli {value}, {value} : {INT}") for value in ("%v", "%u"))
    assert_equal(first, second)


def test_what_cancels_beside_what_stays_undetermined() -> None:
    """Of another lane, or another load, something undetermined is left all the same."""
    chosen = f"%half = cmpi less_than %lane, %mv, signed : {INT} -> {M}\n"
    part = f"%w = select %half, %d, %v : {M}, {INT}"
    certain = f"%d = constant <i32: 0> : {INT}\n"
    reference = twice(f"{chosen}{certain}{part}")
    assert found(reference, twice(f"{chosen}%d = subi %v, %u : {INT}\n{part}"))
    assert_equal(reference, twice(f"{chosen}%d = subi %v, %v : {INT}\n{part}"))


FLOATS = f"%vf = bitcast %v : {INT} -> {F}\n%uf = bitcast %u : {INT} -> {F}\n"
WITH_ITSELF = {
    "difference": "subf {0}, {1}",
    "quotient": "divf {0}, {1}",
    "square": "mulf {0}, {1}",
}


@pytest.mark.parametrize("op", WITH_ITSELF.values(), ids=WITH_ITSELF)
def test_of_floats_one_load_is_not_two_either(op: str) -> None:
    """A number less itself is 0 or NaN, and its square is not negative."""
    once, again = (
        twice(f"{FLOATS}%x1 = {op.format('%vf', other)} : {F}\n%w = bitcast %x1 : {F} -> {INT}")
        for other in ("%vf", "%uf")
    )
    assert found(once, again)
    assert found(again, once)
    assert_equal(again, again)
    once, again = (
        text.replace("%w token", "%w, %in token").replace(f"{INT} -> token", f"{INT}, {M} -> token")
        for text in (once, again)
    )
    assert "%w, %in token" in once
    assert_equal(once, again)
