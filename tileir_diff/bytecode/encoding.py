"""Numbers, tables and sections of Tile IR bytecode. Everything is little-endian."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

PADDING: Final = b"\xcb"
ALIGNED: Final = 0x80  # set in a section's number: its alignment follows the length
WORD: Final = (1 << 64) - 1


def varint(number: int) -> bytes:
    """A number in groups of seven bits, low group first; negative ones as 64-bit patterns."""
    number &= WORD
    if number < 0x80:
        return bytes((number,))
    out = bytearray()
    while number >= 0x80:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    out.append(number)
    return bytes(out)


def signed_varint(number: int) -> bytes:
    """A 64-bit number with its sign in the lowest bit; a pattern above 2**63 is a negative number."""
    number &= WORD
    return varint(~(number << 1) if number >> 63 else number << 1)


def sized(numbers: Sequence[int]) -> bytes:
    """How many, then each as a varint."""
    return b"".join((varint(len(numbers)), *map(varint, numbers)))


def sized_words(numbers: Sequence[int], width: int) -> bytes:
    """How many, then each in `width` bytes. Raises OverflowError for one that does not fit."""
    words = [number.to_bytes(width, "little", signed=True) for number in numbers]
    return b"".join((varint(len(words)), *words))


def pad(content: bytearray, alignment: int) -> None:
    """Fills up to a multiple of `alignment` bytes."""
    content += PADDING * (-len(content) % alignment)


class Table:
    """Entries that are referred to by number; equal entries are one."""

    def __init__(self, first: int = 0) -> None:
        self._numbers: dict[bytes, int] = {}
        self._first = first

    def __len__(self) -> int:
        return len(self._numbers)

    def number(self, entry: bytes) -> int:
        """The number of an entry, which is added if it is new."""
        return self._numbers.setdefault(entry, len(self._numbers) + self._first)

    def encode(self, width: int) -> bytes:
        """Their count, where each begins (`width` bytes a number), the entries."""
        content = bytearray(varint(len(self._numbers)))
        pad(content, width)
        content += offsets(map(len, self._numbers), width)
        for entry in self._numbers:
            content += entry
        return bytes(content)


def offsets(lengths: Iterable[int], width: int) -> bytes:
    """Where each of several parts in a row begins."""
    at, out = 0, bytearray()
    for length in lengths:
        out += at.to_bytes(width, "little")
        at += length
    return bytes(out)


def add_section(out: bytearray, number: int, content: bytes, alignment: int = 1) -> None:
    """Appends a section to a file."""
    out.append(number | (ALIGNED if alignment > 1 else 0))
    out += varint(len(content))
    if alignment > 1:
        out += varint(alignment)
        pad(out, alignment)
    out += content
