"""The assembler and the disassembler: where they are, what they read, for which GPUs they compile."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Final

from tileir_diff.doctor.model import MISSING, NOTE, OK, WRONG, Check
from tileir_diff.toolchain.find import SETTING, find_tool, find_toolchain
from tileir_diff.toolchain.run import MISLEADING, environment, tool_version

if TYPE_CHECKING:
    from collections.abc import Iterator

EMPTY: Final = "cuda_tile.module @m { entry @k() { return } }"
SECONDS: Final = 60.0
GET: Final = f"pip install nvidia-cuda-tileiras nvidia-cuda-nvcc, or set {SETTING} to the folder of one"
BESIDE: Final = (("ptxas", "{bin}/ptxas"), ("libnvvm", "{bin}/../lib/libnvvm.so.4"))
"""What the assembler loads, by its folder; without them it says only that it failed."""


def checks() -> Iterator[Check]:
    """The disassembler, the assembler, what it loads, and settings that mislead it."""
    bytecodes = {version: _bytecode(version) for version in _versions()}
    yield _disassembler(bytecodes)
    yield from _assembler(bytecodes)
    yield from _settings()


def _versions() -> list[str]:
    from tileir_diff.bytecode.versions import VERSIONS

    return list(VERSIONS)


def _bytecode(version: str) -> bytes:
    from tileir_diff.bytecode import assemble
    from tileir_diff.dialect import parse_text

    return assemble(parse_text(EMPTY, "<empty kernel>"), version)


def _disassembler(bytecodes: dict[str, bytes]) -> Check:
    needs = "reading bytecode"
    tool = find_tool("tileirdisasm")
    if tool is None:
        return Check("tileirdisasm", MISSING, "", needs, GET)
    read = [version for version, data in bytecodes.items() if not _fails(tool, data, "{in}")]
    found = f"{_version('tileirdisasm')} {tool} ({_origin()})"
    return _read_versions("tileirdisasm", found, needs, read, list(bytecodes))


def _read_versions(name: str, found: str, needs: str, read: list[str], known: list[str]) -> Check:
    if not read:
        return Check(name, WRONG, found, needs, "it reads none of the bytecode that is written here")
    unread = [version for version in known if version not in read]
    advice = f"reads bytecode {', '.join(read)}"
    if unread:
        return Check(name, NOTE, found, needs, f"{advice}, not {', '.join(unread)}: it is too old for that")
    return Check(name, OK, found, needs, advice)


def _assembler(bytecodes: dict[str, bytes]) -> Iterator[Check]:
    needs = "--lower, classify, reduce"
    tool = find_tool("tileiras")
    if tool is None:
        yield Check("tileiras", MISSING, "", needs, GET)
        return
    beside = [Check(name, OK, str(path), "tileiras") for name, path in _beside(tool) if path.exists()]
    lacking = [name for name, path in _beside(tool) if not path.exists()]
    found = f"{_version('tileiras')} {tool}"
    if tool_version("tileiras") != tool_version("tileirdisasm"):
        advice = f"tileirdisasm is {_version('tileirdisasm')}: take both from one release"
        yield Check("tileiras", WRONG, found, needs, advice)
    else:
        yield _compiles(tool, found, needs, bytecodes, lacking)
    yield from beside
    for name in lacking:
        advice = "put it where tileiras looks: pip install nvidia-cuda-nvcc nvidia-nvvm of the same release"
        yield Check(name, MISSING, "", "tileiras", advice)


def _compiles(tool: Path, found: str, needs: str, bytecodes: dict[str, bytes], lacking: list[str]) -> Check:
    """Whether it makes a cubin of an empty kernel, from which bytecode, and for which GPUs it says it can."""
    gpus = re.findall(r"=(sm_\w+)", _says(tool, "--help"))
    if not gpus:
        return Check("tileiras", WRONG, found, needs, "its --help names no GPU")
    failures = {
        v: _fails(tool, data, f"--gpu-name={gpus[-1]}", "-o", "{out}", "{in}")
        for v, data in bytecodes.items()
    }
    read = [version for version, failure in failures.items() if not failure]
    if not read:
        why = f"without {' and '.join(lacking)}" if lacking else next(iter(failures.values()))
        return Check(
            "tileiras", WRONG, found, needs, f"it does not compile an empty kernel for {gpus[-1]}: {why}"
        )
    check = _read_versions("tileiras", found, needs, read, list(bytecodes))
    return check._replace(advice=f"{check.advice}; compiles for {', '.join(gpus)}")


def _settings() -> Iterator[Check]:
    """Settings of other toolkits, and further toolchains that are not used."""
    for name in MISLEADING:
        value = os.environ.get(name)
        if value:
            advice = "names another CUDA, whose libraries tileiras would load; not passed on to it here"
            yield Check(name, NOTE, value, "", advice)
    on_path = shutil.which("tileiras")
    used = find_tool("tileiras")
    if on_path and used is not None and Path(on_path).resolve() != used.resolve():
        yield Check("tileiras on PATH", NOTE, on_path, "", f"not used: {used} comes first")


def _beside(tool: Path) -> list[tuple[str, Path]]:
    return [(name, Path(os.path.normpath(place.format(bin=tool.parent)))) for name, place in BESIDE]


def _origin() -> str:
    chain = find_toolchain()
    names = {"setting": SETTING, "package": "an installed package", "project": "the project", "path": "PATH"}
    return names[chain.origin] if chain is not None else ""


def _version(name: str) -> str:
    return tool_version(name) or "of unknown version"


def _fails(tool: Path, data: bytes, *arguments: str) -> str:
    """What the tool says where it refuses a file, empty where it takes it."""
    with tempfile.TemporaryDirectory(prefix="tileir-diff-") as folder:
        places = {"in": str(Path(folder, "k.tilebc")), "out": str(Path(folder, "k.cubin"))}
        Path(places["in"]).write_bytes(data)
        done = _run([str(tool), *(argument.format(**places) for argument in arguments)])
    if done is None:
        return "it cannot be run"
    said = [line for line in (done.stderr + done.stdout).splitlines() if line.strip()]
    return "" if done.returncode == 0 else said[0].strip() if said else f"exit status {done.returncode}"


def _says(tool: Path, *arguments: str) -> str:
    done = _run([str(tool), *arguments])
    return done.stdout + done.stderr if done is not None else ""


def _run(command: list[str]) -> subprocess.CompletedProcess[str] | None:
    try:
        return subprocess.run(
            command,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=SECONDS,
            env=environment(),
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
