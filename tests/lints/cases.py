"""Snippets for the lints: one that each lint must report, and one as close to it as can be that it must not.

`at` is the text of the op that is reported: the finding must stand on the line that contains it.
"""

from __future__ import annotations

from typing import NamedTuple


class Case(NamedTuple):
    lint: str
    severity: str
    at: str
    bad: str
    good: str


def entry(arguments: str, body: str) -> str:
    return f"entry @k({arguments}) {{\n{body}\n  return\n}}\n"


def spread(name: str, source: str, element: str, shape: str = "64") -> str:
    """A scalar as a tile of rank 1."""
    return (
        f"  %{name}1 = reshape {source} : tile<{element}> -> tile<1x{element}>\n"
        f"  %{name} = broadcast %{name}1 : tile<1x{element}> -> tile<{shape}x{element}>\n"
    )


POINTERS = "%src: tile<ptr<f32>>, %dst: tile<ptr<f32>>, %n: tile<i32>"


def addresses(*, mask: bool = True) -> str:
    """`%from` and `%to`: 64 pointers a block; `%inside`: lane < n; `%zeros`."""
    lines = (
        "  %bx, %by, %bz = get_tile_block_id : tile<i32>\n"
        "  %c64 = constant <i32: 64> : tile<i32>\n"
        "  %start = muli %bx, %c64 : tile<i32>\n"
        + spread("starts", "%start", "i32")
        + "  %lane = iota : tile<64xi32>\n"
        "  %i = addi %starts, %lane : tile<64xi32>\n"
        + spread("sources", "%src", "ptr<f32>")
        + spread("targets", "%dst", "ptr<f32>")
        + "  %from = offset %sources, %i : tile<64xptr<f32>>, tile<64xi32> -> tile<64xptr<f32>>\n"
        "  %to = offset %targets, %i : tile<64xptr<f32>>, tile<64xi32> -> tile<64xptr<f32>>\n"
        "  %zeros = constant <f32: 0.000000e+00> : tile<64xf32>\n"
    )
    if mask:
        lines += spread("ends", "%n", "i32")
        lines += "  %inside = cmpi less_than %i, %ends, signed : tile<64xi32> -> tile<64xi1>\n"
    return lines


LOAD = "  %x, %t = load_ptr_tko weak %from : tile<64xptr<f32>> -> tile<64xf32>, token\n"
MASKED_LOAD = (
    "  %x, %t = load_ptr_tko weak %from, %inside, %zeros : tile<64xptr<f32>>, tile<64xi1>, tile<64xf32>"
    " -> tile<64xf32>, token\n"
)
UNPADDED_LOAD = (
    "  %x, %t = load_ptr_tko weak %from, %inside : tile<64xptr<f32>>, tile<64xi1> -> tile<64xf32>, token\n"
)
STORE = "  %u = store_ptr_tko weak %to, %x : tile<64xptr<f32>>, tile<64xf32> -> token\n"
MASKED_STORE = (
    "  %u = store_ptr_tko weak %to, %x, %inside : tile<64xptr<f32>>, tile<64xf32>, tile<64xi1> -> token\n"
)

ROWS = "%src: tile<ptr<f32>>, %m: tile<i32>, %n: tile<i32>, %s: tile<i32>, %dst: tile<ptr<f32>>"


def row_view(padding: str = "", index: str = "%by") -> str:
    """`%row`: a 1x64 tile of a matrix; `%out`: a view of m elements, one a tile."""
    view = f"partition_view<tile=(1x64){padding}, tensor_view<?x?xf32, strides=[?,1]>>"
    return (
        "  %c0 = constant <i32: 0> : tile<i32>\n"
        "  %bx, %by, %bz = get_tile_block_id : tile<i32>\n"
        "  %tv = make_tensor_view %src, shape = [%m, %n], strides = [%s, 1] : tile<i32>"
        " -> tensor_view<?x?xf32, strides=[?,1]>\n"
        f"  %pv = make_partition_view %tv : {view}\n"
        f"  %row, %t = load_view_tko weak %pv[%bx, {index}] : {view}, tile<i32> -> tile<1x64xf32>, token\n"
        "  %otv = make_tensor_view %dst, shape = [%m], strides = [1]"
        " : tile<i32> -> tensor_view<?xf32, strides=[1]>\n"
        "  %out = make_partition_view %otv : partition_view<tile=(1), tensor_view<?xf32, strides=[1]>>\n"
    )


