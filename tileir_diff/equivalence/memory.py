"""Memory: buffers far apart in a made-up address space.

A buffer begins in the middle of a stretch of 2^40 addresses, so an address names its buffer however far it
has gone astray. Bases are multiples of 256 and of no larger power of two, as an allocator promises no more.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

from tileir_diff.equivalence.backend import Tensor, torch
from tileir_diff.equivalence.dtypes import BITS_OF, bits, dtype, raw
from tileir_diff.equivalence.shadow import AT_ONCE, Shadow

if TYPE_CHECKING:
    from collections.abc import Callable

    from tileir_diff.dialect.ir import TileOp
    from tileir_diff.equivalence.frames import Frame
    from tileir_diff.equivalence.log import Log
    from tileir_diff.equivalence.shadow import Clash

STRETCH: Final = 40
MIDDLE: Final = (1 << (STRETCH - 1)) + 256
GUARD: Final = 4096
"""Bytes between the memory that two blocks allocate."""
LOWEST: Final = -(1 << 63)
HIGHEST: Final = (1 << 63) - 1


class Buffer:
    """A stretch of bytes that pointers may point to.

    `extent` and `stride`: of each `stride` bytes the first `extent` may be accessed. `written`: which bytes
    hold a value, None if all do. `unsure`: which bytes hold an undetermined one, None if none does. `before`:
    the bytes before the first write.
    """

    def __init__(self, name: str, data: Tensor, base: int, *, constant: bool = False) -> None:
        self.name = name
        self.data = data
        self.base = base
        self.size = int(data.shape[0])
        self.extent = self.stride = self.size
        self.constant = constant
        self.written: Tensor | None = None
        self.unsure: Tensor | None = None
        self.before: Tensor | None = None
        self.shadow: Shadow | None = None
        self.was_read = False
        self._views: dict[int, Tensor] = {}

    def elements(self, size: int) -> Tensor:
        """The bytes as integers of `size` bytes."""
        view = self._views.get(size)
        if view is None:
            whole = self.data[: self.size // size * size]
            view = self._views[size] = whole if size == 1 else whole.view(BITS_OF[size])
        return view

    def save(self) -> None:
        """Keeps the bytes as they are before the first write."""
        if self.before is None:
            self.before = self.data.clone()

    def doubt(self, index: Tensor, size: int, unsure: Tensor | bool) -> None:
        """Elements of `size` bytes hold undetermined values from now on, or determined ones."""
        known = self.unsure
        if known is None:
            known = self.unsure = torch.zeros(self.size, dtype=torch.bool)
        for byte in range(size):
            known[index * size + byte] = unsure

    def restore(self) -> None:
        """Undoes all writes."""
        if self.before is not None:
            self.data.copy_(self.before)
            self.before = None
        if self.written is not None:
            self.written.zero_()
        self.shadow = self.unsure = None
        self.was_read = False


class Access(NamedTuple):
    """Lanes of one access in one buffer.

    `place`: elements of the access's size into the buffer; `lanes`: which of the lanes these are, None for
    all. Both have the shape (blocks, *tile).
    """

    buffer: Buffer
    place: Tensor
    lanes: Tensor | None


class DependentBlocks(Exception):  # noqa: N818  (no error: the run starts again)
    """Blocks that ran together touch each other's memory; `track`: what they read must be kept in mind."""

    def __init__(self, track: bool, op: TileOp) -> None:
        super().__init__()
        self.track = track
        self.op = op


