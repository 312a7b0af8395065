"""What a verb says that is given the input of another verb, or of the other side."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

import tileir_diff
from tileir_diff.cli.app import app

KERNELS = Path(__file__).parents[2] / "fixtures" / "kernels"


def call(*words: str | Path) -> Result:
    return CliRunner().invoke(app, [str(word) for word in words])


@pytest.mark.parametrize(
    ("verb", "source", "said"),
    [
        ("rs", "kernel.py", "this is Python; `tileir-diff dump py` compiles it"),
        ("cpp", "kernel.py", "this is Python; `tileir-diff dump py` compiles it"),
        ("cpp", "kernel.rs", "this is Rust; `tileir-diff dump rs` compiles it"),
        ("rs", "kernel.cu", "this is CUDA C++; `tileir-diff dump cpp` compiles it"),
        ("rs", "notes.md", "this is no crate: give its folder, or a file NAME.rs with kernels"),
    ],
)
def test_dump_names_the_verb_for_a_source(verb: str, source: str, said: str) -> None:
    result = call("dump", verb, KERNELS / "softmax" / source)
    assert result.exit_code == 2
    assert said in result.stderr


def test_a_port_without_its_crate() -> None:
    result = call("port-check", f"{KERNELS / 'softmax' / 'kernel.py'}:softmax")
    assert result.exit_code == 2
    assert "MODULE:KERNEL CRATE[::ENTRY]" in result.stderr


@pytest.mark.parametrize(("dump", "side"), [("py.mlir", "reference"), ("rs.mlir", "generated")])
def test_run_takes_the_side_of_the_launch_that_is_the_kernels(dump: str, side: str, tmp_path: Path) -> None:
    pytest.importorskip("torch")
    folder = KERNELS / "vector_add"
    names = ("arg0", "arg3", "arg6") if side == "reference" else ("arg0", "arg1", "arg2")
    arrays = [word for name in names for word in ("--arg", f"{name}=ones:1000")]
    result = call("run", folder / dump, "--launch", folder / "launch.json", *arrays)
    assert f"launch: the {side} side of " in result.stdout, result.output
    assert result.exit_code == 0


def test_a_launch_of_another_kernel_names_both_sides() -> None:
    result = call("run", KERNELS / "rms_norm" / "py.mlir", "--launch", KERNELS / "swiglu" / "launch.json")
    assert result.exit_code == 2
    assert "15 values for the reference side and 8 values for the generated side" in result.stderr


def test_a_report_says_where_the_lines_of_bytecode_are() -> None:
    if shutil.which("tileirdisasm") is None and not (KERNELS.parents[1] / ".toolchain").exists():
        pytest.skip("no disassembler")
    path = KERNELS / "softmax" / "py.tirbc"
    notice = f"lines of {path} are those that `tileirdisasm -g` prints"
    assert notice in call("diff", path, path.with_name("py.mlir")).stdout
    assert notice not in call("diff", path.with_name("py.mlir"), path.with_name("py.mlir")).stdout


def test_python_refuses_what_is_no_kernel() -> None:
    with pytest.raises(TypeError, match="reference: a path or a module"):
        tileir_diff.diff(3, "x")  # type: ignore[arg-type]
