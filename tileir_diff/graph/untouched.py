"""Whether a loop may write where a load in its body reads, in whichever iteration.

The writes further down have not been evaluated yet where the load is: their addresses are looked up, as far
as pure ops on indices make them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tileir_diff.graph import constants, integers, misc, shapes, views
from tileir_diff.graph.arrays import WRITTEN_GROUP, meet
from tileir_diff.graph.values import View, around, defining_op, operand, ops_within
from tileir_diff.graph.writes import apart

if TYPE_CHECKING:
    from xdsl.ir import SSAValue

    from tileir_diff.dialect.ir import TileOp
    from tileir_diff.graph.evaluate import Evaluator
    from tileir_diff.graph.kernel import Loop
    from tileir_diff.graph.terms import Term

_PURE = {
    **{name: integers.HANDLERS[name] for name in ("addi", "iota", "muli", "subi")},
    **{name: shapes.HANDLERS[name] for name in ("broadcast", "reshape")},
    **constants.HANDLERS,
    **{name: views.HANDLERS[name] for name in ("make_partition_view", "make_tensor_view")},
    "offset": misc.offset,
}
"""Ops that say nothing but what they compute, wherever they are evaluated."""


def writes(ev: Evaluator, loop: Loop, arrays: frozenset[Term], pointer: Term) -> bool:
    """Whether the body of a loop around the load may write, in any iteration, where ``pointer`` points."""
    ops = ev.written_in.get(loop.uid)
    if ops is None:
        every = ((op, ev.arrays.written((op,))) for op in ops_within(loop.op))
        ops = ev.written_in[loop.uid] = [(op, written) for op, written in every if written]
    meeting = [op for op, written in ops if meet(arrays, written)]
    return any(not _apart(ev, loop, op, pointer) for op in meeting)


def _apart(ev: Evaluator, loop: Loop, op: TileOp, pointer: Term) -> bool:
    """Whether a write in a loop never meets a load in it, in any two iterations of it and of those inside."""
    terms = ev.terms
    entered = [each.op for each in ev.loops]
    if any(getattr(above, "short", "") in ("for", "loop") and above not in entered for above in around(op)):
        return False  # the indices of that loop are not known here
    value = operand(op, WRITTEN_GROUP[op.short])
    written = _value(ev, loop, value)
    if isinstance(written, View):
        if any(_value(ev, loop, index) is None for index in op.group("index")):
            return False
        written = views.pointer(ev, op, written)[0]
    if not isinstance(written, int):
        return False
    if any(terms.kind[symbol] == "carry" for term in (written, pointer) for symbol in terms.symbols[term]):
        return False
    inside = ev.loops[ev.loops.index(loop) :]
    return apart(terms, pointer, terms.subst(written, {each.iteration: _any(ev, each) for each in inside}))


def _any(ev: Evaluator, loop: Loop) -> Term:
    """Any iteration of a loop."""
    leaf = ev.terms.leaf("iter", ev.side, loop.uid, "any")
    ev.terms.set_range(leaf, ev.terms.range(ev.terms.atom(loop.iteration)))
    return ev.terms.atom(leaf)


def _value(ev: Evaluator, loop: Loop, value: SSAValue) -> Term | View | None:
    """What a value is, also one that is computed further down in the loop; None where that is not seen."""
    known = ev.env.get(value)
    op = defining_op(value)
    if op is None or loop.op not in around(op):
        return known
    if op.short == "assume":
        return _assumed(ev, loop, op)
    if op.short not in _PURE or any(_value(ev, loop, source) is None for source in op.operands):
        return None
    _PURE[op.short](ev, op)
    return ev.env[value]


def _assumed(ev: Evaluator, loop: Loop, op: TileOp) -> Term | View | None:
    """What is promised of a value stays with the promise; it is the value."""
    found = _value(ev, loop, op.operands[0])
    if found is not None:
        ev.env[op.results[0]] = found
    return found
