"""What the evaluator knows before it starts: ranges of the parameters, and which arrays are written."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tileir_diff.dialect.attributes import Bounded
from tileir_diff.graph.ranges import meet
from tileir_diff.graph.values import (
    defining_op,
    element_bits,
    is_integer,
    is_used,
    operand,
    root_of,
    signed_range,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from xdsl.ir import SSAValue

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


def learn_ranges(terms: Terms, ops: Iterable[TileOp], params: Mapping[SSAValue, Term]) -> None:
    """Ranges of parameters, from ``bounded`` promises and from use as a size or stride of a tensor view."""

    def narrow(value: SSAValue, bounds: Range) -> None:
        term = params.get(value)
        leaf = None if term is None else terms.single(term)
        if leaf is not None and terms.kind[leaf] == "arg":
            terms.set_range(leaf, meet(bounds, terms.ranges.get(leaf, (None, None))))

    for param in params:
        if is_integer(param):
            narrow(param, signed_range(element_bits(param)))
    for op in ops:
        if _is_conditional(op):
            continue
        if op.short == "assume":
            assumption = op.get("assumption")
            if isinstance(assumption, Bounded):
                narrow(root_of(operand(op, "value")), (assumption.lower, assumption.upper))
        elif op.short == "make_tensor_view" and is_used(op):
            for value in (*op.group("shape"), *op.group("strides")):
                narrow(root_of(value), (0, None))


def _is_conditional(op: TileOp) -> bool:
    """Whether the op may not be reached: it stands in a branch, or in a loop."""
    above = op.parent_op()
    return above is not None and getattr(above, "short", "") in ("for", "if", "loop")


def written_arrays(ops: Iterable[TileOp], values: Mapping[SSAValue, Any]) -> frozenset[Term]:
    """The parameters that the ops write to; ``UNKNOWN_ARRAY`` where one cannot be named."""
    groups = ((op, _WRITTEN_GROUP.get(op.short)) for op in ops)
    return frozenset(_array_of(op.one(group), values) for op, group in groups if group is not None)


def _array_of(value: SSAValue | None, values: Mapping[SSAValue, Any]) -> Term:
    """The parameter term that a pointer or view value is computed from, by walking up the operands."""
    while value is not None:
        op = defining_op(value)
        if op is None:
            term = values.get(value)
            return term if isinstance(term, int) else UNKNOWN_ARRAY
        group = _ROOT_GROUP.get(op.short)
        value = None if group is None else op.one(group)
    return UNKNOWN_ARRAY
