"""Conversions between element types.

## What it does

Compares the casts on the way of each value. Exact casts, such as f16 to f32 and back, leave no trace.

## Why it matters

A cast through a coarser type loses digits, a missing one computes in another type, and another range
overflows.

## Example

The reference computes in f32 and casts once, the generated kernel casts each factor to bf16 first:
`conversion/extra`.

## Known problems

Whether a value fits into the coarser type is not decided for floats.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tileir_diff.rules.model import Detail

if TYPE_CHECKING:
    from collections.abc import Mapping

DETAILS: Mapping[str, Detail] = {
    "extra": Detail(
        impact="precision",
        message="extra cast {actual}; the reference has {expected}",
        effect="a value is rounded to another type on the way",
        fix="drop the cast{at}",
        fixes={"cutile-rust": "drop the `convert_tile`{at}"},
    ),
    "missing": Detail(
        impact="precision",
        message="no cast {expected}, as the reference has it",
        effect="a value is not rounded as in the reference, or computed in another type",
        fix="cast {expected}{at}",
        fixes={"cutile-rust": "`convert_tile` {expected}{at}"},
    ),
    "rounding": Detail(
        impact="ulp",
        message="the cast rounds {actual}; in the reference {expected}",
        effect="results differ in the last place of the target type",
        fix="round {expected}{at}",
        fixes={"cutile-rust": "use `ftof(x, rounding::..)`{at}: {expected}"},
    ),
    "type": Detail(
        impact="precision",
        message="casts {actual}; the reference {expected}",
        effect="a value is rounded to another type",
        fix="cast {expected}{at}",
        fixes={"cutile-rust": "`convert_tile` {expected}{at}"},
    ),
}
