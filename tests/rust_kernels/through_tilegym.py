"""Calls products of matrices through TileGym with our backend, on tensors without a GPU, and interprets them.

`python through_tilegym.py FOLDER`: a line of JSON for each. A script of its own, for TileGym needs cuTile
Python on the path.
"""

# pyright: basic, reportMissingImports=false, reportAttributeAccessIssue=false

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path
from typing import Any

import through
import tilegym
import torch
from cases import OPERATORS, Case, error, tolerance
from tileir_kernels import backend, ops, recording

from tests.rust_kernels.test_kernels import run_recorded

CASES = [
    Case("matmul", "plain", "f32", (70, 150), through.TURNED, inner=100),
    Case("matmul", "plain", "bf16", (70, 150), "padded", inner=100),
    Case("matmul", "persistent-nt", "f16", (70, 150), "offset", inner=100),
    Case("matmul", "persistent-tn", "f16", (70, 150), through.TURNED, inner=100),
    Case("bmm", "plain", "f16", (2, 70, 150), through.TURNED, inner=100),
    Case("bmm", "persistent-nn", "bf16", (2, 70, 150), "offset", inner=100),
    Case("bmm", "persistent-tt", "f32", (2, 70, 150), inner=100),
]


def judged(case: Case, folder: Path) -> dict[str, Any]:
    given = through.tensors(case, "cpu")
    seen: dict[str, Any] = {}
    original = getattr(ops, case.operator)

    def watched(a: Any, b: Any, *rest: Any, **named: Any) -> Any:
        seen.update(a=a, b=b)  # as the backend passes them on: maybe copies
        return original(a, b, *rest, **named)

    setattr(ops, case.operator, watched)
    try:
        with recording(folder, "sm_90", multiprocessors=1):
            seen["out"] = through.call(case, given)
    finally:
        setattr(ops, case.operator, original)
    ran = run_recorded(folder, seen)
    expected = OPERATORS[case.operator].expected(case, given)
    return {
        "case": case.name,
        "findings": len(ran.findings),
        "error": error(case, given, seen["out"], expected),
        "tolerance": tolerance(case),
    }


def main() -> None:
    backend.register()
    tilegym.set_backend(backend.NAME)
    with torch.no_grad():
        for case in CASES:
            with tempfile.TemporaryDirectory(dir=sys.argv[1]) as folder:
                print(json.dumps(judged(case, Path(folder))), flush=True)


if __name__ == "__main__":
    main()
