"""What a port starts from: dumps of the reference, and what is known of their launches."""

from __future__ import annotations

import math
import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, cast

from tileir_diff.dialect.ir import TileOp
from tileir_diff.dump.like import BYTES
from tileir_diff.errors import InputError
from tileir_diff.ingest.data import parse_json
from tileir_diff.ingest.text import read_text
from tileir_diff.pipeline.artifacts import Array, Reference

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tileir_diff.dump.like import Argument
    from tileir_diff.dump.model import Dumped

FORM: Final = "write [NAME=]DUMP.mlir,LAUNCH.json or TABLE.toml[:CONFIGURATION]"
POINTER: Final = re.compile(r".*ptr<(\w+)>.*")
NAMED: Final = re.compile(r"(?:([A-Za-z_][\w.-]*)=)?(.+)", re.DOTALL)


def prepare(specs: Sequence[str]) -> dict[str, bytes]:
    """Files of `reference/` for all references: NAME.mlir and NAME.json.

    A spec is a dump with a launch file, of which the side counts that launches the dump's kernel, or a table
    of `port-check`, of which only Python's side does: its kernels are dumped, no GPU is needed.

    Raises InputError for what cannot be read or dumped.
    """
    files: dict[str, bytes] = {}
    for spec in specs:
        made = _table(spec) if ".toml" in spec else _dump(spec)
        for path, data in made.items():
            if path in files:
                raise InputError(f"two references are called {Path(path).stem}", "--reference")
            files[path] = data
    if not files:
        raise InputError(f"no reference: {FORM}", "--reference")
    return files


def _dump(spec: str) -> dict[str, bytes]:
    found = NAMED.fullmatch(spec)
    assert found is not None  # it matches every text
    path, comma, launch = found[2].partition(",")
    if not comma:
        raise InputError(f"'{spec}' has no launch: {FORM}", "--reference")
    from tileir_diff.api import load, symbol
    from tileir_diff.ingest import read_source

    source = read_source(path)
    module, _ = load(path, "reference")
    known = [symbol(entry) for entry in module.entries]
    side = _launch_side(launch, known)
    entry = str(side.get("entry") or (known[0] if len(known) == 1 else ""))
    if entry.removeprefix("@") not in known:
        says = f"the launch names '{entry}'" if entry else "the launch names none"
        raise InputError(f"which entry? {says}, the entries of {path} are {', '.join(known)}", launch)
    name = found[1] or _name(Path(path).parent.name if path.endswith(".g.mlir") else Path(path).stem)
    facts = Reference(
        name=name,
        entry=entry.removeprefix("@"),
        grid=side.get("grid"),
        arguments=side.get("args"),
        arrays=_given(side, module.entries[known.index(entry.removeprefix("@"))], launch),
        made_by={"dump": os.path.basename(path), "launch": os.path.basename(launch)},
    )
    return _files(facts, source.text)


def _given(side: dict[str, Any], entry: TileOp, path: str) -> dict[str, Array]:
    """Arrays as a launch file has them: with the pointer's element type, packed, aligned as the kernel
    promises, unless it says otherwise.

    Raises InputError for what is none.
    """
    given = cast("dict[str, dict[str, Any]]", side.get("arrays") or {})
    types = {
        str(value.get("ptr")): POINTER.fullmatch(str(parameter.type))
        for value, parameter in zip(side["args"], entry.regions[0].block.args, strict=False)
    }
    found: dict[str, Array] = {}
    try:
        for name, each in given.items():
            pointed = types.get(name)
            if pointed is None:
                raise InputError(f"'{name}' in arrays is none of the pointers in args", path)
            shape = [int(size) for size in each["shape"]]
            align = promised(entry, name, side["args"])
            packed = [math.prod(shape[axis + 1 :]) for axis in range(len(shape))]
            told = {"dtype": pointed[1].lower(), "strides": packed, "align": align, **each}
            found[name] = Array.model_validate(told)
    except (TypeError, ValueError, LookupError, AttributeError) as error:
        why = " ".join(str(error).split())
        raise InputError(f'arrays are {{"x": {{"shape": [4, 5]}}}}: {why}', path) from None
    return found


