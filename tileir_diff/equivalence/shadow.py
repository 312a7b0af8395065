"""Who touched which memory: finds races and dependences between blocks.

Memory is watched in grains: as many bytes as the smallest element accessed so far. For each grain the block
that wrote it last is kept, plainly or atomically, and if asked for the block that read it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tileir_diff.equivalence.backend import Tensor, torch

if TYPE_CHECKING:
    from tileir_diff.equivalence.memory import Access, Memory

NOBODY: Final = 0
SEVERAL: Final = -1
AT_ONCE: Final = "at once"
"""Stands for the rule where two blocks write one grain in the same op."""

Clash = tuple[str, Tensor, Tensor]
"""Rule, lanes, and the other block at each lane."""


class Shadow:
    """One buffer's history. Blocks are kept as their linear id plus 1."""

    def __init__(self, size: int, grain: int) -> None:
        self.size = size
        self.grain = grain
        self.writers: Tensor | None = None
        self.atomics: Tensor | None = None
        self.readers: Tensor | None = None

    def touch(self, access: Access, blocks: Tensor, size: int, kind: str, memory: Memory) -> Clash | None:
        """Records an access ("read", "write" or "atomic"); returns where it clashes with another block's."""
        if size < self.grain:
            self._refine(size)
        me = (blocks + 1).to(torch.int32).reshape(-1, *([1] * (access.place.dim() - 1)))
        me = me.expand(access.place.shape)
        clash: Clash | None = None
        for part in range(size // self.grain):
            index = access.place * (size // self.grain) + part
            found = getattr(self, f"_{kind}")(index, me, access.lanes, memory)
            clash = clash or found
        return clash

    def _read(self, index: Tensor, me: Tensor, lanes: Tensor | None, memory: Memory) -> Clash | None:
        clash = self._against(self.writers, index, me, lanes, memory, "race/read-write")
        clash = clash or self._against(self.atomics, index, me, lanes, memory, "race/atomic")
        if memory.track or not memory.together:
            self._remember_reader(index, me, lanes)
        return clash

    def _write(self, index: Tensor, me: Tensor, lanes: Tensor | None, memory: Memory) -> Clash | None:
        clash = self._against(self.writers, index, me, lanes, memory, "race/write-write")
        clash = clash or self._against(self.atomics, index, me, lanes, memory, "race/atomic")
        clash = clash or self._against(self.readers, index, me, lanes, memory, "race/read-write")
        if self.writers is None:
            self.writers = self._grains()
        _put(self.writers, index, me, lanes)
        # Lanes of another block that wrote the same grain in this very access.
        return clash or self._against(self.writers, index, me, lanes, memory, AT_ONCE)

    def _atomic(self, index: Tensor, me: Tensor, lanes: Tensor | None, memory: Memory) -> Clash | None:
        clash = self._against(self.writers, index, me, lanes, memory, "race/atomic")
        clash = clash or self._against(self.readers, index, me, lanes, memory, "race/atomic")
        if self.atomics is None:
            self.atomics = self._grains()
        _put(self.atomics, index, me, lanes)
        return clash

    def _against(
        self,
        others: Tensor | None,
        index: Tensor,
        me: Tensor,
        lanes: Tensor | None,
        memory: Memory,
        rule: str,
    ) -> Clash | None:
        if others is None:
            return None
        other = torch.take(others, index)
        bad = (other != NOBODY) & (other != me)
        if lanes is not None:
            bad &= lanes
        if not bool(bad.any()):
            return None
        if memory.known is not None:
            bad &= ~memory.known(int(me.reshape(-1)[0]) - 1)[torch.clamp(other, min=0).to(torch.int64)]
            if not bool(bad.any()):
                return None
        return rule, bad, other - 1

    def _remember_reader(self, index: Tensor, me: Tensor, lanes: Tensor | None) -> None:
        if self.readers is None:
            self.readers = self._grains()
        before = torch.take(self.readers, index)
        after = torch.where((before == NOBODY) | (before == me), me, SEVERAL)
        _put(self.readers, index, after, lanes)
        missed = torch.take(self.readers, index) != after
        if lanes is not None:
            missed &= lanes
        if bool(missed.any()):
            _put(self.readers, index, torch.full_like(after, SEVERAL), missed)

    def _grains(self) -> Tensor:
        return torch.zeros(self.size // self.grain, dtype=torch.int32)

    def _refine(self, size: int) -> None:
        """Smaller grains from now on."""
        factor = self.grain // size
        self.grain = size
        for name in ("writers", "atomics", "readers"):
            grains: Tensor | None = getattr(self, name)
            if grains is not None:
                wider = torch.repeat_interleave(grains, factor)
                rest = self.size // size - wider.shape[0]
                setattr(self, name, torch.cat([wider, wider.new_zeros(rest)]))


def _put(target: Tensor, index: Tensor, values: Tensor, lanes: Tensor | None) -> None:
    if lanes is None:
        target[index.reshape(-1)] = values.reshape(-1)
    else:
        target[index[lanes]] = values[lanes]
