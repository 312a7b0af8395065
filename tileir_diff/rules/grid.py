"""Use of the grid: block ids and grid sizes.

## What it does

Compares which axis of the block id each index comes from, and where the number of blocks enters.

## Why it matters

Two axes exchanged cover the array only if the grid is square. A kernel that trusts a capped grid without
looping leaves rows unwritten.

## Example

The row index comes from block id x in the reference, from y in the generated kernel: `grid/axis`.

## Known problems

What grid the host really launches shows only with `--launch`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tileir_diff.rules.model import Detail

if TYPE_CHECKING:
    from collections.abc import Mapping

DETAILS: Mapping[str, Detail] = {
    "axis": Detail(
        impact="logic",
        message="uses {actual}; the reference {expected}",
        effect="blocks handle other tiles",
        fix="use {expected}{at}, and launch the grid accordingly",
        fixes={"cutile-rust": "use {expected} (`get_tile_block_id()`, `.0` is x){at}"},
    ),
    "size": Detail(
        impact="logic",
        message="the grid is {actual}; in the reference {expected}",
        effect="tiles are left out, or handled twice",
        fix="launch the grid {expected}",
        cause="host",
    ),
}
