"""What running both sides shows, where no difference in structure explains it.

## What it does

With `--exec` both kernels run on the same inputs.
An input on which they differ is told with the finding that explains it.
Where the comparison of their structure has none that is bad enough, the input is a finding of its own.

## Why it matters

Either the structure was taken as equal under a condition that the input breaks, or the comparison missed a
difference.

## Example

Two kernels that are equal while a condition on the host holds, run where it does not: `semantics/different`.

## Known problems

The interpreter is not the hardware: see `docs/interpreter.md`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tileir_diff.rules.model import Detail

if TYPE_CHECKING:
    from collections.abc import Mapping

DETAILS: Mapping[str, Detail] = {
    "different": Detail(
        impact="logic",
        message="run on one input, it does not do what the reference does",
        effect="{actual}",
        fix="run both on the input shown, with `tileir-diff run --trace`, and look where they part",
    ),
}
