"""Conversions between element types."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tileir_diff.dialect.scalars import INTEGER_BITS
from tileir_diff.equivalence.backend import Tensor, torch
from tileir_diff.equivalence.dtypes import bits, dtype, element, to_float
from tileir_diff.equivalence.integers import logical_shift, wide, wrapped
from tileir_diff.equivalence.rounding import to_format

if TYPE_CHECKING:
    from tileir_diff.dialect.ir import TileOp
    from tileir_diff.equivalence.machine import Handler, Machine

EXACT_BITS: Final = 53
"""Integers up to this width have an exact f64."""


def bitcast(m: Machine, op: TileOp) -> None:
    source, target = element(op.operands[0]), element(op.results[0])
    value = m.get(op.operands[0])
    if source == target:
        m.set(op, value)
    elif bits(source) == 4:  # a sign-extended i4, or the bits of an f4
        pattern = value.to(torch.int64) & 15
        m.set(op, wrapped(pattern, "i4") if target == "i4" else pattern.to(torch.uint8))
    else:
        m.set(op, value.view(dtype(target)))


def exti(m: Machine, op: TileOp) -> None:
    source, target = element(op.operands[0]), element(op.results[0])
    m.set(op, wrapped(wide(m.get(op.operands[0]), source, op.get("signed") == "signed"), target))


def trunci(m: Machine, op: TileOp) -> None:
    source, target = element(op.operands[0]), element(op.results[0])
    value = wide(m.get(op.operands[0]), source, True)
    result = wrapped(value, target)
    m.set(op, result)
    flag = op.get("overflow")
    for letter, signed in (("nsw", True), ("nuw", False)):
        if flag in (letter, "nw"):
            whole = wide(m.get(op.operands[0]), source, signed)
            lost = wide(result, target, signed) != whole
            message = f"trunci loses bits, promised not to ({'signed' if signed else 'unsigned'})"
            m.report("integer/overflow", op, lost, {"source": whole}, message)


def ftof(m: Machine, op: TileOp) -> None:
    source, target = element(op.operands[0]), element(op.results[0])
    value = to_float(m.get(op.operands[0]), source)
    m.set(op, to_format(value, target, op.get("rounding")))


def itof(m: Machine, op: TileOp) -> None:
    source, target = element(op.operands[0]), element(op.results[0])
    signed = op.get("signed") == "signed"
    value = wide(m.get(op.operands[0]), source, signed)
    if target in ("f32", "f64") and (signed or source != "i64"):
        m.set(op, value.to(dtype(target)))
        return
    m.set(op, to_format(_sticky(value, source == "i64" and not signed, target), target))


def _sticky(value: Tensor, unsigned: bool, target: str) -> Tensor:
    """An i64 in f64: to nearest for f64 itself, else to odd, so that rounding it once more is right."""
    large = value < 0 if unsigned else torch.zeros_like(value, dtype=torch.bool)
    value = torch.where(large, logical_shift(value, 1) | (value & 1), value)
    if target != "f64":
        unit = 1 << (64 - EXACT_BITS)
        low = value & (unit - 1)
        fits = (low == 0) | (value.abs() < (1 << EXACT_BITS))
        value = torch.where(fits, value, (value - low) | unit)
    return value.to(torch.float64) * torch.where(large, 2.0, 1.0)


def ftoi(m: Machine, op: TileOp) -> None:
    source, target = element(op.operands[0]), element(op.results[0])
    signed, width = op.get("signed") == "signed", INTEGER_BITS[target]
    value = torch.trunc(to_float(m.get(op.operands[0]), source).to(torch.float64))
    low = -(2.0 ** (width - 1)) if signed else 0.0
    high = 2.0 ** (width - 1 if signed else width)
    bad = torch.isnan(value) | (value < low) | (value >= high)
    if not op.get("saturating"):
        kind = "signed" if signed else "unsigned"
        message = f"a number has no value in {kind} {target}; the result is undefined"
        if m.report("conversion/range", op, bad, {"source": value}, message):
            m.set_doubt(op, bad)
    m.set(op, wrapped(_saturated(value, low, high), target))


def _saturated(value: Tensor, low: float, high: float) -> Tensor:
    """i64 bits of whole numbers; NaN gives 0, what is out of range the nearest bound."""
    value = torch.nan_to_num(value, nan=0.0, posinf=high, neginf=low)
    if high <= 2.0**32:
        return torch.clamp(value, low, high - 1).to(torch.int64)
    top = 2.0**63
    below = torch.clamp(value, max=top - 1024).clamp(min=low).to(torch.int64)
    if high == top:
        return torch.where(value >= top, (1 << 63) - 1, below)
    above = (torch.clamp(value, min=top, max=2.0 * top - 2048) - top).to(torch.int64) ^ -(1 << 63)
    return torch.where(value >= high, -1, torch.where(value >= top, above, below))


def same(m: Machine, op: TileOp) -> None:
    """Pointers are addresses already."""
    m.set(op, m.get(op.operands[0]))


HANDLERS: dict[str, Handler] = {
    "bitcast": bitcast,
    "exti": exti,
    "ftof": ftof,
    "ftoi": ftoi,
    "int_to_ptr": same,
    "itof": itof,
    "ptr_to_int": same,
    "ptr_to_ptr": same,
    "trunci": trunci,
}
