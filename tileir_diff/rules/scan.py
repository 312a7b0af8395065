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
        fixes={"cutile-rust": "transpose, scan, transpose{at}: `scan_*` always emits dim=0"},
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
        fixes={"cutile-rust": "pass `reverse::Forward` or `reverse::Reverse`{at}: {expected}"},
    ),
    "extra": Detail(
        impact="logic",
        message="scan without counterpart in the reference: {actual}",
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
        message="no counterpart of the reference's scan: {expected}",
        effect="values are kept apart that the reference accumulates",
        fix="add the scan: {expected}{at}",
    ),
}
