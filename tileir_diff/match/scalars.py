"""A number that is known for a scalar parameter, as a term."""

from __future__ import annotations

from math import isfinite
from typing import TYPE_CHECKING

from tileir_diff.dialect.types import Scalar, Tile
from tileir_diff.errors import InputError
from tileir_diff.graph import floats

if TYPE_CHECKING:
    from xdsl.ir import SSAValue

    from tileir_diff.graph.terms import Term, Terms


def scalar(terms: Terms, param: SSAValue, value: float, where: str, path: str) -> Term | None:
    """The term of ``value`` in the type of ``param``; None for a type without exact constants.

    Raises InputError as ``check_fits``.
    """
    element = check_fits(param, value, where, path)
    if not element.is_int:
        bits = floats.encode(element.name, float(value)) if isfinite(value) else None
        return None if bits is None else floats.constant(terms, element.name, bits)
    if element.bits == 1:
        return terms.bool_const(bool(value))
    highest = (1 << (element.bits - 1)) - 1
    return terms.const(int(value) if value <= highest else int(value) - (1 << element.bits))


def check_fits(param: SSAValue, value: float, where: str, path: str) -> Scalar:
    """The scalar type of ``param``.

    Raises InputError, naming the argument (``where``) and the source (``path``), if it cannot hold ``value``.
    """
    element = param.type.element if isinstance(param.type, Tile) else None
    if not isinstance(element, Scalar):
        raise InputError(f"{where} is a {param.type}; a number does not fit it", path)
    lowest = 0 if element.bits == 1 else -(1 << (element.bits - 1))
    fits = lowest <= value < 1 << element.bits and value == int(value) if element.is_int else True
    if not fits:
        raise InputError(f"{where}: {element.name} cannot hold {str(value)[:40]}", path)
    return element
