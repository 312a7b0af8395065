"""How types, shapes and numbers are written in cuTile Rust."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

from tileir_diff.dialect.scalars import decode, encode
from tileir_diff.dialect.types import PartitionView, Ptr, TensorView, Tile, Token

if TYPE_CHECKING:
    from collections.abc import Iterable

    from xdsl.ir import Attribute

    from tileir_diff.dialect.attributes import DenseElements

ELEMENTS: Final = {
    "i1": "bool", "i8": "i8", "i16": "i16", "i32": "i32", "i64": "i64", "f16": "f16", "bf16": "bf16",
    "f32": "f32", "f64": "f64", "tf32": "tf32", "f8E4M3FN": "f8e4m3fn", "f8E5M2": "f8e5m2",
    "f8E8M0FNU": "f8e8m0fnu",
}  # fmt: skip
"""Element types that the front end has, integers as signed ones."""
LITERALS: Final = ("i8", "i16", "i32", "i64", "f32", "f64")
"""Element types whose numbers can be written as literals."""
NAMED: Final = ("f16", "f32", "f64")
"""Float types with constants for their infinities; those of bf16 the front end writes as other numbers."""
ROUNDING: Final = {
    "nearest_even": "NearestEven", "zero": "Zero", "negative_inf": "NegativeInf",
    "positive_inf": "PositiveInf", "approx": "Approx", "full": "Full",
    "nearest_int_to_zero": "NearestIntToZero",
}  # fmt: skip
OVERFLOW: Final = {"nsw": "NoSignedWrap", "nuw": "NoUnsignedWrap", "nw": "NoWrap"}
PREDICATES: Final = {
    "equal": "Equal", "not_equal": "NotEqual", "less_than": "LessThan",
    "less_than_or_equal": "LessThanOrEqual",
    "greater_than": "GreaterThan", "greater_than_or_equal": "GreaterThanOrEqual",
}  # fmt: skip
PADDING: Final = {
    None: "None", "zero": "Zero", "neg_zero": "NegZero", "nan": "Nan", "pos_inf": "PosInf",
    "neg_inf": "NegInf",
}  # fmt: skip
ORDERING: Final = {
    "weak": "Weak", "relaxed": "Relaxed", "acquire": "Acquire", "release": "Release", "acq_rel": "AcqRel",
}  # fmt: skip
SCOPES: Final = {"tl_blk": "TileBlock", "device": "Device", "sys": "System"}
_KEYWORDS: Final = (
    "abstract as async await become box break const continue crate do dyn else enum extern false final fn "
    "for gen if impl in let loop macro match mod move mut override priv pub ref return self static struct "
    "super trait true try type typeof union unsafe unsized use virtual where while yield"
)
_LIBRARY: Final = (
    "absf absi addf addi alloca andi atan2 atomic bitcast broadcast cat ceil cmpf cmpi constant cos cosh dim "
    "dim_map divf divi exp exp2 extract exti floor fma fpowf fpowi ftof ftoi ftz insert iota itof log log2 "
    "max maxf maxi min minf mini mma mmaf mmai mulf muli nan negf negi offset ordering ori overflow pack "
    "padding permute pow predicate reduce remf remi reshape reverse rounding rsqrt scan scope select shape "
    "shli shri sin sinh sqrt subf subi tan tanh tma token trunci unpack xori"
)
RESERVED: Final = frozenset(f"{_KEYWORDS} {_LIBRARY}".split())
"""Words of the language, and names that the front end's library has: nothing may be called so."""
MACRO_RANK: Final = 4
"""`shape!` and `const_array!` take no more dimensions."""


def dims(shape: Iterable[int | None]) -> str:
    """A shape inside a type; None, a size of the launch, is -1."""
    listed = ", ".join("-1" if extent is None else str(extent) for extent in shape)
    return f"{{ [{listed}] }}"


def unsigned(element: str) -> str:
    """The unsigned type of an integer's width."""
    return f"u{element[1:]}"


def tile_type(type_: Tile, element: str | None = None) -> str:
    """A tile, or a tile of pointers. Raises KeyError for an element type that the front end lacks."""
    if isinstance(type_.element, Ptr):
        return f"PointerTile<*mut {ELEMENTS[type_.element.pointee.name]}, {dims(type_.shape)}>"
    return f"Tile<{element or ELEMENTS[type_.element.name]}, {dims(type_.shape)}>"


def type_text(type_: Attribute) -> str:
    """The type of a value in its own form. Raises KeyError for a type that the front end lacks."""
    match type_:
        case Tile():
            return tile_type(type_)
        case Token():
            return "Token"
        case PartitionView():
            return f"Partition<{ELEMENTS[type_.tensor_view.element.name]}, {dims(type_.tile)}>"
        case TensorView():
            return f"Tensor<{ELEMENTS[type_.element.name]}, {dims(type_.shape)}>"
        case _:
            raise KeyError(str(type_))


def literal(value: DenseElements) -> str | None:
    """The number of a splat as a literal that reads back to the same bits; None where there is none."""
    element, bits = value.element.name, value.bits[0]
    if element == "i1":
        return "true" if bits else "false"
    if element not in LITERALS:
        return None
    if value.element.is_int:
        return f"{value.ints()[0]}{element}"
    number = decode(bits, element)
    if not math.isfinite(number):
        return None
    return f"{_shortest(number, element, bits)}{element}"


def named(value: DenseElements) -> str | None:
    """The number of a splat as a constant of its type: an infinity, or 0 and 1 of a half type."""
    element, bits = value.element.name, value.bits[0]
    if bits == 0 and element in ("f16", "bf16"):
        return f"{element}::ZERO"
    if element not in NAMED:
        return None
    number = decode(bits, element)
    if number == math.inf:
        return f"{element}::INFINITY"
    if number == -math.inf:
        return f"{element}::NEG_INFINITY"
    return f"{element}::ONE" if number == 1 else None


def _shortest(number: float, element: str, bits: int) -> str:
    """The fewest digits that read back to these bits, with a point or an exponent."""
    for digits in range(1, 18):
        text = f"{number:.{digits}g}"
        if encode(float(text), element) == bits:
            break
    else:
        text = repr(number)
    mantissa, exponent, power = text.partition("e")
    if exponent:
        return f"{mantissa}e{int(power)}"
    return mantissa if "." in mantissa else f"{mantissa}.0"
