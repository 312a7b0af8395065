"""A view that is transposed by its strides and by its dim_map.

## What it does

Reports a `partition_view` or `strided_view` with a permuted `dim_map` over a `tensor_view` whose constant
strides already put the unit stride away from the last dimension.

## Why it matters

Transposing twice gives back the layout that was there: the kernel reads the array as if it were not
transposed.
Ports do this when both the host and the kernel turn the array around.

## Example

`tensor_view<64x128xf32, strides=[1,64]>` under `dim_map=[1, 0]`.

## Known problems

A column-major array that is to be read row by row is written exactly like this, so this is a note; only
constant strides are seen.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tileir_diff.dialect.types import PartitionView, StridedView
from tileir_diff.lints.model import Hit

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tileir_diff.lints.facts import EntryFacts

SEVERITY = "info"


def check(facts: EntryFacts) -> Iterator[Hit]:
    for op in facts.of("make_partition_view", "make_strided_view"):
        kind = op.results[0].type
        if not isinstance(kind, (PartitionView, StridedView)) or kind.dim_map == tuple(
            range(len(kind.dim_map))
        ):
            continue
        strides = kind.tensor_view.strides
        if strides[-1] not in (None, 1) and 1 in strides and kind.dim_map[-1] == strides.index(1):
            yield Hit(
                op,
                f"dim_map {list(kind.dim_map)} turns around an array whose strides are turned around already",
                "let either the strides or dim_map transpose, not both",
            )
