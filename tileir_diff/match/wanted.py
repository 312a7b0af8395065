"""What the operands of an op ought to be for its result to be another one: integer arithmetic backwards."""

from __future__ import annotations

from copy import copy
from typing import TYPE_CHECKING, Any

from xdsl.ir.core import SSAValues

from tileir_diff.graph.evaluate import HANDLERS
from tileir_diff.graph.values import is_bool

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tileir_diff.dialect.ir import TileOp
    from tileir_diff.graph.evaluate import Evaluator
    from tileir_diff.graph.terms import Mono, Term, Terms

SAME = frozenset({"assume", "broadcast", "exti", "trunci", "bitcast"})
LINEAR = frozenset({"addi", "subi", "muli", "negi", "offset", "shli"})
MAX_NODES = 400


def wanted(
    ev: Evaluator, op: TileOp, now: Term, then: Term, term: Callable[[Any], Any]
) -> list[tuple[int, Term | None]]:
    """By operand, what it ought to be, the others as they are; None: it cannot be told.

    ``now`` and ``then``: the value of the op as it is and as it should be; ``term``: that of any value.
    ``ev`` is used to evaluate single ops.
    """
    terms = ev.terms
    operands = [term(value) for value in op.operands]
    if not all(isinstance(each, int) for each in operands) and op.short != "if":
        return [(index, None) for index in range(len(operands))]
    if op.short in SAME:
        return [(0, then if operands[0] == now else None)]
    if op.short in ("reshape", "permute"):
        return [(0, _turned_back(ev, op, then))]
    if op.short in LINEAR:
        return _linear(terms, op, operands, terms.sub(then, now))
    if op.short == "cmpi" and not is_bool(op.operands[0]):
        return _compared(terms, op, operands, now, then)
    if op.short in ("andi", "ori") and is_bool(op.results[0]):
        return _connected(terms, op, operands, then)
    pairs = dict(_parallel(terms, now, then, frozenset(operands)))
    return [(index, pairs.get(each)) for index, each in enumerate(operands)]


def _turned_back(ev: Evaluator, op: TileOp, then: Term) -> Term | None:
    """The source of a shape op that gives this result."""
    back = copy(op)
    back.results = SSAValues(op.operands)  # pyright: ignore[reportAttributeAccessIssue]
    back._operands = SSAValues(op.results)  # pyright: ignore[reportPrivateUsage]
    if op.short == "permute":
        order: tuple[int, ...] = op.get("permutation")
        from tileir_diff.dialect.attributes import value

        inverse = tuple(order.index(dim) for dim in range(len(order)))
        back.properties = {**op.properties, "permutation": value(inverse)}
    ev.env[op.results[0]] = then
    HANDLERS[op.short](ev, back)
    return ev.env[op.operands[0]]


def _linear(terms: Terms, op: TileOp, operands: list[Term], delta: Term) -> list[tuple[int, Term | None]]:
    """Sums and products: the operand's share of the difference."""
    factors: list[Term | None]
    match op.short:
        case "subi":
            factors = [terms.one, terms.const(-1)]
        case "muli":
            factors = [operands[1], operands[0]]
        case "negi":
            factors = [terms.const(-1)]
        case "shli":
            amount = terms.value(operands[1])
            factors = [None if amount is None else terms.const(1 << amount), None]
        case _:
            factors = [terms.one, terms.one]
    found: list[tuple[int, Term | None]] = []
    for index, factor in enumerate(factors):
        share = None if factor is None else quotient(terms, delta, factor)
        found.append((index, None if share is None else terms.add(operands[index], share)))
    return found


def quotient(terms: Terms, term: Term, by: Term) -> Term | None:
    """``term / by`` where it divides, monomial by monomial; ``by`` of several monomials: a multiple."""
    items = terms.items(by)
    if len(items) > 1:
        mine = terms.poly(term)
        mono, coef = items[0]
        rest = next(((m, c) for m, c in mine.items() if not set(mono) - set(m) and c % coef == 0), None)
        if rest is None:
            return None
        share = _divided(terms, {rest[0]: rest[1]}, mono, coef)
        return share if share is not None and terms.mul(share, by) == term else None
    if not items:
        return None
    return _divided(terms, terms.poly(term), *items[0])


