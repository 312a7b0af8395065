"""Dumps both sides of each configuration, each crate built once, and compares them."""

from __future__ import annotations

import hashlib
import json
import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from tileir_diff.dump.like import Argument, parse_likes
from tileir_diff.dump.model import Dumped, check_architecture
from tileir_diff.dump.python import Wanted as WantedPython
from tileir_diff.dump.python import dump_call, dump_kernels
from tileir_diff.dump.rust import Exporter
from tileir_diff.dump.rust import Wanted as WantedRust
from tileir_diff.errors import InputError
from tileir_diff.port.launch import launch_of
from tileir_diff.toolchain.cache import cache_folder

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tileir_diff.port.table import Configuration

Made = tuple[Dumped, list[Argument]]
NO_DUMP: Final[Made] = (Dumped(b"", "", {"arguments": []}), [])
"""Of a reference that is there."""


class Pair(NamedTuple):
    """Both dumps of a configuration, as files, with the launch; or why there are none."""

    configuration: Configuration
    reference: str
    generated: str
    launch: str | None
    error: InputError | None


def dump_pairs(configurations: Sequence[Configuration], folder: str) -> Iterator[Pair]:
    """Dumps all, into a folder for each configuration. Raises InputError where nothing can be written."""
    references = python_dumps(configurations)
    generated = _rust(configurations, references)
    for each, left, right in zip(configurations, references, generated, strict=True):
        place = Path(folder, _file_name(each.name))
        reference = each.reference or str(place / "python.mlir")
        pair = Pair(each, reference, str(place / "rust.mlir"), each.launch, None)
        try:
            if isinstance(left, InputError):
                raise left
            if isinstance(right, InputError):
                raise right
            yield _written(pair, left, right, place)
        except InputError as error:
            yield pair._replace(error=error)


def user_folder(path: str) -> str:
    """Where the dumps of a table are kept, for whoever looks up the lines that a report names."""
    key = hashlib.sha256(os.path.abspath(path).encode()).hexdigest()[:16]
    return str(cache_folder("port-check") / key)


def _written(pair: Pair, left: Made, right: Made, place: Path) -> Pair:
    sides = [("python", left[0]), ("rust", right[0])][bool(pair.configuration.reference) :]
    grid = pair.configuration.grid or _recorded_grid(left[0])
    launch = launch_of(left, right, grid) if grid is not None and pair.launch is None else None
    try:
        place.mkdir(parents=True, exist_ok=True)
        for name, made in sides:
            (place / f"{name}.mlir").write_text(made.text, "utf-8")
            (place / f"{name}.tirbc").write_bytes(made.bytecode)
            (place / f"{name}.json").write_text(json.dumps(made.specialised, indent=1) + "\n", "utf-8")
        if launch is None:
            return pair
        (place / "launch.json").write_text(json.dumps(launch) + "\n", "utf-8")
    except OSError as error:
        raise InputError(f"cannot write: {error.strerror}", str(place)) from None
    return pair._replace(launch=str(place / "launch.json"))


def python_dumps(configurations: Sequence[Configuration]) -> list[Made | InputError]:
    """The reference of each: kernels that are described by one process, calls by one each."""
    made: list[Made | InputError] = [InputError("not dumped", each.name) for each in configurations]
    wanted: list[tuple[int, WantedPython]] = []
    for index, each in enumerate(configurations):
        try:
            check_architecture(each.arch)
            if each.reference:
                made[index] = NO_DUMP
            elif each.call:
                made[index] = _called(each)
            else:
                shared = parse_likes(each.like)
                own = parse_likes(each.python_like, shared)
                arguments = list({given.name: given for given in (*shared, *own)}.values())
                wanted.append((index, WantedPython(each.kernel, arguments, each.arch, spare=True)))
        except InputError as error:
            made[index] = error
    try:
        dumps = dump_kernels([each for _, each in wanted]) if wanted else []
    except InputError as error:
        dumps = [error] * len(wanted)
    for (index, each), dumped in zip(wanted, dumps, strict=True):
        made[index] = dumped if isinstance(dumped, InputError) else (dumped, list(each.arguments))
    return made


