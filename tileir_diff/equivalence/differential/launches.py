"""A launch of both sides that the user gave, as a plan: how large the arrays are."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from tileir_diff.dialect.attributes import DivBy
from tileir_diff.dialect.scalars import INTEGER_BITS
from tileir_diff.dialect.types import Ptr, Tile
from tileir_diff.equivalence.backend import torch
from tileir_diff.equivalence.differential.plan import Array, Grid, Plan, Pointer
from tileir_diff.equivalence.differential.values import fill, is_float
from tileir_diff.equivalence.dtypes import bits, dtype
from tileir_diff.match.roles import array_groups

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from tileir_diff.dialect.ir import TileOp
    from tileir_diff.equivalence.backend import Tensor
    from tileir_diff.equivalence.differential.plan import Slot
    from tileir_diff.equivalence.differential.sides import Side
    from tileir_diff.equivalence.model import Limits
    from tileir_diff.match.launch import Launch, SideLaunch

PLACEHOLDER = 64
"""Elements of an array whose size is not known yet."""
PROBES = 2
ROOM = (256, 64, 16, 4)
"""How large integers in arrays get for which arrays of unknown size have room, if not too much of it."""
MOST_ROOM = 1 << 20
"""Elements of an array that has such room."""
ITERATIONS = 1024
"""Of a loop whose bounds are read from arrays: with more of them, integers are too large."""
INVALID = ("assume/", "bounds/", "memory/", "integer/", "loop/", "order/stuck")
"""Errors of the reference that say that the input is none of its inputs."""
GIVEN = "the launch given"


class CannotMakeError(Exception):
    """No input can be made; the text says why."""


def pointee(parameter: Any) -> str | None:
    """Element type behind a pointer parameter; None for a scalar."""
    kind = parameter.type
    if not isinstance(kind, Tile):
        raise CannotMakeError(f"the parameter %{parameter.name_hint} is a {kind}")
    return kind.element.pointee.name if isinstance(kind.element, Ptr) else None


def from_launch(sides: tuple[Side, Side], launch: Launch, limits: Limits, seed: int = 0) -> Plan:
    """The plan of a launch that gives all values of both sides. Raises CannotMakeError and TimeUp."""
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
    return with_room(sides, measured(sides, plan, missing, limits), missing, limits, seed)


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
        reached, _ = _reaching(sides, plan, missing, [_blank(array) for array in plan.arrays], limits)
        wider = _with_elements(plan, reached)
        if wider == plan:
            break
        plan = wider
    return plan


def with_room(
    sides: tuple[Side, Side], plan: Plan, missing: Sequence[int], limits: Limits, seed: int
) -> Plan:
    """The plan with arrays of unknown size so large that integers in arrays may be other than zero.

    As it is where they are no indices, or where the sizes that are known leave no room. Raises TimeUp.
    """
    if not missing or all(is_float(array.element) for array in plan.arrays):
        return plan
    limits = limits._replace(iterations=ITERATIONS)
    _, usual = _reaching(sides, plan, missing, [_blank(array) for array in plan.arrays], limits)
    for level in ROOM:
        wider, errors = _wider(sides, plan, missing, limits, level, seed)
        if not errors - usual and all(array.elements <= MOST_ROOM for array in wider.arrays):
            return wider
    return plan


def _wider(
    sides: tuple[Side, Side], plan: Plan, missing: Sequence[int], limits: Limits, level: int, seed: int
) -> tuple[Plan, frozenset[str]]:
    """With room for integers below `level`, and what goes wrong with these all the same."""
    errors: frozenset[str] = frozenset()
    for _ in range(2 * PROBES):
        sizes = {at: plan.arrays[at].elements for at in missing}
        errors = frozenset()
        for kind in ("ordinary", "equal"):
            contents = [
                torch.full_like(_blank(array), min(level - 1, _largest(array)))
                if kind == "equal" and not is_float(array.element)
                else fill(array, kind, level, seed)
                for array in plan.arrays
            ]
            reached, wrong = _reaching(sides, plan, missing, contents, limits)
            errors |= wrong
            sizes = {at: max(count, reached.get(at, 0)) for at, count in sizes.items()}
        wider = _with_elements(plan, sizes)
        if wider == plan or any(count > MOST_ROOM for count in sizes.values()):
            return wider, errors
        plan = wider
    return plan, errors


def _reaching(
    sides: tuple[Side, Side],
    plan: Plan,
    missing: Sequence[int],
    contents: Sequence[Tensor],
    limits: Limits,
) -> tuple[dict[int, int], frozenset[str]]:
    """How many elements of these arrays the reference, else the generated side, reaches, by array.

    And what makes the input none of the reference's. Raises TimeUp.
    """
    found: dict[int, int] = {}
    errors: frozenset[str] = frozenset()
    for side in sides:
        used = _used(side, plan, [at for at in missing if at not in found])
        if not used and side.number:
            continue
        reach: dict[str, int] = {}
        ran = side.run(plan, contents, limits, reach=reach)
        if side.number == 0:
            errors = frozenset(rule for rule in ran.errors if rule.startswith(INVALID))
        for at, names in used.items():
            size = max(1, bits(plan.arrays[at].element) // 8)
            reached = max(_reached(reach, name) for name in names)
            if reached > 0:
                found[at] = -(-reached // size)
    return found, errors


def _with_elements(plan: Plan, counts: Mapping[int, int]) -> Plan:
    arrays = list(plan.arrays)
    for at, count in counts.items():
        arrays[at] = arrays[at]._replace(elements=count)
    return plan._replace(arrays=tuple(arrays))


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


def _largest(array: Array) -> int:
    """The largest integer of an array's element type, read as signed."""
    return (1 << max(1, INTEGER_BITS[array.element] - 1)) - 1


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
