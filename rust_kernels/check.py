"""Checks the format of the crate, lints and tests it, and compares each kernel with the one that it ports.

With the compilers and the target folder that all here share. Names of operators take only their tables.
"""

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
    ("clippy", "--quiet", "--all-targets", "--", "-D", "warnings"),
    ("test", "--quiet"),
)


def main(operators: list[str]) -> int:
    if shutil.which("cargo") is None:
        print("no cargo: the kernels in Rust are not checked", file=sys.stderr)
        return 0 if os.environ.get("CI") is None else 1
    toolchain = Toolchain((HERE.parent / ".toolchain").resolve())
    environment = toolchain.environment()
    for step in STEPS:
        print("$ cargo", *step, flush=True)
        done = subprocess.run(["cargo", *step], cwd=HERE, env=environment, check=False)
        if done.returncode:
            return done.returncode
    paths = [str(toolchain.tilegym), str(toolchain.python), *filter(None, [os.environ.get("PYTHONPATH")])]
    environment["PYTHONPATH"] = os.pathsep.join(paths)
    environment["TILEIR_TOOLCHAIN"] = str(toolchain.folder)
    tables = sorted(HERE.glob("kernels/src/*/port.toml"))
    for table in tables:
        if not operators or table.parent.name in operators:
            command = ["port-check", str(table.relative_to(HERE.parent))]
            print("$ tileir-diff", *command, flush=True)
            command[:0] = [sys.executable, "-m", "tileir_diff"]
            done = subprocess.run(command, cwd=HERE.parent, env=environment, check=False)
            if done.returncode:
                return done.returncode
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
