"""The whole diff, from two inputs to one result: read, compare, judge, report.

Start reading here: `run` is the pipeline, everything else prepares its arguments.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from time import perf_counter
from typing import TYPE_CHECKING, NamedTuple, TypeAlias, cast

from tileir_diff import __version__
from tileir_diff.errors import InputError
from tileir_diff.garbage import rare_searches
from tileir_diff.ingest.formats import producer_line
from tileir_diff.match.launch import ArgumentMap, Launch, parse_launch, read_argument_map
from tileir_diff.match.model import CompareOptions, Execution
from tileir_diff.report.build import Dump, build_result
from tileir_diff.rules import FAMILIES, finding
from tileir_diff.verdict import FAIL_ON, FrontEnd, Policy, Selection, judge
from tileir_diff.verdict.front_ends import parse_front_end, recognise
from tileir_diff.verdict.selection import prefixes

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import date

    from networkx import MultiDiGraph

    from tileir_diff.dialect.ir import ModuleOp, TileOp
    from tileir_diff.lowering.assembler import Assembler
    from tileir_diff.lowering.evidence import Lowering, LoweringEvidence
    from tileir_diff.match.model import Comparison
    from tileir_diff.match.proofs import Prover
    from tileir_diff.report.model import Report
    from tileir_diff.report.result import Result
    from tileir_diff.rules.model import Finding
    from tileir_diff.verdict.config import Waiver

Given: TypeAlias = "str | os.PathLike[str]"
SECONDS_BEFORE_RUNS = 2.0
"""What a question to z3 may take where both sides are run afterwards."""
SOURCE_SEARCH = 64
"""How many ops of an entry are looked at for a debug location that names a file."""


class Options(NamedTuple):
    """Everything that decides a result besides the two inputs."""

    compare: CompareOptions = CompareOptions()
    policy: Policy = Policy()
    reference_front_end: FrontEnd | None = None
    generated_front_end: FrontEnd | None = None
    timing: bool = False
    lower: tuple[str, ...] = ()
    """Architectures for which both sides are assembled."""
    cache: bool = True
    """Whether what the assembler said is kept, and used again."""
    execution: Execution | None = None
    """How both sides are run; None: they are not."""


class Clock:
    """Seconds since the last step, by step."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self._last = perf_counter()

    def step(self, name: str) -> None:
        now = perf_counter()
        self.seconds[name] = round(now - self._last, 6)
        self._last = now


def diff(
    reference: str | os.PathLike[str] | ModuleOp,
    generated: str | os.PathLike[str] | ModuleOp,
    *,
    launch: Launch | Given | Iterable[Given] | Mapping[str, object] | None = None,
    args: ArgumentMap | str | os.PathLike[str] | None = None,
    entry: str | None = None,
    disabled_equivalences: str | Iterable[str] = (),
    fail_on: str = "edge",
    strict: bool = False,
    select: str | Iterable[str] = (),
    ignore: str | Iterable[str] = (),
    waivers: Iterable[Waiver | Mapping[str, object]] = (),
    today: date | None = None,
    front_ends: tuple[str | None, str | None] = (None, None),
    timing: bool = False,
    lower: str | Iterable[str] = (),
    cache: bool = True,
    execute: bool | Execution = False,
    prove: float | None = None,
) -> Report:
    """Compares a generated kernel with its reference.

    Each side is a path, "-" for standard input, or a module from `tileir_diff.dialect.parse_text`.
    `launch` takes what `--launch` takes: a launch file or facts such as "grid.x=2048", one or several; or a
    mapping of facts, {"grid.x": 2048}.
    `args` is an argument map or the file of one; `entry` compares only that kernel.
    `fail_on` is the least impact that fails ("edge"); `select` and `ignore` are prefixes of rules.
    Settings files are not read here: pass `waivers`, each a `Waiver` or a mapping with its keys, and `today`
    if they may expire.
    `front_ends` names the front ends of reference and generated ("cutile-rust@0.5.0") where the dumps do
    not tell.
    `lower` names architectures ("sm_90") for which both sides are assembled; without `cache` nothing that the
    assembler says is kept.
    `execute` runs both sides on inputs that are made for them (needs torch): True, or an `Execution` with
    the number of runs, the seed, the seconds and the folder for inputs that show a difference.
    What is open is proven before, if z3 is there.
    `prove` asks z3, for so many seconds a question, about integers that the normal form cannot settle.

    Raises InputError for input that cannot be read or does not parse, and for options that make no sense.
    """
    from tileir_diff.match.equivalences import check_equivalences
    from tileir_diff.report.model import Report

    facts = launch if isinstance(launch, Launch) else _parsed(launch)
    disabled = prefixes(disabled_equivalences)
    check_equivalences(disabled, "disabled_equivalences")
    mapping = args if args is None or isinstance(args, ArgumentMap) else read_argument_map(os.fspath(args))
    options = Options(
        compare=CompareOptions(facts, mapping, entry, frozenset(disabled), prover(prove)),
        policy=make_policy(fail_on, strict, prefixes(select), prefixes(ignore), _waivers(waivers), today),
        reference_front_end=parse_front_end(front_ends[0]) if front_ends[0] else None,
        generated_front_end=parse_front_end(front_ends[1]) if front_ends[1] else None,
        timing=timing,
        lower=prefixes(lower),
        cache=cache,
        execution=execute if isinstance(execute, Execution) else Execution() if execute else None,
    )
    try:
        with rare_searches():
            return Report.from_result(run(reference, generated, options))
    except InputError as error:
        raise _in_python(error) from None


