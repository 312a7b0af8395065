"""What the caller passes: arrays as memory, numbers as tiles without dimensions.

Arrays are not copied: a run changes them. Arrays that overlap become one buffer.
"""

from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from tileir_diff.dialect.scalars import INTEGER_BITS
from tileir_diff.dialect.types import Ptr, Tile
from tileir_diff.equivalence.backend import Tensor, torch
from tileir_diff.equivalence.dtypes import bits, dtype
from tileir_diff.equivalence.rounding import to_format
from tileir_diff.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from xdsl.ir import SSAValue

    from tileir_diff.equivalence.memory import Memory


class Empty(NamedTuple):
    """An array whose content means nothing: reading it before it is written is a finding.

    `array` is the tensor or numpy array to run on.
    """

    array: Any


class Shifted(NamedTuple):
    """An array that begins so many bytes past a multiple of 256; others begin at one."""

    array: Any
    offset: int


class _Span(NamedTuple):
    """The memory of one array: first byte, the one after the last, an object that keeps it alive."""

    parameter: int
    name: str
    start: int
    end: int
    array: Any
    empty: bool
    offset: int


def bind(
    memory: Memory, parameters: Sequence[SSAValue], args: Sequence[Any], path: str
) -> tuple[list[Tensor], list[int]]:
    """Values of the parameters, shaped (1,), and the positions of those that are arrays.

    Raises InputError for a value that does not go with its parameter.
    """
    if len(parameters) != len(args):
        raise InputError(f"the kernel has {len(parameters)} parameters, {len(args)} values were given", path)
    values: list[Tensor | None] = [None] * len(args)
    spans: list[_Span] = []
    for index, (parameter, value) in enumerate(zip(parameters, args, strict=True)):
        kind = parameter.type
        if not isinstance(kind, Tile):
            raise InputError(
                f"parameter {_name(parameter, index)} is a {kind}: only tiles can be passed", path
            )
        if isinstance(kind.element, Ptr):
            span = _span(parameter, index, kind.element.pointee.name, value, path)
            if span is None:
                values[index] = torch.zeros(1, dtype=torch.int64)
            else:
                spans.append(span)
        else:
            values[index] = _scalar(parameter, index, kind.element.name, value, path)
    for span, address in _buffers(memory, spans):
        values[span.parameter] = torch.tensor([address], dtype=torch.int64)
    return [value for value in values if value is not None], [span.parameter for span in spans]


def _name(parameter: SSAValue, index: int) -> str:
    return f"%{parameter.name_hint}" if parameter.name_hint else f"number {index}"


def _buffers(memory: Memory, spans: list[_Span]) -> list[tuple[_Span, int]]:
    """One buffer for each group of arrays that overlap; returns the address of each array."""
    placed: list[tuple[_Span, int]] = []
    group: list[_Span] = []
    groups: list[list[_Span]] = []
    end = -1
    for span in sorted(spans, key=lambda each: (each.start, each.end)):
        if group and span.start < end:
            group.append(span)
        else:
            group = [span]
            groups.append(group)
            end = -1
        end = max(end, span.end)
    for group in sorted(groups, key=lambda each: min(span.parameter for span in each)):
        start, end = min(each.start for each in group), max(each.end for each in group)
        name = " and ".join(each.name for each in sorted(group))
        buffer = memory.add(name, _bytes(start, end - start, [each.array for each in group]))
        buffer.base += min(group).offset
        if all(each.empty for each in group):
            buffer.written = torch.zeros(end - start, dtype=torch.bool)
        placed += [(each, buffer.base + each.start - start) for each in group]
    return placed


def _bytes(start: int, size: int, owners: list[Any]) -> Tensor:
    """Memory at an address as a tensor of bytes."""
    if size == 0:
        return torch.zeros(0, dtype=torch.uint8)
    array = (ctypes.c_uint8 * size).from_address(start)
    array._owners = owners  # pyright: ignore  (the memory must outlive the tensor)
    return torch.frombuffer(array, dtype=torch.uint8)


