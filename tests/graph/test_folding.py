"""Ops on constants: the bits that the op gives, or no constant at all."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.graph.rounding import apply, nearest
from tests.match.snippets import assert_equal, assert_found, with_value
from tileir_diff.graph.folding import folded
from tileir_diff.graph.formats import FORMATS, decode, encode

quick = settings(max_examples=60, deadline=None, derandomize=True, database=None)
MODES = ("nearest_even", "zero", "negative_inf", "positive_inf")
F = "tile<128xf32>"


def bits_of(element: str, value: float) -> int:
    bits = encode(element, value)
    assert bits is not None
    return bits


def patterns(element: str) -> st.SearchStrategy[int]:
    """Bits of finite numbers, ordinary ones more often than extreme ones."""
    width = sum(FORMATS[element][:2]) + 1
    anything = st.integers(0, (1 << width) - 1)
    ordinary = st.floats(-100, 100).map(lambda value: bits_of(element, value))
    return st.one_of(ordinary, anything).filter(lambda bits: math.isfinite(decode(element, bits) or 0.0))


@st.composite
def calls(draw: st.DrawFn) -> tuple[str, str, str, list[int]]:
    element = draw(st.sampled_from(["f16", "bf16", "f32", "f64"]))
    name = draw(st.sampled_from(["addf", "subf", "mulf", "divf", "maxf", "minf"]))
    mode = draw(st.sampled_from(MODES)) if element in ("f32", "f64") else "nearest_even"
    return name, element, mode, [draw(patterns(element)) for _ in range(2)]


@quick
@given(calls())
def test_a_folded_op_rounds_once(call: tuple[str, str, str, list[int]]) -> None:
    name, element, mode, bits = call
    found = folded(name, element, () if mode == "nearest_even" else (("rounding", mode),), bits)
    operands = [Fraction(decode(element, each) or 0.0) for each in bits]
    if name == "divf" and operands[1] == 0:
        return
    assert found is not None
    got = decode(element, found)
    assert got is not None
    try:
        wanted = apply(name, operands, element, mode)
    except OverflowError:
        assert math.isinf(got) or abs(got) == decode(element, bits_of(element, math.inf) - 1)
    else:
        assert Fraction(got) == wanted


@quick
@given(st.sampled_from(["f16", "bf16", "f32", "f64"]), st.data())
def test_a_folded_root_is_the_nearest_number(element: str, data: st.DataObject) -> None:
    bits = data.draw(patterns(element)) & ~(1 << sum(FORMATS[element][:2]))
    found = folded("sqrt", element, (), [bits])
    assert found is not None
    value, root = (Fraction(decode(element, each) or 0.0) for each in (bits, found))
    below, above = (Fraction(decode(element, max(0, each)) or 0.0) for each in (found - 1, found + 1))
    assert ((below + root) / 2) ** 2 <= value <= ((root + above) / 2) ** 2
    assert nearest(root, element) == root


INFINITE, NAN = math.inf, math.nan
ZEROS = [
    ("addf", "nearest_even", (0.0, -0.0), 0.0),
    ("addf", "negative_inf", (0.0, -0.0), -0.0),
    ("addf", "negative_inf", (1.5, -1.5), -0.0),
    ("addf", "nearest_even", (-0.0, -0.0), -0.0),
    ("subf", "nearest_even", (-0.0, 0.0), -0.0),
    ("mulf", "nearest_even", (-0.0, 3.0), -0.0),
    ("fma", "nearest_even", (-1.0, 2.0, 2.0), 0.0),
    ("fma", "nearest_even", (-1.0, 0.0, -0.0), -0.0),
    ("fma", "negative_inf", (1.0, 2.0, -2.0), -0.0),
    ("sqrt", "nearest_even", (-0.0,), -0.0),
    ("maxf", "nearest_even", (-0.0, 0.0), 0.0),
    ("minf", "nearest_even", (0.0, -0.0), -0.0),
    ("divf", "nearest_even", (1.0, -0.0), -INFINITE),
    ("divf", "nearest_even", (-1.0, INFINITE), -0.0),
    ("mulf", "nearest_even", (1e30, -1e30), -INFINITE),
    ("addf", "nearest_even", (INFINITE, -3.0), INFINITE),
    ("fma", "nearest_even", (2.0, 3.0, -INFINITE), -INFINITE),
]


@pytest.mark.parametrize(("name", "mode", "operands", "wanted"), ZEROS)
def test_zeros_and_infinities(name: str, mode: str, operands: tuple[float, ...], wanted: float) -> None:
    mods = () if mode == "nearest_even" else (("rounding", mode),)
    assert folded(name, "f32", mods, [bits_of("f32", each) for each in operands]) == bits_of("f32", wanted)


@pytest.mark.parametrize("mode", ["zero", "negative_inf"])
def test_what_is_rounded_down_does_not_overflow(mode: str) -> None:
    large = bits_of("f32", 3e38)
    assert folded("addf", "f32", (("rounding", mode),), [large, large]) == 0x7F7FFFFF
    assert folded("addf", "f32", (), [large, large]) == 0x7F800000


@pytest.mark.parametrize(
    ("name", "operands"),
    [
        ("subf", (INFINITE, INFINITE)),
        ("mulf", (0.0, INFINITE)),
        ("divf", (0.0, 0.0)),
        ("divf", (INFINITE, INFINITE)),
        ("sqrt", (-1.0,)),
        ("addf", (NAN, 1.0)),
        ("maxf", (NAN, 1.0)),
        ("fma", (0.0, INFINITE, 1.0)),
    ],
)
def test_the_bits_of_a_nan_are_not_determined(name: str, operands: tuple[float, ...]) -> None:
    assert folded(name, "f32", (), [bits_of("f32", each) for each in operands]) is None


@pytest.mark.parametrize(
    ("name", "element", "mods"),
    [
        ("divf", "f32", (("rounding", "approx"),)),
        ("divf", "f32", (("rounding", "full"),)),
        ("sqrt", "f32", (("rounding", "approx"),)),
        ("exp", "f32", ()),
        ("addf", "tf32", ()),
        ("addf", "f8E4M3FN", ()),
        ("addf", "f16", (("rounding", "zero"),)),
        ("fma", "f16", ()),
    ],
)
def test_what_is_not_rounded_by_the_standard_stays(
    name: str, element: str, mods: tuple[tuple[str, object], ...]
) -> None:
    assert folded(name, element, mods, [0x3C00, 0x4000, 0x3C00]) is None


def test_subnormal_constants_are_flushed_where_the_op_says_so() -> None:
    flush = (("flush_to_zero", True),)
    least, tiny = 0x00800000, 0x00000001
    assert folded("addf", "f32", (), [tiny, tiny]) == 2
    assert folded("addf", "f32", flush, [tiny, least]) == least
    assert folded("addf", "f32", (), [tiny, least]) == least + 1
    assert folded("mulf", "f32", flush, [least, bits_of("f32", -0.5)]) == 0x80000000
    assert folded("maxf", "f32", flush, [tiny, 0x80000000]) == 0
    up = bits_of("f32", 1 - 2.0**-24)
    assert folded("mulf", "f32", flush, [least, up]) is None, "rounded up to a normal number"
    assert folded("mulf", "f32", (), [least, up]) == least


SCALE = f"%p = constant <f32: {{0}}> : {F}\n%r = sqrt %p{{1}} : {F}\n%c = divf %one, %r : {F}\n"
USE = f"%w = mulf %v, %c : {F}"


def test_a_scale_that_is_computed_from_constants() -> None:
    def computed(number: str, mode: str = "") -> str:
        return with_value(SCALE.format(number, mode) + USE)

    def written(number: str) -> str:
        return with_value(f"%c = constant <f32: {number}> : {F}\n{USE}")

    for first, second in ((computed("64.0"), written("0.125")), (computed("2.0"), written("0x3F3504F3"))):
        assert_equal(first, second)
        assert_equal(second, first)
    for first, second in (
        (computed("65.0"), written("0.125")),
        (computed("2.0"), written("0x3F3504F4")),
        (computed("2.0", " rounding<approx>"), written("0x3F3504F3")),
    ):
        assert_found(first, second, "arithmetic", "constant", "float-mode")
        assert_found(second, first, "arithmetic", "constant", "float-mode")
