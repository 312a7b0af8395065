"""The words of the pipeline: stages, outcomes, and which stage owns which file."""

from __future__ import annotations

from typing import Final, Literal, NamedTuple

Stage = Literal["analyst", "kernel", "host", "performance", "diff", "investigator"]
Outcome = Literal[
    "PASS", "ALL_PASS", "UNMEASURED", "SLOW", "FAIL", "NO_BUILD", "MALFORMED", "REFUSED", "CRASHED",
    "TO_KERNEL", "TO_HOST", "UPSTREAM", "UNDIAGNOSED", "EXPLAINED",
]  # fmt: skip

BROKEN: Final[tuple[Outcome, ...]] = ("MALFORMED", "REFUSED", "CRASHED")
"""Of any stage: no artifact that follows its schema, files that were not its own, a worker that failed."""


class StageInfo(NamedTuple):
    """What a stage is.

    `writes` are the worker's files, `gate_writes` those of its gate; names that end with `/` are folders.
    `needs` are stages whose pass must hold when it begins; `passes` the outcomes that are one.
    """

    title: str
    writes: tuple[str, ...]
    needs: tuple[Stage, ...]
    passes: tuple[Outcome, ...]
    fails: tuple[Outcome, ...]
    gate_writes: tuple[str, ...] = ()


STAGES: Final[dict[Stage, StageInfo]] = {
    "analyst": StageInfo("analyst", ("analysis.json",), (), ("PASS",), ("FAIL",)),
    "kernel": StageInfo(
        "kernel writer", ("kernel.rs",), ("analyst",), ("PASS",), ("FAIL", "NO_BUILD"), ("generated/",)
    ),
    "host": StageInfo(
        "host builder", ("ffi.rs", "wrapper.py"), ("analyst", "kernel"), ("ALL_PASS",), ("FAIL", "NO_BUILD"),
        ("launched/", "correctness.json"),
    ),
    "performance": StageInfo(
        "performance validator", ("perf.json",), ("analyst", "kernel", "host"), ("PASS",),
        ("UNMEASURED", "SLOW", "FAIL"),
    ),
    "diff": StageInfo(
        "IR-diff analyst", ("diff_report.json", "reduced/"), ("analyst",), (),
        ("TO_KERNEL", "TO_HOST", "UPSTREAM", "UNDIAGNOSED"),
    ),
    "investigator": StageInfo(
        "performance investigator", ("residual.json",), ("analyst", "kernel", "host"), (),
        ("EXPLAINED", "FAIL"),
    ),
}  # fmt: skip


def owns(stage: Stage, path: str) -> bool:
    """Whether a worker of this stage may write this file."""
    return _within(path, STAGES[stage].writes)


def gate_owns(stage: Stage, path: str) -> bool:
    """Whether this stage's gate writes this file."""
    return _within(path, (*STAGES[stage].gate_writes, f"gates/{stage}.json"))


def _within(path: str, places: tuple[str, ...]) -> bool:
    return any(path == each or (each.endswith("/") and path.startswith(each)) for each in places)
