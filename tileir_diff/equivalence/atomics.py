"""Atomic memory operations: lanes and blocks one after the other, in the order of their ids.

Lanes that share an address are served in rounds: in round k each address takes its k-th lane, all addresses
at once. Sums whose old values nobody needs are added up directly.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tileir_diff.equivalence.backend import Tensor, torch
from tileir_diff.equivalence.dtypes import dtype, shape
from tileir_diff.equivalence.integers import ordered
from tileir_diff.equivalence.memory import from_memory, size_of, to_memory
from tileir_diff.equivalence.pointers import (
    doubtful_place,
    doubtful_store,
    pointee,
    whole_lanes,
)
from tileir_diff.equivalence.views import place, view_type

if TYPE_CHECKING:
    from collections.abc import Callable

    from tileir_diff.dialect.ir import TileOp
    from tileir_diff.equivalence.machine import Handler, Machine
    from tileir_diff.equivalence.memory import Access

    Update = Callable[[Tensor, Tensor], Tensor]
    """Old elements and the lanes' positions among all lanes, to new elements."""

MANY: Final = 64
"""Rounds from which sums are added up directly."""


def _combine(mode: str, name: str) -> Callable[[Tensor, Tensor], Tensor]:
    if mode in ("umax", "umin"):
        return lambda old, new: torch.where(
            (ordered(old, name, False) >= ordered(new, name, False)) == (mode == "umax"), old, new
        )
    return COMBINE[mode]


def _second(old: Tensor, new: Tensor) -> Tensor:
    return new


COMBINE: Final[dict[str, Callable[[Tensor, Tensor], Tensor]]] = {
    "add": torch.add,
    "addf": torch.add,
    "and": torch.bitwise_and,
    "or": torch.bitwise_or,
    "xor": torch.bitwise_xor,
    "max": torch.maximum,
    "min": torch.minimum,
    "xchg": _second,
}


def atomic_rmw(m: Machine, op: TileOp) -> None:
    pointers, argument = op.operands[0], op.operands[1]
    name, tile = pointee(pointers), shape(pointers)
    mask = m.one(op, "mask")
    doubtful_place(m, op, "pointers", "mask")
    values = whole_lanes(m, m.get(argument), tile)
    if m.doubtful:
        doubtful_store(m, op, m.frame.doubt(argument), mask, tile)
    addresses = whole_lanes(m, m.get(pointers), tile)
    wanted = bool(list(op.results[0].uses))
    old, lanes, unknown = _apply(m, op, addresses, values, name, mask, op.get("mode"), wanted)
    m.set(op, old)
    m.set(op, None, 1)
    if lanes is not None:  # what a masked lane returns is not defined
        unknown = ~lanes if unknown is None else unknown | ~lanes
    if unknown is not None:
        m.set_doubt(op, unknown)


def atomic_red_view(m: Machine, op: TileOp) -> None:
    (view_value,) = op.group("view")
    (value,) = op.group("value")
    kind = view_type(view_value)
    doubtful_place(m, op, "index")
    where = place(m, op, view_value)
    rows = len(m.frame)
    inside = None if where.inside is None else where.inside.expand(rows, *kind.tile)
    if m.doubtful:
        doubtful_store(m, op, m.frame.doubt(value), inside, kind.tile)
    addresses = where.addresses.expand(rows, *kind.tile)
    values = whole_lanes(m, m.get(value), kind.tile)
    _apply(m, op, addresses, values, kind.tensor_view.element.name, inside, op.get("mode"), False)
    m.set(op, None)


def _apply(
    m: Machine,
    op: TileOp,
    addresses: Tensor,
    values: Tensor,
    name: str,
    mask: Tensor | None,
    mode: str,
    wanted: bool,
) -> tuple[Tensor, Tensor | None, Tensor | None]:
    combine = _combine(mode, name)
    if mode == "addf":  # the order of blocks is free
        values = m.moved(values, name)
    direct = not wanted and mode in ("add", "addf")

    def update(old: Tensor, at: Tensor) -> Tensor:
        return combine(old, values.reshape(-1)[at])

    return _in_order(m, op, addresses, name, mask, update, values if direct else None, wanted)


