"""JSON and TOML that are none: one message with line and column, whatever is wrong with them."""

from __future__ import annotations

from pathlib import Path

import pytest

from tileir_diff.errors import InputError
from tileir_diff.ingest.data import parse_json, parse_toml
from tileir_diff.ingest.text import read_text

DEEP = "[" * 100_000
LONG = "9" * 10_000


@pytest.mark.parametrize(
    ("text", "where", "says"),
    [
        ('{"a":\n  x}', (2, 3), "Expecting value"),
        ("", (1, 1), "Expecting value"),
        (DEEP, (1, 0), "nested too deeply"),
        (LONG, (1, 0), "too many digits"),
    ],
)
def test_no_json(text: str, where: tuple[int, int], says: str) -> None:
    with pytest.raises(InputError, match=f"not JSON: .*{says}") as caught:
        parse_json(text, "f.json")
    assert (caught.value.line, caught.value.column) == where
    with pytest.raises(InputError) as caught:
        parse_json(text, "f.list", 7)
    assert caught.value.line == where[0] + 6


@pytest.mark.parametrize(
    ("text", "where", "says"),
    [
        ("a = 1\nb = ?\n", (2, 5), "Invalid value"),
        ("a = 1\nb =", (2, 4), "Invalid value"),
        (f"a = {DEEP}", (1, 0), "nested too deeply"),
        (f"a = {LONG}", (1, 0), "too many digits"),
    ],
)
def test_no_toml(text: str, where: tuple[int, int], says: str) -> None:
    with pytest.raises(InputError, match=f"not TOML: .*{says}") as caught:
        parse_toml(text, "f.toml")
    assert (caught.value.line, caught.value.column) == where


def test_a_byte_order_mark_is_no_content(tmp_path: Path) -> None:
    (tmp_path / "f.json").write_bytes(b'\xef\xbb\xbf{"a":\r\n1}')
    assert parse_json(read_text(str(tmp_path / "f.json")), "f.json") == {"a": 1}
