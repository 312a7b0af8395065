"""Index arithmetic on loaded numbers that promises not to wrap: an address of it is that of the integers.

As data it is compared as it wraps, for then a lost or an added promise is the only difference. So are
addresses, unless the other side leaves them to a view, or to wider integers: see ``Terms.unwraps``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tileir_diff.graph import shapes
from tileir_diff.graph.integers import NO_SIGNED_WRAP
from tileir_diff.graph.values import defining_op

if TYPE_CHECKING:
    from xdsl.ir import SSAValue

    from tileir_diff.dialect.ir import TileOp
    from tileir_diff.graph.evaluate import Evaluator
    from tileir_diff.graph.terms import Term

_SHAPES = ("broadcast", "extract", "permute", "reshape")
_ARITHMETIC = ("addi", "muli", "negi", "subi")


def index(ev: Evaluator, value: SSAValue) -> Term:
    """An index that an address is made of."""
    terms = ev.terms
    term: Term = ev.env[value]
    if terms.exact or all(terms.kind[atom] != "wrap" for atom in terms.args[term]):
        return term
    number = _unwrapped(ev, value)
    if number is None:
        return term
    if number != term:
        ev.kernel.unwrapped.add("offset")
    return number if "offset" in terms.unwraps else term


def _unwrapped(ev: Evaluator, value: SSAValue) -> Term | None:
    """The number; None where what it is made of has not been evaluated, as in a trial of one op."""
    op = defining_op(value)
    if op is None or op.short not in (*_SHAPES, *_ARITHMETIC, "exti"):
        return ev.env.get(value)
    if op.short in _SHAPES:
        return _moved(ev, op, value)
    if op.short == "exti":
        return _unwrapped(ev, op.operands[0]) if op.get("signed") == "signed" else ev.env.get(value)
    if op.get("overflow") not in NO_SIGNED_WRAP:
        return ev.env.get(value)
    numbers = [number for operand in op.operands if (number := _unwrapped(ev, operand)) is not None]
    if len(numbers) < len(op.operands):
        return None
    terms = ev.terms
    match op.short:
        case "addi":
            return terms.add(*numbers)
        case "subi":
            return terms.sub(*numbers)
        case "muli":
            return terms.mul(*numbers)
        case _:
            return terms.scale(numbers[0], -1)


def _moved(ev: Evaluator, op: TileOp, value: SSAValue) -> Term | None:
    """What a shape op makes of its source, were that the number that does not wrap."""
    source = op.operands[0]
    number, known, result = _unwrapped(ev, source), ev.env.get(source), ev.env.get(value)
    if number is None or known is None or result is None or number == known:
        return result
    ev.env[source] = number
    shapes.HANDLERS[op.short](ev, op)
    moved = ev.env[value]
    ev.env[source], ev.env[value] = known, result
    return moved
