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

    from tileir_diff.match.model import Difference

DETAILS: Mapping[str, Detail] = {
    "extra": Detail(
        impact="precision",
        message="the value is {actual}; in the reference {expected}",
        effect="a value is rounded to another type on the way",
        fix="drop the cast{at}",
        fixes={"cutile-rust": "drop the `convert_tile`{at}"},
    ),
    "missing": Detail(
        impact="precision",
        message="the value is {actual}; in the reference {expected}",
        effect="a value is not rounded as in the reference, or computed in another type",
        fix="convert the value{at}: in the reference it is {expected}",
        fixes={"cutile-rust": "convert the value with `convert_tile`{at}: in the reference it is {expected}"},
    ),
    "rounding": Detail(
        impact="ulp",
        message="the cast uses {actual} rounding; in the reference {expected}",
        effect="results differ in the last place of the target type",
        fix="use {expected} rounding{at}",
        fixes={"cutile-rust": "use {expected} rounding{at}: `ftof(x, rounding::..)`"},
    ),
    "saturation": Detail(
        impact="edge",
        message="the cast has {actual} behaviour; in the reference {expected}",
        effect="what is out of the integer's range, or NaN, gives another number, or any",
        fix="give the cast{at} the reference's behaviour: {expected}",
    ),
    "type": Detail(
        impact="precision",
        message="converts to {actual}; the reference to {expected}",
        effect="a value is rounded to another type",
        fix="convert to {expected}{at}",
        fixes={"cutile-rust": "convert to {expected} with `convert_tile`{at}"},
    ),
}

REPLACED = Detail(
    impact="precision",
    message="{actual} where the reference has {expected}",
    effect="a value is converted otherwise",
    fix="convert{at} as the reference does: {expected}",
)


def judge(difference: Difference) -> Detail | None:
    """Ops instead of types: the two sides convert by different ops."""
    ops = any(" " in value for value in (difference.expected, difference.actual))
    return REPLACED if ops and difference.rule.endswith("/type") else None
