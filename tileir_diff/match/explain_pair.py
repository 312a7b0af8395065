"""Why two matched effects differ: loops, address, mask, value, ordering."""

from __future__ import annotations

from itertools import permutations
from typing import TYPE_CHECKING

from tileir_diff.match.blame import Lens
from tileir_diff.match.blame_loops import bounds, pair_loops, same_start, tiles_by_block
from tileir_diff.match.blame_masks import mask, within_trips
from tileir_diff.match.blame_memory import address, orderings, tile_words
from tileir_diff.match.canonical import depth_iteration, printed
from tileir_diff.match.explain import describe
from tileir_diff.match.first_tile import first_tile
from tileir_diff.match.uncompared import other_functions, uncompared

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from tileir_diff.graph.kernel import Effect
    from tileir_diff.graph.terms import Term
    from tileir_diff.match.blame import Blame
    from tileir_diff.match.effects import EffectPair
    from tileir_diff.match.model import Difference


def explain_pair(blame: Blame, pair: EffectPair) -> list[Difference]:
    """The differences of one matched effect, root causes first; [] where none can be named."""
    ref, gen = pair.reference.effect, pair.generated.effect
    whole = _different_effect(blame, pair)
    if whole is not None:
        return [whole]
    found: list[Difference] = []
    if ref.kind == "print" and printed(ref.op) != printed(gen.op):
        words = printed(ref.op), printed(gen.op)
        found.append(blame.make("debug-op/changed", ref.op, gen.op, *words))
    if ref.kind == "assert" and ref.op.get("message") != gen.op.get("message"):
        words = str(ref.op.get("message")), str(gen.op.get("message"))
        found.append(blame.make("runtime-check/changed", ref.op, gen.op, *words, impact="none"))
    if pair.reference.element != pair.generated.element:
        found.append(blame.make("element-type/changed", ref.op, gen.op, ref.element, gen.element))
    if ref.op.get("mode") != gen.op.get("mode"):
        words = str(ref.op.get("mode")), str(gen.op.get("mode"))
        found.append(blame.make("atomic/mode", ref.op, gen.op, *words, part="mode"))
    found.extend(orderings(blame, ref.op, gen.op))
    if _accumulates(blame, gen) and not _accumulates(blame, ref):
        words = f"overwrites {_array(blame, ref)}", _array(blame, gen)
        found.append(blame.make("accumulator/in-memory", ref.op, gen.op, *words))
        return found + uncompared(blame, ref, gen)
    if pair.reference.extents != pair.generated.extents:
        words = _shape(ref.shape), _shape(gen.shape)
        found.append(blame.make("tile-shape/changed", ref.op, gen.op, *words, impact="logic"))
        return found + (uncompared(blame, ref, gen) or first_tile(blame, ref, gen))
    if len(ref.loops) != len(gen.loops):
        found.append(_loop_depth(blame, ref, gen))
        whole = tiles_by_block(blame, ref, gen)
        return found + (_where_and_what(blame, pair) if whole else uncompared(blame, ref, gen))
    for x, y in zip(ref.loops, gen.loops, strict=True):
        found.extend(finding.difference for finding in pair_loops(blame, x, y, None, 0))
    if any(not same_start(blame, x, y) for x, y in zip(ref.loops, gen.loops, strict=True)):
        return found + other_functions(blame)  # the iterations mean other things
    found += _where_and_what(blame, pair)
    if not found:
        loops = zip(ref.loops, gen.loops, strict=True)
        found = [finding.difference for x, y in loops for finding in bounds(blame, x, y, 0)]
    return found


def _different_effect(blame: Blame, pair: EffectPair) -> Difference | None:
    """A difference that leaves nothing more to compare."""
    ref, gen = pair.reference.effect, pair.generated.effect
    if ref.kind != gen.kind:
        rule = "atomic/extra" if ref.kind == "store" else "atomic/missing"
        return blame.make(rule, ref.op, gen.op, describe(ref), describe(gen))
    if ref.kind == "assert" and pair.reference.values != pair.generated.values:
        words = (blame.show(side.values[0]) for side in (pair.reference, pair.generated))
        return blame.make("runtime-check/changed", ref.op, gen.op, *words)
    return None


