"""Memory order: pairs of accesses that the reference orders by tokens and the generated kernel does not."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tileir_diff.graph.kernel import Effect, Kernel
    from tileir_diff.graph.terms import Term
    from tileir_diff.match.effects import EffectMatch, EffectPair

WRITES = frozenset({"store", "atomic_rmw", "atomic_cas"})
FENCES = frozenset({"fence"})
ORDERED = frozenset({"acquire", "release", "acq_rel"})


def lost_orders(
    reference: Kernel, generated: Kernel, match: EffectMatch
) -> list[tuple[EffectPair, EffectPair]]:
    """Pairs (earlier, later) whose order is lost, where the accesses may touch the same element."""
    if _same_edges(reference, generated, match):
        return []
    ref_order, gen_order = reference.token_order(), generated.token_order()
    pairs = sorted((*match.pairs, *match.loads), key=lambda pair: pair.reference.effect.order)
    groups: dict[Any, list[EffectPair]] = {}
    synchronising: list[EffectPair] = []
    for pair in pairs:
        effect = pair.reference.effect
        if effect.kind in FENCES or effect.op.get("memory_ordering") in ORDERED:
            synchronising.append(pair)
        elif effect.kind in WRITES or effect.kind == "load":
            groups.setdefault(effect.base, []).append(pair)
    lost: list[tuple[EffectPair, EffectPair]] = []
    if synchronising:
        # an acquire, a release or a fence orders accesses to every array
        everything = [pair for group in groups.values() for pair in group] + synchronising
        everything.sort(key=lambda pair: pair.reference.effect.order)
        groups = {None: everything}
    anchors = {id(pair) for pair in synchronising}
    for group in groups.values():
        if not any(pair.reference.effect.kind in WRITES for pair in group) and not synchronising:
            continue
        for later in group:
            for earlier in group:
                if earlier is later or earlier.reference.effect.order > later.reference.effect.order:
                    continue
                a, b = earlier.reference.effect, later.reference.effect
                if not ({a.kind, b.kind} & (WRITES | FENCES)) and not {id(earlier), id(later)} & anchors:
                    continue
                if a.base != b.base and not {id(earlier), id(later)} & anchors:
                    continue
                if not ref_order[b.order] >> a.order & 1:
                    continue
                if gen_order[later.generated.effect.order] >> earlier.generated.effect.order & 1:
                    continue
                if _ordered_by_data(generated, earlier.generated.effect, later.generated.effect):
                    continue
                if a.base == b.base and _disjoint(reference, a, b):
                    continue
                lost.append((earlier, later))
    return lost


def _same_edges(reference: Kernel, generated: Kernel, match: EffectMatch) -> bool:
    """Whether the token edges of both sides are the same under the matching: then nothing can be lost."""
    if list(reference.token_carries) != list(generated.token_carries):
        return False
    partner = {
        pair.reference.effect.order: pair.generated.effect.order for pair in (*match.pairs, *match.loads)
    }

    def moved(items: frozenset[int]) -> set[int | None]:
        return {item if item < 0 else partner.get(item) for item in items}

    after = {effect.order: effect.after for effect in generated.effects}
    return all(
        effect.order in partner and moved(effect.after) <= after[partner[effect.order]]
        for effect in reference.effects
    ) and all(
        moved(items) <= generated.token_carries[marker] for marker, items in reference.token_carries.items()
    )


def _ordered_by_data(kernel: Kernel, earlier: Effect, later: Effect) -> bool:
    """Whether the later access needs a value that the earlier one loads."""
    if earlier.result is None:
        return False
    memory = _memory_nodes(kernel, earlier.result)
    work = [*later.values, *(t for t in (later.pointer, later.mask) if t is not None), later.guard]
    seen: set[Term] = set()
    while work:
        term = work.pop()
        if term in seen:
            continue
        if term in memory:
            return True
        seen.add(term)
        work.extend(kernel.terms.args[term])
    return False


def _memory_nodes(kernel: Kernel, term: Term) -> frozenset[Term]:
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
    """Whether two accesses of one block can never meet, by the range of the distance of their addresses."""
    terms = kernel.terms
    if a.pointer is None or b.pointer is None or a.loops != b.loops:
        return False
    mapping = {
        symbol: terms.atom(_other_lane(kernel, symbol))
        for symbol in terms.symbols[b.pointer]
        if terms.kind[symbol] == "lane"
    }
    distance = terms.sub(a.pointer, terms.subst(b.pointer, mapping))
    low, high = terms.range(distance)
    return (low is not None and low > 0) or (high is not None and high < 0)


def _other_lane(kernel: Kernel, lane: Term) -> Term:
    terms = kernel.terms
    dim, extent = terms.attr[lane]
    other = terms.leaf("lane", dim + 100, extent)
    terms.ranges[other] = (0, extent - 1)
    return other
