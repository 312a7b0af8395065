"""The table of a port: which kernel stands for which, and the configurations in which both are compared.

arch = "sm_90"                                # default of all configurations

[python]
kernel = "package.module:kernel"              # or FILE.py:KERNEL
[rust]
crate = ".."                                  # a folder or a file, from the table's folder
entry = "module::entry"

[[waivers]]                                   # as in a settings file; a configuration may have its own
rule = "entry-hint/*"
reason = "tuned for this port"

[[configuration]]
name = "f16, 2048 x 4096"
like = ["x=f16[2048,4096]:16", "y=x"]         # of both sides, by parameter; a side takes those that it has
python.like = ["BLOCK=4096"]                  # of one side, and wins
rust.like = ["BN=4096", "out=@y", "n=x.shape1"]
rust.options = { occupancy = 2 }
rust.const_grid = [2048, 1, 1]
grid = [2048, 1, 1]                           # or launch = "launch.json"
python.call = "package.module:function(f16[2048,4096], 5)"    # in place of grid and likes of Python
reference = "reference.mlir"                  # in place of a kernel of Python: a dump
"""

from __future__ import annotations

import os
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, NamedTuple, cast

from tileir_diff.dump.rust import OPTIONS
from tileir_diff.errors import InputError
from tileir_diff.ingest.data import parse_toml
from tileir_diff.ingest.text import read_text
from tileir_diff.verdict.config import Waiver, waiver

if TYPE_CHECKING:
    from collections.abc import Mapping

Grid = tuple[int, int, int]
TOP: Final = ("arch", "configuration", "python", "rust", "waivers")
KEYS: Final = ("arch", "grid", "launch", "like", "name", "python", "reference", "rust", "waivers")
PYTHON: Final = ("call", "kernel", "like", "processors")
RUST: Final = ("const_grid", "crate", "entry", "like", "options")


class Configuration(NamedTuple):
    """One row: both kernels, and the arguments with which they are dumped. Paths are as seen from here.

    `reference` is a dump in place of a kernel of Python.
    """

    name: str
    arch: str = "sm_100"
    like: tuple[str, ...] = ()
    kernel: str = ""
    call: str = ""
    processors: int | None = None
    python_like: tuple[str, ...] = ()
    crate: str = ""
    entry: str = ""
    rust_like: tuple[str, ...] = ()
    options: Mapping[str, int] = MappingProxyType({})
    const_grid: Grid | None = None
    grid: Grid | None = None
    launch: str | None = None
    waivers: tuple[Waiver, ...] = ()
    reference: str = ""


def read_table(path: str) -> list[Configuration]:
    """Reads a table. Raises InputError for what is not as above."""
    data = parse_toml(read_text(path), path)
    _known(data, TOP, "the table", path)
    rows = data.get("configuration")
    if not isinstance(rows, list) or not rows:
        raise InputError("no [[configuration]] in it: nothing to compare", path)
    found = [_row(data, row, path) for row in cast("list[object]", rows)]
    names = [each.name for each in found]
    for name in names:
        if names.count(name) > 1:
            raise InputError(f"two configurations are called '{name}'", path)
    return found


