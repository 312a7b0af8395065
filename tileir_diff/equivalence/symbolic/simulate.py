"""Whether two matched effects do the same: loops by induction, values in lockstep, integers by z3."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tileir_diff.equivalence.symbolic.answer import COUNTEREXAMPLE, PROVEN, Answer, Fact, unknown
from tileir_diff.equivalence.symbolic.example import Found, checked
from tileir_diff.equivalence.symbolic.solver import Solver
from tileir_diff.match.blame import Blame
from tileir_diff.match.blame_loops import match_carries
from tileir_diff.match.explain_pair import lane_renaming

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from tileir_diff.equivalence.symbolic.again import Again
    from tileir_diff.equivalence.symbolic.facts import Known
    from tileir_diff.graph.kernel import Carry, Effect, Loop
    from tileir_diff.graph.terms import Term

MAX_PATHS = 64
"""More ways through the selections of two values than this are not tried."""
MAX_DEPTH = 200
COMMUTATIVE = frozenset({"addf", "mulf", "maxf", "minf", "fma"})
INTEGERS = frozenset({"poly", "div", "tdiv", "min", "max", "b2i", "wrap", "zext", "iop", "mul"})
PREDICATES = frozenset({"true", "false", "le", "eq", "ult", "not", "and", "or", "bool_op", "fcmp"})


class StepError(Exception):
    """What two effects are not shown to agree in, and the answer to the question about it."""

    def __init__(self, part: str, answer: Answer, index: int = 0) -> None:
        super().__init__(part)
        self.part = part
        self.answer = answer
        self.index = index


class Simulation:
    """One pair of effects at a time; what is found about loops holds for others under the same conditions."""

    def __init__(self, again: Again, names: dict[Term, str], limit: float) -> None:
        self.again = again
        self.reference, self.generated = again.reference, again.generated
        self.terms = again.terms
        self.blame = Blame(self.reference, self.generated, names)
        self.solver = Solver(self.reference, self.generated, self.blame.show, self.blame.rename, limit)
        self.lanes: tuple[dict[Term, Term], dict[Term, Term]] = {}, {}
        self.loops: dict[tuple[int, int], Answer | None] = {}
        """By uids: what was found out about two loops; None while it is being found out."""
        self.carried: dict[tuple[int, int], frozenset[tuple[int, int]]] = {}
        """By uids: the carried values that are equal in each iteration, by their indices."""

    def effects(self, ref: Effect, gen: Effect, host: Sequence[Known]) -> Answer:
        """Whether the two take place for the same lanes, at the same address, with the same values.

        ``host``: what the host must guarantee anyway.
        """
        facts: dict[Fact, None] = {}
        if self.solver.take(host):
            # what was found out about loops may rest on what the host guaranteed
            self.loops.clear()
            self.carried.clear()
            self.blame.renamed.clear()
        self.lanes = {}, {}
        try:
            self._effects(ref, gen, facts)
        except StepError as step:
            answer = step.answer
            if answer.outcome == COUNTEREXAMPLE:
                found = Found(step.part, self.solver.values, ref, gen, self.lanes, step.index)
                answer = checked(self.again, self.blame, found)
            return answer._replace(why=f"the {step.part}: {answer.why}") if answer.why else answer
        return Answer(PROVEN, tuple(sorted(facts)))

    def _effects(self, ref: Effect, gen: Effect, facts: dict[Fact, None]) -> None:
        terms = self.terms
        if len(ref.loops) != len(gen.loops):
            raise StepError("loops", unknown("they are not one to one"))
        for x, y in zip(ref.loops, gen.loops, strict=True):
            self._need("trip count", self._loop(x, y), facts)
        if sorted(e for e in ref.shape if e > 1) != sorted(e for e in gen.shape if e > 1):
            raise StepError("lanes", unknown("the tiles have other shapes"))
        ref_lanes, gen_lanes = self.lanes = lane_renaming(self.blame, ref, gen)

        def ours(term: Term) -> Term:
            return terms.subst(term, ref_lanes) if ref_lanes else term

        def theirs(term: Term) -> Term:
            return self.blame.rename(terms.subst(term, gen_lanes) if gen_lanes else term)

        conditions = ours(ref.condition(self.terms)), theirs(gen.condition(self.terms))
        self._need("condition", self.solver.same(*conditions), facts)
        active = terms.conjuncts(conditions[0])
        if ref.pointer is not None and gen.pointer is not None:
            self._need("address", self.solver.equal(ours(ref.pointer), theirs(gen.pointer), active), facts)
        elif ref.pointer != gen.pointer:
            raise StepError("address", unknown("only one side has one"))
        if len(ref.values) != len(gen.values):
            raise StepError("values", unknown("their numbers differ"))
        for index, (a, b) in enumerate(zip(ref.values, gen.values, strict=True)):
            self._need("value", self.value(ours(a), theirs(b), active), facts, index)

    def _need(self, part: str, answer: Answer, facts: dict[Fact, None], index: int = 0) -> None:
        if not answer.proven:
            raise StepError(part, answer, index)
        facts.update(dict.fromkeys(answer.facts))

    # ---- values ------------------------------------------------------------------------------------------

    def value(self, a: Term, b: Term, given: tuple[Term, ...], depth: int = 0) -> Answer:
        """Whether two values are equal where ``given`` holds; ``b`` in the symbols of the reference."""
        terms = self.terms
        if a == b:
            return Answer(PROVEN)
        if depth > MAX_DEPTH:
            return unknown("the values are nested too deeply")
        kinds = terms.kind[a], terms.kind[b]
        if kinds[0] in PREDICATES or kinds[1] in PREDICATES:
            return self.solver.same(a, b, given)
        if "ite" in kinds:
            return self._chosen(a, b, given, depth)
        if kinds[0] in INTEGERS or kinds[1] in INTEGERS:
            return self._integer(a, b, given, depth)
        return self._alike(a, b, given, depth)

    def _integer(self, a: Term, b: Term, given: tuple[Term, ...], depth: int) -> Answer:
        """Two integers: what is not computed is looked into where both are just that."""
        x, y = self.terms.single(a), self.terms.single(b)
        if x is not None and y is not None and (x, y) != (a, b):
            inner = self.terms.kind[x], self.terms.kind[y]
            if "ite" in inner or not set(inner) & INTEGERS:
                return self.value(x, y, given, depth + 1)
        return self.solver.equal(a, b, given)

    def _chosen(self, a: Term, b: Term, given: tuple[Term, ...], depth: int) -> Answer:
        """Selections: for each way through both, the values there are equal, or nothing goes that way."""
        together = self._chosen_alike(a, b, given, depth)
        if together is not None:
            return together
        facts: dict[Fact, None] = {}
        ours, theirs = list(self._ways(a, given)), list(self._ways(b, given))
        if len(ours) * len(theirs) > MAX_PATHS:
            return unknown("too many selections")
        for conditions, x in ours:
            for others, y in theirs:
                if x == y:
                    continue
                here = tuple(dict.fromkeys((*conditions, *others)))
                answer = self.value(x, y, here, depth + 1)
                if not answer.proven:
                    nowhere = self.solver.holds(self.terms.false, here)
                    if not nowhere.proven:
                        return answer
                    answer = nowhere
                facts.update(dict.fromkeys(answer.facts))
        return Answer(PROVEN, tuple(sorted(facts)))

    def _chosen_alike(self, a: Term, b: Term, given: tuple[Term, ...], depth: int) -> Answer | None:
        """Two selections by one condition, whose ways are equal; None where that is not shown."""
        terms = self.terms
        x, y = terms.single(a), terms.single(b)
        if x is None or y is None or terms.kind[x] != "ite" or terms.kind[y] != "ite":
            return None
        (condition, *ours), (other, *theirs) = terms.args[x], terms.args[y]
        answer = self.solver.same(condition, other, given)
        if not answer.proven:
            return None
        facts = dict.fromkeys(answer.facts)
        for case, left, right in zip((condition, terms.negate(condition)), ours, theirs, strict=True):
            answer = self.value(left, right, (*given, case), depth + 1)
            if not answer.proven:
                return None
            facts.update(dict.fromkeys(answer.facts))
        return Answer(PROVEN, tuple(sorted(facts)))

    def _ways(self, term: Term, given: tuple[Term, ...]) -> Iterable[tuple[tuple[Term, ...], Term]]:
        terms = self.terms
        node = terms.single(term)
        if node is None or terms.kind[node] != "ite":
            yield given, term
            return
        condition, then, otherwise = terms.args[node]
        yield from self._ways(then, (*given, condition))
        yield from self._ways(otherwise, (*given, terms.negate(condition)))

    def _alike(self, a: Term, b: Term, given: tuple[Term, ...], depth: int) -> Answer:
        """The same op on equal operands."""
        terms = self.terms
        if terms.kind[a] == "loop_result" and terms.kind[b] == "loop_result":
            return self._results(a, b, given, depth)
        if terms.kind[a] == terms.kind[b] == "mem" and self._arrays(a) != self._arrays(b):
            return unknown("two loads read other arrays")
        ours = terms.args[a]
        spellings = [
            args
            for attr, args in self._spellings(b)
            if terms.kind[a] == terms.kind[b] and attr == terms.attr[a] and len(args) == len(ours) > 0
        ]
        # what is made of the same symbols first
        spellings.sort(key=lambda args: -sum(self._related(x, y) for x, y in zip(ours, args, strict=True)))
        answers: list[Answer] = []
        for args in spellings:
            answers.append(self._all(ours, args, given, depth))
            if answers[-1].proven:
                return answers[-1]
        if answers:
            return answers[0]
        return unknown(f"{self._word(a)} against {self._word(b)} is not integer arithmetic")

    def _arrays(self, term: Term) -> frozenset[Term]:
        """The pointers among the parameters that a term is made of."""
        return self.terms.symbols[term] & self.blame.pointers()

    def _spellings(self, term: Term) -> Iterable[tuple[object, tuple[Term, ...]]]:
        """A term as it is, and with its first two operands exchanged where that is the same."""
        terms = self.terms
        attr, args = terms.attr[term], terms.args[term]
        yield attr, args
        exchanged = (*args[1::-1], *args[2:])
        if terms.kind[term] == "f" and attr[0] in COMMUTATIVE:
            yield attr, exchanged
        elif terms.kind[term] == "mma" and len(args) == 3:
            name, element, depth, types, flags = attr
            yield (name, element, depth, types[::-1], flags), exchanged

    def _related(self, a: Term, b: Term) -> bool:
        """Whether two terms read of the same parameters."""
        terms = self.terms
        ours, theirs = ({s for s in terms.symbols[x] if terms.kind[s] == "arg"} for x in (a, b))
        return ours == theirs

    def _all(
        self, ours: Sequence[Term], theirs: Sequence[Term], given: tuple[Term, ...], depth: int
    ) -> Answer:
        facts: dict[Fact, None] = {}
        for x, y in zip(ours, theirs, strict=True):
            answer = self.value(x, y, given, depth + 1)
            if not answer.proven:
                return answer
            facts.update(dict.fromkeys(answer.facts))
        return Answer(PROVEN, tuple(sorted(facts)))

    def _word(self, term: Term) -> str:
        attr = self.terms.attr[term]
        return str(attr[0]) if self.terms.kind[term] == "f" else self.blame.show(term)

    # ---- loops -------------------------------------------------------------------------------------------

    def _results(self, a: Term, b: Term, given: tuple[Term, ...], depth: int) -> Answer:
        """Two results of loops: the loops run equally often, and what they carry is equal throughout."""
        terms = self.terms
        ours = self.reference.loop_results.get(terms.args[a][0])
        theirs = self.generated.loop_results.get(terms.args[b][0])
        if ours is None or theirs is None:
            return unknown("the result of a loop")
        (x, i), (y, j) = ours, theirs
        facts: dict[Fact, None] = {}
        try:
            self._need("loop", self._loop(x, y), facts)
        except StepError as step:
            return step.answer
        whole = all(terms.attr[node][0] == "settled" for node in (terms.args[a][0], terms.args[b][0]))
        if not whole or (i, j) not in self.carried[x.uid, y.uid]:
            return unknown("a value that a loop carries is not shown to be equal")
        answer = self._all(terms.args[a][2:], terms.args[b][2:], given, depth)
        return answer._replace(facts=tuple(sorted({*answer.facts, *facts})))

    def _loop(self, ref: Loop, gen: Loop) -> Answer:
        """Whether two loops run equally often. Finds the carried values that are equal by induction."""
        key = ref.uid, gen.uid
        if key in self.loops:
            return self.loops[key] or unknown("a loop inside itself")
        self.loops[key] = None
        answer = self.loops[key] = self._trips(ref, gen)
        if answer.proven:
            facts = dict.fromkeys(answer.facts)
            self.carried[key] = self._induction(ref, gen, facts)
            answer = self.loops[key] = Answer(PROVEN, tuple(sorted(facts)))
        return answer

    def _trips(self, ref: Loop, gen: Loop) -> Answer:
        if ref.shared != gen.shared:
            return unknown("one loop goes over all tiles, the other does not")
        self.blame.renamed[gen.iteration] = self.terms.atom(ref.iteration)
        if ref.trip is None or gen.trip is None:
            return unknown("a loop that runs until a condition")
        zero = self.terms.zero
        trips = [self.terms.maximum((zero, trip)) for trip in (ref.trip, self.blame.rename(gen.trip))]
        return self.solver.equal(trips[0], trips[1])

    def _induction(self, ref: Loop, gen: Loop, facts: dict[Fact, None]) -> frozenset[tuple[int, int]]:
        """The pairs of carried values that start equal and stay equal where all of them are."""
        terms = self.terms
        assert ref.trip is not None
        running = terms.compare("less_than", terms.atom(ref.iteration), ref.trip)
        pairs = match_carries(self.blame, ref, gen)
        while True:
            before = dict(self.loops)
            found: dict[Fact, None] = {}
            kept = self._kept(pairs, running, found)
            if len(kept) == len(pairs):
                facts.update(found)
                return frozenset((x.index, y.index) for x, y in kept)
            for _, y in pairs:
                self.blame.renamed.pop(y.leaf, None)
            self.loops = before  # what was found out about loops inside rests on what did not hold
            pairs = kept

    def _kept(
        self, pairs: list[tuple[Carry, Carry]], running: Term, facts: dict[Fact, None]
    ) -> list[tuple[Carry, Carry]]:
        """The pairs that start equal, and are equal in the next iteration if all pairs are in this one."""
        starts = [self.blame.rename(y.init) for _, y in pairs]
        for x, y in pairs:
            self.blame.renamed[y.leaf] = x.leaf
        kept: list[tuple[Carry, Carry]] = []
        for (x, y), start in zip(pairs, starts, strict=True):
            answers = self.value(x.init, start, ()), self.value(x.next, self.blame.rename(y.next), (running,))
            if all(answer.proven for answer in answers):
                kept.append((x, y))
                facts.update(dict.fromkeys(fact for answer in answers for fact in answer.facts))
        return kept
