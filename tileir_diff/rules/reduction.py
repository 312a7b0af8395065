"""Reductions: axis, combiner, identity, extent.

## What it does

Compares the dimension that each `reduce` removes, what its region computes, its identities, and the
number of elements that it combines.
The order inside one reduction is the compiler's on both sides and not compared.

## Why it matters

Where both extents are equal, a reduction along the wrong axis type-checks and passes tests on symmetric
input.
A wrong identity shows only where a lane is masked or empty.

## Example

`reduce %x dim=1 ...` in the reference, `reduce %x dim=0 ...` in the generated kernel: `reduction/axis`.

## Known problems

Two reductions along two axes are equal to one of the reshaped tile only if the combiner is associative
and commutative; for floats this is `arithmetic/association`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tileir_diff.rules.model import Detail

if TYPE_CHECKING:
    from collections.abc import Mapping

DETAILS: Mapping[str, Detail] = {
    "axis": Detail(
        impact="logic",
        message="the reduction runs along {actual}; in the reference along {expected}",
        effect="other elements are combined with each other",
        fix="reduce along {expected}{at}",
        fixes={
            "cutile-rust": "give the `reduce_*` call the axis of {expected}{at}; "
            "`reduce` with a closure always takes axis 0"
        },
    ),
    "combiner": Detail(
        impact="logic",
        message="the reduction combines with {actual}; in the reference with {expected}",
        effect="another quantity is computed",
        fix="combine with {expected}{at}",
    ),
    "extent": Detail(
        impact="logic",
        message="the reduction combines {actual} elements; in the reference {expected}",
        effect="elements are left out, or counted that do not belong to it",
        fix="reduce over {expected} elements{at}",
    ),
    "extra": Detail(
        impact="logic",
        message="reduction without counterpart in the reference: {actual}",
        effect="a dimension is combined that the reference keeps",
        fix="remove this reduction{at}",
    ),
    "identity": Detail(
        impact="logic",
        message="the reduction starts from {actual}; in the reference from {expected}",
        effect="the identity takes part in the result: a maximum that starts from 0 is never negative",
        fix="use the identity {expected}{at}",
        fixes={
            "cutile-rust": "use the `reduce_*` function of that combiner{at}: "
            "`reduce` with a closure always emits identity 0"
        },
    ),
    "missing": Detail(
        impact="logic",
        message="no counterpart of the reference's reduction: {expected}",
        effect="a dimension is kept that the reference combines",
        fix="add the reduction: {expected}{at}",
    ),
}
