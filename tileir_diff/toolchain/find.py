"""Finds `tileirdisasm`, `tileiras` and their kin.

In TILEIR_TOOLCHAIN, beside an installed `nvidia` package, in `.toolchain` beside the project, on PATH.
"""

from __future__ import annotations

import os
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Final

SETTING: Final = "TILEIR_TOOLCHAIN"
# Where a toolkit keeps its programs below the folder that the setting names: the toolkit itself, or a `pip
# --target` folder.
BIN_FOLDERS: Final = ("bin", "nvidia/cu13/bin", ".")
PROJECT: Final = Path(__file__).resolve().parents[2] / ".toolchain"
"""What `make setup-all` fills, where the package runs from its sources."""


@dataclass(frozen=True)
class Toolchain:
    """A folder with programs, and how it was found: "setting", "package", "project" or "path"."""

    folder: Path
    origin: str


def find_tool(name: str) -> Path | None:
    """The program of that name, None when there is none.

    A set TILEIR_TOOLCHAIN is the only place looked at: a program from elsewhere would be of another version.
    """
    setting = os.environ.get(SETTING)
    if setting:
        return _below(Path(setting), name)
    for folder in (*_package_folders(), PROJECT):
        found = _below(folder, name)
        if found is not None:
            return found
    on_path = shutil.which(name)
    return Path(on_path) if on_path else None


def find_toolchain(name: str = "tileirdisasm") -> Toolchain | None:
    """The folder that holds a program, and why it was chosen."""
    tool = find_tool(name)
    if tool is None:
        return None
    if os.environ.get(SETTING):
        return Toolchain(tool.parent, "setting")
    if tool.is_relative_to(PROJECT):
        return Toolchain(tool.parent, "project")
    packaged = any(tool.is_relative_to(folder) for folder in _package_folders())
    return Toolchain(tool.parent, "package" if packaged else "path")


def front_end(name: str) -> Path | None:
    """The folder with a front end's Python packages among the compilers, None when there is none.

    A set TILEIR_TOOLCHAIN is the only place looked at, as for programs.
    """
    folder = Path(os.environ.get(SETTING) or PROJECT, name)
    return folder if folder.is_dir() else None


def toolkit() -> Path | None:
    """The folder of the CUDA toolkit: what CUDA_TOOLKIT_PATH names, else the one of the assembler found."""
    named = os.environ.get("CUDA_TOOLKIT_PATH")
    if named:
        return Path(named)
    tool = find_tool("tileiras") or find_tool("nvcc")
    return None if tool is None else tool.parent.parent


def _below(folder: Path, name: str) -> Path | None:
    for part in BIN_FOLDERS:
        candidate = folder / part / name
        if candidate.is_file() and os.access(candidate, os.X_OK):
            return candidate
    return None


def _package_folders() -> list[Path]:
    """`nvidia/cu*` folders of the environment, newest first."""
    from importlib.util import find_spec

    try:
        spec = find_spec("nvidia")
    except (ImportError, ValueError):
        return []
    roots = list(spec.submodule_search_locations or ()) if spec else []
    return [folder for root in roots for folder in sorted(Path(root).glob("cu*"), reverse=True)]
