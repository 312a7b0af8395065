"""Literals to bit patterns.

Scalars, nested lists, hex blobs, in MLIR's spelling and the cuTile Rust printer's.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Final

from tileir_diff.dialect.attributes import DenseElements
from tileir_diff.dialect.scalars import FORMATS, encode
from tileir_diff.dialect.type_reader import scalar
from tileir_diff.syntax.nodes import Listing, Typed
from tileir_diff.syntax.parser import parse_body
from tileir_diff.syntax.source import Problem
from tileir_diff.syntax.token import Token as Leaf

if TYPE_CHECKING:
    from tileir_diff.dialect.types import Scalar

SPECIAL: Final = {
    "inf": math.inf,
    "-inf": -math.inf,
    "+inf": math.inf,
    "nan": math.nan,
    "-nan": math.nan,
    "+nan": math.nan,
}
MAX_ELEMENTS: Final = 1 << 24  # as many as a tile may have
MAX_RANK: Final = 64
BOOLEANS: Final = {"true": 1, "false": 0}

_ELEMENTS: dict[tuple[str, tuple[int, ...]], DenseElements] = {}
_KEEP: Final = 20_000


def read_elements(text: str, shape: tuple[int, ...]) -> DenseElements:
    """The inside of `<i32: ...>` for a tile of that shape. Raises Problem."""
    known = _ELEMENTS.get((text, shape))
    if known is None:
        if len(_ELEMENTS) > _KEEP:
            _ELEMENTS.clear()
        known = _ELEMENTS[text, shape] = _read(text, shape)
    return known


def _read(text: str, shape: tuple[int, ...]) -> DenseElements:
    terms = parse_body(text)
    if (
        not terms
        or terms[0].relation != ":"
        or any(term.relation or len(term.values) != 1 for term in terms[1:])
    ):
        raise Problem("expected a literal such as <i32: 1>", 0)
    element = scalar(terms[0].key)
    values = [term.values[0] for term in terms]
    return dense(element, shape, values[0] if len(values) == 1 else Listing(values, 0, len(text)))


def dense(element: Scalar, shape: tuple[int, ...], node: Any) -> DenseElements:
    """Elements of a literal node: a scalar for all, a (nested) list of that shape, or a blob.

    Raises Problem.
    """
    if type(node) is Leaf and node.type == "STRING":
        return _collapse(element, shape, _blob(element, shape, node))
    if type(node) is not Listing:
        return DenseElements(element, shape, (literal(element, node),))
    if len(shape) > MAX_RANK or math.prod(shape) > MAX_ELEMENTS:
        raise Problem(
            f"a list for a tile of more than {MAX_ELEMENTS} elements or {MAX_RANK} dimensions", _at(node)
        )
    bits: list[int] = []
    _flatten(element, shape, node, bits)
    return _collapse(element, shape, bits)


def _collapse(element: Scalar, shape: tuple[int, ...], bits: list[int]) -> DenseElements:
    if bits and bits.count(bits[0]) == len(bits):
        return DenseElements(element, shape, (bits[0],))
    return DenseElements(element, shape, tuple(bits))


def _flatten(
    element: Scalar, shape: tuple[int, ...], node: Any, bits: list[int], inner: bool = False
) -> None:
    if not shape:
        bits.append(literal(element, node))
        return
    if type(node) is not Listing:
        if len(shape) < 2 or not inner:
            raise Problem("expected a list: literal and tile type have different ranks", _at(node))
        # The cuTile Rust printer writes one number for a part (of two dimensions or more) that is uniform.
        bits += [literal(element, node)] * math.prod(shape)
        return
    if len(node.values) != shape[0]:
        raise Problem(f"expected {shape[0]} elements in this dimension, found {len(node.values)}", node.start)
    for item in node.values:
        _flatten(element, shape[1:], item, bits, True)


def _blob(element: Scalar, shape: tuple[int, ...], leaf: Leaf) -> list[int]:
    """Elements of a hex string: little-endian, whole bytes an element."""
    count = math.prod(shape)
    try:
        data = bytes.fromhex(str(leaf)[1:-1].removeprefix("0x"))
    except ValueError:
        raise Problem('expected a string of hex bytes such as "0x00FF"', _at(leaf)) from None
    width = (element.bits + 7) // 8
    if len(data) == width:
        count = 1
    elif len(data) != width * count:
        raise Problem(f"expected {width * count} bytes for {count} elements, found {len(data)}", _at(leaf))
    mask = (1 << element.bits) - 1
    return [int.from_bytes(data[at : at + width], "little") & mask for at in range(0, width * count, width)]


def literal(element: Scalar, node: Any) -> int:
    """The bit pattern of one scalar literal. Raises Problem."""
    if type(node) is Typed:
        node = node.value
    if type(node) is not Leaf:
        raise Problem("expected a number", _at(node))
    text = str(node)
    if element.is_int:
        return _integer(element, node, text)
    return _float(element, node, text)


def _integer(element: Scalar, leaf: Leaf, text: str) -> int:
    if element.name == "i1" and text in BOOLEANS:
        return BOOLEANS[text]
    try:
        number = int(text, 16 if "x" in text else 10)
    except ValueError:
        raise Problem(f"expected a literal of type {element}, found '{text[:40]}'", _at(leaf)) from None
    width = element.bits
    if not -(1 << width - 1) <= number < 1 << width:
        raise Problem(f"integer constant out of range for {element}: {text[:40]}", _at(leaf))
    return number & ((1 << width) - 1)


def _float(element: Scalar, leaf: Leaf, text: str) -> int:
    if text.startswith("0x"):
        bits = int(text, 16)
        if bits >> element.bits:
            raise Problem(f"bit pattern too wide for {element}: {text[:40]}", _at(leaf))
        return bits
    whole = text.lstrip("+-").isdigit()
    # The cuTile Rust printer writes small floats as their raw byte, and others without a point where it can.
    if whole and FORMATS[element.name].bits <= 8:
        bits = int(text)
        if bits < 0 or bits >> element.bits:
            raise Problem(f"bit pattern too wide for {element}: {text[:40]}", _at(leaf))
        return bits
    try:
        return encode(SPECIAL[text.lower()] if text.lower() in SPECIAL else float(text), element.name)
    except (ValueError, OverflowError) as error:
        reason = (
            str(error)
            if "has no" in str(error)
            else f"expected a literal of type {element}, found '{text[:40]}'"
        )
        raise Problem(reason, _at(leaf)) from None


def _at(node: Any) -> int:
    return (node.start_pos or 0) if type(node) is Leaf else getattr(node, "start", 0)
