"""On a GPU: is every case right, against torch and against the cuTile Python kernel? Only then: how fast?

    python run.py [--out results.json] [--operators a,b] [--pairs 30] [--no-benchmark]

Exit status: 0 all right, 1 a case is wrong, 2 the harness itself failed.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import math
import os
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

import launch  # noqa: E402

REST = launch.unpack(HERE / "rest.tar.xz", HERE / "rest")
sys.path.insert(0, str(REST / "packages"))
os.environ["TILEIR_KERNELS_LIBRARY"] = str(REST / "libtileir_kernels.so")
os.environ.setdefault("TILEIR_KERNELS_CACHE", str(HERE / "cache"))
for _name in ("CUDA_HOME", "CUDA_PATH", "CUDA_ROOT"):
    os.environ.pop(_name, None)

import cases as table  # noqa: E402
import measure  # noqa: E402
import torch  # noqa: E402

SCHEMA = "tileir-kernels-gpu/1"
THREADS = 12


def main() -> int:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--out", type=Path, default=Path("results.json"))
    arguments.add_argument("--operators", default="")
    arguments.add_argument("--pairs", type=int, default=30)
    arguments.add_argument("--no-benchmark", action="store_true")
    given = arguments.parse_args()
    prepare()
    references = launch.References(REST / "reference")
    wanted = [name for name in given.operators.split(",") if name]
    chosen = [case for case in table.cases() if case.name in references.launches]
    chosen = [case for case in chosen if not wanted or case.operator in wanted]
    compile_ours(chosen)
    measured = json.loads((REST / "reference" / "sources.json").read_text())
    results: dict[str, Any] = {
        "schema": SCHEMA, "machine": machine(), "sources": measured, "correctness": [], "benchmark": None,
    }  # fmt: skip
    results["correctness"] = [judged(case, references) for case in chosen]
    wrong = [entry for entry in results["correctness"] if not entry["right"]]
    print(f"{len(chosen) - len(wrong)} of {len(chosen)} cases right")
    status = 1 if wrong or not chosen else 0
    if status == 0 and not given.no_benchmark:
        try:
            results["benchmark"] = benchmark([case for case in chosen if case.timed], references, given.pairs)
        except measure.HarnessError as error:
            print(f"the harness failed: {error}", file=sys.stderr)
            results["fault"] = str(error)
            status = 2
    given.out.parent.mkdir(parents=True, exist_ok=True)
    given.out.write_text(json.dumps(results, indent=1) + "\n")
    return status


def prepare() -> None:
    """Unpacks the assembler, and assembles the reference's kernels; ours follow when they are called."""
    toolkit = launch.unpack(HERE / "assembler.tar.xz", HERE / "assembler")
    os.environ["CUDA_TOOLKIT_PATH"] = str(toolkit)
    os.environ["CUTILE_TILEIRAS_PATH"] = str(toolkit / "bin" / "tileiras")
    os.environ["PATH"] = f"{toolkit / 'bin'}{os.pathsep}{os.environ['PATH']}"
    torch.cuda.init()
    torch.zeros(1, device="cuda")  # makes the primary context current
    (HERE / "cache").mkdir(exist_ok=True)
    start = time.perf_counter()
    launch.assemble(REST / "reference", toolkit)
    print(f"reference kernels assembled in {time.perf_counter() - start:.1f} s", flush=True)


def compile_ours(chosen: list[table.Case]) -> None:
    """Calls every case once, some at a time, for the compiler takes longer than all kernels together.

    A case that fails here fails again where it is judged, and is told there.
    """
    start = time.perf_counter()

    def call(case: table.Case) -> None:
        with contextlib.suppress(Exception):
            table.OPERATORS[case.operator].ours(case, table.untouched(case, "cuda"))

    with ThreadPoolExecutor(THREADS) as pool:
        list(pool.map(call, chosen))
    torch.cuda.synchronize()
    print(f"our kernels compiled in {time.perf_counter() - start:.1f} s", flush=True)


def machine() -> dict[str, Any]:
    properties = torch.cuda.get_device_properties(0)
    return {
        "device": properties.name, "arch": f"sm_{properties.major}{properties.minor}",
        "multiprocessors": properties.multi_processor_count, "torch": torch.__version__,
        "cuda": torch.version.cuda,
    }  # fmt: skip


