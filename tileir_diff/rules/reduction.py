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

    from tileir_diff.match.model import Difference

DETAILS: Mapping[str, Detail] = {
    "axis": Detail(
        impact="logic",
        message="the reduction runs along {actual}; in the reference along {expected}",
        effect="other elements are combined with each other",
        fix="reduce along {expected}{at}",
        fixes={
            "cutile-rust": "reduce along {expected}{at}: pass it to `reduce_*`; "
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
        message="the reduction has no counterpart in the reference: {actual}",
        effect="a dimension is combined that the reference keeps",
        fix="remove this reduction{at}",
    ),
    "identity": Detail(
        impact="logic",
        message="the reduction starts from {actual}; in the reference from {expected}",
        effect="the identity takes part in the result",
        fix="use the identity {expected}{at}",
        fixes={
            "cutile-rust": "use the identity {expected}{at}: the `reduce_*` functions have their own, "
            "`reduce` with a closure always has 0"
        },
    ),
    "missing": Detail(
        impact="logic",
        message="the reference's reduction has no counterpart: {expected}",
        effect="a dimension is kept that the reference combines",
        fix="add the reduction{at}: {expected}",
    ),
}

NEVER_NEGATIVE = DETAILS["identity"]._replace(
    effect="the identity takes part in the result: a maximum that starts from 0 is never negative"
)

ALL_NAN = DETAILS["identity"]._replace(
    effect="no number that is combined is below either: only where all of them are NaN is it the result"
)

OTHER_EXTENT = DETAILS["extent"]._replace(
    message="the reduction combines other elements than in the reference",
    fix="reduce{at} the elements that the reference reduces",
)

OTHER_OP = DETAILS["combiner"]._replace(
    message="the generated kernel has a {actual} where the reference has a {expected}",
    fix="use a {expected}{at}",
)

WORDS = {"reduce": "reduction"}


def words(detail: str, value: str) -> str:
    """`along dim=1`, `combines with addf`, `combines 64 elements`."""
    if detail == "axis" and value.isdecimal():
        return f"dim={value}"
    if detail == "combiner":
        return WORDS.get(value, value.removesuffix("(region, region)"))
    return value.strip("(),") if detail == "extent" else value


def judge(difference: Difference) -> Detail | None:
    """Where the values are no numbers or names of ops, a sentence about them would make no sense."""
    detail = difference.rule.partition("/")[2]
    values = (difference.expected, difference.actual)
    if detail == "identity" and difference.impact == "edge":
        return ALL_NAN
    if detail == "identity" and values == ("-inf", "0"):
        return NEVER_NEGATIVE
    if detail == "extent" and not all(words(detail, value).isdecimal() for value in values):
        return OTHER_EXTENT
    return OTHER_OP if detail == "combiner" and values in (("scan", "reduce"), ("reduce", "scan")) else None
