"""Single ops for tests: one line each, every op of the tables, with the values that they use."""

# ruff: noqa: E501  (IR stands here as it is printed)

from __future__ import annotations

from tileir_diff.dialect import parse_text
from tileir_diff.dialect.ir import ModuleOp, TileOp

# Parameters of the entry around a snippet. The parser takes any type here; only the verifier wants scalars.
PARAMETERS = {
    "b": "tile<i1>",
    "i": "tile<i32>",
    "l": "tile<i64>",
    "f": "tile<f32>",
    "iv": "tile<4xi32>",
    "fv": "tile<4xf32>",
    "bv": "tile<4xi1>",
    "hv": "tile<64xf16>",
    "m": "tile<8x2xf32>",
    "p": "tile<ptr<f32>>",
    "pi": "tile<ptr<i32>>",
    "pv": "tile<4xptr<f32>>",
    "pb": "tile<ptr<i1>>",
    "t": "token",
    "u": "token",
    "tv": "tensor_view<64x128xf32, strides=[128,1]>",
    "part": "partition_view<tile=(4x2), tensor_view<64x128xf32, strides=[128,1]>>",
    "rows": "gather_scatter_view<tile=(4x2), tensor_view<64x128xf32, strides=[128,1]>, sparse_dim=0>",
    "r": "tile<4x2xf32>",
    "a16": "tile<4x8xf16>",
    "b16": "tile<8x2xf16>",
    "a8": "tile<4x8xi8>",
    "b8": "tile<8x2xi8>",
    "c32": "tile<4x2xi32>",
    "bytes": "tile<128xi8>",
}

