"""Loops in closed form: carried values as functions of the iteration, trip counts, loops over all tiles."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tileir_diff.dialect.types import Tile
from tileir_diff.graph.carries import substitute_carries
from tileir_diff.graph.values import ops_within, sort_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from xdsl.ir import SSAValue

    from tileir_diff.dialect.ir import TileOp
    from tileir_diff.graph.carries import Body
    from tileir_diff.graph.evaluate import Evaluator
    from tileir_diff.graph.kernel import Carry, Loop
    from tileir_diff.graph.terms import Term, Terms

ROUNDS = 3
"""A closed form may make a step of another value invariant; longer chains do not occur in kernels."""


def bound_iteration(terms: Terms, iteration: Term, trip: Term | None) -> None:
    """The iteration counts from 0 to the trip count, exclusive; without one it has no upper bound."""
    high = None if trip is None else terms.range(trip)[1]
    terms.set_range(iteration, (0, None if high is None else high - 1))


def close(ev: Evaluator, body: Body) -> None:
    """Carried values that step by an invariant, or not at all, become functions of the iteration."""
    loop = body.loop
    for _ in range(ROUNDS):
        open_ = [carry for carry in loop.carries if carry.leaf not in loop.closed]
        inside = frozenset((loop.iteration, *(carry.leaf for carry in open_)))
        forms = [(carry.leaf, form(ev, loop, carry, carry.next, inside)) for carry in open_]
        known = {leaf: found for leaf, found in forms if found is not None}
        if not known:
            break
        loop.closed.update(known)
        body.substitute(known)


def form(ev: Evaluator, loop: Loop, carry: Carry, onward: Term, inside: frozenset[Term]) -> Term | None:
    """A carried value whose next one is ``onward``, as a function of the iteration.

    ``inside``: the symbols that change with it.
    """
    terms = ev.terms
    current: Term = ev.env[carry.value]
    if onward in (current, carry.init):
        return carry.init
    own = terms.single(current)
    if own is not None and terms.kind[own] == "at":
        own = terms.args[own][0]
    if sort_of(carry.value) != "int" or own != carry.leaf:
        return None
    bits = None
    wrapped = terms.single(onward)
    if wrapped is not None and terms.kind[wrapped] == "wrap":
        # adding modulo 2^bits again and again is multiplying modulo 2^bits
        (bits,), (onward,) = terms.attr[wrapped], terms.args[wrapped]
    step = terms.sub(onward, current)
    if terms.symbols[step] & inside:
        return None
    stepped = terms.add(carry.init, terms.mul(step, terms.atom(loop.iteration)))
    return stepped if bits is None else terms.wrap(bits, stepped)


def count(terms: Terms, body: Body) -> None:
    """Give a ``loop`` that is left at a bound its trip count, like a ``for``.

    Its body is read where it stays in the loop, which is not where it is left.
    """
    loop, exit_ = body.loop, body.loop.exit
    trip = None if loop.trip is not None or exit_ is None else _trip(terms, loop, exit_)
    if trip is None or exit_ is None:
        return
    stay = terms.negate(exit_)
    if not all(terms.implies(terms.conjuncts(effect.guard), stay) for effect in body.effects):
        return  # what stands above the exit happens once more
    loop.trip = trip
    bound_iteration(terms, loop.iteration, trip)
    body.substitute({loop.iteration: terms.atom(loop.iteration)})  # what was built before the bound was known
    loop.exit = exit_
    guards = terms.conjuncts(stay)
    for carry in loop.carries:
        carry.next = terms.under(carry.next, guards)
    for effect in body.effects:
        effect.map(lambda term: terms.under(term, guards))


def ends(terms: Terms, loop: Loop) -> bool:
    """Whether a loop is known to end: it is counted, or left at the latest when a value reaches a bound."""
    if loop.trip is not None or loop.exit in (None, terms.true):
        return True
    bounds = (atom for atom in _inequalities(terms, loop.exit) if _trip(terms, loop, atom) is not None)
    return any(terms.under(loop.exit, (atom,)) == terms.true for atom in bounds)


def _inequalities(terms: Terms, predicate: Term) -> Iterator[Term]:
    """The inequalities that a predicate is made of."""
    if terms.kind[predicate] == "le":
        yield predicate
    for part in terms.args[predicate] if terms.kind[predicate] in ("and", "or") else ():
        yield from _inequalities(terms, part)


def _trip(terms: Terms, loop: Loop, exit_: Term) -> Term | None:
    """The trip count when the exit is ``a - s * iteration <= 0`` with invariants s > 0 and a.

    Left at one of several bounds, a loop goes to the smallest; left at all of them, to the largest.
    """
    kind = terms.kind[exit_]
    atoms = terms.args[exit_] if kind in ("and", "or") else (exit_,)
    bounds = [_bound(terms, loop, atom) for atom in atoms]
    known = [bound for bound in bounds if bound is not None]
    if len(known) < len(bounds):
        return None
    step = max((step for _, step in known), key=lambda step: terms.value(step) or 0)
    rests = [_scaled(terms, rest, own, step) for rest, own in known]
    given = [rest for rest in rests if rest is not None]
    if len(given) < len(rests):
        return None
    rest = terms.maximum(given) if kind == "and" else terms.minimum(given)
    return trip_count(terms, distance(terms, terms.zero, rest), step)


def _scaled(terms: Terms, rest: Term, own: Term, step: Term) -> Term | None:
    """How far it is to a bound in steps of another length; None where that is no multiple of its own."""
    if own == step:
        return rest
    short, long = terms.value(own), terms.value(step)
    return terms.scale(rest, long // short) if short and long and long % short == 0 else None


def _bound(terms: Terms, loop: Loop, exit_: Term) -> tuple[Term, Term] | None:
    """a and s of ``a - s * iteration <= 0``, invariants of the loop with s > 0."""
    if terms.kind[exit_] != "le":
        return None
    left = terms.args[exit_][0]
    per_trip = [
        (terms.product(atom for atom in mono if atom != loop.iteration), -factor)
        for mono, factor in terms.items(left)
        if loop.iteration in mono
    ]
    step = terms.sum(per_trip)
    rest = terms.add(left, terms.mul(step, terms.atom(loop.iteration)))
    inside = {loop.iteration, *(carry.leaf for carry in loop.carries)}
    if (terms.symbols[rest] | terms.symbols[step]) & inside or not terms.positive(step):
        return None
    return rest, step


def distance(terms: Terms, lower: Term, upper: Term) -> Term:
    """How far a loop goes; where that is negative any other negative number, or 0, says the same: no trip.

    So a quotient that rounds towards zero may round down, if nothing is added to it.
    """
    whole = terms.sub(upper, lower)
    for mono, factor in terms.items(whole):
        if factor != 1 or len(mono) != 1 or terms.kind[mono[0]] != "tdiv":
            continue
        num, den = terms.args[mono[0]]
        rest = terms.sub(whole, terms.atom(mono[0]))
        if terms.positive(den) and _reached(terms, rest):
            rounded = terms.floordiv(num, den)
            terms.inherit(mono[0], rounded)
            return terms.add(rest, rounded)
    return whole


def trip_count(terms: Terms, distance: Term, step: Term) -> Term:
    """How many steps reach the distance. Below zero it counts as zero, so nobody needs to say so.

    A distance to the larger of several bounds, of which one is where the loop starts, is that to the others.
    """
    for mono, factor in terms.items(distance):
        if factor == 1 and len(mono) == 1 and terms.kind[mono[0]] == "max":
            rest = terms.sub(distance, terms.atom(mono[0]))
            ahead = [bound for bound in terms.args[mono[0]] if not _reached(terms, terms.add(bound, rest))]
            distance = terms.add(terms.maximum(ahead), rest) if ahead else terms.zero
    return terms.ceildiv(distance, step)


def _reached(terms: Terms, distance: Term) -> bool:
    high = terms.range(distance)[1]
    return high is not None and high <= 0


def grid_size(ev: Evaluator, axis: int) -> Term:
    """How many blocks the grid has along an axis."""
    size = ev.grid[axis]
    return ev.terms.const(size) if size is not None else ev.terms.atom(ev.terms.leaf("grid", axis))


def strides_grid(ev: Evaluator, axis: int, lower: Term, step: Term) -> bool:
    """Whether a loop starts at the block's index along an axis and steps by the size of the grid."""
    return step == grid_size(ev, axis) and lower == ev.terms.atom(ev.terms.leaf("block", axis))


