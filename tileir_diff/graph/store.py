"""The store of hash-consed nodes, and integer polynomials in it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from tileir_diff.graph.kernel import Loop

Term = int
Range = tuple[int | None, int | None]
"""Inclusive bounds; None is unbounded."""
Mono = tuple[int, ...]
"""A monomial: its atoms in order, each as often as its power; () for the constant."""
Items = tuple[tuple[Mono, int], ...]
"""A polynomial: monomials in order, each with its factor, which is not 0."""

MAX_MONOMIALS = 400
"""A polynomial with more monomials is kept as an opaque product: longer ones cost more than they settle."""

LEAVES = frozenset(
    {"lane", "bound", "it", "carry_lane", "arg", "block", "grid", "iter", "carry", "region", "unpadded"}
)


GUARDED = frozenset({"le", "eq", "not", "and", "or", "tdiv", "zext", "min", "max", "colour"})
"""Kinds that may be another node where a condition is known to hold; or that hold such nodes."""


class Store:
    """Nodes by id: ``kind``, ``attr``, ``args``, ``symbols`` (leaves below), ``height`` (of bound indices).

    plain         by id: whether no condition can change the node, unless it is in it
    ranges        facts: bounds of leaves and of opaque atoms
    carry_lanes   per carry leaf of tile type, the lanes that its value is over
    origins       by side: the op that a term comes from
    loop_results  by side and by the colour in a ``loop_result`` term: the loop and the result's index
    """

    def __init__(self) -> None:
        self.kind: list[str] = []
        self.attr: list[Any] = []
        self.args: list[tuple[Term, ...]] = []
        self.symbols: list[frozenset[Term]] = []
        self.height: list[int] = []
        self.plain: list[bool] = []
        self._ids: dict[tuple[str, Any, tuple[Term, ...]], Term] = {}
        self._sums: dict[tuple[tuple[Term, int], ...], Term] = {}
        self._products: dict[tuple[Term, Term], Term] = {}
        self.ranges: dict[Term, Range] = {}
        self.carry_lanes: dict[Term, tuple[Term, ...]] = {}
        self.origins: list[dict[Term, Any]] = [{}, {}]
        self.loop_results: list[dict[Term, tuple[Loop, int]]] = [{}, {}]
        self.true = self._node("true", None, ())
        self.false = self._node("false", None, ())
        self.zero = self.const(0)
        self.one = self.const(1)

    # ---- nodes -------------------------------------------------------------------------------------------

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
        plain = self.plain
        plain.append(kind not in GUARDED and False not in [plain[arg] for arg in args])
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
                if self.height[arg] > height:
                    height = self.height[arg]
            self.symbols.append(union)
            self.height.append(height)
        return term

    def node(self, kind: str, attr: Any, args: Iterable[Term] = ()) -> Term:
        """An uninterpreted node; the other constructors are preferred where they exist."""
        return self._node(kind, attr, tuple(args))

    def leaf(self, kind: str, *attr: Any) -> Term:
        """A symbol."""
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

    # ---- polynomials -------------------------------------------------------------------------------------

    def _poly(self, terms: Mapping[Mono, int]) -> Term:
        items = tuple(sorted([(mono, coef) for mono, coef in terms.items() if coef]))
        atoms = sorted({atom for mono, _ in items for atom in mono})
        return self._node("poly", items, tuple(atoms))

    def const(self, value: int) -> Term:
        return self._node("poly", (((), value),) if value else (), ())

    def atom(self, leaf: Term) -> Term:
        """Any term as a polynomial."""
        if self.kind[leaf] == "poly":
            return leaf
        return self._node("poly", (((leaf,), 1),), (leaf,))

    def items(self, term: Term) -> Items:
        """The monomials of a term that is a polynomial or an atom."""
        return self.attr[term] if self.kind[term] == "poly" else (((term,), 1),)

    def poly(self, term: Term) -> dict[Mono, int]:
        return dict(self.items(term))

    def value(self, term: Term) -> int | None:
        """The integer when the term is a constant."""
        if self.kind[term] != "poly":
            return None
        items: Items = self.attr[term]
        if not items:
            return 0
        if len(items) == 1 and items[0][0] == ():
            return items[0][1]
        return None

    def single(self, term: Term) -> Term | None:
        """The atom when the term is exactly one atom with coefficient 1."""
        if self.kind[term] != "poly":
            return term
        items: Items = self.attr[term]
        if len(items) == 1 and items[0][1] == 1 and len(items[0][0]) == 1:
            return items[0][0][0]
        return None

    def add(self, left: Term, right: Term) -> Term:
        return self.sum(((left, 1), (right, 1)))

    def sub(self, left: Term, right: Term) -> Term:
        return self.sum(((left, 1), (right, -1)))

    def sum(self, parts: Iterable[tuple[Term, int]]) -> Term:
        """The sum of terms, each times an integer."""
        key = tuple(parts)
        found = self._sums.get(key)
        if found is None:
            found = self._sums[key] = self._sum(key)
        return found

    def _sum(self, parts: Iterable[tuple[Term, int]]) -> Term:
        total: dict[Mono, int] = {}
        for term, factor in parts:
            items = self.attr[term] if self.kind[term] == "poly" else (((term,), 1),)
            for mono, coef in items:
                total[mono] = total.get(mono, 0) + coef * factor
        return self._poly(total)

    def scale(self, term: Term, factor: int) -> Term:
        return self.sum(((term, factor),))

    def mul(self, left: Term, right: Term) -> Term:
        found = self._products.get((left, right))
        if found is None:
            found = self._products[left, right] = self._mul(left, right)
        return found

    def _mul(self, left: Term, right: Term) -> Term:
        a, b = self.items(left), self.items(right)
        if len(a) * len(b) > MAX_MONOMIALS:
            return self.atom(self._node("mul", None, tuple(sorted((left, right)))))
        total: dict[Mono, int] = {}
        for mono_a, coef_a in a:
            for mono_b, coef_b in b:
                mono = tuple(sorted(mono_a + mono_b))
                total[mono] = total.get(mono, 0) + coef_a * coef_b
        return self._poly(total)

    def product(self, factors: Iterable[Term]) -> Term:
        """The product of any number of terms."""
        product = self.one
        for factor in factors:
            product = self.mul(product, self.atom(factor)) if product != self.one else self.atom(factor)
        return product
