"""A concrete case in which two integer terms or predicates differ, found by trying values."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from tileir_diff.graph.terms import Term, Terms

TRIES = 60
EXACT = 12
"""How many of the tries are also moved to where a comparison changes."""
MOST_BOUNDS = 8
TYPICAL = (1, 2, 3, 5, 8, 17, 33, 100, 127, 129, 255, 1000, 1023, 4097)
"""Sizes that fill no tile, that fill one, that go just past one."""


def differ(terms: Terms, left: Term, right: Term) -> dict[Term, int] | None:
    """Values of the symbols for which both can be evaluated and differ; None when none was found."""
    if left == right:
        return None
    symbols = sorted(terms.symbols[left] | terms.symbols[right])
    bounds = _bounds(terms, (left, right))
    for attempt, typical in enumerate(_assignments(terms, symbols)):
        for values in (typical, *(_at_bounds(terms, bounds, typical) if attempt < EXACT else ())):
            a, b = evaluate(terms, left, values), evaluate(terms, right, values)
            if a is not None and b is not None and a != b:
                return values
    return None


def _bounds(terms: Terms, roots: Iterable[Term]) -> list[tuple[Term, Term, int]]:
    """Numbers that are compared with zero, each with a symbol in it to solve for and the symbol's factor."""
    found: list[tuple[Term, Term, int]] = []
    work, seen = list(roots), set(roots)
    while work and len(found) < MOST_BOUNDS:
        node = work.pop()
        new = [arg for arg in terms.args[node] if arg not in seen]
        seen.update(new)
        work += new
        if terms.kind[node] not in ("le", "eq"):
            continue
        (inner,) = terms.args[node]
        factors = terms.poly(inner)
        for kind in ("arg", "lane"):  # a size first: it fits any block and lane
            symbols = [
                x for x in terms.symbols[inner] if terms.kind[x] == kind and factors.get((x,)) in (1, -1)
            ]
            found += [(inner, symbol, factors[(symbol,)]) for symbol in sorted(symbols)[:1]]
    return found


def _at_bounds(
    terms: Terms, bounds: list[tuple[Term, Term, int]], values: dict[Term, int]
) -> Iterator[dict[Term, int]]:
    """The values with one changed, so that a number that is compared with zero is 0, 1 or -1."""
    for inner, symbol, factor in bounds:
        now = evaluate(terms, inner, values)
        low, high = terms.range(symbol)
        for wanted in (0, 1, -1) if now is not None else ():
            value = values[symbol] + (wanted - (now or 0)) * factor
            if (low is None or value >= low) and (high is None or value <= high):
                yield {**values, symbol: value}


def _assignments(terms: Terms, symbols: list[Term]) -> Iterator[dict[Term, int]]:
    """Deterministic values within the ranges of the symbols."""
    state = 12345
    for attempt in range(TRIES):
        values: dict[Term, int] = {}
        for position, symbol in enumerate(symbols):
            state = (state * 1103515245 + 12345) % (1 << 31)
            low, high = terms.range(symbol)
            start = 0 if low is None else low
            if terms.kind[symbol] == "arg" and start < 1 and (high is None or high >= 1):
                start = 1  # sizes, mostly
            stop = start + 5000 if high is None else min(high, start + 5000)
            kind = terms.kind[symbol]
            if kind == "arg":
                value = TYPICAL[(state >> 8) % len(TYPICAL)]
            elif kind in ("block", "grid", "iter", "it"):
                value = start + (state >> 8) % 6
            else:
                value = start + (state >> 8) % (stop - start + 1)
            if attempt == 0 and kind != "arg":
                value = start + position % 2
            values[symbol] = max(start, min(value, stop))
        yield values


def evaluate(terms: Terms, term: Term, values: dict[Term, int]) -> int | None:
    """The value of an integer term, or 0 / 1 of a predicate; None where it depends on data."""
    memo: dict[Term, int | None] = dict(values)
    stack = [term]
    while stack:
        node = stack[-1]
        if node in memo:
            stack.pop()
            continue
        waiting = [arg for arg in terms.args[node] if arg not in memo]
        if waiting:
            stack.extend(waiting)
            continue
        args = [value for arg in terms.args[node] if (value := memo[arg]) is not None]
        memo[node] = apply(terms, node, args) if len(args) == len(terms.args[node]) else None
        stack.pop()
    return memo[term]


def apply(terms: Terms, node: Term, args: list[int]) -> int | None:
    """What a node makes of the values of its arguments; None where that is no arithmetic."""
    kind = terms.kind[node]
    if kind == "true":
        return 1
    if kind == "false":
        return 0
    if kind == "poly":
        place = dict(zip(terms.args[node], args, strict=True))
        total = 0
        for mono, coef in terms.attr[node]:
            product = coef
            for atom in mono:
                product *= place[atom]
            total += product
        return total
    match kind:
        case "div":
            return args[0] // args[1] if args[1] else None
        case "tdiv":
            if not args[1]:
                return None
            quotient = abs(args[0]) // abs(args[1])
            return quotient if (args[0] < 0) == (args[1] < 0) else -quotient
        case "min":
            return min(args)
        case "max":
            return max(args)
        case "mul":
            return args[0] * args[1]
        case "ite":
            return args[1] if args[0] else args[2]
        case "b2i":
            return args[0]
        case "le":
            return int(args[0] <= 0)
        case "eq":
            return int(args[0] == 0)
        case "not":
            return 1 - args[0]
        case "and":
            return int(all(args))
        case "or":
            return int(any(args))
        case "wrap":
            half = 1 << (terms.attr[node][0] - 1)
            return (args[0] + half) % (2 * half) - half
        case "zext":
            return args[0] % (1 << terms.attr[node][0])
        case "ult":
            return int(args[0] % (1 << terms.attr[node]) < args[1] % (1 << terms.attr[node]))
        case _:
            return None
