"""Ports of this repository's own kernels, for gates that are real."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Mapping
from pathlib import Path

import pytest

from tileir_diff.pipeline.artifacts import Analysis, Array
from tileir_diff.pipeline.gates.common import Given
from tileir_diff.pipeline.references import prepare
from tileir_diff.pipeline.workers.analyse import analyse

ROOT = Path(__file__).parents[2]
KERNELS = ROOT / "fixtures" / "kernels"
LIKES = {
    "short": ["ROWS=64", "COLS=64"],
    "softmax": ["ROWS=64", "COLS=64"],
    "vector_add": ["TILE=256", "x=@x", "y=@y", "z=@z", "n=x.shape0"],
}


def spec(name: str) -> str:
    """As `--reference` takes it."""
    return f"{name}={KERNELS / name / 'py.g.mlir'},{KERNELS / name / 'launch.json'}"


def short_spec(folder: Path) -> str:
    """The same softmax of fewer rows."""
    launch = json.loads((KERNELS / "softmax" / "launch.json").read_text("utf-8"))
    for side in launch.values():
        side["grid"] = [2, 1, 1]
        side["args"] = [{"i32": 100} if each == {"i32": 200} else each for each in side["args"]]
    path = folder / "short.json"
    path.write_text(json.dumps(launch), "utf-8")
    return f"short={KERNELS / 'softmax' / 'py.g.mlir'},{path}"


def lay(folder: Path, files: Mapping[str, bytes | str]) -> None:
    """Writes files below a folder."""
    for path, data in files.items():
        place = folder / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(data if isinstance(data, bytes) else data.encode())


def port_of(folder: Path, *names: str) -> Given:
    """A folder with references and the analysis of the mechanical worker."""
    lay(folder, prepare([spec(name) for name in names]))
    made = analyse(folder, names[0])
    variants = [
        each.model_copy(update={"target": each.target.model_copy(update={"like": LIKES.get(each.name, [])})})
        for each in made.variants
    ]
    lay(folder, {"analysis.json": made.model_copy(update={"variants": variants}).to_json()})
    return Given(folder, {})


def source(name: str) -> str:
    """The Rust source of a kernel."""
    return (KERNELS / name / "kernel.rs").read_text("utf-8")


def edited(given: Given, **changes: object) -> Analysis:
    """The analysis with other fields in its first variant, written; raises where it is no analysis then."""
    analysis = given.analysis()
    data = analysis.model_dump(by_alias=True)
    data["variants"][0] |= changes
    made = Analysis.model_validate(data)
    lay(given.folder, {"analysis.json": made.to_json()})
    return made


def array(given: Given, name: str) -> Array:
    """An array of the first variant."""
    return given.analysis().variants[0].arrays[name]


@pytest.fixture
def cargo(real_disassembler: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """The real front end, with the folder that all crates are built in."""
    if shutil.which("cargo") is None:
        pytest.skip("no cargo: the Rust kernels cannot be built")
    shared = os.environ.get("CARGO_TARGET_DIR") or ROOT / ".toolchain" / "cargo-target"
    monkeypatch.setenv("CARGO_TARGET_DIR", str(shared))
