"""The state machine: a run always ends, within its limits, and no pass is skipped."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tileir_diff.pipeline.machine import (
    BUDGET,
    COMPLETE,
    TABLE,
    UNMEASURED,
    Limits,
    Spent,
    State,
    after,
    begin,
    reopened,
)
from tileir_diff.pipeline.stages import BROKEN, STAGES, Outcome, Stage

LIMITS = st.builds(
    Limits,
    per_stage=st.integers(1, 5),
    spawns=st.integers(1, 20),
    tokens=st.integers(1, 1000),
    seconds=st.floats(0.5, 1000),
)
SPENT = st.builds(Spent, tokens=st.integers(-50, 400), seconds=st.floats(-5, 400))


def outcomes(stage: Stage) -> list[Outcome]:
    """All outcomes that a stage has, in the order of the table."""
    return [outcome for at, outcome in TABLE if at == stage]


def walk(data: st.DataObject, limits: Limits) -> list[tuple[State, Outcome]]:
    """A whole run on arbitrary verdicts: the state before each, and the state at the end with a last one."""
    state = begin(limits)
    steps: list[tuple[State, Outcome]] = []
    while state.stage is not None:
        outcome = data.draw(st.sampled_from(outcomes(state.stage)))
        steps.append((state, outcome))
        state = after(state, outcome, data.draw(SPENT), limits)
        assert len(steps) <= limits.spawns
    steps.append((state, "FAIL"))
    return steps


@given(st.data(), LIMITS)
def test_a_run_ends_within_its_limits(data: st.DataObject, limits: Limits) -> None:
    steps = walk(data, limits)
    last = steps[-1][0]
    assert last.stage is None
    assert last.end
    for stage in STAGES:
        assert last.spawned.count(stage) <= limits.per_stage
    for state, _ in steps[:-1]:
        # nobody is started once a limit is reached
        assert state.tokens < limits.tokens
        assert state.seconds < limits.seconds
        assert len(state.spawned) < limits.spawns


@given(st.data(), LIMITS)
def test_a_stage_begins_only_where_what_it_needs_has_passed(data: st.DataObject, limits: Limits) -> None:
    held: set[Stage] = set()
    for state, outcome in walk(data, limits)[:-1]:
        stage = state.stage
        assert stage is not None
        assert set(STAGES[stage].needs) <= held
        assert state.passed == held
        held = {each for each in held if each != stage and stage not in STAGES[each].needs}
        if outcome in STAGES[stage].passes:
            held.add(stage)


@given(st.data(), LIMITS)
def test_a_run_completes_only_after_the_passes_of_all_stages(data: st.DataObject, limits: Limits) -> None:
    steps = walk(data, limits)
    last = steps[-1][0]
    if not last.end.startswith("COMPLETE"):
        return
    assert {"analyst", "kernel", "host"} <= last.passed
    assert (last.end == COMPLETE) == ("performance" in last.passed)


@given(st.data(), LIMITS)
def test_a_worse_verdict_never_completes_sooner(data: st.DataObject, limits: Limits) -> None:
    """A failing verdict in place of a passing one does not end a run as complete at that step."""
    state = begin(limits)
    while state.stage is not None:
        stage = state.stage
        for worse in (*BROKEN, *STAGES[stage].fails):
            end = after(state, worse, Spent(), limits).end
            assert end != COMPLETE
            assert not end.startswith("COMPLETE") or worse in ("UNMEASURED", "EXPLAINED")
        state = after(state, data.draw(st.sampled_from(outcomes(stage))), data.draw(SPENT), limits)


def test_the_table_is_whole() -> None:
    for stage, info in STAGES.items():
        assert set(outcomes(stage)) == {*info.passes, *info.fails, *BROKEN}
    targets = {target for target in TABLE.values() if target not in STAGES}
    assert targets == {COMPLETE, UNMEASURED, "COMPLETE: slow", "BLOCKED: upstream", "BLOCKED: undiagnosed"}


@pytest.mark.parametrize("outcome", ["ALL_PASS", "SLOW", "TO_HOST"])
def test_an_outcome_of_another_stage_is_none(outcome: Outcome) -> None:
    with pytest.raises(ValueError, match="has no outcome"):
        after(begin(Limits()), outcome, Spent(), Limits())


def test_running_out_says_of_what() -> None:
    limits = Limits(per_stage=1)
    state = after(begin(limits), "FAIL", Spent(), limits)
    assert state.end == f"{BUDGET} (analyst: 1 attempts)"


def test_a_host_is_not_reached_past_a_kernel_that_failed() -> None:
    limits = Limits()
    state = begin(limits)
    for outcome in ("PASS", "FAIL"):
        state = after(state, outcome, Spent(), limits)
    assert state.stage == "diff"
    assert after(state, "TO_HOST", Spent(), limits).stage == "kernel"


def test_a_run_that_is_opened_again_keeps_its_limits() -> None:
    ended = State(stage=None, end=UNMEASURED, spawned=("performance",) * 2)
    assert reopened(ended, Limits(per_stage=3), anew=False).stage == "performance"
    assert reopened(ended, Limits(per_stage=2), anew=False).end.startswith(BUDGET)
    other = State(stage=None, end=COMPLETE)
    assert reopened(other, Limits(), anew=True) == other


@pytest.mark.parametrize("stage", STAGES)
def test_other_results_open_only_what_measuring_has_ended(stage: Stage) -> None:
    limits = Limits(per_stage=2)
    blocked = State(stage=None, end=f"{BUDGET} ({stage}: 2 attempts)", spawned=("host", stage, stage))
    state = reopened(blocked, limits, anew=True)
    if stage in ("performance", "investigator"):
        assert (state.stage, state.spawned) == ("performance", ("host",))
        assert reopened(blocked._replace(seconds=1e9), limits, anew=True).end.startswith(BUDGET)
    else:
        assert state == blocked
    assert reopened(blocked, limits, anew=False) == blocked
