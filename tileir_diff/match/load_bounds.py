"""Loads of the same elements that the generated side makes where the reference makes none.

The values of loads are compared where they are used; what a load reads without using it shows only here.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from tileir_diff.graph.values import is_used
from tileir_diff.match.blame_masks import mask
from tileir_diff.match.canonical import aligned, outward
from tileir_diff.match.effects import EffectPair, describe
from tileir_diff.match.laid_over import laid_over
from tileir_diff.match.obligations import block_only, has_undetermined, lost_conditions, tile_indices
from tileir_diff.match.tokens import memory_nodes

if TYPE_CHECKING:
    from collections.abc import Callable

    from tileir_diff.graph.kernel import Kernel, Loop
    from tileir_diff.graph.terms import Term, Terms
    from tileir_diff.match.blame import Blame
    from tileir_diff.match.canonical import CanonicalEffect
    from tileir_diff.match.model import Difference
    from tileir_diff.match.search import Attempt


MAX_WAYS = 32
"""How many addresses of one load are looked at."""


def load_bounds(blame: Blame, attempt: Attempt, oblige: Callable[[Term], object]) -> list[Difference]:
    """Lanes that only the generated side reads, and addresses that only it leaves undetermined.

    ``oblige`` is told the conditions on block indices alone, which are the launch's business.
    """
    return beyond(blame, attempt, attempt.match.loads, oblige)


def read_again(blame: Blame, attempt: Attempt, oblige: Callable[[Term], object]) -> list[Difference]:
    """As ``load_bounds``, for loads that only the generated side makes, where the reference loads once.

    Where it has several loads of the address, one that reads as much is enough, or all together. Loads that
    nothing uses are hints.
    """
    terms = blame.terms
    loads = attempt.match.reference_loads
    again: list[EffectPair] = []
    for item in attempt.match.lone_loads[1]:
        if not is_used(item.effect.op):
            continue
        pairs = [pair for load in loads if (pair := _at_one_address(terms, load, item)) is not None]
        guards = terms.conjuncts(item.condition)
        together = terms.disjunction(pair.reference.condition for pair in pairs)
        if all(lost_conditions(terms, pair) for pair in pairs) and not terms.implies(guards, together):
            again.extend(pairs[:1])
    return beyond(blame, attempt, again, oblige)


def before_loops(blame: Blame, attempt: Attempt, oblige: Callable[[Term], object]) -> list[Difference]:
    """Loads that only the generated side makes before a loop: in no trip the reference reads nothing."""
    terms = blame.terms
    loads = attempt.match.reference_loads
    items = [pair.generated for pair in attempt.match.loads if not pair.equal]
    items += [item for item in attempt.match.lone_loads[1] if is_used(item.effect.op)]
    found: list[Difference] = []
    for item in items:
        pairs = [pair for load in loads if (pair := _at_one_address(terms, load, item, inside=True))]
        read = [_read_inside(terms, pair) for pair in pairs]
        guards = terms.conjuncts(item.condition)
        here = any(pair.reference.trips == item.trips for pair in pairs)
        if here or not pairs or terms.implies(guards, terms.disjunction(read)):
            continue
        lost = [atom for atom in terms.conjuncts(read[0]) if not terms.implies(guards, atom)]
        if within_own_view(terms, pairs[0], lost):
            continue
        hosts = [] if attempt.one_front_end else [a for a in lost if block_only(attempt.reference, a)]
        for atom in hosts:
            oblige(atom)
        if len(hosts) < len(lost):
            kept = terms.conjunction(atom for atom in terms.conjuncts(read[0]) if atom not in hosts)
            difference = mask(blame, kept, item.condition, pairs[0].reference.effect.op, item.effect.op)
            found.append(replace(difference, note="reads before the loop, also where it makes no trip"))
    return found


def within_own_view(terms: Terms, pair: EffectPair, lost: list[Term]) -> bool:
    """Whether a load stays inside its array though it lacks the ``lost`` conditions of the reference's.

    Both are of one view, which ends them itself, and the tile's index has nothing to do with what is lost: a
    load of another row would leave the view's index space, which no bounds check makes good.
    """
    ref, gen = pair.reference.effect, pair.generated.effect
    views = bool(ref.extents) and (ref.family, ref.extents, ref.strides) == (
        gen.family,
        gen.extents,
        gen.strides,
    )
    if not views or gen.trusted or gen.op.get("inbounds"):
        return False
    inside = terms.conjuncts(terms.true if ref.mask is None else ref.mask)
    index = [outward(terms, gen.loops, coordinate) for coordinate in gen.coordinates]
    used = frozenset(symbol for coordinate in index for symbol in terms.symbols[coordinate])
    return all(atom not in inside and used.isdisjoint(terms.symbols[atom]) for atom in lost)


def _read_inside(terms: Terms, pair: EffectPair) -> Term:
    """Where the reference reads: the loops that the generated load stands before make a trip."""
    trips = pair.reference.trips[len(pair.generated.trips) :]
    counted = [trip for trip in trips if terms.kind[trip] == "poly"]
    entered = (terms.le0(terms.sub(terms.one, trip)) for trip in counted)
    return terms.conjunction((pair.reference.condition, *entered))


def other_lanes(
    blame: Blame, attempt: Attempt, oblige: Callable[[Term], object]
) -> tuple[list[Difference], list[str]]:
    """Loads by pointers of a tile of another shape, where the reference masks each load of the array.

    Where each of their lanes is one of the reference's, as ``load_bounds`` for these. Elsewhere what a mask
    of their own keeps in bounds is not compared; without one they read what the reference does not.
    """
    terms = blame.terms
    items = [pair.generated for pair in attempt.match.loads if not pair.equal]
    items += [item for item in attempt.match.lone_loads[1] if is_used(item.effect.op)]
    found: list[Difference] = []
    unknown: list[str] = []
    for item in items:
        loads = [load for load in attempt.match.reference_loads if load.effect.base == item.effect.base]
        at_once = any(load.extents == item.extents for load in loads)
        matched = any(_at_one_address(terms, load, item) is not None for load in loads)
        whole = None if matched else laid_over(terms, loads, item)
        if whole is not None:
            found.extend(beyond(blame, attempt, [EffectPair(whole, item, False)], oblige))
            continue
        own = (
            item.pointer is not None
            and terms.kind[item.pointer] == "poly"
            and _over_lanes(terms, item.pointer)
        )
        if at_once or not own or item.effect.family != "pointer":
            continue
        if not loads or not all(_over_lanes(terms, load.condition) for load in loads):
            continue
        if _over_lanes(terms, item.condition):
            line = item.effect.op.span.line
            unknown.append(
                f"whether what the load of line {line} reads lies in the array: its lanes are others"
            )
            continue
        ops = loads[0].effect.op, item.effect.op
        difference = mask(blame, loads[0].condition, item.condition, *ops)
        found.append(replace(difference, note="reads a tile of another shape, whether or not all is used"))
    return found, unknown


def _over_lanes(terms: Terms, term: Term) -> bool:
    """Whether a term is another one for each lane."""
    return any(terms.kind[symbol] in ("lane", "bound") for symbol in terms.symbols[term])


def elsewhere(blame: Blame, attempt: Attempt) -> list[Difference]:
    """Loads of the generated side where the reference reads nothing, though no result depends on them.

    A ``select`` chooses the other value, as the facts say; the compiler may not know, and reads all the same.
    Loads that nothing uses at all are hints.
    """
    lone = [item for item in attempt.match.lone_loads[1] if is_used(item.effect.op)]
    if not lone:
        return []
    terms = blame.terms
    loads = attempt.match.reference_loads
    alive = _read(attempt.generated)
    return [
        blame.make(
            "memory-family/extra",
            None,
            item.effect.op,
            "nothing",
            describe(item.effect),
            status="EXTRA",
            impact="bounds",
            note="reads where the reference reads nothing; the value has no influence",
        )
        for item in lone
        if item.effect.result is not None
        and alive.isdisjoint(
            _place(terms, node) for node in memory_nodes(attempt.generated, item.effect.result)
        )
        and all(_at_one_address(terms, load, item, inside=True) is None for load in loads)
        and laid_over(terms, loads, item) is None
    ]


def _read(kernel: Kernel) -> frozenset[tuple[object, Term]]:
    """The places in memory that an effect depends on, or the loops around it or behind its values."""
    terms = kernel.terms
    work: list[Term] = []
    loops: dict[int, Loop] = {}
    for effect in kernel.effects:
        here = effect.condition(terms)
        fields = (effect.pointer, *effect.values)
        work.append(here)
        work.extend(terms.under(term, terms.conjuncts(here)) for term in fields if term is not None)
        if effect.is_root:
            loops.update((loop.uid, loop) for loop in effect.loops)
    waiting = list(loops.values())
    seen: set[Term] = set()
    while work or waiting:
        if waiting:
            loop = waiting.pop()
            fields = (loop.lower, loop.step, loop.trip, loop.exit, *(carry.next for carry in loop.carries))
            work.extend(term for term in fields if term is not None)
            continue
        node = work.pop()
        if node in seen:
            continue
        seen.add(node)
        work.extend(terms.args[node])
        behind = kernel.loop_results.get(node)
        if behind is not None and behind[0].uid not in loops:
            loops[behind[0].uid] = behind[0]
            waiting.append(behind[0])
    return frozenset(_place(terms, node) for node in seen if terms.kind[node] in ("mem", "atomic"))


def _place(terms: Terms, memory: Term) -> tuple[object, Term]:
    """Where the first lane is read: shape ops name the lanes otherwise."""
    pointer = terms.args[memory][0]
    lanes = {
        symbol: terms.zero for symbol in terms.symbols[pointer] if terms.kind[symbol] in ("lane", "bound")
    }
    return terms.attr[memory], terms.subst(pointer, lanes)


def beyond(
    blame: Blame, attempt: Attempt, loads: list[EffectPair], oblige: Callable[[Term], object]
) -> list[Difference]:
    """As ``load_bounds``, for some loads."""
    accepted = frozenset(atom for pair in attempt.match.pairs for atom in pair.obligations)
    found: list[Difference] = []
    for pair in loads:
        ref, gen = pair.reference, pair.generated
        if pair.equal or ref.trips != gen.trips or ref.pointer is None or gen.pointer is None:
            continue
        if _same_address(blame.terms, pair):
            lost = lost_conditions(blame.terms, pair)
            if within_own_view(blame.terms, pair, lost):
                continue
            if not attempt.one_front_end:
                tiles = tile_indices(blame.terms, pair)
                for atom in lost:
                    if block_only(attempt.reference, atom, tiles):
                        oblige(atom)
                lost = [a for a in lost if a not in accepted and not block_only(attempt.reference, a, tiles)]
            lost = [atom for atom in lost if not _kept_inside(blame.terms, pair, atom, oblige)]
            if lost:
                found.append(_unmasked(blame, pair, lost))
        elif has_undetermined(blame.terms, (gen.pointer,)) and not has_undetermined(
            blame.terms, (ref.pointer,)
        ):
            found.extend(_unpadded(blame, pair))
        elif gen.pointer in _ways(blame.terms, ref.pointer):
            causes = blame.values(ref.pointer, gen.pointer, ref.effect.op, gen.effect.op)
            note = "the reference keeps the address of this load in bounds, whether or not the value is used"
            found.extend(replace(cause, impact="bounds", note=note) for cause in causes)
    return found


def _kept_inside(terms: Terms, pair: EffectPair, bound: Term, oblige: Callable[[Term], object]) -> bool:
    """Whether the generated address is the reference's, but for an index that is kept below its bound.

    ``oblige`` is told that the array is not empty, where that index would be negative in one that is.
    """
    wanted, given = pair.reference.pointer, pair.generated.pointer
    if terms.kind[bound] != "le" or wanted is None or given is None:
        return False
    for (extreme, *more), factor in ((mono, factor) for mono, factor in terms.items(given) if mono):
        if more or terms.kind[extreme] != "min":
            continue
        index = terms.atom(extreme)
        rest = terms.sub(given, terms.scale(index, factor))
        for arm in terms.args[extreme]:
            kept = terms.le0(terms.add(terms.args[bound][0], terms.sub(index, arm)))
            if terms.add(rest, terms.scale(arm, factor)) != wanted or kept != terms.true:
                continue
            begins = terms.le0(terms.scale(index, -1))
            if begins != terms.true and any(terms.kind[s] != "arg" for s in terms.symbols[begins]):
                continue
            if begins == terms.false:
                continue
            if begins != terms.true:
                oblige(begins)
            return True
    return False


def _ways(terms: Terms, pointer: Term) -> set[Term]:
    """The addresses that a minimum, a maximum or a selection in the address of a load chooses from."""
    ways: set[Term] = set()
    work = [pointer]
    while work and len(ways) < MAX_WAYS:
        term = work.pop()
        for mono, factor in terms.items(term):
            atom = mono[0] if len(mono) == 1 else None
            if atom is None or terms.kind[atom] not in ("min", "max", "ite"):
                continue
            rest = terms.sub(term, terms.scale(terms.atom(atom), factor))
            arms = terms.args[atom][terms.kind[atom] == "ite" :]
            work.extend(terms.add(rest, terms.scale(arm, factor)) for arm in arms)
        ways.add(term)
    return ways - {pointer}


def _at_one_address(
    terms: Terms, ref: CanonicalEffect, gen: CanonicalEffect, *, inside: bool = False
) -> EffectPair | None:
    """The two as a pair, if both read at one address; ``inside``: the reference's may be in further loops."""
    a, b = ref.effect, gen.effect
    trips = ref.trips[: len(gen.trips)] if inside else ref.trips
    if (a.base, ref.element, trips) != (b.base, gen.element, gen.trips):
        return None
    pair = EffectPair(ref, aligned(terms, ref, gen), False)
    return pair if ref.extents == pair.generated.extents and _same_address(terms, pair) else None


