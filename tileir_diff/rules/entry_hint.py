"""Hints of the entry: occupancy, CTAs in a cluster, worker warps.

## What it does

Compares `occupancy`, `num_cta_in_cga` and `num_worker_warps_per_cta` of two matched entries, for the
architecture compared.
A hint for `default` holds for each architecture that has none of its own.

## Why it matters

They never change results, but registers, residency and clusters follow from them.

## Example

`optimization_hints=<default = {occupancy = 4}>` in the reference, none in the generated kernel:
`entry-hint/missing`.

## Known problems

A host that multiplies the grid by the occupancy makes a hint part of the launch; only the host's code
shows this.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tileir_diff.rules.model import Detail

if TYPE_CHECKING:
    from collections.abc import Mapping

DETAILS: Mapping[str, Detail] = {
    "changed": Detail(
        impact="hint",
        message="the entry has {actual}; in the reference {expected}",
        effect="cost only: other register limit, residency or cluster size",
        fix="give the entry {expected}",
        fixes={
            "cutile-rust": "write {expected} in `#[cutile::entry(optimization_hints = (default = (..,),))]`"
        },
    ),
    "extra": Detail(
        impact="hint",
        message="the entry has the hint {actual}; in the reference it has none",
        effect="cost only: other register limit, residency or cluster size",
        fix="drop {actual}",
        fixes={"cutile-rust": "drop {actual} from `optimization_hints` and from the compile options"},
    ),
    "missing": Detail(
        impact="hint",
        message="the entry lacks the hint {expected}",
        effect="cost only: other register limit, residency or cluster size",
        fix="give the entry {expected}",
        fixes={
            "cutile-rust": "write {expected} in `#[cutile::entry(optimization_hints = (default = (..,),))]`"
        },
    ),
}
