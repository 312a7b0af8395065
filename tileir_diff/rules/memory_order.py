"""Memory ordering and scope.

## What it does

Compares the ordering (`weak`, `relaxed`, `acquire`, `release`, `acq_rel`) and scope (`tl_blk`, `device`,
`sys`) of each access and atomic.
A load that is not weak must have a counterpart, whether or not its value is used.

## Why it matters

A spin lock with a `relaxed` instead of an `acquire` load works until it does not.

## Example

`load_ptr_tko acquire device` in the reference, `load_ptr_tko weak` in the generated kernel:
`memory-order/ordering`.

## Known problems

An ordering or a scope that is stronger than the reference's fails too: it is another program, if a safe one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tileir_diff.rules.model import Detail

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tileir_diff.match.model import Difference

DETAILS: Mapping[str, Detail] = {
    "extra": Detail(
        impact="logic",
        message="the {actual} has no counterpart in the reference",
        effect="it orders accesses, and may wait for other blocks, where the reference does not",
        fix="remove the {actual}{at}",
    ),
    "missing": Detail(
        impact="logic",
        message="the reference's {expected} has no counterpart",
        effect="what other blocks wrote before they signalled may not be seen",
        fix="add the {expected}{at}",
    ),
    "ordering": Detail(
        impact="logic",
        message="the {op} is {actual}; in the reference {expected}",
        effect="other blocks may see the accesses in another order",
        fix="use the ordering {expected}{at}",
        fixes={"cutile-rust": "use the ordering {expected}{at}: pass its `ordering::..`"},
    ),
    "scope": Detail(
        impact="logic",
        message="the {op} has scope {actual}; in the reference {expected}",
        effect="blocks outside the scope may not see the access in order",
        fix="use the scope {expected}{at}",
        fixes={"cutile-rust": "use the scope {expected}{at}: pass its `scope::..`"},
    ),
}

STRONGER: Mapping[str, Detail] = {
    rule: DETAILS[rule]._replace(
        effect="stronger than the reference asks for: no result differs, but it is another protocol"
    )
    for rule in ("ordering", "scope")
}
WEAKER = {
    "relaxed": ("weak",),
    "acquire": ("weak", "relaxed"),
    "release": ("weak", "relaxed"),
    "acq_rel": ("weak", "relaxed", "acquire", "release"),
    "tl_blk": ("None",),
    "device": ("None", "tl_blk"),
    "sys": ("None", "tl_blk", "device"),
}
"""What each ordering and scope guarantees too."""


def judge(difference: Difference) -> Detail | None:
    """An ordering or a scope that guarantees more is told as that."""
    stronger = difference.expected in WEAKER.get(difference.actual, ())
    return STRONGER.get(difference.rule.partition("/")[2]) if stronger else None
