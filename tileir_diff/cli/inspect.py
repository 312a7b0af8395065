"""`tileir-diff check` and `tileir-diff show`: one dump alone."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from tileir_diff.cli.output import PATH, emit
from tileir_diff.errors import InputError

if TYPE_CHECKING:
    from tileir_diff.check import FileResult
    from tileir_diff.lints import LintFinding

COLOR = click.Choice(("auto", "always", "never"))


@click.command(short_help="Parse and verify dumps.")
@click.argument("files", nargs=-1, required=True, type=PATH)
@click.option("--format", "format_", type=click.Choice(("text", "json")), default="text", show_default=True)
@click.option("--lint", is_flag=True, help="Also report what is legal and has bitten people.")
@click.option("--color", type=COLOR, default="auto", show_default=True)
@click.pass_context
def check(ctx: click.Context, files: tuple[str, ...], format_: str, lint: bool, color: str) -> None:
    """Parse and verify dumps: per file `ok`, or its errors with position and broken constraint.

    Exit status: 0 all are valid, 1 one breaks a constraint, 2 one cannot be read. Lints do not change it.
    """
    from tileir_diff.check import check_command

    if files.count("-") > 1:
        raise click.UsageError("standard input can be read once: give - once", ctx)
    if not lint:
        ctx.exit(check_command(list(files), format_, _wants_color(color)))
    ctx.exit(_check_and_lint(files, format_, _wants_color(color)))


@click.command(short_help="Show what a kernel does.")
@click.argument("file", type=PATH)
@click.option("--entry", metavar="NAME", help="Only this entry.")
@click.option("--format", "format_", type=click.Choice(("text", "json")), default="text", show_default=True)
@click.option("--lint/--no-lint", default=True, help="With or without what is legal and has bitten people.")
@click.option("--color", type=COLOR, default="auto", show_default=True)
@click.option(
    "--graph", metavar="FILE", help="Write the typed op graph instead (networkx): .graphml or .json."
)
@click.pass_context
def show(
    ctx: click.Context, file: str, entry: str | None, format_: str, lint: bool, color: str, graph: str | None
) -> None:
    """Show what a kernel does: arguments, grid, memory operations, reductions, loops, promises, lints."""
    from tileir_diff.show import show_command

    if graph is not None and ctx.get_parameter_source("format_") is not ParameterSource.DEFAULT:
        raise click.UsageError("--graph FILE: the suffix of FILE is its format; --format has no effect", ctx)
    if graph is not None:
        ctx.exit(_write_graph(file, entry, graph))
    ctx.exit(show_command(file, entry=entry, format=format_, lint=lint, color=_wants_color(color)))


def _write_graph(file: str, entry: str | None, path: str) -> int:
    from tileir_diff.api import op_graph
    from tileir_diff.cli.output import complain
    from tileir_diff.graph.network import graph_text

    try:
        emit(graph_text(op_graph(file, entry=entry), path), path)
    except InputError as error:
        complain(error)
        return 2
    except ValueError as error:
        complain(InputError(str(error), "--graph"))
        return 2
    return 0


def _wants_color(choice: str) -> bool:
    from tileir_diff.report.color import wants_color

    return wants_color(choice, sys.stdout, os.environ)


def _check_and_lint(files: tuple[str, ...], format_: str, color: bool) -> int:
    """`check` with the lints of each valid file behind its result."""
    from tileir_diff.check import exit_status

    checked = [_lint_file(path) for path in files]
    results = [result for result, _ in checked]
    if format_ == "json":
        emit(_lint_json(checked), None)
    else:
        for result, found in checked:
            _write_text(result, found, color)
    return exit_status(results)


def _lint_file(path: str) -> tuple[FileResult, list[LintFinding]]:
    """Verifies a file and lints it; read once, since it may be standard input."""
    from tileir_diff.check import check_file, check_text
    from tileir_diff.dialect import parse_text
    from tileir_diff.ingest import read_source
    from tileir_diff.lints import lint_module

    try:
        source = read_source(path)
    except InputError:
        return check_file(path), []
    result = check_text(source.text, source.path)
    return result, lint_module(parse_text(source.text, source.path)) if result.ok else []


def _write_text(result: FileResult, found: list[LintFinding], color: bool) -> None:
    from tileir_diff.check import render_text
    from tileir_diff.report.color import Painter
    from tileir_diff.report.text_format import quoted_op

    paint = Painter(color)
    emit(render_text([result], color), None)
    for each in found:
        label = paint(each.severity, f"{each.severity}[{each.rule}]")
        head = f"{result.path}:{each.line}:{each.column}: {label}"
        lines = [f"{head}: {each.message}", *quoted_op(each.op, paint)]
        lines += [f"  fix: {each.fix}"] if each.fix else []
        emit("\n".join(lines) + "\n", None)


def _lint_json(checked: list[tuple[FileResult, list[LintFinding]]]) -> str:
    """The document of `check` with a list `lints` in each file."""
    import json

    from tileir_diff.check import render_json

    document: dict[str, Any] = json.loads(render_json([result for result, _ in checked]))
    for entry, (_, found) in zip(document["files"], checked, strict=True):
        entry["lints"] = [
            {
                "rule": each.rule,
                "severity": each.severity,
                "entry": each.entry,
                "line": each.line,
                "column": each.column,
                "message": each.message,
                "fix": each.fix,
            }
            for each in found
        ]
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"
