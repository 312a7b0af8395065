"""A load of a tile of one shape over loads of tiles of other shapes: which of their lanes reads an element.

A tile may be loaded in halves, or two rows at once; each lane of it is one of another load where the
addresses are equal. So it is seen whether the other loads read the element too.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from math import prod
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tileir_diff.graph.terms import Mono, Term, Terms
    from tileir_diff.match.canonical import CanonicalEffect

MAX_PARTS = 16
"""A load in more parts is not looked at part by part."""


def laid_over(
    terms: Terms, loads: Iterable[CanonicalEffect], item: CanonicalEffect
) -> CanonicalEffect | None:
    """``loads`` as one effect over the lanes of ``item``; None where they may not be all that it reads.

    Its condition is that one of the loads has the element and reads it.
    """
    guards = terms.conjuncts(item.condition)
    inside: list[Term] = []
    read: list[Term] = []
    first: CanonicalEffect | None = None
    for load in loads:
        if (load.effect.base, load.element, load.trips) != (item.effect.base, item.element, item.trips):
            continue
        lanes = _lanes(terms, load, item) or _part_of(terms, load, item)
        if lanes is None:
            continue
        first = first or load
        within = terms.conjunction(
            terms.compare(predicate, lane, terms.const(bound))
            for lane, extent in zip(lanes, load.extents, strict=True)
            for predicate, bound in (("greater_than_or_equal", 0), ("less_than", extent))
        )
        leaves = (terms.leaf("lane", dim, extent) for dim, extent in enumerate(load.extents))
        condition = terms.subst(load.condition, dict(zip(leaves, lanes, strict=True)))
        inside.append(within)
        read.append(terms.conjunction((within, condition)))
    if first is None or terms.under(terms.disjunction(inside), guards) != terms.true:
        return None
    condition = terms.disjunction(read)
    if terms.under(condition, guards) == terms.true:
        condition = item.condition
    return replace(first, extents=item.extents, pointer=item.pointer, condition=condition)


def _lanes(terms: Terms, load: CanonicalEffect, item: CanonicalEffect) -> list[Term] | None:
    """The lanes of ``load`` that read at the address of ``item``, by the latter's lanes; None if unknown."""
    if load.pointer is None or item.pointer is None:
        return None
    steps: dict[int, tuple[Mono, int]] = {}
    for mono, factor in terms.items(load.pointer):
        for dim, extent in enumerate(load.extents):
            leaf = terms.leaf("lane", dim, extent)
            if leaf not in mono and all(leaf not in terms.symbols[atom] for atom in mono):
                continue
            if mono.count(leaf) != 1 or dim in steps:
                return None
            steps[dim] = tuple(atom for atom in mono if atom != leaf), factor
    if len(steps) < len(load.extents) or any(factor <= 0 for _, factor in steps.values()):
        return None
    first = {terms.leaf("lane", dim, extent): terms.zero for dim, extent in enumerate(load.extents)}
    rest = terms.sub(item.pointer, terms.subst(load.pointer, first))
    lanes: dict[int, Term] = {}
    for dim, (stride, factor) in sorted(steps.items(), key=lambda step: (-len(step[1][0]), -step[1][1])):
        along = _part(terms, rest, stride) if stride else rest
        lanes[dim] = terms.floordiv(along, terms.const(factor))
        step = terms.scale(lanes[dim], factor)
        for atom in stride:
            step = terms.mul(step, terms.atom(atom))
        rest = terms.sub(rest, step)
    return [lanes[dim] for dim in range(len(load.extents))] if rest == terms.zero else None


def _part_of(terms: Terms, load: CanonicalEffect, item: CanonicalEffect) -> list[Term] | None:
    """The lanes of ``load`` where ``item`` is one of the tiles that it falls into; None if unknown."""
    if load.pointer is None or len(load.extents) != len(item.extents):
        return None
    counts = [whole // part for whole, part in zip(load.extents, item.extents, strict=True)]
    if not all(counts) or prod(counts) > MAX_PARTS:
        return None
    leaves = [terms.leaf("lane", dim, extent) for dim, extent in enumerate(load.extents)]
    own = [(terms.lane(dim, extent), extent) for dim, extent in enumerate(item.extents)]
    for place in product(*map(range, counts)):
        lanes = [
            terms.add(lane, terms.const(number * extent))
            for (lane, extent), number in zip(own, place, strict=True)
        ]
        if terms.subst(load.pointer, dict(zip(leaves, lanes, strict=True))) == item.pointer:
            return lanes
    return None


def _part(terms: Terms, number: Term, stride: Mono) -> Term:
    """What the product of ``stride`` has as its factor in a sum."""
    found = terms.zero
    for mono, factor in terms.items(number):
        left = list(mono)
        if any(atom not in left or left.remove(atom) for atom in stride):
            continue
        part = terms.const(factor)
        for atom in left:
            part = terms.mul(part, terms.atom(atom))
        found = terms.add(found, part)
    return found
