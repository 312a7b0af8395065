"""The kernel that is meant and its parameters, as a call names them: checked before torch is loaded."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tileir_diff.errors import InputError
from tileir_diff.suggest import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from tileir_diff.dialect.ir import ModuleOp, TileOp


def choose_entry(module: ModuleOp, entry: str | None, path: str) -> TileOp:
    """The kernel that is meant. Raises InputError."""
    entries = {each.symbol: each for each in module.entries}
    if entry is None and len(entries) == 1:
        return next(iter(entries.values()))
    name = "" if entry is None else entry.removeprefix("@")
    if name not in entries:
        known = ", ".join(f"@{each}" for each in entries)
        wanted = f"no entry '@{name}'" if entry is not None else "several kernels in it, name one"
        raise InputError(f"{wanted}; there are {known}", path)
    return entries[name]


def parameter_names(entry: TileOp) -> list[str]:
    """SSA names without `%`, in order."""
    return [str(each.name_hint or index) for index, each in enumerate(entry.regions[0].block.args)]


def assignments(
    entry: TileOp, options: Iterable[str], scalars: Sequence[Any | None] | None = None
) -> dict[int, str]:
    """The text that `NAME=VALUE` options give, by position; later ones win.

    NAME is the SSA name (`arg3`), a debug name or a position. `scalars` are values known otherwise, None
    where there is none.

    Raises InputError for a name that makes no sense, and for a parameter without a value.
    """
    names = parameter_names(entry)
    given: dict[int, str] = {}
    for option in options:
        name, equals, text = option.partition("=")
        if not equals:
            raise InputError(f"'{option}' is no argument; write NAME=FILE.npy or NAME=NUMBER", "--arg")
        given[_index(name.removeprefix("%"), names)] = text
    known = {index for index, value in enumerate(scalars or ()) if value is not None}
    missing = [
        f"{name} ({parameter.type})"
        for index, (name, parameter) in enumerate(zip(names, entry.regions[0].block.args, strict=True))
        if index not in given and index not in known
    ]
    if missing:
        raise InputError(f"no value for {', '.join(missing)}; give each with --arg NAME=VALUE", "--arg")
    return given


def _index(name: str, names: list[str]) -> int:
    if name in names:
        return names.index(name)
    if name.isdecimal() and int(name) < len(names):
        return int(name)
    hint = did_you_mean(name, names)
    raise InputError(f"no parameter '{name}'{hint or '; there are ' + ', '.join(names)}", "--arg")