def reduced(value: str, combiner: str, identity: str) -> str:
    """Stores the reduction of a 1x64 tile."""
    return (
        f"  %r = reduce {value} dim=1 identities=[{identity} : f32] : tile<1x64xf32> -> tile<1xf32>\n"
        "  (%a: tile<f32>, %b: tile<f32>) {\n"
        f"    %c = {combiner} %a, %b : tile<f32>\n"
        "    yield %c : tile<f32>\n"
        "  }\n"
        "  %u = store_view_tko weak %r, %out[%bx] : tile<1xf32>,"
        " partition_view<tile=(1), tensor_view<?xf32, strides=[1]>>, tile<i32> -> token"
    )


SUM = reduced("%row", "addf", "0.000000e+00")
MAX = reduced("%row", "maxf", "0xFF800000")
ZERO_PADDED = ", padding_value = zero"

SCALAR_OUT = "%dst: tile<ptr<f32>>"
STORE_SCALAR = "  %u = store_ptr_tko weak %dst, %x : tile<ptr<f32>>, tile<f32> -> token"


def promise(assumption: str, literal: str) -> str:
    return entry(
        "%p: tile<ptr<i32>>",
        f"  %c = constant <i32: {literal}> : tile<i32>\n"
        f"  %a = assume {assumption}, %c : tile<i32>\n"
        "  %u = store_ptr_tko weak %p, %a : tile<ptr<i32>>, tile<i32> -> token",
    )


def loop(lower: str, upper: str) -> str:
    return entry(
        SCALAR_OUT,
        f"  %lo = constant <i32: {lower}> : tile<i32>\n"
        f"  %hi = constant <i32: {upper}> : tile<i32>\n"
        "  %one = constant <i32: 1> : tile<i32>\n"
        "  %init = constant <f32: 1.000000e+00> : tile<f32>\n"
        "  %x = for %i in (%lo to %hi, step %one) : tile<i32> iter_values(%v = %init) -> (tile<f32>) {\n"
        "    %w = addf %v, %v : tile<f32>\n"
        "    continue %w : tile<f32>\n"
        "  }\n" + STORE_SCALAR,
    )


def carried(handed_back: str) -> str:
    return entry(
        SCALAR_OUT,
        "  %lo = constant <i32: 0> : tile<i32>\n"
        "  %hi = constant <i32: 8> : tile<i32>\n"
        "  %one = constant <i32: 1> : tile<i32>\n"
        "  %init = constant <f32: 1.000000e+00> : tile<f32>\n"
        "  %for:2 = for %i in (%lo to %hi, step %one) : tile<i32>"
        " iter_values(%v = %init, %w = %init) -> (tile<f32>, tile<f32>) {\n"
        "    %sum = addf %v, %w : tile<f32>\n"
        f"    continue %sum, {handed_back} : tile<f32>, tile<f32>\n"
        "  }\n"
        "  %u = store_ptr_tko weak %dst, %for#0 : tile<ptr<f32>>, tile<f32> -> token",
    )


def slice_number(number: int) -> str:
    return entry(
        SCALAR_OUT,
        "  %x8 = constant <f32: [0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0]> : tile<8xf32>\n"
        f"  %at = constant <i32: {number}> : tile<i32>\n"
        "  %x1 = extract %x8[%at] : tile<8xf32> -> tile<1xf32>\n"
        "  %x = reshape %x1 : tile<1xf32> -> tile<f32>\n" + STORE_SCALAR,
    )


def divided_by(number: int) -> str:
    return entry(
        "%p: tile<ptr<i32>>, %n: tile<i32>",
        f"  %d = constant <i32: {number}> : tile<i32>\n"
        "  %q = divi %n, %d signed : tile<i32>\n"
        "  %u = store_ptr_tko weak %p, %q : tile<ptr<i32>>, tile<i32> -> token",
    )


