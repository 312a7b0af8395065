"""Conditions that only one side states, and that are the launch's business: the host must guarantee them."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from tileir_diff.match.canonical import depth_iteration

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tileir_diff.graph.kernel import Kernel
    from tileir_diff.graph.store import Mono
    from tileir_diff.graph.terms import Term, Terms
    from tileir_diff.match.canonical import CanonicalEffect
    from tileir_diff.match.effects import EffectPair

HOST_BOUNDS = "host-bounds"
"""The name of the equivalence, as `--no-equivalence` takes it."""
MAX_NODES = 20_000


class Conditions(NamedTuple):
    """What two effects are compared under."""

    given: tuple[Term, ...] = ()
    """Predicates that are taken to hold."""
    obligations: tuple[Term, ...] = ()
    """What the host must guarantee for that: the same, or that one array is as large as another."""
    equal: bool = False
    """Whether the two are equal then."""


def host_obligations(
    kernel: Kernel, pair: EffectPair, sizes: frozenset[Term], lone_sizes: frozenset[Term]
) -> Conditions:
    """The predicates about the launch that two effects are compared under, and whether they are equal then.

    ``sizes``: the symbols of sizes of arrays; ``lone_sizes``: those that the generated side has no parameter
    for.
    """
    terms = kernel.terms
    ref, gen = pair.reference, pair.generated
    if ref.extents != gen.extents or ref.effect.kind != gen.effect.kind:
        return Conditions()
    tiles = tile_indices(terms, pair)
    waited = _waited_for(kernel, pair, tiles)
    if not _as_often(terms, pair, waited):
        return Conditions()
    same = ref.key()[7:] == gen.key()[7:] and ref.element == gen.element
    ref_atoms, gen_atoms = terms.conjuncts(ref.condition), terms.conjuncts(gen.condition)
    lost = [atom for atom in ref_atoms if not terms.implies(gen_atoms, atom)]
    added = [atom for atom in gen_atoms if not terms.implies(ref_atoms, atom)]
    unmasked = not any(_has_lane(kernel, x) for x in ref_atoms)
    branches = {atom for side in (ref, gen) for atom in terms.conjuncts(side.effect.guard)}
    assumed: dict[Term, None] = dict.fromkeys(waited)
    pointers = _pointers(terms, ref, gen)
    for atom in (*lost, *added):
        others = gen_atoms if atom in lost else ref_atoms
        rivals = [x for x in others if terms.symbols[x] & terms.symbols[atom]]
        fine = (atom in lost or _is_extent(kernel, atom, sizes)) and _keeps_all(kernel, atom, pointers)
        by_block = block_only(kernel, atom, tiles)
        if ref.effect.kind in ("atomic_cas", "atomic_rmw") or atom in branches:
            # the index against a constant bounds no array: it picks the blocks that add, or store
            by_block = by_block and any(terms.kind[symbol] == "arg" for symbol in terms.symbols[atom])
        by_block = by_block and not any(block_only(kernel, rival, tiles) for rival in rivals)
        if (fine and by_block) or (atom in added and unmasked and fine):
            assumed[atom] = None
        else:
            same = False
    guards = tuple(dict.fromkeys((*ref_atoms, *gen_atoms)))
    ref_inner, gen_inner = (dict.fromkeys(_inner_conditions(kernel, side.values)) for side in (ref, gen))
    as_large: dict[Term, Term] = {}
    for atom in dict.fromkeys((*ref_inner, *gen_inner)):
        if atom in guards or atom in assumed:
            continue
        extent = _is_extent(kernel, atom, sizes)
        if extent and atom in ref_inner and atom in gen_inner:
            # both sides mask the load; arrays of one shape make the store's mask imply it
            larger = next((x for guard in guards if (x := _as_large(kernel, guard, atom, sizes))), None)
            if larger is not None:
                as_large[atom] = larger
                assumed[atom] = None
                continue
        others = (*gen_atoms, *gen_inner) if atom in ref_inner else (*ref_atoms, *ref_inner)
        if not _keeps_all(kernel, atom, pointers) or _ends_elsewhere(terms, atom, others):
            continue
        if block_only(kernel, atom, tiles) and (atom in ref_inner or not _first_only(terms, atom)):
            assumed[atom] = None
        elif not extent or (atom in ref_inner and atom in gen_inner):
            continue
        elif unmasked and (atom in gen_inner or _is_extent(kernel, atom, lone_sizes)):
            assumed[atom] = None
    everything = (*guards, *assumed)
    terms_of = zip((*ref.values, ref.pointer), (*gen.values, gen.pointer), strict=True)
    for a, b in terms_of:
        if a is not None and b is not None and terms.under(a, everything) != terms.under(b, everything):
            same = False
    # beside another difference only what is about whole blocks, and what hides that only one side pads:
    # other masks over lanes may be what differs
    hides = not same and has_undetermined(terms, ref.values) != has_undetermined(terms, gen.values)
    given = tuple(x for x in assumed if same or (x in as_large and hides) or block_only(kernel, x, tiles))
    return Conditions(given, tuple(as_large.get(x, x) for x in given), same)


def covers(kernel: Kernel, pair: EffectPair, atom: Term) -> bool:
    """A condition of the reference that says which blocks do anything, of as many as a parameter says.

    These are the first blocks: a launch of exactly as many makes it true. Where the generated side has
    another condition on them, that is a difference.
    """
    terms = kernel.terms
    if not block_only(kernel, atom) or not any(terms.kind[s] == "arg" for s in terms.symbols[atom]):
        return False
    others = terms.conjuncts(pair.generated.condition)
    if any(block_only(kernel, other) and terms.symbols[other] & terms.symbols[atom] for other in others):
        return False
    (inner,) = terms.args[atom]
    return all(
        factor > 0
        for mono, factor in terms.items(inner)
        if any(terms.kind[s] == "block" for part in mono for s in terms.symbols[part])
    )


def lost_conditions(terms: Terms, pair: EffectPair) -> list[Term]:
    """Conditions of the reference's effect that the generated one does not have."""
    guards = terms.conjuncts(pair.generated.condition)
    return [atom for atom in terms.conjuncts(pair.reference.condition) if not terms.implies(guards, atom)]


