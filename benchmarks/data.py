"""Where the dumps are: folders of dumps, pairs of one kernel, re-exports at other bytecode versions."""

from __future__ import annotations

import json
import os
import random
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
ENVIRONMENT = "TILEIR_CORPUS"
SAME_KERNEL = ("kernel", "dtype", "arch", "args", "constants", "grid")


@dataclass(frozen=True)
class Pair:
    """One kernel from two front ends; `meta` is its meta.json, `launch` the path of one launch of both
    sides."""

    name: str
    reference: Path
    generated: Path
    meta: dict[str, Any]
    launch: Path | None


def data_folder() -> Path | None:
    """The folder with `corpus` and `pairs`: what the environment names, or one beside the repository."""
    named = os.environ.get(ENVIRONMENT)
    folder = Path(named) if named else ROOT.parent / "shared"
    return folder if (folder / "corpus").is_dir() else None


def default_folder(name: str) -> Path:
    """`corpus` or `pairs` of the data folder; without one, this project's own kernels."""
    folder = data_folder()
    return folder / name if folder is not None else ROOT / "fixtures" / "kernels"


def dumps(folders: list[Path], sample: int | None = None, seed: int = 0) -> list[Path]:
    """All dumps in folders (searched recursively) and files, in order of their path; a seeded sample of
    them."""
    found: dict[Path, None] = {}
    for folder in folders:
        for path in sorted(folder.rglob("*.mlir")) if folder.is_dir() else [folder]:
            found[path] = None
    paths = list(found)
    if sample is not None and sample < len(paths):
        keep = random.Random(seed).sample(range(len(paths)), sample)
        paths = [paths[index] for index in sorted(keep)]
    return paths


def pairs(folders: list[Path], sample: int | None = None, seed: int = 0) -> list[Pair]:
    """All folders that hold ref.mlir and gen.mlir, and this project's own kernels (class "same")."""
    found: list[Pair] = []
    for folder in folders:
        for reference in sorted(folder.rglob("ref.mlir")):
            home = reference.parent
            generated = home / "gen.mlir"
            if not generated.exists():
                continue
            meta_file, launch = home / "meta.json", home / "launch.json"
            meta: dict[str, Any] = (
                json.loads(meta_file.read_text(encoding="utf-8")) if meta_file.exists() else {}
            )
            found.append(Pair(home.name, reference, generated, meta, launch if launch.exists() else None))
        found += _own_pairs(folder)
    if sample is not None and sample < len(found):
        keep = random.Random(seed).sample(range(len(found)), sample)
        found = [found[index] for index in sorted(keep)]
    return found


def _own_pairs(folder: Path) -> list[Pair]:
    """Kernels of this project: the Python dump against the Rust one, and the C++ one where there is one."""
    found: list[Pair] = []
    for description in sorted(folder.rglob("kernel.toml")):
        home = description.parent
        for side, launch in (("rs", "launch.json"), ("cpp", "launch.cpp.json")):
            generated, launch_file = home / f"{side}.mlir", home / launch
            if generated.exists() and (home / "py.mlir").exists():
                meta: dict[str, Any] = {"class": "same", "op": home.name, "why": []}
                known = launch_file if launch_file.exists() else None
                found.append(Pair(f"{home.name}-{side}", home / "py.mlir", generated, meta, known))
    return found


def re_exports(folder: Path) -> list[tuple[Path, Path]]:
    """Pairs of one kernel's dumps at two bytecode versions, as the folder's manifest.json tells."""
    manifest = folder / "manifest.json"
    if not manifest.exists():
        return []
    groups: dict[str, list[dict[str, Any]]] = {}
    for entry in json.loads(manifest.read_text(encoding="utf-8")):
        key = json.dumps([entry.get(name) for name in SAME_KERNEL], sort_keys=True)
        groups.setdefault(key, []).append(entry)
    found: list[tuple[Path, Path]] = []
    for group in groups.values():
        group.sort(key=lambda entry: (str(entry["bytecode_version"]), entry["file"]), reverse=True)
        newest = group[0]
        found += [
            (folder / newest["file"], folder / entry["file"])
            for entry in group[1:]
            if entry["bytecode_version"] != newest["bytecode_version"]
        ]
    return found
