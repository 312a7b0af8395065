"""Gates that say what they are told to, and workers that do: for the engine alone."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

from tileir_diff.pipeline.engine import Port
from tileir_diff.pipeline.gates.common import Gate, Given, Ruled, Ruling
from tileir_diff.pipeline.machine import Limits
from tileir_diff.pipeline.stages import STAGES, Outcome, Stage
from tileir_diff.pipeline.workers.model import Answer, Task, Worker

CARDS: dict[Stage, str] = {stage: f"# {info.title}\n" for stage, info in STAGES.items()}
OWN: dict[Stage, str] = {stage: info.writes[0] for stage, info in STAGES.items()}
LIMITS = Limits()
HAPPY: tuple[tuple[Stage, Outcome], ...] = (
    ("analyst", "PASS"),
    ("kernel", "PASS"),
    ("host", "ALL_PASS"),
    ("performance", "UNMEASURED"),
)


class Writer:
    """Writes its stage's first file, and counts how often it was started."""

    name = "writer"

    def __init__(self, change: Callable[[Task], Answer | None] | None = None, *, same: bool = False) -> None:
        self.same = same
        self.tasks: list[Task] = []
        self._change = change

    def work(self, task: Task) -> Answer:
        self.tasks.append(task)
        place = task.folder / OWN[task.stage]
        if place.exists():
            place.chmod(0o644)
        place.write_text(f"{task.stage} {task.attempt}\n")
        answer = self._change(task) if self._change is not None else None
        return answer or Answer("ok", b"done", tokens=10)


class Script:
    """Gates whose outcomes come from a list, whatever they are shown; `calls` has the stages in order."""

    def __init__(self, outcomes: Iterable[tuple[Stage, Outcome]]) -> None:
        self.left = list(outcomes)
        self.calls: list[Stage] = []

    def gates(self) -> Mapping[Stage, Gate]:
        return {stage: self._gate(stage) for stage in STAGES}

    def _gate(self, stage: Stage) -> Gate:
        def judge(given: Given) -> Ruled:
            self.calls.append(stage)
            wanted, outcome = self.left.pop(0)
            assert wanted == stage
            ruling = Ruling(stage, given)
            ruling.saw(OWN[stage])
            ruling.check("told", None if outcome in STAGES[stage].passes else outcome, outcome)
            for path in STAGES[stage].gate_writes:
                ruling.outputs[f"{path}x.mlir" if path.endswith("/") else path] = outcome.encode()
            return ruling.rule(outcome)

        return judge


def begun(folder: Path, worker: Worker, gates: Mapping[Stage, Gate], limits: Limits = LIMITS) -> Port:
    """A port that has begun."""
    port = Port(folder, worker, gates, CARDS)
    port.begin("k", limits, {}, {"reference/a.mlir": b"a\n", "reference/a.json": b"{}\n"})
    return port