def run(
    reference: str | os.PathLike[str] | ModuleOp,
    generated: str | os.PathLike[str] | ModuleOp,
    options: Options,
) -> Result:
    """The pipeline: read both, compare, explain each difference, judge, report. Raises InputError."""
    if reference == "-" and generated == "-":
        raise InputError("both sides cannot be standard input", "<stdin>")
    clock = Clock()
    reference_module, reference_dump = load(reference, "reference", options.reference_front_end)
    generated_module, generated_dump = load(generated, "generated", options.generated_front_end)
    _check_entry(options.compare.entry, reference_dump, generated_dump)
    clock.step("read")
    compare, missing = _with_proofs(options)
    comparison = _compare(reference_module, generated_module, compare)
    for dump, module in ((reference_dump, reference_module), (generated_dump, generated_module)):
        comparison.assumptions += [f"{dump.path}: {lost}" for lost in module.approximations]
    clock.step("compare")
    if options.execution is not None:
        _execute(
            (reference_module, generated_module),
            (reference_dump.path, generated_dump.path),
            comparison,
            options.compare,
            options.execution,
        )
        clock.step("execute")
    findings = [finding(each, generated_dump.front_end.name) for each in comparison.differences]
    lowerings: list[Lowering] = []
    made_by = versions(reference_dump, generated_dump)
    if options.lower:
        assembler = _assembler(options.cache)
        lowered = _lower(
            findings, comparison, (reference_module, generated_module), options, assembler,
            (reference_dump, generated_dump),
        )  # fmt: skip
        findings, lowerings = lowered.findings, lowered.lowerings
        made_by["tileiras"] = assembler.version
        clock.step("lower")
    judgement = judge(
        findings,
        options.policy,
        front_end=generated_dump.front_end,
        entries=_compared(comparison),
        obligations=len(comparison.obligations),
        not_checked=len(comparison.not_checked),
    )
    clock.step("judge")
    timing = clock.seconds if options.timing else {}
    result = build_result(
        reference_dump,
        generated_dump,
        comparison,
        judgement,
        made_by,
        timing,
        lowerings,
    )
    result.notices.extend(missing)
    return result


def load(
    source: str | os.PathLike[str] | ModuleOp, side: str, front_end: FrontEnd | None = None
) -> tuple[ModuleOp, Dump]:
    """Reads one side, or takes a module as it is.

    Raises InputError, also for a module without a kernel and for one that breaks a constraint.
    """
    if isinstance(source, (str, os.PathLike)):
        from tileir_diff.dialect import parse_text
        from tileir_diff.ingest import read_source

        file = read_source(os.fspath(source))
        module = parse_text(file.text, file.path)
        path, format_, text = file.path, file.format, file.text
    elif hasattr(source, "entries"):
        module, path, format_, text = source, f"<{side}>", source.format, ""
    else:
        kind = type(source).__name__
        raise TypeError(f"{side}: a path or a module of `dialect.parse_text` is compared, not {kind}")
    entries = module.entries
    if not entries:
        raise InputError("no kernel in it: nothing to compare", path)
    _check_valid(module, path, text)
    names = tuple(symbol(entry) for entry in entries)
    made_by = front_end or recognise(_producer(module, text), names, _files(entries))
    return module, Dump(path, format_, names, made_by)


