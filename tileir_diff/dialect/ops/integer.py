"""Integer arithmetic and bits: operands and result have one type."""

from tileir_diff.dialect.spec import NO_MEMORY, OVERFLOW, PREDICATE, ROUNDING, SIGNED, op

SAME = "lhs=rhs=result"
UNARY = "source=result"

OPS = (
    op("addi", 0x03, "lhs rhs", SAME, OVERFLOW, commutative=True,
       doc="Sum, wraps: `addi %a, %b overflow<no_signed_wrap> : tile<4xi32>`."),
    op("subi", 0x68, "lhs rhs", SAME, OVERFLOW, doc="Difference, wraps: `subi %a, %b : tile<4xi32>`."),
    op("muli", 0x4E, "lhs rhs", SAME, OVERFLOW, commutative=True,
       doc="Product, wraps: `muli %a, %b : tile<4xi32>`."),
    op("shli", 0x60, "lhs rhs", SAME, OVERFLOW,
       doc="Shift left by an unsigned amount: `shli %a, %b : tile<4xi32>`."),
    op("negi", 0x50, "source", UNARY, OVERFLOW.with_(since="13.2"), doc="Negation: `negi %a : tile<4xi32>`."),
    op("divi", 0x15, "lhs rhs", SAME, SIGNED, ROUNDING.with_(default="zero", odsname="rounding"),
       effect=NO_MEMORY,
       doc="Quotient, rounded to zero, up or down: `divi %a, %b signed rounding<negative_inf> : "
           "tile<4xi32>`."),
    op("remi", 0x5A, "lhs rhs", SAME, SIGNED,
       doc="Remainder with the sign of the dividend: `remi %a, %b signed : tile<4xi32>`."),
    op("maxi", 0x46, "lhs rhs", SAME, SIGNED, commutative=True,
       doc="Maximum: `maxi %a, %b signed : tile<4xi32>`."),
    op("mini", 0x48, "lhs rhs", SAME, SIGNED, commutative=True,
       doc="Minimum: `mini %a, %b unsigned : tile<4xi32>`."),
    op("shri", 0x61, "lhs rhs", SAME, SIGNED,
       doc="Shift right, arithmetic when signed: `shri %a, %b unsigned : tile<4xi32>`."),
    op("cmpi", 0x0F, "lhs rhs", "lhs=rhs -> result", PREDICATE, SIGNED, form="@predicate $lhs, $rhs, @signed",
       doc="Comparison: `cmpi less_than %a, %b, signed : tile<4xi32> -> tile<4xi1>`."),
    op("absi", 0x01, "source", UNARY, doc="Absolute value, unsigned result: `absi %a : tile<4xi32>`."),
    op("mulhii", 0x4D, "lhs rhs", SAME, commutative=True,
       doc="High half of the unsigned product: `mulhii %a, %b : tile<4xi32>`."),
    op("andi", 0x04, "lhs rhs", SAME, commutative=True, doc="Bitwise and: `andi %a, %b : tile<4xi32>`."),
    op("ori", 0x52, "lhs rhs", SAME, commutative=True, doc="Bitwise or: `ori %a, %b : tile<4xi32>`."),
    op("xori", 0x6C, "lhs rhs", SAME, commutative=True,
       doc="Bitwise exclusive or: `xori %a, %b : tile<4xi32>`."),
)  # fmt: skip
