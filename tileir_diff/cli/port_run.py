"""`tileir-diff port`: the pipeline that ports a kernel."""

from __future__ import annotations

import re
import signal
import sys
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from tileir_diff.cli.guard import guarded
from tileir_diff.cli.output import PATH, Seconds, emit
from tileir_diff.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Generator

    from tileir_diff.pipeline.engine import Port
    from tileir_diff.pipeline.machine import Limits
    from tileir_diff.pipeline.state import Run
    from tileir_diff.pipeline.workers.model import Worker

WORKERS = "template, command:FILE.toml or replay:FILE.json"
FIRST = ("references", "waivers", "baselines", "attempts", "spawns", "tokens", "seconds", "run_seconds")
"""Options that only the begin of a run takes."""


@click.command(short_help="Port a kernel: workers propose, gates decide.")
@click.argument("words", metavar="OPERATOR | replay LOG", nargs=-1, required=True)
@click.option(
    "--reference", "references", multiple=True, metavar="SPEC",
    help="[NAME=]DUMP.mlir,LAUNCH.json, or a table of port-check: TABLE.toml[:CONFIGURATION].",
)  # fmt: skip
@click.option("--workdir", type=PATH, metavar="FOLDER", help="Of the run; default port/OPERATOR.")
@click.option("--worker", default="template", show_default=True, metavar="WORKER", help=f"{WORKERS}.")
@click.option("--resume", is_flag=True, help="Go on with a run, also after a crash.")
@click.option("--status", is_flag=True, help="Only show where the run is.")
@click.option("--results", type=PATH, metavar="FILE", help="Results of a GPU for this very kernel, as JSON.")
@click.option("--waivers", type=PATH, metavar="FILE", help="A settings file, of which the waivers count.")
@click.option(
    "--baselines", type=PATH, metavar="FILE", help="Times of the reference's back ends on a GPU, as JSON."
)
@click.option("--attempts", type=click.IntRange(1), default=4, show_default=True, help="Workers a stage.")
@click.option("--spawns", type=click.IntRange(1), default=16, show_default=True, help="Workers in all.")
@click.option(
    "--tokens", type=click.IntRange(1), default=2_000_000, show_default=True, help="That they may use."
)
@click.option(
    "--seconds", type=Seconds(min_open=True), default=21600, show_default=True, help="Of workers and gates."
)
@click.option(
    "--run-seconds",
    type=Seconds(min_open=True),
    default=60,
    show_default=True,
    help="Interpreter, a variant.",
)
@click.option("--layout", type=click.Choice(("tilegym",)), help="Also lay the result out for other tools.")
@click.pass_context
def port(ctx: click.Context, words: tuple[str, ...], **given: Any) -> None:
    """Port a kernel to cuTile Rust: workers write, gates decide, and a log keeps all of it.

    `port replay LOG` decides everything again from the log, without a worker.

    Exit status: 0 COMPLETE (right, and as fast by a measurement) or all verdicts the same, 1 another end,
    2 an input cannot be read.
    """
    with guarded(words[-1]):
        if words[0] == "replay" and len(words) == 2:
            status = _replay(Path(words[1]))
        elif len(words) == 1 and words[0] != "replay":
            status = _port(words[0], given, _first(ctx))
        else:
            raise click.UsageError("give one operator, or: replay LOG", ctx)
    ctx.exit(status)


def _first(ctx: click.Context) -> list[str]:
    """Those of FIRST that were given, as they are written."""
    written = click.core.ParameterSource.COMMANDLINE
    return [
        each.opts[0]
        for each in ctx.command.params
        if each.name in FIRST and ctx.get_parameter_source(each.name) is written
    ]


def _port(operator: str, given: dict[str, Any], first: list[str]) -> int:
    from tileir_diff.pipeline.agents import cards
    from tileir_diff.pipeline.artifacts import NAME_OF
    from tileir_diff.pipeline.engine import Port
    from tileir_diff.pipeline.gates.table import gates
    from tileir_diff.pipeline.log import NAME, Begun, read_log
    from tileir_diff.pipeline.machine import COMPLETE
    from tileir_diff.pipeline.show import status_text
    from tileir_diff.pipeline.state import replayed

    if not re.fullmatch(NAME_OF, operator, re.ASCII):
        raise InputError("an operator is a name: a letter or _, then letters, digits, _, - or .", operator)
    folder = Path(given["workdir"] or Path("port", operator))
    log = folder / NAME
    entries = read_log(log) if log.is_file() else []
    there = bool(entries)
    if not there and (given["status"] or (given["resume"] and not given["references"])):
        raise InputError("no port has begun here: `--workdir` says where one has", str(folder))
    if there and isinstance(entries[0], Begun) and entries[0].operator != operator:
        raise InputError(f"this is a port of {entries[0].operator}", str(folder))
    if given["status"]:
        emit(status_text(entries, folder), None)
        return 0 if replayed(entries).end == COMPLETE else 1
    if there and not given["resume"]:
        raise InputError("there is a run: `--resume` goes on with it", str(folder))
    worker = _worker(given["worker"])
    if there and first:
        raise InputError("only for the begin of a run: this one keeps what it began with", ", ".join(first))
    results = _results(given["results"])
    files = results if there else results | _files(given)  # what is wrong with them is told before it begins
    running = Port(folder, worker, gates(), cards())
    try:
        if not there:
            running.begin(operator, *_decided(operator, given, files), files)
        elif files:
            _look(running, given["results"], files)
            running.supply(files)
        with _in_order():
            _go(running)
        run = running.run
        emit(status_text(running.log.entries, folder), None)
        if given["layout"] == "tilegym":
            from tileir_diff.pipeline.tilegym import lay_out

            lay_out(folder)
    finally:
        running.log.close()
    return 0 if run.end == COMPLETE else 1


