"""A loop that never runs.

## What it does

Reports a `for` whose bounds are constants with nothing between them.

## Why it matters

The body holds the work, and the results are the initial values: a size became 0, as when a number of splits
was computed by a division that rounds down.

## Example

`for %i in (%c0 to %c0, step %c1)`.

## Known problems

A front end may leave a loop for a feature that is switched off at compile time.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tileir_diff.lints.facts import splat
from tileir_diff.lints.model import Hit

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tileir_diff.lints.facts import EntryFacts

SEVERITY = "warn"


def check(facts: EntryFacts) -> Iterator[Hit]:
    for loop in facts.of("for"):
        lower, upper = splat(loop.one("lower")), splat(loop.one("upper"))
        if isinstance(lower, int) and isinstance(upper, int):
            if loop.get("unsigned_cmp") and (lower < 0 or upper < 0):
                continue
            if lower >= upper:
                yield Hit(
                    loop,
                    f"the loop runs from {lower} to {upper}: its body is never executed",
                    "check how the bounds were computed, or remove the loop",
                )
