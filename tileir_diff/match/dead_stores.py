"""Stores that nobody sees: all that they write is written again before anything can read it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tileir_diff.graph.arrays import meet

if TYPE_CHECKING:
    from tileir_diff.graph.kernel import Effect, Kernel


def dead_stores(kernel: Kernel) -> frozenset[int]:
    """The orders of weak stores that a store overwrites, which alone waits for them, before all else."""
    waited: dict[int, list[int]] = {}
    for effect in kernel.effects:
        for order in effect.after:
            waited.setdefault(order, []).append(effect.order)
    merged = {order for merge in kernel.merges.values() for way in merge.ways for order in way.sources}
    found: set[int] = set()
    for order, waiting in waited.items():
        if len(waiting) != 1 or order in merged or order < 0:
            continue
        first, last = kernel.effects[order], kernel.effects[waiting[0]]
        between = kernel.effects[order + 1 : last.order]
        if _overwrites(first, last) and all(_elsewhere(first, each) for each in between):
            found.add(order)
    return frozenset(found)


def _overwrites(first: Effect, last: Effect) -> bool:
    """Whether the second of two weak stores is to the same elements under the same conditions."""
    return (
        _is_weak(first, "store")
        and _is_weak(last, "store")
        and first.order < last.order
        and (first.pointer, first.element, first.shape) == (last.pointer, last.element, last.shape)
        and (first.guard, first.mask) == (last.guard, last.mask)
        and len(first.loops) == len(last.loops)
        and all(x is y for x, y in zip(first.loops, last.loops, strict=True))
    )


def _elsewhere(store: Effect, other: Effect) -> bool:
    """Whether an access neither reads what is stored nor tells others that it is."""
    return _is_weak(other, "load", "store") and not meet(store.arrays, other.arrays)


def _is_weak(effect: Effect, *kinds: str) -> bool:
    """Whether an access to known arrays has no order of its own."""
    known = effect.kind in kinds and bool(effect.arrays)
    return known and effect.op.get("memory_ordering") == "weak"
