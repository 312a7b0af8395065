"""Ops that only serve debugging: `print_tko`.

## What it does

Compares what each kernel prints.

## Why it matters

Printing changes no result, but a kernel that prints is not ready to ship.

## Example

`print_tko "n=%d\\n", %n` in the generated kernel only: `debug-op/extra`.

## Known problems

None.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tileir_diff.rules.model import Detail

if TYPE_CHECKING:
    from collections.abc import Mapping

DETAILS: Mapping[str, Detail] = {
    "changed": Detail(
        impact="none",
        message="prints {actual}; the reference {expected}",
        effect="none on results",
        fix="nothing to do",
    ),
    "extra": Detail(
        impact="none",
        message="prints {actual}; the reference prints nothing there",
        effect="none on results; printing costs time",
        fix="remove the print{at}",
    ),
    "missing": Detail(
        impact="none",
        message="does not print {expected}, as the reference does",
        effect="none on results",
        fix="nothing to do",
    ),
}
