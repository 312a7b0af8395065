"""`tileir-diff port-check`: tables, and ports that are dumped and compared."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Mapping
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from tests.dump.fixtures import CRATES, write_crate
from tests.match.fixtures import ROOT
from tileir_diff.cli.app import app
from tileir_diff.dump.like import parse_likes
from tileir_diff.dump.model import Dumped
from tileir_diff.errors import InputError
from tileir_diff.port.check import recorded_arguments
from tileir_diff.port.launch import launch_of
from tileir_diff.port.table import read_table

HEAD = '[python]\nkernel = "kernel.py:softmax"\n[rust]\ncrate = "crate"\nentry = "softmax"\n'
TABLE = f"""
arch = "sm_90"
{HEAD}
[[waivers]]
rule = "entry-hint/*"
reason = "all of them"
[[configuration]]
name = "small"
like = ["x=f16[200,60]:16", "y=x", "ROWS=64", "COLS=64"]
grid = [4]
[[configuration]]
name = "by name"
arch = "sm_100"
like = ["x=f16[200,60]:16"]
python.like = ["y=x", "ROWS=64", "COLS=64"]
python.kernel = "package.module:other"
rust.like = ["ROWS=64", "COLS=64", "out=@y"]
rust.options = {{ occupancy = 2 }}
rust.const_grid = [4, 2]
launch = "launch.json"
waivers = [{{ rule = "mask/*", reason = "its own" }}]
"""


def table(folder: Path, text: str) -> str:
    (folder / "port.toml").write_text(text)
    return str(folder / "port.toml")


def test_a_table_is_read(tmp_path: Path) -> None:
    small, other = read_table(table(tmp_path, TABLE))
    assert (small.name, small.arch, small.grid) == ("small", "sm_90", (4, 1, 1))
    assert small.kernel == f"{tmp_path}/kernel.py:softmax"
    assert (small.crate, small.entry, small.options, small.launch) == (
        f"{tmp_path}/crate",
        "softmax",
        {},
        None,
    )
    assert (other.arch, other.kernel) == ("sm_100", "package.module:other")
    assert (other.options, other.const_grid) == ({"occupancy": 2}, (4, 2, 1))
    assert other.launch == f"{tmp_path}/launch.json"
    assert [each.rule for each in other.waivers] == ["entry-hint/*", "mask/*"]


WITH_DUMP = '[rust]\ncrate = "k.rs"\n[[configuration]]\nname = "a"\nreference = "dumps/a.mlir"\n'


def test_a_dump_stands_for_a_kernel_of_python(tmp_path: Path) -> None:
    [row] = read_table(table(tmp_path, WITH_DUMP))
    assert (row.reference, row.kernel, row.crate) == (f"{tmp_path}/dumps/a.mlir", "", f"{tmp_path}/k.rs")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (WITH_DUMP + "grid = [1]\n", "'a' has a reference: give a launch in place of the grid"),
        (WITH_DUMP + 'python.like = ["N=1"]\n', "'a' has a reference: nothing of Python is dumped"),
        ("", "no [[configuration]] in it"),
        ("a = ", "not TOML"),
        ("archs = 1", "unknown key 'archs' in the table"),
        ("[[configuration]]\nlike = []", "a configuration needs a 'name'"),
        ("[[configuration]]\nname = 'a'", "'a' needs a python.kernel"),
        (
            f"{HEAD}[[configuration]]\nname = 'a'\n[[configuration]]\nname = 'a'",
            "two configurations are called",
        ),
        (f"{HEAD}[[configuration]]\nname = 'a'\ngrids = [1]", "unknown key 'grids'"),
        (f"{HEAD}[[configuration]]\nname = 'a'\ngrid = [0]", "'grid' must be a list"),
        (f"{HEAD}[[configuration]]\nname = 'a'\ngrid = [1]\nlaunch = 'l'", "a grid and a launch"),
        (f"{HEAD}[[configuration]]\nname = 'a'\nlike = 'x'", "'like' must be a list of strings"),
        (f"{HEAD}[[configuration]]\nname = 'a'\nrust.options = {{ warps = 1 }}", "unknown key 'warps'"),
        (f"{HEAD}[[configuration]]\nname = 'a'\nwaivers = [{{ rule = 'x' }}]", "a waiver needs a 'reason'"),
    ],
)
def test_a_wrong_table_says_why(text: str, said: str, tmp_path: Path) -> None:
    result = CliRunner().invoke(app, ["port-check", table(tmp_path, text)])
    assert (result.exit_code, said in result.output) == (2, True), result.output
    assert result.output.startswith(f"{tmp_path}/port.toml")


def made(parameters: int, *arguments: Mapping[str, object]) -> Dumped:
    listed = ", ".join(f"%arg{n}: tile<i32>" for n in range(parameters))
    return Dumped(b"", f"entry @k({listed}) {{", {"arguments": list(arguments)})


def test_a_launch_is_made_of_both_sides_arguments() -> None:
    likes = parse_likes(["x=f16[200,60]", "y=x", "n=i32:200", "B=4"])
    own = parse_likes(["out=@y", "n=y.shape0", "p=@x", "m=5"], likes)
    left = made(
        11,
        *({"name": name, "kind": "array", "dtype": "f16"} for name in "xy"),
        {"name": "n", "kind": "scalar", "dtype": "i32", "value": 200},
        {"name": "B", "kind": "constant", "value": 4},
    )
    right = made(
        8,
        {"name": "p", "kind": "pointer", "dtype": "f16"},
        {"name": "out", "kind": "tensor", "dtype": "f16"},
        {"name": "n", "kind": "scalar", "dtype": "i32", "value": 200},
        {"name": "m", "kind": "scalar", "dtype": "f32"},
    )
    launch = launch_of((left, likes), (right, own), (4, 1, 1))
    numbers = [{"i32": 200}, {"i32": 60}, {"i32": 60}, {"i32": 1}]
    assert launch["reference"] == {
        "entry": "k", "grid": [4, 1, 1],
        "args": [{"ptr": "x"}, *numbers, {"ptr": "y"}, *numbers, {"i32": 200}],
    }  # fmt: skip
    assert launch["generated"]["args"] == [{"ptr": "x"}, {"ptr": "y"}, *numbers, {"i32": 200}, None]
    fewer = launch_of((made(10, *left.specialised["arguments"]), likes), (right, own), (4, 1, 1))
    assert fewer["reference"] == {"entry": "k", "grid": [4, 1, 1]}


def test_one_name_for_two_arrays_is_refused() -> None:
    with pytest.raises(InputError, match="x is another array in Python and in Rust"):
        launch_of((made(0), parse_likes(["x=f16[4]"])), (made(0), parse_likes(["x=f16[5]"])), (1, 1, 1))


def test_parts_of_one_memory_are_not_said_to_be_apart() -> None:
    def told(name: str, memory: int, offset: int) -> dict[str, object]:
        return {
            "name": name, "kind": "array", "dtype": "f32", "shape": [4], "strides": [1], "align": 16,
            "memory": memory, "offset": offset,
        }  # fmt: skip

    same = [told("x", 0, 0), told("y", 0, 0)]
    assert [each.same for each in recorded_arguments(same)] == ["", "x"]
    both = (made(6, *same), recorded_arguments(same))
    assert launch_of(both, both, (1, 1, 1))["reference"]["args"][3] == {"ptr": "x"}
    parts = [told("x", 0, 0), told("y", 0, 4)]
    both = (made(6, *parts), recorded_arguments(parts))
    assert "args" not in launch_of(both, both, (1, 1, 1))["reference"]


@pytest.fixture
def cargo(real_disassembler: None, monkeypatch: pytest.MonkeyPatch) -> None:
    if shutil.which("cargo") is None:
        pytest.skip("no cargo: the Rust kernels cannot be built")
    shared = os.environ.get("CARGO_TARGET_DIR") or ROOT.parent / ".toolchain" / "cargo-target"
    monkeypatch.setenv("CARGO_TARGET_DIR", str(shared))
    monkeypatch.setenv("XDG_CACHE_HOME", str(CRATES / "cache"))


PORTS = """
[python]
kernel = "{root}/softmax/kernel.py:softmax"
[rust]
crate = "."
entry = "softmax"
[[configuration]]
name = "faithful"
like = ["x=f16[200,60]:16", "y=x", "ROWS=64", "COLS=64"]
grid = [4]
[[configuration]]
name = "wider"
like = ["x=bf16[4096,128]:16", "y=x", "ROWS=32", "COLS=128"]
grid = [128]
[[configuration]]
name = "another tile"
like = ["x=f16[200,60]:16", "y=x", "ROWS=64", "COLS=64"]
rust.like = ["ROWS=32"]
grid = [4]
[[configuration]]
name = "mistyped"
like = ["x=f16[200,60]:16", "y=x", "ROWS=64", "COLS=64", "z=1"]
[[configuration]]
name = "vector"
python.kernel = "{root}/vector_add/kernel.py:vector_add"
rust.entry = "vector_add"
like = ["x=f32[1000]:16", "y=x", "z=x", "TILE=256"]
rust.like = ["n=x.shape0"]
grid = [4]
"""


@pytest.mark.slow
@pytest.mark.usefixtures("cargo")
def test_a_table_of_ports(tmp_path: Path) -> None:
    path = table(write_crate("ported", ["softmax", "vector_add"]), PORTS.format(root=ROOT / "kernels"))

    def check(*options: str) -> Result:
        return CliRunner().invoke(app, ["port-check", path, "--dumps", str(tmp_path / "dumps"), *options])

    result = check()
    assert result.exit_code == 2, result.output
    lines = result.output.splitlines()
    assert [line.split(None, 1)[0] for line in lines[:5]] == [
        "PASS",
        "PASS",
        "FAIL_FIXABLE",
        "BLOCKED",
        "PASS",
    ]
    assert lines[3].split(None, 1)[1].startswith("mistyped  ")
    assert "neither kernel has a parameter z" in lines[3]
    assert lines[5] == "5 pairs: 3 PASS, 1 FAIL_FIXABLE, 1 BLOCKED"
    launch = json.loads((tmp_path / "dumps" / "vector" / "launch.json").read_text())
    assert launch["generated"]["args"][-1] == {"i32": 1000}
    report = json.loads(check("--only", "vector", "--format", "json").output)
    assert (report["verdict"], report["pairs"][0]["reference"][:11]) == ("PASS", "vector_add_")


HOST = """
import sys
import cuda.tile as ct
import torch
sys.path.insert(0, "{root}/softmax")
from kernel import softmax as kernel

