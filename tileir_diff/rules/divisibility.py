"""Promises that a value is a multiple of something: `assume div_by`.

## What it does

Collects what each side promises about each pointer, size and stride, and compares the sets after
everything that follows from types, constants and other promises is taken out.

## Why it matters

A false promise is undefined behaviour: misaligned vector accesses, masks that are wrong for odd sizes.
A promise that is missing costs vector width or TMA, never correctness.

## Example

`assume div_by<16>, %arg1` on a run-time size in the generated kernel only: `divisibility/stronger`.

## Known problems

Whether a promise is true is the host's matter. With `--launch` it is checked for that launch.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tileir_diff.rules.model import Detail

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tileir_diff.match.model import Difference

DETAILS: Mapping[str, Detail] = {
    "missing": Detail(
        impact="hint",
        message="lacks the reference's promise {expected}{of}",
        effect="cost only: narrower accesses, or no TMA",
        fix="promise {expected} where the reference does",
        fixes={
            "cutile-rust": "promise {expected}: `assume_div_by::<_, N>(..)`, or launch with such tensors",
        },
    ),
    "stronger": Detail(
        impact="assume",
        message="promises {actual}{of}; the reference has {expected}",
        effect="undefined behaviour where the promise is false: misaligned accesses, wrong masks",
        fix="promise no more than {expected}{at}",
        fixes={
            "cutile-rust": "promise no more than {expected}{at}: correct or remove the `assume_div_by`, "
            "or compile with `max_divisibility(..)`",
        },
    ),
    "weaker": Detail(
        impact="hint",
        message="promises {actual}{of}; the reference has {expected}",
        effect="cost only: narrower accesses, or no TMA",
        fix="promise {expected}{at}, if the host guarantees it",
    ),
}

DROPPED = DETAILS["stronger"]._replace(
    fix="drop the promise{at}, unless the host guarantees it",
    fixes={
        "cutile-rust": "remove the `assume_div_by`{at}, or compile with `max_divisibility(..)`, "
        "unless the host guarantees it",
    },
)

FALSE = DETAILS["stronger"]._replace(
    fix="drop the promise{at}",
    fixes={"cutile-rust": "remove the `assume_div_by`{at}, or compile with `max_divisibility(..)`"},
)

STATED = DETAILS["stronger"]._replace(
    fix="the front end states it for the argument{at}: no line of the kernel does; give it dynamic extents",
    fixes={
        "cutile-rust": "no line of the kernel states it: the front end does, for the argument{at}; "
        "compile with `max_divisibility(..)`, or make the extents of its tensor dynamic",
    },
)


def judge(difference: Difference) -> Detail | None:
    """A promise that the front end makes by itself, or where the reference makes none."""
    if difference.detail.get("stated") and difference.rule.endswith("/stronger"):
        return STATED
    dropped = difference.expected.startswith("no ") and difference.rule.endswith("/stronger")
    if not dropped:
        return None
    return FALSE if difference.note.startswith("false here") else DROPPED
