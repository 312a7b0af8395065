"""What a classification is: steps with answers, and the cause and owner that follow from them."""

from __future__ import annotations

from typing import Final, NamedTuple

SCHEMA: Final = "tileir-classify/1"

YES, NO, OPEN, NOT_RUN = "yes", "no", "open", "not run"
"""Answers. `open`: its input was not given. `not run`: why it was not asked stands in `evidence`."""

OWNERS: Final[dict[str, str | None]] = {
    "translation": "kernel",
    "frontend-bug": "frontend",
    "tileiras-bug": "tileiras",
    "host": "host",
    "known-gap": None,
    "equivalent": None,
    "unknown": None,
}
"""Who has to act, by cause."""


class Step(NamedTuple):
    """One question of the ladder.

    `settle` is what would answer it; empty where it is answered.
    """

    name: str
    question: str
    answer: str
    evidence: str
    settle: str = ""


class Classification(NamedTuple):
    """The cause, and why; `verdict` is that of the comparison, BLOCKED where there was none."""

    schema: str
    cause: str
    owner: str | None
    why: str
    verdict: str
    reference: str
    generated: str
    steps: list[Step]
    versions: dict[str, str]
