"""What only the host can guarantee: told as such, also where the kernels differ in something else."""

from __future__ import annotations

import pytest

from tests.match.snippets import PARAMETERS, PROLOGUE, STORE, assert_found, compared, found, kernel
from tileir_diff.match.model import CompareOptions

POINTERS = "tile<128xptr<f32>>"
ROWS = f"""
%row = cmpi less_than %x, %n, signed : tile<i32> -> tile<i1>
%row1 = reshape %row : tile<i1> -> tile<1xi1>
%rows = broadcast %row1 : tile<1xi1> -> tile<128xi1>
%w128 = muli %x, %m : tile<i32>
%s1 = reshape %w128 : tile<i32> -> tile<1xi32>
%sv = broadcast %s1 : tile<1xi32> -> tile<128xi32>
%so = addi %sv, %lane : tile<128xi32>
%ra = offset %av, %so : {POINTERS}, tile<128xi32> -> {POINTERS}
%rb = offset %bv, %so : {POINTERS}, tile<128xi32> -> {POINTERS}
"""
"""One row of 128 a block: its addresses `%ra` and `%rb`, and whether it is there, `%rows`."""


UNLIKE = "".join(f"%e{n} = xori %i{n % 2}, %i4 : tile<i32>\n" for n in range(9))
"""Ops that mean nothing, for texts that do not align."""


def row(op: str, *, masked: bool, name: str) -> str:
    mask, padding, type_ = (", %rows", ", %zero", ", tile<128xi1>") if masked else ("", "", "")
    data = ", tile<128xf32>" if masked else ""
    return kernel(
        f"{ROWS}%v, %vt = load_ptr_tko weak %ra{mask}{padding} token=%t : "
        f"{POINTERS}{type_}{data} -> tile<128xf32>, token\n{op}\n"
        f"%st = store_ptr_tko weak %rb, %w{mask} token=%t : {POINTERS}, tile<128xf32>{type_} -> token",
        name=name,
    )


def test_a_guard_on_the_block_is_an_obligation_beside_another_difference() -> None:
    reference = row("%w = exp %v : tile<128xf32>", masked=True, name="k")
    generated = row(f"{UNLIKE}%w = tanh %v : tile<128xf32> // here", masked=False, name="_Z1k")
    assert [each.rule for each in found(reference, generated)] == ["arithmetic/op"]
    assert_found(reference, generated, "arithmetic/op")
    assert any("block.x < b.shape0" in line for line in compared(reference, generated).obligations)


def test_an_obligation_is_a_finding_where_nothing_is_left_to_the_host() -> None:
    op = "%w = exp %v : tile<128xf32>"
    reference, generated = row(op, masked=True, name="k"), row(op, masked=False, name="_Z1k")
    strict = CompareOptions(disabled_equivalences=frozenset({"host-bounds"}))
    assert found(reference, generated) == []
    assert {each.rule for each in found(reference, generated, strict)} == {"mask/missing"}
    assert found(reference, reference.replace("@k", "@_Z1k"), strict) == []


def test_a_lost_mask_over_lanes_is_told_beside_an_obligation() -> None:
    both = "%both = andi %rows, %in : tile<128xi1>\n"
    op = "%w = exp %v : tile<128xf32>"
    reference = row(f"{both}{op}", masked=True, name="k").replace("%w, %rows", "%w, %both")
    generated = row(f"{UNLIKE}{op}", masked=False, name="_Z1k")
    assert [each.rule for each in found(reference, generated)] == ["mask/missing"]
    first = assert_found(reference, generated, "mask/missing")
    assert (first.impact, first.expected) == ("bounds", "128*block.x + i0 < b.shape0")


TWO_SIZES = (
    "%a: tile<ptr<f32>>, %n: tile<i32>, %s: tile<i32>, %b: tile<ptr<f32>>, %m: tile<i32>, %r: tile<i32>"
)


def two_arrays(op: str, *, padded: bool, name: str) -> str:
    """`b = op(a)` where each array has its own size, in the mask of its own access."""
    padding, data = (", %zero", ", tile<128xf32>") if padded else ("", "")
    return kernel(
        "%inm = cmpi less_than %o, %mv, signed : tile<128xi32> -> tile<128xi1>\n"
        f"%v, %vt = load_ptr_tko weak %pa, %in{padding} token=%t : {POINTERS}, tile<128xi1>{data} -> "
        f"tile<128xf32>, token\n{op}\n{STORE.replace('%in', '%inm')}",
        parameters=TWO_SIZES,
        name=name,
    )


