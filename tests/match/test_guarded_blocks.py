"""Guards and bounds that differ in how they are written, and those that leave out elements of the array."""

from __future__ import annotations

import pytest

from tests.match.snippets import LOAD, PARAMETERS, STORE, assert_equal, assert_found, compared, kernel

M, F, POINTERS = "tile<128xi1>", "tile<128xf32>", "tile<128xptr<f32>>"
PLAIN = f"{LOAD}\n{STORE.replace('%w', '%v')}"
END = "%end = addi %start, %i128 : tile<i32>\n%twice = addi %start, %start : tile<i32>\n"
NEXT = "%next = addi %start, %i1 : tile<i32>\n"
TILES = "%tiles = divi %N, %i128 signed rounding<positive_inf> : tile<i32>\n"


def guarded(condition: str, body: str = PLAIN, name: str = "_Z1k") -> str:
    guard = f"%g = cmpi {condition}, signed : tile<i32> -> tile<i1>"
    return kernel(f"{END}{NEXT}{TILES}{guard}\nif %g {{\n{body}\n}}", name=name)


# ---- what only the port guards is the launch's business where the guard leaves out nothing -----------------


@pytest.mark.parametrize("condition", ["less_than %start, %n", "less_than %x, %n", "less_than %x, %tiles"])
def test_a_guard_on_the_first_element_of_a_tile_is_an_obligation(condition: str) -> None:
    assert_equal(kernel(PLAIN), guarded(condition))
    assert_equal(guarded(condition, name="k"), kernel(PLAIN, name="_Z1k"))


@pytest.mark.parametrize(
    "condition", ["less_than_or_equal %end, %n", "less_than %next, %n", "less_than %twice, %n"]
)
def test_a_guard_that_leaves_out_a_ragged_tile_is_a_finding(condition: str) -> None:
    assert assert_found(kernel(PLAIN), guarded(condition), "mask").impact == "logic"
    assert_found(guarded(condition, name="k"), kernel(PLAIN, name="_Z1k"), "mask")


def masked_by(index: str, number: int, name: str, masked: str = "load") -> str:
    """A copy whose load or store is also masked by `index < number`."""
    load, store = (
        op.replace("%in", "%also") if masked == kind else op
        for kind, op in (("load", LOAD), ("store", STORE))
    )
    body = f"{load}\n{store.replace('%w', '%v')}"
    bound = f"%c = constant <i32: {number}> : tile<128xi32>\n"
    test = f"%k = cmpi less_than {index}, %c, signed : tile<128xi32> -> {M}\n%also = andi %in, %k : {M}\n"
    return kernel(bound + test + body, name=name)


@pytest.mark.parametrize("masked", ["load", "store"])
@pytest.mark.parametrize("number", [100, 128])
def test_an_index_into_the_array_in_place_of_one_into_the_tile(number: int, masked: str) -> None:
    """Beyond the first block it leaves out everything."""
    reference = masked_by("%lane", number, "k", masked)
    assert_equal(reference, masked_by("%lane", number, "_Z1k", masked))
    assert assert_found(reference, masked_by("%o", number, "_Z1k", masked), "mask").impact == "logic"


def rows(row: str = "%x", column: str = "%lane", *, masked: bool, name: str) -> str:
    """Row `%x` of as many elements as there are lanes; `masked`: only as far as the array says."""
    body = f"""
    %one1 = constant <i32: 1> : tile<128xi32>
    %more = addi %lane, %one1 : tile<128xi32>
    %double = addi %lane, %lane : tile<128xi32>
    %below = addi %x, %i1 : tile<i32>
    %off = muli %x, %s : tile<i32>
    %off1 = reshape %off : tile<i32> -> tile<1xi32>
    %offs = broadcast %off1 : tile<1xi32> -> tile<128xi32>
    %so = addi %offs, %lane : tile<128xi32>
    %rb = offset %bv, %so : {POINTERS}, tile<128xi32> -> {POINTERS}
    %row1 = reshape {row} : tile<i32> -> tile<1xi32>
    %rows = broadcast %row1 : tile<1xi32> -> tile<128xi32>
    %inrow = cmpi less_than %rows, %nv, signed : tile<128xi32> -> {M}
    %incol = cmpi less_than {column}, %mv, signed : tile<128xi32> -> {M}
    %both = andi %inrow, %incol : {M}
    """
    mask = f"%rb, %one, %both token=%t : {POINTERS}, {F}, {M} -> token"
    plain = f"%rb, %one token=%t : {POINTERS}, {F} -> token"
    sized = (
        "%view = make_tensor_view %a, shape = [%n, %m], strides = [%s, 1] : "
        "tile<i32> -> tensor_view<?x?xf32, strides=[?,1]>\n"
        "%part = make_partition_view %view : "
        "partition_view<tile=(1x128), tensor_view<?x?xf32, strides=[?,1]>>\n"
        "%used = store_view_tko weak %tile1, %part[%x, %i0] token = %t : "
        "tile<1x128xf32>, partition_view<tile=(1x128), tensor_view<?x?xf32, strides=[?,1]>>, "
        "tile<i32> -> token\n"
    )
    tile = f"%tile1 = reshape %one : {F} -> tile<1x128xf32>\n"
    return kernel(
        f"{body}{tile}{sized}%st2 = store_ptr_tko weak {mask if masked else plain}",
        parameters=f"{PARAMETERS}, %s: tile<i32>",
        name=name,
    )


