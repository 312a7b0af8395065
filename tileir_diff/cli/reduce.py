"""`tileir-diff reduce`: the smallest kernel on which something still fails."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any

import click

from tileir_diff.cli.guard import guarded
from tileir_diff.cli.output import PATH, Seconds, emit
from tileir_diff.errors import InputError

if TYPE_CHECKING:
    from tileir_diff.reduce.failures import Assembles, Command
    from tileir_diff.reduce.report import Failure
    from tileir_diff.reduce.search import Candidate, Reduction


@click.command(short_help="Shrink a kernel while a failure stays.")
@click.argument("file", type=PATH)
@click.option(
    "--while", "command", metavar="COMMAND",
    help="Shrink while this exits with 0; {} is the file with the kernel, {bytecode} one of bytecode.",
)  # fmt: skip
@click.option(
    "--crash", metavar="ARCH", help="Shrink while tileiras fails for this architecture as at first."
)
@click.option("--opt-level", type=click.IntRange(0, 3), default=3, show_default=True, help="For --crash.")
@click.option("-o", "--output", type=PATH, metavar="FILE", help="The kernel; default FILE.reduced.mlir.")
@click.option("--report", type=PATH, metavar="FILE", help="The report; default FILE.reduced.md.")
@click.option("--seconds", type=Seconds(), help="Stop after so long, with what there is.")
@click.option("--timeout", type=Seconds(), default=60, show_default=True, help="Seconds a command.")
@click.pass_context
def reduce(ctx: click.Context, file: str, **options: Any) -> None:
    """Shrink a kernel while a failure stays, and write a report of it.

    Each step is a valid module.

    Exit status: 0 reduced, 1 the failure is not there to begin with, 2 the file cannot be read or verified.
    """
    if (options["command"] is None) == (options["crash"] is None):
        raise click.UsageError("give one of --while COMMAND and --crash ARCH", ctx)
    with guarded(file):
        status = _reduce(file, **options)
    ctx.exit(status)


def _reduce(
    file: str,
    command: str | None,
    crash: str | None,
    opt_level: int,
    output: str | None,
    report: str | None,
    seconds: float | None,
    timeout: float,
) -> int:
    from tileir_diff.api import load
    from tileir_diff.reduce.failures import Command
    from tileir_diff.reduce.report import render
    from tileir_diff.reduce.search import candidate, reduce

    module, dump = load(file, "source")
    start = candidate(module)
    if start is None:
        raise InputError("what is printed of this module does not read back", dump.path)
    test = Command(command, timeout) if command is not None else _assembler(crash or "", opt_level)
    if not test(start):
        what = "the command does not exit with 0" if command else f"tileiras assembles it for {crash}"
        sys.stderr.write(f"{dump.path}: nothing to reduce: {what}\n")
        return 1
    bar = _Progress(start)
    made = reduce(start, test, seconds=seconds, progress=bar)
    bar.close()
    stem = "reduced" if file == "-" else file
    emit(made.smallest.text, output or f"{stem}.reduced.mlir")
    emit(render(made, _failure(test), os.path.basename(dump.path)), report or f"{stem}.reduced.md")
    state = "nothing more can be taken away" if made.finished else "stopped before it was done"
    sys.stdout.write(
        f"{made.before} ops to {made.smallest.size}, {made.tried} kernels tried; {state}\n"
        f"{output or f'{stem}.reduced.mlir'}\n{report or f'{stem}.reduced.md'}\n"
    )
    return 0


def _assembler(arch: str, level: int) -> Assembles:
    from tileir_diff.lowering.assembler import find_assembler
    from tileir_diff.lowering.cache import Cache
    from tileir_diff.reduce.failures import Assembles

    return Assembles(find_assembler(Cache(None)), arch, level)


def _failure(test: Command | Assembles) -> Failure:
    from tileir_diff import __version__
    from tileir_diff.reduce.failures import Command
    from tileir_diff.reduce.report import Failure

    versions = {"tileir-diff": __version__}
    if isinstance(test, Command):
        return Failure("A failing kernel", test.command, test.said, versions)
    versions = {"tileiras": test.assembler.version, **versions}
    expected = test.expected
    crashed = expected is not None and expected.status < 0
    how = f"crashes (signal {-expected.status})" if expected and crashed else "refuses a kernel that verifies"
    return Failure(f"tileiras {how}, {test.arch}", test.command, test.said, versions)


class _Progress:
    """One line on standard error, where it is a terminal."""

    def __init__(self, start: Candidate) -> None:
        self._before = start.size
        self._shown = False

    def __call__(self, state: Reduction) -> None:
        if not sys.stderr.isatty():
            return
        self._shown = True
        sys.stderr.write(f"\r{self._before} ops to {state.smallest.size}, {state.tried} kernels tried ")
        sys.stderr.flush()

    def close(self) -> None:
        if self._shown:
            sys.stderr.write("\n")
