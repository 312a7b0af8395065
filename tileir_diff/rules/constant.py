"""Constants that take part in a result, and globals that are stated to be constant.

## What it does

Compares constants by their exact bits, each in the type in which it is used.
Of a global that is accessed, compares whether it is stated to be `constant`.

## Why it matters

A mistyped constant, or one that was parsed as 0, changes everything that it touches.
A `constant` global is read as its initial value, even where the host or another kernel has written to it.

## Example

`constant <f32: 1.442695e+00>` in the reference, `constant <f32: 0.693147e+00>` in the generated kernel:
`constant/value`.
`global constant @table` in the generated kernel only: `constant/read-only`.

## Known problems

The same formula folded at compile time in double and in single precision may differ by one unit in the
last place.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tileir_diff.rules.model import Detail

if TYPE_CHECKING:
    from collections.abc import Mapping

DETAILS: Mapping[str, Detail] = {
    "read-only": Detail(
        impact="assume",
        message="the global is stated to be {actual}; in the reference it is {expected}",
        effect="what the host or another kernel writes to the global may not be seen",
        fix="declare the global without `constant`, unless nothing ever writes to it",
    ),
    "value": Detail(
        impact="logic",
        message="the constant is {actual}; in the reference {expected}",
        effect="every result that the constant takes part in changes",
        fix="use {expected}{at}",
    ),
    "writable": Detail(
        impact="hint",
        message="the global is {actual}; in the reference it is stated to be {expected}",
        effect="cost only: its contents are loaded each time",
        fix="declare the global `constant`, as the reference does",
    ),
}
