"""Checks the format of the crate and tests it, with the compilers and target folder that all here share."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "fixtures" / "make")]

from toolchain import Toolchain  # noqa: E402

STEPS = (
    ("fmt", "--check"),
    ("test", "--quiet"),
)


def main() -> int:
    if shutil.which("cargo") is None:
        print("no cargo: the kernels in Rust are not checked", file=sys.stderr)
        return 0 if os.environ.get("CI") is None else 1
    environment = Toolchain((HERE.parent / ".toolchain").resolve()).environment()
    for step in STEPS:
        print("$ cargo", *step, flush=True)
        done = subprocess.run(["cargo", *step], cwd=HERE, env=environment, check=False)
        if done.returncode:
            return done.returncode
    return 0


if __name__ == "__main__":
    sys.exit(main())
