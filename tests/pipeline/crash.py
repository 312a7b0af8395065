"""A process that works on a port until somebody kills it; it notes in a file what it does. For test_crash."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping
from multiprocessing.synchronize import Event
from pathlib import Path

from tests.pipeline.fakes import CARDS, OWN, Writer
from tileir_diff.pipeline.engine import Port
from tileir_diff.pipeline.gates.common import Gate, Given, Ruled, Ruling
from tileir_diff.pipeline.machine import Limits
from tileir_diff.pipeline.stages import STAGES, Outcome, Stage
from tileir_diff.pipeline.workers.model import Answer, Task

ROUTE: tuple[tuple[Stage, Outcome], ...] = (
    ("analyst", "PASS"),
    ("kernel", "FAIL"),
    ("diff", "TO_KERNEL"),
    ("kernel", "PASS"),
    ("host", "FAIL"),
    ("diff", "TO_HOST"),
    ("host", "ALL_PASS"),
    ("performance", "UNMEASURED"),
)


def note(notes: Path, text: str) -> None:
    """One line, that is there when this returns."""
    with notes.open("a") as file:
        file.write(f"{os.getpid()} {text}\n")


class Noted(Writer):
    """A worker that notes its attempts."""

    def __init__(self, notes: Path) -> None:
        super().__init__()
        self._notes = notes

    def work(self, task: Task) -> Answer:
        note(self._notes, f"work {task.attempt}")
        return super().work(task)


def gates(notes: Path) -> Mapping[Stage, Gate]:
    """Gates that decide by the number of the attempt, which the artifact names."""

    def gate(stage: Stage) -> Gate:
        def judge(given: Given) -> Ruled:
            attempt = int(given.text(OWN[stage]).split()[1])
            note(notes, f"judge {attempt}")
            ruling = Ruling(stage, given)
            ruling.saw(OWN[stage])
            ruling.outputs |= {
                f"{path}x" if path.endswith("/") else path: b"text" for path in STAGES[stage].gate_writes
            }
            return ruling.rule(ROUTE[attempt - 1][1])

        return judge

    return {stage: gate(stage) for stage in STAGES}


def main(folder: Path, notes: Path, ready: Event) -> None:
    """Begins the port, or goes on with it; what it leaves lies beside its notes."""
    tempfile.tempdir = str(notes.parent)
    port = Port(folder, Noted(notes), gates(notes), CARDS)
    if not port.log.entries:
        port.begin("k", Limits(), {}, {"reference/a.mlir": b"a"})
    ready.set()
    port.go()
