"""A comparison of lanes that nothing uses.

## What it does

Looks for `cmpi` whose result has more than one lane and reaches no store, no atomic, no branch and no live
value, also not through `andi`, `select` and shape ops.
It is a warning where the same kernel accesses memory of the same shape through pointers without a mask,
else a note.

## Why it matters

A bounds mask was computed and then not passed on: the tail lanes read and write past the array.
The kernel is right for every size that is a multiple of the tile, so tests at round sizes pass.

## Example

`%m = cmpi less_than %lane, %n, signed : tile<1024xi32> -> tile<1024xi1>` with no user, beside
`load_ptr_tko weak %ptrs : tile<1024xptr<f32>> -> ...` without a mask.

## Known problems

A front end that does not remove dead code leaves masks behind that it replaced by better ones; those are
notes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tileir_diff.lints.facts import tile
from tileir_diff.lints.model import Hit

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tileir_diff.lints.facts import EntryFacts

SEVERITY = "info"


def check(facts: EntryFacts) -> Iterator[Hit]:
    unmasked = {
        kind.shape
        for op in facts.of("load_ptr_tko", "store_ptr_tko")
        if op.one("mask") is None
        and (kind := tile(op.one("source") or op.one("destination"))) is not None
        and kind.size > 1
    }
    for op in facts.of("cmpi"):
        kind = tile(op.results[0])
        if kind is None or kind.size <= 1 or op in facts.live:
            continue
        bare = kind.shape in unmasked
        shape = "x".join(map(str, kind.shape))
        where = f"; pointer accesses of shape {shape} have no mask" if bare else ""
        yield Hit(
            op,
            f"a mask of {shape} lanes is computed and never used{where}",
            "pass it as the mask of the access it was made for, or remove it",
            "warn" if bare else "info",
        )
