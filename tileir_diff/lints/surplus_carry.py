"""A loop carries a value that never changes.

## What it does

Reports loops that hand a carried value back unchanged in every iteration: the value before the loop could
be used.
Tokens count as well.

## Why it matters

Surplus carried values hide from the compiler that something is invariant; surplus carried tokens order
accesses that need no order, and have crashed the assembler at -O1 and above.

## Example

`for ... iter_values(%t = %token, %x = %zero) -> (token, tile<f32>)` whose `continue %t, %y` returns `%t` as
it came.

## Known problems

Costs nothing in most kernels; a note.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tileir_diff.lints.facts import continues
from tileir_diff.lints.model import Hit

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tileir_diff.lints.facts import EntryFacts

SEVERITY = "info"


def check(facts: EntryFacts) -> Iterator[Hit]:
    for loop in facts.of("for", "loop"):
        ends = continues(loop)
        if not ends:
            continue
        carried = loop.regions[0].block.args[1 if loop.short == "for" else 0 :]
        same = [
            argument
            for index, argument in enumerate(carried)
            if all(index < len(end.operands) and end.operands[index] is argument for end in ends)
        ]
        if same:
            names = ", ".join(f"%{argument.name_hint or '?'}" for argument in same)
            tokens = all(str(argument.type) == "token" for argument in same)
            what = "token" if tokens else "value"
            changed = f"a {what} that never changes" if len(same) == 1 else f"{what}s that never change"
            yield Hit(
                loop,
                f"the loop carries {changed}: {names}",
                f"use the {what} from before the loop",
            )
