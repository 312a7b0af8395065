"""What a load reads counts, whether or not the value is used."""

from __future__ import annotations

import pytest

from tests.match.snippets import PARAMETERS, STORE, assert_equal, assert_found, compared, found, kernel
from tileir_diff.match.launch import parse_launch
from tileir_diff.match.model import CompareOptions

INT, F = "tile<128xi32>", "tile<128xf32>"
P, Q, M = "tile<128xptr<f32>>", "tile<128xptr<i32>>", "tile<128xi1>"


def index(load: str) -> str:
    """Indices `%g` read from `%q`, and the addresses `%pg` that they give."""
    return f"""
%q1 = reshape %q : tile<ptr<i32>> -> tile<1xptr<i32>>
%qv = broadcast %q1 : tile<1xptr<i32>> -> {Q}
%pq = offset %qv, %o : {Q}, {INT} -> {Q}
%pad = constant <i32: 0> : {INT}
%g, %gt = load_ptr_tko weak {load}
%pg = offset %av, %g : {P}, {INT} -> {P}
"""


INDEX = index(f"%pq, %in, %pad token=%t : {Q}, {M}, {INT} -> {INT}, token")
UNPADDED = index(f"%pq, %in token=%t : {Q}, {M} -> {INT}, token // here")
MASKED = f"%w, %wt = load_ptr_tko weak %pg, %in, %zero token=%t : {P}, {M}, {F} -> {F}, token"
BARE = f"%w, %wt = load_ptr_tko weak %pg token=%t : {P} -> {F}, token"


def gather(read: str, load: str) -> str:
    """A kernel that stores ``a[q[o]]`` where the offset is inside."""
    return kernel(f"{read}{load}\n{STORE}", parameters=f"{PARAMETERS}, %q: tile<ptr<i32>>")


def test_a_gather_that_lost_its_mask() -> None:
    found = assert_found(gather(INDEX, MASKED), gather(INDEX, f"{BARE} // here"), "mask/missing")
    assert found.impact == "bounds"


@pytest.mark.parametrize("read", [INDEX, UNPADDED])
def test_the_same_gather_is_silent(read: str) -> None:
    for load in (MASKED, BARE):
        assert_equal(gather(read, load), gather(read, load))


def test_an_address_from_lanes_that_lost_their_padding() -> None:
    found = assert_found(gather(INDEX, BARE), gather(UNPADDED, BARE), "padding/missing")
    assert found.impact == "bounds"


def test_the_other_way_round_nothing_is_lost() -> None:
    assert_equal(gather(UNPADDED, BARE), gather(INDEX, BARE))
    assert_equal(gather(UNPADDED, MASKED), gather(INDEX, MASKED))


# ---- the same elements read once more ----------------------------------------------------------------

READ = f"%v, %vt = load_ptr_tko weak %pa, %in, %zero token=%t : {P}, {M}, {F} -> {F}, token"
OTHER = (
    f"%c1 = reshape %c : tile<ptr<f32>> -> tile<1xptr<f32>>\n%cv = broadcast %c1 : tile<1xptr<f32>> -> {P}"
)
TO_OTHER = f"%pc = offset %cv, %o : {P}, {INT} -> {P}\n{STORE.replace('%pb', '%pc').replace('%st', '%su')}"


def twice(again: str, second: str = "%u") -> str:
    """A kernel that stores ``a[o]`` to two arrays, and may read it again for the second."""
    body = f"{READ}\n{again}\n{OTHER}\n{STORE.replace('%w', '%v')}\n{TO_OTHER.replace('%w', second)}"
    return kernel(body, parameters=f"{PARAMETERS}, %c: tile<ptr<f32>>")


def test_a_second_load_that_reads_more() -> None:
    bare = f"%u, %ut = load_ptr_tko weak %pa token=%t : {P} -> {F}, token // here"
    found = assert_found(twice("", "%v"), twice(bare), "mask/missing")
    assert found.impact == "bounds"


def test_a_second_load_that_reads_no_more() -> None:
    masked = READ.replace("%v, %vt", "%u, %ut")
    assert_equal(twice("", "%v"), twice(masked))
    assert_equal(twice(masked), twice("", "%v"))


def test_two_loads_that_together_read_as_much() -> None:
    parts = f"""
%all = constant <i1: true> : {M}
%not = xori %in, %all : {M}
{READ}
%w, %wt = load_ptr_tko weak %pa, %not, %v token=%t : {P}, {M}, {F} -> {F}, token
"""
    whole = f"%u, %ut = load_ptr_tko weak %pa token=%t : {P} -> {F}, token"
    store = STORE.replace(", %in", "").replace(f", {M}", "")
    assert_equal(kernel(f"{parts}{store}"), kernel(f"{parts}{whole}\n{store.replace('%w', '%u')}"))


