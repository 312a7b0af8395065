"""What was written to an array so far, on any path: so that a load is told from one after another write.

Plain data: a write is its address; what a branch or a loop wrote stands together.
"""

from __future__ import annotations

from functools import reduce
from math import gcd
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from tileir_diff.graph.terms import Term, Terms

MAX_COMPARED = 32
"""Of more writes to one array all count, wherever they are: each load is compared with each write."""


class Either(NamedTuple):
    """What the branches of an `if` wrote."""

    then: tuple[Write, ...]
    other: tuple[Write, ...]


class Looped(NamedTuple):
    """What the body of a loop wrote."""

    body: tuple[Write, ...]


if TYPE_CHECKING:
    Write = Term | Either | Looped


class History(NamedTuple):
    """The writes to one array in order, and how many they are on the path with the most."""

    writes: tuple[Write, ...] = ()
    total: int = 0

    def then(self, pointer: Term) -> History:
        return History((*self.writes, pointer), self.total + 1)

    def branched(self, then: History, other: History) -> History:
        """After an `if` whose branches went on from here."""
        known = len(self.writes)
        either = Either(then.writes[known:], other.writes[known:])
        return History((*self.writes, either), max(then.total, other.total))

    def looped(self, body: History) -> History:
        """After a loop whose body went on from here: one more, as what is read then is not what it read."""
        return History((*self.writes, Looped(body.writes[len(self.writes) :])), body.total + 1)

    def before(self, terms: Terms, pointer: Term) -> int:
        """How many of them may have written where the pointer points."""
        return self.total if self.total > MAX_COMPARED else _count(terms, self.writes, pointer)


def _count(terms: Terms, writes: tuple[Write, ...], pointer: Term) -> int:
    total = 0
    for write in writes:
        if isinstance(write, Either):
            total += max(_count(terms, branch, pointer) for branch in write)
        elif isinstance(write, Looped):
            inside = _count(terms, write.body, pointer)
            total += inside + 1 if inside else 0
        else:
            total += not apart(terms, pointer, write)
    return total


def apart(terms: Terms, first: Term, second: Term) -> bool:
    """Whether two addresses never meet on any lanes, by their distance: its range, or what is left of it by
    the larger strides.

    A symbol of a loop must mean the same iteration in both.
    """
    lanes = [symbol for symbol in terms.symbols[second] if terms.kind[symbol] == "lane"]
    distance = terms.sub(first, terms.subst(second, {lane: _other(terms, lane) for lane in lanes}))
    low, high = terms.range(distance)
    return (low is not None and low > 0) or (high is not None and high < 0) or _between(terms, distance)


def _between(terms: Terms, distance: Term) -> bool:
    """Whether a number lies between two multiples of the largest of its factors: `128 * i + 32 + j` with j
    below 32 is never 0."""
    items = sorted(terms.items(distance), key=lambda item: (not item[0], -abs(item[1]), item[0]))
    rest, step = distance, 0
    for mono, factor in items:
        if not mono:
            break
        step = gcd(step, factor)
        rest = terms.sub(rest, reduce(terms.mul, map(terms.atom, mono), terms.const(factor)))
        low, high = terms.range(rest)
        if low is not None and high is not None and -(-low // step) * step > high:
            return True
    return False


def _other(terms: Terms, lane: Term) -> Term:
    """Another lane of the same tile."""
    dim, extent = terms.attr[lane]
    return terms.lane(dim + 100, extent)
