"""Hints by architecture: what is effective is compared, as far as both sides speak of one machine."""

from __future__ import annotations

import pytest

from tests.match.snippets import LOAD, STORE, assert_equal, assert_found, found, kernel
from tileir_diff.match.hints import Hints, compare_hints, effective

T = "tile<128xf32>"


def entry(hints: str) -> str:
    return kernel(
        f"{LOAD}\n%w = negf %v : {T}\n{STORE}", head=f"optimization_hints=<{hints}> " if hints else ""
    )


def load(hints: str) -> str:
    written = f" optimization_hints = <{hints}>" if hints else ""
    return kernel(f"{LOAD.replace(' token=%t', ' token=%t' + written)}\n%w = negf %v : {T}\n{STORE}")


SAME: list[tuple[Hints, Hints]] = [
    ({}, {}),
    ({}, {"default": {}}),
    ({"default": {"latency": 3}}, {"sm_100": {"latency": 3}}),
    ({"sm_100": {"latency": 3}}, {"sm_100": {"latency": 3}, "sm_120": {}}),
    ({"sm_100": {"latency": 3}, "sm_120": {"latency": 5}}, {"sm_100": {"latency": 3}}),
    ({"default": {"allow_tma": True}}, {}),
    ({"sm_100": {"allow_tma": True, "latency": 2}}, {"sm_100": {"latency": 2}}),
]
OTHER: list[tuple[Hints, Hints, str]] = [
    ({"default": {"latency": 3}}, {}, "latency-hint/missing"),
    ({}, {"default": {"latency": 3}}, "latency-hint/extra"),
    ({"default": {"latency": 3}}, {"default": {"latency": 5}}, "latency-hint/changed"),
    ({"default": {"latency": 3}}, {"sm_100": {"latency": 5}}, "latency-hint/changed"),
    ({"sm_100": {"latency": 3}}, {"sm_100": {"latency": 5}}, "latency-hint/changed"),
    ({}, {"default": {"allow_tma": False}}, "tma-hint/extra"),
    ({"default": {"occupancy": 4}}, {"default": {"occupancy": 2}}, "entry-hint/changed"),
    ({"sm_100": {"num_cta_in_cga": 2}}, {}, "entry-hint/missing"),
    (
        {"sm_90": {"occupancy": 2}, "sm_100": {"occupancy": 4}},
        {"default": {"occupancy": 2}},
        "entry-hint/changed",
    ),
    (
        {"default": {"latency": 3}},
        {"sm_100": {"latency": 3}, "sm_120": {"latency": 5}},
        "latency-hint/changed",
    ),
    (
        {"sm_100": {"latency": 3}, "sm_120": {"latency": 5}},
        {"sm_100": {"latency": 3}, "sm_120": {"latency": 6}, "sm_90": {"latency": 1}},
        "latency-hint/changed",
    ),
]


@pytest.mark.parametrize(("reference", "generated"), SAME)
def test_equal_hints(reference: Hints, generated: Hints) -> None:
    assert compare_hints(reference, generated) == []
    assert compare_hints(generated, reference) == []


@pytest.mark.parametrize(("reference", "generated", "rule"), OTHER)
def test_unequal_hints(reference: Hints, generated: Hints, rule: str) -> None:
    assert [found_[0] for found_ in compare_hints(reference, generated)] == [rule]


def test_a_machine_that_is_not_named_takes_the_default() -> None:
    hints: Hints = {"default": {"latency": 3}, "sm_90": {"latency": 5}}
    assert effective(hints, "sm_90") == {"latency": 5}
    assert effective(hints, "sm_100") == {"latency": 3}


def test_hints_that_both_sides_key_alike_are_compared_key_by_key() -> None:
    reference: Hints = {"sm_100": {"latency": 3}, "sm_120": {"latency": 5}}
    generated: Hints = {"sm_100": {"latency": 3}, "sm_120": {"latency": 6}}
    assert [row[0] for row in compare_hints(reference, generated)] == ["latency-hint/changed"]


@pytest.mark.parametrize(
    ("reference", "generated", "rule"),
    [
        ("default = {occupancy = 4}", "default = {occupancy = 2}", "entry-hint/changed"),
        ("default = {occupancy = 4}", "", "entry-hint/missing"),
        ("", "sm_100 = {num_cta_in_cga = 2}", "entry-hint/extra"),
    ],
)
def test_hints_of_the_entry(reference: str, generated: str, rule: str) -> None:
    first = assert_found(entry(reference), entry(generated), rule)
    assert first.impact == "hint"
    assert len(found(entry(reference), entry(generated))) == 1
    assert_equal(entry(reference), entry(reference))


@pytest.mark.parametrize(
    ("reference", "generated", "rule"),
    [
        ("default = {latency = 4}", "default = {latency = 2}", "latency-hint/changed"),
        ("sm_100 = {latency = 4}", "", "latency-hint/missing"),
        ("", "default = {latency = 4}", "latency-hint/extra"),
    ],
)
def test_hints_of_a_load(reference: str, generated: str, rule: str) -> None:
    marked = load(generated).replace("128xf32>, token\n", "128xf32>, token // here\n", 1)
    first = assert_found(load(reference), marked, rule)
    assert first.impact == "hint"


def test_a_default_against_an_architecture() -> None:
    assert_equal(load("default = {latency = 4}"), load("sm_100 = {latency = 4}"))
    assert_equal(load("sm_100 = {latency = 4}, sm_120 = {latency = 4}"), load("default = {latency = 4}"))
    two, one = load("sm_100 = {latency = 4}, sm_120 = {latency = 7}"), load("default = {latency = 4}")
    assert_found(two, one, "latency-hint/changed")
    assert_found(one, two, "latency-hint/changed")


def test_every_hint_of_an_entry_is_told() -> None:
    more = entry("default = {num_cta_in_cga = 2, occupancy = 4}")
    assert [each.rule for each in found(entry("default = {}"), more)] == ["entry-hint/extra"] * 2


def never(latency: int, guard: str) -> str:
    """A load of a branch or loop that is never entered, or under a mask that is always false."""
    hint = f" token=%t optimization_hints = <default = {{latency = {latency}}}>"
    read = LOAD.replace(" token=%t", hint).replace("%v, %vt", "%q, %qt")
    body = (
        "%no = constant <i1: false> : tile<i1>\n%none = constant <i1: false> : tile<128xi1>\n"
        f"%w = negf %one : {T}"
    )
    places = {
        "mask": read.replace("%in,", "%none,"),
        "branch": f"if %no {{\n{read}\n{STORE.replace('%w', '%q')}\n}}",
        "loop": f"for %j in (%i0 to %i0, step %i1) : tile<i32> {{\n{read}\ncontinue\n}}",
    }
    return kernel(f"{body}\n{places[guard]}\n{STORE.replace('%st', '%last')}")


@pytest.mark.parametrize("guard", ["mask", "branch", "loop"])
def test_hints_of_an_access_that_is_never_made(guard: str) -> None:
    first = assert_found(never(3, guard), never(4, guard), "latency-hint/changed")
    assert first.impact == "hint"
    assert_equal(never(3, guard), never(3, guard))
