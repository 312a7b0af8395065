"""Pairs of kernels whose lowering is recorded, so that tests need no assembler.

`python -m tests.lowering.cases` records anew, with the assembler of this machine.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from tileir_diff.lowering.assembler import Assembler
from tileir_diff.lowering.cache import Cache

if TYPE_CHECKING:
    import pytest

    from tileir_diff.report.model import Report

ROOT = Path(__file__).parents[2]
FIXTURES = ROOT / "fixtures"
RECORDED = Path(__file__).with_name("recorded")
VERSION = "13.4.92"


class Case(NamedTuple):
    """A pair, and an edit of the generated text (a pattern and what replaces it, each time it occurs)."""

    reference: str
    generated: str
    pattern: str = ""
    replacement: str = ""
    arch: str = "sm_90"
    launch: str | None = None


MATMUL = "kernels/matmul/py.mlir"
CASES: dict[str, Case] = {
    "faithful": Case(MATMUL, "kernels/matmul/rs.mlir", launch="kernels/matmul/launch.json"),
    "latency": Case(MATMUL, "mistakes/latency_changed/gen.mlir", arch="sm_100"),
    "alike": Case("kernels/softmax/py.mlir", "mistakes/occupancy_missing/gen.mlir"),
    "tma-off": Case("kernels/attention/py.mlir", "mistakes/key_tma_off/gen.mlir", arch="sm_100"),
    "other-arch": Case("kernels/attention/py.mlir", "mistakes/key_tma_off/gen.mlir"),
    "pointer": Case("kernels/rms_norm/py.mlir", "mistakes/pointer_for_view/gen.mlir"),
    # the row stride of A is not promised to be a multiple of four floats
    "stride": Case(
        MATMUL, MATMUL, r"assume div_by<4>, (%arg3|%assume_assume) ", r"assume bounded<0, ?>, \1 "
    ),
    # that of the base pointer of B
    "base": Case(MATMUL, MATMUL, r"%assume_1 = assume div_by<16>", "%assume_1 = assume div_by<4>"),
    # both strides lost, where the view has no promise left to compare: a product without tensor cores
    "no-tensor-cores": Case(MATMUL, "mistakes/tf32_cast_missing/gen.mlir"),
}


def report(case: Case, folder: Path, patch: pytest.MonkeyPatch | None, assembler: Assembler) -> Report:
    """The diff of a case with `--lower`, by the given assembler."""
    from tileir_diff import api
    from tileir_diff.lowering import assembler as module

    text = (FIXTURES / case.generated).read_text("utf-8")
    if case.pattern:
        text, number = re.subn(case.pattern, case.replacement, text)
        assert number, "the edit does not apply"
    generated = folder / "gen.mlir"
    generated.write_text(text, "utf-8")
    launch = FIXTURES / case.launch if case.launch else None
    if patch is not None:
        patch.setattr(module, "find_assembler", lambda cache: assembler)  # pyright: ignore
    return api.diff(FIXTURES / case.reference, generated, lower=case.arch, launch=launch)


def recorded() -> Assembler:
    """An assembler that knows what is recorded, and nothing else."""
    return Assembler(None, VERSION, Cache(RECORDED))


def record() -> None:
    """Runs all cases with the real assembler."""
    import shutil
    import tempfile

    import pytest

    from tileir_diff.lowering.assembler import find_assembler

    shutil.rmtree(RECORDED, ignore_errors=True)
    assembler = find_assembler(Cache(RECORDED))
    assert assembler.version == VERSION, f"recorded with {VERSION}, this is {assembler.version}"
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        for name, case in CASES.items():
            made = report(case, Path(folder), patch, assembler)
            print(f"{name}: {made.verdict}")
            for finding in made.findings:
                print(f"  {finding.severity} {finding.rule}: {finding.evidence}")


if __name__ == "__main__":
    record()
