"""Both sides on the same inputs: what counts as a difference, and what it does to the findings."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner, Result

from tests.equivalence.support import kernel
from tests.equivalence.test_control import LOCK
from tileir_diff import diff
from tileir_diff.cli.app import app
from tileir_diff.dialect import parse_text
from tileir_diff.equivalence.backend import torch
from tileir_diff.equivalence.differential.compare import mismatch
from tileir_diff.equivalence.differential.pairs import run_pair
from tileir_diff.equivalence.differential.plan import Array
from tileir_diff.equivalence.differential.sides import Ran
from tileir_diff.equivalence.differential.values import WILD, recipes
from tileir_diff.match.launch import parse_launch
from tileir_diff.match.model import CompareOptions, Execution, Semantics
from tileir_diff.report.model import Report

FIXTURES = Path(__file__).parents[2] / "fixtures"
SIZE = 8
THREE = "%c = constant <f32: 3.0> : {t}\n"
SUM = "%sum, %by = %x, %x : {t}"


def unary(body: str, element: str = "f32", result: str = "") -> str:
    """A kernel that stores `%y`, computed from `%x`, of `SIZE` elements."""
    tile = f"tile<{SIZE}x{element}>"
    return kernel({"x": (element, SIZE)}, body.replace("{t}", tile), {"y": (result or element, SIZE)})


def compared(reference: str, generated: str, tmp_path: Path, **how: Any) -> Report:
    """The report with both sides run, on arrays x and y."""
    names = [{"ptr": "x"}, {"ptr": "y"}]
    launch = tmp_path / "launch.json"
    side = {"grid": [1], "args": names}
    launch.write_text(json.dumps({"reference": side, "generated": side}))
    return diff(
        parse_text(reference, "ref.mlir"), parse_text(generated, "gen.mlir"), launch=str(launch),
        execute=Execution(runs=30)._replace(**how),
    )  # fmt: skip


def executed(reference: str, generated: str, tmp_path: Path, **how: Any) -> Semantics:
    """What running both sides gives, whether structure settles it or not."""
    modules = parse_text(reference, "ref.mlir"), parse_text(generated, "gen.mlir")
    side = {"grid": [1], "args": [{"ptr": "x"}, {"ptr": "y"}]}
    launch = tmp_path / "launch.json"
    launch.write_text(json.dumps({"reference": side, "generated": side}))
    entries = modules[0].entries[0], modules[1].entries[0]
    options = CompareOptions(launch=parse_launch([str(launch)]))
    execution = Execution(runs=30)._replace(**how)
    return run_pair(modules, entries, ("k", "k"), ("r", "g"), [], options, execution)[0]


def outcome(report: Report) -> str:
    (only,) = report.semantics
    return only.outcome


def test_equal_kernels_are_settled_without_a_run(tmp_path: Path) -> None:
    text = unary("%y = addf %x, %x : {t}")
    report = compared(text, text, tmp_path)
    assert (outcome(report), report.semantics[0].runs) == ("settled", 0)
    assert report.semantics[0].detail == "settled by structure, not run"


def test_another_operation_is_shown_with_the_values(tmp_path: Path) -> None:
    report = compared(unary("%y = addf %x, %x : {t}"), unary("%y = mulf %x, %x : {t}"), tmp_path)
    assert outcome(report) == "different"
    assert "where the reference stores" in report.findings[0].evidence
    assert report.findings[0].impact == "logic"
    assert report.verdict == "FAIL_FIXABLE"


def test_what_is_shown_is_small(tmp_path: Path) -> None:
    folder = tmp_path / "inputs"
    compared(unary("%y = addf %x, %x : {t}"), unary("%y = negf %x : {t}"), tmp_path, folder=str(folder))
    assert np.count_nonzero(np.load(folder / "x.npy")) == 1
    assert np.count_nonzero(np.load(folder / "y.npy")) == 0


def block_by_block(tile: str, body: str) -> str:
    """A kernel whose blocks store `%y`, computed from the block's number `%b`, at a tile each."""
    return f"""entry @k(%x: tile<ptr<i32>>) {{
  %b, %b1, %b2 = get_tile_block_id : tile<i32>
  %last = constant <i32: 7> : tile<i32>
  %one = constant <i32: 1> : tile<i32>
  %zero = constant <i32: 0> : tile<i32>
  {tile}
  {body}
  %p = offset %x, %at : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>
  %t = store_ptr_tko weak %p, %y : tile<ptr<i32>>, tile<i32> -> token
  return
}}"""


