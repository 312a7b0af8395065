"""A number of tiles, rounded up by one side for all numbers and by the other for those not below zero."""

from __future__ import annotations

from itertools import permutations

import pytest

from tests.match.snippets import LOAD, STORE, assert_found, compared, found, kernel

PARAMETERS = "%m: tile<i32>, %a: tile<ptr<f32>>, %b: tile<ptr<f32>>, %n: tile<i32>"
ROUNDED_UP = "%tiles = divi {of}, %i64 signed rounding<positive_inf> : tile<i32>"
SPELLED_OUT = (
    "%sum = addi {of}, %i{more} : tile<i32>\n"
    "%dividend = subi %sum, %i1 : tile<i32>\n"
    "%tiles = divi %dividend, %i64 signed : tile<i32> // here"
)
LOOP = """
%end = addi %tiles, %i4 : tile<i32>
%w = for %k in (%i0 to {end}, step %i1) : tile<i32> iter_values(%acc = %zero) -> (tile<128xf32>) {{
  %sum1 = addf %acc, {summand} : tile<128xf32>
  continue %sum1 : tile<128xf32>
}}
"""
OBLIGATION = "m >= 0: below that only one side rounds m / 64 up"


def sums(
    tiles: str,
    *,
    name: str,
    summand: str = "%v",
    of: str = "%m",
    more: int = 64,
    end: str = "%end",
    parameters: str = PARAMETERS,
) -> str:
    """`a` summed over as many tiles as there are in a size, and four more: so less than none counts, too."""
    constants = "".join(f"%i{n} = constant <i32: {n}> : tile<i32>\n" for n in (63, 64, 65))
    body = tiles.format(of=of, more=more) + LOOP.format(summand=summand, end=end)
    return kernel(f"{constants}{LOAD}\n{body}{STORE}", name=name, parameters=parameters)


def rules(reference: str, generated: str) -> list[str]:
    return [each.rule for each in found(reference, generated)]


def test_a_size_is_not_negative_or_the_host_is_wrong() -> None:
    reference, generated = sums(ROUNDED_UP, name="k"), sums(SPELLED_OUT, name="k_entry")
    for sides in ((reference, generated), (generated, reference)):
        assert found(*sides) == []
        assert [line for line in compared(*sides).obligations if ">= 0" in line] == [OBLIGATION]


def test_nothing_is_asked_of_the_host_where_both_round_alike() -> None:
    reference = sums(ROUNDED_UP, name="k")
    generated = sums(SPELLED_OUT.replace("%i64 signed", "%i64 signed rounding<negative_inf>"), name="k_entry")
    assert found(reference, generated) == []
    assert not any(">= 0" in line for line in compared(reference, generated).obligations)


@pytest.mark.parametrize("more", [63, 65])
def test_another_number_of_tiles(more: int) -> None:
    assert found(sums(ROUNDED_UP, name="k"), sums(SPELLED_OUT, name="k_entry", more=more))


def test_another_size() -> None:
    assert found(sums(ROUNDED_UP, name="k"), sums(SPELLED_OUT, name="k_entry", of="%n"))


def test_tiles_that_are_lost() -> None:
    generated = sums("%tiles = divi {of}, %i64 signed : tile<i32> // here", name="k_entry")
    assert_found(sums(ROUNDED_UP, name="k"), generated, "integer-mode/division-rounding", "loop/bounds")


def test_a_number_that_is_rounded_down_may_be_negative() -> None:
    reference = sums("%tiles = divi {of}, %i64 signed rounding<negative_inf> : tile<i32>", name="k")
    generated = sums("%tiles = divi {of}, %i64 signed : tile<i32> // here", name="k_entry")
    assert_found(reference, generated, "integer-mode/division-rounding")


def test_a_block_dependent_number_is_no_size() -> None:
    distance = "%distance = subi %m, %x : tile<i32>\n"
    reference = sums(distance + ROUNDED_UP, of="%distance", name="k")
    generated = sums(distance + SPELLED_OUT, of="%distance", name="k_entry")
    assert "integer-mode/division-rounding" in rules(reference, generated)


def test_one_front_end_writes_a_rounding_in_one_way() -> None:
    generated = sums(SPELLED_OUT, name="k")
    assert "integer-mode/division-rounding" in rules(sums(ROUNDED_UP, name="k"), generated)


def test_beside_another_difference() -> None:
    generated = sums(SPELLED_OUT, name="k_entry", summand="%zero")
    assert all(rule.startswith("arithmetic/") for rule in rules(sums(ROUNDED_UP, name="k"), generated))
    assert OBLIGATION in compared(sums(ROUNDED_UP, name="k"), generated).obligations


def test_arguments_in_another_order() -> None:
    other = "%a: tile<ptr<f32>>, %b: tile<ptr<f32>>, %n: tile<i32>, %m: tile<i32>"
    reference, generated = sums(ROUNDED_UP, name="k"), sums(SPELLED_OUT, name="k_entry", parameters=other)
    assert found(reference, generated) == []
    assert OBLIGATION in compared(reference, generated).obligations


@pytest.mark.parametrize("name", ["k", "k_entry"])
@pytest.mark.parametrize("of", ["%m", "%distance"])
def test_where_the_quotients_differ_neither_loop_runs(name: str, of: str) -> None:
    """A loop up to the quotient itself makes no trip where that is negative, or 0."""
    rounded_down = SPELLED_OUT.replace("%i64 signed", "%i64 signed rounding<negative_inf>")
    first = "%distance = subi %m, %x : tile<i32>\n"
    kernels = [
        sums(first + tiles, name=each, of=of, end="%tiles")
        for tiles, each in ((ROUNDED_UP, "k"), (SPELLED_OUT, name), (rounded_down, name))
    ]
    for sides in permutations(kernels, 2):
        assert found(*sides) == []
        assert not any(">= 0" in line for line in compared(*sides).obligations)


def test_a_loop_that_starts_below_zero_runs_where_they_differ() -> None:
    reference, generated = (
        sums(tiles, name="k", end="%tiles").replace("(%i0 to", "(%low to").replace(LOWEST, f"{LOWEST}{LOW}")
        for tiles in (ROUNDED_UP, SPELLED_OUT)
    )
    assert "integer-mode/division-rounding" in rules(reference, generated)


LOWEST = "%i63 = constant <i32: 63> : tile<i32>\n"
LOW = "%low = constant <i32: -4> : tile<i32>\n"
