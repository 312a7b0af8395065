"""Accesses on conditions that exclude each other, which together are one access of a selection.

So ``if c { store a } else { store b }`` is the store of ``c ? a : b``, and where they go to different places,
a store to ``c ? p : q``; and so are loads.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from tileir_diff.graph.terms import Term, Terms
    from tileir_diff.match.canonical import CanonicalEffect

MAX_BRANCHES = 8
"""More accesses are not taken together."""


def joined(
    terms: Terms, items: Sequence[CanonicalEffect], positions: Iterable[int]
) -> Iterator[tuple[tuple[int, ...], CanonicalEffect]]:
    """The accesses among the items at ``positions`` that can be taken together, and the one that they are.

    Whoever takes some takes them out of ``positions``.
    """
    for together in (_place, _loops):
        groups: dict[object, list[int]] = {}
        for position in positions:
            if items[position].effect.kind in ("load", "store"):
                groups.setdefault(together(items[position]), []).append(position)
        for group in groups.values():
            parts = [items[position] for position in group]
            if 1 < len(group) <= MAX_BRANCHES and _exclusive(terms, [part.condition for part in parts]):
                yield tuple(group), _join(terms, parts)


def _place(part: CanonicalEffect) -> object:
    """All that two must have in common: the loops, and everything but the condition and the value."""
    return part.pointer, _loops(part)


def _loops(part: CanonicalEffect) -> object:
    """As ``_place``, but for the address."""
    loops = tuple([loop.uid for loop in part.effect.loops])
    return loops, replace(part, condition=0, pointer=None, values=()).key()


def _exclusive(terms: Terms, conditions: Sequence[Term]) -> bool:
    """Whether no two of the conditions hold at once."""
    return all(
        terms.conjunction((a, b)) == terms.false
        for index, a in enumerate(conditions)
        for b in conditions[index + 1 :]
    )


def _join(terms: Terms, parts: Sequence[CanonicalEffect]) -> CanonicalEffect:
    first = parts[0]
    element = first.element
    sort = "bool" if element == "i1" else "int" if element.startswith(("i", "ptr")) else "data"
    atoms = [dict.fromkeys(terms.conjuncts(part.condition)) for part in parts]
    shared = [atom for atom in atoms[0] if all(atom in each for each in atoms)]
    own = [terms.conjunction([atom for atom in each if atom not in shared]) for each in atoms]
    condition = terms.conjunction([*shared, terms.disjunction(own)])
    guards = terms.conjuncts(condition)
    *others, last = parts
    pointer, values = last.pointer, last.values
    for part, alone in zip(reversed(others), reversed(own[:-1]), strict=True):
        values = tuple(
            [terms.ite(part.condition, a, b, sort) for a, b in zip(part.values, values, strict=True)]
        )
        if part.pointer is not None and pointer is not None:
            pointer = terms.ite(alone, part.pointer, pointer, "int")
    values = tuple([terms.under(value, guards) for value in values])
    pointer = None if pointer is None else terms.under(pointer, guards)
    return replace(first, condition=condition, pointer=pointer, values=values)
