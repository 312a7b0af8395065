"""Memory order: pairs of accesses that the reference orders by tokens and the generated kernel does not."""

from __future__ import annotations

from copy import copy
from typing import TYPE_CHECKING, Any, NamedTuple

from tileir_diff.graph.arrays import meet
from tileir_diff.graph.orders import TokenOrder
from tileir_diff.graph.values import is_used
from tileir_diff.graph.writes import apart
from tileir_diff.match.canonical import outward
from tileir_diff.match.effects import EffectPair
from tileir_diff.match.iterations import keep_apart

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from tileir_diff.dialect.ir import TileOp
    from tileir_diff.graph.kernel import Effect, Kernel, Loop
    from tileir_diff.graph.orders import Merge
    from tileir_diff.graph.terms import Term
    from tileir_diff.match.canonical import CanonicalEffect
    from tileir_diff.match.effects import EffectMatch

WRITES = frozenset({"store", "atomic_rmw", "atomic_cas"})
FENCES = frozenset({"fence"})
ORDERED = frozenset({"acquire", "release", "acq_rel"})


class Lost(NamedTuple):
    """Two accesses whose order is lost, and, where it is one, what hands on another token on each side.

    reversed  the generated side orders them the other way round
    """

    earlier: EffectPair
    later: EffectPair
    handed_on: tuple[TileOp, TileOp] | None = None
    reversed: bool = False


def lost_orders(reference: Kernel, generated: Kernel, match: EffectMatch) -> list[Lost]:
    """Accesses whose order is lost, where they may touch the same element.

    The two are the same pair where a loop no longer orders an access after itself in the iteration before.
    Of the orders that one other token costs only one is told: where it stands.
    """
    again = _read_again(reference, generated, match)
    pairs = [*match.pairs, *match.loads, *again]
    if not again and _same_edges(reference, generated, pairs):
        return []
    orders = _Orders(reference, generated)
    groups, anchors = _groups(pairs)
    lost = [
        Lost(earlier, later, reversed=orders.exchanged(earlier, later))
        for group in groups
        for later in group
        for earlier in group
        if _matters(earlier.reference.effect, later.reference.effect, anchors) and orders.lost(earlier, later)
    ]
    return _one_a_token(orders, _repairs(reference, generated, pairs), lost) if lost else []


def _read_again(reference: Kernel, generated: Kernel, match: EffectMatch) -> list[EffectPair]:
    """Loads that only the generated side makes, of what the reference reads once: each has its order too."""
    alone = [item for item in match.lone_loads[1] if is_used(item.effect.op)]
    if not alone:
        return []
    first: dict[frozenset[Term], CanonicalEffect] = {}
    for item in match.reference_loads:
        first.setdefault(_read(reference, item.effect), item)
    first.pop(frozenset(), None)
    found = [(first.get(_read(generated, item.effect)), item) for item in alone]
    return [EffectPair(item, again, True) for item, again in found if item is not None]


def _read(kernel: Kernel, effect: Effect) -> frozenset[Term]:
    """What a load reads and when, in a form without sides."""
    if effect.result is None:
        return frozenset()
    nodes = memory_nodes(kernel, effect.result)
    return frozenset(outward(kernel.terms, effect.loops, node) for node in nodes)


class _Repair(NamedTuple):
    """One token of the generated side as the reference has it: of an access, or of a merge."""

    extra: Mapping[int, frozenset[int]]
    merges: Mapping[int, Merge]
    handed_on: tuple[TileOp, TileOp] | None = None