def product(accumulator: str) -> str:
    view = "partition_view<tile=(16x16), tensor_view<16x16xf16, strides=[16,1]>>"
    out = f"partition_view<tile=(16x16), tensor_view<16x16x{accumulator}, strides=[16,1]>>"
    return entry(
        f"%src: tile<ptr<f16>>, %dst: tile<ptr<{accumulator}>>",
        "  %c0 = constant <i32: 0> : tile<i32>\n"
        "  %tv = make_tensor_view %src, shape = [16, 16], strides = [16, 1]"
        " -> tensor_view<16x16xf16, strides=[16,1]>\n"
        f"  %pv = make_partition_view %tv : {view}\n"
        f"  %x, %t = load_view_tko weak %pv[%c0, %c0] : {view}, tile<i32> -> tile<16x16xf16>, token\n"
        f"  %zero = constant <{accumulator}: 0.000000e+00> : tile<16x16x{accumulator}>\n"
        f"  %y = mmaf %x, %x, %zero : tile<16x16xf16>, tile<16x16xf16>, tile<16x16x{accumulator}>\n"
        f"  %otv = make_tensor_view %dst, shape = [16, 16], strides = [16, 1]"
        f" -> tensor_view<16x16x{accumulator}, strides=[16,1]>\n"
        f"  %ov = make_partition_view %otv : {out}\n"
        f"  %u = store_view_tko weak %y, %ov[%c0, %c0]"
        f" : tile<16x16x{accumulator}>, {out}, tile<i32> -> token",
    )


def viewed(
    element: str = "f32",
    padding: str = "",
    dim_map: str = "",
    strides: str = "64,1",
    hints: str = "",
    aligned: str = "%src",
) -> str:
    """Copies one 64x64 tile through views; the load carries `hints`."""
    tensor = f"tensor_view<64x64x{element}, strides=[{strides}]>"
    view = f"partition_view<tile=(64x64){padding}, {tensor}{dim_map}>"
    return entry(
        f"%src: tile<ptr<{element}>>, %dst: tile<ptr<{element}>>",
        "  %c0 = constant <i32: 0> : tile<i32>\n"
        f"  %base = assume div_by<16>, %src : tile<ptr<{element}>>\n"
        f"  %tv = make_tensor_view {aligned}, shape = [64, 64], strides = [{strides}] -> {tensor}\n"
        f"  %pv = make_partition_view %tv : {view}\n"
        f"  %x, %t = load_view_tko weak %pv[%c0, %c0]{hints}"
        f" : {view}, tile<i32> -> tile<64x64x{element}>, token\n"
        f"  %otv = make_tensor_view %dst, shape = [64, 64], strides = [64, 1]"
        f" -> tensor_view<64x64x{element}, strides=[64,1]>\n"
        f"  %ov = make_partition_view %otv"
        f" : partition_view<tile=(64x64), tensor_view<64x64x{element}, strides=[64,1]>>\n"
        f"  %u = store_view_tko weak %x, %ov[%c0, %c0] : tile<64x64x{element}>,"
        f" partition_view<tile=(64x64), tensor_view<64x64x{element}, strides=[64,1]>>, tile<i32> -> token",
    )


def persistent(hints: str) -> str:
    view = "partition_view<tile=(64), tensor_view<?xf32, strides=[1]>>"
    return entry(
        "%src: tile<ptr<f32>>, %n: tile<i32>, %tiles: tile<i32>",
        "  %bx, %by, %bz = get_tile_block_id : tile<i32>\n"
        "  %gx, %gy, %gz = get_num_tile_blocks : tile<i32>\n"
        "  %tv = make_tensor_view %src, shape = [%n], strides = [1]"
        " : tile<i32> -> tensor_view<?xf32, strides=[1]>\n"
        f"  %pv = make_partition_view %tv : {view}\n"
        "  for %i in (%bx to %tiles, step %gx) : tile<i32> {\n"
        f"    %x, %t = load_view_tko weak %pv[%i]{hints} : {view}, tile<i32> -> tile<64xf32>, token\n"
        "    %y = mulf %x, %x : tile<64xf32>\n"
        f"    %u = store_view_tko weak %y, %pv[%i] token = %t : tile<64xf32>, {view}, tile<i32> -> token\n"
        "  }",
    )


