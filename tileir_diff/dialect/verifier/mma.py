"""Matrix multiplies: shapes, and the table of element types."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tileir_diff.dialect.verifier.access import number, operand_tile, result_tile, tile
from tileir_diff.dialect.verifier.broken import Broken, Constraints, Rules
from tileir_diff.dialect.verifier.kinds import phrase

if TYPE_CHECKING:
    from tileir_diff.dialect.ir import TileOp

RULES: Rules = {
    "mma/rank": "all operands of a matrix multiply have one rank, 2 or 3 (batched)",
    "mma/input-type": "both factors of a matrix multiply have one element type, and so have both scales",
    "mma/shape": "a matrix multiply is MxK by KxN into MxN, with equal batch sizes",
    "mma/result-type": "a matrix multiply gives the type of its accumulator",
    "mmaf/accumulator": "mmaf accumulates each input type in f16 or f32, f32, or f64, as its table says",
    "mmaf-scaled/scale-shape": "the scales of mmaf_scaled are MxS and SxN, where S divides K",
    "mmaf-scaled/scale-type": "the scale type of mmaf_scaled goes with its input type",
    "mmaf-scaled/block": "K / S of mmaf_scaled is a block size that its types take",
}

ACCUMULATORS: dict[str, tuple[str, ...]] = {
    "f16": ("f16", "f32"),
    "f8E4M3FN": ("f16", "f32"),
    "f8E5M2": ("f16", "f32"),
    "bf16": ("f32",),
    "tf32": ("f32",),
    "f32": ("f32",),
    "f64": ("f64",),
}

# Block sizes by input type and scale type.
BLOCKS: dict[str, dict[str, tuple[int, ...]]] = {
    "f8E4M3FN": {"f8E8M0FNU": (32,)},
    "f8E5M2": {"f8E8M0FNU": (32,)},
    "f4E2M1FN": {"f8E8M0FNU": (16, 32), "f8E4M3FN": (16,), "fnv8E5M3FNU": (16, 32)},
}


def _ranks(op: TileOp) -> Broken | None:
    ranks = [len(tile(operand).shape) for operand in op.operands]
    if len(set(ranks)) != 1 or ranks[0] not in (2, 3):
        message = f"the operands of `{op.short}` must all have rank 2 or all rank 3, found ranks {ranks}"
        return Broken("mma/rank", message)
    return None


def _input_types(op: TileOp) -> Broken | None:
    lhs, rhs = number(operand_tile(op)), number(operand_tile(op, 1))
    if lhs != rhs:
        message = f"both factors of `{op.short}` must have one element type, found {lhs} and {rhs}"
        return Broken("mma/input-type", message, "operand:1")
    return None


def _disagreement(
    op: TileOp, names: tuple[str, str], where: tuple[int, int], dims: tuple[int, int]
) -> str | None:
    """What to say when dimension `dims[0]` of one operand differs from `dims[1]` of another."""
    left = operand_tile(op, where[0]).shape[dims[0]]
    right = operand_tile(op, where[1]).shape[dims[1]]
    if left == right:
        return None
    return (
        f"dimension {dims[0]} of {names[0]} and {dims[1]} of {names[1]} must agree, found {left} and {right}"
    )


def _shapes(op: TileOp) -> Broken | None:
    rank = len(operand_tile(op).shape)
    row, column = rank - 2, rank - 1
    pairs = [
        (("lhs", "rhs"), (0, 1), (column, row)),
        (("lhs", "acc"), (0, 2), (row, row)),
        (("rhs", "acc"), (1, 2), (column, column)),
    ]
    if rank == 3:
        pairs += [(("lhs", "rhs"), (0, 1), (0, 0)), (("lhs", "acc"), (0, 2), (0, 0))]
    for names, where, dims in pairs:
        message = _disagreement(op, names, where, dims)
        if message is not None:
            return Broken("mma/shape", message, f"operand:{where[1]}")
    if result_tile(op) != operand_tile(op, 2):
        message = f"`{op.short}` into {operand_tile(op, 2)} cannot give {result_tile(op)}"
        return Broken("mma/result-type", message, "result")
    return None


def _accumulator(op: TileOp) -> Broken | None:
    source, acc = number(operand_tile(op)).name, number(operand_tile(op, 2)).name
    allowed = ACCUMULATORS[source]
    if acc not in allowed:
        message = f"`mmaf` of {source} accumulates in {phrase(allowed)}, found {acc}"
        return Broken("mmaf/accumulator", message, "operand:2")
    return None


def _scales(op: TileOp) -> Broken | None:
    lhs, lhs_scale, rhs_scale = operand_tile(op), operand_tile(op, 3), operand_tile(op, 4)
    if lhs_scale.element != rhs_scale.element:
        message = f"both scales must have one element type, found {lhs_scale.element} and {rhs_scale.element}"
        return Broken("mma/input-type", message, "operand:4")
    rank = len(lhs.shape)
    row, column = rank - 2, rank - 1
    pairs = [
        (("lhs", "lhs_scale"), (0, 3), (row, row)),
        (("rhs", "rhs_scale"), (1, 4), (column, column)),
        (("lhs_scale", "rhs_scale"), (3, 4), (column, row)),
    ]
    if rank == 3:
        pairs += [(("lhs", "lhs_scale"), (0, 3), (0, 0)), (("rhs", "rhs_scale"), (1, 4), (0, 0))]
    for names, where, dims in pairs:
        message = _disagreement(op, names, where, dims)
        if message is not None:
            return Broken("mmaf-scaled/scale-shape", message, f"operand:{where[1]}")
    depth, scales = lhs.shape[column], lhs_scale.shape[column]
    if depth % scales:
        message = f"the number of scales along K, {scales}, must divide K, {depth}"
        return Broken("mmaf-scaled/scale-shape", message, "operand:3")
    blocks = BLOCKS[number(lhs).name]
    scale = number(lhs_scale).name
    if scale not in blocks:
        message = f"`mmaf_scaled` of {lhs.element} takes scales of {phrase(tuple(blocks))}, found {scale}"
        return Broken("mmaf-scaled/scale-type", message, "operand:3")
    if depth // scales not in blocks[scale]:
        sizes = phrase(tuple(str(size) for size in blocks[scale]))
        message = f"one {scale} scale of {lhs.element} covers {sizes} elements, found {depth // scales}"
        return Broken("mmaf-scaled/block", message, "operand:3")
    return None


CONSTRAINTS: Constraints = {
    "mmaf": (_ranks, _input_types, _shapes, _accumulator),
    "mmai": (_ranks, _shapes),
    "mmaf_scaled": (_ranks, _input_types, _shapes, _scales),
}
