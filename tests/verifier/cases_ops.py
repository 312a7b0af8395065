"""Constraints of ops on values: one broken and one valid snippet per rule."""

from __future__ import annotations

from .snippets import Case, func, generic

_A = "%a: tile<4xf32>"
_ORDERED_EQUAL = (
    "comparison_predicate = #cuda_tile.comparison_predicate<equal>, "
    "comparison_ordering = #cuda_tile.comparison_ordering<ordered>"
)
_NEAREST = "rounding_mode = #cuda_tile.rounding<nearest_even>"


def _typed(op: str, properties: str, operands: list[str], result: str) -> str:
    """`op` in generic form, on arguments of the types `operands`."""
    names = [f"%a{number}" for number in range(len(operands))]
    arguments = ", ".join(f"{name}: {type_}" for name, type_ in zip(names, operands, strict=True))
    types = ", ".join(f"!cuda_tile.{type_}" for type_ in operands)
    return func(arguments, generic(op, ", ".join(names), properties, types, f"!cuda_tile.{result}"))


def _unary(op: str, modifiers: str, type_: str) -> str:
    return func(f"%a: {type_}", f"%r = {op} %a {modifiers} : {type_}")


def _binary(op: str, modifiers: str, type_: str) -> str:
    return func(f"%a: {type_}", f"%r = {op} %a, %a {modifiers} : {type_}")


def _convert(op: str, modifiers: str, source: str, result: str) -> str:
    return func(f"%a: {source}", f"%r = {op} %a {modifiers} : {source} -> {result}")


def _fma(modifiers: str, type_: str) -> str:
    return func(f"%a: {type_}", f"%r = fma %a, %a, %a {modifiers} : {type_}")


_F32, _F16, _I32 = "tile<4xf32>", "tile<4xf16>", "tile<4xi32>"

ELEMENTWISE = [
    Case(
        "elementwise/same-type",
        _typed("addf", _NEAREST, [_F32, "tile<8xf32>"], _F32),
        _typed("addf", _NEAREST, [_F32, _F32], _F32),
    ),
    Case("elementwise/same-type", _typed("sin", "", [_F32], _F16), _typed("sin", "", [_F32], _F32)),
    Case(
        "elementwise/same-type",
        _typed("andi", "", [_I32, "tile<4xi64>"], _I32),
        _typed("andi", "", [_I32, _I32], _I32),
    ),
    Case(
        "compare/same-type",
        _typed(
            "cmpf",
            _ORDERED_EQUAL,
            [_F32, _F16],
            "tile<4xi1>",
        ),
        _typed(
            "cmpf",
            _ORDERED_EQUAL,
            [_F32, _F32],
            "tile<4xi1>",
        ),
    ),
    Case(
        "compare/result-shape",
        func(f"%a: {_I32}", f"%r = cmpi equal %a, %a, signed : {_I32} -> tile<2xi1>"),
        func(f"%a: {_I32}", f"%r = cmpi equal %a, %a, signed : {_I32} -> tile<4xi1>"),
    ),
    Case(
        "fpowi/exponent-shape",
        func(f"{_A}, %e: tile<2xi32>", "%r = fpowi %a, %e : tile<4xf32>, tile<2xi32>"),
        func(f"{_A}, %e: tile<4xi32>", "%r = fpowi %a, %e : tile<4xf32>, tile<4xi32>"),
    ),
    Case("fpowi/same-type", _typed("fpowi", "", [_F32, _I32], _F16), _typed("fpowi", "", [_F32, _I32], _F32)),
    Case(
        "select/condition-shape",
        func(f"{_A}, %c: tile<i1>", "%r = select %c, %a, %a : tile<i1>, tile<4xf32>"),
        func(f"{_A}, %c: tile<4xi1>", "%r = select %c, %a, %a : tile<4xi1>, tile<4xf32>"),
    ),
    Case(
        "select/same-type",
        _typed("select", "", ["tile<4xi1>", _F32, _F16], _F32),
        _typed("select", "", ["tile<4xi1>", _F32, _F32], _F32),
    ),
    Case(
        "select/sub-byte",
        func("%a: tile<4xf4E2M1FN>, %c: tile<4xi1>", "%r = select %c, %a, %a : tile<4xi1>, tile<4xf4E2M1FN>"),
        func("%a: tile<4xi4>, %c: tile<4xi1>", "%r = select %c, %a, %a : tile<4xi1>, tile<4xi4>"),
    ),
    Case(
        "offset/same-shape",
        func(
            "%p: tile<4xptr<f32>>, %o: tile<i32>",
            "%r = offset %p, %o : tile<4xptr<f32>>, tile<i32> -> tile<4xptr<f32>>",
        ),
        func(
            "%p: tile<4xptr<f32>>, %o: tile<4xi32>",
            "%r = offset %p, %o : tile<4xptr<f32>>, tile<4xi32> -> tile<4xptr<f32>>",
        ),
    ),
    Case(
        "offset/same-type",
        func(
            "%p: tile<ptr<f32>>, %o: tile<i32>",
            "%r = offset %p, %o : tile<ptr<f32>>, tile<i32> -> tile<ptr<f16>>",
        ),
        func(
            "%p: tile<ptr<f32>>, %o: tile<i1>",
            "%r = offset %p, %o : tile<ptr<f32>>, tile<i1> -> tile<ptr<f32>>",
        ),
    ),
]

