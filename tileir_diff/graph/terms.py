"""Hash-consed terms: what a kernel computes for one lane, in normal form.

A tile value of shape ``(d0, .., dk)`` is one scalar term over its lane symbols ``lane(0) .. lane(k)``.
Shape ops (reshape, broadcast, permute, extract, cat) therefore leave no trace: they only rename lanes.
Integers are polynomials over atoms, predicates are linear inequalities, everything else is an op with arguments.
Two values with the same term id are equal under the facts in ``Terms.ranges``; different ids prove nothing.

Terms of both sides live in one ``Terms`` store, so equality across sides is equality of ids.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from math import gcd
from typing import Any

Term = int
Range = tuple[int | None, int | None]
Mono = tuple[int, ...]

MAX_MONOMIALS = 400
"""A polynomial with more monomials is kept as an opaque product: longer ones cost more than they settle."""

LEAVES = frozenset({"lane", "bound", "it", "carry_lane", "arg", "block", "grid", "iter", "carry", "region"})
COMMUTATIVE_INT = frozenset({"andi", "ori", "xori", "maxi", "mini"})
UNDER_BUDGET = 4000
"""How many nodes a simplification under guards may visit before the term is left as it is."""


class Terms:
    """The store. Every constructor returns the id of the term in normal form."""

    def __init__(self, disabled: frozenset[str] = frozenset()) -> None:
        self.disabled = disabled
        self.evaluating: tuple[int, Any] | None = None
        self.used: tuple[dict[str, Any], dict[str, Any]] = ({}, {})
        self.kind: list[str] = []
        self.attr: list[Any] = []
        self.args: list[tuple[Term, ...]] = []
        self.symbols: list[frozenset[Term]] = []
        self.height: list[int] = []
        self._ids: dict[tuple[Any, ...], Term] = {}
        self.ranges: dict[Term, Range] = {}
        self._range_cache: dict[Term, Range] = {}
        self.facts: dict[tuple[tuple[Mono, int], ...], Range] = {}
        self.carry_lanes: dict[Term, tuple[Term, ...]] = {}
        self.origins: list[dict[Term, Any]] = [{}, {}]
        self.loop_results: list[dict[Term, Any]] = [{}, {}]
        """By side and by the colour in a ``loop_result`` term: the loop and the result's index."""
        self.true = self._node("true", None, ())
        self.false = self._node("false", None, ())
        self.zero = self.const(0)
        self.one = self.const(1)

    # ---- nodes -----------------------------------------------------------------------------------------------

    def _node(self, kind: str, attr: Any, args: tuple[Term, ...]) -> Term:
        key = (kind, attr, args)
        found = self._ids.get(key)
        if found is not None:
            return found
        term = len(self.kind)
        self._ids[key] = term
        self.kind.append(kind)
        self.attr.append(attr)
        self.args.append(args)
        if kind in LEAVES:
            self.symbols.append(frozenset((term,)))
            self.height.append(attr[0] if kind in ("bound", "it") else 0)
        elif len(args) == 1:
            self.symbols.append(self.symbols[args[0]])
            self.height.append(self.height[args[0]])
        else:
            union: frozenset[Term] = frozenset()
            height = 0
            for arg in args:
                other = self.symbols[arg]
                if other is not union and not other <= union:
                    union = union | other if union else other
                height = max(height, self.height[arg])
            self.symbols.append(union)
            self.height.append(height)
        return term

    def node(self, kind: str, attr: Any, args: Iterable[Term] = ()) -> Term:
        """An uninterpreted node; the constructors below are preferred where they exist."""
        return self._node(kind, attr, tuple(args))

    def leaf(self, kind: str, *attr: Any) -> Term:
        return self._node(kind, attr, ())

    def lane(self, dim: int, extent: int) -> Term:
        """The lane index along ``dim`` as an integer term; 0 where the extent is 1."""
        if extent == 1:
            return self.zero
        leaf = self.leaf("lane", dim, extent)
        self.ranges[leaf] = (0, extent - 1)
        return self.atom(leaf)

    def bound(self, height: int, extent: int) -> Term:
        """A bound index of a reduction or contraction, as a leaf."""
        leaf = self.leaf("bound", height, extent)
        self.ranges[leaf] = (0, extent - 1)
        return leaf

    def enabled(self, equivalence: str) -> bool:
        return equivalence not in self.disabled

    def note(self, equivalence: str) -> None:
        """An equivalence was used for the op now being evaluated."""
        if self.evaluating is not None:
            side, op = self.evaluating
            self.used[side].setdefault(equivalence, op)

    # ---- polynomials -----------------------------------------------------------------------------------------

    def _poly(self, terms: Mapping[Mono, int]) -> Term:
        items = tuple(sorted((mono, coef) for mono, coef in terms.items() if coef))
        atoms: dict[Term, None] = {}
        for mono, _ in items:
            for atom in mono:
                atoms[atom] = None
        return self._node("poly", items, tuple(sorted(atoms)))

    def const(self, value: int) -> Term:
        return self._node("poly", (((), value),) if value else (), ())

    def atom(self, leaf: Term) -> Term:
        if self.kind[leaf] == "poly":
            return leaf
        return self._node("poly", (((leaf,), 1),), (leaf,))

    def poly(self, term: Term) -> dict[Mono, int]:
        if self.kind[term] == "poly":
            return dict(self.attr[term])
        return {(term,): 1}

    def value(self, term: Term) -> int | None:
        """The integer when the term is a constant."""
        if self.kind[term] != "poly":
            return None
        items = self.attr[term]
        if not items:
            return 0
        if len(items) == 1 and items[0][0] == ():
            return items[0][1]
        return None

    def single(self, term: Term) -> Term | None:
        """The atom when the term is exactly one atom with coefficient 1."""
        if self.kind[term] != "poly":
            return term
        items = self.attr[term]
        if len(items) == 1 and items[0][1] == 1 and len(items[0][0]) == 1:
            return items[0][0][0]
        return None

    def add(self, left: Term, right: Term) -> Term:
        return self.sum(((left, 1), (right, 1)))

    def sub(self, left: Term, right: Term) -> Term:
        return self.sum(((left, 1), (right, -1)))

    def sum(self, parts: Iterable[tuple[Term, int]]) -> Term:
        total: dict[Mono, int] = {}
        for term, factor in parts:
            items = self.attr[term] if self.kind[term] == "poly" else (((term,), 1),)
            for mono, coef in items:
                total[mono] = total.get(mono, 0) + coef * factor
        return self._poly(total)

    def scale(self, term: Term, factor: int) -> Term:
        return self.sum(((term, factor),))

    def mul(self, left: Term, right: Term) -> Term:
        a, b = self.poly(left), self.poly(right)
        if len(a) * len(b) > MAX_MONOMIALS:
            return self.atom(self._node("mul", None, tuple(sorted((left, right)))))
        total: dict[Mono, int] = {}
        for mono_a, coef_a in a.items():
            for mono_b, coef_b in b.items():
                mono = tuple(sorted(mono_a + mono_b))
                total[mono] = total.get(mono, 0) + coef_a * coef_b
        return self._poly(total)

    def floordiv(self, num: Term, den: Term) -> Term:
        """Floor division; the divisor is taken to be non-zero."""
        d = self.value(den)
        n = self.value(num)
        if d is not None and n is not None and d:
            return self.const(n // d)
        if d == 0:
            return self.atom(self._node("div", None, (num, den)))  # undefined, but still a term
        if d == 1:
            return num
        if d == -1:
            return self.scale(num, -1)
        if d is not None and d < 0:
            return self.floordiv(self.scale(num, -1), self.const(-d))
        if d is None:
            if num == den and self.positive(den):
                return self.one
            quotient = self._divide_out(num, den)
            if quotient is not None:
                return quotient
            low, high = self.range(num)
            if low is not None and low >= 0 and self.positive(self.sub(den, num)):
                return self.zero
            return self.atom(self._node("div", None, (num, den)))
        assert d is not None
        whole: dict[Mono, int] = {}
        rest: dict[Mono, int] = {}
        for mono, coef in self.poly(num).items():
            quotient, remainder = divmod(coef, d)
            if mono == () or not remainder:
                whole[mono] = quotient
                if remainder:
                    rest[mono] = remainder
            else:
                rest[mono] = coef
        rest_term = self._poly(rest)
        low, high = self.range(rest_term)
        if low is not None and high is not None and low // d == high // d:
            whole[()] = whole.get((), 0) + low // d
            return self._poly(whole)
        common = d
        for coef in rest.values():
            common = gcd(common, coef)
        if common > 1:
            inner = self.floordiv(self._poly({m: c // common for m, c in rest.items()}), self.const(d // common))
            return self.add(self._poly(whole), inner)
        inner_atom = self.single(rest_term)
        if inner_atom is not None and self.kind[inner_atom] == "div":
            inner_num, inner_den = self.args[inner_atom]
            inner_value = self.value(inner_den)
            if inner_value is not None and inner_value > 0:
                return self.add(self._poly(whole), self.floordiv(inner_num, self.const(inner_value * d)))
        # a constant that cannot carry: div(g*x + c, d) with 0 <= c < g, g | d is div(x, d / g)
        const = rest.get((), 0)
        g = d
        for mono, coef in rest.items():
            if mono != ():
                g = gcd(g, coef)
        if g > 1 and const:
            smaller = self._poly({m: c // g for m, c in rest.items() if m != ()} | {(): const // g})
            return self.add(self._poly(whole), self.floordiv(smaller, self.const(d // g)))
        return self.add(self._poly(whole), self.atom(self._node("div", None, (rest_term, den))))

    def _divide_out(self, num: Term, den: Term) -> Term | None:
        """``num / den`` when every monomial of ``num`` contains the single-monomial divisor."""
        items = self.attr[den] if self.kind[den] == "poly" else (((den,), 1),)
        if len(items) != 1 or items[0][1] != 1 or not self.positive(den):
            return None
        divisor = items[0][0]
        result: dict[Mono, int] = {}
        for mono, coef in self.poly(num).items():
            left = list(mono)
            for atom in divisor:
                if atom not in left:
                    return None
                left.remove(atom)
            result[tuple(left)] = coef
        return self._poly(result)

    def ceildiv(self, num: Term, den: Term) -> Term:
        return self.floordiv(self.sum(((num, 1), (den, 1), (self.one, -1))), den)

    def mod(self, num: Term, den: Term) -> Term:
        """``num - den * floor(num / den)``: no node of its own, so that quotient and remainder cancel."""
        return self.sub(num, self.mul(den, self.floordiv(num, den)))

    def truncdiv(self, num: Term, den: Term) -> Term:
        low, high = self.range(num)
        den_low, _ = self.range(den)
        if low is not None and low >= 0 and (den_low is None or den_low >= 0):
            # a divisor of zero is undefined behaviour: a non-negative one is positive
            if den_low is not None:
                return self.floordiv(num, den)
        n, d = self.value(num), self.value(den)
        if n is not None and d:
            quotient = abs(n) // abs(d)
            return self.const(quotient if (n < 0) == (d < 0) else -quotient)
        if high is not None and high <= 0 and den_low is not None and den_low >= 0:
            return self.scale(self.floordiv(self.scale(num, -1), den), -1)
        return self.atom(self._node("tdiv", None, (num, den)))

    def minimum(self, items: Iterable[Term]) -> Term:
        return self._extreme("min", items)

    def maximum(self, items: Iterable[Term]) -> Term:
        return self._extreme("max", items)

    def _extreme(self, kind: str, items: Iterable[Term]) -> Term:
        sign = 1 if kind == "min" else -1
        flat: dict[Term, None] = {}
        for item in items:
            atom = self.single(item)
            if atom is not None and self.kind[atom] == kind:
                flat.update(dict.fromkeys(self.args[atom]))
            else:
                flat[item] = None
        values = list(flat)
        dropped: set[int] = set()
        for index, value in enumerate(values):
            for other_index, other in enumerate(values):
                if other_index == index or other_index in dropped:
                    continue
                if not self._at_most(other, value, sign):
                    continue
                if other_index > index and self._at_most(value, other, sign):
                    continue
                dropped.add(index)
                break
        kept = [value for index, value in enumerate(values) if index not in dropped]
        if len(kept) == 1:
            return kept[0]
        return self.atom(self._node(kind, None, tuple(sorted(kept))))

    def _at_most(self, left: Term, right: Term, sign: int) -> bool:
        """``left <= right`` (sign 1) or ``left >= right`` (sign -1) under the facts."""
        low, high = self.range(self.sub(left, right))
        bound = high if sign > 0 else low
        return bound is not None and bound * sign <= 0

    # ---- ranges ----------------------------------------------------------------------------------------------

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
            result = self.ranges.get(term) or self._atom_range(term)
        self._range_cache[term] = result
        return result

    def forget_ranges(self) -> None:
        """Call after new facts were added to ``ranges``."""
        self._range_cache.clear()

    def assume_range(self, term: Term, low: int | None, high: int | None) -> None:
        """Take an integer term as lying in a range from here on, and with it all terms at a constant distance."""
        items = self.attr[term]
        if len(items) == 1 and items[0][1] > 0 and low is not None and low > 0:
            for atom in items[0][0]:
                atom_low, atom_high = self.range(atom)
                if atom_low is None or atom_low < 0:
                    self.ranges[atom] = (1, atom_high)
        key, const, sign = self._fact_key(items)
        bounds = _shift((low, high), -const, sign)
        self.facts[key] = _meet(self.facts.get(key, (None, None)), bounds)
        self.forget_ranges()

    def _fact_key(self, items: tuple[tuple[Mono, int], ...]) -> tuple[tuple[tuple[Mono, int], ...], int, int]:
        """The polynomial without its constant and with a positive first coefficient; the constant; the sign."""
        const = items[0][1] if items and items[0][0] == () else 0
        rest = items[1:] if items and items[0][0] == () else items
        if rest and rest[0][1] < 0:
            return tuple((mono, -coef) for mono, coef in rest), const, -1
        return rest, const, 1

    def _with_facts(self, term: Term, bounds: Range) -> Range:
        key, const, sign = self._fact_key(self.attr[term])
        known = self.facts.get(key)
        if known is None:
            return bounds
        low, high = known if sign > 0 else (_minus(known[1]), _minus(known[0]))
        return _meet(bounds, (None if low is None else low + const, None if high is None else high + const))

    def _poly_range(self, term: Term) -> Range:
        terms = dict(self.attr[term])
        low: int | None = 0
        high: int | None = 0

        def accumulate(bounds: Range, factor: int) -> None:
            nonlocal low, high
            lo, hi = bounds
            if factor < 0:
                lo, hi = hi, lo
            low = None if low is None or lo is None else low + lo * factor
            high = None if high is None or hi is None else high + hi * factor

        # k * (num - den * div(num, den)) is a remainder: it lies in [0, k * (den - 1)]
        for mono in list(terms):
            coef = terms.get(mono, 0)
            if coef >= 0 or not mono:
                continue
            for atom in mono:
                if self.kind[atom] != "div":
                    continue
                num, den = self.args[atom]
                den_items = self.attr[den]
                if len(den_items) != 1:
                    continue
                den_mono, den_coef = den_items[0]
                rest = list(mono)
                rest.remove(atom)
                if tuple(rest) != den_mono or coef % den_coef:
                    continue
                factor = -coef // den_coef
                numerator = self.poly(num)
                if not all(terms.get(m, 0) * c > 0 and abs(terms[m]) >= abs(c * factor) for m, c in numerator.items()):
                    if not all(m == () or terms.get(m, 0) == c * factor for m, c in numerator.items()):
                        continue
                den_high = self.range(den)[1]
                if not self.nonneg(den):
                    continue
                for m, c in numerator.items():
                    terms[m] = terms.get(m, 0) - c * factor
                del terms[mono]
                accumulate((0, None if den_high is None else den_high - 1), factor)
                break
        for mono, coef in terms.items():
            if not coef:
                continue
            bounds: Range = (1, 1)
            for atom in mono:
                bounds = _product(bounds, self.range(atom))
            if len(mono) == 2 and mono[0] == mono[1]:
                bounds = (0 if bounds[0] is None else max(0, bounds[0]), bounds[1])
            accumulate(bounds, coef)
        return (low, high)

    def _atom_range(self, atom: Term) -> Range:
        kind = self.kind[atom]
        args = self.args[atom]
        if kind == "div":
            num_low, num_high = self.range(args[0])
            den_low, den_high = self.range(args[1])
            if den_low is None or den_low < 0 or (den_high is not None and den_high < 1):
                return (None, None)  # a divisor that can be zero or negative leaves nothing to say
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
        if kind == "b2i":
            return (0, 1)
        if kind in ("min", "max"):
            ranges = [self.range(arg) for arg in args]
            lows = [r[0] for r in ranges]
            highs = [r[1] for r in ranges]
            if kind == "min":
                known = [h for h in highs if h is not None]
                finite = [low for low in lows if low is not None]
                return (min(finite) if len(finite) == len(lows) else None, min(known) if known else None)
            known = [low for low in lows if low is not None]
            finite = [h for h in highs if h is not None]
            return (max(known) if known else None, max(finite) if len(finite) == len(highs) else None)
        if kind == "ite":
            a, b = self.range(args[1]), self.range(args[2])
            return (
                None if a[0] is None or b[0] is None else min(a[0], b[0]),
                None if a[1] is None or b[1] is None else max(a[1], b[1]),
            )
        if kind == "mul":
            return _product(self.range(args[0]), self.range(args[1]))
        if kind == "iop" and self.attr[atom][1] == "andi":
            masks = [value for arg in args if (value := self.value(arg)) is not None and value >= 0]
            if masks:
                return (0, min(masks))
        if kind == "iop" and self.attr[atom][1] == "shri" and ("signed", "unsigned") in self.attr[atom]:
            amount = self.value(args[1])
            if amount is not None and amount > 0:
                return (0, (1 << (self.attr[atom][0] - amount)) - 1)
        if kind == "zext":
            return (0, (1 << self.attr[atom][0]) - 1)
        if kind in ("wrap", "iop", "mem", "reduce", "scan", "f", "carry"):
            bits = self.attr[atom][0] if kind in ("wrap", "iop") else None
            if isinstance(bits, int):
                return (-(1 << (bits - 1)), (1 << (bits - 1)) - 1)
        return (None, None)

    def wrap(self, bits: int, term: Term) -> Term:
        """``term`` modulo 2^bits, as a signed number. Inner wraps of one width are undone first: they cannot matter."""
        parts: list[tuple[Term, int]] = []
        modulus = 1 << bits
        for mono, coef in self.attr[term] if self.kind[term] == "poly" else (((term,), 1),):
            coef = coef % modulus
            product = self.one
            for atom in mono:
                inner = self.args[atom][0] if self.kind[atom] == "wrap" and self.attr[atom][0] == bits else self.atom(atom)
                product = self.mul(product, inner)
            parts.append((product, coef - modulus if coef >= modulus >> 1 else coef))
        total = self.sum(parts)
        low, high = self.range(total)
        if low is not None and high is not None and low >= -(modulus >> 1) and high < modulus >> 1:
            return total
        value = self.value(total)
        if value is not None:
            value %= modulus
            return self.const(value - modulus if value >= modulus >> 1 else value)
        return self.atom(self._node("wrap", (bits,), (total,)))

    # ---- predicates ------------------------------------------------------------------------------------------

    def bool_const(self, value: bool) -> Term:
        return self.true if value else self.false

    def le0(self, poly: Term) -> Term:
        """``poly <= 0`` over the integers."""
        low, high = self.range(poly)
        if high is not None and high <= 0:
            return self.true
        if low is not None and low > 0:
            return self.false
        decided = self._bool_valued(poly, lambda v: v <= 0)
        if decided is not None:
            return decided
        terms = self.poly(poly)
        common = 0
        for mono, coef in terms.items():
            if mono != ():
                common = gcd(common, coef)
        if common > 1:
            const = terms.get((), 0)
            terms = {m: c // common for m, c in terms.items() if m != ()}
            terms[()] = -((-const) // common)
            poly = self._poly(terms)
        rounded = self._round_rest(terms)
        if rounded is not None:
            return self.le0(rounded)
        # (n + c) / d <= k over floor division with a constant divisor is linear in n
        if len(terms) <= 2:
            for mono, coef in terms.items():
                if len(mono) == 1 and abs(coef) == 1 and self.kind[mono[0]] == "div":
                    num, den = self.args[mono[0]]
                    d = self.value(den)
                    const = terms.get((), 0)
                    if d is None or d <= 0 or any(m not in (mono, ()) for m in terms):
                        continue
                    if coef == 1:  # div(num, d) <= -const  <=>  num <= d * (1 - const) - 1
                        return self.le0(self.sum(((num, 1), (self.const(d * (1 - const) - 1), -1))))
                    return self.le0(self.sum(((num, -1), (self.const(d * const), 1))))
        return self._node("le", None, (poly,))

    def _round_rest(self, terms: dict[Mono, int]) -> Term | None:
        """``g * x + r <= 0`` as ``x + k <= 0`` where ``ceil(r / g)`` is the same k for every value of ``r``."""
        sizes = sorted({abs(coef) for mono, coef in terms.items() if mono != () and abs(coef) > 1}, reverse=True)
        for g in sizes:
            rest = {m: c for m, c in terms.items() if m == () or c % g}
            if len(rest) == len(terms) or not any(m != () for m in rest):
                continue
            low, high = self.range(self._poly(rest))
            if low is None or high is None or -(-low // g) != -(-high // g):
                continue
            whole = {m: c // g for m, c in terms.items() if m not in rest}
            whole[()] = -(-high // g)
            return self._poly(whole)
        return None

    def eq0(self, poly: Term) -> Term:
        value = self.value(poly)
        if value is not None:
            return self.bool_const(value == 0)
        low, high = self.range(poly)
        if (low is not None and low > 0) or (high is not None and high < 0):
            return self.false
        decided = self._bool_valued(poly, lambda v: v == 0)
        if decided is not None:
            return decided
        if low is not None and low == 0:
            return self.le0(poly)
        if high is not None and high == 0:
            return self.le0(self.scale(poly, -1))
        terms = self.poly(poly)
        common = 0
        for mono, coef in terms.items():
            if mono != ():
                common = gcd(common, coef)
        if terms.get((), 0) % common:
            return self.false
        first = min(m for m in terms if m != ())
        sign = 1 if terms[first] > 0 else -1
        poly = self._poly({m: c * sign // common for m, c in terms.items()})
        return self._node("eq", None, (poly,))

    def _bool_valued(self, poly: Term, test: Callable[[int], bool]) -> Term | None:
        """The predicate over ``c0 + c1 * b2i(b)``, which takes two values only."""
        terms = self.poly(poly)
        atoms = [m for m in terms if m != ()]
        if len(atoms) != 1 or len(atoms[0]) != 1 or self.kind[atoms[0][0]] != "b2i":
            return None
        base = terms.get((), 0)
        when_false, when_true = test(base), test(base + terms[atoms[0]])
        if when_false == when_true:
            return self.bool_const(when_true)
        inner = self.args[atoms[0][0]][0]
        return inner if when_true else self.negate(inner)

    def compare(self, predicate: str, left: Term, right: Term) -> Term:
        """An integer comparison; ``predicate`` as in the dialect. Operands already have the right signedness."""
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

    def negate(self, term: Term) -> Term:
        if term == self.true:
            return self.false
        if term == self.false:
            return self.true
        kind = self.kind[term]
        if kind == "not":
            return self.args[term][0]
        if kind == "le":
            return self.le0(self.sub(self.one, self.args[term][0]))
        if kind == "and":
            return self.disjunction([self.negate(arg) for arg in self.args[term]])
        if kind == "or":
            return self.conjunction([self.negate(arg) for arg in self.args[term]])
        return self._node("not", None, (term,))

    def conjunction(self, items: Iterable[Term]) -> Term:
        flat: dict[Term, None] = {}
        for item in items:
            if item == self.false:
                return self.false
            if item == self.true:
                continue
            if self.kind[item] == "and":
                flat.update(dict.fromkeys(self.args[item]))
            else:
                flat[item] = None
        kept = [item for item in flat if not any(o != item and self._strictly_implies(o, item) for o in flat)]
        for item in kept:
            if self.negate(item) in flat:
                return self.false
        if not kept:
            return self.true
        if len(kept) == 1:
            return kept[0]
        return self._node("and", None, tuple(sorted(kept)))

    def disjunction(self, items: Iterable[Term]) -> Term:
        flat: dict[Term, None] = {}
        for item in items:
            if item == self.true:
                return self.true
            if item == self.false:
                continue
            if self.kind[item] == "or":
                flat.update(dict.fromkeys(self.args[item]))
            else:
                flat[item] = None
        kept = [item for item in flat if not any(o != item and self._strictly_implies(item, o) for o in flat)]
        for item in kept:
            if self.negate(item) in flat:
                return self.true
        if not kept:
            return self.false
        if len(kept) == 1:
            return kept[0]
        return self._node("or", None, tuple(sorted(kept)))

    def exclusive_or(self, left: Term, right: Term) -> Term:
        for a, b in ((left, right), (right, left)):
            if a == self.true:
                return self.negate(b)
            if a == self.false:
                return b
        if left == right:
            return self.false
        return self._node("xor", None, tuple(sorted((left, right))))

    def _strictly_implies(self, a: Term, b: Term) -> bool:
        """``a`` implies ``b`` and is not the same set; linear atoms only."""
        if self.kind[a] == "le" and self.kind[b] == "le":
            difference = self.sub(self.args[b][0], self.args[a][0])
            high = self.range(difference)[1]
            if high is not None and high <= 0:
                low = self.range(difference)[0]
                return not (low == 0 and high == 0) and (a < b or not self._both_ways(a, b))
        return False

    def _both_ways(self, a: Term, b: Term) -> bool:
        high = self.range(self.sub(self.args[a][0], self.args[b][0]))[1]
        return high is not None and high <= 0

    def implies(self, guards: Iterable[Term], goal: Term) -> bool:
        """Whether the conjunction of ``guards`` settles ``goal``; incomplete."""
        if goal == self.true:
            return True
        if self.kind[goal] == "and":
            return all(self.implies(guards, arg) for arg in self.args[goal])
        for guard in guards:
            if guard == goal:
                return True
            if self.kind[guard] == "le" and self.kind[goal] == "le":
                high = self.range(self.sub(self.args[goal][0], self.args[guard][0]))[1]
                if high is not None and high <= 0:
                    return True
        if self.kind[goal] == "or":
            return any(self.implies(guards, arg) for arg in self.args[goal])
        return False

    def conjuncts(self, term: Term) -> tuple[Term, ...]:
        if term == self.true:
            return ()
        return self.args[term] if self.kind[term] == "and" else (term,)

    def b2i(self, term: Term) -> Term:
        if term == self.true:
            return self.one
        if term == self.false:
            return self.zero
        if self.kind[term] == "not":
            return self.sub(self.one, self.b2i(self.args[term][0]))
        return self.atom(self._node("b2i", None, (term,)))

    # ---- selection -------------------------------------------------------------------------------------------

    def ite(self, cond: Term, on_true: Term, on_false: Term, sort: str) -> Term:
        """``cond ? on_true : on_false``; ``sort`` is "int", "bool" or "data"."""
        if cond == self.true or on_true == on_false:
            return on_true
        if cond == self.false:
            return on_false
        if sort == "bool":
            return self.disjunction(
                (self.conjunction((cond, on_true)), self.conjunction((self.negate(cond), on_false)))
            )
        if self.kind[cond] == "not":
            return self.ite(self.args[cond][0], on_false, on_true, sort)
        if sort == "int":
            extreme = self._as_extreme(cond, on_true, on_false)
            if extreme is not None:
                return extreme
            a, b = self.value(on_true), self.value(on_false)
            if a is not None and b is not None:
                return self.add(self.const(b), self.scale(self.b2i(cond), a - b))
        on_true = self.under(on_true, self.conjuncts(cond))
        on_false = self.under(on_false, self.conjuncts(self.negate(cond)))
        if on_true == on_false:
            return on_true
        if self.kind[cond] == "le" and not self._prefer(cond):
            cond, on_true, on_false = self.negate(cond), on_false, on_true
        node = self._node("ite", sort, (cond, on_true, on_false))
        return self.atom(node) if sort == "int" else node

    def _prefer(self, cond: Term) -> bool:
        """One of ``p <= 0`` and its negation is the canonical condition: the one with a positive first coefficient."""
        items = [item for item in self.attr[self.args[cond][0]] if item[0] != ()]
        return items[0][1] > 0

    def _as_extreme(self, cond: Term, a: Term, b: Term) -> Term | None:
        """``a < b ? a : b`` in its four spellings as a minimum or maximum."""
        if self.kind[cond] != "le":
            return None
        diff = self.sub(a, b)
        for slack in (0, 1):
            if self.le0(self.add(diff, self.const(slack))) == cond:
                return self.minimum((a, b))
            if self.le0(self.sub(self.const(slack), diff)) == cond:
                return self.maximum((a, b))
        return None

    def under(self, term: Term, guards: tuple[Term, ...]) -> Term:
        """The term simplified where all ``guards`` hold."""
        if not guards:
            return term
        symbols = frozenset().union(*(self.symbols[guard] for guard in guards))
        memo: dict[Term, Term] = {}

        def visit(root: Term) -> Term:
            stack = [root]
            while stack:
                if len(memo) > UNDER_BUDGET:
                    return root
                node = stack[-1]
                if node in memo:
                    stack.pop()
                    continue
                if not self.args[node] or not self.symbols[node] & symbols:
                    memo[node] = node
                    stack.pop()
                    continue
                kind = self.kind[node]
                if kind in ("le", "eq", "not", "and", "or"):
                    memo[node] = self._settle(node, guards)
                    stack.pop()
                    continue
                waiting = [arg for arg in self.args[node] if arg not in memo]
                if waiting:
                    stack.extend(waiting)
                    continue
                new_args = tuple(memo[arg] for arg in self.args[node])
                if new_args == self.args[node]:
                    memo[node] = node
                else:
                    memo[node] = self.rebuild(node, new_args)
                    self.inherit(node, memo[node])
                stack.pop()
            return memo[root]

        return visit(term)

    def _settle(self, predicate: Term, guards: tuple[Term, ...]) -> Term:
        if self.implies(guards, predicate):
            return self.true
        if self.implies(guards, self.negate(predicate)):
            return self.false
        kind = self.kind[predicate]
        if kind == "and":
            return self.conjunction([self._settle(arg, guards) for arg in self.args[predicate]])
        if kind == "or":
            return self.disjunction([self._settle(arg, guards) for arg in self.args[predicate]])
        return predicate

    # ---- substitution ----------------------------------------------------------------------------------------

    def subst(self, term: Term, mapping: Mapping[Term, Term], memo: dict[Term, Term] | None = None) -> Term:
        """Replace leaves by terms, rebuilding in normal form. ``memo`` may be shared between calls with one mapping."""
        keys = frozenset(mapping)
        if not self.symbols[term] & keys:
            return term
        memo = {} if memo is None else memo
        stack = [term]
        while stack:
            node = stack[-1]
            if node in memo:
                stack.pop()
                continue
            if not self.symbols[node] & keys:
                memo[node] = node
                stack.pop()
                continue
            replacement = mapping.get(node)
            if replacement is not None:
                memo[node] = replacement
                stack.pop()
                continue
            waiting = [arg for arg in self.args[node] if arg not in memo]
            if waiting:
                stack.extend(waiting)
                continue
            new = self.rebuild(node, tuple(memo[arg] for arg in self.args[node]))
            self.inherit(node, new)
            memo[node] = new
            stack.pop()
        return memo[term]

    def inherit(self, old: Term, new: Term) -> None:
        """A rewritten term comes from the op that the old one came from."""
        for origin in self.origins:
            op = origin.get(old)
            if op is not None:
                origin.setdefault(new, op)
        if self.kind[old] == "colour":
            for table in self.loop_results:
                loop = table.get(old)
                if loop is not None:
                    table.setdefault(new, loop)

    def rebuild(self, node: Term, args: tuple[Term, ...]) -> Term:
        """The same operation on other arguments, normalised again."""
        kind = self.kind[node]
        if kind == "poly":
            replacement = dict(zip(self.args[node], args, strict=True))
            total = self.zero
            parts: list[tuple[Term, int]] = []
            for mono, coef in self.attr[node]:
                product = self.one
                for atom in mono:
                    product = self.mul(product, self.atom(replacement[atom]))
                parts.append((product, coef))
            total = self.sum(parts)
            return total
        match kind:
            case "le":
                return self.le0(args[0])
            case "eq":
                return self.eq0(args[0])
            case "not":
                return self.negate(args[0])
            case "and":
                return self.conjunction(args)
            case "or":
                return self.disjunction(args)
            case "xor":
                return self.exclusive_or(args[0], args[1])
            case "b2i":
                return self.b2i(args[0])
            case "div":
                return self.floordiv(args[0], args[1])
            case "tdiv":
                return self.truncdiv(args[0], args[1])
            case "mul":
                return self.mul(args[0], args[1])
            case "min":
                return self.minimum(args)
            case "max":
                return self.maximum(args)
            case "ite":
                return self.ite(args[0], args[1], args[2], self.attr[node])
            case "f":
                return self.float_op(self.attr[node], args)
            case "wrap":
                return self.wrap(self.attr[node][0], args[0])
            case "mma":
                return self.contraction(self.attr[node], args)
            case "iop":
                return self._node(kind, self.attr[node], tuple(sorted(args)) if self.attr[node][1] in COMMUTATIVE_INT else args)
            case "fcmp":
                symmetric = self.attr[node][0] in ("equal", "not_equal")
                return self._node(kind, self.attr[node], tuple(sorted(args)) if symmetric else args)
            case _:
                return self._node(kind, self.attr[node], args)

    def contraction(self, attr: tuple[Any, ...], args: tuple[Term, ...]) -> Term:
        """A matrix product for one lane: the two factors commute, each with its type and scale.

        ``attr`` = (op, accumulator type, depth, per-factor types, flags); ``args`` = factors, their scales, accumulator.
        """
        name, element, depth, types, flags = attr
        first, second, *scales, accumulator = args
        factors = [(first, types[0], scales[:1]), (second, types[1], scales[1:])]
        factors.sort(key=lambda factor: (factor[0], str(factor[1]), factor[2]))
        ordered = (name, element, depth, tuple(factor[1] for factor in factors), flags)
        scale_args = [scale for factor in factors for scale in factor[2]]
        return self._node("mma", ordered, (factors[0][0], factors[1][0], *scale_args, accumulator))

    # ---- floating point --------------------------------------------------------------------------------------

    def float_op(self, attr: tuple[Any, ...], args: tuple[Term, ...]) -> Term:
        """An elementwise op; ``attr`` = (name, element type, mode, ...). Normalised by ``graph.floats``."""
        from tileir_diff.graph.floats import normalise

        return normalise(self, attr, args)


def _minus(value: int | None) -> int | None:
    return None if value is None else -value


def _shift(bounds: Range, by: int, sign: int) -> Range:
    low, high = (None if b is None else b + by for b in bounds)
    return (low, high) if sign > 0 else (_minus(high), _minus(low))


def _meet(a: Range, b: Range) -> Range:
    """Both bounds hold."""
    low = a[0] if b[0] is None else b[0] if a[0] is None else max(a[0], b[0])
    high = a[1] if b[1] is None else b[1] if a[1] is None else min(a[1], b[1])
    return (low, high)


def _product(a: Range, b: Range) -> Range:
    """Interval product; an unbounded factor stays unbounded unless the signs settle a bound."""
    if a == (1, 1):
        return b
    if b == (1, 1):
        return a
    if None not in a and None not in b:
        corners = [x * y for x in a for y in b if x is not None and y is not None]
        return (min(corners), max(corners))
    if a[0] is not None and a[0] >= 0 and b[0] is not None and b[0] >= 0:
        return (a[0] * b[0], None if a[1] is None or b[1] is None else a[1] * b[1])
    if a == (0, 0) or b == (0, 0):
        return (0, 0)
    return (None, None)
