"""Launch facts and argument maps, as the command line gives them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tileir_diff.dialect import parse_text
from tileir_diff.errors import InputError
from tileir_diff.match.launch import (
    ArgumentMap,
    ArgValue,
    Launch,
    SideLaunch,
    parse_launch,
    read_argument_map,
    read_launch,
)
from tileir_diff.match.roles import argument_index


def write(folder: Path, data: object, name: str = "launch.json") -> str:
    (folder / name).write_text(data if isinstance(data, str) else json.dumps(data))
    return str(folder / name)


def test_no_option_is_no_launch() -> None:
    assert parse_launch([]) is None


def test_facts_hold_for_both_sides_unless_one_is_named() -> None:
    launch = parse_launch(
        ["grid.x=2048", "n=0x10", "%arg3=-1", "eps=1e-5", "generated.n=17", "reference.grid.y=2"]
    )
    assert launch is not None
    assert launch.reference.grid == (2048, 2, None)
    assert launch.generated.grid == (2048, None, None)
    assert launch.reference.named == {"n": 16, "arg3": -1, "eps": 1e-5}
    assert launch.generated.named == {"n": 17, "arg3": -1, "eps": 1e-5}
    assert launch.source == "grid.x=2048, n=0x10, %arg3=-1, eps=1e-5, generated.n=17, reference.grid.y=2"


@pytest.mark.parametrize("blocks", [1 << 31, 10**20])
def test_a_grid_has_no_more_blocks_than_their_numbers_count(blocks: int, tmp_path: Path) -> None:
    parse_launch([f"grid.x={(1 << 31) - 1}"])
    with pytest.raises(InputError, match="2147483647 blocks along an axis at most"):
        parse_launch([f"grid.x={blocks}"])
    with pytest.raises(InputError, match="2147483647 at most"):
        read_launch(write(tmp_path, {"reference": {"grid": [blocks]}, "generated": {"grid": [1]}}))


def test_a_file_holds_both_sides(tmp_path: Path) -> None:
    args = [{"ptr": "a"}, {"ptr": None}, {"i32": 5}, {"f32": 0.5}, {"f32": "inf"}, {"i1": True}, None]
    path = write(
        tmp_path, {"reference": {"entry": "k", "grid": [7, 2], "args": args}, "generated": {"grid": [14]}}
    )
    values = (
        ArgValue("ptr", "a"),
        ArgValue("ptr", None),
        ArgValue("i32", 5),
        ArgValue("f32", 0.5),
        ArgValue("f32", float("inf")),
        ArgValue("i1", 1),
        None,
    )
    assert read_launch(path) == Launch(SideLaunch("k", (7, 2, 1), values), SideLaunch(grid=(14, 1, 1)), path)


def test_later_options_win_over_a_file(tmp_path: Path) -> None:
    path = write(tmp_path, {"reference": {"entry": "k", "grid": [7, 2, 1]}})
    launch = parse_launch([path, "grid.x=8"])
    assert launch is not None
    assert launch.reference == SideLaunch("k", (8, 2, 1))
    launch = parse_launch(["grid.x=8", "n=1", path])
    assert launch is not None
    assert launch.reference == SideLaunch("k", (7, 2, 1), named={"n": 1})


def test_names_before_and_after_the_arguments_of_a_file_are_told_apart(tmp_path: Path) -> None:
    path = write(tmp_path, {"reference": {"args": [{"i32": 5}]}})
    launch = parse_launch(["n=1", path, "n=2"])
    assert launch is not None
    assert launch.reference == SideLaunch(args=(ArgValue("i32", 5),), earlier={"n": 1}, named={"n": 2})


@pytest.mark.parametrize("option", ["n=", "n=many", "grid.x=0", "grid.x=1.5", "reference.=3", "grid.y=-1"])
def test_a_fact_that_makes_no_sense_is_refused(option: str) -> None:
    with pytest.raises(InputError) as error:
        parse_launch([option])
    assert option in error.value.message


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ("{", "not JSON"),
        ("[" * 100_000, "nested too deeply"),
        ([], "a launch file must be a table, not list"),
        ({}, "neither 'reference' nor 'generated'"),
        ({"refrence": {}}, "unknown key 'refrence'"),
        ({"reference": 3}, "'reference' must be a table"),
        ({"reference": {"grids": []}}, "unknown key 'grids' in 'reference'"),
        ({"reference": {"entry": 3}}, "'reference.entry' must be a string"),
        ({"reference": {"grid": 3}}, "must hold a list"),
        ({"reference": {"grid": [1, 1, 1, 1]}}, "a grid has at most 3"),
        ({"reference": {"grid": [0]}}, "must hold positive integers"),
        ({"reference": {"grid": [True]}}, "must hold positive integers"),
        ({"reference": {"args": [3]}}, "'reference.args[0]' must be a table"),
        ({"reference": {"args": [{"i32": 1, "i64": 1}]}}, "must have one key"),
        ({"generated": {"args": [{"ptr": 3}]}}, "a pointer is an array's name or null"),
        ({"generated": {"args": [{"i32": 1.5}]}}, "'i32' does not go with 1.5"),
        ({"generated": {"args": [{"f32": "many"}]}}, "'f32' does not go with 'many'"),
        ({"generated": {"args": [{"f7": 1}]}}, "'f7' does not go with 1"),
    ],
)
def test_a_wrong_file_is_one_clear_error(tmp_path: Path, data: object, message: str) -> None:
    path = write(tmp_path, data)
    with pytest.raises(InputError) as error:
        read_launch(path)
    assert message in error.value.message
    assert error.value.path == path


def test_an_error_in_json_has_its_position(tmp_path: Path) -> None:
    with pytest.raises(InputError) as error:
        read_launch(write(tmp_path, '{"reference":\n  {"grid": [1,}}'))
    assert (error.value.line, error.value.source_line) == (2, '  {"grid": [1,}}')


@pytest.mark.parametrize("text", ['{"reference": {}\n', "\n", '{"reference":\n\n'])
def test_json_that_ends_too_early_is_an_error_at_its_end(tmp_path: Path, text: str) -> None:
    for read in (read_launch, read_argument_map):
        with pytest.raises(InputError) as error:
            read(write(tmp_path, text))
        assert (error.value.line, error.value.source_line) == (text.count("\n") + 1, "")


def test_an_argument_map_is_json_or_toml(tmp_path: Path) -> None:
    pairs = (("a_ptr", "arg0"), ("arg3", "2"), ("4", None))
    path = write(tmp_path, {"a_ptr": "%arg0", "%arg3": 2, "4": None}, "map.json")
    assert read_argument_map(path) == ArgumentMap(pairs, path)
    path = write(tmp_path, 'a_ptr = "%arg0"\narg3 = 2\n', "map.toml")
    assert read_argument_map(path) == ArgumentMap(pairs[:2], path)


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("map.json", "[]", "must be a table"),
        ("map.json", '{"a": [1]}', "argument 'a' must map to a name, a position or null"),
        ("map.json", '{"a": true}', "argument 'a' must map to"),
        ("map.toml", "a", "not TOML"),
    ],
)
def test_a_wrong_argument_map_is_one_clear_error(tmp_path: Path, name: str, text: str, message: str) -> None:
    with pytest.raises(InputError, match=message.replace("[", r"\[")):
        read_argument_map(write(tmp_path, text, name))


def test_an_argument_is_named_by_its_name_in_a_report() -> None:
    params = "%a: tile<ptr<f32>>, %a0: tile<i32>, %a1: tile<i32>, %a2: tile<i32>, %a3: tile<i32>"
    entry = parse_text(f"entry @k({params}) {{\n  return\n}}\n").entries[0]
    names = ["a", "a.shape0", "a.shape1", "a.stride0", "a.stride1"]
    assert [argument_index(entry, name) for name in names] == [0, 1, 2, 3, 4]
    assert argument_index(entry, "a.shape2") is None


def test_an_argument_is_named_by_ssa_name_or_position() -> None:
    entry = parse_text("entry @k(%arg0: tile<i32>, %n: tile<i32>) {\n  return\n}\n").entries[0]
    assert argument_index(entry, "%n") == argument_index(entry, "n") == argument_index(entry, "1") == 1
    assert argument_index(entry, "arg0") == 0
    assert argument_index(entry, "arg1") is None
    assert argument_index(entry, "2") is None
