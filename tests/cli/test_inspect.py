"""`tileir-diff check`: dumps verified, and linted if asked."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

from click.testing import Result

from tileir_diff.report.layout import WIDTH

Run = Callable[..., Result]

DEAD_MASK = """\
entry @k_entry(%arg0: tile<ptr<f32>>, %arg1: tile<i32>) {
  %0 = iota : tile<64xi32>
  %1 = reshape %arg1 : tile<i32> -> tile<1xi32>
  %2 = broadcast %1 : tile<1xi32> -> tile<64xi32>
  %3 = cmpi less_than %0, %2, signed : tile<64xi32> -> tile<64xi1>
  %4 = reshape %arg0 : tile<ptr<f32>> -> tile<1xptr<f32>>
  %5 = broadcast %4 : tile<1xptr<f32>> -> tile<64xptr<f32>>
  %6 = offset %5, %0 : tile<64xptr<f32>>, tile<64xi32> -> tile<64xptr<f32>>
  %x, %t = load_ptr_tko weak %6 : tile<64xptr<f32>> -> tile<64xf32>, token
  %7 = store_ptr_tko weak %6, %x : tile<64xptr<f32>>, tile<64xf32> -> token
  return
}
"""


def test_valid_and_unreadable_files(run: Run) -> None:
    result = run("check", "ref.mlir", "broken.mlir", "none.mlir")
    assert result.exit_code == 2
    assert "ref.mlir: ok" in result.stdout
    assert "broken.mlir:2:" in result.stdout
    assert run("check", "ref.mlir", "gen.mlir").exit_code == 0


def test_lints_are_listed_and_change_no_status(run: Run, folder: Path) -> None:
    (folder / "dead.mlir").write_text(DEAD_MASK)
    assert "lint/" not in run("check", "dead.mlir").stdout
    result = run("check", "--lint", "dead.mlir")
    assert result.exit_code == 0
    assert "dead.mlir: ok" in result.stdout
    assert "dead.mlir:5:3: warn[lint/dead-mask]: " in result.stdout


def test_lints_of_standard_input_as_json(run: Run) -> None:
    result = run("check", "--lint", "--format", "json", "-", "broken.mlir", stdin=DEAD_MASK)
    assert result.exit_code == 2
    document = json.loads(result.stdout)
    assert document["schema"] == "tileir-check/1"
    valid, broken = document["files"]
    assert (valid["ok"], broken["ok"]) == (True, False)
    assert ("lint/dead-mask", 5) in [(lint["rule"], lint["line"]) for lint in valid["lints"]]
    assert broken["lints"] == []
    assert valid["path"] == "<stdin>"


def test_standard_input_has_one_name(run: Run) -> None:
    for flags in ((), ("--lint",)):
        assert run("check", *flags, "-", stdin=DEAD_MASK).stdout.startswith("<stdin>: ok\n")
        document = json.loads(run("check", *flags, "--format", "json", "-", stdin=DEAD_MASK).stdout)
        assert document["files"][0]["path"] == "<stdin>"
        empty = run("check", *flags, "-", stdin="")
        assert empty.exit_code == 2
        assert empty.stdout.startswith("<stdin>: error[unreadable]: ")


def test_a_lint_quotes_the_op_with_a_caret_below_its_name(run: Run, folder: Path) -> None:
    (folder / "dead.mlir").write_text(DEAD_MASK)
    lines = run("check", "--lint", "dead.mlir").stdout.splitlines()
    at = next(i for i, line in enumerate(lines) if "lint/dead-mask" in line)
    start = lines[at + 2].index("^")
    assert lines[at + 1][start:].startswith("cmpi less_than %0, %2")
    assert lines[at + 2].strip() == "^^^^"
    assert all(len(line) <= 2 + WIDTH for line in lines[at + 1 : at + 3])
    assert lines[at + 3].startswith("  fix: ")


def test_a_graph_has_the_format_of_its_file(run: Run) -> None:
    result = run("show", "ref.mlir", "--graph", "g.json", "--format", "json")
    assert result.exit_code == 2
    assert "--format has no effect" in result.stderr
    assert run("show", "ref.mlir", "--graph", "g.json").exit_code == 0