SAME_TILE = "%at = addi %b, %zero : tile<i32>"
OTHER_TILE = "%at = subi %last, %b : tile<i32>"
PLAIN = "%y = muli %at, %at : tile<i32>"
WRONG_IN_THE_FIRST = """%first = cmpi equal %at, %zero, signed : tile<i32> -> tile<i1>
  %odd = select %first, %one, %zero : tile<i1>, tile<i32>
  %square = muli %at, %at : tile<i32>
  %y = addi %square, %odd : tile<i32>"""


@pytest.mark.parametrize(("tile", "grid"), [(SAME_TILE, "grid 1 x 1 x 1"), (OTHER_TILE, "seed 0")])
def test_fewer_blocks_are_shown_where_they_do_the_same(tile: str, grid: str, tmp_path: Path) -> None:
    launch = tmp_path / "launch.json"
    side = {"grid": [8], "args": [{"ptr": "x"}]}
    launch.write_text(json.dumps({"reference": side, "generated": side}))
    one = parse_text(block_by_block(SAME_TILE, PLAIN), "ref")
    other = parse_text(block_by_block(tile, WRONG_IN_THE_FIRST), "gen")
    (ran,) = diff(one, other, launch=str(launch), execute=Execution(runs=4)).semantics
    assert "stores 1 at x[0] where the reference stores 0 (" in ran.detail
    assert grid in ran.detail
    assert ("fewer blocks" in ran.detail) == (tile == SAME_TILE)


def test_the_sizes_of_what_is_shown_are_small() -> None:
    reference = FIXTURES / "kernels" / "vector_add" / "py.mlir"
    wrong = FIXTURES / "mistakes" / "subtract_for_add" / "gen.mlir"
    (ran,) = diff(reference, wrong, execute=Execution(runs=4)).semantics
    assert "(ordinary numbers, sizes 8, grid 1 x 1 x 1, seed 0" in ran.detail


@pytest.mark.parametrize(
    ("reference", "generated"),
    [
        # by the base 2; associated otherwise
        ("%y = exp %x : {t}",
         "%c = constant <f32: 1.44269504> : {t}\n%s = mulf %x, %c : {t}\n%y = exp2 %s : {t}"),
        ("%a = addf %x, %x : {t}\n%m = mulf %x, %x : {t}\n%y = addf %a, %m : {t}",
         "%m = mulf %x, %x : {t}\n%b = addf %x, %m : {t}\n%y = addf %x, %b : {t}"),
        # by the reciprocal: of one array, all but one element are infinite, and that one seldom moves
        (THREE + "%y = divf %c, %x : {t}",
         THREE + "%r = divf %c, %c : {t}\n%s = divf %r, %x : {t}\n%y = mulf %c, %s : {t}"),
    ],
)  # fmt: skip
def test_another_rounding_is_no_difference(reference: str, generated: str, tmp_path: Path) -> None:
    report = compared(unary(reference), unary(generated), tmp_path)
    assert outcome(report) == "equal", report.semantics[0].detail
    assert "which proves nothing" in report.findings[0].evidence
    assert report.verdict == "FAIL_FIXABLE"  # the structure differs, and no proof was given


