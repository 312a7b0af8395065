"""Reduce and scan: operands, identities, the region, and what may stand in it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tileir_diff.dialect.ops import OPS
from tileir_diff.dialect.spec import TOKEN_ORDERED, UNKNOWN
from tileir_diff.dialect.types import Tile
from tileir_diff.dialect.verifier.access import number, operand_tile, tile
from tileir_diff.dialect.verifier.broken import Broken, Constraints, Rules

if TYPE_CHECKING:
    from tileir_diff.dialect.ir import TileOp

RULES: Rules = {
    "reduce/operand-shape": "all operands of reduce or scan have one shape",
    "reduce/dim": "the dimension of reduce or scan is one of its operands' dimensions",
    "reduce/identity-count": "reduce and scan have one identity per operand",
    "reduce/identity-type": "an identity has its operand's element type; f16 and bf16 pass for each other",
    "reduce/result-count": "reduce and scan have one result per operand",
    "reduce/result-type": "reduce drops its dimension from each operand's type",
    "scan/result-type": "scan keeps each operand's type",
    "reduce/region-arguments": "the region takes two rank-0 tiles per operand, of its element type",
    "reduce/yield": "the region yields one rank-0 tile per operand, of its element type",
    "reduce/body-effects": "only ops without effects stand in the region of reduce or scan",
}

REDUCTIONS = ("reduce", "scan")
_HALVES = frozenset(("f16", "bf16"))

# Ops that may not stand in the region of a reduction. `assume` is among them: it declares no effects, and so
# counts as having unknown ones; loops are, as their terminators do the same.
EFFECTFUL_OPS = (
    *(spec.name for spec in OPS.values() if spec.effect in (TOKEN_ORDERED, UNKNOWN) and not spec.regions),
    "for",
    "loop",
)


def _operands(op: TileOp) -> Broken | None:
    shape = operand_tile(op).shape
    for position, operand in enumerate(op.operands):
        if tile(operand).shape != shape:
            found = f"found {operand_tile(op)} and {operand.type}"
            message = f"all operands of `{op.short}` must have one shape, {found}"
            return Broken("reduce/operand-shape", message, f"operand:{position}")
    dim = op.get("dim")
    if not isinstance(dim, int) or not 0 <= dim < len(shape):
        return Broken("reduce/dim", f"`dim` of `{op.short}` must be in [0, {len(shape)}), found {dim}", "dim")
    return None


def _identities(op: TileOp) -> Broken | None:
    identities = op.get("identities") or ()
    if len(identities) != len(op.operands):
        message = f"`{op.short}` needs one identity per operand, {len(op.operands)}, found {len(identities)}"
        return Broken("reduce/identity-count", message, "identities")
    for operand, identity in zip(op.operands, identities, strict=True):
        wanted, found = number(tile(operand)), identity.element
        if wanted != found and not {wanted.name, found.name} <= _HALVES:
            message = f"the identity of {operand.type} must be of type {wanted}, found {found}"
            return Broken("reduce/identity-type", message, "identities")
    return None


def _results(op: TileOp) -> Broken | None:
    if len(op.results) != len(op.operands):
        message = f"`{op.short}` gives one result per operand, {len(op.operands)}, found {len(op.results)}"
        return Broken("reduce/result-count", message)
    dim = op.get("dim")
    for operand, result in zip(op.operands, op.results, strict=True):
        source = tile(operand)
        expected = source
        if op.short == "reduce":
            expected = Tile(source.shape[:dim] + source.shape[dim + 1 :], source.element)
        if result.type != expected:
            message = f"`{op.short}` of {source} along dimension {dim} gives {expected}, found {result.type}"
            return Broken(f"{op.short}/result-type", message, "result")
    return None


def _region_arguments(op: TileOp) -> Broken | None:
    if not op.regions[0].blocks:
        return Broken("reduce/region-arguments", f"`{op.short}` needs a region with a block")
    found = [argument.type for argument in op.regions[0].blocks[0].args]
    expected = [Tile((), tile(operand).element) for operand in op.operands for _ in range(2)]
    if found != expected:
        wanted, got = ", ".join(map(str, expected)), ", ".join(map(str, found)) or "none"
        message = f"the region of `{op.short}` takes ({wanted}), found ({got})"
        return Broken("reduce/region-arguments", message)
    return None


def reduction_yield(terminator: TileOp, parent: TileOp) -> Broken | None:
    """The `yield` of a reduction gives one scalar per operand."""
    found = [operand.type for operand in terminator.operands]
    expected = [
        Tile((), operand.type.element) for operand in parent.operands if isinstance(operand.type, Tile)
    ]
    if not expected or len(expected) != len(parent.operands):
        return None  # The reduction itself is to blame.
    if found != expected:
        wanted, got = ", ".join(map(str, expected)), ", ".join(map(str, found)) or "nothing"
        return Broken("reduce/yield", f"the region of `{parent.short}` yields {wanted}, found {got}")
    return None


def no_effects_in_reduction(op: TileOp) -> Broken | None:
    """An effectful op has no reduction around it, unless an op in between is already refused."""
    parent = op.parent_op()
    while parent is not None:
        name = getattr(parent, "short", None)
        if name in REDUCTIONS:
            return Broken(
                "reduce/body-effects", f"`{op.short}` may have effects, and cannot stand in a `{name}`"
            )
        if name != "if":
            return None
        parent = parent.parent_op()
    return None


_REDUCTION = (_operands, _identities, _results, _region_arguments)
CONSTRAINTS: Constraints = {
    **dict.fromkeys(EFFECTFUL_OPS, (no_effects_in_reduction,)),
    "reduce": _REDUCTION,
    "scan": _REDUCTION,
}
