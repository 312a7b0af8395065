"""The launches: every port of every fixture kernel, every mistake, every harmless edit."""

from __future__ import annotations

import json
import tomllib
import zlib
from typing import TYPE_CHECKING, Any, NamedTuple

from benchmarks.data import ROOT

if TYPE_CHECKING:
    from pathlib import Path

FIXTURES = ROOT / "fixtures"
BYTES = {"f16": 2, "bf16": 2, "f32": 4, "f64": 8, "f8e4m3fn": 1, "i32": 4, "u32": 4, "i64": 8}
INTEGERS = {"ids": (0, 500), "keys": (0, 1 << 32)}
"""Least value and the one after the largest, by array; other integer arrays are zero: counts and locks."""
SIDES = (("py", "launch.json", "reference"), ("rs", "launch.json", "generated"),
         ("cpp", "launch.cpp.json", "generated"))  # fmt: skip
WAITS = "locked_sum"
"""A mistake in its lock may wait for ever."""


class Case(NamedTuple):
    """One launch. `dump` is what runs, `kernel` names the arrays, `base` the case whose result it should
    have."""

    name: str
    kernel: str
    dump: Path
    launch: dict[str, Any]
    base: str | None


def cases() -> list[Case]:
    """In order of kernels, then of edits; those that may never end are left out."""
    found: list[Case] = []
    for folder in sorted((FIXTURES / "kernels").iterdir()):
        for stem, launch, side in SIDES:
            dump = folder / f"{stem}.mlir"
            if dump.exists():
                base = None if stem == "py" else f"{folder.name}.py"
                found.append(
                    Case(f"{folder.name}.{stem}", folder.name, dump, _launch(folder / launch, side), base)
                )
    for group, file in (("mistakes", "mistake.toml"), ("harmless", "harmless.toml")):
        for folder in sorted((FIXTURES / group).iterdir()):
            record = tomllib.loads((folder / file).read_text(encoding="utf-8"))
            kernel = record["kernel"]
            if kernel != WAITS:
                launch = _launch(folder / "launch.json", "generated")
                found.append(
                    Case(f"{group}.{folder.name}", kernel, folder / "gen.mlir", launch, f"{kernel}.py")
                )
    return found


def _launch(path: Path, side: str) -> dict[str, Any]:
    return json.loads(path.read_text(encoding="utf-8"))[side]


def contents(kernel: str) -> dict[str, tuple[str, bytes]]:
    """Element type and bytes of each array of a kernel before the launch, gaps between rows zero."""
    import numpy as np

    from tileir_diff.equivalence.backend import torch

    record = tomllib.loads((FIXTURES / "kernels" / kernel / "kernel.toml").read_text(encoding="utf-8"))
    found: dict[str, tuple[str, bytes]] = {}
    for name, array in record["arrays"].items():
        kind, shape = array["dtype"], array["shape"]
        random: Any = np.random.default_rng(zlib.crc32(f"{kernel}.{name}".encode()))
        if kind[0] in "iu":
            low, high = INTEGERS.get(name, (0, 1))
            drawn = random.integers(low, high, shape).astype(np.uint32)
            values = torch.from_numpy(drawn.view(np.int32))
        else:
            drawn = random.standard_normal(shape).astype(np.float32)
            values = torch.from_numpy(drawn).to(torch_type(kind))
        strides = array.get("strides") or list(values.stride())
        span = 1 + sum((extent - 1) * stride for extent, stride in zip(shape, strides, strict=True))
        buffer = torch.zeros(span * values.element_size(), dtype=torch.uint8)
        buffer.view(values.dtype).as_strided(shape, strides).copy_(values)
        found[name] = kind, buffer.numpy().tobytes()
    return found


def torch_type(kind: str) -> Any:
    from tileir_diff.equivalence.backend import torch

    names = {"f16": "float16", "bf16": "bfloat16", "f8e4m3fn": "float8_e4m3fn", "f32": "float32",
             "f64": "float64", "i32": "int32", "u32": "int32", "i64": "int64"}  # fmt: skip
    return getattr(torch, names[kind])