def test_a_coarser_type_is_a_difference(tmp_path: Path) -> None:
    fine = "%m = mulf %x, %x : {t}\n%y = mulf %m, %x : {t}"
    coarse = (
        f"%h = ftof %x : {{t}} -> tile<{SIZE}xf16>\n%k = ftof %h : tile<{SIZE}xf16> -> {{t}}\n"
        "%m = mulf %k, %k : {t}\n%y = mulf %m, %k : {t}"
    )
    report = compared(unary(fine), unary(coarse), tmp_path)
    assert outcome(report) == "different"


def test_numbers_that_are_only_moved_must_be_equal(tmp_path: Path) -> None:
    one = "%c = constant <f32: 1.0> : {t}\n%y = maxf %x, %c : {t}"
    near = "%c = constant <f32: 1.00000012> : {t}\n%y = maxf %x, %c : {t}"
    assert outcome(compared(unary(one), unary(near), tmp_path)) == "different"


@pytest.mark.parametrize(("units", "told", "most"), [(1.0, False, 6), (20.0, True, 12)])
def test_a_difference_of_most_elements_needs_few_runs_with_noise(units: float, told: bool, most: int) -> None:
    array = Array("y", "f32", 4096)
    chance = torch.Generator().manual_seed(0)
    plain = torch.rand(array.elements, generator=chance) + 1
    runs: list[int] = []

    def moved(data: Any, off: float) -> Any:
        return data + torch.randint(-1, 2, data.shape, generator=chance) * (off * 2.0**-23)

    sides = plain, moved(plain, units)

    def ran(data: Any) -> Ran:
        return Ran([data], [None], {}, True)

    def sample(side: int, number: int) -> Ran:
        runs.append(number)
        return ran(moved(sides[side], 1.0))

    found = mismatch([array], ran(sides[0]), ran(sides[1]), sample)
    assert (found is not None) == told
    assert len(runs) <= most


def test_the_sign_of_a_zero_is_no_difference(tmp_path: Path) -> None:
    plain = "%y = absf %x : {t}"
    zero = "%z = constant <f32: 0.0> : {t}\n%a = absf %x : {t}\n%n = negf %z : {t}\n%y = addf %a, %n : {t}"
    report = compared(unary(plain), unary(zero), tmp_path)
    assert outcome(report) in ("settled", "equal")


def test_subnormal_numbers_show_a_flush(tmp_path: Path) -> None:
    report = compared(
        unary("%y = mulf %x, %x : {t}"), unary("%y = mulf %x, %x flush_to_zero : {t}"), tmp_path
    )
    assert outcome(report) == "different"
    assert report.findings[0].impact == "edge"


def test_a_finding_that_only_one_side_has_is_a_difference(tmp_path: Path) -> None:
    text = unary("%y = muli %x, %x : {t}", "i32")
    promised = unary("%y = muli %x, %x overflow<no_signed_wrap> : {t}", "i32")
    ran = executed(text, promised, tmp_path)
    assert ran.outcome == "different"
    assert "promised not to" in ran.detail


def test_integers_are_compared_exactly(tmp_path: Path) -> None:
    one = unary("%c = constant <i32: 7> : {t}\n%y = remi %x, %c signed : {t}", "i32")
    other = unary("%c = constant <i32: 8> : {t}\n%y = remi %x, %c signed : {t}", "i32")
    report = compared(one, other, tmp_path)
    assert outcome(report) == "different"
    assert report.findings[0].impact == "logic"


@pytest.mark.parametrize(
    ("element", "number", "equal"),
    [("i32", "123456789", "cmpi equal %x, %c, signed"), ("f32", "7.125", "cmpf equal ordered %x, %c")],
)
def test_numbers_that_the_kernels_name_are_tried(
    element: str, number: str, equal: str, tmp_path: Path
) -> None:
    kind = f"tile<8x{element}>"
    constant = f"%c = constant <{element}: {number}> : {kind}\n"
    chosen = f"%y = select %is, %x, %c : tile<8xi1>, {kind}"
    body = f"{constant}%is = {equal} : {kind} -> tile<8xi1>\n"
    zero = f"%z = constant <{element}: {'0' if element == 'i32' else '0.0'}> : {kind}\n"
    same = unary(f"{body}{chosen.replace('%is, %x, %c', '%is, %c, %x')}", element)
    other = unary(f"{zero}{body}{chosen.replace('%is, %x, %c', '%is, %z, %x')}", element)
    assert executed(same, other, tmp_path).outcome == "different"
    assert executed(same, same, tmp_path).outcome == "equal"


