"""Stores that change nothing: the same elements are written again, with nothing between that reads them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tileir_diff.graph.arrays import meet

if TYPE_CHECKING:
    from tileir_diff.graph.kernel import Effect, Kernel


def unseen(kernel: Kernel, store: Effect) -> str:
    """Why memory is the same without a store, in words; "" where that is not known."""
    last = _overwritten_by(kernel, store)
    if last is not None:
        return f"line {last.op.span.line} overwrites it before anything reads it"
    same = (each for each in kernel.effects if each.values == store.values)
    again = any(_overwritten_by(kernel, each) is store for each in same)
    return "the same was stored there just before" if again else ""


def _overwritten_by(kernel: Kernel, store: Effect) -> Effect | None:
    """The store that overwrites all that a weak store writes, and alone waits for it, before all else."""
    if not _is_weak(store, "store"):
        return None
    waiting = [effect for effect in kernel.effects if store.order in effect.after]
    merged = (way.sources for merge in kernel.merges.values() for way in merge.ways)
    if len(waiting) != 1 or any(store.order in sources for sources in merged):
        return None
    between = kernel.effects[store.order + 1 : waiting[0].order]
    hidden = _overwrites(store, waiting[0]) and all(_elsewhere(store, each) for each in between)
    return waiting[0] if hidden else None


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
