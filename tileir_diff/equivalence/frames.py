"""Values of the blocks that run together, and how they part and meet.

A value is a tensor of shape (blocks, *tile). Any dimension may be 1 in place of its extent: the value is then
the same along it, so constants, broadcasts and what does not depend on the block cost nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from tileir_diff.equivalence.backend import Tensor, torch

if TYPE_CHECKING:
    from collections.abc import Sequence

    from xdsl.ir import SSAValue


class TensorValue(NamedTuple):
    """A tensor view: base address, extents and strides (in elements), each of shape (blocks or 1,)."""

    base: Tensor
    shape: tuple[Tensor, ...]
    strides: tuple[Tensor, ...]


class Frame:
    """The values that a set of blocks has in one region.

    `rows` are the blocks' keys, rising, unique within one chunk; `blocks` their linear ids in the grid. What
    is not found here is taken from `parent`, at the positions `index` (None: the same rows).
    """

    __slots__ = ("blocks", "index", "inherited", "parent", "region", "rows", "unknown", "values")

    def __init__(
        self, rows: Tensor, blocks: Tensor, parent: Frame | None = None, index: Tensor | None = None
    ) -> None:
        self.rows = rows
        self.blocks = blocks
        self.parent = parent
        self.index = index
        self.region = True
        self.values: dict[SSAValue, Any] = {}
        self.inherited: dict[SSAValue, Any] = {}
        self.unknown: dict[SSAValue, Tensor] = {}

    def __len__(self) -> int:
        return int(self.rows.shape[0])

    def get(self, value: SSAValue) -> Any:
        for known in (self.values, self.inherited):
            if value in known:
                return known[value]
        assert self.parent is not None, "a value is used before it is defined"
        found = self.inherited[value] = narrow(self.parent.get(value), self.index)
        return found

    def doubt(self, value: SSAValue) -> Tensor | None:
        """Which lanes are undetermined; None: none is."""
        if value in self.unknown:
            return self.unknown[value]
        if value in self.values or self.parent is None:
            return None
        return narrow(self.parent.doubt(value), self.index)

    def set(self, value: SSAValue, data: Any, unknown: Tensor | None = None) -> None:
        self.values[value] = data
        if unknown is not None:
            self.unknown[value] = unknown

    def child(self) -> Frame:
        """A frame for a region that all blocks enter."""
        return Frame(self.rows, self.blocks, self, None)

    def part(self, positions: Tensor) -> Frame:
        """A frame for the blocks at these positions."""
        return Frame(self.rows[positions], self.blocks[positions], self, positions)

    def drop(self, value: SSAValue) -> None:
        """Forgets a value that its region needs no more."""
        frame: Frame | None = self
        while frame is not None:
            frame.values.pop(value, None)
            frame.inherited.pop(value, None)
            frame.unknown.pop(value, None)
            frame = frame.parent if not frame.region else None


class Outcome(NamedTuple):
    """How some blocks left a region: by which terminator, with which values."""

    kind: str
    rows: Tensor
    values: tuple[Any, ...]
    unknown: tuple[Tensor | None, ...]


def narrow(value: Any, index: Tensor | None) -> Any:
    """A value at some of the blocks; None and what is the same for all blocks stay."""
    if index is None or value is None:
        return value
    if isinstance(value, TensorValue):
        return TensorValue(
            narrow(value.base, index),
            tuple(narrow(each, index) for each in value.shape),
            tuple(narrow(each, index) for each in value.strides),
        )
    return value if value.shape[0] == 1 else value.index_select(0, index)


def positions(rows: Tensor, wanted: Tensor) -> Tensor:
    """Where `wanted` stand among rising rows."""
    return torch.searchsorted(rows, wanted)


def merge(outcomes: Sequence[Outcome]) -> Outcome:
    """One outcome of several of one kind, blocks in rising order."""
    if len(outcomes) == 1:
        return outcomes[0]
    rows = torch.cat([outcome.rows for outcome in outcomes])
    order = torch.argsort(rows)
    counts = [len(outcome.rows) for outcome in outcomes]
    values: list[Any] = []
    unknown: list[Tensor | None] = []
    for index in range(len(outcomes[0].values)):
        parts = [outcome.values[index] for outcome in outcomes]
        values.append(_joined(parts, counts, order))
        doubts = [outcome.unknown[index] for outcome in outcomes]
        known = all(doubt is None for doubt in doubts)
        unknown.append(None if known else _joined(_filled(doubts, parts), counts, order))
    return Outcome(outcomes[0].kind, rows[order], tuple(values), tuple(unknown))


def _filled(doubts: list[Tensor | None], parts: list[Tensor]) -> list[Tensor]:
    return [
        torch.zeros((1,) * part.dim(), dtype=torch.bool) if doubt is None else doubt
        for doubt, part in zip(doubts, parts, strict=True)
    ]


def _joined(parts: list[Any], counts: list[int], order: Tensor) -> Any:
    if parts[0] is None:
        return None
    tile = torch.broadcast_shapes(*(part.shape[1:] for part in parts))
    whole = [part.expand(count, *tile) for part, count in zip(parts, counts, strict=True)]
    return torch.cat(whole).index_select(0, order)