def over_grid(ev: Evaluator, lower: Term, step: Term) -> bool:
    """Whether a loop goes over all tiles, and the other side is launched on another grid."""
    return ev.grids_differ and any(strides_grid(ev, axis, lower, step) for axis in range(3))


def _all_tiles(ev: Evaluator, loop: Loop) -> tuple[int, Term] | None:
    """The axis, and to which tile a loop goes from the block's index along it in steps of the grid size."""
    terms = ev.terms
    for axis in range(3):
        block = terms.leaf("block", axis)
        tiles = None
        if loop.upper is not None and strides_grid(ev, axis, loop.lower, loop.step):
            tiles = loop.upper
        elif loop.trip is not None:
            tiles = _tiles_of(terms, loop.trip, grid_size(ev, axis), terms.atom(block))
        if tiles is not None and block not in terms.symbols[tiles]:
            return axis, tiles
    return None


def _tiles_of(terms: Terms, trip: Term, grid: Term, block: Term) -> Term | None:
    """To which tile so many steps from the block's index lead, as ``trip_count`` has made them of it.

    Tiles of c elements may be counted by these: ``ceil((n - c * block) / (c * grid))``.
    """
    for mono, factor in terms.items(trip):
        if len(mono) != 1 or terms.kind[mono[0]] != "div" or abs(factor) != 1:
            continue
        num, step = terms.args[mono[0]]
        size = terms.value(terms.floordiv(step, grid))
        if not size or step != terms.scale(grid, size):
            continue
        rest = terms.mul(step, terms.sub(trip, terms.scale(terms.atom(mono[0]), factor)))
        whole = terms.sub(rest, num)  # of what is rounded up as the negative of what is rounded down
        if factor == 1:
            whole = terms.sum(((rest, 1), (num, 1), (step, -1), (terms.one, 1)))
        return terms.ceildiv(terms.add(whole, terms.scale(block, size)), terms.const(size))
    return None


