"""The step of a comparison that asks z3 about what the normal form could not settle."""

from __future__ import annotations

from time import monotonic
from typing import TYPE_CHECKING

from tileir_diff.equivalence.symbolic.again import Again
from tileir_diff.equivalence.symbolic.answer import Answer, Fact, unknown
from tileir_diff.equivalence.symbolic.facts import Known, nodes_under
from tileir_diff.equivalence.symbolic.simulate import Simulation
from tileir_diff.graph.carries import depth_iteration
from tileir_diff.match.blame import Blame
from tileir_diff.match.obligations import covers, for_all_lanes, lost_conditions, obligation

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from tileir_diff.graph.kernel import Effect, Loop
    from tileir_diff.graph.store import Term
    from tileir_diff.match.effects import EffectPair
    from tileir_diff.match.search import Attempt

QUESTIONS = 20
"""What is not shown to be equal gets so many times the seconds of one question, all together."""
CONFIRMATIONS = 4
"""What is shown to be equal, but for what is taken for granted, gets so many times the seconds."""
MAX_LOADS = 4
"""More loaded integers than this are not taken to be sizes."""
WHERE = 7
"""From here on a key of an effect has what is not told by loops, lanes, address, condition and values."""


def prove(
    attempt: Attempt, names: dict[Term, str], seconds: float, *, confirm: bool = True
) -> list[tuple[EffectPair, Answer]]:
    """An answer for each pair of effects, loads included: first those that are not shown to be equal.

    Of those that are, what the normal form takes for granted is asked about, if that is to be confirmed.
    ``names``: of the parameters, as the comparison shows them. ``seconds``: for one question.
    """
    match = attempt.match
    pairs = [pair for pair in (*match.pairs, *match.loads) if pair.whole and (confirm or not pair.equal)]
    if not pairs:
        return []
    again = Again(attempt)
    source = attempt.reference.terms
    own = {copy: name for term, name in names.items() if (copy := again.copied(source, term)) is not None}
    simulation = Simulation(again, own, seconds)
    blame = Blame(attempt.reference, attempt.generated, names)
    prover = _Prover(again, simulation, blame)
    prover.host = [known for pair in match.pairs for known in prover.conditions(pair.obligations)]
    answers: list[tuple[EffectPair, Answer]] = []
    for equal, questions in ((False, QUESTIONS), (True, CONFIRMATIONS)):
        simulation.solver.until = monotonic() + questions * seconds
        answers += [(pair, prover.answer(pair)) for pair in pairs if pair.equal == equal]
    return answers


class _Prover:
    """Answers for pairs of effects.

    host  what the host must guarantee for some pair, and is told to: it holds for every other pair too
    """

    def __init__(self, again: Again, simulation: Simulation, blame: Blame) -> None:
        self.again = again
        self.simulation = simulation
        self.blame = blame
        self.host: list[Known] = []

    def answer(self, pair: EffectPair) -> Answer:
        """Whether both do the same; also where one lacks a condition that the launch makes true."""
        ref, gen = pair.reference.effect, pair.generated.effect
        if pair.reference.key()[:2] != pair.generated.key()[:2]:
            return unknown("the two are not the same kind of access")
        if pair.reference.key()[WHERE:] != pair.generated.key()[WHERE:]:
            return unknown("mode, ordering or scope differ")
        ours, theirs = self.again.effect(0, ref.op), self.again.effect(1, gen.op)
        if ours is None or theirs is None:
            return unknown("one of the two is in a loop or a branch that is evaluated otherwise")
        try:
            return self._compared(pair, ours, theirs)
        except RecursionError:
            return unknown("it is nested too deeply")

    def _compared(self, pair: EffectPair, ours: Effect, theirs: Effect) -> Answer:
        host = [*self.host, *self.conditions(pair.obligations, ours.loops)]
        answer = self.simulation.effects(ours, theirs, host)
        lost = lost_conditions(self.blame.terms, pair)
        if answer.proven:
            return answer
        if not lost:
            return self._of_sizes(ours, theirs, answer, host)
        rows = [atom for atom in lost if covers(self.blame.reference, pair, atom)]
        if rows:
            covered = self.simulation.effects(ours, theirs, [*host, *self.conditions(rows)])
            if covered.proven or rows == lost:
                return covered
        inside = self.conditions(lost, ours.loops)
        if len(inside) < len(lost) or not self.simulation.effects(ours, theirs, [*host, *inside]).proven:
            return answer
        told = [known.fact for known in host]
        return answer._replace(
            provided=tuple(known.fact.text for known in inside if known.fact and known.fact not in told)
        )

    def _of_sizes(self, ours: Effect, theirs: Effect, answer: Answer, host: list[Known]) -> Answer:
        """What is open may be settled where loaded integers are sizes or counts: not negative."""
        terms = self.again.terms
        roots = [*ours.values, *((ours.pointer,) if ours.pointer is not None else ())]
        roots += [carry.next for loop in ours.loops for carry in loop.carries]
        loads = [
            node
            for node in nodes_under(terms, roots)
            if terms.kind[node] == "mem" and (terms.range(node)[0] or 0) < 0
        ]
        if answer.refuted or not 0 < len(loads) <= MAX_LOADS:
            return answer
        sizes = [
            Known(
                terms.le0(terms.scale(terms.atom(load), -1)),
                Fact(f"{self.simulation.blame.show(load)} is not negative", "host"),
            )
            for load in sorted(loads)
        ]
        found = self.simulation.effects(ours, theirs, [*host, *sizes])
        told = [known.fact.text for known in sizes if known.fact in found.facts and known.fact is not None]
        return answer._replace(provided=tuple(told)) if found.proven and told else answer

    def conditions(self, atoms: Iterable[Term], loops: Sequence[Loop] = ()) -> list[Known]:
        """What the host must guarantee, for all lanes at once, where it is about parameters and blocks.

        ``loops``: those whose iterations it may be about, outermost first.
        """
        terms = self.again.terms
        iterations = {
            depth_iteration(terms, depth): terms.atom(loop.iteration) for depth, loop in enumerate(loops)
        }
        found: list[Known] = []
        for atom in atoms:
            whole = for_all_lanes(self.blame.terms, atom)
            copy = None if whole is None else self.again.copied(self.blame.terms, whole)
            term = None if copy is None else terms.subst(copy, iterations)
            if term is not None and not any(terms.kind[s] == "it" for s in terms.symbols[term]):
                told = obligation(self.blame.terms, atom, self.blame.show(atom))
                found.append(Known(term, Fact(told, "host")))
        return found
