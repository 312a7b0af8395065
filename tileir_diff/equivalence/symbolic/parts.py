"""Two large integers or conditions, made alike part by part.

What differs is often one division deep inside of an index. Parts of the second that have the same values as
parts of the first, for some inputs that were tried, are probably equal; what is proven so is replaced, from
the innermost part outwards, and the whole is compared again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tileir_diff.equivalence.symbolic.facts import nodes_under
from tileir_diff.match.witness import apply

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from tileir_diff.equivalence.symbolic.answer import Answer, Fact
    from tileir_diff.graph.terms import Term, Terms

    Ask = Callable[[Term, Term], Answer]

SAMPLES = 24
FEW = 4
"""Fewer inputs than this tell too little."""
MAX_NODES = 400
MAX_LEMMAS = 12
NUMBERS = frozenset({"poly", "div", "tdiv", "min", "max", "mul", "wrap", "zext", "iop", "b2i"})
PREDICATES = frozenset({"le", "eq", "ult", "not", "and", "or"})


def made_alike(
    terms: Terms, a: Term, b: Term, known: Sequence[Term], ask: Ask
) -> tuple[Term, dict[Fact, None]]:
    """``b`` with parts of ``a`` in place of equal ones, and what that rests on.

    ``known``: predicates that hold for all inputs that matter; ``ask``: whether two parts are equal.
    """
    ours, theirs = sorted(nodes_under(terms, (a,))), sorted(nodes_under(terms, (b,)))
    facts: dict[Fact, None] = {}
    if max(len(ours), len(theirs)) > MAX_NODES:
        return b, facts
    values, fitting = _values(terms, sorted(nodes_under(terms, (a, b, *known))), known)
    if fitting and values[a] != values[b]:
        return b, facts
    by_values: dict[tuple[bool, tuple[int, ...]], list[Term]] = {}
    for node in ours:
        if _is_part(terms, node):
            by_values.setdefault(_key(terms, node, values), []).append(node)
    new: dict[Term, Term] = {}
    left = MAX_LEMMAS
    for node in theirs:
        args = tuple(new.get(arg, arg) for arg in terms.args[node])
        new[node] = node if args == terms.args[node] else terms.rebuild(node, args)
        partners = by_values.get(_key(terms, node, values), []) if _is_part(terms, node) else []
        if not partners or new[node] in partners or left == 0:
            continue
        left -= 1
        partner = next((each for each in partners if terms.kind[each] == terms.kind[node]), partners[0])
        answer = ask(partner, new[node])
        if answer.proven:
            new[node] = partner
            facts.update(dict.fromkeys(answer.facts))
    return new[b], facts


def _key(terms: Terms, node: Term, values: dict[Term, tuple[int, ...]]) -> tuple[bool, tuple[int, ...]]:
    """What equal parts have in common."""
    return terms.kind[node] in PREDICATES, values[node]


def _is_part(terms: Terms, node: Term) -> bool:
    kind = terms.kind[node]
    if kind == "ite":
        return terms.kind[terms.args[node][1]] == "poly"
    return kind in PREDICATES or (kind in NUMBERS and terms.value(node) is None)


def _values(
    terms: Terms, nodes: Sequence[Term], known: Iterable[Term]
) -> tuple[dict[Term, tuple[int, ...]], bool]:
    """The value of each node for some inputs, the same each time; and whether these fulfil what is known."""
    rows = [_row(terms, nodes, number) for number in range(8 * SAMPLES)]
    fitting = [row for row in rows if all(row[each] for each in known)]
    enough = len(fitting) >= FEW
    chosen = (fitting if enough else rows)[:SAMPLES]
    return {node: tuple(row[node] for row in chosen) for node in nodes}, enough


def _row(terms: Terms, nodes: Sequence[Term], number: int) -> dict[Term, int]:
    """One input, and what all nodes are for it. What is not computed is part of the input."""
    row: dict[Term, int] = {}
    for node in nodes:
        args = terms.args[node]
        leaf = not args and terms.kind[node] not in ("true", "false")
        value = None if leaf else apply(terms, node, [row[arg] for arg in args])
        row[node] = _chosen(terms, node, number) if value is None else value
    return row


def _chosen(terms: Terms, node: Term, number: int) -> int:
    """A likely number in the range of a node: sizes are multiples of 16, blocks and iterations are few."""
    mixed = (node * 2654435761 + number * 2246822519) % (1 << 32)
    mixed ^= mixed >> 15
    mixed = mixed * 2246822519 % (1 << 32) >> 8
    match terms.kind[node]:
        case "arg":
            value = 16 * (1 + (mixed >> 4) % (4, 40, 400)[mixed % 3]) + (mixed >> 12) % 16 * (number % 4 == 3)
        case "grid":
            value = 50 + mixed % 5000
        case "block" | "iter" | "it":
            value = (mixed >> 4) % (60, 9, 3)[mixed % 3]
        case _:
            value = mixed % 5000 - 2500 * (number % 2)
    low, high = terms.range(node)
    if low is not None and high is not None and not low <= value <= high:
        return low + value % (high - low + 1)
    return max(value, value if low is None else low)
