"""Classes of types that ops accept: each a predicate with the phrase that names it in messages."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from tileir_diff.dialect.types import (
    GatherScatterView,
    PartitionView,
    Ptr,
    Scalar,
    StridedView,
    TensorView,
    Tile,
    Token,
)

if TYPE_CHECKING:
    from collections.abc import Callable

BASE_FLOATS = ("f16", "bf16", "f32", "f64")
FLOATS = (*BASE_FLOATS, "tf32", "f8E4M3FN", "f8E5M2", "f8E8M0FNU", "f4E2M1FN", "fnv8E5M3FNU")
INTS = ("i1", "i8", "i16", "i32", "i64")
INTS_AND_I4 = (*INTS, "i4")
NUMBERS = (*INTS, *FLOATS)
TILE_VIEWS = (PartitionView, StridedView, GatherScatterView)


class Kind(NamedTuple):
    """A class of types; `name` completes the sentence "must be ..."."""

    name: str
    accepts: Callable[[Any], bool]


def phrase(names: tuple[str, ...]) -> str:
    """`a`, `a or b`, `a, b or c`."""
    if len(names) == 1:
        return names[0]
    return ", ".join(names[:-1]) + " or " + names[-1]


def tile_of(names: tuple[str, ...], label: str | None = None) -> Kind:
    """Tiles of any shape whose element is one of the scalar types `names`."""
    allowed = frozenset(names)

    def accepts(type_: Any) -> bool:
        return isinstance(type_, Tile) and isinstance(type_.element, Scalar) and type_.element.name in allowed

    return Kind(f"a tile of {label or phrase(names)}", accepts)


def scalar_of(names: tuple[str, ...], label: str | None = None) -> Kind:
    """Rank-0 tiles whose element is one of the scalar types `names`."""
    allowed = frozenset(names)

    def accepts(type_: Any) -> bool:
        return (
            isinstance(type_, Tile)
            and not type_.shape
            and isinstance(type_.element, Scalar)
            and type_.element.name in allowed
        )

    return Kind(f"a rank-0 tile of {label or phrase(names)}", accepts)


def _any(type_: Any) -> bool:
    return True


def _instance(*classes: type) -> Callable[[Any], bool]:
    return lambda type_: isinstance(type_, classes)


def _is_pointer_tile(type_: Any) -> bool:
    return isinstance(type_, Tile) and isinstance(type_.element, Ptr)


def _is_pointer(type_: Any) -> bool:
    return isinstance(type_, Tile) and isinstance(type_.element, Ptr) and not type_.shape


ANY = Kind("any type", _any)
TILE = Kind("a tile", _instance(Tile))
NUMBER_TILE = tile_of(NUMBERS, "numbers (not pointers, not i4)")
BASE_FLOAT_TILE = tile_of(BASE_FLOATS)
FLOAT_TILE = tile_of(FLOATS, "floats")
INT_TILE = tile_of(INTS)
INT_OR_I4_TILE = tile_of(INTS_AND_I4)
PACKABLE_TILE = tile_of((*NUMBERS, "i4"), "numbers")
I1_TILE = tile_of(("i1",))
I8_TILE = tile_of(("i8",))
I32_TILE = tile_of(("i32",))
I64_TILE = tile_of(("i64",))
POINTER_TILE = Kind("a tile of pointers", _is_pointer_tile)
POINTER = Kind("a rank-0 tile of a pointer", _is_pointer)
INT_SCALAR = scalar_of(INTS)
I1_SCALAR = scalar_of(("i1",))
I32_SCALAR = scalar_of(("i32",))
TOKEN = Kind("a token", _instance(Token))
TENSOR_VIEW = Kind("a tensor_view", _instance(TensorView))
TILE_VIEW = Kind("a partition, strided or gather/scatter view", _instance(*TILE_VIEWS))
PARTITION_VIEW = Kind("a partition_view", _instance(PartitionView))
STRIDED_VIEW = Kind("a strided_view", _instance(StridedView))
GATHER_VIEW = Kind("a gather_scatter_view", _instance(GatherScatterView))
