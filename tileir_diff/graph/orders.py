"""Which effects tokens order before which, on every path and, for loops, from one iteration to the next."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from tileir_diff.dialect.ir import TileOp
    from tileir_diff.graph.kernel import Kernel, Loop


class Way(NamedTuple):
    """One token that a merge may hand on, and the effects that are not carried out where it does.

    entry   whether it is the token from before the loop
    again   effects that are carried out once more after the token was made
    op      what hands it on: a terminator, or the loop that is given it
    """

    sources: frozenset[int]
    absent: range = range(0)
    entry: bool = False
    again: range = range(0)
    op: TileOp | None = None


class Merge(NamedTuple):
    """Where one of several tokens goes on: behind an ``if``, at the head of a loop, behind a loop.

    inside   of a loop: the effects of its body
    head     whether the token is an argument of the loop's body, not one of its results
    """

    ways: tuple[Way, ...]
    loop: Loop | None = None
    inside: range = range(0)
    head: bool = False


def bits(orders: range) -> int:
    """The bit set of consecutive effects."""
    return (1 << orders.stop) - (1 << orders.start) if orders else 0


class TokenOrder:
    """Order by tokens, as bit sets over ``Effect.order``.

    A merge orders an effect before what follows only where each of its ways does, or where the effect is not
    carried out on that way. ``extra``: more effects that come before an effect, by its order;
    ``merges``: what to take instead of some of the kernel's.
    """

    def __init__(
        self,
        kernel: Kernel,
        extra: Mapping[int, Iterable[int]] | None = None,
        merges: Mapping[int, Merge] | None = None,
    ) -> None:
        self._merges = {**kernel.merges, **(merges or {})}
        self._after = {
            effect.order: effect.after.union((extra or {}).get(effect.order, ())) for effect in kernel.effects
        }
        self._count = len(kernel.effects)
        self._everything = (1 << (self._count + len(kernel.merges))) - 1
        self._now = self._settle(self._at_merge)
        self._carried: dict[tuple[int, bool], dict[int, int]] = {}

    def now(self, earlier: int, later: int) -> bool:
        """Whether ``earlier`` comes before ``later``, both as carried out last."""
        return bool(self._now[later] >> earlier & 1)

    def carried(self, loop: Loop, earlier: int, later: int, *, far: bool) -> bool:
        """Whether ``earlier``, in the iteration before, comes before ``later``; ``far``: in all before."""
        key = loop.uid, far
        if key not in self._carried:
            self._carried[key] = self._settle(
                lambda number, known: self._at_carry(number, known, loop, far=far)
            )
        return bool(self._carried[key][later] >> earlier & 1)

    def _bit(self, number: int) -> int:
        return 1 << (number if number >= 0 else self._count - 1 - number)

    def _closure(self, sources: Iterable[int], known: Mapping[int, int]) -> int:
        found = 0
        for source in sources:
            found |= known[source] | self._bit(source)
        return found

    def _settle(self, at_merge: _AtMerge) -> dict[int, int]:
        """The greatest solution: loops only ever take orders away."""
        known = dict.fromkeys((*self._after, *self._merges), self._everything)
        changed = True
        while changed:
            changed = False
            for number in (*self._merges, *self._after):
                new = at_merge(number, known)
                if new != known[number]:
                    known[number] = new
                    changed = bool(self._merges)
        return known

    def _at_merge(self, number: int, known: Mapping[int, int]) -> int:
        if number >= 0:
            return self._closure(self._after[number], known)
        merge = self._merges[number]
        found = self._everything
        for way in merge.ways:
            found &= (self._closure(way.sources, known) | bits(way.absent)) & ~bits(way.again)
        return found & ~bits(merge.inside) if merge.head else found

    def _at_carry(self, number: int, known: Mapping[int, int], loop: Loop, *, far: bool) -> int:
        merge = self._merges.get(number)
        if merge is None:
            return _union(self._after[number], known)
        if merge.loop is loop and merge.head:
            found = bits(merge.inside)
            reached = True
            for way in merge.ways:
                if not way.entry:
                    closure = self._closure(way.sources, self._now)
                    reached = reached and bool(closure & self._bit(number))
                    found &= closure | bits(way.absent)
            return found if reached or not far else 0
        ways = [way for way in merge.ways if not (way.entry and merge.loop is loop)]
        found = self._everything if ways else 0
        for way in ways:
            found &= _union(way.sources, known)
        return found


def _union(sources: Iterable[int], known: Mapping[int, int]) -> int:
    found = 0
    for source in sources:
        found |= known[source]
    return found


if TYPE_CHECKING:
    from collections.abc import Callable

    _AtMerge = Callable[[int, Mapping[int, int]], int]
