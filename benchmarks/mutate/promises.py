"""Defects of promises to the compiler, and cost hints."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from benchmarks.mutate.model import DEFECT, HINT, Change, Edit
from benchmarks.mutate.registry import per_op
from tileir_diff.dialect.attributes import Bounded, DivBy
from tileir_diff.dialect.ir import TileOp
from tileir_diff.dialect.types import Tile

if TYPE_CHECKING:
    from collections.abc import Iterator

    from xdsl.ir import SSAValue

    from benchmarks.mutate.context import Context


def divisors(context: Context, value: SSAValue) -> int:
    """The greatest divisor that any assume promises of a value."""
    root, best, todo = context.root(value), 1, [context.root(value)]
    while todo:
        current = todo.pop()
        for use in current.uses:
            op = use.operation
            if isinstance(op, TileOp) and op.short == "assume":
                promise = op.get("assumption")
                if isinstance(promise, DivBy) and promise.every is None:
                    best = max(best, promise.divisor)
                todo.append(op.results[0])
    del root
    return best


@per_op("div-by.stronger", DEFECT, "assume")
def div_by_stronger(context: Context, op: TileOp) -> Iterator[Change]:
    promise = op.get("assumption")
    if not isinstance(promise, DivBy):
        return
    wanted = 2 * divisors(context, op.operands[0])
    edit = context.word(op, rf"div_by<{promise.divisor}\b", f"div_by<{wanted}")
    doubt = "" if context.is_argument(op.operands[0]) else "it may follow from other facts"
    if edit is not None and wanted <= 1 << 20:
        yield Change((edit,), f"div_by {promise.divisor} -> {wanted}", ("divisibility",), doubt)


@per_op("div-by.add", DEFECT, "make_tensor_view", "cmpi", "muli", "exti", "offset", "for", "load_ptr_tko")
def div_by_add(context: Context, op: TileOp) -> Iterator[Change]:
    """Promises a divisor of an argument where it is used."""
    for index, operand in enumerate(op.operands):
        if not isinstance(operand.type, Tile) or operand.type.shape or not context.is_argument(operand):
            continue
        wanted = max(64, 2 * divisors(context, operand))
        fresh = context.fresh("promise")
        line = f"{fresh} = assume div_by<{wanted}>, %{operand.name_hint} : {operand.type}"
        edit = context.set_operand(op, index, fresh)
        if edit is not None and not inside_body(op):
            yield Change((context.line_before(op, line), edit), f"div_by<{wanted}> added", ("divisibility",))


def inside_body(op: TileOp) -> bool:
    """Whether the op is in a reduction's region, where assumes are refused."""
    above = op.parent_op()
    while isinstance(above, TileOp):
        if above.short in ("reduce", "scan"):
            return True
        above = above.parent_op()
    return False


@per_op("bounded.stronger", DEFECT, "assume")
def bounded_stronger(context: Context, op: TileOp) -> Iterator[Change]:
    promise = op.get("assumption")
    if not isinstance(promise, Bounded):
        return
    argument = context.is_argument(op.operands[0])
    doubt = "" if argument else "it may follow from other facts"
    if promise.upper is None:
        edit = context.word(op, r"bounded<(\S+), \?>", r"bounded<\1, 1023>")
        if edit is not None:
            yield Change((edit,), "upper bound 1023 added", ("bounds",), doubt)
    if promise.lower == 0:
        edit = context.word(op, r"bounded<0,", "bounded<7,")
        if edit is not None:
            yield Change((edit,), "lower bound 0 -> 7", ("bounds",), doubt)


# ---- cost hints

HINTED = ("load_view_tko", "store_view_tko", "load_ptr_tko", "store_ptr_tko")
VIEWED = ("load_view_tko", "store_view_tko")


@per_op("latency.change", HINT, *HINTED)
def latency_change(context: Context, op: TileOp) -> Iterator[Change]:
    for arch, hints in op.get("hints").items():
        now = hints.get("latency")
        if now is None:
            continue
        edit = context.word(op, rf"latency = {now}\b", f"latency = {now % 10 + 1}")
        if edit is not None:
            yield Change((edit,), f"{arch}: latency {now} -> {now % 10 + 1}", ("latency-hint",))
        break


@per_op("latency.drop", HINT, *HINTED)
def latency_drop(context: Context, op: TileOp) -> Iterator[Change]:
    hints = op.get("hints")
    if hints and all(set(values) == {"latency"} for values in hints.values()):
        edit = _drop_hints(context, op)
        if edit is not None:
            yield Change((edit,), "latency dropped", ("latency-hint",))


@per_op("latency.add", HINT, *HINTED)
def latency_add(context: Context, op: TileOp) -> Iterator[Change]:
    parts = context.parts(op)
    if parts is not None and "optimization_hints" not in parts.clean:
        yield _add_hint(context, op, "latency = 7", "latency-hint")


@per_op("tma.add", HINT, *VIEWED)
def tma_add(context: Context, op: TileOp) -> Iterator[Change]:
    parts = context.parts(op)
    if parts is not None and "optimization_hints" not in parts.clean:
        yield _add_hint(context, op, "allow_tma = false", "tma-hint")


@per_op("tma.change", HINT, *VIEWED)
def tma_change(context: Context, op: TileOp) -> Iterator[Change]:
    edit = context.word(op, r"allow_tma = false", "allow_tma = true")
    if edit is not None:
        yield Change((edit,), "allow_tma false -> true", ("tma-hint",))


def _add_hint(context: Context, op: TileOp, hint: str, family: str) -> Change:
    text = f"optimization_hints = <default = {{{hint}}}>"
    # Hints stand before `inbounds`.
    edit = context.word(op, r" inbounds", f" {text} inbounds") or context.before_types(op, text)
    assert edit is not None
    return Change((edit,), f"{hint} added", (family,))


def _drop_hints(context: Context, op: TileOp) -> Edit | None:
    parts = context.parts(op)
    if parts is None:
        return None
    match = re.search(r" optimization_hints ?= ?<", parts.clean)
    if match is None:
        return None
    depth, at = 1, match.end()
    while depth:
        depth += {"<": 1, ">": -1}.get(parts.clean[at], 0)
        at += 1
    return context.edit(op, match.start(), at, "")


ENTRY_HINTS = (("occupancy", 7), ("num_cta_in_cga", 4), ("num_worker_warps_per_cta", 8))
"""Entry hints, each with a value that kernels seldom have."""
