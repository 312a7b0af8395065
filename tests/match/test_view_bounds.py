"""The bounds of views: told where the two views differ, and not where an axis or a loop does."""

from __future__ import annotations

import pytest

from tests.match.snippets import PARAMETERS, compared, found
from tileir_diff.match.launch import parse_launch
from tileir_diff.match.model import CompareOptions

HEAD = """%t = make_token : token
%x, %y, %z = get_tile_block_id : tile<i32>
%i0 = constant <i32: 0> : tile<i32>
%i1 = constant <i32: 1> : tile<i32>"""


def summed(trips: int = 0, rows: int = 80, columns: int = 60) -> str:
    """Adds tiles of 32 x 64 of a view of `a`, one below the other; all of them where `trips` is 0."""
    view = f"tensor_view<{rows}x{columns}xf32, strides=[60,1]>"
    tiles = f"partition_view<tile=(32x64), padding_value = zero, {view}>"
    out = "tensor_view<32x64xf32, strides=[64,1]>"
    stored = f"partition_view<tile=(32x64), {out}>"
    f = "tile<32x64xf32>"
    counted = (
        f"%trips = constant <i32: {trips}> : tile<i32>"
        if trips
        else f"%trips, %one = get_index_space_shape %av : {tiles} -> tile<i32>"
    )
    more = ", %more: tile<i32>" if trips else ""  # another text, not one with a line changed
    return f"""entry @{"_Z1k" if trips else "k"}({PARAMETERS}{more}) {{
{HEAD}
%zero = constant <f32: 0.0> : {f}
%ta = make_tensor_view %a, shape = [{rows}, {columns}], strides = [60, 1] : {view}
%av = make_partition_view %ta : {tiles}
%tb = make_tensor_view %b, shape = [32, 64], strides = [64, 1] : {out}
%bv = make_partition_view %tb : {stored}
{counted}
%sum = for %i in (%i0 to %trips, step %i1) : tile<i32> iter_values(%acc = %zero) -> ({f}) {{
  %v, %vt = load_view_tko weak %av[%i, %i0] token = %t : {tiles}, tile<i32> -> {f}, token
  %w = addf %acc, %v : {f}
  continue %w : {f}
}}
%st = store_view_tko weak %sum, %bv[%i0, %i0] token = %t : {f}, {stored}, tile<i32> -> token
return
}}
"""


def told(*generated: int) -> list[tuple[str, str]]:
    return [(each.rule, each.expected) for each in found(summed(), summed(*generated))]


def test_a_loop_that_never_comes_to_the_bound_lacks_no_bound() -> None:
    """Two trips of 32 rows do not reach row 80; that there are two is the whole difference."""
    assert told(3) == []
    assert told(2) == [("loop/bounds", "3")]


@pytest.mark.parametrize("rows", [80, 96])
def test_a_bound_that_the_loop_does_not_keep_is_told_beside_it(rows: int) -> None:
    """As the dumps have it: that a third trip comes to the end of 96 rows, too, is told once there is one."""
    assert told(2, rows, 64) == [("loop/bounds", "3"), ("mask/missing", "i1 <= 59")]


def test_a_loop_that_comes_to_the_bound_needs_it() -> None:
    assert told(3, 96) == [("mask/missing", "32*iteration + i0 <= 79")]
    assert told(3, 96, 64) == [("mask/missing", "32*iteration + i0 <= 79 and i1 <= 59")]
    assert ("mask/missing", "32*iteration + i0 <= 79") in told(4, 128)