EXTREME = """
  %first = constant <f32: {init}> : tile<f32>
  %i0 = constant <i32: 0> : tile<i32>
  %i1 = constant <i32: 1> : tile<i32>
  %i8 = constant <i32: 8> : tile<i32>
  %last = for %i in (%i0 to %i8, step %i1) : tile<i32> iter_values(%so_far = %first) -> (tile<f32>) {
    %part = extract %x[%i] : {t} -> tile<1xf32>
    %number = reshape %part : tile<1xf32> -> tile<f32>
    %next = {op} %so_far, %number : tile<f32>
    continue %next : tile<f32>
  }
  %one = reshape %last : tile<f32> -> tile<1xf32>
  %y = broadcast %one : tile<1xf32> -> {t}"""


@pytest.mark.parametrize(
    ("op", "right", "wrong"),
    [("maxf", "0xFF800000", "0.0"), ("minf", "0x7F800000", "0.0"), ("minf", "0x7F800000", "1.0e+10")],
)
def test_the_first_value_of_an_extreme_shows(op: str, right: str, wrong: str, tmp_path: Path) -> None:
    """Where all elements lie on one side of it."""
    one, other = (unary(EXTREME.replace("{op}", op).replace("{init}", init)) for init in (right, wrong))
    for seed in (0, 1):
        assert executed(one, other, tmp_path, seed=seed).outcome == "different"


@pytest.mark.parametrize("element", ["i1", "i8", "i16", "i32", "i64"])
def test_integers_of_any_width_are_run(element: str, tmp_path: Path) -> None:
    same = executed(
        unary("%y = andi %x, %x : {t}", element), unary("%y = ori %x, %x : {t}", element), tmp_path
    )
    other = executed(
        unary("%y = andi %x, %x : {t}", element), unary("%y = xori %x, %x : {t}", element), tmp_path
    )
    assert (same.outcome, other.outcome) == ("equal", "different")


@pytest.mark.parametrize("element", ["i8", "i16", "i32", "i64"])
def test_the_largest_and_the_least_integer_are_tried(element: str, tmp_path: Path) -> None:
    largest = (1 << int(element[1:]) - 1) - 1
    saturating = f"""%one = constant <{element}: 1> : {{t}}
  %top = constant <{element}: {largest}> : {{t}}
  %is_top = cmpi equal %x, %top, signed : {{t}} -> tile<{SIZE}xi1>
  %more = addi %x, %one : {{t}}
  %y = select %is_top, %x, %more : tile<{SIZE}xi1>, {{t}}"""
    wrapping = f"%one = constant <{element}: 1> : {{t}}\n%y = addi %x, %one : {{t}}"
    assert executed(unary(saturating, element), unary(wrapping, element), tmp_path).outcome == "different"


def scaled_to_integer(scale: str) -> str:
    """Fixed-point numbers of so many digits that each depends on rounding."""
    return unary(
        f"""%c = constant <f32: {scale}> : {{t}}
  %e = exp %x : {{t}}
  %l = sin %e : {{t}}
  %m = cos %l : {{t}}
  %p = mulf %m, %c : {{t}}
  %y = ftoi %p signed saturating : {{t}} -> tile<{SIZE}xi32>""",
        result="i32",
    )


def test_integers_that_depend_on_rounding_must_be_near(tmp_path: Path) -> None:
    assert executed(scaled_to_integer("1.0e9"), scaled_to_integer("1.0e9"), tmp_path).outcome == "equal"
    assert executed(scaled_to_integer("1.0e9"), scaled_to_integer("2.0e9"), tmp_path).outcome == "different"


