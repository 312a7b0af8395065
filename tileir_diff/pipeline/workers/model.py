"""What a worker is: it takes a role card and files, and leaves files."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple, Protocol

from tileir_diff.pipeline.sandbox import SCRATCH

if TYPE_CHECKING:
    from pathlib import Path

    from tileir_diff.pipeline.stages import Stage

__all__ = ["SCRATCH", "Answer", "Task", "Worker"]


class Task(NamedTuple):
    """One attempt. `folder` is a copy of the port's files, in which only the stage's own are taken back."""

    stage: Stage
    operator: str
    attempt: int
    folder: Path
    card: str
    tokens: int
    seconds: float
    hide: tuple[Path, ...] = ()


class Answer(NamedTuple):
    """How a worker ended; what it made lies in the task's folder."""

    status: Literal["ok", "failed", "timeout", "stopped"] = "ok"
    said: bytes = b""
    tokens: int = 0
    sandbox: str = "none"


class Worker(Protocol):
    """Anything that does a task."""

    @property
    def name(self) -> str:
        """As the log tells it."""
        ...

    @property
    def same(self) -> bool:
        """Whether it answers the same to the same files: then it is asked once."""
        ...

    def work(self, task: Task) -> Answer:
        """Does it. Raises InputError only where the worker itself cannot be started: that is no answer."""
        ...
