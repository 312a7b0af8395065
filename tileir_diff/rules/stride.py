"""Strides of views and of pointer arithmetic.

## What it does

Compares the distance, in elements, between neighbours along each dimension of an array, and the traversal
strides of strided views.

## Why it matters

A view with the strides of the transposed array reads the right number of elements from the wrong places.

## Example

`strides = [%s, 1]` in the reference, `strides = [1, %s]` in the generated kernel: `stride/changed`.

## Known problems

A stride that is a constant on one side and an argument on the other is unified and becomes an obligation
on the host, unless rows of the array would overlap: one that is wrong but long enough is only a condition.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tileir_diff.rules.model import Detail

if TYPE_CHECKING:
    from collections.abc import Mapping

DETAILS: Mapping[str, Detail] = {
    "changed": Detail(
        impact="logic",
        message="the {op} has strides {actual}; in the reference {expected}",
        effect="elements other than the first are read from, or written to, another place",
        fix="use the strides {expected}{at}",
    ),
}
