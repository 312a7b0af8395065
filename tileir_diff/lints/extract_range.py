"""A slice number out of range.

## What it does

Reports `extract` and `insert` with an index that is known to be at or above the number of slices, or
negative.

## Why it matters

The index counts slices, not elements: a slice of 4 from a tile of 8 has the numbers 0 and 1.
Out of range is undefined; ports that pass element offsets got zeros or the wrong half.

## Example

`extract %x[%c4] : tile<8xf32> -> tile<4xf32>` with `%c4` = 4: the second half is slice 1.

## Known problems

Only indices whose range is known are checked.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tileir_diff.lints.facts import splat, tile
from tileir_diff.lints.model import Hit

if TYPE_CHECKING:
    from collections.abc import Iterator

    from xdsl.ir import SSAValue

    from tileir_diff.lints.facts import EntryFacts

SEVERITY = "warn"


def check(facts: EntryFacts) -> Iterator[Hit]:
    for op in facts.of("extract", "insert"):
        whole = tile(op.one("source") if op.short == "extract" else op.one("destination"))
        part = tile(op.results[0] if op.short == "extract" else op.one("source"))
        if whole is None or part is None:
            continue
        for index, total, size in zip(op.group("index"), whole.shape, part.shape, strict=False):
            low, high = _range(facts, index)
            count = total // size
            if (low is not None and low >= count) or (high is not None and high < 0):
                shown = (
                    str(low)
                    if low == high
                    else f"at least {low}"
                    if low is not None and low >= count
                    else f"at most {high}"
                )
                yield Hit(
                    op,
                    f"slice number {shown} of {count}: the index counts slices of {size}, not elements",
                    f"divide the element offset by {size}"
                    if size > 1
                    else f"use an index from 0 to {count - 1}",
                )
                break


def _range(facts: EntryFacts, value: SSAValue) -> tuple[int | None, int | None]:
    number = splat(value)
    if isinstance(number, int):
        return number, number
    term, terms = facts.term(value), facts.terms
    return (None, None) if term is None or terms is None else terms.range(term)
