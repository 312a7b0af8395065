"""Constants that take part in a result.

## What it does

Compares constants by their exact bits, each in the type in which it is used.

## Why it matters

A mistyped constant, or one that was parsed as 0, changes everything that it touches.

## Example

`constant <f32: 1.442695e+00>` in the reference, `constant <f32: 0.693147e+00>` in the generated kernel:
`constant/value`.

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
    "value": Detail(
        impact="logic",
        message="the constant is {actual}; in the reference {expected}",
        effect="every result that the constant takes part in changes",
        fix="use {expected}{at}",
    ),
}