MODES = [
    *(
        Case(f"{op}/rounding", _binary(op, "rounding<approx>", _F32), _binary(op, "rounding<zero>", _F16))
        for op in ("addf", "subf", "mulf")
    ),
    Case("fma/rounding", _fma("rounding<full>", _F32), _fma("rounding<positive_inf> flush_to_zero", _F32)),
    Case(
        "divf/rounding",
        _binary("divf", "rounding<nearest_away>", _F32),
        _binary("divf", "rounding<full>", _F32),
    ),
    Case(
        "divf/f32-rounding",
        _binary("divf", "rounding<approx>", _F16),
        _binary("divf", "rounding<approx>", _F32),
    ),
    Case("sqrt/rounding", _unary("sqrt", "rounding<full>", _F32), _unary("sqrt", "rounding<approx>", _F32)),
    Case(
        "sqrt/f32-rounding",
        _unary("sqrt", "rounding<approx>", "tile<4xf64>"),
        _unary("sqrt", "rounding<zero>", "tile<4xf64>"),
    ),
    *(
        case
        for op in ("exp", "tanh")
        for case in (
            Case(
                f"{op}/rounding",
                _unary(op, "rounding<nearest_even>", _F32),
                _unary(op, "rounding<full>", _F32),
            ),
            Case(f"{op}/f32-rounding", _unary(op, "rounding<approx>", _F16), _unary(op, "", _F16)),
        )
    ),
    *(
        Case("flush-to-zero/f32", _binary(op, "flush_to_zero", _F16), _binary(op, "flush_to_zero", _F32))
        for op in ("addf", "subf", "mulf", "divf", "maxf", "minf")
    ),
    *(
        Case("flush-to-zero/f32", _unary(op, "flush_to_zero", _F16), _unary(op, "flush_to_zero", _F32))
        for op in ("sqrt", "rsqrt", "exp2")
    ),
    Case("flush-to-zero/f32", _fma("flush_to_zero", "tile<4xf64>"), _fma("", "tile<4xf64>")),
    Case(
        "divi/rounding",
        _binary("divi", "signed rounding<nearest_even>", _I32),
        _binary("divi", "signed rounding<negative_inf>", _I32),
    ),
    Case(
        "divi/unsigned-negative-inf",
        _binary("divi", "unsigned rounding<negative_inf>", _I32),
        _binary("divi", "unsigned rounding<positive_inf>", _I32),
    ),
    Case(
        "negi/overflow",
        _unary("negi", "overflow<no_unsigned_wrap>", _I32),
        _unary("negi", "overflow<no_wrap>", _I32),
    ),
    Case("iota/rank", func("", "%r = iota : tile<4x4xi32>"), func("", "%r = iota : tile<4xi32>")),
    Case("iota/range", func("", "%r = iota : tile<512xi8>"), func("", "%r = iota : tile<256xi8>")),
]

