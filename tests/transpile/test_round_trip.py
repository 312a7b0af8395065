"""What was translated compiles, and its dump is that which it was translated from: real builds."""

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


def not_passed(name: str, references: dict[str, Path], tmp_path: Path) -> dict[str, str]:
    """The line of each dump whose translation does not pass; all are built as one crate."""
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
    assert not_passed("transpiled", references, tmp_path) == {}


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
    assert not_passed("operators", references, tmp_path) == {}


def test_the_command_checks_what_it_wrote(tmp_path: Path) -> None:
    reference, output = KERNELS / "swiglu" / "py.mlir", tmp_path / "kernel.rs"
    result = CliRunner().invoke(app, ["transpile", str(reference), "-o", str(output), "--check"])
    assert (result.exit_code, result.output.splitlines()[-1]) == (0, "VERDICT: PASS"), result.output
    text = output.read_text()
    assert "rounding::Approx" in text
    output.write_text(text.replace("rounding::Approx", "rounding::NearestEven"))
    result = CliRunner().invoke(app, ["port-check", str(tmp_path / "kernel.toml")])
    assert (result.exit_code, "float-mode/" in result.output) == (1, True), result.output


WRONG = {
    "one": ("bf16", "constant(bf16::ONE, shape![16])", "<bf16: 1.875000e+00>", "<bf16: 1.000000e+00>"),
    "most": ("bf16", "constant(bf16::INFINITY, shape![16])", "<bf16: 0x7FF0>", "<bf16: 0x7F80>"),
    "none": ("bool", "constant(false, shape![16])", "<i1: true>", "<i1: false>"),
}
"""Constants that the front end writes as others: element type, source, what is written, what is meant."""
STORES = """\
    #[cutile::entry()]
    pub unsafe fn {name}(x: &Tensor<{element}, {{ [-1] }}>) {{
        let token: Token = new_token_unordered();
        let tiles: Partition<{element}, {{ [16] }}> =
            unsafe {{ make_partition_view(x, shape![16], padding::None, dim_map::Identity, token) }};
        let value: Tile<{element}, {{ [16] }}> = {source};
        unsafe {{
            store_view_raw(
                &tiles, value, [0i32], Some(token), ordering::Weak, scope::TileBlock, tma::Enabled, None,
                [false],
            )
        }};
    }}
"""


def test_the_constants_that_are_not_written_are_still_wrong(tmp_path: Path) -> None:
    """They are in the catalogue of the front end's bugs; where this fails, the front end is mended."""
    file = tmp_path / "wrong.rs"
    entries = "".join(
        STORES.format(name=name, element=element, source=source)
        for name, (element, source, _, _) in WRONG.items()
    )
    file.write_text(f"#[cutile::module]\npub mod wrong {{\n    use cutile::core::*;\n{entries}}}\n")
    for name, (element, _, written, meant) in WRONG.items():
        like = ["--like", f"x={element}[33]", "--entry", name, "-o", str(tmp_path)]
        assert CliRunner().invoke(app, ["dump", "rs", str(file), *like]).exit_code == 0
        text = (tmp_path / f"{name}.mlir").read_text()
        assert text.count(written) == 1
        reference = tmp_path / "reference.mlir"
        reference.write_text(text.replace(written, meant))
        call = ["classify", str(reference), str(tmp_path / f"{name}.mlir"), "--source", str(file)]
        assert CliRunner().invoke(app, call).output.splitlines()[-1] == "CAUSE: frontend-bug"


def test_files_of_one_name_are_two_kernels(tmp_path: Path) -> None:
    """Also where the second is older than what was built of the first."""
    files = [tmp_path / name / "kernel.rs" for name in ("first", "second")]
    for file, name in zip(files, ("softmax", "swiglu"), strict=True):
        file.parent.mkdir()
        file.write_text(dump(KERNELS / name / "py.mlir").text)
    for file, name in [*zip(files, ("softmax", "swiglu"), strict=True), (files[0], "softmax")]:
        said = CliRunner().invoke(app, ["dump", "rs", str(file), "--entry", "none"]).output
        assert f"there are kernels::kernel::{name}::{name}" in said