def _same_address(terms: Terms, pair: EffectPair) -> bool:
    """Whether both read at one address wherever both read."""
    a, b = pair.reference.pointer, pair.generated.pointer
    if a is None or b is None or a == b:
        return a == b
    both = terms.conjuncts(terms.conjunction((pair.reference.condition, pair.generated.condition)))
    return terms.under(a, both) == terms.under(b, both)


def _unmasked(blame: Blame, pair: EffectPair, lost: list[Term]) -> Difference:
    """Two masks, without the parts of the reference's that are the launch's business."""
    terms = blame.terms
    ref, gen = pair.reference, pair.generated
    settled = [atom for atom in lost_conditions(terms, pair) if atom not in lost]
    kept = terms.conjunction(atom for atom in terms.conjuncts(ref.condition) if atom not in settled)
    where = "outside the array" if ref.pointer == gen.pointer else "where the reference reads nothing"
    difference = mask(blame, kept, gen.condition, ref.effect.op, gen.effect.op)
    return replace(difference, note=f"reads {where}, whether or not the value is used")


def _unpadded(blame: Blame, pair: EffectPair) -> list[Difference]:
    """The load of the index whose padding is missing, else the load that uses it."""
    ref, gen = pair.reference, pair.generated
    assert ref.pointer is not None
    assert gen.pointer is not None
    ops = ref.effect.op, gen.effect.op
    causes = [d for d in blame.values(ref.pointer, gen.pointer, *ops) if d.rule == "padding/missing"]
    words = "an address that is determined", "an address from undetermined lanes"
    causes = causes or [blame.make("padding/missing", *ops, *words, status="MISSING", impact="bounds")]
    return [
        replace(cause, note="the address of a load comes from it, so it may read anywhere")
        for cause in causes
    ]
