"""Torch tensors as the library sees them."""

from __future__ import annotations

from typing import Any, Final

import torch

from tileir_kernels.library import ffi, is_recording

DTYPES: Final = {torch.float32: 0, torch.float16: 1, torch.bfloat16: 2}
MAX_RANK: Final = 8


class Hints:
    """Hints of one launch to the assembler, instead of the kernel's own."""

    def __init__(self, occupancy: int = 0, num_ctas: int = 0, num_worker_warps: int = 0) -> None:
        self.c = ffi.new("LaunchHints *", (occupancy, num_ctas, num_worker_warps))


class Tiling:
    """How a product of matrices is cut into tiles; 0: the operator's own."""

    def __init__(self, m: int = 0, n: int = 0, k: int = 0, group: int = 0, latency: int = 0) -> None:
        self.c = ffi.new("Tiling *", (m, n, k, group, latency))


def describe(name: str, tensor: Any) -> Any:
    """The descriptor of a tensor. Raises what `check` raises."""
    check(name, tensor)
    descriptor = ffi.new("TensorDesc *")
    descriptor.ptr = tensor.data_ptr()
    descriptor.ndim = rank = tensor.dim()
    descriptor.dtype = DTYPES[tensor.dtype]
    shape, strides = descriptor.shape, descriptor.strides
    extents, steps = tensor.shape, tensor.stride()
    for axis in range(rank):
        shape[axis] = extents[axis]
        strides[axis] = steps[axis]
    return descriptor


def check(name: str, tensor: Any) -> None:
    """Raises TypeError or ValueError, with the argument's name, for what no operator takes."""
    if not isinstance(tensor, torch.Tensor):
        raise TypeError(f"{name}: a torch.Tensor is needed, not {type(tensor).__name__}")
    if tensor.dtype not in DTYPES:
        raise TypeError(f"{name}: dtype must be float32, float16 or bfloat16, not {tensor.dtype}")
    if tensor.dim() > MAX_RANK:
        raise ValueError(f"{name}: {tensor.dim()} dimensions; at most {MAX_RANK} are supported")
    if not (tensor.is_cuda or is_recording()):
        raise ValueError(f"{name}: a tensor on a CUDA device is needed, not on {tensor.device}")
    if tensor.requires_grad and torch.is_grad_enabled():
        raise ValueError(f"{name}: requires a gradient, and these operators have none: detach it")


def same_device(name: str, tensor: torch.Tensor, first: str, other: torch.Tensor) -> None:
    if tensor.device != other.device:
        raise ValueError(f"{name}: on {tensor.device}, but {first} is on {other.device}")


def place(tensor: torch.Tensor) -> tuple[int, Any]:
    """The device and stream for a launch on this tensor."""
    if not tensor.is_cuda:
        return 0, ffi.NULL
    index = tensor.device.index
    return index, ffi.cast("void *", torch.cuda.current_stream(index).cuda_stream)
