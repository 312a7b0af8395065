"""Torch tensors as the library sees them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import torch

from tileir_kernels.library import ffi, is_recording
from tileir_kernels.options import whole

if TYPE_CHECKING:
    from collections.abc import Iterable

DTYPES: Final = {torch.float32: 0, torch.float16: 1, torch.bfloat16: 2}
MAX_RANK: Final = 8
MAX_LAYOUTS: Final = 4096
"""Layouts that are remembered at a time."""
OUTPUTS: Final = frozenset({"out", "mean", "rstd"})
"""Arguments whose type or device mostly follows from another's, which is the one to blame."""

ROWS: Final = "rows"
Form = tuple[int, ...] | str | None
"""As what a call takes a tensor: of another shape, as the rows of a matrix, or as it is."""
Given = tuple[str, Any, Form]
"""An argument: its name, the tensor, and as what it is taken."""


class Hints:
    """Hints of one launch to the assembler, instead of the kernel's own."""

    def __init__(self, occupancy: int = 0, num_ctas: int = 0, num_worker_warps: int = 0) -> None:
        numbers = (("occupancy", occupancy), ("num_ctas", num_ctas), ("num_worker_warps", num_worker_warps))
        self.c = ffi.new("LaunchHints *", tuple(whole(name, given) for name, given in numbers))


class Tiling:
    """How a product of matrices is cut into tiles; 0: the operator's own."""

    def __init__(self, m: int = 0, n: int = 0, k: int = 0, group: int = 0, latency: int = 0) -> None:
        numbers = (("m", m), ("n", n), ("k", k), ("group", group), ("latency", latency))
        self.c = ffi.new("Tiling *", tuple(whole(name, given) for name, given in numbers))


class Layout:
    """The descriptors of tensors of one type, shape and strides: only the address differs.

    `free`: those that no call has. A call takes one out and gives it back, so two calls never share one,
    whatever the threads.
    """

    __slots__ = ("fields", "free")

    def __init__(self, tensor: torch.Tensor) -> None:
        self.fields: dict[str, Any] = {
            "ndim": tensor.dim(),
            "shape": tuple(tensor.shape),
            "strides": tuple(tensor.stride()),
            "dtype": DTYPES[tensor.dtype],
        }
        self.free: list[Any] = []

    def make(self) -> Any:
        return ffi.new("TensorDesc *", self.fields)


LAYOUTS: Final[dict[tuple[Any, ...], Layout]] = {}
"""By type, shape, strides and form, of tensors that were checked."""


def new_layout(given: Given, arguments: Iterable[Given]) -> Layout:
    """The layout of one argument of a call, for the next calls too. Raises what `check` raises."""
    check_all(arguments)
    name, tensor, form = given
    layout = Layout(formed(name, tensor, form))
    if len(LAYOUTS) >= MAX_LAYOUTS:
        LAYOUTS.clear()
    LAYOUTS[tensor.dtype, tensor.shape, tensor.stride(), form] = layout
    return layout


def formed(name: str, tensor: torch.Tensor, form: Form) -> torch.Tensor:
    """The same memory as what a call takes it for. Raises ValueError where its strides forbid that."""
    if form is None:
        return tensor
    try:
        if isinstance(form, str):
            return tensor if tensor.dim() == 2 else tensor.view(-1, tensor.shape[-1] if tensor.dim() else 1)
        return tensor.view(form)
    except RuntimeError:
        told = "its rows are not evenly spaced" if form == ROWS else "its elements must be adjacent"
        raise ValueError(f"{name}: {told}, its strides are {tensor.stride()}") from None


def describe(name: str, tensor: Any) -> Any:
    """The descriptor of a tensor. Raises what `check` raises."""
    check(name, tensor)
    descriptor = Layout(tensor).make()
    descriptor.ptr = tensor.data_ptr()
    return descriptor


def check(name: str, tensor: Any) -> None:
    """Raises TypeError or ValueError, with the argument's name, for what no operator takes."""
    check_is_tensor(name, tensor)
    if tensor.dtype not in DTYPES:
        raise TypeError(f"{name}: dtype must be float32, float16 or bfloat16, not {tensor.dtype}")
    if tensor.dim() > MAX_RANK:
        raise ValueError(f"{name}: {tensor.dim()} dimensions; at most {MAX_RANK} are supported")
    if not (tensor.is_cuda or is_recording()):
        raise ValueError(
            f"{name}: a tensor on a CUDA device is needed, not on {tensor.device}; without a GPU, "
            "`tileir_kernels.recording` writes down what a call would launch"
        )
    if tensor.requires_grad and torch.is_grad_enabled():
        raise ValueError(f"{name}: requires a gradient, and these operators have none: detach it")
    if tensor.is_neg():
        raise ValueError(f"{name}: its memory holds the negated numbers: resolve_neg() makes others")


def check_is_tensor(name: str, given: Any) -> None:
    if not isinstance(given, torch.Tensor):
        raise TypeError(f"{name}: a torch.Tensor is needed, not {type(given).__name__}")
    if given.layout is not torch.strided or given.is_nested:
        told = "nested tensors" if given.is_nested else given.layout
        raise ValueError(f"{name}: its elements must be stored by strides, not as {told}")


def checked(name: str, given: Any, kind: type) -> Any:
    """What is given for an option. Raises TypeError where it is not of that kind."""
    if not isinstance(given, kind):
        raise TypeError(f"{name}: a {kind.__name__} is needed, not {type(given).__name__}")
    return given


def check_all(arguments: Iterable[Given]) -> None:
    """All arguments of a call, and that they are on one device. Outputs come last."""
    ordered = sorted(arguments, key=lambda given: given[0] in OUTPUTS)
    for name, tensor, _ in ordered:
        check(name, tensor)
    first, other, _ = ordered[0]
    for name, tensor, _ in ordered:
        if tensor.device != other.device:
            raise ValueError(f"{name}: on {tensor.device}, but {first} is on {other.device}")
