"""Shared fixtures.

Dumps of other people's kernels are measured on where they are at hand, and never needed.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest
from hypothesis import settings

# The same examples each time, so that a run says something of the change and not of its luck;
# `make random` looks for new ones.
settings.register_profile("same", derandomize=True, database=None)
settings.register_profile("new", derandomize=False, print_blob=True)
settings.load_profile("same")

# There are as many workers as cores. Threads of torch in each would wait for each other's, and a run take
# five times the time.
os.environ.setdefault("OMP_NUM_THREADS", "1")

ROOT = Path(__file__).parents[1]


def shared_folder() -> Path:
    """The folder with the corpus and the pairs: TILEIR_CORPUS, else `shared` beside the repository."""
    return Path(os.environ.get("TILEIR_CORPUS") or ROOT.parent / "shared")


@pytest.fixture(scope="session")
def corpus_files() -> list[Path]:
    """Disassembled dumps; skips where there are none."""
    files = sorted((shared_folder() / "corpus").rglob("*.mlir"))
    if not files:
        pytest.skip("no corpus of dumps: set TILEIR_CORPUS to a folder that holds `corpus`")
    return files


@pytest.fixture(scope="session")
def pair_dirs() -> list[Path]:
    """Folders with `ref.mlir` and `gen.mlir`; skips where there are none."""
    folders = sorted(path.parent for path in (shared_folder() / "pairs").rglob("ref.mlir"))
    if not folders:
        pytest.skip("no pairs of dumps: set TILEIR_CORPUS to a folder that holds `pairs`")
    return folders


@pytest.fixture(scope="session")
def kernel_dumps() -> list[Path]:
    """The dumps of this project's own kernels."""
    files = sorted((ROOT / "fixtures" / "kernels").glob("*/*.mlir"))
    assert files
    return files


@pytest.fixture
def real_disassembler(monkeypatch: pytest.MonkeyPatch) -> None:
    """The one that `make test` installs; skips only where its makers publish none."""
    from tileir_diff.toolchain import find_tool

    local = ROOT / ".toolchain"
    if not os.environ.get("TILEIR_TOOLCHAIN") and local.is_dir():
        monkeypatch.setenv("TILEIR_TOOLCHAIN", str(local))
    if find_tool("tileirdisasm") is None and sys.platform != "linux":
        pytest.skip("there is no tileirdisasm for this system")
    assert find_tool("tileirdisasm"), "no tileirdisasm: `make setup-all` installs one"
