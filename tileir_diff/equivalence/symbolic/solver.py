"""Questions to z3: whether two integers or two conditions can differ under what is known."""

from __future__ import annotations

from time import monotonic
from typing import TYPE_CHECKING, Any

from tileir_diff.equivalence.symbolic.answer import COUNTEREXAMPLE, PROVEN, UNKNOWN, Answer, Fact, unknown
from tileir_diff.equivalence.symbolic.backend import z3
from tileir_diff.equivalence.symbolic.facts import (
    SIDES,
    Known,
    divisions,
    facts_of,
    in_width,
    nodes_under,
    of_indices,
    promised_to_fit,
)
from tileir_diff.equivalence.symbolic.integers import Integers
from tileir_diff.equivalence.symbolic.parts import PREDICATES, made_alike
from tileir_diff.equivalence.symbolic.translate import NotTranslatedError, Translator, same
from tileir_diff.graph.integers import HASH_FACTOR, INDEX_BITS
from tileir_diff.graph.values import is_integer

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from collections.abc import Set as AbstractSet

    from tileir_diff.graph.kernel import Kernel
    from tileir_diff.graph.terms import Term, Terms

ROUNDS = 2
"""How far facts are looked for: those about the symbols of the question, then about symbols of those."""
MOMENT = 0.3
"""Seconds in which bit-vectors settle what is easy for them."""
PART = 0.6
"""Seconds for a question about a part of two terms."""
SMALL = (2, 16, 300, 5000, 100_000)
SMALL_MILLISECONDS = 300


