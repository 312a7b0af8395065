"""Who has to act after a failure: decided by code from the dumps, whatever the report says."""

from __future__ import annotations

import json
import re
import shutil
import tempfile
import tomllib
from pathlib import Path
from typing import Any

import pytest

from tests.pipeline.real import KERNELS, ROOT, lay, port_of, source
from tileir_diff.errors import InputError
from tileir_diff.pipeline.artifacts import Check, GateVerdict
from tileir_diff.pipeline.gates.common import Given
from tileir_diff.pipeline.gates.diagnosis import Diagnosis, diagnose
from tileir_diff.pipeline.gates.diff import judge
from tileir_diff.pipeline.stages import Stage
from tileir_diff.pipeline.workers.model import Task
from tileir_diff.pipeline.workers.template import Template

MISTAKES = ROOT / "fixtures" / "mistakes"


def failed(folder: Path, stage: Stage, check: str, detail: str = "it differs") -> None:
    """A verdict that failed by one check."""
    checks = [
        Check(name="builds", result="pass", detail=""),
        Check(name=check, result="fail", detail=detail),
    ]
    verdict = GateVerdict(stage=stage, outcome="FAIL", evidence="static", checks=checks, saw={}, versions={})
    lay(folder, {f"gates/{stage}.json": verdict.to_json()})


def mistaken(folder: Path, mistake: str, side: str = "generated") -> Given:
    """A port whose kernel has a mistake of the fixtures in it, as its gate saw it."""
    told = tomllib.loads((MISTAKES / mistake / "mistake.toml").read_text("utf-8"))
    name = told["kernel"]
    given = port_of(folder, name)
    text = source(name).replace(told.get("find", "\0"), told.get("replace", ""))
    lay(folder, {
        "kernel.rs": text,
        f"{side}/{name}.mlir": (MISTAKES / mistake / "gen.g.mlir").read_bytes(),
        f"{side}/{name}.launch.json": (MISTAKES / mistake / "launch.json").read_bytes(),
    })  # fmt: skip
    failed(folder, "kernel", f"{name}: same as the reference")
    return given


def found(given: Given) -> Diagnosis:
    with tempfile.TemporaryDirectory() as place:
        return diagnose(given, Path(place))


def report(given: Given, **changes: Any) -> str:
    """The outcome on the mechanical worker's report, with other fields."""
    task = Task("diff", "k", 1, given.folder, "", 1, 1.0)
    assert Template().work(task).status == "ok"
    data = json.loads((given.folder / "diff_report.json").read_text("utf-8")) | changes
    lay(given.folder, {"diff_report.json": json.dumps(data)})
    return judge(given).verdict.outcome


def test_a_mistake_in_the_kernel_is_the_kernel_writers(tmp_path: Path) -> None:
    given = mistaken(tmp_path, "reduction_axis")
    assert found(given)[:5] == ("kernel", "softmax", "translation", "kernel", "kernel")
    assert report(given) == "TO_KERNEL"


@pytest.fixture(scope="module")
def lost(tmp_path_factory: pytest.TempPathFactory) -> Given:
    """A kernel that asks for what its front end loses, with the mechanical worker's report."""
    given = mistaken(tmp_path_factory.mktemp("lost"), "scan_axis_ignored")
    assert Template().work(Task("diff", "k", 1, given.folder, "", 1, 300.0)).status == "ok"
    return given


def again(given: Given, folder: Path, kernel: bytes | str | None = None, **changes: Any) -> GateVerdict:
    """The verdict on that report with other fields, or another smaller kernel."""
    shutil.copytree(given.folder, folder, dirs_exist_ok=True)
    data = json.loads((given.folder / "diff_report.json").read_text("utf-8")) | changes
    lay(folder, {"diff_report.json": json.dumps(data)})
    if kernel is not None:
        lay(folder, {"reduced/kernel.mlir": kernel})
    return judge(Given(folder, {})).verdict


def test_what_the_front_end_loses_is_its_own_with_the_line_that_asks(lost: Given, tmp_path: Path) -> None:
    assert found(lost)[2:5] == ("frontend-bug", "frontend", "upstream")
    lines = lost.text("kernel.rs").split("\n")
    line = next(at for at, each in enumerate(lines, 1) if "scan_sum" in each)
    proof = {"file": "kernel.rs", "line": line, "text": "scan_sum(tile, 1i32"}
    assert judge(lost).verdict.outcome == "UPSTREAM"
    assert again(lost, tmp_path, evidence=[proof]).outcome == "UPSTREAM"
    assert again(lost, tmp_path, evidence=[]).outcome == "MALFORMED"
    assert again(lost, tmp_path, evidence=[proof | {"line": line + 1}]).outcome == "MALFORMED"


