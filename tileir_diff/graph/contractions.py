"""Matrix products, reductions and scans: one node for one lane, closed over the index that is summed over."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tileir_diff.graph import floats
from tileir_diff.graph.nesting import flattened
from tileir_diff.graph.neutral import least_start
from tileir_diff.graph.shapes import relane
from tileir_diff.graph.ties import without_ties
from tileir_diff.graph.values import element_bits, element_name, is_integer, operand, shape_of, signed_range
from tileir_diff.graph.widening import narrow_fold

if TYPE_CHECKING:
    from xdsl.ir import SSAValue

    from tileir_diff.dialect.ir import TileOp
    from tileir_diff.graph.evaluate import Evaluator, Handler
    from tileir_diff.graph.terms import Term


def mma(ev: Evaluator, op: TileOp) -> None:
    """`mmaf`, `mmai`, `mmaf_scaled`: the factors read at (row, k) and (k, column)."""
    terms = ev.terms
    names = ("lhs", "rhs", "acc")
    left_shape, right_shape, shape = (shape_of(operand(op, name)) for name in names)
    left, right, accumulator = (ev.operand(op, name) for name in names)
    scales = [operand(op, name) for name in ("lhs_scale", "rhs_scale")] if op.short == "mmaf_scaled" else []
    depth = left_shape[-1]
    height = 1 + max(terms.height[t] for t in (left, right, accumulator, *(ev.env[v] for v in scales)))
    k = terms.atom(terms.bound(height, depth)) if depth > 1 else terms.zero
    *batch, row, column = (terms.lane(dim, extent) for dim, extent in enumerate(shape))
    factors = [
        relane(terms, left, left_shape, [*batch, row, k]),
        relane(terms, right, right_shape, [*batch, k, column]),
    ]
    types: list[tuple[Any, ...]] = [
        (element_name(operand(op, "lhs")), op.get("signed_lhs")),
        (element_name(operand(op, "rhs")), op.get("signed_rhs")),
    ]
    for position, value in enumerate(scales):
        scale_shape = shape_of(value)
        blocks = scale_shape[-1] if position == 0 else scale_shape[-2]
        index = terms.floordiv(k, terms.const(depth // blocks)) if blocks > 1 else terms.zero
        lanes = [*batch, row, index] if position == 0 else [*batch, index, column]
        factors.append(relane(terms, ev.env[value], scale_shape, lanes))
        types[position] = (*types[position], element_name(value))
    flags = ("fast_acc",) if op.short == "mmaf" and op.get("fast_acc") else ()
    attr = (op.short, element_name(operand(op, "acc")), depth, tuple(types), flags)
    ev.set_node(op, terms.contraction(attr, (*factors, accumulator)))


def operand_order(op: TileOp) -> list[int]:
    """The operands of a `reduce` or `scan` by their types: the order that they are given in means nothing."""
    sources = op.group("operands")
    return sorted(range(len(sources)), key=lambda index: element_name(sources[index]))


def reduce(ev: Evaluator, op: TileOp) -> None:
    """`reduce`, whose result lacks the dimension, and `scan`, whose result is read at a position along it."""
    terms = ev.terms
    sources = op.group("operands")
    order = operand_order(op)
    values: list[Term] = [ev.env[sources[index]] for index in order]
    dim: int = op.get("dim")
    shape = shape_of(sources[0])
    extent = shape[dim]
    scan = op.short == "scan"

    def lanes(along: Term) -> list[Term]:
        """The lanes of the operand by those of the result."""
        return [
            along if d == dim else terms.lane(d if scan or d < dim else d - 1, e) for d, e in enumerate(shape)
        ]

    if extent == 1:
        for index, value in zip(order, values, strict=True):
            ev.set(op, value if scan else relane(terms, value, shape, lanes(terms.zero)), index)
        return
    combine = _combiner(ev, op, order)
    height = 1 + max(terms.height[t] for t in (*values, *combine))
    along = terms.atom(terms.bound(height, extent))
    bodies = [relane(terms, value, shape, lanes(along)) for value in values]
    literals = op.get("identities")
    identities = tuple([(literals[index].element.name, literals[index].bits[0]) for index in order])
    direction = (bool(op.get("reverse")),) if scan else ()
    along_scan = (terms.lane(dim, extent),) if scan else ()
    if len(order) == 2:
        args = [arg for index in order for arg in op.regions[0].block.args[2 * index : 2 * index + 2]]
        sides = [_leaf(ev, op, place, arg) for place, arg in enumerate(args)]
        combine = without_ties(terms, combine, bodies, along, sides)
    if len(order) == 1:
        identities = (least_start(terms, combine[0], bodies[0], identities[0]),)
    for position, index in enumerate(order):
        attr = (op.short, position, extent, identities, len(combine), *direction)
        if len(order) > 1:
            ev.set_node(op, terms.node("reduce", attr, (*combine, *bodies, *along_scan)), index)
            continue
        narrow = narrow_fold(terms, floats.normalise, attr, combine[0], bodies[0])
        widening = None if narrow is None else narrow[0]
        attr, first, body = (attr, combine[0], bodies[0]) if narrow is None else narrow[1:]
        whole = flattened(terms, attr, first, body, along)
        node = terms.node("reduce", attr, (first, body, *along_scan)) if whole is None else whole
        if widening is not None:
            terms.origins[ev.side].setdefault(node, op)
            node = terms.float_op(("ftof", widening, ()), (node,))
        ev.set_node(op, node, index)


def _combiner(ev: Evaluator, op: TileOp, order: list[int]) -> list[Term]:
    """The body over ``region`` leaves: 2i is the element of operand i, 2i + 1 its accumulator, in the order.

    A body within a body has leaves of its own, as it may read those of the outer one.
    """
    block = op.regions[0].block
    for index, arg in enumerate(block.args):
        place = 2 * order.index(index // 2) + index % 2
        ev.env[arg] = ev.as_sort(_leaf(ev, op, place, arg), arg)
    live = ev.live
    _, values = ev.block(block)
    ev.live = live
    return [values[index] for index in order]


def _leaf(ev: Evaluator, op: TileOp, place: int, arg: SSAValue) -> Term:
    """What a body is given at a place; of an integer its type is known."""
    if not is_integer(arg):
        return ev.terms.leaf("region", _depth(op), place)
    bits = element_bits(arg)
    leaf = ev.terms.leaf("region", _depth(op), place, bits)
    ev.terms.set_range(leaf, signed_range(bits))
    return leaf


def _depth(op: TileOp) -> int:
    """How many reductions an op stands in the body of."""
    depth, outer = 0, op.parent_op()
    while outer is not None:
        depth += getattr(outer, "short", "") in ("reduce", "scan")
        outer = outer.parent_op()
    return depth


HANDLERS: dict[str, Handler] = {
    "mmaf": mma,
    "mmaf_scaled": mma,
    "mmai": mma,
    "reduce": reduce,
    "scan": reduce,
}
