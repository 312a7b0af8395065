"""Rounding to any format in any direction, and arithmetic that knows its own error.

Values are exact in f64 before they are rounded: every format but f64 fits into it with room to spare.
"""

from __future__ import annotations

import math
from functools import cache
from typing import Final

from tileir_diff.dialect.scalars import FORMATS
from tileir_diff.equivalence.backend import Tensor, torch
from tileir_diff.equivalence.dtypes import DTYPES, NATIVE, SMALL, decoding

DIRECTED: Final = ("zero", "negative_inf", "positive_inf")
SPLIT: Final = float((1 << 27) + 1)


def to_format(value: Tensor, name: str, mode: str = "nearest_even") -> Tensor:
    """Exact f64 (or f32) values as elements of a format, rounded once.

    Overflow gives infinity, else NaN, else the largest number; rounded away from it, the largest number.
    What an unsigned format cannot hold is NaN; f8E8M0FNU, which has no zero, takes its least number instead.
    """
    if mode == "nearest_even" and name in NATIVE and _is_direct(value.dtype, name):
        return value.to(DTYPES[name])
    if name == "tf32" and value.dtype == torch.float32 and mode in TF32_TIES:
        return _to_tf32(value, mode)
    exact = value.to(torch.float64)
    if name == "f64":
        return exact
    rounded = _round(exact, name, mode)
    if name in SMALL:
        return _patterns(rounded, name)
    return rounded.to(torch.float32).to(DTYPES[name])


TF32_TIES: Final = {"zero": 0, "nearest_away": 0x1000, "nearest_even": 0xFFF}
"""By mode what is added to the bits of an f32 before the last 13 are cut off."""


def _to_tf32(value: Tensor, mode: str) -> Tensor:
    """An f32 with 10 bits of mantissa; the carry runs into the exponent, and from there to infinity."""
    pattern = value.view(torch.int32)
    last = (pattern >> 13) & 1 if mode == "nearest_even" else 0
    rounded = ((pattern + (TF32_TIES[mode] + last)) & ~0x1FFF).view(torch.float32)
    return torch.where(torch.isfinite(value), rounded, value)


def _is_direct(source: object, name: str) -> bool:
    """torch rounds correctly here: it goes from f64 to a half through f32, which rounds twice."""
    return source != torch.float64 or name in ("f32", "f64")


def _round(value: Tensor, name: str, mode: str) -> Tensor:
    layout = FORMATS[name]
    lowest = 1 - layout.bias if layout.has_zero else -layout.bias
    _, exponent = torch.frexp(value)
    exponent = torch.clamp(exponent.to(torch.int64) - 1, min=lowest)
    finite = torch.isfinite(value) & (value != 0)
    power = torch.where(finite, exponent - layout.mantissa_bits, 0)
    units = _scale(value, -power)
    rounded = _scale(_whole(units, mode), power)
    rounded = torch.where(finite, rounded, value)
    largest = _largest(name)
    over = rounded.abs() > largest
    if bool(over.any()):
        rounded = torch.where(over, _overflow(value, rounded, name, mode, largest), rounded)
    if not layout.has_zero:
        tiny = 2.0**-layout.bias
        rounded = torch.where((rounded.abs() < tiny) & (value >= 0), tiny, rounded)
    if not layout.signed:
        rounded = torch.where(value < 0, math.nan, rounded)
    return rounded


def _whole(units: Tensor, mode: str) -> Tensor:
    if mode == "nearest_even":
        return torch.round(units)
    if mode == "nearest_away":
        whole = torch.trunc(units)
        return torch.where((units - whole).abs() >= 0.5, whole + torch.sign(units), whole)
    if mode == "zero":
        return torch.trunc(units)
    return torch.ceil(units) if mode == "positive_inf" else torch.floor(units)


def _scale(value: Tensor, power: Tensor) -> Tensor:
    """value * 2**power, in two steps so that neither factor overflows."""
    half = torch.div(power, 2, rounding_mode="floor")
    return value * _power(half) * _power(power - half)


def _power(exponent: Tensor) -> Tensor:
    return ((exponent + 1023) << 52).view(torch.float64)


@cache
def _largest(name: str) -> float:
    layout = FORMATS[name]
    if layout.special == "ieee":
        return (2.0 - 2.0**-layout.mantissa_bits) * 2.0**layout.bias
    table = decoding(name)
    return float(table[torch.isfinite(table)].max())


