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


@click.group(short_help="Compile a kernel with its own front end.")
def dump() -> None:
    """Compile a kernel with its own front end, and write what comes out."""


@dump.command("py", short_help="Compile a kernel of cuTile Python.")
@click.argument("kernel", metavar="[MODULE:KERNEL]", required=False)
@click.option(
    "--call",
    metavar="CALL",
    help="In place of a kernel: a host function to run, MODULE:FUNCTION(f16[2048,4096]:16, 5); every launch "
    "is dumped.",
)
@click.option(
    "--processors",
    type=click.IntRange(1),
    metavar="NUMBER",
    help="With --call: multiprocessors of the GPU that the function is told of.",
)
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
    kernel: str | None, call: str | None, processors: int | None, like: tuple[str, ...], arch: str,
    bytecode_version: str | None, output: str | None,
) -> None:  # fmt: skip
    """Compile a kernel of cuTile Python for arguments like these; no GPU and no data are needed.

    MODULE is an importable module or a file. With --call, a host function is run on arrays that have no
    memory, and each kernel that it launches is written as KERNEL.N. Without -o the text goes to standard
    output.

    Exit status: 0 written, 2 it cannot be compiled.
    """
    from tileir_diff.dump.like import parse_likes
    from tileir_diff.dump.model import check_architecture
    from tileir_diff.dump.python import dump_call, dump_python

    with guarded(kernel or call or "dump py"):
        check_architecture(arch)
        if call is not None:
            if kernel is not None or like:
                raise InputError(
                    "a call says kernels and arguments: no MODULE:KERNEL and no --like", "--call"
                )
            for index, each in enumerate(dump_call(call, arch, bytecode_version, processors)):
                _write(each, output, f"{each.specialised['kernel'].rpartition(':')[2]}.{index}")
            return
        if kernel is None:
            raise InputError("give a MODULE:KERNEL, or a --call", "dump py")
        made = dump_python(kernel, parse_likes(like), arch, bytecode_version)
        _write(made, output, kernel.rpartition(":")[2])


@dump.command("rs", short_help="Compile the kernels of a cuTile Rust source.")
@click.argument("crate", metavar="CRATE", type=PATH)
@click.option("--entry", default="", metavar="MODULE::ENTRY", help="A kernel: its path, or how that ends.")
@click.option(
    "--like", multiple=True, metavar="NAME=SPEC",
    help="A parameter or a generic: x=f16[2048,4096]:16, n=1000, n=x.shape0, eps=f32, E=f16, BM=64.",
)  # fmt: skip
@click.option("--arch", default="sm_100", show_default=True, metavar="ARCH")
@click.option(
    "--option", multiple=True, metavar="NAME=NUMBER", help="What the launcher sets: occupancy=2, ..."
)
@click.option("--grid", metavar="X,Y,Z", help="The grid, where the launcher says that it is constant.")
@click.option("--bytecode-version", metavar="VERSION", help="By default the newest that the assembler reads.")
@click.option("-o", "--output", metavar="FOLDER", help="Write ENTRY.mlir, .tirbc and .json there.")
def dump_rs(
    crate: str, entry: str, like: tuple[str, ...], arch: str, option: tuple[str, ...], grid: str | None,
    bytecode_version: str | None, output: str | None,
) -> None:  # fmt: skip
    """Build a crate, and compile one of its kernels as a launch with such arguments would; no GPU is needed.

    CRATE is the folder of a crate with a library, or a file with kernels. Without -o the text goes to
    standard output.

    Exit status: 0 written, 2 it cannot be compiled.
    """
    from tileir_diff.dump.like import parse_likes
    from tileir_diff.dump.model import check_architecture
    from tileir_diff.dump.rust import Wanted, dump_rust, parse_grid, parse_options

    with guarded(crate):
        check_architecture(arch)
        wanted = Wanted(entry, parse_likes(like), arch, parse_options(option), parse_grid(grid))
        made = dump_rust(crate, wanted, bytecode_version)
        _write(made, output, made.specialised["kernel"].rpartition("::")[2])


@dump.command("cpp", short_help="Compile the tile kernels of a C++ file.")
@click.argument("source", metavar="FILE.cu", type=PATH)
@click.option("--arch", default="sm_100", show_default=True, metavar="ARCH")
@click.option("-o", "--output", metavar="FOLDER", help="Write FILE.mlir, .tilebc and .json there.")
def dump_cpp(source: str, arch: str, output: str | None) -> None:
    """Compile the tile kernels of a C++ file with nvcc; no GPU is needed.

    Without -o the text goes to standard output.

    Exit status: 0 written, 2 it cannot be compiled.
    """
    from tileir_diff.dump import cpp
    from tileir_diff.dump.model import check_architecture

    with guarded(source):
        check_architecture(arch)
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
