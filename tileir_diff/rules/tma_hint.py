"""The `allow_tma` hint of view loads and stores.

## What it does

Compares whether the assembler may use the tensor memory accelerator for an access, for the architecture
compared.
Keys are resolved first: a hint for `default` holds for each architecture that has none of its own.
Absent and `allow_tma = true` are the same.

## Why it matters

It never changes results, but it changes which instructions an access becomes.

## Example

`allow_tma = false` in the reference, no hint in the generated kernel: `tma-hint/missing`.

## Known problems

Whether TMA is really used also depends on alignment and strides; `divisibility` is about those.
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
        effect="cost only: the access may become other instructions",
        fix="hint {expected}{at}",
        fixes={"cutile-rust": "hint {expected}{at}: pass `tma::Enabled` or `tma::Disabled`"},
    ),
    "extra": Detail(
        impact="hint",
        message="the {op} has the hint {actual}; in the reference it has none",
        effect="cost only: the access may become other instructions",
        fix="drop the hint{at}",
        fixes={"cutile-rust": "drop the hint{at}: pass `tma::Enabled`, which is the default"},
    ),
    "missing": Detail(
        impact="hint",
        message="the {op} lacks the hint {expected}",
        effect="cost only: the access may become other instructions",
        fix="hint {expected}{at}",
        fixes={"cutile-rust": "hint {expected}{at}: pass `tma::Disabled`"},
    ),
}
