"""`tileir-diff REF GEN` and `tileir-diff batch LIST`."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from contextlib import suppress
from datetime import date
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar, cast

import click
from click.core import ParameterSource

from tileir_diff.cli import completion
from tileir_diff.cli.guard import internal, likely
from tileir_diff.cli.output import PATH, STDIN, Seconds, complain, emit
from tileir_diff.errors import InputError
from tileir_diff.ingest.data import parse_json
from tileir_diff.ingest.text import read_text

if TYPE_CHECKING:
    from tileir_diff.api import Options
    from tileir_diff.report.result import Result

FORMATS = ("text", "json", "markdown")
LEVELS = ("hint", "edge", "ulp", "precision", "bounds", "assume", "logic")
EXIT_STYLES = ("diff", "tilegym")

NEEDS = {
    "runs": "execute", "seed": "execute", "budget": "execute", "inputs": "execute", "no_cache": "lower",
}  # fmt: skip
"""Options that say something only beside another one."""

F = TypeVar("F", bound=Callable[..., Any])


def comparison_options(command: F) -> F:
    """The options that decide a result, for all verbs that compare."""
    options = [
        click.option(
            "--launch", multiple=True, type=PATH, metavar="NAME=VALUE|FILE",
            help="Launch facts: grid.x=2048, n=333 (generated.n=333 for one side), or a launch file.",
        ),
        click.option(
            "--args", "args_file", type=PATH, metavar="FILE",
            help="Argument map, JSON or TOML: generated argument to reference argument.",
        ),
        click.option("--entry", metavar="NAME", help="Compare only this entry (symbol of either side)."),
        click.option("--fail-on", type=click.Choice(LEVELS), help="Least impact that fails; default edge."),
        click.option("--strict", is_flag=True, default=None,
            help="Warnings, conditions on the host and what was not checked fail as well."),
        click.option(
            "--select", multiple=True, metavar="RULE", shell_complete=completion.rules,
            help="Only rules with this prefix.",
        ),
        click.option(
            "--ignore", multiple=True, metavar="RULE", shell_complete=completion.rules,
            help="Count, but leave out, rules with this prefix."
        ),
        click.option(
            "--config", type=PATH, metavar="FILE", help="Settings file, not the one found upwards."
        ),
        click.option(
            "--front-end", "front_ends", multiple=True, metavar="[SIDE=]NAME[@VERSION]",
            help="Front end of a side (default: generated), where the dump does not tell.",
        ),
        click.option(
            "--no-equivalence", "disabled", multiple=True, metavar="NAME",
            shell_complete=completion.equivalences,
            help="Treat an equivalence as a difference: additive-zero, fma-zero, power-of-two-scale, "
            "flush-with-normal, double, narrow-arithmetic, host-bounds, host-values.",
        ),
        click.option(
            "--prove", type=_Each(), is_flag=False, flag_value=5.0, metavar="[SECONDS]",
            help="Ask z3 about integers that are not shown to be equal, for so long a question; default 5.",
        ),
        click.option(
            "--exec", "execute", is_flag=True,
            help="Run both sides on inputs made for them, where structure leaves a question. Needs torch."
        ),
        click.option(
            "--runs", type=click.IntRange(1), default=40, show_default=True, help="With --exec: inputs."
        ),
        click.option(
            "--seed", type=click.IntRange(0), default=0, show_default=True, help="With --exec: of the inputs."
        ),
        click.option(
            "--budget", type=Seconds(min_open=True), default=60.0, show_default=True,
            metavar="SECONDS", help="With --exec: the most that running one pair of entries takes."
        ),
        click.option(
            "--inputs", metavar="FOLDER", type=PATH,
            help="With --exec: write an input that shows a difference there, and how to run it.",
        ),
        click.option(
            "--lower", multiple=True, metavar="ARCH[,ARCH...]",
            help="Assemble both sides with tileiras for sm_90, ...: what it makes of them is evidence.",
        ),
        click.option("--no-cache", is_flag=True, help="With --lower: assemble anew, and keep nothing."),
        click.option(
            "--timing", is_flag=True, help="Report the seconds of each step: no two reports are equal."
        ),
    ]  # fmt: skip
    for option in reversed(options):
        command = option(command)
    return command


class _Each(Seconds):
    """The seconds of `--prove`, which may have none: the word behind it is taken for them."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        try:
            return super().convert(value, param, ctx)
        except click.BadParameter:
            self.fail(f"'{value}' is no number of seconds; write them as --prove=5", param, ctx)


