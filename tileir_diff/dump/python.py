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
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from tileir_diff.dump.like import BYTES, Argument
from tileir_diff.dump.model import SCHEMA, Dumped
from tileir_diff.dump.record import PROCESSORS
from tileir_diff.errors import InputError
from tileir_diff.ingest.text import read_text
from tileir_diff.toolchain.find import find_tool, front_end
from tileir_diff.toolchain.run import disassemble, environment

if TYPE_CHECKING:
    from collections.abc import Sequence

SECONDS: Final = 600.0
PLACE: Final = re.compile(r'"([^"]+)", line (\d+), col (\d+)')
"""How cuTile Python says where a kernel is wrong."""


class Wanted(NamedTuple):
    """One dump of a kernel. `spare`: arguments that it does not have are for another kernel."""

    spec: str
    arguments: Sequence[Argument]
    arch: str = "sm_100"
    spare: bool = False


def dump_python(
    spec: str, arguments: Sequence[Argument], arch: str = "sm_100", bytecode_version: str | None = None
) -> Dumped:
    """Compiles the kernel `MODULE:KERNEL` (or `FILE.py:KERNEL`) for arguments like these.

    Raises InputError where cuTile Python is missing, where module, kernel or arguments do not fit, and for
    what its compiler or the disassembler refuses.
    """
    [made] = dump_kernels([Wanted(spec, arguments, arch)], bytecode_version)
    if isinstance(made, InputError):
        raise made
    return made


def dump_kernels(wanted: Sequence[Wanted], bytecode_version: str | None = None) -> list[Dumped | InputError]:
    """Many dumps by one process, each a dump or why there is none. Raises InputError like `dump_python`."""
    with tempfile.TemporaryDirectory(prefix="tileir-diff-") as folder:
        jobs: list[dict[str, Any]] = []
        for index, each in enumerate(wanted):
            module, kernel = _split(each.spec, "names no kernel: write MODULE:KERNEL or FILE.py:KERNEL")
            jobs.append(
                {
                    "module": module, "kernel": kernel, "arch": each.arch, "spare": each.spare,
                    "bytecode_version": bytecode_version, "output": str(Path(folder, f"{index}")),
                    "arguments": [
                        argument._asdict() | {"bytes": BYTES.get(argument.dtype, 0)}
                        for argument in each.arguments
                    ],
                }
            )  # fmt: skip
        answers = _export(jobs, wanted[0].spec if wanted else "dump py")
        return [
            _result(answer, job, each.spec) for answer, job, each in zip(answers, jobs, wanted, strict=True)
        ]


def dump_call(
    spec: str, arch: str = "sm_100", bytecode_version: str | None = None, processors: int | None = None
) -> list[Dumped]:
    """The kernels that a call of a host function launches, `MODULE:FUNCTION(ARGUMENTS)`, in order.

    An array among the arguments is written as in `--like`: `f16[2048,4096]:16`. `processors` is the number of
    multiprocessors that the function is told. Raises InputError like `dump_python`, and for a call that fails
    or launches nothing.
    """
    module, call = _split(spec, "names no call: write MODULE:FUNCTION(ARGUMENTS)", call=True)
    if processors is None and arch not in PROCESSORS:
        raise InputError(f"how many multiprocessors has {arch}? --processors says it", "--arch")
    with tempfile.TemporaryDirectory(prefix="tileir-diff-") as folder:
        output = str(Path(folder, "kernel"))
        job = {
            "module": module, "call": call, "arch": arch, "bytecode_version": bytecode_version,
            "processors": processors, "output": output,
        }  # fmt: skip
        [answer] = _export([job], spec)
        if "error" in answer:
            raise _refusal(answer["error"], spec)
        made = [
            _dumped(each, answer["version"], job, f"{output}.{index}", f"{each['module']}:{each['kernel']}")
            for index, each in enumerate(answer["made"])
        ]
    if not made:
        raise InputError("it launches no kernel of cuTile Python", spec)
    return made


