"""Accesses in another order that cannot meet, and addresses that are chosen in one way or another."""

from __future__ import annotations

from collections.abc import Callable
from itertools import permutations

import pytest

from tests.match.snippets import assert_equal, found, kernel

Make = Callable[[str, str], dict[str, str]]
V = "tile<128xf32>"
FEW = (
    "%few = cmpi less_than %m, %i4, signed : tile<i32> -> tile<i1>\n"
    "%few1 = reshape %few : tile<i1> -> tile<1xi1>\n%fews = broadcast %few1 : tile<1xi1> -> tile<128xi1>\n"
)


def load(name: str, where: str, token: str = "%t") -> str:
    return (
        f"%{name}, %{name}t = load_ptr_tko weak {where}, %in, %zero token={token} : tile<128xptr<f32>>, "
        f"tile<128xi1>, {V} -> {V}, token\n"
    )


def store(name: str, where: str, value: str, token: str = "%t") -> str:
    return (
        f"%{name} = store_ptr_tko weak {where}, {value}, %in token={token} : tile<128xptr<f32>>, {V}, "
        "tile<128xi1> -> token\n"
    )


def shifted(name: str, by: int, twice: bool = False) -> str:
    """Addresses in `b`, so many elements on; or of every second block of lanes."""
    first = "%o" if not twice else f"%{name}s"
    return (
        f"%{name}c = constant <i32: {by}> : tile<128xi32>\n%{name}s = addi %starts, %o : tile<128xi32>\n"
        f"%{name}o = addi {first}, %{name}c : tile<128xi32>\n"
        f"%{name} = offset %bv, %{name}o : tile<128xptr<f32>>, tile<128xi32> -> tile<128xptr<f32>>\n"
    )


def negated(name: str, where: str, before: str = "%t") -> str:
    """Negate a tile in place."""
    return (
        load(f"{name}v", where, before)
        + f"%{name}w = negf %{name}v : {V}\n"
        + store(name, where, f"%{name}w", f"%{name}vt")
    )


def halves(distance: int) -> str:
    return shifted("p", 0, twice=True) + shifted("q", distance, twice=True)


# ---- order -----------------------------------------------------------------------------------------------


def test_updates_that_cannot_meet_are_made_in_any_order() -> None:
    head = halves(128)
    first, second = negated("f", "%p"), negated("s", "%q")
    assert_equal(kernel(head + first + second), kernel(head + second + first))
    together = (
        load("fv", "%p")
        + load("sv", "%q")
        + f"%fw = negf %fv : {V}\n%sw = negf %sv : {V}\n"
        + store("f", "%p", "%fw", "%fvt")
        + store("s", "%q", "%sw", "%svt")
    )
    assert_equal(kernel(head + first + second), kernel(head + together))
    assert_equal(kernel(head + together), kernel(head + second + first))


@pytest.mark.parametrize("distance", [127, 64, 1])
def test_updates_that_meet_are_not(distance: int) -> None:
    head = halves(distance)
    first = head + negated("f", "%p") + negated("s", "%q", "%f")
    second = head + negated("s", "%q") + negated("f", "%p", "%s")
    assert "logic" in {each.impact for each in found(kernel(first), kernel(second))}


def test_a_load_is_before_or_after_the_write_that_meets_it() -> None:
    """The other write counts for nothing, on either side of it."""
    head = halves(128)
    far, near = store("far", "%q", "%one"), store("near", "%p", "%one")
    use = load("v", "%p") + f"%w = negf %v : {V}\n" + store("s", "%pa", "%w")
    orders = [head + "".join(order) for order in permutations((far, near, use))]
    for one in orders:
        for other in orders:
            same = (one.index(near) < one.index(use)) == (other.index(near) < other.index(use))
            result = {each.impact for each in found(kernel(one), kernel(other))}
            assert same == ("logic" not in result), (one, other)


def test_what_a_branch_wrote_counts_although_the_other_wrote_more() -> None:
    head = halves(128) + FEW
    branch = (
        "if %few {\n" + store("n", "%p", "%one") + "} else {\n" + store("f", "%q", "%one")
        + store("g", "%q", "%zero", "%f") + "}\n"
    )  # fmt: skip
    use = load("v", "%p") + f"%w = negf %v : {V}\n" + store("s", "%pa", "%w")
    assert "logic" in {
        each.impact for each in found(kernel(head + branch + use), kernel(head + use + branch))
    }


