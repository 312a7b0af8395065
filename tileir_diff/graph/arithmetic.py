"""Integer division, minimum, maximum and wrapping, in normal form."""

from __future__ import annotations

from math import gcd
from typing import TYPE_CHECKING

from tileir_diff.graph.ranges import Ranges

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tileir_diff.graph.store import Mono, Term


class Arithmetic(Ranges):
    """Constructors of integer terms that are not polynomials of their operands."""

    # ---- division ----------------------------------------------------------------------------------------

    def floordiv(self, num: Term, den: Term) -> Term:
        """Floor division; the divisor is taken to be non-zero."""
        d = self.value(den)
        if d is None:
            return self._divide_by_term(num, den)
        if d == 0:
            return self.atom(self._node("div", None, (num, den)))  # undefined, but still a term
        n = self.value(num)
        if n is not None:
            return self.const(n // d)
        if d == 1:
            return num
        if d < 0:
            num, d = self.scale(num, -1), -d
        return num if d == 1 else self._divide_by_constant(num, d)

    def _divide_by_term(self, num: Term, den: Term) -> Term:
        if num == den and self.positive(den):
            return self.one
        quotient = self._divide_out(num, den)
        if quotient is not None:
            return quotient
        if self.nonneg(num) and self.positive(self.sub(den, num)):
            return self.zero
        return self.atom(self._node("div", None, (num, den)))

    def _divide_out(self, num: Term, den: Term) -> Term | None:
        """``num / den`` when every monomial of ``num`` contains the single-monomial divisor."""
        items = self.items(den)
        if len(items) != 1 or items[0][1] != 1 or not self.positive(den):
            return None
        divisor = items[0][0]
        result: dict[Mono, int] = {}
        for mono, coef in self.items(num):
            left = list(mono)
            for atom in divisor:
                if atom not in left:
                    return None
                left.remove(atom)
            result[tuple(left)] = coef
        return self._poly(result)

    def _divide_by_constant(self, num: Term, d: int) -> Term:
        """By ``d`` > 1: what ``d`` divides leaves the quotient, the rest stays in it."""
        whole: dict[Mono, int] = {}
        rest: dict[Mono, int] = {}
        for mono, coef in self.items(num):
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
        return self.add(self._poly(whole), self._quotient_of_rest(rest, rest_term, d))

    def _quotient_of_rest(self, rest: dict[Mono, int], rest_term: Term, d: int) -> Term:
        spread = self._spread_extreme(rest, d)
        if spread is not None:
            return spread
        common = gcd(d, *rest.values())
        if common > 1:
            smaller = self._poly({mono: coef // common for mono, coef in rest.items()})
            return self.floordiv(smaller, self.const(d // common))
        inner = self.single(rest_term)
        if inner is not None and self.kind[inner] == "div":
            inner_num, inner_den = self.args[inner]
            inner_value = self.value(inner_den)
            if inner_value is not None and inner_value > 0:
                return self.floordiv(inner_num, self.const(inner_value * d))
        if inner is not None and self.kind[inner] == "zext" and d & (d - 1) == 0 and not self.exact:
            # the lower bits of a number, without the lowest ones
            number = self.floordiv(self.args[inner][0], self.const(d))
            return self.low_bits(self.attr[inner][0] - d.bit_length() + 1, number)
        # a constant that cannot carry: div(g*x + c, d) with 0 <= c < g, g | d is div(x, d / g)
        const = rest.get((), 0)
        g = gcd(d, *(coef for mono, coef in rest.items() if mono != ()))
        if g > 1 and const:
            smaller = self._poly({mono: coef // g for mono, coef in rest.items()})
            return self.floordiv(smaller, self.const(d // g))
        if all(coef < 0 for mono, coef in rest.items() if mono != ()):
            # what is rounded up, written as the negative of what is rounded down
            turned = self.sum(((rest_term, -1), (self.const(d - 1), 1)))
            return self.scale(self.floordiv(turned, self.const(d)), -1)
        return self.atom(self._node("div", None, (rest_term, self.const(d))))

    def _spread_extreme(self, rest: dict[Mono, int], d: int) -> Term | None:
        """``(c * min(a, b) + r) / d`` as the minimum, or with c < 0 the maximum, of ``(c * a + r) / d`` and
        ``(c * b + r) / d``: division keeps the order."""
        extremes = [mono for mono in rest if len(mono) == 1 and self.kind[mono[0]] in ("min", "max")]
        if len(extremes) != 1:
            return None
        (mono,) = extremes
        coef = rest[mono]
        others = self._poly({each: factor for each, factor in rest.items() if each != mono})
        parts = (self.sum(((arg, coef), (others, 1))) for arg in self.args[mono[0]])
        smallest = (self.kind[mono[0]] == "min") == (coef > 0)
        return (self.minimum if smallest else self.maximum)(
            self.floordiv(part, self.const(d)) for part in parts
        )

    def ceildiv(self, num: Term, den: Term) -> Term:
        return self.floordiv(self.sum(((num, 1), (den, 1), (self.one, -1))), den)

    def mod(self, num: Term, den: Term) -> Term:
        """``num - den * floor(num / den)``: no node of its own, so that quotient and remainder cancel."""
        return self.sub(num, self.mul(den, self.floordiv(num, den)))

    def truncdiv(self, num: Term, den: Term) -> Term:
        """Division that rounds towards zero. A non-negative divisor is positive: zero is undefined."""
        n, d = self.value(num), self.value(den)
        if n is not None and d:
            quotient = abs(n) // abs(d)
            return self.const(quotient if (n < 0) == (d < 0) else -quotient)
        if self.nonneg(den):
            low, high = self.range(num)
            if low is not None and low >= 0:
                return self.floordiv(num, den)
            if high is not None and high <= 0:
                return self.scale(self.floordiv(self.scale(num, -1), den), -1)
        return self.atom(self._node("tdiv", None, (num, den)))

    # ---- minimum and maximum -----------------------------------------------------------------------------

    def minimum(self, items: Iterable[Term]) -> Term:
        return self._extreme("min", items)

    def maximum(self, items: Iterable[Term]) -> Term:
        return self._extreme("max", items)

    def _extreme(self, kind: str, items: Iterable[Term]) -> Term:
        flat: dict[Term, None] = {}
        for item in items:
            atom = self.single(item)
            if atom is not None and self.kind[atom] == kind:
                flat.update(dict.fromkeys(self.args[atom]))
            else:
                flat[item] = None
        kept = self._undominated(list(flat), 1 if kind == "min" else -1)
        if len(kept) == 1:
            return kept[0]
        moved = self._without_offset(kind, kept)
        if moved is not None:
            return moved
        clamped = self._clamped(*kept) if kind == "max" and len(kept) == 2 else None
        return self.atom(self._node(kind, None, tuple(sorted(kept)))) if clamped is None else clamped

    def _without_offset(self, kind: str, values: list[Term]) -> Term | None:
        """``min(9, x + 1)`` as ``min(8, x) + 1``, so that a clamp is the same before and after a sum."""
        moving = [value for value in values if self.value(value) is None]
        if len(moving) != 1:
            return None
        offset = self.poly(moving[0]).get((), 0)
        if not offset:
            return None
        moved = [self.sub(value, self.const(offset)) for value in values]
        return self.add(self._extreme(kind, moved), self.const(offset))

    def _clamped(self, first: Term, second: Term) -> Term | None:
        """``max(low, min(high, x))`` as ``min(high, max(low, x))``, where ``low <= high``."""
        for low, other in ((first, second), (second, first)):
            atom = self.single(other)
            if atom is None or self.kind[atom] != "min":
                continue
            above = [arg for arg in self.args[atom] if self._at_most(low, arg, 1)]
            rest = [arg for arg in self.args[atom] if arg not in above]
            if not rest:
                return other
            if above:
                return self.minimum((*above, self.maximum((low, self.minimum(rest)))))
        return None

    def _undominated(self, values: list[Term], sign: int) -> list[Term]:
        """The values that can be the minimum (sign 1) or maximum (sign -1); of equal ones the first."""
        dropped: set[int] = set()
        for index, value in enumerate(values):
            for other_index, other in enumerate(values):
                if other_index == index or other_index in dropped or not self._at_most(other, value, sign):
                    continue
                if other_index > index and self._at_most(value, other, sign):
                    continue
                dropped.add(index)
                break
        return [value for index, value in enumerate(values) if index not in dropped]

    def _at_most(self, left: Term, right: Term, sign: int) -> bool:
        """``left <= right`` (sign 1) or ``left >= right`` (sign -1) under the facts."""
        low, high = self.range(self.sub(left, right))
        bound = high if sign > 0 else low
        return bound is not None and bound * sign <= 0

    # ---- fixed width -------------------------------------------------------------------------------------

    def wrap(self, bits: int, term: Term) -> Term:
        """``term`` modulo 2^bits, as a signed number. Inner wraps of as many bits or more go."""
        modulus = 1 << bits
        half = modulus >> 1
        parts: list[tuple[Term, int]] = []
        for mono, coef in self.items(term):
            factors = [self._unwrapped(bits, atom) for atom in mono]
            parts.append((self.product(factors), (coef + half) % modulus - half))
        total = self.sum(parts)
        value = self.value(total)
        if value is not None:
            return self.const((value + half) % modulus - half)
        low, high = self.range(total)
        if low is not None and high is not None and low >= -half and high < half:
            return total
        return self.atom(self._node("wrap", (bits,), (total,)))

    def low_bits(self, bits: int, term: Term) -> Term:
        """``term`` modulo 2^bits, as a number that is not negative."""
        modulus = 1 << bits
        half = modulus >> 1
        value = self.value(term)
        if value is not None:
            return self.const(value % modulus)
        if self.within(term, 0, modulus):
            return term
        if self.exact and not self.nonneg(term):
            return self.atom(self._node("zext", (bits,), (term,)))
        total = self.sum(
            (self.product(self._unwrapped(bits, atom) for atom in mono), coef)
            for mono, coef in self.items(term)
        )
        total = self._poly({mono: half - (half - coef) % modulus for mono, coef in self.items(total)})
        shared = gcd(modulus, *(coef for _, coef in self.items(total)))
        if shared > 1:
            rest = self.floordiv(total, self.const(shared))
            return self.scale(self.low_bits(bits - shared.bit_length() + 1, rest), shared)
        if self.within(total, 0, modulus):
            return total
        if self.within(total, -half, half) and not self.nonneg(total):
            return self.atom(self._node("zext", (bits,), (total,)))
        return self.mod(total, self.const(modulus))

    def _unwrapped(self, bits: int, atom: Term) -> Term:
        """What is the same modulo 2^bits, without what keeps a number in so many bits or more."""
        kind, args = self.kind[atom], self.args[atom]
        if kind in ("wrap", "zext") and self.attr[atom][0] >= bits:
            return args[0]
        if kind == "div":
            inner, power = self.single(args[0]), self.value(args[1]) or 0
            if (
                inner is not None
                and self.kind[inner] in ("wrap", "zext")
                and power & (power - 1) == 0 < power
            ):
                left = self.attr[inner][0] - power.bit_length() + 1
                return self.floordiv(self.args[inner][0], args[1]) if left >= bits else atom
        return atom
