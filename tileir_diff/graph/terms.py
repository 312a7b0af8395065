"""Hash-consed terms: what a kernel computes for one lane, in normal form.

A tile value of shape ``(d0, .., dk)`` is one scalar term over its lane symbols ``lane(0) .. lane(k)``.
Shape ops (reshape, broadcast, permute, extract, cat) therefore leave no trace: they only rename lanes.
Integers are polynomials over atoms, predicates are linear inequalities, all else is an op with arguments.
Two values with the same term id are equal under the facts in ``Terms.ranges``; different ids prove nothing.

Terms of both sides live in one ``Terms`` store, so equality across sides is equality of ids. Its layers are
``store`` (nodes, polynomials), ``ranges``, ``arithmetic``, ``predicates``, and here what rebuilds terms.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tileir_diff.graph import comparisons, floats
from tileir_diff.graph.predicates import Predicates
from tileir_diff.graph.store import Mono, Range, Term

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

__all__ = ["Mono", "Range", "Term", "Terms"]

COMMUTATIVE_INT = frozenset({"andi", "ori", "xori", "maxi", "mini", "mulhii"})
BITWISE = frozenset({"andi", "ori", "xori"})
ASSOCIATIVE_INT = BITWISE | {"maxi", "mini"}
WIDTHS = (8, 16, 32, 64)
"""Bits of integer types."""
MAX_OPERANDS = 32
"""An op of more operands is left as it is nested."""
UNDER_BUDGET = 4000
"""How many nodes a simplification under guards may visit before the term is left as it is."""


class Terms(Predicates):
    """The store. Every constructor returns the id of the term in normal form.

    disabled    equivalences of floats that are switched off
    evaluating  the side and op now being evaluated
    unwraps     where loaded numbers that are promised not to wrap are taken by that promise: see ``Kernel``
    used        by side: the equivalences that were used, each with the first op
    """

    def __init__(self, disabled: frozenset[str] = frozenset(), *, exact: bool = False) -> None:
        super().__init__()
        self.disabled = disabled
        self.exact = exact
        self.evaluating: tuple[int, Any] | None = None
        self.unwraps: frozenset[str] = frozenset()
        self.used: tuple[dict[str, Any], dict[str, Any]] = ({}, {})

    def enabled(self, equivalence: str) -> bool:
        return equivalence not in self.disabled

    def note(self, equivalence: str) -> None:
        """An equivalence was used for the op now being evaluated."""
        if self.evaluating is not None:
            side, op = self.evaluating
            self.used[side].setdefault(equivalence, op)

    # ---- selection ---------------------------------------------------------------------------------------

    def ite(self, cond: Term, on_true: Term, on_false: Term, sort: str) -> Term:
        """``cond ? on_true : on_false``; ``sort`` is "int", "bool" or "data"."""
        if cond == self.true or on_true == on_false:
            return on_true
        if cond == self.false:
            return on_false
        if sort == "bool":
            chosen = self.conjunction((cond, on_true))
            return self.disjunction((chosen, self.conjunction((self.negate(cond), on_false))))
        if self.kind[cond] == "not":
            return self.ite(self.args[cond][0], on_false, on_true, sort)
        chosen = None
        if sort == "int":
            chosen = self._as_arithmetic(cond, on_true, on_false)
        elif sort == "data":
            chosen = floats.as_extreme(self, cond, on_true, on_false)
        if chosen is not None:
            return chosen
        on_true = self.under(on_true, self.conjuncts(cond))
        on_false = self.under(on_false, self.conjuncts(self.negate(cond)))
        if on_true == on_false:
            return on_true
        joined = self._joined(cond, on_true, on_false)
        if joined is not None:
            return self.ite(*joined, sort)
        before = floats.chosen_before(self, cond, on_true, on_false) if sort == "data" else None
        if before is not None:
            return before
        if self.kind[cond] == "or" or (self.kind[cond] == "le" and not self._prefer(cond)):
            cond, on_true, on_false = self.negate(cond), on_false, on_true
        if sort != "int":
            return self._node("ite", sort, (cond, on_true, on_false))
        shared = self._shared(on_true, on_false)
        if shared != self.zero:
            chosen = self.ite(cond, self.sub(on_true, shared), self.sub(on_false, shared), sort)
            return self.add(shared, chosen)
        return self.atom(self._node("ite", sort, (cond, on_true, on_false)))

    def _joined(self, cond: Term, on_true: Term, on_false: Term) -> tuple[Term, Term, Term] | None:
        """``c ? (d ? a : b) : b`` as ``c and d ? a : b``, and the same with the arms exchanged."""
        for holds, chosen, other in ((True, on_true, on_false), (False, on_false, on_true)):
            inner = self.single(chosen)
            if inner is None or self.kind[inner] != "ite" or other not in self.args[inner][1:]:
                continue
            again, first, second = self.args[inner]
            test = cond if holds else self.negate(cond)
            if other == second:
                return self.conjunction((test, again)), first, other
            return self.conjunction((test, self.negate(again))), second, other
        return None

    def _shared(self, first: Term, second: Term) -> Term:
        """The summands of one sum that are in the other too; a constant is chosen with the rest."""
        other = frozenset(self.items(second))
        shared = {mono: factor for mono, factor in self.items(first) if mono and (mono, factor) in other}
        return self._poly(shared)

    def _as_arithmetic(self, cond: Term, on_true: Term, on_false: Term) -> Term | None:
        """A choice between integers that is a minimum, a maximum, a flag, or rounds a quotient down."""
        chosen = self._as_extreme(cond, on_true, on_false)
        if chosen is None:
            chosen = self._as_floor(cond, on_true, on_false)
        if chosen is not None:
            return chosen
        a, b = self.value(on_true), self.value(on_false)
        if a is not None and b is not None:
            return self.add(self.const(b), self.scale(self.b2i(cond), a - b))
        flags = self._flag(on_true), self._flag(on_false)
        if flags[0] is not None and flags[1] is not None:
            return self.b2i(self.ite(cond, flags[0], flags[1], "bool"))
        return None

    def eq0(self, poly: Term) -> Term:
        """Where a condition chooses a constant, the choice is between two comparisons."""
        for mono, factor in self.items(poly):
            if len(mono) != 1 or self.kind[mono[0]] != "ite":
                continue
            cond, *arms = self.args[mono[0]]
            rest = self.sub(poly, self.scale(self.atom(mono[0]), factor))
            first, second = (self.add(rest, self.scale(arm, factor)) for arm in arms)
            if self.value(first) is not None or self.value(second) is not None:
                return self.ite(cond, self.eq0(first), self.eq0(second), "bool")
        return super().eq0(poly)

    def _flag(self, term: Term) -> Term | None:
        """The predicate behind 0, 1 or what a predicate is widened to."""
        value = self.value(term)
        if value in (0, 1):
            return self.bool_const(value == 1)
        atom = self.single(term)
        return self.args[atom][0] if atom is not None and self.kind[atom] == "b2i" else None

    def _prefer(self, cond: Term) -> bool:
        """Of ``p <= 0`` and its negation, the one with a positive first factor is the canonical condition."""
        items = [item for item in self.attr[self.args[cond][0]] if item[0] != ()]
        return items[0][1] > 0

    def _as_extreme(self, cond: Term, a: Term, b: Term) -> Term | None:
        """``a < b ? a : b`` in its four spellings as a minimum or maximum."""
        if self.kind[cond] == "ult":
            return self._unsigned_extreme(cond, a, b)
        if self.kind[cond] in ("and", "or"):
            return self._bounded_extreme(cond, a, b)
        if self.kind[cond] != "le":
            return None
        diff = self.sub(a, b)
        for slack in (0, 1):
            if self.le0(self.add(diff, self.const(slack))) == cond:
                return self.minimum((a, b))
            if self.le0(self.sub(self.const(slack), diff)) == cond:
                return self.maximum((a, b))
        return None

    def _unsigned_extreme(self, cond: Term, a: Term, b: Term) -> Term | None:
        """The same of numbers that are compared without their signs."""
        sides = self.args[cond]
        if sides not in ((a, b), (b, a)):
            return None
        name = "mini" if sides == (a, b) else "maxi"
        return self.unsigned_extreme(name, a, b)

    def _bounded_extreme(self, cond: Term, a: Term, b: Term) -> Term | None:
        """The same where one of the two has no sign: ``0 <= a and a < b`` is its comparison."""
        if self.kind[cond] == "or":
            cond, a, b = self.negate(cond), b, a
        for name, low, high in (("mini", a, b), ("maxi", b, a)):
            if not self.nonneg(high) or self.nonneg(low):
                continue
            for predicate in ("less_than", "less_than_or_equal"):
                above = self.compare("greater_than_or_equal", low, self.zero)
                if self.conjunction((above, self.compare(predicate, low, high))) == cond:
                    return self.unsigned_extreme(name, a, b)
        return None

    def unsigned_extreme(self, name: str, a: Term, b: Term) -> Term:
        """`mini` or `maxi` of numbers read without their signs, which are as great in any width."""
        return self.integer_op((WIDTHS[-1], name, ("signed", "unsigned")), (a, b))

    def _as_floor(self, cond: Term, on_true: Term, on_false: Term) -> Term | None:
        """``r < 0 ? x - f : x``, where r is the remainder of a by b > 0 and x has ``tdiv(a, b)`` in it.

        That is ``x + f * (div(a, b) - tdiv(a, b))``: so floor division and modulo are spelled where only
        division towards zero exists.
        """
        if self.kind[cond] != "le":
            return None
        step = self.sub(on_false, on_true)
        for atom in self.args[on_false]:
            if self.kind[atom] != "tdiv":
                continue
            num, den = self.args[atom]
            quotient = self.atom(atom)
            if not self.positive(den):
                continue
            negative = self.le0(self.add(self.sub(num, self.mul(den, quotient)), self.one))
            if cond == self.negate(negative):
                on_false, step = on_true, self.scale(step, -1)
            elif cond != negative:
                continue
            rounded = self.sub(self.floordiv(num, den), quotient)
            return self.add(on_false, self.mul(step, rounded))
        return None

    # ---- simplification where guards hold ----------------------------------------------------------------

    def under(self, term: Term, guards: tuple[Term, ...]) -> Term:
        """The term simplified where all ``guards`` hold.

        In what a loop computes the lanes of its tiles are others: only what is said of no lane holds there.
        """
        if not guards:
            return term
        symbols = frozenset[Term]().union(*[self.symbols[guard] for guard in guards])
        if symbols.isdisjoint(self.symbols[term]):
            return term
        untouched = self.plain if not any(self.plain[guard] for guard in guards) else None
        if untouched is not None and untouched[term]:
            return term
        inside = tuple([guard for guard in guards if not self._has_carry_lane(guard)])
        memo = dict.fromkeys(guards, self.true)
        memo.update((self.args[guard][0], self.false) for guard in guards if self.kind[guard] == "not")
        limit = len(memo) + UNDER_BUDGET
        implied: dict[Term, bool] = {}
        settled: dict[Term, Term] = {}
        stack = [term]
        while stack:
            if len(memo) > limit:
                return term
            node = stack[-1]
            if node in memo:
                stack.pop()
                continue
            args = self.args[node]
            if not args or symbols.isdisjoint(self.symbols[node]) or (untouched and untouched[node]):
                memo[node] = node
                stack.pop()
                continue
            if self.kind[node] == "colour" and len(inside) < len(guards):
                memo[node] = self.under(node, inside)
                stack.pop()
                continue
            if self.kind[node] in ("le", "eq", "not", "and", "or"):
                for part in self.nested(node, settled):
                    self._settle(part, guards, implied, settled)
                result = settled[node]
                if result != node and result not in memo:
                    settled[result] = result
                    stack.append(result)
                    continue
                if result != node or not self._has_choice(node):
                    memo[node] = memo.get(result, result)
                    stack.pop()
                    continue
            waiting = [arg for arg in args if arg not in memo]
            if waiting:
                stack.extend(waiting)
                continue
            new = self._rebuilt(node, tuple([memo[arg] for arg in args]))
            if self.kind[node] == "tdiv":
                new = self._rounded_down(new, guards)
            elif self.kind[node] == "zext":
                new = self._with_sign(new, guards)
            elif self.kind[node] in ("min", "max"):
                new = self._settled_extreme(new, guards, implied)
            memo[node] = new
            stack.pop()
        return memo[term]

    def _rounded_down(self, quotient: Term, guards: tuple[Term, ...]) -> Term:
        """A division towards zero, as a floor division where the guards say that nothing is negative."""
        atom = self.single(quotient)
        if atom is None or self.kind[atom] != "tdiv":
            return quotient
        num, den = self.args[atom]
        if not self.nonneg(den) or not self.implies(guards, self.le0(self.scale(num, -1))):
            return quotient
        rounded = self.floordiv(num, den)
        self.inherit(atom, rounded)
        return rounded

    def _with_sign(self, number: Term, guards: tuple[Term, ...]) -> Term:
        """A number that is read without its sign, as it is where the guards say that it is not negative."""
        atom = self.single(number)
        if atom is None or self.kind[atom] != "zext":
            return number
        (signed,), half = self.args[atom], 1 << (self.attr[atom][0] - 1)
        fits = self.within(signed, -half, half)
        return signed if fits and self.implies(guards, self.le0(self.scale(signed, -1))) else number

    def _settled_extreme(self, extreme: Term, guards: tuple[Term, ...], implied: dict[Term, bool]) -> Term:
        """A minimum or maximum without the operands that another one makes superfluous under the guards."""
        atom = self.single(extreme)
        if atom is None or self.kind[atom] not in ("min", "max"):
            return extreme
        kept = list(self.args[atom])
        sign = 1 if self.kind[atom] == "min" else -1
        for value in self.args[atom]:
            others = [other for other in kept if other != value]
            beyond = (self.le0(self.scale(self.sub(other, value), sign)) for other in others)
            if any(self.implies(guards, below, implied) for below in beyond):
                kept = others
        if len(kept) == len(self.args[atom]):
            return extreme
        simpler = self.minimum(kept) if sign > 0 else self.maximum(kept)
        self.inherit(atom, simpler)
        return simpler

    def _has_carry_lane(self, term: Term) -> bool:
        return any(self.kind[symbol] == "carry_lane" for symbol in self.symbols[term])

    def _has_choice(self, predicate: Term) -> bool:
        """Whether the predicate compares a value that the guards may settle, not only symbols."""
        work = [predicate]
        while work:
            node = work.pop()
            if self.kind[node] in ("not", "and", "or"):
                work.extend(self.args[node])
            elif any(
                self.kind[atom] in ("ite", "atomic") for arg in self.args[node] for atom in self.args[arg]
            ):
                return True
        return False

    def _settle(
        self, predicate: Term, guards: tuple[Term, ...], implied: dict[Term, bool], memo: dict[Term, Term]
    ) -> Term:
        """The predicate where the guards hold. ``implied`` and ``memo`` belong to the guards."""
        found = memo.get(predicate)
        if found is None:
            found = memo[predicate] = self._settled(predicate, guards, implied, memo)
        return found

    def _settled(
        self, predicate: Term, guards: tuple[Term, ...], implied: dict[Term, bool], memo: dict[Term, Term]
    ) -> Term:
        if self.implies(guards, predicate, implied):
            return self.true
        if self.implies(guards, self.negate(predicate), implied):
            return self.false
        kind = self.kind[predicate]
        if kind not in ("and", "or"):
            return predicate
        parts = [self._settle(arg, guards, implied, memo) for arg in self.args[predicate]]
        return self.conjunction(parts) if kind == "and" else self.disjunction(parts)

    def _rebuilt(self, node: Term, args: tuple[Term, ...]) -> Term:
        """The same node on other arguments, with the old one's origin."""
        if args == self.args[node]:
            return node
        new = self.rebuild(node, args)
        self.inherit(node, new)
        return new

    # ---- substitution ------------------------------------------------------------------------------------

    def subst(
        self,
        term: Term,
        mapping: Mapping[Term, Term],
        memo: dict[Term, Term] | None = None,
        rebuild: Callable[[Term, tuple[Term, ...]], Term] | None = None,
    ) -> Term:
        """Replace leaves by terms, rebuilding in normal form, or by ``rebuild``.

        ``memo`` may be shared between calls with one mapping.
        """
        rebuild = rebuild or self.rebuild
        keys = frozenset(mapping)
        symbols = self.symbols
        if keys.isdisjoint(symbols[term]):
            return term
        memo = {} if memo is None else memo
        stack = [term]
        while stack:
            node = stack[-1]
            if node in memo:
                stack.pop()
                continue
            if keys.isdisjoint(symbols[node]):
                memo[node] = node
                stack.pop()
                continue
            replacement = mapping.get(node)
            if replacement is not None:
                memo[node] = replacement
                stack.pop()
                continue
            args = self.args[node]
            waiting = [arg for arg in args if arg not in memo]
            if waiting:
                stack.extend(waiting)
                continue
            new = rebuild(node, tuple([memo[arg] for arg in args]))
            self.inherit(node, new)
            memo[node] = new
            stack.pop()
        return memo[term]

    def rebuild(self, node: Term, args: tuple[Term, ...]) -> Term:
        """The same operation on other arguments, normalised again."""
        kind, attr = self.kind[node], self.attr[node]
        if kind == "poly":
            new = dict(zip(self.args[node], args, strict=True))
            return self.sum([(self.product([new[atom] for atom in mono]), coef) for mono, coef in attr])
        constructor = _CONSTRUCTORS.get(kind)
        if constructor is not None:
            return constructor(self, attr, args)
        if kind == "iop" and attr[1] in COMMUTATIVE_INT:
            return self.integer_op(attr, args)
        return self._node(kind, attr, args)

    # ---- ops with a normal form of their own -------------------------------------------------------------

    def contraction(self, attr: tuple[Any, ...], args: tuple[Term, ...]) -> Term:
        """A matrix product for one lane: the two factors commute, each with its type and scale.

        ``attr`` = (op, accumulator type, depth, per-factor types, flags);
        ``args`` = factors, scales, accumulator.
        """
        name, element, depth, types, flags = attr
        first, second, *scales, accumulator = args
        factors = [(first, types[0], scales[:1]), (second, types[1], scales[1:])]
        factors.sort(key=lambda factor: (factor[0], str(factor[1]), factor[2]))
        ordered = (name, element, depth, tuple([factor[1] for factor in factors]), flags)
        scale_args = [scale for factor in factors for scale in factor[2]]
        return self._node("mma", ordered, (factors[0][0], factors[1][0], *scale_args, accumulator))

    def integer_op(self, attr: tuple[Any, ...], args: Iterable[Term]) -> Term:
        """An op on integers of which both operands are alike; ``attr`` = (bits, name, *modifiers).

        Bits of numbers do not depend on the type that holds them: the least one is named.
        """
        bits, name, *mods = attr
        if name not in ASSOCIATIVE_INT:
            return self._node("iop", attr, tuple(sorted(args)))
        operands = self._operands(attr, args)
        if name == "xori":
            operands = [arg for arg in set(operands) if operands.count(arg) % 2]
        kept = sorted(set(operands), key=lambda arg: (self.value(arg) is not None, arg))
        if not kept:
            return self.zero
        if name in BITWISE and not self.exact:
            least = next((each for each in WIDTHS if all(self._fits(arg, each) for arg in kept)), bits)
            attr = (min(bits, least), name, *mods)
        result = kept[0]
        for operand in kept[1:]:
            result = self.atom(self._node("iop", attr, tuple(sorted((result, operand)))))
        return result

    def _unwrapped(self, bits: int, atom: Term) -> Term:
        """The low bits of an op on bits are made of those of its operands."""
        if self.kind[atom] == "iop" and self.attr[atom][1] in BITWISE and self.attr[atom][0] > bits:
            attr = (bits, *self.attr[atom][1:])
            return self.integer_op(attr, [self.wrap(bits, arg) for arg in self.args[atom]])
        return super()._unwrapped(bits, atom)

    def _operands(self, attr: tuple[Any, ...], args: Iterable[Term]) -> list[Term]:
        """What the same op is applied to, in whatever order."""
        operands: list[Term] = []
        work = list(args)
        while work:
            arg = work.pop()
            inner = self.single(arg)
            if inner is not None and self.kind[inner] == "iop" and len(operands) + len(work) < MAX_OPERANDS:
                start = attr[1] in BITWISE and not self.exact
                if self.attr[inner][start:] == attr[start:]:
                    work.extend(self.args[inner])
                    continue
            operands.append(arg)
        return operands

    def _fits(self, term: Term, bits: int) -> bool:
        low, high = self.range(term)
        return low is not None and high is not None and -(1 << (bits - 1)) <= low and high < 1 << (bits - 1)

    def float_op(self, attr: tuple[Any, ...], args: tuple[Term, ...]) -> Term:
        """An elementwise op; ``attr`` = (name, element type, modifiers). Normalised by ``graph.floats``."""
        return floats.normalise(self, attr, args)


