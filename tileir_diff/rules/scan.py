"""Scans: axis, direction, combiner, identity.

## What it does

Compares each `scan` (prefix sums and the like): its dimension, whether it runs in reverse, what its
region computes, and its identities.

## Why it matters

A scan keeps its operand's type, so nothing but this tells a scan along the wrong axis from the right one.

## Example

`scan %x dim=1 reverse=false ...` in the reference, `scan %x dim=0 reverse=false ...` in the generated
kernel: `scan/axis`.

## Known problems

A scan replaced by a masked sum over a square tile is not recognised as the same.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tileir_diff.rules.model import Detail

if TYPE_CHECKING:
    from collections.abc import Mapping

DETAILS: Mapping[str, Detail] = {
    "axis": Detail(
        impact="logic",
        message="the scan runs along {actual}; in the reference along {expected}",
        effect="other elements are accumulated",
        fix="scan along {expected}{at}",
        fixes={"cutile-rust": "scan along {expected}{at}: `scan_*` takes dim 0; transpose before and after"},
    ),
    "combiner": Detail(
        impact="logic",
        message="the scan combines with {actual}; in the reference with {expected}",
        effect="another quantity is computed",
        fix="combine with {expected}{at}",
    ),
    "direction": Detail(
        impact="logic",
        message="the scan runs {actual}; in the reference {expected}",
        effect="prefixes become suffixes",
        fix="scan {expected}{at}",
        fixes={"cutile-rust": "scan {expected}{at}: pass `reverse::Forward` or `reverse::Reverse`"},
    ),
    "extra": Detail(
        impact="logic",
        message="the scan has no counterpart in the reference: {actual}",
        effect="values are accumulated that the reference keeps apart",
        fix="remove this scan{at}",
    ),
    "identity": Detail(
        impact="logic",
        message="the scan starts from {actual}; in the reference from {expected}",
        effect="the identity takes part in the result",
        fix="use the identity {expected}{at}",
    ),
    "missing": Detail(
        impact="logic",
        message="the reference's scan has no counterpart: {expected}",
        effect="values are kept apart that the reference accumulates",
        fix="add the scan{at}: {expected}",
    ),
}

WORDS = {
    "reverse=True": "in reverse",
    "reverse": "in reverse",
    "reverse=False": "forwards",
    "no reverse": "forwards",
}


def words(detail: str, value: str) -> str:
    """`runs in reverse`, `along dim=1`, `combines with addf`."""
    if detail == "direction":
        return WORDS.get(value, value)
    if detail == "axis" and value.isdecimal():
        return f"dim={value}"
    return value.removesuffix("(region, region)") if detail == "combiner" else value
