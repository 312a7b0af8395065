"""Checks at run time: `assert`.

## What it does

Compares the conditions that each kernel asserts.

## Why it matters

An assert stops the kernel where the reference goes on, and costs time in a loop.
One that is missing lets the kernel go on where the reference stops.

## Example

A bounds check inside the loop of the generated kernel only: `runtime-check/extra`.

## Known problems

That an assert can never fail is only seen if the facts show it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tileir_diff.rules.model import Detail

if TYPE_CHECKING:
    from collections.abc import Mapping

DETAILS: Mapping[str, Detail] = {
    "changed": Detail(
        impact="bounds",
        message="asserts {actual}; the reference {expected}",
        effect="the kernel stops in other cases",
        fix="assert {expected}{at}",
    ),
    "extra": Detail(
        impact="hint",
        message="asserts {actual}; the reference does not",
        effect="the kernel stops where the reference goes on, and the check costs time",
        fix="drop the check{at}, where the index is known to be in range",
        fixes={"cutile-rust": "use an unchecked access{at}: `deny_in_kernel_checks = true` finds them all"},
    ),
    "missing": Detail(
        impact="bounds",
        message="does not assert {expected}, as the reference does",
        effect="the kernel goes on where the reference stops",
        fix="assert {expected}{at}",
        fixes={"cutile-rust": "assert {expected}{at} with `cuda_tile_assert!`"},
    ),
}
