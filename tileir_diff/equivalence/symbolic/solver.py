"""Questions to z3: whether two integers or two conditions can differ under what is known."""

from __future__ import annotations

from time import monotonic
from typing import TYPE_CHECKING, Any

from tileir_diff.equivalence.symbolic.answer import COUNTEREXAMPLE, PROVEN, Answer, Fact, unknown
from tileir_diff.equivalence.symbolic.backend import z3
from tileir_diff.equivalence.symbolic.facts import SIDES, Known, divisions, facts_of
from tileir_diff.equivalence.symbolic.translate import NotTranslatedError, Translator, same
from tileir_diff.graph.integers import HASH_FACTOR
from tileir_diff.graph.values import is_integer

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from tileir_diff.graph.kernel import Kernel
    from tileir_diff.graph.terms import Term, Terms

ROUNDS = 2
"""How far facts are looked for: those about the symbols of the question, then about symbols of those."""
INDEX_KINDS = frozenset({"poly", "div", "tdiv", "min", "max", "ite", "b2i", "wrap", "zext", "mul"})
INDEX_SYMBOLS = frozenset({"arg", "block", "grid", "lane", "bound", "iter", "it", "carry_lane"})
SMALL = (2, 16, 300, 5000, 100_000)
SMALL_MILLISECONDS = 300
CONDITIONS = frozenset({"le", "eq", "not", "and", "or", "ult", "true", "false"})


