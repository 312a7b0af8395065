"""Launches to run a kernel with: as recorded beside the dump, or made up within what the kernel assumes."""

from __future__ import annotations

import json
import math
import random
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from benchmarks.execute.kernel import element_of
from benchmarks.execute.memory import Memory
from tileir_diff.dialect.attributes import Bounded, DivBy
from tileir_diff.dialect.ir import TileOp
from tileir_diff.dialect.types import Ptr, Tile

if TYPE_CHECKING:
    from pathlib import Path

    from xdsl.ir import SSAValue

EXTENTS = (
    ((333, 417, 275, 521, 390, 460), ((1, 0, 0), (0, 1, 1), (2, 1, 0))),
    ((100, 37, 333, 64, 200, 129), ((0, 0, 0), (1, 2, 1))),
    ((17, 5, 9, 40, 31, 3), ((0, 0, 0), (4, 1, 0))),
    ((6, 2, 1, 7, 12, 4), ((0, 0, 0),)),
    ((2100, 1300, 1050, 77, 2500, 640), ((0, 0, 0), (1, 1, 1))),
)
"""Sizes to choose from, and the blocks to run with them: several tiles a dimension, some, a part."""
SCALARS = ((3, 17, 40), (1, 2, 100), (0, 1, 5, -2), (2, 6, 1), (64, 7, 33))
GRID = (5, 3, 2)
BYTES = {
    "float16": 2, "bfloat16": 2, "float32": 4, "float64": 8, "int8": 1, "uint8": 1, "bool": 1, "int16": 2,
    "int32": 4, "int64": 8, "f16": 2, "bf16": 2, "f32": 4, "f64": 8, "i32": 4, "i64": 8, "i8": 1,
}  # fmt: skip


@dataclass(frozen=True)
class Launch:
    """Values of all parameters, array sizes in bytes by number, grid, and the blocks to run."""

    arguments: tuple[int | float, ...]
    sizes: tuple[tuple[int, int], ...]
    grid: tuple[int, int, int]
    blocks: tuple[tuple[int, int, int], ...]


def recorded(path: Path, meta: dict[str, Any], side: str) -> Launch | None:
    """One side of a launch.json, with the arrays of the meta.json beside it."""
    data = json.loads(path.read_text(encoding="utf-8"))[side]
    arrays: dict[str, Any] = meta.get("arrays", {})
    numbers: dict[str, int] = {}
    arguments: list[int | float] = []
    sizes: list[tuple[int, int]] = []
    for argument in data["args"]:
        ((kind, value),) = argument.items()
        if kind != "ptr":
            arguments.append(value)
            continue
        if value is None:
            arguments.append(0)
            continue
        if value not in numbers:
            numbers[value] = len(numbers) + 1
            array = arrays.get(value)
            if array is not None:
                steps = [
                    (size - 1) * step for size, step in zip(array["shape"], array["stride"], strict=True)
                ]
                sizes.append((numbers[value], (1 + sum(steps)) * BYTES.get(array["dtype"], 4)))
        arguments.append(Memory.base(numbers[value]))
    grid = _grid(data["grid"])
    return Launch(tuple(arguments), tuple(sizes), grid, _blocks(grid))


def _grid(values: list[int]) -> tuple[int, int, int]:
    filled = [*values, 1, 1, 1]
    return (filled[0], filled[1], filled[2])


def _blocks(grid: tuple[int, int, int]) -> tuple[tuple[int, int, int], ...]:
    """The last, the first, and one in between."""
    x, y, z = grid
    found = [(x - 1, y - 1, z - 1), (0, 0, 0), (x // 2, y // 2, z // 2)]
    return tuple(dict.fromkeys(found))


def invented(entry: TileOp, seed: int) -> Launch | None:
    """A launch for a kernel of which only the parameters are known: arrays with their sizes and strides,
    scalars."""
    rng = random.Random(seed)
    parameters = entry.regions[0].block.args
    groups = _groups(list(parameters))
    if groups is None:
        return None
    arguments: list[int | float] = []
    sizes: list[tuple[int, int]] = []
    extents, blocks = EXTENTS[seed % len(EXTENTS)]
    extent = rng.sample(extents, len(extents))
    for number, (pointer, members, rank) in enumerate(groups, 1):
        if pointer is not None:
            arguments.append(Memory.base(number))
        shape = [_fit(members[at], extent[at % len(extent)]) for at in range(rank)]
        strides: list[int] = [1] * rank
        step = 1
        for at in range(rank - 1, -1, -1):
            strides[at] = 1 if at == rank - 1 else _fit(members[rank + at], step)
            step = max(step, strides[at] * shape[at])
        arguments += [*shape, *strides]
        if pointer is not None and rank:
            bits = element_of(pointer).bits
            sizes.append((number, max(1, step) * max(8, bits) // 8))
        for scalar in members[2 * rank :]:
            type_ = scalar.type
            assert isinstance(type_, Tile)
            if isinstance(type_.element, Ptr):
                return None
            floating = type_.element.is_float
            arguments.append(
                round(rng.uniform(0.5, 2.0), 3)
                if floating
                else _fit(scalar, rng.choice(SCALARS[seed % len(SCALARS)]))
            )
    if len(arguments) != len(parameters):
        return None
    return Launch(tuple(arguments), tuple(sizes), GRID, blocks)


def _groups(parameters: list[SSAValue]) -> list[tuple[SSAValue | None, list[SSAValue], int]] | None:
    """Pointers, each with the parameters behind it and the rank of its array."""
    groups: list[tuple[SSAValue | None, list[SSAValue]]] = [(None, [])]
    for parameter in parameters:
        type_ = parameter.type
        if not isinstance(type_, Tile):
            return None
        if isinstance(type_.element, Ptr):
            groups.append((parameter, []))
        else:
            groups[-1][1].append(parameter)
    found: list[tuple[SSAValue | None, list[SSAValue], int]] = []
    for pointer, members in groups:
        elements = [(member, element_of(member)) for member in members]
        whole = [member for member, element in elements if element.is_int and element.bits >= 32]
        rank = len(whole) // 2 if pointer is not None and len(whole) == len(members) else 0
        if pointer is not None or members:
            found.append((pointer, members, rank))
    # An odd number behind the last array: scalars follow; the other arrays tell the rank.
    ranks = [rank for pointer, members, rank in found[:-1] if pointer is not None and len(members) % 2 == 0]
    if found and found[-1][0] is not None and ranks and len(found[-1][1]) >= 2 * max(ranks):
        found[-1] = (found[-1][0], found[-1][1], max(ranks))
    return found


def _fit(value: SSAValue, wanted: int) -> int:
    """The least number from `wanted` on that keeps all promises about a parameter."""
    divisor, lower, upper = 1, -(1 << 30), 1 << 30
    todo = [value]
    while todo:
        for use in todo.pop().uses:
            op = use.operation
            if isinstance(op, TileOp) and op.short == "assume":
                promise = op.get("assumption")
                if isinstance(promise, DivBy) and promise.every is None:
                    divisor = math.lcm(divisor, promise.divisor)
                elif isinstance(promise, Bounded):
                    lower = max(lower, promise.lower if promise.lower is not None else lower)
                    upper = min(upper, promise.upper if promise.upper is not None else upper)
                todo.append(op.results[0])
    wanted = min(max(wanted, lower), upper)
    return -(-wanted // divisor) * divisor
