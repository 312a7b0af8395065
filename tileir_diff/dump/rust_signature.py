"""Entries of cuTile Rust: which there are, and what a launch with given arguments specialises of one."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from tileir_diff.dump.like import BYTES, Argument
from tileir_diff.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Sequence

INTEGERS: Final = {
    f"{sign}{bits}": (0 if sign == "u" else -(1 << bits - 1), (1 << bits - (sign == "i")) - 1)
    for sign in "iu" for bits in (8, 16, 32, 64)
}  # fmt: skip
"""The least and the largest value of a type; a launch looks at the value of these scalars."""
MOST: Final = 16
"""No divisor above it is stated."""
I32: Final = INTEGERS["i32"]
SHAPE: Final = re.compile(r"\[\s*\w+\s*;\s*(\d+)\s*\]")


class Parameter(NamedTuple):
    """A parameter of an entry. `kind` is "tensor", "output" (a mutable tensor), "pointer" or "scalar"."""

    name: str
    kind: str
    type: str
    element: str
    rank: int | None


class Generic(NamedTuple):
    """A generic of an entry; the type of a const generic, empty for a type."""

    name: str
    type: str


class Entry(NamedTuple):
    """An entry of a module, by the module's path from the crate."""

    module: str
    name: str
    parameters: tuple[Parameter, ...]
    generics: tuple[Generic, ...]

    @property
    def path(self) -> str:
        return f"{self.module}::{self.name}"

    @property
    def signature(self) -> str:
        """What it takes, as messages say it."""
        generics = [
            each.name if not each.type else f"const {each.name}: {each.type}" for each in self.generics
        ]
        parameters = [f"{each.name}: {_tidy(each.type)}" for each in self.parameters]
        return ", ".join([*generics, *parameters])


def entries_of(said: list[dict[str, Any]]) -> list[Entry]:
    """The entries that the exporting program lists, by path."""
    found = {
        f"{each['module']}::{each['name']}": Entry(
            each["module"],
            each["name"],
            tuple(Parameter(**parameter) for parameter in each["parameters"]),
            tuple(Generic(**generic) for generic in each["generics"]),
        )
        for each in said
    }
    return [found[path] for path in sorted(found)]


def choose(entries: list[Entry], name: str, source: str) -> Entry:
    """The only entry whose path ends with a name. Raises InputError with those there are."""
    if not entries:
        raise InputError("it has no kernel: no #[cutile::entry] in a #[cutile::module]", source)
    wanted = name.strip(":")
    whole = [each for each in entries if each.path == wanted]
    found = whole or [each for each in entries if not wanted or f"::{each.path}".endswith(f"::{wanted}")]
    if len(found) == 1:
        return found[0]
    listed = ", ".join(each.path for each in found or entries)
    if not found:
        raise InputError(f"it has no entry {wanted}; there are {listed}", source)
    raise InputError(f"which entry? --entry names one of {listed}", source)


def specialise(entry: Entry, arguments: Sequence[Argument]) -> dict[str, Any]:
    """What a launch with these arguments says to the compiler, for the exporting program.

    Raises InputError for an argument that is missing, unknown or not of the parameter's type.
    """
    given = {each.name: each for each in arguments}
    names = [each.name for each in (*entry.generics, *entry.parameters)]
    unknown = [name for name in given if name not in names]
    if unknown:
        raise _wrong(entry, f"no parameter is called {unknown[0]}")
    types = _types(entry, given)
    lacking = [name for name in names if name not in given and name not in types]
    if lacking:
        raise _wrong(entry, f"no --like for {', '.join(lacking)}")
    made: dict[str, Any] = {"tensors": [], "pointers": [], "integers": [], "arguments": []}
    for parameter in entry.parameters:
        _specialise(entry, parameter, given[parameter.name], types, made)
    made["generics"] = [
        text for each in entry.generics for text in _generic(entry, each, given.get(each.name), types)
    ]
    return made


