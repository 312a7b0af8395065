"""A launch of both sides that the user gave, as a plan: how large the arrays are."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from tileir_diff.dialect.attributes import DivBy
from tileir_diff.dialect.types import Ptr, Tile
from tileir_diff.equivalence.backend import torch
from tileir_diff.equivalence.differential.plan import Array, Grid, Plan, Pointer
from tileir_diff.equivalence.dtypes import bits, dtype
from tileir_diff.match.roles import array_groups

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from tileir_diff.dialect.ir import TileOp
    from tileir_diff.equivalence.backend import Tensor
    from tileir_diff.equivalence.differential.plan import Slot
    from tileir_diff.equivalence.differential.sides import Side
    from tileir_diff.equivalence.model import Limits
    from tileir_diff.match.launch import Launch, SideLaunch

PLACEHOLDER = 64
"""Elements of an array whose size is not known yet."""
PROBES = 2
GIVEN = "the launch given"


class CannotMakeError(Exception):
    """No input can be made; the text says why."""


def pointee(parameter: Any) -> str | None:
    """Element type behind a pointer parameter; None for a scalar."""
    kind = parameter.type
    if not isinstance(kind, Tile):
        raise CannotMakeError(f"the parameter %{parameter.name_hint} is a {kind}")
    return kind.element.pointee.name if isinstance(kind.element, Ptr) else None


def from_launch(sides: tuple[Side, Side], launch: Launch, limits: Limits) -> Plan:
    """The plan of a launch that gives all values of both sides. Raises CannotMakeError."""
    slots: list[list[Slot]] = []
    elements: dict[str, str] = {}
    for side, given in zip(sides, (launch.reference, launch.generated), strict=True):
        slots.append(_slots(side, given, elements))
    names = list(elements)
    counts = known_counts(sides, slots, len(names))
    arrays = [
        Array(name, elements[name], PLACEHOLDER if counts[at] is None else counts[at] or 0)
        for at, name in enumerate(names)
    ]
    grids = _grid(launch.reference), _grid(launch.generated)
    plan = Plan(tuple(arrays), tuple(slots[0]), tuple(slots[1]), grids, True, GIVEN)
    missing = [at for at, count in enumerate(counts) if count is None]
    return measured(sides, plan, missing, limits)


def _grid(side: SideLaunch) -> Grid:
    x, y, z = (1 if size is None else size for size in side.grid)
    return x, y, z


def _slots(side: Side, given: SideLaunch, elements: dict[str, str]) -> list[Slot]:
    slots: list[Slot] = []
    assert given.args is not None
    for parameter, value in zip(side.entry.regions[0].block.args, given.args, strict=True):
        element = pointee(parameter)
        if value is None:
            raise CannotMakeError(f"the launch gives no value for %{parameter.name_hint}")
        if element is None:
            assert isinstance(value.value, (int, float))
            slots.append(value.value)
        elif value.value is None:
            slots.append(Pointer(None))
        else:
            name = str(value.value)
            elements.setdefault(name, element)
            slots.append(Pointer(list(elements).index(name)))
    return slots


def known_counts(sides: tuple[Side, Side], slots: Sequence[Sequence[Slot]], arrays: int) -> list[int | None]:
    """Elements of each array, as sizes and strides among the arguments say: the reference's first."""
    counts: list[int | None] = [None] * arrays
    for side, values in zip(sides, slots, strict=True):
        for base, count in _extents(side.entry, values).items():
            slot = values[base]
            if isinstance(slot, Pointer) and slot.array is not None and counts[slot.array] is None:
                counts[slot.array] = count
    return counts


def _extents(entry: TileOp, values: Sequence[Slot]) -> dict[int, int]:
    """By pointer parameter with all sizes and strides: elements from the first to the last."""
    if entry.symbol.startswith("_Z"):
        return {}  # tile C++ passes what the kernel's source does: numbers behind a pointer may be anything
    found: dict[int, int] = {}
    for base, rank in array_groups(entry).items():
        numbers = [values[base + 1 + at] for at in range(2 * rank)]
        whole = [each for each in numbers if isinstance(each, int)]
        if len(whole) == len(numbers):
            found[base] = span(whole[:rank], whole[rank:])
    return found


def span(shape: Sequence[int], strides: Sequence[int]) -> int:
    """Elements from the first to the last of an array."""
    if 0 in shape:
        return 0
    return 1 + sum((size - 1) * stride for size, stride in zip(shape, strides, strict=True))


def measured(sides: tuple[Side, Side], plan: Plan, missing: Sequence[int], limits: Limits) -> Plan:
    """The plan with arrays of unknown size as large as the reference, else the generated side, reaches."""
    for _ in range(PROBES if missing else 0):
        contents = [_blank(array) for array in plan.arrays]
        arrays = list(plan.arrays)
        left = list(missing)
        for side in sides:
            used = _used(side, plan, left)
            if not used:
                continue
            reach: dict[str, int] = {}
            side.run(plan, contents, limits, reach=reach)
            for at, names in used.items():
                size = max(1, bits(plan.arrays[at].element) // 8)
                reached = max(_reached(reach, name) for name in names)
                if reached > 0:
                    arrays[at] = arrays[at]._replace(elements=-(-reached // size))
                    left.remove(at)
        if arrays == list(plan.arrays):
            break
        plan = plan._replace(arrays=tuple(arrays))
    return plan


def _used(side: Side, plan: Plan, arrays: Iterable[int]) -> dict[int, list[str]]:
    """The parameters that an op of a side takes and that point to these arrays, by array."""
    found: dict[int, list[str]] = {}
    parameters: Sequence[Any] = side.entry.regions[0].block.args
    for at in arrays:
        for parameter, name, slot in zip(parameters, side.names, plan.slots(side.number), strict=True):
            if slot == Pointer(at) and list(parameter.uses):
                found.setdefault(at, []).append(name)
    return found


def _reached(reach: dict[str, int], name: str) -> int:
    return max((size for key, size in reach.items() if f"%{name}" in key.split(" and ")), default=0)


def _blank(array: Array) -> Tensor:
    return torch.zeros(array.elements, dtype=dtype(array.element))


def misaligned(sides: tuple[Side, Side], plan: Plan) -> Plan | None:
    """The plan with arrays at the least aligned addresses that the reference's promises allow.

    None where they are as aligned as any.
    """
    arrays = list(plan.arrays)
    reference = sides[0]
    for parameter, slot in zip(reference.entry.regions[0].block.args, plan.reference, strict=True):
        if isinstance(slot, Pointer) and slot.array is not None:
            array = arrays[slot.array]
            size = max(1, bits(array.element) // 8)
            arrays[slot.array] = array._replace(offset=math.lcm(_divisor(parameter), size) % 256)
    return None if arrays == list(plan.arrays) else plan._replace(arrays=tuple(arrays))


def _divisor(parameter: Any) -> int:
    """What is promised of an address, directly behind the parameter."""
    divisor = 1
    todo = [parameter]
    while todo:
        for use in todo.pop().uses:
            op = use.operation
            if getattr(op, "short", "") == "assume":
                promise = op.get("assumption")
                if isinstance(promise, DivBy) and promise.every is None:
                    divisor = math.lcm(divisor, promise.divisor)
                todo.append(op.results[0])
    return divisor
