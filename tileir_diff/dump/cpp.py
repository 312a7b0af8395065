"""Kernels of tile C++: compiled by nvcc."""

from __future__ import annotations

import os
import re
import subprocess
import tempfile
from pathlib import Path
from typing import Final

from tileir_diff.dump.model import SCHEMA, Dumped
from tileir_diff.errors import InputError
from tileir_diff.ingest.source import check_language
from tileir_diff.ingest.text import read_text
from tileir_diff.toolchain.find import SETTING, find_tool
from tileir_diff.toolchain.run import disassemble, environment, tool_version

OPTIONS: Final = ("-std=c++20", "--tilebc", "--enable-tile")
SECONDS: Final = 600.0
PLACE: Final = re.compile(r"([^\s():]+)\((\d+)\): (?:catastrophic )?error:? ?(.*)")
"""How nvcc says where a source is wrong: `FILE(LINE): error: TEXT`."""
NEUTRAL: Final = "/proc/self/cwd/"
"""A path of the working folder that is the same everywhere: nvcc writes absolute paths into the bytecode."""


def dump_cpp(source: str, arch: str = "sm_100") -> Dumped:
    """Compiles all tile kernels of a `.cu` file.

    Raises InputError where nvcc is missing, for a file that cannot be read, and for what nvcc or the
    disassembler refuses.
    """
    check_language(source, "cpp")
    read_text(source)
    tool = find_tool("nvcc")
    if tool is None:
        message = f"no nvcc: pip install nvidia-cuda-nvcc nvidia-cuda-crt nvidia-cuda-cccl, or set {SETTING}"
        raise InputError(f"{message}; see `tileir-diff doctor`", "dump cpp")
    inside = not os.path.isabs(source) and ".." not in Path(source).parts
    shown = f"{NEUTRAL}{source}" if inside else source
    with tempfile.TemporaryDirectory(prefix="tileir-diff-") as folder:
        output = Path(folder, "kernel.tilebc")
        command = [str(tool), *OPTIONS, f"-arch={arch}", shown, "-o", str(output)]
        try:
            done = subprocess.run(
                command, capture_output=True, text=True, errors="replace", timeout=SECONDS, env=environment(),
                check=False,
            )  # fmt: skip
        except subprocess.TimeoutExpired:
            raise InputError(f"nvcc did not finish in {SECONDS:.0f} s", source) from None
        if done.returncode != 0 or not output.exists():
            raise _refusal(done.stderr + done.stdout, source)
        bytecode = output.read_bytes()
    text = disassemble(bytecode, source).replace(NEUTRAL, "")
    specialised = {
        "schema": SCHEMA,
        "front_end": f"tile-cpp@{tool_version('nvcc') or 'unknown'}",
        "kernel": source,
        "entries": re.findall(r"^\s*entry @([\w$.]+)", text, re.MULTILINE),
        "arch": arch,
        "bytecode_version": ".".join(map(str, bytecode[8:10])),
    }
    return Dumped(bytecode, text, specialised)


def _refusal(said: str, source: str) -> InputError:
    """The first error of the compiler, at its line."""
    place = PLACE.search(said)
    if place is None:
        lines = [line.strip() for line in said.splitlines() if line.strip()] or [
            "nvcc failed, and said nothing"
        ]
        return InputError(lines[0], source)
    file, line = place[1].removeprefix(NEUTRAL), int(place[2])
    lines = read_text(file).split("\n") if os.path.isfile(file) else []
    quoted = lines[line - 1] if 0 < line <= len(lines) else None
    column = len(quoted) - len(quoted.lstrip()) + 1 if quoted else 0
    return InputError(place[3], file, line, column, quoted)
