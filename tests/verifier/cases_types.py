"""Type, literal and symbol constraints: one broken and one valid snippet per rule."""

from __future__ import annotations

from .snippets import Case, func, module

_TV = "tensor_view<16x8xf32, strides=[8,1]>"


def _uses(type_: str) -> str:
    return func(f"%a: {type_}", "")


def _view(text: str, tensor: str = _TV) -> str:
    return func(f"%t: {tensor}", f"%v = make_partition_view %t : {text}")


def _strided(text: str) -> str:
    return func(f"%t: {_TV}", f"%v = make_strided_view %t : {text}")


def _gather(sparse: int) -> str:
    type_ = f"gather_scatter_view<tile=(4x4), {_TV}, sparse_dim={sparse}>"
    return func(f"%t: {_TV}", f"%v = make_gather_scatter_view %t : {type_}")


_INTS = "tensor_view<16x8xi32, strides=[8,1]>"
_F4 = "tensor_view<16x8xf4E2M1FN, strides=[8,1]>"
_GLOBAL = "global @g <f32: [1.0, 2.0]> : tile<2xf32>\n"

CASES = [
    Case("tile/positive", _uses("tile<4x0xf32>"), _uses("tile<4x1xf32>")),
    Case("tile/positive", _uses("tile<4x0xptr<f32>>"), _uses("tile<4x1xptr<f32>>")),
    Case("tile/power-of-two", _uses("tile<3xf32>"), _uses("tile<4xf32>")),
    Case("tile/element-count", _uses("tile<33554432xi8>"), _uses("tile<16777216xi8>")),
    Case("tile/element-count", _uses("tile<8192x4096xi8>"), _uses("tile<4096x4096xi8>")),
    Case("tile/f4-even", _uses("tile<f4E2M1FN>"), _uses("tile<2xf4E2M1FN>")),
    Case("tile/f4-even", _uses("tile<1x1xf4E2M1FN>"), _uses("tile<1x2xf4E2M1FN>")),
    Case("ptr/pointee", _uses("tile<ptr<i4>>"), _uses("tile<ptr<i8>>")),
    Case(
        "tensor-view/element",
        _uses("tensor_view<8xi4, strides=[1]>"),
        _uses("tensor_view<8xi8, strides=[1]>"),
    ),
    Case(
        "tensor-view/rank",
        _uses("tensor_view<8x8xf32, strides=[1]>"),
        _uses("tensor_view<8xf32, strides=[1]>"),
    ),
    Case(
        "tensor-view/positive",
        _uses("tensor_view<8x0xf32, strides=[1,1]>"),
        _uses("tensor_view<8x3xf32, strides=[1,1]>"),
    ),
    Case(
        "tensor-view/positive",
        _uses("tensor_view<8xf32, strides=[0]>"),
        _uses("tensor_view<8xf32, strides=[?]>"),
    ),
    Case(
        "view/rank",
        _view(f"partition_view<tile=(4), {_TV}>"),
        _view(f"partition_view<tile=(4x4), {_TV}>"),
    ),
    Case(
        "view/tile-positive",
        _view(f"partition_view<tile=(0x4), {_TV}>"),
        _view(f"partition_view<tile=(1x4), {_TV}>"),
    ),
    Case(
        "view/tile-power-of-two",
        _view(f"partition_view<tile=(3x4), {_TV}>"),
        _view(f"partition_view<tile=(2x4), {_TV}>"),
    ),
    Case(
        "view/tile-element-count",
        _view(f"partition_view<tile=(8192x8192), {_TV}>"),
        _view(f"partition_view<tile=(4096x4096), {_TV}>"),
    ),
    Case(
        "view/f4-even",
        _view(f"partition_view<tile=(1x1), {_F4}>", _F4),
        _view(f"partition_view<tile=(1x2), {_F4}>", _F4),
    ),
    *(
        Case(
            "view/dim-map",
            _view(f"partition_view<tile=(4x4), {_TV}, dim_map=[{dim_map}]>"),
            _view(f"partition_view<tile=(4x4), {_TV}, dim_map=[1, 0]>"),
        )
        for dim_map in ("0, 0", "0, 2", "0", "0, 1, 2")
    ),
    Case(
        "view/padding",
        _view(f"partition_view<tile=(4x4), padding_value = nan, {_INTS}>", _INTS),
        _view(f"partition_view<tile=(4x4), padding_value = zero, {_INTS}>", _INTS),
    ),
    *(
        Case(
            "strided-view/traversal-strides",
            _strided(f"strided_view<tile=(4x4), traversal_strides=[{strides}], {_TV}>"),
            _strided(f"strided_view<tile=(4x4), traversal_strides=[3,1], {_TV}>"),
        )
        for strides in ("0,1", "1", "1,1,1")
    ),
    Case("gather-view/sparse-dim", _gather(2), _gather(1)),
    Case(
        "global/rank",
        module("global @g <f32: 1.0> : tile<2x2xf32>"),
        module("global @g <f32: 1.0> : tile<2xf32>"),
    ),
    Case(
        "entry/parameter-rank",
        module("entry @k(%a: tile<4xf32>) { return }"),
        module("entry @k(%a: tile<f32>) { return }"),
    ),
    Case(
        "entry/results",
        module(
            '"cuda_tile.entry"() <{sym_name = "k", '
            "function_type = (!cuda_tile.tile<f32>) -> !cuda_tile.tile<f32>}> ({\n"
            "^bb0(%a: !cuda_tile.tile<f32>):\n"
            '  "cuda_tile.return"(%a) : (!cuda_tile.tile<f32>) -> ()\n}) : () -> ()'
        ),
        module(
            '"cuda_tile.entry"() <{sym_name = "k", function_type = () -> ()}> ({\n'
            '  "cuda_tile.return"() : () -> ()\n}) : () -> ()'
        ),
    ),
    Case("symbol/empty", module('entry @""() { return }'), module('entry @" "() { return }')),
    Case(
        "symbol/empty",
        module(_GLOBAL.replace("@g", '@""') + "entry @k() { return }"),
        module(_GLOBAL + "entry @k() { return }"),
    ),
    Case(
        "symbol/redefinition",
        module("entry @k() { return }\nentry @k() { return }"),
        module("entry @k() { return }\nentry @l() { return }"),
    ),
    Case(
        "symbol/redefinition",
        module(_GLOBAL + "entry @g() { return }"),
        module(_GLOBAL + "entry @h() { return }"),
    ),
    Case(
        "get_global/symbol",
        module(_GLOBAL + "entry @k() {\n%0 = get_global @h : tile<ptr<f32>>\nreturn }"),
        module(_GLOBAL + "entry @k() {\n%0 = get_global @g : tile<ptr<f32>>\nreturn }"),
    ),
    Case(
        "get_global/symbol",
        module(_GLOBAL + "entry @k() {\n%0 = get_global @k : tile<ptr<f32>>\nreturn }"),
        module(_GLOBAL + "entry @k() {\n%0 = get_global @g : tile<ptr<f32>>\nreturn }"),
    ),
    Case(
        "get_global/pointee",
        module(_GLOBAL + "entry @k() {\n%0 = get_global @g : tile<ptr<f16>>\nreturn }"),
        module(_GLOBAL + "entry @k() {\n%0 = get_global @g : tile<ptr<f32>>\nreturn }"),
    ),
]
