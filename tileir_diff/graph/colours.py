"""Names for the carried values of a loop by what they compute, so that equal loops get equal terms.

Colours: round 0 is type and initial value; round t + 1 adds the next value with every carried value replaced
by its colour of round t. When a round splits no class, equal colours mean equal values, on one side and
across sides (the colours of a round contain those before it).
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from tileir_diff.graph.carries import own_lanes, substitute_carries

if TYPE_CHECKING:
    from xdsl.ir import SSAValue

    from tileir_diff.graph.kernel import Carry, Loop
    from tileir_diff.graph.terms import Term, Terms


def finish(terms: Terms, loop: Loop) -> None:
    """Fill ``loop.canonical``."""
    live = [carry for carry in loop.carries if carry.leaf not in loop.closed]
    exit_ = loop.exit if loop.trip is None else None
    pieces = [carry.next for carry in live]
    if exit_ is not None:
        pieces.append(exit_)
    iteration = _iteration(terms, live, pieces)
    rounds = _rounds(terms, loop, live, exit_, iteration)
    closures = _closures(terms, live, pieces)
    loop.canonical = {loop.iteration: iteration}
    for position, carry in enumerate(live):
        colour = _settled(rounds, closures[position], position)
        loop.canonical[carry.leaf] = terms.node("cp", None, (colour,))
    if exit_ is not None:
        loop.canonical[-1] = _settled(rounds, closures[-1], len(live))


def closed_lanes(terms: Terms, term: Term, value: SSAValue) -> Term:
    """A carried tile as a function of its own lanes, which later renaming of lanes must not touch."""
    mapping: dict[Term, Term] = {}
    for position, lane in enumerate(own_lanes(terms, value)):
        leaf = terms.single(lane)
        assert leaf is not None
        closed = terms.leaf("carry_lane", position, terms.attr[leaf][1])
        terms.set_range(closed, terms.ranges[leaf])
        mapping[leaf] = terms.atom(closed)
    return terms.subst(term, mapping) if mapping else term


def _iteration(terms: Terms, live: list[Carry], pieces: list[Term]) -> Term:
    """The iteration as a symbol of no side, above all symbols of the loops inside."""
    inside = [*pieces, *(carry.init for carry in live)]
    leaf = terms.leaf("it", 1 + max((terms.height[piece] for piece in inside), default=0))
    terms.set_range(leaf, (0, None))
    return terms.atom(leaf)


def _rounds(
    terms: Terms, loop: Loop, live: list[Carry], exit_: Term | None, iteration: Term
) -> list[list[Term]]:
    """The colours of each round: those of the live carries, then that of the exit."""
    inits = [closed_lanes(terms, carry.init, carry.value) for carry in live]
    nexts = [closed_lanes(terms, carry.next, carry.value) for carry in live]
    colours = [
        terms.node("colour", ("init", carry.type_text), (init,))
        for carry, init in zip(live, inits, strict=True)
    ]
    if exit_ is not None:
        nexts.append(exit_)
        colours.append(terms.node("colour", ("exit",), ()))
    rounds = [colours]
    for _ in range(len(nexts) + 2):
        mapping: dict[Term, Term] = {loop.iteration: iteration}
        for carry, colour in zip(live, colours, strict=False):
            mapping[carry.leaf] = terms.node("cp", None, (colour,))
        memo: dict[Term, Term] = {}
        new = [
            terms.node("colour", ("next",), (old, substitute_carries(terms, next_, mapping, memo)))
            for old, next_ in zip(colours, nexts, strict=True)
        ]
        rounds.append(new)
        stable = len(set(new)) == len(set(colours))
        colours = new
        if stable and len(rounds) > 2:
            break
    return rounds


def _closures(terms: Terms, live: list[Carry], pieces: list[Term]) -> list[frozenset[int]]:
    """For each piece the positions of the carried values that it depends on, itself included."""
    position = {carry.leaf: index for index, carry in enumerate(live)}
    direct = [[position[s] for s in terms.symbols[piece] if s in position] for piece in pieces]
    closures: list[frozenset[int]] = []
    for index in range(len(pieces)):
        seen = {index}
        work = [index]
        while work:
            new = [other for other in direct[work.pop()] if other not in seen]
            seen.update(new)
            work.extend(new)
        closures.append(frozenset(seen))
    return closures


def _settled(rounds: list[list[Term]], closure: frozenset[int], position: int) -> Term:
    """The colour of the first round that splits no class of the values this one depends on."""
    for before, after in pairwise(rounds[1:]):
        if len({before[i] for i in closure}) == len({after[i] for i in closure}):
            return after[position]
    return rounds[-1][position]
