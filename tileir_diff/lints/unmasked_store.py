"""A store without a mask, of values that were loaded up to an edge.

## What it does

Looks for `store_ptr_tko` without a mask whose value is, lane by lane, "loaded inside the array, else
padding": from a masked pointer load, or from a view whose tile can run over the edge.
The bound must be on lanes that the address of the store depends on too, and no branch around the store may
give it.

## Why it matters

The load was bounded because the tile can run over the end of the array.
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

    from tileir_diff.dialect.ir import TileOp
    from tileir_diff.graph.kernel import Effect
    from tileir_diff.graph.terms import Term, Terms
    from tileir_diff.lints.facts import EntryFacts

SEVERITY = "warn"


def check(facts: EntryFacts) -> Iterator[Hit]:
    kernel = facts.kernel
    if kernel is None:
        return
    origin = kernel.terms.origins[kernel.side]
    for effect in kernel.effects:
        if effect.kind != "store" or effect.family != "pointer" or effect.op.one("mask") is not None:
            continue
        found = _bounded_value(kernel.terms, effect, origin)
        if found is None:
            continue
        mask, load = found
        shape, line = "x".join(map(str, effect.shape)), load.span.line
        yield Hit(
            effect.op,
            f"the store of {shape} lanes has no mask; the load of line {line} behind it has bounds",
            f"mask the store as the load ({facts.say(mask)})",
        )


def _bounded_value(terms: Terms, effect: Effect, origin: dict[Term, TileOp]) -> tuple[Term, TileOp] | None:
    """The bound under which the stored value is a loaded one, and the load; None without such a bound."""
    if effect.pointer is None:
        return None
    lanes = lanes_of(terms, effect.pointer)
    held = terms.conjuncts(effect.guard)
    seen: set[Term] = set()
    work = list(effect.values)
    while work:
        term = work.pop()
        if term in seen or not lanes & terms.symbols[term]:
            continue
        seen.add(term)
        kind = terms.kind[term]
        if kind in ("reduce", "mma", "mem", "colour"):
            continue
        if kind == "ite":
            condition, on_true, on_false = terms.args[term]
            for arm, holds in ((on_true, condition), (on_false, terms.negate(condition))):
                atom = terms.single(arm)
                loaded = arm if atom is None else atom
                bounds = lanes_of(terms, holds) & lanes
                if (
                    terms.kind[loaded] == "mem"
                    and loaded in origin
                    and bounds
                    and not terms.implies(held, holds)
                ):
                    return holds, origin[loaded]
        work.extend(terms.args[term])
    return None


def lanes_of(terms: Terms, term: Term) -> frozenset[Term]:
    return frozenset(symbol for symbol in terms.symbols[term] if terms.kind[symbol] == "lane")
