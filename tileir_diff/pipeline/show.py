"""A run and a verdict as text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tileir_diff.pipeline.log import Answered, Begun, Judged
from tileir_diff.pipeline.stages import STAGES
from tileir_diff.pipeline.state import limits_of, replayed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tileir_diff.pipeline.artifacts import GateVerdict
    from tileir_diff.pipeline.log import Entry
    from tileir_diff.pipeline.state import Run

Row = tuple[str, str, str, str, str]
HEADS: Row = ("stage", "attempts", "verdict", "seconds", "tokens")
ONGOING = "…"


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


def status_text(entries: Sequence[Entry]) -> str:
    """The whole run: stages, limits, how it ended."""
    begun, run = entries[0], replayed(entries)
    assert isinstance(begun, Begun)
    lines = [f"{begun.operator}, by {begun.worker}", ""]
    table = [HEADS, *rows(entries)]
    widths = [max(len(row[at]) for row in table) for at in range(len(HEADS))]
    for row in table:
        lines.append("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())
    return "\n".join([*lines, "", spent_text(entries), "", f"VERDICT: {end_text(run)}"]) + "\n"


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
    return run.state.end or f"at work: {STAGES[run.state.stage or 'analyst'].title}"


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
