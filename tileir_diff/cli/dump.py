"""`tileir-diff dump`: a kernel's Tile IR from its front end."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING

import click

from tileir_diff.cli.guard import guarded
from tileir_diff.cli.output import PATH, emit, write_file
from tileir_diff.errors import InputError

if TYPE_CHECKING:
    from tileir_diff.dump.model import Dumped


@click.group()
def dump() -> None:
    """Compile a kernel with its own front end, and write what comes out."""


@dump.command("py")
@click.argument("kernel", metavar="MODULE:KERNEL")
@click.option(
    "--like", multiple=True, metavar="NAME=SPEC",
    help="An argument: x=f16[2048,4096]:16, x=f16[64,1000](1024,1):16, eps=f32, ROWS=64.",
)  # fmt: skip
@click.option("--arch", default="sm_100", show_default=True, metavar="ARCH")
@click.option(
    "--bytecode-version", metavar="VERSION", help="By default the newest that the front end writes."
)
@click.option("-o", "--output", metavar="FOLDER", help="Write KERNEL.mlir, .tirbc and .json there.")
def dump_py(
    kernel: str, like: tuple[str, ...], arch: str, bytecode_version: str | None, output: str | None
) -> None:
    """Compile a kernel of cuTile Python for arguments like these; no GPU and no data are needed.

    MODULE is an importable module or a file. Without -o the text goes to standard output.

    Exit status: 0 written, 2 it cannot be compiled.
    """
    from tileir_diff.dump.like import parse_like
    from tileir_diff.dump.python import dump_python

    with guarded(kernel):
        made = dump_python(kernel, [parse_like(each) for each in like], arch, bytecode_version)
        _write(made, output, kernel.rpartition(":")[2])


@dump.command("cpp")
@click.argument("source", metavar="FILE.cu", type=PATH)
@click.option("--arch", default="sm_100", show_default=True, metavar="ARCH")
@click.option("-o", "--output", metavar="FOLDER", help="Write FILE.mlir, .tilebc and .json there.")
def dump_cpp(source: str, arch: str, output: str | None) -> None:
    """Compile the tile kernels of a C++ file with nvcc; no GPU is needed.

    Without -o the text goes to standard output.

    Exit status: 0 written, 2 it cannot be compiled.
    """
    from tileir_diff.dump import cpp

    with guarded(source):
        _write(cpp.dump_cpp(source, arch), output, Path(source).stem, ".tilebc")


def _write(made: Dumped, output: str | None, name: str, suffix: str = ".tirbc") -> None:
    """The text to standard output, or all three files. Raises InputError where they cannot be written."""
    if output is None:
        emit(made.text, None)
        return
    try:
        os.makedirs(output, exist_ok=True)
    except OSError as error:
        raise InputError(f"cannot write: {error.strerror}", output) from None
    place = os.path.join(output, name)
    write_file(made.bytecode, f"{place}{suffix}")
    write_file(made.text.encode(), f"{place}.mlir")
    write_file((json.dumps(made.specialised, indent=1) + "\n").encode(), f"{place}.json")
    emit(f"{place}.mlir, {place}{suffix}, {place}.json\n", None)
