"""Attributes in bytecode: bare where an op's definition says what comes, tagged where it does not."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from tileir_diff.bytecode.encoding import signed_varint, sized_words, varint
from tileir_diff.bytecode.unwritable import Unwritable
from tileir_diff.dialect.attributes import Bounded, DivBy, SameElements
from tileir_diff.dialect.types import SCALARS

if TYPE_CHECKING:
    from tileir_diff.bytecode.tables import Tables
    from tileir_diff.dialect.attributes import DenseElements
    from tileir_diff.dialect.spec import AttributeSpec

INTEGER, FLOAT, BOOL, STRING, ARRAY = 0x01, 0x02, 0x03, 0x05, 0x06
DIV_BY, SAME_ELEMENTS, DICTIONARY, HINTS, BOUNDED = 0x08, 0x09, 0x0A, 0x0B, 0x0C


def encode_attribute(tables: Tables, spec: AttributeSpec, data: Any) -> bytes:
    """An attribute with this value, bare. Raises Unwritable."""
    try:
        return HANDLERS[spec.kind](tables, spec, data)
    except OverflowError:
        raise Unwritable(f"a number in {spec.name} is too large") from None
    except ValueError:
        raise Unwritable(f"{spec.name} has no value {data}") from None


def _enum(tables: Tables, spec: AttributeSpec, data: str) -> bytes:
    return varint(spec.values.index(data))


def _bool(tables: Tables, spec: AttributeSpec, data: bool) -> bytes:
    return b"\x01" if data else b"\x00"


def _int(tables: Tables, spec: AttributeSpec, data: int) -> bytes:
    return varint(data)


def _ints(tables: Tables, spec: AttributeSpec, data: tuple[int, ...]) -> bytes:
    return sized_words(data, 4)


def _bools(tables: Tables, spec: AttributeSpec, data: tuple[bool, ...]) -> bytes:
    return sized_words([int(flag) for flag in data], 1)


def _string(tables: Tables, spec: AttributeSpec, data: str) -> bytes:
    return varint(tables.string(data))


def _elements(tables: Tables, spec: AttributeSpec, data: DenseElements) -> bytes:
    return varint(constant(tables, data))


def constant(tables: Tables, elements: DenseElements) -> int:
    """The number of a constant: elements in whole bytes, one alone where all are equal.

    Booleans are eight in a byte, the first in the lowest bit; a byte of one bit eight times is for all.
    """
    if elements.element.bits == 1:
        data = _packed(elements.bits)
    else:
        width = (elements.element.bits + 7) // 8
        data = b"".join([bits.to_bytes(width, "little") for bits in elements.bits])
    return tables.constants.number(varint(len(data)) + data)


def _packed(bits: tuple[int, ...]) -> bytes:
    if len(bits) == 1:
        return b"\xff" if bits[0] else b"\x00"
    number = int("".join(map(str, reversed(bits))), 2)
    return number.to_bytes((len(bits) + 7) // 8, "little")


# ---- hints
def _hints(tables: Tables, spec: AttributeSpec | None, data: Any) -> bytes:
    """Architectures, each with its dictionary of hints."""
    out = bytearray(varint(len(data)))
    for arch, pairs in data:
        out += varint(tables.string(arch)) + varint(DICTIONARY) + varint(len(pairs))
        for key, value in pairs:
            out += varint(tables.string(key)) + _hint(tables, value)
    return bytes(out)


def _hint(tables: Tables, value: bool | int | str) -> bytes:
    if isinstance(value, bool):
        return varint(BOOL) + (b"\x01" if value else b"\x00")
    if isinstance(value, str):
        return varint(STRING) + varint(tables.string(value))
    if not -(1 << 31) <= value < 1 << 32:
        raise Unwritable(f"the hint value {value} does not fit 32 bits")
    return varint(INTEGER) + varint(tables.type(SCALARS["i32"])) + varint(value & 0xFFFF_FFFF)


def encode_entry_hints(tables: Tables, data: Any) -> bytes:
    """The hints of an entry, tagged."""
    return varint(HINTS) + _hints(tables, None, data)


# ---- identities
def _literals(tables: Tables, spec: AttributeSpec, data: tuple[DenseElements, ...]) -> bytes:
    return b"".join((varint(len(data)), *[_literal(tables, literal) for literal in data]))


def _literal(tables: Tables, literal: DenseElements) -> bytes:
    """A number: integers as their pattern; floats as a byte, or as a signed number of 64 bits."""
    (bits,) = literal.bits
    head = varint(INTEGER if literal.element.is_int else FLOAT) + varint(tables.type(literal.element))
    if literal.element.is_int:
        return head + varint(bits)
    return head + (bytes((bits,)) if literal.element.bits <= 8 else signed_varint(bits))


# ---- assumptions
def _assumption(tables: Tables, spec: AttributeSpec, data: Any) -> bytes:
    match data:
        case DivBy(divisor, every, along):
            return varint(DIV_BY) + varint(divisor) + _optional(every, along)
        case Bounded(lower, upper):
            return varint(BOUNDED) + _optional(lower, upper)
        case SameElements(values):
            return varint(SAME_ELEMENTS) + sized_words(values, 8)
        case _:
            raise Unwritable(f"the predicate {data} cannot be written")


def _optional(*numbers: int | None) -> bytes:
    """Which of the numbers there are, as bits; then those. Raises OverflowError beyond 64 bits."""
    flags = sum(1 << index for index, number in enumerate(numbers) if number is not None)
    present = [number for number in numbers if number is not None]
    if any(not -(1 << 63) <= number < 1 << 63 for number in present):
        raise OverflowError
    return b"".join((bytes((flags,)), *map(signed_varint, present)))


HANDLERS: Final[dict[str, Any]] = {
    "enum": _enum,
    "bool": _bool,
    "int": _int,
    "ints": _ints,
    "bools": _bools,
    "string": _string,
    "elements": _elements,
    "hints": _hints,
    "literals": _literals,
    "assumption": _assumption,
}
