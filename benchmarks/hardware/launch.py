"""Launches cubins through the driver and keeps every array that changed: `launch.py FOLDER RESULTS`.

Stands alone: Python, numpy and the driver. Each array lies between two guards of `GUARD` bytes; a guard that
changes is reported. A worker that a kernel kills or that waits too long is replaced, and the rest goes on.
"""

from __future__ import annotations

import base64
import ctypes
import json
import subprocess
import sys
import zlib
from pathlib import Path
from typing import Any

import numpy as np

GUARD = 1024
FILL = 0xA5
SECONDS = 20.0
RUNS = 2
"""Results that differ between runs of one launch are marked: nothing can be compared with them."""
PART = 14 << 20  # bytes of one file of results


def main(folder: Path, results: Path) -> int:
    manifest = json.loads((folder / "manifest.json").read_text())
    lines: list[str] = []
    todo = [case["name"] for case in manifest]
    while todo:
        worker = subprocess.Popen(
            [sys.executable, __file__, "--worker", str(folder), *todo], stdout=subprocess.PIPE, text=True
        )
        done = _collect(worker, lines)
        todo = todo[done:]
        if todo and worker.returncode != 0:
            lines.append(json.dumps({"name": todo[0], "error": f"worker ended with {worker.returncode}"}))
            todo = todo[1:]
    results.mkdir(parents=True, exist_ok=True)
    part, size = 0, 0
    for line in lines:
        if size + len(line) > PART:
            part, size = part + 1, 0
        size += len(line) + 1
        with (results / f"results{part}.jsonl").open("a") as file:
            file.write(line + "\n")
    print(len(lines), "launches,", sum('"error"' in line for line in lines), "failed")
    return 0


def _collect(worker: subprocess.Popen[str], lines: list[str]) -> int:
    import threading

    assert worker.stdout is not None
    done = 0
    timer = threading.Timer(SECONDS, worker.kill)
    timer.start()
    for line in worker.stdout:
        timer.cancel()
        lines.append(line.strip())
        done += 1
        timer = threading.Timer(SECONDS, worker.kill)
        timer.start()
    worker.wait()
    timer.cancel()
    return done


def work(folder: Path, names: list[str]) -> int:
    driver = ctypes.CDLL("libcuda.so.1")
    device, context = ctypes.c_int(), ctypes.c_void_p()
    _check(driver.cuInit(0))
    _check(driver.cuDeviceGet(ctypes.byref(device), 0))
    _check(driver.cuDevicePrimaryCtxRetain(ctypes.byref(context), device))
    _check(driver.cuCtxSetCurrent(context))
    manifest = {case["name"]: case for case in json.loads((folder / "manifest.json").read_text())}
    for name in names:
        case = manifest[name]
        runs = [launch(driver, folder, case) for _ in range(RUNS)]
        record = {"name": name, **runs[0]}
        if any(run["changed"] != runs[0]["changed"] for run in runs):
            record["repeats"] = False
        print(json.dumps(record), flush=True)
    return 0


def launch(driver: Any, folder: Path, case: dict[str, Any]) -> dict[str, Any]:
    """One launch: base64(zlib(bytes)) of each array that it changed, names of those whose guard it
    changed."""
    module, function = ctypes.c_void_p(), ctypes.c_void_p()
    image = (folder / case["cubin"]).read_bytes()
    _check(driver.cuModuleLoadData(ctypes.byref(module), image))
    _check(driver.cuModuleGetFunction(ctypes.byref(function), module, case["entry"].encode()))
    before = {name: array.tobytes() for name, array in np.load(folder / f"{case['kernel']}.npz").items()}
    places: dict[str, int] = {}
    guard = bytes([FILL]) * GUARD
    for name, content in before.items():
        place = ctypes.c_uint64()
        whole = guard + content + guard
        _check(driver.cuMemAlloc_v2(ctypes.byref(place), ctypes.c_size_t(len(whole))))
        _check(driver.cuMemcpyHtoD_v2(place, whole, ctypes.c_size_t(len(whole))))
        places[name] = place.value
    values: list[Any] = []
    for argument in case["args"]:
        ((kind, value),) = argument.items()
        values.append(
            ctypes.c_uint64(places[value] + GUARD) if kind == "ptr" else
            {"i32": ctypes.c_int32, "i64": ctypes.c_int64, "f32": ctypes.c_float}[kind](value)
        )  # fmt: skip
    pointers = (ctypes.c_void_p * len(values))(*[ctypes.addressof(value) for value in values])
    grid = [*case["grid"], 1, 1, 1][:3]
    _check(driver.cuLaunchKernel(function, *grid, 1, 1, 1, 0, None, pointers, None))
    _check(driver.cuCtxSynchronize())
    changed: dict[str, str] = {}
    guards: list[str] = []
    for name, content in before.items():
        whole = ctypes.create_string_buffer(len(content) + 2 * GUARD)
        _check(driver.cuMemcpyDtoH_v2(whole, ctypes.c_uint64(places[name]), ctypes.c_size_t(len(whole.raw))))
        after = whole.raw
        if after[GUARD:-GUARD] != content:
            changed[name] = base64.b64encode(zlib.compress(after[GUARD:-GUARD], 9)).decode()
        if after[:GUARD] != guard or after[-GUARD:] != guard:
            guards.append(name)
        _check(driver.cuMemFree_v2(ctypes.c_uint64(places[name])))
    _check(driver.cuModuleUnload(module))
    return {"changed": changed, "guards": guards}


def _check(status: int) -> None:
    if status:
        raise SystemExit(f"the driver answered {status}")


if __name__ == "__main__":
    if sys.argv[1] == "--worker":
        sys.exit(work(Path(sys.argv[2]), sys.argv[3:]))
    sys.exit(main(Path(sys.argv[1]), Path(sys.argv[2])))
