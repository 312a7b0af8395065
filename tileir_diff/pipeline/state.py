"""What a log says: where the run is, and which files it has. Pure, so that a replay comes to the same."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from tileir_diff.pipeline.log import Answered, Attempted, Begun, Judged, Supplied
from tileir_diff.pipeline.machine import Limits, Spent, after, begin, reopened
from tileir_diff.pipeline.stages import BROKEN, STAGES, gate_owns, owns

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tileir_diff.pipeline.log import Entry
    from tileir_diff.pipeline.machine import State
    from tileir_diff.pipeline.stages import Stage


class Run(NamedTuple):
    """A run as far as it has come.

    `files` are hashes by path. `attempted` and `answered` are steps that were begun and not finished; `last`
    is the newest verdict of each stage.
    """

    state: State
    files: dict[str, str]
    attempts: int
    attempted: Attempted | None
    answered: Answered | None
    last: dict[Stage, Judged]


def limits_of(begun: Begun) -> Limits:
    """The limits that a run was begun with."""
    given = begun.limits
    return Limits(
        int(given["per_stage"]), int(given["spawns"]), int(given["tokens"]), float(given["seconds"])
    )


def replayed(entries: Sequence[Entry]) -> Run:
    """The run after these entries, the first is `begun`. Raises ValueError for a log that makes no sense."""
    begun = entries[0]
    assert isinstance(begun, Begun)
    limits = limits_of(begun)
    run = Run(begin(limits), dict(begun.files), 0, None, None, {})
    for entry in entries[1:]:
        if isinstance(entry, Attempted):
            run = run._replace(attempted=entry, attempts=entry.attempt)
        elif isinstance(entry, Answered):
            run = run._replace(answered=entry)
        elif isinstance(entry, Supplied):
            run = run._replace(files={**run.files, **entry.files}, state=reopened(run.state, limits))
        elif isinstance(entry, Judged):
            run = _judged(run, entry, limits)
    return run


def _judged(run: Run, entry: Judged, limits: Limits) -> Run:
    answered = run.answered
    if answered is None or run.state.stage != entry.stage:
        raise ValueError(f"attempt {entry.attempt} is judged, and nobody has answered it")
    spent = Spent(answered.tokens, answered.seconds + entry.seconds)
    return run._replace(
        state=after(run.state, entry.outcome, spent, limits),
        files=files_after(run.files, answered, entry),
        attempted=None,
        answered=None,
        last={**run.last, entry.stage: entry},
    )


def files_after(files: dict[str, str], answered: Answered, judged: Judged) -> dict[str, str]:
    """The port's files after a verdict: what rests on files that may have changed is gone."""
    stage = judged.stage
    stale: list[Stage] = [stage]
    for each in STAGES:
        if stage in STAGES[each].needs:
            stale.append(each)
    if stage in ("kernel", "host"):
        stale.append("diff")
    kept = {path: name for path, name in files.items() if not any(gate_owns(each, path) for each in stale)}
    if "diff" in stale and stage != "diff":
        kept = {path: name for path, name in kept.items() if not owns("diff", path)}
    if judged.outcome not in BROKEN or judged.outcome == "MALFORMED":
        kept = {path: name for path, name in kept.items() if not owns(stage, path)}
        kept |= answered.outputs
    return kept | judged.outputs | {f"gates/{stage}.json": judged.verdict}
