"""Lanes past the edge of an array reach a result.

## What it does

Follows the lanes that a load leaves undetermined: those of a view without `padding_value` that can lie past
the edge, and those of a masked pointer load without padding.
It reports, once for each load, where they enter a reduction or a matrix product along the dimension that is
cut off.
Lanes that a `select` on lane numbers replaces, that a store drops at the same edge, or that a loop over
whole tiles never meets, are fine.
It is a warning where the tile moves along that dimension, by block or iteration, so that a last partial
tile is due; a note where one tile is to cover the whole dimension.

## Why it matters

One undetermined lane makes a whole sum, maximum or product undetermined.
On newer GPUs the hardware happens to fill with zeros; on older ones the lanes hold whatever was there, so
the kernel passes on the machine it was written on.

## Example

`load_view_tko` from `partition_view<tile=(1x1024), tensor_view<?x?xf32, strides=[?,1]>>`, then `reduce ...
dim=1`: give the view `padding_value = neg_inf` for a maximum, `zero` for a sum.

## Known problems

A host that only passes sizes that are multiples of the tile never reaches those lanes. If the kernel says so
(`div_by` of the tile size, constant sizes, `inbounds`) the lint is silent.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tileir_diff.lints.edges import edge_ops, live_terms, masked_by_select, reduced_over, undetermined_load
from tileir_diff.lints.model import Hit

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tileir_diff.dialect.ir import TileOp
    from tileir_diff.lints.facts import EntryFacts

SEVERITY = "warn"


def check(facts: EntryFacts) -> Iterator[Hit]:
    kernel = facts.kernel
    if kernel is None:
        return
    terms = kernel.terms
    first: dict[TileOp, tuple[TileOp, str, bool]] = {}
    for term in live_terms(facts):
        place, op = reduced_over(terms, term), edge_ops(facts, term)
        if place is None or op is None:
            continue
        leaf, bodies, short = place
        for body in bodies:
            found = undetermined_load(facts, body, leaf)
            if found is None or masked_by_select(facts, op):
                continue
            load, moving = found
            known = first.get(load)
            # the worst use of a load, and of those the first
            if known is None or (not moving, op.span.line) < (not known[2], known[0].span.line):
                first[load] = (op, short, moving)
    for load, (op, short, moving) in first.items():
        yield Hit(
            op,
            f"the {short} takes lanes past the edge that the load at line {load.span.line} leaves open",
            "give the load a neutral padding, or `select` with the bounds mask before this",
            "warn" if moving else "info",
        )