def test_a_mask_that_only_the_port_has_is_an_obligation() -> None:
    unmasked = rows(masked=False, name="k")
    assert_equal(unmasked, rows(masked=True, name="_Z1k"))
    told = compared(unmasked, rows(masked=True, name="_Z1k")).obligations
    assert any(line.startswith("i0 < ") for line in told), told


@pytest.mark.parametrize(("row", "column"), [("%x", "%more"), ("%x", "%double"), ("%below", "%lane")])
def test_but_not_one_that_leaves_out_elements_of_the_array(row: str, column: str) -> None:
    unmasked = rows(masked=False, name="k")
    assert_found(unmasked, rows(row, column, masked=True, name="_Z1k"), "mask")


# ---- bounds written otherwise ------------------------------------------------------------------------------

REST = f"""
%rest = subi %N, %start : tile<i32>
%some = mini %rest, %i128 signed : tile<i32>
%some1 = reshape %some : tile<i32> -> tile<1xi32>
%somev = broadcast %some1 : tile<1xi32> -> tile<128xi32>
%inside = cmpi less_than %lane, %somev, signed : tile<128xi32> -> {M}
"""


def test_as_many_lanes_as_are_left_are_the_same_mask() -> None:
    rest = kernel(f"{REST}{PLAIN.replace('%in', '%inside')}")
    assert_equal(kernel(PLAIN), rest)
    assert_equal(rest, kernel(PLAIN))
    assert_found(kernel(PLAIN), rest.replace("%some = mini", "%some = maxi"), "mask")
    assert_found(kernel(PLAIN), rest.replace("less_than %lane", "less_than_or_equal %lane"), "mask")


# ---- a path of its own for whole tiles ---------------------------------------------------------------------

WHOLE = f"""
%u, %ut = load_ptr_tko weak %pa token=%t : {POINTERS} -> {F}, token
%s1 = store_ptr_tko weak %pb, %u token=%t : {POINTERS}, {F} -> token
"""


def fast(condition: str, whole: str = WHOLE, last: str = PLAIN, name: str = "k") -> str:
    guard = f"%full = cmpi {condition}, signed : tile<i32> -> tile<i1>"
    return kernel(f"{END}{NEXT}{guard}\nif %full {{{whole}}} else {{\n{last}\n}}", name=name)


@pytest.mark.parametrize("condition", ["less_than_or_equal %end, %N", "less_than %end, %N"])
@pytest.mark.parametrize("name", ["k", "_Z1k"])
def test_whole_tiles_may_go_a_path_without_masks(condition: str, name: str) -> None:
    assert_equal(kernel(PLAIN), fast(condition, name=name))
    assert_equal(fast(condition), kernel(PLAIN, name=name))


@pytest.mark.parametrize("name", ["k", "_Z1k"])
@pytest.mark.parametrize(
    ("condition", "whole", "last"),
    [
        ("less_than %start, %N", WHOLE, PLAIN),
        ("less_than_or_equal %next, %N", WHOLE, PLAIN),
        ("greater_than %end, %N", WHOLE, PLAIN),
        ("less_than_or_equal %end, %N", WHOLE, ""),
        ("less_than_or_equal %end, %N", "", PLAIN),
        ("less_than_or_equal %end, %N", WHOLE.replace("%pb, %u", "%pb, %one"), PLAIN),
        ("less_than_or_equal %end, %N", WHOLE, PLAIN.replace("%pb, %v", "%pb, %zero")),
    ],
)
def test_but_not_others(condition: str, whole: str, last: str, name: str) -> None:
    wrong = fast(condition, whole, last, name=name)
    assert_found(kernel(PLAIN), wrong, "mask", "memory-family", "arithmetic", "constant", "addressing")


# ---- an index that stays inside, in place of a mask ------------------------------------------------------


def clamped(last: str, name: str = "k", index: str = "%o") -> str:
    """Loads every lane, those beyond the array again from its last element; stores those inside."""
    return kernel(
        f"%one1 = constant <i32: 1> : tile<i32>\n%final = subi {last}, %one1 : tile<i32>\n"
        "%f1 = reshape %final : tile<i32> -> tile<1xi32>\n"
        "%fv = broadcast %f1 : tile<1xi32> -> tile<128xi32>\n"
        f"%kept = mini {index}, %fv signed : tile<128xi32>\n"
        f"%q = offset %av, %kept : {POINTERS}, tile<128xi32> -> {POINTERS}\n"
        f"%v, %vt = load_ptr_tko weak %q token=%t : {POINTERS} -> {F}, token\n{STORE.replace('%w', '%v')}",
        name=name,
    )


def test_an_index_that_is_kept_inside_needs_no_mask() -> None:
    assert_equal(kernel(PLAIN), clamped("%N"))
    assert compared(kernel(PLAIN), clamped("%N")).obligations == ["0 < b.shape0"]


@pytest.mark.parametrize(("last", "index"), [("%m", "%o"), ("%end0", "%o"), ("%N", "%lane")])
def test_but_only_inside_this_array(last: str, index: str) -> None:
    wrong = clamped(last, index=index).replace(
        "%one1 = constant", "%end0 = addi %N, %i1 : tile<i32>\n%one1 = constant"
    )
    assert_found(kernel(PLAIN), wrong, "mask", "addressing", "padding", "arithmetic")