def test_integers_of_64_bits_are_longer_than_32(tmp_path: Path) -> None:
    cut = "%low = trunci %x : {t} -> tile<8xi32>\n%y = exti %low signed : tile<8xi32> -> {t}"
    same = "%zero = constant <i64: 0> : {t}\n%y = addi %x, %zero : {t}"
    assert executed(unary(same, "i64"), unary(cut, "i64"), tmp_path).outcome == "different"


def test_what_the_time_did_not_suffice_for_is_told(tmp_path: Path) -> None:
    ops = "\n".join(f"%s{at + 1} = addi %s{at}, %s{at} : {{t}}" for at in range(200))
    text = unary(f"%s0 = addi %x, %x : {{t}}\n{ops}\n%y = addi %s200, %x : {{t}}", "i32")
    ran = executed(text, text, tmp_path, budget=0.02, runs=1000)
    assert "time was up" in ran.detail
    assert ran.outcome == "not-run" or f"{1000 - ran.runs} of 1000 inputs were not run" in ran.detail


def test_a_lock_is_open_at_first_and_one_that_orders_nothing_is_shown(tmp_path: Path) -> None:
    launch = tmp_path / "launch.json"
    side = {"grid": [4], "args": [{"ptr": "p"}, {"ptr": "l"}]}
    launch.write_text(json.dumps({"reference": side, "generated": side}))
    for other, expected in ((LOCK, "equal"), (LOCK.replace("acquire", "relaxed"), "different")):
        modules = parse_text(LOCK, "ref"), parse_text(other, "gen")
        entries = modules[0].entries[0], modules[1].entries[0]
        options = CompareOptions(launch=parse_launch([str(launch)]))
        ran, _ = run_pair(modules, entries, ("k", "k"), ("r", "g"), [], options, Execution(runs=3))
        assert ran.outcome == expected, ran.detail


@pytest.mark.parametrize("promised", ["", " overflow<no_signed_wrap>"])
def test_integers_out_of_range_show_no_broken_promise(promised: str, tmp_path: Path) -> None:
    """Nothing says that they are ever passed; what is stored must be the same all the same."""
    text = unary("%y = addi %x, %x{flag} : {t}", "i32")
    ran = executed(text.replace("{flag}", ""), text.replace("{flag}", promised), tmp_path)
    assert ran.outcome == "equal", ran.detail


def test_integers_out_of_range_are_tried_in_one_array_alone() -> None:
    arrays = [Array("a", "i32", 4), Array("b", "f32", 4), Array("c", "i64", 4)]
    kinds = {each.kinds for each in recipes(arrays, 0)}
    assert {(WILD, "ordinary", "ordinary"), ("ordinary", "ordinary", WILD)} <= kinds


# ---- the command


def scatter(at: str) -> str:
    """A kernel that stores at `%at`, computed from the numbers `%x` of an array."""
    body = f"""
  {at} : tile<8xi32>
  %r = reshape %p_y : tile<ptr<i32>> -> tile<1xptr<i32>>
  %b = broadcast %r : tile<1xptr<i32>> -> tile<8xptr<i32>>
  %o = offset %b, %at : tile<8xptr<i32>>, tile<8xi32> -> tile<8xptr<i32>>
  %seven = constant <i32: 7> : tile<8xi32>
  %t = store_ptr_tko weak %o, %seven : tile<8xptr<i32>>, tile<8xi32> -> token"""
    return kernel({"x": ("i32", 8)}, body, {}).replace("ptr<i32>>)", "ptr<i32>>, %p_y: tile<ptr<i32>>)", 1)