def softmax(x):
    y = torch.empty_like(x)
    rows = torch.cuda.get_device_properties(x.device).multi_processor_count
    ct.launch(torch.cuda.current_stream(), (min(rows, 4),), kernel, (x, y, 64, 64))
    return y

def twice(x):
    return softmax(softmax(x))
"""
CALLS = """
arch = "sm_90"
[rust]
crate = "."
entry = "softmax"
like = ["ROWS=64", "COLS=64"]
[[configuration]]
name = "called"
python.call = "host.py:softmax(f16[200,60]:16)"
[[configuration]]
name = "odd address"
python.call = "host.py:softmax(bf16[200,60]:2)"
[[configuration]]
name = "another tile"
python.call = "host.py:softmax(f16[200,60]:16)"
rust.like = ["ROWS=32", "COLS=64"]
[[configuration]]
name = "which"
python.call = "host.py:twice(f16[200,60]:16)"
[[configuration]]
name = "fails"
python.call = "host.py:softmax(5)"
"""


@pytest.mark.slow
@pytest.mark.usefixtures("cargo")
def test_calls_that_are_recorded_and_a_pair_without_a_table(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    crate = write_crate("called", ["softmax"])
    kernels = ROOT / "kernels"
    (crate / "host.py").write_text(HOST.format(root=kernels))
    dumps = tmp_path / "dumps"

    def check(*arguments: str) -> Result:
        return CliRunner().invoke(app, ["port-check", *arguments, "--dumps", str(dumps)])

    result = check(table(crate, CALLS))
    lines = result.output.splitlines()
    verdicts = [line.split(None, 1)[0] for line in lines[:5]]
    assert verdicts == ["PASS", "PASS", "FAIL_FIXABLE", "BLOCKED", "BLOCKED"], result.output
    assert "which launch? python.kernel names one of softmax, softmax" in lines[3]
    assert "Traceback" not in result.output
    launch = json.loads((dumps / "called" / "launch.json").read_text())
    assert launch["reference"]["grid"] == [4, 1, 1]
    assert [each for each in launch["generated"]["args"] if "ptr" in each] == [{"ptr": "x"}, {"ptr": "y"}]

    likes = [word for each in ("ROWS=64", "COLS=64") for word in ("--rust-like", each)]
    call, entry = f"{crate}/host.py:softmax(f16[200,60]:16)", f"{crate}::softmax"
    result = check(call, entry, "--arch", "sm_90", *likes)
    assert (result.exit_code, result.output.split(None, 1)[0]) == (0, "PASS"), result.output
    assert result.output.splitlines()[-1] == "1 pair: 1 PASS"

    shared = [word for each in ("x=f16[200,60]:16", "y=x", "ROWS=64", "COLS=64") for word in ("--like", each)]
    kernel = f"{kernels}/softmax/kernel.py:softmax"
    result = check(kernel, entry, *shared, "--grid", "4")
    assert (result.exit_code, result.output.split(None, 1)[0]) == (0, "PASS"), result.output
    refusals = (("none", "sm_90", "no entry none"), ("softmax", "gpu", "'gpu' is no architecture"))
    for generated, arch, said in refusals:
        result = check(kernel, f"{crate}::{generated}", *shared, "--arch", arch)
        assert result.exit_code == 2
        assert result.output.startswith("BLOCKED")
        assert said in result.output


@pytest.mark.parametrize("grid", ["", "0", "4,", "1,2,3,4", "x", "-1", "2.0"])
def test_a_grid_that_is_none(grid: str) -> None:
    result = CliRunner().invoke(app, ["port-check", "m:k", "crate", "--grid", grid])
    assert (result.exit_code, "not up to three positive numbers" in result.output) == (2, True)


def test_with_a_table_the_grid_is_in_the_table(tmp_path: Path) -> None:
    result = CliRunner().invoke(app, ["port-check", table(tmp_path, TABLE), "--grid", "4"])
    assert (result.exit_code, "the table says it" in result.output) == (2, True)