def _repairs(reference: Kernel, generated: Kernel, pairs: Sequence[EffectPair]) -> list[_Repair]:
    """The tokens that differ, each taken from the reference."""
    partner = {pair.reference.effect.order: pair.generated.effect.order for pair in pairs}
    same_merges = reference.merges.keys() == generated.merges.keys()

    def ours(orders: Iterable[int]) -> frozenset[int]:
        known = frozenset(partner.get(order) if order >= 0 else order for order in orders)
        return frozenset(order for order in known if order is not None and (order >= 0 or same_merges))

    found: list[_Repair] = []
    for pair in sorted(pairs, key=lambda pair: pair.generated.effect.order):
        effect = pair.generated.effect
        wanted = ours(pair.reference.effect.after)
        if not wanted <= effect.after:
            found.append(_Repair({effect.order: wanted}, {}))
    same_places = all(order == other for order, other in partner.items())
    changed: dict[int, tuple[Merge, frozenset[tuple[frozenset[int], frozenset[int]]], Any]] = {}
    for number, merge in reference.merges.items() if same_merges else ():
        theirs = generated.merges[number]
        wanted = [ours(way.sources) for way in merge.ways]
        given = [way.sources for way in theirs.ways]
        if len(wanted) != len(given) and not same_places:
            continue
        base = theirs.ways if len(wanted) == len(given) else merge.ways
        ways = [way._replace(sources=each) for each, way in zip(wanted, base, strict=True)]
        ops = [[way.op for way in each.ways] for each in (merge, theirs)]
        handed_on = _handed_on(list(zip(ops[0], wanted, strict=True)), list(zip(ops[1], given, strict=True)))
        if handed_on is not None:
            differing = frozenset(pair for pair in zip(wanted, given, strict=False) if pair[0] != pair[1])
            changed[number] = theirs._replace(ways=tuple(ways)), differing, handed_on
    for number, (merge, differing, handed_on) in changed.items():
        # what a loop hands out may be what it carries: one token is both
        same = {
            other: each
            for other, (each, others, _) in changed.items()
            if each.loop is merge.loop and merge.head and others <= differing
        }
        found.append(_Repair({}, {**same, number: merge}, handed_on))
    return found


def _handed_on(
    ours: Sequence[tuple[TileOp | None, frozenset[int]]],
    theirs: Sequence[tuple[TileOp | None, frozenset[int]]],
) -> tuple[TileOp, TileOp] | None:
    """The first ops of both sides that hand on other tokens, op by op."""
    sides = [{op: [way[1] for way in side if way[0] is op] for op, _ in side} for side in (ours, theirs)]
    for (first, wanted), (second, given) in zip(*(side.items() for side in sides), strict=False):
        if wanted != given and first is not None and second is not None:
            return first, second
    return None


def _one_a_token(orders: _Orders, repairs: list[_Repair], lost: list[Lost]) -> list[Lost]:
    """One lost order for each token that brings some back, and all that no token does."""
    told: list[Lost] = []
    while lost and repairs:
        left = [[each for each in lost if orders.repaired(repair).lost(*each[:2])] for repair in repairs]
        best = min(range(len(repairs)), key=lambda index: len(left[index]))
        if len(left[best]) == len(lost):
            break
        back = [each for each in lost if each not in left[best]]
        here = [each for each in back if each.later.generated.effect.order in repairs[best].extra]
        first = (here or back)[0]
        told.append(first if first.reversed else first._replace(handed_on=repairs[best].handed_on))
        orders, lost = orders.repaired(repairs.pop(best)), left[best]
    return sorted(
        told + lost, key=lambda each: (each.later.reference.effect.order, each.earlier.reference.effect.order)
    )


def _groups(pairs: Sequence[EffectPair]) -> tuple[list[list[EffectPair]], frozenset[int]]:
    """Pairs whose order counts: by array, or all of them where something synchronises; and what does."""
    prints: list[EffectPair] = []
    touching: list[tuple[frozenset[Term], list[EffectPair]]] = []
    synchronising: list[EffectPair] = []
    for pair in sorted(pairs, key=lambda pair: pair.reference.effect.order):
        effect = pair.reference.effect
        if effect.kind in FENCES or effect.op.get("memory_ordering") in ORDERED:
            synchronising.append(pair)
        elif effect.kind == "print":
            prints.append(pair)
        elif effect.kind in WRITES or effect.kind == "load":
            touching = _joined(touching, effect.arrays, pair)
    groups = [prints, *(group for _, group in touching)]
    if not synchronising:
        return groups, frozenset()
    # an acquire, a release or a fence orders accesses to every array
    everything = [pair for group in groups for pair in group] + synchronising
    everything.sort(key=lambda pair: pair.reference.effect.order)
    return [everything], frozenset(pair.reference.effect.order for pair in synchronising)


