"""Valid kernels: what a snippet uses is made by ops before it, since entries take scalars only."""

from __future__ import annotations

import re

VIEW = "tensor_view<64x128xf32, strides=[128,1]>"
# What `tests.dialect.snippets` has as parameters, in an order in which it can be made.
PROLOGUE = f"""\
  %b = constant <i1: true> : tile<i1>
  %i = constant <i32: 0> : tile<i32>
  %l = constant <i64: 0> : tile<i64>
  %f = constant <f32: 1.0> : tile<f32>
  %iv = constant <i32: [1, 2, 3, 4]> : tile<4xi32>
  %fv = constant <f32: [1.0, -0.0, 0x7FC00001, 0.1]> : tile<4xf32>
  %bv = constant <i1: [true, false, false, true]> : tile<4xi1>
  %hv = constant <f16: 0.5> : tile<64xf16>
  %m = constant <f32: 2.0> : tile<8x2xf32>
  %pi = ptr_to_ptr %p : tile<ptr<f32>> -> tile<ptr<i32>>
  %one = reshape %p : tile<ptr<f32>> -> tile<1xptr<f32>>
  %pv = broadcast %one : tile<1xptr<f32>> -> tile<4xptr<f32>>
  %t = make_token : token
  %u = make_token : token
  %tv = make_tensor_view %p, shape = [64, 128], strides = [128, 1] : {VIEW}
  %part = make_partition_view %tv : partition_view<tile=(4x2), {VIEW}>
  %rows = make_gather_scatter_view %tv : gather_scatter_view<tile=(4x2), {VIEW}, sparse_dim=0>
  %r = constant <f32: 3.0> : tile<4x2xf32>
  %a16 = constant <f16: 1.0> : tile<4x8xf16>
  %b16 = constant <f16: 1.0> : tile<8x2xf16>
  %a8 = constant <i8: 1> : tile<4x8xi8>
  %b8 = constant <i8: 1> : tile<8x2xi8>
  %c32 = constant <i32: 1> : tile<4x2xi32>
  %bytes = constant <i8: 7> : tile<128xi8>
"""
GLOBAL = "global private constant @g alignment = 16 <f32: [1.0, 2.0]> : tile<2xf32>\n"
NAME = re.compile(r"%\w+")


def kernel(snippet: str) -> str:
    """A snippet in an entry, after what it needs."""
    used = set(NAME.findall(snippet))
    lines: list[str] = []
    for line in reversed(PROLOGUE.splitlines()):
        name, *operands = NAME.findall(line)
        if name in used:
            lines.insert(0, line)
            used.update(operands)
    head = GLOBAL if "@g " in snippet else ""
    return "\n".join([f"{head}entry @k(%p: tile<ptr<f32>>) {{", *lines, f"  {snippet}", "  return", "}", ""])
