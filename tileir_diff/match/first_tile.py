"""Accesses of other tiles, where both sides begin: the first tile's elements that both have.

How an element is computed does not depend on the tile that it lies in. Loops around are in their first
iteration, blocks along an axis at 0 where tiles along it are others, and lanes are those of the smaller tile.
"""

from __future__ import annotations

from itertools import combinations, zip_longest
from typing import TYPE_CHECKING

from tileir_diff.graph.carries import substitute_carries
from tileir_diff.match.blame import Lens
from tileir_diff.match.blame_memory import address
from tileir_diff.match.uncompared import axes_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from tileir_diff.graph.kernel import Effect
    from tileir_diff.graph.terms import Term, Terms
    from tileir_diff.match.blame import Blame
    from tileir_diff.match.model import Difference


def first_tile(blame: Blame, ref: Effect, gen: Effect) -> list[Difference]:
    """How the two differ there: in the values of an element, or in where they begin."""
    if ref.pointer is None or gen.pointer is None:
        return []
    terms = blame.terms
    axes = sorted(axes_of(terms, [ref.pointer]) & axes_of(terms, [gen.pointer]))
    lens = None
    for count in range(len(axes) + 1):
        for chosen in combinations(axes, count):
            lens = _lens(blame, (ref, gen), chosen)
            if lens is not None and lens.ours(ref.pointer) == lens.theirs(gen.pointer):
                return _values(blame, ref, gen, lens)
    if lens is None:
        return []
    return [address(blame, lens.ours(ref.pointer), lens.theirs(gen.pointer), ref.op, gen.op)]


def _values(blame: Blame, ref: Effect, gen: Effect, lens: Lens) -> list[Difference]:
    found: list[Difference] = []
    blame.lens = lens
    for x, y in zip(ref.values, gen.values, strict=False):
        a, b = lens.ours(x), lens.theirs(y)
        if a != b:
            found.extend(blame.values(a, b, ref.op, gen.op))
    return found


def _lanes(terms: Terms, effects: Sequence[Effect]) -> tuple[dict[Term, Term], dict[Term, Term]]:
    """Names for the lanes of both sides: those of the last dimensions that both have are the same."""
    sides = [
        [(terms.leaf("lane", dim, extent), extent) for dim, extent in enumerate(effect.shape) if extent > 1]
        for effect in effects
    ]
    named: tuple[dict[Term, Term], dict[Term, Term]] = {}, {}
    for number, both in enumerate(zip_longest(*map(reversed, sides))):
        shared = None not in both
        lane = terms.lane(number, min(extent for _, extent in both)) if shared else terms.zero
        for names, each in zip(named, both, strict=True):
            if each is not None:
                names[each[0]] = lane
    return named


def _lens(blame: Blame, effects: tuple[Effect, Effect], axes: Iterable[int]) -> Lens | None:
    """How both sides read in blocks at 0 along these axes; None where nothing is done there."""
    terms = blame.terms
    start = {terms.leaf("block", axis): terms.zero for axis in axes}
    lanes = _lanes(terms, effects)

    def read(side: int, term: Term) -> Term:
        for loop in reversed(effects[side].loops):
            begin = {carry.leaf: carry.init for carry in loop.carries if carry.leaf not in loop.closed}
            if loop.closed:
                term = substitute_carries(terms, term, loop.closed, {})
            term = substitute_carries(terms, term, {**begin, loop.iteration: terms.zero}, {})
        return terms.subst(term, {**lanes[side], **start})

    conditions = [read(side, each.condition(terms)) for side, each in enumerate(effects)]
    guards = terms.conjuncts(terms.conjunction(conditions))
    if terms.false in guards:
        return None

    def ours(term: Term) -> Term:
        return terms.under(read(0, term), guards)

    def theirs(term: Term) -> Term:
        return terms.under(read(1, term), guards)

    return Lens(ours, theirs, -1 - effects[1].order)
