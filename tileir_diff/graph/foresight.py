"""What the counters of a loop tell before its body is evaluated: what they are, and that it is left at once.

Only integer ops that stand in the body itself are looked at. What is not seen here shows when the body has
been evaluated, or not at all.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tileir_diff.graph import closed_forms, constants, integers
from tileir_diff.graph.values import defining_op, is_integer, last_op, ops_within, shape_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from xdsl.ir import Block, SSAValue

    from tileir_diff.dialect.ir import TileOp
    from tileir_diff.graph.evaluate import Evaluator
    from tileir_diff.graph.kernel import Loop
    from tileir_diff.graph.terms import Term

_SEEN = {name: integers.HANDLERS[name] for name in ("addi", "cmpi", "muli", "subi")} | constants.HANDLERS


def counters(ev: Evaluator, loop: Loop) -> None:
    """Carried integers that step by an invariant are functions of the iteration from the start."""
    region = loop.op.regions[0]
    ends = [end for end in ev.arrays.flows.ends.get(loop.op, ()) if end.short == "continue"]
    if len(ends) != 1 or ends[0] is not last_op(region):
        return
    open_ = [carry for carry in loop.carries if is_integer(carry.value) and not shape_of(carry.value)]
    inside = frozenset((loop.iteration, *(carry.leaf for carry in loop.carries)))
    for carry in open_:
        onward = _value(ev, region.block, ends[0].operands[carry.index])
        form = None if onward is None else closed_forms.form(ev, loop, carry, onward, inside)
        if form is not None:
            loop.closed[carry.leaf] = form
    for carry in open_:
        ev.env[carry.value] = loop.closed.get(carry.leaf, ev.env[carry.value])


def passes(ev: Evaluator, op: TileOp, inits: Sequence[Any]) -> int | None:
    """How often a `loop` gets to its way out, where that is once or twice; None: more often, or not seen.

    Not of a loop over all tiles that another grid would share out otherwise.
    """
    block = op.regions[0].block
    ends = ev.arrays.flows.ends.get(op, [])
    if [end.short for end in ends] != ["break", "continue"] or ends[1] is not last_op(op.regions[0]):
        return None
    branch = ends[0].parent_op()
    if branch is None or branch.parent is not block or any(each.short == "return" for each in ops_within(op)):
        return None
    terms = ev.terms
    leaves = terms.true if ends[0].parent is branch.regions[0].block else terms.false
    values: list[Any] = list(inits)
    for count in (1, 2):
        for arg, value in zip(block.args, values, strict=True):
            ev.env[arg] = value
        condition = _value(ev, block, branch.operands[0])
        if condition == leaves:
            return count
        if condition not in (terms.true, terms.false):
            return None
        before, values = values, [_value(ev, block, value) for value in ends[1].operands]
        steps = [(start, end) for start, end in zip(before, values, strict=True) if isinstance(start, int)]
        if any(closed_forms.over_grid(ev, start, terms.sub(end, start)) for start, end in steps if end):
            return None
    return None


def _value(ev: Evaluator, block: Block, value: SSAValue) -> Term | None:
    """What a value is where the arguments of the block are as they stand; None where that is not seen."""
    op = defining_op(value)
    if op is None or op.parent is not block:
        known = ev.env.get(value)
        return known if isinstance(known, int) else None
    if op.short not in _SEEN or any(_value(ev, block, operand) is None for operand in op.operands):
        return None
    _SEEN[op.short](ev, op)
    return ev.env[value]