# One canonical line an op and form, as the printer writes it.
LINES = [
    "%0 = get_global @g : tile<ptr<f32>>",
    "%x, %y, %z = get_tile_block_id : tile<i32>",
    "%x, %y, %z = get_num_tile_blocks : tile<i32>",
    "%0 = constant <i32: 42> : tile<4xi32>",
    "%0 = constant <f32: [1.000000e+00, -0.000000e+00]> : tile<2xf32>",
    "%0 = reshape %fv : tile<4xf32> -> tile<2x2xf32>",
    "%0 = broadcast %m : tile<8x2xf32> -> tile<8x2xf32>",
    "%0 = cat %fv, %fv dim = 0 : tile<4xf32>, tile<4xf32> -> tile<8xf32>",
    "%0 = permute %m [1, 0] : tile<8x2xf32> -> tile<2x8xf32>",
    "%0 = extract %m[%i, %i] : tile<8x2xf32> -> tile<4x2xf32>",
    "%0 = insert %r, %m[%i, %i] : tile<4x2xf32>, tile<8x2xf32>",
    "%0 = iota : tile<128xi32>",
    "%0 = select %bv, %fv, %fv : tile<4xi1>, tile<4xf32>",
    "%0 = pack %hv : tile<64xf16> -> tile<128xi8>",
    "%0 = unpack %bytes : tile<128xi8> -> tile<64xf16>",
    "%0 = offset %pv, %iv : tile<4xptr<f32>>, tile<4xi32> -> tile<4xptr<f32>>",
    "%0 = addi %iv, %iv overflow<no_signed_wrap> : tile<4xi32>",
    "%0 = subi %iv, %iv overflow<no_wrap> : tile<4xi32>",
    "%0 = muli %iv, %iv overflow<no_unsigned_wrap> : tile<4xi32>",
    "%0 = shli %iv, %iv : tile<4xi32>",
    "%0 = negi %iv overflow<no_signed_wrap> : tile<4xi32>",
    "%0 = divi %iv, %iv signed rounding<negative_inf> : tile<4xi32>",
    "%0 = remi %iv, %iv unsigned : tile<4xi32>",
    "%0 = maxi %iv, %iv signed : tile<4xi32>",
    "%0 = mini %iv, %iv signed : tile<4xi32>",
    "%0 = shri %iv, %iv unsigned : tile<4xi32>",
    "%0 = cmpi less_than %iv, %iv, signed : tile<4xi32> -> tile<4xi1>",
    "%0 = absi %iv : tile<4xi32>",
    "%0 = mulhii %iv, %iv : tile<4xi32>",
    "%0 = andi %iv, %iv : tile<4xi32>",
    "%0 = ori %iv, %iv : tile<4xi32>",
    "%0 = xori %iv, %iv : tile<4xi32>",
    "%0 = addf %fv, %fv rounding<zero> flush_to_zero : tile<4xf32>",
    "%0 = subf %fv, %fv : tile<4xf32>",
    "%0 = mulf %fv, %fv : tile<4xf32>",
    "%0 = fma %fv, %fv, %fv rounding<positive_inf> flush_to_zero : tile<4xf32>",
    "%0 = divf %fv, %fv rounding<full> flush_to_zero : tile<4xf32>",
    "%0 = sqrt %fv rounding<approx> flush_to_zero : tile<4xf32>",
    "%0 = rsqrt %fv flush_to_zero : tile<4xf32>",
    "%0 = exp2 %fv : tile<4xf32>",
    "%0 = maxf %fv, %fv flush_to_zero propagate_nan : tile<4xf32>",
    "%0 = minf %fv, %fv propagate_nan : tile<4xf32>",
    "%0 = exp %fv rounding<approx> : tile<4xf32>",
    "%0 = tanh %fv : tile<4xf32>",
    "%0 = absf %fv : tile<4xf32>",
    "%0 = negf %fv : tile<4xf32>",
    "%0 = ceil %fv : tile<4xf32>",
    "%0 = floor %fv : tile<4xf32>",
    "%0 = remf %fv, %fv : tile<4xf32>",
    "%0 = cmpf not_equal unordered %fv, %fv : tile<4xf32> -> tile<4xi1>",
    "%0 = cos %fv : tile<4xf32>",
    "%0 = cosh %fv : tile<4xf32>",
    "%0 = sin %fv : tile<4xf32>",
    "%0 = sinh %fv : tile<4xf32>",
    "%0 = tan %fv : tile<4xf32>",
    "%0 = log %fv : tile<4xf32>",
    "%0 = log2 %fv : tile<4xf32>",
    "%0 = atan2 %fv, %fv : tile<4xf32>",
    "%0 = fpowf %fv, %fv : tile<4xf32>",
    "%0 = fpowi %fv, %iv : tile<4xf32>, tile<4xi32>",
    "%0 = bitcast %fv : tile<4xf32> -> tile<4xi32>",
    "%0 = exti %iv signed : tile<4xi32> -> tile<4xi64>",
    "%0 = trunci %iv overflow<no_signed_wrap> : tile<4xi32> -> tile<4xi16>",
    "%0 = ftof %fv rounding<zero> : tile<4xf32> -> tile<4xf8E8M0FNU>",
    "%0 = ftoi %fv signed saturating : tile<4xf32> -> tile<4xi32>",
    "%0 = itof %iv unsigned : tile<4xi32> -> tile<4xf32>",
    "%0 = ptr_to_int %p : tile<ptr<f32>> -> tile<i64>",
    "%0 = int_to_ptr %l : tile<i64> -> tile<ptr<f32>>",
    "%0 = ptr_to_ptr %p : tile<ptr<f32>> -> tile<ptr<i8>>",
    "%0 = mmaf %a16, %b16, %r fast_acc : tile<4x8xf16>, tile<8x2xf16>, tile<4x2xf32>",
    "%0 = mmai %a8, %b8, %c32 signed unsigned : tile<4x8xi8>, tile<8x2xi8>, tile<4x2xi32>",
    "%0 = mmaf_scaled %a16, %b16, %r, %f, %f : tile<4x8xf16>, tile<8x2xf16>, tile<4x2xf32>, tile<f32>, tile<f32>",
    "%0 = make_token : token",
    "%0 = join_tokens %t, %u : token",
    "%0 = memory_fence_alias_tko %t",
    "%0 = gdc_launch_dependents_tko token = %t -> token",
    "%0 = gdc_wait_tko -> token",
    "%0 = assume bounded<0, ?>, %i : tile<i32>",
    "%0 = assume div_by<4, every 4 along 0>, %iv : tile<4xi32>",
    "%0 = assume same_elements<[1, 4]>, %m : tile<8x2xf32>",
    '%0 = print_tko "%f %d\\0A", %f, %i token=%t : tile<f32>, tile<i32> -> token',
    '%0 = print_tko "hello" -> token',
    'assert %b, "no \\22good\\22 \\\\ \\C3\\A9" : tile<i1>',
    "%x, %y = load_ptr_tko weak %p : tile<ptr<f32>> -> tile<f32>, token",
    (
        "%x, %y = load_ptr_tko acquire sys %p, %b, %f token=%t optimization_hints = <sm_100 = {latency = 3}, "
        "sm_120 = {latency = 7}> : tile<ptr<f32>>, tile<i1>, tile<f32> -> tile<f32>, token"
    ),
    "%0 = store_ptr_tko release tl_blk %p, %f, %b token=%t : tile<ptr<f32>>, tile<f32>, tile<i1> -> token",
    "%0 = alloca num_elem = 64, alignment = 128 global : tile<ptr<f32>>",
    "%0 = alloca num_elem = 64, alignment = 128 : tile<ptr<f32>>",
    (
        "%0 = make_tensor_view %p, shape = [%i, 8], strides = [8, 1] : tile<i32> -> "
        "tensor_view<?x8xf32, strides=[8,1]>"
    ),
    "%0 = make_tensor_view %p, shape = [], strides = [] : tensor_view<f32>",
    (
        "%0 = make_partition_view %tv : partition_view<tile=(4x2), padding_value = neg_zero, "
        "tensor_view<64x128xf32, strides=[128,1]>, dim_map=[1, 0]>"
    ),
    (
        "%0 = make_strided_view %tv : strided_view<tile=(4x2), traversal_strides=[4,3], padding_value = nan, "
        "tensor_view<64x128xf32, strides=[128,1]>, dim_map=[1, 0]>"
    ),
    (
        "%0 = make_gather_scatter_view %tv : gather_scatter_view<tile=(8x64), "
        "tensor_view<64x128xf32, strides=[128,1]>, sparse_dim=0>"
    ),
    (
        "%0:2 = get_index_space_shape %part : "
        "partition_view<tile=(4x2), tensor_view<64x128xf32, strides=[128,1]>> -> tile<i64>"
    ),
    "%0:2 = get_tensor_shape %tv : tensor_view<64x128xf32, strides=[128,1]> -> tile<i32>",
    (
        "%x, %y = load_view_tko relaxed device %part[%i, %i] token = %t optimization_hints = "
        "<default = {latency = 7}, sm_100 = {allow_tma = false, latency = 3}> inbounds = [true, false] : "
        "partition_view<tile=(4x2), tensor_view<64x128xf32, strides=[128,1]>>, tile<i32> -> tile<4x2xf32>, token"
    ),
    (
        "%x, %y = load_view_tko weak %rows[%iv, %i] : gather_scatter_view<tile=(4x2), "
        "tensor_view<64x128xf32, strides=[128,1]>, sparse_dim=0>, tile<4xi32>, tile<i32> -> tile<4x2xf32>, token"
    ),
    (
        "%0 = store_view_tko weak %r, %part[%i, %i] token = %t : tile<4x2xf32>, "
        "partition_view<tile=(4x2), tensor_view<64x128xf32, strides=[128,1]>>, tile<i32> -> token"
    ),
    (
        "%x, %y = atomic_cas_tko acq_rel sys %pi, %i, %i, %b token=%t : tile<ptr<i32>>, tile<i32>, tile<i1> -> "
        "tile<i32>, token"
    ),
    "%x, %y = atomic_rmw_tko relaxed device %p, addf, %f : tile<ptr<f32>>, tile<f32> -> tile<f32>, token",
    (
        "%0 = atomic_red_view_tko relaxed tl_blk %part[%i, %i], addf, %r token = %t : tile<4x2xf32>, "
        "partition_view<tile=(4x2), tensor_view<64x128xf32, strides=[128,1]>>, tile<i32> -> token"
    ),
]