@pytest.mark.parametrize("wrong", ["tanh", "negf"])
def test_a_padding_that_equal_sizes_hide_is_not_told_beside_another_difference(wrong: str) -> None:
    exp = "%w = exp %v : tile<128xf32>"
    reference = two_arrays(exp, padded=True, name="k")
    assert found(reference, two_arrays(exp, padded=False, name="k_entry")) == []
    other = two_arrays(f"{UNLIKE}{exp.replace('exp', wrong)}", padded=False, name="k_entry")
    assert [each.rule for each in found(reference, other)] == ["arithmetic/op"]
    unmasked = two_arrays(f"{UNLIKE}{exp}", padded=False, name="k_entry")
    unmasked = unmasked.replace("%w, %inm", "%w").replace(
        "tile<128xf32>, tile<128xi1> -> token", "tile<128xf32> -> token"
    )
    assert [each.rule for each in found(reference, unmasked)] == ["mask/missing"]


COUNTED = """%c = ptr_to_ptr %b : tile<ptr<f32>> -> tile<ptr<i32>>
%some = cmpi {condition} : tile<i32> -> tile<i1>
if %some {{
  %r, %rt = atomic_rmw_tko relaxed device %c, add, %i1 token=%t :
    tile<ptr<i32>>, tile<i32> -> tile<i32>, token
}}"""


@pytest.mark.parametrize("condition", ["equal %x, %i0, signed", "less_than %x, %i4, signed"])
def test_an_atomic_in_some_blocks_only_is_not_the_launchs_business(condition: str) -> None:
    some = COUNTED.format(condition=condition)
    every = COUNTED.format(condition="greater_than_or_equal %x, %i0, signed")
    assert_found(kernel(some), kernel(every, name="k_entry"), "mask")
    assert [each.rule for each in found(kernel(some), kernel(some, name="k_entry"))] == []


# ---- numbers that one side lacks -------------------------------------------------------------------------

SHIFTED = f"""
%p1 = reshape %p : tile<i32> -> tile<1xi32>
%pv = broadcast %p1 : tile<1xi32> -> tile<128xi32>
%so = addi %o, %pv : tile<128xi32>
%ra = offset %av, %so : {POINTERS}, tile<128xi32> -> {POINTERS}
%v, %vt = load_ptr_tko weak %ra, %in, %zero token=%t : """
LOADED = f"{POINTERS}, tile<128xi1>, tile<128xf32> -> tile<128xf32>, token\n"
PLAIN = "%v, %vt = load_ptr_tko weak %pa, %in, %zero token=%t : "


def test_an_offset_that_one_side_lacks_may_be_zero() -> None:
    store = STORE.replace("%w", "%v")
    reference = kernel(SHIFTED + LOADED + store, parameters=f"{PARAMETERS}, %p: tile<i32>")
    generated = kernel(PLAIN + LOADED + store, name="_Z1k")
    assert [each.rule for each in found(reference, generated)] == []
    assert "reference p = 0 (a number in the generated kernel)" in compared(reference, generated).obligations
    assert [each.rule for each in found(generated, reference)] != []


# ---- sizes in views --------------------------------------------------------------------------------------


def viewed(view: str, tile: str, dim_map: str, index: str, turn: str, name: str) -> str:
    """`b = a` for a tile of 32 x 64, through views of `a`; what is loaded is brought to 32 x 64 by `turn`."""
    shape = tile.replace("x", " ").split()
    partition = f"partition_view<tile=({tile}), {view}{dim_map}>"
    out = "tensor_view<96x64xf32, strides=[64,1]>"
    result = f"partition_view<tile=(32x64), {out}>"
    sizes = "[%n, %m], strides = [%m, 1] : tile<i32> -> " if "?" in view else "[96, 64], strides = [64, 1] : "
    return (
        f"entry @{name}({PARAMETERS}) {{\n%t = make_token : token\n"
        "%x, %y, %z = get_tile_block_id : tile<i32>\n%i0 = constant <i32: 0> : tile<i32>\n"
        f"%ta = make_tensor_view %a, shape = {sizes}{view}\n%av = make_partition_view %ta : {partition}\n"
        f"%tb = make_tensor_view %b, shape = [96, 64], strides = [64, 1] : {out}\n"
        f"%bv = make_partition_view %tb : {result}\n"
        f"%v, %vt = load_view_tko weak %av[{index}] token = %t : {partition}, tile<i32> -> "
        f"tile<{'x'.join(shape)}xf32>, token\n{turn}\n"
        f"%st = store_view_tko weak %w, %bv[%x, %i0] token = %t : tile<32x64xf32>, {result}, tile<i32> "
        "-> token\nreturn\n}\n"
    )


