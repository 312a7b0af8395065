"""One launch of both sides: the arrays with their sizes, the arguments of each side, the grids."""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

Grid: TypeAlias = tuple[int, int, int]


class Array(NamedTuple):
    """Memory that both sides get. `elements`: how many; `offset`: bytes from a multiple of 256 to it."""

    name: str
    element: str
    elements: int
    offset: int = 0


class Pointer(NamedTuple):
    """An argument that points to an array of the plan; None: a null pointer."""

    array: int | None


Slot: TypeAlias = "Pointer | int | float"
"""The value of one parameter."""


class Plan(NamedTuple):
    """What both sides are launched with, but for what is in the arrays.

    `fixed`: the user gave the launch, so grid and scalars stay as they are.
    """

    arrays: tuple[Array, ...]
    reference: tuple[Slot, ...]
    generated: tuple[Slot, ...]
    grids: tuple[Grid, Grid]
    fixed: bool = False
    what: str = ""
    """How it was made, in words: "sizes 37 x 64"."""
    sized: tuple[tuple[int, int, int], ...] = ()
    """Parameters that are given the number of blocks: side, parameter, axis."""

    def with_blocks(self, axis: int, count: int) -> Plan:
        """With so many blocks along an axis, on both sides, also in the parameters that are given it."""

        def one(grid: Grid) -> Grid:
            sizes = list(grid)
            sizes[axis] = count
            return sizes[0], sizes[1], sizes[2]

        slots = list(self.reference), list(self.generated)
        for side, parameter, along in self.sized:
            if along == axis:
                slots[side][parameter] = count
        return self._replace(
            grids=(one(self.grids[0]), one(self.grids[1])),
            reference=tuple(slots[0]),
            generated=tuple(slots[1]),
        )

    def slots(self, side: int) -> tuple[Slot, ...]:
        return self.generated if side else self.reference
