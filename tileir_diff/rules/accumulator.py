"""Accumulators of matrix products and of loops that sum.

## What it does

Compares the type in which products are accumulated, and the value that the accumulation starts from: also
of a port that counts in the array itself, where the reference stores a sum that is complete.

## Why it matters

A half-precision accumulator loses digits with every step, and overflows at 65504.

## Example

`mmaf ... tile<64x64xf32>` in the reference, `mmaf ... tile<64x64xf16>` in the generated kernel:
`accumulator/type`.

## Known problems

A sum that is carried through a loop counts as an accumulator only if the comparison recognises the loop
as one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tileir_diff.rules.model import Detail

if TYPE_CHECKING:
    from collections.abc import Mapping

DETAILS: Mapping[str, Detail] = {
    "in-memory": Detail(
        impact="logic",
        message="the {op} adds to what is in {actual}; in the reference it overwrites that",
        effect="what the array holds before the launch is part of the result",
        fix="store the whole sum{at}, or clear {actual} before each launch",
    ),
    "init": Detail(
        impact="logic",
        message="the product is added to {actual}; in the reference to {expected}",
        effect="what the product is added to is part of every result",
        fix="add the product{at} to {expected}",
    ),
    "type": Detail(
        impact="precision",
        message="accumulates in {actual}; the reference in {expected}",
        effect="every step rounds to another type",
        fix="accumulate in {expected}{at}",
        fixes={"cutile-rust": "declare the accumulator tile with element type {expected}{at}"},
    ),
}