def _results(path: str | None) -> dict[str, bytes]:
    """The user's results of a GPU. Raises InputError for a file that holds none."""
    if path is None:
        return {}
    from tileir_diff.ingest.text import read_text
    from tileir_diff.pipeline.gates.common import RESULTS
    from tileir_diff.pipeline.gates.performance import read_results

    read_results(read_text(path), path)
    return {RESULTS: _bytes(path)}


def _look(running: Port, path: str, files: dict[str, bytes]) -> None:
    """Raises InputError for results that are not of the kernel that this run has come to."""
    import tempfile

    from tileir_diff.pipeline.engine import materialise
    from tileir_diff.pipeline.gates.common import Given
    from tileir_diff.pipeline.gates.performance import measured
    from tileir_diff.pipeline.stages import STAGES

    run, store = running.run, running.log.store
    if not run.state.passed.issuperset(STAGES["performance"].needs):
        return  # there is no kernel yet that they could be of
    with tempfile.TemporaryDirectory(prefix="tileir-port-") as place:
        materialise(Path(place), run.files, store)
        for name, data in files.items():
            Path(place, name).parent.mkdir(exist_ok=True)
            Path(place, name).write_bytes(data)
        given = Given(Path(place), {})
        found = measured(given, given.analysis())
    if not found.results:
        raise InputError("; ".join(found.notes), path)


def _files(given: dict[str, Any]) -> dict[str, bytes]:
    """What a run begins with besides results. Raises InputError for what cannot be read or dumped."""
    from tileir_diff.pipeline.artifacts import Baselines
    from tileir_diff.pipeline.gates.common import BASELINES, WAIVERS
    from tileir_diff.pipeline.references import prepare

    files: dict[str, bytes] = {}
    if given["waivers"]:
        from tileir_diff.verdict.config import read_config

        read_config(given["waivers"])  # says what is wrong with it
        files[WAIVERS] = _bytes(given["waivers"])
    if given["baselines"]:
        from tileir_diff.ingest.text import read_text

        Baselines.read(read_text(given["baselines"]), given["baselines"])  # says what is wrong with it
        files[BASELINES] = _bytes(given["baselines"])
    return files | prepare(given["references"])


def _decided(operator: str, given: dict[str, Any], files: dict[str, bytes]) -> tuple[Limits, dict[str, str]]:
    """Limits and settings of a run."""
    from tileir_diff.pipeline.gates.common import WAIVERS
    from tileir_diff.pipeline.machine import Limits

    settings = {"operator": operator, "run_seconds": f"{given['run_seconds']:g}"}
    if WAIVERS in files:
        from datetime import date

        settings["today"] = date.today().isoformat()
    return Limits(given["attempts"], given["spawns"], given["tokens"], given["seconds"]), settings


def _bytes(path: str) -> bytes:
    try:
        return Path(path).read_bytes()
    except OSError as error:
        raise InputError(f"cannot read: {error.strerror}", path) from None


def _worker(spec: str) -> Worker:
    kind, _, path = spec.partition(":")
    if spec == "template":
        from tileir_diff.pipeline.workers.template import Template

        return Template()
    if kind == "command" and path:
        from tileir_diff.pipeline.workers.command import read_command

        return read_command(path)
    if kind == "replay" and path:
        from tileir_diff.pipeline.workers.recorded import read_replay

        return read_replay(path)
    raise InputError(f"'{spec}' is no worker: {WORKERS}", "--worker")


@contextmanager
def _in_order() -> Generator[None]:
    """A signal that asks to end ends with what was begun: workers are stopped, their folders removed."""

    def end(number: int, frame: object) -> None:
        del frame
        raise SystemExit(128 + number)

    before = {each: signal.signal(each, end) for each in (signal.SIGTERM, signal.SIGHUP)}
    try:
        yield
    finally:
        for each, handler in before.items():
            signal.signal(each, handler)


def _go(running: Port) -> None:
    """Works, and shows it: a live table where standard error is a terminal, else a line a step."""
    if sys.stderr.isatty():
        try:
            from tileir_diff.pipeline.live import go
        except ImportError:  # rich is not installed
            pass
        else:
            go(running)
            return
    running.go(_tell)


def _tell(run: Run, what: str) -> None:
    """A step, as a line."""
    del run
    sys.stderr.write(f"{what}\n")


def _replay(path: Path) -> int:
    from tileir_diff.pipeline.engine import replay
    from tileir_diff.pipeline.gates.table import gates
    from tileir_diff.pipeline.log import NAME, OBJECTS, Store, read_log
    from tileir_diff.pipeline.state import replayed

    log = path / NAME if path.is_dir() else path
    entries = read_log(log)
    if not entries:
        raise InputError("the log is empty", str(log))
    told = replay(log.parent, gates(), entries, Store(log.parent / OBJECTS))
    for entry, wrong in told:
        emit(f"{entry.attempt:>3}  {entry.stage:<12}  {entry.outcome:<11}  {wrong or 'the same'}\n", None)
    differ = sum(bool(wrong) for _, wrong in told)
    end = replayed(entries).end
    emit(f"{len(told)} verdicts, {differ} of them differ; {end or 'the run has not ended'}\n", None)
    return 1 if differ else 0
