"""Reductions and scans; the region combines two elements of each operand."""

from tileir_diff.dialect.spec import DIM, IDENTITIES, RECURSIVE, REQUIRED, AttributeSpec, op

REVERSE = AttributeSpec("reverse", "pair", "bool", default=REQUIRED, key="reverse", odsname="reverse")

OPS = (
    op("reduce", 0x58, "operands*", "operands -> results*", DIM, IDENTITIES, results="result*",
       effect=RECURSIVE,
       regions=1, terminator="yield", custom="reduce",
       doc="Combines along a dimension: `reduce %x dim=0 identities=[0.0 : f32] : tile<8xf32> -> tile<f32> "
           "(%a: ..., %b: ...) { ... }`."),
    op("scan", 0x5E, "operands*", "operands -> results*", DIM, REVERSE, IDENTITIES, results="result*",
       effect=RECURSIVE, regions=1, terminator="yield", custom="reduce",
       doc="Running combination: `scan %x dim=0 reverse=false identities=[0.0 : f32] : ... -> ... (...) { "
           "... }`."),
)  # fmt: skip
