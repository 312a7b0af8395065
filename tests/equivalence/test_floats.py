"""Float ops against numpy for rounding to nearest, and against fractions for the directed modes."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.equivalence.support import NUMPY, apply, exactly_rounded, padded

EDGES = [
    0.0,
    -0.0,
    1.0,
    -1.0,
    1.5,
    3.0,
    math.inf,
    -math.inf,
    math.nan,
    1e-45,
    -1e-45,
    1.1754944e-38,
    3.4028235e38,
]


def numbers(element: str) -> st.SearchStrategy[float]:
    width = 64 if element == "f64" else 32
    return st.one_of(st.sampled_from(EDGES), st.floats(width=width), st.floats(-100, 100, width=width))


def arrays(data: st.DataObject, element: str, many: int) -> list[Any]:
    rows = data.draw(st.lists(st.tuples(*[numbers(element)] * many), min_size=1, max_size=32))
    return [padded([row[side] for row in rows], element) for side in range(many)]


def same(actual: Any, expected: Any) -> bool:
    """Equal bits, but for the payload of a NaN."""
    a, b = np.asarray(actual, np.float64), np.asarray(expected, np.float64)
    return bool((((a == b) & (np.signbit(a) == np.signbit(b))) | (np.isnan(a) & np.isnan(b))).all())


@pytest.mark.parametrize("element", ["f16", "bf16", "f32", "f64"])
@settings(max_examples=12, deadline=None)
@given(st.data())
def test_nearest_even(element: str, data: st.DataObject) -> None:
    a, b = arrays(data, element, 2)
    wide = np.float32 if element in ("f16", "bf16") else NUMPY[element]
    with np.errstate(all="ignore"):
        x, y = a.astype(wide), b.astype(wide)
        for op, expected in (("addf", x + y), ("subf", x - y), ("mulf", x * y), ("divf", x / y)):
            result, _ = apply(
                f"%y = {op} %a, %b : tile<{{n}}x{element}>", element, a=(element, a), b=(element, b)
            )
            assert same(result, expected.astype(NUMPY[element])), op


@pytest.mark.parametrize("mode", ["zero", "negative_inf", "positive_inf"])
@pytest.mark.parametrize("element", ["f32", "f64"])
@settings(max_examples=25, deadline=None)
@given(st.data())
def test_directed(element: str, mode: str, data: st.DataObject) -> None:
    a, b = arrays(data, element, 2)
    kind = NUMPY[element]
    for op in ("addf", "subf", "mulf", "divf"):
        result, _ = apply(
            f"%y = {op} %a, %b rounding<{mode}> : tile<{{n}}x{element}>",
            element,
            a=(element, a),
            b=(element, b),
        )
        for x, y, r in zip(a.tolist(), b.tolist(), result, strict=True):
            if not (math.isfinite(x) and math.isfinite(y)) or (op == "divf" and y == 0):
                continue
            p, q = Fraction(x), Fraction(y)
            exact = {"addf": p + q, "subf": p - q, "mulf": p * q, "divf": p / q if q else p}[op]
            around = (float(np.nextafter(r, kind(-math.inf))), float(np.nextafter(r, kind(math.inf))))
            if exact == 0:
                assert r == 0
                continue
            assert exactly_rounded(float(r), exact, mode, around), (op, x, y, r)


@pytest.mark.parametrize(
    ("mode", "negative"), [("nearest_even", False), ("negative_inf", True), ("zero", False)]
)
def test_sign_of_an_exact_zero(mode: str, negative: bool) -> None:
    one, minus = padded([1.5], "f32"), padded([-1.5], "f32")
    text = f"%y = addf %a, %b rounding<{mode}> : tile<{{n}}xf32>"
    result, _ = apply(text, "f32", a=("f32", one), b=("f32", minus))
    assert bool(np.signbit(result[0])) == negative


@pytest.mark.parametrize("mode", ["nearest_even", "zero", "negative_inf", "positive_inf"])
@pytest.mark.parametrize("element", ["f32", "f64"])
@settings(max_examples=30, deadline=None)
@given(st.data())
def test_fma_rounds_once(element: str, mode: str, data: st.DataObject) -> None:
    a, b, c = arrays(data, element, 3)
    kind = NUMPY[element]
    text = f"%y = fma %a, %b, %c rounding<{mode}> : tile<{{n}}x{element}>"
    result, _ = apply(text, element, a=(element, a), b=(element, b), c=(element, c))
    for x, y, z, r in zip(a.tolist(), b.tolist(), c.tolist(), result, strict=True):
        if not all(map(math.isfinite, (x, y, z))):
            # a product of numbers is a number, however large
            assert same(r, z if math.isfinite(x) and math.isfinite(y) else x * y + z), (x, y, z, r)
            continue
        exact = Fraction(x) * Fraction(y) + Fraction(z)
        around = (float(np.nextafter(r, kind(-math.inf))), float(np.nextafter(r, kind(math.inf))))
        if exact == 0:
            signs = {math.copysign(1, x) * math.copysign(1, y), math.copysign(1, z)}
            assert r == 0
            assert np.signbit(r) == (signs == {-1} or (mode == "negative_inf" and signs != {1})), (x, y, z)
        elif mode != "nearest_even":
            assert exactly_rounded(float(r), exact, mode, around), (x, y, z, r)
        elif math.isfinite(float(r)):
            error = abs(Fraction(float(r)) - exact)
            assert all(error <= abs(Fraction(side) - exact) for side in around if math.isfinite(side))


def test_an_inexact_product_beside_its_opposite_leaves_no_zero() -> None:
    text = "%y = fma %a, %b, %c rounding<negative_inf> : tile<{n}xf64>"
    lanes = {"a": [1.5, 3.0], "b": [1e-45, 2.0**-60 + 2.0**-112], "c": [-1.0, -1.0]}
    result, _ = apply(text, "f64", **{name: ("f64", padded(row, "f64")) for name, row in lanes.items()})
    assert result[:2].tolist() == [-1.0, -1.0]


@settings(max_examples=20, deadline=None)
@given(st.data())
def test_fma_of_halves_rounds_once(data: st.DataObject) -> None:
    a, b, c = (np.clip(each, -200, 200) for each in arrays(data, "f16", 3))
    text = "%y = fma %a, %b, %c : tile<{n}xf16>"
    result, _ = apply(text, "f16", a=("f16", a), b=("f16", b), c=("f16", c))
    for x, y, z, r in zip(a.tolist(), b.tolist(), c.tolist(), result, strict=True):
        if all(map(math.isfinite, (x, y, z))):
            exact = Fraction(x) * Fraction(y) + Fraction(z)
            around = [float(np.nextafter(r, np.float16(side))) for side in (-math.inf, math.inf)]
            assert all(abs(Fraction(float(r)) - exact) <= abs(Fraction(n) - exact) for n in around)


@pytest.mark.parametrize("element", ["f32", "f64"])
@settings(max_examples=20, deadline=None)
@given(st.data())
def test_square_roots(element: str, data: st.DataObject) -> None:
    (a,) = arrays(data, element, 1)
    kind = NUMPY[element]
    plain, _ = apply(f"%y = sqrt %a : tile<{{n}}x{element}>", element, a=(element, a))
    for x, r in zip(a.tolist(), plain, strict=True):
        if math.isfinite(x) and x > 0:
            half = [(Fraction(float(r)) + Fraction(float(np.nextafter(r, kind(side))))) / 2
                    for side in (0, math.inf)]  # fmt: skip
            assert half[0] ** 2 <= Fraction(x) <= half[1] ** 2, x
        else:
            assert same(r, x if x == 0 or x > 0 else math.nan), x
    for mode in ("zero", "negative_inf", "positive_inf"):
        result, _ = apply(f"%y = sqrt %a rounding<{mode}> : tile<{{n}}x{element}>", element, a=(element, a))
        for x, r in zip(a.tolist(), result, strict=True):
            if not math.isfinite(x) or x <= 0:
                continue
            below, above = (float(np.nextafter(r, kind(side))) for side in (-math.inf, math.inf))
            square = Fraction(float(r)) ** 2
            if mode == "positive_inf":
                assert square >= Fraction(x) > Fraction(below) ** 2
            else:
                assert square <= Fraction(x) < Fraction(above) ** 2


def test_flush_to_zero_keeps_the_sign() -> None:
    a, b = padded([-1e-40, 1e-40, 1e-30, 1.0], "f32"), padded([1.0, 1.0, 1e-10, 2.0], "f32")
    text = "%y = mulf %a, %b flush_to_zero : tile<{n}xf32>"
    result, _ = apply(text, "f32", a=("f32", a), b=("f32", b))
    assert result.tolist() == [0.0, 0.0, 0.0, 2.0]
    assert np.signbit(result).tolist() == [True, False, False, False]
    plain, _ = apply("%y = mulf %a, %b : tile<{n}xf32>", "f32", a=("f32", a), b=("f32", b))
    assert (plain[:3] != 0).all()


@pytest.mark.parametrize("short", ["maxf", "minf"])
def test_extremes(short: str) -> None:
    pairs = [
        (0.0, -0.0),
        (-0.0, 0.0),
        (math.nan, 1.0),
        (1.0, math.nan),
        (-math.inf, 2.0),
        (math.nan, math.nan),
    ]
    a, b = (padded([pair[side] for pair in pairs], "f32") for side in (0, 1))
    result, _ = apply(f"%y = {short} %a, %b : tile<{{n}}xf32>", "f32", a=("f32", a), b=("f32", b))
    spread, _ = apply(
        f"%y = {short} %a, %b propagate_nan : tile<{{n}}xf32>", "f32", a=("f32", a), b=("f32", b)
    )
    zero, last = (0.0, 2.0) if short == "maxf" else (-0.0, -math.inf)
    assert same(result[:6], [zero, zero, 1.0, 1.0, last, math.nan])
    assert same(spread[:6], [zero, zero, math.nan, math.nan, last, math.nan])


@settings(max_examples=10, deadline=None)
@given(st.data())
def test_comparison(data: st.DataObject) -> None:
    a, b = arrays(data, "f32", 2)
    nan = np.isnan(a) | np.isnan(b)
    with np.errstate(all="ignore"):
        plain = {"equal": a == b, "not_equal": a != b, "less_than": a < b, "less_than_or_equal": a <= b,
                 "greater_than": a > b, "greater_than_or_equal": a >= b}  # fmt: skip
    for predicate, holds in plain.items():
        for ordering in ("ordered", "unordered"):
            op = f"%y = cmpf {predicate} {ordering} %a, %b : tile<{{n}}xf32> -> tile<{{n}}xi1>"
            result, _ = apply(op, "i1", a=("f32", a), b=("f32", b))
            expected = np.where(nan, ordering == "unordered", holds)
            assert result.tolist() == expected.tolist(), (predicate, ordering)


def _inverse_root(x: Any) -> Any:
    return 1 / np.sqrt(x)


LIBRARY: dict[str, Any] = {
    "absf": np.abs, "ceil": np.ceil, "cos": np.cos, "cosh": np.cosh, "exp": np.exp, "exp2": np.exp2,
    "floor": np.floor, "log": np.log, "log2": np.log2, "negf": np.negative, "rsqrt": _inverse_root,
    "sin": np.sin, "sinh": np.sinh, "tan": np.tan, "tanh": np.tanh,
}  # fmt: skip


@pytest.mark.parametrize("short", LIBRARY)
@settings(max_examples=6, deadline=None)
@given(st.data())
def test_functions_are_near_the_exact_ones(short: str, data: st.DataObject) -> None:
    (a,) = arrays(data, "f32", 1)
    a = np.where(np.abs(a) > 1e4, np.float32(7), a)  # large arguments of sine are another matter
    result, _ = apply(f"%y = {short} %a : tile<{{n}}xf32>", "f32", a=("f32", a))
    with np.errstate(all="ignore"):
        expected = LIBRARY[short](a.astype(np.float64)).astype(np.float32)
    finite = np.isfinite(expected)
    assert (np.isnan(result) == np.isnan(expected)).all()
    assert (np.abs(result[finite] - expected[finite]) <= np.spacing(np.abs(expected[finite]))).all()


@pytest.mark.parametrize("element", ["f16", "bf16", "f32", "f64"])
@settings(max_examples=12, deadline=None)
@given(st.data())
def test_remainder_is_exact(element: str, data: st.DataObject) -> None:
    a, b = arrays(data, element, 2)
    result, _ = apply(f"%y = remf %a, %b : tile<{{n}}x{element}>", element, a=(element, a), b=(element, b))
    expected = [math.nan if math.isnan(x + y) or math.isinf(x) or y == 0 else math.fmod(x, y)
                for x, y in zip(a.astype(float).tolist(), b.astype(float).tolist(), strict=True)]  # fmt: skip
    assert same(result, expected)


def test_two_operands() -> None:
    a, b = padded([5.5, -5.5, 1.0, 2.0], "f32"), padded([2.0, 2.0, 0.0, math.inf], "f32")
    cases = {
        "remf": [1.5, -1.5, math.nan, 2.0],
        "atan2": np.arctan2(a.astype(float), b.astype(float)),
        "fpowf": np.power(a, b),
    }
    for op, expected in cases.items():
        result, _ = apply(f"%y = {op} %a, %b : tile<{{n}}xf32>", "f32", a=("f32", a), b=("f32", b))
        assert same(result, np.asarray(expected, np.float32)), op
    n = padded([3, -1, 0, 2], "i32")
    result, _ = apply("%y = fpowi %a, %n : tile<{n}xf32>, tile<{n}xi32>", "f32", a=("f32", a), n=("i32", n))
    assert np.allclose(result, [5.5**3, -1 / 5.5, 1.0, 4.0], rtol=1e-6)


def test_approximations_are_named() -> None:
    a = padded([1.0, 2.0], "f32")
    _, run = apply("%y = divf %a, %a rounding<approx> : tile<{n}xf32>", "f32", a=("f32", a))
    assert [(each.what, each.bound) for each in run.freedoms] == [("divf approx", "2 ulp")]
    _, run = apply("%y = divf %a, %a : tile<{n}xf32>", "f32", a=("f32", a))
    assert run.freedoms == []