def turned(extents: str, end: int, rows: int = 90) -> str:
    """`b = exp(a)` for tiles of 32 x 64, through a view of `a` with `rows` rows; 0 from row `end` on."""
    straight = extents == "32x64"
    view = f"tensor_view<{rows}x64xf32, strides=[64,1]>"
    tiles = f"partition_view<tile=({extents}), {view}{'' if straight else ', dim_map=[1, 0]'}>"
    index = "%x, %i0" if straight else "%i0, %x"
    out = "partition_view<tile=(32x64), tensor_view<96x64xf32, strides=[64,1]>>"
    f, m, loaded = "tile<32x64xf32>", "tile<32x64xi1>", f"tile<{extents}xf32>"
    turn = "" if straight else f"%u = permute %v [1, 0] : {loaded} -> {f}"
    return f"""entry @{"_Z1k" if straight else "k"}({PARAMETERS}) {{
{HEAD}
%i32 = constant <i32: 32> : tile<i32>
%end = constant <i32: {end}> : tile<32x64xi32>
%zero = constant <f32: 0.0> : {f}
%start = muli %x, %i32 : tile<i32>
%start1 = reshape %start : tile<i32> -> tile<1xi32>
%starts = broadcast %start1 : tile<1xi32> -> tile<32xi32>
%lane = iota : tile<32xi32>
%row = addi %starts, %lane : tile<32xi32>
%row1 = reshape %row : tile<32xi32> -> tile<32x1xi32>
%rows = broadcast %row1 : tile<32x1xi32> -> tile<32x64xi32>
%in = cmpi less_than %rows, %end, signed : tile<32x64xi32> -> {m}
%ta = make_tensor_view %a, shape = [{rows}, 64], strides = [64, 1] : {view}
%av = make_partition_view %ta : {tiles}
%tb = make_tensor_view %b, shape = [96, 64], strides = [64, 1] : tensor_view<96x64xf32, strides=[64,1]>
%bv = make_partition_view %tb : {out}
%v, %vt = load_view_tko weak %av[{index}] token = %t : {tiles}, tile<i32> -> {loaded}, token
{turn}
%e = exp {"%v" if straight else "%u"} : {f}
%w = select %in, %e, %zero : {m}, {f}
%st = store_view_tko weak %w, %bv[%x, %i0] token = %t : {f}, {out}, tile<i32> -> token
return
}}
"""


def test_bounds_along_axes_of_another_order_are_the_same_bounds() -> None:
    """Where a condition hides the lanes outside, the value has no mask of its own; the load has it still."""
    result = found(turned("64x32", 92), turned("32x64", 90))
    assert [(each.rule, each.generated and each.generated.op.short) for each in result] == [
        ("mask/changed", "cmpi")
    ]


def test_a_lost_bound_along_axes_of_another_order() -> None:
    result = found(turned("64x32", 92), turned("32x64", 90, rows=96))
    assert any(each.generated and each.generated.op.short == "load_view_tko" for each in result)


def by_block(rows: int, head: str = "k") -> str:
    """`b = a` for the row of each block, through a view of `a` with so many rows."""
    view = f"tensor_view<{rows}x64xf32, strides=[64,1]>"
    out = "tensor_view<8x64xf32, strides=[64,1]>"
    tiles, stored = (f"partition_view<tile=(1x64), {each}>" for each in (view, out))
    more = ", %more: tile<i32>" if head != "k" else ""
    return f"""entry @{head}({PARAMETERS}{more}) {{
{HEAD}
%ta = make_tensor_view %a, shape = [{rows}, 64], strides = [64, 1] : {view}
%av = make_partition_view %ta : {tiles}
%tb = make_tensor_view %b, shape = [8, 64], strides = [64, 1] : {out}
%bv = make_partition_view %tb : {stored}
%v, %vt = load_view_tko weak %av[%x, %i0] token = %t : {tiles}, tile<i32> -> tile<1x64xf32>, token
%st = store_view_tko weak %v, %bv[%x, %i0] token = %t : tile<1x64xf32>, {stored}, tile<i32> -> token
return
}}
"""


def test_an_index_that_leaves_the_view_at_the_launch_is_told() -> None:
    """Of another front end too: with tiles of one row no mask shows it."""
    launch = parse_launch(["grid.x=8", "grid.y=1", "grid.z=1"])
    for rows, expected in ((8, []), (9, []), (4, ["mask/changed"])):
        differences = compared(by_block(8), by_block(rows, "_Z1k"), CompareOptions(launch)).differences
        assert [each.rule for each in differences if each.rule.startswith("mask")] == expected


