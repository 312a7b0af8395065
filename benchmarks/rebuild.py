"""From an edit of one `kernel.rs` to the next call: `python -m benchmarks.rebuild [--operator relu]`.

On a copy of `rust_kernels/`: the library is built at a first call, a comment is written into the operator's
`kernel.rs`, and the same call is timed beside the first one, which builds the crate too, and what it depends
on where that is not built. A call writes down what it would launch, for there need be no GPU. Needs torch,
cffi, Rust and the compilers.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.data import ROOT

if TYPE_CHECKING:
    from collections.abc import Sequence

CALLS = """
import sys, time
from pathlib import Path
import torch, tileir_kernels
kernel, folder = Path(sys.argv[1]), sys.argv[2]
def call():
    start = time.perf_counter()
    with tileir_kernels.recording(folder, "sm_90"):
        getattr(tileir_kernels, sys.argv[3])(torch.zeros(64, 1000))
    return time.perf_counter() - start
print(call())
kernel.write_text(kernel.read_text() + f"\\n// {time.time()}\\n")
print(call())
"""


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.rebuild", description=__doc__)
    parser.add_argument("--operator", default="relu", choices=("relu", "gelu", "softmax", "silu_and_mul"))
    operator = parser.parse_args(arguments).operator
    with tempfile.TemporaryDirectory(prefix="tileir-rebuild-") as place:
        crates = Path(place, "rust_kernels")
        shutil.copytree(ROOT / "rust_kernels", crates, ignore=shutil.ignore_patterns("target"))
        recorded = Path(place, "recorded")
        recorded.mkdir()
        target = os.environ.get("CARGO_TARGET_DIR") or ROOT / "rust_kernels" / "target"
        env = {
            "TILEIR_TOOLCHAIN": str(ROOT / ".toolchain"),
            **os.environ,
            "PYTHONPATH": str(crates / "python"),
            "CARGO_TARGET_DIR": str(target),
        }
        kernel = crates / "kernels" / "src" / operator / "kernel.rs"
        command = [sys.executable, "-c", CALLS, str(kernel), str(recorded), operator]
        done = subprocess.run(command, env=env, capture_output=True, text=True, check=False)
        if done.returncode:
            print(done.stderr, file=sys.stderr)
            return 1
    whole, again = map(float, done.stdout.split())
    print(f"first call, which builds what is not built: {whole:.1f} s")
    print(f"from an edit of {operator}/kernel.rs to the next call: {again:.1f} s")
    return 0


if __name__ == "__main__":
    sys.exit(main())
