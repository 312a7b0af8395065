"""Which effect of the generated kernel is which effect of the reference."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tileir_diff.graph.carries import depth_iteration
from tileir_diff.match.canonical import CanonicalEffect, aligned, canonical, masked_trips
from tileir_diff.match.joined import joined
from tileir_diff.match.obligations import host_obligations

if TYPE_CHECKING:
    from collections.abc import Callable

    from tileir_diff.graph.kernel import Effect, Kernel
    from tileir_diff.graph.terms import Term, Terms


@dataclass(slots=True)
class EffectPair:
    """Two effects taken as each other's; ``equal`` when they do the same, given ``obligations``.

    Of two that are not equal, what differs is told as it is under the obligations.
    """

    reference: CanonicalEffect
    generated: CanonicalEffect
    equal: bool
    given: tuple[Term, ...] = ()
    """Predicates that are taken to hold, since the host keeps the obligations."""
    obligations: tuple[Term, ...] = ()
    """Predicates over block indices and sizes that only the host can guarantee."""
    whole: bool = True
    """Whether each is all of the other; not where several stores of one side are one of the other."""


@dataclass(slots=True)
class EffectMatch:
    """All effects of both sides, paired or alone."""

    pairs: list[EffectPair]
    only_reference: list[CanonicalEffect]
    only_generated: list[CanonicalEffect]
    loads: list[EffectPair]
    """Weak loads, as are ``lone_loads``."""
    lone_loads: tuple[list[CanonicalEffect], list[CanonicalEffect]]
    together: list[EffectPair]
    """An effect, and several of the other side that together are at its place; they stand above too."""

    @property
    def reference_loads(self) -> list[CanonicalEffect]:
        """All loads of the reference."""
        paired = [pair.reference for pair in (*self.loads, *self.pairs)]
        every = (*paired, *self.lone_loads[0], *self.only_reference)
        return [item for item in every if item.effect.kind == "load"]

    @property
    def apart(self) -> int:
        """How many pairs are not at one place, as they are told."""
        pairs = (*self.pairs, *self.loads)
        return sum(pair.reference.pointer != pair.generated.pointer for pair in pairs if not pair.equal)

    @property
    def score(self) -> tuple[int, int, int]:
        """Smaller is better: effects without a partner, unequal pairs, loads without a partner."""
        return (
            len(self.only_reference) + len(self.only_generated),
            sum(not pair.equal for pair in self.pairs),
            sum(not pair.equal for pair in self.loads) + len(self.lone_loads[0]) + len(self.lone_loads[1]),
        )


def match_effects(
    reference: Kernel,
    generated: Kernel,
    sizes: frozenset[Term] | None = None,
    lone_sizes: frozenset[Term] = frozenset(),
) -> EffectMatch:
    """Pair the roots (all but weak loads) and weak loads, each array by array, in order.

    ``sizes``: the symbols that are sizes of arrays; ``lone_sizes``: those that the generated side has no
    parameter for. When given, the two sides come from different front ends, and a condition on block indices
    alone, or on the sizes of packed arrays, may be the host's business on one side.
    """
    ref = [canonical(reference, effect) for effect in reference.effects if _matters(reference, effect)]
    gen = [canonical(generated, effect) for effect in generated.effects if _matters(generated, effect)]
    writes, reads = _parted(gen, lambda item: item.effect.kind != "load")
    others = _pair(reference, [e for e in ref if e.effect.kind != "load"], writes, reads)
    loads = _pair(reference, [e for e in ref if e.effect.kind == "load"], reads, reads)
    # a load that synchronises may have become a weak one: all loads are paired together
    pairs, weak_pairs = _parted(loads[0], lambda p: p.reference.effect.is_root or p.generated.effect.is_root)
    missing, weak_missing = _parted(loads[1], lambda item: item.effect.is_root)
    extra, weak_extra = _parted(loads[2], lambda item: item.effect.is_root)
    roots = sorted([*others[0], *pairs], key=lambda pair: pair.reference.effect.order)
    if sizes is not None:
        for pair in roots:
            if not pair.equal:
                conditions = host_obligations(reference, pair, sizes, lone_sizes)
                pair.given, pair.obligations, pair.equal = conditions
    lone = [*others[1], *missing], [*others[2], *extra]
    return EffectMatch(roots, *lone, weak_pairs, (weak_missing, weak_extra), [*others[3], *loads[3]])


def _parted(items: list[Any], test: Callable[[Any], bool]) -> tuple[list[Any], list[Any]]:
    """Those that pass a test, and the others."""
    return [item for item in items if test(item)], [item for item in items if not test(item)]


def _matters(kernel: Kernel, effect: Effect) -> bool:
    """Whether the effect can take place at all: not where its condition is false."""
    terms = kernel.terms
    if effect.guard == terms.false or effect.mask == terms.false:
        return False
    trips = [terms.range(loop.trip)[1] for loop in effect.loops if loop.trip is not None]
    return not any(most is not None and most <= 0 for most in trips)


def _pair(
    kernel: Kernel, ref: list[CanonicalEffect], gen: list[CanonicalEffect], reads: list[CanonicalEffect]
) -> tuple[list[EffectPair], list[CanonicalEffect], list[CanonicalEffect], list[EffectPair]]:
    """Pairs, what is left on either side, and what is at one place if several are taken together.

    ``reads``: all loads of the generated side.
    """
    terms = kernel.terms
    pairs: list[tuple[int, EffectPair]] = []
    free = dict.fromkeys(range(len(gen)))
    waiting: list[int] = []
    # equal ones first, in order
    index_of: dict[object, list[int]] = {}
    for position, item in enumerate(gen):
        index_of.setdefault(item.key(), []).append(position)
    for position, item in enumerate(ref):
        same = index_of.get(item.key())
        if same:
            other = same.pop(0)
            pairs.append((position, EffectPair(item, gen[other], True)))
            free.pop(other)
        else:
            waiting.append(position)
    for position in list(waiting):
        item = ref[position]
        for other in free:
            if _group(gen[other]) != _group(item):
                continue
            candidate = aligned(terms, item, gen[other])
            if candidate.key() == item.key() or (
                _where_masked(terms, item, candidate)
                and not _reads_in_more_trips(terms, item, candidate, reads)
            ):
                pairs.append((position, EffectPair(item, candidate, True)))
                free.pop(other)
                waiting.remove(position)
                break
    whole, together = _joined_pairs(terms, ref, gen, waiting, free)
    pairs += whole
    for level in range(4):
        for position in list(waiting):
            item = ref[position]
            best: int | None = None
            best_score = -1
            for other in free:
                score = _likeness(item, gen[other], level)
                if score > best_score:
                    best, best_score = other, score
            if best is not None and best_score >= 0:
                pairs.append((position, EffectPair(item, aligned(terms, item, gen[best]), False)))
                free.pop(best)
                waiting.remove(position)
    return (
        [pair for _, pair in sorted(pairs, key=lambda each: each[0])],
        [ref[position] for position in waiting],
        [gen[position] for position in free],
        together,
    )


def _where_masked(terms: Terms, ref: CanonicalEffect, gen: CanonicalEffect) -> bool:
    """Whether two effects are one but for iterations in which the masks of both leave nothing to do."""
    if ref.trips == gen.trips or len(ref.trips) != len(gen.trips) or ref.condition != gen.condition:
        return False
    return masked_trips(terms, ref).key() == masked_trips(terms, gen).key()


def _reads_in_more_trips(
    terms: Terms, ref: CanonicalEffect, gen: CanonicalEffect, reads: list[CanonicalEffect]
) -> bool:
    """Whether a load in the loops around an effect goes on where the reference makes no trip any more.

    Not one whose mask, too, leaves nothing to do there, and not one of the same place in each trip.
    """
    for depth, (ours, theirs) in enumerate(zip(ref.trips, gen.trips, strict=True)):
        loop, iteration = gen.effect.loops[depth], depth_iteration(terms, depth)
        following = terms.add(terms.atom(iteration), terms.one)
        within, given = (terms.le0(terms.sub(following, trips)) for trips in (ours, theirs))
        for load in reads if ours != theirs else ():
            inside = len(load.trips) > depth and load.effect.loops[depth] is loop
            moves = load.pointer is None or iteration in terms.symbols[load.pointer]
            if inside and moves and not terms.implies((*terms.conjuncts(load.condition), given), within):
                return True
    return False


def _joined_pairs(
    terms: Terms,
    ref: list[CanonicalEffect],
    gen: list[CanonicalEffect],
    waiting: list[int],
    free: dict[int, None],
) -> tuple[list[tuple[int, EffectPair]], list[EffectPair]]:
    """Pairs of one store with the stores in branches that together are it; takes them from those left.

    And pairs of one with those that together are at its place, which are not taken.
    """
    pairs: list[tuple[int, EffectPair]] = []
    together: list[EffectPair] = []
    for parts, whole in joined(terms, ref, waiting):
        other = next((each for each in free if gen[each].key() == whole.key()), None)
        if other is not None:
            free.pop(other)
            for position in parts:
                waiting.remove(position)
                pairs.append((position, EffectPair(ref[position], gen[other], True, whole=False)))
            continue
        near = [gen[each] for each in free if _at_one_place(gen[each], whole)]
        together.extend(EffectPair(whole, item, False, whole=False) for item in near)
    for parts, whole in joined(terms, gen, free):
        position = next((each for each in waiting if ref[each].key() == whole.key()), None)
        if position is not None:
            waiting.remove(position)
            for other in parts:
                free.pop(other)
                pairs.append((position, EffectPair(ref[position], gen[other], True, whole=False)))
            continue
        near = [ref[each] for each in waiting if _at_one_place(ref[each], whole)]
        together.extend(EffectPair(item, whole, False, whole=False) for item in near)
    return pairs, together


def _at_one_place(one: CanonicalEffect, other: CanonicalEffect) -> bool:
    return _group(one) == _group(other) and (one.pointer, one.extents) == (other.pointer, other.extents)


def describe(effect: Effect) -> str:
    """An effect in short: "store of 128x64xf32", "acquire load of i32"."""
    shape = "x".join(str(extent) for extent in (*effect.shape, effect.element))
    order = f"{effect.op.get('memory_ordering')} " if effect.kind == "load" and effect.is_root else ""
    return f"{order}{effect.kind.replace('_', ' ')} of {shape}".strip()


def _group(item: CanonicalEffect) -> tuple[object, ...]:
    return (item.effect.kind, item.effect.base, item.element)


def _likeness(ref: CanonicalEffect, gen: CanonicalEffect, level: int) -> int:
    """How alike two effects are; -1: not at this level.

    Level 0: same array, type and loops; 1: same array; 2: same type and shape; 3: same array, another kind.
    """
    a, b = ref.effect, gen.effect
    if a.kind != b.kind and not {a.kind, b.kind} <= {"store", "atomic_rmw"}:
        return -1
    if level <= 1 and (a.base != b.base or a.kind != b.kind):
        return -1
    if level == 0 and (
        ref.element != gen.element or len(a.loops) != len(b.loops) or ref.extents != gen.extents
    ):
        return -1
    if level >= 2 and a.is_root != b.is_root:
        return -1  # of other arrays, one only reads and one synchronises
    if level == 2 and (ref.element != gen.element or ref.extents != gen.extents or a.kind != b.kind):
        return -1
    if level == 3 and (a.kind == "load" or a.base != b.base):
        return -1
    score = 1
    score += 8 * (ref.pointer == gen.pointer)
    score += 4 * (ref.condition == gen.condition)
    score += 4 * (ref.values == gen.values and bool(ref.values))
    score += 2 * (ref.trips == gen.trips)
    score += ref.extents == gen.extents
    return score