def promised(entry: TileOp, array: str, arguments: Sequence[Mapping[str, object]]) -> int:
    """The alignment in bytes that a kernel promises of an array, at least that of an element."""
    from tileir_diff.dialect.attributes import DivBy

    least = 1
    values = set[object]()
    for value, parameter in zip(arguments, entry.regions[0].block.args, strict=False):
        if value.get("ptr") == array:
            pointed = POINTER.fullmatch(str(parameter.type))
            least = max(least, BYTES.get(pointed[1].lower(), 1) if pointed is not None else 1)
            values.add(parameter)
    for op in entry.walk():
        if isinstance(op, TileOp) and op.short == "assume" and op.operands[0] in values:
            assumption = op.get("assumption")
            values.add(op.results[0])
            if isinstance(assumption, DivBy) and assumption.every is None:
                least = max(least, assumption.divisor)
    return least


def _launch_side(path: str, entries: Sequence[str]) -> dict[str, Any]:
    """The side that launches one of the entries, else that of the reference."""
    from tileir_diff.match.launch import read_launch

    read_launch(path)  # says what is wrong with it
    data = cast("dict[str, Any]", parse_json(read_text(path), path))
    sides = {name: cast("dict[str, Any]", data.get(name) or {}) for name in ("reference", "generated")}
    fitting = [name for name, side in sides.items() if str(side.get("entry")).removeprefix("@") in entries]
    name = fitting[0] if fitting else "reference"
    side = sides[name]
    if not side.get("grid") or not side.get("args"):
        raise InputError(f"its side '{name}' needs a grid and args", path)
    x, y, z = [*cast("list[int]", side["grid"]), 1, 1][:3]
    return {**side, "grid": [x, y, z]}


def _table(spec: str) -> dict[str, bytes]:
    from tileir_diff.port.check import python_dumps
    from tileir_diff.port.launch import side_launch
    from tileir_diff.port.table import read_table

    path, colon, wanted = spec.partition(".toml:")
    path = f"{path}.toml" if colon else spec
    rows = [each for each in read_table(path) if not colon or each.name == wanted]
    if not rows:
        raise InputError(f"no configuration is called '{wanted}'", path)
    files: dict[str, bytes] = {}
    for row, made in zip(rows, python_dumps(rows), strict=True):
        if isinstance(made, InputError):
            raise made
        dumped, arguments = made
        grid = row.grid or tuple(dumped.specialised.get("grid", ()))
        if len(grid) != 3:
            raise InputError(f"'{row.name}' has no grid", path)
        side = side_launch(dumped, arguments, grid)
        if "args" not in side:
            raise InputError(f"'{row.name}': not all values of its parameters are known", path)
        facts = Reference(
            name=_name(row.name),
            entry=side["entry"],
            arch=row.arch,
            grid=list(grid),
            arguments=side["args"],
            arrays=_arrays(dumped, arguments),
            constants={
                each.name: each.value
                for each in arguments
                if each.kind == "constant"
                and isinstance(each.value, int)
                and not isinstance(each.value, bool)
            },
            made_by={"kernel": row.call or row.kernel, "front_end": str(dumped.specialised["front_end"])},
        )
        files |= _files(facts, dumped.text)
    return files


def _arrays(dumped: Dumped, arguments: Sequence[Argument]) -> dict[str, Array]:
    from tileir_diff.port.launch import array_name

    passed = {each["name"] for each in dumped.specialised["arguments"]}
    return {
        array_name(each): Array(
            dtype=each.dtype, shape=list(each.shape), strides=list(each.strides), align=each.align
        )
        for each in arguments
        if each.kind == "array" and each.name in passed
    }


def _files(facts: Reference, text: str) -> dict[str, bytes]:
    place = f"reference/{facts.name}"
    return {f"{place}.mlir": text.encode(), f"{place}.json": facts.to_json().encode()}


def _name(text: str) -> str:
    name = re.sub(r"[^\w.-]+", "_", text).strip("_.-")
    return name if re.match(r"[A-Za-z_]", name) else f"v_{name}"