def _joined(
    groups: list[tuple[frozenset[Term], list[EffectPair]]], arrays: frozenset[Term], pair: EffectPair
) -> list[tuple[frozenset[Term], list[EffectPair]]]:
    """The groups, by the arrays that they may touch, with one more access: it may join some into one."""
    met = [group for group in groups if meet(group[0], arrays)]
    if len(met) == 1 and arrays <= met[0][0]:
        met[0][1].append(pair)
        return groups
    pairs = sorted([each for _, group in met for each in group], key=lambda each: each.reference.effect.order)
    joined = (arrays.union(*(touched for touched, _ in met)), [*pairs, pair])
    return [*(group for group in groups if not meet(group[0], arrays)), joined]


def _matters(earlier: Effect, later: Effect, anchors: frozenset[int]) -> bool:
    """Whether the order of two accesses is seen: one writes to the array of the other, or synchronises."""
    if anchors & {earlier.order, later.order}:
        return True
    kinds = {earlier.kind, later.kind}
    if kinds == {"print"}:
        return True
    if kinds == {"load"} and earlier.is_root and later.is_root:
        return meet(earlier.arrays, later.arrays)  # the second must not see less than the first
    return bool(kinds & WRITES) and meet(earlier.arrays, later.arrays)


class _Orders:
    """The orders of both sides; the generated kernel's data orders accesses too.

    Within an iteration only from a load to what needs its value: a chain of tokens and data is no order that
    the reference asked for. From one iteration to the next it counts: front ends carry different tokens.
    """

    def __init__(self, reference: Kernel, generated: Kernel) -> None:
        self.kernels = reference, generated
        self.reference = TokenOrder(reference)
        self.data = _data_order(generated)
        self.extra: Mapping[int, frozenset[int]] = {}
        self.merges: Mapping[int, Merge] = {}
        self.generated = TokenOrder(generated)
        self.chained = TokenOrder(generated, self.data)

    def repaired(self, repair: _Repair) -> _Orders:
        """The same with one more token of the generated side as the reference has it."""
        new = copy(self)
        new.extra, new.merges = {**self.extra, **repair.extra}, {**self.merges, **repair.merges}
        nothing: frozenset[int] = frozenset()
        both = {order: needed | new.extra.get(order, nothing) for order, needed in self.data.items()}
        new.generated = TokenOrder(self.kernels[1], new.extra, new.merges)
        new.chained = TokenOrder(self.kernels[1], both, new.merges)
        return new

    def lost(self, earlier: EffectPair, later: EffectPair) -> bool:
        a, b = earlier.reference.effect, later.reference.effect
        c, d = earlier.generated.effect, later.generated.effect
        if (
            a.order < b.order
            and self.reference.now(a.order, b.order)
            and not self.generated.now(c.order, d.order)
            and c.order not in self.data[d.order]
            and not (a.base == b.base and _disjoint(self.kernels[0], a, b))
        ):
            return True
        if self._fused((a, b), (c, d)):
            return True
        return len(a.loops) == len(c.loops) and any(
            self._lost_between(outer, inner, (a, b), (c, d))
            for outer, inner in zip(a.loops, c.loops, strict=True)
        )

    def exchanged(self, earlier: EffectPair, later: EffectPair) -> bool:
        """Whether the generated side orders two accesses, which the reference orders, the other way round."""
        a, b = earlier.reference.effect, later.reference.effect
        c, d = earlier.generated.effect, later.generated.effect
        return c is not d and self.reference.now(a.order, b.order) and self.generated.now(d.order, c.order)

    def _fused(self, pair: tuple[Effect, Effect], generated: tuple[Effect, Effect]) -> bool:
        """Whether a loop that comes after another is one with it: an iteration of the second is then earlier
        than later ones of the first."""
        a, b = pair
        depth = next((k for k, (x, y) in enumerate(zip(a.loops, b.loops, strict=False)) if x is not y), None)
        earlier, later = generated
        if depth is None or a.order > b.order or min(len(earlier.loops), len(later.loops)) <= depth:
            return False
        loop = earlier.loops[depth]
        if later.loops[depth] is not loop or not self.reference.now(a.order, b.order):
            return False
        kernel = self.kernels[1]
        apart = keep_apart(kernel, later, earlier, loop) if earlier.base == later.base else None
        if apart == "assumed":
            kernel.assume(f"line {loop.op.span.line}: the iterations of the loop access different elements")
        return apart is None

    def _lost_between(
        self, loop: Loop, partner: Loop, pair: tuple[Effect, Effect], generated: tuple[Effect, Effect]
    ) -> bool:
        """Whether the order from one iteration to the next is lost, where both touch the same elements."""
        a, b = pair
        if a.order > b.order and loop not in b.loops:
            return False
        earlier, later = generated
        if not any(
            self.reference.carried(loop, a.order, b.order, far=far)
            and not self.chained.carried(partner, earlier.order, later.order, far=far)
            for far in (False, True)
        ):
            return False
        apart = keep_apart(self.kernels[0], a, b, loop) if a.base == b.base and loop in b.loops else None
        if apart == "assumed":
            line = partner.op.span.line
            self.kernels[1].assume(f"line {line}: the iterations of the loop access different elements")
        return apart is None


