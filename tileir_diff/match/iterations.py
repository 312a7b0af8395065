"""Whether accesses in different iterations of a loop touch different elements.

The distance between the two addresses is taken apart into sums that must all be zero where the two meet.
"""

from __future__ import annotations

import math
from itertools import combinations
from typing import TYPE_CHECKING, Literal

from tileir_diff.graph.ranges import meet
from tileir_diff.match.witness import evaluate

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from tileir_diff.graph.kernel import Effect, Kernel, Loop
    from tileir_diff.graph.store import Items, Mono, Range
    from tileir_diff.graph.terms import Term, Terms

    Apart = Literal["shown", "assumed"]

ROUNDS = 4
"""An index made of quotients and remainders has as many of them as the tile has dimensions, or a few more."""
TRIES = 3
"""How many sizes and blocks of a grid are tried."""
SIZES = (300, 1000, 129, 4096, 2049, 700)
TRIED = (0, 1, 2, 3, 7, 8, 16, 17, 32, 33)
"""Iterations that are tried against each other: neighbours, and those at the end of a row of tiles.

So is the first with the one that each divisor counts, after which a remainder is the same again.
"""
STRIDES = frozenset({"arg", "grid"})
"""Symbols that a stride is made of: as long as what it steps over, for all that is known."""


def keep_apart(kernel: Kernel, a: Effect, b: Effect, loop: Loop, *, anywhere: bool = False) -> Apart | None:
    """Whether ``a`` and, in any later iteration, ``b`` touch different elements of one array.

    shown     the addresses cannot be equal
    assumed   they are not where each stride is at least as long as what it steps over
    None      they may be: the iterations overlap, or nothing is known of how the address moves

    ``anywhere``: the loops around may be at other iterations for ``b`` than for ``a``, too; and what is only
    tried for a few sizes is not taken for granted.
    """
    if a.pointer is None or b.pointer is None:
        return None
    moved = _Moved(kernel, a, b, loop, anywhere=anywhere)
    if moved.never:
        return "shown"
    terms = kernel.terms
    distance = moved.distance(a.pointer, b.pointer)
    if _cannot_meet(terms, [distance], moved.ahead):
        return "shown"
    if _one_view(terms, a, b, moved.around):
        forms = [
            moved.distance(first, second)
            for first, second, stride in zip(a.coordinates, b.coordinates, a.strides, strict=True)
            if terms.value(stride) != 0
        ]
        dense = _dense(terms, a)
        if dense and _cannot_meet(terms, forms, moved.ahead):
            return "shown"
        if dense or any(terms.value(size) is None for size in (*a.strides, *a.extents)):
            return "assumed" if _cannot_meet(terms, forms, moved.ahead) or moved.never_met(forms) else None
    if loop.iteration in terms.symbols[terms.sub(b.pointer, a.pointer)]:
        return None  # one stays, or goes another way than the other
    forms = _by_stride(terms, distance)
    if _cannot_meet(terms, forms, moved.ahead, plausibly=True) or moved.never_met(forms):
        return "assumed"
    return None