# ---- a load that no result depends on -----------------------------------------------------------------

FAR = f"""
%big = constant <i32: 100000> : {INT}
%of = addi %o, %big : {INT}
%pf = offset %av, %of : {P}, {INT} -> {P}
%z0 = constant <i32: 0> : {INT}
%never = cmpi less_than %nv, %z0, signed : {INT} -> {M}
%false = constant <i1: 0> : {M}
"""


def beside(load: str = "", chosen: str = "%v") -> str:
    """A kernel that stores what it reads, under one mask, and may read something else as well."""
    return kernel(f"{READ}{FAR}{load}\n%w = addf {chosen}, {chosen} : {F}\n{STORE}")


@pytest.mark.parametrize("condition", ["%false, %g, %v", "%never, %g, %v", "%in, %v, %g"])
@pytest.mark.parametrize(
    "load",
    [
        f"%g, %gt = load_ptr_tko weak %pf token=%t : {P} -> {F}, token // here",
        f"%g, %gt = load_ptr_tko weak %pf, %in, %zero token=%t : {P}, {M}, {F} -> {F}, token // here",
    ],
)
def test_a_load_that_only_an_arm_uses_that_is_never_chosen(condition: str, load: str) -> None:
    generated = beside(f"{load}\n%s = select {condition} : {M}, {F}", "%s")
    assert assert_found(beside(), generated, "memory-family/extra").impact == "bounds"
    assert_equal(generated, generated)


def test_a_second_load_of_what_is_read_is_no_more() -> None:
    again = READ.replace("%v, %vt", "%g, %gt")
    assert_equal(beside(), beside(f"{again}\n%s = select %never, %g, %v : {M}, {F}", "%s"))


def test_a_load_that_an_arm_uses_reads_no_more_than_the_reference() -> None:
    """The value is the same: under the condition of the select the mask holds."""

    def arm(load: str) -> str:
        limit = f"%c64 = constant <i32: 64> : {INT}\n%less = subi %nv, %c64 : {INT}\n"
        test = f"%c = cmpi less_than %o, %less, signed : {INT} -> {M}\n"
        return kernel(f"{load}\n{limit}{test}%w = select %c, %v, %one : {M}, {F}\n{STORE}")

    bare = f"%v, %vt = load_ptr_tko weak %pa token=%t : {P} -> {F}, token"
    assert_found(arm(READ), arm(f"{bare} // here"), "mask/missing")
    assert_equal(arm(bare), arm(READ))


# ---- a load before a loop that the reference makes in it ----------------------------------------------


def summed(before: str, inside: str, trips: str = "%m", around: str = "{}") -> str:
    """A kernel that adds up what it reads."""
    loop = f"""%w = for %k in (%i0 to {trips}, step %i1) : tile<i32> iter_values(%acc = %zero) -> ({F}) {{
      {inside}
      %sum = addf %acc, %v : {F}
      continue %sum : {F}
    }}"""
    return kernel(around.format(f"{before}\n{loop}\n{STORE}"))


def test_a_load_before_a_loop_that_may_make_no_trip() -> None:
    found = assert_found(summed("", READ), summed(f"{READ} // here", ""), "mask")
    assert found.impact == "bounds"
    assert_equal(summed(READ, ""), summed("", READ))


def test_a_load_before_a_loop_that_makes_a_trip() -> None:
    assert_equal(summed("", READ, "%i4"), summed(READ, "", "%i4"))


def test_a_load_before_a_loop_of_what_is_read_anyway() -> None:
    first = READ.replace("%v, %vt", "%u, %ut")
    plus = f"{first}\n%neg = addf %u, %one : {F}\n{STORE.replace('%w', '%neg').replace('%st', '%se')}\n"
    assert_equal(summed(plus, READ), summed(plus + READ, ""))


def test_a_load_before_a_loop_under_its_condition() -> None:
    test = "%some = cmpi greater_than {0}, %i0, signed : tile<i32> -> tile<i1>\n"
    if_any = f"{test.format('%m')}if %some {{{{\n{{}}\n}}}}"
    assert_equal(summed("", READ, around=if_any), summed(READ, "", around=if_any))
    if_other = f"{test.format('%n')}if %some {{{{\n{{}}\n}}}}"
    assert_found(summed("", READ, around=if_other), summed(f"{READ} // here", "", around=if_other), "mask")


# ---- a load of a view, whose end the view itself knows ------------------------------------------------


