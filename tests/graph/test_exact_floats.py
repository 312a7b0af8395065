"""Ops that do not round: done in a wider type, in another order, under a condition that is known."""

from __future__ import annotations

from typing import Any

import pytest

from tests.match.snippets import Pair, assert_equal, found, with_value
from tileir_diff.graph import floats
from tileir_diff.graph.terms import Term, Terms

F, H, B = "tile<128xf32>", "tile<128xf16>", "tile<128xi1>"


@pytest.fixture
def terms() -> Terms:
    return Terms()


def leaf(terms: Terms, index: int) -> Term:
    return terms.leaf("arg", 0, index)


def op(terms: Terms, name: str, *operands: Term, element: str = "f32", **mods: object) -> Term:
    return terms.float_op((name, element, tuple(mods.items())), operands)


def cast(terms: Terms, x: Term, source: str, target: str, **mods: object) -> Term:
    return terms.float_op(("ftof", (source, target), tuple(mods.items())), (x,))


def number(terms: Terms, value: float, element: str = "f32") -> Term:
    bits = floats.encode(element, value)
    assert bits is not None
    return floats.constant(terms, element, bits)


# ---- in a wider type -------------------------------------------------------------------------------------

TYPES = [("f16", "f32"), ("bf16", "f32"), ("f16", "f64"), ("f32", "f64"), ("f8E4M3FN", "f16")]


@pytest.mark.parametrize(("narrow", "wide"), TYPES)
@pytest.mark.parametrize("name", ["negf", "absf", "maxf", "minf"])
def test_an_exact_op_in_a_wider_type(terms: Terms, name: str, narrow: str, wide: str) -> None:
    x = [leaf(terms, 0), leaf(terms, 1)][: 1 if name in ("negf", "absf") else 2]
    there = op(terms, name, *(cast(terms, each, narrow, wide) for each in x), element=wide)
    here = op(terms, name, *x, element=narrow)
    assert cast(terms, there, wide, narrow) == here
    if not narrow.startswith("f8") or name != "negf":
        assert cast(terms, here, narrow, wide) == there
    other = {"maxf": "minf", "minf": "maxf", "absf": "negf", "negf": "absf"}[name]
    assert cast(terms, there, wide, narrow) != op(terms, other, *x, element=narrow)


def test_what_was_of_the_wide_type_is_rounded(terms: Terms) -> None:
    x, y = leaf(terms, 0), leaf(terms, 1)
    mixed = op(terms, "maxf", cast(terms, x, "f16", "f32"), y)
    rounded = op(terms, "maxf", x, cast(terms, y, "f32", "f16"), element="f16")
    assert cast(terms, mixed, "f32", "f16") != rounded
    two = op(terms, "maxf", cast(terms, x, "f16", "f32"), cast(terms, y, "bf16", "f32"))
    assert terms.attr[cast(terms, two, "f32", "f16")][0] == "ftof"


def test_a_constant_beside_a_narrow_number(terms: Terms) -> None:
    x = leaf(terms, 0)
    for limit, fits in ((0.0, True), (0.5, True), (0.1, False)):
        there = op(terms, "maxf", cast(terms, x, "f16", "f32"), number(terms, limit))
        here = op(terms, "maxf", x, number(terms, limit, "f16"), element="f16")
        assert (cast(terms, there, "f32", "f16") == here) == fits, limit


def test_a_flush_of_what_was_widened(terms: Terms) -> None:
    """Each f16 is a normal number of f32; a small bf16 is none."""
    x, y = leaf(terms, 0), leaf(terms, 1)
    for narrow, same in (("f16", True), ("bf16", False)):
        wide = [cast(terms, each, narrow, "f32") for each in (x, y)]
        flushed = cast(terms, op(terms, "maxf", *wide, flush_to_zero=True), "f32", narrow)
        assert (flushed == op(terms, "maxf", x, y, element=narrow)) == same


