"""Tensor views and tile views: what they describe, and the elements that one access of a tile touches."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from tileir_diff.dialect.types import GatherScatterView, StridedView
from tileir_diff.graph import unwrapped
from tileir_diff.graph.carries import depth_iteration
from tileir_diff.graph.shapes import relane
from tileir_diff.graph.values import View, element_bits, tensor_dim

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tileir_diff.dialect.ir import TileOp
    from tileir_diff.dialect.types import TensorView
    from tileir_diff.graph.evaluate import Evaluator, Handler
    from tileir_diff.graph.terms import Term
    from tileir_diff.graph.values import TileView


class Access(NamedTuple):
    """One access through a view, over the tile's lanes; extents and strides by dimension of the tile.

    trusted   checks of bounds that the access makes, and that the other side promises to hold
    """

    pointer: Term
    mask: Term
    coordinates: tuple[Term, ...]
    extents: tuple[Term, ...]
    strides: tuple[Term, ...]
    trusted: tuple[Term, ...]


def make_tensor_view(ev: Evaluator, op: TileOp) -> None:
    kind: Any = op.results[0].type
    tensor: TensorView = kind
    shape = _sizes(ev, op, "shape", tensor.shape)
    strides = _sizes(ev, op, "strides", tensor.strides)
    ev.set(op, View(tensor, ev.operand(op, "base"), shape, strides))


def _sizes(ev: Evaluator, op: TileOp, group: str, static: tuple[int | None, ...]) -> tuple[Term, ...]:
    """Sizes of the type, those that it leaves open from the operands in order."""
    values = iter(op.group(group))
    return tuple([ev.env[next(values)] if size is None else ev.terms.const(size) for size in static])


def make_view(ev: Evaluator, op: TileOp) -> None:
    """A view of tiles over a tensor view."""
    kind: Any = op.results[0].type
    tensor = ev.view(op, "tensor_view")
    ev.set(op, View(kind, tensor.pointer, tensor.shape, tensor.strides))


def get_index_space_shape(ev: Evaluator, op: TileOp) -> None:
    view: View = ev.env[op.operands[0]]
    kind: Any = view.type
    for dim in range(len(op.results)):
        size = view.shape[tensor_dim(kind, dim)]
        ev.set(op, _as_result(ev, op, dim, ev.terms.ceildiv(size, ev.terms.const(kind.steps[dim]))), dim)


def get_tensor_shape(ev: Evaluator, op: TileOp) -> None:
    view: View = ev.env[op.operands[0]]
    for dim in range(len(op.results)):
        ev.set(op, _as_result(ev, op, dim, view.shape[dim]), dim)


def _as_result(ev: Evaluator, op: TileOp, dim: int, size: Term) -> Term:
    """A size in the width that the op gives it; it is taken to fit where nothing need be exact."""
    return ev.terms.wrap(element_bits(op.results[dim]), size) if ev.terms.exact else size


def _is_sparse(kind: TileView, dim: int) -> bool:
    return isinstance(kind, GatherScatterView) and dim == kind.sparse_dim


def access(ev: Evaluator, op: TileOp) -> Access:
    """The elements that a load, store or atomic through a view touches."""
    terms = ev.terms
    view = ev.view(op, "view")
    kind: Any = view.type
    place, coordinates = pointer(ev, op, view)
    inside, trusted = _bounds(ev, op, place, coordinates)
    dims = [tensor_dim(kind, dim) for dim in range(len(kind.tile))]
    return Access(
        place,
        terms.conjunction(inside),
        tuple(coordinates),
        tuple([view.shape[dim] for dim in dims]),
        tuple([view.strides[dim] for dim in dims]),
        tuple(trusted),
    )


def pointer(ev: Evaluator, op: TileOp, view: View) -> tuple[Term, list[Term]]:
    """Where an access through a view goes, and its coordinates."""
    terms = ev.terms
    kind: Any = view.type
    place = view.pointer
    coordinates: list[Term] = []
    for dim, value in enumerate(op.group("index")):
        coordinate = _coordinate(ev, kind, dim, unwrapped.index(ev, value))
        coordinates.append(coordinate)
        place = terms.add(place, terms.mul(coordinate, view.strides[tensor_dim(kind, dim)]))
    return place, coordinates


def _bounds(
    ev: Evaluator, op: TileOp, pointer: Term, coordinates: Sequence[Term]
) -> tuple[list[Term], list[Term]]:
    """The checks of bounds that an access makes: those that count, and those that the other side promises."""
    terms = ev.terms
    view = ev.view(op, "view")
    kind: Any = view.type
    inbounds = op.get("inbounds") or ()
    inside: list[Term] = []
    trusted: list[Term] = []
    for dim, (coordinate, extent) in enumerate(zip(coordinates, kind.tile, strict=True)):
        by_element = isinstance(kind, GatherScatterView)
        if extent == 1 and not by_element and not isinstance(kind, StridedView):
            continue  # an index outside the index space is undefined behaviour, so the one element is inside
        checks = [terms.compare("less_than", coordinate, view.shape[tensor_dim(kind, dim)])]
        if by_element and not terms.nonneg(coordinate):
            checks.append(terms.compare("greater_than_or_equal", coordinate, terms.zero))
        promised = dim < len(inbounds) and inbounds[dim]
        for check in checks:
            if promised:
                ev.kernel.promised.add(_moment(ev, op, pointer, check))
            elif ev.trusted and check != terms.true and _moment(ev, op, pointer, check) in ev.trusted:
                trusted.append(check)
            else:
                inside.append(check)
    return inside, trusted


def _moment(ev: Evaluator, op: TileOp, pointer: Term, check: Term) -> object:
    """A check of bounds with the access that makes it, and when: equal where both sides make it alike."""
    terms = ev.terms
    iterations = {loop.iteration: terms.atom(depth_iteration(terms, loop.depth)) for loop in ev.loops}
    path = terms.conjunction((ev.guard, ev.live))
    trips = [loop.trip for loop in ev.loops if loop.trip is not None]
    # without a number of trips a loop is no other's
    uncounted = [(ev.side, loop.uid) for loop in ev.loops if loop.trip is None]
    parts = [terms.subst(term, iterations) for term in (pointer, check, path, *trips)]
    return op.short, *parts, *uncounted


def _coordinate(ev: Evaluator, kind: TileView, dim: int, index: Term) -> Term:
    """The position in the tensor of a lane along one dimension."""
    terms = ev.terms
    extent = kind.tile[dim]
    lane = terms.lane(dim, extent)
    if _is_sparse(kind, dim):
        return relane(terms, index, (extent,), [lane])
    return terms.add(terms.scale(index, kind.steps[dim]), lane)


HANDLERS: dict[str, Handler] = {
    "get_index_space_shape": get_index_space_shape,
    "get_tensor_shape": get_tensor_shape,
    "make_gather_scatter_view": make_view,
    "make_partition_view": make_view,
    "make_strided_view": make_view,
    "make_tensor_view": make_tensor_view,
}
