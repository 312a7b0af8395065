"""Which parameter stands for which, and what the host must guarantee where one side has a constant."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.match.snippets import assert_equal, assert_found, compared, found, kernel
from tileir_diff.errors import InputError
from tileir_diff.match.launch import ArgumentMap, parse_launch, read_argument_map
from tileir_diff.match.model import CompareOptions

TENSOR = "tensor_view<?x?xf32, strides=[?,1]>"
FULL = "%{0}: tile<ptr<f32>>, %{0}h: tile<i32>, %{0}w: tile<i32>, %{0}s: tile<i32>, %{0}t: tile<i32>"
ARRAYS = f"{FULL.format('a')}, {FULL.format('b')}"
POINTERS = (
    "%a: tile<ptr<f32>>, %b: tile<ptr<f32>>, %ah: tile<i32>, %aw: tile<i32>, %as: tile<i32>, "
    "%bh: tile<i32>, %bw: tile<i32>, %bs: tile<i32>"
)


def copy(
    parameters: str = ARRAYS,
    *,
    name: str = "k",
    before: str = "",
    sizes: str = "%ah, %aw",
    out: str = "%bh, %bw",
    strides: tuple[str, str] = ("%as", "%bs"),
    op: str = "negf",
    index: str = "%x, %y",
    load: str = "%a",
    store: str = "%b",
) -> str:
    """`b = op(a)` in tiles of 32 x 32."""
    view = f"partition_view<tile=(32x32), {TENSOR}>"
    return (
        f"entry @{name}({parameters}) "
        f"{{\n%t = make_token : token\n%x, %y, %z = get_tile_block_id : tile<i32>\n{before}"
        f"%ta = make_tensor_view {load}, shape = [{sizes}], strides = [{strides[0]}, 1] : tile<i32> -> "
        f"{TENSOR}\n"
        f"%tb = make_tensor_view {store}, shape = [{out}], strides = [{strides[1]}, 1] : tile<i32> -> "
        f"{TENSOR}\n"
        f"%av = make_partition_view %ta : {view}\n%bv = make_partition_view %tb : {view}\n"
        f"%v, %vt = load_view_tko weak %av[{index}] token = %t : {view}, tile<i32> -> "
        "tile<32x32xf32>, token\n"
        f"%u = {op} %v : tile<32x32xf32>\n"
        f"%st = store_view_tko weak %u, %bv[{index}] token = %t : tile<32x32xf32>, {view}, tile<i32> "
        f"-> token\nreturn\n}}\n"
    )


# ---- found by role and by use ----------------------------------------------------------------------------


def test_equal_lists_are_matched_in_order() -> None:
    result = compared(copy(), copy())
    assert (result.arguments[0].reference, result.arguments[0].generated) == (("a",), ("a",))
    assert {each.how for each in result.arguments} == {"role"}
    assert all(each.reference and each.generated for each in result.arguments)


def test_another_list_is_matched_by_use() -> None:
    reference, generated = copy(), copy(POINTERS)
    assert_equal(reference, generated)
    assert_equal(generated, reference)
    pairs = {each.reference: each for each in compared(reference, generated).arguments}
    assert pairs[("a",)].generated == ("a",)
    assert pairs[("b",)].generated == ("b",)
    assert pairs[("a",)].how == "role"
    assert pairs[("a.shape0",)].how == "use"


def test_pointers_in_another_order_are_matched_by_what_is_done_with_them() -> None:
    swapped = POINTERS.replace(
        "%a: tile<ptr<f32>>, %b: tile<ptr<f32>>", "%b: tile<ptr<f32>>, %a: tile<ptr<f32>>"
    )
    assert_equal(copy(), copy(swapped))


def test_a_defect_is_found_through_another_list() -> None:
    assert (
        assert_found(copy(), copy(POINTERS, index="%y, %x"), "addressing", "grid", "mask").impact == "logic"
    )
    assert assert_found(copy(), copy(POINTERS, op="absf"), "arithmetic/op").impact == "logic"


def test_a_parameter_that_nothing_reads_is_unmatched() -> None:
    result = compared(copy(), copy(POINTERS))
    unmatched = [each.reference for each in result.arguments if each.how == "unmatched"]
    assert ("a.stride1",) in unmatched


# ---- constants against parameters ------------------------------------------------------------------------

FIXED = "%c64 = constant <i32: 64> : tile<i32>\n"


def test_a_constant_for_a_parameter_is_an_obligation() -> None:
    fixed = copy(POINTERS, before=FIXED, strides=("%c64", "%c64"))
    result = compared(copy(), fixed)
    assert found(copy(), fixed) == []
    assert "reference a.stride0 = 64 (a number in the generated kernel)" in result.obligations
    assert "reference b.stride0 = 64 (a number in the generated kernel)" in result.obligations


def test_two_constants_for_one_parameter_do_not_fit() -> None:
    """`a` and `b` have the one stride in the reference, and two in the generated kernel."""
    reference = copy(strides=("%as", "%as"))
    fixed = copy(POINTERS, before=FIXED + "%c65 = constant <i32: 65> : tile<i32>\n", strides=("%c64", "%c65"))
    assert_found(reference, fixed, "stride", "addressing")


def test_a_constant_in_the_reference_is_not_bound_to_another() -> None:
    reference = copy(before=FIXED, strides=("%c64", "%c64"))
    generated = copy(before=FIXED.replace("64>", "65>"), strides=("%c64", "%c64"))
    assert_found(reference, generated, "stride", "addressing", "constant")


# ---- given by the user -----------------------------------------------------------------------------------


def test_a_map_decides() -> None:
    """Two arrays of one type and one use: only the user knows which is which."""
    swapped = copy(load="%b", store="%a", sizes="%bh, %bw", out="%ah, %aw", strides=("%bs", "%as"))
    names = ("", "h", "w", "s", "t")
    pairs = tuple((f"{x}{n}", f"{y}{n}") for x, y in (("a", "b"), ("b", "a")) for n in names)
    assert_equal(copy(), swapped, CompareOptions(args=ArgumentMap(pairs, "args.json")))
    straight = ArgumentMap(tuple((n, n) for n, _ in pairs), "args.json")
    assert "addressing/base" in {each.rule for each in found(copy(), swapped, CompareOptions(args=straight))}


@pytest.mark.parametrize("generated", [copy(), copy(POINTERS)])
@pytest.mark.parametrize("pairs", [(("a", "a"),), (("b", "b"),), (("a", "a"), ("b", "b"))])
def test_what_a_map_does_not_name_is_matched_as_without_it(
    generated: str, pairs: tuple[tuple[str, str], ...]
) -> None:
    assert_equal(copy(), generated, CompareOptions(args=ArgumentMap(pairs, "args.json")))


@pytest.mark.parametrize("generated", [copy(), copy(POINTERS)])
@pytest.mark.parametrize("pair", [("a", "b"), ("b", "a"), ("a", None)])
def test_a_map_of_one_argument_decides_against_role_and_use(
    generated: str, pair: tuple[str, str | None]
) -> None:
    rules = {each.rule for each in found(copy(), generated, CompareOptions(args=ArgumentMap((pair,), "map")))}
    assert "addressing/base" in rules


def test_a_map_may_give_positions() -> None:
    pairs = tuple((str(index), str(index)) for index in range(10))
    result = compared(copy(), copy(), CompareOptions(args=ArgumentMap(pairs, "args.json")))
    assert {each.how for each in result.arguments} == {"given"}


@pytest.mark.parametrize("other", ["a", "0"])
def test_a_map_that_gives_one_argument_twice(other: str) -> None:
    pairs = (("a", "a"), ("b", other))
    with pytest.raises(InputError, match=f"'a' and 'b' both stand for the reference argument '{other}'"):
        compared(copy(), copy(), CompareOptions(args=ArgumentMap(pairs, "args.json")))


@pytest.mark.parametrize("pair", [("nope", "a"), ("a", "nope")])
def test_a_map_with_a_name_that_is_not_there(pair: tuple[str, str]) -> None:
    with pytest.raises(InputError, match="has no argument 'nope'"):
        compared(copy(), copy(), CompareOptions(args=ArgumentMap((pair,), "args.json")))


def test_a_map_from_a_file(tmp_path: Path) -> None:
    path = tmp_path / "args.json"
    path.write_text(json.dumps({"%a": "%a", "b": "b", "ah": None}), encoding="utf-8")
    assert read_argument_map(str(path)).pairs == (("a", "a"), ("b", "b"), ("ah", None))


# ---- launches --------------------------------------------------------------------------------------------


def launched(tmp_path: Path, reference: object, generated: object) -> CompareOptions:
    path = tmp_path / "launch.json"
    path.write_text(json.dumps({"reference": reference, "generated": generated}), encoding="utf-8")
    return CompareOptions(launch=parse_launch([str(path)]))


def side(*arrays: tuple[str, int, int, int], grid: tuple[int, ...] = (2, 3, 1)) -> dict[str, object]:
    args: list[dict[str, object]] = []
    for name, height, width, stride in arrays:
        args.append({"ptr": name})
        args.extend({"i32": number} for number in (height, width, stride, 1))
    return {"grid": list(grid), "args": args}


SIDE = side(("a", 60, 90, 96), ("b", 60, 90, 96))


def test_a_launch_makes_constant_and_parameter_equal(tmp_path: Path) -> None:
    fixed = copy(before="%c96 = constant <i32: 96> : tile<i32>\n", strides=("%c96", "%c96"))
    assert_equal(copy(), fixed, launched(tmp_path, SIDE, SIDE))
    other = copy(before="%c96 = constant <i32: 90> : tile<i32>\n", strides=("%c96", "%c96"))
    assert_found(copy(), other, "stride", "addressing", options=launched(tmp_path, SIDE, SIDE))


def test_a_launch_makes_constant_and_parameter_equal_in_another_list(tmp_path: Path) -> None:
    """As above, where the generated entry does not take the strides at all."""
    lean = ", ".join(part for part in POINTERS.split(", ") if "s:" not in part)
    facts: dict[str, object] = {
        "grid": [2, 3, 1],
        "args": [{"ptr": "a"}, {"ptr": "b"}, {"i32": 60}, {"i32": 90}, {"i32": 60}, {"i32": 90}],
    }
    for stride, equal in (("96", True), ("90", False)):
        fixed = copy(lean, before=f"%c = constant <i32: {stride}> : tile<i32>\n", strides=("%c", "%c"))
        options = launched(tmp_path, SIDE, facts)
        assert (found(copy(), fixed, options) == []) == equal


def test_a_launch_that_was_needed_is_an_assumption(tmp_path: Path) -> None:
    fixed = copy(before="%c96 = constant <i32: 96> : tile<i32>\n", strides=("%c96", "%c96"))
    result = compared(copy(), fixed, launched(tmp_path, SIDE, SIDE))
    assert any("launch" in line for line in result.assumptions)


def test_another_array_at_the_launch_is_found(tmp_path: Path) -> None:
    exchanged = side(("b", 60, 90, 96), ("a", 60, 90, 96))
    first = assert_found(copy(), copy(), "addressing/base", options=launched(tmp_path, SIDE, exchanged))
    assert first.impact == "logic"


def test_exchanged_sizes_at_the_launch_are_found(tmp_path: Path) -> None:
    exchanged = side(("a", 90, 60, 96), ("b", 90, 60, 96))
    assert found(copy(), copy(), launched(tmp_path, SIDE, exchanged)) != []


def test_a_shorter_grid_is_found(tmp_path: Path) -> None:
    """Each block does the same, but one row of blocks is not launched."""
    short = side(("a", 60, 90, 96), ("b", 60, 90, 96), grid=(1, 3, 1))
    assert found(copy(), copy(), launched(tmp_path, SIDE, short)) != []


def test_too_few_arguments_at_the_launch(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="the launch gives 5 arguments for @k, which has 10"):
        compared(copy(), copy(), launched(tmp_path, SIDE, side(("a", 60, 90, 96))))


def test_a_scalar_given_by_name() -> None:
    launch = parse_launch(["as=64"])
    fixed = copy(before=FIXED, strides=("%c64", "%bs"))
    assert_equal(copy(), fixed, CompareOptions(launch=launch))


def test_a_promise_that_one_launch_keeps_is_found_all_the_same(tmp_path: Path) -> None:
    """64 x 96 is covered by whole tiles: no lane lies outside, and `inbounds` is true, at this launch."""
    view = f"partition_view<tile=(32x32), {TENSOR}>"
    old = f"%bv[%x, %y] token = %t : tile<32x32xf32>, {view}"
    promised = copy().replace(old, old.replace(" :", " inbounds = [true, true] :", 1))
    assert promised != copy()
    whole = side(("a", 64, 96, 96), ("b", 64, 96, 96))
    for facts in (whole, SIDE):
        assert_found(copy(), promised, "bounds/inbounds", options=launched(tmp_path, facts, facts))
    assert_found(copy(), promised, "bounds/inbounds")


@pytest.mark.parametrize("kind", ["i32", "f16", "ptr<i32>", "token", "tensor_view<4xf32, strides=[1]>"])
def test_parameters_that_are_no_tiles(kind: str) -> None:
    """The dialect has them; no front end writes them."""
    odd = f"entry @k(%a: {kind}) {{\nreturn\n}}\n"
    plain = "entry @k(%a: tile<i32>) {\nreturn\n}\n"
    assert not compared(odd, odd).differences
    compared(odd, plain)
    compared(plain, odd)
    with pytest.raises(InputError, match="does not fit"):
        compared(odd, odd, CompareOptions(launch=parse_launch(["a=1"])))


@pytest.mark.parametrize(("pair", "kinds"), [(("n", "a"), "i32.*ptr"), (("a", "n"), "ptr.*i32")])
def test_a_number_does_not_stand_for_an_array(pair: tuple[str, str], kinds: str) -> None:
    options = CompareOptions(args=ArgumentMap((pair,), "map.json"))
    with pytest.raises(InputError, match=f"map.json: error: '{pair[0]}' is a .*{kinds}"):
        compared(kernel(""), kernel(""), options)
