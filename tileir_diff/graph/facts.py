"""What the evaluator knows before it starts: ranges of the parameters, and which arrays are written."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tileir_diff.dialect.attributes import Bounded
from tileir_diff.graph.values import element_bits, is_integer, root_of, signed_range

if TYPE_CHECKING:
    from collections.abc import Mapping

    from xdsl.ir import Operation, SSAValue

    from tileir_diff.dialect.ir import TileOp
    from tileir_diff.graph.terms import Range, Term, Terms

UNKNOWN_ARRAY: Term = -1
"""Stands for an array that is not a parameter."""

_WRITTEN_GROUP = {
    "atomic_cas_tko": "pointers",
    "atomic_red_view_tko": "view",
    "atomic_rmw_tko": "pointers",
    "store_ptr_tko": "destination",
    "store_view_tko": "view",
}
_ROOT_GROUP = {
    "assume": "value",
    "broadcast": "source",
    "extract": "source",
    "make_gather_scatter_view": "tensor_view",
    "make_partition_view": "tensor_view",
    "make_strided_view": "tensor_view",
    "make_tensor_view": "base",
    "offset": "ptr",
    "permute": "source",
    "reshape": "source",
}


def meet(first: Range, second: Range) -> Range:
    """Both bounds hold."""
    low = first[0] if second[0] is None else second[0] if first[0] is None else max(first[0], second[0])
    high = first[1] if second[1] is None else second[1] if first[1] is None else min(first[1], second[1])
    return (low, high)


def learn_ranges(terms: Terms, entry: TileOp, params: Mapping[SSAValue, Term]) -> None:
    """Ranges of parameters, from ``bounded`` promises and from use as a size or stride of a tensor view."""

    def narrow(value: SSAValue, bounds: Range) -> None:
        term = params.get(value)
        leaf = None if term is None else terms.single(term)
        if leaf is not None and terms.kind[leaf] == "arg":
            terms.ranges[leaf] = meet(bounds, terms.ranges.get(leaf, (None, None)))

    for param in params:
        if is_integer(param):
            narrow(param, signed_range(element_bits(param)))
    for op in entry.walk():
        tile_op: Any = op
        short = _short(op)
        if short == "assume":
            assumption = tile_op.get("assumption")
            if isinstance(assumption, Bounded):
                narrow(root_of(tile_op.one("value")), (assumption.lower, assumption.upper))
        elif short == "make_tensor_view":
            for value in (*tile_op.group("shape"), *tile_op.group("strides")):
                narrow(root_of(value), (0, None))
    terms.forget_ranges()


def written_arrays(within: Operation, values: Mapping[SSAValue, Any]) -> frozenset[Term]:
    """The parameters that the ops inside write to; ``UNKNOWN_ARRAY`` where one cannot be named."""
    written: set[Term] = set()
    for op in within.walk():
        group = _WRITTEN_GROUP.get(_short(op))
        if group is not None:
            tile_op: Any = op
            written.add(_array_of(tile_op.one(group), values))
    return frozenset(written)


def _array_of(value: SSAValue | None, values: Mapping[SSAValue, Any]) -> Term:
    """The parameter term that a pointer or view value is computed from, by walking up the operands."""
    while value is not None:
        owner: Any = value.owner
        short = getattr(owner, "short", None)
        if short is None:  # an argument of a block
            term = values.get(value)
            return term if isinstance(term, int) else UNKNOWN_ARRAY
        group = _ROOT_GROUP.get(short)
        value = None if group is None else owner.one(group)
    return UNKNOWN_ARRAY


def _short(op: Operation) -> str:
    return getattr(op, "short", "")
