"""A promised divisor that makes a mask pointless.

## What it does

Looks for `div_by<D>` on an integer argument that a mask compares with lane numbers, where `D` is a multiple
of the number of lanes: under the promise the mask is true or false for the whole tile.

## Why it matters

Either the promise is false, and the compiler is allowed to drop the mask that was written for the tail, or
the mask is not needed.
Promises on run-time sizes were seen to corrupt ragged shapes.

## Example

`%n = assume div_by<16>, %arg1`, then `cmpi less_than %lane, %n` over 16 lanes as the mask of a store.

## Known problems

A launcher that specialises the kernel for sizes that are multiples of the tile makes a true promise; the
mask is then only slow.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tileir_diff.dialect.attributes import DivBy
from tileir_diff.lints.facts import owner
from tileir_diff.lints.model import Hit

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tileir_diff.graph.terms import Term
    from tileir_diff.lints.facts import EntryFacts

SEVERITY = "info"


def check(facts: EntryFacts) -> Iterator[Hit]:
    kernel = facts.kernel
    if kernel is None:
        return
    terms = kernel.terms
    promised: dict[Term, tuple[int, object]] = {}
    for promise in kernel.promises:
        leaf = terms.single(promise.term) if isinstance(promise.term, int) else None
        if isinstance(promise.assumption, DivBy) and promise.argument is not None and leaf is not None:
            old = promised.get(leaf, (1, None))
            promised[leaf] = max(old, (promise.assumption.divisor, promise.op), key=lambda item: item[0])
    for effect in kernel.effects:
        value = effect.op.one("mask")
        if value is None or effect.mask is None or owner(value) is None:
            continue
        for atom in terms.conjuncts(effect.mask):
            if terms.kind[atom] != "le":
                continue
            lanes = [symbol for symbol in terms.symbols[atom] if terms.kind[symbol] == "lane"]
            sizes = [symbol for symbol in terms.symbols[atom] if symbol in promised]
            if len(lanes) != 1 or len(sizes) != 1:
                continue
            divisor, _ = promised[sizes[0]]
            extent = terms.attr[lanes[0]][1]
            coefficients = {
                mono: coefficient for mono, coefficient in terms.attr[terms.args[atom][0]] if mono
            }
            if abs(coefficients.get((sizes[0],), 0)) != 1 or abs(coefficients.get((lanes[0],), 0)) != 1:
                continue
            others = [c for mono, c in coefficients.items() if mono not in ((sizes[0],), (lanes[0],))]
            if divisor % extent == 0 and all(c % extent == 0 for c in others):
                size = facts.names.get(sizes[0], "the size")
                yield Hit(
                    effect.op,
                    f"the mask is pointless if {size} is a multiple of {divisor}, as promised",
                    "drop the promise if the size can be ragged, else drop the mask",
                )
                break
