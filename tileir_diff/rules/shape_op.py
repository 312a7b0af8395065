"""Reshapes, broadcasts, permutes, cuts and joins that change which element goes where.

## What it does

Compares the element that each lane gets, through `reshape`, `broadcast`, `permute`, `cat`, `extract` and
`insert`.
No-op reshapes, splats and a reshape on the other side of a cast leave no trace.

## Why it matters

A permutation that is missing, or an `extract` by element instead of by slice number, moves elements to
other lanes.

## Example

`permute %x [1, 0]` in the reference, nothing in the generated kernel: `shape-op/changed`.

## Known problems

A permutation that is undone on the far side of a reduction is not followed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tileir_diff.rules.model import Detail

if TYPE_CHECKING:
    from collections.abc import Mapping

DETAILS: Mapping[str, Detail] = {
    "changed": Detail(
        impact="logic",
        message="elements are arranged by {actual}; in the reference by {expected}",
        effect="elements go to other lanes",
        fix="arrange them by {expected}{at}",
    ),
}
