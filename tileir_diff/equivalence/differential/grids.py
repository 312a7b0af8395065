"""How many blocks a launch that is made up has: the fewest that write all that more blocks would write."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING, Any, Final

from tileir_diff.equivalence.backend import torch
from tileir_diff.equivalence.differential.launches import INVALID, measured, with_room
from tileir_diff.equivalence.differential.values import fill, is_float
from tileir_diff.equivalence.machine import TimeUp

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from tileir_diff.equivalence.backend import Tensor
    from tileir_diff.equivalence.differential.execute import Pair
    from tileir_diff.equivalence.differential.plan import Plan

MOST_BLOCKS: Final = 64
PATIENCE: Final = 3
"""Larger grids that are tried although they write no more."""
SHARED: Final = 3
"""Blocks that share out work which one of them would do alone."""
SOUGHT_SHARE: Final = 0.5
"""Part of the time for one pair that is left when no launch is sought any more."""
CHECKED_SHARE: Final = 0.3
"""Part that is left when a launch that was found has been checked."""


class Grids:
    """Grids for plans of one pair. `given`: blocks along each axis, where they are known; `excluded`: errors
    that the generated side must not make."""

    def __init__(
        self, pair: Pair, given: Sequence[int | None], tiles: Sequence[int], excluded: tuple[str, ...]
    ) -> None:
        self.pair, self.given, self.tiles, self.excluded = pair, given, tiles, excluded
        self.written: dict[Plan, int | None] = {}
        self.least = 0
        """Integers in arrays are no smaller: 1 where the reference divides by them."""

    def fit(self, plan: Plan, missing: list[int], sizes: Iterable[int]) -> Plan | None:
        """The plan with its blocks, and arrays of unknown size (`missing`) as large as those reach.

        With fewer blocks if the time does not suffice for more; None where a side errs. Raises TimeUp where
        not even the fewest were tried.
        """
        sides = self.pair.sides
        counts = _counts({*self.tiles, 1}, set(sizes))
        shared = {axis for _, _, axis in plan.sized} | {
            axis for axis in range(3) if _shares_axis(sides, axis)
        }
        open_ = [axis for axis, count in enumerate(self.given) if count is None and _uses_axis(sides, axis)]
        tried: list[Plan] = []
        try:
            for axis in open_:
                more = sorted({*counts, *range(2, SHARED + 1)}) if axis in shared else counts
                fitted = self._along(plan, axis, more, missing, tried, SHARED if axis in shared else 1)
                if fitted is None:
                    return None
                plan = fitted
            plan = measured(sides, plan, missing, self.pair.limits(SOUGHT_SHARE))
            if self._written(plan) is None:
                return None
            plan = with_room(sides, plan, missing, self.pair.limits(SOUGHT_SHARE), self.pair.seed)
        except TimeUp:
            if not tried:
                raise
            plan = tried[-1]
        errors = sides[1].run(plan, self._contents(plan), self.pair.limits(CHECKED_SHARE)).errors
        return None if any(rule.startswith(self.excluded) for rule in errors) else plan

    def _along(
        self, plan: Plan, axis: int, counts: list[int], missing: list[int], tried: list[Plan], least: int
    ) -> Plan | None:
        """With the fewest blocks along an axis that write most, but `least` where as many write no less.

        Those the reference takes go to `tried`.
        """
        written: dict[int, int] = {}
        for count in [1, *counts]:
            trial = measured(
                self.pair.sides, plan.with_blocks(axis, count), missing, self.pair.limits(SOUGHT_SHARE)
            )
            elements = self._written(trial)
            if elements is None:
                break
            tried.append(trial)
            written[count] = elements
            if len(written) > PATIENCE and elements <= [*written.values()][-1 - PATIENCE]:
                break
        if not written:
            return None
        most = max(written.values())
        enough = [count for count, each in written.items() if each == most]
        return plan.with_blocks(axis, next((count for count in enough if count >= least), enough[-1]))

    def _contents(self, plan: Plan) -> list[Tensor]:
        made = [fill(array, "ordinary", 2, self.pair.seed) for array in plan.arrays]
        return [
            each if is_float(array.element) else (each + self.least).to(each.dtype)
            for array, each in zip(plan.arrays, made, strict=True)
        ]

    def _written(self, plan: Plan) -> int | None:
        """Elements that the reference changes; None where it errs. Raises TimeUp."""
        if plan not in self.written:
            contents = self._contents(plan)
            ran = self.pair.sides[0].run(plan, contents, self.pair.limits(SOUGHT_SHARE))
            errors = {rule for rule in ran.errors if rule.startswith(INVALID)}
            if errors == {"integer/division-by-zero"} and not self.least:
                self.least = 1
                elements = self._written(plan)
                self.least = int(elements is not None)
                return elements
            changed = (
                int((before.view(torch.uint8) != after.view(torch.uint8)).sum())
                for before, after in zip(contents, ran.arrays, strict=True)
            )
            self.written[plan] = None if errors else sum(changed)
        return self.written[plan]


def _counts(tiles: set[int], sizes: set[int]) -> list[int]:
    """How many blocks a dimension may take: tiles of each size, rows, and their products."""
    single = {-(-size // tile) for size in sizes for tile in tiles}
    products = {one * other for one, other in combinations(sorted(single), 2)}
    squares = {one * one for one in single}
    return sorted(each for each in single | products | squares if 1 < each <= MOST_BLOCKS)


def _uses_axis(sides: Sequence[Any], axis: int, name: str = "get_tile_block_id") -> bool:
    """Whether either side asks for a block's index along an axis."""
    for side in sides:
        for each in side.entry.walk():
            op: Any = each
            if getattr(op, "short", "") == name and list(op.results[axis].uses):
                return True
    return False


def _shares_axis(sides: Sequence[Any], axis: int) -> bool:
    """Whether either side asks how many blocks there are, as blocks do that share out any work."""
    return _uses_axis(sides, axis, "get_num_tile_blocks")
