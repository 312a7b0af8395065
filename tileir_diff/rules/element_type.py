"""Element types of arrays and tiles.

## What it does

Compares the element type behind each pointer and view, and of each loaded or stored tile.

## Why it matters

A pointer with another element type reinterprets the bytes of the array, or strides through it at another
width.

## Example

`tile<ptr<f16>>` in the reference, `tile<ptr<f32>>` in the generated kernel: `element-type/changed`.

## Known problems

Types of intermediate values are `conversion`, `accumulator` and `mma`, not this family.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tileir_diff.rules.model import Detail

if TYPE_CHECKING:
    from collections.abc import Mapping

DETAILS: Mapping[str, Detail] = {
    "changed": Detail(
        impact="logic",
        message="the {op} handles {actual}; in the reference {expected}",
        effect="the bytes of the array are read or written as another type",
        fix="use the element type {expected}{at}",
    ),
}
