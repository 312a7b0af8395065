"""Where programs are found: the setting alone if there is one, else the environment, else PATH."""

import os
import stat
import sys
from pathlib import Path

import pytest

from tileir_diff.toolchain import find_tool, find_toolchain, tool_version
from tileir_diff.toolchain.find import Toolchain, front_end


def program(path: Path, script: str = "") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return path


@pytest.fixture(autouse=True)
def bare(monkeypatch: pytest.MonkeyPatch) -> None:
    """No setting, nothing on PATH but the system, no installed toolkit."""
    monkeypatch.delenv("TILEIR_TOOLCHAIN", raising=False)
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    monkeypatch.setattr("tileir_diff.toolchain.find._package_folders", list)
    monkeypatch.setattr("tileir_diff.toolchain.find.PROJECT", Path("/nowhere"))
    tool_version.cache_clear()


@pytest.mark.parametrize("below", ["bin", "nvidia/cu13/bin", "."])
def test_setting(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, below: str) -> None:
    expected = program(tmp_path / below / "tileirdisasm")
    monkeypatch.setenv("TILEIR_TOOLCHAIN", str(tmp_path))
    assert find_tool("tileirdisasm") == expected
    assert find_toolchain() == Toolchain(expected.parent, "setting")


def test_setting_is_the_only_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program(tmp_path / "path" / "tileirdisasm")
    monkeypatch.setenv("PATH", str(tmp_path / "path"))
    assert find_toolchain() == Toolchain(tmp_path / "path", "path")
    monkeypatch.setenv("TILEIR_TOOLCHAIN", str(tmp_path / "empty"))
    assert find_tool("tileirdisasm") is None


def test_installed_package_comes_before_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program(tmp_path / "path" / "tileirdisasm")
    packaged = program(tmp_path / "cu13" / "bin" / "tileirdisasm")
    monkeypatch.setenv("PATH", str(tmp_path / "path"))
    monkeypatch.setattr("tileir_diff.toolchain.find._package_folders", lambda: [tmp_path / "cu13"])
    assert find_tool("tileirdisasm") == packaged
    assert find_toolchain() == Toolchain(packaged.parent, "package")


def test_what_the_project_installed_comes_before_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project, setting = tmp_path / ".toolchain", tmp_path / "setting"
    program(tmp_path / "path" / "tileirdisasm")
    installed = program(project / "nvidia" / "cu13" / "bin" / "tileirdisasm")
    (project / "cutile-python").mkdir()
    setting.mkdir()
    monkeypatch.setenv("PATH", str(tmp_path / "path"))
    monkeypatch.setattr("tileir_diff.toolchain.find.PROJECT", project)
    assert find_toolchain() == Toolchain(installed.parent, "project")
    assert front_end("cutile-python") == project / "cutile-python"
    monkeypatch.setenv("TILEIR_TOOLCHAIN", str(setting))
    assert (find_tool("tileirdisasm"), front_end("cutile-python")) == (None, None)


def test_package_folders_are_found_without_importing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    (tmp_path / "nvidia" / "cu12").mkdir(parents=True)
    (tmp_path / "nvidia" / "cu13").mkdir()
    monkeypatch.setattr("sys.path", [str(tmp_path), *sys.path])
    from tileir_diff.toolchain.find import (
        _package_folders,  # pyright: ignore[reportPrivateUsage]
    )

    folders = [folder.name for folder in _package_folders() if folder.is_relative_to(tmp_path)]
    assert folders == ["cu13", "cu12"]
    assert "nvidia" not in sys.modules


def test_nothing_found(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert find_tool("tileirdisasm") is None
    assert find_toolchain() is None
    assert tool_version("tileirdisasm") is None


def test_files_that_cannot_be_run_are_no_programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = program(tmp_path / "bin" / "tileirdisasm")
    path.chmod(0o644)
    monkeypatch.setenv("TILEIR_TOOLCHAIN", str(tmp_path))
    assert find_tool("tileirdisasm") is None


def test_version(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program(tmp_path / "bin" / "tileiras", "echo 'Cuda compilation tools, release 13.4, V13.4.92'")
    monkeypatch.setenv("TILEIR_TOOLCHAIN", str(tmp_path))
    assert tool_version("tileiras") == "13.4.92"


def test_version_of_a_program_that_says_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program(tmp_path / "bin" / "tileiras", "exit 1")
    monkeypatch.setenv("TILEIR_TOOLCHAIN", os.fspath(tmp_path))
    assert tool_version("tileiras") is None
