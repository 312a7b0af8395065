"""Ops without effect.

## What it does

Reports work on one side that no result depends on, where it tells of a mistake or costs time: loads whose
value is not used, stores that are always overwritten, values that are computed and dropped.
Dead constants are not worth a word.

## Why it matters

A mask that is computed and never used is mostly a mask that was meant to be used.

## Example

A `cmpi` without users beside an unmasked store: `dead-code/unused`.

## Known problems

None.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tileir_diff.rules.model import Detail

if TYPE_CHECKING:
    from collections.abc import Mapping

DETAILS: Mapping[str, Detail] = {
    "dead-load": Detail(
        impact="none",
        message="the loaded value is never used: {actual}",
        effect="none on results, as long as the address is valid",
        fix="remove the load{at}",
    ),
    "dead-store": Detail(
        impact="hint",
        message="one side writes the same elements twice, the other once",
        effect="none on results; the first store costs time",
        fix="store once on both sides{at}",
    ),
    "unused": Detail(
        impact="none",
        message="never used: {actual}",
        effect="none on results",
        fix="use it, or remove it{at}",
    ),
}
