"""Which effect of the generated kernel is which effect of the reference."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tileir_diff.match.canonical import CanonicalEffect, aligned, canonical
from tileir_diff.match.joined import joined

if TYPE_CHECKING:
    from tileir_diff.graph.kernel import Effect, Kernel
    from tileir_diff.graph.terms import Term, Terms


@dataclass(slots=True)
class EffectPair:
    """Two effects taken as each other's; ``equal`` when they do the same, given ``obligations``."""

    reference: CanonicalEffect
    generated: CanonicalEffect
    equal: bool
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
    lone_loads: tuple[list[CanonicalEffect], list[CanonicalEffect]]

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
    """Pair stores, atomics, prints and asserts (the roots) and loads, each array by array, in order.

    ``sizes``: the symbols that are sizes of arrays; ``lone_sizes``: those that the generated side has no
    parameter for. When given, the two sides come from different front ends, and a condition on block indices
    alone, or on the sizes of packed arrays, may be the host's business on one side.
    """
    ref = [canonical(reference, effect) for effect in reference.effects if _matters(reference, effect)]
    gen = [canonical(generated, effect) for effect in generated.effects if _matters(generated, effect)]
    roots = _pair(
        reference, [e for e in ref if e.effect.kind != "load"], [e for e in gen if e.effect.kind != "load"]
    )
    loads = _pair(
        reference, [e for e in ref if e.effect.kind == "load"], [e for e in gen if e.effect.kind == "load"]
    )
    if sizes is not None:
        for pair in roots[0]:
            if not pair.equal:
                obligations = host_obligations(reference, pair, sizes, lone_sizes)
                if obligations is not None:
                    pair.equal, pair.obligations = True, obligations
    return EffectMatch(*roots, loads[0], (loads[1], loads[2]))


def host_obligations(
    kernel: Kernel, pair: EffectPair, sizes: frozenset[Term], lone_sizes: frozenset[Term]
) -> tuple[Term, ...] | None:
    """The predicates under which both effects do the same, if they are about the launch only; else None."""
    terms = kernel.terms
    ref, gen = pair.reference, pair.generated
    if ref.trips != gen.trips or ref.extents != gen.extents or ref.effect.kind != gen.effect.kind:
        return None
    if ref.key()[7:] != gen.key()[7:] or ref.effect.element != gen.effect.element:
        return None
    ref_atoms, gen_atoms = terms.conjuncts(ref.condition), terms.conjuncts(gen.condition)
    lost = [atom for atom in ref_atoms if not terms.implies(gen_atoms, atom)]
    added = [atom for atom in gen_atoms if not terms.implies(ref_atoms, atom)]
    unmasked = not any(_has_lane(kernel, x) for x in ref_atoms)
    assumed: dict[Term, None] = {}
    for atom in (*lost, *added):
        rivals = [
            x for x in (gen_atoms if atom in lost else ref_atoms) if terms.symbols[x] & terms.symbols[atom]
        ]
        fine = atom in lost or _is_extent(kernel, atom, sizes)
        by_block = block_only(kernel, atom) and not any(block_only(kernel, rival) for rival in rivals)
        if not ((fine and by_block) or (atom in added and unmasked and fine)):
            return None
        assumed[atom] = None
    guards = tuple(dict.fromkeys((*ref_atoms, *gen_atoms)))
    ref_inner, gen_inner = (dict.fromkeys(_inner_conditions(kernel, side.values)) for side in (ref, gen))
    for atom in dict.fromkeys((*ref_inner, *gen_inner)):
        if atom in guards or atom in assumed:
            continue
        if block_only(kernel, atom):
            assumed[atom] = None
        elif not _is_extent(kernel, atom, sizes):
            continue
        elif atom in ref_inner and atom in gen_inner:
            # both sides mask the load; arrays of one shape make the store's mask imply it
            if any(_other_size(kernel, guard, atom, sizes) for guard in guards):
                assumed[atom] = None
        elif unmasked and (atom in gen_inner or _is_extent(kernel, atom, lone_sizes)):
            assumed[atom] = None
    everything = (*guards, *assumed)
    for a, b in zip(ref.values, gen.values, strict=True):
        if terms.under(a, everything) != terms.under(b, everything):
            return None
    if ref.pointer is None or gen.pointer is None:
        return tuple(assumed)
    same = terms.under(ref.pointer, everything) == terms.under(gen.pointer, everything)
    return tuple(assumed) if same else None