_CONSTRUCTORS: dict[str, Callable[[Terms, Any, tuple[Term, ...]], Term]] = {
    "and": lambda terms, _, args: terms.conjunction(args),
    "b2i": lambda terms, _, args: terms.b2i(args[0]),
    "div": lambda terms, _, args: terms.floordiv(args[0], args[1]),
    "eq": lambda terms, _, args: terms.eq0(args[0]),
    "f": lambda terms, attr, args: floats.normalise(terms, attr, args),
    "fcmp": lambda terms, attr, args: comparisons.compare(terms, attr[0], *args),
    "ite": lambda terms, sort, args: terms.ite(args[0], args[1], args[2], sort),
    "le": lambda terms, _, args: terms.le0(args[0]),
    "max": lambda terms, _, args: terms.maximum(args),
    "min": lambda terms, _, args: terms.minimum(args),
    "mma": lambda terms, attr, args: terms.contraction(attr, args),
    "mul": lambda terms, _, args: terms.mul(args[0], args[1]),
    "not": lambda terms, _, args: terms.negate(args[0]),
    "or": lambda terms, _, args: terms.disjunction(args),
    "tdiv": lambda terms, _, args: terms.truncdiv(args[0], args[1]),
    "wrap": lambda terms, attr, args: terms.wrap(attr[0], args[0]),
    "zext": lambda terms, attr, args: terms.low_bits(attr[0], args[0]),
}
"""How a node with a normal form is made again."""
