"""Atomic ops: element types by mode, pointees, masks, and reductions through views."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tileir_diff.dialect.types import GatherScatterView
from tileir_diff.dialect.verifier.access import number, operand_tile, pointee, result_tile, tile, view
from tileir_diff.dialect.verifier.broken import Broken, Constraints, Rules
from tileir_diff.dialect.verifier.kinds import BASE_FLOATS, phrase
from tileir_diff.dialect.verifier.views import view_indices, view_tile

if TYPE_CHECKING:
    from tileir_diff.dialect.ir import TileOp

WORDS = ("i32", "i64", "f32", "f64")
_INTEGERS = ("i32", "i64")
MODES: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(("and", "or", "xor", "add", "max", "min", "umax", "umin"), _INTEGERS),
    "addf": BASE_FLOATS,
    "xchg": WORDS,
}

RULES: Rules = {
    "atomic/element-type": "an atomic op works on the element types of its mode",
    "atomic/mode": "the mode of an atomic op is one of the known ones",
    "atomic/pointee": "the pointers of an atomic op point to the element type of its value",
    "atomic/same-shape": "pointers, values, mask and result of an atomic op have one shape",
    "atomic/same-type": "values and result of an atomic op have one type",
    "atomic_red_view_tko/xchg": "atomic_red_view_tko has no xchg",
    "atomic_red_view_tko/padding": "atomic_red_view_tko takes no view with a padding value",
    "atomic_red_view_tko/gather": "atomic_red_view_tko takes no gather_scatter_view",
}


def compare_and_swap_type(op: TileOp) -> Broken | None:
    element = number(operand_tile(op, 2))
    if element.name not in WORDS:
        message = f"`atomic_cas_tko` works on {phrase(WORDS)}, found {element}"
        return Broken("atomic/element-type", message, "operand:2")
    return None


def _mode(op: TileOp, value: int) -> Broken | None:
    """`value` is the position of the operand that the mode combines into memory."""
    mode, element = op.get("mode"), number(operand_tile(op, value))
    allowed = MODES.get(mode)
    if allowed is None:
        return Broken(
            "atomic/mode", f"the mode of `{op.short}` is {phrase(tuple(MODES))}, found {mode}", "mode"
        )
    if element.name not in allowed:
        message = f"`{op.short}` {mode} works on {phrase(allowed)}, found {element}"
        return Broken("atomic/element-type", message, "mode")
    return None


def read_modify_write_mode(op: TileOp) -> Broken | None:
    return _mode(op, 1)


def pointers_and_values(op: TileOp) -> Broken | None:
    """Shapes and types of `atomic_cas_tko` and `atomic_rmw_tko`."""
    pointers, result = operand_tile(op), result_tile(op)
    values = op.operands[1 : 3 if op.short == "atomic_cas_tko" else 2]
    for position, value in enumerate(values, 1):
        if tile(value).shape != pointers.shape:
            message = f"the values {value.type} must have the shape of the pointers {pointers}"
            return Broken("atomic/same-shape", message, f"operand:{position}")
    mask = op.one("mask")
    if mask is not None and tile(mask).shape != pointers.shape:
        message = f"the mask {mask.type} must have the shape of the pointers {pointers}"
        return Broken("atomic/same-shape", message, "mask")
    if result.shape != pointers.shape:
        message = f"the result {result} must have the shape of the pointers {pointers}"
        return Broken("atomic/same-shape", message, "result")
    for position, value in enumerate(values, 1):
        if value.type != result:
            message = f"the values and the result must have one type, found {value.type} and {result}"
            return Broken("atomic/same-type", message, f"operand:{position}")
    if pointee(pointers) != result.element:
        message = f"the pointers {pointers} must point to {result.element}"
        return Broken("atomic/pointee", message, "operand:0")
    return None


def view_reduction(op: TileOp) -> Broken | None:
    given = view(op.operands[0])
    if op.get("mode") == "xchg":
        return Broken(
            "atomic_red_view_tko/xchg", "`atomic_red_view_tko` gives no old value, it has no xchg", "mode"
        )
    if isinstance(given, GatherScatterView):
        message = f"`atomic_red_view_tko` takes a partition or strided view, found {given}"
        return Broken("atomic_red_view_tko/gather", message, "operand:0")
    if given.padding is not None:
        message = f"`atomic_red_view_tko` takes no view with a padding value, found {given}"
        return Broken("atomic_red_view_tko/padding", message, "operand:0")
    return _mode(op, 1 + len(op.group("index")))


CONSTRAINTS: Constraints = {
    "atomic_cas_tko": (pointers_and_values, compare_and_swap_type),
    "atomic_rmw_tko": (pointers_and_values, read_modify_write_mode),
    "atomic_red_view_tko": (view_reduction, view_indices, view_tile),
}
