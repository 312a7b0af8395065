"""Stores to one place on conditions that exclude each other, which together are one store of a selection.

So ``if c { store a } else { store b }`` is the store of ``c ? a : b``.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from tileir_diff.graph.terms import Term, Terms
    from tileir_diff.match.canonical import CanonicalEffect

MAX_BRANCHES = 8
"""More stores to one place are not taken together."""


def joined(
    terms: Terms, items: Sequence[CanonicalEffect], positions: Iterable[int]
) -> Iterator[tuple[tuple[int, ...], CanonicalEffect]]:
    """The stores among the items at ``positions`` that can be taken together, and the one store they are."""
    groups: dict[object, list[int]] = {}
    for position in positions:
        if items[position].effect.kind == "store":
            groups.setdefault(_place(items[position]), []).append(position)
    for group in groups.values():
        stores = [items[position] for position in group]
        if 1 < len(group) <= MAX_BRANCHES and _exclusive(terms, [store.condition for store in stores]):
            yield tuple(group), _join(terms, stores)


def _place(store: CanonicalEffect) -> object:
    """All that two stores must have in common: the loops, and everything but the condition and the value."""
    loops = tuple([loop.uid for loop in store.effect.loops])
    return loops, replace(store, condition=0, values=()).key()


def _exclusive(terms: Terms, conditions: Sequence[Term]) -> bool:
    """Whether no two of the conditions hold at once."""
    return all(
        terms.conjunction((a, b)) == terms.false
        for index, a in enumerate(conditions)
        for b in conditions[index + 1 :]
    )


def _join(terms: Terms, stores: Sequence[CanonicalEffect]) -> CanonicalEffect:
    first = stores[0]
    element = first.element
    sort = "bool" if element == "i1" else "int" if element.startswith(("i", "ptr")) else "data"
    atoms = [dict.fromkeys(terms.conjuncts(store.condition)) for store in stores]
    shared = [atom for atom in atoms[0] if all(atom in each for each in atoms)]
    own = [terms.conjunction([atom for atom in each if atom not in shared]) for each in atoms]
    condition = terms.conjunction([*shared, terms.disjunction(own)])
    (value,) = stores[-1].values
    for store in reversed(stores[:-1]):
        value = terms.ite(store.condition, store.values[0], value, sort)
    value = terms.under(value, terms.conjuncts(condition))
    return replace(first, condition=condition, values=(value,))
