"""One array accessed both through a view and through pointers.

## What it does

Reports the first access through a tile of pointers to an array that the same kernel also accesses through a
view, if one of the accesses writes.

## Why it matters

The two families are lowered by different paths, and mixing them on one base has crashed the assembler.
With a store among them, only tokens order the two: bulk copies go through another proxy of memory.

## Example

`store_view_tko weak %x, %view[%i]` and `load_ptr_tko weak %ptrs`, both based on `%arg0`.

## Known problems

Mixed accesses that tokens order are correct; this is a note.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tileir_diff.lints.facts import ADDRESS_GROUP, LOADS, base_pointer
from tileir_diff.lints.model import Hit

if TYPE_CHECKING:
    from collections.abc import Iterator

    from xdsl.ir import SSAValue

    from tileir_diff.dialect.ir import TileOp
    from tileir_diff.lints.facts import EntryFacts

SEVERITY = "info"


def check(facts: EntryFacts) -> Iterator[Hit]:
    by_base: dict[SSAValue, tuple[list[TileOp], list[TileOp]]] = {}
    for op in facts.of(*ADDRESS_GROUP):
        base = base_pointer(op.one(ADDRESS_GROUP[op.short]))
        if base is not None:
            views, pointers = by_base.setdefault(base, ([], []))
            (views if ADDRESS_GROUP[op.short] == "view" else pointers).append(op)
    for base, (views, pointers) in by_base.items():
        if views and pointers and any(op.short not in LOADS for op in (*views, *pointers)):
            name = f"%{base.name_hint}" if base.name_hint else "one array"
            yield Hit(
                pointers[0],
                f"{name} is accessed through pointers here and through a view at line {views[0].span.line}",
                "use one family for an array that is written, or keep the accesses ordered by tokens",
            )
