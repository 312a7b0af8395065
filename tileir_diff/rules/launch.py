"""What a launch hands to the kernel.

## What it does

Where both sides differ at a launch, each argument of the generated side is given the value that its partner
in the reference has, and both are compared again. If they are the same then, only the launch is wrong, and
this is told in place of all that follows from it.

## Why it matters

The kernel is right: an edit of it would break it. The host passes a stride of the wrong array, the padded
length of a row, or two arrays in the wrong order.

## Example

The launch passes 1000 for the distance of two rows that are 1024 apart: `launch/argument`.

## Known problems

Needs a launch file with the arguments of both sides. Where the kernel leaves another argument unread that
has the right value, it is the kernel that reads one for another, and nothing is told here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tileir_diff.rules.model import Detail

if TYPE_CHECKING:
    from collections.abc import Mapping

DETAILS: Mapping[str, Detail] = {
    "argument": Detail(
        impact="logic",
        message="the launch passes {actual}; that of the reference {expected}",
        effect="the kernel works on other elements or values than it should",
        fix="launch with the value of the reference, {expected}, in place of {actual}",
        cause="host",
    ),
}
