"""Modes of integer ops: signedness, overflow promises, rounding of divisions, shifts.

## What it does

Compares how integer ops read their operands and round, wherever the operands' ranges do not make the
modes equal.

## Why it matters

Division by truncation and by floor differ for negative operands; an unsigned compare sees a negative
number as huge.
An overflow flag is a promise: if the value wraps all the same, the result is undefined.

## Example

`divi %a, %b signed rounding<positive_inf>` in the reference, `divi %a, %b signed` in the generated
kernel:
`integer-mode/division-rounding`: the last, partial tile is lost.

## Known problems

Ranges come from promises, block ids, loops and the launch; where they are unknown, the modes count as
different.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tileir_diff.rules.model import Detail

if TYPE_CHECKING:
    from collections.abc import Mapping

DETAILS: Mapping[str, Detail] = {
    "division-rounding": Detail(
        impact="logic",
        message="the division rounds {actual}; in the reference {expected}",
        effect="the quotient differs wherever the division is not exact, or for negative operands",
        fix="round the division {expected}{at}",
        fixes={
            "cutile-rust": "`/` truncates: use `divi(a, b, rounding::..)` or `ceil_div(a, b)`{at}: {expected}"
        },
    ),
    "overflow": Detail(
        impact="assume",
        message="{op} promises {actual}; in the reference {expected}",
        effect="undefined behaviour where the value wraps",
        fix="promise no more than {expected}{at}",
    ),
    "shift": Detail(
        impact="logic",
        message="{op} shifts {actual}; in the reference {expected}",
        effect="other bits are shifted in, or the value is scaled otherwise",
        fix="shift {expected}{at}",
    ),
    "signedness": Detail(
        impact="logic",
        message="{op} is {actual}; in the reference {expected}",
        effect="operands with the top bit set are read as another number",
        fix="use the {expected} form{at}",
        fixes={"cutile-rust": "use operands of a type that makes `{op}` {expected}{at}"},
    ),
}
