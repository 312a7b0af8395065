"""`if`: both branches are evaluated, each under its condition, and their values merged."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tileir_diff.dialect.types import Token
from tileir_diff.graph.carries import Exit
from tileir_diff.graph.orders import Merge, Way
from tileir_diff.graph.values import last_op, sort_of, union_of_tokens
from tileir_diff.graph.writes import History

if TYPE_CHECKING:
    from xdsl.ir import Region, SSAValue

    from tileir_diff.dialect.ir import TileOp
    from tileir_diff.graph.evaluate import Evaluator, Handler
    from tileir_diff.graph.terms import Term


def if_(ev: Evaluator, op: TileOp) -> None:
    terms = ev.terms
    condition = ev.operand(op, "condition")
    outer = ev.live
    first = len(ev.kernel.effects)
    stored_before = dict(ev.stored)
    then = _branch(ev, op.regions[0], outer, condition)
    then_live = ev.live
    middle = len(ev.kernel.effects)
    stored_then, ev.stored = ev.stored, dict(stored_before)
    other = _branch(ev, op.regions[1] if len(op.regions) > 1 else None, outer, terms.negate(condition))
    bounds = range(first, middle), range(middle, len(ev.kernel.effects))
    for array in stored_then | ev.stored:
        before = stored_before.get(array, History())
        branches = [stored.get(array, before) for stored in (stored_then, ev.stored)]
        if branches != [before, before]:
            ev.stored[array] = before.branched(*branches)
    ev.live = _live_after(ev, outer, condition, then_live, ev.live)
    for index, result in enumerate(op.results):
        if then is None or other is None:
            values = then if other is None else other
            value = None if values is None else values[index]
        else:
            value = _merge(ev, op, condition, (then[index], other[index]), result, bounds)
        ev.set(op, value, index)


def _branch(ev: Evaluator, region: Region | None, outer: Term, condition: Term) -> tuple[Any, ...] | None:
    """The values that a branch yields, None where its end is never reached. Sets ``live`` as it is there."""
    terms = ev.terms
    ev.live = terms.conjunction((outer, condition))
    if condition == terms.false:
        return None
    if region is None or not region.blocks:
        return ()
    if ev.live == terms.false:
        return None
    kind, values = ev.block(region.block)
    if kind in ("continue", "break") or (kind == "return" and ev.exits):
        ev.exits[-1].append(Exit(kind, ev.live, values, len(ev.kernel.effects), last_op(region)))
    if kind in ("continue", "break", "return"):
        ev.live = terms.false
    return None if ev.live == terms.false else values


def _live_after(ev: Evaluator, outer: Term, condition: Term, then_live: Term, else_live: Term) -> Term:
    """Where the op after the `if` is reached."""
    terms = ev.terms
    if then_live == terms.false:
        return else_live
    if else_live == terms.false:
        return then_live
    whole = then_live == terms.conjunction((outer, condition))
    if whole and else_live == terms.conjunction((outer, terms.negate(condition))):
        return outer  # no way out in either branch
    return terms.disjunction((then_live, else_live))


def _merge(
    ev: Evaluator,
    op: TileOp,
    condition: Term,
    values: tuple[Any, Any],
    result: SSAValue,
    effects: tuple[range, range],
) -> Any:
    """One of the values of both branches, whose effects are ``effects``."""
    then, other = values
    if isinstance(result.type, Token):
        if then == other:
            return then
        ways = [
            Way(union_of_tokens((value,)), absent, op=last_op(region))
            for value, absent, region in zip(values, effects[::-1], op.regions, strict=True)
        ]
        return ev.kernel.merge_tokens(Merge(tuple(ways)))
    if isinstance(then, int) and isinstance(other, int):
        return ev.terms.ite(condition, then, other, sort_of(result))
    return then if then == other else None


HANDLERS: dict[str, Handler] = {"if": if_}
