"""The mechanical worker from end to end: real dumps in, a port that builds and is right out, no model."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from tests.pipeline.real import short_spec, spec
from tileir_diff.cli.app import app
from tileir_diff.pipeline.log import Judged, read_log

OPERATORS = ("vector_add", "softmax", "transpose", "swiglu", "matmul", "rms_norm", "layer_norm", "attention")

pytest.importorskip("tileir_diff.transpile")
pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("cargo")]


def ported(folder: Path, operator: str, *specs: str) -> list[tuple[str, str]]:
    """Ports an operator, and gives the verdicts in order."""
    words = [word for each in specs for word in ("--reference", each)]
    limits = ["--attempts", "1", "--run-seconds", "200"]
    made = CliRunner().invoke(app, ["port", operator, "--workdir", str(folder), *words, *limits])
    assert made.exit_code == 1, made.output
    return [(each.stage, each.outcome) for each in read_log(folder / "log.jsonl") if isinstance(each, Judged)]


END = [("analyst", "PASS"), ("kernel", "PASS"), ("host", "ALL_PASS"), ("performance", "UNMEASURED")]


@pytest.mark.parametrize("operator", OPERATORS)
def test_an_operator_is_ported_without_a_model(operator: str, tmp_path: Path) -> None:
    assert ported(tmp_path / "run", operator, spec(operator)) == END
    correct = json.loads((tmp_path / "run" / "tree" / "correctness.json").read_text())
    assert (correct["evidence"], correct["compared"][0]["outcome"]) == ("interpreter", "equal")
    assert correct["compared"][0]["runs"] > 0


def test_two_variants_are_two_modules_and_the_host_takes_the_right_one(tmp_path: Path) -> None:
    assert ported(tmp_path / "run", "softmax", spec("softmax"), short_spec(tmp_path)) == END
    text = (tmp_path / "run" / "tree" / "kernel.rs").read_text()
    assert text.count("#[cutile::module]") == 2
    grids = [
        json.loads((tmp_path / "run" / "tree" / "launched" / f"{name}.launch.json").read_text())["generated"][
            "grid"
        ]
        for name in ("softmax", "short")
    ]
    assert grids == [[4, 1, 1], [2, 1, 1]]
    replayed = CliRunner().invoke(app, ["port", "replay", str(tmp_path / "run")])
    assert (replayed.exit_code, "0 of them differ" in replayed.output) == (0, True), replayed.output


def test_what_is_not_covered_is_a_verdict_with_its_place(tmp_path: Path) -> None:
    assert ported(tmp_path / "run", "histogram", spec("histogram"))[-1][1] == "CRASHED"
