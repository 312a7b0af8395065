"""Atomic accesses.

## What it does

Compares the mode (`addf`, `max`, `umin`, `xchg`, ...) and the element type of each atomic, and finds
atomics that one side replaces by a load and a store.

## Why it matters

Without the atomic, updates of other blocks are lost; `max` on unsigned data orders wrongly from the
middle of the range.

## Example

`atomic_rmw_tko relaxed device %p, addf, %v` in the reference, a load, `addf` and a store in the generated
kernel:
`atomic/missing`.

## Known problems

An atomic whose result is not used and a view reduction are equal only if their masks agree.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tileir_diff.rules.model import Detail, is_absent

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tileir_diff.match.model import Difference

DETAILS: Mapping[str, Detail] = {
    "extra": Detail(
        impact="logic",
        message="the {actual} has no counterpart in the reference",
        effect="memory is updated that the reference does not update",
        fix="remove the atomic{at}",
    ),
    "missing": Detail(
        impact="logic",
        message="the reference's {expected} has no counterpart",
        effect="updates by other blocks may be lost",
        fix="add the {expected}{at}",
        fixes={
            "cutile-rust": "add the {expected}{at}: `atomic_rmw_tko`, `atomic_cas_tko`, `atomic_red_view_raw`"
        },
    ),
    "mode": Detail(
        impact="logic",
        message="the atomic operation is {actual}; in the reference {expected}",
        effect="another update is made",
        fix="use the mode {expected}{at}",
        fixes={"cutile-rust": "use the mode {expected}{at}: pass its `atomic::..`"},
    ),
    "type": Detail(
        impact="logic",
        message="the atomic updates {actual}; in the reference {expected}",
        effect="the bytes of the array are updated as another type",
        fix="update as {expected}{at}",
    ),
}

REPLACED = Detail(
    impact="logic",
    message="{actual} where the reference has {expected}",
    effect="updates by other blocks may be lost, or are made where the reference makes none",
    fix="use the {expected}{at}",
)


def judge(difference: Difference) -> Detail | None:
    """An atomic in the place of a store, or the other way round."""
    if difference.rule.partition("/")[2] not in ("extra", "missing"):
        return None
    return None if is_absent(difference.expected) or is_absent(difference.actual) else REPLACED