class _Refused(click.UsageError):
    """A call that cannot be read, in a pipeline to which the usual status 2 says that the kernels passed."""

    exit_code = 1


class Comparison(click.Command):
    """A call that cannot be read is a comparison that is blocked, and says so on standard output too."""

    def make_context(
        self, info_name: str | None, args: list[str], parent: click.Context | None = None, **extra: Any
    ) -> click.Context:
        given = list(args)
        try:
            return super().make_context(info_name, args, parent, **extra)
        except click.UsageError as error:
            refused = likely(error)
            view = _View.asked(given)
            result = _blocked("", "", InputError(refused.format_message(), ""))
            emit(view.render(result), None)
            if view.exit_style == "tilegym":
                raise _Refused(refused.format_message(), refused.ctx) from None
            raise refused from None


@click.command(cls=Comparison)
@click.argument("reference", type=PATH)
@click.argument("generated", type=PATH)
@click.option("--format", "format_", type=click.Choice(FORMATS), default="text", show_default=True)
@click.option("-o", "--output", type=PATH, metavar="FILE", help="Write the report to a file.")
@click.option("--stat", is_flag=True, help="Only one line an entry, and counts.")
@click.option("--equivalences", is_flag=True, help="List what was treated as equal, and why.")
@click.option("--color", type=click.Choice(("auto", "always", "never")), default="auto", show_default=True)
@click.option(
    "--exit-style", type=click.Choice(EXIT_STYLES), default="diff", show_default=True,
    help="tilegym: exit status (0 PASS, 1 FAIL or BLOCKED, 2 PASS_WITH_NOTES) and closing lines of its "
    "diff_ir.sh.",
)  # fmt: skip
@comparison_options
@click.pass_context
def diff(ctx: click.Context, reference: str, generated: str, **given: Any) -> None:
    """Compare GENERATED with REFERENCE. Each is a file, or - for standard input.

    Exit status: 0 PASS or PASS_WITH_NOTES, 1 FAIL_FIXABLE or FAIL_COMPILER_BUG, 2 BLOCKED.
    """
    view = _View.of(given)
    inputs = (reference, generated, given["args_file"], given["config"], *given["launch"])
    if view.output is not None and any(_same_file(view.output, each) for each in inputs):
        error = InputError("is an input of the comparison, and would be overwritten", view.output)
        view = view._replace(output=None)
        complain(error)
        result = _blocked(reference, generated, error)
    elif view.stat and view.format != "text":
        error = InputError(f"is a form of the text report; {view.format} has the whole report", "--stat")
        complain(error)
        result = _blocked(reference, generated, error)
    else:
        result = _run(reference, generated, given)
    text = view.render(result)
    try:
        emit(text, view.output)
    except InputError as error:
        complain(error)
        if view.output and view.format == "text":
            with suppress(InputError):  # one message is enough
                emit("VERDICT: BLOCKED\n", None)
        ctx.exit(2)
    ctx.exit(view.status(result))


@click.command()
@click.argument("pairs", type=PATH)
@click.option("--format", "format_", type=click.Choice(("text", "json")), default="text", show_default=True)
@click.option("-o", "--output", type=PATH, metavar="FILE", help="Write the lines to a file.")
@comparison_options
@click.pass_context
def batch(ctx: click.Context, pairs: str, format_: str, output: str | None, **given: Any) -> None:
    """Compare many pairs in one process.

    PAIRS is a file, or - for standard input, with one pair a line: "REF GEN", or a JSON object with the
    keys reference and generated and, if need be, launch, args and entry. Empty lines and lines that begin
    with # are skipped.

    Prints one line a pair and how many have which verdict, or one whole report a line as JSON. The exit
    status is the worst of all pairs.
    """
    from tileir_diff.report.json_format import render_json
    from tileir_diff.report.text_format import render_line, render_total
    from tileir_diff.verdict import EXIT_STATUS

    verdicts: list[str] = []
    collected: list[str] = []

    def put(line: str) -> None:
        if output is None:
            emit(line, None)
        else:
            collected.append(line)

    worst = 0
    try:
        for pair in _pairs(pairs):
            result = _run(pair.reference, pair.generated, pair.over(given), loud=False)
            line = render_json(result, indent=None) if format_ == "json" else render_line(result)
            worst = max(worst, EXIT_STATUS[result.verdict])
            verdicts.append(result.verdict)
            put(line)
        if format_ == "text":
            put(render_total(verdicts))
        if output is not None:
            if _same_file(output, pairs):
                raise InputError("is the list of pairs, and would be overwritten", output)
            emit("".join(collected), output)
    except InputError as error:
        complain(error)
        worst = 2
    ctx.exit(worst)


