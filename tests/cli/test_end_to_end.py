"""The command as a process, on dumps of real compilers."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import tileir_diff

ROOT = Path(__file__).parents[2]
FIXTURES = ROOT / "fixtures"


def run(*args: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Runs the command in fixtures/."""
    return subprocess.run(
        [sys.executable, "-m", "tileir_diff", *args],
        cwd=FIXTURES,
        env={**os.environ, "PYTHONPATH": str(ROOT), **environment},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )


def test_a_faithful_port_passes() -> None:
    done = run("kernels/softmax/py.g.mlir", "kernels/softmax/rs.g.mlir")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines()[-1] in ("VERDICT: PASS", "VERDICT: PASS_WITH_NOTES")


def test_a_dump_equals_itself() -> None:
    done = run("kernels/matmul/rs.mlir", "kernels/matmul/rs.mlir", "--strict")
    assert done.stdout.splitlines()[-1] == "VERDICT: PASS"


@pytest.mark.parametrize(
    ("kernel", "mistake", "rule"),
    [
        ("vector_add", "store_mask_lost", "mask/missing"),
        ("softmax", "reduction_axis", "reduction/axis"),
        ("matmul_persistent", "false_divisibility", "divisibility/stronger"),
    ],
)
def test_a_broken_port_fails_and_the_line_is_named(kernel: str, mistake: str, rule: str) -> None:
    launch = f"mistakes/{mistake}/launch.json"
    done = run(
        f"kernels/{kernel}/py.g.mlir",
        f"mistakes/{mistake}/gen.g.mlir",
        "--launch",
        launch,
        "--format",
        "json",
    )
    assert done.returncode == 1
    report = json.loads(done.stdout)
    finding = report["findings"][0]
    assert (finding["rule"], finding["severity"]) == (rule, "critical")
    assert finding["generated"]["source"]["file"].endswith("kernel.rs")
    assert report["generated"]["front_end"] == "cutile-rust"


def test_the_hash_seed_changes_nothing() -> None:
    pair = (
        "kernels/matmul/py.g.mlir",
        "mistakes/steps_floor/gen.g.mlir",
        "--format",
        "json",
        "--equivalences",
    )
    assert run(*pair, PYTHONHASHSEED="1").stdout == run(*pair, PYTHONHASHSEED="2").stdout


def test_a_plain_diff_loads_nothing_heavy() -> None:
    done = run("kernels/softmax/py.mlir", "kernels/softmax/rs.mlir", PYTHONPROFILEIMPORTTIME="1")
    loaded = {line.rpartition("|")[2].strip() for line in done.stderr.splitlines()}
    assert "tileir_diff.api" in loaded
    heavy = {"pydantic", "networkx", "rich", "torch", "z3", "xdsl.irdl", "xdsl.dialects.builtin", "tomllib"}
    assert loaded & heavy == set()


@pytest.mark.parametrize("encoding", ["ascii", "utf-8"])
def test_a_report_is_printed_whatever_the_terminal_can_show(encoding: str) -> None:
    pair = ("kernels/softmax/py.g.mlir", "mistakes/tma_off/gen.g.mlir")
    done = run(*pair, PYTHONIOENCODING=encoding)
    assert done.stderr == ""
    assert ("…" in done.stdout) == (encoding == "utf-8")
    assert done.stdout.splitlines()[-1].startswith("VERDICT: ")


def test_the_python_api() -> None:
    report = tileir_diff.diff(
        FIXTURES / "kernels/vector_add/py.mlir",
        FIXTURES / "mistakes/store_mask_lost/gen.mlir",
        launch=str(FIXTURES / "mistakes/store_mask_lost/launch.json"),
    )
    assert not report.ok
    assert report.findings[0].rule == "mask/missing"
    with pytest.raises(tileir_diff.InputError, match="cannot read"):
        tileir_diff.diff("none.mlir", "none.mlir")
    with pytest.raises(tileir_diff.InputError, match="is no impact"):
        tileir_diff.diff("none.mlir", "none.mlir", fail_on="never")


def test_the_python_api_takes_modules() -> None:
    from tileir_diff.dialect import parse_file

    module = parse_file(str(FIXTURES / "kernels/softmax/rs.mlir"))
    report = tileir_diff.diff(module, str(FIXTURES / "kernels/softmax/rs.mlir"))
    assert report.verdict == "PASS"
    assert report.reference.path == "<reference>"
