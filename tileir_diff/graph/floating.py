"""Floating-point arithmetic, conversions and comparison; ``graph.floats`` has the normal form."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from tileir_diff.graph import floats
from tileir_diff.graph.comparisons import compare
from tileir_diff.graph.integers import sides, unsigned
from tileir_diff.graph.modifiers import modifiers
from tileir_diff.graph.values import (
    defining_op,
    element_bits,
    element_name,
    is_bool,
    is_integer,
    operand,
    sort_of,
)

if TYPE_CHECKING:
    from xdsl.ir import SSAValue

    from tileir_diff.dialect.ir import TileOp
    from tileir_diff.graph.evaluate import Evaluator, Handler

ELEMENTWISE = [
    "absf",
    "addf",
    "atan2",
    "ceil",
    "cos",
    "cosh",
    "divf",
    "exp",
    "exp2",
    "floor",
    "fma",
    "fpowf",
    "fpowi",
    "log",
    "log2",
    "maxf",
    "minf",
    "mulf",
    "negf",
    "remf",
    "rsqrt",
    "sin",
    "sinh",
    "sqrt",
    "subf",
    "tan",
    "tanh",
]


def elementwise(ev: Evaluator, op: TileOp) -> None:
    args = tuple([ev.env[value] for value in op.operands])
    ev.terms.evaluating = (ev.side, op)
    if op.short == "divf" and (zero_less := _from_zero(ev, op.operands[1])) is not None:
        element, mods = element_name(zero_less.results[0]), modifiers(zero_less)
        args = args[0], floats.difference_from_zero(ev.terms, element, mods, args[1])
    ev.set(op, ev.terms.float_op((op.short, element_name(op.results[0]), modifiers(op)), args))
    ev.terms.evaluating = None


def _from_zero(ev: Evaluator, divisor: SSAValue) -> TileOp | None:
    """The `subf` of a number from 0 that a divisor is, where it is taken as the negative of the number."""
    op = defining_op(divisor)
    while op is not None and op.short in ("broadcast", "permute", "reshape"):
        op = defining_op(op.operands[0])
    if op is None or op.short != "subf" or not ev.terms.enabled("additive-zero"):
        return None
    zero, number = (ev.env.get(value) for value in op.operands)
    if not isinstance(zero, int) or not isinstance(number, int) or ev.terms.kind[number] == "fc":
        return None
    bits = floats.constant_of(ev.terms, zero)
    negated = bits == 0 and math.copysign(1.0, bits) > 0
    taken = ev.env.get(op.results[0]) == floats.negate(ev.terms, element_name(op.results[0]), number)
    return op if negated and taken else None


def itof(ev: Evaluator, op: TileOp) -> None:
    terms = ev.terms
    term = ev.operand(op, "source")
    mods = modifiers(op)
    signed = op.get("signed") == "signed"
    if is_bool(operand(op, "source")):
        term = terms.scale(terms.b2i(term), -1 if signed else 1)
    elif not signed:
        term = unsigned(terms, term, element_bits(operand(op, "source")))
    if terms.nonneg(term):
        mods = tuple(item for item in mods if item[0] != "signed")
    ev.set(op, terms.float_op(("itof", element_name(op.results[0]), mods), (term,)))


def ftoi(ev: Evaluator, op: TileOp) -> None:
    terms = ev.terms
    term = ev.operand(op, "source")
    source, target = element_name(operand(op, "source")), element_name(op.results[0])
    if is_bool(op.results[0]):
        ev.set(op, terms.node("bool_op", ("ftoi", source, modifiers(op)), (term,)))
        return
    ev.set_node(op, terms.float_op(("ftoi", (source, target), modifiers(op)), (term,)))


def ftof(ev: Evaluator, op: TileOp) -> None:
    names = (element_name(operand(op, "source")), element_name(op.results[0]))
    ev.set(op, ev.terms.float_op(("ftof", names, modifiers(op)), (ev.operand(op, "source"),)))


def bitcast(ev: Evaluator, op: TileOp) -> None:
    terms = ev.terms
    source, result = operand(op, "source"), op.results[0]
    term = ev.operand(op, "source")
    names = (element_name(source), element_name(result))
    sort = sort_of(result)
    if sort == "int" and is_integer(source):
        ev.set(op, term)  # signless integers of one width
    elif sort == "bool":
        ev.set(op, terms.node("bool_op", ("bitcast", names), (term,)))
    else:
        ev.set_node(op, terms.float_op(("bitcast", names, modifiers(op)), (term,)))


def cmpf(ev: Evaluator, op: TileOp) -> None:
    terms = ev.terms
    lhs, rhs = sides(ev, op)
    predicate: str = op.get("predicate")
    if predicate.startswith("greater"):
        lhs, rhs, predicate = rhs, lhs, predicate.replace("greater", "less")
    if op.get("ordering") == "unordered":
        # the negation of the opposite ordered comparison
        opposite, swapped = _OPPOSITE[predicate]
        args = (rhs, lhs) if swapped else (lhs, rhs)
        ev.set(op, terms.negate(compare(terms, opposite, *args)))
        return
    ev.set(op, compare(terms, predicate, lhs, rhs))


_OPPOSITE = {
    "equal": ("not_equal", False),
    "less_than": ("less_than_or_equal", True),
    "less_than_or_equal": ("less_than", True),
    "not_equal": ("equal", False),
}

HANDLERS: dict[str, Handler] = {
    **dict.fromkeys(ELEMENTWISE, elementwise),
    "bitcast": bitcast,
    "cmpf": cmpf,
    "ftof": ftof,
    "ftoi": ftoi,
    "itof": itof,
}
