"""These operators as a backend of TileGym: `register()`, then `tilegym.set_backend("tileir")`."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any, Final

import torch
from tilegym.backend import get_available_backends, register_impl
from torch import nn

from tileir_kernels import ops
from tileir_kernels.tensors import Tiling

if TYPE_CHECKING:
    from collections.abc import Callable

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
        "layer_norm": layer_norm,
        "layer_norm_legacy": layer_norm_legacy,
        "persistent_layer_norm": persistent_layer_norm,
        "apply_rope_base": apply_rope_base,
        "get_apply_rope_func": get_apply_rope_func,
        "splitk_reduce": splitk_reduce,
        "matmul": matmul,
        "bmm": bmm,
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
        waves = 2 * _multiprocessors(x.get_device())
        mode = "static_persistent" if x.numel() // x.shape[-1] > waves else "multi_wave_reload"
    variants = {
        "static_persistent": "persistent", "multi_wave_reload": "reload", "multi_wave_cached": "cached",
    }  # fmt: skip
    if mode not in variants:
        raise NotImplementedError(f"mode: {mode} is not one of {', '.join(variants)}")
    return ops.rms_norm(x, weight.contiguous(), eps, offset, variant=variants[mode])


@functools.cache
def _multiprocessors(device: int) -> int:
    return torch.cuda.get_device_properties(device).multi_processor_count


def layer_norm(
    x: torch.Tensor,
    start_dim: int,
    end_dim: int,
    weight: torch.Tensor,
    bias: torch.Tensor,
    eps: float,
    weight_shift: float = 0.0,
    **_: Any,
) -> torch.Tensor:
    weight, bias = weight.contiguous(), bias.contiguous()
    return ops.layer_norm(x.contiguous(), weight, bias, eps, weight_shift, start=start_dim, end=end_dim)


def layer_norm_legacy(
    input: torch.Tensor,  # noqa: A002
    normalized_shape: Any,
    weight: torch.Tensor,
    bias: torch.Tensor,
    eps: float,
    weight_shift: float = 0.0,
    **_: Any,
) -> torch.Tensor:
    return ops.layer_norm_legacy(
        input.contiguous(), weight.contiguous(), bias.contiguous(), eps, weight_shift
    )


def persistent_layer_norm(
    input: torch.Tensor,  # noqa: A002
    normalized_shape: Any,
    weight: torch.Tensor,
    bias: torch.Tensor,
    eps: float,
    mean: torch.Tensor | None = None,
    rstd: torch.Tensor | None = None,
    **_: Any,
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor, int, int]:
    """Also what TileGym's returns beside: the extent of a tile of columns, and a number of warps."""
    result = ops.persistent_layer_norm(
        input.contiguous(), weight.contiguous(), bias.contiguous(), eps, mean=mean, rstd=rstd
    )
    return *result, 1 << (input.shape[-1] - 1).bit_length(), 8


def apply_rope_base(
    q: torch.Tensor,
    k: torch.Tensor,
    cos: torch.Tensor,
    sin: torch.Tensor,
    position_ids: Any = None,
    unsqueeze_dim: int = 1,
    partial_rotary_factor: float = 1.0,
) -> tuple[torch.Tensor, torch.Tensor]:
    """In place. `position_ids`, `unsqueeze_dim`: as unused as they are in TileGym."""
    rotated = int(q.shape[-1] * partial_rotary_factor) if partial_rotary_factor < 1 else None
    if rotated is not None and cos.shape[-1] != rotated:
        raise ValueError(f"cos: {cos.shape[-1]} angles, but {rotated} elements are to be rotated")
    return ops.rope(q, k, cos, sin, rotated)


def get_apply_rope_func(model: str = "llama") -> Callable[..., tuple[torch.Tensor, torch.Tensor]]:
    """How a model rotates: which part of a head, and where the elements of a pair lie."""
    if model in ("llama", "qwen2", "gemma3", "gpt-oss"):
        return apply_rope_base
    if model == "qwen3_5":
        return lambda q, k, cos, sin, position_ids=None, unsqueeze_dim=1: apply_rope_base(
            q, k, cos, sin, partial_rotary_factor=0.25
        )
    if model == "deepseek":
        return lambda q, k, freqs_cis: ops.rope(_halves(q), _halves(k), freqs_cis.real, freqs_cis.imag)
    raise ValueError(f"model: {model} is none that is known")


def _halves(x: torch.Tensor) -> torch.Tensor:
    """Pairs that lie beside each other, with their elements in two halves: new memory."""
    return x.unflatten(-1, (-1, 2)).transpose(-1, -2).flatten(-2)


def splitk_reduce(
    attn_splitk_out: torch.Tensor,
    lse_splitk_out: torch.Tensor,
    attn_out: torch.Tensor,
    S_kv: int,  # noqa: N803
    **_: Any,
) -> torch.Tensor:
    """`S_kv`: as unused as it is in TileGym."""
    return ops.splitk_reduce(attn_splitk_out, lse_splitk_out, attn_out)


def matmul(
    a: torch.Tensor,
    b: torch.Tensor,
    trans_a: bool = False,
    trans_b: bool = False,
    static_persistent: bool | None = None,
    use_tma: bool = False,
    **_: Any,
) -> torch.Tensor:
    """With one fixed tiling, where TileGym searches. `use_tma`: as unused as it is there."""
    variant = "persistent" if static_persistent else "plain"
    return ops.matmul(_adjacent(a), _adjacent(b), trans_a, trans_b, variant=variant)


def bmm(
    a: torch.Tensor,
    b: torch.Tensor,
    transpose_a: bool = False,
    transpose_b: bool = False,
    static_persistent: bool = True,
    **options: Any,
) -> torch.Tensor:
    """`kernel_configs`: the tiling of the plain form; that of the persistent one is fixed."""
    if static_persistent:
        return ops.bmm(_adjacent(a), _adjacent(b), transpose_a, transpose_b)
    given = options.get("kernel_configs") or {}
    tiling = Tiling(*(given.get(name, 0) for name in ("TILE_M", "TILE_N", "TILE_K")))
    return ops.bmm(_adjacent(a), _adjacent(b), transpose_a, transpose_b, variant="plain", tiling=tiling)


def _adjacent(tensor: torch.Tensor) -> torch.Tensor:
    """The same, with the elements of a row beside each other."""
    # what costs least is asked first
    return tensor if tensor.is_contiguous() or tensor.stride(-1) == 1 else tensor.contiguous()


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