@pytest.mark.parametrize(
    "wrong", ["%at = subi %x, %x", "%h = constant <i32: 31> : tile<8xi32>\n%at = mini %x, %h signed"]
)
def test_an_array_of_unknown_size_has_room_for_indices(wrong: str, tmp_path: Path) -> None:
    ran = executed(scatter("%at = ori %x, %x"), scatter(wrong), tmp_path, runs=2)
    assert ran.outcome == "different", ran.detail
    assert "at y[" in ran.detail


def repeated(body: str) -> str:
    """A kernel that stores `%y`, computed from a number `%n` that an array has."""
    constants = "".join(f"%c{each} = constant <i32: {each}> : tile<i32>\n" for each in (0, 1, 3))
    first = f"{constants}%n = reshape %x : tile<1xi32> -> tile<i32>\n"
    last = "\n%y = reshape %all : tile<i32> -> tile<1xi32>"
    return kernel({"x": ("i32", 1)}, first + body + last, {"y": ("i32", 1)})


def test_a_number_of_iterations_that_is_out_of_range_takes_no_time_from_the_others(tmp_path: Path) -> None:
    loop = """%all = for %i in (%c0 to %n, step %c1) : tile<i32> iter_values(%s = %c0) -> (tile<i32>) {
  %next = addi %s, %c3 : tile<i32>
  continue %next : tile<i32>
}"""
    product = "%m = maxi %n, %c0 signed : tile<i32>\n%all = muli %m, %c3 : tile<i32>"
    ran = executed(repeated(loop), repeated(product), tmp_path, runs=6)
    assert ran.outcome == "equal", ran.detail
    assert "the time was up" not in ran.detail
    assert "none that the reference takes" in ran.detail


def command(*arguments: str) -> Result:
    return CliRunner().invoke(app, [*arguments])


def mistake(name: str, kernel_name: str) -> list[str]:
    home = FIXTURES / "mistakes" / name
    reference = FIXTURES / "kernels" / kernel_name / "py.mlir"
    return [str(reference), str(home / "gen.mlir"), "--launch", str(home / "launch.json")]


def test_the_printed_commands_show_the_difference(tmp_path: Path) -> None:
    folder = tmp_path / "inputs"
    done = command(
        "diff", *mistake("scale_lost", "embedding"), "--exec", "--inputs", str(folder), "--format", "json"
    )
    assert done.exit_code == 1, done.output
    (semantics,) = json.loads(done.output)["semantics"]
    assert semantics["outcome"] == "different"
    stored: list[Any] = []
    for line, side in zip(semantics["commands"], ("reference", "generated"), strict=True):
        words = line.split()
        assert words[:2] == ["tileir-diff", "run"]
        assert CliRunner().invoke(app, words[1:]).exit_code == 0
        stored.append(np.load(folder / side / "y.npy" if (folder / side / "y.npy").exists()
                              else next((folder / side).glob("*.npy"))))  # fmt: skip
    assert not np.array_equal(*stored)


def test_a_lost_mask_is_shown_by_the_address(tmp_path: Path) -> None:
    done = command("diff", *mistake("mask_off_by_one", "vector_add"), "--exec")
    assert "memory outside every array is accessed: byte 4000" in " ".join(done.output.split())
    assert done.output.endswith("VERDICT: FAIL_FIXABLE\n")


def test_markdown_and_text_tell_the_same(tmp_path: Path) -> None:
    arguments = mistake("mask_off_by_one", "vector_add")
    for form in ("text", "markdown"):
        done = command("diff", *arguments, "--exec", "--format", form)
        assert "emantics" in done.output, form
        assert "does not (ordinary numbers" in " ".join(done.output.split()), form


def test_a_plain_diff_imports_neither_torch_nor_the_runs() -> None:
    code = (
        "import sys; from tileir_diff.cli.app import app; "
        f"app({mistake('mask_off_by_one', 'vector_add')!r}, standalone_mode=False); "
        "print(sorted(m for m in sys.modules if m.split('.')[0] in ('torch', 'z3', 'numpy')"
        " or m.startswith('tileir_diff.equivalence')))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"
