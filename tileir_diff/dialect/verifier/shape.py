"""Ops that rearrange tiles: reshape, broadcast, cat, permute, extract, insert."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING

from tileir_diff.dialect.verifier.access import operand_tile, result_tile
from tileir_diff.dialect.verifier.broken import Broken, Constraints, Rules

if TYPE_CHECKING:
    from tileir_diff.dialect.ir import TileOp
    from tileir_diff.dialect.types import Tile

RULES: Rules = {
    "shape/element-type": "an op that rearranges a tile keeps the element type",
    "shape/rank": "broadcast, cat, permute, extract and insert keep the rank",
    "reshape/element-count": "reshape keeps the number of elements",
    "broadcast/shape": "broadcast changes only dimensions of size 1",
    "cat/dim": "the dimension of cat is one of its operands' dimensions",
    "cat/shape": "cat adds the sizes along its dimension and keeps all others",
    "permute/rank": "permute needs rank 2 or more",
    "permute/permutation": "the permutation names every dimension once",
    "permute/shape": "the shape of the result is the permuted shape",
    "extract/index-count": "extract and insert take one index per dimension",
    "extract/divisible": "the slice of extract or insert divides the larger tile in every dimension",
    "insert/result-type": "insert gives the type of its destination",
}


def _same_element(op: TileOp) -> Broken | None:
    result = result_tile(op)
    for position in range(len(op.inputs)):
        source = operand_tile(op, position)
        if source.element != result.element:
            message = f"`{op.short}` keeps the element type, found {source} to {result}"
            return Broken("shape/element-type", message, f"operand:{position}")
    return None


def _same_rank(op: TileOp) -> Broken | None:
    result = result_tile(op)
    for position in range(len(op.inputs)):
        source = operand_tile(op, position)
        if len(source.shape) != len(result.shape):
            message = f"`{op.short}` keeps the rank, found {source} to {result}"
            return Broken("shape/rank", message, f"operand:{position}")
    return None


def reshape(op: TileOp) -> Broken | None:
    source, result = operand_tile(op), result_tile(op)
    if prod(source.shape) != prod(result.shape):
        found = f"{prod(source.shape)} to {prod(result.shape)}"
        return Broken(
            "reshape/element-count", f"`reshape` keeps the number of elements, found {found}", "result"
        )
    return None


def broadcast(op: TileOp) -> Broken | None:
    source, result = operand_tile(op), result_tile(op)
    for dim, (old, new) in enumerate(zip(source.shape, result.shape, strict=True)):
        if old not in (1, new):
            message = f"`broadcast` grows only dimensions of size 1, found {old} to {new} in dimension {dim}"
            return Broken("broadcast/shape", message, "result")
    return None


def cat(op: TileOp) -> Broken | None:
    lhs, rhs, result = operand_tile(op).shape, operand_tile(op, 1).shape, result_tile(op).shape
    along = op.get("dim")
    if not isinstance(along, int) or not 0 <= along < len(lhs):
        return Broken("cat/dim", f"`dim` of `cat` must be in [0, {len(lhs)}), found {along}", "dim")
    for dim, (left, right, found) in enumerate(zip(lhs, rhs, result, strict=True)):
        if dim != along and left != right:
            message = f"both operands of `cat` must agree in dimension {dim}, found {left} and {right}"
            return Broken("cat/shape", message, "operand:1")
        expected = left + right if dim == along else left
        if found != expected:
            message = f"dimension {dim} of the result of `cat` must be {expected}, found {found}"
            return Broken("cat/shape", message, "result")
    return None


def permute(op: TileOp) -> Broken | None:
    source, result = operand_tile(op).shape, result_tile(op).shape
    permutation = tuple(op.get("permutation") or ())
    if len(source) < 2:
        return Broken("permute/rank", f"`permute` needs rank 2 or more, found {len(source)}", "operand:0")
    if sorted(permutation) != list(range(len(source))):
        message = f"the permutation must name 0 to {len(source) - 1} once each, found {list(permutation)}"
        return Broken("permute/permutation", message, "permutation")
    for dim, taken in enumerate(permutation):
        if result[dim] != source[taken]:
            message = (
                f"dimension {dim} of the result of `permute` must be {source[taken]}, found {result[dim]}"
            )
            return Broken("permute/shape", message, "result")
    return None


def extract(op: TileOp) -> Broken | None:
    source, result = operand_tile(op), result_tile(op)
    return _slice(op, source, result, len(op.inputs) - 1, "result")


def insert(op: TileOp) -> Broken | None:
    source, destination, result = operand_tile(op), operand_tile(op, 1), result_tile(op)
    if destination != result:
        message = f"`insert` into {destination} cannot give {result}"
        return Broken("insert/result-type", message, "result")
    return _slice(op, destination, source, len(op.inputs) - 2, "operand:0")


def _slice(op: TileOp, whole: Tile, part: Tile, indices: int, where: str) -> Broken | None:
    """Constraints that extract and insert share: `part` is cut out of, or put into, `whole`."""
    if whole.element != part.element:
        message = f"`{op.short}` keeps the element type, found {part} and {whole}"
        return Broken("shape/element-type", message, where)
    if len(whole.shape) != len(part.shape):
        return Broken("shape/rank", f"`{op.short}` keeps the rank, found {part} and {whole}", where)
    if indices != len(whole.shape):
        message = f"`{op.short}` takes one index per dimension, {len(whole.shape)}, found {indices}"
        return Broken("extract/index-count", message)
    for dim, (size, step) in enumerate(zip(whole.shape, part.shape, strict=True)):
        if size % step:
            message = f"the slice size {step} must divide dimension {dim} of {whole}"
            return Broken("extract/divisible", message, where)
    return None


CONSTRAINTS: Constraints = {
    "reshape": (_same_element, reshape),
    "broadcast": (_same_element, _same_rank, broadcast),
    "cat": (_same_element, _same_rank, cat),
    "permute": (_same_element, _same_rank, permute),
    "extract": (extract,),
    "insert": (insert,),
}
