"""The front ends: cuTile Python, cuTile Rust, tile C++."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from importlib.metadata import PackageNotFoundError, distributions, version
from pathlib import Path
from typing import TYPE_CHECKING, Final

from tileir_diff.doctor.model import MISSING, OK, WRONG, Check
from tileir_diff.toolchain.find import find_tool, front_end, toolkit

if TYPE_CHECKING:
    from collections.abc import Iterator

RUST: Final = (1, 89)
"""The oldest compiler that the crate `cutile` 0.5.0 takes, as its manifest says."""
PYTHON: Final = "dumps of cuTile Python"
CRATE: Final = "building cuTile Rust kernels"
CPP: Final = "dumps of tile C++"
SECONDS: Final = 20.0


def checks() -> Iterator[Check]:
    """What each front end needs to compile a kernel."""
    yield _cuda_tile()
    yield from _rust()
    yield from _cpp()


def _cuda_tile() -> Check:
    try:
        return Check("cuda-tile", OK, version("cuda-tile"), PYTHON)
    except PackageNotFoundError:
        pass
    folder = front_end("cutile-python")
    if folder is not None:
        for found in distributions(name="cuda-tile", path=[str(folder)]):
            return Check("cuda-tile", OK, f"{found.version} {folder}", PYTHON)
    return Check("cuda-tile", MISSING, "", PYTHON, "pip install cuda-tile")


def _rust() -> Iterator[Check]:
    for name in ("cargo", "rustc"):
        said = _said(name, "--version")
        numbers = re.search(r"(\d+)\.(\d+)", said)
        if numbers is None:
            yield Check(name, MISSING, "", CRATE, "install Rust with rustup")
        elif (int(numbers[1]), int(numbers[2])) < RUST:
            advice = f"cutile 0.5.0 needs Rust {RUST[0]}.{RUST[1]} or newer: rustup update"
            yield Check(name, WRONG, said, CRATE, advice)
        else:
            yield Check(name, OK, said, CRATE)
    yield _libclang()
    yield _headers("cuda.h and curand.h", ("cuda.h", "curand.h"), CRATE, "nvidia-cuda-runtime nvidia-curand")


def _libclang() -> Check:
    """bindgen looks where LIBCLANG_PATH says, else for a system library."""
    named = os.environ.get("LIBCLANG_PATH")
    if named:
        found = sorted(Path(named).glob("libclang*.so*")) if Path(named).is_dir() else []
        if found:
            return Check("libclang", OK, str(found[0]), CRATE)
        return Check("libclang", WRONG, named, CRATE, "LIBCLANG_PATH names a folder without libclang.so")
    below = toolkit()
    packaged = None if below is None else below.parent.parent / "clang" / "native" / "libclang.so"
    if packaged is not None and packaged.exists():
        return Check(
            "libclang",
            OK,
            str(packaged),
            CRATE,
            f"`dump rs` takes it; for a build of your own set LIBCLANG_PATH={packaged.parent} "
            'and, since it has no stddef.h, BINDGEN_EXTRA_CLANG_ARGS="-I$(gcc -print-file-name=include)"',
        )
    from ctypes.util import find_library

    system = find_library("clang") or next(
        iter(sorted(map(str, Path("/usr/lib").glob("llvm-*/lib/libclang.so*")))), ""
    )
    if system:
        return Check("libclang", OK, system, CRATE)
    advice = "pip install libclang, and set LIBCLANG_PATH to its folder clang/native"
    return Check("libclang", MISSING, "", CRATE, advice)


def _headers(name: str, files: tuple[str, ...], needs: str, packages: str) -> Check:
    folder = toolkit()
    advice = f"pip install {packages}; CUDA_TOOLKIT_PATH names the folder with `include`"
    if folder is None:
        return Check(name, MISSING, "", needs, advice)
    lacking = [file for file in files if not (folder / "include" / file).exists()]
    if lacking:
        return Check(
            name, MISSING, "", needs, f"{folder}/include has no {' and no '.join(lacking)}; {advice}"
        )
    if needs == CRATE and not os.environ.get("CUDA_TOOLKIT_PATH"):
        advice = f"`dump rs` takes it; for a build of your own set CUDA_TOOLKIT_PATH={folder}"
        return Check(name, OK, f"{folder}/include", needs, advice)
    return Check(name, OK, f"{folder}/include", needs)


def _cpp() -> Iterator[Check]:
    tool = find_tool("nvcc")
    if tool is None:
        yield Check("nvcc", MISSING, "", CPP, "pip install nvidia-cuda-nvcc nvidia-cuda-crt nvidia-cuda-cccl")
        return
    said = re.search(r"V(\d[\d.]*)", _said(str(tool), "--version"))
    knows = "--enable-tile" in _said(str(tool), "--help")
    found = f"{said[1] if said else 'of unknown version'} {tool}"
    if not knows:
        yield Check("nvcc", WRONG, found, CPP, "it has no --enable-tile: too old for tile C++")
        return
    yield Check("nvcc", OK, found, CPP)
    yield _headers("headers of CCCL", ("cccl",), CPP, "nvidia-cuda-cccl")


def _said(program: str, *arguments: str) -> str:
    """The first lines that a program prints; empty where it is missing or fails."""
    tool = shutil.which(program)
    if tool is None:
        return ""
    try:
        done = subprocess.run(
            [tool, *arguments], capture_output=True, text=True, timeout=SECONDS, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""
