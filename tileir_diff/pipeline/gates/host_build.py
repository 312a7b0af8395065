"""The library of a port: kernel.rs and ffi.rs in a crate that the gate writes, built as a C library."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Final

from tileir_diff.errors import InputError
from tileir_diff.pipeline.log import sha256
from tileir_diff.toolchain.cache import cache_folder
from tileir_diff.toolchain.cargo import build_library

if TYPE_CHECKING:
    from tileir_diff.pipeline.gates.common import Given

SETTING: Final = "TILEIR_RUST_KERNELS"
"""Environment variable: the folder of the crate `tileir_kernels`, where it is not beside the package."""
MANIFEST: Final = """\
[package]
name = "port-{key}"
version = "0.0.0"
edition = "2024"
publish = false

[workspace]

[lib]
name = "port"
crate-type = ["cdylib"]
path = "lib.rs"

[dependencies]
cutile = "=0.5.0"
tileir_kernels = {{ path = {kernels} }}

[profile.dev]
debug = false
"""
LIBRARY: Final = """\
//! The library of a port: kernel and host, and what records a launch in place of making it.

#[allow(warnings)]
#[path = "kernel.rs"]
pub mod kernel;
#[path = "ffi.rs"]
pub mod ffi;
pub use tileir_kernels::{abi, record};
"""


def kernels_folder() -> Path:
    """The crate that a host is built on. Raises InputError where it is not found."""
    found = Path(os.environ.get(SETTING) or Path(__file__).parents[3] / "rust_kernels" / "kernels")
    if not (found / "Cargo.toml").is_file():
        raise InputError(f"the crate tileir_kernels is not there: set {SETTING} to its folder", str(found))
    return found


def library(given: Given, place: Path) -> Path:
    """Builds the library in a folder. Raises InputError with the first error of rustc."""
    kernels = kernels_folder().resolve()
    sources = {name: (given.folder / name).read_bytes() for name in ("kernel.rs", "ffi.rs")}
    for name, data in sources.items():
        (place / name).write_bytes(data)
    # cargo takes packages of one name in one target folder for one, wherever they lie
    key = sha256(b"\0".join(sources.values()))[:16]
    (place / "lib.rs").write_text(LIBRARY, "utf-8")
    (place / "Cargo.toml").write_text(MANIFEST.format(key=key, kernels=json.dumps(str(kernels))), "utf-8")
    lock = kernels.parent / "Cargo.lock"
    if lock.is_file():  # the versions that the kernels are built with
        (place / "Cargo.lock").write_bytes(lock.read_bytes())
    target = Path(os.environ.get("CARGO_TARGET_DIR") or cache_folder("cargo"))
    return build_library(place, target.absolute())
