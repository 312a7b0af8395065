"""Which dimension of the array each dimension of a tile runs along.

## What it does

Compares the `dim_map` of partition and strided views and the `sparse_dim` of gather views.
A layout by `dim_map` and the same layout by `permute` or by exchanged strides are equal.

## Why it matters

With square tiles, a wrong map type-checks and yields the transposed tile.

## Example

`partition_view<..., dim_map=[1, 0]>` in the reference, no `dim_map` in the generated kernel:
`dim-map/changed`.

## Known problems

A transposition that the host does by strides shows only with a launch given.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tileir_diff.rules.model import Detail

if TYPE_CHECKING:
    from collections.abc import Mapping

DETAILS: Mapping[str, Detail] = {
    "changed": Detail(
        impact="logic",
        message="the {op} has {actual}; in the reference {expected}",
        effect="the tile is transposed",
        fix="map the dimensions{at} as the reference does: {expected}",
        fixes={
            "cutile-rust": "pass the dim map of the reference to `make_partition_view`{at} "
            "(`const_array![..]`, or `dim_map::Identity`): {expected}",
            "cutile-python": "pass `order=`{at} as in the reference: {expected}",
        },
    ),
}
