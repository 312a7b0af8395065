"""Kernels of cuTile Rust: built by cargo, exported by their own compiler as a launch specialises them."""

from __future__ import annotations

import json
import subprocess
import tempfile
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from tileir_diff.dump.model import SCHEMA, Dumped
from tileir_diff.dump.rust_package import program
from tileir_diff.dump.rust_signature import Entry, choose, entries_of, specialise
from tileir_diff.errors import InputError
from tileir_diff.suggest import did_you_mean
from tileir_diff.toolchain.cargo import cargo_environment
from tileir_diff.toolchain.find import find_tool
from tileir_diff.toolchain.run import disassemble

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tileir_diff.dump.like import Argument

SECONDS: Final = 600.0
OPTIONS: Final = (
    "occupancy", "num_cta_in_cga", "num_worker_warps_per_cta", "max_divisibility", "min_ctas_per_sm",
)  # fmt: skip
"""What a launcher may set on its CompileOptions and the bytecode shows."""


class Wanted(NamedTuple):
    """One dump of a crate. `entry` is a tail of its path, empty where there is one only.

    `options` are those of OPTIONS; `grid` is one that the launcher states to be constant.
    """

    entry: str
    arguments: Sequence[Argument]
    arch: str = "sm_100"
    options: Mapping[str, int] = MappingProxyType({})
    grid: tuple[int, int, int] | None = None


def parse_options(texts: Sequence[str]) -> dict[str, int]:
    """Reads `NAME=NUMBER`. Raises InputError for a name that is none of OPTIONS."""
    options: dict[str, int] = {}
    for text in texts:
        name, _, value = text.partition("=")
        if name not in OPTIONS:
            hint = did_you_mean(name, OPTIONS) or f"; there are {', '.join(OPTIONS)}"
            raise InputError(f"'{text}': no option is called {name}{hint}", "--option")
        if not value.isdecimal():
            raise InputError(f"'{text}': write {name}=2", "--option")
        options[name] = int(value)
    return options


def parse_grid(text: str | None) -> tuple[int, int, int] | None:
    """Reads `X`, `X,Y` or `X,Y,Z`. Raises InputError."""
    if text is None:
        return None
    parts = [part.strip() for part in text.split(",")]
    if not all(part.isdecimal() and int(part) for part in parts) or len(parts) > 3:
        raise InputError(f"'{text}' is no grid: write 64,1,1", "--grid")
    x, y, z = (*map(int, parts), 1, 1)[:3]
    return x, y, z


class Exporter:
    """The kernels of one crate, or of one file, built once. Raises InputError for what does not build."""

    def __init__(self, source: str) -> None:
        self.source = source
        self._program = program(source)
        self.entries = entries_of(self._ask("list", ""))

    def entry(self, name: str) -> Entry:
        """The entry of that name. Raises InputError with those there are."""
        return choose(self.entries, name, self.source)

    def dump(
        self, wanted: Sequence[Wanted], bytecode_version: str | None = None
    ) -> list[Dumped | InputError]:
        """One dump each, or why there is none: what does not fit, or what the compiler refuses."""
        made: list[Dumped | InputError] = []
        jobs: list[tuple[int, dict[str, Any]]] = []
        with tempfile.TemporaryDirectory(prefix="tileir-diff-") as folder:
            for index, each in enumerate(wanted):
                try:
                    job = self._job(each, Path(folder, f"{index}.tirbc"))
                    jobs.append((index, job))
                except InputError as error:
                    made.append(error)
                    continue
                made.append(InputError("not exported", self.source))
            request = json.dumps({"jobs": [job for _, job in jobs]})
            messages = self._ask("export", request, bytecode_version) if jobs else []
            for (index, job), message in zip(jobs, messages, strict=True):
                try:
                    made[index] = self._dumped(job, message, wanted[index])
                except InputError as error:
                    made[index] = error
        return made

    def _job(self, wanted: Wanted, output: Path) -> dict[str, Any]:
        entry = self.entry(wanted.entry)
        return {
            "module": entry.module, "entry": entry.name, "target": wanted.arch, "output": str(output),
            "options": dict(wanted.options), "grid": list(wanted.grid or ()),
            **specialise(entry, wanted.arguments),
        }  # fmt: skip

    def _dumped(self, job: dict[str, Any], message: str | None, wanted: Wanted) -> Dumped:
        path = f"{job['module']}::{job['entry']}"
        if message is not None:
            raise InputError(message.strip(), path)
        bytecode = Path(job["output"]).read_bytes()
        specialised = {
            "schema": SCHEMA,
            "front_end": f"cutile-rust@{self._program.cutile}",
            "kernel": path,
            "entry": f"{job['entry']}_entry",
            "arch": wanted.arch,
            "bytecode_version": ".".join(map(str, bytecode[8:10])),
            "generics": job["generics"],
            **({"options": dict(wanted.options)} if wanted.options else {}),
            **({"const_grid": list(wanted.grid)} if wanted.grid else {}),
            "arguments": job["arguments"],
        }
        return Dumped(bytecode, disassemble(bytecode, path), specialised)

    def _ask(self, what: str, text: str, bytecode_version: str | None = None) -> list[Any]:
        env = cargo_environment()
        tool = find_tool("tileiras")
        if tool is not None:  # the front end asks it which bytecode it reads
            env.setdefault("CUTILE_TILEIRAS_PATH", str(tool))
        if bytecode_version is not None:
            env["CUTILE_BYTECODE_VERSION"] = bytecode_version
        call = [str(self._program.path), what]
        try:
            done = subprocess.run(
                call, input=text, capture_output=True, text=True, errors="replace", timeout=SECONDS, env=env,
                check=False,
            )  # fmt: skip
        except subprocess.TimeoutExpired:
            raise InputError(f"not compiled in {SECONDS:.0f} s", self.source) from None
        lines = done.stdout.splitlines()
        if done.returncode != 0 or not lines:
            said = [line for line in done.stderr.splitlines() if line.strip()]
            raise InputError(said[-1] if said else f"it ended with status {done.returncode}", self.source)
        return json.loads(lines[-1])


def dump_rust(source: str, wanted: Wanted, bytecode_version: str | None = None) -> Dumped:
    """One dump of a crate or a file with kernels. Raises InputError where there is none."""
    [made] = Exporter(source).dump([wanted], bytecode_version)
    if isinstance(made, InputError):
        raise made
    return made
