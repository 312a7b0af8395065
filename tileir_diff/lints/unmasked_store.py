"""A store without a mask beside masked loads of the same lanes.

## What it does

Looks for `store_ptr_tko` without a mask whose value comes from a pointer load of the same shape that has
one, where the mask depends on lanes that the address of the store depends on too, and no branch around the
store gives the bound.

## Why it matters

The load was masked because the tile can run over the end of the array.
The store then writes the surplus lanes over the next row or another tensor.
Kernels with two outputs tend to lose the mask on the second one.

## Example

`load_ptr_tko weak %src, %m, %zero` and `store_ptr_tko weak %dst, %y`, both of 1024 lanes: pass `%m` to the
store.

## Known problems

An output that is padded to whole tiles on purpose needs no mask.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tileir_diff.lints.model import Hit

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tileir_diff.graph.terms import Term, Terms
    from tileir_diff.lints.facts import EntryFacts

SEVERITY = "warn"


def check(facts: EntryFacts) -> Iterator[Hit]:
    kernel = facts.kernel
    if kernel is None:
        return
    terms = kernel.terms
    masked = [
        effect
        for effect in kernel.effects
        if effect.kind == "load" and effect.family == "pointer" and effect.op.one("mask") is not None
    ]
    for effect in kernel.effects:
        if effect.kind != "store" or effect.family != "pointer" or effect.op.one("mask") is not None:
            continue
        if effect.pointer is None or not effect.values:
            continue
        lanes = lanes_of(terms, effect.pointer)
        for load in masked:
            if load.shape != effect.shape or load.mask is None or load.result is None:
                continue
            bounded = lanes_of(terms, load.mask) & lanes
            held = terms.conjuncts(effect.guard)
            if (
                not bounded
                or terms.implies(held, load.mask)
                or not _feeds(terms, load.result, effect.values[0])
            ):
                continue
            shape, line = "x".join(map(str, effect.shape)), load.op.span.line
            yield Hit(
                effect.op,
                f"the store of {shape} lanes has no mask; the load of line {line} behind it has one",
                f"pass the mask of the load ({facts.say(load.mask)}) to the store",
            )
            break


def lanes_of(terms: Terms, term: Term) -> frozenset[Term]:
    return frozenset(symbol for symbol in terms.symbols[term] if terms.kind[symbol] == "lane")


def _feeds(terms: Terms, loaded: Term, value: Term) -> bool:
    """Whether the loaded value is part of the stored one, lane by lane."""
    leaf = terms.single(loaded)
    goal = {loaded, loaded if leaf is None else leaf}
    seen: set[Term] = set()
    work = [value]
    while work:
        term = work.pop()
        if term in goal:
            return True
        if term not in seen:
            seen.add(term)
            work.extend(terms.args[term])
    return False
