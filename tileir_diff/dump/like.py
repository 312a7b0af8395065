"""How the arguments of a kernel are written: `x=f16[2048,4096]:16`, `y=x`, `n=x.shape0`, `ROWS=64`."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, NamedTuple

from tileir_diff.errors import InputError
from tileir_diff.suggest import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Iterable

BYTES: Final = {
    "bool": 1, "i8": 1, "u8": 1, "i16": 2, "u16": 2, "i32": 4, "u32": 4, "i64": 8, "u64": 8,
    "f16": 2, "bf16": 2, "f32": 4, "f64": 8, "f8e4m3fn": 1, "f8e5m2": 1,
}  # fmt: skip
"""Size of an element by type, in bytes."""
ALIGNED: Final = 16
"""The alignment of an array where none is given, in bytes: that of what allocators give."""
MAX_EXTENT: Final = 1 << 63
ARRAY: Final = re.compile(r"(\w+)\[([\d,\s]*)\](?:\(([\d,\s]*)\))?(?::(\d+))?")
WORDS: Final = {"true": True, "True": True, "false": False, "False": False}
SCALAR: Final = re.compile(r"(\w+):(.+)")
LIST: Final = re.compile(r"\[\s*(-?\d+(?:\s*,\s*-?\d+)*)\s*\]")
REFERENCE: Final = re.compile(r"(@?)([A-Za-z_]\w*)(?:\.(shape|stride)(\d+))?")
"""Another argument (`x`: one like it, `@x`: it itself), or an extent or a stride of one."""
FORM: Final = "write NAME=f16[2048,4096]:16 (strides in parentheses before the colon), NAME=f32 or NAME=64"
Value = int | float | bool | str | tuple[int, ...] | None


class Argument(NamedTuple):
    """One argument. `kind` is "array", "scalar" or "constant".

    An array has a shape, strides in elements and an alignment in bytes; a constant has a value, and a scalar
    may have one. `same` is the name of the argument that it is itself, under another name.
    """

    name: str
    kind: str
    dtype: str = ""
    shape: tuple[int, ...] = ()
    strides: tuple[int, ...] = ()
    align: int = ALIGNED
    value: Value = None
    same: str = ""


def parse_likes(texts: Iterable[str], others: Iterable[Argument] = ()) -> list[Argument]:
    """Reads all `--like` of a kernel; each may refer to those before it, and to others.

    Raises InputError, also where two are of one argument.
    """
    known = {each.name: each for each in others}
    found: dict[str, Argument] = {}
    for text in texts:
        argument = parse_like(text, known)
        if argument.name in found:
            raise InputError(f"'{text}': {argument.name} is given before", "--like")
        known[argument.name] = found[argument.name] = argument
    return list(found.values())


def parse_like(text: str, known: dict[str, Argument] | None = None) -> Argument:
    """Reads one `--like`. Raises InputError for what is not of a form above."""
    name, equals, rest = text.partition("=")
    name, rest = name.strip(), rest.strip()
    if not equals or not name.isidentifier() or not rest:
        raise InputError(f"'{text}' is no argument; {FORM}", "--like")
    if rest in BYTES:
        return Argument(name, "scalar", rest)
    found = ARRAY.fullmatch(rest)
    if found is not None:
        return _array(name, found, text)
    scalar = SCALAR.fullmatch(rest)
    if scalar is not None and scalar[1] in BYTES:
        return Argument(name, "scalar", scalar[1], value=_value(scalar[2], text, known or {}))
    meant = _referred(rest, known or {}, text)
    if isinstance(meant, Argument):
        return meant._replace(name=name, same=(meant.same or meant.name) if rest.startswith("@") else "")
    return Argument(name, "constant", value=_constant(rest, text) if meant is None else meant)


def _array(name: str, found: re.Match[str], text: str) -> Argument:
    dtype = found[1]
    if dtype not in BYTES:
        raise InputError(f"'{text}': no type is called {dtype}{did_you_mean(dtype, BYTES)}", "--like")
    shape = _numbers(found[2])
    strides = row_major(shape) if found[3] is None else _numbers(found[3])
    if not shape or len(strides) != len(shape):
        raise InputError(f"'{text}': {len(shape)} extents and {len(strides)} strides", "--like")
    if any(number >= MAX_EXTENT for number in (*shape, *strides)):
        raise InputError(f"'{text}': an extent or a stride does not fit 64 bits", "--like")
    align = ALIGNED if found[4] is None else int(found[4])
    if align < 1 or align % BYTES[dtype]:
        told = f"no {dtype} lies at a multiple of {align} bytes: an element has {BYTES[dtype]}"
        raise InputError(f"'{text}': {told}", "--like")
    return Argument(name, "array", dtype, shape, strides, align)


def _referred(text: str, known: dict[str, Argument], whole: str) -> Argument | int | None:
    """The argument that is named, or its extent or stride; None where the text names none."""
    found = REFERENCE.fullmatch(text)
    if found is None or text in WORDS:
        return None
    meant = known.get(found[2])
    if meant is None:
        if not found[1] and not found[3]:
            return None
        raise InputError(f"'{whole}': no argument before it is called {found[2]}", "--like")
    if not found[3]:
        return meant
    numbers = meant.shape if found[3] == "shape" else meant.strides
    if int(found[4]) >= len(numbers):
        raise InputError(f"'{whole}': {found[2]} has {len(numbers)} dimensions", "--like")
    return numbers[int(found[4])]


def _value(text: str, whole: str, known: dict[str, Argument]) -> Value:
    """The value of a scalar. Raises InputError for what is none."""
    meant = _referred(text.strip(), known, whole)
    value = meant.value if isinstance(meant, Argument) else meant
    value = _constant(text.strip(), whole) if value is None else value
    if isinstance(value, (str, tuple)):
        raise InputError(f"'{whole}': {text.strip()} is no number", "--like")
    return value


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


def _constant(text: str, whole: str) -> int | float | bool | str | tuple[int, ...]:
    if text in WORDS:
        return WORDS[text]
    if len(text) > 1 and text[0] == text[-1] and text[0] in "'\"":
        return text[1:-1]
    listed = LIST.fullmatch(text)
    if listed is not None:
        return _numbers(listed[1])
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    raise InputError(f"'{whole}' is neither an array, a type nor a constant; {FORM}", "--like")