def test_nan_rules_stay(terms: Terms) -> None:
    x, y = leaf(terms, 0), leaf(terms, 1)
    wide = [cast(terms, each, "f16", "f32") for each in (x, y)]
    kept = cast(terms, op(terms, "maxf", *wide, propagate_nan=True), "f32", "f16")
    assert kept == op(terms, "maxf", x, y, element="f16", propagate_nan=True)
    assert kept != op(terms, "maxf", x, y, element="f16")


def test_casts_that_are_widened_in_steps(terms: Terms) -> None:
    x = leaf(terms, 0)
    once = cast(terms, x, "f16", "f64")
    assert cast(terms, cast(terms, x, "f16", "f32"), "f32", "f64") == once
    assert cast(terms, once, "f64", "f32") == cast(terms, x, "f16", "f32")
    assert cast(terms, once, "f64", "bf16") == cast(terms, x, "f16", "bf16")
    through = cast(terms, cast(terms, x, "f32", "f16"), "f16", "f32")
    assert through != x


# ---- comparisons -----------------------------------------------------------------------------------------


def compared(lines: str, predicate: str, left: str, right: str, kind: str = F) -> str:
    """1 where the comparison holds, else the loaded number."""
    test = f"%c = cmpf {predicate} ordered %{left}, %{right} : {kind} -> {B}"
    return with_value(f"%e = exp %v : {F}\n{lines}\n{test}\n%w = select %c, %one, %v : {B}, {F}")


NEGATIVE = f"%p = negf %v : {F}\n%q = negf %e : {F}"
HALVES = f"%p = ftof %v : {F} -> {H}\n%q = ftof %e : {F} -> {H}"
WIDENED = f"{HALVES}\n%r = ftof %p : {H} -> {F}\n%s = ftof %q : {H} -> {F}"
COMPARISONS = [
    Pair("negatives", compared(NEGATIVE, "less_than", "p", "q"), compared("", "less_than", "e", "v"),
         compared("", "less_than", "v", "e")),
    Pair("equal negatives", compared(NEGATIVE, "equal", "p", "q"), compared("", "equal", "v", "e"),
         compared("", "not_equal", "v", "e")),
    Pair("widened", compared(HALVES, "less_than", "p", "q", H), compared(WIDENED, "less_than", "r", "s"),
         compared(WIDENED, "less_than", "v", "e")),
    Pair("constants", with_value(f"%w = addf %v, %one : {F}"),
         with_value(f"%c = cmpf less_than ordered %zero, %one : {F} -> {B}\n%u = addf %v, %one : {F}\n"
                    f"%w = select %c, %u, %v : {B}, {F}"),
         with_value(f"%c = cmpf less_than ordered %one, %zero : {F} -> {B}\n%u = addf %v, %one : {F}\n"
                    f"%w = select %c, %u, %v : {B}, {F}")),
]  # fmt: skip


def check(pair: Pair) -> None:
    assert_equal(pair.reference, pair.generated)
    assert_equal(pair.generated, pair.reference)
    for right in (pair.reference, pair.generated):
        assert any(each.impact == "logic" for each in found(right, pair.wrong))


@pytest.mark.parametrize("pair", COMPARISONS, ids=[pair.name for pair in COMPARISONS])
def test_comparisons(pair: Pair) -> None:
    check(pair)


# ---- a condition that is known ---------------------------------------------------------------------------


def nested(test: str, first: str, second: str, outer: str = "%d, %v") -> str:
    return with_value(
        f"%e = exp %v : {F}\n%b8 = bitcast %v : {F} -> tile<128xi32>\n{test}\n"
        f"%d = select %c, %{first}, %{second} : {B}, {F}\n%w = select %c, {outer} : {B}, {F}"
    )


TESTS = [
    f"%c = cmpf less_than ordered %v, %e : {F} -> {B}",
    f"%c = cmpf less_than unordered %v, %e : {F} -> {B}",
    f"%c = cmpi less_than %b8, %nv, unsigned : tile<128xi32> -> {B}",
    f"%c = trunci %b8 : tile<128xi32> -> {B}",
    f"%f = cmpf less_than ordered %v, %e : {F} -> {B}\n%c = andi %f, %in : {B}",
]


