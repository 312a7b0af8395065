"""Whether two modules are the same op for op: names, positions and spelling aside, nothing else."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tileir_diff.dialect.ir import TileOp

if TYPE_CHECKING:
    from xdsl.ir import Block, SSAValue


def structurally_equal(a: TileOp, b: TileOp) -> bool:
    """Same ops in the same order, with equal attributes (defaults filled in), types, operands and regions."""
    return _ops_equal(a, b, {})


def _ops_equal(a: TileOp, b: TileOp, same: dict[SSAValue, SSAValue]) -> bool:
    if a.short != b.short or a.segments != b.segments or len(a.regions) != len(b.regions):
        return False
    if any(a.get(attribute.name) != b.get(attribute.name) for attribute in a.spec.attributes):
        return False
    if len(a.results) != len(b.results):
        return False
    if any(same.get(left) is not right for left, right in zip(a.operands, b.operands, strict=True)):
        return False
    for left, right in zip(a.results, b.results, strict=True):
        if left.type != right.type:
            return False
        same[left] = right
    return all(_blocks_equal(x.block, y.block, same) for x, y in zip(a.regions, b.regions, strict=True))


def _blocks_equal(a: Block, b: Block, same: dict[SSAValue, SSAValue]) -> bool:
    if [argument.type for argument in a.args] != [argument.type for argument in b.args]:
        return False
    same.update(zip(a.args, b.args, strict=True))
    left, right = list(a.ops), list(b.ops)
    if len(left) != len(right):
        return False
    return all(
        isinstance(x, TileOp) and isinstance(y, TileOp) and _ops_equal(x, y, same)
        for x, y in zip(left, right, strict=True)
    )
