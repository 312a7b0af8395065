"""Why a configuration is slow: only what code finds of the launched kernel counts, and all of it is told."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any

import pytest

from tests.pipeline.real import KERNELS, ROOT, lay, port_of
from tests.pipeline.test_measured import FILES, results
from tileir_diff.pipeline.artifacts import GateVerdict, Residual
from tileir_diff.pipeline.gates import investigator
from tileir_diff.pipeline.gates.common import RESULTS, WAIVERS, Given
from tileir_diff.pipeline.gates.performance import measured
from tileir_diff.pipeline.workers.model import Task
from tileir_diff.pipeline.workers.template import Template

MISTAKES = ROOT / "fixtures" / "mistakes"
WAIVER = '[[waivers]]\nrule = "*"\nreason = "for a test"\n'


def slow(folder: Path, name: str, dump: Path, *, call_us: float = 1.0, **launched: Any) -> Given:
    """A port whose host launches that dump, twice as slow as the reference on an H200."""
    given = port_of(folder, name)
    launch = json.loads((KERNELS / name / "launch.json").read_text("utf-8"))
    launch["generated"] |= launched
    data = results({name: (10.0, 5.0)})
    data["machine"]["arch"] = "sm_90"
    data["benchmark"]["configurations"][0]["call_us"] = call_us
    lay(folder, {
        **FILES, RESULTS: json.dumps(data), f"launched/{name}.mlir": dump.read_bytes(),
        f"launched/{name}.launch.json": json.dumps(launch),
    })  # fmt: skip
    lay(folder, {"perf.json": measured(given, given.analysis()).to_json()})
    return given


def mistaken(folder: Path, mistake: str) -> Given:
    """One of the fixtures' mistakes, waived."""
    told = tomllib.loads((MISTAKES / mistake / "mistake.toml").read_text("utf-8"))
    given = slow(folder, told["kernel"], MISTAKES / mistake / "gen.g.mlir")
    lay(folder, {WAIVERS: WAIVER})
    return given


def answered(given: Given, **changes: Any) -> GateVerdict:
    """The gate on the mechanical worker's answer, with other fields."""
    assert Template().work(Task("investigator", "k", 1, given.folder, "", 1, 1.0)).status == "ok"
    data = json.loads((given.folder / "residual.json").read_text("utf-8")) | changes
    lay(given.folder, {"residual.json": json.dumps(data)})
    return investigator.judge(given).verdict


def kinds(given: Given) -> set[tuple[str, str]]:
    return {(each.side, each.kind) for each in given.read(Residual, "residual.json").causes}


@pytest.mark.usefixtures("real_disassembler")
@pytest.mark.parametrize(
    ("mistake", "kind"),
    [
        ("cluster_missing", ("host", "tuning")),
        ("latency_changed", ("device", "hint")),
        ("pointer_for_view", ("device", "memory-family")),
    ],
)
def test_a_mistake_that_costs_time_is_its_cause(mistake: str, kind: tuple[str, str], tmp_path: Path) -> None:
    given = mistaken(tmp_path, mistake)
    verdict = answered(given)
    assert verdict.outcome == "EXPLAINED"
    assert kind in kinds(given)
    assert given.read(Residual, "residual.json").unexplained == []
    assert verdict.versions["tileiras"]


@pytest.mark.usefixtures("real_disassembler")
def test_a_hint_is_a_cause_with_what_the_assembler_makes_of_it(tmp_path: Path) -> None:
    dump = tmp_path / "no_tma.mlir"
    text = (KERNELS / "matmul" / "rs.g.mlir").read_text("utf-8")
    dump.write_text(
        text.replace("<sm_100 = {latency = 3}>", "<default = {allow_tma = false, latency = 3}>"), "utf-8"
    )
    given = slow(tmp_path, "matmul", dump)
    assert answered(given).outcome == "EXPLAINED"
    [hint] = [each for each in given.read(Residual, "residual.json").causes if each.kind == "hint"]
    assert "with allow_tma = true" in hint.facts[0].why
    assert "TMA load" in hint.facts[0].why
    assert {each.file.partition("/")[0] for each in hint.evidence} == {"reference", "launched"}


@pytest.mark.usefixtures("real_disassembler")
@pytest.mark.parametrize("mistake", ["tma_off", "occupancy_missing"])
def test_a_hint_that_makes_no_other_code_is_no_cause(mistake: str, tmp_path: Path) -> None:
    given = mistaken(tmp_path, mistake)
    assert answered(given).outcome == "EXPLAINED"
    assert kinds(given) == set()