CONVERSIONS = [
    Case(
        "conversion/same-shape",
        _convert("exti", "signed", "tile<4xi8>", "tile<2xi32>"),
        _convert("exti", "signed", "tile<4xi8>", _I32),
    ),
    Case(
        "conversion/same-shape",
        _convert("ptr_to_int", "", "tile<4xptr<f32>>", "tile<i64>"),
        _convert("ptr_to_int", "", "tile<4xptr<f32>>", "tile<4xi64>"),
    ),
    Case("bitcast/width", _convert("bitcast", "", _F32, "tile<4xi64>"), _convert("bitcast", "", _F32, _I32)),
    Case(
        "bitcast/width",
        _convert("bitcast", "", "tile<4xtf32>", _I32),
        _convert("bitcast", "", "tile<4xtf32>", "tile<4xtf32>"),
    ),
    Case(
        "exti/wider",
        _convert("exti", "signed", _I32, "tile<4xi32>"),
        _convert("exti", "signed", "tile<4xi1>", "tile<4xi4>"),
    ),
    Case(
        "trunci/narrower",
        _convert("trunci", "", "tile<4xi8>", _I32),
        _convert("trunci", "", "tile<4xi8>", "tile<4xi4>"),
    ),
    Case("ftof/no-op", _convert("ftof", "", _F32, _F32), _convert("ftof", "", _F32, _F16)),
    *(
        Case(
            "ftof/rounding",
            _convert("ftof", f"rounding<{bad}>", source, result),
            _convert("ftof", f"rounding<{good}>", source, result),
        )
        for source, result, bad, good in (
            (_F32, "tile<4xf8E8M0FNU>", "nearest_even", "zero"),
            (_F32, "tile<4xf8E5M2>", "zero", "nearest_even"),
            (_F32, _F16, "positive_inf", "zero"),
            (_F32, "tile<4xtf32>", "positive_inf", "nearest_away"),
            ("tile<4xf64>", _F32, "nearest_away", "positive_inf"),
            ("tile<4xf8E8M0FNU>", _F32, "nearest_away", "zero"),
            (_F16, _F32, "approx", "nearest_away"),
        )
    ),
    Case(
        "ftoi/rounding",
        _convert("ftoi", "signed rounding<nearest_even>", _F32, _I32),
        _convert("ftoi", "signed rounding<nearest_int_to_zero> saturating", _F32, _I32),
    ),
    Case(
        "itof/rounding",
        _convert("itof", "signed rounding<zero>", _I32, _F32),
        _convert("itof", "signed", _I32, _F32),
    ),
    Case(
        "itof/f8E8M0FNU",
        _convert("itof", "unsigned", _I32, "tile<4xf8E8M0FNU>"),
        _convert("itof", "unsigned", _I32, "tile<4xfnv8E5M3FNU>"),
    ),
    Case(
        "pack/rank",
        _convert("pack", "", "tile<4x2xf16>", "tile<4x4xi8>"),
        _convert("pack", "", "tile<8xf16>", "tile<16xi8>"),
    ),
    Case(
        "pack/width",
        _convert("pack", "", "tile<4xf8E5M2>", "tile<4xi8>"),
        _convert("pack", "", "tile<4xf4E2M1FN>", "tile<2xi8>"),
    ),
    Case(
        "pack/byte-aligned",
        _convert("unpack", "", "tile<1xi8>", "tile<4xi1>"),
        _convert("unpack", "", "tile<1xi8>", "tile<8xi1>"),
    ),
    Case(
        "pack/byte-size",
        _convert("unpack", "", "tile<8xi8>", "tile<8xf16>"),
        _convert("unpack", "", "tile<8xi8>", "tile<4xf16>"),
    ),
]


def _cat(lhs: str, rhs: str, dim: int, result: str) -> str:
    return func(f"%a: {lhs}, %b: {rhs}", f"%r = cat %a, %b dim = {dim} : {lhs}, {rhs} -> {result}")


