"""Loops: bounds, step, number of trips, carried values.

## What it does

Pairs the loops of both sides and compares where each starts and ends, its step, the number of trips, and
the values that it carries from one trip to the next.

## Why it matters

A trip count rounded down leaves out the last, partial tile, and is right wherever the size is a multiple
of the tile.

## Example

`for %k in (%c0 to %n, ...)` with n = ceildiv(K, 32) in the reference, n = K / 32 in the generated kernel:
`loop/bounds`.

## Known problems

A loop that is unrolled, split or fused on one side is reported as missing or extra.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tileir_diff.rules.model import Detail

if TYPE_CHECKING:
    from collections.abc import Mapping

DETAILS: Mapping[str, Detail] = {
    "bounds": Detail(
        impact="logic",
        message="the loop is bounded by {actual}; in the reference by {expected}",
        effect="trips are left out or added",
        fix="bound the loop by {expected}{at}",
        fixes={"cutile-rust": "bound the loop by {expected}{at}; `/` truncates, `ceil_div(a, b)` rounds up"},
    ),
    "carried": Detail(
        impact="logic",
        message="the loop carries {actual}; in the reference {expected}",
        effect="another value reaches the next trip, or leaves the loop",
        fix="carry {expected}{at}",
        fixes={"cutile-rust": "assign the carried value in the loop body (`let mut`){at}: {expected}"},
    ),
    "extra": Detail(
        impact="logic",
        message="loop without counterpart in the reference: {actual}",
        effect="ops run several times that the reference runs once",
        fix="remove the loop{at}",
    ),
    "missing": Detail(
        impact="logic",
        message="no counterpart of the reference's loop: {expected}",
        effect="ops run once that the reference runs for each trip",
        fix="add the loop: {expected}{at}",
    ),
    "step": Detail(
        impact="logic",
        message="the loop steps by {actual}; in the reference by {expected}",
        effect="elements are skipped or handled twice",
        fix="step by {expected}{at}",
        fixes={"cutile-rust": "step by {expected} (`step_by`){at}"},
    ),
    "trip-count": Detail(
        impact="logic",
        message="the loop makes {actual} trips; in the reference {expected}",
        effect="trips are left out or added",
        fix="make {expected} trips{at}",
        fixes={"cutile-rust": "make {expected} trips{at}; `/` truncates, `ceil_div(a, b)` rounds up"},
    ),
}