def over_tiles(ev: Evaluator, body: Body) -> None:
    """A loop from the block's index in steps of the grid size is, over all blocks, a loop over all tiles.

    Only where nothing is carried, nothing is left of it, and the body depends on block and iteration through
    that index alone.
    """
    terms, loop = ev.terms, body.loop
    found = None if any(c.leaf not in loop.closed for c in loop.carries) else _all_tiles(ev, loop)
    if found is None or _leaves_something(loop.op):
        return
    axis, tiles = found
    grid, block = grid_size(ev, axis), terms.leaf("block", axis)
    at_first: dict[Term, Term] = {loop.iteration: terms.zero}
    onward = {block: terms.add(terms.atom(block), terms.mul(grid, terms.atom(loop.iteration)))}
    firsts: dict[Term, Term] = {}
    onwards: dict[Term, Term] = {}

    def through_index(term: Term) -> bool:
        if not terms.symbols[term] & {block, loop.iteration}:
            return True
        first = substitute_carries(terms, term, at_first, firsts)
        return substitute_carries(terms, first, onward, onwards) == term

    if not all(map(through_index, body.terms_inside())):
        return
    values = {value: term for value, term in _values_inside(ev, loop) if through_index(term)}
    tile = terms.leaf("iter", ev.side, ev.next_symbol())
    loop.upper = distance(terms, terms.zero, tiles)
    bound_iteration(terms, tile, loop.upper)
    to_tile: dict[Term, Term] = {block: terms.atom(tile)}
    body.substitute(at_first)
    body.substitute(to_tile)
    moved: dict[Term, Term] = {}
    for value, term in values.items():
        first = substitute_carries(terms, term, at_first, firsts)
        ev.env[value] = substitute_carries(terms, first, to_tile, moved)
    loop.iteration, loop.stride, loop.shared = tile, grid, axis
    loop.lower, loop.step, loop.trip = terms.zero, terms.one, loop.upper


def _leaves_something(op: TileOp) -> bool:
    """Whether a loop has results that are read, or its body returns."""
    read = any(isinstance(each.type, Tile) and tuple(each.uses) for each in op.results)
    return read or any(inner.short == "return" for inner in ops_within(op))


def _values_inside(ev: Evaluator, loop: Loop) -> Iterator[tuple[SSAValue, Term]]:
    """The values that the body of a loop computes, with their terms."""
    for op in ops_within(loop.op):
        values: list[SSAValue] = [] if op is loop.op else [*op.results]
        for region in op.regions:
            for block in region.blocks:
                values += block.args
        for value in values:
            term = ev.env.get(value)
            if isinstance(term, int):
                yield value, term
