"""Shapes of tiles.

## What it does

Compares the tile that each memory access moves, and the shape of each value that is computed, once
reshapes, broadcasts of splats and dimensions of size one are out of the way.

## Why it matters

The tile shape decides which elements one block handles: another shape with the same grid skips elements
or handles them twice.

## Example

`partition_view<tile=(64x32), ...>` in the reference, `partition_view<tile=(32x64), ...>` in the generated
kernel:
`tile-shape/changed`.

## Known problems

Two kernels tuned for different tile sizes are different programs: beside the shape only their first tiles
are compared, in where they begin and in what is computed for an element that both have.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tileir_diff.rules.model import Detail

if TYPE_CHECKING:
    from collections.abc import Mapping

DETAILS: Mapping[str, Detail] = {
    "changed": Detail(
        impact="logic",
        message="the {op} has tile shape {actual}; in the reference {expected}",
        effect="a block handles other elements than in the reference",
        fix="use the tile shape {expected}{at}",
        fixes={"cutile-rust": "use the tile shape {expected}{at}: check the order of the const generics"},
    ),
}