def _extract(source: str, indices: int, result: str) -> str:
    return func(
        f"%a: {source}, %i: tile<i32>",
        f"%r = extract %a[{', '.join(['%i'] * indices)}] : {source} -> {result}",
    )


def _insert(source: str, target: str, indices: int) -> str:
    listed = ", ".join(["%i"] * indices)
    return func(
        f"%a: {source}, %b: {target}, %i: tile<i32>", f"%r = insert %a, %b[{listed}] : {source}, {target}"
    )


SHAPES = [
    Case(
        "shape/element-type",
        _convert("reshape", "", _F32, "tile<2x2xi32>"),
        _convert("reshape", "", _F32, "tile<2x2xf32>"),
    ),
    Case(
        "shape/element-type",
        _convert("permute", "[1, 0]", "tile<2x4xf32>", "tile<4x2xf16>"),
        _convert("permute", "[1, 0]", "tile<2x4xf32>", "tile<4x2xf32>"),
    ),
    Case("shape/element-type", _extract(_F32, 1, "tile<2xf16>"), _extract(_F32, 1, "tile<2xf32>")),
    Case(
        "shape/rank",
        _convert("broadcast", "", _F32, "tile<4x4xf32>"),
        _convert("broadcast", "", "tile<1x4xf32>", "tile<4x4xf32>"),
    ),
    Case("shape/rank", _cat(_F32, "tile<4x1xf32>", 0, "tile<8xf32>"), _cat(_F32, _F32, 0, "tile<8xf32>")),
    Case(
        "shape/rank",
        _extract("tile<4x4xf32>", 2, "tile<4xf32>"),
        _extract("tile<4x4xf32>", 2, "tile<1x4xf32>"),
    ),
    Case(
        "reshape/element-count",
        _convert("reshape", "", _F32, "tile<2x4xf32>"),
        _convert("reshape", "", "tile<ptr<f32>>", "tile<1x1xptr<f32>>"),
    ),
    Case(
        "broadcast/shape",
        _convert("broadcast", "", "tile<2xf32>", _F32),
        _convert("broadcast", "", "tile<1xf32>", _F32),
    ),
    Case("cat/dim", _cat(_F32, _F32, 1, "tile<8xf32>"), _cat(_F32, _F32, 0, "tile<8xf32>")),
    Case("cat/shape", _cat(_F32, _F32, 0, "tile<16xf32>"), _cat(_F32, _F32, 0, "tile<8xf32>")),
    Case(
        "cat/shape",
        _cat("tile<4x4xf32>", "tile<4x2xf32>", 0, "tile<8x4xf32>"),
        _cat("tile<4x4xf32>", "tile<4x4xf32>", 0, "tile<8x4xf32>"),
    ),
    Case(
        "permute/rank",
        _convert("permute", "[0]", _F32, _F32),
        _convert("permute", "[0, 1]", "tile<4x2xf32>", "tile<4x2xf32>"),
    ),
    *(
        Case(
            "permute/permutation",
            _convert("permute", bad, "tile<4x4xf32>", "tile<4x4xf32>"),
            _convert("permute", "[1, 0]", "tile<4x4xf32>", "tile<4x4xf32>"),
        )
        for bad in ("[0, 0]", "[0, 2]", "[0]")
    ),
    Case(
        "permute/shape",
        _convert("permute", "[1, 0]", "tile<4x2xf32>", "tile<4x2xf32>"),
        _convert("permute", "[1, 0]", "tile<4x2xf32>", "tile<2x4xf32>"),
    ),
    Case("extract/index-count", _extract(_F32, 2, "tile<2xf32>"), _extract("tile<f32>", 0, "tile<f32>")),
    Case("extract/index-count", _insert("tile<2xf32>", _F32, 0), _insert("tile<2xf32>", _F32, 1)),
    Case("extract/divisible", _extract(_F32, 1, "tile<8xf32>"), _extract(_F32, 1, _F32)),
    Case("extract/divisible", _insert("tile<8xf32>", _F32, 1), _insert("tile<4xf32>", _F32, 1)),
    Case(
        "insert/result-type",
        _typed("insert", "", ["tile<2xf32>", _F32, "tile<i32>"], "tile<8xf32>"),
        _typed("insert", "", ["tile<2xf32>", _F32, "tile<i32>"], _F32),
    ),
]