@pytest.mark.parametrize("test", TESTS)
def test_a_selection_by_a_condition_that_is_known(test: str) -> None:
    plain = with_value(f"%w = addf %v, %zero : {F}")
    assert_equal(plain, nested(test, "v", "e"))
    assert_equal(nested(test, "v", "e"), plain)
    assert found(plain, nested(test, "e", "v"))
    once = nested(test, "e", "e")
    assert_equal(once, nested(test, "e", "v"))
    assert_equal(nested(test, "v", "e", "%v, %d"), nested(test, "e", "e", "%v, %d"))
    assert found(nested(test, "e", "v", "%v, %d"), once)


def test_the_opposite_of_a_condition_is_known_too() -> None:
    first = f"%e = exp %v : {F}\n%c = cmpf less_than ordered %v, %e : {F} -> {B}\n"

    def chosen(inner: str) -> str:
        return with_value(
            f"{first}%k = cmpf {inner} %v, %e : {F} -> {B}\n%d = select %k, %one, %e : {B}, {F}\n"
            f"%w = select %c, %d, %v : {B}, {F}"
        )

    known = chosen("greater_than_or_equal unordered")
    assert_equal(known, with_value(f"{first}%w = select %c, %e, %v : {B}, {F}"))
    assert found(known, chosen("less_than ordered"))


# ---- any order -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("mods", [{}, {"propagate_nan": True}, {"flush_to_zero": True}])
@pytest.mark.parametrize("name", ["maxf", "minf"])
def test_the_largest_of_several_numbers(terms: Terms, name: str, mods: dict[str, Any]) -> None:
    x, y, z = (leaf(terms, index) for index in range(3))

    def extreme(*operands: Term) -> Term:
        return op(terms, name, *operands, **mods)

    whole = extreme(extreme(x, y), z)
    assert whole == extreme(x, extreme(z, y)) == extreme(extreme(y, x), extreme(z, x))
    assert whole != extreme(x, y)
    other: dict[str, Any] = {} if mods else {"propagate_nan": True}
    assert whole != op(terms, name, op(terms, name, x, y, **other), z, **mods)
    assert extreme(x, x) != x, "NaN has other bits"
    one, two = number(terms, 1.0), number(terms, 2.0)
    more, less = (two, one) if name == "maxf" else (one, two)
    assert extreme(one, extreme(x, two)) == extreme(x, more)
    assert extreme(one, extreme(x, two)) != extreme(x, less)


def test_the_size_of_a_number_as_the_larger_one(terms: Terms) -> None:
    x, y = leaf(terms, 0), leaf(terms, 1)
    negative = op(terms, "negf", x)
    assert op(terms, "maxf", x, negative) == op(terms, "absf", x) == op(terms, "absf", negative)
    assert op(terms, "minf", x, negative) != op(terms, "negf", op(terms, "absf", y))
    assert op(terms, "maxf", y, negative) != op(terms, "absf", x)
    assert op(terms, "maxf", x, negative, flush_to_zero=True) != op(terms, "absf", x)


@pytest.mark.parametrize(
    "wrong", [("%w = maxf %g", "%w = maxf %e"), ("%g, %one", "%g, %v"), (":", "propagate_nan :")]
)
def test_another_maximum_is_told(wrong: tuple[str, str]) -> None:
    three = f"%g = maxf %v, %e : {F}\n%w = maxf %g, %one : {F}"
    other = f"%g = maxf %one, %e : {F}\n%w = maxf %v, %g : {F}"
    right, same, changed = (
        with_value(f"%e = exp %v : {F}\n{lines}") for lines in (three, other, three.replace(*wrong, 1))
    )
    assert_equal(right, same)
    assert any(each.impact in ("logic", "edge") for each in found(right, changed))
    assert any(each.impact in ("logic", "edge") for each in found(changed, right))


# ---- what is chosen from numbers -------------------------------------------------------------------------

NUMBER = f"%u = itof %o signed : tile<128xi32> -> {F}\n%half = constant <f32: 0.5> : {F}\n"


