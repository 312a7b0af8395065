"""Which effect of the generated kernel is which effect of the reference."""

from __future__ import annotations

from dataclasses import dataclass

from tileir_diff.graph.kernel import Effect, Kernel
from tileir_diff.match.canonical import CanonicalEffect, aligned, canonical


@dataclass(slots=True)
class EffectPair:
    """Two effects taken as each other's; ``equal`` when their canonical forms are the same."""

    reference: CanonicalEffect
    generated: CanonicalEffect
    equal: bool


@dataclass(slots=True)
class EffectMatch:
    """All effects of both sides, paired or alone."""

    pairs: list[EffectPair]
    only_reference: list[CanonicalEffect]
    only_generated: list[CanonicalEffect]
    loads: list[EffectPair]
    lone_loads: tuple[list[CanonicalEffect], list[CanonicalEffect]]

    @property
    def score(self) -> tuple[int, int, int]:
        """Smaller is better: effects without a partner, unequal pairs, loads without a partner."""
        return (
            len(self.only_reference) + len(self.only_generated),
            sum(not pair.equal for pair in self.pairs),
            sum(not pair.equal for pair in self.loads) + len(self.lone_loads[0]) + len(self.lone_loads[1]),
        )


def match_effects(reference: Kernel, generated: Kernel) -> EffectMatch:
    """Pair stores, atomics, prints and asserts (the roots) and loads, each array by array, in order."""
    ref = [canonical(reference, effect) for effect in reference.effects if _matters(reference, effect)]
    gen = [canonical(generated, effect) for effect in generated.effects if _matters(generated, effect)]
    roots = _pair(
        reference, [e for e in ref if e.effect.kind != "load"], [e for e in gen if e.effect.kind != "load"]
    )
    loads = _pair(
        reference, [e for e in ref if e.effect.kind == "load"], [e for e in gen if e.effect.kind == "load"]
    )
    return EffectMatch(*roots, loads[0], (loads[1], loads[2]))


def _matters(kernel: Kernel, effect: Effect) -> bool:
    """Whether the effect can take place at all: not where its condition is false."""
    terms = kernel.terms
    if effect.guard == terms.false or effect.mask == terms.false:
        return False
    return not any(loop.trip is not None and terms.value(loop.trip) == 0 for loop in effect.loops)


def _pair(
    kernel: Kernel, ref: list[CanonicalEffect], gen: list[CanonicalEffect]
) -> tuple[list[EffectPair], list[CanonicalEffect], list[CanonicalEffect]]:
    terms = kernel.terms
    pairs: dict[int, EffectPair] = {}
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
            pairs[position] = EffectPair(item, gen[other], True)
            free.pop(other)
        else:
            waiting.append(position)
    for position in list(waiting):
        item = ref[position]
        for other in free:
            if _group(gen[other]) != _group(item):
                continue
            candidate = aligned(terms, item, gen[other])
            if candidate.key() == item.key():
                pairs[position] = EffectPair(item, candidate, True)
                free.pop(other)
                waiting.remove(position)
                break
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
                pairs[position] = EffectPair(item, aligned(terms, item, gen[best]), False)
                free.pop(best)
                waiting.remove(position)
    return (
        [pairs[position] for position in sorted(pairs)],
        [ref[position] for position in waiting],
        [gen[position] for position in free],
    )


def _group(item: CanonicalEffect) -> tuple[object, ...]:
    return (item.effect.kind, item.effect.base, item.effect.element)


def _likeness(ref: CanonicalEffect, gen: CanonicalEffect, level: int) -> int:
    """-1: not at this level. Level 0: same array, type, loops; 1: same array; 2: same type and shape; 3: same kind."""
    a, b = ref.effect, gen.effect
    if a.kind != b.kind and not {a.kind, b.kind} <= {"store", "atomic_rmw"}:
        return -1
    if level <= 1 and (a.base != b.base or a.kind != b.kind):
        return -1
    if level == 0 and (a.element != b.element or len(a.loops) != len(b.loops) or ref.extents != gen.extents):
        return -1
    if level == 2 and (a.element != b.element or ref.extents != gen.extents or a.kind != b.kind):
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
