"""The kernels' library, built from the sources with cargo's dev profile."""

# pyright: basic, reportMissingImports=false, reportAttributeAccessIssue=false

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
CFFI = "the kernels' library is called through cffi"


@pytest.fixture(scope="session")
def library() -> Any:
    """The loaded library. Skips where it can't be built: no Rust, or no compilers."""
    pytest.importorskip("cffi", reason=CFFI)
    toolchain = Path(os.environ.get("TILEIR_TOOLCHAIN") or ROOT / ".toolchain").resolve()
    if shutil.which("cargo") is None or not (toolchain / "nvidia").is_dir():
        pytest.skip("no cargo, or no compilers: `make setup-all`")
    os.environ["TILEIR_TOOLCHAIN"] = str(toolchain)
    os.environ["TILEIR_KERNELS_PROFILE"] = "dev"
    os.environ.setdefault("CARGO_TARGET_DIR", str(toolchain / "cargo-target"))
    from tileir_kernels.library import library

    return library()
