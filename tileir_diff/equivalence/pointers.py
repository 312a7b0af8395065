"""Memory through tiles of pointers, pointer arithmetic, and memory that a block allocates."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tileir_diff.dialect.types import Ptr, Tile
from tileir_diff.equivalence.backend import Tensor, torch
from tileir_diff.equivalence.dtypes import bits, dtype, element, shape
from tileir_diff.equivalence.integers import wide
from tileir_diff.equivalence.memory import from_memory, size_of, to_memory

if TYPE_CHECKING:
    from collections.abc import Sequence

    from xdsl.ir import SSAValue

    from tileir_diff.dialect.ir import TileOp
    from tileir_diff.equivalence.machine import Handler, Machine


FAR: Final = 1 << 56
"""Offsets below this cannot overflow an address."""


def pointee(value: SSAValue) -> str:
    """The element type that a tile of pointers points to."""
    kind = value.type
    assert isinstance(kind, Tile)
    assert isinstance(kind.element, Ptr)
    return kind.element.pointee.name


def offset(m: Machine, op: TileOp) -> None:
    base, name = m.get(op.operands[0]), pointee(op.operands[0])
    steps = wide(m.get(op.operands[1]), element(op.operands[1]), True)
    size = size_of(name)
    halves = bits(name) == 4
    distance = steps >> 1 if halves else steps * size
    result = base + distance
    m.set(op, result)
    low, high = torch.aminmax(steps)
    if max(-int(low), int(high)) >= FAR:  # no buffer is so near to the end of the addresses
        limit = (1 << 63) // size
        too_far = torch.zeros_like(steps, dtype=torch.bool)
        too_far = (steps >= limit) | (steps < -limit) if size > 1 else too_far
        m.report(
            "bounds/offset", op, too_far | (((base ^ result) & (distance ^ result)) < 0), {"offset": steps}
        )


# ---- what pointers and views share: lanes at addresses


def whole_lanes(m: Machine, tensor: Tensor, tile: Sequence[int]) -> Tensor:
    """A value of full extents for all blocks."""
    return tensor.expand(len(m.frame), *tile)


def load_lanes(
    m: Machine, op: TileOp, addresses: Tensor, name: str, mask: Tensor | None
) -> tuple[Tensor, Tensor | None, Tensor | None]:
    """Elements at addresses (full extents): values, the lanes that have them, and those nobody wrote.

    Lanes without memory hold zeros; None for lanes: all have a value.
    """
    size = size_of(name)
    atomic = op.get("memory_ordering") != "weak"
    accesses, lanes = m.memory.resolve(op, m.frame, addresses, size, mask)
    values: Tensor | None = None
    unwritten: Tensor | None = None
    for access in accesses:
        patterns, missing = m.memory.read(op, m.frame, access, size, atomic=atomic)
        part = from_memory(patterns, name)
        if access.lanes is None:
            values = part
        else:
            start = torch.zeros_like(part) if values is None else values
            values = torch.where(access.lanes, part, start)
        if missing is not None:
            unwritten = missing if unwritten is None else unwritten | missing
    found: Tensor = torch.zeros(addresses.shape, dtype=dtype(name)) if values is None else values
    return found, lanes, unwritten


def store_lanes(
    m: Machine,
    op: TileOp,
    addresses: Tensor,
    values: Tensor,
    name: str,
    mask: Tensor | None,
    unknown: Tensor | None = None,
) -> None:
    """Writes elements to addresses (full extents) where the mask is set."""
    size = size_of(name)
    atomic = op.get("memory_ordering") != "weak"
    accesses, _ = m.memory.resolve(op, m.frame, addresses, size, mask)
    patterns = to_memory(values, name)
    for access in accesses:
        m.memory.write(op, m.frame, access, patterns, size, unknown=unknown, atomic=atomic)


def doubtful_store(
    m: Machine, op: TileOp, unknown: Tensor | None, mask: Tensor | None, tile: Sequence[int]
) -> None:
    """Reports undetermined lanes that are stored."""
    if unknown is None:
        return
    stored = unknown if mask is None else unknown & mask
    m.report("undetermined/store", op, whole_lanes(m, stored, tile))


def doubtful_place(m: Machine, op: TileOp, *groups: str) -> None:
    """Reports undetermined addresses, masks and indices."""
    if not m.doubtful:
        return
    for group in groups:
        for value in op.group(group):
            unknown = m.frame.doubt(value)
            if unknown is not None:
                m.report("undetermined/address", op, unknown, None, f"{group}: undetermined")


# ---- the ops


def load_ptr(m: Machine, op: TileOp) -> None:
    result = op.results[0]
    name, tile = element(result), shape(result)
    addresses = whole_lanes(m, m.get(op.operands[0]), tile)
    mask, padding = m.one(op, "mask"), m.one(op, "padding")
    doubtful_place(m, op, "source", "mask")
    m.poll(op)
    m.synchronise(op, addresses, mask)
    values, lanes, unwritten = load_lanes(m, op, addresses, name, mask)
    if lanes is not None and padding is not None:
        values = torch.where(lanes, values, padding)
    m.set(op, values)
    unknown = unwritten
    if lanes is not None and padding is None:
        unknown = ~lanes if unknown is None else unknown | ~lanes
    if lanes is not None and padding is not None and m.doubtful:
        value = op.one("padding")
        inherited = m.frame.doubt(value) if value is not None else None
        if inherited is not None:
            unknown = inherited & ~lanes if unknown is None else unknown | (inherited & ~lanes)
    if unknown is not None:
        m.set_doubt(op, unknown)
    m.set(op, None, 1)


def store_ptr(m: Machine, op: TileOp) -> None:
    destination, value = op.operands[0], op.operands[1]
    name, tile = pointee(destination), shape(destination)
    mask = m.one(op, "mask")
    doubtful_place(m, op, "destination", "mask")
    unknown = m.frame.doubt(value) if m.doubtful else None
    doubtful_store(m, op, unknown, mask, tile)
    m.poll(op)
    addresses = whole_lanes(m, m.get(destination), tile)
    m.synchronise(op, addresses, mask)
    store_lanes(m, op, addresses, m.get(value), name, mask, unknown)
    m.set(op, None)


def alloca(m: Machine, op: TileOp) -> None:
    """Each block its own memory, so many bytes apart that none reaches another's."""
    size = op.get("num_elem") * bits(pointee(op.results[0])) // 8
    count = len(m.frame)
    buffer = m.memory.allocate(f"the alloca in line {op.span.line}", max(1, size), count)
    places = torch.arange(count, dtype=torch.int64) * buffer.stride + buffer.base
    alignment = op.get("alignment")
    m.set(op, places + (-buffer.base) % alignment if alignment > 256 else places)


HANDLERS: dict[str, Handler] = {
    "alloca": alloca,
    "load_ptr_tko": load_ptr,
    "offset": offset,
    "store_ptr_tko": store_ptr,
}
