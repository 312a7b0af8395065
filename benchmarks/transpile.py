"""Dumps translated to cuTile Rust: how many are covered, and how many of those come back as they were.

    python -m benchmarks.transpile [FOLDER...] [--sample N] [--seed S] [--build]

Counted is how many dumps are translated, and why the others are refused. With --build, the translations are
built as one crate, each dump of theirs is made with the arguments that the translation states, and compared
with the dump that it was translated from. Needs cargo and the compilers; rustc's errors count one by one.
"""

from __future__ import annotations

import argparse
import json
import re
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from benchmarks.data import default_folder, dumps
from tileir_diff.api import Options, load, run
from tileir_diff.dump.like import parse_likes
from tileir_diff.dump.rust import Exporter, Wanted
from tileir_diff.dump.rust_package import CUTILE
from tileir_diff.errors import InputError
from tileir_diff.toolchain.cargo import cargo_environment
from tileir_diff.transpile import Transpiled, transpile

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tileir_diff.dump.model import Dumped

MANIFEST: Final = f"""\
[package]
name = "translated"
version = "0.0.0"
edition = "2024"
publish = false

[workspace]

[dependencies]
cutile = "={CUTILE}"

[profile.dev]
debug = false
"""
UNKNOWN: Final = "no front end that is known"
AT_ONCE: Final = 60
"""Kernels that one process of the front end compiles."""
ROUNDS: Final = 5
"""So often is built again, without the modules that rustc refused."""


class One(NamedTuple):
    """A dump that was translated."""

    path: Path
    front_end: str
    kernel: Transpiled


Made = dict[str, One]


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.transpile", description=__doc__)
    parser.add_argument("folders", nargs="*", help="folders or files; the corpus by default")
    parser.add_argument("--sample", type=int, help="so many dumps only")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--build", action="store_true", help="also build and compare them")
    options = parser.parse_args(arguments)
    folders = [Path(name) for name in options.folders] or [default_folder("corpus")]
    start = perf_counter()
    made, refused, front_ends = translated(dumps(folders, None, options.seed))
    chosen = made if options.sample is None else sample(made, options.sample, options.seed)
    for front_end, number in sorted(front_ends.items()):
        covered = sum(each.front_end == front_end for each in made.values())
        print(f"{covered:6} of {number} dumps of {front_end} are translated")
    for why, number in refused.most_common():
        print(f"{number:6} refused: {why}")
    told = built(chosen) if options.build else []
    for outcome, number in sorted(Counter(outcome for outcome, _, _ in told).items()):
        print(f"{number:6} of {len(chosen)} built: {outcome}")
    for outcome, path, why in told:
        if not outcome.startswith("PASS"):
            print(f"{outcome}: {path}\n  {why}")
    print(f"{perf_counter() - start:.0f} s")
    return 0


def translated(paths: Sequence[Path]) -> tuple[Made, Counter[str], Counter[str]]:
    """The translations by the name of a module, why others are refused, how many are of which front end."""
    made: Made = {}
    refused: Counter[str] = Counter()
    front_ends: Counter[str] = Counter()
    for index, path in enumerate(paths):
        module, dump = load(path, "source")
        front_ends[dump.front_end.name or UNKNOWN] += 1
        try:
            kernel = transpile(module.entries[0], str(path))
            made[f"k{index}"] = One(path, dump.front_end.name or UNKNOWN, kernel)
        except InputError as error:
            refused[re.sub(r"\d+", "N", error.message)] += 1
    return made, refused, front_ends


def sample(made: Made, count: int, seed: int) -> Made:
    from random import Random

    names = Random(seed).sample(sorted(made), min(count, len(made)))
    return {name: made[name] for name in made if name in names}


def built(made: Made) -> list[tuple[str, Path, str]]:
    """The verdict on each translation, or that rustc or the front end refuses it, and why."""
    if shutil.which("cargo") is None:
        print("cargo was not found: nothing built")
        return []
    told: list[tuple[str, Path, str]] = []
    with tempfile.TemporaryDirectory(prefix="tileir-diff-") as name:
        folder = Path(name)
        (folder / "src").mkdir()
        (folder / "Cargo.toml").write_text(MANIFEST)
        for module, each in made.items():
            (folder / "src" / f"{module}.rs").write_text(each.kernel.text)
        left = dict(made)
        for _ in range(ROUNDS):
            errors = _errors(folder, list(left))
            told += [("rustc", left[module].path, why) for module, why in errors.items()]
            left = {module: each for module, each in left.items() if module not in errors}
            if not errors:
                break
        return told + _compared(folder, left)


def _errors(folder: Path, modules: list[str]) -> dict[str, str]:
    """What rustc refuses, by module."""
    lines = "".join(f"pub mod {module};\n" for module in modules)
    (folder / "src" / "lib.rs").write_text(f"#![allow(warnings)]\n{lines}")
    call = ["cargo", "build", "--lib", "--message-format", "json"]
    done = subprocess.run(
        call, cwd=folder, env=cargo_environment(), capture_output=True, text=True, check=False
    )  # fmt: skip
    found: dict[str, str] = {}
    for line in done.stdout.splitlines():
        said: dict[str, Any] = json.loads(line) if line.startswith("{") else {}
        message = said.get("message") if said.get("reason") == "compiler-message" else None
        if message is None or message["level"] != "error":
            continue
        for span in message["spans"]:
            named = re.search(r"src/(k\d+)\.rs", span["file_name"])
            if named:
                found.setdefault(named[1], f"line {span['line_start']}: {message['message']}")
    if done.returncode and not found:
        sys.exit(done.stderr)
    return found


def _compared(folder: Path, made: Made) -> list[tuple[str, Path, str]]:
    wanted = [
        Wanted(f"{module}::{each.kernel.entry}", parse_likes(each.kernel.likes))
        for module, each in made.items()
    ]
    exporter = Exporter(str(folder))
    dumps_: list[Dumped | InputError] = []
    for start in range(0, len(wanted), AT_ONCE):
        dumps_ += exporter.dump(wanted[start : start + AT_ONCE])
    told: list[tuple[str, Path, str]] = []
    for (path, _, _), dumped in zip(made.values(), dumps_, strict=True):
        if isinstance(dumped, InputError):
            told.append(("front end", path, dumped.message))
            continue
        generated = folder / "generated.mlir"
        generated.write_text(dumped.text)
        result = run(path, generated, Options())
        why = "; ".join(f"{each.rule}: {each.message}" for each in result.findings[:3])
        told.append((result.verdict, path, why))
    return told


if __name__ == "__main__":
    sys.exit(main())
