"""Ties of a reduction of numbers with their indices: of equal numbers at one index either is the other.

So `<=` and `<` between the indices, where the numbers are equal, choose the same.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tileir_diff.graph.terms import Term, Terms


def without_ties(
    terms: Terms, combine: list[Term], bodies: Sequence[Term], along: Term, sides: Sequence[Term]
) -> list[Term]:
    """What two operands are combined to, with `<` for each `<=` of indices that only decides between equals.

    ``sides`` are the element and the accumulator of the one operand, then of the other one. Of two zeros of
    unlike sign the index must say which is meant, so it is another one at each place ``along``.
    """
    for body, index, numbers in ((bodies[0], sides[:2], sides[2:]), (bodies[1], sides[2:], sides[:2])):
        if _distinct(terms, body, along):
            combine = [_strict(terms, each, index, numbers) for each in combine]
    return combine


def _distinct(terms: Terms, body: Term, along: Term) -> bool:
    """Whether an operand is an index that grows, or falls, along the reduction."""
    leaf = terms.single(along)
    if leaf is None or terms.kind[body] != "poly":
        return False
    step = terms.sub(terms.subst(body, {leaf: terms.add(along, terms.one)}), body)
    return terms.value(step) not in (None, 0)


def _strict(terms: Terms, term: Term, index: Sequence[Term], numbers: Sequence[Term]) -> Term:
    """A term with the comparisons of the index strict, where the numbers are equal."""
    apart = terms.sub(terms.atom(index[0]), terms.atom(index[1]))
    above = terms.le0(terms.scale(apart, -1))
    strict = {terms.le0(apart): terms.negate(above), terms.negate(terms.le0(apart)): above}
    equal = terms.node("fcmp", ("equal",), tuple(sorted(numbers)))

    def rebuild(node: Term, args: tuple[Term, ...]) -> Term:
        new = terms.rebuild(node, args)
        if terms.kind[new] == "and" and equal in terms.args[new]:
            return terms.conjunction(strict.get(each, each) for each in terms.args[new])
        if terms.kind[new] == "or" and terms.negate(equal) in terms.args[new]:
            return terms.disjunction(strict.get(each, each) for each in terms.args[new])
        return new

    return terms.subst(term, {leaf: leaf for leaf in index}, rebuild=rebuild)
