"""Comparisons of floating-point numbers in normal form: ordered ones, "less than" where that has a side."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tileir_diff.graph import floats
from tileir_diff.graph.widening import narrowed, source_of

if TYPE_CHECKING:
    from tileir_diff.graph.terms import Term, Terms

SYMMETRIC = ("equal", "not_equal")


def compare(terms: Terms, predicate: str, left: Term, right: Term) -> Term:
    """An ordered comparison: false where one of the two is no number."""
    values = floats.constant_of(terms, left), floats.constant_of(terms, right)
    if values[0] is not None and values[1] is not None:
        return terms.bool_const(_holds(predicate, values[0], values[1]))
    source = source_of(terms, left, right)
    if source is not None:
        narrow = [narrowed(terms, floats.normalise, source, side) for side in (left, right)]
        if narrow[0] is not None and narrow[1] is not None:
            left, right = narrow[0], narrow[1]
    turned = [_negative(terms, side) for side in (left, right)]
    if turned[0] is not None and turned[1] is not None:
        left, right = turned[1], turned[0]
    if predicate in SYMMETRIC:
        left, right = sorted((left, right))
    return terms.node("fcmp", (predicate,), (left, right))


def _negative(terms: Terms, term: Term) -> Term | None:
    """What a value is the negative of."""
    if terms.kind[term] == "f" and terms.attr[term][0] == "negf":
        return terms.args[term][0]
    return None


def _holds(predicate: str, left: float, right: float) -> bool:
    match predicate:
        case "less_than":
            return left < right
        case "less_than_or_equal":
            return left <= right
        case "equal":
            return left == right
        case _:
            return left < right or left > right
