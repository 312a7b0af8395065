"""Constants and globals."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

from tileir_diff.dialect.ir import TileOp
from tileir_diff.graph import floats
from tileir_diff.graph.shapes import linear_index
from tileir_diff.graph.values import shape_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tileir_diff.dialect.attributes import DenseElements
    from tileir_diff.dialect.types import Scalar
    from tileir_diff.graph.evaluate import Evaluator, Handler
    from tileir_diff.graph.terms import Term, Terms


def scalar(terms: Terms, element: Scalar, bits: int) -> Term:
    """The number with this bit pattern."""
    if not element.is_int:
        return floats.constant(terms, element.name, bits)
    if element.bits == 1:
        return terms.bool_const(bool(bits & 1))
    value = bits & ((1 << element.bits) - 1)
    return terms.const(value - (1 << element.bits) if value >> (element.bits - 1) else value)


def constant(ev: Evaluator, op: TileOp) -> None:
    """A splat, an arithmetic progression, or a table of bit patterns by row-major index."""
    terms = ev.terms
    dense: DenseElements = op.get("value")
    element: Scalar = dense.element
    if len(set(dense.bits)) == 1:
        ev.set(op, scalar(terms, element, dense.bits[0]))
        return
    lanes = [(terms.lane(dim, extent), extent) for dim, extent in enumerate(shape_of(op.results[0]))]
    linear = linear_index(terms, lanes)
    if element.is_int and element.bits > 1:
        first, *_ = integers = tuple(dense.ints())
        steps = {b - a for a, b in pairwise(integers)}
        if len(steps) == 1:
            ev.set(op, terms.add(terms.const(first), terms.scale(linear, steps.pop())))
            return
    ev.set_node(op, terms.node("table", (element.name, tuple(dense.bits)), (linear,)))


def get_global(ev: Evaluator, op: TileOp) -> None:
    ev.set(op, global_address(ev, op))


def global_address(ev: Evaluator, op: TileOp) -> Term:
    """The address of a global, which is told from others by its content."""
    name = op.get("sym_name") or op.get("name")
    module = ev.entry.parent_op()
    others = module.inner() if isinstance(module, TileOp) else ()
    content = _contents([other for other in others if other.short == "global"]).get(name, name)
    return ev.terms.atom(ev.terms.node("symbol", (content,), ()))


def _contents(globals_: Iterable[TileOp]) -> dict[str, Any]:
    """By name what a global is told by: its content, and its number among those with the same content.

    Constants of one content have one number: it does not matter which of them is read.
    """
    found: dict[str, Any] = {}
    seen: dict[Any, list[bool]] = {}
    for other in globals_:
        dense: DenseElements | None = other.get("value")
        if dense is None:
            continue
        content = (dense.element.name, dense.bits, dense.shape)
        constant = bool(other.get("constant"))
        same = seen.setdefault(content, [])
        if not constant or True not in same:
            same.append(constant)
        number = same.index(True) if constant else len(same) - 1
        found[other.get("sym_name")] = (*content, number)
    return found


HANDLERS: dict[str, Handler] = {
    "constant": constant,
    "get_global": get_global,
}
