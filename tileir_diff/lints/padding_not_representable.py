"""A padding that the element type cannot hold.

## What it does

Reports views whose `padding_value` has no bit pattern in the element type: infinities in f8E4M3FN,
f8E8M0FNU and f4E2M1FN, NaN in f4E2M1FN, zero or a negative zero in f8E8M0FNU.

## Why it matters

The assembler refuses such a view, or pads with something else: a maximum over lanes padded with "minus
infinity" then sees a number or NaN.

## Example

`partition_view<tile=(64), padding_value = neg_inf, tensor_view<?xf8E4M3FN, strides=[1]>>`: load with zero
padding, widen, and `select` minus infinity with the bounds mask.

## Known problems

None.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tileir_diff.dialect.scalars import FORMATS
from tileir_diff.dialect.types import GatherScatterView, PartitionView, StridedView
from tileir_diff.lints.model import Hit

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tileir_diff.lints.facts import EntryFacts

SEVERITY = "warn"


def check(facts: EntryFacts) -> Iterator[Hit]:
    for op in facts.of("make_partition_view", "make_strided_view", "make_gather_scatter_view"):
        kind = op.results[0].type
        if not isinstance(kind, (PartitionView, StridedView, GatherScatterView)) or kind.padding is None:
            continue
        element = kind.tensor_view.element.name
        if not representable(kind.padding, element):
            yield Hit(
                op,
                f"padding {kind.padding}: {element} has no such value",
                "pad with zero, convert to a wider type, and `select` the wanted value with the bounds mask",
            )


def representable(padding: str, element: str) -> bool:
    """Whether an element type has a bit pattern for a padding; integers have zero only."""
    layout = FORMATS.get(element)
    if layout is None:
        return padding == "zero"
    match padding:
        case "zero":
            return layout.has_zero
        case "neg_zero":
            return layout.has_zero and layout.signed
        case "nan":
            return layout.special != "finite"
        case "pos_inf":
            return layout.special == "ieee"
        case _:
            return layout.special == "ieee" and layout.signed
