"""Predicates: linear inequalities and equations over the integers, and their connectives."""

from __future__ import annotations

from contextlib import contextmanager
from math import gcd
from typing import TYPE_CHECKING

from tileir_diff.graph.arithmetic import Arithmetic

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Generator, Iterable, Iterator

    from tileir_diff.graph.store import Mono, Term


MAX_COMPARED = 64
"""With more parts than this, a conjunction or disjunction does not compare each with each other one."""


class Predicates(Arithmetic):
    """Constructors of boolean terms."""

    def __init__(self) -> None:
        super().__init__()
        self._negations: dict[Term, Term] = {}
        self._inequalities: dict[Term, Term] = {}

    def forget_ranges(self) -> None:
        super().forget_ranges()
        self._negations.clear()
        self._inequalities.clear()

    @contextmanager
    def certain(self) -> Generator[None, None, None]:
        known = self._negations, self._inequalities
        self._negations, self._inequalities = {}, {}
        try:
            with super().certain():
                yield
        finally:
            self._negations, self._inequalities = known

    def bool_const(self, value: bool) -> Term:
        return self.true if value else self.false

    # ---- comparison with zero ----------------------------------------------------------------------------

    def le0(self, poly: Term) -> Term:
        """``poly <= 0`` over the integers."""
        found = self._inequalities.get(poly)
        if found is None:
            found = self._inequalities[poly] = self._le0(poly)
        return found

    def _le0(self, poly: Term) -> Term:
        low, high = self.range(poly)
        if high is not None and high <= 0:
            return self.true
        if low is not None and low > 0:
            return self.false
        decided = self._bool_valued(poly, lambda v: v <= 0)
        if decided is not None:
            return decided
        terms = self.poly(poly)
        common = _common_factor(terms)
        if common > 1:
            const = -(-terms.get((), 0) // common)
            terms = {mono: coef // common for mono, coef in terms.items() if mono != ()} | {(): const}
            poly = self._poly(terms)
        simpler = self._without_small_terms(terms)
        if simpler is None:
            simpler = self._without_quotient(terms)
        if simpler is not None:
            return self.le0(simpler)
        parts = self._without_extreme(terms)
        return self._node("le", None, (poly,)) if parts is None else parts

    def _without_small_terms(self, terms: dict[Mono, int]) -> Term | None:
        """``g * x + r <= 0`` as ``x + k <= 0`` where ``ceil(r / g)`` is k for every value of ``r``."""
        sizes = {abs(coef) for mono, coef in terms.items() if mono != () and abs(coef) > 1}
        for g in sorted(sizes, reverse=True):
            rest = {mono: coef for mono, coef in terms.items() if mono == () or coef % g}
            if len(rest) == len(terms) or not any(mono != () for mono in rest):
                continue
            low, high = self.range(self._poly(rest))
            if low is None or high is None or -(-low // g) != -(-high // g):
                continue
            whole = {mono: coef // g for mono, coef in terms.items() if mono not in rest}
            return self._poly(whole | {(): -(-high // g)})
        return None

    def _without_quotient(self, terms: dict[Mono, int]) -> Term | None:
        """``n / d + c <= 0`` and ``c - n / d <= 0``, with a constant divisor, as an inequality over ``n``.

        ``c`` is a constant; or anything, where ``n / d`` is a number of tiles, the same in all blocks.
        """
        quotients = [
            (mono, coef) for mono, coef in terms.items() if len(mono) == 1 and self.kind[mono[0]] == "div"
        ]
        if len(quotients) != 1 or abs(quotients[0][1]) != 1:
            return None
        ((mono, coef),) = quotients
        num, den = self.args[mono[0]]
        d = self.value(den)
        rest = {part: factor for part, factor in terms.items() if part != mono}
        if d is None or d <= 0 or (rest.keys() - {()} and not self._of_sizes(num)):
            return None
        if coef == 1:  # div(num, d) <= -rest  <=>  num <= d * (1 - rest) - 1
            return self.sum(((num, 1), (self._poly(rest), d), (self.const(d - 1), -1)))
        return self.sum(((num, -1), (self._poly(rest), d)))

    def _of_sizes(self, term: Term) -> bool:
        return all(self.kind[symbol] == "arg" for symbol in self.symbols[term])

    def _without_extreme(self, terms: dict[Mono, int]) -> Term | None:
        """What bounds by the smallest or largest of several, as a bound by each of them, or by one."""
        extremes = [
            (mono, coef)
            for mono, coef in terms.items()
            if len(mono) == 1 and self.kind[mono[0]] in ("min", "max")
        ]
        if len(extremes) != 1:
            return None
        ((mono, coef),) = extremes
        rest = self._poly({part: factor for part, factor in terms.items() if part != mono})
        parts = [self.le0(self.sum(((rest, 1), (arg, coef)))) for arg in self.args[mono[0]]]
        each = (self.kind[mono[0]] == "min") == (coef < 0)
        return self.conjunction(parts) if each else self.disjunction(parts)

    def eq0(self, poly: Term) -> Term:
        """``poly == 0`` over the integers."""
        value = self.value(poly)
        if value is not None:
            return self.bool_const(value == 0)
        for mono, factor in self.items(poly):
            if len(mono) == 1 and self.kind[mono[0]] == "wrap" and abs(factor) == 1:
                (inner,), (bits,) = self.args[mono[0]], self.attr[mono[0]]
                whole = self.add(poly, self.scale(self.sub(inner, self.atom(mono[0])), factor))
                if all(self.within(each, 1 - (1 << bits), 1 << bits) for each in (poly, whole)):
                    return self.eq0(whole)  # no other multiple of the modulus is near
        low, high = self.range(poly)
        if (low is not None and low > 0) or (high is not None and high < 0):
            return self.false
        decided = self._bool_valued(poly, lambda v: v == 0)
        if decided is not None:
            return decided
        for side, bound in ((poly, low), (self.scale(poly, -1), high)):
            if bound == 0 or self._never_above(self.scale(side, -1)):
                return self.le0(side)
        terms = self.poly(poly)
        common = _common_factor(terms)
        if terms.get((), 0) % common:
            return self.false
        first = min(mono for mono in terms if mono != ())
        sign = 1 if terms[first] > 0 else -1
        return self._node("eq", None, (self._poly({m: c * sign // common for m, c in terms.items()}),))

    def _never_above(self, poly: Term) -> bool:
        """Whether ``poly <= 0`` since a number is never below the smallest of several that it is one of."""
        extremes = any(
            len(mono) == 1 and self.kind[mono[0]] in ("min", "max") for mono, _ in self.items(poly)
        )
        return extremes and self.le0(poly) == self.true

    def _bool_valued(self, poly: Term, test: Callable[[int], bool]) -> Term | None:
        """The predicate over ``c0 + c1 * b2i(b)``, which takes two values only."""
        terms = self.poly(poly)
        base = terms.pop((), 0)
        if len(terms) != 1:
            return None
        ((mono, factor),) = terms.items()
        if len(mono) != 1 or self.kind[mono[0]] != "b2i":
            return None
        when_false, when_true = test(base), test(base + factor)
        if when_false == when_true:
            return self.bool_const(when_true)
        inner = self.args[mono[0]][0]
        return inner if when_true else self.negate(inner)

    def compare(self, predicate: str, left: Term, right: Term) -> Term:
        """An integer comparison; ``predicate`` as in the dialect, the operands of the right signedness."""
        diff = self.sub(left, right)
        match predicate:
            case "less_than":
                return self.le0(self.add(diff, self.one))
            case "less_than_or_equal":
                return self.le0(diff)
            case "greater_than":
                return self.le0(self.sub(self.one, diff))
            case "greater_than_or_equal":
                return self.le0(self.scale(diff, -1))
            case "equal":
                return self.eq0(diff)
            case _:
                return self.negate(self.eq0(diff))

    # ---- connectives -------------------------------------------------------------------------------------

    def negate(self, term: Term) -> Term:
        known = self._negations
        if term not in known:
            for part in self.nested(term, known):
                known[part] = self._negation(part)
        return known[term]

    def nested(self, term: Term, known: Collection[Term]) -> Iterator[Term]:
        """The parts of nested connectives that are not yet known, innermost first; each becomes known."""
        stack = [term]
        while stack:
            top = stack[-1]
            parts = self.args[top] if self.kind[top] in ("and", "or") and top not in known else ()
            waiting = [part for part in parts if part not in known]
            if waiting:
                stack.extend(waiting)
                continue
            stack.pop()
            if top not in known:
                yield top

    def _negation(self, term: Term) -> Term:
        if term == self.true:
            return self.false
        if term == self.false:
            return self.true
        match self.kind[term]:
            case "not":
                return self.args[term][0]
            case "le":
                return self.le0(self.sub(self.one, self.args[term][0]))
            case "and":
                return self.disjunction([self.negate(arg) for arg in self.args[term]])
            case "or":
                return self.conjunction([self.negate(arg) for arg in self.args[term]])
            case _:
                return self._node("not", None, (term,))

    def conjunction(self, items: Iterable[Term]) -> Term:
        return self._connect("and", items, self.true, self.false)

    def disjunction(self, items: Iterable[Term]) -> Term:
        return self._connect("or", items, self.false, self.true)

    def _connect(self, kind: str, items: Iterable[Term], neutral: Term, settling: Term) -> Term:
        """One of the connectives; ``settling`` is the item that decides it."""
        flat: dict[Term, None] = {}
        for item in items:
            if item == settling:
                return settling
            if item == neutral:
                continue
            if self.kind[item] == kind:
                flat.update(dict.fromkeys(self.args[item]))
            else:
                flat[item] = None
        if len(flat) > 1:
            kept = list(flat)
            if len(flat) <= MAX_COMPARED:
                shorter = [self._without_settled(kind, item, flat) for item in flat]
                if shorter != kept:
                    return self._connect(kind, shorter, neutral, settling)
                kept = [item for item in flat if not self._absorbed(kind, item, flat)]
            if any(self.negate(item) in flat for item in kept):
                return settling
        else:
            kept = list(flat)
        if len(kept) > 1:
            return self._node(kind, None, tuple(sorted(kept)))
        return kept[0] if kept else neutral

    def _without_settled(self, kind: str, item: Term, others: Collection[Term]) -> Term:
        """``a or (not a and b)`` is ``a or b``, and ``a and (not a or b)`` is ``a and b``."""
        if self.kind[item] != ("or" if kind == "and" else "and"):
            return item
        left = [part for part in self.args[item] if self.negate(part) not in others]
        if len(left) == len(self.args[item]):
            return item
        return self.disjunction(left) if kind == "and" else self.conjunction(left)

    def _absorbed(self, kind: str, item: Term, others: Iterable[Term]) -> bool:
        """Whether one of the others settles this item: implies it in "and", is implied by it in "or"."""
        if kind == "and":
            zero = self._not_zero(item)
            return any(
                other != item
                and (self._strictly_implies(other, item) if zero is None else self._excludes(other, zero))
                for other in others
            )
        if self.kind[item] == "eq":
            zero = self.args[item][0]
            return any(self.kind[o] == "le" and self._excludes(self.negate(o), zero) for o in others)
        return any(other != item and self._strictly_implies(item, other) for other in others)

    def _not_zero(self, term: Term) -> Term | None:
        """The polynomial p where the term is ``p != 0``."""
        if self.kind[term] != "not":
            return None
        inner = self.args[term][0]
        return self.args[inner][0] if self.kind[inner] == "eq" else None

    def _excludes(self, inequality: Term, poly: Term) -> bool:
        """Whether ``poly`` is not 0 where the inequality holds: that says ``p < 0`` or ``p > 0``, or more."""
        if self.kind[inequality] != "le":
            return False
        bound = self.args[inequality][0]
        for side in (poly, self.scale(poly, -1)):
            high = self.range(self.sub(self.add(side, self.one), bound))[1]
            if high is not None and high <= 0:
                return True
        return False

    def exclusive_or(self, left: Term, right: Term) -> Term:
        """One of the two, spelled out."""
        only_left = self.conjunction((left, self.negate(right)))
        return self.disjunction((only_left, self.conjunction((self.negate(left), right))))

    def b2i(self, term: Term) -> Term:
        """1 where the predicate holds, else 0."""
        if term == self.true:
            return self.one
        if term == self.false:
            return self.zero
        if self.kind[term] == "not":
            return self.sub(self.one, self.b2i(self.args[term][0]))
        if self.kind[term] == "le":
            number = self.sub(self.one, self.args[term][0])
            if self.range(number) == (0, 1):
                return number  # it is 1 where it is at least 1
            rounded = self._rounds_up(self.args[term][0])
            if rounded is not None:
                return rounded
        return self.atom(self._node("b2i", None, (term,)))

    def _rounds_up(self, poly: Term) -> Term | None:
        """``d * (n / d) < n ? 1 : 0`` as the difference of the quotients rounded up and down.

        It is 1 where there is a remainder. ``poly <= 0`` is that condition, or its negation.
        """
        for mono, _ in self.items(poly):
            for atom in mono:
                if self.kind[atom] != "div" or not self.positive(self.args[atom][1]):
                    continue
                num, den = self.args[atom]
                below = self.sub(self.mul(den, self.atom(atom)), num)
                more = self.sub(self.ceildiv(num, den), self.atom(atom))
                if poly == self.add(below, self.one):
                    return more
                if poly == self.scale(below, -1):
                    return self.sub(self.one, more)
        return None

    # ---- implication -------------------------------------------------------------------------------------

    def _strictly_implies(self, a: Term, b: Term) -> bool:
        """``a`` implies ``b``; of two inequalities that imply each other only the one made first does."""
        if self.kind[a] != "le" or self.kind[b] != "le":
            return False
        if self.range(self.sub(self.args[b][0], self.args[a][0])) == (0, 0):
            return False
        return self._inequality_implies(a, b) and (a < b or not self._inequality_implies(b, a))

    def _inequality_implies(self, a: Term, b: Term) -> bool:
        """Both are ``poly <= 0``, and the difference of their polynomials settles it.

        Also of a multiple of the first, as where the bound of an index is that of a number of tiles.
        """
        known = self._implications.get((a, b))
        if known is None:
            known = self._implications[a, b] = self._implied_inequality(a, b)
        return known

    def _implied_inequality(self, a: Term, b: Term) -> bool:
        given, wanted = self.args[a][0], self.args[b][0]
        factors = self.poly(wanted)
        times = {1: None}
        for mono, coef in self.items(given):
            if mono != () and factors.get(mono, 0) % coef == 0 and factors.get(mono, 0) // coef > 1:
                times[factors[mono] // coef] = None
        highs = (self.range(self.sub(wanted, self.scale(given, factor)))[1] for factor in times)
        return any(high is not None and high <= 0 for high in highs)

    def implies(self, guards: Collection[Term], goal: Term, memo: dict[Term, bool] | None = None) -> bool:
        """Whether the conjunction of ``guards`` settles ``goal``; incomplete.

        ``memo`` may be shared between calls with the same guards.
        """
        if goal == self.true:
            return True
        memo = {} if memo is None else memo
        if goal not in memo:
            for part in self.nested(goal, memo):
                memo[part] = self._implied(guards, part, memo)
        return memo[goal]

    def _implied(self, guards: Collection[Term], goal: Term, memo: dict[Term, bool]) -> bool:
        kind = self.kind[goal]
        if kind == "and":
            return all(self.implies(guards, arg, memo) for arg in self.args[goal])
        for guard in guards:
            if guard == goal:
                return True
            if kind == "le" and self.kind[guard] == "le" and self._inequality_implies(guard, goal):
                return True
        return kind == "or" and any(self.implies(guards, arg, memo) for arg in self.args[goal])

    def conjuncts(self, term: Term) -> tuple[Term, ...]:
        """The parts of a predicate that all hold where it does."""
        if term == self.true:
            return ()
        return self.args[term] if self.kind[term] == "and" else (term,)


def _common_factor(terms: dict[Mono, int]) -> int:
    """The greatest common divisor of all factors but the constant; 0 where there is nothing else."""
    return gcd(*(coef for mono, coef in terms.items() if mono != ()))
