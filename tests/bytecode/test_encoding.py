"""Numbers and tables, decoded again by the few lines that define them."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tileir_diff.bytecode.encoding import Table, add_section, signed_varint, sized_words, varint

words = st.integers(0, (1 << 64) - 1)


def decode(data: bytes) -> int:
    assert all(byte & 0x80 for byte in data[:-1])
    assert not data[-1] & 0x80
    return sum((byte & 0x7F) << 7 * index for index, byte in enumerate(data))


@given(words)
def test_varint(number: int) -> None:
    data = varint(number)
    assert decode(data) == number
    assert len(data) == max(1, -(-number.bit_length() // 7))


@given(st.integers(-(1 << 63), (1 << 63) - 1))
def test_signed_varint(number: int) -> None:
    code = decode(signed_varint(number))
    assert (-(code >> 1) - 1 if code & 1 else code >> 1) == number
    assert signed_varint(number & ((1 << 64) - 1)) == signed_varint(number)


def test_small_numbers_are_one_byte() -> None:
    assert [signed_varint(number) for number in (0, -1, 1, -64, 63)] == [
        b"\0",
        b"\1",
        b"\2",
        b"\x7f",
        b"\x7e",
    ]
    assert varint(300) == b"\xac\x02"


def test_words_are_counted() -> None:
    assert sized_words((1, -2), 4) == b"\x02\x01\0\0\0\xfe\xff\xff\xff"


def test_equal_entries_are_one() -> None:
    table = Table(first=1)
    assert [table.number(entry) for entry in (b"ab", b"c", b"ab")] == [1, 2, 1]
    assert table.encode(4) == b"\x02\xcb\xcb\xcb" + b"\0\0\0\0" + b"\x02\0\0\0" + b"abc"


def test_sections_begin_where_they_must() -> None:
    out = bytearray(b"x")
    add_section(out, 5, b"content", 8)
    assert bytes(out) == b"x\x85\x07\x08\xcb\xcb\xcb\xcbcontent"
    add_section(out, 7, b"\x0f")
    assert bytes(out[-3:]) == b"\x07\x01\x0f"
