"""Dumps of cuTile Rust: the bytes of the committed ones, and what cannot be dumped says why."""

from __future__ import annotations

import json
import os
import shutil
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from tests.dump.fixtures import CARGO, CRATES, read, rust_likes, write_crate
from tests.dump.launcher import LIKES, launched
from tests.match.fixtures import ROOT
from tileir_diff.cli.app import app
from tileir_diff.dump.like import parse_likes
from tileir_diff.dump.model import Dumped
from tileir_diff.dump.rust import Exporter, Wanted

KERNELS = sorted(
    path.parent.name for path in (ROOT / "kernels").glob("*/kernel.rs") if (path.parent / "rs.tirbc").exists()
)
VECTOR = ("x=f32[1000]:16", "y=x", "z=x", "n=x.shape0", "TILE=256")

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("cargo")]


@pytest.fixture
def cargo(real_disassembler: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """The real front end. All crates are built in one folder, so that the dependencies are built once."""
    if shutil.which("cargo") is None:
        pytest.skip("no cargo: the Rust kernels cannot be built")
    shared = os.environ.get("CARGO_TARGET_DIR") or ROOT.parent / ".toolchain" / "cargo-target"
    monkeypatch.setenv("CARGO_TARGET_DIR", str(shared))
    monkeypatch.setenv("XDG_CACHE_HOME", str(CRATES / "cache"))


def dump(crate: object, *like: str, options: tuple[str, ...] = ()) -> Result:
    words = [word for each in like for word in ("--like", each)]
    return CliRunner().invoke(app, ["dump", "rs", str(crate), *words, *options])


def test_the_bytes_of_the_fixtures() -> None:
    exporter = Exporter(str(write_crate("all", KERNELS)))
    wanted: list[Wanted] = []
    for name in KERNELS:
        entry = exporter.entry(_entry(name))
        _, likes = rust_likes(name, [each.name for each in entry.generics])
        wanted.append(Wanted(entry.path, parse_likes(likes), "sm_100"))
    for name, made in zip(KERNELS, exporter.dump(wanted), strict=True):
        assert isinstance(made, Dumped), f"{name}: {made}"
        assert made.bytecode == (ROOT / "kernels" / name / "rs.tirbc").read_bytes(), name
        assert made.text == (ROOT / "kernels" / name / "rs.g.mlir").read_text(), name


def _entry(name: str) -> str:
    entry = read(name)["rust"]["entry"]
    return f"{name}::{entry}::{entry}"


def test_a_file_with_kernels(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    result = dump("kernels/vector_add/kernel.rs", *VECTOR, options=("-o", str(tmp_path)))
    assert result.exit_code == 0, result.output
    expected = ROOT / "kernels" / "vector_add"
    assert (tmp_path / "vector_add.tirbc").read_bytes() == (expected / "rs.tirbc").read_bytes()
    assert (tmp_path / "vector_add.mlir").read_text() == (expected / "rs.g.mlir").read_text()
    data = json.loads((tmp_path / "vector_add.json").read_text())
    assert (data["front_end"], data["generics"]) == ("cutile-rust@0.5.0", ["256"])
    x, *_, n = data["arguments"]
    assert x == {"name": "x", "kind": "pointer", "dtype": "f32", "base_divisible_by": 16}
    assert n == {"name": "n", "kind": "scalar", "dtype": "i32", "value": 1000, "divisible_by": 8}
    other = dump("kernels/vector_add/kernel.rs", *VECTOR[:3], "n=1001", "TILE=256")
    assert "assume div_by<8>" in (tmp_path / "vector_add.mlir").read_text()
    assert "assume div_by<8>" not in other.output


def test_what_cannot_be_dumped_says_why(monkeypatch: pytest.MonkeyPatch) -> None:
    crate = write_crate("refused", ["vector_add", "softmax"])
    cases = [
        ((), ("--entry", "nothing"), "it has no entry nothing; there are kernels::softmax::softmax::softmax"),
        ((), (), "which entry? --entry names one of kernels::softmax::softmax::softmax, kernels::vector"),
        (
            VECTOR[:3],
            ("--entry", "vector_add"),
            "no --like for TILE, n; it takes const TILE: i32, x: *mut f32",
        ),
        ((*VECTOR, "m=1"), ("--entry", "vector_add"), "no parameter is called m"),
        ((*VECTOR[:4], "TILE=200"), ("--entry", "vector_add"), "tileirdisasm refuses this bytecode"),
    ]
    for like, options, said in cases:
        result = dump(crate, *like, options=options)
        assert result.exit_code == 2
        assert said in result.output
        assert "Traceback" not in result.output
    (crate / "lib.rs").write_text("mod wrong;\n")
    (crate / "wrong.rs").write_text("pub fn f() -> i32 {\n    nowhere\n}\n")
    monkeypatch.chdir(crate)
    result = dump(".")
    assert result.exit_code == 2
    assert result.output.splitlines()[:2] == [
        "wrong.rs:2:5: error: cannot find value `nowhere` in this scope: not found in this scope",
        "      nowhere",
    ]


def test_what_does_not_compile_in_a_file_is_told_at_that_file(tmp_path: Path) -> None:
    source = tmp_path / "broken.rs"
    source.write_text("fn main( {\n")
    result = dump(source)
    assert result.exit_code == 2
    assert result.output.splitlines()[0].startswith(f"{source}:1:12: error: ")


@pytest.mark.parametrize(
    ("manifest", "said"),
    [
        ("", "no library that can be linked"),
        ("[lib]\npath = 'lib.rs'\ncrate-type = ['cdylib']\n", "no library that can be linked"),
        ("[lib]\npath = 'lib.rs'\n", "it does not depend on cutile"),
        ("[dependencies]\nnone-such = { path = 'nowhere' }\n", "failed to"),
        ("what\n", "Cargo.toml"),
    ],
)
def test_a_crate_that_cannot_be_linked(manifest: str, said: str, tmp_path: Path) -> None:
    head = CARGO.partition("[lib]")[0]
    (tmp_path / "Cargo.toml").write_text(head + manifest)
    (tmp_path / "lib.rs").write_text("")
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "main.rs").write_text("fn main() {}\n")
    result = dump(tmp_path)
    assert (result.exit_code, said in result.output) == (2, True), result.output


def test_without_cargo(monkeypatch: pytest.MonkeyPatch) -> None:
    crate = write_crate("no_cargo", ["vector_add"])
    monkeypatch.setenv("PATH", os.devnull)
    result = dump(crate)
    assert (result.exit_code, "no cargo on PATH: install Rust with rustup" in result.output) == (2, True)


def test_what_is_no_crate(tmp_path: Path) -> None:
    assert "no Cargo.toml in it" in dump(tmp_path).output
    assert "no such folder" in dump(tmp_path / "none").output
    assert "no such file" in dump(tmp_path / "none.rs").output


def test_a_launch_hands_over_the_same_bytes() -> None:
    """The launcher itself, with a driver and an assembler that stand in for a GPU."""
    crate = write_crate("launched", ["vector_add", "softmax"])
    kept, said = launched(crate)
    assert said == "true\n" * len(LIKES)
    wanted = [Wanted(entry, parse_likes(likes), "sm_100", options) for entry, likes, options in LIKES]
    made = Exporter(str(crate)).dump(wanted)
    assert len(kept) == len(made)
    for expected, dumped in zip(kept, made, strict=True):
        assert isinstance(dumped, Dumped), dumped
        assert dumped.bytecode == expected, dumped.specialised
    assert len(set(kept)) == len(LIKES)


def test_two_sources_at_once_do_not_get_each_others_kernels(tmp_path: Path) -> None:
    """cargo puts the libraries of both in one file: whoever links must have it for itself."""
    texts = {name: (ROOT / "kernels" / name / "kernel.rs").read_text() for name in ("softmax", "transpose")}
    for name, text in texts.items():
        (tmp_path / f"{name}.rs").write_text(text)

    def entries(name: str) -> list[str]:
        return [entry.name for entry in Exporter(str(tmp_path / f"{name}.rs")).entries]

    with ThreadPoolExecutor() as pool:
        for turn in range(3):
            for name, text in texts.items():  # a changed source is built anew
                (tmp_path / f"{name}.rs").write_text(f"{text}// {turn}\n")
            assert list(pool.map(entries, texts)) == [["softmax"], ["transpose"]]