def atomic_cas(m: Machine, op: TileOp) -> None:
    pointers = op.operands[0]
    name, tile = pointee(pointers), shape(pointers)
    mask = m.one(op, "mask")
    doubtful_place(m, op, "pointers", "mask")
    compare, value = (whole_lanes(m, m.get(each), tile) for each in op.operands[1:3])
    wanted = to_memory(compare, name).reshape(-1)

    def update(old: Tensor, at: Tensor) -> Tensor:
        equal = to_memory(old, name) == wanted[at]
        return torch.where(equal, value.reshape(-1)[at], old)

    addresses = whole_lanes(m, m.get(pointers), tile)
    old, lanes, unknown = _in_order(m, op, addresses, name, mask, update, None, True)
    m.set(op, old if lanes is None else torch.where(lanes, old, compare))
    m.set(op, None, 1)
    if unknown is not None:
        m.set_doubt(op, unknown)


def _in_order(
    m: Machine,
    op: TileOp,
    addresses: Tensor,
    name: str,
    mask: Tensor | None,
    update: Update,
    sums: Tensor | None,
    wanted: bool,
) -> tuple[Tensor, Tensor | None, Tensor | None]:
    """Updates memory lane after lane; returns the old elements, the lanes that have one (None: all), and
    those of which it is undetermined (None: none)."""
    m.poll(op)
    m.synchronise(op, addresses, mask)
    size = size_of(name)
    accesses, lanes = m.memory.resolve(op, m.frame, addresses, size, mask)
    old = torch.zeros(addresses.shape, dtype=dtype(name))
    unknown: Tensor | None = None
    for access in accesses:
        missing = _update(m, op, access, name, update, sums, wanted, old)
        if missing is not None:
            unknown = missing if unknown is None else unknown | missing
    return old, lanes, unknown


def _update(
    m: Machine,
    op: TileOp,
    access: Access,
    name: str,
    update: Update,
    sums: Tensor | None,
    wanted: bool,
    old: Tensor,
) -> Tensor | None:
    """Updates one buffer; returns the lanes whose old element is undetermined (None: none)."""
    size = size_of(name)
    memory = access.buffer.elements(size)
    current, missing = m.memory.read(op, m.frame, access, size, atomic=True)
    left = None if op.get("mode") == "xchg" else missing
    flat = access.place.reshape(-1)
    chosen = (
        torch.arange(len(flat)) if access.lanes is None else torch.nonzero(access.lanes.reshape(-1))[:, 0]
    )
    m.memory.write(op, m.frame, access, current, size, unknown=left, atomic=True)
    index = flat[chosen]
    order = torch.argsort(index, stable=True)
    ranked = index[order]
    starts = torch.ones_like(ranked, dtype=torch.bool)
    starts[1:] = ranked[1:] != ranked[:-1]
    place_ = torch.arange(len(ranked))
    rank = place_ - torch.cummax(torch.where(starts, place_, 0), dim=0).values
    rounds = int(rank.max()) + 1
    if rounds > 1 and wanted:
        m.log.add("order/atomic", op)
    if rounds > MANY and sums is not None:
        _add_up(memory, name, index, sums.reshape(-1)[chosen])
        m.memory.changes += 1
        return missing
    by_rank = torch.argsort(rank, stable=True)
    counts = torch.bincount(rank)
    begin = 0
    flat_old = old.view(-1)
    for count in counts.tolist():
        lanes = order[by_rank[begin : begin + count]]
        begin += count
        at = index[lanes]
        before = from_memory(memory[at], name)
        flat_old[chosen[lanes]] = before
        after = to_memory(update(before, chosen[lanes]), name)
        m.memory.changes += not torch.equal(memory[at], after)
        memory[at] = after
    return missing


def _add_up(memory: Tensor, name: str, index: Tensor, values: Tensor) -> None:
    """All sums at once, in the order of the lanes."""
    target = from_memory(memory, name)
    target.index_add_(0, index, values)


HANDLERS: dict[str, Handler] = {
    "atomic_cas_tko": atomic_cas,
    "atomic_red_view_tko": atomic_red_view,
    "atomic_rmw_tko": atomic_rmw,
}
