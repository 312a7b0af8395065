"""Terms with loop indices in place of iteration numbers: `it0` for `%loopIdx`, as the dump's author thinks
of it.

The normal form counts iterations 0, 1, ..; the index of a `for` is `lower + step * iteration`.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from tileir_diff.graph.show import show

if TYPE_CHECKING:
    from collections.abc import Callable

    from tileir_diff.graph.kernel import Kernel, Loop
    from tileir_diff.graph.terms import Mono, Term, Terms

BUDGET = 2000
"""Nodes that a rewrite may visit; a longer expression keeps its iteration numbers."""


class Indices:
    """Rewrites terms of one kernel. `names` holds the new symbols, and the iteration numbers that may remain.

    `known` are the names that others have given already; it may grow.
    """

    def __init__(self, kernel: Kernel, known: dict[Term, str]) -> None:
        self.terms = kernel.terms
        self.known = known
        self.names: dict[Term, str] = {}
        self.loops: list[tuple[Loop, Term]] = []
        for number, loop in enumerate(kernel.loops):
            plain = self.terms.value(loop.lower) == 0 and self.terms.value(loop.step) == 1
            if plain:
                self.names[loop.iteration] = f"it{number}"
                continue
            self.names[loop.iteration] = f"trip{number}"
            leaf = self.terms.leaf("arg", "index", number)
            self.names[leaf] = f"it{number}"
            self.loops.append((loop, self.terms.atom(leaf)))

    def rewrite(self, term: Term) -> Term:
        # inner loops first: their bounds may contain the index of an outer one
        for loop, index in reversed(self.loops):
            if loop.iteration in self.terms.symbols[term]:
                term = self._each_poly(term, partial(self._linear, loop, index))
        return self._each_poly(term, self._remainders)

    def _each_poly(self, root: Term, change: Callable[[Term], Term]) -> Term:
        """The term with `change` applied to each polynomial in it, inner ones first."""
        terms = self.terms
        memo: dict[Term, Term] = {}
        work = [root]
        while work:
            term = work[-1]
            if term in memo:
                work.pop()
                continue
            if len(memo) > BUDGET:
                return root
            waiting = [arg for arg in terms.args[term] if arg not in memo]
            if waiting:
                work.extend(waiting)
                continue
            args = tuple(memo[arg] for arg in terms.args[term])
            new = term if args == terms.args[term] else terms.rebuild(term, args)
            memo[term] = change(new) if terms.kind[new] == "poly" else new
        return memo[root]

    def _remainders(self, poly: Term) -> Term:
        """`x - n * (x / n)` as a symbol that is named `x % n`."""
        terms = self.terms
        for mono, coefficient in terms.poly(poly).items():
            for atom in mono:
                if terms.kind[atom] != "div":
                    continue
                numerator, denominator = terms.args[atom]
                size = terms.value(denominator)
                factor = -coefficient // size if size and len(mono) == 1 and not coefficient % size else 1
                whole = terms.mul(denominator, terms.atom(atom))
                rest = terms.sub(poly, terms.scale(terms.sub(numerator, whole), factor))
                if len(terms.poly(rest)) >= len(terms.poly(poly)) - len(terms.poly(numerator)):
                    continue
                leaf = terms.leaf("arg", "remainder", (numerator, denominator))
                terms.set_range(leaf, (0, None if size is None else size - 1))
                self.names[leaf] = f"{self._operand(numerator)} % {self._operand(denominator)}"
                return self._remainders(terms.add(rest, terms.scale(terms.atom(leaf), factor)))
        return poly

    def _operand(self, term: Term) -> str:
        shown = show(self.terms, term, self.known | self.names)
        return f"({shown})" if " " in shown else shown

    def _linear(self, loop: Loop, index: Term, poly: Term) -> Term:
        """`a * step * iteration + b` as `a * (index - lower) + b` where step divides it."""
        terms, leaf = self.terms, loop.iteration
        factor: dict[Mono, int] = {}
        rest: list[tuple[Term, int]] = []
        for mono, coefficient in terms.poly(poly).items():
            if leaf not in mono:
                rest.append((_product(terms, mono), coefficient))
                continue
            left = list(mono)
            left.remove(leaf)
            if leaf in left:
                return poly
            factor[tuple(left)] = coefficient
        if not factor:
            return poly
        steps = terms.poly(loop.step)
        if len(steps) != 1:
            return poly
        ((step_mono, step_coefficient),) = steps.items()
        parts: list[tuple[Term, int]] = []
        for mono, coefficient in factor.items():
            left = list(mono)
            for atom in step_mono:
                if atom not in left:
                    return poly
                left.remove(atom)
            if coefficient % step_coefficient:
                return poly
            parts.append((_product(terms, tuple(left)), coefficient // step_coefficient))
        moved = terms.mul(terms.sum(parts), terms.sub(index, loop.lower))
        return terms.add(moved, terms.sum(rest))


def _product(terms: Terms, mono: Mono) -> Term:
    product = terms.one
    for atom in mono:
        product = terms.mul(product, terms.atom(atom))
    return product
