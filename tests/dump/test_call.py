"""Dumps of what a host function launches: the launcher's own signature, without a driver."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from tests.match.fixtures import ROOT
from tileir_diff.cli.app import app
from tileir_diff.dump.like import parse_likes
from tileir_diff.dump.model import Dumped
from tileir_diff.dump.python import Wanted, dump_call, dump_kernels

HOST = """
import types
import cuda.tile as ct
import torch
from cuda.tile.tune import exhaustive_search

def kernel(name):
    module = types.ModuleType(name)
    path = f"kernels/{name}/kernel.py"
    exec(compile(open(path).read(), path, "exec"), vars(module))
    return getattr(module, name)

def softmax(*arrays):
    for x in arrays:
        y = torch.empty_like(x)
        size = torch.cuda.get_device_properties(x.device).multi_processor_count
        best = exhaustive_search([size, 7], None, None, None, None).best.config
        ct.launch(torch.cuda.current_stream(), (best, 2), kernel("softmax"), (x[:, 4:], y[:, 4:], 64, 64))

def add(x, n):
    ct.launch(torch.cuda.current_stream(), (n,), kernel("vector_add"), (x, x, x.clone(), 256))

def nothing():
    pass

def fails(x):
    return x.data.tolist()
"""
SPECS = (
    "f16[200,64]:16",
    "bf16[208,68]:64",
    "f32[1,1028](2048,1):16",
    "f8e4m3fn[64,68]:8",
    "f16[256,132](1,256):2",
)

pytestmark = pytest.mark.usefixtures("compilers")


@pytest.fixture
def compilers(real_disassembler: None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "host.py").write_text(HOST)
    monkeypatch.chdir(ROOT)


def dump(call: str, *options: str) -> Result:
    return CliRunner().invoke(app, ["dump", "py", "--call", call, *options])


@pytest.mark.slow
def test_described_arguments_state_what_the_launcher_states(tmp_path: Path) -> None:
    """The view of each array begins four elements in: the address is the array's, moved."""
    made = dump_call(f"{tmp_path}/host.py:softmax({', '.join(SPECS)})", "sm_100")
    wanted: list[Wanted] = []
    for each in made:
        x, y, *_ = each.specialised["arguments"]
        likes = [
            f"{name}={told['dtype']}{told['shape']}({str(told['strides'])[1:-1]}):{told['align']}"
            for name, told in (("x", x), ("y", y))
        ]
        wanted.append(
            Wanted("kernels/softmax/kernel.py:softmax", parse_likes([*likes, "ROWS=64", "COLS=64"]), "sm_100")
        )
    for spec, recorded, described in zip(SPECS, made, dump_kernels(wanted), strict=True):
        assert isinstance(described, Dumped), described
        assert recorded.bytecode == described.bytecode, spec
    assert {each.specialised["arguments"][0]["base_divisible_by"] for each in made} == {1, 16}
    assert made[0].specialised["grid"] == [148, 2, 1]
    assert (made[0].specialised["processors"], made[0].specialised["first_of_search"]) == (148, len(SPECS))


@pytest.mark.slow
def test_every_launch_is_written(tmp_path: Path) -> None:
    out = tmp_path / "out"
    result = dump(f"{tmp_path}/host.py:add(f32[1000], 5)", "--arch", "sm_90", "-o", str(out))
    assert result.exit_code == 0, result.output
    data = json.loads((out / "vector_add.0.json").read_text())
    assert (data["grid"], data["arch"], data["call"]) == ([5, 1, 1], "sm_90", "add(f32[1000], 5)")
    x, y, z, tile = data["arguments"]
    assert (x["memory"], y["memory"], z["memory"]) == (0, 0, 1)
    assert tile == {"name": tile["name"], "kind": "constant", "value": 256}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("call", "said"),
    [
        ("host.py:nothing()", "launches no kernel"),
        ("host.py:fails(f32[4])", "error: "),
        ("host.py:none()", "name 'none' is not defined"),
        ("host.py:nothing(exit(3))", "it called exit(3)"),
        ("host.py:nothing(f32[4]:2)", "no f32 lies at a multiple of 2 bytes"),
        ("none.py:none()", "no such file"),
    ],
)
def test_a_call_that_cannot_be_recorded(call: str, said: str, tmp_path: Path) -> None:
    result = dump(f"{tmp_path}/{call}")
    assert (result.exit_code, said in result.output) == (2, True), result.output
    assert "Traceback" not in result.output


def test_what_is_no_call() -> None:
    assert "names no call: write MODULE:FUNCTION(ARGUMENTS)" in dump("host.py:add").output
    assert "how many multiprocessors has sm_103?" in dump("host:add()", "--arch", "sm_103").output
    assert "no --like" in dump("host:add()", "--like", "x=1").output
    assert "give a MODULE:KERNEL" in CliRunner().invoke(app, ["dump", "py"]).output


@pytest.mark.slow
def test_kernels_of_tilegym_are_found_among_the_compilers(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.delenv("PYTHONPATH", raising=False)
    result = dump("tilegym.ops.cutile.activation.relu:none()", "-o", str(tmp_path))
    assert "No module named 'tilegym'" not in result.output
    assert "name 'none' is not defined" in result.output