def rows_of_blocks(index: str, rows: int, name: str = "k") -> str:
    """Each block copies one row of `a`; which one `index` makes of %x."""
    view = f"tensor_view<{rows}x64xf32, strides=[64,1]>"
    tiles = f"partition_view<tile=(1x64), {view}>"
    out = "tensor_view<256x64xf32, strides=[64,1]>"
    stored = f"partition_view<tile=(1x64), {out}>"
    f = "tile<1x64xf32>"
    return f"""entry @{name}({PARAMETERS}) {{
{HEAD}
%many = constant <i32: 128> : tile<i32>
%two = constant <i32: 2> : tile<i32>
{index}
%ta = make_tensor_view %a, shape = [{rows}, 64], strides = [64, 1] : {view}
%av = make_partition_view %ta : {tiles}
%tb = make_tensor_view %b, shape = [256, 64], strides = [64, 1] : {out}
%bv = make_partition_view %tb : {stored}
%v, %vt = load_view_tko weak %av[%r, %i0] token = %t : {tiles}, tile<i32> -> {f}, token
%st = store_view_tko weak %v, %bv[%x, %i0] token = %t : {f}, {stored}, tile<i32> -> token
return
}}
"""


REST = "%rest = remi %x, %many signed : tile<i32>"
ROWS = {
    "the block": ("%r = addi %x, %i0 : tile<i32>", 256),
    "its remainder": ("%r = remi %x, %many signed : tile<i32>", 128),
    "its half": ("%r = divi %x, %two signed : tile<i32>", 128),
    "counted down": (f"{REST}\n%l = subi %many, %i1 : tile<i32>\n%r = subi %l, %rest : tile<i32>", 128),
}


@pytest.mark.parametrize("name", ROWS)
def test_rows_that_blocks_read_beyond_a_smaller_view_are_told_of_another_front_end_too(name: str) -> None:
    index, rows = ROWS[name]
    launch = CompareOptions(launch=parse_launch(["grid.x=256", "grid.y=1", "grid.z=1"]))
    reference = rows_of_blocks(index, rows)
    assert found(reference, rows_of_blocks(index, rows, "_Z1k"), launch) == []
    assert found(reference, rows_of_blocks(index, 2 * rows, "_Z1k"), launch) == []
    told = found(reference, rows_of_blocks(index, rows - 1, "_Z1k"), launch)
    assert [(each.rule, each.impact) for each in told] == [("mask/changed", "bounds")]


@pytest.mark.parametrize(("rows", "needed"), [(256, []), (300, []), (255, ["block.x <= 254"])])
def test_without_a_launch_a_smaller_view_is_a_condition(rows: int, needed: list[str]) -> None:
    """Tiles of one row are not checked, so that no mask shows it."""
    index, _ = ROWS["the block"]
    generated = rows_of_blocks(index, rows, "_Z1k")
    assert found(rows_of_blocks(index, 256), generated) == []
    told = compared(rows_of_blocks(index, 256), generated).obligations
    assert told == [f"{each} for all blocks launched" for each in needed]


def test_an_index_that_goes_beyond_is_told_as_another_index() -> None:
    launch = CompareOptions(launch=parse_launch(["grid.x=256", "grid.y=1", "grid.z=1"]))
    (index, rows), (wrong, _) = ROWS["its remainder"], ROWS["the block"]
    told = found(rows_of_blocks(index, rows), rows_of_blocks(wrong, rows, "_Z1k"), launch)
    assert [each.rule for each in told] == ["arithmetic/op"]  # of the index


