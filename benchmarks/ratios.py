"""Running a kernel against the same computation in torch: `python -m benchmarks.ratios`.

Each kernel of the corpus that is in the table below runs at its own shapes on random input, the computation
in torch right after it on the same arrays, a few times in turn. Halves are computed in f32 on both sides.
Times are of the processor, so that other work on the machine does not count. Needs torch.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks.data import ENVIRONMENT, data_folder
from benchmarks.runs import arguments, is_known

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    Compute = Callable[[dict[str, Any]], tuple[str, Any]]
    """Takes arrays, scalars and constants by name; returns the name of the output, and what it must hold."""

CLOSE = {"f32": 1e-3, "f16": 2e-3, "bf16": 2e-2}
"""How far results may be off, of the largest value; products of f32 are in tf32."""


def _softmax(a: dict[str, Any]) -> tuple[str, Any]:
    return "output", a["input"].float().softmax(dim=-1)


def _product(a: dict[str, Any]) -> tuple[str, Any]:
    return "C", a["A"].float() @ a["B"].float()


def _sum(a: dict[str, Any]) -> tuple[str, Any]:
    return "c", a["a"] + a["b"]


def _transposed(out: str, source: str) -> Compute:
    return lambda a: (out, a[source].T.contiguous())


def _gated(a: dict[str, Any]) -> tuple[str, Any]:
    from tileir_diff.equivalence.backend import torch

    return "c", torch.nn.functional.silu(a["a"].float()) * a["b"].float()


def _gated_halves(a: dict[str, Any]) -> tuple[str, Any]:
    from tileir_diff.equivalence.backend import torch

    first, second = a["input"].float().chunk(2, dim=-1)
    return "output", torch.nn.functional.silu(first) * second


def _rms(a: dict[str, Any]) -> tuple[str, Any]:
    x = a["x"].float()
    return "out", x * (x.square().mean(dim=-1, keepdim=True) + a["eps"]).rsqrt() * a["w"].float()


def _layer_norm(a: dict[str, Any]) -> tuple[str, Any]:
    from tileir_diff.equivalence.backend import torch

    x, w, b = (a[name].float() for name in ("X", "W", "B"))
    return "Y", torch.nn.functional.layer_norm(x, x.shape[-1:], w, b, a["EPS"])


def _attention(a: dict[str, Any]) -> tuple[str, Any]:
    from tileir_diff.equivalence.backend import torch

    q, k, v = (a[name].float() for name in ("Q", "K", "V"))
    return "Out", torch.nn.functional.scaled_dot_product_attention(q, k, v, scale=a["qk_scale"])


COMPUTATIONS: dict[str, Compute] = {
    "attention__fmha_fwd_kernel_with_lse__bf16__2x8x512x128": _attention,
    "layer_norm_legacy__persistent_layer_norm_fwd_kernel__bf16__1024x1024": _layer_norm,
    "matmul__matmul_kernel__f32__512x256": _product,
    "rms_norm__rms_norm_kernel_multi_wave_cached__f16__256x768": _rms,
    "sample-MatMul__matmul_kernel__f16__512x768": _product,
    "sample-Transpose__transpose_kernel__f32__1000x500": _transposed("y", "x"),
    "sample-VectorAddition__vec_add_kernel_1d__f32__1000000": _sum,
    "silu_and_mul__silu_and_mul_kernel_row_wise__f32__128x1024": _gated_halves,
    "softmax__softmax_kernel_tma__f32__256x32768": _softmax,
    "swiglu__swiglu_forward_kernel__f32__4329x1500": _gated,
    "transpose__transpose_kernel__f16__4096x4096": _transposed("output", "input"),
}
"""By the first part of the file's name: the same in torch."""


def measure(path: Path, entry: dict[str, Any], compute: Compute, times: int) -> tuple[float, float, float]:
    """Median seconds of the run and of torch, and how far the results are apart, of the largest value."""
    from tileir_diff import interpret

    seconds: list[tuple[float, float]] = []
    off = 0.0
    for _ in range(times):
        values = arguments(entry)
        named = _named(entry, values)
        start = time.process_time()
        interpret(str(path), values, grid=entry["grid"])
        middle = time.process_time()
        output, expected = compute(named)
        seconds.append((middle - start, time.process_time() - middle))
        off = float((named[output].float() - expected).abs().max() / expected.abs().max())
    own, other = (statistics.median(each) for each in zip(*seconds, strict=True))
    return own, other, off


def _named(entry: dict[str, Any], values: list[Any]) -> dict[str, Any]:
    """Arrays in their shapes, and numbers, by the names of the manifest."""
    named: dict[str, Any] = dict(entry["constants"])
    rest = iter(values)
    for argument in entry["args"]:
        if argument["name"] in entry["constants"]:
            continue
        value = next(rest)
        if argument["k"] == "tensor":
            value = value.as_strided(argument["shape"], argument["stride"])
            for _ in range(2 * len(argument["shape"])):
                next(rest)
        named[argument["name"]] = value
    return named


def main(options: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.ratios", description=__doc__)
    parser.add_argument("--only", default="", help="kernels whose name holds this")
    parser.add_argument("--times", type=int, default=3, help="runs of each")
    parser.add_argument("--threads", type=int, default=2, help="of torch")
    parser.add_argument("--json", metavar="FILE", help="write all figures")
    chosen = parser.parse_args(options)
    folder = (data_folder() or Path()) / "corpus"
    if not (folder / "manifest.json").exists():
        print(f"no corpus with a manifest.json: set {ENVIRONMENT}", file=sys.stderr)
        return 2
    from tileir_diff.equivalence.backend import torch

    torch.set_num_threads(chosen.threads)
    manifest = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
    rows: list[dict[str, Any]] = []
    for name, compute in COMPUTATIONS.items():
        entry = next((e for e in manifest if e["file"].startswith(f"{name}__") and is_known(e)), None)
        if entry is None or chosen.only not in name:
            continue
        own, other, off = measure(folder / entry["file"], entry, compute, chosen.times)
        wrong = "" if off <= CLOSE[entry["dtype"]] else f"  results are {off:.1e} apart"
        print(f"{own:8.3f} s {other:9.4f} s {own / other:8.0f}x  {name}{wrong}", flush=True)
        rows.append({"kernel": name, "seconds": own, "torch": other, "ratio": own / other, "off": off})
    if chosen.json:
        Path(chosen.json).write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")
    if rows:
        print(f"median ratio {statistics.median(each['ratio'] for each in rows):.0f}x")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
