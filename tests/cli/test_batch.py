"""`tileir-diff batch`: many pairs in one process."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result

from tileir_diff.match.model import CompareOptions
from tileir_diff.report.model import Report

Run = Callable[..., Result]
RulesFound = Callable[..., list[CompareOptions]]


def test_one_line_a_pair_and_the_worst_status(run: Run, rules_found: RulesFound, folder: Path) -> None:
    rules_found()
    (folder / "pairs").write_text("# kernels\nref.mlir gen.mlir\n\nref.mlir broken.mlir\n")
    result = run("batch", "pairs")
    assert result.exit_code == 2
    first, second, total = result.stdout.splitlines()
    assert total == "2 pairs: 1 PASS, 1 BLOCKED"
    assert first.startswith("PASS              ref.mlir gen.mlir")
    assert second.startswith("BLOCKED           ref.mlir broken.mlir")


def test_pairs_as_json_with_options_of_their_own(run: Run, rules_found: RulesFound, folder: Path) -> None:
    seen = rules_found("mask/missing")
    pair = {"reference": "ref.mlir", "generated": "gen.mlir", "launch": "n=5", "entry": "k_entry"}
    result = run("batch", "-", "--format", "json", "--launch", "grid.x=2", stdin=json.dumps(pair) + "\n")
    assert result.exit_code == 1
    assert Report.model_validate_json(result.stdout).verdict == "FAIL_FIXABLE"
    assert seen[0].entry == "k_entry"
    assert seen[0].launch is not None
    assert seen[0].launch.reference.named == {"n": 5}
    assert seen[0].launch.reference.grid == (2, None, None)


def test_output_goes_to_a_file(run: Run, rules_found: RulesFound, folder: Path) -> None:
    rules_found()
    assert run("batch", "-", "-o", "lines", stdin="ref.mlir gen.mlir\n" * 2).stdout == ""
    assert len((folder / "lines").read_text().splitlines()) == 3


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("ref.mlir", "pairs:1:1: error: a pair has two files, not 1"),
        ("ref.mlir gen.mlir\na b c", "pairs:2:1: error: a pair has two files, not 3"),
        ("'a b' c", '"generated": ".."}'),
        ("{", "pairs:1:2: error: not JSON"),
        ('{"reference": "ref.mlir"}', "a missing 'reference' or 'generated' is wrong"),
        ('{"reference": "ref.mlir", "generated": 3}', "'generated' is wrong"),
        ('{"reference": "a", "generated": "b", "more": "c"}', "'more' is wrong"),
    ],
)
def test_a_wrong_list_is_an_error_with_its_line(
    run: Run, rules_found: RulesFound, folder: Path, text: str, message: str
) -> None:
    rules_found()
    (folder / "pairs").write_text(text)
    result = run("batch", "pairs")
    assert result.exit_code == 2
    assert message in result.stderr


def test_a_list_from_standard_input_is_named(run: Run) -> None:
    assert run("batch", "-", stdin="a b c\n").stderr.startswith("<stdin>:1:1: error: a pair has two files")


@pytest.mark.parametrize("text", ["", "# nothing\n\n"])
def test_a_list_without_a_pair_is_an_error(run: Run, folder: Path, text: str) -> None:
    (folder / "pairs").write_text(text)
    result = run("batch", "pairs")
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr == "pairs: error: no pairs in it: nothing to compare\n"


def test_a_missing_list_is_an_error(run: Run) -> None:
    assert "none: error: cannot read" in run("batch", "none").stderr
