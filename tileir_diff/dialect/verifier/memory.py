"""Loads and stores through pointers, alloca, and the orderings and scopes of every memory op."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tileir_diff.dialect.verifier.access import operand_tile, pointee, result_tile, tile
from tileir_diff.dialect.verifier.broken import Broken, Constraint, Constraints, Rules
from tileir_diff.dialect.verifier.kinds import phrase

if TYPE_CHECKING:
    from tileir_diff.dialect.ir import TileOp
    from tileir_diff.dialect.types import Tile

_LOADS = ("weak", "relaxed", "acquire")
_STORES = ("weak", "relaxed", "release")
_ATOMICS = ("relaxed", "acquire", "release", "acq_rel")
_ALL_SCOPES = ("tl_blk", "device", "sys")

# Orderings and scopes of each memory op.
ORDERINGS: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "load_ptr_tko": (_LOADS, _ALL_SCOPES),
    "load_view_tko": (_LOADS, _ALL_SCOPES),
    "store_ptr_tko": (_STORES, _ALL_SCOPES),
    "store_view_tko": (_STORES, _ALL_SCOPES),
    "atomic_cas_tko": (_ATOMICS, _ALL_SCOPES),
    "atomic_rmw_tko": (_ATOMICS, _ALL_SCOPES),
    "atomic_red_view_tko": (("relaxed",), ("tl_blk", "device")),
}

RULES: Rules = {
    **{
        f"{name}/ordering": f"the ordering of {name} is {phrase(orders)}"
        for name, (orders, _) in ORDERINGS.items()
    },
    "memory-order/weak-scope": "a weak access has no memory scope",
    "memory-order/missing-scope": "an access that is not weak has a memory scope",
    "atomic_red_view_tko/scope": "the scope of atomic_red_view_tko is tl_blk or device",
    "load_ptr_tko/pointee": "load_ptr_tko gives one value of the pointee type per pointer",
    "load_ptr_tko/mask-shape": "the mask of load_ptr_tko has the shape of its pointers",
    "load_ptr_tko/padding-type": "the padding of load_ptr_tko has the type of its result",
    "store_ptr_tko/pointee": "store_ptr_tko takes one value of the pointee type per pointer",
    "store_ptr_tko/mask-shape": "the mask of store_ptr_tko has the shape of its pointers",
    "alloca/alignment": "the alignment of alloca is a power of two",
    "alloca/natural-alignment": "the alignment of alloca is at least the size of an element",
}


def memory_order(op: TileOp) -> Broken | None:
    orderings, scopes = ORDERINGS[op.short]
    ordering, scope = op.get("memory_ordering"), op.get("memory_scope")
    if ordering not in orderings:
        message = f"the ordering of `{op.short}` is {phrase(orderings)}, found {ordering}"
        return Broken(f"{op.short}/ordering", message, "memory_ordering")
    if ordering == "weak":
        if scope is not None:
            return Broken(
                "memory-order/weak-scope", f"a weak access has no scope, found {scope}", "memory_scope"
            )
        return None
    if scope is None:
        message = f"a {ordering} access needs a scope: {phrase(scopes)}"
        return Broken("memory-order/missing-scope", message, "memory_ordering")
    if scope not in scopes:
        message = f"the scope of `{op.short}` is {phrase(scopes)}, found {scope}"
        return Broken("atomic_red_view_tko/scope", message, "memory_scope")
    return None


def _pointee(op: TileOp, pointers: Tile, value: Tile, where: str) -> Broken | None:
    if pointers.shape != value.shape or pointee(pointers) != value.element:
        message = f"`{op.short}` through {pointers} does not fit {value}"
        return Broken(f"{op.short}/pointee", message, where)
    return None


def _mask(op: TileOp) -> Broken | None:
    mask, pointers = op.one("mask"), operand_tile(op)
    if mask is not None and tile(mask).shape != pointers.shape:
        message = f"the mask {mask.type} must have the shape of the pointers {pointers}"
        return Broken(f"{op.short}/mask-shape", message, "mask")
    return None


def _load(op: TileOp) -> Broken | None:
    broken = _pointee(op, operand_tile(op), result_tile(op), "result") or _mask(op)
    if broken is not None:
        return broken
    padding = op.one("padding")
    if padding is not None and padding.type != result_tile(op):
        message = f"the padding {padding.type} must have the type of the result {result_tile(op)}"
        return Broken("load_ptr_tko/padding-type", message, "padding")
    return None


def _store(op: TileOp) -> Broken | None:
    return _pointee(op, operand_tile(op), operand_tile(op, 1), "operand:1") or _mask(op)


def _alloca(op: TileOp) -> Broken | None:
    alignment, element = op.get("alignment"), pointee(result_tile(op))
    if not isinstance(alignment, int) or alignment <= 0 or alignment & (alignment - 1):
        return Broken(
            "alloca/alignment", f"the alignment must be a power of two, found {alignment}", "alignment"
        )
    size = element.bits // 8
    if alignment < size:
        message = f"the alignment must be at least the {size} bytes of {element}, found {alignment}"
        return Broken("alloca/natural-alignment", message, "alignment")
    return None


_ORDER: dict[str, tuple[Constraint, ...]] = dict.fromkeys(ORDERINGS, (memory_order,))
CONSTRAINTS: Constraints = {
    **_ORDER,
    "load_ptr_tko": (_load, memory_order),
    "store_ptr_tko": (_store, memory_order),
    "alloca": (_alloca,),
}
