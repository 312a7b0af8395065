"""Types: every spelling reads, and prints as the 13.4 disassembler prints it."""

# ruff: noqa: E501  (IR stands here as it is printed)

import pytest

from tileir_diff.dialect.types import (
    TOKEN,
    PartitionView,
    Ptr,
    Scalar,
    StridedView,
    TensorView,
    Tile,
    parse_type,
)
from tileir_diff.syntax.source import Problem

VIEW = "tensor_view<?x16xf32, strides=[?,1]>"


@pytest.mark.parametrize(
    "text",
    [
        "i1",
        "tf32",
        "f8E8M0FNU",
        "token",
        "ptr<f32>",
        "ptr<f32, <none>>",
        "tile<f32>",
        "tile<4x8xf32>",
        "tile<4xptr<f32>>",
        "tile<ptr<f32, <none>>>",
        "tensor_view<f32>",
        VIEW,
        "tensor_view<8192x128xf32, strides=[128,1], #cuda_tile.ptr_attr<none>>",
        f"partition_view<tile=(4x2), {VIEW}>",
        f"partition_view<tile=(4x2), padding_value = neg_zero, {VIEW}, dim_map=[1, 0]>",
        f"strided_view<tile=(4x2), traversal_strides=[4,3], padding_value = nan, {VIEW}, dim_map=[1, 0]>",
        f"gather_scatter_view<tile=(8x64), padding_value = zero, {VIEW}, sparse_dim=0>",
    ],
)
def test_round_trip(text: str) -> None:
    assert str(parse_type(text)) == text


@pytest.mark.parametrize(
    ("text", "same"),
    [
        ("!cuda_tile.tile<4x!cuda_tile.ptr<f32>>", "tile<4xptr<f32>>"),
        ("!cuda_tile.token", "token"),
        ("cuda_tile.tile<f32>", "tile<f32>"),
        ("tile< 4x8xf32 >", "tile<4x8xf32>"),
        ("tile<4xf8e4m3fn>", "tile<4xf8E4M3FN>"),
        ("tile<4xF4E2M1FN>", "tile<4xf4E2M1FN>"),
        ("tile<4xf8e5m3fnu>", "tile<4xfnv8E5M3FNU>"),
        (
            f"partition_view<tile=(4x2),\n  !cuda_tile.{VIEW}, dim_map=[0, 1]>",
            f"partition_view<tile=(4x2), {VIEW}>",
        ),
        (
            "strided_view<tile=(4), padding_value = nan, traversal_strides=[4], tensor_view<4xf32, strides=[1]>>",
            "strided_view<tile=(4), traversal_strides=[4], padding_value = nan, tensor_view<4xf32, strides=[1]>>",
        ),
        ("ptr<f32, #cuda_tile.ptr_attr<none>>", "ptr<f32, <none>>"),
        ("tensor_view<xf32, strides=[]>", "tensor_view<f32>"),
    ],
)
def test_other_spellings(text: str, same: str) -> None:
    assert parse_type(text) == parse_type(same)
    assert str(parse_type(text)) == same


def test_fields() -> None:
    f32 = Scalar("f32")
    view = TensorView((None, 16), (None, 1), f32)
    assert parse_type("tile<4x8xf32>") == Tile((4, 8), f32)
    assert parse_type("tile<4xptr<f32>>") == Tile((4,), Ptr(f32))
    assert parse_type(f"partition_view<tile=(4x2), {VIEW}>") == PartitionView((4, 2), None, view, (0, 1))
    strided = (
        f"strided_view<tile=(4x2), traversal_strides=[4,3], padding_value = nan, {VIEW}, dim_map=[1, 0]>"
    )
    assert parse_type(strided) == StridedView((4, 2), (4, 3), "nan", view, (1, 0))
    assert parse_type("token") is TOKEN
    assert (f32.bits, f32.is_float, f32.is_int) == (32, True, False)
    assert (Scalar("i1").bits, Scalar("i1").is_int) == (1, True)
    assert (Tile((4, 8), f32).size, Tile((), f32).size, Tile((), f32).rank) == (32, 1, 0)


def test_no_padding_is_not_zero_padding() -> None:
    zero = parse_type(f"partition_view<tile=(4x2), padding_value = zero, {VIEW}>")
    none = parse_type(f"partition_view<tile=(4x2), {VIEW}>")
    assert zero != none


@pytest.mark.parametrize(
    ("text", "offset", "message"),
    [
        ("tile<4xg32>", 7, "unknown element type 'g32'"),
        ("tile<?xf32>", 5, "fixed shape"),
        ("tile<4xtile<f32>>", 5, "cannot hold"),
        ("tile<f32, f32>", 5, "expected tile"),
        ("tensor<4xf32>", 0, "unknown type 'tensor'"),
        ("ptr<tile<f32>>", 4, "point to elements"),
        (f"partition_view<{VIEW}>", 15, "without 'tile'"),
        ("partition_view<tile=(4)>", 15, "without its tensor_view"),
        (f"partition_view<tile=(4x2), padding_value = one, {VIEW}>", 43, "unknown padding value 'one'"),
        (f"partition_view<tile=(4x2), size=[1], {VIEW}>", 32, "unknown 'size'"),
        (f"gather_scatter_view<tile=(4x2), {VIEW}>", 20, "without 'sparse_dim'"),
        (f"partition_view<tile=(4x2), tile=(4x2), {VIEW}>", 32, "given twice"),
        ("tensor_view<4xf32, strides=[a]>", 28, "whole number"),
        ("partition_view<tile=(4), tensor_view<4xg32, strides=[1]>>", 39, "unknown element type 'g32'"),
    ],
)
def test_faults(text: str, offset: int, message: str) -> None:
    with pytest.raises(Problem) as caught:
        parse_type(text)
    assert message in caught.value.message
    assert caught.value.offset == offset
