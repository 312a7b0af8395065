"""Typed access to operands and results, for constraints that run after their kinds are checked."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from xdsl.ir import SSAValue

    from tileir_diff.dialect.ir import TileOp
    from tileir_diff.dialect.types import Ptr, Scalar, TensorView, Tile, View


def tile(value: SSAValue) -> Tile:
    return cast("Tile", value.type)


def operand_tile(op: TileOp, position: int = 0) -> Tile:
    return cast("Tile", op.inputs[position].type)


def result_tile(op: TileOp, position: int = 0) -> Tile:
    return cast("Tile", op.results[position].type)


def number(tile: Tile) -> Scalar:
    """The element type of a tile of numbers."""
    return cast("Scalar", tile.element)


def pointee(tile: Tile) -> Scalar:
    """The type that a tile of pointers points to."""
    return cast("Ptr", tile.element).pointee


def view(value: SSAValue) -> View:
    return cast("View", value.type)


def tensor_view(value: SSAValue) -> TensorView:
    return cast("TensorView", value.type)
