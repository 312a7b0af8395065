"""Masks of pointer loads, stores and atomics.

## What it does

Compares the predicate under which each lane of a pointer access is active: is there one on both sides,
and do the two select the same lanes?
Predicates are compared by meaning: signed or unsigned compares, masks widened to i8 and back, and guards
that the grid makes redundant are equal.
Lanes that only the generated kernel accesses have impact `bounds`; lanes that it leaves out, or a condition
that chooses between values, have impact `logic`.

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

    from tileir_diff.match.model import Difference

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
        fix="drop the mask{at}, or show that it always holds",
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
            "cutile-rust": "mask the {op} with {expected}{at}: pass `Some(mask)`",
            "tile-cpp": "mask the {op} with {expected}{at}: use its masked form",
            "cutile-python": "mask the {op} with {expected}{at}: pass `mask=`, or `check_bounds=True`",
        },
    ),
}

NARROWED = DETAILS["extra"]._replace(
    message="the {op} is active only where {actual}; in the reference where {expected}",
    fix="drop the condition{at}, or show that it always holds",
    fixes={},
)

BOUNDED = DETAILS["missing"]._replace(
    message="the {op} does not stop at {expected}, as in the reference",
    effect="elements where {expected} is false are accessed",
    fix="give the view{at} the extents of the reference, so that it ends at {expected}",
    fixes={},
)

SELECTED = DETAILS["changed"]._replace(
    impact="logic",
    message="the condition is {actual}; in the reference {expected}",
    effect="lanes on which the two conditions disagree get another value",
    fix="use the condition {expected}{at}",
)

CHOSEN = DETAILS["missing"]._replace(
    impact="logic",
    message="computes {actual}; the reference {expected}",
    effect="lanes take part on one side only",
    fix="select lanes{at} as the reference does: {expected}",
    fixes={},
)


def judge(difference: Difference) -> Detail | None:
    """Conditions of a view (its bounds) and of a select read otherwise than masks of pointer accesses."""
    detail = difference.rule.partition("/")[2]
    site = difference.generated or difference.reference
    op = site.op.short if site is not None else ""
    is_access = op.endswith(("_tko", "_view")) or not op
    if not is_access:
        return SELECTED if detail == "changed" else CHOSEN if detail in ("extra", "missing") else None
    if detail == "missing" and "_view" in op:
        return BOUNDED
    return NARROWED if detail == "extra" and difference.expected not in ("", "all lanes", "nothing") else None
