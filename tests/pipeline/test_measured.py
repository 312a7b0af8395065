"""The gate of performance: only results of this very kernel count, each by itself."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.pipeline.real import lay, port_of
from tileir_diff.pipeline.artifacts import GateVerdict, Perf
from tileir_diff.pipeline.gates import performance
from tileir_diff.pipeline.gates.common import RESULTS, Given
from tileir_diff.pipeline.gates.performance import measured
from tileir_diff.pipeline.log import sha256

FILES = {"kernel.rs": "k", "ffi.rs": "f"}


def results(times: dict[str, tuple[float, float]], **more: Any) -> dict[str, Any]:
    """Results as rust_kernels/gpu writes them, bound to the files."""
    rows = [
        {"case": case, "operator": "k", "ours_us": ours, "reference_us": reference, "speed": 9.0, "pairs": 5,
         "call_us": 1.0}
        for case, (ours, reference) in times.items()
    ]  # fmt: skip
    made: dict[str, Any] = {
        "schema": "tileir-kernels-gpu/1",
        "machine": {"device": "made up", "multiprocessors": 1, "torch": "", "cuda": ""},
        "correctness": [{"case": case, "operator": "k", "right": True} for case in times],
        "benchmark": {"operators": {}, "configurations": rows},
        "sources": {"k": {path: sha256(text.encode()) for path, text in FILES.items()}},
    }
    return made | more


def given_with(folder: Path, data: object) -> Given:
    """Two variants, and what an honest worker reports of the results."""
    given = port_of(folder, "softmax", "vector_add")
    lay(folder, FILES)
    if data is not None:
        lay(folder, {RESULTS: json.dumps(data)})
    lay(folder, {"perf.json": measured(given, given.analysis()).to_json()})
    return given


def judge(given: Given) -> GateVerdict:
    return performance.judge(given).verdict


BOTH = {"softmax": (10.0, 10.0), "vector_add": (10.0, 10.1)}


def test_as_fast_in_each_passes(tmp_path: Path) -> None:
    verdict = judge(given_with(tmp_path, results(BOTH)))
    assert (verdict.outcome, verdict.evidence) == ("PASS", "gpu")
    assert {"softmax: speed", "vector_add: speed", "geometric mean"} <= {each.name for each in verdict.checks}


def test_a_mean_does_not_hide_one_slow_configuration(tmp_path: Path) -> None:
    verdict = judge(given_with(tmp_path, results({"softmax": (5.0, 10.0), "vector_add": (10.0, 9.0)})))
    assert verdict.outcome == "SLOW"
    assert [each.name for each in verdict.checks if each.result == "fail"] == ["vector_add: speed"]


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (None, "no result file"),
        (results(BOTH, sources={}), "of this kernel.rs"),
        (results(BOTH, sources={"k": {}}), "of this kernel.rs"),
        (results(BOTH, sources={"other": results(BOTH)["sources"]["k"]}), "of this kernel.rs"),
        (
            results(BOTH, sources={"k": {"kernel.rs": sha256(b"other"), "ffi.rs": sha256(b"f")}}),
            "of this kernel.rs",
        ),
        (results(BOTH, benchmark=None), "mean nothing"),
        (results(BOTH, fault="the clock stood still"), "the clock stood still"),
        (results({"softmax": (10.0, 10.0)}), "vector_add are missing"),
        (results(BOTH, correctness=[]), "softmax, vector_add are missing"),
    ],
)
def test_without_a_measurement_of_this_kernel_there_is_none(data: Any, said: str, tmp_path: Path) -> None:
    verdict = judge(given_with(tmp_path, data))
    assert (verdict.outcome, verdict.evidence) == ("UNMEASURED", "none")
    assert said in verdict.checks[-1].detail


def test_what_a_gpu_finds_wrong_fails(tmp_path: Path) -> None:
    data = results(BOTH)
    data["correctness"][0] |= {"right": False, "error": 3.0}
    assert judge(given_with(tmp_path, data)).outcome == "FAIL"


@pytest.mark.parametrize(
    "change",
    [{"geomean": 1.5}, {"slow": []}, {"configurations": []}, {"results": "0" * 64}, {"device": "better"}],
)
def test_numbers_of_its_own_are_found(change: dict[str, Any], tmp_path: Path) -> None:
    given = given_with(tmp_path, results({"softmax": (10.0, 10.0), "vector_add": (10.0, 5.0)}))
    perf = given.read(Perf, "perf.json").model_copy(update=change)
    lay(tmp_path, {"perf.json": perf.to_json()})
    assert judge(given).outcome == "MALFORMED"


def test_numbers_without_results_are_found(tmp_path: Path) -> None:
    given = given_with(tmp_path, None)
    row = {"case": "softmax", "ours_us": 1.0, "reference_us": 2.0, "speed": 2.0}
    perf = Perf.model_validate({"results": "0" * 64, "geomean": 2.0, "configurations": [row]})
    lay(tmp_path, {"perf.json": perf.to_json()})
    assert judge(given).outcome == "MALFORMED"


@pytest.mark.parametrize(
    "data",
    [
        [], {}, {"schema": "other"}, results(BOTH, machine=None), results(BOTH, correctness={}),
        results({"softmax": (0.0, 1.0), "vector_add": (1.0, 1.0)}),
        results({"softmax": (-1.0, -1.0), "vector_add": (1.0, 1.0)}),
        results(BOTH, benchmark={"configurations": [{}]}), results(BOTH, sources=[]),
        results({"softmax": (1e-320, 1.0), "vector_add": (1.0, 1.0)}),
        results({"softmax": (10**400, 1.0), "vector_add": (1.0, 1.0)}),
        results({"softmax": (float("nan"), 1.0), "vector_add": (1.0, 1.0)}),
        results(BOTH, benchmark={"configurations": 2 * results(BOTH)["benchmark"]["configurations"]}),
        results(BOTH, correctness=[{"case": "softmax", "right": "yes"}, {"case": "vector_add", "right": 1}]),
    ],
)  # fmt: skip
def test_what_are_no_results_are_malformed(data: object, tmp_path: Path) -> None:
    given = given_with(tmp_path, None)
    lay(tmp_path, {RESULTS: json.dumps(data)})
    assert judge(given).outcome == "MALFORMED"
