"""A tile multiplied by a 0/1 mask.

## What it does

Looks for `mulf` with a factor that is a predicate turned into a number: `itof` of an `i1` (also widened
first), or `select` between 1.0 and 0.0.
It is a warning where the other factor comes from memory and the predicate compares lane numbers, as a
bounds or causal mask does; else a note.

## Why it matters

Zero times NaN or infinity is NaN.
A lane that should be switched off still poisons the sum if what was loaded there, or computed from it, is
not finite.
`select` switches lanes off whatever they hold.

## Example

`%f = itof %valid unsigned : tile<64xi1> -> tile<64xf32>` and `%y = mulf %x, %f : tile<64xf32>`; write
`%y = select %valid, %x, %zero`.

## Known problems

In a ReLU gradient or in dropout the product may be what is meant: those predicates do not compare lane
numbers, and give a note.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tileir_diff.lints.facts import (
    LOADS,
    WALK_LIMIT,
    compares_lanes,
    owner,
    reaches,
    splat,
    spread_from,
    tile,
)
from tileir_diff.lints.model import Hit

if TYPE_CHECKING:
    from collections.abc import Iterator

    from xdsl.ir import SSAValue

    from tileir_diff.lints.facts import EntryFacts

SEVERITY = "info"


def check(facts: EntryFacts) -> Iterator[Hit]:
    for op in facts.of("mulf"):
        if op not in facts.live:
            continue
        for factor, other in (("lhs", "rhs"), ("rhs", "lhs")):
            mask = _mask(op.one(factor))
            if mask is None or splat(op.one(other)) is not None:
                continue
            yield Hit(
                op,
                "a tile is multiplied by a 0/1 mask: NaN and infinity survive where the mask is 0",
                "use `select` with the mask and a tile of zeros",
                "warn" if compares_lanes(mask) and reaches(op.group(other)[0], LOADS) else "info",
            )
            break


def _mask(value: SSAValue | None) -> SSAValue | None:
    """The predicate behind a factor that is 1.0 or 0.0."""
    for _ in range(WALK_LIMIT):
        value = spread_from(value)
        op = owner(value)
        if op is None:
            return None
        if op.short in ("ftof", "exti", "itof"):
            value = op.one("source")
            kind = tile(value)
            if kind is not None and str(kind.element) == "i1":
                return value
            continue
        if op.short == "select":
            arms = {splat(op.one("on_true")), splat(op.one("on_false"))}
            return op.one("condition") if arms == {0.0, 1.0} else None
        return None
    return None
