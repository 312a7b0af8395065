"""Defects of reductions, loops and branches."""

from __future__ import annotations

import re
from itertools import combinations, pairwise
from typing import TYPE_CHECKING

from benchmarks.mutate.anatomy import split_list
from benchmarks.mutate.literals import other_literal
from benchmarks.mutate.liveness import target
from benchmarks.mutate.memory import replacements
from benchmarks.mutate.model import DEFECT, Change
from benchmarks.mutate.registry import per_dump, per_op
from tileir_diff.dialect.types import TOKEN, Tile

if TYPE_CHECKING:
    from collections.abc import Iterator

    from benchmarks.mutate.context import Context
    from tileir_diff.dialect.ir import TileOp


def _family(op: TileOp) -> str:
    return "reduction" if op.short == "reduce" else "scan"


@per_op("reduce.axis", DEFECT, "reduce", "scan")
def reduce_axis(context: Context, op: TileOp) -> Iterator[Change]:
    source = op.operands[0].type
    assert isinstance(source, Tile)
    shape, now = source.shape, op.get("dim")
    for dim in range(len(shape)):
        same = shape[:dim] + shape[dim + 1 :] == shape[:now] + shape[now + 1 :]
        if dim == now or (op.short == "reduce" and not same):
            continue
        edit = context.word(op, rf"\bdim=({now})\b", f"dim={dim}")
        if edit is not None:
            doubt = "both dimensions have length 1" if shape[dim] == shape[now] == 1 else ""
            yield Change((edit,), f"dim {now} -> {dim}", (_family(op),), doubt)


@per_op("reduce.identity", DEFECT, "reduce", "scan")
def reduce_identity(context: Context, op: TileOp) -> Iterator[Change]:
    parts = context.parts(op)
    literals = op.get("identities")
    if parts is None:
        return
    match = re.search(r"identities=\[", parts.clean)
    if match is None:
        return
    end = parts.clean.index("]", match.end())
    items = split_list(parts.clean, match.end(), end)
    for (start, stop), literal in zip(items, literals, strict=False):
        text = other_literal(literal)
        colon = parts.clean.find(" :", start, stop)
        if text and colon > 0:
            edit = context.edit(op, start, colon, text)
            yield Change((edit,), f"identity {text}", (_family(op), "constant"))


@per_op("scan.reverse", DEFECT, "scan")
def scan_reverse(context: Context, op: TileOp) -> Iterator[Change]:
    now = op.get("reverse")
    edit = context.word(op, r"\breverse=\w+", f"reverse={'false' if now else 'true'}")
    if edit is not None:
        yield Change((edit,), f"reverse {now} -> {not now}", ("scan",))


LOOP_FAMILIES = ("loop", "control-flow", "mask", "addressing", "constant", "arithmetic")


@per_op("loop.bounds", DEFECT, "for")
def loop_bounds(context: Context, op: TileOp) -> Iterator[Change]:
    for index, what in enumerate(("lower bound", "upper bound", "step")):
        for edit, text, _ in replacements(context, op, index):
            yield Change((edit,), f"{what} replaced by {text}", LOOP_FAMILIES)


@per_op("loop.off-by-one", DEFECT, "for")
def loop_off_by_one(context: Context, op: TileOp) -> Iterator[Change]:
    for index, what in ((0, "lower bound"), (1, "upper bound")):
        value = op.operands[index]
        element = str(value.type)[5:-1]
        one, total = context.fresh("one"), context.fresh("bound")
        lines = (
            f"{one} = constant <{element}: 1> : {value.type}",
            f"{total} = addi %{value.name_hint}, {one} : {value.type}",
        )
        edit = context.set_operand(op, index, total)
        step = context.constant(op.operands[2])
        doubt = "" if step is not None and step.bits == (1,) else "the step may hide it"
        if edit is not None:
            yield Change((context.line_before(op, *lines), edit), f"{what} + 1", LOOP_FAMILIES, doubt)


CARRIED_FAMILIES = (
    "loop", "control-flow", "arithmetic", "accumulator", "reduction", "scan", "mma", "addressing", "mask",
    "constant",
    "memory-family", "conversion", "padding", "shape-op",
)  # fmt: skip


@per_op("carried.swap", DEFECT, "continue", "yield", "break")
def carried_swap(context: Context, op: TileOp) -> Iterator[Change]:
    for a, b in combinations(range(len(op.operands)), 2):
        first, second = op.operands[a], op.operands[b]
        if first.type != second.type or first.type == TOKEN or context.key(first) == context.key(second):
            continue
        if context.operand_live(op, a) or context.operand_live(op, b):
            edits = context.swap_operands(op, a, b)
            if edits:
                yield Change(edits, f"{op.short} operands {a} and {b} swapped", CARRIED_FAMILIES)


@per_op("carried.stale", DEFECT, "continue")
def carried_stale(context: Context, op: TileOp) -> Iterator[Change]:
    """The next iteration gets the value that this one got."""
    loop = target(op)
    if loop is None:
        return
    arguments = loop.regions[0].block.args[1 if loop.short == "for" else 0 :]
    for index, (operand, argument) in enumerate(zip(op.operands, arguments, strict=False)):
        if operand is argument or operand.type == TOKEN or not context.operand_live(op, index):
            continue
        if context.key(operand) == context.key(argument):
            continue
        edit = context.set_operand(op, index, f"%{argument.name_hint}")
        if edit is not None:
            yield Change((edit,), f"carries {argument.name_hint} on", CARRIED_FAMILIES)


@per_op("carried.replace", DEFECT, "continue", "yield", "break")
def carried_replace(context: Context, op: TileOp) -> Iterator[Change]:
    for index in range(len(op.operands)):
        if context.operand_live(op, index):
            for edit, text, _ in replacements(context, op, index):
                yield Change((edit,), f"{op.short} operand {index} replaced by {text}", CARRIED_FAMILIES)


@per_op("init.replace", DEFECT, "for", "loop")
def init_replace(context: Context, op: TileOp) -> Iterator[Change]:
    first = len(op.operands) - len(op.group("inits"))
    for index in range(first, len(op.operands)):
        if context.operand_live(op, index):
            for edit, text, _ in replacements(context, op, index):
                yield Change((edit,), f"starts from {text}", CARRIED_FAMILIES)


@per_dump("arguments.swap", DEFECT)
def arguments_swap(context: Context) -> Iterator[Change]:
    """Two parameters of one type change places."""
    for entry in context.entries:
        head = entry.text
        arguments = list(entry.regions[0].block.args)
        for a, b in pairwise(arguments):
            if a.type != b.type or not (context.value_live(a) or context.value_live(b)):
                continue
            first, second = f"%{a.name_hint}", f"%{b.name_hint}"
            at, after = head.find(f"{first}:"), head.find(f"{second}:")
            if at < 0 or after < 0:
                continue
            edits = (
                context.edit(entry, at, at + len(first), second),
                context.edit(entry, after, after + len(second), first),
            )
            families = ("entry-signature", "addressing", "stride", "mask", "bounds", "arithmetic", "loop")
            yield Change(edits, f"{first} and {second} change places", families, "the host may pass them so")
