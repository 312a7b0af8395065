"""Memory as a function of the address, with what the kernel wrote on top, and a record of what it touched."""

from __future__ import annotations

import numpy as np

from benchmarks.execute.numbers import FORMATS, Array, mix, round_to, wrap

SPACE = 1 << 36
"""Bytes between the beginnings of two arrays; arrays begin in the middle of their space."""
UNDEFINED = 77


class Memory:
    """One block's memory.

    `sizes` are the extents of arrays in bytes by number, where they are known.
    """

    def __init__(self, sizes: dict[int, int], seed: int) -> None:
        self.sizes = sizes
        self.seed = seed
        self.outside: set[tuple[str, int]] = set()
        self.events: list[tuple[str, tuple[float, ...]]] = []
        self.sorted = 0
        """Elements sorted so far, which is what takes time."""
        self._stored: set[int] = set()
        self._addresses: list[Array] = []
        self._values: list[Array] = []
        self._index: tuple[Array, Array] | None = None

    @staticmethod
    def base(number: int) -> int:
        return number * SPACE + SPACE // 2

    def garbage(self, addresses: Array, element: str, is_float: bool, bits: int) -> Array:
        """What stands where nothing is known: not what memory holds there."""
        return self._content(addresses, element, is_float, bits, UNDEFINED)

    def load(self, addresses: Array, mask: Array, element: str, is_float: bool, bits: int) -> Array:
        self._touch("read", addresses[mask])
        values = self._content(addresses, element, is_float, bits, 0)
        index = self._written() if self._may_be_written(addresses) else None
        if index is not None and len(index[0]):
            keys, written = index
            at = np.minimum(np.searchsorted(keys, addresses), len(keys) - 1)
            hit = keys[at] == addresses
            values = np.where(hit, written[at].astype(values.dtype), values)
        return values

    def _may_be_written(self, addresses: Array) -> bool:
        """Whether the kernel has written to one of the arrays."""
        if not self._stored or not addresses.size:
            return False
        low, high = int(addresses.min()) // SPACE, int(addresses.max()) // SPACE
        return low != high or low in self._stored

    def store(self, addresses: Array, values: Array, mask: Array) -> None:
        addresses, values = addresses[mask].ravel(), values[mask].ravel()
        self._touch("write", addresses)
        if addresses.size:
            self._stored |= {int(addresses.min()) // SPACE, int(addresses.max()) // SPACE}
        self._addresses.append(addresses)
        self._values.append(values.astype(np.float64))
        self._index = None

    def result(self) -> tuple[Array, Array]:
        """Addresses written, in order, with the last value of each."""
        index = self._written()
        return index if index is not None else (np.zeros(0, np.int64), np.zeros(0))

    def _written(self) -> tuple[Array, Array] | None:
        if self._index is None and self._addresses:
            addresses = np.concatenate(self._addresses)[::-1]
            self.sorted += addresses.size
            values = np.concatenate(self._values)[::-1]
            keys, first = np.unique(addresses, return_index=True)
            self._index = (keys, values[first])
        return self._index

    def _touch(self, how: str, addresses: Array) -> None:
        if not addresses.size:
            return
        numbers = addresses // SPACE
        for number in np.unique(numbers):
            size = self.sizes.get(int(number))
            if size is None:
                self.outside.add((how, int(number)))
                continue
            inside = addresses[numbers == number] - self.base(int(number))
            if (inside < 0).any() or (inside >= size).any():
                self.outside.add((how, int(number)))

    def _content(self, addresses: Array, element: str, is_float: bool, bits: int, salt: int) -> Array:
        noise = mix(addresses, self.seed + salt)
        if is_float:
            unit = (noise >> np.uint64(11)).astype(np.float64) / float(1 << 53)
            values = (unit - 0.5) * (4.0 if salt == 0 else 400.0)
            return round_to(values, element) if element in FORMATS else values
        small = (noise % np.uint64(61)).astype(np.int64) - 4
        return wrap(small, bits)