def obligation(terms: Terms, atom: Term, shown: str) -> str:
    """How a condition that the host must guarantee is told; ``shown``: the condition in words."""
    kinds = {terms.kind[symbol] for symbol in terms.symbols[atom]} - {"arg", "grid"}
    if not kinds:
        return shown
    return f"{shown} for all blocks{' and lanes' if kinds - {'block'} else ''} launched"


def for_all_lanes(terms: Terms, atom: Term) -> Term | None:
    """An inequality that holds for all lanes, without lanes; None where it is not linear in them."""
    if terms.kind[atom] != "le":
        return None
    (inner,) = terms.args[atom]
    factors = terms.poly(inner)
    largest: dict[Term, Term] = {}
    for lane in (symbol for symbol in terms.symbols[inner] if terms.kind[symbol] == "lane"):
        factor, (_, last) = factors.get((lane,), 0), terms.range(lane)
        if last is None or lane in terms.symbols[terms.sub(inner, terms.scale(terms.atom(lane), factor))]:
            return None
        largest[lane] = terms.const(last) if factor > 0 else terms.zero
    return terms.subst(atom, largest) if largest else atom


def tile_indices(terms: Terms, pair: EffectPair) -> frozenset[Term]:
    """The iterations, as canonical effects name them, of loops that go over all tiles on both sides."""
    ref, gen = pair.reference.effect.loops, pair.generated.effect.loops
    both = enumerate(zip(ref, gen, strict=False))
    return frozenset(depth_iteration(terms, depth) for depth, (x, y) in both if x.stride and y.stride)


