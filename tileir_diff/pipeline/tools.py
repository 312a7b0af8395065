"""What an agent may ask of this tool: each question is a call of the command, below one folder, with limits.

A call is a process of its own: what goes wrong in it ends it and nothing else.
"""

from __future__ import annotations

import math
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Final, NamedTuple

from tileir_diff.errors import InputError

LARGEST: Final = 16 << 20
"""Bytes of a file that is read."""
LONGEST: Final = 256 << 10
"""Bytes of an answer."""
SECONDS: Final = 120.0
BUILD_SECONDS: Final = 1800.0
"""For what builds Rust."""


class Tools(NamedTuple):
    """The questions. Paths are below `root`, as they are or from it; all raise InputError."""

    root: Path

    def diff(self, reference: str, generated: str, launch: str | None = None, execute: bool = False) -> str:
        """Compares a generated kernel with its reference: findings with lines and fixes, as JSON."""
        more = ["--exec"] if execute else []
        paths = [self.file(reference), self.file(generated)]
        return self._ask("diff", *paths, *self._launch(launch), *more, "--format", "json", config=True)

    def check(self, file: str) -> str:
        """Parses and verifies one dump: its errors with position, as JSON."""
        return self._ask("check", self.file(file), "--format", "json")

    def show(self, file: str, entry: str | None = None) -> str:
        """Shows what a kernel does: arguments, grid, memory operations, reductions, loops, as JSON."""
        more = ["--entry", _plain(entry)] if entry else []
        return self._ask("show", self.file(file), *more, "--format", "json")

    def explain(self, rule: str) -> str:
        """Explains a rule, `family/detail` or a family."""
        return self._ask("explain", _plain(rule))

    def run(self, dump: str, grid: str, arguments: list[str], entry: str | None = None) -> str:
        """Runs a kernel on the CPU: grid "4,1,1", arguments "x=random:64x64", "n=1000" or "x=FILE.npy"."""
        values: list[str] = []
        for each in arguments:
            name, _, value = _plain(each).partition("=")
            is_file = value.partition("@")[0].endswith(".npy")
            values += ["--arg", f"{name}={self.file(value) if is_file else self._made(value)}"]
        more = ["--entry", _plain(entry)] if entry else []
        limits = ["--seconds", "60", "--format", "json"]
        return self._ask("run", self.file(dump), "--grid", _plain(grid), *values, *more, *limits)

    def classify(
        self, reference: str, generated: str, source: str | None = None, launch: str | None = None
    ) -> str:
        """Says whose fault a difference is: the kernel's, the front end's, the assembler's or the host's."""
        more = ["--source", self.file(source)] if source else []
        paths = [self.file(reference), self.file(generated)]
        return self._ask("classify", *paths, *self._launch(launch), *more, "--format", "json", config=True)

    def gate(self, analysis: str, kernel: str) -> str:
        """Builds kernel.rs, and compares each variant of analysis.json with its reference: the verdict."""
        from tileir_diff.ingest.text import read_text
        from tileir_diff.pipeline.artifacts import Analysis

        place = self.file(analysis)
        for variant in Analysis.read(read_text(place), analysis).variants:
            self.file(str(Path(place).parent / variant.reference))
        call = ("gate", "--analysis", place, "--kernel", self.file(kernel), "--format", "json")
        return self._ask(*call, seconds=BUILD_SECONDS)

    def file(self, path: str) -> str:
        """A file below the root, by its real place. Raises InputError for any other, and for a large one."""
        root = self.root.resolve()
        try:
            real = (root / _plain(path)).resolve()
            is_file = real.is_file()
        except (OSError, ValueError):
            raise InputError("not a path", ascii(path[:40])) from None
        if not real.is_relative_to(root):
            raise InputError("it is outside the folder that this server serves", path)
        if not is_file:
            raise InputError("no such file", path)
        if real.stat().st_size > LARGEST:
            raise InputError(f"larger than {LARGEST >> 20} MiB", path)
        return str(real)

    def _launch(self, launch: str | None) -> list[str]:
        """A launch file, or one fact such as grid.x=4."""
        if launch is None:
            return []
        from tileir_diff.match.launch import is_assignment

        return ["--launch", _plain(launch) if is_assignment(launch) else self.file(launch)]

    def _made(self, value: str) -> str:
        """A value that is no file, and no array larger than a file may be."""
        if "/" in value or (self.root / value).exists() or os.path.exists(value):
            raise InputError("a file of an argument ends with .npy", value)
        extents = value.partition(":")[2].partition("@")[0].split("x")
        if math.prod(int(each[:20]) for each in extents if each.isdecimal()) > LARGEST:
            raise InputError(f"more than {LARGEST} elements", value)
        return value

    def _ask(self, *call: str, config: bool = False, seconds: float = SECONDS) -> str:
        """The answer of the command. Raises InputError where it has none, and for one that is too long."""
        with tempfile.TemporaryDirectory(prefix="tileir-mcp-") as place:
            settings = Path(place, "tileir-diff.toml")
            settings.write_text("", "utf-8")  # a settings file above the root is none of an agent's business
            options = ["--config", str(settings)] if config else []
            command = [sys.executable, "-m", "tileir_diff", *call, *options]
            try:
                done = subprocess.run(
                    command, cwd=self.root, capture_output=True, stdin=subprocess.DEVNULL, timeout=seconds,
                    check=False,
                )  # fmt: skip
            except subprocess.TimeoutExpired:
                raise InputError(f"it did not end in {seconds:g} s", call[0]) from None
            except OSError as error:  # an argument that is too long for the system
                raise InputError(f"cannot be asked: {error.strerror}", call[0]) from None
        said = done.stderr.decode("utf-8", "replace").replace(f"{self.root.resolve()}/", "").strip()
        # `check` answers with 2 where a dump is broken
        if done.returncode not in (0, 1) and (said or not done.stdout):
            raise InputError(said.removeprefix("error: ")[-4000:] or "no answer", call[0])
        if len(done.stdout) > LONGEST:
            raise InputError(
                f"the answer has {len(done.stdout)} bytes, more than {LONGEST >> 10} KiB", call[0]
            )
        return done.stdout.decode("utf-8", "replace").replace(f"{self.root.resolve()}/", "")


def _plain(text: str) -> str:
    """Raises InputError for what the command would take for an option, and for what no argument can hold."""
    if text.startswith("-") or "\0" in text:
        raise InputError("no name begins so", text[:40])
    return text