# Ops with regions, as the printer writes them inside an entry.
BLOCKS = [
    """%x = reduce %m dim=1 identities=[0.000000e+00 : f32] : tile<8x2xf32> -> tile<8xf32>
  (%q: tile<f32>, %w: tile<f32>) {
    %0 = addf %q, %w : tile<f32>
    yield %0 : tile<f32>
  }""",
    """%x:2 = scan %m, %m dim=0 reverse=true identities=[0xFF800000 : f32, 1.000000e+00 : f32] : \
tile<8x2xf32>, tile<8x2xf32> -> tile<8x2xf32>, tile<8x2xf32>
  (%q: tile<f32>, %w: tile<f32>, %e: tile<f32>, %s: tile<f32>) {
    yield %q, %e : tile<f32>, tile<f32>
  }""",
    """%x:2 = for unsigned %n in (%i to %i, step %i) : tile<i32> iter_values(%q = %f, %w = %i) -> \
(tile<f32>, tile<i32>) {
    continue %q, %n : tile<f32>, tile<i32>
  }
  %0 = negf %x#0 : tile<f32>""",
    """for %n in (%i to %i, step %i) : tile<i32> {
  }""",
    """%x:2 = loop iter_values(%q = %i) : tile<i32> -> tile<f32>, tile<i32> {
    if %b {
      break %f, %q : tile<f32>, tile<i32>
    }
    continue %q : tile<i32>
  }""",
    """%x = loop : tile<f32> {
    break %f : tile<f32>
  }""",
    """%x:2 = if %b -> (tile<f32>, tile<i32>) {
    yield %f, %i : tile<f32>, tile<i32>
  } else {
    return
  }""",
]


def wrap(text: str) -> str:
    """A snippet inside an entry with all parameters."""
    parameters = ", ".join(f"%{name}: {type_}" for name, type_ in PARAMETERS.items())
    return f"entry @k({parameters}) {{\n  {text}\n  return\n}}\n"


def module_of(text: str) -> ModuleOp:
    return parse_text(wrap(text))


def first(text: str) -> TileOp:
    """The first op of a snippet."""
    return next(module_of(text).entries[0].inner())
