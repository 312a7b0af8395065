"""Matrix products: operand types, operands, signedness, fast accumulation, scales.

## What it does

Compares the operands of each `mmaf`, `mmai` and `mmaf_scaled`, their element types and modes.

## Why it matters

Operands in another type round before they are multiplied; a 32-bit product without tf32 casts does not
use tensor cores.
Exchanged operands with square tiles type-check.

## Example

`mmaf %a, %b, %acc : tile<64x64xtf32>, ...` in the reference, `tile<64x64xf32>` in the generated kernel:
`mma/operand-type`.

## Known problems

A product of transposed operands in exchanged order is not recognised as the transposed product.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tileir_diff.rules.model import Detail

if TYPE_CHECKING:
    from collections.abc import Mapping

DETAILS: Mapping[str, Detail] = {
    "extra": Detail(
        impact="logic",
        message="the matrix product has no counterpart in the reference: {actual}",
        effect="a product is computed that the reference does not compute",
        fix="remove this product{at}",
    ),
    "fast-acc": Detail(
        impact="precision",
        message="{op} uses {actual}; in the reference {expected}",
        effect="fast accumulation keeps fewer digits of each partial sum",
        fix="use {expected}{at}",
        fixes={"cutile-rust": "use {expected}{at}: `mma`, or `mmaf_with_fast_acc` with `fast_acc::Enabled`"},
    ),
    "missing": Detail(
        impact="logic",
        message="the reference's matrix product has no counterpart: {expected}",
        effect="a product that the reference computes is not computed",
        fix="add the product{at}: {expected}",
    ),
    "operand-type": Detail(
        impact="precision",
        message="{op} multiplies {actual}; in the reference {expected}",
        effect="operands are rounded to another type before they are multiplied",
        fix="cast the operands to {expected}{at}",
        fixes={"cutile-rust": "cast the operands to {expected}{at}, with `convert_tile`"},
    ),
    "operands": Detail(
        impact="logic",
        message="{op} multiplies {actual}; in the reference {expected}",
        effect="another product is computed",
        fix="multiply {expected}{at}",
    ),
    "scale": Detail(
        impact="logic",
        message="{op} scales by {actual}; in the reference by {expected}",
        effect="blocks of the operands are scaled otherwise",
        fix="scale by {expected}{at}",
    ),
    "signedness": Detail(
        impact="logic",
        message="{op} reads its operands as {actual}; in the reference as {expected}",
        effect="bytes from 128 on are read as another number",
        fix="read the operands as {expected}{at}",
        fixes={"cutile-rust": "read the operands as {expected}{at}: pass the `signedness::..` to `mmai`"},
    ),
}

WORDS = {"fast_acc": "fast accumulation", "no fast_acc": "exact accumulation"}


def words(detail: str, value: str) -> str:
    """`mmaf uses fast accumulation`."""
    return WORDS.get(value, value) if detail == "fast-acc" else value
