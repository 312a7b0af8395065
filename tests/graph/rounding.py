"""Exact arithmetic with one rounding: the reference for formats and for rewrites of floating-point terms."""

from __future__ import annotations

from fractions import Fraction
from math import floor

from tileir_diff.graph.terms import Term, Terms

FORMATS = {"f16": (10, -14, 15), "bf16": (7, -126, 127), "f32": (23, -126, 127), "f64": (52, -1022, 1023)}
"""Mantissa bits, least and greatest exponent of a normal number."""


def nearest(value: Fraction, element: str, mode: str = "nearest_even") -> Fraction:
    """The number of the format that `value` rounds to. Raises OverflowError above the largest."""
    mantissa, least, greatest = FORMATS[element]
    if value == 0:
        return value
    exponent = max(_exponent(abs(value)), least)
    unit = Fraction(2) ** (exponent - mantissa)
    rounded = _integer(value / unit, mode) * unit
    if abs(rounded) >= Fraction(2) ** (greatest + 1):
        raise OverflowError
    return rounded


def _exponent(value: Fraction) -> int:
    exponent = value.numerator.bit_length() - value.denominator.bit_length()
    return exponent if Fraction(2) ** exponent <= value else exponent - 1


def _integer(value: Fraction, mode: str) -> int:
    match mode:
        case "nearest_even":
            return round(value)
        case "zero":
            return int(value)
        case "negative_inf":
            return floor(value)
        case _:
            return -floor(-value)


def apply(name: str, operands: list[Fraction], element: str | None, mode: str = "nearest_even") -> Fraction:
    """One op with one rounding; `element` None leaves the result exact."""
    match name, operands:
        case "negf", [a]:
            return -a
        case "addf", [a, b]:
            exact = a + b
        case "subf", [a, b]:
            exact = a - b
        case "mulf", [a, b]:
            exact = a * b
        case "divf", [a, b]:
            exact = a / b
        case "fma", [a, b, c]:
            exact = a * b + c
        case "absf", [a]:
            return abs(a)
        case "maxf", _:
            return max(operands)
        case "minf", _:
            return min(operands)
        case _:
            raise AssertionError(name)
    return exact if element is None else nearest(exact, element, mode)


def evaluate(terms: Terms, term: Term, leaves: dict[Term, Fraction], *, exact: bool) -> Fraction:
    """What a floating-point term stands for, each op rounded to its type unless `exact`."""
    from tileir_diff.graph.floats import constant_of

    if term in leaves:
        return leaves[term]
    if terms.kind[term] == "fc":
        number = constant_of(terms, term)
        assert number is not None
        return Fraction(number)
    assert terms.kind[term] == "f"
    name, element, mods = terms.attr[term]
    operands = [evaluate(terms, arg, leaves, exact=exact) for arg in terms.args[term]]
    if name == "ftof":
        return operands[0] if exact else nearest(operands[0], element[1])
    mode = str(dict(mods).get("rounding", "nearest_even"))
    return apply(name, operands, None if exact else element, mode)
