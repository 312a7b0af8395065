"""Terms of exact integers as formulas over unbounded integers.

Good at what bit-vectors are bad at: divisions by unknown numbers, and sums and products of wide ones.
What wraps differs from the unbounded result by a multiple of 2^n. All that is made of one dividend and one
divisor (quotients in each rounding, remainders, products of both) is made of one quotient, one remainder and
their difference, which are described rather than computed, so that most of it is linear. What has no
description here is a number that nothing is known of: what is proven holds, what is not proven says nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from tileir_diff.equivalence.symbolic.backend import z3

if TYPE_CHECKING:
    from tileir_diff.graph.store import Term
    from tileir_diff.graph.terms import Terms


MAX_RELATED = 8
"""So many divisions by one divisor are compared with each other."""


class Division(NamedTuple):
    """A division that rounds to zero: `x = product + rest`, `product = quotient * y`."""

    y: Any
    quotient: Any
    rest: Any
    product: Any

    @property
    def negated(self) -> Division:
        """The same of the negated dividend."""
        return Division(self.y, -self.quotient, -self.rest, -self.product)

    def rounded(self, rounding: str) -> tuple[Any, Any]:
        """The quotient in another rounding, and its product with the divisor."""
        if rounding == "zero":
            return self.quotient, self.product
        opposite = (self.rest < 0) != (self.y < 0)
        if rounding == "negative_inf":
            off, step = z3.And(self.rest != 0, opposite), -1
        else:
            off, step = z3.And(self.rest != 0, z3.Not(opposite)), 1
        return (
            z3.If(off, self.quotient + step, self.quotient),
            z3.If(off, self.product + step * self.y, self.product),
        )


class Integers:
    """Translates terms of one store.

    divisors     the terms that something is divided by; they are not 0 where the kernel is defined
    definitions  what describes the symbols
    """

    def __init__(self, terms: Terms) -> None:
        self.terms = terms
        self.divisors: dict[Term, None] = {}
        self.definitions: list[Any] = []
        self._numbers: dict[Term, Any] = {}
        self._predicates: dict[Term, Any] = {}
        # by the numbers of z3's formulas, which stay those of formulas that are kept
        self._divided: dict[tuple[int, int], Division] = {}
        self._wrapped: dict[tuple[int, int, bool], Any] = {}
        self._kept: list[Any] = []

    # ---- numbers -----------------------------------------------------------------------------------------

    def number(self, term: Term) -> Any:
        """The integer term."""
        found = self._numbers.get(term)
        if found is None:
            found = self._numbers[term] = self._number(term)
        return found

    def _number(self, term: Term) -> Any:
        terms = self.terms
        kind, args = terms.kind[term], terms.args[term]
        match kind:
            case "poly":
                return self._poly(term)
            case "div" | "tdiv":
                if terms.value(args[1]) is None:
                    self.divisors[args[1]] = None
                return self._rounded(term)[0]
            case "mul":
                return self.number(args[0]) * self.number(args[1])
            case "min" | "max":
                first, *rest = (self.number(arg) for arg in args)
                for other in rest:
                    first = z3.If((first <= other) if kind == "min" else (first >= other), first, other)
                return first
            case "ite":
                return z3.If(self.predicate(args[0]), self.number(args[1]), self.number(args[2]))
            case "b2i":
                return z3.If(self.predicate(args[0]), z3.IntVal(1), z3.IntVal(0))
            case "wrap":
                return self._in_width(args[0], terms.attr[term][0], signed=True)
            case "zext":
                return self._in_width(args[0], terms.attr[term][0], signed=False)
            case "iop":
                return self._op(term)
            case _:
                return self._unknown(term)

    def _unknown(self, term: Term) -> Any:
        """A number that is given, or that is not computed: loaded, carried, reduced."""
        terms = self.terms
        kind = terms.kind[term]
        low, high = terms.range(terms.args[term][0] if kind == "at" else term)
        if kind in ("iter", "it") and low is None:
            low = 0
        number = self._read(term, z3.IntSort()) if kind == "mem" else z3.Int(f"{kind}{term}")
        self._between(number, low, high)
        return number

    def _between(self, number: Any, low: int | None, high: int | None) -> None:
        if low is not None:
            self.definitions.append(number >= low)
        if high is not None:
            self.definitions.append(number <= high)

    def _read(self, term: Term, sort: Any) -> Any:
        """Memory is a function of the address, one for each type and moment."""
        pointer, *moments = self.terms.args[term]
        function = z3.Function(f"memory{self.terms.attr[term]}{moments}", z3.IntSort(), sort)
        return function(self.number(pointer))

    def _poly(self, term: Term) -> Any:
        total: Any = z3.IntVal(0)
        for mono, coef in self.terms.items(term):
            factor, left = self._cancelled(list(mono), coef)
            for atom in left:
                factor = factor * self.number(atom)
            total = total + factor
        return z3.simplify(total)

    def _cancelled(self, mono: list[Term], coef: int) -> tuple[Any, list[Term]]:
        """A quotient times its divisor as one number, as far as a monomial has them; and what is left."""
        terms = self.terms
        for atom in mono:
            if terms.kind[atom] not in ("div", "tdiv"):
                continue
            items = terms.items(terms.args[atom][1])
            divisor, scale = items[0] if len(items) == 1 else ((), 1)
            left = list(mono)
            left.remove(atom)
            if not divisor or coef % scale or any(left.count(part) < divisor.count(part) for part in divisor):
                continue
            for part in divisor:
                left.remove(part)
            return (coef // scale) * self._rounded(atom)[1], left
        return z3.IntVal(coef), mono

    def _in_width(self, term: Term, bits: int, *, signed: bool) -> Any:
        """The integer modulo 2^bits, as a signed or an unsigned number."""
        low, high = self.terms.range(term)
        least = -(1 << (bits - 1)) if signed else 0
        number = self.number(term)
        if low is not None and high is not None and least <= low and high < least + (1 << bits):
            return number
        return self._modulo(number, bits, signed=signed)

    def _modulo(self, number: Any, bits: int, *, signed: bool) -> Any:
        key = number.get_id(), bits, signed
        found = self._wrapped.get(key)
        if found is None:
            found, turns = z3.FreshInt("wrapped"), z3.FreshInt("turns")
            self._wrapped[key] = found
            self._kept.append(number)
            least = -(1 << (bits - 1)) if signed else 0
            self.definitions.append(found == number - (1 << bits) * turns)
            self._between(found, least, least + (1 << bits) - 1)
        return found

    # ---- division ----------------------------------------------------------------------------------------

    def _rounded(self, term: Term) -> tuple[Any, Any]:
        """A quotient of the normal form, and its product with the divisor."""
        x, y = map(self.number, self.terms.args[term])
        return self._division(x, y).rounded("negative_inf" if self.terms.kind[term] == "div" else "zero")

    def _division(self, x: Any, y: Any) -> Division:
        """One division for a dividend and a divisor; of a negated dividend it is the negated one."""
        x = z3.simplify(x)
        other = self._divided.get((z3.simplify(-x).get_id(), y.get_id()))
        if other is not None:
            return other.negated
        key = x.get_id(), y.get_id()
        found = self._divided.get(key)
        if found is None:
            found = Division(y, *map(z3.FreshInt, ("quotient", "rest", "product")))
            self._describe(x, found)
            self._divided[key] = found
            self._kept += [x, y]
        return found

    def _describe(self, x: Any, it: Division) -> None:
        y, quotient, rest, product = it
        size = z3.If(y < 0, -y, y)
        self.definitions += [
            product == quotient * y,
            z3.Implies(y != 0, z3.And(x == product + rest, -size < rest, rest < size)),
            z3.Implies(z3.And(x >= 0, y != 0), z3.And(rest >= 0, product >= 0, product <= x)),
            z3.Implies(z3.And(x <= 0, y != 0), z3.And(rest <= 0, product <= 0, x <= product)),
            z3.Implies(z3.And(x >= 0, y > 0), z3.And(quotient >= 0, quotient <= x)),
        ]
        related = [other for other in self._divided.values() if other.y.get_id() == y.get_id()]
        for other in related[-MAX_RELATED:]:
            for low, high in ((it, other), (other, it)):
                less = z3.And(low.quotient < high.quotient, y > 0)
                self.definitions.append(z3.Implies(less, low.product + y <= high.product))
            self.definitions.append(z3.Implies(quotient == other.quotient, product == other.product))

    # ---- ops -----------------------------------------------------------------------------------------

    def _op(self, term: Term) -> Any:
        """An integer op that has no form of its own, as far as sums and products describe it."""
        size, name, *mods = self.terms.attr[term]
        args = self.terms.args[term]
        modes = dict(mods)
        signed = modes.get("signed", "signed") == "signed"
        x, *others = (self._in_width(arg, size, signed=signed) for arg in args)
        y = others[0] if others else x
        constant = self.terms.value(args[-1])
        match name:
            case "divi" | "remi":
                if constant is None:
                    self.divisors[args[1]] = None
                division = self._division(x, y)
                result = division.rest
                if name == "divi":
                    result = division.rounded(modes.get("rounding", "zero"))[0]
            case "shli" if constant is not None and 0 <= constant < size:
                result = x * (1 << constant)
            case "shri" if constant is not None and 0 <= constant < size:
                result = x / (1 << constant)
            case "andi" if constant is not None and constant >= 0 and constant & (constant + 1) == 0:
                result = x % (constant + 1)
            case "andi" if constant is not None and constant < 0 and -constant & (-constant - 1) == 0:
                result = x - x % -constant
            case "absi":
                result = z3.If(x < 0, -x, x)
            case "maxi" | "mini":
                result = z3.If((x <= y) == z3.BoolVal(name == "mini"), x, y)
            case _:
                return self._unknown(term)
        return self._modulo(result, size, signed=True)

    # ---- predicates --------------------------------------------------------------------------------------

    def predicate(self, term: Term) -> Any:
        """The boolean term."""
        found = self._predicates.get(term)
        if found is None:
            found = self._predicates[term] = self._predicate(term)
        return found

    def _predicate(self, term: Term) -> Any:
        terms = self.terms
        kind, args = terms.kind[term], terms.args[term]
        match kind:
            case "true" | "false":
                return z3.BoolVal(kind == "true")
            case "le":
                return self.number(args[0]) <= 0
            case "eq":
                return self.number(args[0]) == 0
            case "not":
                return z3.Not(self.predicate(args[0]))
            case "and":
                return z3.And([self.predicate(arg) for arg in args])
            case "or":
                return z3.Or([self.predicate(arg) for arg in args])
            case "ult":
                a, b = (self._in_width(arg, terms.attr[term], signed=False) for arg in args)
                return a < b
            case "mem":
                return self._read(term, z3.BoolSort())
            case _:
                return z3.Bool(f"{kind}{term}")
