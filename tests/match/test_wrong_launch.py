"""A wrong launch of right kernels is told as that, and nothing that follows from it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.match.fixtures import ROOT, edits
from tileir_diff import diff

KERNELS = ROOT / "kernels"
MISTAKES = {edit.name: edit for edit in edits("mistakes")}


def launched(kernel: str, folder: Path, **changes: Any) -> Path:
    """The launch of a kernel with other arguments, by position, or another grid for the generated side."""
    data = json.loads((KERNELS / kernel / "launch.json").read_text())
    side = data["generated"]
    side["grid"] = changes.pop("grid", side["grid"])
    for name, value in changes.items():
        (kind,) = side["args"][int(name[3:])]
        side["args"][int(name[3:])] = {kind: value}
    path = folder / "launch.json"
    path.write_text(json.dumps(data))
    return path


@pytest.mark.parametrize(
    ("kernel", "changes", "told"),
    [
        ("vector_add", {"arg3": 999}, ["%arg3 = 999"]),
        ("rms_norm", {"arg8": 1000}, ["%arg8 = 1000"]),
        ("rms_norm", {"arg9": 1e-5}, ["%arg9 = 1e-05"]),
        ("rms_norm", {"arg0": "weight", "arg1": "x"}, ["%arg0 = weight", "%arg1 = x"]),
        ("swiglu", {"arg3": 1000, "arg4": 37}, ["%arg3 = 1000", "%arg4 = 37"]),
        ("attention", {"grid": [2, 1, 1]}, ["2 x 1 x 1 blocks"]),
        ("swiglu", {"grid": [37, 1, 1], "arg4": 999}, ["%arg4 = 999", "37 x 1 x 1 blocks"]),
    ],
)
def test_the_host_is_told_what_is_wrong(
    kernel: str, changes: dict[str, Any], told: list[str], tmp_path: Path
) -> None:
    launch = launched(kernel, tmp_path, **changes)
    report = diff(KERNELS / kernel / "py.g.mlir", KERNELS / kernel / "rs.g.mlir", launch=launch)
    critical = [each for each in report.findings if each.severity == "critical"]
    assert [each.actual for each in critical] == told
    assert {each.cause for each in critical} == {"host"}
    assert report.owner == "host"


@pytest.mark.parametrize(
    "name", ["wrong_mask_operand", "table_stride", "gate_for_up", "eps_fixed", "row_padding"]
)
def test_a_kernel_that_is_wrong_is_not_the_hosts(name: str) -> None:
    edit = MISTAKES[name]
    report = diff(edit.kernel / "py.g.mlir", edit.folder / "gen.g.mlir", launch=edit.folder / "launch.json")
    critical = [each for each in report.findings if each.severity == "critical"]
    assert critical
    assert not any(each.cause == "host" for each in critical)


def test_a_wrong_launch_beside_a_wrong_kernel_is_not_all(tmp_path: Path) -> None:
    launch = launched("vector_add", tmp_path, arg3=999)
    generated = MISTAKES["subtract_for_add"].folder / "gen.g.mlir"
    report = diff(KERNELS / "vector_add" / "py.g.mlir", generated, launch=launch)
    assert any(each.rule.startswith("arithmetic/") for each in report.findings)
    assert report.owner == "kernel"


@pytest.mark.parametrize("kernel", ["vector_add", "softmax", "layer_norm", "matmul"])
def test_grids_that_are_given_alone_and_differ(kernel: str) -> None:
    """One block on one side, where its index is a constant, and several on the other."""
    paths = (KERNELS / kernel / name for name in ("py.g.mlir", "rs.g.mlir"))
    report = diff(*paths, launch=["reference.grid.x=1", "generated.grid.x=4"])
    critical = [each for each in report.findings if each.severity == "critical"]
    assert [(each.rule, each.expected, each.actual) for each in critical] == [
        ("grid/size", "1 block along x", "4 blocks along x")
    ]
    assert report.owner == "host"