def op_graph(source: str | os.PathLike[str] | ModuleOp, *, entry: str | None = None) -> MultiDiGraph[int]:
    """The typed op graph of one kernel, as `tileir_diff.graph.network.op_graph` describes it.

    `source` is a path, "-" or a module; `entry` is needed where it holds several kernels.
    Raises InputError for input that cannot be read or does not verify, and for an entry that is not there.
    """
    from tileir_diff.graph.network import op_graph as build

    module, dump = load(source, "source")
    chosen = [
        each
        for each in module.entries
        if entry is None or symbol(each).removeprefix("@") == entry.removeprefix("@")
    ]
    if len(chosen) != 1:
        known = ", ".join(f"@{each}" for each in dump.entries)
        wanted = f"no entry '@{entry}'" if entry is not None else "several kernels in it, name one"
        raise InputError(f"{wanted}; there are {known}", dump.path)
    return build(chosen[0])


def prover(seconds: float | None, *, confirm: bool = True) -> Prover | None:
    """What asks z3, for so many seconds a question; None for None.

    Without ``confirm`` nothing is asked about what the normal form shows to be equal.
    Raises InputError where z3 is not installed, and for seconds that are not positive.
    """
    if seconds is None:
        return None
    if not seconds > 0:
        raise InputError(f"{seconds:g} s is no time for a question", "--prove")
    from tileir_diff.equivalence.symbolic.prove import prove

    return lambda attempt, names: prove(attempt, names, seconds, confirm=confirm)


def make_policy(
    fail_on: str,
    strict: bool,
    select: tuple[str, ...],
    ignore: tuple[str, ...],
    waivers: tuple[Waiver, ...],
    today: date | None,
    path: str = "",
) -> Policy:
    """Checks what the user decided. Raises InputError for an impact or a rule that does not exist.

    `path` is the settings file that `fail_on` is from.
    """
    if fail_on not in FAIL_ON:
        message = f"'{fail_on}' is no impact; fail-on takes one of {', '.join(FAIL_ON)}"
        raise InputError(message, path or "fail-on")
    selection = Selection(select, ignore)
    for name, chosen in (("select", Selection(select)), ("ignore", Selection((), ignore))):
        for unknown in chosen.unknown(FAMILIES):
            raise InputError(f"no rule begins with '{unknown}'; `tileir-diff rules` lists them", name)
    return Policy(fail_on, strict, selection, waivers, today)


def symbol(entry: TileOp) -> str:
    """The symbol of a kernel, without `@`."""
    return entry.symbol


def versions(*dumps: Dump) -> dict[str, str]:
    """What made the report: this tool, and the disassembler if it read bytecode."""
    made_by = {"tileir-diff": __version__}
    if any(dump.format == "bytecode" for dump in dumps):
        from tileir_diff.toolchain import tool_version

        made_by["tileirdisasm"] = tool_version("tileirdisasm") or "unknown"
    return made_by


def _check_valid(module: ModuleOp, path: str, text: str) -> None:
    """What breaks a constraint of the dialect means nothing that could be compared."""
    from tileir_diff.dialect.verifier import verify

    for broken in verify(module):
        lines = text.split("\n")
        quoted = lines[broken.line - 1] if 0 < broken.line <= len(lines) else None
        raise InputError(broken.message, path, broken.line, broken.column, quoted, broken.rule)


def _compare(reference: ModuleOp, generated: ModuleOp, options: CompareOptions) -> Comparison:
    # The matcher is the heaviest import: an unreadable input must not wait for it.
    from tileir_diff.rules.root_cause import compared

    return compared(reference, generated, options)


