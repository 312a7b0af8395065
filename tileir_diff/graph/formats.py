"""Bit patterns of floating-point numbers: decoding, rounding, printing."""

from __future__ import annotations

import math
from fractions import Fraction

FORMATS = {
    "f16": (5, 10, 15),
    "bf16": (8, 7, 127),
    "f32": (8, 23, 127),
    "f64": (11, 52, 1023),
    "tf32": (8, 23, 127),
}
"""Exponent bits, mantissa bits, bias."""
LARGE = 10**7
"""From here on a whole number is written with an exponent."""


def decode(element: str, bits: int) -> float | None:
    """The exact value of a bit pattern; None for an element type without a table here."""
    spec = FORMATS.get(element)
    if spec is None:
        return None
    exponent_bits, mantissa_bits, bias = spec
    sign = -1.0 if bits >> (exponent_bits + mantissa_bits) & 1 else 1.0
    exponent = bits >> mantissa_bits & ((1 << exponent_bits) - 1)
    mantissa = bits & ((1 << mantissa_bits) - 1)
    if exponent == (1 << exponent_bits) - 1:
        return math.nan if mantissa else sign * math.inf
    if exponent == 0:
        return sign * math.ldexp(mantissa, 1 - bias - mantissa_bits)
    return sign * math.ldexp(mantissa | 1 << mantissa_bits, exponent - bias - mantissa_bits)


def encode(element: str, value: float) -> int | None:
    """Round to nearest even into ``element``; None where the format has no table here."""
    spec = FORMATS.get(element)
    if spec is None or element == "tf32":
        return None
    exponent_bits, mantissa_bits, bias = spec
    top = (1 << exponent_bits) - 1
    sign = 1 if math.copysign(1.0, value) < 0 else 0
    head = sign << (exponent_bits + mantissa_bits)
    if math.isnan(value):
        return head | top << mantissa_bits | 1 << (mantissa_bits - 1)
    magnitude = abs(value)
    if math.isinf(magnitude):
        return head | top << mantissa_bits
    if magnitude == 0:
        return head
    exponent = math.frexp(magnitude)[1] - 1
    exponent = max(exponent, 1 - bias)
    scaled = math.ldexp(magnitude, mantissa_bits - exponent)
    rounded = int(scaled)
    rest = scaled - rounded
    if rest > 0.5 or (rest == 0.5 and rounded & 1):
        rounded += 1
    if rounded >> (mantissa_bits + 1):
        rounded >>= 1
        exponent += 1
    if exponent + bias >= top:
        return head | top << mantissa_bits
    if rounded >> mantissa_bits == 0:
        return head | rounded
    return head | (exponent + bias) << mantissa_bits | (rounded & ((1 << mantissa_bits) - 1))


def round_exact(element: str, value: Fraction, mode: str = "nearest_even") -> int:
    """Round a number that is not zero into ``element``, once."""
    exponent_bits, mantissa_bits, bias = FORMATS[element]
    negative = value < 0
    head = int(negative) << (exponent_bits + mantissa_bits)
    magnitude = abs(value)
    exponent = magnitude.numerator.bit_length() - magnitude.denominator.bit_length()
    if Fraction(2) ** exponent > magnitude:
        exponent -= 1
    exponent = max(exponent, 1 - bias)
    scaled = magnitude * Fraction(2) ** (mantissa_bits - exponent)
    away = mode == ("negative_inf" if negative else "positive_inf")
    rounded = round(scaled) if mode == "nearest_even" else math.ceil(scaled) if away else math.floor(scaled)
    # the mantissa carries into the exponent, and from the largest number into infinity
    bits = rounded + ((exponent + bias - 1) << mantissa_bits)
    infinity = ((1 << exponent_bits) - 1) << mantissa_bits
    largest = infinity if away or mode == "nearest_even" else infinity - 1
    return head | min(bits, largest)


def encode_integer(element: str, value: int) -> int | None:
    """Round an integer to nearest even into ``element``, once, also where a double cannot hold it."""
    if element not in FORMATS or element == "tf32":
        return None
    return round_exact(element, Fraction(value)) if value else 0


def show(element: str, bits: int) -> str:
    """A constant as a reader expects it: the shortest number that the element's type rounds to it."""
    value = decode(element, bits)
    if value is None:
        return f"0x{bits:X}"
    if math.isfinite(value) and value == int(value) and abs(value) < LARGE:
        return f"{value:.0f}"
    texts = (f"{value:.{digits}g}" for digits in range(1, 17))
    return next((text for text in texts if encode(element, float(text)) == bits), f"{value:.17g}")