def factor(mask: str) -> str:
    """Multiplies a loaded tile by a 0/1 tile made from `mask`."""
    return entry(
        POINTERS,
        addresses()
        + MASKED_LOAD.replace("%x,", "%loaded,")
        + f"  %flag = {mask}\n"
        + "  %x = mulf %loaded, %flag : tile<64xf32>\n"
        + MASKED_STORE,
    )


def mixed(store: str) -> str:
    view = "partition_view<tile=(64), tensor_view<?xf32, strides=[1]>>"
    return entry(
        POINTERS,
        addresses() + "  %tv = make_tensor_view %src, shape = [%n], strides = [1]"
        " : tile<i32> -> tensor_view<?xf32, strides=[1]>\n"
        f"  %pv = make_partition_view %tv : {view}\n"
        f"  %x, %t = load_view_tko weak %pv[%bx] : {view}, tile<i32> -> tile<64xf32>, token\n"
        f"  %u = store_ptr_tko weak {store}, %x, %inside token=%t"
        " : tile<64xptr<f32>>, tile<64xf32>, tile<64xi1> -> token\n",
    )


def promised(divisor: int) -> str:
    """A mask over 64 lanes against a size with a promised divisor."""
    body = addresses(mask=False)
    body += f"  %size = assume div_by<{divisor}>, %n : tile<i32>\n"
    body += spread("ends", "%size", "i32")
    body += "  %inside = cmpi less_than %i, %ends, signed : tile<64xi32> -> tile<64xi1>\n"
    return entry(POINTERS, body + MASKED_LOAD + MASKED_STORE)


def biased(padding: str) -> str:
    """Adds a bias of 0 or minus infinity to a row before its maximum."""
    return entry(
        ROWS,
        row_view(padding) + "  %lane = iota : tile<64xi32>\n"
        "  %lanes = reshape %lane : tile<64xi32> -> tile<1x64xi32>\n"
        "  %n1 = reshape %n : tile<i32> -> tile<1x1xi32>\n"
        "  %ns = broadcast %n1 : tile<1x1xi32> -> tile<1x64xi32>\n"
        "  %valid = cmpi less_than %lanes, %ns, signed : tile<1x64xi32> -> tile<1x64xi1>\n"
        "  %zero = constant <f32: 0.000000e+00> : tile<1x64xf32>\n"
        "  %low = constant <f32: 0xFF800000> : tile<1x64xf32>\n"
        "  %bias = select %valid, %zero, %low : tile<1x64xi1>, tile<1x64xf32>\n"
        "  %biased = addf %row, %bias : tile<1x64xf32>\n" + reduced("%biased", "maxf", "0xFF800000"),
    )


def squares(mask: bool) -> str:
    """The sum of squared differences to an argument over a row padded with zeros."""
    chosen = (
        "  %lane = iota : tile<64xi32>\n"
        "  %lanes = reshape %lane : tile<64xi32> -> tile<1x64xi32>\n"
        "  %n1 = reshape %n : tile<i32> -> tile<1x1xi32>\n"
        "  %ns = broadcast %n1 : tile<1x1xi32> -> tile<1x64xi32>\n"
        "  %valid = cmpi less_than %lanes, %ns, signed : tile<1x64xi32> -> tile<1x64xi1>\n"
        "  %zero = constant <f32: 0.000000e+00> : tile<1x64xf32>\n"
        "  %d = select %valid, %diff, %zero : tile<1x64xi1>, tile<1x64xf32>\n"
        if mask
        else "  %d = addf %diff, %diff : tile<1x64xf32>\n"
    )
    return entry(
        ROWS + ", %mean: tile<f32>",
        row_view(ZERO_PADDED, "%c0") + "  %mean1 = reshape %mean : tile<f32> -> tile<1x1xf32>\n"
        "  %means = broadcast %mean1 : tile<1x1xf32> -> tile<1x64xf32>\n"
        "  %diff = subf %row, %means : tile<1x64xf32>\n"
        + chosen
        + "  %sq = mulf %d, %d : tile<1x64xf32>\n"
        + reduced("%sq", "addf", "0.000000e+00"),
    )


