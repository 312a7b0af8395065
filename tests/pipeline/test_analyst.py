"""The analyst's gate: each claim is looked up, and a false one is found."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.pipeline.real import KERNELS, array, edited, lay, port_of, spec
from tileir_diff.dump.rust_signature import Entry
from tileir_diff.errors import InputError
from tileir_diff.pipeline.artifacts import Check, GateVerdict, Reference
from tileir_diff.pipeline.gates.analyst import judge
from tileir_diff.pipeline.gates.common import BASELINES, Given
from tileir_diff.pipeline.gates.signature import plan
from tileir_diff.pipeline.references import prepare
from tileir_diff.pipeline.workers.analyse import analyse

NAMES = sorted(path.parent.name for path in KERNELS.glob("*/py.g.mlir"))


def failed(given: Given) -> list[Check]:
    verdict = judge(given).verdict
    found = [check for check in verdict.checks if check.result == "fail"]
    assert (verdict.outcome == "PASS") == (not found)
    return found


@pytest.mark.parametrize("name", NAMES)
def test_the_mechanical_analysis_of_every_kernel_passes(name: str, tmp_path: Path) -> None:
    assert failed(port_of(tmp_path, name)) == []


def more(given: Given, **changes: Any) -> dict[str, Any]:
    return {name: each.model_dump() for name, each in given.analysis().variants[0].arrays.items()} | changes


@pytest.mark.parametrize(
    ("what", "changes", "said"),
    [
        ("reference", {"reference": "reference/none.mlir"}, "cannot read"),
        ("reference", {"reference": "given/x.mlir"}, "a dump in reference/"),
        ("reference", {"entry": "other"}, "no entry '@other'"),
        ("arguments", {"arguments": []}, "10 parameters, 0 values"),
        ("arguments", {"arguments": [{"i32": 1}] * 10}, "not a i32"),
        ("arguments", {"arguments": [{"ptr": "z"}] * 10}, "none of the arrays"),
        ("launch", {"grid": [5, 1, 1]}, "the launch of the reference has [4, 1, 1]"),
        ("launch", {"arch": "sm_90"}, "the reference is for sm_100"),
        ("grid", {"grid": [4, 2, 1]}, "does not read its block's y"),
        ("constants", {"constants": {"ROWS": 63}}, "ROWS=63: no such number"),
        ("memory", {"memory": []}, "the dump has partition load of x"),
        (
            "memory",
            {"memory": [{"array": "x", "kind": "load", "families": ["pointer"]}]},
            "which is not told",
        ),
        ("tolerance", {"tolerance": {"y": {"rtol": 0.5, "atol": 0}}}, "rtol 0.01"),
        ("tolerance", {"tolerance": {"z": {"rtol": 0, "atol": 0}}}, "z is none of the arrays"),
        ("target", {"target": {"options": {"turbo": 3}}}, "no option is called turbo; there are occupancy"),
        ("target", {"target": {"options": {"occupancy": 0}}}, "occupancy=0: no launcher sets that"),
        ("target", {"target": {"options": {"occupancy": 10**30}}}, "no launcher sets that"),
        ("target", {"target": {"options": {"max_divisibility": 3}}}, "max_divisibility=3"),
        ("target", {"target": {"like": ["x"]}}, "like: 'x'"),
    ],
)
def test_a_false_claim_is_found(what: str, changes: dict[str, Any], said: str, tmp_path: Path) -> None:
    given = port_of(tmp_path, "softmax")
    edited(given, **changes)
    found = {check.name: check.detail for check in failed(given)}
    assert said in found[f"softmax: {what}"]


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"shape": [201, 60]}, "A.shape0: 201, and the launch passes 200"),
        ({"strides": [64, 1]}, "A.stride0: 64, and the launch passes 60"),
        ({"strides": [60, 2]}, "strides[1] is 1 in the dump, not 2"),
        ({"shape": [200], "strides": [60]}, "has 2 dimensions, not 1"),
        ({"use": "write"}, "use of it is read, not write"),
    ],
)
def test_a_false_shape_is_found(changes: dict[str, Any], said: str, tmp_path: Path) -> None:
    given = port_of(tmp_path, "softmax")
    edited(given, arrays=more(given, x=array(given, "x").model_copy(update=changes).model_dump()))
    assert said in {check.name: check.detail for check in failed(given)}["softmax: shapes"]


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"align": 1}, "x: the kernel promises an alignment of 16 bytes, not 1"),
        ({"align": 4096}, "x: the kernel promises an alignment of 16 bytes, not 4096"),
        ({"shape": [1]}, "x: [1], strides [1], and the launch passes [1000, 1]"),
    ],
)
def test_a_false_array_is_found_where_the_dump_has_only_pointers(
    changes: dict[str, Any], said: str, tmp_path: Path
) -> None:
    given = port_of(tmp_path, "vector_add")
    edited(given, arrays=more(given, x=array(given, "x").model_copy(update=changes).model_dump()))
    assert said in {check.name: check.detail for check in failed(given)}["vector_add: shapes"]


def test_a_true_constant_passes(tmp_path: Path) -> None:
    given = port_of(tmp_path, "softmax")
    edited(given, constants={"ROWS": 64})
    assert failed(given) == []


def test_a_reference_that_nobody_mentions_is_found(tmp_path: Path) -> None:
    given = port_of(tmp_path, "softmax")
    lay(tmp_path, prepare([spec("vector_add")]))
    assert "no variant has vector_add" in failed(given)[0].detail


def test_a_reference_is_one_variant(tmp_path: Path) -> None:
    given = port_of(tmp_path, "softmax")
    data = json.loads((tmp_path / "analysis.json").read_text("utf-8"))
    data["variants"].append(data["variants"][0] | {"name": "again"})
    lay(tmp_path, {"analysis.json": json.dumps(data)})
    assert "two variants have reference/softmax.mlir" in failed(given)[0].detail


@pytest.mark.parametrize(
    ("constants", "tuning", "said"),
    [
        ({}, {"ROWS": [32, 64]}, None),
        ({"COLS": 128}, {"COLS": [128]}, None),
        ({}, {"num_cta_in_cga": [1, 2]}, None),
        ({}, {"ROWS": [32]}, "ROWS is 64 in k, and that is not among [32]"),
        ({}, {"num_cta_in_cga": [1]}, "num_cta_in_cga is 2 in k"),
        ({}, {"BLOCK": [64]}, "BLOCK is no constant of a reference; there are ROWS, num_cta_in_cga"),
        ({"ROWS": 32}, {}, "ROWS=32: the reference was made with ROWS=64"),
    ],
)
def test_what_may_be_tuned_are_constants_of_the_references(
    constants: dict[str, int], tuning: dict[str, list[int]], said: str | None, tmp_path: Path
) -> None:
    given = port_of(tmp_path, "matmul")
    facts = given.read(Reference, "reference/matmul.json")
    lay(tmp_path, {"reference/matmul.json": facts.model_copy(update={"constants": {"ROWS": 64}}).to_json()})
    edited(given, constants=constants, name="k")
    data = json.loads((tmp_path / "analysis.json").read_text("utf-8")) | {"tuning": tuning, "operator": "k"}
    lay(tmp_path, {"analysis.json": json.dumps(data)})
    assert [said or "" for _ in failed(given)] == ([said] if said else [])
    assert all(str(said) in each.detail for each in failed(given))


def test_a_baseline_that_nobody_measured_is_found(tmp_path: Path) -> None:
    given = port_of(tmp_path, "softmax")
    data = json.loads((tmp_path / "analysis.json").read_text())
    data["baseline"]["evidence"] = "gpu"
    lay(tmp_path, {"analysis.json": json.dumps(data)})
    assert failed(given)[0].name == "baseline"


@pytest.mark.parametrize("text", ["", "[]", "{", '{"schema": "tileir-analysis/1"}', '{"operator": "../x"}'])
def test_what_is_no_analysis_is_malformed(text: str, tmp_path: Path) -> None:
    given = port_of(tmp_path, "softmax")
    lay(tmp_path, {"analysis.json": text})
    assert judge(given).verdict.outcome == "MALFORMED"


@pytest.mark.parametrize("value", [{}, {"i32": 1, "i64": 1}])
def test_an_argument_has_one_value(value: dict[str, int], tmp_path: Path) -> None:
    given = port_of(tmp_path, "softmax")
    with pytest.raises(ValueError, match=r"arguments\.3"):
        edited(given, arguments=[*given.analysis().variants[0].arguments[:3], value])


@pytest.mark.parametrize("path", ["/etc/passwd", "../x", "a/../../x", "a//b", "./x", "a\nb", ""])
def test_a_path_stays_in_the_port(path: str, tmp_path: Path) -> None:
    given = port_of(tmp_path, "softmax")
    with pytest.raises(ValueError, match="stays in it"):
        edited(given, reference=path)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("x.mlir", "has no launch"),
        (f"{KERNELS}/softmax/py.g.mlir,none.json", "cannot read"),
        (f"none.mlir,{KERNELS}/softmax/launch.json", "cannot read"),
        (f"{KERNELS}/softmax/py.g.mlir,{KERNELS}/swiglu/launch.json", "which entry"),
    ],
)
def test_a_reference_that_cannot_be_read_is_bad_input(given: str, said: str) -> None:
    with pytest.raises(InputError, match=said):
        prepare([given])
    with pytest.raises(InputError, match="no reference"):
        prepare([])


def test_a_launch_that_passes_no_array_fits_no_kernel(tmp_path: Path) -> None:
    [variant] = port_of(tmp_path, "softmax").analysis().variants
    with pytest.raises(InputError, match="gets x, which is none of the arrays"):
        plan(variant.model_copy(update={"arrays": {}}), [Entry("kernel::m", "m", (), ())], "kernel.rs")


def measured_as(given: Given, *, backend: str, evidence: str, **times: dict[str, float]) -> GateVerdict:
    """The verdict where back ends were measured, and the analysis claims one."""
    data = json.loads((given.folder / "analysis.json").read_text("utf-8"))
    data["baseline"] |= {"backend": backend, "evidence": evidence}
    baselines = {"device": "made up", "times_us": times}
    lay(given.folder, {"analysis.json": json.dumps(data), BASELINES: json.dumps(baselines)})
    return judge(given).verdict


TIMES = {"cutile": {"softmax": 8.0, "vector_add": 2.0}, "triton": {"softmax": 9.0, "vector_add": 1.0}}


@pytest.mark.parametrize(
    ("backend", "evidence", "times", "outcome"),
    [
        ("triton", "gpu", TIMES, "PASS"),
        ("cutile", "gpu", TIMES, "FAIL"),
        ("triton", "none", TIMES, "FAIL"),
        ("cutile", "gpu", {"cutile": TIMES["cutile"], "triton": {"vector_add": 1.0}}, "PASS"),
        ("cutile", "gpu", {"cutile": {"softmax": 8.0}}, "FAIL"),
        ("cutile", "gpu", {}, "MALFORMED"),
        ("cutile", "gpu", {"cutile": {"softmax": 0.0, "vector_add": 1.0}}, "MALFORMED"),
    ],
)
def test_a_measurement_chooses_the_baseline(
    backend: str, evidence: str, times: dict[str, dict[str, float]], outcome: str, tmp_path: Path
) -> None:
    given = port_of(tmp_path, "softmax", "vector_add")
    assert measured_as(given, backend=backend, evidence=evidence, **times).outcome == outcome
    if outcome == "PASS":
        assert analyse(tmp_path, "softmax").baseline.backend == backend


def test_results_of_a_port_choose_no_baseline(tmp_path: Path) -> None:
    given = port_of(tmp_path, "softmax")
    data = json.loads((tmp_path / "analysis.json").read_text("utf-8"))
    data["baseline"]["evidence"] = "gpu"
    lay(tmp_path, {"analysis.json": json.dumps(data), "given/results.json": "{}"})
    assert "there is none" in failed(given)[0].detail


def test_another_operator_and_another_entry_are_found(tmp_path: Path) -> None:
    given = port_of(tmp_path, "softmax")
    other = given._replace(settings={"operator": "matmul"})
    assert "matmul is to be ported" in failed(other)[0].detail
    path = tmp_path / "reference" / "softmax.json"
    known = Reference.read(path.read_text("utf-8"), "").model_copy(update={"entry": "another"})
    lay(tmp_path, {"reference/softmax.json": known.to_json()})
    assert "the reference is @another" in failed(given)[0].detail