def block_only(kernel: Kernel, atom: Term) -> bool:
    """A condition on block indices and parameters, the same for all lanes and iterations."""
    terms = kernel.terms
    kinds = {terms.kind[s] for s in terms.symbols[atom]}
    return terms.kind[atom] == "le" and "block" in kinds and kinds <= {"block", "arg", "grid"}


def _has_lane(kernel: Kernel, atom: Term) -> bool:
    return any(kernel.terms.kind[s] in ("lane", "bound") for s in kernel.terms.symbols[atom])


def _is_extent(kernel: Kernel, atom: Term, sizes: frozenset[Term]) -> bool:
    """``coordinate < size``: linear, with the size of an array as its only parameter."""
    terms = kernel.terms
    if terms.kind[atom] != "le":
        return False
    params = [m for m in terms.poly(terms.args[atom][0]) if any(terms.kind[a] == "arg" for a in m)]
    return len(params) == 1 and len(params[0]) == 1 and params[0][0] in sizes


def _other_size(kernel: Kernel, guard: Term, atom: Term, sizes: frozenset[Term]) -> bool:
    """Both say ``coordinate < size`` of one coordinate, for two arrays."""
    terms = kernel.terms
    if terms.kind[guard] != "le" or terms.kind[atom] != "le":
        return False
    difference = terms.poly(terms.sub(terms.args[guard][0], terms.args[atom][0]))
    return len(difference) == 2 and all(len(m) == 1 and m[0] in sizes for m in difference)


def _inner_conditions(kernel: Kernel, values: tuple[Term, ...]) -> list[Term]:
    """Linear conditions of loads inside the values."""
    terms = kernel.terms
    found: dict[Term, None] = {}
    seen: set[Term] = set()
    work = list(values)
    while work and len(seen) < 20_000:
        node = work.pop()
        if node in seen:
            continue
        seen.add(node)
        if terms.kind[node] == "ite":
            for atom in terms.conjuncts(terms.args[node][0]):
                found[atom] = None
                found[terms.negate(atom)] = None
        work.extend(terms.args[node])
    memory = [node for node in seen if terms.kind[node] == "ite" and _guards_load(kernel, node)]
    wanted: set[Term] = set()
    for node in memory:
        cond, _, _ = terms.args[node]
        direct = terms.kind[terms.single(terms.args[node][1]) or terms.args[node][1]] == "mem"
        for atom in terms.conjuncts(cond if direct else terms.negate(cond)):
            wanted.add(atom)
    return [atom for atom in found if atom in wanted]


def _guards_load(kernel: Kernel, node: Term) -> bool:
    """A load with a mask, in either order of the branches."""
    terms = kernel.terms
    return any(terms.kind[terms.single(arg) or arg] == "mem" for arg in terms.args[node][1:])


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
            if candidate.key() == item.key():
                pairs.append((position, EffectPair(item, candidate, True)))
                free.pop(other)
                waiting.remove(position)
                break
    pairs += _joined_pairs(terms, ref, gen, waiting, free)
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
    )


def _joined_pairs(
    terms: Terms,
    ref: list[CanonicalEffect],
    gen: list[CanonicalEffect],
    waiting: list[int],
    free: dict[int, None],
) -> list[tuple[int, EffectPair]]:
    """Pairs of one store with the stores in branches that together are it; takes them from those left."""
    pairs: list[tuple[int, EffectPair]] = []
    for parts, whole in joined(terms, ref, waiting):
        other = next((each for each in free if gen[each].key() == whole.key()), None)
        if other is not None:
            free.pop(other)
            for position in parts:
                waiting.remove(position)
                pairs.append((position, EffectPair(ref[position], gen[other], True, whole=False)))
    for parts, whole in joined(terms, gen, free):
        position = next((each for each in waiting if ref[each].key() == whole.key()), None)
        if position is not None:
            waiting.remove(position)
            for other in parts:
                free.pop(other)
                pairs.append((position, EffectPair(ref[position], gen[other], True, whole=False)))
    return pairs


def _group(item: CanonicalEffect) -> tuple[object, ...]:
    return (item.effect.kind, item.effect.base, item.effect.element)


def _likeness(ref: CanonicalEffect, gen: CanonicalEffect, level: int) -> int:
    """How alike two effects are; -1: not at this level.

    Level 0: same array, type and loops; 1: same array; 2: same type and shape; 3: same array, another kind.
    """
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
