"""A run and a verdict as text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tileir_diff.pipeline.artifacts import GateVerdict
from tileir_diff.pipeline.log import OBJECTS, Answered, Begun, Judged, Store
from tileir_diff.pipeline.stages import STAGES
from tileir_diff.pipeline.state import limits_of, replayed

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from tileir_diff.pipeline.log import Entry
    from tileir_diff.pipeline.state import Run

Row = tuple[str, str, str, str, str]
HEADS: Row = ("stage", "attempts", "verdict", "seconds", "tokens")
ONGOING = "…"
TREE = "tree"
"""The folder with the port's files as they are now; the log and its store are what counts."""


def rows(entries: Sequence[Entry]) -> list[Row]:
    """One row a stage that was begun, in the order of the table of stages."""
    made: list[Row] = []
    run = replayed(entries)
    for stage, info in STAGES.items():
        answers = [each for each in entries if isinstance(each, Answered) and each.stage == stage]
        verdicts = [each for each in entries if isinstance(each, Judged) and each.stage == stage]
        busy = run.attempted is not None and run.attempted.stage == stage
        if not answers and not busy:
            continue
        seconds = sum(each.seconds for each in answers) + sum(each.seconds for each in verdicts)
        told = " ".join([*(each.outcome for each in verdicts), *([ONGOING] if busy else [])])
        count = len(verdicts) + busy
        made.append(
            (info.title, str(count), told, f"{seconds:.1f}", str(sum(each.tokens for each in answers)))
        )
    return made


def status_text(entries: Sequence[Entry], folder: Path) -> str:
    """The whole run: stages, limits, how it ended, and what the last gate that did not pass it said.

    `folder` is the run's, with the contents of its log. Raises InputError where they are gone.
    """
    begun, run = entries[0], replayed(entries)
    assert isinstance(begun, Begun)
    lines = [f"{begun.operator}, by {begun.worker}", ""]
    table = [HEADS, *rows(entries)]
    widths = [max(len(row[at]) for row in table) for at in range(len(HEADS))]
    for row in table:
        lines.append("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())
    why = why_text(run, folder)
    lines += ["", spent_text(entries), *(["", why] if why else []), "", f"VERDICT: {end_text(run)}"]
    return "\n".join(lines) + "\n"


def why_text(run: Run, folder: Path) -> str:
    """The file of the last verdict that is no pass, and the first line of its reason; "" where all passed."""
    judged = sorted(run.last.values(), key=lambda each: -each.attempt)
    for each in judged:
        if each.outcome in STAGES[each.stage].passes:
            continue
        text = Store(folder / OBJECTS).get(each.verdict).decode()
        path = f"gates/{each.stage}.json"
        checks = GateVerdict.read(text, path).checks
        # a diagnosis has no check that fails: what it is about stands in the verdict before it
        results = ("fail", "open") if each.outcome == "UNMEASURED" else ("fail",)
        for check in checks:
            if check.result in results:
                told = (check.detail.splitlines() or [""])[0]
                place = folder / TREE / path if run.end else path  # it is laid out at the end
                return f"{place}: {check.name}: {told}"
    return ""


def spent_text(entries: Sequence[Entry]) -> str:
    """What was used of what may be."""
    begun, state = entries[0], replayed(entries).state
    assert isinstance(begun, Begun)
    limits = limits_of(begun)
    used = (
        f"{len(state.spawned)} of {limits.spawns} attempts",
        f"{state.tokens} of {limits.tokens} tokens",
        f"{state.seconds:.0f} of {limits.seconds:.0f} s",
    )
    return ", ".join(used)


def end_text(run: Run) -> str:
    """How the run ended, or where it is."""
    return run.end or f"at work: {STAGES[run.state.stage or 'analyst'].title}"


def verdict_text(verdict: GateVerdict) -> str:
    """Every check, what differs, and the outcome last."""
    marks = {"pass": "ok", "fail": "FAIL", "open": "open"}
    lines = [f"{marks[each.result]:<4}  {each.name}: {each.detail}".rstrip(": ") for each in verdict.checks]
    for each in verdict.findings:
        lines += [
            "",
            f"{each.severity}[{each.rule}] {each.variant}: {each.message}",
            *([f"  reference  {each.reference}"] if each.reference else []),
            *([f"  generated  {each.generated}"] if each.generated else []),
            *([f"  effect     {each.effect}"] if each.effect else []),
            *([f"  fix        {each.fix}"] if each.fix else []),
        ]
    return "\n".join([*lines, "", f"evidence: {verdict.evidence}", f"VERDICT: {verdict.outcome}"]) + "\n"
