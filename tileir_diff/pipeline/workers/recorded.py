"""Recorded answers, for tests and to show what happened: a JSON list, an answer for each attempt in order.

[{"stage": "kernel", "files": {"kernel.rs": "text", "old.txt": null}, "status": "ok", "tokens": 10}]

`null` deletes a file
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Literal, NamedTuple

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from tileir_diff.errors import InputError
from tileir_diff.ingest.data import parse_json
from tileir_diff.ingest.text import read_text
from tileir_diff.pipeline.artifacts import Inside  # noqa: TC001  (pydantic looks at it)
from tileir_diff.pipeline.stages import Stage  # noqa: TC001  (pydantic looks at it)
from tileir_diff.pipeline.workers.model import Answer, Task

if TYPE_CHECKING:
    from collections.abc import Sequence


class Recorded(BaseModel):
    """One answer."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    stage: Stage
    files: dict[Inside, str | None] = Field(default_factory=dict)
    status: Literal["ok", "failed", "timeout"] = "ok"
    tokens: int = 0
    said: str = ""


class Replay(NamedTuple):
    """A worker that says again what was said."""

    path: str
    answers: Sequence[Recorded]
    same: bool = False

    @property
    def name(self) -> str:
        """As the log tells it."""
        return f"replay:{os.path.basename(self.path)}"

    def work(self, task: Task) -> Answer:
        """The answer for this attempt; it fails where there is none, or one of another stage."""
        if task.attempt > len(self.answers):
            return Answer("failed", f"there are {len(self.answers)} answers".encode())
        answer = self.answers[task.attempt - 1]
        if answer.stage != task.stage:
            return Answer("failed", f"answer {task.attempt} is for {answer.stage}, not {task.stage}".encode())
        for path, text in answer.files.items():
            place = task.folder / path
            if text is None:
                place.unlink(missing_ok=True)
                continue
            place.parent.mkdir(parents=True, exist_ok=True)
            if place.exists():
                place.chmod(0o644)
            place.write_text(text, "utf-8")
        return Answer(answer.status, answer.said.encode(), answer.tokens)


def read_replay(path: str) -> Replay:
    """Reads recorded answers. Raises InputError."""
    found = parse_json(read_text(path), path)
    try:
        return Replay(path, TypeAdapter(list[Recorded]).validate_python(found))
    except ValidationError as error:
        first = error.errors()[0]
        raise InputError(f"{'.'.join(map(str, first['loc']))}: {first['msg']}", path) from None