def _called(configuration: Configuration) -> Made:
    """The one launch of a call, or the one of the kernel that is named."""
    launches = dump_call(configuration.call, configuration.arch, processors=configuration.processors)
    name = configuration.kernel.rpartition(":")[2]
    names = [each.specialised["kernel"].rpartition(":")[2] for each in launches]
    chosen = [each for each, its in zip(launches, names, strict=True) if not name or its == name]
    if len(chosen) != 1:
        raise InputError(f"which launch? python.kernel names one of {', '.join(names)}", configuration.call)
    return chosen[0], recorded_arguments(chosen[0].specialised["arguments"])


def recorded_arguments(told: list[dict[str, Any]]) -> list[Argument]:
    """The arguments of a launch that was recorded; one memory is one array, whatever its parameters."""
    first: dict[tuple[int, int], str] = {}
    found: list[Argument] = []
    for each in told:
        name = each["name"]
        if each["kind"] != "array":
            found.append(Argument(name, each["kind"], each.get("dtype", ""), value=each.get("value")))
            continue
        same = first.setdefault((each["memory"], each["offset"]), name)
        shape, strides = tuple(each["shape"]), tuple(each["strides"])
        itself = "" if same == name else same
        found.append(Argument(name, "array", each["dtype"], shape, strides, each["align"], same=itself))
    return found


def _recorded_grid(made: Dumped) -> tuple[int, int, int] | None:
    sizes = made.specialised.get("grid")
    return (sizes[0], sizes[1], sizes[2]) if sizes else None


def _rust(
    configurations: Sequence[Configuration], references: Sequence[Made | InputError]
) -> list[Made | InputError]:
    """The port of each: one build and one process for each crate."""
    made: list[Made | InputError] = [InputError("not dumped", each.name) for each in configurations]
    for crate in dict.fromkeys(each.crate for each in configurations):
        own = [index for index, each in enumerate(configurations) if each.crate == crate]
        try:
            exporter = Exporter(crate)
        except InputError as error:
            for index in own:
                made[index] = error
            continue
        wanted: list[tuple[int, WantedRust]] = []
        for index in own:
            try:
                wanted.append((index, _wanted(configurations[index], references[index], exporter)))
            except InputError as error:
                made[index] = error
        dumps = exporter.dump([each for _, each in wanted])
        for (index, each), dumped in zip(wanted, dumps, strict=True):
            made[index] = dumped if isinstance(dumped, InputError) else (dumped, list(each.arguments))
    return made


def _wanted(configuration: Configuration, reference: Made | InputError, exporter: Exporter) -> WantedRust:
    """The likes of both sides that the entry has parameters for, and its own, which may name Python's."""
    entry = exporter.entry(configuration.entry)
    names = {each.name for each in (*entry.generics, *entry.parameters)}
    known = [] if isinstance(reference, InputError) else reference[1]
    shared = parse_likes(configuration.like)
    own = parse_likes(configuration.rust_like, [*shared, *known])
    taken = {each.name: each for each in shared if each.name in names}
    if not isinstance(reference, InputError):
        used = {each["name"] for each in reference[0].specialised["arguments"]}
        unused = [each.name for each in shared if each.name not in names | used]
        if unused:
            raise InputError(f"neither kernel has a parameter {unused[0]}", configuration.name)
    if configuration.call:
        taken |= {each.name: each for each in known if each.name in names}
    arguments = list((taken | {each.name: each for each in own}).values())
    grid = configuration.const_grid
    return WantedRust(entry.path, arguments, configuration.arch, configuration.options, grid)


def _file_name(name: str) -> str:
    return re.sub(r"[^\w.-]+", "_", name)
