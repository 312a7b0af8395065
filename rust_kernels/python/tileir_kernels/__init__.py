"""Tile kernels in cuTile Rust, called from torch.

    import tileir_kernels
    y = tileir_kernels.softmax(x)

`tileir_kernels.backend.register()` makes them a backend of TileGym.
"""

from tileir_kernels.errors import BuildError, KernelError, StaleLibraryWarning
from tileir_kernels.library import recording
from tileir_kernels.ops import (
    bmm,
    dropout,
    geglu,
    gelu,
    layer_norm,
    layer_norm_legacy,
    matmul,
    persistent_layer_norm,
    relu,
    rms_norm,
    rope,
    silu_and_mul,
    softmax,
    splitk_reduce,
    swiglu,
    transpose,
)
from tileir_kernels.tensors import Hints, Tiling

__all__ = [
    "BuildError",
    "Hints",
    "KernelError",
    "StaleLibraryWarning",
    "Tiling",
    "bmm",
    "dropout",
    "geglu",
    "gelu",
    "layer_norm",
    "layer_norm_legacy",
    "matmul",
    "persistent_layer_norm",
    "recording",
    "relu",
    "rms_norm",
    "rope",
    "silu_and_mul",
    "softmax",
    "splitk_reduce",
    "swiglu",
    "transpose",
]
