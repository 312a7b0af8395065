"""An undetermined value is stored.

## What it does

Looks for stores and atomics whose value or address, where their own mask and the branches around them hold,
is still taken from a lane that its load left undetermined, and whose mask does not bound that lane at all.

## Why it matters

The load was cut off at the edge and nothing was put there; what happens to be in the register goes to
memory, or is used as an address.

## Example

`load_ptr_tko weak %src, %m` without padding, then `store_ptr_tko weak %dst, %x` without the mask.

## Known problems

A store that is bounded by the size of another array is trusted: sizes of the arrays of one kernel usually
agree.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tileir_diff.lints.edges import is_undefined
from tileir_diff.lints.model import Hit

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tileir_diff.graph.terms import Term, Terms
    from tileir_diff.lints.facts import EntryFacts

SEVERITY = "warn"

ACTS = ("store", "atomic_rmw", "atomic_cas", "atomic_red")


def check(facts: EntryFacts) -> Iterator[Hit]:
    kernel = facts.kernel
    if kernel is None:
        return
    terms = kernel.terms
    for effect in kernel.effects:
        mask = terms.true if effect.mask is None else effect.mask
        held = (*terms.conjuncts(mask), *terms.conjuncts(effect.guard))
        bounded = frozenset(symbol for atom in held for symbol in terms.symbols[atom])
        if effect.kind in ACTS:
            for value in effect.values:
                lanes = undetermined_lanes(terms, terms.under(value, held), bounded)
                if lanes:
                    yield Hit(
                        effect.op,
                        "the stored value is undetermined in lanes that its load left out",
                        "give the load a padding, or mask the store as the load",
                    )
                    break
        if effect.pointer is not None:
            lanes = undetermined_lanes(terms, terms.under(effect.pointer, held), bounded)
            if lanes:
                yield Hit(
                    effect.op,
                    "the address is undetermined in lanes that the load of the index left out",
                    "give the load of the index a padding, or mask this access as that load",
                )


def undetermined_lanes(terms: Terms, root: Term, bounded: frozenset[Term]) -> bool:
    """Whether a lane that nothing in `bounded` limits decides between a loaded and an undetermined value."""
    seen: set[Term] = set()
    work = [root]
    while work:
        term = work.pop()
        if term in seen:
            continue
        seen.add(term)
        kind = terms.kind[term]
        if kind in ("reduce", "mma", "colour", "mem", "scan"):
            continue  # `undetermined-lanes` looks into these, and the address of a load at its own effect
        if kind == "ite" and any(is_undefined(terms, arm) for arm in terms.args[term][1:]):
            lanes = [symbol for symbol in terms.symbols[terms.args[term][0]] if terms.kind[symbol] == "lane"]
            if lanes and not all(lane in bounded for lane in lanes):
                return True
        work.extend(terms.args[term])
    return False