class Solver:
    """Asks questions about one pair of kernels whose terms share one exact store.

    limit   seconds for one question
    until   the moment after which no question is asked any more
    values  the integers of the last counterexample, by symbol
    """

    def __init__(
        self, reference: Kernel, generated: Kernel, show: Callable[[Term], str], limit: float
    ) -> None:
        self.terms: Terms = reference.terms
        self.show = show
        self.limit = limit
        self.until = monotonic() + limit
        self.values: dict[Term, int] = {}
        self.known = [known for kernel in (reference, generated) for known in facts_of(kernel, show)]
        self.divisors = divisions(generated) | divisions(reference)
        self.numbers = frozenset(
            leaf
            for kernel in (reference, generated)
            for param, term in zip(kernel.entry.regions[0].block.args, kernel.arguments, strict=True)
            if is_integer(param)
            for leaf in self.terms.symbols[term]
        )
        self.shared = frozenset(s for term in generated.arguments for s in self.terms.symbols[term])
        self._own = self.known
        self._answers: dict[tuple[Term, tuple[Term, ...]], Answer] = {}

    def take(self, host: Sequence[Known]) -> None:
        """What the host guarantees for the questions from here on."""
        known = [*self._own, *host]
        if known != self.known:
            self.known = known
            self._answers.clear()

    def equal(self, a: Term, b: Term, given: Sequence[Term] = ()) -> Answer:
        """Whether two integer terms are equal where all of ``given`` hold."""
        return self.holds(self.terms.eq0(self.terms.sub(a, b)), given)

    def same(self, a: Term, b: Term, given: Sequence[Term] = ()) -> Answer:
        """Whether two conditions hold for the same input where all of ``given`` hold."""
        if a == b:
            return Answer(PROVEN)
        return self.holds(self.terms.negate(self.terms.exclusive_or(a, b)), given)

    def holds(self, goal: Term, given: Sequence[Term] = ()) -> Answer:
        """Whether a predicate holds for every input that is defined on both sides and fulfils ``given``.

        First from what is known; then, if need be, where index arithmetic does not wrap, which is the host's
        business.
        """
        if goal == self.terms.true:
            return Answer(PROVEN)
        key = (goal, tuple(given))
        if key not in self._answers:
            try:
                self._answers[key] = self._decided(goal, given)
            except NotTranslatedError as error:
                self._answers[key] = unknown(str(error))
        return self._answers[key]

    def _decided(self, goal: Term, given: Sequence[Term]) -> Answer:
        answer = self._asked(goal, given, wrapping=True)
        if answer.outcome == PROVEN:
            return answer
        values = self.values
        other = self._asked(goal, given, wrapping=False)
        if other.outcome in (PROVEN, COUNTEREXAMPLE):
            return other
        self.values = values
        return answer

    # ---- one question ------------------------------------------------------------------------------------

    def _asked(self, goal: Term, given: Sequence[Term], *, wrapping: bool) -> Answer:
        left = self.until - monotonic()
        if left <= 0:
            return unknown("the time for all questions is used up")
        translator = Translator(self.terms)
        negated = z3.Not(translator.predicate(goal))
        conditions = [translator.predicate(term) for term in given]
        tracked: list[tuple[Any, Fact | None, Term]] = []
        for known in self._relevant((goal, *given)):
            tracked.append((translator.predicate(known.term), known.fact, known.term))
        for divisor in list(translator.divisors):
            if not self._excludes_zero(divisor):
                fact = self.divisors.get(divisor) or Fact(f"{self.show(divisor)} is not 0", SIDES[1])
                positive = self.terms.negate(self.terms.eq0(divisor))
                tracked.append((translator.predicate(positive), fact, positive))
        if not wrapping:
            taken = list(self._unwrapped(translator))
            if not taken:
                return unknown("nothing wraps")
            tracked += taken
        solver = z3.Solver()
        solver.set("timeout", max(1, int(1000 * min(self.limit, left))))
        solver.add(negated, *conditions, *translator.bounds)
        labels: dict[str, tuple[Fact | None, Term]] = {}
        for index, (formula, fact, term) in enumerate(tracked):
            label = z3.Bool(f"fact{index}")
            labels[str(label)] = fact, term
            solver.assert_and_track(formula, label)
        result = solver.check()
        if result == z3.unsat:
            used = [labels[str(each)] for each in solver.unsat_core()]
            return self._proven(used, given)
        if result == z3.unknown:
            reason = solver.reason_unknown()
            late = reason in ("timeout", "canceled", "interrupted")
            return unknown(f"no answer in {self.limit:g} s" if late else reason)
        if translator.opaque:
            first = next(iter(translator.opaque))
            return unknown(f"it depends on what is loaded or computed: {self.show(first)}")
        lone = self._unrelated(translator)
        if lone:
            solver.add(*(formula for _, formula in lone))
            if solver.check() != z3.sat:
                names = ", ".join(self.show(term) for term, _ in lone)
                return unknown(f"it depends on what is passed as {names}, on one side only")
        self._complete(solver, translator)
        self.values = _small_values(solver, translator.symbols)
        return Answer(COUNTEREXAMPLE)

    def _complete(self, solver: Any, translator: Translator) -> None:
        """All parameters take part in a counterexample, and all that is known of them, if it can be found."""
        done = len(translator.bounds)
        for leaf in sorted(self.numbers - translator.symbols.keys()):
            translator.number(leaf)
        known = [translator.predicate(each.term) for each in self.known if each.about is None]
        solver.push()
        solver.add(*translator.bounds[done:], *known)
        if solver.check() != z3.sat:
            solver.pop()
            solver.check()

    def _unrelated(self, translator: Translator) -> list[tuple[Term, Any]]:
        """The parameters that only the generated side has, each taken to be one that only the reference has.

        Nobody passes a size here that has nothing to do with the size there.
        """
        terms = self.terms
        arguments = [s for s in sorted(translator.symbols) if terms.kind[s] == "arg"]
        numbers = {s: bits for s in arguments if not z3.is_bool(bits := translator.symbols[s])}
        ours = [bits for s, bits in numbers.items() if terms.attr[s][0] == 0 and s not in self.shared]
        theirs = [(s, bits) for s, bits in numbers.items() if terms.attr[s][0] == 1]
        if not ours:
            return []
        return [(s, z3.Or([same(bits, other) for other in ours])) for s, bits in theirs]

    def _proven(self, used: list[tuple[Fact | None, Term]], given: Sequence[Term]) -> Answer:
        """Proven, unless the generated side may divide by 0 where the reference does not."""
        facts = dict.fromkeys(fact for fact, _ in used if fact is not None)
        for fact, term in used:
            if fact is None or fact.source != SIDES[1] or not fact.text.endswith("is not 0"):
                continue
            if not self._follows(term, given):
                return unknown(f"the generated side may divide by 0: {fact.text}")
        return Answer(PROVEN, tuple(sorted(facts)))

    def _follows(self, goal: Term, given: Sequence[Term]) -> bool:
        """Whether a predicate holds whatever the generated side takes as not 0."""
        kept, self.divisors = self.divisors, {}
        translator = Translator(self.terms)
        solver = z3.Solver()
        solver.set("timeout", int(1000 * self.limit))
        solver.add(z3.Not(translator.predicate(goal)), *(translator.predicate(term) for term in given))
        solver.add(*(translator.predicate(known.term) for known in self._relevant((goal, *given))))
        solver.add(*translator.bounds)
        self.divisors = kept
        return solver.check() == z3.unsat

    # ---- facts -------------------------------------------------------------------------------------------

    def _relevant(self, question: Iterable[Term]) -> list[Known]:
        """The facts about symbols of the question, in order."""
        symbols: set[Term] = set()
        for term in question:
            symbols |= self.terms.symbols[term]
        kept: dict[Known, None] = {}
        for _ in range(ROUNDS):
            for known in self.known:
                if known in kept or (known.about is not None and known.about not in symbols):
                    continue
                if self.terms.symbols[known.term] & symbols:
                    kept[known] = None
            for known in kept:
                symbols |= self.terms.symbols[known.term]
        return list(kept)

    def _excludes_zero(self, term: Term) -> bool:
        low, high = self.terms.range(term)
        return (low is not None and low > 0) or (high is not None and high < 0)

    def _unwrapped(self, translator: Translator) -> Iterable[tuple[Any, Fact, Term]]:
        """That index arithmetic does not wrap, one by one."""
        terms = self.terms
        for wrap in list(translator.wraps):
            (inner,) = terms.args[wrap]
            (bits,) = terms.attr[wrap]
            if bits < 32 or not self._is_index(inner):
                continue
            half = 1 << (bits - 1)
            fits = terms.conjunction(
                (
                    terms.le0(terms.sub(inner, terms.const(half - 1))),
                    terms.le0(terms.sub(terms.const(-half), inner)),
                )
            )
            if fits == terms.true:
                continue
            fact = Fact(f"{self.show(inner)} fits i{bits}", "host")
            yield translator.predicate(fits), fact, fits

    def _is_index(self, term: Term) -> bool:
        """Index arithmetic, which is not meant to wrap: over sizes, blocks, lanes and iterations."""
        work, seen = [term], {term}
        while work:
            node = work.pop()
            kind = self.terms.kind[node]
            if kind == "poly" and any(
                abs(coef) >= HASH_FACTOR for mono, coef in self.terms.items(node) if mono != ()
            ):
                return False
            if kind not in INDEX_KINDS and kind not in INDEX_SYMBOLS and kind not in CONDITIONS:
                return False
            new = [arg for arg in self.terms.args[node] if arg not in seen]
            seen.update(new)
            work += new
        return True


def _small_values(solver: Any, symbols: dict[Term, Any]) -> dict[Term, int]:
    """The values of a model in which all numbers are small, if there is one."""
    model = solver.model()
    solver.set("timeout", SMALL_MILLISECONDS)
    for limit in SMALL:
        solver.push()
        for bits in symbols.values():
            if not z3.is_bool(bits) and bits.size() > limit.bit_length() + 1:
                solver.add(bits <= limit, bits >= -limit)
        found = solver.check() == z3.sat
        if found:
            model = solver.model()
        solver.pop()
        if found:
            break
    return {term: _value(model.eval(bits, model_completion=True)) for term, bits in symbols.items()}


def _value(bits: Any) -> int:
    """A value of the model, as a signed integer; 1 or 0 for a flag."""
    if z3.is_bool(bits):
        return int(z3.is_true(bits))
    return bits.as_signed_long()
