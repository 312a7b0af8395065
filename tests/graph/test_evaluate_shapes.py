"""Shape ops, views and masks of views: they rename lanes, and leave no other trace."""

from __future__ import annotations

import pytest

from tests.match.snippets import LOAD, STORE, Pair, assert_equal, assert_found, found, kernel, with_value

T = "tile<128xf32>"

FLAT = [
    Pair(
        "reshape and back",
        f"%w = addf %v, %one : {T}",
        (
            f"%r = reshape %v : {T} -> tile<8x16xf32>\n%q = reshape %r : tile<8x16xf32> -> {T}\n%w = addf "
            f"%q, %one : {T}"
        ),
        f"%r = reshape %v : {T} -> tile<8x16xf32>\n%p = permute %r [1, 0] : tile<8x16xf32> -> "
        "tile<16x8xf32>\n"
        f"%q = reshape %p : tile<16x8xf32> -> {T}\n%w = addf %q, %one : {T}",
        ("shape-op", "addressing"),
    ),
    Pair(
        "two transpositions",
        f"%w = addf %v, %one : {T}",
        f"%r = reshape %v : {T} -> tile<8x16xf32>\n%p = permute %r [1, 0] : tile<8x16xf32> -> "
        "tile<16x8xf32>\n"
        "%p2 = permute %p [1, 0] : tile<16x8xf32> -> tile<8x16xf32>\n"
        f"%q = reshape %p2 : tile<8x16xf32> -> {T}\n%w = addf %q, %one : {T}",
    ),
    Pair(
        "reshape before or after a cast",
        f"%h = ftof %v : {T} -> tile<128xf16>\n%r = reshape %h : tile<128xf16> -> tile<1x128xf16>\n"
        f"%f = ftof %r : tile<1x128xf16> -> tile<1x128xf32>\n%w = reshape %f : tile<1x128xf32> -> {T}",
        f"%r = reshape %v : {T} -> tile<1x128xf32>\n%h = ftof %r : tile<1x128xf32> -> tile<1x128xf16>\n"
        f"%b0 = reshape %h : tile<1x128xf16> -> tile<128xf16>\n%w = ftof %b0 : tile<128xf16> -> {T}",
        f"%r = reshape %v : {T} -> tile<1x128xf32>\n%h = ftof %r : tile<1x128xf32> -> tile<1x128xbf16>\n"
        f"%b0 = reshape %h : tile<1x128xbf16> -> tile<128xbf16>\n%w = ftof %b0 : tile<128xbf16> -> {T}",
        ("conversion", "element-type", "arithmetic"),
    ),
    Pair(
        "splat by broadcast or as a constant",
        "%c = constant <f32: 2.5> : tile<f32>\n%c1 = reshape %c : tile<f32> -> tile<1xf32>\n"
        f"%cv = broadcast %c1 : tile<1xf32> -> {T}\n%w = mulf %v, %cv : {T}",
        f"%cv = constant <f32: 2.5> : {T}\n%w = mulf %v, %cv : {T}",
        f"%cv = constant <f32: 2.25> : {T}\n%w = mulf %v, %cv : {T}",
        ("constant",),
    ),
    Pair(
        "halves put together again",
        f"%w = negf %v : {T}",
        f"%l = extract %v[%i0] : {T} -> tile<64xf32>\n%h = extract %v[%i1] : {T} -> tile<64xf32>\n"
        f"%q = cat %l, %h dim = 0 : tile<64xf32>, tile<64xf32> -> {T}\n%w = negf %q : {T}",
        f"%l = extract %v[%i0] : {T} -> tile<64xf32>\n%h = extract %v[%i1] : {T} -> tile<64xf32>\n"
        f"%q = cat %h, %l dim = 0 : tile<64xf32>, tile<64xf32> -> {T}\n%w = negf %q : {T}",
        ("addressing", "shape-op", "arithmetic", "mask", "constant"),
    ),
    Pair(
        "a half inserted where it was",
        f"%w = negf %v : {T}",
        f"%h = extract %v[%i1] : {T} -> tile<64xf32>\n%q = insert %h, %v[%i1] : tile<64xf32>, {T}\n"
        f"%w = negf %q : {T}",
        f"%h = extract %v[%i1] : {T} -> tile<64xf32>\n%q = insert %h, %v[%i0] : tile<64xf32>, {T}\n"
        f"%w = negf %q : {T}",
        ("addressing", "shape-op", "arithmetic", "mask", "control-flow"),
    ),
    Pair(
        "the same pure op twice",
        f"%e = exp %v : {T}\n%w = mulf %e, %e : {T}",
        f"%e = exp %v : {T}\n%f = exp %v : {T}\n%w = mulf %f, %e : {T}",
        f"%e = exp %v : {T}\n%f = exp2 %v : {T} \n%w = mulf %f, %e : {T}",
        ("arithmetic",),
    ),
    Pair(
        "dead code",
        f"%w = negf %v : {T}",
        f"%d = exp %v : {T}\n%e = divf %d, %zero : {T}\n%w = negf %v : {T}",
    ),
]


