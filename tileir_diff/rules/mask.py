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

    from tileir_diff.match.model import Difference, Site

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

LOOSER = DETAILS["missing"]._replace(
    message="the mask of the {op} lacks {expected}, which the reference has",
    fix="mask the {op}{at} with {expected} as well",
    fixes={},
)

TIGHTER = NARROWED._replace(message="the {op} is active only where {actual}; in the reference on all lanes")

BOUNDED = DETAILS["missing"]._replace(
    message="the {op} does not stop at {expected}, as in the reference",
    effect="elements where {expected} is false are accessed",
    fix="give the view{at} the extents of the reference, so that it ends at {expected}",
    fixes={},
)

ENDED = DETAILS["extra"]._replace(
    message="the {op} is active only where {actual}; in the reference everywhere",
    fix="give the view{at} the extents of the reference, or show that the condition always holds",
    fixes={},
)

SELECTED = DETAILS["changed"]._replace(
    impact="logic",
    message="the condition is {actual}; in the reference {expected}",
    effect="lanes on which the two conditions disagree get another value",
    fix="take as condition {expected}{at}",
)

BOUNDING = SELECTED._replace(effect=DETAILS["changed"].effect)

CHOSEN = DETAILS["missing"]._replace(
    impact="logic",
    message="computes {actual}; the reference {expected}",
    effect="lanes take part on one side only",
    fix="select lanes{at} as the reference does: {expected}",
    fixes={},
)

JOINED = CHOSEN._replace(
    message="the condition lacks {expected}, which the reference's has",
    fix="take {expected} into the condition{at} as well",
)

SIZED = DETAILS["changed"]._replace(
    message="the view has the size {actual}; in the reference {expected}",
    effect="elements outside the array are accessed, or elements inside are not",
    fix="give the view{at} the size {expected}",
)


def judge(difference: Difference) -> Detail | None:
    """Conditions of a view (its bounds) and of a select read otherwise than masks of pointer accesses."""
    detail = difference.rule.partition("/")[2]
    sites = [site for site in (difference.generated, difference.reference) if site is not None]
    ops = [site.op.short for site in sites]
    if ops[:1] == ["make_tensor_view"]:
        return SIZED
    is_access = "select" not in ops and (not ops or ops[0].endswith(("_tko", "_view")))
    if not is_access and detail == "changed":
        return BOUNDING if difference.impact == "bounds" else SELECTED
    if detail == "missing" and ops[:1] == ["andi"]:
        return JOINED
    if not is_access:
        return CHOSEN if detail in ("extra", "missing") else None
    of_view = bool(ops) and "_view" in ops[0]
    if detail == "missing":
        return BOUNDED if of_view else LOOSER if _is_masked(difference.generated) else None
    if detail != "extra":
        return None
    if difference.expected not in ("", "all lanes", "nothing"):
        return NARROWED
    return ENDED if of_view else TIGHTER if _is_masked(difference.reference) else None


def _is_masked(site: Site | None) -> bool:
    return site is not None and bool(site.op.group("mask"))