def block_only(kernel: Kernel, atom: Term, tiles: frozenset[Term] = frozenset()) -> bool:
    """An upper bound of block indices by parameters, the same for all lanes and iterations.

    A lower bound is no business of the launch: the first block is always there. Nor is a number that the grid
    given goes beyond.
    ``tiles``: symbols that are indices of tiles, as block indices are.
    """
    terms = kernel.terms
    if terms.kind[atom] != "le":
        return False
    blocks = {s for s in terms.symbols[atom] if s in tiles or terms.kind[s] == "block"}
    kinds = {terms.kind[s] for s in terms.symbols[atom] - blocks}
    launched = not kinds and all(
        terms.kind[block] == "block" and kernel.grid[terms.attr[block][0]] is not None for block in blocks
    )
    return (
        bool(blocks)
        and not launched
        and kinds <= {"arg", "grid"}
        and all(
            factor > 0
            for mono, factor in terms.items(terms.args[atom][0])
            if any(blocks & terms.symbols[part] for part in mono)
        )
    )


def _first_only(terms: Terms, atom: Term) -> bool:
    """A bound of block indices by a number that leaves the first block only: a tile taken for an array."""
    factors = terms.poly(terms.args[atom][0])
    limit = -factors.get((), 0)
    return all(terms.kind[symbol] == "block" for symbol in terms.symbols[atom]) and all(
        factor > limit for mono, factor in factors.items() if mono
    )


def _waited_for(kernel: Kernel, pair: EffectPair, tiles: frozenset[Term]) -> tuple[Term, ...]:
    """Bounds of block indices by sizes, under which one side does atomics that values and loops depend on.

    The other side does them in all blocks. What the atomics themselves differ in is told there.
    """
    terms = kernel.terms
    ref, gen = (
        _atomic_masks(terms, (*side.trips, *side.values)) for side in (pair.reference, pair.generated)
    )
    found: dict[Term, None] = {}
    for atoms, others in ((ref, gen), (gen, ref)):
        for atom in (each for each in atoms if each not in others):
            sized = any(terms.kind[symbol] == "arg" for symbol in terms.symbols[atom])
            if sized and block_only(kernel, atom, tiles) and not any(block_only(kernel, x) for x in others):
                found[atom] = None
    return tuple(found)


def _atomic_masks(terms: Terms, values: tuple[Term, ...]) -> dict[Term, None]:
    """The conditions of the atomics that the values depend on."""
    found: dict[Term, None] = {}
    seen: set[Term] = set()
    work = list(values)
    while work and len(seen) < MAX_NODES:
        node = work.pop()
        if node not in seen:
            seen.add(node)
            work.extend(terms.args[node])
            if terms.kind[node] == "atomic":
                found.update(dict.fromkeys(terms.conjuncts(terms.args[node][1])))
    return found


def _as_often(terms: Terms, pair: EffectPair, given: tuple[Term, ...]) -> bool:
    """Whether the loops around both run alike where the conditions hold."""
    ref, gen = pair.reference.trips, pair.generated.trips
    if ref == gen or len(ref) != len(gen) or not given:
        return ref == gen
    return all(terms.under(a, given) == terms.under(b, given) for a, b in zip(ref, gen, strict=True))


def _has_lane(kernel: Kernel, atom: Term) -> bool:
    return any(kernel.terms.kind[s] in ("lane", "bound") for s in kernel.terms.symbols[atom])


def _is_extent(kernel: Kernel, atom: Term, sizes: frozenset[Term]) -> bool:
    """``coordinate < size``: linear, with the size of an array as its only parameter."""
    terms = kernel.terms
    if terms.kind[atom] != "le":
        return False
    items = terms.items(terms.args[atom][0])
    params = [(mono, factor) for mono, factor in items if any(terms.kind[part] == "arg" for part in mono)]
    if len(params) != 1:
        return False
    ((mono, factor),) = params
    return factor < 0 and len(mono) == 1 and mono[0] in sizes


