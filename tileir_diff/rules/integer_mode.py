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

    from tileir_diff.match.model import Difference

DETAILS: Mapping[str, Detail] = {
    "division-rounding": Detail(
        impact="logic",
        message="the division rounds {actual}; in the reference {expected}",
        effect="the quotient differs where the division is not exact, for operands of one sign or of both",
        fix="round the division {expected}{at}",
        fixes={
            "cutile-rust": "round the division {expected}{at}: `/` truncates, `ceil_div(a, b)` rounds up, "
            "`divi(a, b, rounding::..)` as told"
        },
    ),
    "overflow": Detail(
        impact="assume",
        message="{op} promises {actual}; the reference promises {expected}",
        effect="undefined behaviour where the value wraps",
        fix="promise no more{at} than the reference: {expected}",
    ),
    "shift": Detail(
        impact="logic",
        message="{op} is {actual}; in the reference {expected}",
        effect="other bits are shifted in, or the value is scaled otherwise",
        fix="use the {expected} shift{at}",
    ),
    "signedness": Detail(
        impact="logic",
        message="{op} is {actual}; in the reference {expected}",
        effect="operands with the top bit set are read as another number",
        fix="use the {expected} form{at}",
        fixes={"cutile-rust": "use the {expected} form{at}: the type of the operands decides"},
    ),
}

DIRECTIONS = {
    "zero": "zero",
    "rounds towards zero": "zero",
    "negative_inf": "down",
    "rounds down": "down",
    "positive_inf": "up",
}
"""Where a quotient that is not exact goes. Not "rounds up": the other side may divide another number then."""

DIFFERING = {
    frozenset({"zero", "down"}): "negative",
    frozenset({"zero", "up"}): "positive",
    frozenset({"up", "down"}): "",
}
"""Which quotients that are not exact two directions round otherwise; "": all of them."""

DROPPED = DETAILS["overflow"]._replace(fix="drop the overflow flag{at}")

REPLACED = DETAILS["signedness"]._replace(
    message="{actual} where the reference has {expected}",
    fix="write it{at} as the reference does: {expected}",
    fixes={},
)

WORDS = {
    "division-rounding": {
        "rounds down": "down",
        "rounds up": "up",
        "negative_inf": "down",
        "positive_inf": "up",
        "rounds towards zero": "towards zero",
        "zero": "towards zero",
    },
    "overflow": {
        "none": "nothing",
        "nsw": "no signed wrap (nsw)",
        "nuw": "no unsigned wrap (nuw)",
        "nw": "no wrap (nw)",
    },
}


def words(detail: str, value: str) -> str:
    """`the division rounds down`, `promises no signed wrap (nsw)`."""
    return WORDS.get(detail, {}).get(value, value)


def judge(difference: Difference) -> Detail | None:
    """No promise cannot be made; ops of two kinds are no matter of signed or unsigned alone."""
    detail = difference.rule.partition("/")[2]
    if detail == "overflow" and difference.expected == "none":
        return DROPPED
    if detail == "division-rounding":
        return _rounded(difference)
    forms = ("signed", "unsigned")
    named = difference.expected in forms and difference.actual in forms
    return REPLACED if detail == "signedness" and not named else None


def _rounded(difference: Difference) -> Detail | None:
    """For which quotients two directions differ; None where one of them is not known."""
    words = (difference.expected, difference.actual)
    directions = [DIRECTIONS.get(word) for word in words]
    sign = DIFFERING.get(frozenset(filter(None, directions)))
    if sign is None:
        return None
    record = DETAILS["division-rounding"]
    if not sign:
        return record._replace(effect="each quotient that is not exact is one less, or one more")
    effect = f"another quotient where it is {sign} and not exact, and nowhere else"
    if sign == "positive":
        return record._replace(effect=effect)
    unless = "; if no launch makes it negative, nothing differs: waive the finding"
    fixes = {front_end: fix + unless for front_end, fix in record.fixes.items()}
    return record._replace(effect=effect, fix=record.fix + unless, fixes=fixes)
