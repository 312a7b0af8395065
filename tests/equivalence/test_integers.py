"""Integer ops against Python's integers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.equivalence.support import apply, padded, rules, wrap

WIDTHS = {"i1": 1, "i8": 8, "i16": 16, "i32": 32, "i64": 64}


def numbers(element: str) -> st.SearchStrategy[int]:
    width = WIDTHS[element]
    edges = [0, 1, 2, (1 << width) - 1, 1 << (width - 1), (1 << (width - 1)) - 1]
    return st.one_of(st.sampled_from([each & ((1 << width) - 1) for each in edges]),
                     st.integers(0, (1 << width) - 1))  # fmt: skip


def signed(value: int, width: int) -> int:
    return wrap(value, width)


def truncated(a: int, b: int) -> int:
    quotient = abs(a) // abs(b)
    return quotient if (a < 0) == (b < 0) else -quotient


def ceiling(a: int, b: int) -> int:
    return -(-a // b)


BINARY: dict[str, Callable[[int, int, int], int]] = {
    "addi %a, %b": lambda a, b, w: a + b,
    "subi %a, %b": lambda a, b, w: a - b,
    "muli %a, %b": lambda a, b, w: a * b,
    "andi %a, %b": lambda a, b, w: a & b,
    "ori %a, %b": lambda a, b, w: a | b,
    "xori %a, %b": lambda a, b, w: a ^ b,
    "mulhii %a, %b": lambda a, b, w: (a * b) >> w,
    "maxi %a, %b unsigned": lambda a, b, w: max(a, b),
    "mini %a, %b unsigned": lambda a, b, w: min(a, b),
    "maxi %a, %b signed": lambda a, b, w: max(signed(a, w), signed(b, w)),
    "mini %a, %b signed": lambda a, b, w: min(signed(a, w), signed(b, w)),
}
DIVISION: dict[str, Callable[[int, int], int]] = {
    "divi %a, %b signed": truncated,
    "divi %a, %b signed rounding<negative_inf>": lambda a, b: a // b,
    "divi %a, %b signed rounding<positive_inf>": ceiling,
    "remi %a, %b signed": lambda a, b: a - truncated(a, b) * b,
    "divi %a, %b unsigned": lambda a, b: a // b,
    "divi %a, %b unsigned rounding<positive_inf>": ceiling,
    "remi %a, %b unsigned": lambda a, b: a % b,
}
UNARY: dict[str, Callable[[int, int], int]] = {
    "negi %a": lambda a, w: -a,
    "absi %a": lambda a, w: abs(signed(a, w)),
}
COMPARE: dict[str, Callable[[int, int], bool]] = {
    "equal": lambda a, b: a == b,
    "not_equal": lambda a, b: a != b,
    "less_than": lambda a, b: a < b,
    "less_than_or_equal": lambda a, b: a <= b,
    "greater_than": lambda a, b: a > b,
    "greater_than_or_equal": lambda a, b: a >= b,
}


def array(values: list[int], element: str) -> Any:
    return padded([bool(value) for value in values] if element == "i1" else values, element)


def patterns(values: Any, element: str) -> list[int]:
    return [int(value) & ((1 << WIDTHS[element]) - 1) for value in values.tolist()]


@pytest.mark.parametrize("element", WIDTHS)
@pytest.mark.parametrize("op", BINARY)
@settings(max_examples=5, deadline=None)
@given(st.data())
def test_binary(op: str, element: str, data: st.DataObject) -> None:
    pairs = data.draw(st.lists(st.tuples(numbers(element), numbers(element)), min_size=1, max_size=32))
    a, b = (array([pair[side] for pair in pairs], element) for side in (0, 1))
    result, _ = apply(f"%y = {op} : tile<{{n}}x{element}>", element, a=(element, a), b=(element, b))
    width = WIDTHS[element]
    expected = [BINARY[op](x, y, width) & ((1 << width) - 1)
                for x, y in zip(patterns(a, element), patterns(b, element), strict=True)]  # fmt: skip
    assert patterns(result, element) == expected


@pytest.mark.parametrize("element", ["i8", "i16", "i32", "i64"])
@pytest.mark.parametrize("op", DIVISION)
@settings(max_examples=5, deadline=None)
@given(st.data())
def test_division(op: str, element: str, data: st.DataObject) -> None:
    width, is_signed = WIDTHS[element], " signed" in op
    lowest, ones = 1 << (width - 1), (1 << width) - 1
    divisor = numbers(element).filter(lambda value: value != 0)
    pair = st.tuples(numbers(element), divisor).filter(lambda p: not (is_signed and p == (lowest, ones)))
    pairs = data.draw(st.lists(pair, min_size=1, max_size=32))
    a, b = (array([each[side] for each in pairs], element) for side in (0, 1))
    result, run = apply(f"%y = {op} : tile<{{n}}x{element}>", element, a=(element, a), b=(element, b))

    def read(value: int) -> int:
        return signed(value, width) if is_signed else value

    expected = [DIVISION[op](read(x), read(y)) & ones
                for x, y in zip(patterns(a, element), patterns(b, element), strict=True)]  # fmt: skip
    assert patterns(result, element) == expected
    assert run.findings == []


@pytest.mark.parametrize("element", ["i8", "i16", "i32", "i64"])
@settings(max_examples=8, deadline=None)
@given(st.data())
def test_shifts_and_unary(element: str, data: st.DataObject) -> None:
    width = WIDTHS[element]
    ones = (1 << width) - 1
    amounts = st.integers(0, width - 1)
    pairs = data.draw(st.lists(st.tuples(numbers(element), amounts), min_size=1, max_size=32))
    a, b = (array([each[side] for each in pairs], element) for side in (0, 1))
    both = list(zip(patterns(a, element), patterns(b, element), strict=True))
    for op, expected in (
        ("shli %a, %b", [(x << y) & ones for x, y in both]),
        ("shri %a, %b unsigned", [x >> y for x, y in both]),
        ("shri %a, %b signed", [(signed(x, width) >> y) & ones for x, y in both]),
        *((op, [compute(x, width) & ones for x, _ in both]) for op, compute in UNARY.items()),
    ):
        result, _ = apply(f"%y = {op} : tile<{{n}}x{element}>", element, a=(element, a), b=(element, b))
        assert patterns(result, element) == expected, op


@pytest.mark.parametrize("element", WIDTHS)
@pytest.mark.parametrize("how", ["signed", "unsigned"])
@settings(max_examples=4, deadline=None)
@given(st.data())
def test_comparison(element: str, how: str, data: st.DataObject) -> None:
    pairs = data.draw(st.lists(st.tuples(numbers(element), numbers(element)), min_size=1, max_size=32))
    a, b = (array([pair[side] for pair in pairs], element) for side in (0, 1))

    def read(value: int) -> int:
        return signed(value, WIDTHS[element]) if how == "signed" else value

    both = [(read(x), read(y)) for x, y in zip(patterns(a, element), patterns(b, element), strict=True)]
    for predicate, holds in COMPARE.items():
        op = f"%y = cmpi {predicate} %a, %b, {how} : tile<{{n}}x{element}> -> tile<{{n}}xi1>"
        result, _ = apply(op, "i1", a=(element, a), b=(element, b))
        assert result.tolist() == [holds(x, y) for x, y in both], predicate


@pytest.mark.parametrize("element", ["i8", "i32", "i64"])
@pytest.mark.parametrize("op", ["addi", "subi", "muli", "shli"])
@pytest.mark.parametrize("flag", ["no_signed_wrap", "no_unsigned_wrap"])
@settings(max_examples=6, deadline=None)
@given(st.data())
def test_overflow_is_found_exactly(op: str, element: str, flag: str, data: st.DataObject) -> None:
    width = WIDTHS[element]
    second = st.integers(0, width - 1) if op == "shli" else numbers(element)
    x, y = data.draw(st.tuples(numbers(element), second))
    a, b = array([x], element), array([y], element)
    text = f"%y = {op} %a, %b overflow<{flag}> : tile<{{n}}x{element}>"
    _, run = apply(text, element, a=(element, a), b=(element, b))
    if flag == "no_signed_wrap":
        x, y = signed(x, width), signed(y, width)
        low, high = -(1 << (width - 1)), (1 << (width - 1)) - 1
    else:
        low, high = 0, (1 << width) - 1
    exact = x + y if op == "addi" else x - y if op == "subi" else x * y if op == "muli" else x << y
    assert (rules(run) == ["integer/overflow"]) == (not low <= exact <= high)


def test_undefined_arithmetic_is_found() -> None:
    one, zero, lowest = (padded([value], "i32") for value in (1, 0, -(1 << 31)))
    minus, wide = padded([-1], "i32"), padded([32], "i32")
    for op, a, b, rule in (
        ("divi %a, %b signed", one, zero, "integer/division-by-zero"),
        ("remi %a, %b unsigned", one, zero, "integer/division-by-zero"),
        ("divi %a, %b signed", lowest, minus, "integer/division-overflow"),
        ("shli %a, %b", one, wide, "integer/shift"),
        ("shri %a, %b signed", one, wide, "integer/shift"),
    ):
        _, run = apply(f"%y = {op} : tile<{{n}}xi32>", "i32", a=("i32", a), b=("i32", b))
        assert rule in rules(run), op
