"""Arguments of the fixtures' kernels, as `--like` takes them, and a crate with all their Rust kernels."""

from __future__ import annotations

import shutil
import tomllib
from pathlib import Path
from typing import Any

from tests.match.fixtures import ROOT

CRATES = ROOT.parent / ".toolchain" / "crates"
CARGO = """\
[package]
name = "kernels"
version = "0.1.0"
edition = "2024"
publish = false

[lib]
path = "lib.rs"

[dependencies]
cutile = "=0.5.0"

[profile.dev]
debug = false
"""
ALLOW = "#![allow(unused_variables, unused_mut, dead_code, unused_unsafe, unused_assignments)]\n"


def read(name: str) -> dict[str, Any]:
    return tomllib.loads((ROOT / "kernels" / name / "kernel.toml").read_text())


def array(arrays: dict[str, Any], name: str) -> str:
    """An array as `--like` takes it."""
    given = arrays[name]
    strides = given.get("strides")
    shown = f"({','.join(map(str, strides))})" if strides else ""
    return f"{given['dtype']}[{','.join(map(str, given['shape']))}]{shown}:{given.get('align', 16)}"


def python_likes(name: str) -> tuple[str, list[str]]:
    """The entry in Python, and its arguments."""
    data = read(name)
    source = (ROOT / "kernels" / name / "kernel.py").read_text()
    entry = data["python"]["entry"]
    signature = source.partition(f"def {entry}(")[2].partition("):")[0]
    names = [part.partition(":")[0].strip() for part in signature.split(",") if part.strip()]
    return entry, [
        f"{parameter}={_python(data['arrays'], given)}"
        for parameter, given in zip(names, data["python"]["args"], strict=True)
    ]


def _python(arrays: dict[str, Any], given: str | dict[str, Any]) -> str:
    if isinstance(given, str):
        return array(arrays, given)
    ((kind, value),) = given.items()
    return str(value) if kind == "constant" else kind


def rust_likes(name: str, generics: list[str]) -> tuple[str, list[str]]:
    """The entry in Rust, and its arguments; `generics` are the names of its generics."""
    data = read(name)
    likes = [
        f"{generic}={str(value).lower()}"
        for generic, value in zip(generics, data["rust"].get("generics", []), strict=True)
    ]
    for given in data["rust"]["args"]:
        if isinstance(given, str):
            likes.append(f"{given}={array(data['arrays'], given)}")
            continue
        [kind] = set(given) - {"name"}
        is_array = kind in ("tensor", "pointer")
        spec = array(data["arrays"], given[kind]) if is_array else f"{kind}:{str(given[kind]).lower()}"
        likes.append(f"{given['name']}={spec}")
    return data["rust"]["entry"], likes


def write_crate(name: str, names: list[str]) -> Path:
    """A crate with the Rust kernels of these fixtures, each in a module of its name.

    It lies at the same place each time, so that what cargo keeps of it does not grow with each run.
    """
    folder = CRATES / name
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    (folder / "Cargo.toml").write_text(CARGO)
    modules = ""
    for name in names:
        place = folder / "kernels" / name
        place.mkdir(parents=True)
        (place / "kernel.rs").symlink_to(ROOT / "kernels" / name / "kernel.rs")
        modules += f'#[path = "kernels/{name}/kernel.rs"]\npub mod {name};\n'
    (folder / "lib.rs").write_text(ALLOW + modules)
    return folder
