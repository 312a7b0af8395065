"""On a GPU: a call of TileGym's operators with our backend, against the same call with its cuTile backend.

    python overhead.py [--out overhead.json] [--operators a,b] [--no-times]

Both must give the same result; then the time of a call on the host is measured, by turns. Products of
matrices are also compared with torch on all types, shapes and layouts. Run it beside the `run.py` that
prepared the folder. Exit status: 0 all right, 1 a result is wrong or a call failed.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import statistics
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import run  # the library, the packages and their places

sys.path.append(str(run.REST / "tilegym"))

import measure
import through
import torch

if TYPE_CHECKING:
    from collections.abc import Callable

    import cases

SCHEMA: Final = "tileir-kernels-overhead/1"
OURS: Final = "tileir"
THEIRS: Final = "cutile"
ROUNDS: Final = 60
CALLS: Final = 10
"""Calls in a row: fewer than a stream takes before it holds the host up."""
SHAPE: Final = (64, 512)
"""So small that the host is busier than the device."""
TOLERANCE: Final = 2e-2


def operators() -> dict[str, Callable[[], Any]]:
    """A call of each of TileGym's operators, with the backend that is set; a first call may tune."""
    import tilegym
    from tilegym.ops import activation

    ops = tilegym.ops
    rows, columns = SHAPE
    x, y = (torch.randn(SHAPE, device="cuda", dtype=torch.float16) for _ in range(2))
    z = x.bfloat16()  # persistent_layer_norm takes no f16
    weight, bias = (torch.randn(columns, device="cuda", dtype=torch.float16) for _ in range(2))
    queries, keys = (torch.randn(1, 4, rows, 64, device="cuda", dtype=torch.float16) for _ in range(2))
    square = torch.randn(columns, columns, device="cuda", dtype=torch.float16)
    batch = torch.randn(4, rows, rows, device="cuda", dtype=torch.float16)
    cosine, sine = (torch.randn(1, rows, 64, device="cuda", dtype=torch.float16) for _ in range(2))
    return {
        "softmax": lambda: ops.softmax(x),
        "silu_and_mul": lambda: ops.silu_and_mul(x),
        "get_swiglu": lambda: ops.get_swiglu()(x, y),
        "relu": lambda: activation.relu(x),
        "gelu": lambda: activation.gelu(x),
        "geglu": lambda: activation.geglu(x),
        "dropout": lambda: ops.dropout(x, 7, 0.25),
        "rms_norm": lambda: ops.rms_norm(x, (columns,), weight, 1e-5),
        "layer_norm_legacy": lambda: ops.layer_norm_legacy(x, (columns,), weight, bias, 1e-5),
        "persistent_layer_norm": lambda: ops.persistent_layer_norm(z, (columns,), weight, bias, 1e-5),
        "layer_norm": lambda: ops.layer_norm(x, 1, 2, weight, bias, 1e-5),
        "apply_rope_base": lambda: ops.apply_rope_base(queries.clone(), keys.clone(), cosine, sine),
        "transpose": lambda: ops.transpose(x),
        "matmul": lambda: ops.matmul(x, square),
        "bmm": lambda: ops.bmm(batch, batch),
    }


def first(result: Any) -> torch.Tensor:
    return (result[0] if isinstance(result, tuple) else result).float()


def call_time(call: Callable[[], Any]) -> float:
    """Microseconds of one of a few calls on the host."""
    torch.cuda.synchronize()
    start = time.perf_counter()
    for _ in range(CALLS):
        call()
    return (time.perf_counter() - start) / CALLS * 1e6


def judged(name: str, call: Callable[[], Any]) -> dict[str, Any]:
    import tilegym

    entry: dict[str, Any] = {"operator": name, "right": False}
    try:
        results: list[torch.Tensor] = []
        for backend in (OURS, THEIRS):
            tilegym.set_backend(backend)
            results.append(first(call()))
            for _ in range(CALLS):
                call()
        torch.cuda.synchronize()
        entry["difference"] = float((results[0] - results[1]).abs().max())
        size = float(results[1].abs().max().clamp(min=1.0))  # sums of many terms err by the largest of them
        entry["right"] = bool(torch.allclose(*results, rtol=TOLERANCE, atol=TOLERANCE * size))
        times: list[tuple[float, float]] = []
        for number in range(ROUNDS):
            turn = (OURS, THEIRS) if number % 2 else (THEIRS, OURS)
            measured: dict[str, float] = {}
            for backend in turn:
                tilegym.set_backend(backend)
                measured[backend] = call_time(call)
            times.append((measured[OURS], measured[THEIRS]))
        ours, theirs = (statistics.median(side) for side in zip(*times, strict=True))
        low, high = measure.interval([times])
        entry |= {"ours_us": ours, "theirs_us": theirs, "ratio": 1 / measure.speed(times)}
        entry |= {"low": 1 / high, "high": 1 / low}
    except Exception as error:  # a call that fails is a result
        entry |= {"right": False, "fault": f"{type(error).__name__}: {error}"}
    print(json.dumps(entry), flush=True)
    return entry


def compile_products(chosen: list[cases.Case]) -> None:
    """As `run.compile_ours`, through TileGym."""

    def call(case: cases.Case) -> None:
        with contextlib.suppress(Exception):  # fails again where it is judged, and is told there
            through.call(case, through.tensors(case, "cuda"))

    with ThreadPoolExecutor(run.THREADS) as pool:
        list(pool.map(call, chosen))
    torch.cuda.synchronize()


def main() -> int:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--out", type=Path, default=Path("overhead.json"))
    arguments.add_argument("--operators", default="")
    arguments.add_argument("--no-times", action="store_true", help="only whether products are right")
    given = arguments.parse_args()
    run.prepare()
    import logging

    import tilegym
    from tilegym.backend import has_backend_impl
    from tileir_kernels import backend

    logging.disable(logging.INFO)  # a line for each change of the backend
    backend.register(OURS)
    wanted = [name for name in given.operators.split(",") if name]
    timed = {} if given.no_times else operators()
    calls = {name: call for name, call in timed.items() if not wanted or name in wanted}
    without = [name for name in calls if not has_backend_impl(name, OURS)]
    entries: list[dict[str, Any]] = []
    products: list[dict[str, Any]] = []
    results = {
        "schema": SCHEMA, "machine": run.machine(), "tilegym": version(tilegym), "operators": entries,
        "without_ours": without, "products": products,
    }  # fmt: skip
    given.out.parent.mkdir(parents=True, exist_ok=True)
    with torch.no_grad():
        for name, call in calls.items():
            if name not in without:
                entries.append(judged(name, call))
                given.out.write_text(json.dumps(results, indent=1) + "\n")  # what there is, if time ends
    tilegym.set_backend(OURS)
    chosen = [case for case in through.cases() if not wanted or case.operator in wanted]
    compile_products(chosen)
    products += [through.judged(case) for case in chosen]
    wrong = [entry for entry in products if not entry["right"]]
    for entry in wrong:
        print(json.dumps(entry))
    print(f"{len(products) - len(wrong)} of {len(products)} products right")
    given.out.write_text(json.dumps(results, indent=1) + "\n")
    return 0 if entries + products and all(entry["right"] for entry in entries + products) else 1


def version(package: Any) -> str:
    from importlib.metadata import distributions

    folder = Path(package.__file__).parents[1]
    [found] = [each.version for each in distributions(name="tilegym", path=[str(folder)])]
    return found


if __name__ == "__main__":
    sys.exit(main())
