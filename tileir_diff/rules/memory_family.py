"""Which memory operations there are, and of which family.

## What it does

Pairs every load, store and atomic of one kernel with one of the other: by the array it accesses and by
what flows in and out of it.
Reports an access without a partner, and a partner of another family: a pointer access (`load_ptr_tko`)
for a view access (`load_view_tko`).

## Why it matters

A store that is missing leaves an output unwritten, an extra one overwrites something.
Pointer accesses where the reference uses views cannot use TMA, and cost a factor, not a percent.

## Example

The reference stores the result and the log-sum-exp, the generated kernel only the result:
`memory-family/missing`.

## Known problems

One access that is split in two, or two that are merged, are reported as missing and extra.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tileir_diff.rules.model import Detail

if TYPE_CHECKING:
    from collections.abc import Mapping

DETAILS: Mapping[str, Detail] = {
    "changed": Detail(
        impact="hint",
        message="the {op} is a {actual}; in the reference a {expected}",
        effect="the same elements are accessed, at another cost: a pointer access cannot use TMA",
        fix="use a {expected}{at}, if the cost is to be that of the reference",
    ),
    "extra": Detail(
        impact="logic",
        message="the {actual} has no counterpart in the reference",
        effect="memory is accessed once more than in the reference, or where the reference does not touch it",
        fix="remove this {op}{at}",
    ),
    "missing": Detail(
        impact="logic",
        message="the reference's {expected} has no counterpart",
        effect="what the reference reads or writes there is not read or written",
        fix="add the {expected}, a {op} in the reference",
    ),
}