def _specialise(
    entry: Entry, parameter: Parameter, argument: Argument, types: dict[str, str], made: dict[str, Any]
) -> None:
    """Adds what is said of one parameter."""
    element = types.get(parameter.element, parameter.element)
    if parameter.kind == "scalar":
        value = _scalar(entry, parameter, argument, element)
        shown: dict[str, Any] = {"name": argument.name, "kind": "scalar", "dtype": element}
        if value is not None:
            shown["value"] = value
        if parameter.element in INTEGERS:  # a scalar of a generic type is not looked at
            made["integers"].append({"name": argument.name, "value": str(value)})
            shown["divisible_by"] = _divisor(int(value or 0))
        made["arguments"].append(shown)
        return
    if argument.kind != "array":
        raise _unfit(entry, parameter, "an array: NAME=f16[2048,4096]:16")
    if argument.dtype != element:
        raise _unfit(entry, parameter, f"of type {element}, not {argument.dtype}")
    if parameter.kind == "pointer":
        made["pointers"].append({"name": argument.name, "align": argument.align})
        said = {"kind": "pointer", "dtype": element, "base_divisible_by": _divisor(argument.align)}
        made["arguments"].append({"name": argument.name, **said})
        return
    if parameter.rank is not None and parameter.rank != len(argument.shape):
        raise _unfit(entry, parameter, f"of {parameter.rank} dimensions, not {len(argument.shape)}")
    for number in (*argument.shape, *argument.strides):
        if not I32[0] <= number <= I32[1]:
            raise _unfit(entry, parameter, f"of 32-bit extents and strides, and {number} is not")
    tensor = {"shape": list(argument.shape), "strides": list(argument.strides), "align": argument.align}
    made["tensors"].append({"name": argument.name, "bytes": BYTES[argument.dtype], **tensor})
    made["arguments"].append(
        {
            "name": argument.name, "kind": parameter.kind, "dtype": element, **tensor,
            "stride_constant": [1 if stride == 1 else None for stride in argument.strides],
            "stride_divisible_by": [_divisor(stride) for stride in argument.strides],
            "shape_divisible_by": [_divisor(extent) for extent in argument.shape],
            "base_divisible_by": _divisor(argument.align),
        }
    )  # fmt: skip


def _scalar(entry: Entry, parameter: Parameter, argument: Argument, type_: str) -> int | float | None:
    """The value of a scalar, None where a launch does not look at it and none is given."""
    value = argument.value
    if argument.kind == "array" or (argument.kind == "scalar" and argument.dtype != type_):
        raise _unfit(entry, parameter, f"a scalar of type {type_}")
    if value is None and parameter.element in INTEGERS:
        advice = f"with a value, {parameter.name}=1000: a launch looks at what divides it"
        raise _unfit(entry, parameter, advice)
    if value is None:
        return None
    if type_ in INTEGERS:
        least, most = INTEGERS[type_]
        if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
            raise _unfit(entry, parameter, f"a number of type {type_}, and {value} is none")
    if isinstance(value, (str, tuple)) or (type_ == "bool") != isinstance(value, bool):
        raise _unfit(entry, parameter, f"a {type_}, and {value} is none")
    return value


def _types(entry: Entry, given: dict[str, Argument]) -> dict[str, str]:
    """Type generics: as given, else as the first array or scalar of that type says."""
    found: dict[str, str] = {}
    for generic in entry.generics:
        if generic.type:
            continue
        argument = given.get(generic.name)
        if argument is not None:
            if argument.kind != "scalar" or argument.value is not None:
                raise _wrong(entry, f"{generic.name} is a type: {generic.name}=f16")
            found[generic.name] = argument.dtype
            continue
        users = [given[each.name] for each in entry.parameters
                 if each.element == generic.name and each.name in given]  # fmt: skip
        said = next((each.dtype for each in users if each.dtype), "")
        if said:
            found[generic.name] = said
    return found


def _generic(entry: Entry, generic: Generic, argument: Argument | None, types: dict[str, str]) -> list[str]:
    """A generic as the front end takes it: one text, or one for each element of an array."""
    if not generic.type:
        return [types[generic.name]]
    assert argument is not None  # one that is missing was told
    value, name = argument.value, generic.name
    listed, logical = SHAPE.fullmatch(generic.type), generic.type == "bool"
    values = value if isinstance(value, tuple) else (value,)
    fits = all(isinstance(each, int) and isinstance(each, bool) == logical for each in values)
    many = int(listed[1]) if listed else 1
    if not fits or len(values) != many or isinstance(value, tuple) != bool(listed):
        form = "[16,32]" if listed else "true" if logical else "64"
        raise _wrong(entry, f"{name} is a const generic of type {generic.type}: {name}={form}")
    return [str(each).lower() for each in values]


def _divisor(value: int) -> int:
    """The largest power of two that divides a number, and at most 16."""
    return MOST if value == 0 else min(value & -value, MOST)


def _tidy(type_: str) -> str:
    """A type without the spaces that the tokens were printed with."""
    return re.sub(r" ?([<>&{}\[\],*:]) ?", r"\1", type_.replace("- 1", "-1")).replace(",", ", ")


def _unfit(entry: Entry, parameter: Parameter, what: str) -> InputError:
    return _wrong(entry, f"{parameter.name} must be {what}")


def _wrong(entry: Entry, what: str) -> InputError:
    return InputError(f"{what}; it takes {entry.signature}", entry.path)
