"""Constraints on types themselves: tiles, pointers, tensor views and the views on them."""

from __future__ import annotations

from math import prod
from typing import Any

from tileir_diff.dialect.types import (
    GatherScatterView,
    PartitionView,
    Ptr,
    Scalar,
    StridedView,
    TensorView,
    Tile,
)
from tileir_diff.dialect.verifier.broken import Broken, Rules
from tileir_diff.dialect.verifier.kinds import FLOATS, NUMBERS

MAX_TILE_ELEMENTS = 1 << 24
_POINTEES = frozenset(NUMBERS)

RULES: Rules = {
    "tile/positive": "every dimension of a tile is at least 1",
    "tile/power-of-two": "every dimension of a tile is a power of two",
    "tile/element-count": f"a tile has at most {MAX_TILE_ELEMENTS} elements",
    "tile/f4-even": "a tile of f4E2M1FN has at least one even dimension",
    "ptr/pointee": "a pointer points to a number type, not to i4",
    "tensor-view/element": "the elements of a tensor_view are numbers, not i4",
    "tensor-view/rank": "a tensor_view has one stride per dimension",
    "tensor-view/positive": "static sizes and strides of a tensor_view are at least 1",
    "view/rank": "the tile of a view has the rank of its tensor_view, and at least 1",
    "view/tile-positive": "every dimension of the tile of a view is at least 1",
    "view/tile-power-of-two": "every dimension of the tile of a view is a power of two",
    "view/tile-element-count": f"the tile of a view has at most {MAX_TILE_ELEMENTS} elements",
    "view/f4-even": "the tile of a view of f4E2M1FN has at least one even dimension",
    "view/dim-map": "dim_map is a permutation of the dimensions of the tensor_view",
    "view/padding": "padding other than zero needs float elements",
    "strided-view/traversal-strides": "a strided_view has a traversal stride per dimension, at least 1",
    "gather-view/sparse-dim": "sparse_dim names a dimension of the tensor_view",
}


def check_type(type_: Any) -> Broken | None:
    """The first constraint that `type_` breaks, looking inside it first."""
    if isinstance(type_, Tile):
        return _check_tile(type_)
    if isinstance(type_, Ptr):
        return _check_pointer(type_)
    if isinstance(type_, TensorView):
        return _check_tensor_view(type_)
    if isinstance(type_, PartitionView | StridedView | GatherScatterView):
        return _check_tensor_view(type_.tensor_view) or _check_view(type_)
    return None


def _check_tile(tile: Tile) -> Broken | None:
    if isinstance(tile.element, Ptr):
        broken = _check_pointer(tile.element)
        if broken is not None:
            return broken
    return _check_shape(tile.shape, tile.element, str(tile), "tile/")


def _check_shape(shape: tuple[int, ...], element: Scalar | Ptr, text: str, prefix: str) -> Broken | None:
    """`prefix` tells a tile type from the tile of a view; `text` is the whole type."""
    for dim in shape:
        if dim <= 0:
            return Broken(f"{prefix}positive", f"size {dim} in {text} must be at least 1")
    for dim in shape:
        if dim & (dim - 1):
            return Broken(f"{prefix}power-of-two", f"size {dim} in {text} must be a power of two")
    count = prod(shape)
    if count > MAX_TILE_ELEMENTS:
        limit = f"at most {MAX_TILE_ELEMENTS} elements are allowed"
        return Broken(f"{prefix}element-count", f"{text} has {count} elements, {limit}")
    if isinstance(element, Scalar) and element.name == "f4E2M1FN" and all(dim == 1 for dim in shape):
        rule = "tile/f4-even" if prefix == "tile/" else "view/f4-even"
        return Broken(rule, f"{text} packs two f4E2M1FN a byte, so one dimension must be even")
    return None


def _check_pointer(pointer: Ptr) -> Broken | None:
    if pointer.pointee.name in _POINTEES:
        return None
    return Broken("ptr/pointee", f"a pointer cannot point to {pointer.pointee}")


def _check_tensor_view(view: TensorView) -> Broken | None:
    if view.element.name not in _POINTEES:
        return Broken("tensor-view/element", f"a tensor_view cannot hold elements of type {view.element}")
    if len(view.shape) != len(view.strides):
        found = f"{len(view.shape)} size(s) and {len(view.strides)} stride(s)"
        return Broken("tensor-view/rank", f"a tensor_view needs one stride per dimension, found {found}")
    for what, numbers in (("size", view.shape), ("stride", view.strides)):
        for number in numbers:
            if number is not None and number <= 0:
                return Broken("tensor-view/positive", f"static {what} {number} of {view} must be at least 1")
    return None


def _check_view(view: PartitionView | StridedView | GatherScatterView) -> Broken | None:
    rank = len(view.tensor_view.shape)
    if not view.tile or len(view.tile) != rank:
        found = f"tile of rank {len(view.tile)} over a tensor_view of rank {rank}"
        return Broken(
            "view/rank", f"the tile of a view must have its tensor_view's rank, at least 1; found {found}"
        )
    element = view.tensor_view.element
    broken = _check_shape(view.tile, element, str(view), "view/tile-")
    if broken is not None:
        return broken
    if isinstance(view, StridedView):
        strides = view.traversal_strides
        if len(strides) != rank or any(stride <= 0 for stride in strides):
            return Broken(
                "strided-view/traversal-strides",
                f"a strided_view needs {rank} traversal strides, each at least 1; found {list(strides)}",
            )
    if isinstance(view, GatherScatterView):
        if not 0 <= view.sparse_dim < rank:
            return Broken(
                "gather-view/sparse-dim", f"sparse_dim must be in [0, {rank}), found {view.sparse_dim}"
            )
    elif sorted(view.dim_map) != list(range(rank)):
        found = f"found {list(view.dim_map)}"
        return Broken("view/dim-map", f"dim_map must be a permutation of 0 to {rank - 1}, {found}")
    if view.padding is not None and view.padding != "zero" and element.name not in FLOATS:
        return Broken("view/padding", f"padding_value {view.padding} needs float elements, found {element}")
    return None
