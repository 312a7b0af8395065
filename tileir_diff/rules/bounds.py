"""Promises about ranges: `assume bounded` and `inbounds` of view accesses.

## What it does

Compares the ranges that each side promises, beyond what holds by construction (block ids, loop indices
and sizes are not negative), and the dimensions along which a view access promises to stay inside.

## Why it matters

A false range is undefined behaviour, and lets the compiler drop a mask that is needed.
`inbounds` on a tile that overhangs reads and writes outside the array.

## Example

`inbounds = [true, true]` on a store in the generated kernel only: `bounds/inbounds`.

## Known problems

Whether a promise is true is the host's matter. With `--launch` it is checked for that launch.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tileir_diff.rules.model import Detail

if TYPE_CHECKING:
    from collections.abc import Mapping

DETAILS: Mapping[str, Detail] = {
    "inbounds": Detail(
        impact="bounds",
        message="the {op} has inbounds = {actual}; in the reference {expected}",
        effect="no bounds check along these dimensions: a tile at the edge reads or writes outside the array",
        fix="pass inbounds = {expected}{at}",
        fixes={
            "cutile-rust": "pass {expected} as the inbounds argument{at}, and no `unchecked_accesses`",
            "cutile-python": "pass `check_bounds=` for inbounds = {expected}{at}",
        },
    ),
    "missing": Detail(
        impact="none",
        message="no range promised; the reference promises {expected}",
        effect="none on results; the compiler knows less",
        fix="nothing to do",
    ),
    "stronger": Detail(
        impact="assume",
        message="promises {actual}; the reference has {expected}",
        effect="undefined behaviour where the promise is false",
        fix="promise no more than {expected}{at}",
        fixes={"cutile-rust": "remove the `assume_bounds`{at}, so that it promises no more than {expected}"},
    ),
    "weaker": Detail(
        impact="none",
        message="promises {actual}; the reference has {expected}",
        effect="none on results; the compiler knows less",
        fix="nothing to do",
    ),
}
