"""Dumps of tile C++: the same as the committed ones, and what nvcc refuses is told at its line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from tests.match.fixtures import ROOT
from tileir_diff.cli.app import app
from tileir_diff.toolchain import disassemble

KERNELS = sorted(path.parent.name for path in (ROOT / "kernels").glob("*/kernel.cu"))


@pytest.fixture(autouse=True)
def compilers(real_disassembler: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """The real compiler, asked from the folder that the paths in the dumps are relative to."""
    monkeypatch.chdir(ROOT)


@pytest.mark.parametrize("name", KERNELS)
def test_the_kernel_of_a_fixture(name: str, tmp_path: Path) -> None:
    call = ["dump", "cpp", f"kernels/{name}/kernel.cu", "-o", str(tmp_path)]
    result = CliRunner().invoke(app, call)
    assert result.exit_code == 0, result.output
    # the locations name nvcc's own headers too, wherever it is installed
    text = disassemble((tmp_path / "kernel.tilebc").read_bytes(), "kernel.tilebc", locations=False)
    assert text == (ROOT / "kernels" / name / "cpp.mlir").read_text()
    assert f'"kernels/{name}/kernel.cu":' in (tmp_path / "kernel.mlir").read_text()
    data = json.loads((tmp_path / "kernel.json").read_text())
    assert data["front_end"].startswith("tile-cpp@13.4")
    assert len(data["entries"]) == 1


def test_what_nvcc_refuses_is_told_at_its_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = (ROOT / "kernels" / "vector_add" / "kernel.cu").read_text()
    monkeypatch.chdir(tmp_path)
    Path("kernel.cu").write_text(f"{text}\nint wrong = nowhere;\n")
    result = CliRunner().invoke(app, ["dump", "cpp", "kernel.cu"])
    assert result.exit_code == 2
    first, quoted, _ = result.output.splitlines()
    line = text.count("\n") + 2
    assert first.startswith(f"kernel.cu:{line}:1: error: ")
    assert "nowhere" in first
    assert quoted.strip() == "int wrong = nowhere;"


def test_a_file_that_is_not_there() -> None:
    result = CliRunner().invoke(app, ["dump", "cpp", "none.cu"])
    assert (result.exit_code, "none.cu: error: cannot read" in result.output) == (2, True)


def test_without_nvcc(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TILEIR_TOOLCHAIN", str(tmp_path))
    result = CliRunner().invoke(app, ["dump", "cpp", f"kernels/{KERNELS[0]}/kernel.cu"])
    assert (result.exit_code, "pip install nvidia-cuda-nvcc" in result.output) == (2, True)
