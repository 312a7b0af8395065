"""Inclusive bounds of integer terms under the facts of the store."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from tileir_diff.graph.store import Items, Mono, Range, Store, Term

if TYPE_CHECKING:
    from collections.abc import Generator

UNBOUNDED: Range = (None, None)


class Ranges(Store):
    """A store that knows bounds of its integer terms.

    facts    assumed bounds of polynomials, by ``_fact_key``
    assumed  the symbols of divisors that were taken as positive
    divided  by side, the divisors that were taken as positive because each block divides by them
    doubted  the keys of facts that rest on such a divisor; and, by symbol, the bounds that it has without
    learnt   how often something became known that does not come with a symbol
    exact    integers wrap as the types say: nothing is taken for granted, nor learnt from promises
    """

    exact = False

    def __init__(self) -> None:
        super().__init__()
        self.facts: dict[Items, Range] = {}
        self.assumed: frozenset[Term] = frozenset()
        self.divided: tuple[set[Term], set[Term]] = (set(), set())
        self.doubted: set[Items] = set()
        self.undoubted: dict[Term, Range | None] = {}
        self.learnt = 0
        self._range_cache: dict[Term, Range] = {}
        self._implications: dict[tuple[Term, Term], bool] = {}

    def positive(self, term: Term) -> bool:
        low, _ = self.range(term)
        return low is not None and low > 0

    def nonneg(self, term: Term) -> bool:
        low, _ = self.range(term)
        return low is not None and low >= 0

    def range(self, term: Term) -> Range:
        """Inclusive bounds of an integer term under the facts; None is unbounded."""
        cached = self._range_cache.get(term)
        if cached is not None:
            return cached
        if self.kind[term] == "poly":
            result = self._poly_range(term)
            if self.facts:
                result = self._with_facts(term, result)
        else:
            result = self.ranges.get(term) or self.own_range(term)
        self._range_cache[term] = result
        return result

    def within(self, term: Term, least: int, end: int) -> bool:
        """Whether the bounds of a term are known to lie in ``range(least, end)``."""
        low, high = self.range(term)
        return low is not None and low >= least and high is not None and high < end

    def set_range(self, atom: Term, bounds: Range) -> None:
        """The bounds that come with a symbol."""
        if self.ranges.get(atom) != bounds:
            outdated = atom in self.ranges or atom in self._range_cache
            self.ranges[atom] = bounds
            if outdated:
                self.forget_ranges()

    def learn_range(self, atom: Term, bounds: Range) -> None:
        """Bounds that became known on the way: they hold beside those known already."""
        known = self.ranges.get(atom, UNBOUNDED)
        both = meet(known, bounds)
        if both != known:
            self.ranges[atom] = both
            self.learnt += 1
            self.forget_ranges()

    def forget_ranges(self) -> None:
        """What was derived from bounds is derived again."""
        self._range_cache.clear()
        self._implications.clear()

    def knowledge(self) -> tuple[Any, ...]:
        """All that is known of symbols and divisors, to come back to."""
        divided = set(self.divided[0]), set(self.divided[1])
        facts = dict(self.ranges), dict(self.facts), set(self.doubted), dict(self.undoubted)
        return *facts, divided, self.assumed, self.learnt

    def return_to(self, knowledge: tuple[Any, ...]) -> None:
        """Forget what has become known since."""
        self.ranges, self.facts, self.doubted, self.undoubted, *rest = knowledge
        self.divided, self.assumed, self.learnt = rest
        self.forget_ranges()

    @contextmanager
    def forgetting(self) -> Generator[None, None, None]:
        """Within, what becomes known is known for a trial of the generated side only.

        So is which op a term comes from, which begins anew.
        """
        knowledge = self.knowledge()
        made = self.origins[1], self.loop_results[1]
        self.origins[1], self.loop_results[1] = {}, {}
        try:
            yield
        finally:
            self.return_to(knowledge)
            self.origins[1], self.loop_results[1] = made

    # ---- assumed bounds ----------------------------------------------------------------------------------

    def assume_range(self, term: Term, low: int | None, high: int | None, *, doubted: bool = False) -> None:
        """Take an integer term as lying in a range, and with it all terms at a constant distance.

        ``doubted``: nothing shows it; it is a divisor.
        """
        items: Items = self.attr[term]
        if len(items) == 1 and items[0][1] > 0 and low is not None and low > 0:
            # a positive product of sizes: each of them is positive
            for atom in items[0][0]:
                atom_low, atom_high = self.range(atom)
                if atom_low is None or atom_low < 0:
                    self.undoubted.setdefault(atom, self.ranges.get(atom))
                    self.learn_range(atom, (1, atom_high))
        key, const, sign = _fact_key(items)
        bounds = _add((low, high), -const)
        known = self.facts.get(key, UNBOUNDED)
        both = meet(known, bounds if sign > 0 else _minus(bounds))
        if both != known:
            if doubted and known == UNBOUNDED:
                self.doubted.add(key)
            self.facts[key] = both
            self.learnt += 1
            self.forget_ranges()

    def _with_facts(self, term: Term, bounds: Range) -> Range:
        key, const, sign = _fact_key(self.attr[term])
        known = self.facts.get(key)
        if known is None:
            return bounds
        return meet(bounds, _add(known if sign > 0 else _minus(known), const))

    @contextmanager
    def certain(self) -> Generator[None, None, None]:
        """Within, divisors are not taken as positive."""
        ranges, facts, caches = self.ranges, self.facts, (self._range_cache, self._implications)
        positive = {atom: ranges[atom] for atom in self.undoubted}
        for atom, bounds in self.undoubted.items():
            if bounds is None:
                del ranges[atom]
            else:
                ranges[atom] = bounds
        self.facts = {key: bounds for key, bounds in facts.items() if key not in self.doubted}
        self._range_cache, self._implications = {}, {}
        try:
            yield
        finally:
            ranges.update(positive)
            self.facts = facts
            self._range_cache, self._implications = caches

    # ---- polynomials -------------------------------------------------------------------------------------

    def _poly_range(self, term: Term) -> Range:
        terms: dict[Mono, int] = dict(self.attr[term])
        added = any(
            factor > 0 and self.kind[atom] == "div" for mono, factor in terms.items() for atom in mono
        )
        negated = {mono: -factor for mono, factor in terms.items()} if added else {}
        low, high = self._sum_range(terms)
        if added:  # what is rounded down is at most what it was: a remainder is taken away
            least, most = self._sum_range(negated)
            return meet((low, high), (None if most is None else -most, None if least is None else -least))
        return low, high

    def _sum_range(self, terms: dict[Mono, int]) -> Range:
        """The bounds of a sum of products; ``terms`` is used up."""
        low: int | None = 0
        high: int | None = 0
        for mono in list(terms):
            coef = terms.get(mono, 0)
            if coef >= 0 or not mono:
                continue
            for atom in mono:
                if self.kind[atom] == "div":
                    remainder = self._take_remainder(terms, mono, coef, atom)
                    if remainder is not None:
                        most, factor = remainder
                        high = None if high is None or most is None else high + most * factor
                        break
        for mono, coef in terms.items():
            if not coef:
                continue
            lo, hi = self._mono_range(mono)
            if coef < 0:
                lo, hi = hi, lo
            low = None if low is None or lo is None else low + lo * coef
            high = None if high is None or hi is None else high + hi * coef
        return (low, high)

    def _mono_range(self, mono: Mono) -> Range:
        bounds: Range = (1, 1)
        for atom in mono:
            bounds = _product(bounds, self.range(atom))
        if len(mono) == 2 and mono[0] == mono[1]:
            bounds = (0 if bounds[0] is None else max(0, bounds[0]), bounds[1])
        return bounds

    def _take_remainder(
        self, terms: dict[Mono, int], mono: Mono, coef: int, atom: Term
    ) -> tuple[int | None, int] | None:
        """Take ``k * (num - den * div(num, den))`` out of ``terms``: a remainder lies in [0, den - 1].

        ``mono`` with ``coef`` is the part with the quotient ``atom``. Returns the largest remainder (None for
        unbounded) and k; None, with ``terms`` as they were, where the numerator is not there.
        """
        num, den = self.args[atom]
        den_items = self.items(den)
        if len(den_items) != 1:
            return None
        den_mono, den_coef = den_items[0]
        rest = list(mono)
        rest.remove(atom)
        if tuple(rest) != den_mono or den_coef < 0 or coef % den_coef:
            return None
        factor = -coef // den_coef
        numerator = self.items(num)
        contained = all(terms.get(m, 0) * c > 0 and abs(terms[m]) >= abs(c * factor) for m, c in numerator)
        if not contained and not all(m == () or terms.get(m, 0) == c * factor for m, c in numerator):
            return self._take_digit(terms, mono, coef, atom)
        den_high = self.range(den)[1]
        if not self.nonneg(den):
            return None
        for m, c in numerator:
            terms[m] = terms.get(m, 0) - c * factor
        del terms[mono]
        return (None if den_high is None else den_high - 1), factor

    def _take_digit(
        self, terms: dict[Mono, int], mono: Mono, coef: int, atom: Term
    ) -> tuple[int, int] | None:
        """Like ``_take_remainder``, of ``k * (num / d - c * (num / (c * d)))``, with constants."""
        num, whole = self.args[atom][0], self.value(self.args[atom][1])
        if whole is None:
            return None
        for other, factor in terms.items():
            if len(other) != 1 or self.kind[other[0]] != "div" or self.args[other[0]][0] != num:
                continue
            part = self.value(self.args[other[0]][1])
            if not part or part < 0 or whole % part or whole == part:
                continue
            base = whole // part
            if coef % base or not 0 < -coef // base <= factor:
                continue
            terms[other] = factor + coef // base
            del terms[mono]
            return base - 1, -coef // base
        return None

    # ---- atoms -------------------------------------------------------------------------------------------

    def own_range(self, atom: Term) -> Range:
        """The bounds that follow from what an atom is, whatever was promised of the atom itself."""
        kind = self.kind[atom]
        args = self.args[atom]
        match kind:
            case "div":
                return _quotient(self.range(args[0]), self.range(args[1]))
            case "b2i":
                return (0, 1)
            case "min":
                return _minimum([self.range(arg) for arg in args])
            case "max":
                return _minus(_minimum([_minus(self.range(arg)) for arg in args]))
            case "ite":
                return _hull(self.range(args[1]), self.range(args[2]))
            case "mul":
                return _product(self.range(args[0]), self.range(args[1]))
            case "zext":
                return (0, (1 << self.attr[atom][0]) - 1)
            case "wrap":
                return _signed(self.attr[atom][0])
            case "iop":
                return self._op_range(atom)
            case "mem":
                return _of_type(self.attr[atom][0])
            case "undefined":
                return _of_type(self.attr[atom])
            case _:
                return UNBOUNDED

    def _op_range(self, atom: Term) -> Range:
        """Bounds of an integer op on opaque operands: those of its type, or better."""
        bits, name, *mods = self.attr[atom]
        args = self.args[atom]
        if name == "andi":
            masks = [value for arg in args if (value := self.value(arg)) is not None and value >= 0]
            if masks:
                return (0, min(masks))
        if name == "shri" and ("signed", "unsigned") in mods:
            amount = self.value(args[1])
            if amount is not None and 0 < amount < bits:
                return (0, (1 << (bits - amount)) - 1)
        if name in ("maxi", "mini"):
            return meet(_hull(*map(self.range, args)), _signed(bits))
        return _signed(bits)


def meet(first: Range, second: Range) -> Range:
    """Both bounds hold."""
    low = first[0] if second[0] is None else second[0] if first[0] is None else max(first[0], second[0])
    high = first[1] if second[1] is None else second[1] if first[1] is None else min(first[1], second[1])
    return (low, high)


def _fact_key(items: Items) -> tuple[Items, int, int]:
    """The polynomial without its constant and with a positive first coefficient; the constant; the sign."""
    const = items[0][1] if items and items[0][0] == () else 0
    rest = items[1:] if items and items[0][0] == () else items
    if rest and rest[0][1] < 0:
        return tuple([(mono, -coef) for mono, coef in rest]), const, -1
    return rest, const, 1


def _of_type(element: str) -> Range:
    """The numbers of an integer type; what memory holds as another type has no bounds."""
    return _signed(int(element[1:])) if element.startswith("i") and element[1:].isdigit() else UNBOUNDED


def _signed(bits: int) -> Range:
    return (-(1 << (bits - 1)), (1 << (bits - 1)) - 1)


def _add(bounds: Range, by: int) -> Range:
    low, high = bounds
    return (None if low is None else low + by, None if high is None else high + by)


def _minus(bounds: Range) -> Range:
    low, high = bounds
    return (None if high is None else -high, None if low is None else -low)


def _hull(first: Range, second: Range) -> Range:
    """One of the bounds holds."""
    low = None if first[0] is None or second[0] is None else min(first[0], second[0])
    high = None if first[1] is None or second[1] is None else max(first[1], second[1])
    return (low, high)


def _minimum(ranges: list[Range]) -> Range:
    lows = [low for low, _ in ranges if low is not None]
    highs = [high for _, high in ranges if high is not None]
    return (min(lows) if len(lows) == len(ranges) else None, min(highs) if highs else None)


def _quotient(num: Range, den: Range) -> Range:
    """Bounds of a floor division."""
    num_low, num_high = num
    den_low, den_high = den
    if den_low is None or den_low < 0 or (den_high is not None and den_high < 1):
        return UNBOUNDED  # a divisor that can be zero or negative leaves nothing to say
    den_low = max(den_low, 1)
    if num_low is None:
        low = None
    elif num_low >= 0:
        low = 0 if den_high is None else num_low // den_high
    else:
        low = num_low // den_low
    if num_high is None:
        high = None
    elif num_high >= 0:
        high = num_high // den_low
    else:
        high = -1 if den_high is None else num_high // den_high
    return (low, high)


def _product(first: Range, second: Range) -> Range:
    """Interval product; an unbounded factor stays unbounded unless the signs settle a bound."""
    if first == (1, 1):
        return second
    if second == (1, 1):
        return first
    (a, b), (c, d) = first, second
    if a is not None and b is not None and c is not None and d is not None:
        corners = (a * c, a * d, b * c, b * d)
        return (min(corners), max(corners))
    if a is not None and a >= 0 and c is not None and c >= 0:
        return (a * c, None if b is None or d is None else b * d)
    if (0, 0) in (first, second):
        return (0, 0)
    return UNBOUNDED
