"""Launch facts and argument maps, as `--launch` and `--args` give them.

A launch file holds both sides of one launch:

    {"reference": {"entry": "k", "grid": [2048, 1, 1], "args": [{"ptr": "a"}, {"i32": 5}]}, "generated":
    {...}}

Equal `ptr` names mean one array, `{"ptr": null}` a null pointer; this also tells which arguments correspond.
A side's `arrays`, {"a": {"shape": [4, 5]}}, are for a port: a comparison does not look at them.
An argument map is a JSON or TOML table from a generated argument to the reference argument it stands for.
"""

from __future__ import annotations

import os
import re
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple, cast

from tileir_diff.errors import InputError
from tileir_diff.ingest.data import parse_json, parse_toml
from tileir_diff.ingest.text import read_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

FACT = r"%?[A-Za-z_0-9.$-]+"
"""The name of a fact; a path may read so too."""
AXES = ("x", "y", "z")
INTEGER_KINDS = frozenset({"i1", "i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64"})
BOOL_KINDS = frozenset({"i1", "i8", "u8"})
"""Integer kinds that take true and false: a C++ bool is an i8."""
FLOAT_KINDS = frozenset({"f16", "bf16", "f32", "f64"})

Grid = tuple[int | None, int | None, int | None]


class ArgValue(NamedTuple):
    """One argument's value: kind "ptr" with the array's name (None: null pointer), or a scalar kind."""

    kind: str
    value: int | float | str | None

    @property
    def is_pointer(self) -> bool:
        return self.kind == "ptr"


class SideLaunch(NamedTuple):
    """What is known of one side's launch; None stands for "not given"."""

    entry: str | None = None
    grid: Grid = (None, None, None)
    args: tuple[ArgValue | None, ...] | None = None
    """One value per parameter, in the entry's order."""
    named: Mapping[str, int | float] = MappingProxyType({})
    """Scalars by SSA name without `%` ("arg3") or debug name ("n"); they win over `args`."""
    earlier: Mapping[str, int | float] = MappingProxyType({})
    """Scalars by name that stood before `args`, which win over them."""


class Launch(NamedTuple):
    """One launch of the reference and of the generated kernel."""

    reference: SideLaunch = SideLaunch()
    generated: SideLaunch = SideLaunch()
    source: str = ""
    """What the user wrote, for the report."""


LARGEST_GRID = (1 << 31) - 1
"""Blocks along an axis: their numbers are i32."""


class ArgumentMap(NamedTuple):
    """Generated argument -> reference argument; None: it has no counterpart.

    Arguments are SSA names without `%`, debug names, or decimal positions, as the user wrote them.
    """

    pairs: tuple[tuple[str, str | None], ...]
    path: str


def parse_launch(options: Iterable[str]) -> Launch | None:
    """Reads `--launch` values: files and `[reference.|generated.]NAME=VALUE`; later ones win.

    Raises InputError for an unreadable file or a value that is not a number.
    """
    launch: Launch | None = None
    written: list[str] = []
    for option in options:
        written.append(option)
        if re.fullmatch(FACT, option) and not option.endswith(".json") and not os.path.exists(option):
            raise InputError(
                f"'{option}' is neither a file nor a fact; a fact reads {option}=VALUE", "--launch"
            )
        if is_assignment(option):
            launch = _assign(launch or Launch(), option)
        else:
            launch = _merge(launch, read_launch(option))
    return None if launch is None else launch._replace(source=", ".join(written))


def read_launch(path: str) -> Launch:
    """Reads a launch file. Raises InputError if it is not of the form above."""
    table = _table(parse_json(read_text(path), path), path, "a launch file")
    unknown = sorted(set(table) - {"reference", "generated"})
    if unknown:
        raise InputError(
            f"unknown key '{unknown[0]}' in launch file; expected 'reference', 'generated'", path
        )
    if not table:
        raise InputError("launch file gives neither 'reference' nor 'generated'", path)
    return Launch(
        reference=_side(table.get("reference"), "reference", path),
        generated=_side(table.get("generated"), "generated", path),
        source=path,
    )


def read_argument_map(path: str) -> ArgumentMap:
    """Reads an `--args` file, by its suffix TOML or JSON. Raises InputError for all but a flat table."""
    text = read_text(path)
    hint = "; TOML is read from a file whose name ends in .toml"
    data = parse_toml(text, path) if path.endswith(".toml") else parse_json(text, path, hint=hint)
    pairs: list[tuple[str, str | None]] = []
    for key, value in _table(data, path, "an argument map").items():
        if value is not None and (isinstance(value, bool) or not isinstance(value, (str, int))):
            raise InputError(f"argument '{key}' must map to a name, a position or null", path)
        pairs.append((key.removeprefix("%"), None if value is None else str(value).removeprefix("%")))
    return ArgumentMap(tuple(pairs), path)


def is_assignment(option: str) -> bool:
    """Whether an option is a fact, not a file."""
    name, equals, _ = option.partition("=")
    return bool(equals) and re.fullmatch(FACT, name) is not None


