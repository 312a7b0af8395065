"""A `div_by` larger than anyone can know.

## What it does

Reports `div_by<D>` on an entry parameter with D above 16, and on any integer with a D that the type cannot
hold a multiple of except 0.
Divisors that follow from the way a value is computed, such as `block * 128`, are not reported.

## Why it matters

Launchers know that allocations are aligned to 16 bytes and check sizes and strides for a multiple of 16; no
larger fact is passed with an argument.
A larger divisor is a promise that nothing has checked, and the vector and bulk accesses need no more than 16.

## Example

`assume div_by<32>, %arg0 : tile<ptr<f32>>`: the front end counted one step too far.

## Known problems

A host that allocates with a larger alignment, and says so by hand, is right to promise it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tileir_diff.dialect.attributes import DivBy
from tileir_diff.dialect.types import Scalar
from tileir_diff.lints.facts import owner, spread_from, tile
from tileir_diff.lints.model import Hit

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tileir_diff.dialect.ir import TileOp
    from tileir_diff.lints.facts import EntryFacts

SEVERITY = "warn"

CAP = 16


def check(facts: EntryFacts) -> Iterator[Hit]:
    for op in facts.of("assume"):
        promise, value = op.get("assumption"), op.one("value")
        kind = tile(value)
        if not isinstance(promise, DivBy) or kind is None:
            continue
        if (
            isinstance(kind.element, Scalar)
            and kind.element.is_int
            and promise.divisor >= 1 << kind.element.bits
        ):
            yield Hit(
                op,
                f"`{promise}`: the only multiple that an {kind.element} holds is 0",
                "remove the promise, or give the divisor of the value before it was narrowed",
            )
        elif promise.divisor > CAP and owner(spread_from(value)) is None and _is_parameter(facts, op):
            yield Hit(
                op,
                f"`{promise}` on a kernel argument: launchers know multiples of {CAP} at most",
                f"promise `div_by<{CAP}>` and derive larger divisors inside the kernel",
            )


def _is_parameter(facts: EntryFacts, op: TileOp) -> bool:
    value = spread_from(op.one("value"))
    return any(value is param for param in facts.entry.regions[0].block.args)
