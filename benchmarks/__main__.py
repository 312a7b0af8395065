"""All measurements, one after the other: `python -m benchmarks [--quick]`.

Each is also a command of its own: see benchmarks/README.md.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
from typing import TYPE_CHECKING

from benchmarks.data import ROOT, data_folder

if TYPE_CHECKING:
    from collections.abc import Sequence

# Command, its arguments, and those of a quick run instead.
PLAN: tuple[tuple[str, tuple[str, ...], tuple[str, ...]], ...] = (
    ("score corpus", (), ("--sample", "60")),
    ("score pairs", (), ("--sample", "40")),
    ("score self", ("--per-file", "12"), ("--sample", "15", "--per-file", "12")),
    ("score mutants-on-pairs", ("--per-file", "8"), ("--sample", "10", "--per-file", "8")),
    ("roundtrip", (), ("--sample", "60")),
    ("oracle", (), ("--count", "500", "--text", "100", "--every", "50")),
    ("speed process", ("--sample", "100"), ("--sample", "12")),
    ("speed batch", ("--sample", "60"), ("--sample", "12")),
    ("speed growth", (), ("--sizes", "1000,3000,10000")),
    ("fuzz", ("--count", "1000000"), ("--count", "2000")),
)


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="samples only: minutes instead of hours")
    parser.add_argument("--only", default="", help="commands that begin so, such as 'score'")
    options = parser.parse_args(arguments)
    if data_folder() is None:
        print("no corpus and pairs beside the repository: measuring on the project's own dumps", flush=True)
    worst = 0
    for command, full, quick in PLAN:
        if not command.startswith(options.only):
            continue
        module, *rest = command.split()
        line = [sys.executable, "-m", f"benchmarks.{module}", *rest, *(quick if options.quick else full)]
        print(f"\n## {' '.join(line[2:])}", flush=True)
        start = time.perf_counter()
        status = subprocess.run(line, cwd=ROOT, check=False).returncode
        worst = max(worst, status)
        print(f"({time.perf_counter() - start:.0f} s, exit status {status})", flush=True)
    return worst


if __name__ == "__main__":
    raise SystemExit(main())