def _assign(launch: Launch, option: str) -> Launch:
    name, _, text = option.partition("=")
    side, _, rest = name.partition(".")
    sides = (side,) if side in ("reference", "generated") else ("reference", "generated")
    name = rest if side in ("reference", "generated") else name
    value = _number(text)
    if not name or value is None:
        raise InputError(f"'{option}' is no launch fact; write grid.x=2048, n=333 or a file name", "--launch")
    for each in sides:
        known = launch.reference if each == "reference" else launch.generated
        changed = _set(known, name.removeprefix("%"), value, option)
        launch = (
            launch._replace(reference=changed) if each == "reference" else launch._replace(generated=changed)
        )
    return launch


def _set(side: SideLaunch, name: str, value: int | float, option: str) -> SideLaunch:
    head, _, axis = name.partition(".")
    if head != "grid" or axis not in AXES:
        return side._replace(named={**side.named, name: value})
    if not isinstance(value, int) or value < 1:
        raise InputError(f"'{option}': a grid size is a positive integer", "--launch")
    if value > LARGEST_GRID:
        raise InputError(f"'{option}': a grid has {LARGEST_GRID} blocks along an axis at most", "--launch")
    grid = list(side.grid)
    grid[AXES.index(axis)] = value
    return side._replace(grid=(grid[0], grid[1], grid[2]))


def _merge(old: Launch | None, new: Launch) -> Launch:
    if old is None:
        return new
    return Launch(_merge_side(old.reference, new.reference), _merge_side(old.generated, new.generated))


def _merge_side(old: SideLaunch, new: SideLaunch) -> SideLaunch:
    grid = tuple(n if n is not None else o for o, n in zip(old.grid, new.grid, strict=True))
    grid_xyz = grid[0], grid[1], grid[2]
    entry = new.entry or old.entry
    if new.args is None:
        return old._replace(entry=entry, grid=grid_xyz)
    return SideLaunch(entry, grid_xyz, new.args, earlier={**old.earlier, **old.named})


def _side(data: object, side: str, path: str) -> SideLaunch:
    if data is None:
        return SideLaunch()
    table = _table(data, path, f"'{side}'")
    unknown = sorted(set(table) - {"entry", "grid", "args", "arrays"})
    if unknown:
        expected = "expected 'entry', 'grid', 'args', 'arrays'"
        raise InputError(f"unknown key '{unknown[0]}' in '{side}'; {expected}", path)
    entry = table.get("entry")
    if entry is not None and not isinstance(entry, str):
        raise InputError(f"'{side}.entry' must be a string", path)
    args = table.get("args")
    values = None
    if args is not None:
        values = tuple(
            _value(each, f"{side}.args[{i}]", path) for i, each in enumerate(_list(args, side, path))
        )
    return SideLaunch(entry=entry, grid=_grid(table.get("grid"), side, path), args=values)


def _grid(data: object, side: str, path: str) -> Grid:
    if data is None:
        return (None, None, None)
    sizes = _list(data, side, path)
    if len(sizes) > 3:
        raise InputError(f"'{side}.grid' has {len(sizes)} sizes; a grid has at most 3", path)
    for size in sizes:
        if size is not None and (isinstance(size, bool) or not isinstance(size, int) or size < 1):
            raise InputError(f"'{side}.grid' must hold positive integers", path)
        if size is not None and size > LARGEST_GRID:
            raise InputError(f"'{side}.grid' has {size} blocks along an axis; {LARGEST_GRID} at most", path)
    checked = [*cast("list[int | None]", sizes), 1, 1][:3] if sizes else [None, None, None]
    return (checked[0], checked[1], checked[2])


def _value(data: object, where: str, path: str) -> ArgValue | None:
    if data is None:
        return None
    table = _table(data, path, f"'{where}'")
    if len(table) != 1:
        raise InputError(f'\'{where}\' must have one key, such as {{"i32": 5}} or {{"ptr": "a"}}', path)
    kind, value = next(iter(table.items()))
    if kind == "ptr":
        if value is not None and not isinstance(value, str):
            raise InputError(f"'{where}': a pointer is an array's name or null", path)
        return ArgValue(kind, value)
    truth = isinstance(value, bool)
    if kind in INTEGER_KINDS and isinstance(value, int) and (kind in BOOL_KINDS or not truth):
        return ArgValue(kind, int(value))
    if kind in FLOAT_KINDS:
        number = (
            float(value)
            if isinstance(value, (int, float)) and not isinstance(value, bool)
            else _number(value)
        )
        if number is not None:
            return ArgValue(kind, float(number))
    raise InputError(f"'{where}': {kind!r} does not go with {value!r}", path)


def _number(text: object) -> int | float | None:
    if not isinstance(text, str):
        return None
    if text in ("true", "false"):
        return int(text == "true")
    try:
        return int(text, 0)
    except ValueError:
        pass
    try:
        return float(text)
    except ValueError:
        return None


def _table(data: object, path: str, what: str) -> dict[str, object]:
    if not isinstance(data, dict):
        raise InputError(f"{what} must be a table, not {type(data).__name__}", path)
    return cast("dict[str, object]", data)


def _list(data: object, what: str, path: str) -> list[object]:
    if not isinstance(data, list):
        raise InputError(f"'{what}' must hold a list, not {type(data).__name__}", path)
    return cast("list[object]", data)
