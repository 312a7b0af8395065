"""Ops that move elements and do not change them."""

from tileir_diff.dialect.spec import DIM, REQUIRED, AttributeSpec, op

PERMUTATION = AttributeSpec("permutation", "list", "ints", default=REQUIRED, odsname="permutation")

OPS = (
    op("reshape", 0x5B, "source", "source -> result",
       doc="Same elements in row-major order: `reshape %x : tile<8xf32> -> tile<2x4xf32>`."),
    op("broadcast", 0x0B, "source", "source -> result",
       doc="Repeats dimensions of size 1: `broadcast %x : tile<8x1xf32> -> tile<8x4xf32>`."),
    op("cat", 0x0C, "lhs rhs", "lhs, rhs -> result", DIM,
       doc="Joins along a dimension: `cat %a, %b dim = 0 : tile<4xf32>, tile<4xf32> -> tile<8xf32>`."),
    op("permute", 0x53, "source", "source -> result", PERMUTATION, bracket="permutation",
       doc="Result dimension i is source dimension permutation[i]: `permute %x [1, 0] : tile<8x2xf32> -> "
           "tile<2x8xf32>`."),
    op("extract", 0x26, "source index*", "source -> result", form="$source[$index]", bracket="index",
       doc="The slice with these slice numbers, unsigned: `extract %x[%i] : tile<8xf32> -> tile<4xf32>`."),
    op("insert", 0x76, "source destination index*", "source, destination=result", since="13.4",
       form="$source, $destination[$index]", bracket="index",
       doc="Replaces a slice: `insert %s, %d[%i] : tile<4xf32>, tile<8xf32>`."),
    op("iota", 0x3A, "", "result", doc="0, 1, 2, ..., unsigned: `iota : tile<128xi32>`."),
    op("select", 0x5F, "condition on_true on_false", "condition, on_true=on_false=result",
       doc="Elements of either, by condition: `select %c, %a, %b : tile<4xi1>, tile<4xf32>`."),
    op("pack", 0x6F, "source", "source -> result", since="13.3",
       doc="Elements to bytes: `pack %x : tile<64xf16> -> tile<128xi8>`."),
    op("unpack", 0x70, "source", "source -> result", since="13.3",
       doc="Bytes to elements: `unpack %x : tile<128xi8> -> tile<64xf16>`."),
    op("offset", 0x51, "ptr offset", "ptr, offset -> result",
       doc="Moves pointers by elements, signed: `offset %p, %i : tile<4xptr<f32>>, tile<4xi32> -> "
           "tile<4xptr<f32>>`."),
)  # fmt: skip