def _same_file(output: str, file: str | None) -> bool:
    """Whether writing `output` would overwrite a file."""
    try:
        return file is not None and os.path.samefile(output, file) and os.path.isfile(output)
    except (OSError, ValueError):  # what is not there is not overwritten
        return False


class _View(NamedTuple):
    """How a result is shown."""

    format: str
    output: str | None
    stat: bool
    equivalences: bool
    color: str
    exit_style: str

    @staticmethod
    def of(given: dict[str, Any]) -> _View:
        """Takes the options of the view out of `given`."""
        names = ("format_", "output", "stat", "equivalences", "color", "exit_style")
        return _View(*(given.pop(name) for name in names))

    @staticmethod
    def asked(args: list[str]) -> _View:
        """The form that the words of a call ask for, which is wrong in another place."""
        words = [part for word in args for part in (word.split("=") if word.startswith("--") else [word])]
        asked = dict(pairwise(words))
        form, style = asked.get("--format", ""), asked.get("--exit-style", "")
        return _View(
            form if form in FORMATS else FORMATS[0], None, False, False, "never",
            style if style in EXIT_STYLES else EXIT_STYLES[0],
        )  # fmt: skip

    def render(self, result: Result) -> str:
        if self.format == "json":
            from tileir_diff.report.json_format import render_json

            return render_json(result)
        if self.format == "markdown":
            from tileir_diff.report.markdown_format import render_markdown

            return render_markdown(result)
        from tileir_diff.report.color import wants_color
        from tileir_diff.report.text_format import render_stat, render_text

        color = wants_color(
            "never" if self.color == "auto" and self.output else self.color, sys.stdout, os.environ
        )
        if result.error is not None:
            text = f"VERDICT: {result.verdict}\n"  # the message went to standard error
        else:
            text = (
                render_stat(result)
                if self.stat
                else render_text(result, color=color, equivalences=self.equivalences)
            )
        if self.exit_style == "tilegym":
            from tileir_diff.cli.tilegym import closing_lines

            return text.removesuffix(f"VERDICT: {result.verdict}\n") + closing_lines(result)
        return text

    def status(self, result: Result) -> int:
        if self.exit_style == "tilegym":
            from tileir_diff.cli.tilegym import EXIT_STATUS

            return EXIT_STATUS[result.verdict]
        from tileir_diff.verdict import EXIT_STATUS as STATUS

        return STATUS[result.verdict]


class _Pair(NamedTuple):
    reference: str
    generated: str
    launch: str | None = None
    args: str | None = None
    entry: str | None = None

    def over(self, given: dict[str, Any]) -> dict[str, Any]:
        """The options of this pair on top of those for all."""
        own = dict(given)
        if self.launch is not None:
            own["launch"] = (*given["launch"], self.launch)
        own["args_file"] = self.args or given["args_file"]
        own["entry"] = self.entry or given["entry"]
        return own


def _pairs(path: str) -> list[_Pair]:
    """The pairs of a list. Raises InputError with the line that is wrong, and where there is no pair."""
    name = _shown(path)
    try:
        lines = (sys.stdin.read() if path == "-" else read_text(path)).splitlines()
    except UnicodeDecodeError:
        raise InputError("cannot read: not UTF-8 text", name) from None
    pairs = [
        _pair(line, name, n) for n, line in enumerate(lines, 1) if line.strip() and not line.startswith("#")
    ]
    if not pairs:
        raise InputError("no pairs in it: nothing to compare", name)
    return pairs


