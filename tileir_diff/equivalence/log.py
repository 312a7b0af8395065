"""Collects findings: the first place of each kind at each op, and how often it happened."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tileir_diff.equivalence.backend import Tensor, torch
from tileir_diff.equivalence.model import RULES, Finding

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tileir_diff.dialect.ir import TileOp

Grid = tuple[int, int, int]


def block_of(linear: int, grid: Grid) -> tuple[int, int, int]:
    """x, y, z of a linear block id; x runs fastest."""
    x, y, _ = grid
    return linear % x, linear // x % y, linear // (x * y)


class Log:
    """The findings of one run, in the order in which they came up."""

    def __init__(self, entry: str, grid: Grid) -> None:
        self.entry = entry
        self.grid = grid
        self._found: dict[tuple[str, TileOp | None], Finding] = {}

    @property
    def findings(self) -> list[Finding]:
        return list(self._found.values())

    def lanes(
        self,
        rule: str,
        op: TileOp,
        bad: Tensor,
        blocks: Tensor,
        values: Mapping[str, Tensor] | None = None,
        message: str = "",
    ) -> bool:
        """Reports the lanes set in `bad` (blocks or 1, *tile), if there are any; True if there are.

        `values` are operands of a shape that broadcasts with it.
        """
        if not bool(bad.any()):
            return False
        count = int(bad.sum()) * (len(blocks) if bad.shape[0] == 1 else 1)
        first = [int(each) for each in torch.nonzero(bad)[0]]
        row = first[0]
        shown = {name: _at(value, first) for name, value in (values or {}).items()}
        self.add(rule, op, block_of(int(blocks[row]), self.grid), tuple(first[1:]), shown, message, count)
        return True

    def add(
        self,
        rule: str,
        op: TileOp | None,
        block: tuple[int, ...] = (),
        lane: tuple[int, ...] = (),
        values: dict[str, Any] | None = None,
        message: str = "",
        count: int = 1,
    ) -> None:
        known = self._found.get((rule, op))
        if known is not None:
            self._found[rule, op] = known._replace(times=known.times + count)
            return
        text = message or RULES[rule][1]
        self._found[rule, op] = Finding(rule, text, op, self.entry, block, lane, values or {}, count)


def _at(value: Tensor, place: list[int]) -> Any:
    """One element of a value that may be the same along some dimensions."""
    if value.dim() > len(place):
        value = value.reshape(value.shape[: len(place)])
    index = tuple(
        at if extent > 1 else 0 for at, extent in zip(place[: value.dim()], value.shape, strict=True)
    )
    return value[index].item()
