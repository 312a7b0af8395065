"""Floating-point arithmetic: operands and result have one type."""

from tileir_diff.dialect.spec import (
    FLUSH_TO_ZERO,
    PREDICATE,
    PROPAGATE_NAN,
    REQUIRED,
    ROUNDING,
    AttributeSpec,
    op,
)

SAME = "lhs=rhs=result"
UNARY = "source=result"
EXTREMUM = "$lhs, $rhs @flush_to_zero @propagate_nan"
FULL = ROUNDING.with_(default="full")
ORDERING = AttributeSpec(
    "ordering", "keyword", "enum", ("unordered", "ordered"), REQUIRED, odsname="comparison_ordering"
)

OPS = (
    op("addf", 0x02, "lhs rhs", SAME, ROUNDING, FLUSH_TO_ZERO, commutative=True,
       doc="Sum: `addf %a, %b rounding<zero> flush_to_zero : tile<4xf32>`."),
    op("subf", 0x67, "lhs rhs", SAME, ROUNDING, FLUSH_TO_ZERO,
       doc="Difference: `subf %a, %b : tile<4xf32>`."),
    op("mulf", 0x4C, "lhs rhs", SAME, ROUNDING, FLUSH_TO_ZERO, commutative=True,
       doc="Product: `mulf %a, %b : tile<4xf32>`."),
    op("fma", 0x28, "lhs rhs acc", "lhs=rhs=acc=result", ROUNDING, FLUSH_TO_ZERO, commutative=True,
       doc="lhs * rhs + acc, rounded once: `fma %a, %b, %c : tile<4xf32>`."),
    op("divf", 0x14, "lhs rhs", SAME, ROUNDING, FLUSH_TO_ZERO,
       doc="Quotient: `divf %a, %b rounding<approx> : tile<4xf32>`."),
    op("sqrt", 0x64, "source", UNARY, ROUNDING, FLUSH_TO_ZERO, doc="Square root: `sqrt %a : tile<4xf32>`."),
    op("rsqrt", 0x5D, "source", UNARY, FLUSH_TO_ZERO,
       doc="Reciprocal square root: `rsqrt %a : tile<4xf32>`."),
    op("exp2", 0x18, "source", UNARY, FLUSH_TO_ZERO,
       doc="Power of two: `exp2 %a flush_to_zero : tile<4xf32>`."),
    op("maxf", 0x45, "lhs rhs", SAME, PROPAGATE_NAN, FLUSH_TO_ZERO, commutative=True, form=EXTREMUM,
       doc="Maximum; a NaN loses unless propagated: `maxf %a, %b propagate_nan : tile<4xf32>`."),
    op("minf", 0x47, "lhs rhs", SAME, PROPAGATE_NAN, FLUSH_TO_ZERO, commutative=True, form=EXTREMUM,
       doc="Minimum; a NaN loses unless propagated: `minf %a, %b : tile<4xf32>`."),
    op("exp", 0x17, "source", UNARY, FULL.with_(since="13.3"),
       doc="Exponential: `exp %a rounding<approx> : tile<4xf32>`."),
    op("tanh", 0x6A, "source", UNARY, FULL.with_(since="13.2"),
       doc="Hyperbolic tangent: `tanh %a : tile<4xf32>`."),
    op("absf", 0x00, "source", UNARY, doc="Absolute value: `absf %a : tile<4xf32>`."),
    op("negf", 0x4F, "source", UNARY, doc="Negation: `negf %a : tile<4xf32>`."),
    op("ceil", 0x0D, "source", UNARY, doc="Rounds up: `ceil %a : tile<4xf32>`."),
    op("floor", 0x27, "source", UNARY, doc="Rounds down: `floor %a : tile<4xf32>`."),
    op("remf", 0x59, "lhs rhs", SAME, doc="Remainder with the sign of lhs: `remf %a, %b : tile<4xf32>`."),
    op("cmpf", 0x0E, "lhs rhs", "lhs=rhs -> result", PREDICATE, ORDERING,
       form="@predicate @ordering $lhs, $rhs",
       doc="Comparison; `ordered` is false on NaN: `cmpf equal ordered %a, %b : tile<4xf32> -> tile<4xi1>`."),
)  # fmt: skip
