"""How long values live, and how much memory one block needs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tileir_diff.dialect.types import Ptr, Tile

if TYPE_CHECKING:
    from xdsl.ir import Block, SSAValue

    from tileir_diff.dialect.ir import TileOp

POINTER_BYTES = 8
TEMPORARIES = 3
"""Addresses and masks that a memory op makes, in tiles of eight bytes a lane."""


class Liveness:
    """`dying`: by op, the values of its block that no later op needs. `peak`: bytes of one block."""

    def __init__(self, entry: TileOp) -> None:
        self.dying: dict[TileOp, list[SSAValue]] = {}
        self.peak = self._block(entry.regions[0].block)

    def _block(self, block: Block) -> int:
        ops: list[Any] = list(block.ops)
        place: dict[Any, int] = {op: index for index, op in enumerate(ops)}
        last: dict[int, list[SSAValue]] = {}
        for value in [*block.args, *(result for op in ops for result in op.results)]:
            used = [place[top] for use in value.uses if (top := _top(use.operation, block)) in place]
            own = place.get(value.owner, 0)
            last.setdefault(max(used, default=own), []).append(value)
        live = sum(_bytes(value) for value in block.args)
        peak = live
        for index, op in enumerate(ops):
            inner = max((self._block(region.block) for region in op.regions if region.blocks), default=0)
            live += sum(_bytes(result) for result in op.results)
            peak = max(peak, live + inner + _temporary(op))
            ended = last.get(index, [])
            live -= sum(_bytes(value) for value in ended)
            if ended:
                self.dying[op] = ended
        return peak


def _top(op: Any, block: Block) -> Any:
    """The op of `block` that an op is, or is in."""
    while op is not None and op.parent is not block:
        op = op.parent_op()
    return op


def _bytes(value: SSAValue) -> int:
    kind = value.type
    if not isinstance(kind, Tile):
        return 0
    width = POINTER_BYTES if isinstance(kind.element, Ptr) else max(1, kind.element.bits // 8)
    return kind.size * width


def _temporary(op: TileOp) -> int:
    sizes = [value.type.size for value in (*op.operands, *op.results) if isinstance(value.type, Tile)]
    return TEMPORARIES * POINTER_BYTES * max(sizes, default=0)