def accumulated(padding: str, term: str) -> str:
    """Sums `term` over a row in a loop, 64 columns at a time, then over the lanes."""
    view = f"partition_view<tile=(1x64){padding}, tensor_view<?x?xf32, strides=[?,1]>>"
    loop = (
        "  %c1 = constant <i32: 1> : tile<i32>\n"
        "  %tiles:2 = get_index_space_shape %pv : " + view + " -> tile<i32>\n"
        "  %mean1 = reshape %mean : tile<f32> -> tile<1x1xf32>\n"
        "  %means = broadcast %mean1 : tile<1x1xf32> -> tile<1x64xf32>\n"
        "  %zero = constant <f32: 0.000000e+00> : tile<1x64xf32>\n"
        "  %acc = for %j in (%c0 to %tiles#1, step %c1) : tile<i32>"
        " iter_values(%v = %zero) -> (tile<1x64xf32>) {\n"
        f"    %x, %tx = load_view_tko weak %pv[%bx, %j] : {view}, tile<i32> -> tile<1x64xf32>, token\n"
        f"    %d = {term} : tile<1x64xf32>\n"
        "    %w = fma %d, %d, %v : tile<1x64xf32>\n"
        "    continue %w : tile<1x64xf32>\n"
        "  }\n"
    )
    return entry(
        ROWS + ", %mean: tile<f32>",
        row_view(padding, "%c0") + loop + reduced("%acc", "addf", "0.000000e+00"),
    )


SCALED = "mulf %x, %means"
CENTRED = "subf %x, %means"


def stored_then_loaded(token: str) -> str:
    """Stores to `dst` and loads it again."""
    return entry(
        POINTERS,
        addresses()
        + "  %t0 = make_token : token\n"
        + "  %s = store_ptr_tko weak %to, %zeros, %inside token=%t0"
        " : tile<64xptr<f32>>, tile<64xf32>, tile<64xi1> -> token\n"
        f"  %x, %t = load_ptr_tko weak %to, %inside, %zeros token={token}"
        " : tile<64xptr<f32>>, tile<64xi1>, tile<64xf32> -> tile<64xf32>, token\n"
        + MASKED_STORE.replace("%to", "%from"),
    )


BY_LANE = "itof %inside unsigned : tile<64xi1> -> tile<64xf32>"
BY_VALUE = "cmpf greater_than ordered %loaded, %zeros : tile<64xf32> -> tile<64xi1>"
PLAIN = "exp %loaded : tile<64xf32>"

