"""Reads what a cubin says of each kernel: registers, memory, threads, and the machine code itself."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from tileir_diff.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterator

SIZED: Final = 4
"""The format of an attribute of `.nv.info` that brings its own length; the others hold two bytes."""
REGISTERS, FRAME, CLUSTER, THREADS = 0x2F, 0x11, 0x3D, 0x10
PARAMETERS: Final = ".nv.constant0."
"""The constant bank that the launch fills: its size follows the argument list."""

MEASURES: Final = (
    ("registers", "registers", ""),
    ("shared", "shared memory", " bytes"),
    ("local", "stack", " bytes"),
    ("threads", "threads", ""),
    ("blocks_a_cluster", "blocks a cluster", ""),
    ("code_bytes", "machine code", " bytes"),
)
"""Field of a kernel, its name in a sentence, its unit."""


class Kernel(NamedTuple):
    """One kernel of a cubin.

    `shared` is static shared memory of a block, `local` the stack of a thread (spills too), both in bytes;
    `code` is a hash of the instructions and of the constants that they read.
    """

    registers: int
    shared: int
    local: int
    threads: int
    blocks_a_cluster: int
    code_bytes: int
    code: str


def read_cubin(data: bytes, path: str) -> dict[str, Kernel]:
    """The kernels of a cubin by symbol, in the order of the file.

    Raises InputError when it is no ELF file or a broken one, and when pyelftools is not installed.
    """
    try:
        from elftools.elf.elffile import ELFFile  # pyright: ignore
    except ImportError:
        text = "reading a cubin needs pyelftools: pip install 'tileir-diff[lower]'"
        raise InputError(text, path) from None
    from io import BytesIO

    opened: Any = ELFFile
    try:
        found = _kernels(opened(BytesIO(data)))
    except Exception as error:  # pyelftools has no one error for a file that is cut or changed
        raise InputError(
            f"not a cubin: {' '.join(str(error).split()) or type(error).__name__}", path
        ) from None
    if not found:
        raise InputError("no kernel in this cubin", path)
    return found


def _kernels(elf: Any) -> dict[str, Kernel]:
    sections: dict[str, Any] = {section.name: section for section in elf.iter_sections()}
    names: list[str] = [symbol.name for symbol in sections[".symtab"].iter_symbols()]
    facts: dict[tuple[int, str], int] = {}
    for code, value in _attributes(sections.get(".nv.info")):
        if code in (REGISTERS, FRAME) and len(value) == 8:
            symbol, number = _words(value)
            facts[code, names[symbol]] = number
    found: dict[str, Kernel] = {}
    for name, section in sections.items():
        kernel = name.removeprefix(".text.")
        if kernel != name and f".nv.info.{kernel}" in sections:
            found[kernel] = _kernel(kernel, section.data(), sections, facts)
    return found


def _kernel(name: str, code: bytes, sections: dict[str, Any], facts: dict[tuple[int, str], int]) -> Kernel:
    digest = hashlib.sha256(code)
    for other, section in sections.items():
        if other.startswith(".nv.constant") and other.endswith(f".{name}") and PARAMETERS not in other:
            digest.update(section.data())
    own = {code: _product(value) for code, value in _attributes(sections[f".nv.info.{name}"])}
    shared = sections.get(f".nv.shared.{name}")
    return Kernel(
        registers=facts.get((REGISTERS, name), 0),
        shared=0 if shared is None else int(shared["sh_size"]),
        local=facts.get((FRAME, name), 0),
        threads=own.get(THREADS, 0),
        blocks_a_cluster=own.get(CLUSTER, 1),
        code_bytes=len(code),
        code=digest.hexdigest(),
    )


def _attributes(section: Any) -> Iterator[tuple[int, bytes]]:
    """Code and value of each attribute of a `.nv.info` section; stops where it makes no sense."""
    data: bytes = b"" if section is None else section.data()
    at = 0
    while at + 4 <= len(data):
        size = int.from_bytes(data[at + 2 : at + 4], "little") if data[at] == SIZED else 0
        yield data[at + 1], data[at + 4 : at + 4 + size] if size else data[at + 2 : at + 4]
        at += 4 + size


def _words(value: bytes) -> list[int]:
    return [int.from_bytes(value[at : at + 4], "little") for at in range(0, len(value), 4)]


def _product(value: bytes) -> int:
    """Three extents as one number; other attributes are of no interest."""
    if len(value) != 12:
        return 0
    x, y, z = _words(value)
    return x * y * z