def _accumulates(blame: Blame, effect: Effect) -> bool:
    """Whether a store adds to what it finds at its own address, in a loop: a sum that is made in memory."""
    terms = blame.terms
    if effect.kind != "store" or not effect.loops or not effect.values:
        return False
    work = [effect.values[0]]
    while work:
        term = work.pop()
        kind, args = terms.kind[term], terms.args[term]
        if kind == "mem" and args[0] == effect.pointer:
            return True
        if kind == "poly":
            work.extend(atom for mono in terms.poly(term) for atom in mono)
        elif kind == "wrap" or (kind == "f" and terms.attr[term][0] == "addf"):
            work.extend(args)
    return False


def _array(blame: Blame, effect: Effect) -> str:
    return "the array" if effect.base is None else blame.show(effect.base)


def _shape(shape: Sequence[int]) -> str:
    return "x".join(str(extent) for extent in shape) or "scalar"


def _loop_depth(blame: Blame, ref: Effect, gen: Effect) -> Difference:
    """One effect stands in more loops than the other."""
    ref_op, gen_op = (effect.loops[0].op if effect.loops else effect.op for effect in (ref, gen))
    rule = "loop/missing" if len(ref.loops) > len(gen.loops) else "loop/extra"
    return blame.make(rule, ref_op, gen_op, *(_nesting(len(each.loops)) for each in (ref, gen)))


def places(blame: Blame, ref: Effect, gen: Effect) -> list[Difference]:
    """Where two accesses of one shape differ in condition and address."""
    return _compared(blame, ref, gen, ())[0]


def _where_and_what(blame: Blame, pair: EffectPair) -> list[Difference]:
    """Condition, address and values, on lanes that are named alike, under what the host must guarantee."""
    ref, gen = pair.reference.effect, pair.generated.effect
    found, values, blame.lens = _compared(blame, ref, gen, _given(blame, pair))
    for a, b in values:
        found.extend(blame.values(a, b, ref.op, gen.op))
    return found


def _compared(
    blame: Blame, ref: Effect, gen: Effect, given: tuple[Term, ...]
) -> tuple[list[Difference], list[tuple[Term, Term]], Lens]:
    """What differs in condition and address, and the values that differ, on lanes that are named alike.

    The third: how any value reads on these lanes, under these conditions.

    ``given``: what holds on both sides anyway.
    """
    terms = blame.terms
    ref_lanes, gen_lanes = lane_renaming(blame, ref, gen)

    def ours(term: Term) -> Term:
        return terms.subst(term, ref_lanes) if ref_lanes else term

    def theirs(term: Term) -> Term:
        return blame.rename(terms.subst(term, gen_lanes) if gen_lanes else term)

    found: list[Difference] = []
    ref_condition = within_trips(blame, terms.under(ours(ref.condition(terms)), given))
    gen_condition = terms.under(theirs(gen.condition(terms)), given)
    both = terms.conjunction((ref_condition, gen_condition, *given))
    guards = terms.conjuncts(both)
    other_array = None not in (ref.base, gen.base) and ref.base != gen.base
    other_tile = _other_tile(blame, ref, gen)
    # another array has other bounds, and the bounds of a view follow its index
    if ref_condition != gen_condition and not other_array and not other_tile:
        ref_guard, gen_guard = ours(ref.guard), theirs(gen.guard)
        if ref_guard != gen_guard and ref.op.get("inbounds") != gen.op.get("inbounds"):
            # a promise about the view says nothing of the branches around the access
            found.append(mask(blame, ref_guard, gen_guard, ref.op, gen.op, promises=False))
        found.append(mask(blame, ref_condition, gen_condition, ref.op, gen.op))
    if ref.pointer is not None and gen.pointer is not None:
        a, b = ours(ref.pointer), theirs(gen.pointer)
        if not other_tile:
            a, b = terms.under(a, guards), terms.under(b, guards)
        if a != b:
            stride = None if other_array else _stride(blame, ref, gen)
            found.append(stride or address(blame, a, b, ref.op, gen.op))
        elif other_tile:
            coordinates = ref.coordinates, map(blame.rename, gen.coordinates)
            words = tile_words(blame, ref.op, gen.op) or tuple(_list(blame, each) for each in coordinates)
            found.append(blame.make("addressing/index", ref.op, gen.op, *words, part="index"))

    def ours_there(term: Term) -> Term:
        return terms.under(ours(term), guards)

    def theirs_there(term: Term) -> Term:
        return terms.under(theirs(term), guards)

    lens = Lens(ours_there, theirs_there, gen.order + 1)
    if both == terms.false and terms.false not in (ref_condition, gen_condition):
        return found, [], lens  # no lane has a value on both sides
    values = [(lens.ours(x), lens.theirs(y)) for x, y in zip(ref.values, gen.values, strict=False)]
    return found, [(a, b) for a, b in values if a != b], lens


