"""Carried values that depend on each other: told apart however far off the difference is."""

from __future__ import annotations

import random
from typing import TypeAlias

import pytest

from tests.match.snippets import assert_equal, assert_found, found, kernel

Step: TypeAlias = tuple[int, int, int]
"""The next value: a carried value times another one, plus a constant."""

FAMILIES = "constant", "loop", "arithmetic", "accumulator"
ROUNDS = 24


def system(inits: list[int], steps: list[Step], order: list[int] | None = None) -> str:
    """A loop that carries integers, of which the first is stored; ``order``: how they are listed."""
    order = list(range(len(inits))) if order is None else order
    numbers = sorted({*inits, *(step[2] for step in steps)})
    constants = "\n".join(f"%c{number} = constant <i32: {number}> : tile<i32>" for number in numbers)
    types = ", ".join(["tile<i32>"] * len(inits))
    carried = ", ".join(f"%v{index} = %c{inits[index]}" for index in order)
    body = "\n".join(
        f"%p{index} = muli %v{left}, %v{right} : tile<i32>\n%w{index} = addi %p{index}, %c{plus} : tile<i32>"
        for index, (left, right, plus) in enumerate(steps)
    )
    results = f"%r:{len(inits)}" if len(inits) > 1 else "%r"
    first = f"%r#{order.index(0)}" if len(inits) > 1 else "%r"
    return kernel(
        f"{constants}\n{results} = for %k in (%i0 to %m, step %i1) : tile<i32> iter_values({carried}) -> "
        f"({types}) {{\n{body}\ncontinue {', '.join(f'%w{index}' for index in order)} : {types}\n}}\n"
        f"%f = itof {first} signed : tile<i32> -> tile<f32>\n"
        "%st = store_ptr_tko weak %b, %f token=%t : tile<ptr<f32>>, tile<f32> -> token"
    )


def chain(length: int, last: int) -> tuple[list[int], list[Step]]:
    """Each value needs the next one, the last one itself, with ``last`` as its summand."""
    steps = [(index, index + 1, 1) for index in range(length - 1)]
    return list(range(2, length + 2)), [*steps, (length - 1, length - 1, last)]


@pytest.mark.parametrize("length", [1, 2, 3, 4, 7, 12])
def test_a_difference_at_the_far_end_of_a_chain(length: int) -> None:
    assert_found(system(*chain(length, 1)), system(*chain(length, 3)), *FAMILIES)
    assert_equal(system(*chain(length, 1)), system(*chain(length, 1)))
    backwards = list(reversed(range(length)))
    assert_equal(system(*chain(length, 1)), system(*chain(length, 1), order=backwards))
    assert_found(system(*chain(length, 1)), system(*chain(length, 3), order=backwards), *FAMILIES)


def test_values_that_start_alike_and_part_late() -> None:
    ring: list[Step] = [(0, 1, 1), (1, 2, 1), (2, 3, 1), (3, 0, 1)]
    late = [*ring[:3], (3, 0, 2)]
    assert_equal(system([5] * 4, ring), system([5], [(0, 0, 1)]))  # all four are one value
    assert_found(system([5] * 4, ring), system([5] * 4, late), *FAMILIES)
    assert_found(system([5], [(0, 0, 1)]), system([5] * 4, late), *FAMILIES)


def value(inits: list[int], steps: list[Step], iterations: int) -> int:
    """The first carried value after so many iterations, modulo 2^32."""
    values = inits
    for _ in range(iterations):
        values = [(values[left] * values[right] + plus) % 2**32 for left, right, plus in steps]
    return values[0]


@pytest.mark.parametrize("seed", range(60))
def test_loops_that_are_taken_as_equal_are(seed: int) -> None:
    chance = random.Random(seed)
    count = chance.randint(1, 5)
    inits = [chance.randint(1, 2) for _ in range(count)]
    steps = [(chance.randrange(count), chance.randrange(count), chance.randint(0, 1)) for _ in range(count)]
    other = list(steps)
    changed = chance.randrange(count)
    left, right, plus = steps[changed]
    other[changed] = chance.choice([(left, chance.randrange(count), plus), (left, right, plus + 1)])
    if not found(system(inits, steps), system(inits, other)):
        for iterations in range(ROUNDS):
            assert value(inits, steps, iterations) == value(inits, other, iterations)


@pytest.mark.parametrize("depth", [3, 16])
def test_loops_in_loops_take_no_long_time(depth: int) -> None:
    start = "%m"
    lines: list[str] = []
    for level in range(depth):
        lines.append(
            f"%f{level} = for %j{level} in (%i1 to %n, step %i1) : tile<i32> "
            f"iter_values(%u{level} = {start}) -> (tile<i32>) {{"
        )
        start = f"%u{level}"
    inner = f"%j{depth - 1}"
    for level in reversed(range(depth)):
        lines.append(f"%g{level} = addi {inner}, %u{level} : tile<i32>\ncontinue %g{level} : tile<i32>\n}}")
        inner = f"%f{level}"
    lines.append("%f = itof %f0 signed : tile<i32> -> tile<f32>")
    lines.append("%st = store_ptr_tko weak %b, %f token=%t : tile<ptr<f32>>, tile<f32> -> token")
    text = kernel("\n".join(lines))
    assert_equal(text, text)
    assert_found(
        text, text.replace(f"addi %j{depth - 1},", f"muli %j{depth - 1},"), *FAMILIES, "integer-mode"
    )
