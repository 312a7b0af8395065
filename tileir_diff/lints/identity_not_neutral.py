"""A reduction that starts from a value that is not neutral.

## What it does

Compares the identity of `reduce` and `scan` with the combining op where the body is a single one: 0 for a
sum, 1 for a product, minus and plus infinity (or the type's extreme) for maximum and minimum, all bits for
`andi`, 0 for `ori` and `xori`.

## Why it matters

How often the identity takes part is not specified: a sum that starts from 1 may be too large by the number
of threads.
A front end has written identities with a wrong encoding, which only the disassembled text shows.

## Example

`reduce %x dim=0 identities=[0.000000e+00 : f32]` around `maxf`: the maximum of negative numbers becomes 0.

## Known problems

The largest finite number in place of infinity counts as neutral; bodies of several ops are not judged.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from tileir_diff.dialect.scalars import FORMATS, decode
from tileir_diff.lints.facts import owner
from tileir_diff.lints.model import Hit

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tileir_diff.dialect.attributes import DenseElements
    from tileir_diff.dialect.ir import TileOp
    from tileir_diff.lints.facts import EntryFacts

SEVERITY = "warn"


def check(facts: EntryFacts) -> Iterator[Hit]:
    for op in facts.of("reduce", "scan"):
        for index, identity in enumerate(op.get("identities") or ()):
            combiner = combining_op(op, index)
            if combiner is None or identity is None:
                continue
            if neutral(combiner, identity) is False:
                shown = identity.ints()[0] if identity.element.is_int else identity.floats()[0]
                yield Hit(
                    op,
                    f"identity {shown} is not neutral for {combiner.short}",
                    f"use {_wanted(combiner)}",
                )


def combining_op(op: TileOp, index: int) -> TileOp | None:
    """The only op of the body for operand `index`, on the two elements of that operand."""
    block = op.regions[0].block
    ends = [inner for inner in op.inner() if inner.short == "yield"]
    if not ends or index >= len(ends[0].operands):
        return None
    made_by = owner(ends[0].operands[index])
    pair = list(block.args[2 * index : 2 * index + 2])
    if made_by is None or len(made_by.operands) != 2 or not all(value in pair for value in made_by.operands):
        return None
    return made_by if made_by.operands[0] is not made_by.operands[1] else None


def neutral(combiner: TileOp, identity: DenseElements) -> bool | None:
    """Whether combining with the identity changes nothing; None where the op has no known rule."""
    short = combiner.short
    if identity.element.is_int:
        bits, width = identity.bits[0], identity.element.bits
        ones = (1 << width) - 1
        signed = combiner.get("signed") == "signed"
        wanted = {
            "addi": 0,
            "muli": 1,
            "andi": ones,
            "ori": 0,
            "xori": 0,
            "maxi": 1 << (width - 1) if signed else 0,
            "mini": ones >> 1 if signed else ones,
        }.get(short)
        return None if wanted is None else bits == wanted
    value = identity.floats()[0]
    if short in ("addf", "mulf"):
        return value == (0.0 if short == "addf" else 1.0)
    if short in ("maxf", "minf"):
        if math.isnan(value):
            return not combiner.get("propagate_nan")
        extreme = _largest(identity.element.name)
        return value <= -extreme if short == "maxf" else value >= extreme
    return None


def _largest(element: str) -> float:
    layout = FORMATS[element]
    if layout.special == "ieee":
        top = ((1 << layout.exponent_bits) - 1 << layout.mantissa_bits) - 1
    else:
        top = (1 << layout.exponent_bits + layout.mantissa_bits) - (2 if layout.special == "nan" else 1)
    return decode(top, element)


def _wanted(combiner: TileOp) -> str:
    return {
        "addf": "0.0",
        "mulf": "1.0",
        "maxf": "minus infinity",
        "minf": "plus infinity",
        "addi": "0",
        "muli": "1",
        "andi": "-1",
        "ori": "0",
        "xori": "0",
        "maxi": "the smallest integer",
        "mini": "the largest integer",
    }[combiner.short]
