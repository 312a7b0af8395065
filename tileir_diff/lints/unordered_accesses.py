"""Two accesses to one array, one a store, that no token orders.

## What it does

Looks at each store and the later loads, stores and atomics on the same array.
It reports a pair that no chain of tokens orders, unless the two are in different branches of one `if` or
are shown to touch different elements.

## Why it matters

Memory operations are ordered by tokens alone, not by their place in the text: the compiler may swap the two.
The load then reads the old value, or the wrong store wins, in some versions and at some optimisation levels
only.

## Example

`%t = store_ptr_tko weak %p, %x`, then `load_ptr_tko weak %p token=%t0` where `%t0` does not come from `%t`:
pass `%t`.

## Known problems

Arrays that two parameters point to, and order across iterations of a loop, are not looked at.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tileir_diff.graph.orders import TokenOrder
from tileir_diff.lints.model import Hit

if TYPE_CHECKING:
    from collections.abc import Iterator

    from xdsl.ir import Region

    from tileir_diff.dialect.ir import TileOp
    from tileir_diff.graph.kernel import Effect
    from tileir_diff.graph.terms import Term, Terms
    from tileir_diff.lints.facts import EntryFacts

SEVERITY = "warn"

WINDOW = 256
"""How many earlier accesses of its array each one is compared with."""


def check(facts: EntryFacts) -> Iterator[Hit]:
    kernel = facts.kernel
    if kernel is None:
        return
    by_base: dict[Term, list[Effect]] = {}
    for effect in kernel.effects:
        if effect.base is not None and effect.pointer is not None:
            by_base.setdefault(effect.base, []).append(effect)
    if all(all(effect.kind == "load" for effect in effects) for effects in by_base.values()):
        return
    tokens = TokenOrder(kernel)
    for effects in by_base.values():
        for position, later in enumerate(effects):
            for earlier in effects[max(0, position - WINDOW) : position]:
                if earlier.kind != "store" or tokens.now(earlier.order, later.order):
                    continue
                if _exclusive(earlier.op, later.op) or _disjoint(kernel.terms, earlier, later):
                    continue
                what = later.kind if later.kind in ("store", "load") else "atomic"
                line = earlier.op.span.line
                yield Hit(
                    later.op,
                    f"no token orders this {what} after the store of line {line} to its array",
                    "pass the token of the store, joined with others where there are several",
                )
                break


def _exclusive(first: TileOp, second: TileOp) -> bool:
    """Whether two ops are in different regions of one op: only one of them runs."""
    regions = {region.parent: region for region in _regions(first)}
    return any(regions.get(region.parent, region) is not region for region in _regions(second))


def _regions(op: TileOp) -> Iterator[Region]:
    region = op.parent_region()
    while region is not None:
        yield region
        parent = region.parent
        region = None if parent is None else parent.parent_region()


def _disjoint(terms: Terms, first: Effect, second: Effect) -> bool:
    """Whether two accesses to one array are shown to touch different elements."""
    assert first.pointer is not None
    assert second.pointer is not None
    if (
        first.coordinates
        and len(first.coordinates) == len(second.coordinates)
        and first.strides == second.strides
    ):
        pairs = list(zip(first.coordinates, second.coordinates, strict=True))
    else:
        pairs = [(first.pointer, second.pointer)]
    return any(_apart(terms, left, right) for left, right in pairs)


def _apart(terms: Terms, left: Term, right: Term) -> bool:
    # lanes of the two accesses are independent of each other
    renamed = {
        leaf: terms.atom(terms.bound(terms.height[right] + 1 + terms.attr[leaf][0], terms.attr[leaf][1]))
        for leaf in terms.symbols[right]
        if terms.kind[leaf] == "lane"
    }
    low, high = terms.range(terms.sub(left, terms.subst(right, renamed)))
    return (low is not None and low > 0) or (high is not None and high < 0)
