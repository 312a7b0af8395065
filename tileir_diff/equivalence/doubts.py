"""Undetermined lanes: from masked loads without a value to whatever is computed from them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from tileir_diff.dialect.types import Tile
from tileir_diff.equivalence.backend import Tensor, torch
from tileir_diff.equivalence.dtypes import element, shape
from tileir_diff.equivalence.shapes import MOVES, expanded, put, slice_index

if TYPE_CHECKING:
    from collections.abc import Callable

    from tileir_diff.dialect.ir import TileOp
    from tileir_diff.equivalence.machine import Machine

    Masks = list[Tensor | None]
    """By operand the lanes that are undetermined; None: none."""

OWN: Final = frozenset({
    "for", "loop", "if", "load_ptr_tko", "load_view_tko", "atomic_rmw_tko", "atomic_cas_tko", "alloca",
    "make_tensor_view", "get_index_space_shape", "get_tensor_shape",
})  # fmt: skip
"""Ops that say themselves which lanes of their results are undetermined."""


def spread(m: Machine, op: TileOp) -> None:
    """Marks the lanes of an op's results that depend on undetermined lanes of its operands."""
    results = [index for index, result in enumerate(op.results) if isinstance(result.type, Tile)]
    if op.short in OWN or not results:
        return
    masks = [m.frame.doubt(operand) for operand in op.operands]
    if op.regions and _captures_doubt(m, op):
        everything = torch.ones((1,) * (1 + len(shape(op.results[0]))), dtype=torch.bool)
        for index in results:
            m.set_doubt(op, everything, index)
        return
    if all(mask is None for mask in masks):
        return
    found = SPREAD.get(op.short, _any)(m, op, masks)
    if found is None:
        return
    for index in results:
        own = m.frame.unknown.get(op.results[index])
        m.set_doubt(op, found if own is None else found | own, index)


def _captures_doubt(m: Machine, op: TileOp) -> bool:
    """Whether the body of a reduction or scan uses an undetermined value from outside."""
    body: Any = op.regions[0].block
    inside = {value for each in op.walk() for value in each.results} | set(body.args)
    used = {operand: None for each in body.walk() for operand in each.operands if operand not in inside}
    return any(m.frame.doubt(value) is not None for value in used)


def _any(m: Machine, op: TileOp, masks: Masks) -> Tensor | None:
    """Elementwise: undetermined where an operand is."""
    found: Tensor | None = None
    for mask in masks:
        if mask is not None:
            found = mask if found is None else found | mask
    return found


def _select(m: Machine, op: TileOp, masks: Masks) -> Tensor | None:
    condition = m.get(op.operands[0])
    none = torch.zeros((1,) * condition.dim(), dtype=torch.bool)
    of_condition, on_true, on_false = (none if mask is None else mask for mask in masks)
    return of_condition | torch.where(condition, on_true, on_false)


def _absorbing(value: int) -> Callable[[Machine, TileOp, Masks], Tensor | None]:
    """`andi` and `ori` of i1: a determined false, or true, decides."""

    def spread_(m: Machine, op: TileOp, masks: Masks) -> Tensor | None:
        found = _any(m, op, masks)
        if element(op.results[0]) != "i1" or found is None:
            return found
        for mask, operand in zip(masks, op.operands, strict=True):
            decides = m.get(operand) == bool(value)
            found = found & ~(decides if mask is None else decides & ~mask)
        return found

    return spread_


def _move(m: Machine, op: TileOp, masks: Masks) -> Tensor | None:
    whole = [
        torch.zeros(1, *shape(operand), dtype=torch.bool) if mask is None else expanded(mask, shape(operand))
        for mask, operand in zip(masks, op.operands, strict=True)
    ]
    return MOVES[op.short](op, whole)


def _extract(m: Machine, op: TileOp, masks: Masks) -> Tensor | None:
    """Undetermined slice numbers, or lanes of the slice."""
    indices = _any(m, op, [_lifted(mask, len(shape(op.results[0]))) for mask in masks[1:]])
    if masks[0] is None:
        return indices
    whole, part = shape(op.operands[0]), shape(op.results[0])
    places, _ = slice_index(m, op, whole, part)
    source = expanded(masks[0], whole).expand(len(m.frame), *whole)
    rows = torch.arange(len(m.frame)).reshape(-1, *([1] * len(whole)))
    taken = source[(rows, *places)] if places else source
    return taken if indices is None else taken | indices


def _insert(m: Machine, op: TileOp, masks: Masks) -> Tensor | None:
    part, whole = shape(op.operands[0]), shape(op.results[0])
    indices = _any(m, op, [_lifted(mask, len(whole)) for mask in masks[2:]])
    source, target = (
        torch.zeros(1, *tile, dtype=torch.bool) if mask is None else expanded(mask, tile)
        for mask, tile in ((masks[0], part), (masks[1], whole))
    )
    found = put(target, source, slice_index(m, op, whole, part)[0])
    return found if indices is None else found | indices


def _lifted(mask: Tensor | None, rank: int) -> Tensor | None:
    return None if mask is None else mask.reshape(-1, *([1] * rank))


def _reduce(m: Machine, op: TileOp, masks: Masks) -> Tensor | None:
    found = _any(m, op, masks)
    return None if found is None else found.any(dim=op.get("dim") + 1)


def _scan(m: Machine, op: TileOp, masks: Masks) -> Tensor | None:
    found = _any(m, op, masks)
    if found is None:
        return None
    axis = op.get("dim") + 1
    whole = expanded(found, shape(op.operands[0])).to(torch.uint8)
    if op.get("reverse"):
        return torch.cummax(whole.flip(axis), dim=axis).values.flip(axis) != 0
    return torch.cummax(whole, dim=axis).values != 0


def _product(m: Machine, op: TileOp, masks: Masks) -> Tensor | None:
    lhs, rhs, acc, *scales = masks
    rows = [mask.any(dim=-1, keepdim=True) for mask in (lhs, *scales[:1]) if mask is not None]
    columns = [mask.any(dim=-2, keepdim=True) for mask in (rhs, *scales[1:]) if mask is not None]
    return _any(m, op, [*rows, *columns, acc])


def _regroup(m: Machine, op: TileOp, masks: Masks) -> Tensor | None:
    """`pack` and `unpack`: what shares a byte shares its fate."""
    (mask,) = masks
    if mask is None:
        return None
    (before,), (after,) = shape(op.operands[0]), shape(op.results[0])
    whole = expanded(mask, (before,))
    if after >= before:
        return whole.repeat_interleave(after // before, dim=1)
    return whole.reshape(-1, after, before // after).any(dim=2)


SPREAD: Final[dict[str, Callable[[Machine, TileOp, Masks], Tensor | None]]] = {
    **dict.fromkeys(MOVES, _move),
    "andi": _absorbing(0),
    "extract": _extract,
    "insert": _insert,
    "mmaf": _product,
    "mmaf_scaled": _product,
    "mmai": _product,
    "ori": _absorbing(1),
    "pack": _regroup,
    "reduce": _reduce,
    "scan": _scan,
    "select": _select,
    "unpack": _regroup,
}
"""How undetermined lanes spread, where it is not element by element."""
