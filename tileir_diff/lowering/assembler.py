"""Runs `tileiras`, or finds what it said before."""

from __future__ import annotations

import re
import subprocess
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from tileir_diff.errors import InputError
from tileir_diff.lowering.cubin import Kernel, read_cubin
from tileir_diff.lowering.remarks import Remark, parse_remarks
from tileir_diff.toolchain.find import SETTING, find_tool
from tileir_diff.toolchain.run import environment, tool_version

if TYPE_CHECKING:
    from tileir_diff.lowering.cache import Cache

TIMEOUT: Final = 300.0
"""Seconds for one kernel; the largest known takes some ten."""
TIMED_OUT: Final = 124
"""Exit status of a run that was stopped, as of `timeout`."""
MESSAGE_LINES: Final = 4


class Lowered(NamedTuple):
    """What the assembler made of a module for one architecture.

    `failure` is what it said when it gave no cubin, empty when it did.
    """

    arch: str
    version: str
    kernels: dict[str, Kernel]
    remarks: tuple[Remark, ...]
    failure: str = ""


class Outcome(NamedTuple):
    """How a run of the assembler ended: its exit status (negative: a signal) and what it said."""

    status: int
    message: str
    cubin: bytes
    remarks: str


class Assembler:
    """One version of the assembler with a cache.

    `tool` None: only what the cache holds can be asked for.
    """

    def __init__(self, tool: Path | None, version: str, cache: Cache) -> None:
        self.tool = tool
        self.version = version
        self.cache = cache

    def lower(self, bytecode: bytes, arch: str, level: int = 3) -> Lowered:
        """Raises InputError when there is no assembler, or none that knows the architecture."""
        key = self.cache.key(bytecode, self.version, arch, str(level))
        known = self.cache.get(key)
        if known is not None:
            return _decode(known)
        outcome = self.run(bytecode, arch, level)
        if outcome.status != 0:
            # not kept: a missing library or a full disk is no property of the kernel
            return Lowered(arch, self.version, {}, (), failure_of(outcome))
        kernels = read_cubin(outcome.cubin, f"cubin for {arch}")
        result = Lowered(arch, self.version, kernels, parse_remarks(outcome.remarks))
        self.cache.put(key, _encode(result))
        return result

    def run(self, bytecode: bytes, arch: str, level: int = 3) -> Outcome:
        """Runs the assembler, always. Raises InputError as `lower`."""
        if self.tool is None:
            raise InputError(missing())
        with tempfile.TemporaryDirectory(prefix="tileir-diff-") as folder:
            source, cubin, remarks = (Path(folder, name) for name in ("k.tilebc", "k.cubin", "k.yaml"))
            source.write_bytes(bytecode)
            command = [str(self.tool), f"--gpu-name={arch}", f"--opt-level={level}", "--remarks=all"]
            command += ["--remark-format=yaml", f"--remarks-output-file={remarks}"]
            try:
                done = subprocess.run(
                    [*command, "-o", str(cubin), str(source)],
                    capture_output=True, timeout=TIMEOUT, env=environment(), cwd=folder, check=False,
                )  # fmt: skip
            except subprocess.TimeoutExpired:
                return Outcome(TIMED_OUT, f"did not finish in {TIMEOUT:.0f} s", b"", "")
            except OSError as error:
                raise InputError(f"{self.tool} cannot be run: {error.strerror}") from None
            said = (done.stderr + done.stdout).decode("utf-8", "replace").replace(f"{folder}/", "")
            if "gpu-name" in said and "Cannot find option" in said:
                raise InputError(f"version {self.version} knows no {arch}{_gpus(self.tool)}", "tileiras")
            return Outcome(
                done.returncode,
                said,
                cubin.read_bytes() if cubin.exists() else b"",
                remarks.read_text("utf-8", "replace") if remarks.exists() else "",
            )


def find_assembler(cache: Cache) -> Assembler:
    """The assembler of this machine. Raises InputError when there is none."""
    tool = find_tool("tileiras")
    if tool is None:
        raise InputError(missing(), "--lower")
    return Assembler(tool, tool_version("tileiras") or "of unknown version", cache)


def _gpus(tool: Path) -> str:
    """`; it knows sm_90, sm_100`, as its help says; nothing where that names none."""
    try:
        done = subprocess.run(
            [str(tool), "--help"], capture_output=True, text=True, errors="replace", timeout=TIMEOUT,
            env=environment(), check=False,
        )  # fmt: skip
    except (OSError, subprocess.TimeoutExpired):
        return ""
    known = re.findall(r"=(sm_\w+)", done.stdout + done.stderr)
    return f"; it knows {', '.join(dict.fromkeys(known))}" if known else ""


def missing() -> str:
    """What to do when there is no assembler."""
    return (
        f"no tileiras was found; `pip install nvidia-cuda-tileiras nvidia-cuda-nvcc`, or set {SETTING} to "
        "the folder of one"
    )


def failure_of(outcome: Outcome) -> str:
    """What the assembler said, in one line."""
    lines = [line.replace("error: ", "").strip() for line in outcome.message.splitlines()]
    told = "; ".join(list(dict.fromkeys(line for line in lines if line))[:MESSAGE_LINES])
    if outcome.status < 0:
        return f"crashed (signal {-outcome.status})" + (f": {told}" if told else "")
    return told or f"exit status {outcome.status}, no message"


def _encode(lowered: Lowered) -> dict[str, Any]:
    return {
        "arch": lowered.arch,
        "version": lowered.version,
        "kernels": {name: kernel._asdict() for name, kernel in lowered.kernels.items()},
        "remarks": [remark._asdict() for remark in lowered.remarks],
    }


def _decode(document: dict[str, Any]) -> Lowered:
    remarks = [
        Remark(**each | {"arguments": tuple((name, text) for name, text in each["arguments"])})
        for each in document["remarks"]
    ]
    kernels = {name: Kernel(**kernel) for name, kernel in document["kernels"].items()}
    return Lowered(document["arch"], document["version"], kernels, tuple(remarks))
