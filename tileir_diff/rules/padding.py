"""What a load yields outside the array.

## What it does

Compares the padding of view loads (`padding_value` of the view type) and of masked pointer loads (the
padding operand).

## Why it matters

A view without `padding_value` and a masked load without a padding operand leave their outside lanes
undetermined.
A sum needs 0 there, a maximum -inf, and `0 * undetermined` may be NaN.
Hardware often fills zeros, so tests pass on one architecture and fail on the next.

## Example

The reference loads through `partition_view<tile=(1x1024), padding_value = neg_inf, ...>`, the generated
kernel through `partition_view<tile=(1x1024), ...>`: `padding/missing`.

## Known problems

A load without padding whose outside lanes a later `select` replaces is the same thing; what the
comparison recognises of it is listed with `--equivalences`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tileir_diff.rules.model import Detail

if TYPE_CHECKING:
    from collections.abc import Mapping

DETAILS: Mapping[str, Detail] = {
    "changed": Detail(
        impact="bounds",
        message="the {op} pads with {actual}; in the reference with {expected}",
        effect="lanes outside the array hold {actual} instead of {expected}",
        fix="pad with {expected}{at}",
        fixes={
            "cutile-rust": "pad with {expected}{at}: the padding belongs to the view, or to the pointer load"
        },
    ),
    "extra": Detail(
        impact="edge",
        message="the {op} pads with {actual}; in the reference lanes outside are undetermined",
        effect="where an outside lane reaches a result, the two sides may disagree",
        fix="drop the padding{at}, or add it to the reference, whose lanes outside are undetermined",
        fixes={
            "cutile-rust": "drop the padding{at}: `make_partition_view(.., padding::None, ..)`; "
            "`partition`, `load_tile` and `load_tile_like` always pad with zero"
        },
    ),
    "missing": Detail(
        impact="bounds",
        message="the {op} has no padding; in the reference it pads with {expected}",
        effect="lanes outside the array are undetermined, and may be NaN",
        fix="pad with {expected}{at}",
        fixes={
            "cutile-rust": "pad with {expected}{at}: pass `padding::..` to `make_partition_view`, "
            "or `Some(value)` to `load_ptr_tko`",
            "cutile-python": "pad with {expected}{at}: pass `padding_mode=` to the load",
        },
    ),
}