def _other_tile(blame: Blame, ref: Effect, gen: Effect) -> bool:
    """Two accesses through views of the same strides that name another tile."""
    if "pointer" in (ref.family, gen.family) or not ref.coordinates:
        return False
    ours, theirs = _tile(blame, ref), _tile(blame, gen)
    return ours != theirs and sorted(ref.strides) == sorted(map(blame.rename, gen.strides))


def _tile(blame: Blame, effect: Effect) -> list[tuple[Term, Term]]:
    """Where a tile begins along each dimension, with the stride there; without those that begin at 0."""
    terms = blame.terms
    lanes = {terms.leaf("lane", dim, extent): terms.zero for dim, extent in enumerate(effect.shape)}
    starts = [blame.rename(terms.subst(coordinate, lanes)) for coordinate in effect.coordinates]
    strides = [blame.rename(stride) for stride in effect.strides]
    return sorted(pair for pair in zip(starts, strides, strict=True) if pair[0] != terms.zero)


def _given(blame: Blame, pair: EffectPair) -> tuple[Term, ...]:
    """What is taken to hold for a pair, over the iterations of the reference's loops."""
    terms = blame.terms
    loops = enumerate(pair.reference.effect.loops)
    iterations = {depth_iteration(terms, depth): terms.atom(loop.iteration) for depth, loop in loops}
    return tuple(terms.subst(atom, iterations) for atom in pair.given)


def _stride(blame: Blame, ref: Effect, gen: Effect) -> Difference | None:
    """Two accesses through views at the same coordinates, with other strides."""
    if "pointer" in (ref.family, gen.family) or not ref.coordinates:
        return None
    if ref.coordinates != tuple(blame.rename(term) for term in gen.coordinates):
        return None
    if ref.strides == tuple(blame.rename(term) for term in gen.strides):
        return None
    words = _list(blame, ref.strides), _list(blame, gen.strides)
    return blame.make("stride/changed", ref.op, gen.op, *words)


def _list(blame: Blame, values: Iterable[Term]) -> str:
    return ", ".join(blame.show(term) for term in values)


def lane_renaming(blame: Blame, ref: Effect, gen: Effect) -> tuple[dict[Term, Term], dict[Term, Term]]:
    """Substitutions that bring the raw lanes of both effects to the lanes of the canonical reference."""
    terms = blame.terms
    ref_lanes, gen_lanes = _lanes(blame, ref), _lanes(blame, gen)
    first = {
        leaf: terms.lane(new, extent)
        for new, (leaf, extent) in enumerate(ref_lanes)
        if terms.attr[leaf][0] != new
    }
    options = list(_orders(blame, ref_lanes, gen_lanes))
    if ref.pointer is not None and gen.pointer is not None:
        wanted = terms.subst(ref.pointer, first) if first else ref.pointer
        for option in options:
            if terms.subst(blame.rename(gen.pointer), option) == wanted:
                return first, option
    return first, options[0] if options else {}


def _lanes(blame: Blame, effect: Effect) -> list[tuple[Term, int]]:
    """The lanes of an access, without those of extent one: symbol and extent."""
    shape = enumerate(effect.shape)
    return [(blame.terms.leaf("lane", dim, extent), extent) for dim, extent in shape if extent > 1]


def _orders(
    blame: Blame, ref: Sequence[tuple[Term, int]], gen: Sequence[tuple[Term, int]]
) -> Iterable[dict[Term, Term]]:
    """The ways to name the generated lanes as the reference's, extent by extent."""
    if len(ref) != len(gen) or len(ref) > 4:
        return
    for order in permutations(gen):
        if [extent for _, extent in order] == [extent for _, extent in ref]:
            yield {leaf: blame.terms.lane(new, extent) for new, (leaf, extent) in enumerate(order)}


def _nesting(loops: int) -> str:
    return {0: "in no loop", 1: "in one loop"}.get(loops, f"in {loops} loops")
