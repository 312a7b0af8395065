"""Literals as MLIR prints them."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

from tileir_diff.dialect.scalars import FORMATS, decode, encode

if TYPE_CHECKING:
    from tileir_diff.dialect.attributes import DenseElements
    from tileir_diff.dialect.types import Scalar

# MLIR prints larger lists as a string of hex bytes.
HEX_THRESHOLD: Final = 100
SHORT_DIGITS: Final = 6
MAX_PADDING: Final = 3  # zeros that a decimal may have before or after its digits


def print_elements(value: DenseElements) -> str:
    """The inside of `<...>` of a constant: `i32: [1, 2]`."""
    element = value.element
    if value.is_splat:
        return f"{element}: {print_scalar(element, value.bits[0])}"
    if len(value.bits) > HEX_THRESHOLD:
        width = (element.bits + 7) // 8
        data = b"".join(bits.to_bytes(width, "little") for bits in value.bits)
        return f'{element}: "0x{data.hex().upper()}"'
    parts = [print_scalar(element, bits) for bits in value.bits]
    for extent in reversed(value.shape):
        parts = [f"[{', '.join(parts[at : at + extent])}]" for at in range(0, len(parts), extent)]
    return f"{element}: {parts[0]}"


def print_scalar(element: Scalar, bits: int) -> str:
    """One element: `true`, `-1`, `1.500000e+00`, `0x7F800000`."""
    if element.name == "i1":
        return "true" if bits else "false"
    if element.is_int:
        return str(bits - (1 << element.bits) if bits >> (element.bits - 1) else bits)
    return print_float(element.name, bits)


def print_float(name: str, bits: int) -> str:
    """Decimal where it reads back to the same bits: six digits, else as many as the format needs.

    Hex otherwise.
    """
    value = decode(bits, name)
    if math.isfinite(value):
        short = _scientific(value)
        if _reads_as(short, name, bits):
            return short
        natural = _natural(value, name)
        if "." in natural and _reads_as(natural, name, bits):
            return natural
    return f"0x{bits:0{(FORMATS[name].bits + 3) // 4}X}"


def _reads_as(text: str, name: str, bits: int) -> bool:
    try:
        return encode(float(text), name) == bits
    except ValueError:
        return False


def _scientific(value: float) -> str:
    """Six significant digits, padded to six after the point: `1.500000e+00`."""
    sign = "-" if math.copysign(1.0, value) < 0 else ""
    if value == 0:
        return f"{sign}0.000000e+00"
    digits, exponent = _digits(value, SHORT_DIGITS)
    exponent += len(digits) - 1
    return f"{sign}{digits[0]}.{digits[1:]:0<{SHORT_DIGITS}}e{exponent:+03d}"


def _natural(value: float, name: str) -> str:
    """As many digits as the format can need; scientific for very large and small numbers."""
    precision = 2 + (FORMATS[name].mantissa_bits + 1) * 59 // 196
    digits, exponent = _digits(value, precision)
    sign = "-" if value < 0 else ""
    leading = exponent + len(digits) - 1  # power of the first digit
    if exponent >= 0:
        scientific = exponent > MAX_PADDING or len(digits) + exponent > precision
    else:
        scientific = leading < 0 and -leading > MAX_PADDING
    if scientific:
        return f"{sign}{digits[0]}.{digits[1:] or '0'}E{leading:+d}"
    if exponent >= 0:
        return f"{sign}{digits}{'0' * exponent}"
    if leading >= 0:
        return f"{sign}{digits[: leading + 1]}.{digits[leading + 1 :]}"
    return f"{sign}0.{'0' * (-leading - 1)}{digits}"


def _digits(value: float, precision: int) -> tuple[str, int]:
    """At most `precision` decimal digits of a non-zero number, and the power of ten of the last one.

    The same steps as LLVM's: digits that cannot matter are cut off first, without rounding, the rest is
    rounded half up. The cut is why 1e-05 as f32 does not print as 1.000000e-05.
    """
    numerator, denominator = abs(value).as_integer_ratio()
    exponent = 0
    if denominator > 1:
        exponent = 1 - denominator.bit_length()
        numerator *= 5**-exponent
    required = (precision * 196 + 58) // 59
    surplus = max(numerator.bit_length() - required, 0) * 59 // 196
    digits = str(numerator // 10**surplus)
    exponent += surplus
    stripped = digits.rstrip("0")
    exponent += len(digits) - len(stripped)
    digits = stripped
    if len(digits) > precision:
        exponent += len(digits) - precision
        up = digits[precision] >= "5"
        digits = str(int(digits[:precision]) + up)
        stripped = digits.rstrip("0")
        exponent += len(digits) - len(stripped)
        digits = stripped
    return digits, exponent
