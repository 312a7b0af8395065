"""Launches that are made up where none is given."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import pytest

from tests.equivalence.support import kernel
from tests.equivalence.test_differential import outcome, unary
from tileir_diff import diff
from tileir_diff.dialect import parse_text
from tileir_diff.equivalence.differential import grids
from tileir_diff.equivalence.machine import TimeUp
from tileir_diff.match.model import Execution
from tileir_diff.match.roles import array_groups

FIXTURES = Path(__file__).parents[2] / "fixtures"
SHORT = {"python": "py", "rust": "rs"}


def test_without_a_launch_one_is_made_up() -> None:
    one, other = (parse_text(unary(f"%y = {op} %x, %x : {{t}}"), op) for op in ("addf", "mulf"))
    report = diff(one, other, execute=True)
    assert outcome(report) == "different"


@pytest.mark.parametrize("element", ["i8", "i32"])
def test_a_launch_is_made_up_where_arrays_are_divided_by_arrays(element: str) -> None:
    body = f"  %y = divi %x, %z signed : tile<8x{element}>\n"
    down = body.replace(" :", " rounding<negative_inf> :")
    texts = (
        kernel({"x": (element, 8), "z": (element, 8)}, each, {"y": (element, 8)}) for each in (body, down)
    )
    one, other = (parse_text(text, "k") for text in texts)
    assert outcome(diff(one, other, execute=Execution(runs=20))) == "different"


def masked(promise: str) -> str:
    """A kernel that stores the first `%n` of 64 elements, after a promise `%m` about `%n`."""
    return f"""entry @k(%x: tile<ptr<f32>>, %n: tile<i32>) {{
  %m = assume {promise}, %n : tile<i32>
  %r = reshape %x : tile<ptr<f32>> -> tile<1xptr<f32>>
  %b = broadcast %r : tile<1xptr<f32>> -> tile<8xptr<f32>>
  %i = iota : tile<8xi32>
  %o = offset %b, %i : tile<8xptr<f32>>, tile<8xi32> -> tile<8xptr<f32>>
  %s = reshape %m : tile<i32> -> tile<1xi32>
  %e = broadcast %s : tile<1xi32> -> tile<8xi32>
  %k = cmpi less_than %i, %e, signed : tile<8xi32> -> tile<8xi1>
  %c = constant <f32: 1.0> : tile<8xf32>
  %t = store_ptr_tko weak %o, %c, %k : tile<8xptr<f32>>, tile<8xf32>, tile<8xi1> -> token
  return
}}"""


@pytest.mark.parametrize("promise", ["div_by<16>", "bounded<?, 32>"])
def test_a_launch_is_made_up_that_only_the_generated_side_excludes(promise: str) -> None:
    one, other = parse_text(masked("bounded<0, ?>"), "ref"), parse_text(masked(promise), "gen")
    report = diff(one, other, execute=Execution(runs=4))
    assert outcome(report) == "different"
    assert f"assume {promise} does not hold" in report.findings[0].evidence
    assert report.findings[0].rule.endswith("/stronger")


def test_a_launch_that_only_the_reference_excludes_is_none() -> None:
    one, other = parse_text(masked("div_by<16>"), "ref"), parse_text(masked("bounded<0, ?>"), "gen")
    report = diff(one, other, execute=Execution(runs=4))
    assert outcome(report) in ("settled", "equal")


CHOICE = """entry @k(%x: tile<ptr<f32>>, %n: tile<i32>, %a: tile<f32>, %mode: tile<i32>, %flag: tile<i1>) {
  %bx, %by, %bz = get_tile_block_id : tile<i32>
  %size = constant <i32: 8> : tile<i32>
  %three = constant <i32: 3> : tile<i32>
  %start = muli %bx, STEP : tile<i32>
  %first = reshape %start : tile<i32> -> tile<1xi32>
  %starts = broadcast %first : tile<1xi32> -> tile<8xi32>
  %i = iota : tile<8xi32>
  %at = addi %starts, %i : tile<8xi32>
  %r = reshape %x : tile<ptr<f32>> -> tile<1xptr<f32>>
  %b = broadcast %r : tile<1xptr<f32>> -> tile<8xptr<f32>>
  %o = offset %b, %at : tile<8xptr<f32>>, tile<8xi32> -> tile<8xptr<f32>>
  %s = reshape %n : tile<i32> -> tile<1xi32>
  %e = broadcast %s : tile<1xi32> -> tile<8xi32>
  %k = cmpi less_than %at, %e, signed : tile<8xi32> -> tile<8xi1>
  %is = cmpi equal %mode, %three, signed : tile<i32> -> tile<i1>
  %half = ftof %a : tile<f32> -> tile<f16>
  %coarse = ftof %half : tile<f16> -> tile<f32>
  %double = addf %a, %a : tile<f32>
  %one = select %is, MODE, %double : tile<i1>, tile<f32>
  %two = select %flag, %one, FLAG : tile<i1>, tile<f32>
  %v = reshape %two : tile<f32> -> tile<1xf32>
  %c = broadcast %v : tile<1xf32> -> tile<8xf32>
  %t = store_ptr_tko weak %o, %c, %k : tile<8xptr<f32>>, tile<8xf32>, tile<8xi1> -> token
  return
}"""
"""Numbers of which each value has a case of its own."""


@pytest.mark.parametrize(("word", "value"), [("STEP", "%three"), ("MODE", "%double"), ("FLAG", "%coarse")])
def test_made_up_launches_have_several_blocks_and_other_numbers(word: str, value: str) -> None:
    text = CHOICE.replace(word, value)
    one, other = (
        parse_text(each.replace("STEP", "%size").replace("MODE", "%a").replace("FLAG", "%a"), "k")
        for each in (CHOICE, text)
    )
    assert outcome(diff(one, other, execute=Execution(runs=6))) == "different"
    assert outcome(diff(one, one, execute=Execution(runs=6))) == "settled"


def test_the_number_of_blocks_is_given_to_the_side_that_has_it_as_a_parameter() -> None:
    stride = """entry @k(%x: tile<ptr<f32>>, %n: tile<i32>{parameter}) {{
  %b, %b1, %b2 = get_tile_block_id : tile<i32>{blocks}
  for %i in (%b to %n, step %g) : tile<i32> {{
    %p = offset %x, %i : tile<ptr<f32>>, tile<i32> -> tile<ptr<f32>>
    %v, %t = load_ptr_tko weak %p : tile<ptr<f32>> -> tile<f32>, token
    %w = {op} %v, %v : tile<f32>
    %s = store_ptr_tko weak %p, %w token=%t : tile<ptr<f32>>, tile<f32> -> token
  }}
  return
}}"""
    blocks = "\n  %g, %g1, %g2 = get_num_tile_blocks : tile<i32>"
    one = parse_text(stride.format(parameter="", blocks=blocks, op="mulf"), "ref")
    for op, expected in (("mulf", "equal"), ("addf", "different")):
        other = parse_text(stride.format(parameter=", %g: tile<i32>", blocks="", op=op), "gen")
        report = diff(one, other, execute=Execution(runs=4))
        assert outcome(report) == expected, report.semantics[0].detail


def test_a_faithful_port_is_equal_with_made_up_sizes() -> None:
    home = FIXTURES / "kernels" / "transpose"
    report = diff(home / "py.mlir", home / "rs.mlir", execute=Execution(runs=6))
    assert outcome(report) == "equal", report.semantics[0].detail
    assert report.verdict == "PASS_WITH_NOTES"


def test_an_argument_that_stands_for_nothing_keeps_both_from_running(tmp_path: Path) -> None:
    home = FIXTURES / "kernels" / "vector_add"
    stated = tmp_path / "args.json"
    stated.write_text('{"arg3": null}')
    report = diff(home / "py.mlir", home / "rs.mlir", args=str(stated), execute=True)
    assert outcome(report) == "not-run"
    assert "nothing says what the generated side's %arg3 is" in report.semantics[0].detail


@pytest.mark.parametrize("name", [
    "carry_replaced",  # shows in the third tile of a row
    # shows where matrices have more rows of tiles than a group
    pytest.param("last_group_full", marks=pytest.mark.slow),
    "store_index",  # shows where a matrix and its transpose have several tiles
    "grid_stride_start",  # shows where several blocks share out the work
    "cpp_eps_missing",  # one argument of the port is the reference's stride and its length
])  # fmt: skip
def test_made_up_sizes_show_what_needs_many_tiles_or_blocks(name: str) -> None:
    home = FIXTURES / "mistakes" / name
    facts = tomllib.loads((home / "mistake.toml").read_text(encoding="utf-8"))
    other = facts.get("reference", "rust" if facts["side"] == "python" else "python")
    reference = FIXTURES / "kernels" / facts["kernel"] / f"{SHORT[other]}.mlir"
    report = diff(reference, home / "gen.mlir", execute=Execution(runs=6, small=False))
    assert outcome(report) == "different", report.semantics[0].detail


ROWS = """entry @k(
    %x: tile<ptr<f32>>, %rows: tile<i32>, %columns: tile<i32>, %step: tile<i32>, %one: tile<i32>,
    %y: tile<ptr<f32>>, %y0: tile<i32>, %y1: tile<i32>, %y2: tile<i32>, %y3: tile<i32>) {
  %bx, %by, %bz = get_tile_block_id : tile<i32>
  %zero = constant <i32: 0> : tile<i32>
  %v = make_tensor_view %x, shape = [SIZES], strides = [STEP, 1] VALUES-> VIEW
  %p = make_partition_view %v : partition_view<TILED, VIEW>
  %a, %t = load_view_tko weak %p[%bx, %zero] : partition_view<TILED, VIEW>, tile<i32> -> tile<1x64xf32>, token
  %c = OP %a, %a : tile<1x64xf32>
  %w = make_tensor_view %y, shape = [SIZES], strides = [STEP, 1] VALUES-> VIEW
  %q = make_partition_view %w : partition_view<TILED, VIEW>
  %s = store_view_tko weak %c, %q[%bx, %zero]
    : tile<1x64xf32>, partition_view<TILED, VIEW>, tile<i32> -> token
  return
}""".replace("TILED", "tile=(1x64), padding_value = zero")
"""Doubles, or squares, the first 64 columns of each row of a matrix."""


def rows(op: str) -> str:
    view = "tensor_view<?x?xf32, strides=[?,1]>"
    text = ROWS.replace("SIZES", "%rows, %columns").replace("STEP", "%step").replace("OP", op)
    return text.replace("VIEW", view).replace("VALUES", ": tile<i32> ")


def test_arrays_may_have_gaps_between_their_rows() -> None:
    """The generated side takes one step for the other."""
    text = rows("addf").replace(
        "%y, shape = [%rows, %columns], strides = [%step", "%y, shape = [%y0, %y1], strides = [%y2"
    )
    other = text.replace("strides = [%y2", "strides = [%y1")
    ran = diff(
        parse_text(text, "ref"), parse_text(other, "gen"), execute=Execution(runs=4, small=False)
    ).semantics[0]
    assert ran.outcome == "different", ran.detail


def test_fewer_blocks_do_where_the_time_is_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """A launch with some of the blocks is a launch."""
    written = grids.Grids._written  # pyright: ignore[reportPrivateUsage]

    def hasty(self: Any, plan: Any) -> int | None:
        if plan.grids[0][0] > 1:
            raise TimeUp
        return written(self, plan)

    monkeypatch.setattr(grids.Grids, "_written", hasty)
    one, other = parse_text(rows("addf"), "ref"), parse_text(rows("mulf"), "gen")
    ran = diff(one, other, execute=Execution(runs=2, small=False)).semantics[0]
    assert ran.outcome == "different", ran.detail
    assert "grid 1 x 1 x 1" in ran.detail


@pytest.mark.parametrize(("parameters", "ranks"), [
    ("p i i i i p i i", [2, 1]),
    ("p i i i i p i i i i f i", [2, 2]),  # a number behind the last array
    ("p i i i i i i i i p i i i i f", [4, 2]),  # the last array has another rank
    ("p i i i i p i i f i", [2, 1]),
    ("p i i i i p i i i i i", [2, 2]),  # an integer behind the last array
    ("p i i i i p f", [2]),
])  # fmt: skip
def test_how_many_dimensions_arrays_among_the_parameters_have(parameters: str, ranks: list[int]) -> None:
    kinds = {"p": "tile<ptr<f32>>", "i": "tile<i32>", "f": "tile<f32>"}
    listed = ", ".join(f"%a{at}: {kinds[word]}" for at, word in enumerate(parameters.split()))
    module = parse_text(f"entry @k({listed}) {{\n  return\n}}", "k")
    assert [*array_groups(module.entries[0]).values()] == ranks
