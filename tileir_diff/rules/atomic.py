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

from tileir_diff.rules.model import Detail

if TYPE_CHECKING:
    from collections.abc import Mapping

DETAILS: Mapping[str, Detail] = {
    "extra": Detail(
        impact="logic",
        message="atomic without counterpart in the reference: {actual}",
        effect="memory is updated that the reference does not update",
        fix="remove the atomic{at}",
    ),
    "missing": Detail(
        impact="logic",
        message="no counterpart of the reference's atomic: {expected}",
        effect="updates by other blocks may be lost",
        fix="use the atomic {expected}{at}",
        fixes={
            "cutile-rust": "use `atomic_rmw_tko`, `atomic_cas_tko` or `atomic_red_view_raw`{at}: {expected}"
        },
    ),
    "mode": Detail(
        impact="logic",
        message="the atomic does {actual}; in the reference {expected}",
        effect="another update is made",
        fix="use the mode {expected}{at}",
        fixes={"cutile-rust": "pass the `atomic::..` for {expected}{at}"},
    ),
    "type": Detail(
        impact="logic",
        message="the atomic updates {actual}; in the reference {expected}",
        effect="the bytes of the array are updated as another type",
        fix="update as {expected}{at}",
    ),
}
