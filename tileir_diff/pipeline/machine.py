"""The state machine of a port: a table, and a pure function on it. It knows no files, workers or clocks."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Final, NamedTuple

from tileir_diff.pipeline.stages import BROKEN, STAGES, Outcome, Stage

if TYPE_CHECKING:
    from collections.abc import Mapping

COMPLETE: Final = "COMPLETE"
"""Right and as fast, by a measurement."""
UNMEASURED: Final = "COMPLETE: unmeasured"
"""Right by the evidence that correctness.json names; how fast is not known."""
SLOW: Final = "COMPLETE: slow"
"""Right, and slower than the reference; residual.json says why."""
UPSTREAM: Final = "BLOCKED: upstream"
UNDIAGNOSED: Final = "BLOCKED: undiagnosed"
BUDGET: Final = "BLOCKED: budget"
WORKER: Final = "BLOCKED: worker"
"""A stage is to be done again, and its worker would answer the same; the engine ends the run so."""

TABLE: Final[Mapping[tuple[Stage, Outcome], Stage | str]] = MappingProxyType(
    {
        ("analyst", "PASS"): "kernel",
        ("analyst", "FAIL"): "analyst",
        ("kernel", "PASS"): "host",
        # the compiler has said what is wrong: nobody needs to look for it
        ("kernel", "NO_BUILD"): "kernel",
        ("kernel", "FAIL"): "diff",
        ("host", "ALL_PASS"): "performance",
        ("host", "NO_BUILD"): "host",
        ("host", "FAIL"): "diff",
        ("performance", "PASS"): COMPLETE,
        ("performance", "UNMEASURED"): UNMEASURED,
        ("performance", "SLOW"): "investigator",
        # wrong on a GPU, whatever its speed
        ("performance", "FAIL"): "diff",
        ("diff", "TO_KERNEL"): "kernel",
        ("diff", "TO_HOST"): "host",
        ("diff", "UPSTREAM"): UPSTREAM,
        ("diff", "UNDIAGNOSED"): UNDIAGNOSED,
        ("investigator", "EXPLAINED"): SLOW,
        ("investigator", "FAIL"): "investigator",
        **{(stage, outcome): stage for stage in STAGES for outcome in BROKEN},
    }
)
"""Where an outcome leads: to a stage, or to how the run ends."""


class Limits(NamedTuple):
    """What a run may use: workers a stage and in all, tokens, seconds of workers and gates."""

    per_stage: int = 4
    spawns: int = 16
    tokens: int = 2_000_000
    seconds: float = 6 * 3600.0


class Spent(NamedTuple):
    """What one attempt used."""

    tokens: int = 0
    seconds: float = 0.0


class State(NamedTuple):
    """Where a run is. `stage` is the one to do next; `end` is how the run ended, and then there is none.

    `passed` are the stages whose pass still holds: it falls when a stage before it is done again.
    """

    stage: Stage | None = "analyst"
    end: str = ""
    passed: frozenset[Stage] = frozenset()
    spawned: tuple[Stage, ...] = ()
    tokens: int = 0
    seconds: float = 0.0


def begin(limits: Limits) -> State:
    """The state before anything is done."""
    return _within(State(), limits)


def after(state: State, outcome: Outcome, spent: Spent, limits: Limits) -> State:
    """The state after the gate of `state.stage` said so.

    Raises ValueError for a run that has ended, and for an outcome that this stage does not have.
    """
    stage = state.stage
    if stage is None or (stage, outcome) not in TABLE:
        raise ValueError(f"{stage or 'a run that has ended'} has no outcome {outcome}")
    kept: list[Stage] = [each for each in state.passed if each != stage and stage not in STAGES[each].needs]
    if outcome in STAGES[stage].passes:
        kept.append(stage)
    passed = frozenset(kept)
    state = state._replace(
        passed=passed,
        spawned=(*state.spawned, stage),
        # a worker that reports less than nothing gains nothing
        tokens=state.tokens + max(0, spent.tokens),
        seconds=state.seconds + max(0.0, spent.seconds),
    )
    target = TABLE[stage, outcome]
    for following in STAGES:
        if following == target:
            return _within(state._replace(stage=_reachable(following, passed)), limits)
    return state._replace(stage=None, end=target)


MEASURING: Final[tuple[Stage, ...]] = ("performance", "investigator")
"""Stages that look at results of a GPU alone."""


def reopened(state: State, limits: Limits, *, anew: bool) -> State:
    """The state after the user gave more: a run that ended unmeasured goes on where it is measured.

    `anew`: with other results, so that attempts on those of before do not count, and a run that ran out of
    them goes on too.
    """
    blocked = anew and state.end.startswith(tuple(f"{BUDGET} ({stage}:" for stage in MEASURING))
    if state.end != UNMEASURED and not blocked:
        return state
    spawned = tuple(each for each in state.spawned if not anew or each not in MEASURING)
    return _within(state._replace(stage="performance", end="", spawned=spawned), limits)


def _reachable(stage: Stage, passed: frozenset[Stage]) -> Stage:
    """The stage, or the first one before it whose pass does not hold."""
    for each in STAGES[stage].needs:
        if each not in passed:
            return each
    return stage


def _within(state: State, limits: Limits) -> State:
    """The same, or BLOCKED: budget where the next worker would be one too many."""
    if state.stage is None:
        return state
    used = {
        f"{state.stage}: {limits.per_stage} attempts": state.spawned.count(state.stage) >= limits.per_stage,
        f"{limits.spawns} attempts in all": len(state.spawned) >= limits.spawns,
        f"{limits.tokens} tokens": state.tokens >= limits.tokens,
        f"{limits.seconds:g} s": state.seconds >= limits.seconds,
    }
    over = next((what for what, is_over in used.items() if is_over), None)
    return state if over is None else state._replace(stage=None, end=f"{BUDGET} ({over})")
