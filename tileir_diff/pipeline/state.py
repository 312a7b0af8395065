"""What a log says: where the run is, and which files it has. Pure, so that a replay comes to the same."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from tileir_diff.errors import InputError
from tileir_diff.pipeline.log import NAME, Answered, Attempted, Begun, Ended, Judged, Supplied
from tileir_diff.pipeline.machine import TABLE, WORKER, Limits, Spent, after, begin, reopened
from tileir_diff.pipeline.stages import BROKEN, STAGES, gate_owns, owns

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tileir_diff.pipeline.log import Entry
    from tileir_diff.pipeline.machine import State
    from tileir_diff.pipeline.stages import Stage


class Run(NamedTuple):
    """A run as far as it has come.

    `files` are hashes by path. `attempted` and `answered` are steps that were begun and not finished; `last`
    is the newest verdict of each stage. `stopped` is how the run ended, where that is not the machine's end.
    """

    state: State
    files: dict[str, str]
    attempts: int
    attempted: Attempted | None
    answered: Answered | None
    last: dict[Stage, Judged]
    stopped: str = ""

    @property
    def end(self) -> str:
        """How the run ended; empty while it is at work."""
        return self.state.end or self.stopped


def limits_of(begun: Begun) -> Limits:
    """The limits that a run was begun with. Raises InputError where they are not all there."""
    given = begun.limits
    if set(given) != set(Limits._fields):
        raise InputError(f"limits are {', '.join(Limits._fields)}", NAME, 1)
    return Limits(
        int(given["per_stage"]), int(given["spawns"]), int(given["tokens"]), float(given["seconds"])
    )


def replayed(entries: Sequence[Entry]) -> Run:
    """The run after these entries, the first is `begun`.

    Raises InputError for an entry that no run could have after those before it.
    """
    begun = entries[0]
    assert isinstance(begun, Begun)
    limits = limits_of(begun)
    run = Run(begin(limits), dict(begun.files), 0, None, None, {})
    for number, entry in enumerate(entries[1:], 2):
        wrong = _impossible(run, entry)
        if wrong is not None:
            raise InputError(f"{wrong}: a line was changed or taken out", NAME, number)
        if isinstance(entry, Attempted):
            run = run._replace(attempted=entry, attempts=entry.attempt, stopped="")
        elif isinstance(entry, Answered):
            run = run._replace(answered=entry)
        elif isinstance(entry, Supplied):
            state = reopened(run.state, limits, anew=entry.anew)
            run = run._replace(files={**run.files, **entry.files}, state=state, stopped="")
        elif isinstance(entry, Judged):
            run = _judged(run, entry, limits)
        elif isinstance(entry, Ended) and run.state.stage is not None:
            run = run._replace(stopped=entry.end)
    return run


def _impossible(run: Run, entry: Entry) -> str | None:
    """Why an entry cannot follow; None where it can."""
    if isinstance(entry, Begun):
        return "a run begins once"
    if isinstance(entry, Ended):
        if run.state.end == entry.end or (_between(run) and entry.end.startswith(WORKER)):
            return None
        return f"it ends as {entry.end}, and the run is elsewhere"
    if isinstance(entry, Supplied):
        foreign = [path for path in entry.files if not path.startswith("given/")]
        return f"{foreign[0]} is not given" if foreign else None
    before = entry.attempt, entry.stage
    if isinstance(entry, Attempted):
        if run.attempted is not None or before != (run.attempts + 1, run.state.stage):
            return f"attempt {entry.attempt} of {entry.stage} is not what comes next"
        return None if entry.inputs == run.files else "its inputs are not the files of the run"
    pending = run.attempted if isinstance(entry, Answered) else run.answered
    if (
        pending is None
        or (pending.attempt, pending.stage) != before
        or (pending is run.attempted and run.answered)
    ):
        what = "answered" if isinstance(entry, Answered) else "judged"
        return f"attempt {entry.attempt} of {entry.stage} is {what} out of order"
    own = gate_owns if isinstance(entry, Judged) else owns
    foreign = [path for path in entry.outputs if not own(entry.stage, path)]
    if foreign:
        return f"{foreign[0]} is not of {entry.stage}"
    if isinstance(entry, Judged) and (entry.stage, entry.outcome) not in TABLE:
        return f"{entry.stage} has no outcome {entry.outcome}"
    return None


def _between(run: Run) -> bool:
    """Whether a stage is to be done, and nobody has begun it."""
    return run.state.stage is not None and run.attempted is None


def _judged(run: Run, entry: Judged, limits: Limits) -> Run:
    answered = run.answered
    assert answered is not None  # _impossible() has looked
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
    stale = _resting(stage)
    kept = {path: name for path, name in files.items() if not any(gate_owns(each, path) for each in stale)}
    if "diff" in stale and stage != "diff":
        kept = {path: name for path, name in kept.items() if not owns("diff", path)}
    if judged.outcome not in BROKEN or judged.outcome == "MALFORMED":
        kept = {path: name for path, name in kept.items() if not owns(stage, path)}
        kept |= answered.outputs
    return kept | judged.outputs | {f"gates/{stage}.json": judged.verdict}


def basis(stage: Stage, files: dict[str, str]) -> dict[str, str]:
    """Those files that a stage's answer can rest on, but for what was said of it: they lead to it again."""
    resting = _resting(stage)
    return {
        path: name
        for path, name in files.items()
        if not any(owns(each, path) or gate_owns(each, path) for each in resting)
    }


def _resting(stage: Stage) -> list[Stage]:
    """The stage, and those whose files rest on its own."""
    found: list[Stage] = [stage]
    for each in STAGES:
        if stage in STAGES[each].needs:
            found.append(each)
    return [*found, "diff"] if stage in ("kernel", "host") else found
