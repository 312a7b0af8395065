"""How element types are held in tensors, in memory and in literals.

Integers are signless, in tensors of their own width; i1 is bool, i4 a sign-extended int8. f16, bf16, f32 and
f64 are torch's; tf32 is an f32 of few digits; the formats of 8 and fewer bits are bit patterns in uint8.
"""

from __future__ import annotations

import math
from functools import cache
from typing import TYPE_CHECKING, Any, Final

from tileir_diff.dialect.scalars import FORMATS, INTEGER_BITS, decode
from tileir_diff.dialect.types import Ptr, Tile
from tileir_diff.equivalence.backend import Tensor, torch

if TYPE_CHECKING:
    from xdsl.ir import SSAValue

    from tileir_diff.dialect.attributes import DenseElements
    from tileir_diff.dialect.types import Scalar

DTYPES: Final[dict[str, Any]] = {
    "i1": torch.bool,
    "i4": torch.int8,
    "i8": torch.int8,
    "i16": torch.int16,
    "i32": torch.int32,
    "i64": torch.int64,
    "f16": torch.float16,
    "bf16": torch.bfloat16,
    "f32": torch.float32,
    "tf32": torch.float32,
    "f64": torch.float64,
}
SMALL: Final = frozenset(name for name, layout in FORMATS.items() if layout.bits <= 8)
"""Float formats that are held as bit patterns."""
NATIVE: Final = ("f16", "bf16", "f32", "f64")
BITS_OF: Final[dict[int, Any]] = {1: torch.uint8, 2: torch.int16, 4: torch.int32, 8: torch.int64}
"""Integer types to move elements with, by size in bytes."""


def dtype(name: str) -> Any:
    """The torch type that holds elements of this name."""
    return torch.uint8 if name in SMALL else DTYPES[name]


def bits(name: str) -> int:
    """Width of an element, as memory has it: a tf32 takes 32."""
    if name == "tf32":
        return 32
    return INTEGER_BITS.get(name) or FORMATS[name].bits


def element(value: SSAValue) -> str:
    """Name of a tile's element type; "ptr" for pointers."""
    kind = value.type
    assert isinstance(kind, Tile)
    return "ptr" if isinstance(kind.element, Ptr) else kind.element.name


def shape(value: SSAValue) -> tuple[int, ...]:
    """Shape of a tile."""
    kind = value.type
    assert isinstance(kind, Tile)
    return kind.shape


def literal(value: DenseElements) -> Tensor:
    """The elements of a literal, shaped (1, *tile); one element for all where they are equal."""
    name = value.element.name
    flat = torch.tensor(_signed_patterns(value), dtype=torch.int64)
    tensor = from_patterns(flat, name)
    rank = len(value.shape)
    return tensor.reshape((1,) * (rank + 1)) if value.is_splat else tensor.reshape((1, *value.shape))


def _signed_patterns(value: DenseElements) -> list[int]:
    return [each - (1 << 64) if each >> 63 else each for each in value.bits]


def from_patterns(patterns: Tensor, name: str) -> Tensor:
    """Elements from bit patterns in int64."""
    if name == "i1":
        return (patterns & 1).to(torch.bool)
    if name == "i4":
        return ((patterns & 15 ^ 8) - 8).to(torch.int8)
    if name in INTEGER_BITS:
        return patterns.to(DTYPES[name])
    if name in SMALL:
        return patterns.to(torch.uint8)
    if name == "tf32":
        return (patterns << 13).to(torch.int32).view(torch.float32)
    return patterns.to(BITS_OF[bits(name) // 8]).view(DTYPES[name])


@cache
def decoding(name: str) -> Tensor:
    """The values of all bit patterns of a small format, in f64."""
    return torch.tensor([decode(each, name) for each in range(1 << FORMATS[name].bits)], dtype=torch.float64)


def to_float(tensor: Tensor, name: str) -> Tensor:
    """Elements in an ordinary float type: the formats of 8 bits and fewer in f32, the others as they are."""
    if name not in SMALL:
        return tensor
    return decoding(name).to(torch.float32)[tensor.to(torch.int64)]


def raw(tensor: Tensor, name: str) -> Tensor:
    """The bits of elements as integers of the same size, for comparing and moving."""
    if name == "i1":
        return tensor.view(torch.uint8)
    if tensor.dtype.is_floating_point:
        return tensor.view(BITS_OF[tensor.element_size()])
    return tensor


def padding(kind: str, scalar: Scalar) -> Tensor:
    """One element: the padding value of a view."""
    name = scalar.name
    if kind == "zero" or name in INTEGER_BITS:
        return torch.zeros((), dtype=dtype(name))
    value = {"neg_zero": -0.0, "nan": math.nan, "pos_inf": math.inf, "neg_inf": -math.inf}[kind]
    if name in SMALL:
        from tileir_diff.equivalence.rounding import to_format

        return to_format(torch.tensor(value, dtype=torch.float64), name)
    return torch.tensor(value, dtype=DTYPES[name])
