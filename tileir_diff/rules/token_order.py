"""Order between memory accesses, as tokens express it.

## What it does

Compares which access must happen before which, wherever two accesses may touch the same memory.
Tokens that order accesses which cannot overlap leave no trace.

## Why it matters

Memory ops are ordered by tokens, not by their place in the text: a load that does not wait for the store
before it may read the old value.

## Example

The load takes the store's token in the reference, a fresh `make_token` in the generated kernel:
`token-order/missing`.

## Known problems

Two arrays are taken as disjoint if the host passes them as different arguments; give `--launch` if it
passes one twice.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tileir_diff.rules.model import Detail

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tileir_diff.match.model import Difference

DETAILS: Mapping[str, Detail] = {
    "changed": Detail(
        impact="logic",
        message="the {op} waits for {actual}; in the reference for {expected}",
        effect="other accesses may happen in either order",
        fix="take the token of {expected}{at}",
    ),
    "extra": Detail(
        impact="hint",
        message="the {op} waits for {actual}; in the reference it does not",
        effect="cost only: accesses are serialised that may overlap in the reference",
        fix="take{at} the token that the reference takes",
    ),
    "missing": Detail(
        impact="logic",
        message="the {op} does not wait for {expected}, as it does in the reference",
        effect="the two accesses may happen in either order",
        fix="pass it{at} the token of {expected}, as the reference does",
        fixes={"cutile-rust": "pass it{at} `Some(token)` of {expected}, as the reference does"},
    ),
    "reversed": Detail(
        impact="logic",
        message="the {op} comes {actual}; in the reference {expected}",
        effect="where both touch one element, what the other one does there counts",
        fix="exchange the two accesses{at}, or their tokens",
    ),
}

MOVED = Detail(
    impact="logic",
    message="the {op} reads before or after other writes of the array than in the reference",
    effect="the value that it reads may be older or newer than in the reference",
    fix="read{at} between the same writes of the array as the reference",
)

HANDED_ON = Detail(
    impact="logic",
    message="the {op} does not hand on the token of {expected}, as it does in the reference",
    effect="what takes the token need not wait for {expected}",
    fix="hand on{at} the token of {expected}, as the reference does",
)


def words(detail: str, value: str) -> str:
    """`does not wait for the load of line 51`."""
    return value.removeprefix("after ") if detail == "missing" else value


def judge(difference: Difference) -> Detail | None:
    """A read that moved past a write, rather than another token; or a token that is lost on the way."""
    if difference.actual == "not handed on":
        return HANDED_ON
    moved = difference.actual.startswith("reads ") and difference.rule.endswith("/changed")
    return MOVED if moved else None