class _Moved:
    """Terms of one iteration against those of a later one, each on lanes of its own.

    ahead   how many iterations lie between, at least 1
    around  the loops that are at the same iteration for both
    tries   whether it counts that none of a few cases tried meets
    never   whether there is no later iteration
    """

    def __init__(self, kernel: Kernel, a: Effect, b: Effect, loop: Loop, *, anywhere: bool) -> None:
        self.terms = terms = kernel.terms
        last = terms.range(loop.iteration)[1]
        self.never = last == 0
        self.ahead = self._symbol((1, last), "ahead", kernel.side, loop.uid)
        self.around = () if anywhere else a.loops[: a.loops.index(loop)]
        self.tries = not anywhere
        fixed = {leaf for each in self.around for leaf in _symbols(each)}
        self.loop = loop
        self.others: set[Term] = set()
        self.before = self._lanes(a, "before")
        self.after = self._lanes(b, "after")
        for leaf in sorted(frozenset[int]().union(*(terms.symbols[term] for term in _where(b)))):
            if terms.kind[leaf] in ("iter", "carry") and leaf not in fixed:
                self.after[leaf] = self._symbol(terms.range(leaf), "other", leaf)
                self.others.add(self.after[leaf])
        self.others.update((loop.iteration, self.ahead))
        self.after[loop.iteration] = terms.add(terms.atom(loop.iteration), terms.atom(self.ahead))

    def distance(self, first: Term, second: Term) -> Term:
        terms = self.terms
        return terms.sub(terms.subst(second, self.after), terms.subst(first, self.before))

    def never_met(self, forms: Iterable[Term]) -> bool:
        """Whether indices that are computed by quotients and limits are told apart in all cases tried."""
        terms = self.terms
        forms = [form for form in forms if self.ahead in terms.symbols[form]]
        if not self.tries or not any(
            _is_computed(terms, atom, self.ahead) for form in forms for atom in terms.args[form]
        ):
            return False
        own = {leaf for each in (self.before, self.after) for leaf in map(terms.single, each.values())}
        lanes = frozenset(leaf for leaf in own if leaf is not None and leaf not in self.others)
        parts = [_lane_part(terms, form, lanes) for form in forms]
        rests = [terms.sub(form, part) for form, part in zip(forms, parts, strict=True)]
        if any(lanes & terms.symbols[rest] for rest in rests):
            return False
        trip = terms.zero if self.loop.trip is None else self.loop.trip
        divisors = _divisors(terms, rests)
        for attempt in range(TRIES):
            values = self._values([*rests, trip], attempt)
            count = evaluate(terms, trip, values)
            if count is None:
                return False
            values |= {self.loop.iteration: 0, self.ahead: 1}
            periods = {evaluate(terms, divisor, values) or 0 for divisor in divisors}
            ends = [(0, period) for period in sorted(periods) if period > 0]
            for first, second in (*combinations(TRIED, 2), *ends):
                if self.loop.trip is not None and second >= count:
                    continue
                values |= {self.loop.iteration: first, self.ahead: second - first}
                known = [evaluate(terms, rest, values) for rest in rests]
                apart = [
                    terms.add(part, terms.const(value))
                    for part, value in zip(parts, known, strict=True)
                    if value is not None
                ]
                if not _cannot_meet(terms, apart, self.ahead):
                    return False
        return True

    def _values(self, used: Iterable[Term], attempt: int) -> dict[Term, int]:
        """Sizes of a few tiles, and a block of a small grid."""
        terms = self.terms
        values: dict[Term, int] = {}
        for place, leaf in enumerate(sorted(frozenset[int]().union(*(terms.symbols[term] for term in used)))):
            kind = terms.kind[leaf]
            low, high = terms.range(leaf)
            low = 0 if low is None else low
            value = low
            if kind == "arg":
                value = SIZES[(place + attempt) % len(SIZES)]
            elif kind == "block":
                value = attempt % 3
            elif kind == "grid":
                value = 3 + attempt
            values[leaf] = max(low, value if high is None else min(value, high))
        return values

    def _symbol(self, bounds: Range, *name: object) -> Term:
        leaf = self.terms.leaf("iter", *name)
        self.terms.set_range(leaf, bounds)
        return leaf

    def _lanes(self, effect: Effect, name: str) -> dict[Term, Term]:
        """A symbol for each lane, within what the mask leaves of the tile."""
        terms = self.terms
        mask = terms.true if effect.mask is None else effect.mask
        bounds = {
            leaf: terms.range(leaf)
            for leaf in sorted(frozenset[int]().union(*(terms.symbols[term] for term in _where(effect))))
            if terms.kind[leaf] == "lane"
        }
        for check in terms.conjuncts(mask):
            if terms.kind[check] != "le":
                continue
            poly = terms.poly(terms.args[check][0])
            constant = poly.pop((), 0)
            if len(poly) == 1:
                ((mono, factor),) = poly.items()
                if len(mono) == 1 and mono[0] in bounds:
                    within: Range = (
                        (None, -constant // factor) if factor > 0 else (-(constant // factor), None)
                    )
                    bounds[mono[0]] = meet(bounds[mono[0]], within)
        return {
            leaf: terms.atom(self._symbol(within, name, leaf, *within)) for leaf, within in bounds.items()
        }


def _is_computed(terms: Terms, atom: Term, ahead: Term) -> bool:
    return terms.kind[atom] in ("div", "tdiv", "min", "max", "ite") and ahead in terms.symbols[atom]


def _divisors(terms: Terms, forms: Iterable[Term]) -> list[Term]:
    """What something is divided by in the forms."""
    work = list(forms)
    seen: set[Term] = set()
    while work:
        node = work.pop()
        if node not in seen:
            seen.add(node)
            work.extend(terms.args[node])
    return sorted({terms.args[node][1] for node in seen if terms.kind[node] in ("div", "tdiv")})


def _lane_part(terms: Terms, form: Term, lanes: frozenset[Term]) -> Term:
    """The summands that are made of lanes alone."""
    return _sum(terms, [item for item in terms.items(form) if item[0] and lanes.issuperset(item[0])])


def _where(effect: Effect) -> list[Term]:
    return [term for term in (effect.pointer, *effect.coordinates) if term is not None]


def _one_view(terms: Terms, a: Effect, b: Effect, around: Sequence[Loop]) -> bool:
    """Whether both are through views of one tensor that moves in no loop but those around."""
    if not a.coordinates or (a.strides, a.extents) != (b.strides, b.extents):
        return False
    origins = [
        terms.sum([(each.pointer or terms.zero, 1), *((terms.mul(*pair), -1) for pair in steps)])
        for each in (a, b)
        for steps in (list(zip(each.coordinates, each.strides, strict=True)),)
    ]
    changing = {leaf for loop in a.loops if loop not in around for leaf in _symbols(loop)}
    symbols = [*origins, *a.strides]
    return origins[0] == origins[1] and not any(changing & terms.symbols[term] for term in symbols)


def _symbols(loop: Loop) -> list[Term]:
    """What is another value in another iteration of the loop."""
    return [loop.iteration, *(carry.leaf for carry in loop.carries)]


def _dense(terms: Terms, effect: Effect) -> bool:
    """Whether all elements are shown to be at different places: each row ends before the next one."""
    sizes = list(zip(effect.strides, effect.extents, strict=True))
    for order in (sizes, sizes[::-1]):
        ends = [terms.mul(*inner) for inner in order[1:]]
        if terms.positive(order[-1][0]) and all(
            terms.nonneg(terms.sub(outer, end)) for (outer, _), end in zip(order, ends, strict=False)
        ):
            return True
    return False


# ---- sums that must all be zero --------------------------------------------------------------------------


def _cannot_meet(terms: Terms, forms: Iterable[Term], ahead: Term, *, plausibly: bool = False) -> bool:
    """Whether the sums cannot all be zero. ``plausibly``: only what moves with the iteration counts."""
    forms = list(forms)
    for _ in range(ROUNDS):
        forms = [part for form in forms for part in _parts(terms, form)]
        for form in forms:
            low, high = terms.range(form)
            nonzero = (low is not None and low > 0) or (high is not None and high < 0)
            if nonzero and (not plausibly or ahead in terms.symbols[form]):
                return True
        equal = next((pair for form in forms if (pair := _equal(terms, form)) is not None), None)
        if equal is None:
            return False
        if plausibly and _counts(terms, equal[0]):
            return True
        forms = [_replaced(terms, form, *equal) for form in forms]
    return False


def _parts(terms: Terms, form: Term) -> list[Term]:
    """Sums that are zero where the form is: as a number has digits, ``m * high + low`` with ``|low| < m``."""
    items = terms.items(form)
    for size in sorted({abs(factor) for _, factor in items}, reverse=True):
        high = [item for item in items if item[1] % size == 0]
        if len(high) < len(items) and (found := _split(terms, form, high, terms.const(size))):
            return found
    for stride in sorted({atom for mono, _ in items for atom in mono if _is_stride(terms, atom)}):
        high = [item for item in items if stride in item[0]]
        size = terms.scale(terms.atom(stride), math.gcd(*(factor for _, factor in high)))
        if len(high) < len(items) and (found := _split(terms, form, high, size)):
            return found
    return [form]


def _split(terms: Terms, form: Term, high: Sequence[tuple[Mono, int]], size: Term) -> list[Term] | None:
    upper = _sum(terms, high)
    low = terms.sub(form, upper)
    most, least = terms.range(terms.sub(low, size))[1], terms.range(terms.add(low, size))[0]
    if most is None or least is None or most >= 0 or least <= 0:
        return None
    return [*_parts(terms, upper), *_parts(terms, low)]


def _sum(terms: Terms, items: Iterable[tuple[Mono, int]]) -> Term:
    return terms.sum([(terms.product(mono), factor) for mono, factor in items])


def _is_stride(terms: Terms, atom: Term) -> bool:
    symbols = terms.symbols[atom]
    return bool(symbols) and all(terms.kind[symbol] in STRIDES for symbol in symbols)


def _by_stride(terms: Terms, form: Term) -> list[Term]:
    """What is counted in each stride, as if none were shorter than what it steps over."""
    groups: dict[Mono, list[tuple[Mono, int]]] = {}
    for mono, factor in terms.items(form):
        stride = tuple(atom for atom in mono if _is_stride(terms, atom))
        rest = tuple(atom for atom in mono if atom not in stride)
        groups.setdefault(stride, []).append((rest, factor))
    return [_sum(terms, groups[stride]) for stride in sorted(groups)]


def _equal(terms: Terms, form: Term) -> tuple[Term, Term] | None:
    """Two atoms that are equal where the form is zero: quotients of both iterations, for instance."""
    items: Items = terms.items(form)
    if len(items) != 2 or items[0][1] != -items[1][1]:
        return None
    (first, _), (second, _) = items
    if len(first) != len(second):
        return None
    left, right = [[x for x in one if x not in two] for one, two in ((first, second), (second, first))]
    others = [atom for atom in first if atom in second]
    if len(left) != 1 or len(right) != 1 or not all(terms.positive(terms.atom(atom)) for atom in others):
        return None
    return left[0], right[0]


def _counts(terms: Terms, atom: Term) -> bool:
    """Whether the atom is a ticket that is drawn from a counter: no two are equal."""
    return terms.kind[atom] == "atomic" and terms.attr[atom][:2] == ("atomic_rmw_tko", "add")


def _replaced(terms: Terms, form: Term, old: Term, new: Term) -> Term:
    return _sum(
        terms,
        [
            (tuple(new if atom == old else atom for atom in mono), factor)
            for mono, factor in terms.items(form)
        ],
    )
