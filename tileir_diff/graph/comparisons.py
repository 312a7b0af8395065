"""Comparisons of floating-point numbers in normal form: ordered ones, "less than" where that has a side."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from tileir_diff.graph import floats
from tileir_diff.graph.widening import narrowed, source_of

if TYPE_CHECKING:
    from tileir_diff.graph.terms import Term, Terms

SYMMETRIC = ("equal", "not_equal")
OPPOSITE = {"less_than_or_equal": "less_than", "not_equal": "equal"}
"""What does not hold where these do, perhaps of the operands exchanged; of numbers one of the two does."""
WITH_INFINITY = ("f16", "bf16", "tf32", "f32", "f64")
KEEPS_NUMBERS = ("negf", "absf", "ftof", "exp", "exp2", "floor", "ceil")
DEEPEST = 8
"""Further down nothing is looked at."""


def compare(terms: Terms, predicate: str, left: Term, right: Term) -> Term:
    """An ordered comparison: false where one of the two is no number."""
    values = floats.constant_of(terms, left), floats.constant_of(terms, right)
    if values[0] is not None and values[1] is not None:
        return terms.bool_const(_holds(predicate, values[0], values[1]))
    chosen = _of_chosen(terms, predicate, left, right)
    if chosen is not None:
        return chosen
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
    if predicate in OPPOSITE and is_number(terms, left) and is_number(terms, right):
        if predicate not in SYMMETRIC:
            left, right = right, left
        return terms.negate(terms.node("fcmp", (OPPOSITE[predicate],), (left, right)))
    return terms.node("fcmp", (predicate,), (left, right))


def _of_chosen(terms: Terms, predicate: str, left: Term, right: Term) -> Term | None:
    """One of two constants against a third one: the condition that chooses, or its negation."""
    for side, other in ((left, right), (right, left)):
        if terms.kind[side] != "ite":
            continue
        cond, *arms = terms.args[side]
        if any(floats.constant_of(terms, each) is None for each in (other, *arms)):
            continue
        pairs = [(arm, right) if side == left else (left, arm) for arm in arms]
        first, second = (compare(terms, predicate, *pair) for pair in pairs)
        return terms.ite(cond, first, second, "bool")
    return None


def is_number(terms: Terms, term: Term, depth: int = 0) -> bool:
    """Whether a value is no NaN, whatever is in memory; infinities are numbers here."""
    value = floats.constant_of(terms, term)
    if value is not None:
        return not math.isnan(value)
    if terms.kind[term] != "f" or depth == DEEPEST:
        return False
    name, element, *_ = terms.attr[term]
    if (element[1] if isinstance(element, tuple) else element) not in WITH_INFINITY:
        return False
    args = terms.args[term]
    if name == "itof":
        return True
    exact = name in ("mulf", "addf") or (name == "divf" and not terms.attr[term][2])
    if name in KEEPS_NUMBERS or (exact and _is_finite(terms, args[-1])):
        return is_number(terms, args[0], depth + 1)
    return name in ("mulf", "addf") and _is_finite(terms, args[0]) and is_number(terms, args[1], depth + 1)


def _is_finite(terms: Terms, term: Term) -> bool:
    """Whether a term is a constant that makes no NaN of an infinity."""
    value = floats.constant_of(terms, term)
    return value is not None and math.isfinite(value) and value != 0


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
