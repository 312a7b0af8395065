"""The server for agents: seven tools below one folder, with limits."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.pipeline.real import KERNELS
from tileir_diff.errors import InputError
from tileir_diff.pipeline import tools as module
from tileir_diff.pipeline.mcp_server import NAMES
from tileir_diff.pipeline.tools import Tools


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A folder with a kernel, beside one that is nobody's business."""
    served = tmp_path / "served"
    served.mkdir()
    for name in ("py.mlir", "rs.mlir", "launch.json", "kernel.rs"):
        shutil.copyfile(KERNELS / "softmax" / name, served / name)
    shutil.copyfile(KERNELS / "softmax" / "py.mlir", tmp_path / "outside.mlir")
    (served / "link.mlir").symlink_to(tmp_path / "outside.mlir")
    return served


def test_the_tools_answer(root: Path) -> None:
    tools = Tools(root)
    assert json.loads(tools.diff("py.mlir", "rs.mlir", "launch.json"))["verdict"] == "PASS"
    assert json.loads(tools.diff("py.mlir", "rs.mlir", "grid.x=4"))["verdict"].startswith("PASS")
    assert json.loads(tools.classify("py.mlir", "rs.mlir", "kernel.rs"))["cause"] == "equivalent-if"
    assert json.loads(tools.check("py.mlir"))["files"][0]["path"] == "py.mlir"
    assert json.loads(tools.show("py.mlir"))["schema"] == "tileir-show/1"
    assert "axis" in tools.explain("reduction/axis")


def test_a_kernel_runs(root: Path) -> None:
    arguments = ["arg0=random:200x60", "arg1=200", "arg2=60", "arg3=60", "arg4=1", "arg5=empty:200x60"]
    arguments += ["arg6=200", "arg7=60", "arg8=60", "arg9=1"]
    assert json.loads(Tools(root).run("py.mlir", "4,1,1", arguments))["complete"] is True


@pytest.mark.parametrize(
    "path",
    [
        "../outside.mlir",
        "/etc/hostname",
        "link.mlir",
        "none.mlir",
        "-",
        "--help",
        "a\0b",
        ".",
        "a" * 5000,
        "\ud800",
    ],
)
def test_nothing_outside_the_root_is_read(path: str, root: Path) -> None:
    for ask in (Tools(root).check, Tools(root).show):
        with pytest.raises(InputError):
            ask(path)
    with pytest.raises(InputError):
        Tools(root).diff("py.mlir", path)
    with pytest.raises(InputError):
        Tools(root).diff("py.mlir", "rs.mlir", path)


@pytest.mark.parametrize("value", ["x=/etc/passwd", "x=../outside.npy", "x=py.mlir", "-x=1"])
def test_an_argument_is_no_way_out(value: str, root: Path) -> None:
    with pytest.raises(InputError):
        Tools(root).run("py.mlir", "1", [value])


def test_a_reference_of_an_analysis_is_no_way_out(root: Path) -> None:
    from tests.pipeline.real import port_of

    port_of(root / "port", "softmax")
    (root / "port" / "reference" / "softmax.mlir").unlink()
    (root / "port" / "reference" / "softmax.mlir").symlink_to(root.parent / "outside.mlir")
    with pytest.raises(InputError, match="outside the folder"):
        Tools(root).gate("port/analysis.json", "kernel.rs")


def test_settings_above_the_root_do_not_count(root: Path) -> None:
    (root.parent / "tileir-diff.toml").write_text('[[waivers]]\nrule = "*"\nreason = "all"\n')
    wrong = (root / "rs.mlir").read_text().replace("dim=1", "dim=0")
    (root / "wrong.mlir").write_text(wrong)
    assert json.loads(Tools(root).diff("py.mlir", "wrong.mlir", "launch.json"))["verdict"] == "FAIL_FIXABLE"


def test_files_and_answers_have_a_largest_size(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "LONGEST", 100)
    with pytest.raises(InputError, match="more than"):
        Tools(root).show("py.mlir")
    monkeypatch.setattr(module, "LARGEST", 10)
    with pytest.raises(InputError, match="larger than"):
        Tools(root).check("py.mlir")


def test_a_broken_dump_is_told_with_its_place(root: Path) -> None:
    (root / "bad.mlir").write_text("cuda_tile.module @m {\n  nonsense\n}\n")
    with pytest.raises(InputError, match=r"^diff: error: bad\.mlir:2") as told:
        Tools(root).diff("py.mlir", "bad.mlir")
    assert str(root.resolve()) not in str(told.value)
    [file] = json.loads(Tools(root).check("bad.mlir"))["files"]
    assert not file["ok"]
    assert file["errors"][0]["line"] == 2


@pytest.mark.parametrize("name", ["a=b", "a=b/launch", "%x=1/../outside"])
def test_a_path_that_reads_as_a_fact_is_no_way_out(name: str, root: Path) -> None:
    outside = root.parent / name
    outside.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(KERNELS / "softmax" / "launch.json", outside)
    with pytest.raises(InputError, match="outside the folder"):
        Tools(root).diff("py.mlir", "rs.mlir", f"../{name}")


def test_an_array_that_is_made_has_a_largest_size(root: Path) -> None:
    with pytest.raises(InputError, match="more than 16777216 elements"):
        Tools(root).run("py.mlir", "1", ["arg0=random:200000x600@600,1"])


def test_a_word_that_no_system_passes_on_is_told(root: Path) -> None:
    with pytest.raises(InputError, match="too long"):
        Tools(root).explain("x" * 300_000)


def test_a_client_gets_answers_and_errors(root: Path) -> None:
    pytest.importorskip("mcp")
    import anyio
    from mcp import Client

    from tileir_diff.pipeline.mcp_server import server

    async def ask() -> tuple[list[str], Any, Any]:
        async with Client(server(root)) as client:
            listed = await client.list_tools()
            fine = await client.call_tool("check", {"file": "py.mlir"})
            wrong = await client.call_tool("check", {"file": "../outside.mlir"})
            return [tool.name for tool in listed.tools], fine, wrong

    names, fine, wrong = anyio.run(ask)
    assert names == list(NAMES)
    assert not fine.is_error
    assert json.loads(fine.content[0].text)["files"][0]["ok"] is True
    assert wrong.is_error
    assert "outside the folder" in wrong.content[0].text
