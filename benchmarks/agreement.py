"""Two kernels in the interpreter, against the same two on a GPU: `python -m benchmarks.agreement`.

For each pair that was run on a GPU, its meta.json says by array whether both sides' results were the same
bits there, or how far apart they were. Here both sides run on input of the same kinds, and must be the same,
or apart by about as much. Needs torch.
"""

from __future__ import annotations

import argparse
import collections
import json
import math
import sys
import time
from concurrent.futures import ProcessPoolExecutor, as_completed
from multiprocessing import get_context
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from benchmarks.data import default_folder, pairs
from benchmarks.truth import TOLERANCE, TYPES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from benchmarks.data import Pair

FACTOR = 8.0
"""How many times larger one of two differences may be, and be about as much as the other."""
SPECIAL = (math.inf, -math.inf, math.nan, -0.0, 1e-40, 6e4, -6e4)
ORDER = ("same", "rounding", "apart", "not run")
"""What an array, and a pair by its worst array, ends as; "rounding": one place sees a difference that the
other does not, all within the tolerance of the type, as the order of a sum gives."""


class Outcome(NamedTuple):
    name: str
    kind: str
    ends: str
    detail: str
    seconds: float


def arrays(meta: dict[str, Any], kind: str, seed: int = 1234) -> dict[str, Any]:
    """A buffer for each array of the launch, by name."""
    import numpy as np

    from tileir_diff.equivalence.backend import torch

    made: dict[str, Any] = {}
    for index, (name, array) in enumerate(meta["arrays"].items()):
        shape, strides = array["shape"], array["stride"]
        count = math.prod(shape)
        random = np.random.default_rng([seed, index])
        dtype = getattr(torch, str(TYPES.get(array["dtype"], array["dtype"])))
        if dtype.is_floating_point:
            drawn = random.standard_normal(count).astype(np.float32) * np.float32(0.5)
            if kind == "large":
                drawn *= np.float32(200)
            if kind == "special":
                placed = random.random(count) < 1 / 64
                drawn[placed] = random.choice(np.array(SPECIAL, np.float32), int(placed.sum()))
            content = torch.from_numpy(drawn).to(dtype)
        else:
            top = 2 if array["dtype"] == "bool" else 4
            content = torch.from_numpy(random.integers(0, top, count)).to(dtype)
        span = 1 + sum((extent - 1) * stride for extent, stride in zip(shape, strides, strict=True))
        buffer = torch.zeros(max(span, 1) if count else 0, dtype=dtype)
        buffer.as_strided(shape, strides).copy_(content.reshape(shape))
        made[name] = buffer
    return made


def run_side(path: Path, side: dict[str, Any], buffers: dict[str, Any], seconds: float) -> bool:
    """Changes the buffers; whether the whole grid ran in time.

    Arrays that only one side has, of which no size is known, are as large as the largest.
    """
    from tileir_diff import interpret
    from tileir_diff.dialect import parse_text
    from tileir_diff.equivalence.backend import torch
    from tileir_diff.equivalence.dtypes import dtype
    from tileir_diff.equivalence.model import Limits
    from tileir_diff.equivalence.pointers import pointee

    entries = parse_text(path.read_text(encoding="utf-8"), str(path)).entries
    entry = next(each for each in entries if each.symbol == side["entry"])
    parameters = entry.regions[0].block.args
    most = max(buffer.numel() for buffer in buffers.values())
    values: list[Any] = []
    for argument, parameter in zip(side["args"], parameters, strict=True):
        ((kind, value),) = argument.items()
        if kind == "ptr" and value is not None:
            known = buffers.get(value)
            value = torch.zeros(most, dtype=dtype(pointee(parameter))) if known is None else known
        values.append(value)
    run = interpret(str(path), values, grid=side["grid"], entry=side["entry"], limits=Limits(seconds=seconds))
    return run.complete


def distance(reference: Any, generated: Any) -> tuple[bool, float, float, int]:
    """Whether the bits are the same; root mean square of the difference and of the reference, where both are
    finite; and how many elements are finite or a number on one side only."""
    from tileir_diff.equivalence.backend import torch

    if torch.equal(reference.view(torch.uint8), generated.view(torch.uint8)):
        return True, 0.0, 0.0, 0
    a, b = reference.double(), generated.double()
    both = a.isfinite() & b.isfinite()
    apart = int(((a != b) & ~(a.isnan() & b.isnan()) & ~both).sum())
    if not bool(both.any()):
        return False, 0.0, 0.0, apart
    square = float((a - b)[both].square().mean())
    return False, math.sqrt(square), math.sqrt(float(a[both].square().mean())), apart


def judge(seen: dict[str, Any], reference: Any, generated: Any) -> tuple[str, str]:
    """How one array ends, given what the GPU saw."""
    same, rms, size, apart = distance(reference, generated)
    if same and seen.get("bit_equal"):
        return "same", ""
    there = float(seen.get("rms", 0.0)) if not seen.get("bit_equal") else 0.0
    nan = seen.get("nan")
    scale = float(seen.get("ref_rms", 0.0))
    detail = (
        f"rms {rms:.3g} of {size:.3g} here, {there:.3g} of {scale:.3g} on the GPU; "
        f"not finite: {apart} here, {nan} there"
    )
    if not reference.dtype.is_floating_point:
        return (
            "same" if same == bool(seen.get("bit_equal")) else "apart"
        ), f"integers differ: {not same} here"
    if rms and there and 1 / FACTOR <= (rms / max(size, 1e-300)) / (there / max(scale, 1e-300)) <= FACTOR:
        return "same", detail
    if bool(apart) and nan and nan[0] != nan[1]:
        return "same", detail
    relative = max(limit for name, (limit, _) in TOLERANCE.items() if TYPES[name] == str(reference.dtype)[6:])
    small = (
        all(value <= relative * max(of, 1e-300) for value, of in ((rms, size), (there, scale)) if value)
        and not apart
    )
    return ("rounding" if small else "apart"), detail


