"""`tileir-diff check` and `tileir-diff show`: one dump alone."""

from __future__ import annotations

import click

COLOR = click.Choice(("auto", "always", "never"))


@click.command()
@click.argument("files", nargs=-1, required=True)
@click.option("--format", "format_", type=click.Choice(("text", "json")), default="text", show_default=True)
@click.option("--lint", is_flag=True, help="Also report what is legal but has bitten people.")
@click.option("--color", type=COLOR, default="auto", show_default=True)
@click.pass_context
def check(ctx: click.Context, files: tuple[str, ...], format_: str, lint: bool, color: str) -> None:
    """Parse and verify dumps: per file `ok`, or its errors with position and broken constraint.

    Exit status: 0 all are valid, 2 one is not.
    """
    from tileir_diff.check import check_command

    ctx.exit(check_command(list(files), format_, color, lint=lint))


@click.command()
@click.argument("file")
@click.option("--entry", metavar="NAME", help="Only this entry.")
@click.option("--format", "format_", type=click.Choice(("text", "json")), default="text", show_default=True)
@click.option("--color", type=COLOR, default="auto", show_default=True)
@click.pass_context
def show(ctx: click.Context, file: str, entry: str | None, format_: str, color: str) -> None:
    """Show what a kernel does: arguments, grid, memory operations, reductions, loops, promises, lints."""
    from tileir_diff.show import show_command

    ctx.exit(show_command(file, entry=entry, format=format_, color=color))
