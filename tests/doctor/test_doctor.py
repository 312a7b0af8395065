"""What is there, what is missing, and what is there and will fail."""

from __future__ import annotations

import json
import stat
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from tileir_diff.cli.app import app
from tileir_diff.toolchain.run import tool_version

# Reads bytecode up to 13.2 only: the minor version is the second byte behind the magic number.
OLD_ASSEMBLER = """
for last; do :; done
case "$*" in
  *--version*) echo "release 13.2, V13.2.86";;
  *--help*) echo "    =sm_100  -  SM 100";;
  *) minor=$(od -An -tu1 -j9 -N1 "$last")
     [ "$minor" -le 2 ] || { echo "unsupported Tile version" >&2; exit 1; };;
esac
"""


@pytest.fixture(autouse=True)
def bare(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """No toolchain and no settings but what a test brings."""
    folder = tmp_path / "toolchain"
    folder.mkdir()
    monkeypatch.setenv("TILEIR_TOOLCHAIN", str(folder))
    for name in ("CUDA_HOME", "CUDA_PATH", "CUDA_ROOT", "CUDA_TOOLKIT_PATH", "LIBCLANG_PATH"):
        monkeypatch.delenv(name, raising=False)
    tool_version.cache_clear()
    return folder


def tool(folder: Path, name: str, script: str) -> None:
    path = folder / name
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)


def examined() -> tuple[int, dict[str, dict[str, Any]]]:
    """The exit status, and the checks by name."""
    result = CliRunner().invoke(app, ["doctor", "--format", "json"])
    data = json.loads(result.output)
    assert data["schema"] == "tileir-doctor/1"
    return result.exit_code, {check["name"]: check for check in data["checks"]}


def test_the_real_toolchain_is_well(monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> None:
    monkeypatch.delenv("TILEIR_TOOLCHAIN")
    request.getfixturevalue("real_disassembler")
    _, checks = examined()
    assert {checks[name]["status"] for name in ("tileirdisasm", "tileiras", "ptxas", "libnvvm")} == {"ok"}
    assert "13.1, 13.2, 13.3, 13.4" in checks["tileirdisasm"]["advice"]
    assert "sm_90" in checks["tileiras"]["advice"]
    assert checks["nvcc"]["status"] == "ok"


def test_what_is_missing_says_what_it_is_for_and_how_to_get_it() -> None:
    status, checks = examined()
    assert status == 0
    for name in ("tileirdisasm", "tileiras", "nvcc"):
        assert checks[name]["status"] == "missing"
        assert checks[name]["needs"]
        assert "pip install" in checks[name]["advice"]


def test_an_assembler_that_is_too_old_for_some_bytecode(bare: Path) -> None:
    tool(bare, "tileiras", OLD_ASSEMBLER)
    tool(bare, "tileirdisasm", OLD_ASSEMBLER)
    status, checks = examined()
    assert (status, checks["tileiras"]["status"]) == (0, "note")
    assert "not 13.3, 13.4" in checks["tileiras"]["advice"]
    assert "compiles for sm_100" in checks["tileiras"]["advice"]
    assert checks["libnvvm"]["status"] == "missing"


def test_assembler_and_disassembler_of_two_releases(bare: Path) -> None:
    tool(bare, "tileiras", OLD_ASSEMBLER)
    tool(bare, "tileirdisasm", OLD_ASSEMBLER.replace("13.2.86", "13.4.92"))
    status, checks = examined()
    assert (status, checks["tileiras"]["status"]) == (1, "wrong")
    assert "13.4.92" in checks["tileiras"]["advice"]


def test_an_assembler_that_cannot_load_its_library(bare: Path) -> None:
    script = OLD_ASSEMBLER.replace(
        "  *) minor", '  *--gpu-name*) echo "failed to compile" >&2; exit 1;;\n  *) minor'
    )
    tool(bare, "tileiras", script)
    tool(bare, "tileirdisasm", OLD_ASSEMBLER)
    status, checks = examined()
    assert (status, checks["tileiras"]["status"]) == (1, "wrong")
    assert "without ptxas and libnvvm" in checks["tileiras"]["advice"]


def test_a_setting_of_another_toolkit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CUDA_HOME", "/usr/local/cuda")
    _, checks = examined()
    assert checks["CUDA_HOME"]["status"] == "note"
    assert "another CUDA" in checks["CUDA_HOME"]["advice"]


def test_a_compiler_that_is_too_old_for_the_crate(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tool(tmp_path, "rustc", 'echo "rustc 1.75.0 (82e1608df 2023-12-21)"')
    tool(tmp_path, "cargo", 'echo "cargo 1.95.0 (f2d3ce0bd 2026-03-21)"')
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    status, checks = examined()
    assert (status, checks["rustc"]["status"], checks["cargo"]["status"]) == (1, "wrong", "ok")
    assert "rustup update" in checks["rustc"]["advice"]


def test_a_folder_without_libclang(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LIBCLANG_PATH", str(tmp_path))
    assert examined()[1]["libclang"]["status"] == "wrong"


def test_headers_are_looked_for_where_the_build_looks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CUDA_TOOLKIT_PATH", str(tmp_path))
    (tmp_path / "include").mkdir()
    (tmp_path / "include" / "cuda.h").touch()
    lacking = examined()[1]["cuda.h and curand.h"]
    assert (lacking["status"], "no curand.h" in lacking["advice"]) == ("missing", True)
    (tmp_path / "include" / "curand.h").touch()
    assert examined()[1]["cuda.h and curand.h"]["status"] == "ok"


def test_the_text_ends_with_what_is_wrong_and_missing() -> None:
    result = CliRunner().invoke(app, ["doctor"])
    assert result.exit_code == 0
    assert result.output.splitlines()[-1].startswith("DOCTOR: nothing wrong; missing: ")
    assert "tileirdisasm" in result.output.splitlines()[-1]


def test_what_the_build_sets_by_itself_is_no_advice_to_set_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`dump rs` passes on the folder that is found; a variable is for a build of one's own alone."""
    for name in ("CUDA_TOOLKIT_PATH", "LIBCLANG_PATH"):
        monkeypatch.delenv(name, raising=False)
    toolkit = tmp_path / "nvidia" / "cu13"
    for file in ("nvidia/cu13/include/cuda.h", "nvidia/cu13/include/curand.h", "clang/native/libclang.so"):
        (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / file).touch()
    monkeypatch.setattr("tileir_diff.doctor.front_ends.toolkit", lambda: toolkit)
    checks = examined()[1]
    for name in ("libclang", "cuda.h and curand.h"):
        assert checks[name]["status"] == "ok"
        assert checks[name]["advice"].startswith("`dump rs` takes it")