def _data_order(kernel: Kernel) -> dict[int, frozenset[int]]:
    """For each effect, the loads and atomics whose values it needs."""
    producers: dict[Term, int] = {}
    for effect in kernel.effects:
        if effect.result is not None:
            producers.update(dict.fromkeys(memory_nodes(kernel, effect.result), effect.order))
    found: dict[int, frozenset[int]] = {}
    for effect in kernel.effects:
        needed: set[int] = set()
        work = [*effect.values, *(t for t in (effect.pointer, effect.mask) if t is not None), effect.guard]
        seen: set[Term] = set()
        while work:
            term = work.pop()
            if term in seen:
                continue
            seen.add(term)
            if term in producers and producers[term] < effect.order:
                needed.add(producers[term])
            work.extend(kernel.terms.args[term])
        found[effect.order] = frozenset(needed)
    return found


def _same_edges(reference: Kernel, generated: Kernel, pairs: Sequence[EffectPair]) -> bool:
    """Whether the token edges of both sides are the same under the matching: then nothing can be lost."""
    partner = {pair.reference.effect.order: pair.generated.effect.order for pair in pairs}
    if (
        not len(partner) == len(pairs) == len(reference.effects)
        or reference.merges.keys() != generated.merges.keys()
    ):
        return False

    def kept(items: Iterable[int], others: Iterable[int]) -> bool:
        return {item if item < 0 else partner[item] for item in items} <= set(others)

    after = {effect.order: effect.after for effect in generated.effects}
    return all(
        effect.order in partner and kept(effect.after, after[partner[effect.order]])
        for effect in reference.effects
    ) and all(
        _same_merge(merge, generated.merges[number], kept) for number, merge in reference.merges.items()
    )


def _same_merge(
    reference: Merge, generated: Merge, kept: Callable[[Iterable[int], Iterable[int]], bool]
) -> bool:
    return len(reference.ways) == len(generated.ways) and all(
        kept(a.sources, b.sources) and kept(a.absent, b.absent) and len(a.absent) == len(b.absent)
        for a, b in zip(reference.ways, generated.ways, strict=True)
    )


def memory_nodes(kernel: Kernel, term: Term) -> frozenset[Term]:
    """What a loaded value, which may be masked, was before."""
    terms = kernel.terms
    found: set[Term] = set()
    work = [term]
    while work:
        node = work.pop()
        if terms.kind[node] in ("mem", "atomic"):
            found.add(node)
        elif terms.kind[node] in ("poly", "ite"):
            work.extend(terms.args[node])
    return frozenset(found)


def _disjoint(kernel: Kernel, a: Effect, b: Effect) -> bool:
    """Whether two accesses of one block can never meet."""
    terms = kernel.terms
    if a.pointer is None or b.pointer is None or a.loops != b.loops:
        return False
    return apart(terms, a.pointer, b.pointer)
