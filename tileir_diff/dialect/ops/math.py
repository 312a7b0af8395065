"""Transcendental functions."""

from tileir_diff.dialect.spec import op

UNARY = "source=result"

OPS = (
    op("cos", 0x12, "source", UNARY, doc="Cosine: `cos %a : tile<4xf32>`."),
    op("cosh", 0x13, "source", UNARY, doc="Hyperbolic cosine: `cosh %a : tile<4xf32>`."),
    op("sin", 0x62, "source", UNARY, doc="Sine: `sin %a : tile<4xf32>`."),
    op("sinh", 0x63, "source", UNARY, doc="Hyperbolic sine: `sinh %a : tile<4xf32>`."),
    op("tan", 0x69, "source", UNARY, doc="Tangent: `tan %a : tile<4xf32>`."),
    op("log", 0x3F, "source", UNARY, doc="Natural logarithm: `log %a : tile<4xf32>`."),
    op("log2", 0x40, "source", UNARY, doc="Logarithm to base 2: `log2 %a : tile<4xf32>`."),
    op("atan2", 0x6E, "lhs rhs", "lhs=rhs=result", since="13.2",
       doc="Angle of the point (rhs, lhs): `atan2 %y, %x : tile<4xf32>`."),
    op("fpowf", 0x54, "lhs rhs", "lhs=rhs=result",
       doc="Power; `pow` before 13.4: `fpowf %a, %b : tile<4xf32>`."),
    op("fpowi", 0x79, "lhs rhs", "lhs=result, rhs", since="13.4",
       doc="Power with a whole exponent: `fpowi %a, %n : tile<4xf32>, tile<4xi32>`."),
)  # fmt: skip
