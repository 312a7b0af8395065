"""Element types and their bit patterns: exact decoding to Python floats, correctly rounded encoding."""

from __future__ import annotations

import math
from typing import Final, NamedTuple

INTEGER_BITS: Final = {"i1": 1, "i4": 4, "i8": 8, "i16": 16, "i32": 32, "i64": 64}


class FloatFormat(NamedTuple):
    """Layout of a binary float.

    `special`: "ieee" has infinities and NaNs at the top exponent, "nan" has one NaN with all bits set and no
    infinity, "finite" has neither.
    """

    bits: int
    exponent_bits: int
    mantissa_bits: int
    bias: int
    special: str = "ieee"
    signed: bool = True
    has_zero: bool = True


FORMATS: Final = {
    "f16": FloatFormat(16, 5, 10, 15),
    "bf16": FloatFormat(16, 8, 7, 127),
    "f32": FloatFormat(32, 8, 23, 127),
    "tf32": FloatFormat(19, 8, 10, 127),
    "f64": FloatFormat(64, 11, 52, 1023),
    "f8E4M3FN": FloatFormat(8, 4, 3, 7, "nan"),
    "f8E5M2": FloatFormat(8, 5, 2, 15),
    "f8E8M0FNU": FloatFormat(8, 8, 0, 127, "nan", signed=False, has_zero=False),
    "f4E2M1FN": FloatFormat(4, 2, 1, 1, "finite"),
    "fnv8E5M3FNU": FloatFormat(8, 5, 3, 15, "nan", signed=False),
}
# Lower-case spellings are the cuTile Rust printer's; F8E5M3FNU is an old name.
SPELLINGS: Final = {
    **{name: name for name in (*INTEGER_BITS, *FORMATS)},
    **{name.lower(): name for name in FORMATS},
    "f8e5m3fnu": "fnv8E5M3FNU",
}


def decode(bits: int, name: str) -> float:
    """The exact value of a bit pattern; NaN payloads are lost."""
    layout = FORMATS[name]
    mantissa = bits & ((1 << layout.mantissa_bits) - 1)
    exponent = (bits >> layout.mantissa_bits) & ((1 << layout.exponent_bits) - 1)
    negative = layout.signed and bits >> (layout.bits - 1) & 1
    top = (1 << layout.exponent_bits) - 1
    if exponent == top and layout.special == "ieee":
        value = math.nan if mantissa else math.inf
    elif layout.special == "nan" and exponent == top and mantissa == (1 << layout.mantissa_bits) - 1:
        value = math.nan
    elif exponent == 0 and layout.has_zero:
        value = math.ldexp(mantissa, 1 - layout.bias - layout.mantissa_bits)
    else:
        value = math.ldexp(
            mantissa | 1 << layout.mantissa_bits, exponent - layout.bias - layout.mantissa_bits
        )
    return -value if negative else value


def encode(value: float, name: str) -> int:
    """The bit pattern nearest to a value, ties to even.

    Overflow gives infinity where there is one, else NaN, else the largest number. Raises ValueError for a
    value that has no pattern at all: a negative number in an unsigned format, zero in f8E8M0FNU, NaN in
    f4E2M1FN.
    """
    layout = FORMATS[name]
    negative = math.copysign(1.0, value) < 0
    if negative and not layout.signed and value != 0:
        raise ValueError(f"{name} has no negative numbers")
    sign = (1 << (layout.bits - 1)) if negative and layout.signed else 0
    if math.isnan(value):
        if layout.special == "finite":
            raise ValueError(f"{name} has no NaN")
        return sign | _nan(layout)
    if math.isinf(value):
        return sign | _overflow(layout)
    magnitude = abs(value)
    if magnitude == 0:
        if not layout.has_zero:
            raise ValueError(f"{name} has no zero")
        return sign
    _, exponent = math.frexp(magnitude)
    lowest = 1 - layout.bias if layout.has_zero else -layout.bias
    exponent = max(exponent - 1, lowest)
    units = round_half_even(magnitude, exponent - layout.mantissa_bits)
    if units >> (layout.mantissa_bits + 1):
        exponent, units = exponent + 1, units >> 1
    biased = exponent + layout.bias if units >> layout.mantissa_bits or not layout.has_zero else 0
    pattern = (biased << layout.mantissa_bits) | (units & ((1 << layout.mantissa_bits) - 1))
    return sign | (pattern if pattern <= _largest(layout) else _overflow(layout))


def round_half_even(value: float, exponent: int) -> int:
    """`value / 2**exponent`, rounded to the nearest whole number."""
    numerator, denominator = value.as_integer_ratio()
    if exponent >= 0:
        denominator <<= exponent
    else:
        numerator <<= -exponent
    quotient, rest = divmod(numerator, denominator)
    twice = 2 * rest
    return quotient + (twice > denominator or (twice == denominator and quotient & 1))


def _largest(layout: FloatFormat) -> int:
    magnitude_bits = layout.exponent_bits + layout.mantissa_bits
    if layout.special == "ieee":
        return (((1 << layout.exponent_bits) - 1) << layout.mantissa_bits) - 1
    return (1 << magnitude_bits) - (2 if layout.special == "nan" else 1)


def _overflow(layout: FloatFormat) -> int:
    if layout.special == "ieee":
        return ((1 << layout.exponent_bits) - 1) << layout.mantissa_bits
    return _nan(layout) if layout.special == "nan" else _largest(layout)


def _nan(layout: FloatFormat) -> int:
    """The quiet NaN without payload."""
    if layout.special == "nan":
        return (1 << (layout.exponent_bits + layout.mantissa_bits)) - 1
    return (((1 << layout.exponent_bits) - 1) << layout.mantissa_bits) | 1 << (layout.mantissa_bits - 1)
