"""Names for the carried values of a loop by what they compute, so that equal loops get equal terms.

Colours, as in the partition refinement of automata: round 0 is type and initial value; round t + 1 adds the
next value with every carried value replaced by its colour of round t. A value depends on a closed set of
carried values. Let r be the first round after which those of one side are split no further, into n classes.
Taken together with another loop that has the same n and r, they are between n and 2 n classes, and every
round splits one or is the last: so with n more rounds, equal colours mean equal values across sides.
"""

from __future__ import annotations

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
    settled = _settled(terms, loop, live, exit_, iteration, _closures(terms, live, pieces))
    loop.canonical = {loop.iteration: iteration}
    for carry, colour in zip(live, settled, strict=False):
        loop.canonical[carry.leaf] = terms.node("cp", None, (colour,))
    if exit_ is not None:
        loop.canonical[-1] = settled[-1]


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


def _settled(
    terms: Terms,
    loop: Loop,
    live: list[Carry],
    exit_: Term | None,
    iteration: Term,
    closures: list[frozenset[int]],
) -> list[Term]:
    """The last colours of the live carries, then that of the exit."""
    nexts = [closed_lanes(terms, carry.next, carry.value) for carry in live]
    colours = [
        terms.node("colour", ("init", c.type_text), (closed_lanes(terms, c.init, c.value),)) for c in live
    ]
    if exit_ is not None:
        nexts.append(exit_)
        colours.append(terms.node("colour", ("exit",), ()))
    settled: dict[int, Term] = {}
    last: dict[int, tuple[int, int]] = {}
    number = 0
    while len(settled) < len(nexts):
        waiting = [position for position in range(len(nexts)) if position not in settled]
        needed = frozenset[int]().union(*(closures[position] for position in waiting))
        before, colours = colours, _next_round(terms, loop, live, iteration, nexts, colours, needed)
        for position in waiting:
            classes, more = (len({each[i] for i in closures[position]}) for each in (before, colours))
            if position not in last and classes == more:
                last[position] = number, classes
            first, size = last.get(position, (number + 1, 1))
            if first + size == number + 1:
                settled[position] = terms.node("colour", ("settled", first, size), (colours[position],))
        number += 1
    return [settled[position] for position in range(len(nexts))]


def _next_round(
    terms: Terms,
    loop: Loop,
    live: list[Carry],
    iteration: Term,
    nexts: list[Term],
    colours: list[Term],
    needed: frozenset[int],
) -> list[Term]:
    """The colours of the next round of the values at ``needed`` positions."""
    mapping: dict[Term, Term] = {loop.iteration: iteration}
    for carry, colour in zip(live, colours, strict=False):
        mapping[carry.leaf] = terms.node("cp", None, (colour,))
    memo: dict[Term, Term] = {}
    return [
        terms.node("colour", ("next",), (old, substitute_carries(terms, next_, mapping, memo)))
        if position in needed
        else old
        for position, (old, next_) in enumerate(zip(colours, nexts, strict=True))
    ]


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