@pytest.mark.usefixtures("real_disassembler")
def test_what_code_does_not_find_is_unexplained(tmp_path: Path) -> None:
    given = slow(tmp_path, "vector_add", KERNELS / "vector_add" / "rs.g.mlir")
    verdict = answered(given)
    assert verdict.outcome == "EXPLAINED"
    assert kinds(given) == set()
    assert given.read(Residual, "residual.json").unexplained == ["vector_add"]
    [device] = [each for each in verdict.checks if each.name == "vector_add: device"]
    assert "sm_90: machine code" in device.detail


@pytest.mark.usefixtures("real_disassembler")
def test_the_host_has_causes_of_its_own(tmp_path: Path) -> None:
    given = slow(tmp_path, "vector_add", KERNELS / "vector_add" / "rs.g.mlir", call_us=30.0, grid=[9, 1, 1])
    assert answered(given).outcome == "EXPLAINED"
    assert kinds(given) == {("host", "grid"), ("host", "wrapper")}


@pytest.mark.usefixtures("real_disassembler")
def test_the_time_of_a_call_explains_no_time_of_the_device(tmp_path: Path) -> None:
    given = slow(tmp_path, "vector_add", KERNELS / "vector_add" / "rs.g.mlir", call_us=30.0)
    assert answered(given).outcome == "EXPLAINED"
    assert kinds(given) == {("host", "wrapper")}
    assert given.read(Residual, "residual.json").unexplained == ["vector_add"]


def grid(**change: Any) -> dict[str, Any]:
    given = {"what": "grid", "reference": "4 x 1 x 1", "generated": "9 x 1 x 1"}
    return {"case": "vector_add", "side": "host", "kind": "grid", "claim": "words",
            "facts": [given], "evidence": [], **change}  # fmt: skip


def proof(**change: Any) -> list[dict[str, Any]]:
    return [{"file": "kernel.rs", "line": 1, "text": "k", **change}]


FACT = grid()["facts"][0]


@pytest.mark.parametrize(
    ("causes", "unexplained", "outcome"),
    [
        ([grid()], [], "EXPLAINED"),
        ([grid(evidence=proof())], [], "EXPLAINED"),
        ([], ["vector_add"], "FAIL"),
        ([], [], "FAIL"),
        ([grid()], ["vector_add"], "FAIL"),
        ([grid(), grid(case="softmax")], [], "FAIL"),
        ([grid(facts=[FACT | {"generated": "8 x 1 x 1"}])], [], "FAIL"),
        ([grid(facts=[FACT, FACT | {"what": "registers for sm_90"}])], [], "FAIL"),
        ([grid(kind="tuning")], [], "FAIL"),
        ([grid(side="device")], [], "FAIL"),
        ([grid(facts=[])], [], "MALFORMED"),
        ([grid(kind="bad luck")], [], "MALFORMED"),
        ([grid(evidence=proof(line=2))], [], "FAIL"),
        ([grid(evidence=proof(text="what is not there"))], [], "FAIL"),
        ([grid(evidence=proof(text=" "))], [], "FAIL"),
        ([grid(evidence=proof(file="none.rs"))], [], "FAIL"),
        ([grid(evidence=proof(file="../secret"))], [], "MALFORMED"),
    ],
)
def test_causes_are_those_that_code_finds(
    causes: list[Any], unexplained: list[str], outcome: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tileir_diff.toolchain.find_tool", lambda name: None)  # pyright: ignore
    given = slow(tmp_path, "vector_add", KERNELS / "vector_add" / "rs.g.mlir", grid=[9, 1, 1])
    reference = json.loads((KERNELS / "vector_add" / "launch.json").read_text())["reference"]["grid"]
    for each in causes:
        for fact in each["facts"]:
            fact["reference"] = " x ".join(map(str, [*reference, 1, 1][:3]))
    lay(tmp_path, {"residual.json": json.dumps({"causes": causes, "unexplained": unexplained})})
    assert investigator.judge(given).verdict.outcome == outcome


def test_without_an_assembler_the_device_stays_open(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tileir_diff.toolchain.find_tool", lambda name: None)  # pyright: ignore
    given = slow(tmp_path, "vector_add", KERNELS / "vector_add" / "rs.g.mlir")
    checks = {each.name: each.result for each in answered(given).checks}
    assert checks["vector_add: device"] == "open"
