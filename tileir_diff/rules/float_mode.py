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
        message="{op} uses {actual} rounding; in the reference {expected}",
        effect="results differ by a few units in the last place",
        fix="use {expected} rounding{at}",
        fixes={
            "cutile-rust": "use {expected} rounding{at}: pass it to `{op}`, or to its `_with_rounding` form"
        },
    ),
    "ftz": Detail(
        impact="edge",
        message="{op} {actual}; in the reference it {expected}",
        effect="subnormal operands and results become zero on one side only",
        fix="set flush_to_zero{at} as the reference does",
    ),
    "nan": Detail(
        impact="edge",
        message="{op} {actual}; in the reference it {expected}",
        effect="a NaN operand gives NaN on one side and the other operand on the other",
        fix="set propagate_nan{at} as the reference does",
    ),
    "rounding": Detail(
        impact="ulp",
        message="{op} uses {actual} rounding; in the reference {expected}",
        effect="results differ in the last place",
        fix="use {expected} rounding{at}",
        fixes={"cutile-rust": "use {expected} rounding{at}: pass it to `{op}`"},
    ),
}

COARSER = DETAILS["approx"]._replace(
    impact="precision",
    effect="approximates where the reference does not: less exact, and wrong for some large operands",
    fixes={"cutile-rust": "use {expected} rounding{at}: call `{op}` without `rounding::Approx`"},
)

FLUSHED = DETAILS["ftz"]._replace(
    fix="set flush_to_zero{at}",
    fixes={"cutile-rust": "pass `ftz::Enabled` to `{op}`{at}"},
)

KEPT = DETAILS["ftz"]._replace(
    fix="do not set flush_to_zero{at}",
    fixes={"cutile-rust": "pass `ftz::Disabled` to `{op}`{at}"},
)

PROPAGATED = DETAILS["nan"]._replace(
    fix="set propagate_nan{at}",
    fixes={"cutile-rust": "pass `nan::Enabled` to `{op}`{at}"},
)

DROPPED = DETAILS["nan"]._replace(
    fix="do not set propagate_nan{at}",
    fixes={"cutile-rust": "pass `nan::Disabled` to `{op}`{at}"},
)

COMPARED = DETAILS["nan"]._replace(
    message="the compare is {actual}; in the reference {expected}",
    effect="a compare with NaN is true on one side and false on the other",
    fix="use an {expected} compare{at}",
    fixes={},
)

WORDS = {
    "flush_to_zero": "flushes subnormals to zero",
    "subnormals kept": "keeps subnormals",
    "no flush_to_zero": "keeps subnormals",
    "propagate_nan": "propagates NaN",
    "NaN lost": "drops NaN",
    "no propagate_nan": "drops NaN",
}


def words(detail: str, value: str) -> str:
    """`{op} flushes subnormals to zero`; a rounding keeps its name."""
    return WORDS.get(value, value) if detail in ("ftz", "nan") else value


def judge(difference: Difference) -> Detail | None:
    """The fix depends on which side has the mode; an approximation of its own is worse than one it lacks."""
    detail = difference.rule.partition("/")[2]
    if detail == "approx":
        return COARSER if "approx" in difference.actual and "approx" not in difference.expected else None
    if detail == "nan" and "ordered" in difference.expected:
        return COMPARED
    variants = {
        "flushes subnormals to zero": FLUSHED,
        "keeps subnormals": KEPT,
        "propagates NaN": PROPAGATED,
        "drops NaN": DROPPED,
    }
    return variants.get(words(detail, difference.expected))
