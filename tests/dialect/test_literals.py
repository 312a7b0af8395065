"""Literals: what is read, and that what is printed reads back."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tileir_diff.dialect.attributes import DenseElements
from tileir_diff.dialect.literals import read_elements
from tileir_diff.dialect.numbers import print_elements
from tileir_diff.dialect.scalars import FORMATS, INTEGER_BITS
from tileir_diff.dialect.types import SCALARS
from tileir_diff.syntax.source import Problem


@pytest.mark.parametrize(
    ("text", "shape", "bits"),
    [
        ("i32: 42", (4,), (42,)),
        ("i32: -1", (), (0xFFFFFFFF,)),
        ("i32: 0x80000000", (), (0x80000000,)),
        ("i32: [1, 2, 3]", (3,), (1, 2, 3)),
        ("i32: 1, 2, 3", (3,), (1, 2, 3)),
        ("i32: [[1, 2], [3, 4]]", (2, 2), (1, 2, 3, 4)),
        ("i32: [7, 7]", (2,), (7,)),
        ("i1: true", (), (1,)),
        ("i1: [true, false]", (2,), (1, 0)),
        ("i1: -1", (), (1,)),
        ("f16: 0x3C00", (), (0x3C00,)),
        ("f32: 1.5", (), (0x3FC00000,)),
        ("f32: 1.500000e+00", (), (0x3FC00000,)),
        ("f32: 9.99999974E-6", (), (0x3727C5AC,)),
        ("f32: 0xFF800000", (), (0xFF800000,)),
        ("f32: inf", (), (0x7F800000,)),
        ("f32: -inf", (), (0xFF800000,)),
        ("f32: NaN", (), (0x7FC00000,)),
        ("f32: 1", (), (0x3F800000,)),
        ("f32: -0.0", (), (0x80000000,)),
        ("f64: 0.10000000149011612", (), (0x3FB99999A0000000,)),
        ("f8E4M3FN: 127", (), (0x7F,)),
        ("f8e5m2: 0x7C", (), (0x7C,)),
        ("f4E2M1FN: [0x2, 0x4]", (2,), (2, 4)),
        ('i32: "0x0100000002000000"', (2,), (1, 2)),
        ('i1: "0x0001"', (2,), (0, 1)),
        ('i16: "0x0100"', (8,), (1,)),
        ("i32: [1, [[2, 3], [4, 5]]]", (2, 2, 2), (1, 1, 1, 1, 2, 3, 4, 5)),
    ],
)
def test_read(text: str, shape: tuple[int, ...], bits: tuple[int, ...]) -> None:
    assert read_elements(text, shape).bits == bits


@pytest.mark.parametrize(
    ("text", "shape", "message"),
    [
        ("i8: 256", (), "out of range for i8"),
        ("i8: -129", (), "out of range for i8"),
        ("i32: true", (), "expected a literal of type i32"),
        ("i32: 1.0", (), "expected a literal of type i32"),
        ("f16: 0x1FFFF", (), "bit pattern too wide"),
        ("f8E4M3FN: 256", (), "bit pattern too wide"),
        ("f32: abc", (), "expected a literal of type f32"),
        ("f8E8M0FNU: -1.0", (), "no negative numbers"),
        ("i32: [1, 2]", (3,), "expected 3 elements in this dimension, found 2"),
        ("i32: [1, 2]", (2, 2), "different ranks"),
        ("i32: [[1]]", (1,), "expected a number"),
        ('i32: "0x01"', (2,), "expected 8 bytes for 2 elements, found 1"),
        ('i32: "0xZZ"', (2,), "hex bytes"),
        ("i32", (), "expected a literal"),
        ("", (), "expected a literal"),
        ("g32: 1", (), "unknown element type"),
        ("i32: [1, [2]]", (2, 1 << 40, 1 << 40), "more than"),
    ],
)
def test_faults(text: str, shape: tuple[int, ...], message: str) -> None:
    with pytest.raises(Problem, match=message):
        read_elements(text, shape)


def test_plain_values() -> None:
    signed = read_elements("i8: [-1, 127, 200]", (3,))
    assert signed.ints() == (-1, 127, -56)
    assert signed.ints(signed=False) == (255, 127, 200)
    assert read_elements("i1: true", ()).ints() == (-1,)
    floats = read_elements("f32: [0x7FC00000, 0x7F800000, 1.5]", (3,)).floats()
    assert math.isnan(floats[0])
    assert floats[1:] == (math.inf, 1.5)
    assert read_elements("i32: 3", (4,)).is_splat


@pytest.mark.parametrize(
    ("name", "bits", "shown"),
    [
        ("f32", 0x3FC00000, "1.500000e+00"),
        ("f32", 0x3EAAAAAB, "0.333333343"),
        ("f64", 0x3FD5555555555555, "0.33333333333333331"),
        ("f32", 0x4B800000, "0x4B800000"),
        ("f32", 0x7F800000, "0x7F800000"),
        ("f32", 0xFFC00001, "0xFFC00001"),
        ("f64", 0x7FF0000000000000, "0x7FF0000000000000"),
        ("f16", 0xFC00, "0xFC00"),
        ("f8E4M3FN", 0x7F, "0x7F"),
        ("f8E8M0FNU", 0xFF, "0xFF"),
        ("f32", 0x80000000, "-0.000000e+00"),
        ("bf16", 0x4049, "3.140630e+00"),
        ("f32", 0x3727C5AC, "9.99999974E-6"),
        ("i32", 0x80000000, "-2147483648"),
        ("i1", 1, "true"),
    ],
)
def test_printed_as_mlir_prints(name: str, bits: int, shown: str) -> None:
    assert print_elements(DenseElements(SCALARS[name], (), (bits,))) == f"{name}: {shown}"


def test_long_lists_print_as_bytes() -> None:
    element = SCALARS["i16"]
    hundred = DenseElements(element, (100,), tuple(range(100)))
    assert print_elements(hundred).startswith("i16: [0, 1, ")
    more = DenseElements(element, (128,), tuple(range(128)))
    assert print_elements(more).startswith('i16: "0x000001000200')
    assert read_elements(print_elements(more), (128,)) == more


@given(st.data())
def test_what_is_printed_reads_back(data: st.DataObject) -> None:
    name = data.draw(st.sampled_from([*FORMATS, *(name for name in INTEGER_BITS if name != "i4")]))
    shape = tuple(data.draw(st.lists(st.sampled_from([1, 2, 4]), max_size=3)))
    count = math.prod(shape)
    pattern = st.integers(0, (1 << SCALARS[name].bits) - 1)
    bits = tuple(data.draw(st.lists(pattern, min_size=count, max_size=count)))
    value = DenseElements(SCALARS[name], shape, bits[:1] if len(set(bits)) == 1 else bits)
    assert read_elements(print_elements(value), shape) == value
