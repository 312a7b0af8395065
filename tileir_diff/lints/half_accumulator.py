"""A sum kept in 16 bits.

## What it does

Reports `mmaf` with an `f16` accumulator, a sum reduction or scan over 32 or more `f16` or `bf16` elements,
and a loop that adds to a carried `f16` or `bf16` tile.

## Why it matters

Each addition rounds to 11 or 8 bits: after some hundred terms small ones are lost, and `f16` overflows at
65504.
A kernel was shipped whose attention scores were accumulated in `f16` and were wrong for one model only.

## Example

`mmaf %a, %b, %c : tile<64x64xf16>, tile<64x64xf16>, tile<64x64xf16>`: accumulate in `f32` and convert at
the end.

## Known problems

A kernel that must match a reference with 16-bit accumulation does this on purpose.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tileir_diff.lints.facts import owner, tile
from tileir_diff.lints.model import Hit

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tileir_diff.dialect.ir import TileOp
    from tileir_diff.lints.facts import EntryFacts

SEVERITY = "warn"

HALVES = ("f16", "bf16")
LONG = 32
FIX = "accumulate in f32 and convert the result"


def check(facts: EntryFacts) -> Iterator[Hit]:
    for op in facts.of("mmaf", "reduce", "scan", "for"):
        if op.short == "mmaf":
            kind = tile(op.one("acc"))
            if kind is not None and str(kind.element) in HALVES:
                yield Hit(op, f"the matrix product accumulates in {kind.element}", FIX)
        elif op.short == "for":
            yield from _carried(op)
        else:
            yield from _summed(op)


def _summed(op: TileOp) -> Iterator[Hit]:
    for index, value in enumerate(op.group("operands")):
        kind = tile(value)
        if kind is None or str(kind.element) not in HALVES or op.get("dim") >= kind.rank:
            continue
        extent = kind.shape[int(op.get("dim"))]
        if extent >= LONG and _adds(op, index):
            yield Hit(op, f"the {op.short} sums {extent} elements in {kind.element}", FIX)


def _adds(op: TileOp, index: int) -> bool:
    yields = [inner for inner in op.inner() if inner.short == "yield"]
    combined = owner(yields[0].operands[index]) if yields and index < len(yields[0].operands) else None
    return combined is not None and combined.short == "addf"


def _carried(loop: TileOp) -> Iterator[Hit]:
    arguments = loop.regions[0].block.args[1:]
    last = [inner for inner in loop.inner() if inner.short == "continue"]
    for index, argument in enumerate(arguments):
        kind = tile(argument)
        if kind is None or str(kind.element) not in HALVES or not last or index >= len(last[-1].operands):
            continue
        step = owner(last[-1].operands[index])
        if step is not None and step.short in ("addf", "fma") and argument in step.operands:
            yield Hit(step, f"the loop of line {loop.span.line} adds to a carried {kind.element} value", FIX)
