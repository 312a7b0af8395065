"""One call of the library. All that a call costs the host is here, so it asks torch for as little as it can.

What of a tensor can differ from call to call is looked at in each: its type, shape, strides, address and
device, whether it has gradients, whether its memory holds the negated numbers. What follows from type, shape
and strides is remembered.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import torch
from torch import Tensor, is_grad_enabled

from tileir_kernels.library import check, ffi, library, recording_state
from tileir_kernels.tensors import LAYOUTS, Hints, check_all, checked, new_layout

if TYPE_CHECKING:
    from collections.abc import Callable

    from tileir_kernels.tensors import Given, Layout

MAX_STREAMS: Final = 1024
NULL: Final[Any] = ffi.NULL


def _current_stream(device: int) -> int:
    return torch.cuda.current_stream(device).cuda_stream


# The same without an object for the stream, where this torch has it.
_stream_of: Callable[[int], int] = getattr(torch._C, "_cuda_getCurrentRawStream", _current_stream)  # pyright: ignore[reportPrivateUsage]
_streams: dict[int, Any] = {}


def call(entry: str, arguments: tuple[Given, ...], *options: Any, hints: Hints | None = None) -> None:
    """Enqueues on torch's current stream. Raises what `check` of tensors does, or what a status means."""
    recording = recording_state.library
    device = arguments[0][1].get_device()
    if recording is None and not arguments[0][1].is_cuda:
        check_all(arguments)
    taken: list[tuple[Layout, Any]] = []
    for given in arguments:
        _, tensor, form = given
        if (
            not isinstance(tensor, Tensor)
            or tensor.get_device() != device
            or (tensor.requires_grad and is_grad_enabled())
            or tensor.is_neg()
        ):
            check_all(arguments)
        try:
            key = tensor.dtype, tensor.shape, tensor.stride(), form
        except RuntimeError:  # one that is not stored by strides has none
            check_all(arguments)
            raise
        layout = LAYOUTS.get(key)
        if layout is None:
            layout = new_layout(given, arguments)
        try:
            descriptor = layout.free.pop()
        except IndexError:
            descriptor = layout.make()
        descriptor.ptr = tensor.data_ptr()
        taken.append((layout, descriptor))
    loaded = library() if recording is None else recording
    status = getattr(loaded, entry)(
        *[descriptor for _, descriptor in taken],
        *options,
        NULL if hints is None else checked("hints", hints, Hints).c,
        max(device, 0),
        NULL if device < 0 else _stream(device),
    )
    for layout, descriptor in taken:
        layout.free.append(descriptor)
    if status:
        check(loaded, status)


def _stream(device: int) -> Any:
    """torch's current stream of a device, for the library."""
    handle = _stream_of(device)
    stream = _streams.get(handle)
    if stream is None:
        if len(_streams) >= MAX_STREAMS:
            _streams.clear()
        stream = _streams[handle] = ffi.cast("void *", handle)
    return stream
