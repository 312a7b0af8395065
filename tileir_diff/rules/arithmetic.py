"""What is computed: ops, operands, and how far two forms are the same.

## What it does

Compares the expression behind each stored value.
Integers have a normal form under facts. Floats are compared by structure, modulo commutativity and exact
identities.
Known reformulations are recognised and named, with what they can do at worst.

## Why it matters

A wrong op or exchanged operands change ordinary results.
Another formula for the same function is no harmless thing either: `exp(x)/(1+exp(x))` overflows where
`1/(1+exp(-x))` does not.

## Example

`subf %a, %b` in the reference, `subf %b, %a` in the generated kernel: `arithmetic/operands`.

## Known problems

What the normal form cannot settle is `arithmetic/not-proven`: neither equal nor different, and it fails.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from tileir_diff.rules.model import Detail, is_absent

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tileir_diff.match.model import Difference

DETAILS: Mapping[str, Detail] = {
    "association": Detail(
        impact="ulp",
        message="computes {actual}; the reference {expected}",
        effect="the same sum or product in another order: it rounds otherwise",
        fix="write it{at} in the reference's order: {expected}",
    ),
    "extra": Detail(
        impact="logic",
        message="{actual} has no counterpart in the reference",
        effect="the result is changed by an op that the reference does not have",
        fix="remove the {op}{at}",
    ),
    "extra-rounding": Detail(
        impact="precision",
        message="rounds elsewhere: {actual}; the reference {expected}",
        effect="intermediate values have other types than in the reference, and round otherwise",
        fix="convert{at} where the reference does: {expected}",
    ),
    "missing": Detail(
        impact="logic",
        message="the reference's {expected} has no counterpart",
        effect="an op that changes the result is left out",
        fix="add {expected}{at}",
    ),
    "not-proven": Detail(
        impact="logic",
        message="not proven equal: {actual} and, in the reference, {expected}",
        effect="unknown: the two may be equal for all inputs, or not",
        fix="write it{at} as the reference does, or give launch facts with --launch",
    ),
    "op": Detail(
        impact="logic",
        message="computes {actual}; the reference {expected}",
        effect="another result for ordinary input",
        fix="compute {expected}{at}",
    ),
    "operands": Detail(
        impact="logic",
        message="computes {actual}; the reference {expected}",
        effect="another result for ordinary input",
        fix="compute {expected}{at}",
    ),
    "reformulated": Detail(
        impact="logic",
        message="computes {actual}; the reference {expected}",
        effect="another formula for the same function, that may give another result for ordinary input",
        fix="write it{at} by the reference's formula: {expected}",
    ),
}

USED = DETAILS["operands"]._replace(
    message="the {op} uses {actual}; in the reference {expected}", fix="use {expected}{at}"
)

UNSHOWN = "not shown to be the same"
"""What the comparison says of an access of which it can name no part that differs."""

UNPROVEN = DETAILS["not-proven"]._replace(message="the {expected} is not shown to be that of the reference")

SHOWN = DETAILS["not-proven"]._replace(
    impact="none",
    message="equal, in another form: {actual} and, in the reference, {expected}",
    effect="none on results",
    fix="nothing to do",
)

REPLACED = Detail(
    impact="logic",
    message="{actual} where the reference has {expected}",
    effect="another result for ordinary input",
    fix="write it{at} as the reference does: {expected}",
)

STORED = REPLACED._replace(
    message="stores {actual}; the reference stores {expected}",
    fix="store {expected}{at}",
)

TYPED = DETAILS["extra-rounding"]._replace(
    message="computes in {own_types}; the reference in {their_types}",
    fix="compute{at} in {their_types}, as the reference does",
)


OF_ONE_FUNCTION: Mapping[str, str] = {
    "none": "none: another formula for the same function, with the same results",
    "hint": "cost only: another formula for the same function, with the same results",
    "edge": "another formula for the same function: it differs for NaN, infinities, subnormals, or where it "
    "overflows, and nowhere else",
    "ulp": "another formula for the same function: it rounds otherwise, in the last digits",
    "precision": "another formula for the same function: it loses more digits than the reference's",
}
"""Effects of a formula in place of another one, by what is known of the difference."""


def judge(difference: Difference) -> Detail | None:
    """An op in the place of another one is neither missing nor extra: removing it would not do."""
    if difference.rule == "arithmetic/not-proven" and difference.status == "SEMANTIC_EQUIV":
        return SHOWN
    if difference.actual == UNSHOWN:
        return UNPROVEN
    if difference.rule == "arithmetic/operands" and _is_value(difference.expected, difference.actual):
        return USED
    effect = OF_ONE_FUNCTION.get(difference.impact or "")
    if difference.rule == "arithmetic/reformulated" and effect is not None:
        return DETAILS["reformulated"]._replace(effect=effect)
    if "own_types" in difference.detail:
        return TYPED
    if difference.status not in ("EXTRA", "MISSING"):
        return None
    if "stored" in difference.detail:
        return STORED
    return None if is_absent(difference.expected) or is_absent(difference.actual) else REPLACED


def _is_value(*words: str) -> bool:
    """Whether these are values of the dumps, by their names there, not formulas."""
    return all(re.fullmatch(r"%[\w#]+", each) for each in words)
