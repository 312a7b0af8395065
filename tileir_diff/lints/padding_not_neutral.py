"""Padded lanes change a maximum or a sum.

## What it does

Takes the lanes of a reduction that lie past the edge of an array and puts the padding in: the value that
remains must be neutral for the combining op, 0 for a sum, minus infinity for a maximum, or 0 for a maximum
of magnitudes.
It reports where it is a constant that is not, or a value that does not depend on the lane and is not zero,
such as `(0 - mean)^2` or `exp(0 - max)`.

## Why it matters

Zero padding is neutral for a sum of loaded values and for nothing else.
A softmax over lanes padded with zero adds `exp(-max)` for each of them; a variance adds `mean^2`.
Both are right whenever the size is a multiple of the tile.

## Example

A view with `padding_value = zero`, then `reduce` with `maxf` along the padded dimension: use `neg_inf`, or
`select` with the bounds mask.

## Known problems

A host that only passes sizes that are multiples of the tile never reaches those lanes.
A maximum that only scales, as in a softmax whose sum is masked, may include a zero.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tileir_diff.graph.contractions import operand_order
from tileir_diff.lints.edges import (
    edge_ops,
    live_terms,
    masked_by_select,
    non_negative,
    past_the_edge,
    reduced_over,
)
from tileir_diff.lints.identity_not_neutral import combining_op
from tileir_diff.lints.model import Hit

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tileir_diff.lints.facts import EntryFacts

SEVERITY = "warn"


def check(facts: EntryFacts) -> Iterator[Hit]:
    kernel = facts.kernel
    if kernel is None:
        return
    terms = kernel.terms
    for term in live_terms(facts):
        place = reduced_over(terms, term)
        op = edge_ops(facts, term)
        if place is None or op is None or op.short not in ("reduce", "scan"):
            continue
        index = int(terms.attr[term][1])
        combiner = combining_op(op, operand_order(op)[index])
        wanted = {"addf": 0.0, "maxf": float("-inf"), "minf": float("inf"), "mulf": 1.0}.get(
            combiner.short if combiner else ""
        )
        if combiner is None or wanted is None:
            continue
        leaf, bodies, _ = place
        value = past_the_edge(kernel, bodies[index], leaf)
        if value is None or value == wanted or masked_by_select(facts, op):
            continue
        if value == 0.0 and combiner.short == "maxf" and non_negative(terms, bodies[index]):
            continue  # as in the largest magnitude of a row
        if isinstance(value, float):
            what = f"hold {value:g}, which is not neutral for {combiner.short}"
        elif combiner.short == "addf":
            what = f"add this to the sum: {facts.say(value)}"
        else:
            continue  # the value may be the neutral one
        yield Hit(
            op,
            f"padded lanes {what}",
            "pad with the neutral value, or `select` it with the bounds mask just before the reduction",
        )