def _mma(lhs: str, rhs: str, acc: str, op: str = "mmaf", modifiers: str = "") -> str:
    return func(f"%a: {lhs}, %b: {rhs}, %c: {acc}", f"%r = {op} %a, %b, %c {modifiers} : {lhs}, {rhs}, {acc}")


def _scaled(lhs: str, rhs: str, acc: str, lhs_scale: str, rhs_scale: str) -> str:
    types = [lhs, rhs, acc, lhs_scale, rhs_scale]
    names = ["%a", "%b", "%c", "%s", "%t"]
    arguments = ", ".join(f"{name}: {type_}" for name, type_ in zip(names, types, strict=True))
    return func(arguments, f"%r = mmaf_scaled {', '.join(names)} : {', '.join(types)}")


_H8, _ACC = "tile<8x8xf16>", "tile<8x8xf32>"
_E4 = ("tile<8x64xf8E4M3FN>", "tile<64x8xf8E4M3FN>", _ACC)
_F4 = ("tile<8x64xf4E2M1FN>", "tile<64x8xf4E2M1FN>", _ACC)
_E4_SCALES = ("tile<8x2xf8E8M0FNU>", "tile<2x8xf8E8M0FNU>")

MATRIX = [
    Case("mma/rank", _mma("tile<8xf16>", "tile<8xf16>", "tile<8xf32>"), _mma(_H8, _H8, _ACC)),
    Case(
        "mma/rank",
        _mma("tile<1x8x8xf16>", _H8, _ACC),
        _mma("tile<1x8x8xf16>", "tile<1x8x8xf16>", "tile<1x8x8xf32>"),
    ),
    Case("mma/input-type", _mma(_H8, "tile<8x8xbf16>", _ACC), _mma("tile<8x8xbf16>", "tile<8x8xbf16>", _ACC)),
    Case(
        "mma/input-type",
        _scaled(*_F4, "tile<8x4xf8E8M0FNU>", "tile<4x8xf8E4M3FN>"),
        _scaled(*_F4, "tile<8x4xf8E4M3FN>", "tile<4x8xf8E4M3FN>"),
    ),
    Case("mma/shape", _mma(_H8, "tile<16x8xf16>", _ACC), _mma("tile<8x16xf16>", "tile<16x8xf16>", _ACC)),
    Case("mma/shape", _mma(_H8, _H8, "tile<16x8xf32>"), _mma("tile<16x8xf16>", _H8, "tile<16x8xf32>")),
    Case(
        "mma/shape",
        _mma("tile<2x8x8xf16>", "tile<4x8x8xf16>", "tile<2x8x8xf32>"),
        _mma("tile<2x8x8xf16>", "tile<2x8x8xf16>", "tile<2x8x8xf32>"),
    ),
    Case(
        "mma/shape",
        _mma("tile<8x8xi8>", "tile<8x8xi8>", "tile<8x16xi32>", "mmai", "signed unsigned"),
        _mma("tile<8x8xi8>", "tile<8x16xi8>", "tile<8x16xi32>", "mmai", "signed unsigned"),
    ),
    Case(
        "mma/result-type",
        _typed("mmaf", "", [_H8, _H8, _ACC], _H8),
        _typed("mmaf", "", [_H8, _H8, _ACC], _ACC),
    ),
    Case("mmaf/accumulator", _mma("tile<8x8xbf16>", "tile<8x8xbf16>", _H8), _mma(_H8, _H8, _H8)),
    Case(
        "mmaf/accumulator",
        _mma("tile<8x8xf64>", "tile<8x8xf64>", _ACC),
        _mma("tile<8x8xtf32>", "tile<8x8xtf32>", _ACC),
    ),
    Case(
        "mmaf-scaled/scale-shape",
        _scaled(*_E4, "tile<4x2xf8E8M0FNU>", _E4_SCALES[1]),
        _scaled(*_E4, *_E4_SCALES),
    ),
    Case(
        "mmaf-scaled/scale-shape",
        _scaled(*_E4, "tile<8x4xf8E8M0FNU>", _E4_SCALES[1]),
        _scaled(*_E4, *_E4_SCALES),
    ),
    Case(
        "mmaf-scaled/scale-shape",
        _scaled(*_E4, "tile<8x128xf8E8M0FNU>", "tile<128x8xf8E8M0FNU>"),
        _scaled(*_E4, *_E4_SCALES),
    ),
    Case(
        "mmaf-scaled/scale-type",
        _scaled(*_E4, "tile<8x2xf8E4M3FN>", "tile<2x8xf8E4M3FN>"),
        _scaled(*_E4, *_E4_SCALES),
    ),
    Case(
        "mmaf-scaled/block",
        _scaled(*_E4, "tile<8x4xf8E8M0FNU>", "tile<4x8xf8E8M0FNU>"),
        _scaled(*_F4, "tile<8x4xf8E8M0FNU>", "tile<4x8xf8E8M0FNU>"),
    ),
    Case(
        "mmaf-scaled/block",
        _scaled(*_F4, "tile<8x2xf8E4M3FN>", "tile<2x8xf8E4M3FN>"),
        _scaled(*_F4, "tile<8x2xf8E8M0FNU>", "tile<2x8xf8E8M0FNU>"),
    ),
]