class Memory:
    """All buffers of a run, and what is known of who touched them.

    `reach`: where it is kept, by buffer the byte after the last that was asked for, in the buffer or not.
    `together`: blocks run at once, so that one that touches another's memory is a reason to stop. `alone`:
    there is one block only, and nothing to watch. `track`: readers are kept in mind as well as writers.
    """

    def __init__(self, log: Log) -> None:
        self.log = log
        self.buffers: list[Buffer] = []
        self.together = True
        self.alone = False
        self.track = False
        self.known: Callable[[int], Tensor] | None = None
        self.reach: dict[str, int] | None = None
        self.changes = 0
        """Writes so far, but for atomics that leave what was there."""

    def add(self, name: str, data: Tensor, *, constant: bool = False) -> Buffer:
        """A buffer of these bytes, which stay the caller's."""
        base = ((len(self.buffers) + 1) << STRETCH) + MIDDLE
        buffer = Buffer(name, data, base, constant=constant)
        self.buffers.append(buffer)
        return buffer

    def allocate(self, name: str, size: int, copies: int = 1) -> Buffer:
        """Fresh memory, `copies` times `size` bytes that are apart; nothing is written there yet."""
        stride = -(-(size + GUARD) // 256) * 256
        buffer = self.add(name, torch.zeros(stride * copies, dtype=torch.uint8))
        buffer.extent, buffer.stride = size, stride
        buffer.written = torch.zeros(stride * copies, dtype=torch.bool)
        return buffer

    def describe(self, address: int) -> str:
        """An address in words: the array, and the byte in it."""
        number = (address >> STRETCH) - 1
        if not 0 <= number < len(self.buffers):
            return f"address {address:#x}"
        buffer = self.buffers[number]
        return f"byte {address - buffer.base} of {buffer.name} ({buffer.size} bytes)"

    # ---- finding the memory

    def resolve(
        self, op: TileOp, frame: Frame, addresses: Tensor, size: int, mask: Tensor | None
    ) -> tuple[list[Access], Tensor | None]:
        """The buffers that lanes are in, and the lanes (None: all) that have memory.

        Lanes outside every buffer are reported and left out. `addresses` has full extents.
        """
        if mask is not None:
            active: Tensor = mask.expand(addresses.shape)
            if not bool(active.any()):
                return [], active
            mask = None if bool(active.all()) else active
        low, high = _range(addresses, mask)
        if self.reach is not None:
            self._note(addresses, size, mask)
        number = (low >> STRETCH) - 1
        if number == (high >> STRETCH) - 1 and 0 <= number < len(self.buffers):
            buffer = self.buffers[number]
            whole = buffer.extent == buffer.size
            if whole and low >= buffer.base and high + size <= buffer.base + buffer.size:
                return [self._access(op, frame, buffer, addresses, size, mask)], mask
        return self._sort_out(op, frame, addresses, size, mask)

    def _note(self, addresses: Tensor, size: int, mask: Tensor | None) -> None:
        """Keeps how far an access reaches into each buffer."""
        assert self.reach is not None
        wanted = addresses.reshape(-1) if mask is None else addresses[mask]
        numbers: list[int] = torch.unique(wanted >> STRETCH).tolist()
        for number in numbers:
            if 0 < number <= len(self.buffers):
                buffer = self.buffers[number - 1]
                highest = int(wanted[wanted >> STRETCH == number].max()) + size - buffer.base
                self.reach[buffer.name] = max(highest, self.reach.get(buffer.name, 0))

    def _sort_out(
        self, op: TileOp, frame: Frame, addresses: Tensor, size: int, mask: Tensor | None
    ) -> tuple[list[Access], Tensor | None]:
        """Lanes in several buffers, or astray."""
        active = torch.ones_like(addresses, dtype=torch.bool) if mask is None else mask
        numbers = (addresses >> STRETCH) - 1
        valid = torch.zeros_like(active)
        accesses: list[Access] = []
        wanted: list[int] = torch.unique(numbers[active]).tolist()
        for number in wanted:
            if not 0 <= number < len(self.buffers):
                continue
            buffer = self.buffers[number]
            offset = addresses - buffer.base
            inside = (offset >= 0) & (offset + size <= buffer.size) & active & (numbers == number)
            if buffer.extent != buffer.size:
                inside &= torch.remainder(offset, buffer.stride) + size <= buffer.extent
            valid |= inside
            if bool(inside.any()):
                accesses.append(self._access(op, frame, buffer, addresses, size, inside))
        self._astray(op, frame, addresses, active & ~valid)
        return accesses, valid

    def _astray(self, op: TileOp, frame: Frame, addresses: Tensor, bad: Tensor) -> None:
        if not bool(bad.any()):
            return
        first = int(addresses[bad][0])
        message = f"memory outside every array is accessed: {self.describe(first)}"
        self.log.lanes("bounds/pointer", op, bad, frame.blocks, None, message)

    def _access(
        self, op: TileOp, frame: Frame, buffer: Buffer, addresses: Tensor, size: int, lanes: Tensor | None
    ) -> Access:
        offset = addresses - buffer.base
        if lanes is not None:
            offset = torch.where(lanes, offset, 0)
        if size == 1:
            return Access(buffer, offset, lanes)
        rest = offset & (size - 1)
        if bool(rest.any()):
            self.log.lanes("memory/misaligned", op, rest != 0, frame.blocks, {"address": addresses})
        return Access(buffer, offset >> (size.bit_length() - 1), lanes)

    # ---- reading and writing elements of whole bytes

    def read(
        self, op: TileOp, frame: Frame, access: Access, size: int, *, atomic: bool = False
    ) -> tuple[Tensor, Tensor | None]:
        """The bits at the lanes of an access, and the lanes that are undetermined; others hold anything."""
        buffer = access.buffer
        if not self.alone:
            clash = self._watch(op, frame, access, size, "atomic" if atomic else "read")
            if clash is not None:
                self._report(op, frame, access, clash)
        buffer.was_read = True
        values = torch.take(buffer.elements(size), access.place)
        missing = self._unwritten(op, frame, access, size)
        if buffer.unsure is None:
            return values, missing
        unsure = torch.take(buffer.unsure, access.place * size)
        if access.lanes is not None:
            unsure &= access.lanes
        return values, unsure if missing is None else unsure | missing

    def _unwritten(self, op: TileOp, frame: Frame, access: Access, size: int) -> Tensor | None:
        written = access.buffer.written
        if written is None:
            return None
        missing = ~torch.take(written, access.place * size)
        if access.lanes is not None:
            missing &= access.lanes
        values = {"element": access.place}
        message = f"memory is read that nobody wrote: an element of {access.buffer.name}"
        found = self.log.lanes("memory/unwritten", op, missing, frame.blocks, values, message)
        return missing if found else None

    def write(
        self,
        op: TileOp,
        frame: Frame,
        access: Access,
        values: Tensor,
        size: int,
        *,
        unknown: Tensor | None = None,
        atomic: bool = False,
    ) -> None:
        """Writes bits to the lanes of an access; the last lane wins where several write one element.

        `unknown` are lanes whose bits are undetermined.
        """
        buffer = access.buffer
        if buffer.constant:
            bad = torch.ones((1,), dtype=torch.bool)
            self.log.lanes("memory/constant", op, bad, frame.blocks, None, f"{buffer.name} is constant")
            return
        buffer.save()
        self.changes += not atomic
        values = values.expand(access.place.shape)
        target = buffer.elements(size)
        clash = None if self.alone else self._watch(op, frame, access, size, "atomic" if atomic else "write")
        differs = None if clash is None else torch.take(target, access.place) != values
        if access.lanes is None:
            index, chosen = access.place.reshape(-1), values.reshape(-1)
        else:
            index, chosen = access.place[access.lanes], values[access.lanes]
        target[index] = chosen
        self._mark_written(buffer, index, size)
        if unknown is not None or buffer.unsure is not None:
            unsure = torch.zeros((1,), dtype=torch.bool) if unknown is None else unknown
            unsure = unsure.expand(access.place.shape)
            unsure = unsure.reshape(-1) if access.lanes is None else unsure[access.lanes]
            buffer.doubt(index, size, unsure)
        if atomic:
            if clash is not None:
                self._report(op, frame, access, clash)
            return
        lost = torch.take(target, access.place) != values
        if access.lanes is not None:
            lost &= access.lanes
        if bool(lost.any()):
            _last_wins(target, index, chosen)
            buffer.doubt(access.place[lost], size, True)
        if clash is not None:
            assert differs is not None
            lost = lost & ~self._written_twice(op, frame, access, size, clash, differs, lost)
        if bool(lost.any()):
            self.log.lanes("race/lanes", op, lost, frame.blocks, {"element": access.place})

    def _written_twice(
        self, op: TileOp, frame: Frame, access: Access, size: int, clash: Clash, differs: Tensor, lost: Tensor
    ) -> Tensor:
        """Reports lanes that another block writes too, or touches otherwise; returns the lanes of the clash.

        `differs`: lanes that change what was there before; `lost`: whose value was overwritten at once.
        """
        rule, bad, other = clash
        if rule not in ("race/write-write", AT_ONCE):
            self._report(op, frame, access, clash)
            return bad
        hit = torch.zeros(access.buffer.size, dtype=torch.bool)
        hit[access.place[lost]] = True
        different = bad & torch.take(hit, access.place)
        if rule != AT_ONCE:
            different = different | (bad & differs)
        access.buffer.doubt(access.place[different], size, True)
        self._report(op, frame, access, ("race/write-write", different, other))
        self._report(op, frame, access, ("race/same-value", bad & ~different, other))
        return bad

    def _mark_written(self, buffer: Buffer, index: Tensor, size: int) -> None:
        if buffer.written is None:
            return
        for byte in range(size):
            buffer.written[index * size + byte] = True

    def _watch(self, op: TileOp, frame: Frame, access: Access, size: int, kind: str) -> Clash | None:
        """Compares an access with what other blocks did to the same memory. Raises DependentBlocks."""
        buffer = access.buffer
        if buffer.shadow is None:
            buffer.shadow = Shadow(buffer.size, size)
        if kind == "write" and buffer.was_read and self.together and not self.track:
            raise DependentBlocks(True, op)
        clash = buffer.shadow.touch(access, frame.blocks, size, kind, self)
        if clash is not None and self.together and clash[0] not in ("race/write-write", AT_ONCE):
            raise DependentBlocks(self.track, op)
        return clash

    def _report(self, op: TileOp, frame: Frame, access: Access, clash: Clash) -> None:
        rule, bad, other = clash
        named = {"element": access.place, "other block": other}
        self.log.lanes(rule, op, bad, frame.blocks, named)


def _range(addresses: Tensor, mask: Tensor | None) -> tuple[int, int]:
    """The lowest and the highest address of the lanes in `mask`."""
    if mask is None:
        low, high = torch.aminmax(addresses)
        return int(low), int(high)
    low = torch.where(mask, addresses, HIGHEST).min()
    return int(low), int(torch.where(mask, addresses, LOWEST).max())


def _last_wins(target: Tensor, index: Tensor, values: Tensor) -> None:
    order = torch.argsort(index, stable=True)
    ranked = index[order]
    last = torch.ones_like(ranked, dtype=torch.bool)
    last[:-1] = ranked[1:] != ranked[:-1]
    target[ranked[last]] = values[order][last]


# ---- elements of a type


def from_memory(patterns: Tensor, name: str) -> Tensor:
    """Elements of a type of whole bytes from what memory holds; a byte other than zero is a true i1."""
    if name == "i1":
        return patterns != 0
    wanted = dtype(name)
    return patterns if patterns.dtype == wanted else patterns.view(wanted)


def to_memory(tensor: Tensor, name: str) -> Tensor:
    """The bits that memory holds for elements of a type of whole bytes."""
    patterns = raw(tensor.contiguous() if tensor.dtype == torch.bool else tensor, name)
    wanted: Any = BITS_OF[patterns.element_size()]
    return patterns if patterns.dtype == wanted else patterns.view(wanted)


def size_of(name: str) -> int:
    """Bytes that an element takes in memory; 1 for those of four bits, of which two share a byte."""
    return max(1, bits(name) // 8)
