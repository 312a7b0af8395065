"""How long kernels take to run on the CPU, and whether all can: `python -m benchmarks.runs`.

Runs the kernels of the corpus at the shapes, constants and grid that `manifest.json` gives, on random input.
Needs torch.
"""

from __future__ import annotations

import argparse
import collections
import json
import math
import statistics
import sys
import time
import traceback
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks.data import ENVIRONMENT, data_folder

if TYPE_CHECKING:
    from collections.abc import Sequence


def arguments(entry: dict[str, Any]) -> list[Any]:
    """Random input for one kernel of the manifest."""
    values: list[Any] = []
    for index, argument in enumerate(entry["args"]):
        if argument["name"] not in entry["constants"]:
            values += _values(argument, index) if argument["k"] == "tensor" else [argument["v"]]
    return values


def _values(argument: dict[str, Any], seed: int) -> list[Any]:
    """An array, its shape and its strides."""
    from benchmarks.truth import TYPES
    from tileir_diff.equivalence.backend import torch

    shape, strides = argument["shape"], argument["stride"]
    span = 1 + sum((extent - 1) * stride for extent, stride in zip(shape, strides, strict=True))
    span = max(span, 1) if math.prod(shape) else 0
    generator = torch.Generator().manual_seed(seed)
    kind = getattr(torch, TYPES.get(argument["dtype"], "uint8"))
    if kind.is_floating_point:
        return [(torch.randn(span, generator=generator) * 0.5).to(kind), *shape, *strides]
    return [torch.randint(0, 2, (span,), generator=generator).to(kind), *shape, *strides]


def is_known(entry: dict[str, Any]) -> bool:
    """Whether the manifest says how the kernel is launched, and not with lists of arrays."""
    known = entry["args"]
    return known is not None and entry["grid"] is not None and all(each["k"] != "list" for each in known)


def run_entry(folder: Path, entry: dict[str, Any], seconds: float) -> dict[str, Any]:
    from tileir_diff import interpret
    from tileir_diff.equivalence.model import Limits

    values = arguments(entry)
    start = time.perf_counter()
    try:
        run = interpret(
            str(folder / entry["file"]), values, grid=entry["grid"], limits=Limits(seconds=seconds)
        )
    except Exception as error:
        text = "".join(traceback.format_exception(error)[-3:])
        return {"file": entry["file"], "seconds": time.perf_counter() - start, "failed": text}
    taken = time.perf_counter() - start
    return {
        "file": entry["file"],
        "seconds": taken,
        "complete": run.complete,
        "how": run.how,
        "approximations": run.approximations,
        "rules": sorted({each.rule for each in run.findings}),
    }


def main(options: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.runs", description=__doc__)
    parser.add_argument("--only", default="", help="files whose name holds this")
    parser.add_argument("--every", type=int, default=1, help="every N-th kernel")
    parser.add_argument("--seconds", type=float, default=60.0, help="stop a kernel after so long")
    parser.add_argument("--json", metavar="FILE", help="write all results")
    chosen = parser.parse_args(options)
    folder = (data_folder() or Path()) / "corpus"
    if not (folder / "manifest.json").exists():
        print(f"no corpus with a manifest.json: set {ENVIRONMENT}", file=sys.stderr)
        return 2
    manifest = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
    entries = [each for each in manifest if is_known(each) and chosen.only in each["file"]][:: chosen.every]
    results = [run_entry(folder, each, chosen.seconds) for each in entries]
    if chosen.json:
        Path(chosen.json).write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
    failed = [each for each in results if "failed" in each]
    for each in failed:
        print(f"failed: {each['file']}\n{each['failed']}")
    slow = sorted(results, key=lambda each: -each["seconds"])[:8]
    for each in slow:
        print(f"{each['seconds']:8.2f} s  {each['file']}")
    seconds = [each["seconds"] for each in results] or [0.0]
    rules = collections.Counter(rule for each in results for rule in each.get("rules", ()))
    print(f"{len(results)} kernels, {len(failed)} failed, "
          f"{sum(not each.get('complete', True) for each in results)} not complete")  # fmt: skip
    print("findings:", ", ".join(f"{rule} {count}" for rule, count in rules.most_common()))
    print(f"seconds: median {statistics.median(seconds):.3f}, longest {max(seconds):.2f}")
    return 1 if failed else 0


if __name__ == "__main__":
    raise SystemExit(main())
