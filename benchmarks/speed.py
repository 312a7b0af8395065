"""How long a comparison takes.

python -m benchmarks.speed process [FOLDER...]   one diff as a whole process, against importing its
dependencies
python -m benchmarks.speed batch [FOLDER...]     many pairs in one process, against a process each
python -m benchmarks.speed growth                time and memory from 1k to 100k ops
"""

from __future__ import annotations

import argparse
import compileall
import json
import math
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks.data import ROOT, default_folder, dumps

if TYPE_CHECKING:
    from collections.abc import Sequence

BASELINE = "import lark, xdsl.ir, click, pydantic"
GROWTH = (1_000, 3_000, 10_000, 30_000, 100_000)


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.speed", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)  # fmt: skip
    parser.add_argument("what", choices=("process", "batch", "growth"))
    parser.add_argument("folders", nargs="*", type=Path)
    parser.add_argument("--sample", type=int, default=60)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--sizes", default=",".join(map(str, GROWTH)), help="ops, comma-separated (growth)")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args(arguments)
    if not options.folders:
        options.folders = [default_folder("corpus")]
    compileall.compile_dir(ROOT / "tileir_diff", quiet=1)  # as an installation has it
    figures = {"process": measure_process, "batch": measure_batch, "growth": measure_growth}[options.what](
        options
    )
    for name, value in figures.items():
        if not isinstance(value, list):
            print(f"{name:32} {value}")
    if options.json:
        options.json.write_text(
            json.dumps({"what": options.what, **figures}, indent=1) + "\n", encoding="utf-8"
        )
    return 0


def environment() -> dict[str, str]:
    """The interpreter must find the project wherever the command runs, and must not write caches while it is
    timed."""
    path = os.pathsep.join(filter(None, (str(ROOT), os.environ.get("PYTHONPATH"))))
    return {**os.environ, "PYTHONPATH": path, "PYTHONHASHSEED": "0"}


def timed(command: list[str]) -> tuple[float, float]:
    """Seconds by the clock, and of processor time, that a process takes. One that fails has no time."""
    start = time.perf_counter()
    child = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=environment())
    _, status, used = os.wait4(child.pid, 0)
    spent = time.perf_counter() - start
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode:
        raise RuntimeError(f"exit status {child.returncode} of {' '.join(command[:4])}")
    return spent, used.ru_utime + used.ru_stime


def measure_process(options: argparse.Namespace) -> dict[str, Any]:
    """Each diff right after one run of the baseline, so that both see the same machine."""
    rows: list[tuple[float, float, float, float]] = []
    cli = [sys.executable, "-m", "tileir_diff"]
    baseline = [sys.executable, "-c", BASELINE]
    paths = dumps(options.folders, options.sample, options.seed)
    for command in (baseline, [*cli, str(paths[0]), str(paths[0])]):
        timed(command)
    for path in paths:
        rows.append((*timed(baseline), *timed([*cli, str(path), str(path)])))
    base, base_cpu, whole, whole_cpu = (statistics.median(column) for column in zip(*rows, strict=True))
    ratios = sorted(row[2] / row[0] for row in rows)
    return {
        "diffs": len(rows),
        "baseline, median s": round(base, 4),
        "diff, median s": round(whole, 4),
        "ratio of medians": round(whole / base, 3),
        "ratio of medians, CPU time": round(whole_cpu / base_cpu, 3),
        "median of ratios": round(statistics.median(ratios), 3),
        "90th percentile of ratios": round(ratios[int(len(ratios) * 0.9)], 3),
        "rows": rows,
    }


def measure_batch(options: argparse.Namespace) -> dict[str, Any]:
    """Seconds a pair: in a process each, and all in one (imports counted)."""
    paths = [str(path) for path in dumps(options.folders, options.sample, options.seed)]
    rows = [timed([sys.executable, "-m", "tileir_diff", path, path]) for path in paths]
    separate, separate_cpu = (statistics.mean(column) for column in zip(*rows, strict=True))
    code = "import sys, tileir_diff\nfor path in sys.argv[1:]: tileir_diff.diff(path, path)"
    together, together_cpu = (spent / len(paths) for spent in timed([sys.executable, "-c", code, *paths]))
    return {
        "pairs": len(paths),
        "separate, s a pair": round(separate, 4),
        "one process, s a pair": round(together, 4),
        "times faster": round(separate / together, 2),
        "times faster, CPU time": round(separate_cpu / together_cpu, 2),
    }


def measure_growth(options: argparse.Namespace) -> dict[str, Any]:
    """Processor time and peak memory of one diff of a synthetic kernel against itself, in a process each."""
    rows: list[dict[str, float]] = []
    with tempfile.TemporaryDirectory() as folder:
        for size in (int(text) for text in options.sizes.split(",")):
            path = Path(folder) / f"{size}.mlir"
            text = synthetic(size)
            path.write_text(text, encoding="utf-8")
            ops = text.count("\n")
            code = (
                "import sys, time, resource, tileir_diff\n"
                "start = time.process_time()\n"
                "report = tileir_diff.diff(sys.argv[1], sys.argv[1])\n"
                "spent = time.process_time() - start\n"
                "print(report.verdict, spent, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)"
            )
            done = subprocess.run(
                [sys.executable, "-c", code, str(path)],
                capture_output=True,
                text=True,
                env=environment(),
                check=False,
            )
            if done.returncode:
                rows.append({"ops": ops, "failed": done.returncode})
                print(done.stderr.strip().splitlines()[-1:], file=sys.stderr)
                continue
            verdict, seconds, peak = done.stdout.split()
            row = {
                "ops": ops,
                "seconds": float(seconds),
                "peak_MiB": int(peak) / 1024,
                "us_per_op": float(seconds) / ops * 1e6,
            }
            rows.append(row)
            print(
                f"{ops:8} ops  {row['seconds']:8.2f} s  {row['us_per_op']:7.1f} us an op"
                f"  {row['peak_MiB']:8.0f} MiB  {verdict}"
            )
    good = [row for row in rows if "seconds" in row]
    figures: dict[str, Any] = {"rows": rows}
    if len(good) >= 2:
        first, last = good[0], good[-1]
        growth = math.log(last["seconds"] / first["seconds"]) / math.log(last["ops"] / first["ops"])
        figures["exponent"] = round(growth, 3)
        figures["last against first, time an op"] = round(last["us_per_op"] / first["us_per_op"], 3)
        figures["peak, MiB"] = round(max(row["peak_MiB"] for row in good))
    return figures