def test_what_the_front_end_loses_is_shown_by_a_smaller_kernel(lost: Given, tmp_path: Path) -> None:
    [check] = [each for each in judge(lost).verdict.checks if each.name == "reduced"]
    whole, smaller = (int(word) for word in re.findall(r"\d+", check.detail))
    assert smaller < whole / 2
    assert "reduced/kernel.mlir" in judge(lost).verdict.saw
    right = (KERNELS / "running_total" / "rs.g.mlir").read_text("utf-8")
    longer = lost.text("reduced/kernel.mlir").replace(
        "  return", "".join(f"  %c{at} = constant <i32: 1> : tile<i32>\n" for at in range(99)) + "  return"
    )
    for text, said in (
        ("", "empty"), ("entry @k() { return }", "does not show scan/axis"), (right, ""),
        (longer, "larger"), (b"\xff\0", ""), ("entry @k(", ""),
    ):  # fmt: skip
        verdict = again(lost, tmp_path, text)
        [check] = [each for each in verdict.checks if each.name == "reduced"]
        assert (verdict.outcome, check.result) == ("MALFORMED", "fail"), text
        assert said in check.detail
    for path in (None, "kernel.rs", "reduced/none.mlir"):
        named = again(lost, tmp_path, reduced=path)
        assert named.outcome == "MALFORMED"


@pytest.mark.parametrize(
    "change",
    [
        {"route": "upstream"}, {"route": "host"}, {"owner": "tileiras"}, {"cause": "tileiras-bug"},
        {"failed": "host"}, {"variant": "other"},
        {"evidence": [{"file": "kernel.rs", "line": 1, "text": "no"}]},
    ],
)  # fmt: skip
def test_a_report_that_says_otherwise_is_malformed(change: dict[str, Any], tmp_path: Path) -> None:
    given = mistaken(tmp_path, "reduction_axis")
    assert report(given, **change) == "MALFORMED"


def test_a_kernel_without_a_dump_is_its_writers(tmp_path: Path) -> None:
    given = port_of(tmp_path, "softmax")
    failed(tmp_path, "kernel", "softmax: signature", "y is a number")
    assert found(given)[3:5] == ("kernel", "kernel")


def host(folder: Path, check: str, **launched: Any) -> Given:
    """A kernel that passed, and a host that launches it, or something else."""
    given = port_of(folder, "softmax")
    launch = json.loads((KERNELS / "softmax" / "launch.json").read_text("utf-8"))
    dump = (KERNELS / "softmax" / "rs.g.mlir").read_bytes()
    other = {**launch, "generated": {**launch["generated"], **launched}}
    lay(folder, {
        "kernel.rs": source("softmax"), "generated/softmax.mlir": dump, "launched/softmax.mlir": dump,
        "generated/softmax.launch.json": json.dumps(launch),
        "launched/softmax.launch.json": json.dumps(other),
    })  # fmt: skip
    failed(folder, "host", check)
    return given


def test_another_launch_is_the_hosts(tmp_path: Path) -> None:
    given = host(tmp_path, "softmax: runs", grid=[3, 1, 1])
    assert found(given)[:5] == ("host", "softmax", "host", "host", "host")
    assert "grid" in found(given).why
    assert report(given) == "TO_HOST"


def test_another_kernel_is_the_hosts(tmp_path: Path) -> None:
    given = host(tmp_path, "softmax: same as the reference")
    wrong = (MISTAKES / "reduction_axis" / "gen.g.mlir").read_bytes()
    lay(tmp_path, {"launched/softmax.mlir": wrong})
    assert found(given).route == "host"
    assert "another kernel than the one that passed" in found(given).why


def test_a_library_that_launches_nothing_is_the_hosts(tmp_path: Path) -> None:
    given = port_of(tmp_path, "softmax")
    failed(tmp_path, "host", "softmax: launches", "0 launches for one call")
    assert found(given).route == "host"


def test_the_same_kernel_and_launch_with_another_result_is_nobodys_yet(tmp_path: Path) -> None:
    given = host(tmp_path, "softmax: runs")
    assert found(given).route == "unknown"
    assert report(given) == "UNDIAGNOSED"


def test_what_only_a_gpu_finds_wrong_is_nobodys_yet(tmp_path: Path) -> None:
    given = host(tmp_path, "softmax: runs")
    failed(tmp_path, "performance", "softmax: right", "error 3.0")
    assert found(given)[0] == "performance"
    assert report(given) == "UNDIAGNOSED"


def test_without_a_failure_there_is_nothing_to_diagnose(tmp_path: Path) -> None:
    given = port_of(tmp_path, "softmax")
    with pytest.raises(InputError, match="no stage has failed"):
        found(given)
    lay(tmp_path, {"diff_report.json": "{}"})
    assert judge(given).verdict.outcome == "MALFORMED"
