"""`tileir-diff run`: arguments, output, exit status."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner, Result

from tests.equivalence.support import run as _needs_torch
from tileir_diff.cli.app import app

KERNELS = Path(__file__).parents[2] / "fixtures"
ADD = str(KERNELS / "kernels" / "vector_add" / "py.mlir")
STORE = str(next(at for at, text in enumerate(Path(ADD).read_text().splitlines(), 1) if " store_ptr" in text))
LOST = str(KERNELS / "mistakes" / "store_mask_lost" / "gen.g.mlir")
LAUNCH = str(KERNELS / "kernels" / "vector_add" / "launch.json")

assert _needs_torch is not None


def command(*arguments: str) -> Result:
    return CliRunner().invoke(app, ["run", *arguments])


def test_files_in_files_out(tmp_path: Path) -> None:
    x, y = (np.random.default_rng(seed).standard_normal(1000).astype(np.float32) for seed in (0, 1))
    np.save(tmp_path / "x.npy", x)
    np.save(tmp_path / "y.npy", y)
    files = [f"arg0={tmp_path / 'x.npy'}", f"%arg3={tmp_path / 'y.npy'}", "6=empty:1000"]
    inputs = [part for file in files for part in ("--arg", file)]
    done = command(ADD, "--launch", LAUNCH, *inputs, "-o", str(tmp_path / "out"))
    assert done.exit_code == 0, done.output
    assert done.output.endswith("0 errors, 0 notes\n")
    assert np.array_equal(np.load(tmp_path / "out" / "arg6.npy"), x + y)
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == ["arg6.npy"]


def test_findings_are_errors() -> None:
    arguments = [
        "--grid",
        "4",
        "--arg",
        "arg0=random:1000",
        "--arg",
        "arg1=ones:1000",
        "--arg",
        "arg2=zeros:1000",
    ]
    done = command(LOST, *arguments, "--arg", "arg3=1000", "--format", "json")
    assert done.exit_code == 1
    document = json.loads(done.output)
    assert [each["rule"] for each in document["findings"]] == ["bounds/pointer"]
    assert document["findings"][0]["block"] == [3, 0, 0]
    assert document["findings"][0]["lane"] == [232]
    even = ["--arg", "arg3=1024", *[each.replace("1000", "1024") for each in arguments]]
    assert command(LOST, *even).exit_code == 0


def test_trace() -> None:
    line = next(
        number for number, text in enumerate(Path(ADD).read_text().splitlines(), 1) if " addf " in text
    )
    done = command(ADD, "--launch", LAUNCH, "--arg", "arg0=ones:1000", "--arg", "arg3=ones:1000", "--arg",
                   "arg6=zeros:1000", "--trace", str(line), "--trace-block", "3")  # fmt: skip
    assert f"{ADD}:{line}: block (3, 0, 0) %" in done.output
    assert "= [2, 2, 2," in done.output


def test_bad_calls_get_one_message(tmp_path: Path) -> None:
    (tmp_path / "bad.npy").write_text("no array")
    np.save(tmp_path / "big.npy", np.zeros(1000, ">f4"))
    np.save(tmp_path / "x.npy", np.zeros(1000, np.float32))
    np.save(tmp_path / "long.npy", np.zeros(1000))
    whole = (tmp_path / "x.npy").read_bytes()
    (tmp_path / "huge.npy").write_bytes(whole.replace(b"(1000,), }            ", b"(1000000000000000,), }"))
    base = ("--launch", LAUNCH, "--arg", "arg0=ones:1000", "--arg", "arg3=ones:1000")
    for arguments, message in (
        ((ADD,), "how many blocks"),
        ((ADD, *base), "no value for arg6 (tile<ptr<f32>>)"),
        ((ADD, *base, "--arg", "arg66=1"), "no parameter 'arg66'; did you mean 'arg6'?"),
        ((ADD, *base, "--arg", "arg6"), "write NAME=FILE.npy"),
        ((ADD, *base, "--arg", "arg6=nothing.npy"), "nothing.npy: error: cannot read"),
        ((ADD, *base, "--arg", f"arg6={tmp_path / 'bad.npy'}"), "no array for arg6 in it"),
        ((ADD, *base, "--arg", "arg6=zeros:1000", "--arg", "arg1=x"), "'x' is no number"),
        ((ADD, *base, "--arg", "arg6=zeros:1000", "--arg", "arg1=99999999999"), "does not fit i32"),
        ((ADD, *base, "--arg", "arg6=zeros:1000", "--grid", "a"), "is no list of numbers"),
        ((ADD, *base, "--arg", f"arg6={tmp_path / 'big.npy'}"), "no plain little-endian ones"),
        ((ADD, *base, "--arg", f"arg6={tmp_path / 'huge.npy'}"), "no memory for arg6"),
        ((ADD, *base, "--arg", f"arg6={tmp_path / 'x.npy'}@{1 << 70}"), "an offset is below 256 bytes"),
        ((ADD, *base, "--arg", "arg6=zeros:1000", "--grid", "0"), "sizes of at least 1"),
        ((ADD, *base, "--arg", "arg6=zeros:1000", "--grid", "1,2147483648"), "at most 2147483647 blocks"),
        ((ADD, *base, "--arg", "arg6=zeros:1000", "--trace", "9999"), "in line 9999 of the kernel"),
        ((ADD, *base, "--arg", "arg6=zeros:1000", "--trace-block", "9"), "is not in the grid"),
        ((ADD, *base, "--arg", "arg6=zeros:1000", "--trace", STORE), f"line {STORE} gives a token"),
        ((ADD, *base, "--arg", f"arg6={tmp_path / 'long.npy'}"), f"{ADD}: error: %arg6 points to f32"),
        (("nothing.mlir", "--grid", "1"), "nothing.mlir"),
    ):
        done = command(*arguments)
        assert done.exit_code == 2, message
        assert message in done.stderr, done.stderr
        assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    "arguments",
    [
        (),
        ("--grid", "2"),
        ("--grid", "x"),
        ("--grid", "2", "--arg", "arg66=1"),
        ("--trace", "a"),
        ("--arg", "a"),
    ],
)
def test_a_wrong_call_is_told_before_torch_is_loaded(arguments: tuple[str, ...]) -> None:
    code = (
        "import sys\nfrom tileir_diff.cli.app import app\n"
        f"try: app({['run', ADD, *arguments]!r})\n"
        "except SystemExit as end: sys.exit(10 * ('torch' in sys.modules) + end.code)"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, check=False).returncode == 2


@pytest.mark.parametrize("kind", ["int32", "uint32", "U1"])
def test_arrays_of_another_kind_of_elements_are_refused(kind: str, tmp_path: Path) -> None:
    np.save(tmp_path / "x.npy", np.ones(1000).astype(kind))
    others = ["--arg", "arg3=ones:1000", "--arg", "arg6=zeros:1000"]
    done = command(ADD, "--launch", LAUNCH, "--arg", f"arg0={tmp_path / 'x.npy'}", *others)
    assert done.exit_code == 2
    assert "points to f32; the array's elements are" in done.stderr


def test_arrays_of_the_wrong_type_are_refused(tmp_path: Path) -> None:
    np.save(tmp_path / "x.npy", np.zeros(1000))
    others = ["--arg", "arg3=ones:1000", "--arg", "arg6=zeros:1000"]
    done = command(ADD, "--launch", LAUNCH, "--arg", f"arg0={tmp_path / 'x.npy'}", *others)
    assert done.exit_code == 2
    assert "points to f32, of 4 bytes; the array's elements have 8" in done.stderr
