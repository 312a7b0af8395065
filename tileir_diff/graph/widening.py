"""Ops on floating-point numbers of a narrow type that are done in a wider one, where neither rounds.

To widen a number, to take its negative or its size, to choose one of several, and to compare them, is exact.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tileir_diff.dialect.scalars import FORMATS
from tileir_diff.graph.formats import decode, encode

if TYPE_CHECKING:
    from collections.abc import Callable

    from tileir_diff.graph.terms import Term, Terms

    Build = Callable[[Terms, tuple[Any, ...], tuple[Term, ...]], Term]
    """``floats.normalise``."""

EXACT = frozenset({"absf", "maxf", "minf"})
MAX_DEPTH = 8
"""So deep a value is looked into for numbers that were widened."""
_NORMAL = frozenset({"f4E2M1FN", "f8E4M3FN", "f8E5M2", "f16"})
"""Types of which all numbers but zeros are normal ones of f32."""


def _reach(name: str) -> tuple[int, int, int]:
    """Digits, and the negative of the exponent of the last, and the exponent of the largest number."""
    layout = FORMATS[name]
    digits, bias = layout.mantissa_bits, layout.bias
    lacks_top = layout.special == "ieee" or (layout.special == "nan" and not digits)
    return digits + 1, digits + bias - layout.has_zero, (1 << layout.exponent_bits) - 1 - lacks_top - bias


def _holds(source: str, target: str) -> bool:
    layout = FORMATS[target]
    whole = layout.signed and layout.has_zero and layout.special != "finite"
    return whole and all(least <= most for least, most in zip(_reach(source), _reach(target), strict=True))


_WIDER = {name: frozenset(to for to in FORMATS if to != name and _holds(name, to)) for name in FORMATS}


def widens(element: tuple[str, str]) -> bool:
    """Whether each number of the first type is one of the second."""
    return element[1] in _WIDER.get(element[0], ())


def holds_integer(terms: Terms, element: str, number: Term) -> bool:
    """Whether a type has each of the integers that a number may be."""
    limit = 1 << _reach(element)[0]
    return FORMATS[element].has_zero and terms.within(
        number, -limit if FORMATS[element].signed else 0, limit + 1
    )


def narrowed(terms: Terms, build: Build, target: str, term: Term, depth: int = MAX_DEPTH) -> Term | None:
    """The same numbers in the type ``target``; None where they were of a wider one from the start."""
    kind, attr, args = terms.kind[term], terms.attr[term], terms.args[term]
    if kind == "fc":
        return _constant(terms, target, *attr)
    if depth == 0 or kind not in ("f", "ite"):
        return None
    if kind == "ite":
        arms = [narrowed(terms, build, target, arm, depth - 1) for arm in args[1:]]
        known = [arm for arm in arms if arm is not None]
        return terms.ite(args[0], known[0], known[1], "data") if len(known) == len(arms) else None
    name, element, mods = attr
    if name == "ftof" and widens(element):
        if element[0] == target:
            return args[0]
        return (
            build(terms, ("ftof", (element[0], target), ()), args) if widens((element[0], target)) else None
        )
    if name == "itof":
        return build(terms, (name, target, ()), args) if holds_integer(terms, target, args[0]) else None
    if (name not in EXACT and name != "negf") or not FORMATS[target].signed:
        return None
    if target in _NORMAL:
        mods = tuple([item for item in mods if item[0] != "flush_to_zero"])
    if any(key == "flush_to_zero" for key, _ in mods):
        return None
    operands = [narrowed(terms, build, target, arg, depth - 1) for arg in args]
    given = tuple([each for each in operands if each is not None])
    return build(terms, (name, target, mods), given) if len(given) == len(args) else None


def _constant(terms: Terms, target: str, element: str, bits: int) -> Term | None:
    value = decode(element, bits)
    found = None if value is None else encode(target, value)
    return terms.node("fc", (target, found)) if found is not None and decode(target, found) == value else None


def widened(terms: Terms, build: Build, element: tuple[str, str], term: Term) -> Term | None:
    """What is exact in the narrow type, done in the wide one; None where nothing is."""
    if terms.kind[term] != "f":
        return None
    name, inner, mods = terms.attr[term]
    if name == "ftof" and widens(inner):
        return build(terms, ("ftof", (inner[0], element[1]), ()), terms.args[term])
    if name not in EXACT or any(key == "flush_to_zero" for key, _ in mods):
        return None
    operands = tuple([build(terms, ("ftof", element, ()), (arg,)) for arg in terms.args[term]])
    again = build(terms, (name, element[1], mods), operands)
    terms.inherit(term, again)
    return again


def narrow_fold(
    terms: Terms, build: Build, attr: tuple[Any, ...], combine: Term, body: Term
) -> tuple[tuple[str, str], tuple[Any, ...], Term, Term] | None:
    """A `reduce` or `scan` that takes the largest or smallest of numbers that were widened, before that.

    The narrow type and that of the result, then its attributes, what combines two numbers, and the body. None
    where it is another fold, or one of numbers that were of the wide type from the start.
    """
    if terms.kind[combine] != "f":
        return None
    op, element, mods = terms.attr[combine]
    chosen = all(terms.kind[arg] == "region" for arg in terms.args[combine])
    source = source_of(terms, body) if op in ("maxf", "minf") and chosen else None
    if source is None or source == element or any(key == "flush_to_zero" for key, _ in mods):
        return None
    name, position, extent, (identity,), *rest = attr
    start, narrow = _constant(terms, source, *identity), narrowed(terms, build, source, body)
    if start is None or narrow is None:
        return None
    combined = build(terms, (op, source, mods), terms.args[combine])
    return (source, element), (name, position, extent, (terms.attr[start],), *rest), combined, narrow


def source_of(terms: Terms, *values: Term) -> str | None:
    """The widest of the types that the values were widened from, before exact ops."""
    found: set[str] = set()
    work = [(value, MAX_DEPTH) for value in values]
    while work:
        value, depth = work.pop()
        if terms.kind[value] == "ite" and depth:
            work.extend((arm, depth - 1) for arm in terms.args[value][1:])
        if terms.kind[value] != "f" or depth == 0:
            continue
        name, element, _ = terms.attr[value]
        if name == "ftof" and widens(element):
            found.add(element[0])
        elif name in EXACT or name == "negf":
            work.extend((arg, depth - 1) for arg in terms.args[value])
    return max(found, key=lambda name: (-len(_WIDER[name]), name), default=None)