def inside(shape: str, promise: str = "true, true", *, other: bool = False) -> str:
    """Copies a tile of 32 x 32 whose view has these sizes; `other`: as another front end writes it."""
    sizes = [size.strip() for size in shape.split(",")]
    text = "x".join("?" if size.startswith("%") else size for size in sizes)
    view, out = f"tensor_view<{text}xf32, strides=[?,1]>", "tensor_view<32x32xf32, strides=[32,1]>"
    tiles, stored = f"partition_view<tile=(32x32), {view}>", f"partition_view<tile=(32x32), {out}>"
    f = "tile<32x32xf32>"
    more = ", %more: tile<i32>" if other else ""
    return f"""entry @{"_Z1k" if other else "k"}({PARAMETERS}{more}) {{
{HEAD}
%ta = make_tensor_view %a, shape = [{shape}], strides = [%m, 1] : tile<i32> -> {view}
%av = make_partition_view %ta : {tiles}
%tb = make_tensor_view %b, shape = [32, 32], strides = [32, 1] : {out}
%bv = make_partition_view %tb : {stored}
%v, %vt = load_view_tko weak %av[%x, %y] token = %t inbounds = [{promise}] : {tiles}, tile<i32> -> {f}, token
%st = store_view_tko weak %v, %bv[%i0, %i0] token = %t : {f}, {stored}, tile<i32> -> token
return
}}
"""


def test_what_a_promise_to_lie_inside_is_about() -> None:
    reference = inside("%n, %m")
    assert found(reference, inside("%n, %m")) == []
    for shape in ("%m, %n", "8, %m", "%n, %n"):
        assert {each.rule for each in found(reference, inside(shape))} == {"mask/changed"}
    assert found(reference, inside("%n, %m", other=True)) == []
    fixed = inside("64, %m")
    assert found(fixed, inside("96, %m", other=True)) == []
    assert found(fixed, inside("8, %m", other=True))  # no tile of 32 rows lies inside of 8


def stored(mask: str) -> str:
    """Stores 16 ones a block by pointers, where `mask` makes `%in` hold of the element `%o`."""
    lanes, kind, flags = "tile<16xi32>", "tile<16xptr<f32>>", "tile<16xi1>"
    return f"""entry @_Z1k({PARAMETERS}, %more: tile<i32>) {{
{HEAD}
%c16 = constant <i32: 16> : tile<i32>
%lane = iota : {lanes}
%start = muli %x, %c16 : tile<i32>
%s1 = reshape %start : tile<i32> -> tile<1xi32>
%sv = broadcast %s1 : tile<1xi32> -> {lanes}
%o = addi %sv, %lane : {lanes}
%n1 = reshape %n : tile<i32> -> tile<1xi32>
%nv = broadcast %n1 : tile<1xi32> -> {lanes}
%eight = constant <i32: 8> : {lanes}
%in = cmpi {mask}, signed : {lanes} -> {flags}
%b1 = reshape %b : tile<ptr<f32>> -> tile<1xptr<f32>>
%bv = broadcast %b1 : tile<1xptr<f32>> -> {kind}
%pb = offset %bv, %o : {kind}, {lanes} -> {kind}
%one = constant <f32: 1.0> : tile<16xf32>
%st = store_ptr_tko weak %pb, %one, %in token=%t : {kind}, tile<16xf32>, {flags} -> token
return
}}
"""


@pytest.mark.parametrize(
    ("mask", "follows"),
    [
        ("less_than %o, %nv", True),
        ("greater_than_or_equal %o, %nv", False),
        ("less_than %lane, %eight", False),
    ],
)
def test_a_mask_follows_from_a_promise_or_it_is_another(mask: str, follows: bool) -> None:
    """Where the reference promises that its tile lies inside, the port may check that, and nothing else."""
    view = "tensor_view<?xf32, strides=[1]>"
    tiles = f"partition_view<tile=(16), {view}>"
    store = "store_view_tko weak %one, %bv[%x] token = %t inbounds = [true]"
    reference = f"""entry @k({PARAMETERS}) {{
{HEAD}
%tb = make_tensor_view %b, shape = [%n], strides = [1] : tile<i32> -> {view}
%bv = make_partition_view %tb : {tiles}
%one = constant <f32: 1.0> : tile<16xf32>
%st = {store} : tile<16xf32>, {tiles}, tile<i32> -> token
return
}}
"""
    told = [each.rule for each in found(reference, stored(mask)) if each.impact != "hint"]
    assert told == ([] if follows else ["mask/extra"])
