"""Masks of pointer loads, stores and atomics.

## What it does

Compares the predicate under which each lane of a pointer access is active: is there one on both sides,
and do the two select the same lanes?
Predicates are compared by meaning: signed or unsigned compares, masks widened to i8 and back, and guards
that the grid makes redundant are equal.

## Why it matters

A store without its mask writes past the end of a row, into the next row or another tensor.
A load without its mask reads memory that may not exist, and feeds lanes to a reduction that should not
take part.
Both pass every test whose sizes are multiples of the tile.

## Example

The reference stores `store_ptr_tko weak %ptrs, %value, %mask` with `%mask` = "n < A.shape0", the
generated kernel `store_ptr_tko weak %ptrs, %value`: `mask/missing`.

## Known problems

A mask that only the launch makes redundant counts as missing unless `--launch` gives that launch.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tileir_diff.rules.model import Detail

if TYPE_CHECKING:
    from collections.abc import Mapping

DETAILS: Mapping[str, Detail] = {
    "changed": Detail(
        impact="bounds",
        message="the {op} is active where {actual}; in the reference where {expected}",
        effect="lanes on which the two masks disagree are accessed on one side only",
        fix="build the mask from {expected}{at}",
    ),
    "extra": Detail(
        impact="bounds",
        message="the {op} is masked ({actual}); in the reference it is not",
        effect="lanes outside the mask are skipped, or undetermined after a load without padding",
        fix="drop the mask, or show that it always holds{at}",
        fixes={"cutile-rust": "pass `None` as the mask of `{op}`{at}, or show that it always holds"},
    ),
    "guard": Detail(
        impact="none",
        message="the {op} is guarded by {actual}; in the reference by {expected}",
        effect="none: both conditions select the same lanes",
        fix="nothing to do",
    ),
    "missing": Detail(
        impact="bounds",
        message="the {op} is not masked; in the reference it is ({expected})",
        effect="lanes where {expected} is false are accessed, past the end of the array",
        fix="mask the {op} with {expected}{at}",
        fixes={
            "cutile-rust": "pass `Some(mask)`, mask = {expected}, to `{op}`{at}",
            "tile-cpp": "use the masked form of the access, mask = {expected}{at}",
            "cutile-python": "use gather or scatter with `check_bounds=True` or pass the mask {expected}{at}",
        },
    ),
}
