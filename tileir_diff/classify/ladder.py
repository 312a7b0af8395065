"""The ladder: each step asks one question, and the first one whose answer decides gives the cause."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from tileir_diff.classify import gpu, source
from tileir_diff.classify.compiled import CRASHED, assembler, cubin
from tileir_diff.classify.model import (
    NO,
    NOT_RUN,
    OPEN,
    OWNERS,
    QUESTIONS,
    SCHEMA,
    YES,
    Classification,
    Inputs,
    Step,
    step,
)
from tileir_diff.equivalence.symbolic.answer import SAYS_PROVEN, SAYS_REFUTED
from tileir_diff.errors import InputError
from tileir_diff.ingest.text import read_text
from tileir_diff.verdict import BLOCKED

if TYPE_CHECKING:
    from tileir_diff.classify.gpu import GpuResult
    from tileir_diff.classify.source import Asked
    from tileir_diff.report.result import FindingRecord, Result


def classify(inputs: Inputs) -> Classification:
    """Raises InputError for a file that cannot be read, and for a reference that does not verify."""
    from tileir_diff.api import run

    result_gpu = gpu.read(inputs.gpu_result) if inputs.gpu_result is not None else None
    text = read_text(inputs.source) if inputs.source is not None else None
    steps: list[Step] = []
    try:
        result = run(inputs.reference, inputs.generated, inputs.options)
    except InputError as error:
        return _unverified(inputs, error)
    steps.append(step("verifies", YES, "both sides parse and verify"))
    critical = [each for each in result.findings if each.severity == "critical"]
    steps.append(_structure(result, critical))
    steps.append(_launch(inputs, result, critical))
    steps += [_proven(inputs, result, critical), _runs(result, critical)]
    lost = [source.asked(text, each, result) for each in critical] if text is not None else []
    steps.append(_source(inputs.source, critical, lost))
    steps.append(assembler(inputs))
    steps.append(cubin(inputs, result))
    steps += _gpu(result_gpu)
    versions = dict(result.versions)
    if inputs.assembler is not None:
        versions["tileiras"] = inputs.assembler.version
    cause, why, owner = _cause(result, critical, lost, steps)
    return Classification(
        SCHEMA, cause, owner, why, result.verdict, inputs.reference, inputs.generated, steps, versions
    )


def _unverified(inputs: Inputs, error: InputError) -> Classification:
    """IR of a front end that breaks a constraint is its bug; the rest cannot be classified."""
    refused = error.rule is not None or "refuses this bytecode" in error.message
    if not refused or error.path != inputs.generated:
        raise error
    where = f":{error.line}" if error.line else ""
    said = f"{os.path.basename(error.path)}{where}: {error.message}"
    steps = [step("verifies", NO, said)]
    reason = "the generated side does not verify"
    steps += [step(name, NOT_RUN, reason) for name in QUESTIONS if name != "verifies"]
    why = f"the front end wrote IR that does not verify: {error.message}"
    return Classification(
        SCHEMA, "frontend-bug", OWNERS["frontend-bug"], why, BLOCKED, inputs.reference, inputs.generated,
        steps, {},
    )  # fmt: skip


def _structure(result: Result, critical: list[FindingRecord]) -> Step:
    if critical:
        listed = "; ".join(f"{each.rule}: {each.message}" for each in critical[:3])
        more = f" and {len(critical) - 3} more" if len(critical) > 3 else ""
        return step("structure", NO, f"{listed}{more}")
    return step("structure", YES, result.why)


def _launch(inputs: Inputs, result: Result, critical: list[FindingRecord]) -> Step:
    """What the launch hands over counts as wrong only where setting it right makes both sides the same."""
    given = inputs.options.compare.launch is not None
    if not critical:
        if not result.obligations or given:
            return step("launch", NOT_RUN, "structure has settled it")
        said = f"no launch was given, and there are conditions on it: {_few(result.obligations)}"
        return step("launch", OPEN, said, "`--launch FILE`")
    if not given:
        return step("launch", OPEN, "no launch was given", "`--launch FILE`")
    wrong = [each for each in critical if each.cause == "host"]
    if wrong:
        return step("launch", NO, "; ".join(each.message for each in wrong))
    return step("launch", YES, "no other value of an argument, and no other grid, makes both sides the same")


def _few(conditions: list[str], most: int = 3) -> str:
    """The first conditions, and how many more there are."""
    rest = len(conditions) - most
    return "; ".join(conditions[:most]) + (f"; and {rest} more" if rest > 0 else "")


def _proven(inputs: Inputs, result: Result, critical: list[FindingRecord]) -> Step:
    """What z3 was asked, and said of what structure does not settle."""
    options = inputs.options
    shown = [each.evidence or "" for each in result.findings]
    proofs = [evidence for evidence in shown if SAYS_PROVEN in evidence]
    if not critical:
        if proofs:
            return step("proven", YES, "; ".join(proofs))
        return step("proven", NOT_RUN, "structure has settled it")
    if options.compare.prover is None and options.execution is None:
        return step("proven", OPEN, "z3 was not asked", "`--prove`")
    refuted = [each.evidence or "" for each in critical if SAYS_REFUTED in (each.evidence or "")]
    if refuted:
        return step("proven", NO, refuted[0])
    asked = [each.evidence for each in critical if each.evidence]
    return step("proven", OPEN, asked[0] if asked else "no question about integers is left", "`--exec`")


def _runs(result: Result, critical: list[FindingRecord]) -> Step:
    """Runs are of no use where structure has settled it."""
    ran = [each for each in result.semantics if each.outcome != "settled"]
    if not ran:
        if not critical or result.semantics:
            return step("runs", NOT_RUN, "structure has settled it")
        return step("runs", OPEN, "nothing was run", "`--exec`")
    told = "; ".join(f"@{each.generated}: {each.detail}" for each in ran)
    outcomes = {each.outcome for each in ran}
    answer = NO if "different" in outcomes else NOT_RUN if "not-run" in outcomes else YES
    return step("runs", answer, told)


def _source(path: str | None, critical: list[FindingRecord], lost: list[Asked | None]) -> Step:
    if not critical:
        return step("source", NOT_RUN, "its IR lacks nothing")
    if path is None:
        return step("source", OPEN, "no source was given", "`--source K.rs`")
    for asked in lost:
        if asked is not None:
            said = f"{os.path.basename(path)}:{asked.line}: {asked.text}; {asked.bug.id}: {asked.bug.reason}"
            return step("source", YES, said)
    return step("source", NO, "no known bug of the front end explains a finding by this source")


def _gpu(result: GpuResult | None) -> list[Step]:
    """Steps that need a GPU: what the file says, and nothing that it does not."""
    if result is None:
        how = "`--gpu-result FILE`"
        return [step(name, OPEN, "no GPU result was given", how) for name in ("levels", "gpu", "host")]
    agrees = result.agrees
    steps: list[Step] = []
    needed = {"levels": ("O0", "O3"), "gpu": ("direct",), "host": ("direct", "host")}
    for name, runs in needed.items():
        missing = [run for run in runs if run not in agrees]
        if missing:
            what = f"the result has no run {' and '.join(missing)}"
            steps.append(step(name, OPEN, what, f"a launch: {', '.join(missing)}"))
            continue
        fine = agrees["direct"] if name == "gpu" else len({agrees[run] for run in runs}) == 1
        words = ", ".join(f"{run} {'agrees' if agrees[run] else 'disagrees'}" for run in runs)
        note = f"; {result.note}" if result.note else ""
        steps.append(step(name, YES if fine else NO, f"{words} with the interpreter, {result.origin}{note}"))
    return steps


def _cause(
    result: Result, critical: list[FindingRecord], lost: list[Asked | None], steps: list[Step]
) -> tuple[str, str, str | None]:
    """Cause, why, owner. Only what a step says counts; what is open decides nothing."""
    answers = {step.name: step.answer for step in steps}
    evidence = {step.name: step.evidence for step in steps}
    if critical:
        first = critical[0]
        rest = f" (and {len(critical) - 1} more)" if len(critical) > 1 else ""
        known = lost[0] if lost else None
        if known is not None:
            why = f"{first.rule}: the source asks for it, and the IR lacks it: {known.bug.reason}{rest}"
            return "frontend-bug", why, OWNERS["frontend-bug"]
        cause = first.cause if first.cause in OWNERS else "unknown"
        return cause, f"{first.rule}: {first.message}{rest}", first.owner or OWNERS[cause]
    if answers["assembler"] == NO:
        if f": {CRASHED}" in evidence["assembler"]:
            why = f"it verifies, and the assembler crashes: {evidence['assembler']}"
            return "tileiras-bug", why, OWNERS["tileiras-bug"]
        return "unknown", f"it verifies, and the assembler refuses it: {evidence['assembler']}", None
    if answers["gpu"] == NO:
        why = f"both sides mean the same, and the compiled one disagrees: {evidence['gpu']}"
        return "tileiras-bug", why, OWNERS["tileiras-bug"]
    if answers["gpu"] == YES and answers["host"] == NO:
        why = f"right when launched directly, wrong through the host: {evidence['host']}"
        return "host", why, OWNERS["host"]
    if answers["cubin"] == NO:
        return "host", f"another kernel was launched: {evidence['cubin']}", OWNERS["host"]
    written = len(result.equivalences)
    how = "structure and proof" if answers["proven"] == YES else "structure"
    why = f"by {how}: {result.why}"
    if written:
        why += f"; {written} place{'s' if written > 1 else ''} treated as equal"
    return "equivalent-if" if result.obligations else "equivalent", why, None
