"""Integers of a width, and rounding of doubles to narrower formats."""

from __future__ import annotations

from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]

# Bits of the fraction, and the largest exponent.
FORMATS: dict[str, tuple[int, int]] = {
    "f64": (52, 1023),
    "f32": (23, 127),
    "tf32": (10, 127),
    "f16": (10, 15),
    "bf16": (7, 127),
    "f8E4M3FN": (3, 8),
    "f8E5M2": (2, 15),
    "f8E8M0FNU": (0, 127),
    "f4E2M1FN": (1, 2),
    "fnv8E5M3FNU": (3, 31),
}


def wrap(values: Array, bits: int) -> Array:
    """Two's complement of a width; i1 is 0 or 1."""
    if bits >= 64:
        return values
    if bits == 1:
        return values & 1
    half = np.int64(1) << np.int64(bits - 1)
    return ((values + half) & ((half << np.int64(1)) - 1)) - half


def unsigned(values: Array, bits: int) -> Array:
    """The same bits read without a sign."""
    if bits >= 64:
        return values.view(np.uint64) if values.dtype == np.int64 else values.astype(np.int64).view(np.uint64)
    return (values & ((np.int64(1) << np.int64(bits)) - 1)).astype(np.uint64)


def round_to(values: Array, name: str) -> Array:
    """Doubles rounded to a format's fraction; too large becomes infinite."""
    if name == "f64":
        return values
    fraction, top = FORMATS[name]
    mantissa, exponent = np.frexp(values)
    scale = float(1 << (fraction + 1))
    rounded = np.ldexp(np.round(mantissa * scale) / scale, exponent)
    return np.where(np.abs(rounded) >= 2.0 ** (top + 1), np.sign(rounded) * np.inf, rounded)


def mix(values: Array, salt: int = 0) -> Array:
    """A hash of integers, as unsigned 64-bit numbers."""
    bits = values.astype(np.int64).view(np.uint64) + np.uint64(
        (salt * 0x9E3779B97F4A7C15 + 0x1234567) % (1 << 64)
    )
    bits = (bits ^ (bits >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    bits = (bits ^ (bits >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return bits ^ (bits >> np.uint64(31))


def shift_of(text: str) -> float:
    """A factor close to one, different for different texts, the same in every run."""
    number = 0
    for char in text:
        number = (number * 131 + ord(char)) % 1000003
    return 1.0 + 1e-4 * (1 + number % 997)