@pytest.mark.parametrize("pair", FLAT, ids=[pair.name for pair in FLAT])
def test_equal_shapes(pair: Pair) -> None:
    assert_equal(with_value(pair.reference), with_value(pair.generated))
    assert_equal(with_value(pair.generated), with_value(pair.reference))


WRONG = [pair for pair in FLAT if pair.wrong]


@pytest.mark.parametrize("pair", WRONG, ids=[pair.name for pair in WRONG])
def test_unequal_shapes(pair: Pair) -> None:
    for reference in (pair.reference, pair.generated):
        assert_found(with_value(reference), with_value(pair.wrong), *pair.rules)


# ---- views -----------------------------------------------------------------------------------------------

VIEWS = "%a: tile<ptr<f32>>, %b: tile<ptr<f32>>, %h: tile<i32>, %w: tile<i32>, %s: tile<i32>"
TENSOR = "tensor_view<?x?xf32, strides=[?,1]>"
START = f"""
%t = make_token : token
%x, %y, %z = get_tile_block_id : tile<i32>
%i0 = constant <i32: 0> : tile<i32>
%at = make_tensor_view %a, shape = [%h, %w], strides = [%s, 1] : tile<i32> -> {TENSOR}
%bt = make_tensor_view %b, shape = [%h, %w], strides = [%s, 1] : tile<i32> -> {TENSOR}
"""


def view_type(tile: str = "32x32", padding: str = "padding_value = zero, ", dim_map: str = "") -> str:
    return f"partition_view<tile=({tile}), {padding}{TENSOR}{dim_map}>"


def access(
    load: str = view_type(),
    index: str = "%x, %y",
    lines: str = "%u = negf %v : tile<32x32xf32>",
    store: str = view_type(padding=""),
    out: str = "%x, %y",
    tile: str = "32x32",
    more: str = "",
    marks: tuple[str, str, str, str] = ("", "", "", ""),
) -> str:
    """Load a tile of `a`, compute `%u`, store it to `b`; `marks` end the lines of views and accesses."""
    return kernel(
        f"%av = make_partition_view %at : {load}{marks[0]}\n"
        f"%v, %lt = load_view_tko weak %av[{index}] token = %t{more} : {load}, tile<i32> -> "
        f"tile<{tile}xf32>, token{marks[1]}\n{lines}\n"
        f"%bv = make_partition_view %bt : {store}{marks[2]}\n"
        f"%st = store_view_tko weak %u, %bv[{out}] token = %t : tile<{tile}xf32>, {store}, tile<i32> "
        f"-> token{marks[3]}",
        parameters=VIEWS,
        prologue=START,
    )


HERE = " // here"

SUMMED = """
%sum = reduce %v dim=1 identities=[0.0 : f32] : tile<32x32xf32> -> tile<32xf32>
(%l: tile<f32>, %r: tile<f32>) {
  %both = addf %l, %r : tile<f32>
  yield %both : tile<f32>
}
%column = reshape %sum : tile<32xf32> -> tile<32x1xf32>
%sums = broadcast %column : tile<32x1xf32> -> tile<32x32xf32>
%u = divf %v, %sums : tile<32x32xf32>
"""
"""Rows divided by their sums: every lane of a row counts."""


def test_a_dim_map_against_a_permutation() -> None:
    """K read transposed by its view, or read straight and permuted."""
    by_map = access(load=view_type(dim_map=", dim_map=[1, 0]"), index="%y, %x")
    by_permute = access(
        index="%x, %y",
        lines="%p = permute %v [1, 0] : tile<32x32xf32> -> tile<32x32xf32>\n%u = negf %p : tile<32x32xf32>",
    )
    assert_equal(by_map, by_permute)
    assert_equal(by_permute, by_map)


