"""The layout for TileGym: the fields that its validators ask for, and nothing that the run does not have."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from tests.pipeline.real import lay, port_of, short_spec
from tests.pipeline.test_measured import FILES, results
from tileir_diff.errors import InputError
from tileir_diff.pipeline.artifacts import Compared, Correctness
from tileir_diff.pipeline.gates import analyst
from tileir_diff.pipeline.gates.common import RESULTS
from tileir_diff.pipeline.gates.performance import measured
from tileir_diff.pipeline.references import prepare
from tileir_diff.pipeline.tilegym import lay_out
from tileir_diff.pipeline.workers.analyse import analyse

REQUIRED = (
    "kernel_name", "source", "launch_path", "pattern", "ops_used", "test_perf_configs", "kernel_variants",
    "correctness_reference", "correctness_tolerance", "autotune_backends", "autotune_configs",
)  # fmt: skip


def laid(folder: Path) -> Path:
    lay_out(folder)
    return folder / "tilegym" / "softmax"


def analysis(place: Path) -> dict[str, Any]:
    return json.loads((place / "reference" / "analysis.json").read_text("utf-8"))


def test_one_variant_is_single(tmp_path: Path) -> None:
    port_of(tmp_path / "tree", "softmax")
    place = laid(tmp_path)
    found = analysis(place)
    assert [name for name in REQUIRED if name not in found] == []
    assert (found["launch_path"], found["pattern"], found["autotune_backends"]) == ("direct", "single", [])
    assert (place / found["kernel_variants"][0]["reference_ir"]).exists()
    assert found["test_perf_configs"] == {"softmax": {"shapes": [[200, 60], [200, 60]]}}
    assert all({"atol", "rtol"} <= set(each) for each in found["correctness_tolerance"].values())


def test_several_variants_have_a_reference_each(tmp_path: Path) -> None:
    given = port_of(tmp_path / "tree", "softmax")
    lay(given.folder, prepare([short_spec(tmp_path)]))
    lay(given.folder, {"analysis.json": analyse(given.folder, "softmax").to_json()})
    place = laid(tmp_path)
    found = analysis(place)
    assert found["pattern"] == "multi_variant"
    assert all((place / each["reference_ir"]).exists() for each in found["kernel_variants"])
    assert not (place / "reference" / "reference.mlir").exists()


def test_what_was_not_measured_has_no_report(tmp_path: Path) -> None:
    given = port_of(tmp_path / "tree", "softmax")
    lay(given.folder, {"perf.json": measured(given, given.analysis()).to_json()})
    assert not (laid(tmp_path) / "reports").exists()


@pytest.mark.parametrize(
    ("ours", "verdict", "ratio"), [(10.0, "DONE", "1.0000"), (20.0, "INVESTIGATE", "2.0000")]
)
def test_a_measurement_is_told_as_their_ratio(ours: float, verdict: str, ratio: str, tmp_path: Path) -> None:
    given = port_of(tmp_path / "tree", "softmax")
    lay(given.folder, {**FILES, RESULTS: json.dumps(results({"softmax": (ours, 10.0)}))})
    lay(given.folder, {"perf.json": measured(given, given.analysis()).to_json()})
    lines = (laid(tmp_path) / "reports" / "performance.md").read_text("utf-8").splitlines()
    assert lines[0] == f"VERDICT: {verdict}"
    assert [line for line in lines if line.startswith("geomean_ratio=")] == [f"geomean_ratio={ratio}"]


@pytest.mark.parametrize(("outcome", "verdict"), [("ALL_PASS", "ALL_PASS"), ("FAIL", "FAIL")])
def test_correctness_says_what_ran(outcome: str, verdict: str, tmp_path: Path) -> None:
    given = port_of(tmp_path / "tree", "softmax")
    made = analyst.judge(given).verdict.model_copy(update={"stage": "host", "outcome": outcome})
    compared = [Compared(variant="softmax", outcome="equal", detail="equal in 3 runs", runs=3)]
    correct = Correctness(evidence="interpreter", kernel="0" * 64, compared=compared)
    lay(given.folder, {"gates/host.json": made.to_json(), "correctness.json": correct.to_json()})
    text = (laid(tmp_path) / "reports" / "correctness.md").read_text("utf-8")
    assert text.splitlines()[0] == f"VERDICT: {verdict}"
    assert "no GPU was used" in text
    assert re.search(r"^\| Test ", text, re.MULTILINE)


def test_without_an_analysis_there_is_nothing_to_lay_out(tmp_path: Path) -> None:
    with pytest.raises(InputError):
        lay_out(tmp_path)


def test_a_diagnosis_has_the_sections_that_are_looked_for(tmp_path: Path) -> None:
    given = port_of(tmp_path / "tree", "softmax")
    finding = {
        "variant": "softmax", "rule": "reduction/axis", "severity": "critical", "message": "dim=0",
        "effect": "other sums", "fix": "reduce along dim=1", "reference": "", "generated": "",
    }  # fmt: skip
    made = analyst.judge(given).verdict.model_dump(by_alias=True)
    made |= {"stage": "kernel", "outcome": "FAIL", "findings": [finding]}
    report = {
        "failed": "kernel", "variant": "softmax", "cause": "translation", "owner": "kernel",
        "route": "kernel", "fix": "reduce along dim=1",
        "evidence": [{"file": "kernel.rs", "line": 1, "text": "x"}],
    }  # fmt: skip
    lay(given.folder, {"gates/kernel.json": json.dumps(made), "diff_report.json": json.dumps(report)})
    place = laid(tmp_path)
    text = (place / "generated" / "diff_report.md").read_text("utf-8")
    assert text.splitlines()[0] == "VERDICT: FAIL_FIXABLE"
    for section in ("structural comparison", "checklist", "root cause", "impact", "verdict", "action item"):
        assert section in text.lower()
    assert re.search(r"^(\|[^|\n]*){3,}\|$", text, re.MULTILINE)
    assert (place / "reports" / "agent_logs" / "agent_b.md").exists()
    assert "cuda_tile.module" in (place / "reference" / "reference.mlir").read_text("utf-8")
