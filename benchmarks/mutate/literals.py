"""Literals that differ from a given one, as text."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tileir_diff.dialect.attributes import DenseElements

SAFE_FLOATS = frozenset({"f16", "bf16", "f32", "f64"})


def other_literal(literal: DenseElements) -> str:
    """Another scalar literal for a splat: an int beside it, twice the float, one for what is not finite.

    Empty for element types whose literals are not decimal numbers, and for lists.
    """
    if not literal.is_splat:
        return ""
    element = literal.element
    if element.name == "i1":
        return "false" if literal.bits[0] else "true"
    if element.is_int:
        value = literal.ints()[0]
        return str(value - 1 if value == (1 << (element.bits - 1)) - 1 else value + 1)
    if element.name not in SAFE_FLOATS:
        return ""
    number = literal.floats()[0]
    if not math.isfinite(number):
        return "0.000000e+00"
    doubled = 1.0 if number == 0 else number * 2
    limit = {"f16": 6.0e4, "bf16": 3.0e38, "f32": 3.0e38, "f64": 1.0e308}[element.name]
    return f"{number / 2:.8e}" if abs(doubled) > limit else f"{doubled:.8e}"


def smaller_literal(literal: DenseElements) -> str:
    """The int below a splat of ints; empty for anything else, and at the type's end."""
    if not literal.is_splat or not literal.element.is_int or literal.element.name == "i1":
        return ""
    value = literal.ints()[0]
    return "" if value == -(1 << (literal.element.bits - 1)) else str(value - 1)