def test_a_lost_dim_map_is_found() -> None:
    reference = access(load=view_type(dim_map=", dim_map=[1, 0]"), index="%x, %x")
    generated = access(index="%x, %x", marks=(HERE, HERE, "", ""))
    first = assert_found(reference, generated, "dim-map/changed")
    assert first.impact == "logic"


def test_a_lost_permutation_of_equal_extents_is_found() -> None:
    reference = access(
        lines="%p = permute %v [1, 0] : tile<32x32xf32> -> tile<32x32xf32>\n%u = negf %p : tile<32x32xf32>"
    )
    first = assert_found(reference, access(), "shape-op/changed", "dim-map/changed", "addressing/index")
    assert first.impact == "logic"


def test_exchanged_indices_are_found_at_the_access() -> None:
    first = assert_found(
        access(), access(index="%y, %x", marks=("", HERE, "", "")), "addressing/index", "grid/axis"
    )
    assert first.impact == "logic"
    assert_found(access(), access(out="%y, %x", marks=("", "", "", HERE)), "addressing", "grid", "mask")


@pytest.mark.parametrize(
    ("padding", "rule"),
    [
        ("", "padding/missing"),
        ("padding_value = neg_inf, ", "padding/changed"),
        ("padding_value = nan, ", "padding/changed"),
    ],
)
def test_padding_of_a_view(padding: str, rule: str) -> None:
    reference = access(lines=SUMMED)
    generated = access(load=view_type(padding=padding), lines=SUMMED, marks=(HERE, HERE, "", ""))
    assert assert_found(reference, generated, rule).impact == "bounds"


def test_padding_that_is_never_used_is_no_difference() -> None:
    """The lanes outside are neither stored nor mixed with others."""
    assert_equal(access(), access(load=view_type(padding="")))


def test_added_padding_is_no_danger() -> None:
    reference, generated = access(load=view_type(padding=""), lines=SUMMED), access(lines=SUMMED)
    assert_found(reference, generated, "padding/extra")


PROMISED = " inbounds = [true, true]"


@pytest.mark.parametrize("lines", ["%u = negf %v : tile<32x32xf32>", SUMMED])
@pytest.mark.parametrize("padding", ["", "padding_value = zero, "])
def test_inbounds_is_a_promise(lines: str, padding: str) -> None:
    """Where the promise is false only the reference is undefined, so the port may do as it likes there."""
    kind = view_type(padding=padding)
    promised = access(kind, lines=lines, more=PROMISED, marks=("", HERE, "", ""))
    checked = access(kind, lines=lines, marks=("", HERE, "", ""))
    assert assert_found(checked, promised, "bounds/inbounds").impact == "assume"
    assert [(each.rule, each.impact) for each in found(promised, checked)] == [("bounds/inbounds", "hint")]


@pytest.mark.parametrize("index", ["%y, %x", "%x, %i0"])
def test_a_promise_is_about_one_tile(index: str) -> None:
    promised, checked = access(lines=SUMMED, more=PROMISED), access(lines=SUMMED, index=index)
    assert assert_found(promised, checked, "addressing", "grid").impact == "logic"


def summed_at(around: str, promise: str) -> str:
    """Rows divided by their sums, tile `%k` of block `%x`, with code `around` them."""
    kind = view_type(padding="")
    return kernel(
        "%i1 = constant <i32: 1> : tile<i32>\n"
        "%few = cmpi less_than %h, %w, signed : tile<i32> -> tile<i1>\n"
        f"%av = make_partition_view %at : {kind}\n%bv = make_partition_view %bt : {kind}\n"
        + around.format(
            f"%v, %lt = load_view_tko weak %av[%x, %k] token = %t{promise} : {kind}, tile<i32> -> "
            f"tile<32x32xf32>, token\n{SUMMED}\n"
            f"%st = store_view_tko weak %u, %bv[%x, %k] token = %t : tile<32x32xf32>, {kind}, tile<i32> "
            "-> token"
        ),
        parameters=VIEWS,
        prologue=START,
    )


def test_a_promise_holds_where_it_is_made() -> None:
    """In the branch, and in the iterations, in which the reference makes the access."""
    always = "%k = addi %x, %i0 : tile<i32>\n{0}"
    branch = "%k = addi %x, %i0 : tile<i32>\nif %few {{\n{0}\n}}"
    short = "for %k in (%i0 to %s, step %i1) : tile<i32> {{\n{0}\n}}"
    longer = short.replace("%s", "%h")
    for around in (always, branch, short):
        assert [each.impact for each in found(summed_at(around, PROMISED), summed_at(around, ""))] == ["hint"]
    for here, there in ((branch, always), (short, longer)):
        result = found(summed_at(here, PROMISED), summed_at(there, ""))
        assert {each.impact for each in result} & {"bounds", "logic"}, (here, there)
        assert not any(each.rule == "bounds/inbounds" and each.impact == "hint" for each in result)