CASES = (
    Case("additive-mask", "warn", "%biased = addf", biased(""), biased(ZERO_PADDED)),
    Case("dead-load", "warn", "load_ptr_tko", entry(POINTERS, addresses() + LOAD),
         entry(POINTERS, addresses() + MASKED_LOAD)),
    Case("dead-mask", "warn", "cmpi", entry(POINTERS, addresses() + LOAD + STORE),
         entry(POINTERS, addresses() + MASKED_LOAD + MASKED_STORE)),
    Case("dead-mask", "info", "cmpi",
         entry(POINTERS, addresses()), entry(POINTERS, addresses(mask=False) + LOAD + STORE)),
    Case("divisor-too-large", "warn", "assume", promised(32), promised(16)),
    Case("double-transpose", "info", "make_partition_view %tv",
         viewed(strides="1,64", dim_map=", dim_map=[1, 0]"), viewed(dim_map=", dim_map=[1, 0]")),
    Case("empty-loop", "warn", "for %i", loop("0", "0"), loop("0", "1")),
    Case("extract-range", "warn", "extract", slice_number(8), slice_number(7)),
    Case("false-promise", "warn", "assume", promise("div_by<4>", "1"), promise("div_by<4>", "8")),
    Case("false-promise", "warn", "assume", promise("bounded<0, ?>", "-1"), promise("bounded<-1, 0>", "-1")),
    Case("half-accumulator", "warn", "mmaf", product("f16"), product("f32")),
    Case("identity-not-neutral", "warn", "reduce",
         entry(ROWS, row_view(ZERO_PADDED) + reduced("%row", "addf", "1.000000e+00")),
         entry(ROWS, row_view(ZERO_PADDED) + SUM)),
    Case("identity-not-neutral", "warn", "reduce",
         entry(ROWS, row_view() + reduced("%row", "maxf", "0x7F800000")), entry(ROWS, row_view() + MAX)),
    Case("ignored-hint", "warn", "load_view_tko",
         viewed(hints=" optimization_hints = <sm_100 = {latency = 11}>"),
         viewed(hints=" optimization_hints = <sm_100 = {latency = 10}>")),
    Case("latency-in-persistent-loop", "info", "load_view_tko",
         persistent(" optimization_hints = <default = {latency = 4}>"),
         persistent(" optimization_hints = <default = {allow_tma = false, latency = 4}>")),
    Case("mask-as-factor", "warn", "mulf %loaded", factor(BY_LANE), factor(PLAIN)),
    Case("mask-as-factor", "info", "mulf %loaded",
         factor(BY_VALUE + "\n  %f = itof %flag unsigned : tile<64xi1> -> tile<64xf32>").replace(
             "%loaded, %flag : tile<64xf32>", "%loaded, %f : tile<64xf32>"), factor(PLAIN)),
    Case("mixed-access", "info", "store_ptr_tko", mixed("%from"), mixed("%to")),
    Case("padding-not-neutral", "warn", "reduce", entry(ROWS, row_view(ZERO_PADDED) + MAX),
         entry(ROWS, row_view(", padding_value = neg_inf") + MAX)),
    Case("padding-not-neutral", "warn", "reduce", squares(mask=False), squares(mask=True)),
    Case("padding-not-representable", "warn", "make_partition_view %tv",
         viewed("f8E4M3FN", ", padding_value = neg_inf"), viewed("f8E5M2", ", padding_value = neg_inf")),
    Case("size-promise", "info", "load_ptr_tko", promised(64), promised(16)),
    Case("surplus-carry", "info", "for %i", carried("%w"), carried("%v")),
    Case("tma-impossible", "warn", "load_view_tko",
         viewed(strides="66,1", hints=" optimization_hints = <sm_100 = {allow_tma = true}>", aligned="%base"),
         viewed(hints=" optimization_hints = <sm_100 = {allow_tma = true}>", aligned="%base")),
    Case("tma-impossible", "info", "load_view_tko",
         viewed(hints=" optimization_hints = <sm_100 = {allow_tma = true}>"),
         viewed(hints=" optimization_hints = <sm_100 = {allow_tma = false}>")),
    Case("undetermined-lanes", "warn", "reduce", entry(ROWS, row_view() + SUM),
         entry(ROWS, row_view(ZERO_PADDED) + SUM)),
    Case("undetermined-lanes", "info", "reduce", entry(ROWS, row_view(index="%c0") + SUM),
         entry(ROWS, row_view(ZERO_PADDED, "%c0") + SUM)),
    Case("undetermined-store", "warn", "store_ptr_tko",
         entry(POINTERS, addresses() + UNPADDED_LOAD + STORE),
         entry(POINTERS, addresses() + UNPADDED_LOAD + MASKED_STORE)),
    Case("unmasked-store", "warn", "store_ptr_tko", entry(POINTERS, addresses() + MASKED_LOAD + STORE),
         entry(POINTERS, addresses() + MASKED_LOAD + MASKED_STORE)),
    Case("undetermined-lanes", "warn", "reduce", accumulated("", SCALED), accumulated(ZERO_PADDED, SCALED)),
    Case("padding-not-neutral", "warn", "reduce", accumulated(ZERO_PADDED, CENTRED),
         accumulated(ZERO_PADDED, SCALED)),
    Case("unordered-accesses", "warn", "load_ptr_tko", stored_then_loaded("%t0"), stored_then_loaded("%s")),
    Case("zero-divisor", "warn", "divi", divided_by(0), divided_by(2)),
)  # fmt: skip
