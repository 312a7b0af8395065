"""Terms of exact integers as bit-vectors.

A term of ``graph`` stands for a mathematical integer. Each becomes a signed bit-vector that is wide enough
for every value it can have, so nothing wraps but what the kernel wraps (``wrap``, ``zext``, bitwise ops).
What is no integer arithmetic, such as a loaded value or a comparison of floats, is a symbol, or a function of
the address.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tileir_diff.equivalence.symbolic.backend import z3

if TYPE_CHECKING:
    from tileir_diff.graph.store import Range, Term
    from tileir_diff.graph.terms import Terms

MAX_WIDTH = 200
"""Products of unknown 64-bit numbers need more bits than this only where nothing could be decided anyway."""
ADDRESS_BITS = 100
WORD = 64
UNCOUNTED = (1 << 40) - 1
"""No loop runs more often than this."""
POINTER = (1 << 62) - 1
SYMBOLS = frozenset({"arg", "block", "grid", "lane", "bound", "iter", "it", "carry", "carry_lane"})
PREDICATES = frozenset({"true", "false", "le", "eq", "ult", "not", "and", "or", "bool_op", "fcmp"})


class NotTranslatedError(Exception):
    """Something that bit-vectors do not show; the message says what."""


class Number:
    """A signed bit-vector with the bounds of its value, which it is wide enough for."""

    __slots__ = ("bits", "high", "low")

    def __init__(self, bits: Any, low: int, high: int) -> None:
        self.bits = bits
        self.low = low
        self.high = high


class Translator:
    """Translates terms of one store.

    symbols   the leaves met, with their bit-vectors
    opaque    the terms met that are symbols only because nothing is known of them
    divisors  the terms that something is divided by; they are not 0 where the kernel is defined
    """

    def __init__(self, terms: Terms) -> None:
        self.terms = terms
        self.symbols: dict[Term, Any] = {}
        self.opaque: dict[Term, None] = {}
        self.divisors: dict[Term, None] = {}
        self.bounds: list[Any] = []
        self._numbers: dict[Term, Number] = {}
        self._predicates: dict[Term, Any] = {}

    # ---- numbers -----------------------------------------------------------------------------------------

    def number(self, term: Term) -> Number:
        """The integer term. Raises NotTranslatedError."""
        found = self._numbers.get(term)
        if found is None:
            found = self._numbers[term] = self._number(term)
        return found

    def _number(self, term: Term) -> Number:
        terms = self.terms
        kind, args = terms.kind[term], terms.args[term]
        if kind == "poly":
            return self._poly(term)
        if kind in SYMBOLS:
            return self._symbol(term, terms.range(term))
        match kind:
            case "div" | "tdiv":
                return self._quotient(kind, self.number(args[0]), self.number(args[1]), args[1])
            case "mul":
                return self._times(self.number(args[0]), self.number(args[1]))
            case "min" | "max":
                return self._extreme(kind, [self.number(arg) for arg in args])
            case "ite":
                condition = self.predicate(args[0])
                return self.hull(condition, self.number(args[1]), self.number(args[2]))
            case "b2i":
                one, zero = z3.BitVecVal(1, 2), z3.BitVecVal(0, 2)
                return Number(z3.If(self.predicate(args[0]), one, zero), 0, 1)
            case "wrap":
                return self._signed(self.low_bits(args[0], terms.attr[term][0]))
            case "zext":
                bits = terms.attr[term][0]
                return Number(z3.ZeroExt(1, self.low_bits(args[0], bits)), 0, (1 << bits) - 1)
            case "iop":
                return self._op(term)
            case _:
                return self._unknown(term)

    def _symbol(self, term: Term, bounds: Range) -> Number:
        kind = self.terms.kind[term]
        low, high = bounds
        if kind in ("iter", "it"):
            low, high = (0 if low is None else low), (UNCOUNTED if high is None else high)
        elif kind == "arg":
            low, high = (-POINTER if low is None else low), (POINTER if high is None else high)
        low = -(1 << (WORD - 1)) if low is None else low
        high = (1 << (WORD - 1)) - 1 if high is None else high
        bits = z3.BitVec(f"{kind}{term}", width(low, high))
        self.symbols[term] = bits
        self._bound(bits, low, high)
        return Number(bits, low, high)

    def _bound(self, bits: Any, low: int, high: int) -> None:
        size = bits.size()
        if low > -(1 << (size - 1)):
            self.bounds.append(bits >= z3.BitVecVal(low, size))
        if high < (1 << (size - 1)) - 1:
            self.bounds.append(bits <= z3.BitVecVal(high, size))

    def _unknown(self, term: Term) -> Number:
        """A number that is not computed: loaded from memory, carried by a loop, reduced."""
        terms = self.terms
        low, high = terms.range(term)
        if terms.kind[term] == "at":
            low, high = terms.range(terms.args[term][0])
        low = -(1 << (WORD - 1)) if low is None else low
        high = (1 << (WORD - 1)) - 1 if high is None else high
        size = width(low, high)
        self.opaque[term] = None
        if terms.kind[term] == "mem":
            bits = self._read(term, z3.BitVecSort(size))
        else:
            bits = z3.BitVec(f"{terms.kind[term]}{term}", size)
        self._bound(bits, low, high)
        return Number(bits, low, high)

    def _read(self, term: Term, sort: Any) -> Any:
        """Memory is a function of the address, one for each type and moment."""
        pointer, *moments = self.terms.args[term]
        name = f"memory{self.terms.attr[term]}{moments}"
        address = self.number(pointer)
        function = z3.Function(name, z3.BitVecSort(ADDRESS_BITS), sort)
        return function(extended(address.bits, ADDRESS_BITS))

    def _poly(self, term: Term) -> Number:
        parts: list[tuple[int, list[Number]]] = [
            (coef, [self.number(atom) for atom in mono]) for mono, coef in self.terms.items(term)
        ]
        low = high = 0
        for coef, factors in parts:
            a = b = coef
            for factor in factors:
                corners = (a * factor.low, a * factor.high, b * factor.low, b * factor.high)
                a, b = min(corners), max(corners)
            low, high = low + a, high + b
        known_low, known_high = self.terms.range(term)
        low = low if known_low is None else max(low, known_low)
        high = high if known_high is None else min(high, known_high)
        size = width(low, high)
        return Number(self._sum(parts, size), low, high)

    def _sum(self, parts: list[tuple[int, list[Number]]], size: int) -> Any:
        """A polynomial modulo 2^size."""
        total: Any = None
        for coef, factors in parts:
            product: Any = None
            for factor in factors:
                bits = resized(factor.bits, size)
                product = bits if product is None else product * bits
            if product is None:
                product = z3.BitVecVal(coef, size)
            elif coef != 1:
                product = product * z3.BitVecVal(coef, size)
            total = product if total is None else total + product
        return z3.BitVecVal(0, size) if total is None else total

    def low_bits(self, term: Term, bits: int) -> Any:
        """The integer modulo 2^bits: sums and products need no more bits than these."""
        if self.terms.kind[term] == "poly":
            items = self.terms.items(term)
            return self._sum(
                [(coef, [Number(self.low_bits(atom, bits), 0, 0) for atom in mono]) for mono, coef in items],
                bits,
            )
        return resized(self.number(term).bits, bits)

    def _signed(self, bits: Any) -> Number:
        half = 1 << (bits.size() - 1)
        return Number(bits, -half, half - 1)

    def _times(self, a: Number, b: Number) -> Number:
        corners = (a.low * b.low, a.low * b.high, a.high * b.low, a.high * b.high)
        low, high = min(corners), max(corners)
        size = width(low, high)
        return Number(resized(a.bits, size) * resized(b.bits, size), low, high)

    def _quotient(self, kind: str, a: Number, b: Number, divisor: Term) -> Number:
        if self.terms.value(divisor) is None:
            self.divisors[divisor] = None
        most = max(abs(a.low), abs(a.high)) + 1
        size = max(width(-most, most), width(b.low, b.high))
        x, y = extended(a.bits, size), extended(b.bits, size)
        quotient = x / y
        low = 0 if a.low >= 0 and b.low >= 0 else -most
        if kind == "div" and not (a.low >= 0 and b.low >= 0):
            uneven = z3.And(z3.SRem(x, y) != 0, (x < 0) != (y < 0))
            quotient = z3.If(uneven, quotient - 1, quotient)
        return Number(quotient, low, most)

    def _extreme(self, kind: str, values: list[Number]) -> Number:
        first, *rest = values
        for other in rest:
            size = max(first.bits.size(), other.bits.size())
            x, y = extended(first.bits, size), extended(other.bits, size)
            chosen = z3.If(x <= y, x, y) if kind == "min" else z3.If(x >= y, x, y)
            choose = min if kind == "min" else max
            first = Number(chosen, choose(first.low, other.low), choose(first.high, other.high))
        return first

    def hull(self, condition: Any, a: Number, b: Number) -> Number:
        """A choice between two numbers."""
        low, high = min(a.low, b.low), max(a.high, b.high)
        size = max(a.bits.size(), b.bits.size())
        return Number(z3.If(condition, extended(a.bits, size), extended(b.bits, size)), low, high)

    def _op(self, term: Term) -> Number:
        """An integer op that has no form of its own: what it computes, on the bits of its operands."""
        size, name, *mods = self.terms.attr[term]
        args = self.terms.args[term]
        modes = dict(mods)
        signed = modes.get("signed", "signed") == "signed"
        a, *others = (self.low_bits(arg, size) for arg in args)
        b = others[0] if others else a
        if name in ("divi", "remi") and self.terms.value(args[1]) is None:
            self.divisors[args[1]] = None
        amount = self.terms.value(args[1]) if len(args) > 1 else None
        if name in ("shli", "shri") and (amount is None or not 0 <= amount < size):
            raise NotTranslatedError("a shift by an amount that is not known")
        match name:
            case "divi":
                bits = _divided(a, b, signed, modes.get("rounding", "zero"))
            case "remi":
                bits = z3.SRem(a, b) if signed else z3.URem(a, b)
            case "shli":
                bits = a << b
            case "shri":
                bits = a >> b if signed else z3.LShR(a, b)
            case "andi":
                bits = a & b
            case "ori":
                bits = a | b
            case "xori":
                bits = a ^ b
            case "absi":
                bits = z3.If(a < 0, -a, a)
            case "mulhii":
                bits = z3.Extract(2 * size - 1, size, z3.ZeroExt(size, a) * z3.ZeroExt(size, b))
            case "maxi" | "mini":
                less = a < b if signed else z3.ULT(a, b)
                bits = z3.If(less == z3.BoolVal(name == "mini"), a, b)
            case _:
                raise NotTranslatedError(f"{name} is no integer arithmetic")
        return self._signed(bits)

    # ---- predicates --------------------------------------------------------------------------------------

    def predicate(self, term: Term) -> Any:
        """The boolean term. Raises NotTranslatedError."""
        found = self._predicates.get(term)
        if found is None:
            found = self._predicates[term] = self._predicate(term)
        return found

    def _predicate(self, term: Term) -> Any:
        terms = self.terms
        kind, args = terms.kind[term], terms.args[term]
        match kind:
            case "true":
                return z3.BoolVal(True)
            case "false":
                return z3.BoolVal(False)
            case "le":
                return self.number(args[0]).bits <= 0
            case "eq":
                return self.number(args[0]).bits == 0
            case "not":
                return z3.Not(self.predicate(args[0]))
            case "and":
                return z3.And([self.predicate(arg) for arg in args])
            case "or":
                return z3.Or([self.predicate(arg) for arg in args])
            case "ult":
                a, b = (self.low_bits(arg, terms.attr[term]) for arg in args)
                return z3.ULT(a, b)
            case "mem":
                self.opaque[term] = None
                return self._read(term, z3.BoolSort())
            case "poly":
                raise NotTranslatedError("a number where a condition is")
            case _:
                if kind not in SYMBOLS:
                    self.opaque[term] = None
                flag = z3.Bool(f"{kind}{term}")
                if kind in SYMBOLS:
                    self.symbols[term] = flag
                return flag


def width(low: int, high: int) -> int:
    """How many bits a number between the two needs, with its sign. Raises NotTranslatedError for too many."""
    size = max(high.bit_length(), (-low - 1).bit_length() if low < 0 else 0) + 1
    if size > MAX_WIDTH:
        raise NotTranslatedError("products of too many unknown numbers")
    return max(size, 2)


def extended(bits: Any, size: int) -> Any:
    """The same signed number in at least as many bits. Raises NotTranslatedError where it has more."""
    have = bits.size()
    if have > size:
        raise NotTranslatedError("an address that is wider than any")
    return bits if have == size else z3.SignExt(size - have, bits)


def same(a: Any, b: Any) -> Any:
    """Whether two signed numbers are equal."""
    size = max(a.size(), b.size())
    return extended(a, size) == extended(b, size)


def resized(bits: Any, size: int) -> Any:
    """The number modulo 2^size."""
    return z3.Extract(size - 1, 0, bits) if bits.size() > size else extended(bits, size)


def _divided(a: Any, b: Any, signed: bool, rounding: str) -> Any:
    """`divi` in its modes."""
    quotient = a / b if signed else z3.UDiv(a, b)
    if rounding == "zero":
        return quotient
    rest = (z3.SRem(a, b) if signed else z3.URem(a, b)) != 0
    opposite = (a < 0) != (b < 0) if signed else z3.BoolVal(False)
    if rounding == "negative_inf":
        return z3.If(z3.And(rest, opposite), quotient - 1, quotient)
    return z3.If(z3.And(rest, z3.Not(opposite)), quotient + 1, quotient)
