"""The launch of both sides, from the arguments with which they were dumped."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

from tileir_diff.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tileir_diff.dump.like import Argument
    from tileir_diff.dump.model import Dumped

ENTRY: Final = re.compile(r"^\s*entry @([\w$.]+)\(([^)]*)\)", re.MULTILINE)
KINDS: Final = ("array", "constant", "output", "pointer", "scalar", "tensor")
"""Arguments whose parameters are known; a tuple or a list is none of them."""
Value = dict[str, Any] | None


def launch_of(
    python: tuple[Dumped, Sequence[Argument]],
    rust: tuple[Dumped, Sequence[Argument]],
    grid: tuple[int, int, int],
) -> dict[str, Any]:
    """A launch file's content. A side whose values are not all known has its grid alone.

    Raises InputError where one name stands for two different arrays.
    """
    _agree(python[1], rust[1])
    return {
        name: side_launch(made, arguments, grid)
        for name, (made, arguments) in (("reference", python), ("generated", rust))
    }


def array_name(argument: Argument) -> str:
    """The array that an argument is: itself, unless it is another's."""
    return argument.same or argument.name


def _agree(python: Sequence[Argument], rust: Sequence[Argument]) -> None:
    known = {array_name(each): each for each in python if each.kind == "array"}
    for each in rust:
        other = known.get(array_name(each))
        if each.kind == "array" and other is not None and each[2:6] != other[2:6]:
            raise InputError(f"{each.name} is another array in Python and in Rust", array_name(each))


def side_launch(made: Dumped, arguments: Sequence[Argument], grid: tuple[int, int, int]) -> dict[str, Any]:
    """One side of a launch file: entry, grid, and the values of its parameters where all are known."""
    found = ENTRY.search(made.text)
    side: dict[str, Any] = {"grid": list(grid)}
    if found is None:
        return side
    side["entry"] = found[1]
    described = {each.name: each for each in arguments}
    told = made.specialised["arguments"]
    known = all(each["kind"] in KINDS for each in told) and not _overlapping(told)
    values = [value for each in told for value in _values(each, described[each["name"]])] if known else []
    # an output that the launcher cuts into tiles has more parameters than are known here
    if known and len(values) == found[2].count("%arg"):
        side["args"] = values
    return side


def _overlapping(told: list[dict[str, Any]]) -> bool:
    """Whether two arrays are different parts of one memory, which a launch cannot say."""
    places = {(each["memory"], each["offset"]) for each in told if "memory" in each}
    return len({memory for memory, _ in places}) < len(places)


def _values(told: dict[str, Any], argument: Argument) -> list[Value]:
    """What the entry gets for one argument: an array is address, extents and strides; constants are gone."""
    kind = told["kind"]
    if kind == "constant":
        return []
    if kind == "scalar":
        value = told.get("value")
        dtype = "i1" if told["dtype"] == "bool" else told["dtype"]
        return [None if value is None else {dtype: value}]
    pointer: Value = {"ptr": array_name(argument)}
    if kind == "pointer":
        return [pointer]
    index = told.get("index", "i32")
    return [pointer, *({index: number} for number in (*argument.shape, *argument.strides))]