def _assembler(cached: bool) -> Assembler:
    from tileir_diff.lowering.assembler import find_assembler
    from tileir_diff.lowering.cache import Cache, user_cache

    return find_assembler(Cache(user_cache() if cached else None))


def _lower(
    findings: list[Finding],
    comparison: Comparison,
    modules: tuple[ModuleOp, ModuleOp],
    options: Options,
    assembler: Assembler,
    dumps: tuple[Dump, Dump],
) -> LoweringEvidence:
    """What the assembler says of both sides; operations without an explanation are findings more."""
    from tileir_diff.lowering.evidence import lowering_evidence

    paths = (dumps[0].path, dumps[1].path)
    result = lowering_evidence(findings, comparison.matched, modules, options.lower, assembler, paths)
    result.findings.extend(finding(each, dumps[1].front_end.name) for each in result.differences)
    comparison.not_checked.extend(result.not_checked)
    return result


def _with_proofs(options: Options) -> tuple[CompareOptions, list[str]]:
    """What is open is proven before both sides are run, if z3 is there; else there is a notice."""
    if options.execution is None or options.compare.prover is not None:
        return options.compare, []
    try:
        return options.compare._replace(prover=prover(SECONDS_BEFORE_RUNS, confirm=False)), []
    except InputError as error:
        return options.compare, [f"nothing was proven before both sides were run: {error.message}"]


def _execute(
    modules: tuple[ModuleOp, ModuleOp],
    paths: tuple[str, str],
    comparison: Comparison,
    options: CompareOptions,
    how: Execution,
) -> None:
    # torch, which only this step and `run` need.
    from tileir_diff.equivalence.differential.pairs import execute

    execute(modules, paths, comparison, options, how)


def _check_entry(entry: str | None, reference: Dump, generated: Dump) -> None:
    if entry is None:
        return
    name = entry.removeprefix("@")
    if name not in (*reference.entries, *generated.entries):
        known = ", ".join(f"@{each}" for each in dict.fromkeys((*reference.entries, *generated.entries)))
        raise InputError(f"no entry '@{name}' on either side; there are {known}", "--entry")


def _compared(comparison: Comparison) -> tuple[str, ...]:
    names = [name.removeprefix("@") for pair in comparison.pairs for name in pair[:2] if name is not None]
    return tuple(dict.fromkeys(names))


def _producer(module: ModuleOp, text: str) -> str:
    return str(module.get("producer") or "") or producer_line(text)


def _files(entries: list[TileOp]) -> list[str]:
    """Files that debug locations name, one an entry at most."""
    files: list[str] = []
    for entry in entries:
        for index, op in enumerate(entry.inner()):
            if op.source is not None:
                files.append(op.source.file)
            if op.source is not None or index >= SOURCE_SEARCH:
                break
    return files


def _parsed(launch: Given | Iterable[Given] | Mapping[str, object] | None) -> Launch | None:
    try:
        return parse_launch(_strings(launch))
    except InputError as error:
        raise _in_python(error) from None


def _in_python(error: InputError) -> InputError:
    """The same of the argument `launch` in place of the option `--launch`."""
    error.path = error.path.removeprefix("--")
    return error


def _strings(launch: Given | Iterable[Given] | Mapping[str, object] | None) -> list[str]:
    if launch is None:
        return []
    if isinstance(launch, Mapping):
        facts = cast("Mapping[str, object]", launch)
        return [f"{name}={str(value).lower()}" for name, value in facts.items()]
    return [os.fspath(each) for each in ([launch] if isinstance(launch, (str, os.PathLike)) else launch)]


def _waivers(given: Iterable[Waiver | Mapping[str, object]]) -> tuple[Waiver, ...]:
    """Raises InputError for a waiver that is not as in the settings, TypeError for what is none."""
    from tileir_diff.verdict.config import Waiver, waiver

    tables = [each._asdict() if isinstance(each, Waiver) else each for each in given]
    for each in tables:
        if not hasattr(each, "keys"):
            raise TypeError(f"waivers: a list of Waiver or of mappings, not of {type(each).__name__}")
    return tuple(waiver(each, "waivers") for each in tables)
