"""Literals, globals, and where a block is in the grid."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tileir_diff.equivalence.backend import Tensor, torch
from tileir_diff.equivalence.dtypes import decoding, literal

if TYPE_CHECKING:
    from tileir_diff.dialect.ir import TileOp
    from tileir_diff.equivalence.machine import Handler, Machine


def constant(m: Machine, op: TileOp) -> None:
    m.set(op, m.once(op, lambda: literal(op.get("value"))))


def get_global(m: Machine, op: TileOp) -> None:
    m.set(op, torch.tensor([m.globals[str(op.get("sym_name"))]], dtype=torch.int64))


def get_tile_block_id(m: Machine, op: TileOp) -> None:
    x, y, _ = m.grid
    blocks = m.frame.blocks
    for index, part in enumerate((blocks % x, blocks // x % y, blocks // (x * y))):
        m.set(op, part.to(torch.int32), index)


def get_num_tile_blocks(m: Machine, op: TileOp) -> None:
    for index, extent in enumerate(m.grid):
        m.set(op, torch.tensor([extent], dtype=torch.int32), index)


def plain(tensor: Tensor, name: str) -> Any:
    """Elements as Python numbers, nested like the tensor."""
    if name in ("f8E4M3FN", "f8E5M2", "f8E8M0FNU", "f4E2M1FN", "fnv8E5M3FNU"):
        return decoding(name)[tensor.to(torch.int64)].tolist()
    return tensor.tolist()


HANDLERS: dict[str, Handler] = {
    "constant": constant,
    "get_global": get_global,
    "get_num_tile_blocks": get_num_tile_blocks,
    "get_tile_block_id": get_tile_block_id,
}
