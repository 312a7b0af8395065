"""A latency hint on a view access in a persistent loop.

## What it does

Looks for a `latency` hint on `load_view_tko` or `store_view_tko` inside a `for` that a block runs over
several tiles: its step is the number of blocks, or its start comes from the block id.
Accesses with `allow_tma = false` are left alone.

## Why it matters

With bulk copies (TMA) in such a loop the hint made the assembler abort, without naming the cause.
The same kernel without the hint compiles.

## Example

`load_view_tko weak %v[%i] ... optimization_hints = <default = {latency = 4}>` below
`for %tile in (%blockId_x to %tiles, step %gridSize_x)`.

## Known problems

Seen with some assembler versions only; many kernels with such a hint compile and run, so this is a note.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tileir_diff.lints.facts import hints_of, owner
from tileir_diff.lints.model import Hit

if TYPE_CHECKING:
    from collections.abc import Iterator

    from xdsl.ir import SSAValue

    from tileir_diff.dialect.ir import TileOp
    from tileir_diff.lints.facts import EntryFacts

SEVERITY = "info"


def check(facts: EntryFacts) -> Iterator[Hit]:
    for op in facts.of("load_view_tko", "store_view_tko"):
        hints = hints_of(op)
        latencies = [
            each["latency"] for each in hints.values() if "latency" in each and each.get("allow_tma", True)
        ]
        if not latencies:
            continue
        loop = persistent_loop(op)
        if loop is not None:
            yield Hit(
                op,
                f"latency = {latencies[0]} on a view access in the persistent loop of line {loop.span.line}",
                "remove the latency hint if the assembler aborts, or set `allow_tma = false` beside it",
            )


def persistent_loop(op: TileOp) -> TileOp | None:
    """The loop over tiles around an op, if the block takes more than its own."""
    parent = op.parent_op()
    while parent is not None and getattr(parent, "short", "entry") != "entry":
        if getattr(parent, "short", "") == "for" and is_persistent(parent):  # pyright: ignore[reportArgumentType]
            return parent  # pyright: ignore[reportReturnType]
        parent = parent.parent_op()
    return None


def is_persistent(loop: TileOp) -> bool:
    """Whether a `for` starts at the block id and steps by the number of blocks."""
    return _comes_from(loop.one("step"), "get_num_tile_blocks") or _comes_from(
        loop.one("lower"), "get_tile_block_id"
    )


def _comes_from(value: SSAValue | None, short: str) -> bool:
    work = [value]
    for _ in range(64):
        if not work:
            return False
        op = owner(work.pop())
        if op is None:
            continue
        if op.short == short:
            return True
        if op.short in ("assume", "addi", "muli", "divi", "exti", "trunci", "subi", "mini", "reshape"):
            work.extend(op.operands)
    return False
