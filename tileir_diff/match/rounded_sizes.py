"""Sizes that both sides divide by a tile and round up, but one of them only where they are not negative."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tileir_diff.graph.kernel import Kernel
    from tileir_diff.graph.terms import Term
    from tileir_diff.match.search import Attempt

FLOOR, TOWARDS_ZERO = "div", "tdiv"


def sizes_rounded_up(attempt: Attempt) -> dict[Term, int]:
    """The symbols of such parameters, each with what it is divided by.

    One side has ``(n + tile - 1) / tile``, which rounds towards zero: whoever counts tiles so has an ``n``
    that is not negative. Another dividend, or a quotient that is not rounded up, is none of these.
    """
    ref, gen = attempt.reference, attempt.generated
    found: dict[Term, int] = {}
    for ours, theirs in ((FLOOR, TOWARDS_ZERO), (TOWARDS_ZERO, FLOOR)):
        counts = _tile_counts(gen, theirs)
        found.update(count for count in _tile_counts(ref, ours) if count in counts)
    return found


def _tile_counts(kernel: Kernel, rounding: str) -> list[tuple[Term, int]]:
    """Parameter and divisor of each quotient ``(n + tile - 1) / tile`` that a kernel rounds in this way."""
    terms = kernel.terms
    found: list[tuple[Term, int]] = []
    for op in kernel.ops:
        term = kernel.values.get(op.results[0]) if op.short == "divi" else None
        quotient = terms.single(term) if isinstance(term, int) else None
        if quotient is None or terms.kind[quotient] != rounding:
            continue
        dividend, tile = terms.args[quotient][0], terms.value(terms.args[quotient][1])
        if tile is None or tile < 2:
            continue
        size = terms.single(terms.sub(dividend, terms.const(tile - 1)))
        if size is not None and terms.kind[size] == "arg":
            found.append((size, tile))
    return found
