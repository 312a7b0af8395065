"""Conversions: shapes, widths, and the rounding modes of each pair of types."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING

from tileir_diff.dialect.verifier.access import number, operand_tile, result_tile
from tileir_diff.dialect.verifier.broken import Broken, Constraints, Rules
from tileir_diff.dialect.verifier.kinds import phrase

if TYPE_CHECKING:
    from tileir_diff.dialect.ir import TileOp
    from tileir_diff.dialect.types import Scalar

_SMALL = ("f8E4M3FN", "f8E5M2", "f4E2M1FN")
# Conversions that keep every value. f8E8M0FNU reaches below the normal range of all but f64.
EXACT: dict[str, frozenset[str]] = {
    "f16": frozenset(_SMALL),
    "bf16": frozenset((*_SMALL, "fnv8E5M3FNU")),
    "tf32": frozenset((*_SMALL, "fnv8E5M3FNU", "f16", "bf16")),
    "f32": frozenset((*_SMALL, "fnv8E5M3FNU", "f16", "bf16", "tf32")),
    "f64": frozenset((*_SMALL, "fnv8E5M3FNU", "f8E8M0FNU", "f16", "bf16", "tf32", "f32")),
}
_EXACT_MODES = ("nearest_even", "zero", "negative_inf", "positive_inf", "nearest_away")
_NARROW_MODES = {
    ("f32", "tf32"): ("nearest_even", "zero", "nearest_away"),
    ("f64", "f32"): ("nearest_even", "zero", "negative_inf", "positive_inf"),
}

RULES: Rules = {
    "conversion/same-shape": "a conversion keeps the shape",
    "bitcast/width": "bitcast keeps the number of bits of an element",
    "exti/wider": "exti widens its element type",
    "trunci/narrower": "trunci narrows its element type",
    "ftof/no-op": "ftof changes the element type",
    "ftof/rounding": "the rounding mode of ftof is one that its pair of types takes",
    "ftoi/rounding": "the rounding mode of ftoi is nearest_int_to_zero",
    "itof/rounding": "the rounding mode of itof is nearest_even",
    "itof/f8E8M0FNU": "itof does not give f8E8M0FNU",
    "pack/rank": "pack and unpack work on tiles of rank 1",
    "pack/width": "pack and unpack change the width of the elements",
    "pack/byte-aligned": "the unpacked tile fills whole bytes",
    "pack/byte-size": "pack and unpack keep the size in bytes",
}


def ftof_modes(source: str, target: str) -> tuple[str, ...]:
    """The rounding modes that `ftof` takes from `source` to `target`, both names of float types."""
    if target == "f8E8M0FNU":
        return ("zero", "positive_inf")
    if target not in EXACT:
        return ("nearest_even",)
    if source in EXACT[target]:
        return _EXACT_MODES
    return _NARROW_MODES.get((source, target), ("nearest_even", "zero"))


def storage_bits(element: Scalar) -> int:
    """Bits of an element in memory: tf32 lies in 32."""
    return 32 if element.name == "tf32" else element.bits


def same_shape(op: TileOp) -> Broken | None:
    source, result = operand_tile(op), result_tile(op)
    if source.shape != result.shape:
        message = f"`{op.short}` keeps the shape, found {source} to {result}"
        return Broken("conversion/same-shape", message, "result")
    return None


def bitcast(op: TileOp) -> Broken | None:
    source, result = number(operand_tile(op)), number(result_tile(op))
    if source.bits != result.bits:
        return Broken("bitcast/width", f"`bitcast` keeps the width, found {source} to {result}", "result")
    return None


def widening(op: TileOp) -> Broken | None:
    source, result = number(operand_tile(op)), number(result_tile(op))
    if result.bits <= source.bits:
        return Broken("exti/wider", f"`exti` must widen, found {source} to {result}", "result")
    return None


def narrowing(op: TileOp) -> Broken | None:
    source, result = number(operand_tile(op)), number(result_tile(op))
    if result.bits >= source.bits:
        return Broken("trunci/narrower", f"`trunci` must narrow, found {source} to {result}", "result")
    return None


def float_to_float(op: TileOp) -> Broken | None:
    source, result = number(operand_tile(op)).name, number(result_tile(op)).name
    if source == result:
        return Broken(
            "ftof/no-op", f"`ftof` must change the element type, found {source} to {result}", "result"
        )
    modes, mode = ftof_modes(source, result), op.get("rounding")
    if mode not in modes:
        message = f"`ftof` from {source} to {result} rounds to {phrase(modes)}, found {mode}"
        return Broken("ftof/rounding", message, "rounding")
    return None


def float_to_int(op: TileOp) -> Broken | None:
    mode = op.get("rounding")
    if mode != "nearest_int_to_zero":
        return Broken("ftoi/rounding", f"`ftoi` rounds to nearest_int_to_zero, found {mode}", "rounding")
    return None


def int_to_float(op: TileOp) -> Broken | None:
    result = number(result_tile(op))
    if result.name == "f8E8M0FNU":
        return Broken("itof/f8E8M0FNU", "`itof` cannot give f8E8M0FNU", "result")
    mode = op.get("rounding")
    if mode != "nearest_even":
        return Broken("itof/rounding", f"`itof` rounds to nearest_even, found {mode}", "rounding")
    return None


def packing(op: TileOp) -> Broken | None:
    source, result = operand_tile(op), result_tile(op)
    if len(source.shape) != 1 or len(result.shape) != 1:
        return Broken(
            "pack/rank", f"`{op.short}` works on tiles of rank 1, found {source} to {result}", "result"
        )
    widths = (storage_bits(number(source)), storage_bits(number(result)))
    if widths[0] == widths[1]:
        message = f"`{op.short}` must change the width of the elements, found {source} to {result}"
        return Broken("pack/width", message, "result")
    sizes = (prod(source.shape) * widths[0], prod(result.shape) * widths[1])
    if sizes[0] % 8 or sizes[1] % 8:
        message = f"`{op.short}` needs whole bytes, found {sizes[0]} bits to {sizes[1]} bits"
        return Broken("pack/byte-aligned", message, "result")
    if sizes[0] != sizes[1]:
        message = f"`{op.short}` keeps the size, found {sizes[0] // 8} bytes to {sizes[1] // 8} bytes"
        return Broken("pack/byte-size", message, "result")
    return None


CONSTRAINTS: Constraints = {
    "bitcast": (same_shape, bitcast),
    "exti": (same_shape, widening),
    "trunci": (same_shape, narrowing),
    "ftof": (same_shape, float_to_float),
    "ftoi": (same_shape, float_to_int),
    "itof": (same_shape, int_to_float),
    "ptr_to_int": (same_shape,),
    "int_to_ptr": (same_shape,),
    "ptr_to_ptr": (same_shape,),
    "pack": (packing,),
    "unpack": (packing,),
}
