"""How the arguments of a kernel are written: `x=f16[2048,4096]:16`, `eps=f32`, `ROWS=64`."""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from tileir_diff.errors import InputError
from tileir_diff.suggest import did_you_mean

BYTES: Final = {
    "bool": 1, "i8": 1, "u8": 1, "i16": 2, "u16": 2, "i32": 4, "u32": 4, "i64": 8, "u64": 8,
    "f16": 2, "bf16": 2, "f32": 4, "f64": 8, "f8e4m3fn": 1, "f8e5m2": 1,
}  # fmt: skip
"""Size of an element by type, in bytes."""
ALIGNED: Final = 16
"""The alignment of an array where none is given, in bytes: that of what allocators give."""
ARRAY: Final = re.compile(r"(\w+)\[([\d,\s]*)\](?:\(([\d,\s]*)\))?(?::(\d+))?")
FORM: Final = "write NAME=f16[2048,4096]:16 (strides in parentheses before the colon), NAME=f32 or NAME=64"


class Argument(NamedTuple):
    """One argument. `kind` is "array", "scalar" or "constant".

    An array has a shape, strides in elements and an alignment in bytes; a constant has a value.
    """

    name: str
    kind: str
    dtype: str = ""
    shape: tuple[int, ...] = ()
    strides: tuple[int, ...] = ()
    align: int = ALIGNED
    value: int | float | bool | str | None = None


def parse_like(text: str) -> Argument:
    """Reads one `--like`. Raises InputError for what is not of a form above."""
    name, equals, rest = text.partition("=")
    name, rest = name.strip(), rest.strip()
    if not equals or not name.isidentifier() or not rest:
        raise InputError(f"'{text}' is no argument; {FORM}", "--like")
    if rest in BYTES:
        return Argument(name, "scalar", rest)
    found = ARRAY.fullmatch(rest)
    if found is None:
        return Argument(name, "constant", value=_constant(rest, text))
    dtype = found[1]
    if dtype not in BYTES:
        raise InputError(f"'{text}': no type is called {dtype}{did_you_mean(dtype, BYTES)}", "--like")
    shape = _numbers(found[2])
    strides = row_major(shape) if found[3] is None else _numbers(found[3])
    if not shape or len(strides) != len(shape):
        raise InputError(f"'{text}': {len(shape)} extents and {len(strides)} strides", "--like")
    return Argument(name, "array", dtype, shape, strides, int(found[4] or ALIGNED))


def row_major(shape: tuple[int, ...]) -> tuple[int, ...]:
    """Strides of a contiguous array, in elements."""
    strides: list[int] = []
    step = 1
    for extent in reversed(shape):
        strides.insert(0, step)
        step *= extent
    return tuple(strides)


def _numbers(text: str) -> tuple[int, ...]:
    return tuple(int(part) for part in text.split(",") if part.strip())


def _constant(text: str, whole: str) -> int | float | bool | str:
    words = {"true": True, "True": True, "false": False, "False": False}
    if text in words:
        return words[text]
    if len(text) > 1 and text[0] == text[-1] and text[0] in "'\"":
        return text[1:-1]
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    raise InputError(f"'{whole}' is neither an array, a type nor a constant; {FORM}", "--like")