def _split(spec: str, wrong: str, call: bool = False) -> tuple[str, str]:
    """Module and kernel or call."""
    head, bracket, _ = spec.partition("(") if call else (spec, "(", "")
    module, colon, name = head.rpartition(":")
    if not colon or not bracket or not module or not all(map(str.isidentifier, name.split("."))):
        raise InputError(f"'{spec}' {wrong}", "dump py")
    return module, spec[len(module) + 1 :]


def _result(answer: dict[str, Any], job: dict[str, Any], spec: str) -> Dumped | InputError:
    """A dump, or why there is none."""
    if "error" in answer:
        return _refusal(answer["error"], spec)
    [made] = answer["made"]
    try:
        return _dumped(made, answer["version"], job, job["output"], spec)
    except InputError as error:
        return error


def _dumped(made: dict[str, Any], version: str, job: dict[str, Any], output: str, spec: str) -> Dumped:
    bytecode = Path(output).read_bytes()
    specialised = {
        "schema": SCHEMA,
        "front_end": f"cutile-python@{version}",
        "kernel": spec,
        "entry": made["entry"],
        "arch": job["arch"],
        "bytecode_version": ".".join(map(str, bytecode[8:10])),
        **({"call": job["call"]} if "call" in job else {}),
        **{name: made[name] for name in ("grid", "processors", "first_of_search") if name in made},
        "arguments": [_without_defaults(each) for each in made["arguments"]],
    }
    return Dumped(bytecode, disassemble(bytecode, spec), specialised)


def _without_defaults(argument: dict[str, Any]) -> dict[str, Any]:
    """What belongs to the kind of the argument."""
    kept = {"array": ("value", "bytes", "same"), "scalar": ("bytes", "shape", "strides", "align", "same")}
    left_out = kept.get(argument["kind"], ("dtype", "bytes", "shape", "strides", "align", "same"))
    shown = {name: value for name, value in argument.items() if name not in left_out}
    if argument["kind"] == "scalar" and shown.get("value") is None:
        shown.pop("value", None)
    return shown


def _export(jobs: list[dict[str, Any]], spec: str) -> list[dict[str, Any]]:
    """What the exporting process answers. Raises InputError where it does not come to answer."""
    script = Path(__file__).with_name("export.py")
    request = json.dumps({"folder": os.getcwd(), "jobs": jobs})
    try:
        done = subprocess.run(
            [sys.executable, "-B", "-P", str(script)],
            input=request, capture_output=True, text=True, timeout=SECONDS, env=_environment(), check=False,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        raise InputError(f"not compiled in {SECONDS:.0f} s", spec) from None
    if done.returncode == 0 and done.stdout.strip():
        return json.loads(done.stdout.splitlines()[-1])
    said = [line for line in done.stderr.splitlines() if line.strip()]
    raise InputError(said[-1] if said else f"it ended with status {done.returncode}, and said nothing", spec)


def _refusal(text: str, spec: str) -> InputError:
    """What cuTile Python or the kernel's module said, at the place in the source that it names."""
    said = [line for line in text.splitlines() if line.strip()] or ["refused, and no reason given"]
    place = PLACE.search(text)
    if place is None:
        return InputError(said[0], spec)
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
    added: list[Path] = []
    if not _installed("cuda.tile"):
        folder = front_end("cutile-python")
        if folder is None or not (folder / "cuda" / "tile").is_dir():
            raise InputError(
                "cuTile Python is not installed: pip install cuda-tile; see `tileir-diff doctor`", "dump py"
            )
        added.append(folder)
    kernels = front_end("tilegym")
    if kernels is not None and not _installed("tilegym"):
        added.append(kernels)
    # what the caller names comes first
    paths = filter(None, (env.get("PYTHONPATH"), *map(str, added)))
    return env | {"PYTHONPATH": os.pathsep.join(paths)} if added else env


def _installed(module: str) -> bool:
    try:
        return find_spec(module) is not None
    except ModuleNotFoundError:
        return False