def _span(parameter: SSAValue, index: int, pointee: str, value: Any, path: str) -> _Span | None:
    """The memory of an array; None for a null pointer."""
    name = _name(parameter, index)
    offset = 0
    if isinstance(value, Shifted):
        value, offset = value
    empty = isinstance(value, Empty)
    if empty:
        value = value.array
    if value is None:
        return None
    if isinstance(value, torch.Tensor):
        start, shape, strides, size = _tensor_layout(value, name, path)
        kind = _tensor_kind(value)
    elif hasattr(value, "__array_interface__"):
        start, shape, strides, size = _array_layout(value, name, path)
        kind = NUMPY_KINDS.get(value.__array_interface__["typestr"][1], "other")
    else:
        raise InputError(f"{name} is a pointer: pass an array, not {type(value).__name__}", path)
    expected = max(1, bits(pointee) // 8)
    if size not in (expected, 1):
        raise InputError(
            f"{name} points to {pointee}, of {expected} bytes; the array's elements have {size}", path
        )
    if size > 1 and kind not in _kinds(pointee):
        raise InputError(
            f"{name} points to {pointee}; the array's elements are {value.dtype}: "
            "convert them, or pass the array's bytes",
            path,
        )
    if 0 in shape:
        return _Span(index, name, start, start, value, empty, offset)
    last = sum((extent - 1) * stride for extent, stride in zip(shape, strides, strict=True))
    if any(stride < 0 for stride in strides):
        raise InputError(f"{name}: an array with a negative stride cannot be passed", path)
    return _Span(index, name, start, start + last + size, value, empty, offset)


NUMPY_KINDS: Final = {"f": "float", "i": "integer", "u": "integer", "V": "bf16"}
"""By numpy's letter what elements are; it has no bf16, others add that as opaque bytes."""


def _tensor_kind(value: Any) -> str:
    if value.dtype == torch.bfloat16:
        return "bf16"
    if value.is_complex():
        return "other"
    return "float" if value.is_floating_point() else "integer"


def _kinds(pointee: str) -> tuple[str, ...]:
    """What elements of several bytes may be in an array that is passed for a type."""
    if pointee in INTEGER_BITS:
        return ("integer",)
    return ("bf16", "integer") if pointee == "bf16" else ("float",)


def _tensor_layout(value: Any, name: str, path: str) -> tuple[int, Any, list[int], int]:
    if value.device.type != "cpu":
        raise InputError(f"{name} is on {value.device}: kernels run on the CPU here, pass `.cpu()`", path)
    if value.layout != torch.strided:
        raise InputError(f"{name} is a sparse tensor: only plain ones can be passed", path)
    size = value.element_size()
    return value.data_ptr(), value.shape, [stride * size for stride in value.stride()], size


def _array_layout(value: Any, name: str, path: str) -> tuple[int, Any, list[int], int]:
    interface = value.__array_interface__
    start, read_only = interface["data"]
    if read_only:
        raise InputError(f"{name} is read-only: a run may change the arrays that it is given", path)
    if interface["typestr"][0] == ">" or interface["typestr"][1] == "O":
        raise InputError(f"{name}: its elements ({value.dtype}) are no plain little-endian ones", path)
    return start, value.shape, list(value.strides), value.itemsize


def _scalar(parameter: SSAValue, index: int, name: str, value: Any, path: str) -> Tensor:
    where = _name(parameter, index)
    if hasattr(value, "item") and getattr(value, "size", 1) in (1, ()):
        value = value.item()
    if isinstance(value, bool) and name in INTEGER_BITS:
        value = int(value)
    if name in INTEGER_BITS:
        return _integer(where, name, value, path)
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return to_format(torch.tensor([float(value)], dtype=torch.float64), name)
    raise InputError(f"{where} is a {name}: pass a number, not {type(value).__name__}", path)


def _integer(where: str, name: str, value: Any, path: str) -> Tensor:
    width = INTEGER_BITS[name]
    if not isinstance(value, int):
        raise InputError(f"{where} is an {name}: pass an integer, not {type(value).__name__}", path)
    if not -(1 << (width - 1)) <= value < 1 << width:
        raise InputError(f"{where}: {value} does not fit {name}", path)
    if name == "i1":
        return torch.tensor([bool(value)])
    signed = value - (1 << width) if value >> (width - 1) > 0 else value
    return torch.tensor([signed], dtype=torch.int64).to(dtype(name))