def _divided(terms: Terms, poly: dict[Mono, int], by: Mono, coef: int) -> Term | None:
    result = terms.zero
    for mono, factor in poly.items():
        left = list(mono)
        for atom in by:
            if atom not in left:
                return None
            left.remove(atom)
        if factor % coef:
            return None
        part = terms.product([terms.atom(atom) for atom in left])
        result = terms.add(result, terms.scale(part, factor // coef))
    return result


def _compared(
    terms: Terms, op: TileOp, operands: list[Term], now: Term, then: Term
) -> list[tuple[int, Term | None]]:
    """A comparison: by how much one side is off."""
    lhs, rhs = operands
    found: list[tuple[int, Term | None]] = [(0, None), (1, None)]
    if terms.kind[then] != "le" or terms.kind[now] not in ("le", "true", "false"):
        return found
    predicate: str = op.get("predicate")
    aim = terms.args[then][0]
    for sign in (1, -1):
        for slack in (0, 1, -1):
            side = terms.scale(terms.add(aim, terms.const(slack)), sign)  # lhs - rhs
            if terms.compare(predicate, terms.add(rhs, side), rhs) == then:
                return [(0, terms.add(rhs, side)), (1, terms.sub(lhs, side))]
    return found


def _connected(terms: Terms, op: TileOp, operands: list[Term], then: Term) -> list[tuple[int, Term | None]]:
    """``and`` and ``or``: what the result has and the other operand does not."""
    found: list[tuple[int, Term | None]] = []
    either = op.short == "ori"
    parts = terms.conjuncts(terms.negate(then) if either else then)
    for index in range(2):
        other = operands[1 - index]
        known = terms.conjuncts(terms.negate(other) if either else other)
        rest = terms.conjunction([part for part in parts if not terms.implies(known, part)])
        rest = terms.negate(rest) if either else rest
        whole = (terms.disjunction if either else terms.conjunction)((rest, other))
        found.append((index, rest if whole == then else None))
    return found


def _parallel(terms: Terms, now: Term, then: Term, stops: frozenset[Any]) -> Iterator[tuple[Term, Term]]:
    """What stands in ``then`` where ``now`` has one of ``stops``, as far as the two have one shape."""
    work = [(now, then)]
    seen: set[tuple[Term, Term]] = set()
    while work and len(seen) < MAX_NODES:
        pair = work.pop()
        a, b = pair
        if a == b or pair in seen:
            continue
        seen.add(pair)
        if a in stops:
            yield pair
            continue
        if terms.kind[a] == terms.kind[b] == "poly":
            work.extend(_summands(terms, a, b))
            continue
        left, right = terms.args[a], terms.args[b]
        if terms.kind[a] != terms.kind[b] or terms.attr[a] != terms.attr[b] or len(left) != len(right):
            continue
        only_left = [each for each in left if each not in right]
        only_right = [each for each in right if each not in left]
        if len(only_left) == len(only_right) == 1:
            work.append((only_left[0], only_right[0]))
        else:
            work.extend(zip(left, right, strict=True))


def _summands(terms: Terms, a: Term, b: Term) -> list[tuple[Term, Term]]:
    """The one atom in which two sums differ."""
    ours, theirs = dict(terms.items(a)), dict(terms.items(b))
    left = [(mono, factor) for mono, factor in ours.items() if theirs.get(mono) != factor]
    right = [(mono, factor) for mono, factor in theirs.items() if ours.get(mono) != factor]
    if len(left) == len(right) == 1 and left[0][1] == right[0][1]:
        x = [atom for atom in left[0][0] if atom not in right[0][0]]
        y = [atom for atom in right[0][0] if atom not in left[0][0]]
        if len(x) == len(y) == 1:
            return [(x[0], y[0]), (terms.atom(x[0]), terms.atom(y[0]))]
    return []
