"""Which arrays a pointer may point into: the parameters and globals it is computed from, on every path.

A pointer need not name its array where it is used: it may be carried by a loop, chosen by an `if` or a
`select`, or come from memory or from an integer. What cannot be followed may be any array.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tileir_diff.graph.constants import global_address
from tileir_diff.graph.flows import Flows
from tileir_diff.graph.values import defining_op

if TYPE_CHECKING:
    from collections.abc import Iterable

    from xdsl.ir import SSAValue

    from tileir_diff.dialect.ir import TileOp
    from tileir_diff.graph.evaluate import Evaluator
    from tileir_diff.graph.terms import Term

UNKNOWN_ARRAY: Term = -1
"""Stands for any array at all."""

WRITTEN_GROUP = {
    "atomic_cas_tko": "pointers",
    "atomic_red_view_tko": "view",
    "atomic_rmw_tko": "pointers",
    "store_ptr_tko": "destination",
    "store_view_tko": "view",
}
_SOURCE_GROUPS = {
    "assume": ("value",),
    "broadcast": ("source",),
    "cat": ("lhs", "rhs"),
    "extract": ("source",),
    "insert": ("source", "destination"),
    "make_gather_scatter_view": ("tensor_view",),
    "make_partition_view": ("tensor_view",),
    "make_strided_view": ("tensor_view",),
    "make_tensor_view": ("base",),
    "offset": ("ptr",),
    "permute": ("source",),
    "ptr_to_ptr": ("source",),
    "reshape": ("source",),
    "select": ("on_true", "on_false"),
}


def meet(first: frozenset[Term], second: frozenset[Term]) -> bool:
    """Whether two accesses, by the arrays that each may touch, may touch the same one."""
    return bool(first & second) or bool(first and second and UNKNOWN_ARRAY in first | second)


class Arrays:
    """The arrays behind the pointers and views of one entry."""

    def __init__(self, ev: Evaluator) -> None:
        self.ev = ev
        self.flows = Flows(ev.kernel.ops)
        self.known: dict[SSAValue, frozenset[Term]] = {}

    def of(self, value: SSAValue) -> frozenset[Term]:
        """The arrays that a pointer or view may be of; ``UNKNOWN_ARRAY`` among them where it may be any."""
        if value not in self.known:
            found: set[Term] = set()
            seen: set[SSAValue] = set()
            work = [value]
            while work:
                current = work.pop()
                if current in self.known:
                    found |= self.known[current]
                elif current not in seen:
                    seen.add(current)
                    sources = self._sources(current)
                    work += sources
                    if not sources:
                        found.add(self._root(current))
            self.known[value] = frozenset(found)
        return self.known[value]

    def written(self, ops: Iterable[TileOp]) -> frozenset[Term]:
        """The arrays that the ops may write to."""
        found: set[Term] = set()
        for op in ops:
            group = WRITTEN_GROUP.get(op.short)
            value = None if group is None else op.one(group)
            if value is not None:
                found |= self.of(value)
        return frozenset(found)

    def _root(self, value: SSAValue) -> Term:
        """The array at the root of a pointer: a parameter or a global."""
        op = defining_op(value)
        if op is not None:
            return global_address(self.ev, op) if op.short == "get_global" else UNKNOWN_ARRAY
        term = self.ev.env.get(value) if value in self.ev.params else None
        return term if isinstance(term, int) else UNKNOWN_ARRAY

    def _sources(self, value: SSAValue) -> list[SSAValue]:
        """The values that a pointer or view is one of, or is computed from; none at a root."""
        handed = self.flows.handed(value)
        if handed is not None:
            return handed
        op = defining_op(value)
        if op is None:
            return []
        groups = _SOURCE_GROUPS.get(op.short, ())
        return [source for name in groups if (source := op.one(name)) is not None]