def first_blocks(path: Path, side: dict[str, Any], most: int) -> dict[str, Any] | None:
    """The launch with the first blocks along x only; None where their work depends on how many there are."""
    from tileir_diff.dialect import parse_text
    from tileir_diff.graph.values import ops_within

    if not most or side["grid"][0] <= most:
        return side
    module = parse_text(path.read_text(encoding="utf-8"), str(path))
    entry = next(each for each in module.entries if each.symbol == side["entry"])
    tied = ("get_num_tile_blocks", "atomic_cas_tko", "atomic_rmw_tko", "atomic_red_view_tko")
    if any(op.short in tied for op in ops_within(entry)):
        return None
    return {**side, "grid": [most, *side["grid"][1:]]}


def examine(pair: Pair, kind: str, seconds: float, blocks: int = 0) -> Outcome:
    start = time.perf_counter()
    if pair.launch is None:
        return Outcome(pair.name, kind, "not run", "no launch", 0.0)
    launch = json.loads(pair.launch.read_text(encoding="utf-8"))
    sides: list[dict[str, Any]] = []
    cut = False
    for name, path in (("reference", pair.reference), ("generated", pair.generated)):
        buffers = arrays(pair.meta, kind)
        side = first_blocks(path, launch[name], blocks)
        if side is None:
            return Outcome(pair.name, kind, "not run", "blocks share out the work", 0.0)
        cut = cut or side is not launch[name]
        if not run_side(path, side, buffers, seconds):
            return Outcome(pair.name, kind, "not run", "not in time", time.perf_counter() - start)
        sides.append(buffers)
    ends, detail = "same", ""
    before = arrays(pair.meta, kind) if cut else {}
    for name, seen in pair.meta["gpu"]["inputs"][kind].items():
        own = [side[name] for side in sides]
        if cut:  # what these blocks write
            changed = changed_in(before[name], *own)
            own = [each[changed] for each in own]
        one, text = judge(seen, *own)
        if ORDER.index(one) > ORDER.index(ends):
            ends, detail = one, f"{name}: {text}"
    return Outcome(pair.name, kind, ends, detail, time.perf_counter() - start)


def changed_in(before: Any, *after: Any) -> Any:
    """Which elements are other bits in any of the arrays."""
    from tileir_diff.equivalence.backend import torch

    size = before.element_size()
    bits = [each.view(torch.uint8).reshape(-1, size) for each in (before, *after)]
    return torch.stack([(each != bits[0]).any(dim=1) for each in bits[1:]]).any(dim=0)


def _class(pair: Pair) -> str:
    return str(pair.meta.get("class", "unknown"))


def main(arguments: Sequence[str] | None = None) -> int:
    from tileir_diff.equivalence.backend import torch

    parser = argparse.ArgumentParser(prog="python -m benchmarks.agreement", description=__doc__)
    parser.add_argument("folders", nargs="*", help="folders of pairs")
    parser.add_argument("--only", default="", help="pairs whose class and name hold this")
    parser.add_argument("--seconds", type=float, default=60.0, help="for one side")
    parser.add_argument(
        "--blocks",
        type=int,
        default=0,
        help="of larger grids only so many blocks, where they are independent",
    )
    parser.add_argument("--jobs", type=int, default=1, help="processes, of one thread each")
    parser.add_argument("--json", metavar="FILE", help="write all results")
    parser.add_argument("-v", "--verbose", action="store_true", help="each input")
    options = parser.parse_args(arguments)
    tasks = [
        (pair, inputs, options.seconds, options.blocks)
        for pair in pairs([Path(each) for each in options.folders] or [default_folder("pairs")])
        if pair.meta.get("gpu") and options.only in f"{_class(pair)} {pair.name}"
        for inputs in pair.meta["gpu"]["inputs"]
    ]
    results: list[tuple[str, Outcome]] = []
    spawned = get_context("spawn")
    with ProcessPoolExecutor(options.jobs, spawned, torch.set_num_threads, (1,)) as workers:
        futures = {workers.submit(examine, *task): _class(task[0]) for task in tasks}
        for future in as_completed(futures):
            outcome, kind = future.result(), futures[future]
            results.append((kind, outcome))
            if options.verbose or outcome.ends not in ("same", "rounding"):
                print(
                    f"{outcome.ends:9}{kind:11}{outcome.kind:9}{outcome.seconds:6.1f} s  {outcome.name}: "
                    f"{outcome.detail}",
                    flush=True,
                )
    counts = collections.Counter(outcome.ends for _, outcome in results)
    print(f"{len(results)} inputs of pairs: " + ", ".join(f"{counts[name]} {name}" for name in ORDER))
    if options.json:
        rows = [{"class": kind, **outcome._asdict()} for kind, outcome in sorted(results)]
        Path(options.json).write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
