"""Tokens, promises to the compiler, printing."""

from tileir_diff.dialect.spec import PURE, REQUIRED, TOKEN_ORDERED, UNKNOWN, AttributeSpec, op

FORMAT = AttributeSpec("format", "string", "string", default=REQUIRED, odsname="str")
ASSUMPTION = AttributeSpec("assumption", "assumption", "assumption", default=REQUIRED, odsname="predicate")

OPS = (
    op("make_token", 0x44, "", "result", effect=PURE,
       doc="A token that orders nothing yet: `make_token : token`."),
    op("join_tokens", 0x3C, "tokens*", "result", effect=PURE,
       doc="After all of these: `join_tokens %a, %b : token`."),
    op("memory_fence_alias_tko", 0x7A, "token", "", since="13.4", results="result_token",
       effect=TOKEN_ORDERED,
       doc="Orders accesses that may alias: `memory_fence_alias_tko %t`."),
    op("gdc_launch_dependents_tko", 0x77, "token?", "-> result_token", since="13.4", results="result_token",
       effect=TOKEN_ORDERED, form="token = $token",
       doc="Lets dependent launches start: `gdc_launch_dependents_tko token = %t -> token`."),
    op("gdc_wait_tko", 0x78, "token?", "-> result_token", since="13.4", results="result_token",
       effect=TOKEN_ORDERED, form="token = $token",
       doc="Waits for the launch before: `gdc_wait_tko -> token`."),
    op("assume", 0x06, "value", "value=result", ASSUMPTION, effect=UNKNOWN, form="@assumption, $value",
       doc="Promises a fact about a value and returns it: `assume div_by<16>, %p : tile<ptr<f32>>`."),
    op("print_tko", 0x55, "args* token?", "args -> result_token", FORMAT, results="result_token",
       since="13.1",
       effect=TOKEN_ORDERED, form="@format, $args token=$token",
       doc='Prints from the device; `print` in 13.1: `print_tko "%f", %x token=%t : tile<f32> -> token`.'),
)  # fmt: skip
