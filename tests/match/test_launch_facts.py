"""Launches: grids of different sizes, values that do not fit, numbers given for one side only."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest

from tests.match.snippets import LOAD, PARAMETERS, STORE, assert_equal, compared, found, kernel
from tileir_diff.dialect import parse_file
from tileir_diff.errors import InputError
from tileir_diff.match.compare import compare
from tileir_diff.match.launch import ArgValue, Launch, SideLaunch, parse_launch
from tileir_diff.match.model import CompareOptions

KERNELS = Path(__file__).parents[2] / "fixtures" / "kernels"
COPY = kernel(f"{LOAD}\n{STORE.replace('%w', '%v')}")
LOOP = """%gx, %gy, %gz = get_num_tile_blocks : tile<i32>
for %i in (%x to %i4, step %gx) : tile<i32> {
  %s = muli %i, %i128 : tile<i32>
  %s1 = reshape %s : tile<i32> -> tile<1xi32>
  %sv = broadcast %s1 : tile<1xi32> -> tile<128xi32>
  %l = addi %sv, %lane : tile<128xi32>
  %pl = offset %bv, %l : tile<128xptr<f32>>, tile<128xi32> -> tile<128xptr<f32>>
  %st = store_ptr_tko weak %pl, %one token=%t : tile<128xptr<f32>>, tile<128xf32> -> token
}"""
LOOPING = kernel(LOOP)
FLAGGED = kernel(
    LOOP.replace("tile<i32> {", "tile<i32> iter_values(%f = %i1) -> (tile<i32>) {", 1).replace(
        "-> token\n}", "-> token\n  continue %i1 : tile<i32>\n}"
    )
)
"""The same, with a value that is carried and never changes."""


def side(grid: int, size: float = 512, kind: str = "i32") -> SideLaunch:
    args = ArgValue("ptr", "a"), ArgValue("ptr", "b"), ArgValue(kind, size), ArgValue("i32", 7)
    return SideLaunch(None, (grid, 1, 1), args)


def rules(text: str, reference: SideLaunch, generated: SideLaunch) -> list[str]:
    options = CompareOptions(launch=Launch(reference, generated, "launch.json"))
    return [difference.rule for difference in compared(text, text, options).differences]


@pytest.mark.parametrize(("reference", "generated"), [(4, 3), (3, 4), (4, 2)])
def test_blocks_that_are_left_out_or_added(reference: int, generated: int) -> None:
    assert rules(COPY, side(reference), side(generated)) == ["grid/size"]


@pytest.mark.parametrize(("reference", "generated"), [(4, 4), (4, 5), (6, 5)])
def test_blocks_beyond_the_mask_do_nothing(reference: int, generated: int) -> None:
    assert rules(COPY, side(reference), side(generated)) == []


@pytest.mark.parametrize(("sizes", "told"), [((4, 4), False), ((4, 3), True), ((3, 4), True)])
def test_two_grids_that_are_given_as_facts(sizes: tuple[int, int], told: bool) -> None:
    """Nothing is known of the mask: the blocks that only one launch has may do something."""
    facts = [f"{side}.grid.x={size}" for side, size in zip(("reference", "generated"), sizes, strict=True)]
    result = compared(COPY, COPY, CompareOptions(launch=parse_launch(facts)))
    assert [each.rule for each in result.differences] == ["grid/size"] * told
    assert result.obligations == []


@pytest.mark.parametrize("given", ["reference", "generated"])
def test_a_grid_of_one_side(given: str) -> None:
    """The index of the only block is 0, on the other side too: that is the business of the host."""
    other = {"reference": "generated", "generated": "reference"}[given]
    for text in (COPY, LOOPING):
        one = compared(text, text, CompareOptions(launch=parse_launch([f"{given}.grid.x=1"])))
        assert [each.rule for each in one.differences] == []
        assert one.obligations == [f"{other} grid.x = 1, like that of the {given}"]
        more = compared(text, text, CompareOptions(launch=parse_launch([f"{given}.grid.x=4"])))
        assert more.differences == []
        assert not [line for line in more.obligations if "like that" in line]


def test_a_grid_of_one_side_makes_no_other_index_right() -> None:
    wrong = COPY.replace("%o = addi %starts, %lane", "%o = addi %starts, %starts")
    for given in ("reference", "generated"):
        assert found(COPY, wrong, CompareOptions(launch=parse_launch([f"{given}.grid.x=1"])))


@pytest.mark.parametrize("text", [LOOPING, FLAGGED])
@pytest.mark.parametrize("grid", [2, 3, 4, 5])
def test_a_loop_over_all_tiles_fits_every_grid(text: str, grid: int) -> None:
    assert rules(text, side(3), side(grid)) == []


@pytest.mark.parametrize("step", ["%blocks", "%i4"])
def test_a_step_that_the_host_must_make_the_size_of_the_grid(step: str) -> None:
    """The other front end passes the number of blocks, or has it as a constant."""
    text = LOOP.replace("step %gx", f"step {step}")
    other = kernel(text, name="_Z1k", parameters=f"{PARAMETERS}, %blocks: tile<i32>")
    result = compared(LOOPING, other)
    assert [each.rule for each in result.differences] == []
    expected = (
        "generated %blocks = grid.x" if step == "%blocks" else "grid.x = 4 (a number in the generated kernel)"
    )
    assert expected in result.obligations


def test_a_step_of_one_front_end_is_no_obligation() -> None:
    other = LOOPING.replace("step %gx", "step %m")
    assert compared(LOOPING, other).differences != []


@pytest.mark.parametrize("value", [1.5, math.inf, -math.inf, math.nan, 2**32, -(2**31) - 1, 10**400])
def test_a_value_that_the_type_cannot_hold(value: float) -> None:
    with pytest.raises(InputError, match=r"argument 2 of @k: i32 cannot hold"):
        rules(COPY, side(4, value), side(4))


def test_an_array_for_a_number_and_a_number_for_an_array() -> None:
    array = ArgValue("ptr", "c")
    for position, wrong, words in ((3, array, "an array does not fit"), (0, ArgValue("i32", 1), "a number")):
        args = list(side(4).args or ())
        args[position] = wrong
        with pytest.raises(InputError, match=f"argument {position} of @k is a tile<.*{words}"):
            rules(COPY, SideLaunch(None, (4, 1, 1), tuple(args)), side(4))


def test_an_unsigned_value_is_taken_as_its_bits() -> None:
    assert rules(COPY, side(4, 2**32 - 1), side(4, -1)) == []


@pytest.mark.parametrize("named", ["a=1", "n=1.5", "n=1e400", "n=nan"])
def test_named_values_are_checked_too(named: str) -> None:
    with pytest.raises(InputError, match=r"^--launch: error: the argument [an]"):
        compared(COPY, COPY, CompareOptions(launch=parse_launch([named])))


@pytest.mark.parametrize(
    ("fact", "hint"),
    [
        ("gird.x=3", "did you mean 'grid.x'"),
        ("b.shap0=3", "did you mean 'b.shape0'"),
        ("q=3", "there are grid"),
    ],
)
def test_a_name_that_is_none_comes_with_the_one_meant(fact: str, hint: str) -> None:
    with pytest.raises(InputError, match=hint):
        compared(COPY, COPY, CompareOptions(launch=parse_launch([fact])))


def test_a_truth_value_is_no_wide_integer(tmp_path: Path) -> None:
    path = tmp_path / "launch.json"
    path.write_text(json.dumps({"reference": {"args": [{"i32": True}]}}))
    with pytest.raises(InputError, match="'i32' does not go with True"):
        parse_launch([str(path)])


@pytest.mark.parametrize("size", [256, 512, 1000, 1024])
@pytest.mark.parametrize("name", ["generated.arg3", "reference.arg1"])
def test_a_number_given_for_one_side_holds_on_the_other(name: str, size: int) -> None:
    """A multiple of the tile makes a mask simpler, on the side that has the number."""
    folder = KERNELS / "vector_add"
    reference, generated = (parse_file(str(folder / file)) for file in ("py.g.mlir", "rs.g.mlir"))
    options = CompareOptions(launch=parse_launch([f"{name}={size}"]))
    found = compare(reference, generated, options).differences
    assert [each.rule for each in found if each.impact != "none"] == []


@pytest.mark.parametrize("size", ["%m", "%i4"])
def test_the_size_of_a_dimension_with_tiles_of_one_element(size: str) -> None:
    def rows(first: str) -> str:
        view = "tensor_view<?x?xf32, strides=[?,1]>"
        return f"""entry @k({PARAMETERS}) {{
          %x, %y, %z = get_tile_block_id : tile<i32>
          %i4 = constant <i32: 4> : tile<i32>
          %t = make_token : token
          %v = make_tensor_view %a, shape = [{first}, %m], strides = [%m, 1] : tile<i32> -> {view}
          %w = make_tensor_view %b, shape = [%n, %m], strides = [%m, 1] : tile<i32> -> {view}
          %p = make_partition_view %v : partition_view<tile=(1x64), padding_value = zero, {view}>
          %q = make_partition_view %w : partition_view<tile=(1x64), {view}>
          %d, %u = load_view_tko weak %p[%x, %y] token = %t :
            partition_view<tile=(1x64), padding_value = zero, {view}>, tile<i32> -> tile<1x64xf32>, token
          %s = store_view_tko weak %d, %q[%x, %y] token = %t :
            tile<1x64xf32>, partition_view<tile=(1x64), {view}>, tile<i32> -> token
          return
        }}"""

    (difference,) = compared(rows("%n"), rows(size)).differences
    assert difference.rule == "mask/changed"
    assert difference.generated is not None
    assert difference.generated.op.short == "make_tensor_view"


@pytest.mark.parametrize(
    ("fact", "rule"),
    [
        ("generated.n=384", "mask/extra"),
        ("generated.2=384", "mask/extra"),
        ("reference.n=384", "mask/missing"),
    ],
)
def test_a_value_by_name_changes_the_launch_of_a_file(tmp_path: Path, fact: str, rule: str) -> None:
    args = [{"ptr": "a"}, {"ptr": "b"}, {"i32": 512}, {"i32": 7}]
    path = tmp_path / "launch.json"
    path.write_text(json.dumps({side: {"grid": [4], "args": args} for side in ("reference", "generated")}))

    def found(*facts: str) -> list[str]:
        options = CompareOptions(launch=parse_launch(facts))
        return [each.rule for each in compared(COPY, COPY, options).differences]

    assert found(str(path), fact) == [rule]
    assert found(fact, str(path)) == found(str(path)) == []
    args[2] = None  # type: ignore[call-overload]
    path.write_text(json.dumps({side: {"grid": [4], "args": args} for side in ("reference", "generated")}))
    assert found(fact, str(path)) == found(str(path), fact) != []


@pytest.mark.parametrize(
    ("fact", "message"),
    [
        ("bogus=1", "neither entry has an argument 'bogus'"),
        ("a=1", "the argument a of the reference @k is a tile<ptr<f32>>"),
        ("n=1.5", "i32 cannot hold 1.5"),
    ],
)
def test_a_value_by_name_beside_a_file_is_checked(tmp_path: Path, fact: str, message: str) -> None:
    args = [{"ptr": "a"}, {"ptr": "b"}, {"i32": 512}, {"i32": 7}]
    path = tmp_path / "launch.json"
    path.write_text(json.dumps({side: {"args": args} for side in ("reference", "generated")}))
    for facts in ([str(path), fact], [fact, str(path)]):
        with pytest.raises(InputError, match=message):
            compared(COPY, COPY, CompareOptions(launch=parse_launch(facts)))


@pytest.mark.parametrize("kind", ["f32", "f64"])
def test_a_float_for_an_integer(kind: str) -> None:
    with pytest.raises(InputError, match=rf"argument 2 of @k is a tile<i32>; {kind} does not fit"):
        rules(COPY, side(4, 512, kind), side(4))


def test_a_number_for_an_argument_that_is_an_array_on_one_side() -> None:
    other = COPY.replace("%b: tile<ptr<f32>>, %n: tile<i32>", "%n: tile<i32>, %b: tile<ptr<f32>>")
    options = CompareOptions(launch=parse_launch(["1=512"]))
    with pytest.raises(InputError, match=r"1 of the reference @k is a .*; write generated\.1=\.\.\. if"):
        compared(COPY, other, options)


def test_a_launch_of_one_of_two_entries() -> None:
    """It pairs the two that it names; the others are compared without it, and the report says so."""
    reference = f"{COPY}\n{LOOPING.replace('@k(', '@loop(')}"
    generated = f"{LOOPING.replace('@k(', '@k2(')}\n{COPY.replace('@k(', '@loop(')}"
    launch = Launch(side(4)._replace(entry="k"), side(4)._replace(entry="@loop"), "launch.json")
    result = compared(reference, generated, CompareOptions(launch))
    assert [pair[:2] for pair in result.pairs] == [("k", "loop"), ("loop", "k2")]
    assert result.differences == []
    assert "arrays of different names in the launch do not overlap" in result.assumptions
    assert "@loop: the launch is not one of it, and was not used" in result.assumptions


def test_a_launch_that_names_no_entry_is_one_of_each_that_it_fits() -> None:
    short = kernel("", parameters="%x0: tile<i32>", prologue="", name="short")
    launch = Launch(side(4), side(4), "launch.json")
    with pytest.raises(InputError, match=r"4 arguments for @short, which has 1; 'reference\.entry' of a"):
        compared(COPY + short, COPY + short, CompareOptions(launch))


@pytest.mark.parametrize(("entry", "fits"), [("k", True), ("@k", True), ("other", False)])
def test_a_launch_of_another_entry(entry: str, fits: bool) -> None:
    launch = side(4)._replace(entry=entry)
    if fits:
        assert rules(COPY, launch, launch) == []
        return
    with pytest.raises(InputError, match=r"'reference' is a launch of @other.*there are @k"):
        rules(COPY, launch, side(4))


def test_an_array_that_is_passed_twice() -> None:
    arrays = ArgValue("ptr", "x"), ArgValue("ptr", "x"), ArgValue("i32", 512), ArgValue("i32", 7)
    launch = Launch(SideLaunch(None, (4, 1, 1), arrays), SideLaunch(None, (4, 1, 1), arrays), "launch.json")
    result = compared(COPY, COPY, CompareOptions(launch=launch))
    assert [(pair.reference, pair.generated) for pair in result.arguments[:2]] == [
        (("a",), ("a",)),
        (("b",), ("b",)),
    ]
    assert not any("overlap" in line for line in result.assumptions)


def test_arrays_of_two_names_do_not_overlap() -> None:
    launch = Launch(side(4), side(4), "launch.json")
    result = compared(COPY, COPY, CompareOptions(launch=launch))
    assert "arrays of different names in the launch do not overlap" in result.assumptions


def strided(lines: str) -> str:
    """A store of one element by each block, at `%far`."""
    return kernel(
        f"{lines}\n%q = offset %b, %far : tile<ptr<f32>>, tile<i64> -> tile<ptr<f32>>\n"
        "%f = constant <f32: 1.0> : tile<f32>\n"
        "%st = store_ptr_tko weak %q, %f token=%t : tile<ptr<f32>>, tile<f32> -> token"
    )


IN_I32 = strided("%p = muli %x, %n : tile<i32>\n%far = exti %p signed : tile<i32> -> tile<i64>")
IN_I64 = strided(
    "%x64 = exti %x signed : tile<i32> -> tile<i64>\n%n64 = exti %n signed : tile<i32> -> tile<i64>\n"
    "%far = muli %x64, %n64 : tile<i64>"
)


@pytest.mark.parametrize(("grid", "wraps"), [(65539, False), (65540, True)])
def test_an_index_that_the_launch_takes_out_of_32_bits(grid: int, wraps: bool) -> None:
    """The last block's is `32767 * (grid - 1)`, which fits up to 65539 blocks."""
    launch = Launch(side(grid, 32767), side(grid, 32767), "launch.json")
    options = CompareOptions(launch=launch)
    for first, second in ((IN_I32, IN_I64), (IN_I64, IN_I32)):
        assert bool(found(first, second, options)) == wraps
        assumed = compared(first, second, options).assumptions
        assert not any("does not wrap" in each for each in assumed)
    assert_equal(IN_I32, IN_I32, options)


