"""Loops: bounds, step, number of trips, carried values.

## What it does

Pairs the loops of both sides and compares where each starts and ends, its step, the number of trips, and
the values that it carries from one trip to the next.

## Why it matters

A trip count rounded down leaves out the last, partial tile, and is right wherever the size is a multiple
of the tile.

## Example

`for %k in (%c0 to %n, ...)` with n = ceildiv(K, 32) in the reference, n = K / 32 in the generated kernel:
`loop/bounds`.

## Known problems

A loop that is unrolled, split or fused on one side is reported as missing or extra.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tileir_diff.rules.model import Detail

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tileir_diff.match.model import Difference

DETAILS: Mapping[str, Detail] = {
    "bounds": Detail(
        impact="logic",
        message="the loop is bounded by {actual}; in the reference by {expected}",
        effect="trips are left out or added",
        fix="bound the loop by {expected}{at}",
        fixes={"cutile-rust": "bound the loop by {expected}{at}; `/` truncates, `ceil_div(a, b)` rounds up"},
    ),
    "carried": Detail(
        impact="logic",
        message="the loop carries {actual}; in the reference {expected}",
        effect="another value reaches the next trip, or leaves the loop",
        fix="carry {expected}{at}",
        fixes={"cutile-rust": "carry {expected}{at}: assign it in the loop body (`let mut`)"},
    ),
    "extra": Detail(
        impact="logic",
        message="the loop has no counterpart in the reference: {actual}",
        effect="ops run several times that the reference runs once",
        fix="remove the loop{at}",
    ),
    "missing": Detail(
        impact="logic",
        message="the reference's loop has no counterpart: {expected}",
        effect="ops run once that the reference runs for each trip",
        fix="add the loop{at}: {expected}",
    ),
    "step": Detail(
        impact="logic",
        message="the loop steps by {actual}; in the reference by {expected}",
        effect="elements are skipped or handled twice",
        fix="step by {expected}{at}",
        fixes={"cutile-rust": "step by {expected}{at}, with `step_by`"},
    ),
    "trip-count": Detail(
        impact="logic",
        message="the loop makes {actual} trips; in the reference {expected}",
        effect="trips are left out or added",
        fix="set the number of trips{at} to {expected}",
        fixes={
            "cutile-rust": "set the number of trips{at} to {expected}; `/` truncates, `ceil_div(a, b)` "
            "rounds up"
        },
    ),
}

TRIPS = DETAILS["trip-count"]

STEPPED = Detail(
    impact="logic",
    message="the loop has another step: {actual} trips; in the reference {expected}",
    effect="elements are skipped or handled twice",
    fix="step{at} as the reference does: it makes {expected} trips",
    fixes={"cutile-rust": "step{at} as the reference does, with `step_by`: it makes {expected} trips"},
)

KIND = Detail(
    impact="logic",
    message="the loop is {actual}; in the reference {expected}",
    effect="another number of trips is made",
    fix="write the loop{at} as the reference does",
)

SHARED = KIND._replace(effect="each iteration is run by other blocks, or by more of them")

OUT_OF_ORDER = KIND._replace(
    effect="iterations that access the same elements run in several blocks, in no order, on one side only"
)

NESTED = Detail(
    impact="logic",
    message="the {op} runs {actual}; in the reference {expected}",
    effect="the {op} runs another number of times",
    fix="nest it{at} as the reference does: {expected}",
)

ENDS = {
    "lower": DETAILS["bounds"]._replace(
        message="the loop starts at {actual}; in the reference at {expected}", fix="start at {expected}{at}"
    ),
    "upper": DETAILS["bounds"]._replace(
        message="the loop ends at {actual}; in the reference at {expected}", fix="end at {expected}{at}"
    ),
    "step": DETAILS["step"],
}
"""By the operand of a loop that ought to be another one."""

COMPUTED = DETAILS["bounds"]._replace(
    message="the {op} computes {actual}; in the reference {expected}",
    fix="compute {expected}{at}",
    fixes={"cutile-rust": "compute {expected}{at}; `/` truncates, `ceil_div(a, b)` rounds up"},
)
"""Of an op before the loop, which a bound is made of."""

COUNTED = DETAILS["bounds"]._replace(
    message="the constant is {actual}; in the reference {expected}", fix="use {expected}{at}", fixes={}
)
"""Of a constant, which a bound is or is made of."""

NOT_CARRIED = DETAILS["carried"]._replace(
    message="the {op} has {actual} where the reference has what its loop carries",
    effect="what one trip computes does not reach the next",
    fix="carry the value{at} from one trip to the next",
    fixes={
        "cutile-rust": "carry the value{at} from one trip to the next: assign it in the loop body (`let mut`)"
    },
)

WORDS = {
    "until a condition": "left on a condition",
}


def words(detail: str, value: str) -> str:
    """`the loop is left on a condition`."""
    del detail
    return WORDS.get(value, value)


def judge(difference: Difference) -> Detail | None:
    """Bounds and steps come as operands (`%n: A.shape0`) or, with both sides' in one, as numbers of trips."""
    detail = difference.rule.partition("/")[2]
    values = (difference.expected, difference.actual)
    if values[0].startswith(("run by", "shared by")):
        return OUT_OF_ORDER if difference.note else SHARED
    if "until a condition" in values:
        return KIND
    if all(value.startswith("in ") and value.endswith((" loop", " loops")) for value in values):
        return NESTED
    if any(value.startswith("%") for value in values):
        return None
    if detail == "carried" and values[0] == "carried value":
        return NOT_CARRIED
    site = difference.generated
    if site is not None and detail in ("bounds", "step") and site.op.short not in ("for", "loop"):
        made = COUNTED if site.op.short == "constant" else COMPUTED
        return made if detail == "bounds" else made._replace(effect=DETAILS["step"].effect)
    if site is not None and site.part in ENDS:
        return ENDS[site.part]
    return {"bounds": TRIPS, "step": STEPPED}.get(detail)
