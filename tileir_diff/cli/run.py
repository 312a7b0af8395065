"""`tileir-diff run`: one kernel, on the CPU."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import click

from tileir_diff.cli.guard import guarded
from tileir_diff.cli.output import PATH, Seconds, emit
from tileir_diff.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable

    from tileir_diff.dialect.ir import TileOp
    from tileir_diff.equivalence.model import Run
    from tileir_diff.match.launch import Launch

SHOW_AFTER = 2.0
"""Seconds after which a run shows its progress."""


@click.command(short_help="Run a kernel on the CPU. Needs torch.")
@click.argument("dump", type=PATH)
@click.option("--grid", metavar="X[,Y[,Z]]", help="Number of blocks.")
@click.option(
    "--arg", "arguments", multiple=True, metavar="NAME=VALUE",
    help="A parameter's value: FILE.npy, null, a number; zeros:4x2, or ones, random, empty (never written).",
)  # fmt: skip
@click.option("--launch", metavar="FILE",
    help="Launch file: grid and scalars of the side that is a launch of the kernel.",
)  # fmt: skip
@click.option("-o", "--output", metavar="FOLDER", help="Write each array that changed there, as NAME.npy.")
@click.option("--entry", metavar="NAME", help="The kernel, where the dump holds several.")
@click.option("--trace", metavar="LINE[,LINE...]", help="Show the values of these lines of the dump.")
@click.option("--trace-block", metavar="X[,Y[,Z]]", default="0", show_default=True, help="In this block.")
@click.option("--memory", type=click.IntRange(1), default=64, show_default=True, help="MiB for values.")
@click.option("--seconds", type=Seconds(), help="Stop after so long.")
@click.option("--format", "format_", type=click.Choice(("text", "json")), default="text", show_default=True)
@click.pass_context
def run(ctx: click.Context, dump: str, format_: str, **options: Any) -> None:
    """Run a kernel on the CPU, and check what compilers only trust. Needs torch.

    Exit status: 0 nothing went wrong, 1 something did (promises, bounds, races, undetermined values, ...),
    2 an input cannot be read.
    """
    with guarded(dump):
        result, written, side = _run(dump, **options)
        said = f"launch: the {side} side of {options['launch']}\n" if side and format_ == "text" else ""
        emit(said + _report(result, dump, written, format_), None)
    ctx.exit(1 if result.errors or not result.complete else 0)


def _run(
    dump: str,
    grid: str | None,
    arguments: tuple[str, ...],
    launch: str | None,
    output: str | None,
    entry: str | None,
    trace: str | None,
    trace_block: str,
    memory: int,
    seconds: float | None,
) -> tuple[Run, list[str], str]:
    from tileir_diff.api import load
    from tileir_diff.dialect.types import Tile
    from tileir_diff.equivalence.parameters import assignments, choose_entry, parameter_names
    from tileir_diff.graph.values import ops_within

    lines = _sizes(trace, "--trace") if trace is not None else []
    block = _sizes(trace_block, "--trace-block")
    module, loaded = load(dump, "source")
    chosen = choose_entry(module, entry, loaded.path)
    results = {op.span.line: op for op in ops_within(chosen) if op.results}
    shown = {line for line, op in results.items() if any(isinstance(each.type, Tile) for each in op.results)}
    for line in lines:
        if line not in results:
            raise InputError(f"no op with a result begins in line {line} of the kernel", "--trace")
        if line not in shown:
            kind = results[line].results[0].type
            raise InputError(f"line {line} gives a {kind}, which has no elements to show", "--trace")
    known_grid, scalars, side = _launch(launch, chosen)
    sizes = _sizes(grid, "--grid") if grid is not None else known_grid
    # Everything that needs no torch is checked first: importing it takes seconds.
    if sizes is None:
        raise InputError("how many blocks? Give --grid X,Y,Z", "--grid")
    assignments(chosen, arguments, scalars)
    from tileir_diff.equivalence.files import read_arguments, write_array
    from tileir_diff.equivalence.interpret import run_entry
    from tileir_diff.equivalence.model import Limits

    values = read_arguments(chosen, arguments, scalars)
    progress = _Progress() if sys.stderr.isatty() else None
    result = run_entry(
        module,
        chosen,
        loaded.path,
        values,
        grid=sizes,
        trace=lines,
        trace_block=block,
        limits=Limits(memory=memory << 20, seconds=seconds),
        progress=progress,
    )
    if progress is not None:
        progress.close()
    written: list[str] = []
    names = parameter_names(chosen)
    for name in result.changed if output is not None else ():
        written.append(write_array(output or "", name, values[names.index(name)]))
    return result, written, side


def _report(result: Run, path: str, written: list[str], format_: str) -> str:
    from tileir_diff.equivalence.text import run_data, run_text

    if format_ == "text":
        return run_text(result, path, written)
    import json

    return json.dumps(run_data(result, path, written), indent=2, ensure_ascii=False) + "\n"


def _sizes(text: str, option: str) -> list[int]:
    try:
        return [int(each) for each in text.split(",")]
    except ValueError:
        raise InputError(f"'{text}' is no list of numbers such as 4,2", option) from None


def _launch(path: str | None, entry: TileOp) -> tuple[list[int] | None, list[Any | None] | None, str]:
    """The grid and the scalars of a launch file, and the side of it that they are of. Raises InputError."""
    if path is None:
        return None, None, ""
    from tileir_diff.match.launch import parse_launch

    facts = parse_launch([path])
    if facts is None:
        return None, None, ""
    name = _side_of(facts, entry, path)
    side = facts.reference if name == "reference" else facts.generated
    grid = [size for size in side.grid if size is not None]
    if side.args is None:
        return grid or None, None, name
    scalars = [None if each is None or each.is_pointer else each.value for each in side.args]
    return grid or None, scalars, name


def _side_of(facts: Launch, entry: TileOp, path: str) -> str:
    """The side that is a launch of the kernel: by its entry, else by the number of its values."""
    sides = {"reference": facts.reference, "generated": facts.generated}
    for name, side in sides.items():
        if side.entry is not None and side.entry.removeprefix("@") == entry.symbol.removeprefix("@"):
            fitting = [name]
            break
    else:
        count = len(entry.regions[0].block.args)
        fitting = [name for name, side in sides.items() if side.args is not None and len(side.args) == count]
        fitting += [name for name, side in sides.items() if side.args is None and name not in fitting]
    args = sides[fitting[0]].args if fitting else None
    count = len(entry.regions[0].block.args)
    if fitting and (args is None or len(args) == count):
        return fitting[0]
    counts = " and ".join(
        f"{len(side.args)} values for the {name} side"
        for name, side in sides.items()
        if side.args is not None
    )
    raise InputError(f"it has {counts}, the kernel {count} parameters", path)


class _Progress:
    """A bar on standard error, once a run takes long."""

    def __init__(self) -> None:
        import time

        self._clock: Callable[[], float] = time.monotonic
        self._start = self._clock()
        self._shown = False

    def __call__(self, done: int, total: int) -> None:
        if self._clock() - self._start < SHOW_AFTER and not self._shown:
            return
        self._shown = True
        width = 40 * done // total
        sys.stderr.write(f"\r[{'#' * width}{'.' * (40 - width)}] {done} of {total} blocks")
        sys.stderr.flush()

    def close(self) -> None:
        if self._shown:
            sys.stderr.write("\n")
