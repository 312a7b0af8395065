"""Conversions between element types; the shape stays."""

from tileir_diff.dialect.spec import OVERFLOW, ROUNDING, SIGNED, AttributeSpec, op

CONVERT = "source -> result"
SATURATING = AttributeSpec("saturating", "flag", "bool", default=False, odsname="saturating", since="13.4")

OPS = (
    op("bitcast", 0x09, "source", CONVERT,
       doc="Same bits, other type: `bitcast %x : tile<4xf32> -> tile<4xi32>`."),
    op("exti", 0x25, "source", CONVERT, SIGNED,
       doc="Wider integer: `exti %x signed : tile<4xi32> -> tile<4xi64>`."),
    op("trunci", 0x6B, "source", CONVERT, OVERFLOW,
       doc="Narrower integer: `trunci %x : tile<4xi32> -> tile<4xi16>`."),
    op("ftof", 0x2A, "source", CONVERT, ROUNDING,
       doc="Float to float: `ftof %x rounding<zero> : tile<4xf32> -> tile<4xf16>`."),
    op("ftoi", 0x2B, "source", CONVERT, SIGNED, ROUNDING.with_(default="nearest_int_to_zero"), SATURATING,
       doc="Float to integer, truncates: `ftoi %x signed : tile<4xf32> -> tile<4xi32>`."),
    op("itof", 0x3B, "source", CONVERT, SIGNED, ROUNDING,
       doc="Integer to float: `itof %x signed : tile<4xi32> -> tile<4xf32>`."),
    op("ptr_to_int", 0x56, "source", CONVERT,
       doc="Address as integer: `ptr_to_int %p : tile<ptr<f32>> -> tile<i64>`."),
    op("int_to_ptr", 0x33, "source", CONVERT,
       doc="Integer as address: `int_to_ptr %i : tile<i64> -> tile<ptr<f32>>`."),
    op("ptr_to_ptr", 0x57, "source", CONVERT,
       doc="Other pointee: `ptr_to_ptr %p : tile<ptr<f32>> -> tile<ptr<i8>>`."),
)  # fmt: skip
