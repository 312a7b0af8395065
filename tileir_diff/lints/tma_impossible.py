"""TMA is asked for where the facts of the view forbid it.

## What it does

Looks for `allow_tma = true` on a view access and checks what bulk copies need: unit stride in the last tensor
dimension, other strides and the base address in multiples of 16 bytes.
Constant strides that break the rule are a warning; a base or stride that is not promised to fit is a note.

## Why it matters

The hint has no effect: the access is lowered to plain loads, which can be several times slower, and nothing
says so.

## Example

`allow_tma = true` on a view of `tensor_view<64x100xf16, strides=[100,1]>`: 200 bytes are no multiple of 16.

## Known problems

The compiler may know more about a stride than its promises say.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tileir_diff.dialect.attributes import DivBy
from tileir_diff.dialect.types import GatherScatterView, PartitionView, StridedView
from tileir_diff.lints.facts import WALK_LIMIT, hints_of, owner, splat
from tileir_diff.lints.model import Hit

if TYPE_CHECKING:
    from collections.abc import Iterator

    from xdsl.ir import SSAValue

    from tileir_diff.dialect.ir import TileOp
    from tileir_diff.lints.facts import EntryFacts

SEVERITY = "info"

UNIT = 16
"""Bytes that bulk copies are aligned to."""


def check(facts: EntryFacts) -> Iterator[Hit]:
    for op in facts.of("load_view_tko", "store_view_tko"):
        hints = hints_of(op)
        if not any(each.get("allow_tma") is True for each in hints.values()):
            continue
        view = op.one("view")
        obstacle = None if view is None else _obstacle(view)
        if obstacle is not None:
            reason, certain = obstacle
            yield Hit(
                op,
                f"allow_tma = true has no effect: {reason}",
                "promise the alignment if it holds, lay the array out in 16-byte units, or drop the hint",
                "warn" if certain else "info",
            )


def _obstacle(view: SSAValue) -> tuple[str, bool] | None:
    """Why bulk copies are out, and whether that is certain."""
    kind = view.type
    maker = owner(view)
    tensor = owner(maker.one("tensor_view")) if maker is not None else None
    if not isinstance(kind, (PartitionView, StridedView, GatherScatterView)) or tensor is None:
        return None
    if tensor.short != "make_tensor_view":
        return None
    strides, bits = kind.tensor_view.strides, kind.tensor_view.element.bits
    if not strides or 1 not in strides:
        certain = bool(strides) and None not in strides
        return ("no stride is 1" if certain else "no stride is known to be 1"), certain
    unknown: list[str] = []
    dynamic = iter(tensor.group("strides"))
    for dim, stride in enumerate(strides):
        value = next(dynamic, None) if stride is None else None
        if stride == 1:
            continue
        if stride is not None:
            if stride * bits % (UNIT * 8):
                return f"stride {dim} is {stride * bits // 8} bytes, no multiple of {UNIT}", True
        elif _divisor(value) * bits % (UNIT * 8):
            unknown.append(f"stride {dim} is not promised to be a multiple of {UNIT} bytes")
    if not unknown and _divisor(tensor.one("base")) % UNIT:
        unknown.append(f"the base is not promised to be a multiple of {UNIT}")
    return (unknown[0], False) if unknown else None


def _divisor(value: SSAValue | None) -> int:
    """What a value is promised to be a multiple of; 1 if nothing is known."""
    best = 1
    for _ in range(WALK_LIMIT):
        op: TileOp | None = owner(value)
        if op is None or op.short != "assume":
            break
        promise = op.get("assumption")
        if isinstance(promise, DivBy) and promise.every in (None, 1):
            best = max(best, promise.divisor)
        value = op.one("value")
    number = splat(value)
    if isinstance(number, int) and number:
        best = max(best, number & -number)
    return best