def test_an_unneeded_inbounds_of_one_element_is_harmless() -> None:
    """The second extent of the tile is one: an index in the index space is in bounds."""
    one = view_type("32x1")
    lines = "%u = negf %v : tile<32x1xf32>"
    store = view_type("32x1", "")
    assert_equal(
        access(load=one, lines=lines, store=store, tile="32x1"),
        access(load=one, lines=lines, store=store, tile="32x1", more=" inbounds = [false, true]"),
    )


def test_a_view_and_its_gather_spelled_out_are_the_same_access() -> None:
    """Only the cost differs: a pointer load with the view's mask and padding."""
    lines = (
        "%wide = constant <i32: 32> : tile<i32>\n%x0 = muli %x, %wide : tile<i32>\n%y0 = muli %y, "
        "%wide : tile<i32>\n"
        "%l = iota : tile<32xi32>\n%lr = reshape %l : tile<32xi32> -> tile<32x1xi32>\n"
        "%rows = broadcast %lr : tile<32x1xi32> -> tile<32x32xi32>\n"
        "%lc = reshape %l : tile<32xi32> -> tile<1x32xi32>\n"
        "%cols = broadcast %lc : tile<1x32xi32> -> tile<32x32xi32>\n"
    )
    for name, source in (("xr", "x0"), ("yr", "y0"), ("hr", "h"), ("wr", "w"), ("sr", "s")):
        lines += (
            f"%{name}1 = reshape %{source} : tile<i32> -> tile<1x1xi32>\n"
            f"%{name} = broadcast %{name}1 : tile<1x1xi32> -> tile<32x32xi32>\n"
        )
    lines += (
        "%r = addi %rows, %xr : tile<32x32xi32>\n%c = addi %cols, %yr : tile<32x32xi32>\n"
        "%ri = cmpi less_than %r, %hr, signed : tile<32x32xi32> -> tile<32x32xi1>\n"
        "%ci = cmpi less_than %c, %wr, signed : tile<32x32xi32> -> tile<32x32xi1>\n"
        "%in = andi %ri, %ci : tile<32x32xi1>\n%ro = muli %r, %sr : tile<32x32xi32>\n"
        "%off = addi %ro, %c : tile<32x32xi32>\n%a1 = reshape %a : tile<ptr<f32>> -> tile<1x1xptr<f32>>\n"
        "%as = broadcast %a1 : tile<1x1xptr<f32>> -> tile<32x32xptr<f32>>\n"
        "%pa = offset %as, %off : tile<32x32xptr<f32>>, tile<32x32xi32> -> tile<32x32xptr<f32>>\n"
        "%zero = constant <f32: 0.0> : tile<32x32xf32>\n"
        "%v, %lt = load_ptr_tko weak %pa, %in, %zero token=%t : "
        "tile<32x32xptr<f32>>, tile<32x32xi1>, tile<32x32xf32> -> tile<32x32xf32>, token\n"
        "%u = negf %v : tile<32x32xf32>\n"
    )
    store = view_type(padding="")
    end = (
        f"%bv = make_partition_view %bt : {store}\n"
        f"%st = store_view_tko weak %u, %bv[%x, %y] token = %t : tile<32x32xf32>, {store}, tile<i32> -> token"
    )
    gathered = kernel(lines + end, parameters=VIEWS, prologue=START)
    first = assert_found(access(), gathered, "memory-family/changed")
    assert first.impact == "hint"
    wrong = gathered.replace("%off = addi %ro, %c", "%off = addi %ro, %r")
    assert assert_found(access(), wrong, "addressing").impact == "logic"


def test_a_strided_view_that_does_not_overlap_is_a_partition() -> None:
    partition = access()
    strided = partition.replace(
        f"%av = make_partition_view %at : {view_type()}",
        (
            "%av = make_strided_view %at : strided_view<tile=(32x32), traversal_strides=[32,32], "
            f"padding_value = zero, {TENSOR}>"
        ),
    ).replace(
        f"token = %t : {view_type()}",
        f"token = %t : strided_view<tile=(32x32), traversal_strides=[32,32], padding_value = zero, {TENSOR}>",
    )
    assert_equal(partition, strided)
    overlapping = strided.replace("[32,32]", "[16,32]")
    assert_found(strided, overlapping, "stride", "addressing", "mask")
    assert_found(partition, overlapping, "stride", "addressing", "mask", "arithmetic/op")


