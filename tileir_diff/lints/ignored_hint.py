"""A hint that the assembler drops.

## What it does

Reports optimization hints with an architecture, a key or a value that the assembler does not take:
`occupancy` outside 1 to 32, `num_cta_in_cga` that is no power of two up to 16 (or not 1 before sm_90),
`latency` outside 1 to 10.

## Why it matters

The assembler ignores such a hint without a word, so a kernel that was tuned runs with the defaults.

## Example

`optimization_hints=<sm_100 = {occupancy = 64}>` on an entry.

## Known problems

Newer assemblers may take keys that are not in the table.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tileir_diff.lints.model import Hit

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tileir_diff.lints.facts import EntryFacts

SEVERITY = "warn"


def check(facts: EntryFacts) -> Iterator[Hit]:
    from tileir_diff.dialect.verifier.hints import ignored_hint

    for op in (facts.entry, *facts.ops):
        broken = ignored_hint(op)
        if broken is not None:
            yield Hit(
                op,
                broken.message.replace("`", ""),
                "give a value that the architecture takes, or remove the hint",
            )
