"""Ops that move elements and do not change them. They work on any tensor, masks of lanes included."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tileir_diff.equivalence.backend import Tensor, torch
from tileir_diff.equivalence.dtypes import bits, dtype, element, shape
from tileir_diff.equivalence.integers import wrapped
from tileir_diff.equivalence.memory import from_memory, to_memory

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from tileir_diff.dialect.ir import TileOp
    from tileir_diff.equivalence.machine import Handler, Machine


def expanded(tensor: Tensor, tile: Sequence[int]) -> Tensor:
    """All of a tile's extents; the first dimension stays."""
    return tensor.expand(tensor.shape[0], *tile)


def _reshape(op: TileOp, tensors: list[Tensor]) -> Tensor:
    (tensor,) = tensors
    before, after = shape(op.operands[0]), shape(op.results[0])
    if all(extent == 1 for extent in tensor.shape[1:]):
        return tensor.reshape(tensor.shape[0], *([1] * len(after)))
    return expanded(tensor, before).reshape(tensor.shape[0], *after)


def _broadcast(op: TileOp, tensors: list[Tensor]) -> Tensor:
    return tensors[0]


def _permute(op: TileOp, tensors: list[Tensor]) -> Tensor:
    return tensors[0].permute(0, *[dim + 1 for dim in op.get("permutation")])


def _cat(op: TileOp, tensors: list[Tensor]) -> Tensor:
    blocks = max(tensor.shape[0] for tensor in tensors)
    parts = [
        tensor.expand(blocks, *shape(operand)) for tensor, operand in zip(tensors, op.operands, strict=True)
    ]
    return torch.cat(parts, dim=op.get("dim") + 1)


MOVES: Final[dict[str, Callable[[TileOp, list[Tensor]], Tensor]]] = {
    "broadcast": _broadcast,
    "cat": _cat,
    "permute": _permute,
    "reshape": _reshape,
}
"""What a shape op does to the values of its tile operands."""


def move(m: Machine, op: TileOp) -> None:
    m.set(op, MOVES[op.short](op, [m.get(operand) for operand in op.operands]))


def iota(m: Machine, op: TileOp) -> None:
    (extent,) = shape(op.results[0])
    m.set(op, wrapped(torch.arange(extent, dtype=torch.int64), element(op.results[0])).reshape(1, extent))


def select(m: Machine, op: TileOp) -> None:
    condition, on_true, on_false = (m.get(operand) for operand in op.operands)
    m.set(op, torch.where(condition, on_true, on_false))


# ---- slices


def slice_index(
    m: Machine, op: TileOp, whole: Sequence[int], part: Sequence[int]
) -> tuple[tuple[Tensor, ...], Tensor]:
    """Positions of a slice in each dimension (after that of the blocks), and which blocks miss the tile."""
    rank = len(whole)
    bad = torch.zeros(1, dtype=torch.bool)
    places: list[Tensor] = []
    for dim, value in enumerate(op.group("index")):
        number = m.get(value).to(torch.int64)
        count = whole[dim] // part[dim]
        outside = (number < 0) | (number >= count)
        message = f"slice {{index}} of {count} in dimension {dim}"
        if bool(outside.any()):
            first = int(number[outside][0])
            m.report("bounds/extract", op, outside, {"index": number}, message.format(index=first))
        bad = bad | outside
        start = torch.where(outside, 0, number) * part[dim]
        steps = torch.arange(part[dim]).reshape([-1 if axis == dim else 1 for axis in range(rank)])
        places.append(start.reshape(-1, *([1] * rank)) + steps)
    return tuple(places), bad


def extract(m: Machine, op: TileOp) -> None:
    whole, part = shape(op.operands[0]), shape(op.results[0])
    places, bad = slice_index(m, op, whole, part)
    source = m.full(op.operands[0])
    m.set(op, _taken(source, places))
    if bool(bad.any()):
        m.set_doubt(op, bad.reshape(-1, *([1] * len(part))))


def _taken(source: Tensor, places: tuple[Tensor, ...]) -> Tensor:
    if not places:
        return source
    blocks = max(source.shape[0], *(place.shape[0] for place in places))
    rows = torch.arange(source.shape[0]).reshape(-1, *([1] * len(places)))
    if source.shape[0] == 1 and blocks > 1:
        rows = torch.zeros_like(rows)
    return source[(rows, *places)]


def insert(m: Machine, op: TileOp) -> None:
    part, whole = shape(op.operands[0]), shape(op.results[0])
    places, bad = slice_index(m, op, whole, part)
    source, target = m.full(op.operands[0]), m.full(op.operands[1])
    m.set(op, put(target, source, places))
    if bool(bad.any()):
        m.set_doubt(op, bad.reshape(-1, *([1] * len(whole))))


def put(target: Tensor, source: Tensor, places: tuple[Tensor, ...]) -> Tensor:
    """A copy of `target` with `source` at these places."""
    blocks = max(target.shape[0], source.shape[0], *(place.shape[0] for place in places))
    result = target.expand(blocks, *target.shape[1:]).clone()
    rows = torch.arange(blocks).reshape(-1, *([1] * len(places)))
    result[(rows, *places)] = source
    return result


# ---- elements to bytes and back


def pack(m: Machine, op: TileOp) -> None:
    m.set(op, to_bytes(m.full(op.operands[0]), element(op.operands[0])).view(torch.int8))


def unpack(m: Machine, op: TileOp) -> None:
    m.set(op, from_bytes(m.full(op.operands[0]).contiguous().view(torch.uint8), element(op.results[0])))


def to_bytes(values: Tensor, name: str) -> Tensor:
    """(blocks, elements) as (blocks, bytes): little-endian, the first element in the lowest bits."""
    width = bits(name)
    if width >= 8:
        return to_memory(values.contiguous(), name).view(torch.uint8)
    many = 8 // width
    grouped = (values.to(torch.int64) & ((1 << width) - 1)).reshape(values.shape[0], -1, many)
    return (grouped << (torch.arange(many) * width)).sum(dim=-1).to(torch.uint8)


def from_bytes(data: Tensor, name: str) -> Tensor:
    """(blocks, bytes) as (blocks, elements)."""
    width = bits(name)
    if width >= 8:
        return from_memory(data.contiguous(), name) if width == 8 else _viewed(data, name)
    many = 8 // width
    parts = data.to(torch.int64).unsqueeze(-1) >> (torch.arange(many) * width)
    patterns = (parts & ((1 << width) - 1)).reshape(data.shape[0], -1)
    return wrapped(patterns, name) if name in ("i1", "i4") else patterns.to(torch.uint8)


def _viewed(data: Tensor, name: str) -> Tensor:
    return data.contiguous().view(dtype(name))


HANDLERS: dict[str, Handler] = {
    **dict.fromkeys(MOVES, move),
    "extract": extract,
    "insert": insert,
    "iota": iota,
    "pack": pack,
    "select": select,
    "unpack": unpack,
}
