"""Types in bytecode: a number for the kind, then its parts; types inside a type by their number."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from tileir_diff.bytecode.encoding import sized, sized_words, varint
from tileir_diff.bytecode.unwritable import Unwritable
from tileir_diff.dialect import types as ir

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tileir_diff.bytecode.tables import Tables

SCALARS: Final = {
    "i1": 0x00, "i8": 0x01, "i16": 0x02, "i32": 0x03, "i64": 0x04, "f16": 0x05, "bf16": 0x06, "f32": 0x07,
    "tf32": 0x08, "f64": 0x09, "f8E4M3FN": 0x0A, "f8E5M2": 0x0B, "f8E8M0FNU": 0x12, "f4E2M1FN": 0x13,
    "i4": 0x16, "fnv8E5M3FNU": 0x82,
}  # fmt: skip
POINTER, TILE, TENSOR_VIEW, PARTITION_VIEW, FUNCTION, TOKEN = 0x0C, 0x0D, 0x0E, 0x0F, 0x10, 0x11
GATHER_SCATTER_VIEW, STRIDED_VIEW = 0x14, 0x15
POINTER_ATTRIBUTES: Final = {"none": 0}
DYNAMIC: Final = -(1 << 63)


def encode_type(tables: Tables, type_: Any) -> bytes:
    """The entry of a type. Raises Unwritable for one that bytecode does not have."""
    encode = HANDLERS.get(type_.__class__)
    if encode is None:
        raise Unwritable(f"the type {type_} cannot be written")
    try:
        return encode(tables, type_)
    except OverflowError:
        raise Unwritable(f"an extent of {type_} is too large") from None


def _scalar(tables: Tables, type_: ir.Scalar) -> bytes:
    return varint(SCALARS[type_.name])


def _token(tables: Tables, type_: ir.Token) -> bytes:
    return varint(TOKEN)


def _pointer(tables: Tables, type_: ir.Ptr) -> bytes:
    return _with_attribute(tables, POINTER, type_.attr, varint(tables.type(type_.pointee)))


def _tile(tables: Tables, type_: ir.Tile) -> bytes:
    return varint(TILE) + varint(tables.type(type_.element)) + sized_words(type_.shape, 8)


def _tensor_view(tables: Tables, type_: ir.TensorView) -> bytes:
    parts = varint(tables.type(type_.element)) + _extents(type_.shape) + _extents(type_.strides)
    return _with_attribute(tables, TENSOR_VIEW, type_.attr, parts)


def _extents(extents: Sequence[int | None]) -> bytes:
    return sized_words([DYNAMIC if extent is None else extent for extent in extents], 8)


def _with_attribute(tables: Tables, kind: int, attribute: str | None, parts: bytes) -> bytes:
    """A type that may carry a pointer attribute: from 13.4 on, whether it does comes first."""
    if attribute is None:
        return varint(kind) + (b"\x00" if tables.version >= 4 else b"") + parts
    number = POINTER_ATTRIBUTES.get(attribute)
    if number is None:
        raise Unwritable(f"the pointer attribute '{attribute}' is not known")
    return varint(kind) + b"\x01" + parts + varint(number)


def _partition_view(tables: Tables, type_: ir.PartitionView) -> bytes:
    parts = (
        sized_words(type_.tile, 4),
        varint(tables.type(type_.tensor_view)),
        sized_words(type_.dim_map, 4),
    )
    if tables.version >= 3:
        return _padded(PARTITION_VIEW, type_.padding, *parts)
    # Before 13.3 whether there is padding stands directly before it.
    return b"".join((varint(PARTITION_VIEW), *parts, _present(type_.padding), _padding(type_.padding)))


def _strided_view(tables: Tables, type_: ir.StridedView) -> bytes:
    return _padded(
        STRIDED_VIEW,
        type_.padding,
        sized_words(type_.tile, 4),
        sized_words(type_.traversal_strides, 4),
        varint(tables.type(type_.tensor_view)),
        sized_words(type_.dim_map, 4),
    )


def _gather_scatter_view(tables: Tables, type_: ir.GatherScatterView) -> bytes:
    tensor_view = varint(tables.type(type_.tensor_view))
    return _padded(
        GATHER_SCATTER_VIEW, type_.padding, sized_words(type_.tile, 4), tensor_view, varint(type_.sparse_dim)
    )


def _padded(kind: int, padding: str | None, *parts: bytes) -> bytes:
    return b"".join((varint(kind), _present(padding), *parts, _padding(padding)))


def _present(padding: str | None) -> bytes:
    return b"\x00" if padding is None else b"\x01"


def _padding(padding: str | None) -> bytes:
    return b"" if padding is None else varint(ir.PADDING_VALUES.index(padding))


def _function(tables: Tables, type_: ir.FunctionType) -> bytes:
    inputs, outputs = ([tables.type(part) for part in parts] for parts in (type_.inputs, type_.outputs))
    return varint(FUNCTION) + sized(inputs) + sized(outputs)


HANDLERS: Final[dict[type, Any]] = {
    ir.Scalar: _scalar,
    ir.Ptr: _pointer,
    ir.Tile: _tile,
    ir.TensorView: _tensor_view,
    ir.PartitionView: _partition_view,
    ir.StridedView: _strided_view,
    ir.GatherScatterView: _gather_scatter_view,
    ir.Token: _token,
    ir.FunctionType: _function,
}