@pytest.mark.parametrize("name", ["k_entry", "_Z1k"])
def test_the_sizes_of_a_transposed_view(name: str) -> None:
    """The dimensions of the two views are in another order, not those of the array."""
    turned = "%w = permute %v [1, 0] : tile<64x32xf32> -> tile<32x64xf32>"
    straight = "%w = negf %v : tile<32x64xf32>"
    dynamic, fixed = "tensor_view<?x?xf32, strides=[?,1]>", "tensor_view<96x64xf32, strides=[64,1]>"
    reference = viewed(dynamic, "64x32", ", dim_map=[1, 0]", "%i0, %x", turned.replace("%w", "%u"), "k")
    reference = reference.replace("%st =", "%w = negf %u : tile<32x64xf32>\n%st =")
    generated = viewed(fixed, "32x64", "", "%x, %i0", straight, name)
    obligations = compared(reference, generated).obligations
    assert "reference a.shape1 = 64 (a number in the generated kernel)" in obligations
    assert [each.rule for each in found(reference, generated)] == []


# ---- blocks that do nothing ------------------------------------------------------------------------------


def looped(trips: str, name: str) -> str:
    """Row `x` of 4: adds the first rows of `a`, as many as `trips` says."""
    body = f"""%i3 = constant <i32: 3> : tile<i32>
%i512 = constant <i32: 512> : tile<i32>
%five1 = reshape %i512 : tile<i32> -> tile<1xi32>
%five = broadcast %five1 : tile<1xi32> -> tile<128xi32>
%there = cmpi less_than %o, %five, signed : tile<128xi32> -> tile<128xi1>
{trips}
%sum = for %i in (%i0 to %trips, step %i1) : tile<i32> iter_values(%acc = %zero) -> (tile<128xf32>) {{
  %k = muli %i, %i128 : tile<i32>
  %k1 = reshape %k : tile<i32> -> tile<1xi32>
  %kv = broadcast %k1 : tile<1xi32> -> tile<128xi32>
  %l = addi %kv, %lane : tile<128xi32>
  %pl = offset %av, %l : {POINTERS}, tile<128xi32> -> {POINTERS}
  %v, %vt = load_ptr_tko weak %pl token=%t : {POINTERS} -> tile<128xf32>, token
  %w = addf %acc, %v : tile<128xf32>
  continue %w : tile<128xf32>
}}
%st = store_ptr_tko weak %pb, %sum, %there token=%t : {POINTERS}, tile<128xf32>, tile<128xi1> -> token"""
    return kernel(body, name=name, prologue=PROLOGUE)


def test_blocks_that_store_nothing_may_do_anything() -> None:
    """Blocks from 4 on are masked out on both sides."""
    reference = looped("%trips = addi %x, %i0 : tile<i32>", "k")
    clamped = "%i9 = constant <i32: {0}> : tile<i32>\n%trips = mini %x, %i9 signed : tile<i32>"
    assert [each.rule for each in found(reference, looped(clamped.format(3), "_Z1k"))] == []
    assert [each.rule for each in found(reference, looped(clamped.format(2), "_Z1k"))] != []


FIRST = """%g = cmpi {condition} : tile<i32> -> tile<i1>
if %g {{
  %only = offset %b, %i0 : tile<ptr<f32>>, tile<i32> -> tile<ptr<f32>>
  %number = itof %x signed : tile<i32> -> tile<f32>
  %s = store_ptr_tko weak %only, %number token=%t : tile<ptr<f32>>, tile<f32> -> token
}}"""
EVERY = FIRST.format(condition="greater_than_or_equal %x, %i0, signed")


@pytest.mark.parametrize(
    "condition",
    ["equal %x, %i0", "less_than %x, %i4", "greater_than %x, %i0", "greater_than_or_equal %x, %N"],
)
def test_a_branch_that_some_blocks_take_is_not_the_launchs_business(condition: str) -> None:
    some = FIRST.format(condition=f"{condition}, signed")
    assert_found(kernel(some), kernel(EVERY, name="k_entry"), "mask")
    assert_found(kernel(EVERY), kernel(some, name="k_entry"), "mask")


def test_a_branch_for_the_blocks_of_an_array_is_the_launchs_business() -> None:
    some = kernel(FIRST.format(condition="less_than %x, %N, signed"))
    every = kernel(EVERY, name="k_entry")
    assert not found(some, every)
    assert compared(some, every).obligations == ["block.x < b.shape0 for all blocks launched"]


