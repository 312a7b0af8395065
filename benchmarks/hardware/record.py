"""Keeps of each recorded launch what a test needs: some elements of each array that the GPU changed."""

from __future__ import annotations

import base64
import json
import zlib
from typing import TYPE_CHECKING, Any

from benchmarks.hardware.cases import BYTES, cases, contents
from benchmarks.hardware.compare import read_results

if TYPE_CHECKING:
    from pathlib import Path

SAMPLES = 24
STRIDE = 0.6180339887498949
"""Elements are taken at multiples of this part of the array, modulo its size: all over it."""


def positions(count: int) -> list[int]:
    """Which elements of an array of `count` are kept, in order."""
    return sorted({int(count * (STRIDE * step % 1.0)) for step in range(min(SAMPLES, count))})


def record(results: Path, device: str, output: Path) -> int:
    recorded = read_results(results)
    kept: list[dict[str, Any]] = []
    for case in cases():
        found = recorded.get(case.name, {"error": "not launched"})
        if "error" in found or not found.get("repeats", True):
            continue
        arrays: dict[str, str] = {}
        for name, (kind, _) in contents(case.kernel).items():
            if name not in found["changed"]:
                continue
            content = zlib.decompress(base64.b64decode(found["changed"][name]))
            size = BYTES[kind]
            chosen = positions(len(content) // size)
            arrays[name] = b"".join(content[at * size : (at + 1) * size] for at in chosen).hex()
        kept.append({"name": case.name, "arrays": arrays})
    lines = ",\n".join(json.dumps(each) for each in kept)
    temporary = output.with_suffix(".new")
    temporary.write_text(f'{{"device": {json.dumps(device)}, "launches": [\n{lines}\n]}}\n', encoding="utf-8")
    temporary.replace(output)
    print(f"{len(kept)} launches in {output}")
    return 0
