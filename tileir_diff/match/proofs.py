"""What a prover says about effects that the normal form does not show to be equal.

The prover itself is a later step; this module takes its answers into what was found.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Protocol, TypeAlias

from tileir_diff.graph.values import sort_of
from tileir_diff.match.beyond_launch import PLACES
from tileir_diff.match.blame import Blame
from tileir_diff.match.explain_pair import explain_pair
from tileir_diff.match.load_bounds import beyond

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from tileir_diff.graph.terms import Term
    from tileir_diff.match.effects import EffectPair
    from tileir_diff.match.model import Difference, Site
    from tileir_diff.match.search import Attempt

    Answers: TypeAlias = "Sequence[tuple[EffectPair, Answer]]"
    Prover: TypeAlias = Callable[[Attempt, dict[Term, str]], Answers]
    """Answers for the unequal pairs of an attempt; the names are those of the parameters."""


class Answer(Protocol):
    """What is known of two effects."""

    @property
    def proven(self) -> bool:
        """They do the same."""
        ...

    @property
    def evidence(self) -> str:
        """Under what, or for which input they differ, or why that is not known."""
        ...

    @property
    def refuted(self) -> bool:
        """They differ for an input, which the evidence names."""
        ...

    @property
    def facts(self) -> Sequence[object]:
        """What a proof rests on."""
        ...

    @property
    def host(self) -> tuple[str, ...]:
        """What the host must guarantee for the proof to hold."""
        ...


def remarks(answers: Answers) -> list[str]:
    """What is to be said of pairs that are equal but for what was taken for granted."""
    lines: list[str] = []
    for pair, answer in answers:
        effect = pair.generated.effect
        if pair.equal and (answer.refuted or (answer.proven and answer.facts)):
            lines.append(
                f"the {effect.kind.replace('_', ' ')} of line {effect.op.span.line}: {answer.evidence}"
            )
    return lines


def settle(attempt: Attempt, names: dict[Term, str], answers: Answers) -> list[Difference]:
    """Takes what is proven as equal; returns how it is written otherwise: differences that do not matter."""
    found: list[Difference] = []
    loads = attempt.match.loads
    for pair, answer in answers:
        if pair.equal or not answer.proven:
            continue
        blame = Blame(attempt.reference, attempt.generated, names)
        if pair in loads:
            causes = beyond(blame, attempt, [pair], lambda _: None)
        else:
            causes = explain_pair(blame, pair)
        pair.equal = True
        found.extend(
            replace(cause, status="SEMANTIC_EQUIV", impact="none", note=answer.evidence) for cause in causes
        )
    return found


def host_conditions(answers: Answers) -> list[str]:
    """What the host must guarantee for the proofs to hold."""
    return list(dict.fromkeys(line for _, answer in answers if answer.proven for line in answer.host))


def with_evidence(differences: Sequence[Difference], answers: Answers) -> list[Difference]:
    """The differences, each with what is known about the accesses it is about."""
    at = {
        (id(pair.reference.effect.op), id(pair.generated.effect.op)): answer
        for pair, answer in answers
        if not answer.proven
    }
    left = [(pair, answer) for pair, answer in answers if not answer.proven]
    first = next((each for each in left if each[1].refuted), next(iter(left), None))
    return [_with_evidence(difference, at, first) for difference in differences]


def _with_evidence(
    difference: Difference, at: dict[tuple[int, int], Answer], first: tuple[EffectPair, Answer] | None
) -> Difference:
    """What is known of the access itself, else of the first one that differs."""
    if first is None or difference.impact == "none" or difference.rule.split("/")[0] not in PLACES:
        return difference
    sites = difference.reference, difference.generated
    own = at.get((id(sites[0].op), id(sites[1].op))) if sites[0] and sites[1] else None
    pair, answer = first
    if own is not None:
        evidence = own.evidence
    elif not any(_is_index(place) for place in sites):
        return difference
    else:
        effect = pair.generated.effect
        evidence = f"the {effect.kind.replace('_', ' ')} of line {effect.op.span.line}: {answer.evidence}"
    return replace(difference, note="; ".join(filter(None, (difference.note, evidence))))


def _is_index(place: Site | None) -> bool:
    """Whether an op computes integers or conditions, reads or writes memory, or runs others."""
    if place is None or not (place.op.results or place.op.regions):
        return False
    return bool(place.op.regions) or place.op.short.endswith("_tko") or sort_of(place.op.results[0]) != "data"
