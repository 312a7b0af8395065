"""The step of a comparison that asks z3 about what the normal form could not settle."""

from __future__ import annotations

from time import monotonic
from typing import TYPE_CHECKING

from tileir_diff.equivalence.symbolic.again import Again
from tileir_diff.equivalence.symbolic.answer import Answer, Fact, unknown
from tileir_diff.equivalence.symbolic.facts import Known
from tileir_diff.equivalence.symbolic.simulate import Simulation
from tileir_diff.graph.show import show

if TYPE_CHECKING:
    from tileir_diff.graph.store import Term
    from tileir_diff.match.effects import EffectPair
    from tileir_diff.match.search import Attempt

QUESTIONS = 20
"""What is not shown to be equal gets so many times the seconds of one question, all together."""
CONFIRMATIONS = 4
"""What is shown to be equal, but for what is taken for granted, gets so many times the seconds."""
WHERE = 7
"""From here on a key of an effect has what is not told by loops, lanes, address, condition and values."""


def prove(attempt: Attempt, names: dict[Term, str], seconds: float) -> list[tuple[EffectPair, Answer]]:
    """An answer for each pair of effects, loads included: first those that are not shown to be equal.

    Of those that are, what the normal form takes for granted is asked about.
    ``names``: of the parameters, as the comparison shows them. ``seconds``: for one question.
    """
    match = attempt.match
    pairs = [pair for pair in (*match.pairs, *match.loads) if pair.whole]
    again = Again(attempt)
    source = attempt.reference.terms
    own = {copy: name for term, name in names.items() if (copy := again.copied(source, term)) is not None}
    simulation = Simulation(again, own, seconds)
    answers: list[tuple[EffectPair, Answer]] = []
    for equal, questions in ((False, QUESTIONS), (True, CONFIRMATIONS)):
        simulation.solver.until = monotonic() + questions * seconds
        answers += [
            (pair, _answer(attempt, again, simulation, pair)) for pair in pairs if pair.equal == equal
        ]
    return answers


def _answer(attempt: Attempt, again: Again, simulation: Simulation, pair: EffectPair) -> Answer:
    ref, gen = pair.reference.effect, pair.generated.effect
    if pair.reference.key()[:2] != pair.generated.key()[:2]:
        return unknown("the two are not the same kind of access")
    if pair.reference.key()[WHERE:] != pair.generated.key()[WHERE:]:
        return unknown("mode, ordering or scope differ")
    ours, theirs = again.effect(0, ref.op), again.effect(1, gen.op)
    if ours is None or theirs is None:
        return unknown("one of the two is in a loop or a branch that is evaluated otherwise")
    terms = attempt.reference.terms
    host: list[Known] = []
    for atom in pair.obligations:
        copy = again.copied(terms, atom)
        if copy is not None:
            host.append(
                Known(copy, Fact(f"{show(again.terms, copy, simulation.blame.names)} for all blocks", "host"))
            )
    return simulation.effects(ours, theirs, host)
