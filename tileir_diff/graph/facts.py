"""What the evaluator knows before it starts: ranges of the parameters."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tileir_diff.dialect.attributes import Bounded
from tileir_diff.graph.ranges import meet
from tileir_diff.graph.values import (
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
    if terms.exact:
        return
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
