"""`tileir-diff port-check`: a port compared with its reference, from the sources of both."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import click

from tileir_diff.cli.diff import comparison_options, options_of
from tileir_diff.cli.guard import guarded, internal
from tileir_diff.cli.output import PATH, emit
from tileir_diff.errors import InputError

if TYPE_CHECKING:
    from tileir_diff.port.check import Pair
    from tileir_diff.port.table import Configuration
    from tileir_diff.report.result import Result


@click.command("port-check", short_help="Compare a kernel with its port, from their sources.")
@click.argument("reference", metavar="TABLE|MODULE:KERNEL", type=PATH)
@click.argument("generated", metavar="[CRATE[::ENTRY]]", type=PATH, required=False)
@click.option(
    "--like", multiple=True, metavar="NAME=SPEC",
    help="Without a table: an argument of either side that has a parameter of that name.",
)  # fmt: skip
@click.option("--python-like", multiple=True, metavar="NAME=SPEC", help="An argument of Python alone.")
@click.option(
    "--rust-like", multiple=True, metavar="NAME=SPEC", help="One of Rust alone: out=@y, n=x.shape0."
)
@click.option("--arch", metavar="ARCH", help="Without a table: of the dumps; sm_100.")
@click.option(
    "--grid", metavar="X[,Y[,Z]]",
    help="Without a table: the blocks of a launch; what follows from its arguments is then known.",
)  # fmt: skip
@click.option("--only", multiple=True, metavar="NAME", help="Only this configuration of the table.")
@click.option("--dumps", metavar="FOLDER", help="Where the dumps go; a folder of the cache without it.")
@click.option("--format", "format_", type=click.Choice(("text", "json")), default="text", show_default=True)
@click.option("-o", "--output", type=PATH, metavar="FILE", help="Write the lines to a file.")
@comparison_options
@click.pass_context
def port_check(ctx: click.Context, reference: str, generated: str | None, **given: Any) -> None:
    """Dump a kernel of cuTile Python and its port to cuTile Rust, and compare them; no GPU is needed.

    TABLE is a TOML file with configurations; in place of one, a kernel of Python and a crate with its
    port are given. The crate is built once.

    Prints one line a configuration and how many have which verdict, or one whole report a line as JSON.
    The exit status is the worst of all configurations.
    """
    from tileir_diff.port.check import dump_pairs, user_folder
    from tileir_diff.report.json_format import render_json
    from tileir_diff.report.text_format import render_line, render_total
    from tileir_diff.verdict import EXIT_STATUS

    names = ("like", "python_like", "rust_like", "arch", "grid", "only", "dumps")
    own = {name: given.pop(name) for name in names}
    format_, output = given.pop("format_"), given.pop("output")
    results: list[Result] = []
    lines: list[str] = []
    with guarded(reference):
        chosen = _configurations(reference, generated, own)
        options_of(given)  # what is wrong with the call is told before anything is built
        for pair in dump_pairs(chosen, own["dumps"] or user_folder(reference)):
            result = _compared(pair, given)
            results.append(result)
            line = render_json(result, indent=None) if format_ == "json" else _line(pair, render_line(result))
            if output is None:
                emit(line, None)
            lines.append(line)
        if format_ == "text":
            lines.append(render_total([each.verdict for each in results]))
            if output is None:
                emit(lines[-1], None)
        if output is not None:
            emit("".join(lines), output)
    ctx.exit(max(EXIT_STATUS[each.verdict] for each in results))


def _configurations(reference: str, generated: str | None, own: dict[str, Any]) -> list[Configuration]:
    """The rows of the table that are asked for, or the one that the call describes."""
    from tileir_diff.port.table import Configuration, read_table

    alone = ("like", "python_like", "rust_like", "arch", "grid")
    if generated is not None:
        if own["only"]:
            raise InputError("there is no table to choose from", "--only")
        crate, _, entry = generated.partition("::")
        call = reference if "(" in reference else ""
        return [
            Configuration(
                reference, own["arch"] or "sm_100", own["like"], "" if call else reference, call,
                python_like=own["python_like"], crate=crate, entry=entry, rust_like=own["rust_like"],
                grid=None if own["grid"] is None else _grid(own["grid"]),
            )
        ]  # fmt: skip
    for name in alone:
        if own[name]:
            raise InputError("the table says it", f"--{name.replace('_', '-')}")
    if ":" in reference and not os.path.exists(reference):
        call = "port-check MODULE:KERNEL CRATE[::ENTRY]"
        raise InputError(
            f"a kernel of Python is compared with a crate, which is not given: {call}", reference
        )
    rows = read_table(reference)
    for name in own["only"]:
        if name not in [each.name for each in rows]:
            listed = ", ".join(each.name for each in rows)
            raise InputError(f"no configuration is called '{name}'; there are {listed}", reference)
    return [each for each in rows if not own["only"] or each.name in own["only"]]


def _grid(text: str) -> tuple[int, int, int]:
    """Raises InputError for what is not up to three positive numbers."""
    parts = text.split(",")
    if not 1 <= len(parts) <= 3 or not all(part.isdecimal() and int(part) for part in parts):
        raise InputError(f"'{text}' is not up to three positive numbers: write X, X,Y or X,Y,Z", "--grid")
    x, y, z = [*map(int, parts), 1, 1][:3]
    return x, y, z


def _compared(pair: Pair, given: dict[str, Any]) -> Result:
    """The result; BLOCKED where there is no dump."""
    from tileir_diff.api import run, versions
    from tileir_diff.report.build import Dump, blocked_result

    error = pair.error
    if error is None:
        try:
            own = dict(given)
            if pair.launch is not None:
                own["launch"] = (pair.launch, *given["launch"])
            options = options_of(own)
            waivers = (*options.policy.waivers, *pair.configuration.waivers)
            policy = options.policy._replace(waivers=waivers)
            return run(pair.reference, pair.generated, options._replace(policy=policy))
        except InputError as found:
            error = found
        except Exception as found:
            error = internal(found, pair.generated)
    at = f"{error.path}:{error.line}: " if error.line else f"{error.path}: " if error.path else ""
    told = InputError(f"{at}{error.message}", error.path, error.line, error.column, rule=error.rule)
    return blocked_result(Dump(pair.reference), Dump(pair.generated), told, versions())


def _line(pair: Pair, line: str) -> str:
    """The line of a comparison with the configuration's name in place of the files."""
    return line.replace(f"{pair.reference} {pair.generated}", pair.configuration.name, 1)
