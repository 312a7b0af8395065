"""Ops whose operands and results share a type or a shape, lane by lane."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tileir_diff.dialect.types import Scalar
from tileir_diff.dialect.verifier.access import operand_tile, result_tile
from tileir_diff.dialect.verifier.broken import Broken, Constraints, Rules

if TYPE_CHECKING:
    from tileir_diff.dialect.ir import TileOp

RULES: Rules = {
    "elementwise/same-type": "all operands and the result of an elementwise op have one type",
    "compare/same-type": "both operands of a comparison have one type",
    "compare/result-shape": "a comparison gives one i1 per lane of its operands",
    "fpowi/same-type": "the result of fpowi has the type of its base",
    "fpowi/exponent-shape": "the exponent of fpowi has the shape of its base",
    "select/same-type": "both values of a select and its result have one type",
    "select/condition-shape": "the condition of a select has the shape of its values",
    "select/sub-byte": "select does not work on f4E2M1FN",
    "offset/same-type": "offset gives the type of its pointer operand",
    "offset/same-shape": "the offsets have the shape of the pointers",
}

SAME_TYPE_OPS = (
    "addi", "subi", "muli", "shli", "divi", "remi", "maxi", "mini", "shri", "mulhii", "andi", "ori", "xori",
    "negi", "absi", "addf", "subf", "mulf", "divf", "maxf", "minf", "remf", "atan2", "fpowf", "fma",
    "sqrt", "rsqrt", "exp", "exp2", "tanh", "absf", "negf", "ceil", "floor",
    "cos", "cosh", "sin", "sinh", "tan", "log", "log2",
)  # fmt: skip


def same_type(op: TileOp) -> Broken | None:
    result = result_tile(op)
    for position, operand in enumerate(op.inputs):
        if operand.type != result:
            return Broken(
                "elementwise/same-type",
                f"operand {position} of `{op.short}` is {operand.type}, but the result is {result}",
                f"operand:{position}",
            )
    return None


def compare(op: TileOp) -> Broken | None:
    lhs, rhs, result = operand_tile(op), operand_tile(op, 1), result_tile(op)
    if lhs != rhs:
        message = f"`{op.short}` compares values of one type, found {lhs} and {rhs}"
        return Broken("compare/same-type", message, "operand:1")
    if result.shape != lhs.shape:
        return Broken("compare/result-shape", f"`{op.short}` of {lhs} cannot give {result}", "result")
    return None


def fpowi(op: TileOp) -> Broken | None:
    base, exponent, result = operand_tile(op), operand_tile(op, 1), result_tile(op)
    if base.shape != exponent.shape:
        message = f"the exponent {exponent} must have the shape of the base {base}"
        return Broken("fpowi/exponent-shape", message, "operand:1")
    if base != result:
        return Broken("fpowi/same-type", f"`fpowi` of {base} cannot give {result}", "result")
    return None


def select(op: TileOp) -> Broken | None:
    condition, on_true, on_false = (operand_tile(op, position) for position in range(3))
    result = result_tile(op)
    if on_true != on_false or on_true != result:
        message = f"`select` needs one type, found {on_true}, {on_false} and the result {result}"
        return Broken("select/same-type", message, "operand:2" if on_true != on_false else "result")
    if condition.shape != on_true.shape:
        message = f"the condition {condition} must have the shape of the values {on_true}"
        return Broken("select/condition-shape", message, "operand:0")
    if isinstance(on_true.element, Scalar) and on_true.element.name == "f4E2M1FN":
        return Broken(
            "select/sub-byte", f"`select` does not work on the sub-byte type {on_true}", "operand:1"
        )
    return None


def offset(op: TileOp) -> Broken | None:
    pointer, offsets, result = operand_tile(op), operand_tile(op, 1), result_tile(op)
    if pointer.shape != offsets.shape:
        message = f"the offsets {offsets} must have the shape of the pointers {pointer}"
        return Broken("offset/same-shape", message, "operand:1")
    if pointer != result:
        return Broken("offset/same-type", f"`offset` of {pointer} cannot give {result}", "result")
    return None


CONSTRAINTS: Constraints = {
    **dict.fromkeys(SAME_TYPE_OPS, (same_type,)),
    "cmpi": (compare,),
    "cmpf": (compare,),
    "fpowi": (fpowi,),
    "select": (select,),
    "offset": (offset,),
}