def rows(load: str, before: str = "", *, loop: bool, guard: str = "%x", extent: str = "%N") -> str:
    """Rows of `%M` x `%N` numbers times weights, one a block or all in a loop; `load` is in its middle."""
    matrix, row = "tensor_view<?x?xf32, strides=[?,1]>", "tensor_view<?xf32, strides=[1]>"
    tiles = f"partition_view<tile=(1x64), padding_value = zero, {matrix}>"
    weights = f"partition_view<tile=(64), padding_value = zero, {row}>"
    wide, flat, i32 = "tile<1x64xf32>", "tile<64xf32>", "tile<i32>"
    read = {
        "weight": f"%w, %wt = load_view_tko weak %rw[%y] token = %t : {weights}, {i32} -> {flat}, token",
        "own": f"%w, %wt = load_view_tko weak %rw[%x] token = %t : {weights}, {i32} -> {flat}, token",
    }
    index = "%k" if loop else "%x"
    inside = f"""{read.get(load, "")}
%v, %vt = load_view_tko weak %ra[{index}, %y] token = %t : {tiles}, {i32} -> {wide}, token
%w2 = reshape %w : {flat} -> {wide}
%r = mulf %v, %w2 : {wide}
%st = store_view_tko weak %r, %rb[{index}, %y] token = %t : {wide}, {tiles}, {i32} -> token"""
    body = (
        f"for %k in (%x to %M, step %gx) : {i32} {{\n{inside}\n}}"
        if loop
        else f"%some = cmpi less_than {guard}, %M, signed : {i32} -> tile<i1>\nif %some {{\n{inside}\n}}"
    )
    first = f"{read[before]} // here" if before else ""
    views = f"""%gx, %gy, %gz = get_num_tile_blocks : {i32}
%M = assume bounded<0, ?>, %m : {i32}
%va = make_tensor_view %a, shape = [%M, %N], strides = [%N, 1] : {i32} -> {matrix}
%vb = make_tensor_view %b, shape = [%M, %N], strides = [%N, 1] : {i32} -> {matrix}
%vw = make_tensor_view %q, shape = [{extent}], strides = [1] : {i32} -> {row}
%ra = make_partition_view %va : {tiles}
%rb = make_partition_view %vb : {tiles}
%rw = make_partition_view %vw : {weights}"""
    return kernel(f"{views}\n{first}\n{body}", parameters=f"{PARAMETERS}, %q: tile<ptr<f32>>")


@pytest.mark.parametrize("loop", [True, False])
def test_a_load_that_its_own_view_ends_may_stand_before_a_loop_or_branch(loop: bool) -> None:
    assert_equal(rows("weight", loop=loop), rows("", "weight", loop=loop))
    assert_equal(rows("", "weight", loop=loop), rows("weight", loop=loop))


@pytest.mark.parametrize("loop", [True, False])
def test_not_where_the_condition_keeps_the_index_in_its_view(loop: bool) -> None:
    """No bounds check makes up for a tile outside the index space."""
    assert_found(rows("own", loop=loop), rows("", "own", loop=loop), "mask")


@pytest.mark.parametrize("loop", [True, False])
def test_not_where_the_view_ends_elsewhere(loop: bool) -> None:
    result = found(rows("weight", loop=loop), rows("", "weight", loop=loop, extent="%M"))
    assert any(each.rule.startswith("mask/") or each.rule.startswith("addressing/") for each in result)


# ---- a tile of another shape -------------------------------------------------------------------------

WIDE, WP, WM, WF = "tile<256xi32>", "tile<256xptr<f32>>", "tile<256xi1>", "tile<256xf32>"
WIDER = f"""
%o2s = broadcast %start1 : tile<1xi32> -> {WIDE}
%lane2 = iota : {WIDE}
%o2 = addi %o2s, %lane2 : {WIDE}
%n2 = broadcast %n1 : tile<1xi32> -> {WIDE}
%in2 = cmpi less_than %o2, %n2, signed : {WIDE} -> {WM}
%zero2 = constant <f32: 0.0> : {WF}
%a2 = broadcast %a1 : tile<1xptr<f32>> -> {WP}
%p2 = offset %a2, %o2 : {WP}, {WIDE} -> {WP}
"""
HALF = f"%h = extract %v2[%i0] : {WF} -> {F}\n%w = select %in, %h, %zero : {M}, {F}\n{STORE}"
WIDE_MASKED = f"%v2, %vt2 = load_ptr_tko weak %p2, %in2, %zero2 token=%t : {WP}, {WM}, {WF} -> {WF}, token\n"
WIDE_BARE = f"%v2, %vt2 = load_ptr_tko weak %p2 token=%t : {WP} -> {WF}, token // here\n"
NARROW = kernel(f"{READ}\n{STORE.replace('%w', '%v')}")


