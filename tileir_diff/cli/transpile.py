"""`tileir-diff transpile`: a dump as cuTile Rust."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import click

from tileir_diff.cli.guard import guarded
from tileir_diff.cli.output import PATH, emit, write_file
from tileir_diff.errors import InputError

if TYPE_CHECKING:
    from tileir_diff.dialect.ir import TileOp
    from tileir_diff.report.result import Result


@click.command("transpile", short_help="Write a dump as a kernel of cuTile Rust.")
@click.argument("file", type=PATH)
@click.option(
    "-o", "--output", type=PATH, metavar="FILE.rs", help="Write the kernel there, and FILE.toml beside it."
)
@click.option("--entry", metavar="NAME", help="The entry, where FILE holds several.")
@click.option("--name", metavar="NAME", help="What module and function are called; by default as the entry.")
@click.option("--arch", default="sm_100", show_default=True, metavar="ARCH", help="Of the dump that checks.")
@click.option("--check", is_flag=True, help="Build the kernel, dump it and compare it with FILE.")
@click.pass_context
def transpile(
    ctx: click.Context, file: str, output: str | None, entry: str | None, name: str | None, arch: str,
    check: bool,
) -> None:  # fmt: skip
    """Write a dump as a kernel of cuTile Rust, op for op.

    FILE.toml is the table with which `port-check` compares both again. Without -o the kernel goes to
    standard output. What is not covered is refused, and nothing is written.

    Exit status: 0 written, 2 it cannot be translated; with --check that of the comparison, or 2 where
    there is none, and the kernel is written.
    """
    from tileir_diff.transpile import rust_name
    from tileir_diff.transpile import transpile as translated
    from tileir_diff.transpile.table import table_text

    if check and (output is None or file == "-"):
        raise click.UsageError("--check compares files: it needs FILE and -o FILE.rs", ctx)
    if output is not None and not output.endswith(".rs"):
        raise click.UsageError("-o FILE.rs: the name of a Rust file ends so", ctx)
    if name is not None and (not name.isidentifier() or rust_name(name) != name):
        raise click.UsageError(f"--name {name}: that is no name of a Rust function", ctx)
    with guarded(file):
        made = translated(_entry(file, entry), file, name)
        if output is None:
            emit(made.text, None)
            return
        table = f"{os.path.splitext(output)[0]}.toml"
        write_file(made.text.encode(), output)
        write_file(table_text(made, file, output, table, arch).encode(), table)
        emit(f"{output}, {table}\n", None)
        if check:
            ctx.exit(_check(table, entry))


def _entry(file: str, name: str | None) -> TileOp:
    """The entry that is meant. Raises InputError with those there are."""
    from tileir_diff.api import load

    module, dump = load(file, "source")
    chosen = [
        each for each in module.entries if name is None or each.symbol == name.removeprefix("@")
    ]  # fmt: skip
    if len(chosen) == 1:
        return chosen[0]
    known = ", ".join(f"@{each}" for each in dump.entries)
    wanted = f"no entry '@{name}'" if name is not None else "several kernels in it, --entry names one"
    raise InputError(f"{wanted}; there are {known}", dump.path)


def _check(table: str, entry: str | None) -> int:
    """Prints the comparison of a table's only configuration; its exit status."""
    from tileir_diff.port.check import dump_pairs, user_folder
    from tileir_diff.port.table import read_table
    from tileir_diff.report.text_format import render_text
    from tileir_diff.verdict import EXIT_STATUS

    [pair] = dump_pairs(read_table(table), user_folder(table))
    if pair.error is not None:
        raise pair.error
    result = _compared(pair.reference, pair.generated, entry)
    emit(render_text(result, color=False, equivalences=False), None)
    return EXIT_STATUS[result.verdict]


def _compared(reference: str, generated: str, entry: str | None) -> Result:
    """The comparison with the entry that was translated alone."""
    from tileir_diff.api import Options, load, run

    if entry is None:
        return run(reference, generated, Options())
    module, _ = load(reference, "reference")
    for each in module.entries:
        if each.symbol != entry.removeprefix("@"):
            each.detach()
    return run(module, generated, Options())
