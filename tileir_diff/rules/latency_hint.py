"""The `latency` hint of loads and stores.

## What it does

Compares how far ahead the assembler is told to prefetch an access, for the architecture compared.
A hint for `default` holds for each architecture that has none of its own.

## Why it matters

It never changes results, but it changes how deep a loop is pipelined.

## Example

`latency = 4` in the reference, no hint in the generated kernel: `latency-hint/missing`.

## Known problems

A hint on an access that is not in a loop is compared too, though it may have no effect.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tileir_diff.rules.model import Detail

if TYPE_CHECKING:
    from collections.abc import Mapping

DETAILS: Mapping[str, Detail] = {
    "changed": Detail(
        impact="hint",
        message="the {op} has {actual}; in the reference {expected}",
        effect="cost only: the loop is pipelined to another depth",
        fix="hint {expected}{at}",
        fixes={"cutile-rust": "hint {expected}{at}: `Some(n)`, or `Latency::<n>` on pointers"},
    ),
    "extra": Detail(
        impact="hint",
        message="the {op} has the hint {actual}; in the reference it has none",
        effect="cost only: the loop is pipelined to another depth",
        fix="drop the hint{at}",
        fixes={"cutile-rust": "drop the hint{at}: pass `None`, or `Latency::<0>` on pointers"},
    ),
    "missing": Detail(
        impact="hint",
        message="the {op} lacks the hint {expected}",
        effect="cost only: the loop is not pipelined as in the reference",
        fix="hint {expected}{at}",
        fixes={"cutile-rust": "hint {expected}{at}: `Some(n)`, or `Latency::<n>` on pointers"},
    ),
}
