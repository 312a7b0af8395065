"""A load whose result nobody uses, and whose address may be out of range.

## What it does

Reports loads whose tile reaches no store, atomic, print or branch: through pointers where there is no mask,
through a view where the index is not shown to lie inside the view.

## Why it matters

The load has no effect on the result, but it still reads: out of range it faults, at sizes that no test tries.
It is often what is left of a value that should have been used.

## Example

`%x, %t = load_ptr_tko weak %ptrs : tile<64xptr<f32>> -> tile<64xf32>, token` with no user of `%x`.

## Known problems

A kernel that measures bandwidth, or prefetches, loads on purpose.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tileir_diff.lints.facts import LOADS
from tileir_diff.lints.model import Hit

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tileir_diff.dialect.ir import TileOp
    from tileir_diff.lints.facts import EntryFacts

SEVERITY = "warn"


def check(facts: EntryFacts) -> Iterator[Hit]:
    for op in facts.of(*LOADS):
        if op in facts.live or _in_range(facts, op):
            continue
        yield Hit(
            op,
            "the loaded tile is never used, and nothing keeps the load inside the array",
            "remove the load, or use what it reads",
        )


def _in_range(facts: EntryFacts, op: TileOp) -> bool:
    if op.short == "load_ptr_tko":
        return op.one("mask") is not None
    effect, terms = facts.effects.get(op), facts.terms
    if effect is None or terms is None:
        return False
    inbounds = op.get("inbounds") or ()
    for index, (coordinate, extent) in enumerate(zip(effect.coordinates, effect.extents, strict=True)):
        if index < len(inbounds) and inbounds[index]:
            continue
        low, _ = terms.range(coordinate)
        _, over = terms.range(terms.sub(coordinate, extent))
        if low is None or low < 0 or over is None or over >= 0:
            return False
    return True