def judged(case: table.Case, references: launch.References) -> dict[str, Any]:
    """Ours against torch in double precision, and bit for bit against the reference's kernel."""
    entry: dict[str, Any] = {"case": case.name, "operator": case.operator, "right": False}
    try:
        tensors = table.tensors(case, "cuda")
        theirs = table.tensors(case, "cuda")
        operator = table.OPERATORS[case.operator]
        operator.ours(case, tensors)
        references.prepare(case.name, theirs)()
        torch.cuda.synchronize()
        ours, reference = tensors["out"], theirs["out"]
        expected = operator.expected(case, tensors)
        tolerance = table.tolerance(case)
        entry["error"] = table.error(case, tensors, ours, expected)
        entry["reference_error"] = table.error(case, tensors, reference, expected)
        entry["differing"] = int((ours != reference).sum())
        entry["right"] = entry["error"] <= tolerance and entry["reference_error"] <= tolerance
        if entry["differing"]:
            entry["difference"] = table.error(case, tensors, ours, reference.double())
    except Exception as error:  # a case that fails is a result
        entry["fault"] = f"{type(error).__name__}: {error}"
    if not entry["right"] or entry.get("differing"):
        print(json.dumps(entry), flush=True)
    return entry


def benchmark(chosen: list[table.Case], references: launch.References, count: int) -> dict[str, Any]:
    measured: dict[str, list[list[tuple[float, float]]]] = {}
    entries: list[dict[str, Any]] = []
    for case in chosen:
        tensors = table.tensors(case, "cuda")
        operator = table.OPERATORS[case.operator]
        reference = references.prepare(case.name, tensors)
        ours = entry_of(case)
        pairs = measure.pairs(lambda: operator.ours(case, tensors), reference, (ours, reference.entry), count)  # noqa: B023
        measured.setdefault(case.operator, []).append(pairs)
        median = [sorted(side)[len(side) // 2] for side in zip(*pairs, strict=True)]
        entries.append({
            "case": case.name, "operator": case.operator, "ours_us": median[0], "reference_us": median[1],
            "speed": measure.speed(pairs), "pairs": len(pairs), "call_us": call_time(operator, case, tensors),
        })  # fmt: skip
        times = f"{median[0]:.2f} us, reference {median[1]:.2f} us"
        print(f"{case.name}: {times}, speed {entries[-1]['speed']:.3f}", flush=True)
    operators = {}
    for name, configurations in measured.items():
        low, high = measure.interval(configurations)
        mean = measure.geometric_mean([measure.speed(pairs) for pairs in configurations])
        operators[name] = {"speed": mean, "low": low, "high": high, "configurations": len(configurations)}
        print(f"{name}: {mean:.3f} of the reference's speed (95%: {low:.3f} to {high:.3f})")
    return {"operators": operators, "configurations": entries}


def entry_of(case: table.Case) -> str:
    """How our kernel for this case is called on the device."""
    form = f"{case.form.partition('-')[0]}_entry"
    named = {
        "silu_and_mul": "rows_entry", "swiglu": "rows_entry", "transpose": "tiles_entry",
        "rope": "rotation_entry", "splitk_reduce": "heads_entry", "layer_norm_legacy": "rows_entry",
    }  # fmt: skip
    by_form = ("softmax", "rms_norm", "layer_norm", "persistent_layer_norm", "matmul", "bmm")
    return form if case.operator in by_form else named.get(case.operator, "elements_entry")


def call_time(operator: table.Operator, case: table.Case, tensors: dict[str, torch.Tensor]) -> float:
    """Microseconds of a call on the host, where the stream does not hold it up: from few calls at a time."""
    best = math.inf
    for _ in range(5):
        torch.cuda.synchronize()
        start = time.perf_counter()
        for _ in range(20):
            operator.ours(case, tensors)
        best = min(best, (time.perf_counter() - start) / 20)
    torch.cuda.synchronize()
    return best * 1e6


if __name__ == "__main__":
    sys.exit(main())
