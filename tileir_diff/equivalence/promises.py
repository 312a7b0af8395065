"""Promises to the compiler, checked; tokens, which are the order of the text here; printing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tileir_diff.dialect.attributes import Bounded, DivBy, SameElements
from tileir_diff.equivalence.backend import Tensor, torch
from tileir_diff.equivalence.dtypes import element
from tileir_diff.equivalence.formatting import formatted
from tileir_diff.equivalence.frames import TensorValue
from tileir_diff.equivalence.integers import wide
from tileir_diff.equivalence.memory import size_of
from tileir_diff.equivalence.model import Printed
from tileir_diff.equivalence.pointers import pointee

if TYPE_CHECKING:
    from tileir_diff.dialect.ir import TileOp
    from tileir_diff.equivalence.machine import Handler, Machine


def assume(m: Machine, op: TileOp) -> None:
    value = op.operands[0]
    data = m.get(value)
    m.set(op, data)
    promise = op.get("assumption")
    if isinstance(data, TensorValue):
        assert isinstance(promise, DivBy)
        _check(m, op, _indivisible(data.base, promise.divisor), data.base)
        return
    name = element(value)
    pointers = name == "ptr"
    numbers = data if pointers else wide(data, name, True)
    if isinstance(promise, DivBy):
        step = size_of(pointee(value)) if pointers else 1
        _check(m, op, _breaks_div_by(m, op, numbers, promise, step), numbers)
    elif isinstance(promise, Bounded):
        bad = torch.zeros_like(numbers, dtype=torch.bool)
        if promise.lower is not None:
            bad = bad | (numbers < promise.lower)
        if promise.upper is not None:
            bad = bad | (numbers > promise.upper)
        _check(m, op, bad, numbers)
    else:
        assert isinstance(promise, SameElements)
        _check(m, op, _different(m.full(value), promise.values), m.full(value))


def _check(m: Machine, op: TileOp, bad: Tensor, numbers: Tensor) -> None:
    m.report("assume/false", op, bad, {"value": numbers}, f"assume {op.get('assumption')} does not hold")


def _indivisible(numbers: Tensor, divisor: int) -> Tensor:
    return (numbers & (divisor - 1)) != 0


def _breaks_div_by(m: Machine, op: TileOp, numbers: Tensor, promise: DivBy, step: int) -> Tensor:
    if promise.every is None or (promise.every == 1 and promise.along is None):
        return _indivisible(numbers, promise.divisor)
    axis = (promise.along or 0) + 1
    whole = (
        m.full(op.operands[0]) if step > 1 else wide(m.full(op.operands[0]), element(op.operands[0]), True)
    )
    if whole.dim() <= axis:
        return _indivisible(whole, promise.divisor)
    extent = whole.shape[axis]
    leaders = torch.arange(extent) // promise.every * promise.every
    first = whole.index_select(axis, leaders)
    place = (torch.arange(extent) - leaders).reshape([-1 if dim == axis else 1 for dim in range(whole.dim())])
    return _indivisible(first, promise.divisor) | (whole != first + place * step)


def _different(numbers: Tensor, groups: tuple[int, ...]) -> Tensor:
    first = numbers
    for dim, group in enumerate(groups):
        leaders = torch.arange(numbers.shape[dim + 1]) // group * group
        first = first.index_select(dim + 1, leaders)
    return numbers != first


def token(m: Machine, op: TileOp) -> None:
    for index in range(len(op.results)):
        m.set(op, None, index)


def print_(m: Machine, op: TileOp) -> None:
    arguments: list[tuple[Any, str]] = [(m.full(value), element(value)) for value in op.group("args")]
    for row in range(len(m.frame)):
        values = [(each[row if each.shape[0] > 1 else 0], name) for each, name in arguments]
        m.printed.append(Printed(op, m.block_at(row), formatted(str(op.get("format")), values)))
    if op.results:
        m.set(op, None)


HANDLERS: dict[str, Handler] = {
    "assume": assume,
    "gdc_launch_dependents_tko": token,
    "gdc_wait_tko": token,
    "join_tokens": token,
    "make_token": token,
    "memory_fence_alias_tko": token,
    "print_tko": print_,
}
