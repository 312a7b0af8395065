"""Cost hints of a kernel, and promises that only cost when they are lost."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from benchmarks.mutate.model import HINT, Change, Edit
from benchmarks.mutate.promises import ENTRY_HINTS, divisors
from benchmarks.mutate.registry import per_dump, per_op
from tileir_diff.dialect.attributes import DivBy
from tileir_diff.dialect.ir import TileOp

if TYPE_CHECKING:
    from collections.abc import Iterator

    from benchmarks.mutate.context import Context


@per_dump("entry-hint.change", HINT)
def entry_hint_change(context: Context) -> Iterator[Change]:
    for entry in context.entries:
        for key, other in ENTRY_HINTS:
            match = re.search(rf"\b{key} = (\d+)", entry.text)
            if match:
                new = other if int(match.group(1)) != other else 2
                edit = context.edit(entry, *match.span(1), str(new))
                yield Change((edit,), f"{key} {match.group(1)} -> {new}", ("entry-hint",))


@per_dump("entry-hint.drop", HINT)
def entry_hint_drop(context: Context) -> Iterator[Change]:
    for entry in context.entries:
        match = re.search(r" optimization_hints=<[^>]*>", entry.text)
        if match and "= {}" not in match.group() and " = " in match.group():
            yield Change((context.edit(entry, *match.span(), ""),), "hints dropped", ("entry-hint",))


@per_dump("entry-hint.add", HINT)
def entry_hint_add(context: Context) -> Iterator[Change]:
    for entry in context.entries:
        for key, value in ENTRY_HINTS:
            if key in entry.text:
                continue
            match = re.search(r"optimization_hints=<default = {([^}]*)}", entry.text)
            if match:
                joined = f"{match.group(1)}, {key} = {value}" if match.group(1) else f"{key} = {value}"
                edit = context.edit(entry, *match.span(1), joined)
            elif "optimization_hints" not in entry.text:
                at = entry.text.rindex("{")
                edit = context.edit(entry, at, at, f"optimization_hints=<default = {{{key} = {value}}}> ")
            else:
                continue
            yield Change((edit,), f"{key} = {value} added", ("entry-hint",))


@per_op("div-by.weaker", HINT, "assume")
def div_by_weaker(context: Context, op: TileOp) -> Iterator[Change]:
    """Halves a divisor on a view path, where it costs vector width or TMA."""
    promise = op.get("assumption")
    value = op.operands[0]
    if not isinstance(promise, DivBy) or promise.divisor < 4 or not context.is_argument(value):
        return
    others = [other for other in _assumes(context, op) if other is not op]
    roles = set(context.roles(op.results[0]))
    if others or not roles & {"base", "stride", "shape"}:
        return
    assert divisors(context, value) == promise.divisor
    edit = context.word(op, rf"div_by<{promise.divisor}\b", f"div_by<{promise.divisor // 2}")
    if edit is not None:
        wanted = f"div_by {promise.divisor} -> {promise.divisor // 2}"
        yield Change((edit,), wanted, ("divisibility", "tma-hint"), _doubt(op, roles))


@per_op("div-by.drop", HINT, "assume")
def div_by_drop(context: Context, op: TileOp) -> Iterator[Change]:
    promise = op.get("assumption")
    value = op.operands[0]
    if not isinstance(promise, DivBy) or not context.is_argument(value):
        return
    others = [other for other in _assumes(context, op) if other is not op]
    roles = set(context.roles(op.results[0]))
    if others or not roles & {"base", "stride", "shape"}:
        return
    edits: list[Edit] = [context.delete_line(op)]
    for use in op.results[0].uses:
        user = use.operation
        edit = (
            context.set_operand(user, use.index, f"%{value.name_hint}") if isinstance(user, TileOp) else None
        )
        if edit is None:
            return
        edits.append(edit)
    yield Change(
        tuple(edits), f"div_by<{promise.divisor}> dropped", ("divisibility", "tma-hint"), _doubt(op, roles)
    )


def _doubt(op: TileOp, roles: set[str]) -> str:
    """Why it may cost nothing that the promise is lost."""
    if not roles & {"base", "stride"}:
        return "the divisor of an extent"
    again = [
        isinstance(user := use.operation, TileOp) and user.short == "offset" and _promised(user)
        for use in op.results[0].uses
    ]
    return "promised again where it has been offset" if again and all(again) else ""


def _promised(op: TileOp) -> bool:
    """Whether a divisor is promised of the op's result."""
    users = (use.operation for use in op.results[0].uses)
    return any(isinstance(each, TileOp) and isinstance(each.get("assumption"), DivBy) for each in users)


def _assumes(context: Context, op: TileOp) -> list[TileOp]:
    """All div_by promises about the value behind `op`."""
    found: list[TileOp] = []
    todo = [context.root(op.operands[0])]
    while todo:
        for use in todo.pop().uses:
            user = use.operation
            if isinstance(user, TileOp) and user.short == "assume":
                todo.append(user.results[0])
                if isinstance(user.get("assumption"), DivBy):
                    found.append(user)
    return found
