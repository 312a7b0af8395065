"""What a classification is: steps with answers, and the cause and owner that follow from them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from tileir_diff.api import Options
    from tileir_diff.lowering.assembler import Assembler

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
    "equivalent-if": None,
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


QUESTIONS: Final = {
    "verifies": "do both sides verify?",
    "structure": "do both sides compute the same by structure?",
    "launch": "does the launch hand the same to both sides?",
    "proven": "is what differs proven equal?",
    "runs": "do both sides give the same in runs?",
    "source": "does the kernel's source ask for what its IR lacks?",
    "assembler": "does the assembler take both sides?",
    "cubin": "was the generated side what was compiled and launched?",
    "levels": "do -O0 and -O3 agree?",
    "gpu": "does a direct launch agree with the interpreter?",
    "host": "does the host's launch agree with the direct one?",
}
"""In order."""


class Inputs(NamedTuple):
    """What a classification may look at; None for what was not given."""

    reference: str
    generated: str
    options: Options
    source: str | None = None
    gpu_result: str | None = None
    cubin: str | None = None
    arch: str = "sm_90"
    assembler: Assembler | None = None


def step(name: str, answer: str, evidence: str, settle: str = "") -> Step:
    """The step of that name with its question."""
    return Step(name, QUESTIONS[name], answer, evidence, settle)


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
