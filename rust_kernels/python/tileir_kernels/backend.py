"""These operators as a backend of TileGym: `register()`, then `tilegym.set_backend("tileir")`."""

from __future__ import annotations

from typing import Any, Final

import torch
from tilegym.backend import get_available_backends, register_impl
from torch import nn

from tileir_kernels import ops

NAME: Final = "tileir"


def register(name: str = NAME) -> None:
    """Makes TileGym's operators reach ours where this backend is set."""
    implementations = {
        "softmax": softmax,
        "silu_and_mul": silu_and_mul,
        "get_swiglu": lambda: swiglu,
        "get_swiglu_module": lambda: SwiGLUMLP,
        "relu": lambda x: ops.relu(x.contiguous()),
        "gelu": lambda input, approximate="none": ops.gelu(input.contiguous(), approximate),  # noqa: A006
        "geglu": lambda input, dim=-1, approximate="none": ops.geglu(input, dim, approximate),  # noqa: A006
        "dropout": dropout,
        "rms_norm": rms_norm,
        "transpose": lambda inp, out=None, **_: ops.transpose(_adjacent(inp), out),
    }
    for operator, implementation in implementations.items():
        register_impl(operator, backend=name)(implementation)
    get_available_backends().add(name)


def softmax(x: torch.Tensor, use_tma: bool = False, **options: Any) -> torch.Tensor:
    """`use_chunked`, `use_multi_wave`: as TileGym takes them."""
    chosen = {
        "views": use_tma,
        "chunked": options.get("use_chunked"),
        "one_row": options.get("use_multi_wave"),
    }
    variants = [variant for variant, wanted in chosen.items() if wanted]
    if len(variants) > 1:
        raise ValueError(f"one form of softmax can be asked for, not {' and '.join(variants)}")
    return ops.softmax(x.contiguous(), variant=variants[0] if variants else "rows")


def silu_and_mul(input: torch.Tensor, out: torch.Tensor | None = None) -> torch.Tensor:  # noqa: A002
    return ops.silu_and_mul(input.contiguous(), out)


def swiglu(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    return ops.swiglu(a.contiguous(), b.contiguous())


def dropout(
    x: torch.Tensor, seed: int, p: float = 0.5, training: bool = True, inplace: bool = False, **_: Any
) -> torch.Tensor:
    if not training:
        return x
    return ops.dropout(x, seed, p, out=x if inplace else None)


def rms_norm(
    input: torch.Tensor,  # noqa: A002
    normalized_shape: Any,
    weight: torch.Tensor,
    eps: float,
    bias: torch.Tensor | None = None,
    mode: str | None = None,
    offset: float = 0.0,
    **_: Any,
) -> torch.Tensor:
    """`mode`: None chooses by the number of rows, as TileGym does."""
    if bias is not None:
        raise NotImplementedError("bias: RMS norm takes none")
    x = input.contiguous()
    if mode is None:
        waves = 2 * torch.cuda.get_device_properties(x.device).multi_processor_count
        mode = "static_persistent" if x.numel() // x.shape[-1] > waves else "multi_wave_reload"
    variants = {"static_persistent": "persistent", "multi_wave_reload": "reload"}
    if mode not in variants:
        raise NotImplementedError(f"mode: {mode} is not one of {', '.join(variants)}")
    return ops.rms_norm(x, weight.contiguous(), eps, offset, variant=variants[mode])


def _adjacent(tensor: torch.Tensor) -> torch.Tensor:
    """The same, with the elements of a row beside each other."""
    return tensor if tensor.stride(-1) == 1 else tensor.contiguous()


class SwiGLUMLP(nn.Module):
    """down(silu(gate(x)) * up(x))."""

    def __init__(
        self, config: Any, hidden_size: int | None = None, intermediate_size: int | None = None
    ) -> None:
        super().__init__()
        if config.hidden_act not in ("silu", "swish"):
            raise ValueError(f"config: hidden_act {config.hidden_act} is not silu")
        hidden = config.hidden_size if hidden_size is None else hidden_size
        inner = config.intermediate_size if intermediate_size is None else intermediate_size
        self.gate_proj = nn.Linear(hidden, inner, bias=False)
        self.up_proj = nn.Linear(hidden, inner, bias=False)
        self.down_proj = nn.Linear(inner, hidden, bias=False)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.down_proj(swiglu(self.gate_proj(x), self.up_proj(x)))
