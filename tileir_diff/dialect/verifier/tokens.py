"""Tokens, assumptions, prints, constants: what is left."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tileir_diff.dialect.types import Ptr, TensorView, Tile
from tileir_diff.dialect.verifier.broken import Broken, Constraints, Rules
from tileir_diff.dialect.verifier.kinds import INTS_AND_I4

if TYPE_CHECKING:
    from tileir_diff.dialect.ir import TileOp

MAX_DIVISOR = 1 << 62
_CONVERSIONS = frozenset("diouxXeEfFgGaAcspn")

RULES: Rules = {
    "join_tokens/count": "join_tokens joins two or more tokens",
    "assume/same-type": "assume gives the type of its operand",
    "div_by/target": "div_by is for tiles of integers or pointers, and tensor_views",
    "div_by/divisor": "the divisor of div_by is a power of two, at most 2^62",
    "div_by/every": "every and along of div_by come together, fit the tile, and need rank 1 or more",
    "bounded/target": "bounded is for tiles of integers",
    "bounded/range": "the bounds of bounded fit its integer type, read as signed",
    "bounded/order": "the lower bound of bounded is not above the upper bound",
    "same_elements/target": "same_elements is for tiles of integers or pointers",
    "same_elements/sizes": "same_elements has one size per dimension, none above the dimension's",
    "print_tko/format": "every % of a print format starts a conversion, or is doubled",
    "print_tko/operand-count": "print_tko has one operand per conversion of its format",
}


def join(op: TileOp) -> Broken | None:
    if len(op.inputs) < 2:
        return Broken("join_tokens/count", f"`join_tokens` joins two or more tokens, found {len(op.inputs)}")
    return None


def _is_tile(type_: Any, pointers: bool) -> bool:
    if not isinstance(type_, Tile):
        return False
    if isinstance(type_.element, Ptr):
        return pointers
    return type_.element.name in INTS_AND_I4


def assume(op: TileOp) -> Broken | None:
    type_, result = op.inputs[0].type, op.results[0].type
    if type_ != result:
        return Broken("assume/same-type", f"`assume` of {type_} cannot give {result}", "result")
    assumption = op.get("assumption")
    name = type(assumption).__name__
    if name == "DivBy":
        return _div_by(type_, assumption)
    if name == "Bounded":
        return _bounded(type_, assumption)
    return _same_elements(type_, assumption)


def _div_by(type_: Any, assumption: Any) -> Broken | None:
    if not isinstance(type_, TensorView) and not _is_tile(type_, pointers=True):
        message = f"div_by is for tiles of integers or pointers, and tensor_views; found {type_}"
        return Broken("div_by/target", message, "assumption")
    divisor, every, along = assumption.divisor, assumption.every, assumption.along
    if divisor <= 0 or divisor & (divisor - 1) or divisor > MAX_DIVISOR:
        message = f"the divisor of div_by must be a power of two up to 2^62, found {divisor}"
        return Broken("div_by/divisor", message, "assumption")
    if every is None and along is None:
        return None
    if every is None or along is None:
        missing = "every" if every is None else "along"
        return Broken(
            "div_by/every", f"every and along of div_by come together, {missing} is missing", "assumption"
        )
    if isinstance(type_, TensorView) or not type_.shape:
        message = f"every and along of div_by need a tile of rank 1 or more, found {type_}"
        return Broken("div_by/every", message, "assumption")
    if not 0 <= along < len(type_.shape):
        message = f"along of div_by must be in [0, {len(type_.shape)}), found {along}"
        return Broken("div_by/every", message, "assumption")
    if not 0 <= every <= type_.shape[along]:
        message = f"every of div_by must be in [0, {type_.shape[along]}], found {every}"
        return Broken("div_by/every", message, "assumption")
    return None


def _bounded(type_: Any, assumption: Any) -> Broken | None:
    if not _is_tile(type_, pointers=False):
        return Broken("bounded/target", f"bounded is for tiles of integers, found {type_}", "assumption")
    half = 1 << (type_.element.bits - 1)
    for bound in (assumption.lower, assumption.upper):
        if bound is not None and not -half <= bound < half:
            message = f"a bound of {type_} must be in [{-half}, {half - 1}], found {bound}"
            return Broken("bounded/range", message, "assumption")
    if assumption.lower is not None and assumption.upper is not None and assumption.lower > assumption.upper:
        message = f"the lower bound {assumption.lower} is above the upper bound {assumption.upper}"
        return Broken("bounded/order", message, "assumption")
    return None


def _same_elements(type_: Any, assumption: Any) -> Broken | None:
    if not _is_tile(type_, pointers=True):
        message = f"same_elements is for tiles of integers or pointers, found {type_}"
        return Broken("same_elements/target", message, "assumption")
    sizes = tuple(assumption.values)
    if len(sizes) != len(type_.shape):
        message = f"same_elements needs one size per dimension, {len(type_.shape)}, found {len(sizes)}"
        return Broken("same_elements/sizes", message, "assumption")
    for size, dim in zip(sizes, type_.shape, strict=True):
        if not 0 <= size <= dim:
            message = f"a size of same_elements must be in [0, {dim}], found {size}"
            return Broken("same_elements/sizes", message, "assumption")
    return None


def count_conversions(text: str) -> int | None:
    """Number of operands that a print format consumes; None where a `%` starts no conversion.

    As upstream reads it: `%%` is a percent sign; any other `%` is a conversion, provided that some
    conversion letter follows it anywhere.
    """
    last_letter = max((place for place, letter in enumerate(text) if letter in _CONVERSIONS), default=-1)
    count = 0
    position = 0
    while (position := text.find("%", position)) >= 0:
        if text.startswith("%%", position):
            position += 2
            continue
        if last_letter < position:
            return None
        count += 1
        position += 1
    return count


def printing(op: TileOp) -> Broken | None:
    expected, found = count_conversions(op.get("format") or ""), len(op.group("args"))
    if expected is None:
        return Broken(
            "print_tko/format", "a `%` of the format starts no conversion; write `%%` for a sign", "format"
        )
    if expected != found:
        message = f"the format has {expected} conversion(s), found {found} operand(s)"
        return Broken("print_tko/operand-count", message, "format")
    return None


CONSTRAINTS: Constraints = {"join_tokens": (join,), "assume": (assume,), "print_tko": (printing,)}
