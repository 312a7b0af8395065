"""What the assembler makes of matched operations: only with `--lower`.

## What it does

Compares the instructions that `tileiras` chooses for each pair of matched operations, as its remarks tell.
Reported are operations that become something else although no finding says why, where nothing else
differs.

## Why it matters

An access with TMA and one without, or a product with and without tensor cores, differ by factors in speed.

## Example

A load of the reference is a TMA load, and that of the generated kernel is not: its base is not known to be
aligned: `lowering/instruction`.

## Known problems

`tileiras` says nothing of accesses through pointers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tileir_diff.rules.model import Detail

if TYPE_CHECKING:
    from collections.abc import Mapping

DETAILS: Mapping[str, Detail] = {
    "instruction": Detail(
        impact="hint",
        message="the {op} is lowered otherwise",
        effect="cost only: {actual}; in the reference {expected}",
        fix="give the {op}{at} what the reference has: alignment, strides, padding, hints",
    ),
    "tensor-core": Detail(
        impact="hint",
        message="the {op} is lowered otherwise",
        effect="cost only: {actual}; in the reference {expected}",
        fix="give the {op}{at} the operand types and the tile of the reference",
    ),
}
