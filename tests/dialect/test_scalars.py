"""Bit patterns of floats, against the machine's own conversions."""

import math
import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tileir_diff.dialect.scalars import FORMATS, decode, encode

NARROW = [name for name, layout in FORMATS.items() if layout.bits <= 16]


def machine(value: float, code: str, bits: str) -> int:
    return int(struct.unpack(bits, struct.pack(code, value))[0])


@given(st.floats(width=32))
def test_f32_is_the_machines(value: float) -> None:
    if not math.isnan(value):
        assert encode(value, "f32") == machine(value, "<f", "<I")
        assert decode(encode(value, "f32"), "f32") == value


@given(st.floats())
def test_f64_is_the_machines(value: float) -> None:
    if not math.isnan(value):
        assert encode(value, "f64") == machine(value, "<d", "<Q")
        assert decode(encode(value, "f64"), "f64") == value


@given(st.floats(min_value=-65504, max_value=65504))
def test_f16_rounds_as_the_machine(value: float) -> None:
    assert encode(value, "f16") == machine(value, "<e", "<H")


@pytest.mark.parametrize("name", NARROW)
def test_every_pattern_comes_back(name: str) -> None:
    for bits in range(1 << FORMATS[name].bits):
        value = decode(bits, name)
        if not math.isnan(value):
            assert encode(value, name) == bits


@pytest.mark.parametrize(
    ("value", "name", "bits"),
    [
        (1.0, "bf16", 0x3F80),
        (448.0, "f8E4M3FN", 0x7E),
        (1e6, "f8E4M3FN", 0x7F),
        (math.inf, "f8E5M2", 0x7C),
        (-math.inf, "f16", 0xFC00),
        (math.nan, "f32", 0x7FC00000),
        (math.nan, "f8E8M0FNU", 0xFF),
        (1.0, "f8E8M0FNU", 0x7F),
        (6.0, "f4E2M1FN", 7),
        (100.0, "f4E2M1FN", 7),
        (-0.0, "f16", 0x8000),
        (1.0, "tf32", 0x1FC00),
    ],
)
def test_known_patterns(value: float, name: str, bits: int) -> None:
    assert encode(value, name) == bits


@pytest.mark.parametrize(("value", "name"), [(-1.0, "f8E8M0FNU"), (0.0, "f8E8M0FNU"), (math.nan, "f4E2M1FN")])
def test_values_that_a_format_lacks(value: float, name: str) -> None:
    with pytest.raises(ValueError, match="has no"):
        encode(value, name)
