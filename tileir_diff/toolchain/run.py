"""Runs the external programs."""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from tileir_diff.errors import InputError, MissingToolError
from tileir_diff.toolchain.find import SETTING, find_tool

if TYPE_CHECKING:
    from subprocess import CompletedProcess

# The assembler and its kin load libraries of another toolkit that these name, and then fail without saying
# why.
MISLEADING: Final = ("CUDA_HOME", "CUDA_PATH", "CUDA_ROOT")
REASONS: Final = 3  # the first say what is wrong, later ones repeat it
TIMEOUT: Final = 60.0  # seconds; the disassembler takes milliseconds


def environment() -> dict[str, str]:
    """The environment for a tool: ours, without the settings that lead it to another toolkit."""
    return {name: text for name, text in os.environ.items() if name not in MISLEADING}


def disassemble(bytecode: bytes, path: str, locations: bool = True) -> str:
    """The text of Tile IR bytecode, with or without source locations.

    Raises InputError when there is no disassembler or it refuses.
    """
    import tempfile

    tool = find_tool("tileirdisasm")
    if tool is None:
        raise MissingToolError(f"this is Tile IR bytecode, and {_missing('tileirdisasm')}", path)
    with tempfile.TemporaryDirectory(prefix="tileir-diff-") as folder:
        file = Path(folder, "input.tilebc")
        file.write_bytes(bytecode)
        result = _run([str(tool), *(["-g"] if locations else []), str(file)], path)
    if result.returncode < 0:
        raise InputError(f"tileirdisasm crashed on this bytecode (signal {-result.returncode})", path)
    if result.returncode != 0 or not result.stdout.strip():
        raise InputError(f"tileirdisasm refuses this bytecode: {_reasons(result)}", path)
    return result.stdout.decode("utf-8", "replace")


def _missing(name: str) -> str:
    setting = os.environ.get(SETTING)
    if setting:
        return f"no {name} was found to read it in {SETTING}={setting}"
    return (
        f"no {name} was found to read it, beside an installed nvidia package or on PATH; "
        f"`pip install nvidia-cuda-tileiras`, or set {SETTING} to its folder"
    )


def _reasons(result: CompletedProcess[Any]) -> str:
    """The first lines of what a tool said on standard error."""
    lines = [
        line.replace("error: ", "").strip() for line in result.stderr.decode("utf-8", "replace").splitlines()
    ]
    placed = [_placed(line) for line in lines if "loc(" in line]
    # what stands at an op says it all: the lines below it only say that something was wrong
    told = list(dict.fromkeys(placed or [line for line in lines if line]))[:REASONS]
    return "; ".join(told) or f"exit status {result.returncode}, no message"


def _placed(line: str) -> str:
    """`FILE:LINE:COLUMN: message` of a message that begins with a whole debug location."""
    import re

    found = re.search(r'loc\("([^"]+)":(\d+):(\d+)\).*: (\'\S+\' op .*)', line)
    return line if found is None else f"{found[1]}:{found[2]}:{found[3]}: {found[4]}"


def _run(command: list[str], path: str) -> CompletedProcess[Any]:
    import subprocess

    try:
        return subprocess.run(command, capture_output=True, timeout=TIMEOUT, env=environment(), check=False)
    except subprocess.TimeoutExpired:
        raise InputError(f"{Path(command[0]).name} did not finish in {TIMEOUT:.0f} s", path) from None
    except OSError as error:
        raise InputError(f"{command[0]} cannot be run: {error.strerror}", path) from None


@cache
def tool_version(name: str) -> str | None:
    """What a tool says of itself, such as "13.4.92";

    None when it is not there or says nothing of the kind.
    """
    import re

    tool = find_tool(name)
    if tool is None:
        return None
    try:
        result = _run([str(tool), "--version"], str(tool))
    except InputError:
        return None
    match = re.search(rb"V(\d+(?:\.\d+)+)", result.stdout)
    return match[1].decode() if match else None