def test_what_only_the_first_block_must_not_read() -> None:
    """The element before a block's own: there is none before the first."""
    before = (
        "%xm = subi %x, %i1 : tile<i32>\n%pm = offset %a, %xm : tile<ptr<f32>>, tile<i32> -> tile<ptr<f32>>\n"
        "%h, %ht = load_ptr_tko weak %pm token=%t : tile<ptr<f32>> -> tile<f32>, token\n"
    )
    none, rest = (
        "%none = constant <f32: 0.0> : tile<f32>\n",
        ("%h1 = reshape %r : tile<f32> -> tile<1xf32>\n%w = broadcast %h1 : tile<1xf32> -> tile<128xf32>\n"),
    )
    guarded = (
        f"{none}%g = cmpi greater_than %x, %i0, signed : tile<i32> -> tile<i1>\n"
        "%r = if %g -> (tile<f32>) {\n"
        f"{before}yield %h : tile<f32>\n}} else {{\nyield %none : tile<f32>\n}}\n"
    )
    always = f"{before}{none}%r = addf %h, %none : tile<f32>\n"
    reference = kernel(f"{guarded}{rest}{STORE}")
    result = found(reference, kernel(f"{always}{rest}{STORE}", name="k_entry"))
    assert ("mask/missing", "0 < block.x") in [(each.rule, each.expected) for each in result]
    assert not found(reference, kernel(f"{guarded}{rest}{STORE}", name="k_entry"))


def strided(load: str, store: str, step: str, *, name: str) -> str:
    """A block reads and writes a row each, `step` elements apart; `load` and `store`: addi or subi."""
    return kernel(
        f"%i200 = constant <i32: 200> : tile<i32>\n%begin = muli %x, {step} : tile<i32>\n"
        "%begin1 = reshape %begin : tile<i32> -> tile<1xi32>\n"
        "%beginv = broadcast %begin1 : tile<1xi32> -> tile<128xi32>\n"
        f"%from = {load} %lane, %beginv : tile<128xi32>\n%to = {store} %lane, %beginv : tile<128xi32>\n"
        f"%pf = offset %av, %from : {POINTERS}, tile<128xi32> -> {POINTERS}\n"
        f"%pt = offset %bv, %to : {POINTERS}, tile<128xi32> -> {POINTERS}\n"
        f"%v, %vt = load_ptr_tko weak %pf token=%t : {POINTERS} -> tile<128xf32>, token\n"
        f"%st = store_ptr_tko weak %pt, %v token=%t : {POINTERS}, tile<128xf32> -> token",
        name=name,
    )


@pytest.mark.parametrize(("load", "store"), [("addi", "subi"), ("subi", "addi")])
def test_a_value_that_only_makes_the_least_differ_is_no_condition_on_the_host(load: str, store: str) -> None:
    reference = strided("addi", "addi", "%i200", name="k")
    right = compared(reference, strided("addi", "addi", "%m", name="k_entry"))
    assert len([line for line in right.obligations if " = 200 (" in line]) == 1
    wrong = compared(reference, strided(load, store, "%m", name="k_entry"))
    assert wrong.differences
    assert [line for line in wrong.obligations if "200" in line] == []
    assert any("which values 1 argument must have" in line for line in wrong.not_checked)


# ---- two bounds of one index ----------------------------------------------------------------------------

TABLE = "%a: tile<ptr<f32>>, %s: tile<i32>, %u: tile<i32>, %b: tile<ptr<f32>>, %q: tile<ptr<i32>>"
SIZED = "tensor_view<?xf32, strides=[1]>"


def looked_up(test: str, name: str) -> str:
    """Each block copies the element of a table that its index from memory says, under a test of the index."""
    one = "tile<f32>"
    prologue = "%t = make_token : token\n%x, %y, %z = get_tile_block_id : tile<i32>\n"
    return kernel(
        f"%S = assume bounded<0, ?>, %s : tile<i32>\n%zero = constant <f32: 0.0> : {one}\n"
        "%pq = offset %q, %x : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>\n"
        "%g, %gt = load_ptr_tko weak %pq token=%t : tile<ptr<i32>> -> tile<i32>, token\n"
        f"%tv = make_tensor_view %a, shape = [%S], strides = [1] : tile<i32> -> {SIZED}\n"
        f"%in = cmpi {test} %g, %S, signed : tile<i32> -> tile<i1>\n"
        "%pa = offset %a, %g : tile<ptr<f32>>, tile<i32> -> tile<ptr<f32>>\n"
        "%v, %vt = load_ptr_tko weak %pa, %in, %zero token=%t : "
        f"tile<ptr<f32>>, tile<i1>, {one} -> {one}, token\n"
        "%pb = offset %b, %x : tile<ptr<f32>>, tile<i32> -> tile<ptr<f32>>\n"
        f"%st = store_ptr_tko weak %pb, %v token=%t : tile<ptr<f32>>, {one} -> token",
        parameters=TABLE,
        prologue=prologue,
        name=name,
    )


def test_a_bound_that_is_off_by_one_is_no_condition_on_the_host() -> None:
    reference = looked_up("less_than", "k")
    assert found(reference, looked_up("less_than", "_Z1k")) == []
    assert_found(reference, looked_up("less_than_or_equal", "_Z1k"), "mask")
