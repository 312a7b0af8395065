"""What the benchmark of translations counts."""

from __future__ import annotations

import pytest

from benchmarks.data import ROOT
from benchmarks.transpile import main, sample, translated

KERNELS = ROOT / "fixtures" / "kernels"
DUMPS = [KERNELS / name / "py.mlir" for name in ("matmul", "running_total", "softmax")]


def test_what_is_translated_and_what_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([str(path) for path in DUMPS]) == 0
    lines = [line.strip() for line in capsys.readouterr().out.splitlines()]
    assert lines[0] == "2 of 3 dumps of cutile-python are translated"
    assert lines[1] == "1 refused: cannot translate scan: cuTile Rust scans along dimension N only"


def test_a_sample_is_the_same_each_time() -> None:
    made, _, _ = translated(DUMPS)
    assert list(made) == ["k0", "k2"]
    assert list(sample(made, 1, 7)) == list(sample(made, 1, 7))
    assert list(sample(made, 9, 7)) == ["k0", "k2"]
