"""Effects in a form that does not depend on the side: loops by depth, lanes by order, values masked."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import permutations
from math import prod
from typing import TYPE_CHECKING, Any

from tileir_diff.dialect.types import Ptr
from tileir_diff.graph.carries import depth_iteration, substitute_carries
from tileir_diff.graph.values import shape_of, stored_bits

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tileir_diff.dialect.ir import TileOp
    from tileir_diff.graph.kernel import Effect, Kernel, Loop
    from tileir_diff.graph.terms import Term, Terms


@dataclass(frozen=True, slots=True)
class CanonicalEffect:
    """What one effect does, over ``lane(0) .. lane(k)`` of ``extents``, iterations ``it(-1) .. it(-n)``."""

    effect: Effect
    trips: tuple[Term, ...]
    extents: tuple[int, ...]
    pointer: Term | None
    condition: Term
    """Path condition and mask: where the effect takes place."""
    values: tuple[Term, ...]
    element: str
    """The type that memory is accessed as; of a load its bits alone, as what they mean shows in its value."""

    def key(self) -> tuple[object, ...]:
        effect = self.effect
        return (
            effect.op.short if effect.kind == "fence" else effect.kind,
            self.element,
            self.trips,
            self.extents,
            self.pointer,
            self.condition,
            self.values,
            effect.op.get("mode"),
            effect.op.get("memory_ordering"),
            effect.op.get("memory_scope"),
            printed(effect.op) or effect.op.get("message"),
        )


def printed(op: TileOp) -> str:
    """What a print, if it is one, writes: its format, and all elements of tiles of these shapes."""
    shapes = (shape_of(value) for value in op.group("args"))
    tiles = " ".join("x".join(map(str, shape)) for shape in shapes if shape)
    return f"{op.get('format') or ''} {tiles}".strip()


def outward(terms: Terms, loops: Sequence[Loop], term: Term) -> Term:
    """Replace iteration and carry symbols of the loops around by side-independent terms, innermost first."""
    for loop in reversed(loops):
        mapping = {leaf: form for leaf, form in loop.canonical.items() if leaf >= 0}
        mapping[loop.iteration] = terms.atom(depth_iteration(terms, loop.depth))
        if loop.closed:
            term = substitute_carries(terms, term, loop.closed, {})
        term = substitute_carries(terms, term, mapping, {})
    return term


def trips(terms: Terms, loops: Sequence[Loop]) -> tuple[Term, ...]:
    """How often the loops around run, outermost first; of one without a trip count, when it is left."""
    return tuple(
        outward(terms, loops[:depth], loop.trip if loop.trip is not None else loop.canonical[-1])
        for depth, loop in enumerate(loops)
    )


def canonical(kernel: Kernel, effect: Effect) -> CanonicalEffect:
    """The effect in canonical form. A load has its address and condition, no value."""
    terms = kernel.terms

    def settle(term: Term) -> Term:
        return outward(terms, effect.loops, term)

    mapping: dict[Term, Term] = {}
    extents: list[int] = []
    for dim, extent in enumerate(effect.shape):
        if extent > 1:
            leaf = terms.leaf("lane", dim, extent)
            if dim != len(extents):
                mapping[leaf] = terms.lane(len(extents), extent)
            extents.append(extent)

    def finish(term: Term) -> Term:
        term = settle(term)
        return terms.subst(term, mapping) if mapping else term

    condition = finish(effect.condition(terms))
    guards = terms.conjuncts(condition)
    pointer = None if effect.pointer is None else terms.under(finish(effect.pointer), guards)
    values = tuple(terms.under(finish(value), guards) for value in effect.values)
    values, element = _accessed(terms, effect, values)
    values = tuple(_of_one_load(terms, value) for value in values)
    return CanonicalEffect(
        effect, trips(terms, effect.loops), tuple(extents), pointer, condition, values, element
    )


def _of_one_load(terms: Terms, value: Term) -> Term:
    """What several loads of one place leave undetermined, as if one had left it: any value is any value.

    Not where that would settle a part of the value, as a difference of the two would be 0, if no NaN.
    """
    later = [s for s in terms.symbols[value] if terms.kind[s] == "unpadded" and terms.attr[s] != (0,)]
    if not later:
        return value
    merged = terms.subst(value, dict.fromkeys(later, terms.leaf("unpadded", 0)))
    same = _parts(terms, merged) == _parts(terms, value) and _with_itself(terms, merged) <= _with_itself(
        terms, value
    )
    return merged if same else value


def _with_itself(terms: Terms, value: Term) -> int:
    """How many float ops in a term are of a number and itself, or its negative."""
    seen, work, count = {value}, [value], 0
    while work:
        node = work.pop()
        args = terms.args[node]
        if terms.kind[node] in ("f", "fcmp"):
            sizes = [terms.args[arg][0] if _is_negative(terms, arg) else arg for arg in args]
            count += len(set(sizes)) < len(sizes)
        work.extend(arg for arg in args if arg not in seen)
        seen.update(args)
    return count


def _is_negative(terms: Terms, term: Term) -> bool:
    return terms.kind[term] == "f" and terms.attr[term][0] == "negf"


def _parts(terms: Terms, value: Term) -> int:
    """How many parts a term has, written out."""
    sizes: dict[Term, int] = {}
    stack = [value]
    while stack:
        node = stack[-1]
        waiting = [arg for arg in terms.args[node] if arg not in sizes]
        if waiting:
            stack.extend(waiting)
            continue
        stack.pop()
        if terms.kind[node] == "poly":
            items = terms.items(node)
            sizes[node] = 1 + sum(abs(factor) * sum(sizes[atom] for atom in mono) for mono, factor in items)
        else:
            sizes[node] = 1 + sum(sizes[arg] for arg in terms.args[node])
    return sizes[value]


def _accessed(terms: Terms, effect: Effect, values: tuple[Term, ...]) -> tuple[tuple[Term, ...], str]:
    """What is stored, and as what: bits that were read as another type are stored as what they were."""
    if effect.kind == "load":
        kind: Any = effect.op.results[0].type
        return values, str(kind.element if isinstance(kind.element, Ptr) else stored_bits(kind.element))
    if effect.kind == "store":
        node = terms.single(values[0])
        if node is not None and terms.kind[node] == "f" and terms.attr[node][0] == "bitcast":
            source: str = terms.attr[node][1][0]
            return (terms.args[node][0],), source
    return values, effect.element


def masked_trips(terms: Terms, item: CanonicalEffect) -> CanonicalEffect:
    """The effect without the trip counts that leave out only iterations that its condition leaves out too."""
    guards = terms.conjuncts(item.condition)
    counts = list(item.trips)
    for depth, loop in enumerate(item.effect.loops):
        beyond = terms.sub(terms.add(terms.atom(depth_iteration(terms, depth)), terms.one), counts[depth])
        if loop.trip is not None and terms.implies(guards, terms.le0(beyond)):
            counts[depth] = terms.const(-1)
    return replace(item, trips=tuple(counts))


def relaned(terms: Terms, item: CanonicalEffect, extents: tuple[int, ...]) -> Iterator[CanonicalEffect]:
    """The same effect with its lanes named in other orders, as far as they give ``extents``."""
    if prod(item.extents) != prod(extents):
        return
    if sorted(item.extents) == sorted(extents) and len(extents) <= 4:
        for order in permutations(range(len(extents))):
            if tuple(item.extents[dim] for dim in order) != extents:
                continue
            # new lane i is old lane order[i]
            mapping = {
                terms.leaf("lane", old, item.extents[old]): terms.lane(new, extents[new])
                for new, old in enumerate(order)
                if old != new
            }
            yield _renamed(terms, item, mapping, extents)
        return
    if len(item.extents) == 1:
        linear = terms.zero
        for dim, extent in enumerate(extents):
            linear = terms.add(terms.scale(linear, extent), terms.lane(dim, extent))
        yield _renamed(terms, item, {terms.leaf("lane", 0, item.extents[0]): linear}, extents)
    elif len(extents) == 1:
        mapping: dict[Term, Term] = {}
        stride = 1
        lane = terms.lane(0, extents[0])
        for dim in reversed(range(len(item.extents))):
            index = terms.floordiv(lane, terms.const(stride))
            mapping[terms.leaf("lane", dim, item.extents[dim])] = terms.mod(
                index, terms.const(item.extents[dim])
            )
            stride *= item.extents[dim]
        yield _renamed(terms, item, mapping, extents)


def _renamed(
    terms: Terms, item: CanonicalEffect, mapping: dict[Term, Term], extents: tuple[int, ...]
) -> CanonicalEffect:
    if not mapping:
        return item
    memo: dict[Term, Term] = {}
    return CanonicalEffect(
        item.effect,
        item.trips,
        extents,
        None if item.pointer is None else terms.subst(item.pointer, mapping, memo),
        terms.subst(item.condition, mapping, memo),
        tuple(terms.subst(value, mapping, memo) for value in item.values),
        item.element,
    )


def aligned(terms: Terms, reference: CanonicalEffect, generated: CanonicalEffect) -> CanonicalEffect:
    """``generated`` with its lanes named as the reference names them, judged by the address."""
    if reference.pointer == generated.pointer and reference.extents == generated.extents:
        return generated
    best = generated
    for candidate in relaned(terms, generated, reference.extents):
        if candidate.pointer == reference.pointer:
            return candidate
        if best is generated and candidate.extents == reference.extents:
            best = candidate if generated.extents != reference.extents else generated
    return _turned(terms, reference, best)


def _turned(terms: Terms, reference: CanonicalEffect, generated: CanonicalEffect) -> CanonicalEffect:
    """``generated`` with those lanes backwards that make its address equal."""
    if reference.pointer is None or generated.pointer is None or reference.extents != generated.extents:
        return generated
    ours, theirs = terms.poly(reference.pointer), terms.poly(generated.pointer)
    lanes = [(terms.leaf("lane", dim, extent), dim, extent) for dim, extent in enumerate(reference.extents)]
    mapping = {
        leaf: terms.sub(terms.const(extent - 1), terms.lane(dim, extent))
        for leaf, dim, extent in lanes
        if (factor := ours.get((leaf,))) is not None and theirs.get((leaf,)) == -factor
    }
    if not mapping or terms.subst(generated.pointer, mapping) != reference.pointer:
        return generated
    return _renamed(terms, generated, mapping, generated.extents)