def test_a_gather_view_with_consecutive_rows_is_a_partition() -> None:
    gather = f"gather_scatter_view<tile=(32x32), padding_value = zero, {TENSOR}, sparse_dim=0>"
    lines = (
        "%wide = constant <i32: 32> : tile<i32>\n%x0 = muli %x, %wide : tile<i32>\n"
        "%x1 = reshape %x0 : tile<i32> -> tile<1xi32>\n%xs = broadcast %x1 : tile<1xi32> -> tile<32xi32>\n"
        "%l = iota : tile<32xi32>\n%rows = addi %xs, %l : tile<32xi32>\n"
        "%y0 = muli %y, %wide : tile<i32>\n"
    )
    store = view_type(padding="")

    def gathered(rows: str, columns: str = "y0") -> str:
        return kernel(
            f"{lines}%av = make_gather_scatter_view %at : {gather}\n"
            f"%v, %lt = load_view_tko weak %av[%{rows}, %{columns}] token = %t : {gather}, tile<32xi32>, "
            "tile<i32> -> "
            "tile<32x32xf32>, token\n%u = negf %v : tile<32x32xf32>\n"
            f"%bv = make_partition_view %bt : {store}\n%st = store_view_tko weak %u, %bv[%x, %y] "
            "token = %t : "
            f"tile<32x32xf32>, {store}, tile<i32> -> token",
            parameters=VIEWS,
            prologue=START,
        )

    assert_equal(access(), gathered("rows"))
    assert_found(access(), gathered("l"), "addressing", "mask", "grid")
    assert_found(access(), gathered("rows", "y"), "addressing", "mask", "grid")  # it counts elements


GATHERED = "gather_scatter_view<tile=(8x{0}), tensor_view<1024x16xf32, strides=[16,1]>, sparse_dim=0>"
LISTED = """%iota = iota : tile<8xi32>
%three = constant <i32: 3> : tile<8xi32>
%rows = muli %iota, %three : tile<8xi32>
"""


def by_view(column: int, width: int, promise: str = " inbounds = [true, true]") -> str:
    view, tile = GATHERED.format(width), f"tile<8x{width}xf32>"
    return kernel(
        f"{LISTED}%tv = make_tensor_view %a, shape = [1024, 16], strides = [16, 1] : "
        f"tensor_view<1024x16xf32, strides=[16,1]>\n%gv = make_gather_scatter_view %tv : {view}\n"
        f"%c = constant <i32: {column}> : tile<i32>\n"
        f"%v, %vt = load_view_tko weak %gv[%rows, %c] token = %t{promise} : {view}, tile<8xi32>, "
        f"tile<i32> -> {tile}, token\n{stored_at_once(width)}"
    )


def by_pointers(column: int, width: int) -> str:
    tile, row = f"tile<8x{width}x{{}}>", f"tile<{width}xi32>"
    index, pointer = tile.format("i32"), tile.format("ptr<f32>")
    return kernel(
        f"{LISTED}%width = constant <i32: 16> : tile<8xi32>\n%ro = muli %rows, %width : tile<8xi32>\n"
        "%r1 = reshape %ro : tile<8xi32> -> tile<8x1xi32>\n"
        f"%r2 = broadcast %r1 : tile<8x1xi32> -> {index}\n"
        f"%k = iota : {row}\n%c = constant <i32: {column}> : {row}\n"
        f"%kc = addi %k, %c : {row}\n%k1 = reshape %kc : {row} -> tile<1x{width}xi32>\n"
        f"%k2 = broadcast %k1 : tile<1x{width}xi32> -> {index}\n"
        f"%at = addi %r2, %k2 : {index}\n"
        "%x1 = reshape %a : tile<ptr<f32>> -> tile<1x1xptr<f32>>\n"
        f"%x2 = broadcast %x1 : tile<1x1xptr<f32>> -> {pointer}\n"
        f"%p = offset %x2, %at : {pointer}, {index} -> {pointer}\n"
        f"%v, %vt = load_ptr_tko weak %p token=%t : {pointer} -> {tile.format('f32')}, token\n"
        f"{stored_at_once(width)}"
    )


