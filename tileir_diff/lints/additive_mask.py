"""Undetermined lanes are masked by adding minus infinity.

## What it does

Looks for `addf` of a tile with `select(mask, 0, -inf)`, or of a large negative number, where the tile holds
lanes that its load leaves undetermined.

## Why it matters

Minus infinity added to NaN is NaN, and to plus infinity too.
A lane that was never determined may hold either, and the maximum or sum after it is lost.
`select` replaces what is there.

## Example

`%s = addf %scores, %bias` with `%bias = select %valid, %zero, %neg_inf` and `%scores` from an unmasked
load: write `select %valid, %scores, %neg_inf`.

## Known problems

Tiles whose lanes are all determined, such as a product of zero-padded tiles, are not reported.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from tileir_diff.lints.edges import contains_undetermined
from tileir_diff.lints.facts import owner, splat, spread_from
from tileir_diff.lints.model import Hit

if TYPE_CHECKING:
    from collections.abc import Iterator

    from xdsl.ir import SSAValue

    from tileir_diff.lints.facts import EntryFacts

SEVERITY = "warn"

LARGE = -1e4


def check(facts: EntryFacts) -> Iterator[Hit]:
    if facts.kernel is None:
        return
    for op in facts.of("addf"):
        if op not in facts.live:
            continue
        for bias, other in (("lhs", "rhs"), ("rhs", "lhs")):
            term = facts.term(op.one(other))
            if (
                not _is_bias(op.one(bias))
                or term is None
                or not contains_undetermined(facts.kernel.terms, term)
            ):
                continue
            yield Hit(
                op,
                "undetermined lanes are masked by adding minus infinity: NaN stays NaN",
                "use `select` with the mask, the tile and minus infinity",
            )
            break


def _is_bias(value: SSAValue | None) -> bool:
    op = owner(spread_from(value))
    if op is None or op.short != "select":
        return False
    arms = [splat(op.one("on_true")), splat(op.one("on_false"))]
    numbers = [float(arm) for arm in arms if arm is not None and not math.isnan(arm)]
    return len(numbers) == 2 and max(numbers) == 0 and min(numbers) <= LARGE
