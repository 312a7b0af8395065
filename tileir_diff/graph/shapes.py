"""Shape ops: they rename the lanes of a term and leave no trace of their own."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tileir_diff.graph.values import operand, shape_of, sort_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tileir_diff.dialect.ir import TileOp
    from tileir_diff.graph.evaluate import Evaluator, Handler
    from tileir_diff.graph.terms import Term, Terms


def relane(terms: Terms, term: Term, shape: Sequence[int], new: Sequence[Term]) -> Term:
    """The term of a tile of ``shape`` read at the given lane terms."""
    mapping: dict[Term, Term] = {}
    for dim, (extent, target) in enumerate(zip(shape, new, strict=True)):
        if extent == 1:
            continue
        leaf = terms.leaf("lane", dim, extent)
        if terms.single(target) != leaf:
            mapping[leaf] = target
    return terms.subst(term, mapping) if mapping else term


def linear_index(terms: Terms, lanes: Sequence[tuple[Term, int]]) -> Term:
    """The row-major index of lanes, each given with its extent."""
    linear = terms.zero
    for lane, extent in lanes:
        linear = terms.add(terms.scale(linear, extent), lane)
    return linear


def reshape(ev: Evaluator, op: TileOp) -> None:
    terms = ev.terms
    old = [(dim, extent) for dim, extent in enumerate(shape_of(operand(op, "source"))) if extent > 1]
    new = [
        (terms.lane(dim, extent), extent) for dim, extent in enumerate(shape_of(op.results[0])) if extent > 1
    ]
    mapping: dict[Term, Term] = {}
    if [extent for _, extent in old] == [extent for _, extent in new]:
        for (dim, extent), (lane, _) in zip(old, new, strict=True):
            leaf = terms.leaf("lane", dim, extent)
            if terms.single(lane) != leaf:
                mapping[leaf] = lane
    else:
        linear = linear_index(terms, new)
        stride = 1
        for dim, extent in reversed(old):
            index = terms.floordiv(linear, terms.const(stride))
            mapping[terms.leaf("lane", dim, extent)] = terms.mod(index, terms.const(extent))
            stride *= extent
    term = ev.operand(op, "source")
    ev.set(op, terms.subst(term, mapping) if mapping else term)


def broadcast(ev: Evaluator, op: TileOp) -> None:
    ev.set(op, ev.operand(op, "source"))


def permute(ev: Evaluator, op: TileOp) -> None:
    shape = shape_of(operand(op, "source"))
    lanes = [ev.terms.zero] * len(shape)
    permutation: tuple[int, ...] = op.get("permutation")
    for new_dim, old_dim in enumerate(permutation):
        lanes[old_dim] = ev.terms.lane(new_dim, shape[old_dim])
    ev.set(op, relane(ev.terms, ev.operand(op, "source"), shape, lanes))


def extract(ev: Evaluator, op: TileOp) -> None:
    terms = ev.terms
    shape = shape_of(operand(op, "source"))
    lanes: list[Term] = []
    for dim, (index, extent) in enumerate(zip(op.group("index"), shape_of(op.results[0]), strict=True)):
        start = terms.scale(ev.env[index], extent)
        if shape[dim] == extent:
            start = terms.zero  # any other slice number is out of range
        lanes.append(terms.add(start, terms.lane(dim, extent)))
    ev.set(op, relane(terms, ev.operand(op, "source"), shape, lanes))


def insert(ev: Evaluator, op: TileOp) -> None:
    terms = ev.terms
    shape, small = shape_of(operand(op, "destination")), shape_of(operand(op, "source"))
    conditions: list[Term] = []
    lanes: list[Term] = []
    for dim, (index, extent) in enumerate(zip(op.group("index"), small, strict=True)):
        offset = terms.sub(terms.lane(dim, shape[dim]), terms.scale(ev.env[index], extent))
        conditions.append(terms.compare("greater_than_or_equal", offset, terms.zero))
        conditions.append(terms.compare("less_than", offset, terms.const(extent)))
        lanes.append(offset)
    inner = relane(terms, ev.operand(op, "source"), small, lanes)
    outer = ev.operand(op, "destination")
    ev.set(op, terms.ite(terms.conjunction(conditions), inner, outer, sort_of(op.results[0])))


def cat(ev: Evaluator, op: TileOp) -> None:
    terms = ev.terms
    dim: int = op.get("dim")
    shape = shape_of(op.results[0])
    left_shape, right_shape = (shape_of(operand(op, name)) for name in ("lhs", "rhs"))
    lane, split = terms.lane(dim, shape[dim]), terms.const(left_shape[dim])
    in_left = terms.compare("less_than", lane, split)

    def lanes(along: Term) -> list[Term]:
        return [along if d == dim else terms.lane(d, extent) for d, extent in enumerate(shape)]

    left = relane(terms, ev.operand(op, "lhs"), left_shape, lanes(lane))
    right = relane(terms, ev.operand(op, "rhs"), right_shape, lanes(terms.sub(lane, split)))
    ev.set(op, terms.ite(in_left, left, right, sort_of(op.results[0])))


HANDLERS: dict[str, Handler] = {
    "broadcast": broadcast,
    "cat": cat,
    "extract": extract,
    "insert": insert,
    "permute": permute,
    "reshape": reshape,
}
