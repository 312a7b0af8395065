"""Packs what a GPU machine without Rust and without Tile IR needs: `pack.py FOLDER [--operators a,b]`.

Into FOLDER go the library, the Python package with cffi, the reference's kernels as bytecode with their
launches, the assembler (one archive), and the scripts. There: `python FOLDER/run.py`. Run it with torch,
cuda-tile, tilegym and tileir_diff at hand; TILEIR_TOOLCHAIN names the compilers.
"""

from __future__ import annotations

import argparse
import hashlib
import importlib
import json
import os
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "python"), str(HERE.parents[1])]

import cases as table  # noqa: E402
from tileir_kernels import build  # noqa: E402

ARCH = "sm_90"
MULTIPROCESSORS = 132
CFFI = "cffi==2.1.1"
TILEGYM = ("cuda-tile", "typing_extensions", "tilegym")
PINS = HERE.parents[1] / "fixtures" / "make" / "toolchain.txt"
"""Which versions of these: those that the ports are compared with."""
PYTHON = "3.12"
"""That of the GPU machine."""
SOURCES = "sources.json"
ASSEMBLER = ("bin/tileiras", "bin/ptxas", "lib/libnvvm.so.4")


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("folder", type=Path)
    arguments.add_argument("--operators", default="")
    arguments.add_argument("--assembler", type=Path, help="an archive of it that is there")
    given = arguments.parse_args()
    chosen = [name for name in given.operators.split(",") if name] or list(table.OPERATORS)
    chosen_cases = [case for case in table.cases() if case.operator in chosen]
    folder: Path = given.folder
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    shutil.copyfile(build.library(), folder / build.NAME)
    copy_python(folder)
    pack_assembler(folder, given.assembler)
    pack_references(folder / "reference", chosen_cases)
    (folder / "reference" / SOURCES).write_text(json.dumps(sources(chosen), indent=1))
    pack_rest(folder)
    size = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
    print(f"{len(chosen_cases)} cases, {size / 2**20:.1f} MiB in {folder}")


def sources(operators: list[str], crate: Path = build.WORKSPACE / "kernels") -> dict[str, dict[str, str]]:
    """SHA-256 of what the library is built from, by operator and file: whose results these will be."""
    return {
        name: {
            path.name: hashlib.sha256(path.read_bytes()).hexdigest()
            for path in sorted((crate / "src" / name).glob("*.rs")) if path.name != "mod.rs"
        }
        for name in operators
    }  # fmt: skip


def copy_python(folder: Path) -> None:
    shutil.copytree(build.WORKSPACE / "python" / "tileir_kernels", folder / "tileir_kernels")
    for name in ("cases.py", "run.py", "launch.py", "measure.py", "overhead.py", "through.py", "schema.json"):
        shutil.copy(HERE / name, folder / name)
    install(folder / "packages", CFFI)
    install(folder / "tilegym", "--no-deps", "--constraint", str(PINS), *TILEGYM)


def install(folder: Path, *packages: str) -> None:
    """Packages for the Python of the GPU machine."""
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--target", str(folder)]
    subprocess.run([*pip, "--python-version", PYTHON, "--only-binary", ":all:", *packages], check=True)


def pack_assembler(folder: Path, archive: Path | None) -> None:
    place = folder / "assembler.tar.xz"
    if archive is not None:
        shutil.copyfile(archive, place)
        return
    toolkit = Path(os.environ[build.TOOLCHAIN], "nvidia", "cu13")
    with tarfile.open(place, "w:xz") as packed:
        for name in ASSEMBLER:
            packed.add(toolkit / name, name)


def pack_rest(folder: Path) -> None:
    """What is large or many files, in one archive: what can be sent to a GPU machine at once is little."""
    with tarfile.open(folder / "rest.tar.xz", "w:xz") as packed:
        for name in (build.NAME, "packages", "reference", "tilegym"):
            packed.add(folder / name, name)
    (folder / build.NAME).unlink()
    for name in ("packages", "reference", "tilegym"):
        shutil.rmtree(folder / name)


def pack_references(folder: Path, chosen: list[table.Case]) -> None:
    """The reference's bytecode, once for each specialisation, and a launch for each case."""
    from tileir_diff.dump.export import export

    folder.mkdir()
    launches: dict[str, Any] = {}
    made: dict[str, tuple[str, str, set[str]]] = {}
    for case in chosen:
        reference = table.OPERATORS[case.operator].reference(case, MULTIPROCESSORS)
        given = table.untouched(case)
        if reference.flat:
            given = {name: tensor.view(-1) for name, tensor in given.items()}
        job = export_job(reference, given)
        key = hashlib.sha256(json.dumps(job, sort_keys=True).encode()).hexdigest()[:12]
        if key not in made:
            file = f"{len(made):03}.tirbc"
            told = export(job | {"output": str(folder / file)})
            numbers = {each["name"] for each in told["arguments"] if each["kind"] == "scalar"}
            made[key] = (file, told["entry"], numbers)
        file, entry, numbers = made[key]
        launches[case.name] = {
            "bytecode": file, "entry": entry, "grid": grid_of(reference),
            "flat": reference.flat,
            "args": [
                value for name, value in reference.parameters if isinstance(value, str) or name in numbers
            ],
        }  # fmt: skip
    (folder / "launches.json").write_text(json.dumps({"arch": ARCH, "launches": launches}, indent=1))


def grid_of(reference: table.Reference) -> list[int]:
    return [reference.grid, 1, 1] if isinstance(reference.grid, int) else list(reference.grid)


def export_job(reference: table.Reference, given: dict[str, Any]) -> dict[str, Any]:
    """What `tileir-diff dump py` asks of cuTile Python."""
    module, _, kernel = reference.kernel.partition(":")
    importlib.import_module(module)
    arguments: list[dict[str, Any]] = []
    for name, value in reference.parameters:
        if isinstance(value, str):
            arguments.append({"name": name, **described(given[value])})
        else:
            arguments.append({"name": name, "kind": "constant", "value": value, "shape": [], "strides": []})
    return {
        "module": module, "kernel": kernel, "folder": os.getcwd(), "arch": ARCH, "bytecode_version": None,
        "arguments": arguments, "hints": dict(reference.hints),
    }  # fmt: skip


def described(tensor: Any) -> dict[str, Any]:
    [dtype] = [name for name, dtype in table.DTYPES.items() if dtype == tensor.dtype]
    address = tensor.data_ptr()
    return {
        "kind": "array", "dtype": dtype, "bytes": tensor.element_size(), "shape": list(tensor.shape),
        "strides": list(tensor.stride()), "align": min(address & -address, 16), "value": None,
    }  # fmt: skip


if __name__ == "__main__":
    main()