SIGNATURES = [
    Case("op/operand-type", _unary("sin", "", _I32), _unary("sin", "", _F32)),
    Case("op/operand-type", _binary("addf", "", "tile<4xtf32>"), _binary("addf", "", "tile<4xbf16>")),
    Case("op/operand-type", _binary("addi", "", "tile<4xi4>"), _binary("addi", "", "tile<4xi8>")),
    Case("op/operand-type", _convert("ftoi", "signed", _I32, _I32), _convert("ftoi", "signed", _F32, _I32)),
    Case("op/operand-type", _mma("tile<8x8xf4E2M1FN>", "tile<8x8xf4E2M1FN>", _ACC), _mma(_H8, _H8, _ACC)),
    Case(
        "op/operand-type",
        func(f"{_A}, %e: tile<4xi64>", "%r = fpowi %a, %e : tile<4xf32>, tile<4xi64>"),
        func(f"{_A}, %e: tile<4xi8>", "%r = fpowi %a, %e : tile<4xf32>, tile<4xi8>"),
    ),
    Case(
        "op/result-type",
        func("", "%r = constant <i4: 1> : tile<4xi4>"),
        func("", "%r = constant <i8: 1> : tile<4xi8>"),
    ),
    Case(
        "op/result-type",
        func("", "%r = get_tile_block_id : tile<i64>").replace("%r", "%x, %y, %z"),
        func("", "%x, %y, %z = get_tile_block_id : tile<i32>"),
    ),
    Case(
        "op/result-type",
        _convert("ptr_to_int", "", "tile<ptr<f32>>", "tile<i32>"),
        _convert("ptr_to_int", "", "tile<ptr<f32>>", "tile<i64>"),
    ),
    Case(
        "op/result-count",
        func(_A, '"cuda_tile.sin"(%a) : (!cuda_tile.tile<4xf32>) -> ()'),
        func(_A, '%r = "cuda_tile.sin"(%a) : (!cuda_tile.tile<4xf32>) -> !cuda_tile.tile<4xf32>'),
    ),
    Case(
        "op/region-count",
        func("", '"cuda_tile.loop"() : () -> ()'),
        func("", '"cuda_tile.loop"() ({\n"cuda_tile.break"() : () -> ()\n}) : () -> ()'),
    ),
]

CASES = [*ELEMENTWISE, *MODES, *CONVERSIONS, *SHAPES, *MATRIX, *SIGNATURES]
