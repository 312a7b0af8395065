"""An integer division by zero.

## What it does

Reports `divi` and `remi` with a divisor that is the constant 0.

## Why it matters

The result is undefined. A constant of the kernel, such as a number of splits, became 0 for the size it was
compiled for.

## Example

`divi %n, %c0 signed : tile<i32>`.

## Known problems

In code that is never reached it does no harm.
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
    for op in facts.of("divi", "remi"):
        if splat(op.one("rhs")) == 0:
            yield Hit(op, "the divisor is the constant 0", "check how the divisor was computed")
