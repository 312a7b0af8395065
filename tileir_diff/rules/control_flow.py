"""Branches and early exits.

## What it does

Compares under which condition each effect happens, and where loops are left early.
A `loop` that nothing shows to end must have a counterpart, even if all that it does is wait; one that counts
to a bound need not.
A branch and a `select` of the same values are equal, and so is a branch whose condition a mask repeats.
A size that a block divides by is taken as positive; a test of the reference that it is must not be missing.

## Why it matters

An inverted or missing condition makes blocks write that should not, or skips work.

## Example

`if %first` around a store in the reference, an unconditional store in the generated kernel:
`control-flow/missing`.

## Known problems

Conditions that the normal form cannot decide are `arithmetic/not-proven`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tileir_diff.rules.model import Detail, is_absent

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tileir_diff.match.model import Difference

DETAILS: Mapping[str, Detail] = {
    "condition": Detail(
        impact="logic",
        message="the {op} depends on {actual}; in the reference on {expected}",
        effect="the branch is taken in other cases",
        fix="branch on {expected}{at}",
    ),
    "exit": Detail(
        impact="logic",
        message="the loop is left where {actual}; in the reference where {expected}",
        effect="another number of trips is made",
        fix="leave the loop where {expected}{at}",
    ),
    "extra": Detail(
        impact="logic",
        message="the {op} happens only if {actual}; in the reference always",
        effect="work of the reference is skipped in some cases",
        fix="drop the condition{at}",
    ),
    "missing": Detail(
        impact="logic",
        message="the {op} happens always; in the reference only if {expected}",
        effect="work is done that the reference skips",
        fix="do it only if {expected}{at}",
    ),
    "size-test": Detail(
        impact="edge",
        message="divides by a size without the reference's test {expected}",
        effect="undefined where the size is zero; the reference has a result there",
        fix="test {expected}{at}, as the reference does",
    ),
}

ENDLESS = Detail(
    impact="logic",
    message="a loop that is left only where {actual} has no counterpart in the reference",
    effect="the kernel may hang, or wait, where the reference goes on",
    fix="remove the loop{at}, or have it count to a bound",
)

NOT_AWAITED = Detail(
    impact="logic",
    message="the reference's loop, left only where {expected}, has no counterpart",
    effect="what the reference waits for may not have happened",
    fix="add the loop{at}: leave it where {expected}",
)

PREDICATES = frozenset(
    ["equal", "greater_than", "greater_than_or_equal", "less_than", "less_than_or_equal", "not_equal"]
)
COMPARED = DETAILS["exit"]._replace(
    message="the loop is left where the {op} is {actual}; in the reference {expected}",
    fix="compare with {expected}{at}",
)
"""Of the predicate by which a loop is left."""

CHOSEN = Detail(
    impact="logic",
    message="computes {actual}; the reference {expected}",
    effect="another value is chosen in some cases",
    fix="choose{at} as the reference does: {expected}",
)


def judge(difference: Difference) -> Detail | None:
    """A loop on one side only; how one is left; a value that depends on a condition, not an op that does."""
    if is_absent(difference.expected):
        return ENDLESS
    if is_absent(difference.actual):
        return NOT_AWAITED
    if difference.rule == "control-flow/exit":
        return COMPARED if difference.actual in PREDICATES else None
    chosen = any(" ? " in value for value in (difference.expected, difference.actual))
    return CHOSEN if chosen and difference.rule.endswith(("/extra", "/missing")) else None