def _row(top: dict[str, object], row: object, path: str) -> Configuration:
    own = _table(row, "a configuration", path)
    _known(own, KEYS, "a configuration", path)
    name = _text(own, "name", path)
    if not name:
        raise InputError("a configuration needs a 'name'", path)
    sides: dict[str, dict[str, object]] = {}
    for side, keys in (("python", PYTHON), ("rust", RUST)):
        general = _table(top.get(side, {}), f"'{side}'", path)
        special = _table(own.get(side, {}), f"'{side}' of '{name}'", path)
        for each in (general, special):
            _known(each, keys, f"'{side}'", path)
        sides[side] = {**general, **special}
    python, rust = sides["python"], sides["rust"]
    folder = os.path.dirname(path)
    crate, launch = _text(rust, "crate", path), _text(own, "launch", path)
    reference = _text(own, "reference", path)
    made = Configuration(
        name,
        _text(own, "arch", path) or _text(top, "arch", path) or "sm_100",
        _strings(own, "like", path),
        _here(_text(python, "kernel", path), folder),
        _here(_text(python, "call", path), folder),
        cast("int | None", python.get("processors")),
        _strings(python, "like", path),
        _joined(folder, crate) if crate else "",
        _text(rust, "entry", path),
        _strings(rust, "like", path),
        _options(rust, path),
        _grid(rust, "const_grid", path),
        _grid(own, "grid", path),
        _joined(folder, launch) if launch else None,
        tuple(_waivers(top, path) + _waivers(own, path)),
        _joined(folder, reference) if reference else "",
    )
    if not made.crate or not (made.kernel or made.call or made.reference):
        needed = "a python.kernel (or python.call, or a reference) and a rust.crate"
        raise InputError(f"'{name}' needs {needed}", path)
    if made.reference and (made.call or made.python_like):
        raise InputError(f"'{name}' has a reference: nothing of Python is dumped", path)
    if made.reference and made.grid:
        raise InputError(f"'{name}' has a reference: give a launch in place of the grid", path)
    if made.launch and made.grid:
        raise InputError(f"'{name}' has a grid and a launch: one is enough", path)
    return made


def _here(spec: str, folder: str) -> str:
    """A kernel whose module is a file, by the file's path from here."""
    module, colon, name = spec.partition(":")
    return f"{_joined(folder, module)}:{name}" if colon and module.endswith(".py") else spec


def _joined(folder: str, path: str) -> str:
    joined = os.path.join(folder, path)
    short = os.path.normpath(joined)  # another place where `..` follows a link
    return short if os.path.realpath(short) == os.path.realpath(joined) else joined


def _options(data: dict[str, object], path: str) -> dict[str, int]:
    table = _table(data.get("options", {}), "'options'", path)
    _known(table, OPTIONS, "'options'", path)
    for name, value in table.items():
        if isinstance(value, bool) or not isinstance(value, int):
            raise InputError(f"'{name}' must be a whole number", path)
    return cast("dict[str, int]", table)


def _grid(data: dict[str, object], key: str, path: str) -> Grid | None:
    given = data.get(key)
    if given is None:
        return None
    sizes = cast("list[Any]", given) if isinstance(given, list) else []
    if not 1 <= len(sizes) <= 3 or not all(type(size) is int and size > 0 for size in sizes):
        raise InputError(f"'{key}' must be a list of up to three positive numbers", path)
    x, y, z = [*sizes, 1, 1][:3]
    return x, y, z


def _waivers(data: dict[str, object], path: str) -> list[Waiver]:
    given = data.get("waivers", [])
    if not isinstance(given, list):
        raise InputError("'waivers' must be a list of tables", path)
    return [waiver(_table(each, "a waiver", path), path) for each in cast("list[object]", given)]


def _known(data: Mapping[str, object], keys: tuple[str, ...], what: str, path: str) -> None:
    for key in data:
        if key not in keys:
            raise InputError(f"unknown key '{key}' in {what}; known are {', '.join(keys)}", path)


def _table(data: object, what: str, path: str) -> dict[str, object]:
    if not isinstance(data, dict):
        raise InputError(f"{what} must be a table", path)
    return cast("dict[str, object]", data)


def _text(data: dict[str, object], key: str, path: str) -> str:
    value = data.get(key, "")
    if not isinstance(value, str):
        raise InputError(f"'{key}' must be a string", path)
    return value


def _strings(data: dict[str, object], key: str, path: str) -> tuple[str, ...]:
    value = data.get(key, [])
    items = cast("list[object]", value) if isinstance(value, list) else [None]
    if not all(isinstance(item, str) for item in items):
        raise InputError(f"'{key}' must be a list of strings", path)
    return tuple(str(item) for item in items)