def stored_at_once(width: int) -> str:
    view = f"partition_view<tile=(8x{width}), tensor_view<8x{width}xf32, strides=[{width},1]>>"
    return (
        f"%ot = make_tensor_view %b, shape = [8, {width}], strides = [{width}, 1] : "
        f"tensor_view<8x{width}xf32, strides=[{width},1]>\n%ov = make_partition_view %ot : {view}\n"
        f"%e = store_view_tko weak %v, %ov[%i0, %i0] token = %t : tile<8x{width}xf32>, {view}, "
        "tile<i32> -> token"
    )


@pytest.mark.parametrize(("column", "width"), [(2, 4), (8, 8), (5, 1)])
def test_the_columns_of_a_gather_view_are_counted_by_elements(column: int, width: int) -> None:
    sides = by_pointers(column, width), by_view(column, width)
    for reference, generated in (sides, sides[::-1]):
        assert [each.rule for each in found(reference, generated)] == ["memory-family/changed"]
    assert_found(by_view(column, width), by_view(column * width + 1, width), "constant", "addressing")


@pytest.mark.parametrize("column", [-1, 13, 16])
def test_a_gather_view_checks_its_columns(column: int) -> None:
    """Also where the tile has one column, and below the first."""
    for width in (1, 4):
        promised, checked = by_view(column, width), by_view(column, width, "")
        if column + width > 16 or column < 0:
            assert found(checked, promised)
        assert_equal(checked, checked)


def test_the_number_of_tiles_is_a_ceiling_division() -> None:
    def loop(count: str) -> str:
        return kernel(
            f"%av = make_partition_view %at : {view_type()}\n{count}\n"
            "%one = constant <i32: 1> : tile<i32>\n%c = subi %k, %one : tile<i32>\n"
            f"%v, %lt = load_view_tko weak %av[%x, %c] token = %t : {view_type()}, tile<i32> -> "
            "tile<32x32xf32>, token\n"
            f"%bv = make_partition_view %bt : {view_type(padding='')}\n"
            "%st = store_view_tko weak %v, %bv[%x, %c] token = %t : tile<32x32xf32>, "
            f"{view_type(padding='')}, "
            "tile<i32> -> token",
            parameters=VIEWS,
            prologue=START,
        )

    asked = loop(f"%j, %k = get_index_space_shape %av : {view_type()} -> tile<i32>")
    wide = "%wide = constant <i32: 32> : tile<i32>\n"
    spelled = loop(f"{wide}%k = divi %w, %wide signed rounding<positive_inf> : tile<i32>")
    assert_equal(asked, spelled)
    assert_found(
        asked, loop(f"{wide}%k = divi %w, %wide signed : tile<i32>"), "addressing", "mask", "integer-mode"
    )
    assert_found(
        asked,
        loop(f"{wide}%k = divi %h, %wide signed rounding<positive_inf> : tile<i32>"),
        "addressing",
        "mask",
    )


def test_another_stride_is_found() -> None:
    reference = access()
    generated = reference.replace(
        "%bt = make_tensor_view %b, shape = [%h, %w], strides = [%s, 1]",
        "%bt = make_tensor_view %b, shape = [%h, %w], strides = [%w, 1]",
    )
    assert generated != reference
    first = assert_found(reference, generated, "stride/changed", "addressing")
    assert first.impact == "logic"


def test_another_array_is_found() -> None:
    reference = access()
    generated = reference.replace("%bt = make_tensor_view %b,", "%bt = make_tensor_view %a,")
    assert assert_found(reference, generated, "addressing/base", "entry-signature").impact == "logic"


def test_another_tile_is_found() -> None:
    small = access(
        load=view_type("16x32"),
        lines="%u = negf %v : tile<16x32xf32>",
        store=view_type("16x32", ""),
        tile="16x32",
    )
    assert assert_found(access(), small, "tile-shape/changed").impact == "logic"


def test_a_splat_of_pointers_or_of_offsets() -> None:
    body = f"{LOAD}\n%w = negf %v : {T}\n"
    straight = kernel(body + STORE)
    other = kernel(
        body + "%bs = offset %b, %start : tile<ptr<f32>>, tile<i32> -> tile<ptr<f32>>\n"
        "%bs1 = reshape %bs : tile<ptr<f32>> -> tile<1xptr<f32>>\n"
        "%bsv = broadcast %bs1 : tile<1xptr<f32>> -> tile<128xptr<f32>>\n"
        "%pb2 = offset %bsv, %lane : tile<128xptr<f32>>, tile<128xi32> -> tile<128xptr<f32>>\n"
        + STORE.replace("%pb", "%pb2")
    )
    assert_equal(straight, other)