class Solver:
    """Asks questions about one pair of kernels whose terms share one exact store.

    rename  gives a term of the generated side in the symbols of the reference, as far as loops are paired
    limit   seconds for one question
    until   the moment after which no question is asked any more
    values  the integers of the last counterexample, by symbol
    """

    def __init__(
        self,
        reference: Kernel,
        generated: Kernel,
        show: Callable[[Term], str],
        rename: Callable[[Term], Term],
        limit: float,
    ) -> None:
        self.terms: Terms = reference.terms
        self.show = show
        self.limit = limit
        self.until = monotonic() + limit
        self.values: dict[Term, int] = {}
        self.known = [known for kernel in (reference, generated) for known in facts_of(kernel, show)]
        self.rename = rename
        self.promised = promised_to_fit(reference), promised_to_fit(generated)
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
        self._parts: dict[tuple[Term, tuple[Term, ...]], Answer] = {}

    def take(self, host: Sequence[Known]) -> bool:
        """What the host guarantees for the questions from here on. Whether that is new."""
        known = [*self._own, *host]
        if known == self.known:
            return False
        self.known = known
        self._answers.clear()
        self._parts.clear()
        return True

    def equal(self, a: Term, b: Term, given: Sequence[Term] = ()) -> Answer:
        """Whether two integer terms are equal where all of ``given`` hold."""
        return self._alike(a, b, given, self._are_equal)

    def same(self, a: Term, b: Term, given: Sequence[Term] = ()) -> Answer:
        """Whether two conditions hold for the same input where all of ``given`` hold."""
        return self._alike(a, b, given, self._are_same)

    def _are_equal(self, a: Term, b: Term) -> Term:
        return self.terms.eq0(self.terms.sub(a, b))

    def _are_same(self, a: Term, b: Term) -> Term:
        return self.terms.true if a == b else self.terms.negate(self.terms.exclusive_or(a, b))

    def _alike(
        self, a: Term, b: Term, given: Sequence[Term], equation: Callable[[Term, Term], Term]
    ) -> Answer:
        """Whether an equation holds; where that is hard to say, of its parts first."""
        goal = equation(a, b)
        if self._is_hard(goal, given):
            known = [*given, *(known.term for known in self._relevant((goal, *given)))]
            alike, facts = made_alike(self.terms, a, b, known, lambda x, y: self._part(x, y, tuple(given)))
            if alike != b:
                answer = self.holds(equation(a, alike), given)
                if answer.proven:
                    return answer._replace(facts=tuple(sorted({*answer.facts, *facts})))
        return self.holds(goal, given)

    def _is_hard(self, goal: Term, given: Sequence[Term]) -> bool:
        """Whether bit-vectors do not settle a question in a moment."""
        if goal == self.terms.true or (goal, tuple(given)) in self._answers:
            return False
        try:
            return self._by_bits(goal, given, False, min(MOMENT, self.limit / 2)) is None
        except NotTranslatedError:
            return True

    def _part(self, a: Term, b: Term, given: tuple[Term, ...]) -> Answer:
        """Whether two parts of terms are equal, with little patience: always, or where ``given`` holds."""
        predicate = self.terms.kind[a] in PREDICATES
        goal = (self._are_same if predicate else self._are_equal)(a, b)
        if goal == self.terms.true:
            return Answer(PROVEN)
        for conditions in dict.fromkeys(((), given)):
            key = goal, conditions
            if key not in self._parts:
                self._parts[key] = self._part_where(goal, conditions)
            if self._parts[key].proven:
                return self._parts[key]
        return self._parts[goal, given]

    def _part_where(self, goal: Term, given: tuple[Term, ...]) -> Answer:
        for granted in (False, True):
            answer = self._by_integers(goal, given, granted, min(PART, self.limit / 2))
            if answer is not None:
                return answer
        return unknown("a part is not shown to be equal")

    def holds(self, goal: Term, given: Sequence[Term] = ()) -> Answer:
        """Whether a predicate holds for every input that is defined on both sides and fulfils ``given``.

        First from what is known; then, if need be, where index arithmetic does not wrap, which is the host's
        business.
        """
        if goal == self.terms.true:
            return Answer(PROVEN)
        key = (goal, tuple(given))
        if key not in self._answers:
            self._answers[key] = self._decided(goal, given)
        return self._answers[key]

    def _decided(self, goal: Term, given: Sequence[Term]) -> Answer:
        answer = self._asked(goal, given, granted=False)
        if answer.proven:
            return answer
        if not self._granted((goal, *given)):
            return answer
        other = self._asked(goal, given, granted=True)
        if answer.outcome == UNKNOWN and other.outcome == UNKNOWN:
            return answer
        # an example in which something wraps says nothing of those that the host is to pass
        return other

    # ---- one question ------------------------------------------------------------------------------------

    def _asked(self, goal: Term, given: Sequence[Term], *, granted: bool) -> Answer:
        """By bit-vectors in a moment, else by unbounded integers, else by bit-vectors with patience."""
        try:
            answer = self._by_bits(goal, given, granted, min(MOMENT, self.limit / 2))
        except NotTranslatedError as error:
            return self._by_integers(goal, given, granted, self.limit) or unknown(str(error))
        if answer is None:
            answer = self._by_integers(goal, given, granted, self.limit)
        if answer is None:
            answer = self._by_bits(goal, given, granted, self.limit)
        return answer or unknown(f"no answer in {self.limit:g} s")

    def _by_integers(self, goal: Term, given: Sequence[Term], granted: bool, seconds: float) -> Answer | None:
        """A proof; None where there is none."""
        translator = Integers(self.terms)
        formulas = [z3.Not(translator.predicate(goal)), *map(translator.predicate, given)]
        tracked, _ = self._tracked(translator, goal, given, granted)
        facts = [translator.predicate(known.term) for known in tracked]
        formulas += translator.definitions
        solver, labels = self._solver(formulas, tracked, facts, seconds)
        if solver is None or solver.check() != z3.unsat:
            return None
        if granted and self._exclude_all(formulas[1:], tracked, facts, seconds):
            return None
        return _proven(solver, labels)

    def _by_bits(self, goal: Term, given: Sequence[Term], granted: bool, seconds: float) -> Answer | None:
        """A proof or a counterexample; None where there is neither in time."""
        translator = Translator(self.terms)
        formulas = [z3.Not(translator.predicate(goal)), *map(translator.predicate, given)]
        tracked, owed = self._tracked(translator, goal, given, granted)
        facts = [translator.predicate(known.term) for known in tracked]
        defined = [translator.predicate(known.term) for known in owed]
        formulas += translator.bounds
        solver, labels = self._solver(formulas, tracked, facts, seconds)
        if solver is None:
            return unknown("the time for all questions is used up")
        result = solver.check()
        if result == z3.unsat and granted and self._exclude_all(formulas[1:], tracked, facts, seconds):
            return unknown("what the host would have to guarantee never holds")
        if result == z3.unsat:
            return _proven(solver, labels)
        if result == z3.sat and defined:
            solver.add(*defined)
            result = solver.check()
        if result == z3.unsat:
            return unknown("the generated side may be undefined")
        if result == z3.unknown:
            return None
        if translator.opaque:
            first = next(iter(translator.opaque))
            return unknown(f"it depends on what is loaded or computed: {self.show(first)}")
        lone = self._unrelated(translator)
        if lone:
            solver.add(*(formula for _, formula in lone))
            if solver.check() != z3.sat:
                names = ", ".join(self.show(term) for term, _ in lone)
                return unknown(f"it depends on what is passed as {names}, on one side only")
        model = self._complete(solver, translator)
        self.values = _small_values(solver, model, translator.symbols)
        return Answer(COUNTEREXAMPLE)

    def _tracked(
        self, translator: Translator | Integers, goal: Term, given: Sequence[Term], granted: bool
    ) -> tuple[list[Known], list[Known]]:
        """What a proof may rest on, and what must hold for the generated side to be defined."""
        tracked = [*self._relevant((goal, *given)), *self._promised((goal, *given))]
        for known in tracked:
            translator.predicate(known.term)
        tracked += self._nonzero(translator)
        if granted:
            tracked += self._granted((goal, *given))
        return [known for known in tracked if not known.owed], [known for known in tracked if known.owed]

    def _exclude_all(
        self, formulas: Sequence[Any], tracked: Sequence[Known], facts: Sequence[Any], seconds: float
    ) -> bool:
        """Whether no input fulfils the conditions and facts of a question, so that all follows from them."""
        solver, _ = self._solver(formulas, tracked, facts, seconds)
        return solver is not None and solver.check() == z3.unsat

    def _solver(
        self, formulas: Sequence[Any], tracked: Sequence[Known], facts: Sequence[Any], seconds: float
    ) -> tuple[Any, dict[str, Known]]:
        """A solver for a question, with what its facts are called; None where there is no time left."""
        left = self.until - monotonic()
        if left <= 0:
            return None, {}
        solver = z3.Solver()
        solver.set("timeout", max(1, int(1000 * min(seconds, left))))
        solver.set("core.minimize", True)
        solver.add(*formulas)
        labels: dict[str, Known] = {}
        for index, (known, formula) in enumerate(zip(tracked, facts, strict=True)):
            label = z3.Bool(f"fact{index}")
            labels[str(label)] = known
            solver.assert_and_track(formula, label)
        return solver, labels

    def _complete(self, solver: Any, translator: Translator) -> Any:
        """All parameters take part in a counterexample, and all that is known of them, if it can be found.

        Returns its model: in the time that is left there may be no other.
        """
        model = solver.model()
        done = len(translator.bounds)
        for leaf in sorted(self.numbers - translator.symbols.keys()):
            translator.number(leaf)
        known = [translator.predicate(each.term) for each in self.known if self._in_loops(each)]
        solver.push()
        solver.add(*translator.bounds[done:], *known)
        if solver.check() == z3.sat:
            return solver.model()
        solver.pop()
        return model

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

    # ---- facts -------------------------------------------------------------------------------------------

    def _relevant(self, question: Iterable[Term]) -> list[Known]:
        """The facts about symbols of the question, in order."""
        symbols: set[Term] = set()
        for term in question:
            symbols |= self.terms.symbols[term]
        kept: dict[Known, None] = {}
        for _ in range(ROUNDS):
            for known in self.known:
                if (
                    known not in kept
                    and self.terms.symbols[known.term] & symbols
                    and self._in_loops(known, symbols)
                ):
                    kept[known] = None
            for known in kept:
                symbols |= self.terms.symbols[known.term]
        return list(kept)

    def _promised(self, question: Sequence[Term]) -> list[Known]:
        """What ops promise that the question is about, and those that they are made of."""
        ours, theirs = self.promised
        facts = dict(ours)
        for wrap, known in theirs.items():
            renamed = self.terms.single(self.rename(self.terms.atom(wrap)))
            if renamed is not None:
                facts.setdefault(renamed, known._replace(term=self.rename(known.term)))
        found: dict[Known, None] = {}
        roots = list(question)
        for _ in range(ROUNDS):
            new = [facts[node] for node in nodes_under(self.terms, roots) if node in facts]
            found.update(dict.fromkeys(new))
            roots = [known.term for known in new]
        return list(found)

    def _in_loops(self, known: Known, symbols: AbstractSet[Term] = frozenset()) -> bool:
        """Whether a fact is about no iterations but these: of a loop that does not run it says nothing."""
        return all(s in symbols for s in self.terms.symbols[known.term] if self.terms.kind[s] == "iter")

    def _excludes_zero(self, term: Term) -> bool:
        low, high = self.terms.range(term)
        return (low is not None and low > 0) or (high is not None and high < 0)

    def _nonzero(self, translator: Translator | Integers) -> Iterable[Known]:
        """That no divisor is 0."""
        for divisor in list(translator.divisors):
            if not self._excludes_zero(divisor):
                term = self.terms.negate(self.terms.eq0(divisor))
                fact = self.divisors.get(divisor)
                owed = fact is None or fact.source == SIDES[1]
                yield Known(term, fact or Fact(f"{self.show(divisor)} is not 0", SIDES[1]), owed)

    def _granted(self, question: Sequence[Term]) -> list[Known]:
        """What the comparison takes for granted: index arithmetic does not wrap, and divides by sizes."""
        terms = self.terms
        found: dict[Known, None] = {}
        for node in nodes_under(terms, question):
            if terms.kind[node] == "wrap" and terms.attr[node][0] >= INDEX_BITS:
                (inner,), (bits,) = terms.args[node], terms.attr[node]
                term, words = in_width(terms, inner, bits), f"fits i{bits}"
            elif terms.kind[node] in ("div", "tdiv"):
                inner = terms.args[node][1]
                term, words = terms.le0(terms.sub(terms.one, inner)), "> 0, a divisor"
            else:
                continue
            if term == terms.true or term == terms.false or not self._is_index(inner):
                continue
            if any(terms.kind[symbol] != "lane" for symbol in terms.symbols[term]):  # nobody chooses lanes
                found[Known(term, Fact(f"{self.show(inner)} {words}", "host"))] = None
        return list(found)

    def _is_index(self, term: Term) -> bool:
        """Index arithmetic, which is not meant to wrap."""
        return of_indices(self.terms, term) and not self._hashes(term)

    def _hashes(self, term: Term) -> bool:
        """Whether a factor in it is so large that a product is meant to wrap."""
        terms = self.terms
        return any(
            abs(coef) >= HASH_FACTOR
            for node in nodes_under(terms, (term,))
            if terms.kind[node] == "poly"
            for mono, coef in terms.items(node)
            if mono != ()
        )


def _proven(solver: Any, labels: dict[str, Known]) -> Answer:
    """Proven, with the facts that it rests on."""
    used = [labels[str(each)].fact for each in solver.unsat_core()]
    return Answer(PROVEN, tuple(sorted({fact for fact in used if fact is not None})))


def _small_values(solver: Any, model: Any, symbols: dict[Term, Any]) -> dict[Term, int]:
    """The values of a model in which all numbers are small, if there is one; else those of this one."""
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
