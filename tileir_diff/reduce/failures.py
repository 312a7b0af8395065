"""What a failure is: a command that succeeds on the file, or an assembler that does not take the kernel."""

from __future__ import annotations

import re
import shlex
import subprocess
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from tileir_diff.bytecode.module import write_module
from tileir_diff.errors import InputError
from tileir_diff.toolchain.run import environment

if TYPE_CHECKING:
    from tileir_diff.lowering.assembler import Assembler
    from tileir_diff.lowering.assembler import Outcome as Ended
    from tileir_diff.reduce.search import Candidate

TEXT, BYTECODE = "{}", "{bytecode}"
"""Where a command gets the kernel: a file of text, or one of bytecode."""
VARYING: Final = re.compile(r"%[\w.$#-]+|\"[^\"]*\"|'[^']*'|<[^<>]*>|0x[0-9a-fA-F]+|\d+")
"""Parts of a message that change while a kernel shrinks: names, types, numbers."""
GENERAL: Final = "failed to compile Tile IR program"


class Signature(NamedTuple):
    """How the assembler fails: its exit status (negative: a signal), and its message without names."""

    status: int
    message: str


class Assembles:
    """The assembler fails on it as it did on the first kernel. Raises InputError as `Assembler.run`."""

    def __init__(self, assembler: Assembler, arch: str, level: int = 3) -> None:
        self.assembler = assembler
        self.arch = arch
        self.level = level
        self.expected: Signature | None = None
        self.said = ""

    def __call__(self, candidate: Candidate) -> bool:
        try:
            bytecode = write_module(candidate.module).data
        except InputError:
            return False
        ended = self.assembler.run(bytecode, self.arch, self.level)
        if ended.status == 0:
            return False
        signature = signature_of(ended)
        if self.expected is None:
            self.expected = signature
        if signature != self.expected:
            return False
        self.said = ended.message.strip()
        return True

    @property
    def command(self) -> str:
        return f"tileiras --gpu-name={self.arch} --opt-level={self.level} -o k.cubin k.tilebc"


class Command:
    """A command of the user's that exits with 0 while the failure is there."""

    def __init__(self, command: str, timeout: float) -> None:
        if TEXT not in command and BYTECODE not in command:
            raise InputError(f"the command must have {TEXT} or {BYTECODE} where the file goes", "--while")
        try:
            shlex.split(command)
        except ValueError as error:
            raise InputError(f"the command cannot be read: {error}", "--while") from None
        self.command = command
        self.timeout = timeout
        self.said = ""

    def __call__(self, candidate: Candidate) -> bool:
        with tempfile.TemporaryDirectory(prefix="tileir-diff-") as folder:
            text, bytecode = Path(folder, "k.mlir"), Path(folder, "k.tilebc")
            text.write_text(candidate.text, "utf-8")
            if BYTECODE in self.command:
                try:
                    bytecode.write_bytes(write_module(candidate.module).data)
                except InputError:
                    return False
            line = self.command.replace(BYTECODE, shlex.quote(str(bytecode)))
            line = line.replace(TEXT, shlex.quote(str(text)))
            try:
                done = subprocess.run(
                    ["/bin/sh", "-c", line], capture_output=True, timeout=self.timeout, env=environment(),
                    check=False,
                )  # fmt: skip
            except subprocess.TimeoutExpired:
                return False
            if done.returncode == 0:
                said = (done.stderr + done.stdout).decode("utf-8", "replace")
                self.said = said.replace(f"{folder}/", "").strip()
            return done.returncode == 0


def signature_of(ended: Ended) -> Signature:
    """The status and the first lines that say something; a crash is told by its signal alone."""
    if ended.status < 0:
        return Signature(ended.status, "")
    lines = [line.strip() for line in ended.message.splitlines() if line.strip()]
    told = [line for line in lines if GENERAL not in line] or lines
    return Signature(ended.status, VARYING.sub("_", told[0]) if told else "")
