"""What cargo starts ends with it."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from tileir_diff.errors import InputError
from tileir_diff.toolchain import cargo


def _runs(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def test_a_compiler_that_does_not_end_is_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "cargo").write_text(f"#!/bin/sh\nsleep 100 &\necho $! > {tmp_path}/pid\nwait\n")
    (tmp_path / "cargo").chmod(0o755)
    (tmp_path / "Cargo.toml").touch()
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    with cargo.limited(0.5), pytest.raises(InputError, match="cargo did not finish in 1 s"):
        cargo.read_crate(str(tmp_path))
    compiler = int((tmp_path / "pid").read_text())
    deadline = time.monotonic() + 10
    while _runs(compiler) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not _runs(compiler)
