"""A number that is known for a scalar parameter, as a term."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tileir_diff.dialect.types import Scalar
from tileir_diff.graph import floats

if TYPE_CHECKING:
    from xdsl.ir import SSAValue

    from tileir_diff.graph.terms import Term, Terms


def scalar(terms: Terms, param: SSAValue, value: float) -> Term | None:
    """The term of ``value`` in the type of ``param``; None where the type cannot hold it."""
    element = getattr(param.type, "element", None)
    if not isinstance(element, Scalar):
        return None
    if element.is_int:
        return terms.bool_const(bool(value)) if element.bits == 1 else terms.const(int(value))
    bits = floats.encode(element.name, float(value))
    return None if bits is None else floats.constant(terms, element.name, bits)
