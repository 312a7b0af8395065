"""Which elements a memory access touches.

## What it does

Compares the address of each access, as base array plus an integer expression per dimension, in a normal
form that does not depend on the type (i32 or i64), on the order of additions or on how a view was built.

## Why it matters

A wrong index reads or writes the wrong tile. Typical: two indices swapped, a block offset forgotten, an
index off by one after a port from a language that counts from one.

## Example

`load_view_tko weak %view[%i, %k]` in the reference, `load_view_tko weak %view[%k, %i]` in the generated
kernel:
`addressing/index`.

## Known problems

Expressions that the normal form cannot decide are `arithmetic/not-proven`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tileir_diff.rules.model import Detail

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tileir_diff.match.model import Difference

DETAILS: Mapping[str, Detail] = {
    "base": Detail(
        impact="logic",
        message="the {op} accesses {actual}; in the reference {expected}",
        effect="another array is read or written",
        fix="access {expected}{at}",
    ),
    "changed": Detail(
        impact="logic",
        message="the {op} accesses {actual}; in the reference {expected}",
        effect="other elements are read or written",
        fix="access {expected}{at}",
    ),
    "index": Detail(
        impact="logic",
        message="the {op} has index {actual}; in the reference {expected}",
        effect="other elements are read or written",
        fix="index it by {expected}{at}",
    ),
    "offset": Detail(
        impact="logic",
        message="the {op} has offset {actual}; in the reference {expected}",
        effect="other elements are read or written",
        fix="offset it by {expected}{at}",
    ),
}

TESTS = ("cmpi", "andi", "ori", "xori")
"""Ops that make a condition, by which an index is chosen."""
ACCESSES = ("load", "store", "atomic")
COMPUTED = Detail(
    impact="logic",
    message="the {op} makes an index of {actual}; in the reference of {expected}",
    effect="other elements are read or written",
    fix="use {expected}{at}",
)
DECIDED = COMPUTED._replace(
    message="with this {op} the index is {actual}; in the reference {expected}",
    fix="write it{at} so that the index is {expected}",
)
READ = Detail(
    impact="logic",
    message="the {op} uses {actual}; in the reference {expected}",
    effect="another array is read or written",
    fix="use {expected}{at}",
)


def judge(difference: Difference) -> Detail | None:
    """An op behind an access, which has no index of its own."""
    site = difference.generated
    if site is None or site.op.short.startswith(ACCESSES):
        return None
    made = DECIDED if site.op.short in TESTS else COMPUTED
    return {"base": READ, "index": made, "offset": made}.get(difference.rule.partition("/")[2])
