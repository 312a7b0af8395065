"""What was translated compiles, and its dump is that which it was translated from: real builds of real dumps."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner

from tests.dump.fixtures import ALLOW, CARGO, CRATES
from tests.transpile.cases import KERNELS, dump
from tileir_diff.cli.app import app
from tileir_diff.dump.like import parse_likes
from tileir_diff.dump.model import Dumped
from tileir_diff.dump.python import Wanted, dump_kernels
from tileir_diff.port.table import read_table

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("cargo")]

ROOT = Path(__file__).parents[2]
UNCOVERED = ("running_total",)
"""Its scan runs along another dimension than the first: cuTile Rust cannot write it."""
FIXTURES = [
    path.parent.name for path in sorted(KERNELS.glob("*/py.mlir")) if path.parent.name not in UNCOVERED
]
OPERATORS = (
    "bmm", "dropout", "geglu", "gelu", "layer_norm", "matmul", "relu", "rms_norm", "rope", "silu_and_mul",
    "softmax", "swiglu", "transpose",
)  # fmt: skip


@pytest.fixture
def cargo(real_disassembler: None, monkeypatch: pytest.MonkeyPatch) -> None:
    if shutil.which("cargo") is None:
        pytest.skip("no cargo: the Rust kernels cannot be built")
    shared = os.environ.get("CARGO_TARGET_DIR") or ROOT / ".toolchain" / "cargo-target"
    monkeypatch.setenv("CARGO_TARGET_DIR", str(shared))
    monkeypatch.setenv("XDG_CACHE_HOME", str(CRATES / "cache"))


def verdicts(name: str, references: dict[str, Path], tmp_path: Path) -> dict[str, str]:
    """The verdict on each dump's translation, by name: all are built as one crate, and compared by a table."""
    folder = CRATES / name
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    (folder / "Cargo.toml").write_text(CARGO)
    rows = f"[rust]\ncrate = {json.dumps(str(folder))}\n"
    modules = ""
    for case, reference in references.items():
        made = dump(reference)
        (folder / f"{case}.rs").write_text(made.text)
        modules += f"pub mod {case};\n"
        rows += (
            f"[[configuration]]\nname = {json.dumps(case)}\nreference = {json.dumps(str(reference))}\n"
            f"rust.entry = {json.dumps(f'{case}::{made.entry}')}\nrust.like = {json.dumps(made.likes)}\n"
        )
    (folder / "lib.rs").write_text(ALLOW + modules)
    table = tmp_path / "port.toml"
    table.write_text(rows)
    said = CliRunner().invoke(app, ["port-check", str(table), "--dumps", str(tmp_path / "dumps")]).output
    lines = said.splitlines()[: len(references)]
    return {case: line for case, line in zip(references, lines, strict=True) if not line.startswith("PASS ")}


def test_the_fixtures(tmp_path: Path) -> None:
    references = {name: KERNELS / name / "py.mlir" for name in FIXTURES}
    assert len(references) >= 14
    assert verdicts("transpiled", references, tmp_path) == {}


def test_the_references_of_the_operators(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    toolchain = Path(os.environ["TILEIR_TOOLCHAIN"])
    folders = [toolchain / "tilegym", toolchain / "cutile-python"]
    if not all(folder.is_dir() for folder in folders):
        pytest.skip("no operators of cuTile Python: `make setup-all`")
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(map(str, [*folders, os.environ.get("PYTHONPATH", "")])))
    rows = {
        name: read_table(str(ROOT / f"rust_kernels/kernels/src/{name}/port.toml"))[0] for name in OPERATORS
    }
    wanted = [
        Wanted(each.kernel, parse_likes([*each.like, *each.python_like]), each.arch, spare=True)
        for each in rows.values()
    ]
    references: dict[str, Path] = {}
    for name, made in zip(rows, dump_kernels(wanted), strict=True):
        assert isinstance(made, Dumped), f"{name}: {made}"
        references[name] = tmp_path / f"{name}.mlir"
        references[name].write_text(made.text)
    assert verdicts("operators", references, tmp_path) == {}


def test_the_command_checks_what_it_wrote(tmp_path: Path) -> None:
    reference, output = KERNELS / "swiglu" / "py.mlir", tmp_path / "kernel.rs"
    result = CliRunner().invoke(app, ["transpile", str(reference), "-o", str(output), "--check"])
    assert (result.exit_code, result.output.splitlines()[-1]) == (0, "VERDICT: PASS"), result.output
    text = output.read_text()
    assert "rounding::Approx" in text
    output.write_text(text.replace("rounding::Approx", "rounding::NearestEven"))
    result = CliRunner().invoke(app, ["port-check", str(tmp_path / "kernel.toml")])
    assert (result.exit_code, "float-mode/" in result.output) == (1, True), result.output
