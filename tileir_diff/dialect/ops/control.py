"""Control flow."""

from tileir_diff.dialect.spec import RECURSIVE, REQUIRED, TERMINATOR, UNKNOWN, AttributeSpec, op

UNSIGNED = AttributeSpec(
    "unsigned_cmp", "flag", "bool", ("unsigned",), False, odsname="unsignedCmp", since="13.2"
)
MESSAGE = AttributeSpec("message", "string", "string", default=REQUIRED, odsname="message")

OPS = (
    op("for", 0x29, "lower upper step inits*", "", UNSIGNED, results="result*", effect=RECURSIVE, regions=1,
       terminator="continue", implicit=True, custom="for",
       doc="Counted loop: `for %i in (%a to %b, step %s) : tile<i32> iter_values(%x = %init) -> (tile<f32>) "
           "{ ... }`."),
    op("loop", 0x41, "inits*", "", results="result*", effect=RECURSIVE, regions=1, terminator="continue",
       implicit=True, custom="loop",
       doc="Loop until `break`: `loop iter_values(%x = %init) : tile<i32> -> tile<f32> { ... }`."),
    op("if", 0x32, "condition", "", results="result*", effect=RECURSIVE, regions=2, terminator="yield",
       implicit=True, custom="if", doc="Branch: `if %c -> (tile<f32>) { ... } else { ... }`."),
    op("continue", 0x11, "operands*", "operands", results="", effect=TERMINATOR,
       doc="Next iteration: `continue %x : tile<f32>`."),
    op("break", 0x0A, "operands*", "operands", results="", effect=TERMINATOR,
       doc="Leaves the loop: `break %x : tile<f32>`."),
    op("yield", 0x6D, "operands*", "operands", results="", effect=TERMINATOR,
       doc="Result of a region: `yield %x : tile<f32>`."),
    op("assert", 0x05, "condition", "condition", MESSAGE, results="", effect=UNKNOWN,
       form="$condition, @message",
       doc='Stops the kernel unless all are true: `assert %c, "message" : tile<i1>`.'),
)  # fmt: skip
