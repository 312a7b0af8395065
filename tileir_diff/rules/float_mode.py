"""Modes of floating-point ops: rounding, flush_to_zero, approximation, NaN rule.

## What it does

Compares the rounding mode, `flush_to_zero`, the approximate forms and `propagate_nan` of each
floating-point op, with the op's default filled in for the version of the dump.

## Why it matters

Approximate functions are a few units in the last place away, and fail for some large operands.
`flush_to_zero` turns subnormals into zero; the NaN rule of a maximum decides whether a NaN survives a
softmax.

## Example

`divf %a, %b rounding<approx> flush_to_zero` in the reference, `divf %a, %b` in the generated kernel:
`float-mode/approx`.

## Known problems

`flush_to_zero` cannot matter where the operands come from a half-precision cast; this is not proven here.
A front end may switch all of these by an environment variable: a kernel that lacks them everywhere was
built otherwise.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tileir_diff.rules.model import Detail

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tileir_diff.match.model import Difference

DETAILS: Mapping[str, Detail] = {
    "approx": Detail(
        impact="ulp",
        message="{op} is {actual}; in the reference {expected}",
        effect="results differ by a few units in the last place",
        fix="use the form {expected}{at}",
        fixes={"cutile-rust": "pass the rounding to `{op}` or to its `_with_rounding` form: {expected}{at}"},
    ),
    "ftz": Detail(
        impact="edge",
        message="{op} is {actual}; in the reference {expected}",
        effect="subnormal operands and results become zero on one side only",
        fix="set flush_to_zero as in the reference: {expected}{at}",
        fixes={"cutile-rust": "pass `ftz::Enabled` or `ftz::Disabled` to `{op}`{at}: {expected}"},
    ),
    "nan": Detail(
        impact="edge",
        message="{op} is {actual}; in the reference {expected}",
        effect="a NaN operand gives NaN on one side and the other operand on the other",
        fix="use the NaN rule {expected}{at}",
        fixes={"cutile-rust": "pass `nan::Enabled` or `nan::Disabled` to `{op}`{at}: {expected}"},
    ),
    "rounding": Detail(
        impact="ulp",
        message="{op} rounds {actual}; in the reference {expected}",
        effect="results differ in the last place",
        fix="round {expected}{at}",
        fixes={"cutile-rust": "pass the rounding {expected} to `{op}`{at}"},
    ),
}

COARSER = Detail(
    impact="precision",
    message="{op} is {actual}; in the reference {expected}",
    effect="approximates where the reference does not: less exact, and wrong for some large operands",
    fix="use the form {expected}{at}",
    fixes={"cutile-rust": "call `{op}` without `rounding::Approx`{at}: {expected}"},
)


def judge(difference: Difference) -> Detail | None:
    """An approximation that only the generated side makes is worse than one that it lacks."""
    approximate = "approx" in difference.actual and "approx" not in difference.expected
    return COARSER if difference.rule.endswith("/approx") and approximate else None
