"""Arrays and numbers as the command takes them: files, sizes, values by parameter name."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, Any, Final

from tileir_diff.dialect.types import Ptr, Tile
from tileir_diff.equivalence.backend import torch
from tileir_diff.equivalence.dtypes import bits, dtype
from tileir_diff.equivalence.host import Empty, Shifted
from tileir_diff.equivalence.parameters import assignments, parameter_names
from tileir_diff.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from tileir_diff.dialect.ir import TileOp

MADE: Final = re.compile(r"(zeros|ones|empty|random):(\d+(?:x\d+)*)")
"""An array that is made up: `zeros:128x64`."""
SEED: Final = 0
ALIGNED: Final = 256
"""Addresses at which arrays begin are multiples of it, but for an offset that is asked for."""


def read_arguments(
    entry: TileOp, options: Iterable[str], scalars: Sequence[Any | None] | None = None
) -> list[Any]:
    """Values of the parameters in order, from `NAME=VALUE` (a file, a made-up array, a number, `null`).

    `scalars` are values known otherwise, None where there is none.

    Raises InputError for a name or value that makes no sense, and for a parameter without one.
    """
    parameters = tuple(entry.regions[0].block.args)
    names = parameter_names(entry)
    given: list[Any] = list(scalars) if scalars is not None else [None] * len(names)
    for index, text in assignments(entry, options, scalars).items():
        given[index] = _value(parameters[index].type, names[index], text, index)
    return given


def _value(kind: Any, name: str, text: str, index: int) -> Any:
    if not isinstance(kind, Tile):
        raise InputError(f"{name} is a {kind}: only tiles can be passed", "--arg")
    if isinstance(kind.element, Ptr):
        return _array(name, kind.element.pointee.name, text, index)
    if text in ("true", "false"):
        return text == "true"
    for read in (lambda: int(text, 0), lambda: float(text)):
        try:
            return read()
        except ValueError:
            continue
    raise InputError(f"{name} is a {kind.element}: '{text}' is no number", "--arg")


def _array(name: str, pointee: str, text: str, index: int) -> Any:
    if text == "null":
        return None
    made = MADE.fullmatch(text)
    if made is not None and not os.path.exists(text):
        try:
            return _made(pointee, made[1], [int(each) for each in made[2].split("x")], index)
        except (RuntimeError, MemoryError):  # torch has no type of its own for this
            raise InputError(f"no memory for {text}", f"--arg {name}") from None
    path, at, offset = text.rpartition("@")
    if at and offset.isdecimal() and not os.path.exists(text):
        if int(offset) >= ALIGNED:
            raise InputError(f"{text}: an offset is below {ALIGNED} bytes", f"--arg {name}")
        return Shifted(read_array(path, name), int(offset))
    return read_array(text, name)


def _made(pointee: str, how: str, shape: list[int], index: int) -> Any:
    """An array of the pointee's type: all equal, or the same random numbers each time."""
    if bits(pointee) < 8:
        shape = [*shape[:-1], -(-shape[-1] * max(bits(pointee), 4) // 8)] if pointee != "i1" else shape
    wanted = dtype(pointee)
    if how == "ones":
        return torch.ones(shape, dtype=wanted)
    if how == "random":
        generator = torch.Generator().manual_seed(SEED + index)
        if wanted.is_floating_point:
            return torch.randn(shape, generator=generator, dtype=torch.float32).to(wanted)
        top = 2 if wanted == torch.bool else 4
        return torch.randint(0, top, shape, generator=generator).to(wanted)
    array = torch.zeros(shape, dtype=wanted)
    return Empty(array) if how == "empty" else array


def read_array(path: str, name: str) -> Any:
    """A numpy array that can be written. Raises InputError for a file that is none."""
    import numpy as np

    try:
        array: Any = np.load(path, allow_pickle=False)
    except OSError as error:
        raise InputError(f"cannot read: {error.strerror or error}", path) from None
    except (ValueError, EOFError):
        raise InputError(f"no array for {name} in it; pass a file that np.save wrote", path) from None
    except MemoryError:
        raise InputError(f"no memory for {name}", path) from None
    if not hasattr(array, "__array_interface__"):
        raise InputError(f"no single array for {name} in it; pass a file that np.save wrote", path)
    return array


def write_array(folder: str, name: str, value: Any) -> str:
    """Writes one array as NAME.npy, complete or not at all; returns its path. Raises InputError."""
    import numpy as np

    array: Any = value.array if isinstance(value, (Empty, Shifted)) else value
    if isinstance(array, torch.Tensor):
        array = array.view(torch.int16) if array.dtype == torch.bfloat16 else array
        array = array.numpy()
    path = os.path.join(folder, f"{name}.npy")
    beside = f"{path}.{os.getpid()}.tmp"
    try:
        os.makedirs(folder, exist_ok=True)
        with open(beside, "wb") as file:
            np.save(file, array, allow_pickle=False)
        os.replace(beside, path)
    except OSError as error:
        if os.path.exists(beside):
            os.unlink(beside)
        raise InputError(f"cannot write: {error.strerror}", path) from None
    return path