def _keeps_all(kernel: Kernel, atom: Term, pointers: tuple[Term, ...]) -> bool:
    """Whether what a bound of an index by a parameter excludes lies outside the array, as far as that shows.

    True where the index, or what it is before lanes are added to it, is a coordinate of an access. Where it
    is more than the coordinate, as its successor or twice it, the bound excludes elements of the array too.
    """
    terms = kernel.terms
    if terms.kind[atom] != "le":
        return True
    factors = dict(terms.items(terms.args[atom][0]))
    const = factors.pop((), 0)
    params = [mono for mono in factors if all(terms.kind[part] == "arg" for part in mono)]
    if len(params) != 1 or factors.pop(params[0]) != -1:
        return True
    moving = {part for mono in factors for part in mono if terms.kind[part] not in ("arg", "grid")}
    addresses = [dict(terms.items(pointer)) for pointer in pointers]
    addresses = [each for each in addresses if moving & {part for mono in each for part in mono}]
    return not addresses or any(_is_coordinate(terms, factors, const - 1, each) for each in addresses)


def _is_coordinate(terms: Terms, index: dict[Mono, int], offset: int, address: dict[Mono, int]) -> bool:
    """Whether an address steps, by one stride, as ``index`` does, from an offset of at least ``offset``."""
    first, factor = next(iter(index.items()))
    for mono, step in address.items():
        stride = _quotient(mono, first)
        if stride is None or step % factor or step // factor <= 0:
            continue
        if any(terms.kind[part] not in ("arg", "grid") for part in stride):
            continue
        size = step // factor
        if all(
            address.get(tuple(sorted((*stride, *part))), 0) == size * times for part, times in index.items()
        ) and (offset <= 0 or address.get(stride, 0) >= size * offset):
            return True
    return False


def _quotient(mono: Mono, by: Mono) -> Mono | None:
    """What is left of a product without some of its factors; None where it does not have them."""
    rest = list(mono)
    for part in by:
        if part not in rest:
            return None
        rest.remove(part)
    return tuple(rest)


def _ends_elsewhere(terms: Terms, bound: Term, others: Iterable[Term]) -> bool:
    """Whether another bound is of the same index by the same size, but some elements sooner or later."""
    if terms.kind[bound] != "le":
        return False
    apart = (terms.sub(terms.args[x][0], terms.args[bound][0]) for x in others if terms.kind[x] == "le")
    return any(terms.value(each) not in (None, 0) for each in apart)


def _pointers(terms: Terms, *sides: CanonicalEffect) -> tuple[Term, ...]:
    """The addresses of two effects, and of the loads that their values depend on."""
    found = {side.pointer: None for side in sides if side.pointer is not None}
    seen: set[Term] = set()
    work = [value for side in sides for value in side.values]
    while work and len(seen) < MAX_NODES:
        node = work.pop()
        if node in seen:
            continue
        seen.add(node)
        if terms.kind[node] == "mem":
            found[terms.args[node][0]] = None
        work.extend(terms.args[node])
    return tuple(found)


def _as_large(kernel: Kernel, guard: Term, atom: Term, sizes: frozenset[Term]) -> Term | None:
    """That the array of ``atom`` is as large as that of ``guard``, so that the guard implies the atom.

    None unless both say ``coordinate < size`` of one coordinate, for two arrays.
    """
    terms = kernel.terms
    if terms.kind[guard] != "le" or terms.kind[atom] != "le":
        return None
    difference = terms.sub(terms.args[atom][0], terms.args[guard][0])
    monomials = terms.poly(difference)
    if len(monomials) != 2 or not all(len(m) == 1 and m[0] in sizes for m in monomials):
        return None
    return terms.le0(difference)


def _inner_conditions(kernel: Kernel, values: tuple[Term, ...]) -> list[Term]:
    """Linear conditions of loads inside the values."""
    terms = kernel.terms
    found: dict[Term, None] = {}
    seen: set[Term] = set()
    work = list(values)
    while work and len(seen) < MAX_NODES:
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


def has_undetermined(terms: Terms, values: tuple[Term, ...]) -> bool:
    """Whether lanes that a load leaves undetermined take part in the values."""
    return any(terms.kind[symbol] == "unpadded" for value in values for symbol in terms.symbols[value])


def _guards_load(kernel: Kernel, node: Term) -> bool:
    """A load with a mask, in either order of the branches."""
    terms = kernel.terms
    return any(terms.kind[terms.single(arg) or arg] == "mem" for arg in terms.args[node][1:])
