"""From a path to text, and which printer wrote it."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from typing import Final

from tileir_diff.errors import InputError
from tileir_diff.ingest.formats import detect_format
from tileir_diff.ingest.text import LARGEST, bounded, read_bytes

MAGIC: Final = b"\x7fTileIR\x00"
SOURCES: Final = {".py": ("Python", "py"), ".rs": ("Rust", "rs"), ".cu": ("CUDA C++", "cpp")}
"""By suffix, sources that are given in place of what is made of them."""
ELF_MACHINE: Final = 18
"""Offset of e_machine in an ELF file."""
CUDA: Final = 190
"""EM_CUDA."""
STDIN: Final = "-"


@dataclass(frozen=True)
class SourceFile:
    """A dump as text. `format` is "disassembly", "disassembly-g", "mlir", "mlir-generic".

    "cutile-rs" or "bytecode". `version` is that of the bytecode, such as "13.4"; None for text.
    """

    path: str
    text: str
    format: str
    bytecode: bool
    version: str | None = None


def read_source(path: str | os.PathLike[str]) -> SourceFile:
    """The dump at a path; `-` is standard input. Bytecode is known by its first bytes and disassembled.

    Raises InputError for what cannot be read, is empty, or is neither text nor Tile IR bytecode.
    """
    name = os.fspath(path)
    data = _read(name)
    shown = "<stdin>" if name == STDIN else name
    if data.startswith(MAGIC):
        from tileir_diff.toolchain import disassemble

        text = disassemble(data, shown)
        version = ".".join(map(str, data[len(MAGIC) : len(MAGIC) + 2]))
        return SourceFile(shown, text, "bytecode", True, version)
    if data.startswith(b"\x7fELF"):
        machine = int.from_bytes(data[ELF_MACHINE : ELF_MACHINE + 2], "little")
        what = "a compiled kernel (cubin)" if machine == CUDA else "an ELF file"
        raise InputError(f"this is {what}, not Tile IR", shown)
    text = _decode(data, shown)
    if not text.strip():
        raise InputError("the input is empty", shown)
    language, verb = SOURCES.get(os.path.splitext(name)[1], ("", ""))
    if language and "entry @" not in text and "cuda_tile." not in text:
        raise InputError(f"this is {language}, not Tile IR; `tileir-diff dump {verb}` compiles it", shown)
    return SourceFile(shown, text, detect_format(text), False)


def check_language(path: str, verb: str) -> None:
    """Raises InputError for a source that another verb of `dump` compiles."""
    language, other = SOURCES.get(os.path.splitext(path)[1], ("", verb))
    if other != verb:
        raise InputError(f"this is {language}; `tileir-diff dump {other}` compiles it", path)


def _read(name: str) -> bytes:
    if name != STDIN:
        return read_bytes(name)
    try:
        return bounded(sys.stdin.buffer.read(LARGEST + 1), "<stdin>")
    except OSError as error:
        raise InputError(f"cannot read: {error.strerror or error}", name) from None


def _decode(data: bytes, shown: str) -> str:
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        before = data[: error.start].decode("utf-8-sig", "replace").replace("\r\n", "\n").split("\n")
        raise InputError(
            f"neither text nor Tile IR bytecode: byte {error.start} is not UTF-8",
            shown, len(before), len(before[-1]) + 1,
        ) from None  # fmt: skip
    if "\x00" in text:
        raise InputError("neither text nor Tile IR bytecode: it holds zero bytes", shown)
    return text.replace("\r\n", "\n")
