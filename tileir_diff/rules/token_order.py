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
        fix="take the token that the reference takes{at}",
    ),
    "missing": Detail(
        impact="logic",
        message="the {op} does not wait for {expected}, as in the reference",
        effect="the two accesses may happen in either order",
        fix="pass it the token of {expected}{at}",
        fixes={"cutile-rust": "pass `Some(token)` of {expected}, or `join_tokens` of several{at}"},
    ),
}
