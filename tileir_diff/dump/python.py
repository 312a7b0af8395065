"""Kernels of cuTile Python: compiled by the installed package, for arguments that are only described."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from tileir_diff.dump.like import BYTES, Argument
from tileir_diff.dump.model import SCHEMA, Dumped
from tileir_diff.errors import InputError
from tileir_diff.ingest.text import read_text
from tileir_diff.toolchain.find import SETTING, find_tool
from tileir_diff.toolchain.run import disassemble, environment

if TYPE_CHECKING:
    from collections.abc import Sequence

REFUSED: Final = 3
"""Exit status of the exporting process where the message is for the user as it is."""
SECONDS: Final = 600.0
PLACE: Final = re.compile(r'"([^"]+)", line (\d+), col (\d+)')
"""How cuTile Python says where a kernel is wrong."""


def dump_python(
    spec: str, arguments: Sequence[Argument], arch: str = "sm_100", bytecode_version: str | None = None
) -> Dumped:
    """Compiles the kernel `MODULE:KERNEL` (or `FILE.py:KERNEL`) for arguments like these.

    Raises InputError where cuTile Python is missing, where module, kernel or arguments do not fit, and for
    what its compiler or the disassembler refuses.
    """
    module, colon, kernel = spec.rpartition(":")
    if not colon or not module or not kernel.isidentifier():
        raise InputError(f"'{spec}' names no kernel: write MODULE:KERNEL or FILE.py:KERNEL", "dump py")
    with tempfile.TemporaryDirectory(prefix="tileir-diff-") as folder:
        output = Path(folder, "kernel.tirbc")
        job = {
            "module": module, "kernel": kernel, "folder": os.getcwd(), "arch": arch,
            "bytecode_version": bytecode_version, "output": str(output),
            "arguments": [each._asdict() | {"bytes": BYTES.get(each.dtype, 0)} for each in arguments],
        }  # fmt: skip
        told = _export(job, spec)
        bytecode = output.read_bytes()
    specialised = {
        "schema": SCHEMA,
        "front_end": f"cutile-python@{told['version']}",
        "kernel": spec,
        "entry": told["entry"],
        "arch": arch,
        "bytecode_version": ".".join(map(str, bytecode[8:10])),
        "arguments": [_without_defaults(each) for each in told["arguments"]],
    }
    return Dumped(bytecode, disassemble(bytecode, spec), specialised)


def _without_defaults(argument: dict[str, Any]) -> dict[str, Any]:
    """What belongs to the kind of the argument."""
    kept = {"array": ("value", "bytes"), "scalar": ("value", "bytes", "shape", "strides", "align")}
    left_out = kept.get(argument["kind"], ("dtype", "bytes", "shape", "strides", "align"))
    return {name: value for name, value in argument.items() if name not in left_out}


def _export(job: dict[str, Any], spec: str) -> dict[str, Any]:
    script = Path(__file__).with_name("export.py")
    try:
        done = subprocess.run(
            [sys.executable, "-B", str(script)],
            input=json.dumps(job), capture_output=True, text=True, timeout=SECONDS, env=_environment(),
            check=False,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        raise InputError(f"not compiled in {SECONDS:.0f} s", spec) from None
    if done.returncode == 0:
        return json.loads(done.stdout.splitlines()[-1])
    raise _refusal([line for line in done.stderr.splitlines() if line.strip()], done.returncode, spec)


def _refusal(said: list[str], status: int, spec: str) -> InputError:
    """What the exporting process said; at the place in the kernel's source that its compiler names."""
    if not said:
        return InputError(f"it ended with status {status}, and said nothing", spec)
    place = PLACE.search("\n".join(said)) if status == REFUSED else None
    if place is None:
        return InputError(said[0] if status == REFUSED else said[-1], spec)
    file, line, column = place[1], int(place[2]), int(place[3])
    lines = read_text(file).split("\n") if os.path.isfile(file) else []
    quoted = lines[line - 1] if 0 < line <= len(lines) else None
    return InputError(said[0], file, line, column, quoted)


def _environment() -> dict[str, str]:
    """cuTile Python as installed, else from the folder of the compilers. Raises InputError for neither."""
    env = environment()
    tool = find_tool("tileiras")  # cuTile Python asks it which bytecode it reads
    if tool is not None:
        env["PATH"] = os.pathsep.join((str(tool.parent), env.get("PATH", "")))
    if _installed("cuda.tile"):
        return env
    folder = Path(os.environ.get(SETTING, ""), "cutile-python")
    if not os.environ.get(SETTING) or not (folder / "cuda" / "tile").is_dir():
        raise InputError(
            "cuTile Python is not installed: pip install cuda-tile; see `tileir-diff doctor`", "dump py"
        )
    return env | {"PYTHONPATH": os.pathsep.join(filter(None, (str(folder), env.get("PYTHONPATH"))))}


def _installed(module: str) -> bool:
    try:
        return find_spec(module) is not None
    except ModuleNotFoundError:
        return False
