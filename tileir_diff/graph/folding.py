"""Floating-point ops on constants: the one result that the op has, bit for bit.

What rounds another way than IEEE 754 says, or gives a NaN, whose bits are not determined, is left alone.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from tileir_diff.graph.formats import FORMATS, decode, encode, round_exact

if TYPE_CHECKING:
    from collections.abc import Sequence

MODES = frozenset({"nearest_even", "zero", "negative_inf", "positive_inf"})
EXTREMES = frozenset({"maxf", "minf"})
FOLDED = frozenset({"addf", "subf", "mulf", "divf", "fma", "sqrt", "absf"}) | EXTREMES
ONCE = frozenset({"addf", "subf", "mulf", "divf", "sqrt"})
"""Ops that give the same in f16 and bf16, whether or not f32 comes between."""
HALVES = frozenset({"f16", "bf16"})


def folded(name: str, element: str, mods: Any, patterns: Sequence[int]) -> int | None:
    """The bits of ``name`` of numbers of ``element``; None where they are not determined."""
    if name not in FOLDED or element not in FORMATS or element == "tf32":
        return None
    given = dict(mods)
    flushed = given.pop("flush_to_zero", False)
    mode = given.pop("rounding", "nearest_even")
    given.pop("propagate_nan", None)
    if given or mode not in MODES:
        return None
    numbers = [decode(element, each) for each in patterns]
    values = [number for number in numbers if number is not None and not math.isnan(number)]
    if len(values) < len(numbers):
        return None
    if flushed:
        values = [math.copysign(0.0, value) if _subnormal(element, value) else value for value in values]
    if name in EXTREMES:
        choose = max if name == "maxf" else min
        return encode(element, choose(values, key=lambda value: (value, math.copysign(1.0, value))))
    if name == "absf":
        return encode(element, abs(values[0]))
    if element in HALVES and (name not in ONCE or mode != "nearest_even"):
        return None
    result = _special(name, values, mode)
    if result is not None:
        return None if math.isnan(result) else encode(element, result)
    exact = _exact(name, [Fraction(value) for value in values])
    bits = round_exact(element, exact, mode)
    if not flushed or not _subnormal(element, exact):
        return bits
    # what is only rounded up to a normal number may be flushed before or after
    sign = 1 << sum(FORMATS[element][:2])
    return None if bits & ~sign == 1 << FORMATS[element][1] else bits & sign


def _least_normal(element: str) -> float:
    """The least normal number."""
    return math.ldexp(1.0, 1 - FORMATS[element][2])


def _subnormal(element: str, value: float | Fraction) -> bool:
    return 0 < abs(value) < _least_normal(element)


def _special(name: str, values: Sequence[float], mode: str) -> float | None:
    """A result that is zero, infinite or no number; None where it is an ordinary one, to be rounded."""
    match name, values:
        case "sqrt", [a]:
            return a if a == 0 or a == math.inf else math.nan if a < 0 else None
        case "mulf", [a, b]:
            return a * b if 0 in (a, b) or math.isinf(a) or math.isinf(b) else None
        case "divf", [a, b]:
            if b != 0:
                return a / b if a == 0 or math.isinf(a) or math.isinf(b) else None
            return math.nan if a == 0 or math.isnan(a) else math.copysign(math.inf, a) * math.copysign(1.0, b)
        case "fma", [a, b, c]:
            product = _special("mulf", (a, b), mode)
            if product is not None:
                return product if math.isnan(product) else _special("addf", (product, c), mode)
            return c if math.isinf(c) else _cancelled(Fraction(a) * Fraction(b) + Fraction(c), mode)
        case _:
            a, b = values[0], -values[1] if name == "subf" else values[1]
            if math.isinf(a) or math.isinf(b) or (a == b == 0 and math.copysign(1, a) == math.copysign(1, b)):
                return a + b
            return _cancelled(Fraction(a) + Fraction(b), mode)


def _cancelled(exact: Fraction, mode: str) -> float | None:
    """A sum that is zero has the sign of the direction; None where it is not."""
    return None if exact else -0.0 if mode == "negative_inf" else 0.0


def _exact(name: str, values: Sequence[Fraction]) -> Fraction:
    """The result before it is rounded; of a root a number that is rounded as it is."""
    match name, values:
        case "sqrt", [a]:
            return _root(a)
        case "mulf", [a, b]:
            return a * b
        case "divf", [a, b]:
            return a / b
        case "fma", [a, b, c]:
            return a * b + c
        case _:
            return values[0] + values[1] if name == "addf" else values[0] - values[1]


def _root(value: Fraction) -> Fraction:
    """The square root, or a number between the same two numbers of 100 bits as the root."""
    shift = 2 * max(0, 200 - value.numerator.bit_length() + value.denominator.bit_length())
    scaled = Fraction(value * 2**shift)
    whole = math.isqrt(math.floor(scaled))
    part = Fraction(0) if whole * whole == scaled else Fraction(1, 2)
    return (whole + part) / 2 ** (shift // 2)
