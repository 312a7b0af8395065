"""The number that a reduction starts from, where every start below what is folded gives the same.

A maximum of absolute values that starts from 0 is the one that starts from minus infinity: of a body written
out in cuTile Rust every reduction starts from 0.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from tileir_diff.graph.formats import decode, encode

if TYPE_CHECKING:
    from tileir_diff.graph.terms import Term, Terms

NOT_BELOW_ZERO = frozenset({"absf", "exp", "exp2"})
"""Ops that never give a number below zero, nor a negative zero."""


def least_start(terms: Terms, combine: Term, body: Term, start: tuple[str, int]) -> tuple[str, int]:
    """The start (element type, bits) in normal form: minus infinity where it changes no maximum.

    ``combine`` must keep NaN: one that ignores it gives the start where all that is folded is NaN.
    """
    propagates = terms.kind[combine] == "f" and ("propagate_nan", True) in terms.attr[combine][2]
    lowest = encode(start[0], -math.inf) if propagates and harmless(terms, combine, body, start) else None
    return start if lowest is None else (start[0], lowest)


def harmless(terms: Terms, combine: Term, body: Term, start: tuple[str, int]) -> bool:
    """Whether a maximum of numbers, of which none is below zero, starts from zero or below."""
    node, value = terms.kind[combine], decode(*start)
    if node != "f" or terms.attr[combine][0] != "maxf" or value is None or not value <= 0:
        return False
    chosen = all(terms.kind[arg] == "region" for arg in terms.args[combine])
    return chosen and _not_negative(terms, body)


def _not_negative(terms: Terms, term: Term) -> bool:
    """Whether a value is never below zero, where it is a number."""
    if terms.kind[term] == "ite":
        return all(_not_negative(terms, arm) for arm in terms.args[term][1:])
    if terms.kind[term] == "fc":
        value = decode(*terms.attr[term])
        return value is not None and math.copysign(1.0, value) > 0
    if terms.kind[term] != "f":
        return False
    name, args = terms.attr[term][0], terms.args[term]
    if name in ("mulf", "ftof"):
        return len(set(args)) == 1 and (name == "mulf" or _not_negative(terms, args[0]))
    if name == "maxf":  # of two numbers; a NaN beside a number that is known counts for nothing, or for all
        known = [terms.kind[arg] == "fc" for arg in args if _not_negative(terms, arg)]
        return any(known) or len(known) == len(args)
    return name in NOT_BELOW_ZERO