# One row of a gathered softmax with a mask, as front ends write it; `{n}` numbers the names.
BODY = """\
  %c{n} = constant <i32: {n}> : tile<i32>
  %r{n} = addi %blockId_x, %c{n} : tile<i32>
  %e{n} = exti %r{n} signed : tile<i32> -> tile<i64>
  %s{n} = reshape %e{n} : tile<i64> -> tile<1xi64>
  %b{n} = broadcast %s{n} : tile<1xi64> -> tile<64xi64>
  %m{n} = muli %b{n}, %stride : tile<64xi64>
  %o{n} = addi %m{n}, %lane : tile<64xi64>
  %p{n} = offset %base, %o{n} : tile<64xptr<f32>>, tile<64xi64> -> tile<64xptr<f32>>
  %q{n} = offset %out, %o{n} : tile<64xptr<f32>>, tile<64xi64> -> tile<64xptr<f32>>
  %x{n}, %t{n} = load_ptr_tko weak %p{n}, %valid, %low token={token}
    : tile<64xptr<f32>>, tile<64xi1>, tile<64xf32> -> tile<64xf32>, token
  %h{n} = reduce %x{n} dim=0 identities=[0xFF800000 : f32] : tile<64xf32> -> tile<f32>
  (%lhs: tile<f32>, %rhs: tile<f32>) {{
    %0 = maxf %lhs, %rhs : tile<f32>
    yield %0 : tile<f32>
  }}
  %hs{n} = reshape %h{n} : tile<f32> -> tile<1xf32>
  %hb{n} = broadcast %hs{n} : tile<1xf32> -> tile<64xf32>
  %d{n} = subf %x{n}, %hb{n} : tile<64xf32>
  %v{n} = exp %d{n} : tile<64xf32>
  %z{n} = reduce %v{n} dim=0 identities=[0.000000e+00 : f32] : tile<64xf32> -> tile<f32>
  (%lhs: tile<f32>, %rhs: tile<f32>) {{
    %0 = addf %lhs, %rhs : tile<f32>
    yield %0 : tile<f32>
  }}
  %zs{n} = reshape %z{n} : tile<f32> -> tile<1xf32>
  %zb{n} = broadcast %zs{n} : tile<1xf32> -> tile<64xf32>
  %y{n} = divf %v{n}, %zb{n} : tile<64xf32>
  %w{n} = store_ptr_tko weak %q{n}, %y{n}, %valid token=%t{n}
    : tile<64xptr<f32>>, tile<64xf32>, tile<64xi1> -> token
"""

HEAD = """\
entry @rows(%arg0: tile<ptr<f32>>, %arg1: tile<i32>, %arg2: tile<i32>, %arg3: tile<ptr<f32>>) {
  %token = make_token : token
  %blockId_x, %blockId_y, %blockId_z = get_tile_block_id : tile<i32>
  %iota = iota : tile<64xi32>
  %lane = exti %iota signed : tile<64xi32> -> tile<64xi64>
  %n0 = exti %arg1 signed : tile<i32> -> tile<i64>
  %n1 = reshape %n0 : tile<i64> -> tile<1xi64>
  %n2 = broadcast %n1 : tile<1xi64> -> tile<64xi64>
  %valid = cmpi less_than %lane, %n2, signed : tile<64xi64> -> tile<64xi1>
  %s0 = exti %arg2 signed : tile<i32> -> tile<i64>
  %s1 = reshape %s0 : tile<i64> -> tile<1xi64>
  %stride = broadcast %s1 : tile<1xi64> -> tile<64xi64>
  %in0 = reshape %arg0 : tile<ptr<f32>> -> tile<1xptr<f32>>
  %base = broadcast %in0 : tile<1xptr<f32>> -> tile<64xptr<f32>>
  %out0 = reshape %arg3 : tile<ptr<f32>> -> tile<1xptr<f32>>
  %out = broadcast %out0 : tile<1xptr<f32>> -> tile<64xptr<f32>>
  %low = constant <f32: 0xFF800000> : tile<64xf32>
"""


def synthetic(ops: int) -> str:
    """A kernel of about so many ops: rows of a softmax one after the other, ordered by tokens."""
    per_row = len(re.findall(r"^ +(?:%|yield)", BODY, re.MULTILINE))
    parts = [HEAD]
    token = "%token"
    for number in range(10, 10 + max(1, (ops - 18) // per_row)):
        parts.append(BODY.format(n=number, token=token))
        token = f"%w{number}"
    return "".join((*parts, "  return\n}\n"))


if __name__ == "__main__":
    raise SystemExit(main())