def _overflow(value: Tensor, rounded: Tensor, name: str, mode: str, largest: float) -> Tensor:
    layout = FORMATS[name]
    limit = torch.copysign(torch.full_like(value, largest), value)
    if layout.special == "finite":
        return limit
    beyond = torch.copysign(torch.full_like(value, math.inf), value)
    if layout.special == "nan":
        beyond = torch.full_like(value, math.nan)
    inward = {
        "zero": torch.ones_like(value, dtype=torch.bool),
        "positive_inf": value < 0,
        "negative_inf": value > 0,
    }.get(mode, torch.zeros_like(value, dtype=torch.bool))
    return torch.where(inward & torch.isfinite(value), limit, beyond)


@cache
def _positive(name: str) -> tuple[Tensor, int]:
    """The values of a small format in rising order, without sign, and the pattern of NaN (-1: none)."""
    layout = FORMATS[name]
    table = decoding(name)[: 1 << (layout.bits - 1 if layout.signed else layout.bits)]
    numbers = table[~torch.isnan(table)]
    nans = torch.nonzero(torch.isnan(table))
    quiet = int(nans[len(nans) // 2]) if len(nans) else -1
    return numbers, quiet


def _patterns(value: Tensor, name: str) -> Tensor:
    numbers, nan = _positive(name)
    layout = FORMATS[name]
    index = torch.searchsorted(numbers, torch.nan_to_num(value.abs(), nan=0.0, posinf=math.inf))
    index = torch.clamp(index, max=len(numbers) - 1)
    if layout.signed:
        index = index | torch.where(torch.signbit(value), 1 << (layout.bits - 1), 0)
    # A format without NaN takes its largest number for it.
    index = torch.where(torch.isnan(value), nan if nan >= 0 else len(numbers) - 1, index)
    return index.to(torch.uint8)


# ---- sums and products with their errors, in one precision


def two_sum(a: Tensor, b: Tensor) -> tuple[Tensor, Tensor]:
    """The rounded sum and what it lacks, exactly."""
    total = a + b
    part = total - a
    return total, (a - (total - part)) + (b - part)


def two_product(a: Tensor, b: Tensor) -> tuple[Tensor, Tensor]:
    """The rounded product of f64 values and what it lacks, exactly, away from overflow and underflow."""
    product = a * b
    a_high, a_low = _halves(a)
    b_high, b_low = _halves(b)
    error = ((a_high * b_high - product) + a_high * b_low + a_low * b_high) + a_low * b_low
    return product, error


def _halves(value: Tensor) -> tuple[Tensor, Tensor]:
    scaled = value * SPLIT
    high = scaled - (scaled - value)
    return high, value - high


def odd_sum(a: Tensor, b: Tensor) -> Tensor:
    """The f64 sum rounded to odd: rounded once more, to fewer digits, it is rounded correctly."""
    total, error = two_sum(a, b)
    pattern = total.view(torch.int64)
    even = (pattern & 1) == 0
    inexact = (error != 0) & torch.isfinite(error) & even & torch.isfinite(total)
    away = (error > 0) == (total > 0)
    shifted = torch.where(away, pattern + 1, pattern - 1)
    # A zero sum is exact, so the sign of the total is that of its neighbours.
    return torch.where(inexact, shifted, pattern).view(torch.float64)


def directed(nearest: Tensor, error: Tensor, mode: str) -> Tensor:
    """Moves a result that was rounded to nearest where `mode` wants it.

    `error` has the sign of the exact value minus `nearest`. An infinite result of finite operands has the
    error of a value below it.
    """
    infinity = torch.full_like(nearest, math.inf)
    up = (error > 0) & torch.isfinite(nearest) | (error > 0) & (nearest == -math.inf)
    down = (error < 0) & torch.isfinite(nearest) | (error < 0) & (nearest == math.inf)
    if mode == "zero":
        up, down = up & (nearest < 0), down & (nearest > 0)
    if mode in ("positive_inf", "zero"):
        nearest = torch.where(up, torch.nextafter(nearest, infinity), nearest)
    if mode in ("negative_inf", "zero"):
        nearest = torch.where(down, torch.nextafter(nearest, -infinity), nearest)
    return nearest


def flush(value: Tensor) -> Tensor:
    """f32 with subnormal numbers replaced by zeros of their sign."""
    tiny = (value.abs() < 2.0**-126) & (value != 0)
    return torch.where(tiny, torch.copysign(torch.zeros_like(value), value), value)