def test_what_a_loop_wrote_counts_after_it() -> None:
    def looped(tiles: str, use_first: bool) -> str:
        use = load("v", "%p") + f"%w = negf %v : {V}\n" + store("s", "%pa", "%w")
        loop = (
            f"for %k in (%i1 to {tiles}, step %i1) : tile<i32> {{\n%ko = muli %k, %i128 : tile<i32>\n"
            "%k1 = reshape %ko : tile<i32> -> tile<1xi32>\n"
            "%ks = broadcast %k1 : tile<1xi32> -> tile<128xi32>\n"
            "%ka = offset %p, %ks : tile<128xptr<f32>>, tile<128xi32> -> tile<128xptr<f32>>\n"
            f"%kb = offset %ka, {'%lift' if tiles == '%m' else '%lane0'} : tile<128xptr<f32>>, "
            f"tile<128xi32> -> tile<128xptr<f32>>\n{store('kt', '%kb', '%one')}}}\n"
        )
        lift = (
            "%lane0 = constant <i32: 0> : tile<128xi32>\n%lift = constant <i32: -128> : tile<128xi32>\n"
            + halves(128)
        )
        return kernel(lift + (use + loop if use_first else loop + use))

    assert_equal(looped("%n", False), looped("%n", True))
    assert "logic" in {each.impact for each in found(looped("%m", False), looped("%m", True))}


# ---- choice ----------------------------------------------------------------------------------------------


def choices(first: str, second: str) -> dict[str, str]:
    """A tile stored at one of two addresses, and one loaded from there."""
    pointers = "tile<128xptr<f32>>"
    chosen = f"%p2 = if %few -> ({pointers}) {{\nyield {first} : {pointers}\n}} else {{\nyield {second} : {pointers}\n}}\n"  # noqa: E501
    selected = f"%p2 = select %fews, {first}, {second} : tile<128xi1>, {pointers}\n"
    use = store("s", "%p2", "%one")
    both = "if %few {\n" + store("s", first, "%one") + "} else {\n" + store("s", second, "%one") + "}\n"
    return {"if": chosen + use, "select": selected + use, "branches": both}


def read(first: str, second: str) -> dict[str, str]:
    use = f"%w = negf %v : {V}\n" + store("s", "%pb", "%w")
    branches = (
        f"%v = if %few -> ({V}) {{\n{load('u', first)}yield %u : {V}\n}} else {{\n{load('u', second)}"
        f"yield %u : {V}\n}}\n"
    )
    pointers = f"%p2 = select %fews, {first}, {second} : tile<128xi1>, tile<128xptr<f32>>\n"
    return {"select": pointers + load("v", "%p2") + use, "branches": branches + use}


@pytest.mark.parametrize("make", [choices, read])
@pytest.mark.parametrize("pair", [("%pa", "%pb"), ("%p", "%q"), ("%q", "%pa")])
def test_an_address_may_be_chosen_anyhow(make: Make, pair: tuple[str, str]) -> None:
    head = halves(128) + FEW
    forms = make(*pair)
    turned = make(*pair[::-1])
    for one in forms.values():
        for name, other in forms.items():
            assert_equal(kernel(head + one), kernel(head + other))
            wrong = found(kernel(head + one), kernel(head + turned[name]))
            assert "logic" in {each.impact for each in wrong}, (one, turned[name])


def test_an_index_may_be_chosen_instead_of_the_address() -> None:
    head = halves(128) + FEW

    def chosen(first: str, second: str) -> str:
        return (
            f"%o2 = select %fews, {first}, {second} : tile<128xi1>, tile<128xi32>\n"
            "%p2 = offset %bv, %o2 : tile<128xptr<f32>>, tile<128xi32> -> tile<128xptr<f32>>\n"
            + store("s", "%p2", "%one")
        )

    for form in choices("%p", "%q").values():
        assert_equal(kernel(head + form), kernel(head + chosen("%po", "%qo")))
        assert found(kernel(head + form), kernel(head + chosen("%qo", "%po")))
