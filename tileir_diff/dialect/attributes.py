"""Attribute values of `cuda_tile` ops.

Ops keep each attribute as a `Value` holding a plain, hashable Python value; `TileOp.get` hands that value
out.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from xdsl.ir import Attribute

from tileir_diff.dialect.scalars import decode

if TYPE_CHECKING:
    from collections.abc import Hashable

    from tileir_diff.dialect.types import Scalar


@dataclass(frozen=True)
class Value(Attribute):
    """Any attribute: a word, number, flag, tuple, `DenseElements` or predicate."""

    name = "cuda_tile.value"
    data: Hashable

    def __post_init__(self) -> None:
        """Nothing to check: values are checked where they are read."""

    def __str__(self) -> str:
        return str(self.data)


@dataclass(frozen=True)
class DenseElements:
    """Elements as raw bit patterns, unsigned, in row-major order.

    One pattern for all elements when they are equal.

    `shape` () with one pattern is a scalar literal.
    """

    element: Scalar
    shape: tuple[int, ...]
    bits: tuple[int, ...]

    @property
    def is_splat(self) -> bool:
        return len(self.bits) == 1

    def ints(self, signed: bool = True) -> tuple[int, ...]:
        """The patterns as integers; i1 counts as 0 or -1 when signed."""
        if not signed:
            return self.bits
        width = self.element.bits
        half, whole = 1 << (width - 1), 1 << width
        return tuple(bits - whole if bits >= half else bits for bits in self.bits)

    def floats(self) -> tuple[float, ...]:
        """The exact values, NaN and infinities included. Raises KeyError for an integer element."""
        return tuple(decode(bits, self.element.name) for bits in self.bits)


Literal = DenseElements


@dataclass(frozen=True)
class DivBy:
    """Every element is a multiple of `divisor`; with groups, the first of each `every` along `along`."""

    divisor: int
    every: int | None = None
    along: int | None = None

    def __str__(self) -> str:
        group = "" if self.every is None else f", every {self.every} along {self.along}"
        return f"div_by<{self.divisor}{group}>"


@dataclass(frozen=True)
class Bounded:
    """Every element lies in [lower, upper], read as signed; None is no bound."""

    lower: int | None
    upper: int | None

    def __str__(self) -> str:
        lower, upper = ("?" if bound is None else str(bound) for bound in (self.lower, self.upper))
        return f"bounded<{lower}, {upper}>"


@dataclass(frozen=True)
class SameElements:
    """Elements are equal within groups of these sizes, one size a dimension."""

    values: tuple[int, ...]

    def __str__(self) -> str:
        return f"same_elements<[{', '.join(map(str, self.values))}]>"


Assumption = DivBy | Bounded | SameElements
TRUE: Final = Value(True)
_VALUES: Final[dict[Any, Value]] = {}


def value(data: Hashable) -> Value:
    """A `Value`; small ones are shared."""
    if data is True:
        return TRUE
    if type(data) is not str:
        return Value(data)
    known = _VALUES.get(data)
    if known is None:
        known = _VALUES[data] = Value(data)
        if len(_VALUES) > 10_000:
            _VALUES.clear()
    return known
