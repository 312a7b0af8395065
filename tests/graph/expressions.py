"""Random integer and boolean expressions: as terms in normal form, and as plain Python arithmetic.

An expression is a nested tuple, `("add", ("sym", 0), ("const", 3))`. The same expression is built through the
constructors of `Terms` (`build`) and evaluated directly (`value`); `holds` evaluates the term that came out.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from hypothesis import strategies as st

from tileir_diff.graph.terms import Range, Term, Terms

Expr = tuple[Any, ...]
Pick = Callable[[int, int], int]
"""An integer between two bounds, inclusive: from hypothesis, or from `random`."""

SYMBOLS: tuple[Range, ...] = ((0, 31), (0, None), (1, None), (-9, 7), (None, None), (1, 8), (0, 1))
"""Declared ranges of the symbols: lane, size, positive size, signed, unknown, small divisor, bit."""
DIVISORS = (2, 5)
"""Symbols that are positive, so that a division by them is defined."""
CONSTANTS = (0, 1, -1, 2, 3, 4, 7, 8, 16, 31, 32, -5, 128)
POSITIVE = (1, 2, 3, 4, 5, 8, 16, 32)
PREDICATES = (
    "less_than",
    "less_than_or_equal",
    "greater_than",
    "greater_than_or_equal",
    "equal",
    "not_equal",
)
LARGEST = 400
"""Values of symbols without an upper bound are drawn below this."""


def integer(pick: Pick, depth: int) -> Expr:
    """A random integer expression."""
    if depth == 0 or pick(0, 9) == 0:
        if pick(0, 2):
            return ("sym", pick(0, len(SYMBOLS) - 1))
        return ("const", CONSTANTS[pick(0, len(CONSTANTS) - 1)])
    kind = (
        "add",
        "sub",
        "mul",
        "scale",
        "floordiv",
        "ceildiv",
        "truncdiv",
        "mod",
        "min",
        "max",
        "ite",
        "b2i",
    )[pick(0, 11)]
    if kind == "b2i":
        return (kind, boolean(pick, depth - 1))
    if kind == "ite":
        return (kind, boolean(pick, depth - 1), integer(pick, depth - 1), integer(pick, depth - 1))
    if kind == "scale":
        return ("mul", integer(pick, depth - 1), ("const", CONSTANTS[pick(0, len(CONSTANTS) - 1)]))
    if kind in ("floordiv", "ceildiv", "truncdiv", "mod"):
        if pick(0, 2):
            divisor: Expr = ("const", POSITIVE[pick(0, len(POSITIVE) - 1)])
        else:
            divisor = ("sym", DIVISORS[pick(0, 1)])
        return (kind, integer(pick, depth - 1), divisor)
    return (kind, integer(pick, depth - 1), integer(pick, depth - 1))


def boolean(pick: Pick, depth: int) -> Expr:
    """A random predicate."""
    if depth == 0 or pick(0, 2) == 0:
        below = max(depth - 1, 0)
        return ("cmp", PREDICATES[pick(0, 5)], integer(pick, below), integer(pick, below))
    kind = ("and", "or", "not", "xor", "bite")[pick(0, 4)]
    if kind == "not":
        return (kind, boolean(pick, depth - 1))
    count = 3 if kind == "bite" else 2
    return (kind, *(boolean(pick, depth - 1) for _ in range(count)))


def assignment(pick: Pick) -> tuple[int, ...]:
    """A value in its range for every symbol, near an end of the range more often than not."""
    values: list[int] = []
    for low, high in SYMBOLS:
        least = low if low is not None else -LARGEST
        most = high if high is not None else LARGEST
        near = pick(0, 3)
        if near == 0:
            values.append(least if low is not None else -pick(0, 3))
        elif near == 1:
            values.append(most if high is not None else max(least, pick(0, 3)))
        else:
            values.append(pick(least, most))
    return tuple(values)


@st.composite
def integers(draw: st.DrawFn, depth: int = 4) -> Expr:
    return integer(lambda low, high: draw(st.integers(low, high)), depth)


@st.composite
def booleans(draw: st.DrawFn, depth: int = 3) -> Expr:
    return boolean(lambda low, high: draw(st.integers(low, high)), depth)


@st.composite
def assignments(draw: st.DrawFn) -> list[tuple[int, ...]]:
    return [assignment(lambda low, high: draw(st.integers(low, high))) for _ in range(6)]


def symbols(terms: Terms) -> list[Term]:
    """The leaves, with their ranges declared."""
    leaves: list[Term] = []
    for index, bounds in enumerate(SYMBOLS):
        leaf = terms.leaf("arg", 0, index)
        terms.ranges[leaf] = bounds
        leaves.append(leaf)
    return leaves


def build(terms: Terms, expr: Expr) -> Term:
    """The expression in normal form."""
    match expr:
        case ("sym", index):
            return terms.atom(terms.leaf("arg", 0, index))
        case ("const", number):
            return terms.const(number)
        case ("b2i", inner):
            return terms.b2i(build(terms, inner))
        case ("not", inner):
            return terms.negate(build(terms, inner))
        case ("cmp", predicate, left, right):
            return terms.compare(predicate, build(terms, left), build(terms, right))
        case ("ite", *parts):
            cond, left, right = (build(terms, part) for part in parts)
            return terms.ite(cond, left, right, "int")
        case ("bite", *parts):
            cond, left, right = (build(terms, part) for part in parts)
            return terms.ite(cond, left, right, "bool")
        case (kind, left_expr, right_expr):
            left, right = build(terms, left_expr), build(terms, right_expr)
        case _:
            raise AssertionError(expr)
    pair = (left, right)
    match kind:
        case "add":
            return terms.add(*pair)
        case "sub":
            return terms.sub(*pair)
        case "mul":
            return terms.mul(*pair)
        case "floordiv":
            return terms.floordiv(*pair)
        case "ceildiv":
            return terms.ceildiv(*pair)
        case "truncdiv":
            return terms.truncdiv(*pair)
        case "mod":
            return terms.mod(*pair)
        case "min":
            return terms.minimum(pair)
        case "max":
            return terms.maximum(pair)
        case "and":
            return terms.conjunction(pair)
        case "or":
            return terms.disjunction(pair)
        case "xor":
            return terms.exclusive_or(*pair)
        case _:
            raise AssertionError(kind)


def value(expr: Expr, symbols: tuple[int, ...]) -> int:
    """The expression in Python arithmetic; a predicate gives 0 or 1."""
    match expr:
        case ("sym", int(index)):
            return symbols[index]
        case ("const", int(number)):
            return number
        case (("ite" | "bite"), cond, left, right):
            return value(left if value(cond, symbols) else right, symbols)
        case ("cmp", predicate, left, right):
            return int(_compare(predicate, value(left, symbols), value(right, symbols)))
        case ("not", inner):
            return 1 - value(inner, symbols)
        case ("b2i", inner):
            return value(inner, symbols)
        case (kind, left, right):
            return BINARY[kind](value(left, symbols), value(right, symbols))
        case _:
            raise AssertionError(expr)


def truncated(a: int, b: int) -> int:
    """Division that rounds towards zero."""
    quotient = abs(a) // abs(b)
    return quotient if (a < 0) == (b < 0) else -quotient


BINARY: Mapping[str, Callable[[int, int], int]] = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "floordiv": lambda a, b: a // b,
    "ceildiv": lambda a, b: -(-a // b),
    "truncdiv": truncated,
    "mod": lambda a, b: a % b,
    "min": min,
    "max": max,
    "and": lambda a, b: a & b,
    "or": lambda a, b: a | b,
    "xor": lambda a, b: a ^ b,
}


def _compare(predicate: str, a: int, b: int) -> bool:
    return {
        "less_than": a < b,
        "less_than_or_equal": a <= b,
        "greater_than": a > b,
        "greater_than_or_equal": a >= b,
        "equal": a == b,
        "not_equal": a != b,
    }[predicate]


def evaluate(terms: Terms, term: Term, leaves: Mapping[Term, int]) -> int:
    """What a term of the store stands for; a predicate gives 0 or 1."""
    memo = dict(leaves)

    def visit(node: Term) -> int:
        found = memo.get(node)
        if found is None:
            found = memo[node] = _node(node)
        return found

    def _node(node: Term) -> int:
        kind, args = terms.kind[node], terms.args[node]
        if kind == "poly":
            total = 0
            for mono, coefficient in terms.attr[node]:
                for atom in mono:
                    coefficient *= visit(atom)
                total += coefficient
            return total
        match kind:
            case "true":
                return 1
            case "false":
                return 0
            case "div":
                return visit(args[0]) // visit(args[1])
            case "tdiv":
                return truncated(visit(args[0]), visit(args[1]))
            case "mul":
                return visit(args[0]) * visit(args[1])
            case "min":
                return min(visit(arg) for arg in args)
            case "max":
                return max(visit(arg) for arg in args)
            case "b2i":
                return visit(args[0])
            case "le":
                return int(visit(args[0]) <= 0)
            case "eq":
                return int(visit(args[0]) == 0)
            case "not":
                return 1 - visit(args[0])
            case "and":
                return int(all(visit(arg) for arg in args))
            case "or":
                return int(any(visit(arg) for arg in args))
            case "xor":
                return visit(args[0]) ^ visit(args[1])
            case "ite":
                return visit(args[1] if visit(args[0]) else args[2])
            case _:
                raise AssertionError(f"no meaning given to {kind}")

    return visit(term)