def test_an_index_of_an_unknown_launch_is_taken_to_fit_and_said_so() -> None:
    assert_equal(IN_I32, IN_I64)
    assert any("does not wrap" in each for each in compared(IN_I32, IN_I64).assumptions)


@pytest.mark.parametrize("launch", [True, False])
def test_a_result_says_that_it_holds_for_the_launch_which_settled_a_condition(launch: bool) -> None:
    """Equal whatever the launch, but for a promise that only the launch shows to be true."""
    port, own = (parse_file(str(KERNELS / "softmax" / f"{name}.g.mlir")) for name in ("rs", "py"))
    path = str(KERNELS / "softmax" / "launch.json")
    result = compare(own, port, CompareOptions(launch=parse_launch([path]) if launch else None))
    assert bool(result.obligations) != launch
    assert (f"the result holds for the launch given: {path}" in result.assumptions) == launch


def test_a_launch_that_settles_nothing_is_not_told() -> None:
    options = CompareOptions(launch=Launch(side(4), side(4), "launch.json"))
    assert not any("holds" in line for line in compared(COPY, COPY, options).assumptions)


def test_a_fact_that_was_given_is_no_condition_on_the_host() -> None:
    for facts, left in ((["n=512"], 0), (["generated.n=512"], 1)):
        result = compared(COPY, COPY, CompareOptions(launch=parse_launch(facts)))
        assert sum("512" in line for line in result.obligations) == left
        assert sum(facts[0] in line for line in result.assumptions) == 1


@pytest.mark.parametrize("lanes", [0, 1, 2, 63])
def test_a_launch_that_fills_its_tiles_hides_no_mask_that_is_off_by_a_few_lanes(lanes: int) -> None:
    """At 512 elements all lanes are in range; at other sizes one mask lets more lanes in."""
    moved = COPY.replace(
        "%in = cmpi less_than %o, %nv, signed",
        f"%few = constant <i32: {lanes}> : tile<128xi32>\n%more = addi %nv, %few : tile<128xi32>\n"
        "%in = cmpi less_than %o, %more, signed",
    )
    options = CompareOptions(launch=Launch(side(4), side(4), "l"))
    told = [each for each in found(COPY, moved, options) if each.rule.startswith("mask/")]
    assert bool(told) == (lanes > 0)
