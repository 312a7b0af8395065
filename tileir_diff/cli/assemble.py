"""`tileir-diff assemble`: a dump as bytecode."""

from __future__ import annotations

import sys

import click

from tileir_diff.cli.output import complain, emit_bytes
from tileir_diff.errors import InputError


@click.command(short_help="Write a dump as bytecode.")
@click.argument("file", type=click.Path(allow_dash=True))
@click.option("-o", "--output", required=True, metavar="FILE", help="The bytecode; `-` is standard output.")
@click.option(
    "--bytecode-version",
    metavar="VERSION",
    help="13.1 to 13.4; by default that of FILE if it is bytecode, else the oldest that can hold it.",
)
@click.option("--verify/--no-verify", default=True, help="Refuse what breaks a constraint, or write it.")
@click.pass_context
def assemble(ctx: click.Context, file: str, output: str, bytecode_version: str | None, verify: bool) -> None:
    """Write a dump as bytecode, which `tileirdisasm` and `tileiras` read.

    Exit status: 0 written, 2 it cannot be read, breaks a constraint, or needs a newer version.
    """
    from tileir_diff.bytecode import assemble_source

    try:
        written = assemble_source(file, bytecode_version, verify=verify)
        emit_bytes(written.data, output)
    except InputError as error:
        complain(error)
        ctx.exit(2)
    for note in written.notes:
        sys.stderr.write(f"{file}: note: {note}\n")