@pytest.mark.parametrize(
    "operand",
    [
        "%e1 = mulf %u, %half : {F}",
        "%e1 = addf %half, %u : {F}",
        "%e1 = divf %u, %half : {F}",
        "%neg = negf %u : {F}\n%e1 = exp %neg : {F}",
    ],
)
def test_numbers_that_cannot_be_nan_are_in_order(operand: str) -> None:
    def chosen(condition: str, arms: str, operand: str) -> str:
        return with_value(
            f"{NUMBER}{operand.format(F=F)}\n%c = cmpf {condition} : {F} -> {B}\n"
            f"%w = select %c, {arms} : {B}, {F}"
        )

    assert_equal(chosen("greater_than ordered %e1, %one", "%v, %zero", operand),
                 chosen("less_than_or_equal ordered %e1, %one", "%zero, %v", operand))  # fmt: skip
    assert_equal(chosen("equal ordered %e1, %one", "%v, %zero", operand),
                 chosen("not_equal ordered %e1, %one", "%zero, %v", operand))  # fmt: skip
    loaded = f"{operand}\n%e2 = mulf %e1, %v : {F}"
    assert found(chosen("greater_than ordered %e2, %one", "%v, %zero", loaded),
                 chosen("less_than_or_equal ordered %e2, %one", "%zero, %v", loaded))  # fmt: skip


HALF_LOAD = (
    "%q = ptr_to_ptr %pa : tile<128xptr<f32>> -> tile<128xptr<f16>>\n"
    "%h, %ht = load_ptr_tko weak %q, %in{padding} token=%t : tile<128xptr<f16>>, "
    "tile<128xi1>{type} -> tile<128xf16>, token\n%g = ftof %h : tile<128xf16> -> tile<128xf32>\n"
)


def folded(padding: str, body: str, value: str, combine: str, identity: str) -> str:
    """A fold over all lanes of a load, which leaves the others undetermined without a padding."""
    pad = f"%pad = constant <f16: {padding}> : tile<128xf16>\n" if padding else ""
    load = HALF_LOAD.format(padding=", %pad" if padding else "", type=", tile<128xf16>" if padding else "")
    return with_value(
        f"{pad}{load}%inf = constant <f32: 0xFF800000> : {F}\n{body}\n"
        f"%r = reduce {value} dim=0 identities=[{identity} : f32] : {F} -> tile<f32>\n"
        f"(%p: tile<f32>, %k: tile<f32>) {{\n%s = {combine} %p, %k : tile<f32>\nyield %s : tile<f32>\n}}\n"
        f"%r1 = reshape %r : tile<f32> -> tile<1xf32>\n%w = broadcast %r1 : tile<1xf32> -> {F}"
    )


def test_a_selection_stands_for_the_padding_of_what_is_widened() -> None:
    exp = f"%e2 = exp {{value}} : {F}"
    padded = folded("0xFC00", exp.format(value="%g"), "%e2", "addf", "0.0")
    body = f"%e1 = select %in, %g, {{other}} : {B}, {F}\n{exp.format(value='%e1')}"
    assert_equal(padded, folded("", body.format(other="%inf"), "%e2", "addf", "0.0"))
    assert_equal(padded, folded("0.0", body.format(other="%inf"), "%e2", "addf", "0.0"))
    assert found(padded, folded("", body.format(other="%zero"), "%e2", "addf", "0.0"))
    assert found(padded, folded("", exp.format(value="%g"), "%e2", "addf", "0.0"))


def test_a_selection_after_the_square_stands_for_a_padding_of_zero() -> None:
    square = f"%e1 = mulf %g, %g : {F}"
    padded = folded("0.0", square, "%e1", "addf", "0.0")
    after = f"{square}\n%e2 = select %in, %e1, {{other}} : {B}, {F}"
    assert_equal(padded, folded("", after.format(other="%zero"), "%e2", "addf", "0.0"))
    assert found(padded, folded("", after.format(other="%one"), "%e2", "addf", "0.0"))
    cube = f"%e0 = mulf %g, %v : {F}\n%e1 = mulf %e0, %g : {F}\n%e2 = select %in, %e1, %zero : {B}, {F}"
    assert found(padded, folded("", cube, "%e2", "addf", "0.0"))