def test_a_longer_tile_without_a_mask() -> None:
    difference = assert_found(NARROW, kernel(WIDER + WIDE_BARE + HALF), "mask/missing")
    assert difference.impact == "bounds"


def test_a_longer_tile_with_a_mask_is_not_compared() -> None:
    result = compared(NARROW, kernel(WIDER + WIDE_MASKED + HALF))
    assert result.differences == []
    assert any("lies in the array" in line for line in result.not_checked)


def test_no_mask_where_the_reference_has_none() -> None:
    bare = READ.replace(", %in, %zero", "").replace(f", {M}, {F} -> {F}", f" -> {F}")
    reference = kernel(f"{bare}\n%w = select %in, %v, %zero : {M}, {F}\n{STORE}")
    assert compared(reference, kernel(WIDER + WIDE_BARE + HALF)).differences == []


# ---- a tile in parts ------------------------------------------------------------------------------------

SMALL, SMALL_P, SMALL_M = "tile<64xf32>", "tile<64xptr<f32>>", "tile<64xi1>"


def half(name: str, first: int, masked: int | None) -> str:
    """Loads half a tile from an element on, under the mask of the half that starts at another, or none."""
    each = "tile<64xi32>"
    lines = f"""%l{name} = iota : {each}
%s{name} = broadcast %start1 : tile<1xi32> -> {each}
%nn{name} = broadcast %n1 : tile<1xi32> -> {each}
%at{name} = addi %s{name}, %l{name} : {each}
%k{name} = constant <i32: {first}> : {each}
%e{name} = addi %at{name}, %k{name} : {each}
%mk{name} = constant <i32: {masked or 0}> : {each}
%mi{name} = addi %at{name}, %mk{name} : {each}
%in{name} = cmpi less_than %mi{name}, %nn{name}, signed : {each} -> {SMALL_M}
%av{name} = broadcast %a1 : tile<1xptr<f32>> -> {SMALL_P}
%p{name} = offset %av{name}, %e{name} : {SMALL_P}, {each} -> {SMALL_P}
%z{name} = constant <f32: 0.0> : {SMALL}
"""
    if masked is None:
        return (
            f"{lines}%h{name}, %t{name} = load_ptr_tko weak %p{name} token=%t : {SMALL_P} -> {SMALL}, token\n"
        )
    types = f"{SMALL_P}, {SMALL_M}, {SMALL} -> {SMALL}, token"
    return f"{lines}%h{name}, %t{name} = load_ptr_tko weak %p{name}, %in{name}, %z{name} token=%t : {types}\n"


def in_halves(low: int | None, high: int | None) -> str:
    """A copy whose tile is loaded in two halves, with the masks of the halves that start there."""
    joined = f"%w = cat %h0, %h1 dim = 0 : {SMALL}, {SMALL} -> {F}"
    return kernel(f"{half('0', 0, low)}{half('1', 64, high)}{joined}\n{STORE}")


WHOLE = kernel(f"{READ.replace('%v, %vt', '%w, %vt')}\n{STORE}")


def test_two_halves_are_the_whole() -> None:
    for sides in ((WHOLE, in_halves(0, 64)), (in_halves(0, 64), WHOLE)):
        assert_equal(*sides)
        assert not [each for each in compared(*sides).not_checked if "lies in the array" in each]


@pytest.mark.parametrize(("low", "high"), [(0, 0), (None, 64), (0, None), (0, 63)])
def test_a_half_under_a_wrong_mask(low: int | None, high: int | None) -> None:
    """Nobody sees what it reads too much: the store's mask leaves it out."""
    assert assert_found(WHOLE, in_halves(low, high), "mask").impact == "bounds"


def test_a_whole_under_the_mask_of_a_half() -> None:
    """One mask twice, where each half has its own."""
    test = half("0", 0, 0).partition("%av0 ")[0]
    twice = f"%both = cat %in0, %in0 dim = 0 : {SMALL_M}, {SMALL_M} -> {M}"
    load = READ.replace("%v, %vt", "%w, %vt").replace("%in,", "%both,")
    assert_found(in_halves(0, 64), kernel(f"{test}{twice}\n{load}\n{STORE}"), "mask")


@pytest.mark.parametrize(("size", "fails"), [(512, False), (448, True)])
def test_blocks_that_the_grid_given_has_are_no_business_of_the_host(size: int, fails: bool) -> None:
    """In the last of four blocks no element of the upper half is there: its lanes read all the same."""
    launch = parse_launch(["reference.grid.x=4", "generated.grid.x=4", f"n={size}"])
    port = in_halves(0, 0).replace("@k", "@_Z1k")
    result = compared(WHOLE, port, CompareOptions(launch=launch))
    assert [each.rule for each in result.differences] == ["mask/missing"] * fails
    assert result.obligations == []
