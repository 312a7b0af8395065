"""A promise that cannot be true.

## What it does

Compares each `assume` with what is known about its value: constants, lane numbers, ranges of block ids and
loop indices, and factors of sums and products.
It reports `div_by<D>` on a value that is no multiple of `D`, `bounded` on a value outside the bounds, and
`same_elements` on elements that differ.

## Why it matters

A false promise is undefined behaviour: the compiler may drop bounds checks and vectorise accesses that are
not aligned.
On a constant it shows that the facts of one argument were attached to another.

## Example

`%s = assume div_by<4>, %one` with `%one = constant <i32: 1>`: a stride of 1 was promised to be a multiple
of 4.

## Known problems

Promises on run-time values are checked as far as their form tells; most of them only running the kernel can
refute.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tileir_diff.dialect.attributes import Bounded, DivBy, SameElements
from tileir_diff.lints.facts import owner, splat, spread_from, tile
from tileir_diff.lints.model import Hit

if TYPE_CHECKING:
    from collections.abc import Iterator

    from xdsl.ir import SSAValue

    from tileir_diff.lints.facts import EntryFacts

SEVERITY = "warn"


def check(facts: EntryFacts) -> Iterator[Hit]:
    for op in facts.of("assume"):
        promise, value = op.get("assumption"), op.one("value")
        reason: str | None = None
        if isinstance(promise, DivBy):
            reason = _not_multiple(facts, value, promise)
        elif isinstance(promise, Bounded):
            reason = _out_of_bounds(facts, value, promise)
        elif isinstance(promise, SameElements):
            reason = _not_same(value, promise)
        if reason is not None:
            yield Hit(
                op,
                f"`{promise}` cannot hold: {reason}",
                "remove the promise, or make it about the right value",
            )


def _not_multiple(facts: EntryFacts, value: SSAValue | None, promise: DivBy) -> str | None:
    kind = tile(value)
    if kind is None or not str(kind.element).startswith("i"):
        return None
    number = splat(value)
    leaders_only = promise.every not in (None, 1)
    if isinstance(number, int):
        if leaders_only and kind.size > 1:
            return "all elements are equal, so groups of more than one do not step by 1"
        return f"the value is {number}" if number % promise.divisor else None
    if leaders_only:
        return None
    source = owner(spread_from(value))
    if source is not None and source.short == "iota" and kind.size > 1 and promise.divisor > 1:
        return "the value is the lane number"
    term, terms = facts.term(value), facts.terms
    if term is None or terms is None or terms.kind[term] != "poly":
        return None
    constant = dict(terms.attr[term]).get((), 0)
    if constant % promise.divisor and all(
        not coefficient % promise.divisor for mono, coefficient in terms.attr[term] if mono
    ):
        return f"the value is {facts.say(term)}"
    return None


def _out_of_bounds(facts: EntryFacts, value: SSAValue | None, promise: Bounded) -> str | None:
    kind = tile(value)
    if kind is None or not str(kind.element).startswith("i"):
        return None
    if promise.lower is not None and promise.upper is not None and promise.lower > promise.upper:
        return "the lower bound is above the upper one"
    number = splat(value)
    low: int | None
    high: int | None
    if isinstance(number, int):
        low = high = number
    else:
        source = owner(spread_from(value))
        if source is not None and source.short == "iota":
            low, high = 0, kind.size - 1
            if promise.upper is not None and high > promise.upper:
                return f"lane {high} is {high}"
        elif source is None or source.short in ("constant", "addi", "subi", "muli", "remi", "divi"):
            term, terms = facts.term(value), facts.terms
            if term is None or terms is None:
                return None
            low, high = terms.range(term)
        else:
            return None
    if promise.lower is not None and high is not None and high < promise.lower:
        return f"the value is at most {high}" if low != high else f"the value is {high}"
    if promise.upper is not None and low is not None and low > promise.upper:
        return f"the value is at least {low}" if low != high else f"the value is {low}"
    return None


def _not_same(value: SSAValue | None, promise: SameElements) -> str | None:
    source = owner(value)
    if source is None:
        return None
    if source.short == "iota" and promise.values and promise.values[0] > 1:
        return "lane numbers all differ"
    dense = source.get("value") if source.short == "constant" else None
    if dense is None or len(dense.shape) != 1 or dense.is_splat or not promise.values:
        return None
    size = promise.values[0]
    groups = (dense.bits[start : start + size] for start in range(0, len(dense.bits), size))
    return "the constant's elements differ" if any(len(set(group)) > 1 for group in groups) else None