def _pair(line: str, path: str, number: int) -> _Pair:
    if not line.lstrip().startswith("{"):
        words = line.split()
        if len(words) != 2:
            message = f"a pair has two files, not {len(words)}"
            if any(mark in line for mark in "\"'\\"):
                message += '; for paths with spaces write {"reference": "..", "generated": ".."}'
            raise InputError(message, path, number, 1, line)
        return _Pair(*words)
    data = cast("dict[str, object]", parse_json(line, path, number))
    known = ("reference", "generated", "launch", "args", "entry")
    wrong = [key for key, value in data.items() if key not in known or not isinstance(value, str)]
    if wrong or "reference" not in data or "generated" not in data:
        what = f"'{wrong[0]}'" if wrong else "a missing 'reference' or 'generated'"
        raise InputError(
            f"a pair holds strings for {', '.join(known)}; {what} is wrong", path, number, 1, line
        )
    return _Pair(**cast("dict[str, str]", data))


def _run(reference: str, generated: str, given: dict[str, Any], *, loud: bool = True) -> Result:
    """The result; BLOCKED, with one message to standard error, for bad input."""
    from tileir_diff.api import run

    try:
        return run(reference, generated, options_of(given))
    except InputError as error:
        found = error
    except Exception as error:
        found = internal(error, generated)
    if loud:
        complain(found)
    return _blocked(reference, generated, found)


def _blocked(reference: str, generated: str, error: InputError) -> Result:
    from tileir_diff.api import versions
    from tileir_diff.report.build import Dump, blocked_result

    return blocked_result(Dump(_shown(reference)), Dump(_shown(generated)), error, versions())


def _shown(path: str) -> str:
    """The name under which an input is reported."""
    return STDIN if path == "-" else path


def options_of(given: dict[str, Any]) -> Options:
    """Command line over settings file over defaults."""
    from tileir_diff.api import Options, make_policy, prover
    from tileir_diff.cli.names import check_launch, check_selection
    from tileir_diff.match.equivalences import check_equivalences
    from tileir_diff.match.launch import parse_launch, read_argument_map
    from tileir_diff.match.model import CompareOptions, Execution
    from tileir_diff.verdict.config import decided, find_config, read_config
    from tileir_diff.verdict.selection import prefixes

    _check_company(given)
    config = read_config(given["config"]) if given["config"] else find_config()
    front_ends = _front_ends(given["front_ends"])
    select = prefixes(given["select"]) or prefixes(config.select or ())
    ignore = prefixes(given["ignore"]) or prefixes(config.ignore or ())
    lower = prefixes(given["lower"])
    if given["lower"] and not lower:
        raise InputError("names no architecture", "--lower")
    launch = parse_launch(given["launch"])
    check_launch(launch)
    check_selection(select, "--select" if given["select"] else config.path)
    check_selection(ignore, "--ignore" if given["ignore"] else config.path)
    disabled = prefixes(given["disabled"])
    check_equivalences(disabled, "--no-equivalence")
    return Options(
        compare=CompareOptions(
            launch=launch,
            args=read_argument_map(given["args_file"]) if given["args_file"] else None,
            entry=given["entry"],
            disabled_equivalences=frozenset(disabled),
            prover=prover(given["prove"]),
        ),
        policy=make_policy(
            given["fail_on"] or config.fail_on or "edge",
            bool(config.strict if given["strict"] is None else given["strict"]),
            select,
            ignore,
            config.waivers,
            date.today(),
            "" if given["fail_on"] else config.path,
        )._replace(settings=decided(config, given)),
        reference_front_end=front_ends.get("reference"),
        generated_front_end=front_ends.get("generated"),
        timing=given["timing"],
        lower=lower,
        cache=not given["no_cache"],
        execution=Execution(given["runs"], given["seed"], given["budget"], given["inputs"])
        if given["execute"]
        else None,
    )


def _check_company(given: dict[str, Any]) -> None:
    """Raises InputError for an option without the one that it is about."""
    ctx = click.get_current_context()
    for name, other in NEEDS.items():
        if not given[other] and ctx.get_parameter_source(name) is ParameterSource.COMMANDLINE:
            needed = "--exec" if other == "execute" else f"--{other}"
            raise InputError(f"says something only with {needed}", f"--{name.replace('_', '-')}")


def _front_ends(given: tuple[str, ...]) -> dict[str, Any]:
    from tileir_diff.verdict.front_ends import parse_front_end

    found: dict[str, Any] = {}
    for text in given:
        side, equals, name = text.partition("=")
        if equals and side not in ("reference", "generated"):
            raise InputError(f"'{side}' is no side; write reference= or generated=", "--front-end")
        found[side if equals else "generated"] = parse_front_end(name if equals else text)
    return found
