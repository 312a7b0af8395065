"""What a question about two integers can end as, and what the answer rests on."""

from __future__ import annotations

from typing import Final, NamedTuple

PROVEN = "proven"
COUNTEREXAMPLE = "counterexample"
UNKNOWN = "unknown"


class Fact(NamedTuple):
    """Something that a proof used.

    source   "reference" or "generated": a promise of that side, or what would be undefined there otherwise;
             "dialect": what the dialect says of every kernel; "host": what only the host can guarantee
    """

    text: str
    source: str

    def __str__(self) -> str:
        return self.text if self.source in ("dialect", "host") else f"{self.source}: {self.text}"


SAYS_PROVEN: Final = "proven equal by z3"
SAYS_REFUTED: Final = "differs for: "
"""How the evidence of an answer reads."""


class Answer(NamedTuple):
    """The end of one question.

    facts     proven: everything that was assumed besides the ranges that types, lanes and grids give
    example   counterexample: the input and what both sides make of it, in one line
    why       unknown: what stood in the way
    provided  not proven: conditions under which it would be
    """

    outcome: str
    facts: tuple[Fact, ...] = ()
    example: str = ""
    why: str = ""
    provided: tuple[str, ...] = ()

    @property
    def proven(self) -> bool:
        return self.outcome == PROVEN

    @property
    def refuted(self) -> bool:
        return self.outcome == COUNTEREXAMPLE

    @property
    def host(self) -> tuple[str, ...]:
        """What the host must guarantee for the proof to hold."""
        return tuple(fact.text for fact in self.facts if fact.source == "host")

    @property
    def evidence(self) -> str:
        """The answer as a sentence for a report."""
        if self.outcome == PROVEN:
            under = "; ".join(map(str, self.facts))
            return f"{SAYS_PROVEN} under: {under}" if under else SAYS_PROVEN
        refuted = self.outcome == COUNTEREXAMPLE
        words = f"{SAYS_REFUTED}{self.example}" if refuted else f"neither proven nor refuted: {self.why}"
        if self.provided:
            words = f"{words}; proven equal where {' and '.join(self.provided)}"
        return words


def unknown(why: str) -> Answer:
    return Answer(UNKNOWN, why=why)
