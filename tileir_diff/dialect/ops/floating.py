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
FULL = ROUNDING.with_(default="full")
ORDERING = AttributeSpec(
    "ordering", "keyword", "enum", ("unordered", "ordered"), REQUIRED, odsname="comparison_ordering"
)

OPS = (
    op("addf", "lhs rhs", SAME, ROUNDING, FLUSH_TO_ZERO, commutative=True,
       doc="Sum: `addf %a, %b rounding<zero> flush_to_zero : tile<4xf32>`."),
    op("subf", "lhs rhs", SAME, ROUNDING, FLUSH_TO_ZERO, doc="Difference: `subf %a, %b : tile<4xf32>`."),
    op("mulf", "lhs rhs", SAME, ROUNDING, FLUSH_TO_ZERO, commutative=True,
       doc="Product: `mulf %a, %b : tile<4xf32>`."),
    op("fma", "lhs rhs acc", "lhs=rhs=acc=result", ROUNDING, FLUSH_TO_ZERO, commutative=True,
       doc="lhs * rhs + acc, rounded once: `fma %a, %b, %c : tile<4xf32>`."),
    op("divf", "lhs rhs", SAME, ROUNDING, FLUSH_TO_ZERO,
       doc="Quotient: `divf %a, %b rounding<approx> : tile<4xf32>`."),
    op("sqrt", "source", UNARY, ROUNDING, FLUSH_TO_ZERO, doc="Square root: `sqrt %a : tile<4xf32>`."),
    op("rsqrt", "source", UNARY, FLUSH_TO_ZERO, doc="Reciprocal square root: `rsqrt %a : tile<4xf32>`."),
    op("exp2", "source", UNARY, FLUSH_TO_ZERO, doc="Power of two: `exp2 %a flush_to_zero : tile<4xf32>`."),
    op("maxf", "lhs rhs", SAME, FLUSH_TO_ZERO, PROPAGATE_NAN, commutative=True,
       doc="Maximum; a NaN loses unless propagated: `maxf %a, %b propagate_nan : tile<4xf32>`."),
    op("minf", "lhs rhs", SAME, FLUSH_TO_ZERO, PROPAGATE_NAN, commutative=True,
       doc="Minimum; a NaN loses unless propagated: `minf %a, %b : tile<4xf32>`."),
    op("exp", "source", UNARY, FULL.with_(since="13.3"),
       doc="Exponential: `exp %a rounding<approx> : tile<4xf32>`."),
    op("tanh", "source", UNARY, FULL.with_(since="13.2"), doc="Hyperbolic tangent: `tanh %a : tile<4xf32>`."),
    op("absf", "source", UNARY, doc="Absolute value: `absf %a : tile<4xf32>`."),
    op("negf", "source", UNARY, doc="Negation: `negf %a : tile<4xf32>`."),
    op("ceil", "source", UNARY, doc="Rounds up: `ceil %a : tile<4xf32>`."),
    op("floor", "source", UNARY, doc="Rounds down: `floor %a : tile<4xf32>`."),
    op("remf", "lhs rhs", SAME, doc="Remainder with the sign of lhs: `remf %a, %b : tile<4xf32>`."),
    op("cmpf", "lhs rhs", "lhs=rhs -> result", PREDICATE, ORDERING, form="@predicate @ordering $lhs, $rhs",
       doc="Comparison; `ordered` is false on NaN: `cmpf equal ordered %a, %b : tile<4xf32> -> tile<4xi1>`."),
)  # fmt: skip
