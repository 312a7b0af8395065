"""Reductions and scans with any body.

A reduction halves its dimension again and again, then takes the identity in; a scan goes element by element,
the total so far as the body's first argument, as hardware has it. The hardware may choose another order, so a
body that is not associative, or an identity that is not neutral, leaves the result undetermined.
A body of one plain op is a function of two tensors; any other one is run as a region whose blocks are all
lanes at once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from tileir_diff.equivalence import floats, integers
from tileir_diff.equivalence.backend import Tensor, torch
from tileir_diff.equivalence.dtypes import dtype, element, literal, shape
from tileir_diff.equivalence.frames import Frame, merge
from tileir_diff.equivalence.noise import ROUNDING

if TYPE_CHECKING:
    from collections.abc import Callable

    from tileir_diff.dialect.ir import TileOp
    from tileir_diff.equivalence.machine import Handler, Machine

    Combine = Callable[[list[Tensor], list[Tensor]], list[Tensor]]
    """Earlier and later elements or totals, one tensor an operand, to new totals."""


ROUGHLY: Final = 0.05
"""Relative difference that rounding may make, also of a half with few digits."""


def _combine(m: Machine, op: TileOp) -> Combine:
    body = op.regions[0].block
    ops: Any = list(body.ops)
    if len(ops) == 2 and ops[1].short == "yield" and tuple(ops[1].operands) == tuple(ops[0].results):
        plain = integers.pair_function(ops[0]) or floats.pair_function(ops[0])
        operands = tuple(ops[0].operands)
        name = element(ops[0].results[0])
        rounds = ops[0].short in ROUNDING
        if plain is not None and rounds and m.noise is not None:
            plain = _moving(m, plain, name)
        if plain is not None and operands == tuple(body.args):
            return lambda first, second: [plain(first[0], second[0])]
        if plain is not None and operands == tuple(reversed(body.args)):
            return lambda first, second: [plain(second[0], first[0])]
    return lambda first, second: _run_body(m, op, first, second)


def _moving(m: Machine, exact: Callable[[Tensor, Tensor], Tensor], name: str) -> Any:
    """One op of a body in a run with noise."""
    return lambda a, b: m.moved(exact(a, b), name)  # pyright: ignore


def _run_body(m: Machine, op: TileOp, first: list[Tensor], second: list[Tensor]) -> list[Tensor]:
    """One step of the body; every lane of every block is a block of its own."""
    outer = m.frame
    common = torch.broadcast_shapes(*(each.shape for each in (*first, *second)))
    common = (len(outer), *common[1:])
    lanes = 1
    for extent in common[1:]:
        lanes *= extent
    owners = torch.arange(common[0]).repeat_interleave(lanes)
    inner = Frame(torch.arange(len(owners)), outer.blocks[owners], outer, owners)
    for index, (one, other) in enumerate(zip(first, second, strict=True)):
        inner.set(op.regions[0].block.args[2 * index], one.expand(common).reshape(-1))
        inner.set(op.regions[0].block.args[2 * index + 1], other.expand(common).reshape(-1))
    outcome = merge(m.run(op.regions[0].block, inner))
    m.frame = outer
    return [value.expand(len(owners)).reshape(common) for value in outcome.values]


def _identities(op: TileOp, rank: int) -> list[Tensor]:
    found: list[Tensor] = []
    for each, operand in zip(op.get("identities"), op.operands, strict=True):
        tensor = literal(each).reshape((1,) * rank)
        name = element(operand)
        # The dialect tolerates one half type for the other, and numbers without a type.
        found.append(tensor if tensor.dtype == dtype(name) else tensor.to(dtype(name)))
    return found


def reduce(m: Machine, op: TileOp) -> None:
    combine, axis = _combine(m, op), int(op.get("dim")) + 1
    values = [m.full(operand) for operand in op.operands]
    extent: int = shape(op.operands[0])[int(op.get("dim"))]
    fair = _check(m, op, combine, values, axis)
    while extent > 1:
        extent //= 2
        values = combine(
            [each.narrow(axis, 0, extent) for each in values],
            [each.narrow(axis, extent, extent) for each in values],
        )
    values = combine([each.squeeze(axis) for each in values], _identities(op, values[0].dim() - 1))
    for index, value in enumerate(values):
        m.set(op, value, index)
        if not fair:
            m.set_doubt(op, torch.ones((1,) * value.dim(), dtype=torch.bool), index)
    _free(m, op)


def scan(m: Machine, op: TileOp) -> None:
    combine, axis = _combine(m, op), int(op.get("dim")) + 1
    values = [m.full(operand) for operand in op.operands]
    extent: int = shape(op.operands[0])[int(op.get("dim"))]
    totals = _identities(op, values[0].dim() - 1)
    fair = _check(m, op, combine, values, axis)
    outputs: list[list[Tensor]] = [[] for _ in values]
    reverse = bool(op.get("reverse"))
    for at in range(extent - 1, -1, -1) if reverse else range(extent):
        totals = combine(totals, [each.select(axis, at) for each in values])
        for output, total in zip(outputs, totals, strict=True):
            output.append(total)
    for index, output in enumerate(outputs):
        if reverse:
            output.reverse()
        m.set(op, torch.stack(torch.broadcast_tensors(*output), dim=axis), index)
        if not fair:
            m.set_doubt(op, torch.ones((1,) * values[index].dim(), dtype=torch.bool), index)
    _free(m, op)


def _check(m: Machine, op: TileOp, combine: Combine, values: list[Tensor], axis: int) -> bool:
    """Whether the body is associative and the identity neutral, on the first elements of a few lanes."""
    if op in m.checked:
        return m.checked[op]
    extent: int = values[0].shape[axis]
    frame = m.frame
    m.frame = frame.part(torch.zeros(1, dtype=torch.int64))
    few = [_few(each, axis) for each in values]
    one = [each.select(axis, 0) for each in few]
    identities = _identities(op, one[0].dim())
    neutral = _agree(combine(one, identities), one) or _agree(combine(identities, one), one)
    fair = neutral or not m.report("fold/identity", op, torch.ones(1, dtype=torch.bool))
    if extent > 2:
        two, three = ([each.select(axis, at) for each in few] for at in (1, 2))
        left, right = combine(combine(one, two), three), combine(one, combine(two, three))
        if not _agree(left, right):
            fair = not m.report("fold/associative", op, torch.ones(1, dtype=torch.bool))
    m.frame = frame
    m.checked[op] = fair
    return fair


def _few(tensor: Tensor, axis: int) -> Tensor:
    """The first block, the first elements along the axis, a few lanes of each other dimension."""
    for dim in range(tensor.dim()):
        tensor = tensor.narrow(dim, 0, min(tensor.shape[dim], 1 if dim == 0 else 4))
    return tensor


def _agree(one: list[Tensor], other: list[Tensor]) -> bool:
    """Equal but for rounding; numbers that are no numbers agree with anything."""
    for a, b in zip(one, other, strict=True):
        if not a.dtype.is_floating_point:
            if not bool((a == b).all()):
                return False
            continue
        a, b = a.double(), b.double()
        plain = torch.isfinite(a) & torch.isfinite(b)
        off = (a - b).abs() > ROUGHLY * (1e-6 + a.abs() + b.abs())
        if bool((off & plain).any()):
            return False
    return True


def _free(m: Machine, op: TileOp) -> None:
    extent: int = shape(op.operands[0])[int(op.get("dim"))]
    names = [element(operand) for operand in op.operands]
    if extent > 1 and any(name not in ("i1", "i8", "i16", "i32", "i64") for name in names):
        m.free(op, op.short, f"the order of {extent} elements")


HANDLERS: dict[str, Handler] = {"reduce": reduce, "scan": scan}
