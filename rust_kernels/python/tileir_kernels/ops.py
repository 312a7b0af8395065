"""The operators. They return a new tensor, or write the one given as `out`; they copy nothing."""

from __future__ import annotations

import functools
import math
from typing import TYPE_CHECKING

import torch

from tileir_kernels.call import NULL, call
from tileir_kernels.options import any_whole, real, whole
from tileir_kernels.tensors import ROWS, Tiling, check_is_tensor, checked

if TYPE_CHECKING:
    from tileir_kernels.tensors import Given, Hints

VARIANTS: dict[str, int] = {"rows": 0, "views": 1, "chunked": 2, "one_row": 3}
NORM_VARIANTS = {"reload": 0, "persistent": 1, "cached": 2}
PRODUCT_VARIANTS = {"plain": 0, "persistent": 1}
APPROXIMATIONS = {"none": 0, "tanh": 1}
FLAT = (-1,)
GOLDEN_RATIO = 2654435761
"""2^32 divided by it, odd."""


def softmax(
    input: torch.Tensor,  # noqa: A002
    out: torch.Tensor | None = None,
    *,
    variant: str = "rows",
    hints: Hints | None = None,
) -> torch.Tensor:
    """Softmax along the last of two dimensions.

    `variant`: "rows", masked loads; "views", by the tensor memory accelerator; "chunked", for rows longer
    than a tile; "one_row", one block a row.
    """
    check_is_tensor("input", input)
    result = _like(input, out)
    code = _choice("variant", variant, VARIANTS)
    call("tileir_softmax", (("out", result, None), ("input", input, None)), code, hints=hints)
    return result


def silu_and_mul(
    input: torch.Tensor,  # noqa: A002
    out: torch.Tensor | None = None,
    *,
    hints: Hints | None = None,
) -> torch.Tensor:
    """silu(input[..., :n]) * input[..., n:], where a row has 2 n elements."""
    check_is_tensor("input", input)
    if input.dim() < 1 or input.shape[-1] % 2:
        raise ValueError(f"input: the last dimension of {tuple(input.shape)} has no two halves")
    shape = (*input.shape[:-1], input.shape[-1] // 2)
    result = _result(input, shape, out)
    call("tileir_silu_and_mul", (("out", result, ROWS), ("input", input, ROWS)), hints=hints)
    return result


def swiglu(
    gate: torch.Tensor, up: torch.Tensor, out: torch.Tensor | None = None, *, hints: Hints | None = None
) -> torch.Tensor:
    """silu(gate) * up."""
    check_is_tensor("gate", gate)
    result = _like(gate, out)
    tensors = (("out", result, ROWS), ("gate", gate, ROWS), ("up", up, ROWS))
    call("tileir_swiglu", tensors, hints=hints)
    return result


def relu(input: torch.Tensor, out: torch.Tensor | None = None, *, hints: Hints | None = None) -> torch.Tensor:  # noqa: A002
    """max(input, 0)."""
    check_is_tensor("input", input)
    result = _like(input, out)
    call("tileir_relu", (("out", result, None), ("input", input, None)), hints=hints)
    return result


def gelu(
    input: torch.Tensor,  # noqa: A002
    approximate: str = "none",
    out: torch.Tensor | None = None,
    *,
    hints: Hints | None = None,
) -> torch.Tensor:
    """The Gaussian error linear unit. `approximate`: "none" or "tanh"."""
    check_is_tensor("input", input)
    code = _choice("approximate", approximate, APPROXIMATIONS)
    result = _like(input, out)
    call("tileir_gelu", (("out", result, None), ("input", input, None)), code, hints=hints)
    return result


def geglu(
    input: torch.Tensor,  # noqa: A002
    dim: int = -1,
    approximate: str = "none",
    out: torch.Tensor | None = None,
    *,
    hints: Hints | None = None,
) -> torch.Tensor:
    """The first half of `input` along `dim`, times GELU of the second."""
    check_is_tensor("input", input)
    code = _choice("approximate", approximate, APPROXIMATIONS)
    dim = whole("dim", dim)
    if not -input.dim() <= dim < input.dim():
        raise ValueError(f"dim: {dim} is no dimension of input, which has {input.dim()}")
    shape = list(input.shape)
    shape[dim] //= 2
    result = _result(input, tuple(shape), out)
    call("tileir_geglu", (("out", result, None), ("input", input, None)), dim, code, hints=hints)
    return result


def dropout(
    input: torch.Tensor,  # noqa: A002
    seed: int,
    p: float = 0.5,
    out: torch.Tensor | None = None,
    *,
    hints: Hints | None = None,
) -> torch.Tensor:
    """`input` with elements set to zero with probability `p`, the others scaled by 1 / (1 - p)."""
    check_is_tensor("input", input)
    probability = real("p", p)
    if not 0 <= probability <= 1:
        raise ValueError(f"p: {probability} is not in 0 to 1")
    result = _like(input, out)
    tensors = (("out", result, None), ("input", input, None))
    call("tileir_dropout", tensors, probability, _mixed(seed), hints=hints)
    return result


def rms_norm(
    input: torch.Tensor,  # noqa: A002
    weight: torch.Tensor,
    eps: float = 1e-6,
    shift: float = 0.0,
    out: torch.Tensor | None = None,
    rstd: torch.Tensor | None = None,
    *,
    variant: str = "reload",
    hints: Hints | None = None,
) -> torch.Tensor:
    """Each row of `input` divided by the root of its mean square, times (shift + weight).

    `rstd`: where that root's inverse is written, f32. `variant`: "reload", one block a row, which it reads
    twice; "persistent", by views, a block for several tiles of whole rows; "cached", one block a row, which
    is one tile.
    """
    check_is_tensor("input", input)
    result = _like(input, out)
    rstd = _statistic(input, (_row_count(input),), rstd)
    code = _choice("variant", variant, NORM_VARIANTS)
    tensors = (("out", result, ROWS), ("rstd", rstd, None), ("input", input, ROWS), ("weight", weight, None))
    call("tileir_rms_norm", tensors, real("eps", eps), real("shift", shift), code, hints=hints)
    return result


def layer_norm(
    input: torch.Tensor,  # noqa: A002
    weight: torch.Tensor,
    bias: torch.Tensor,
    eps: float = 1e-5,
    shift: float = 0.0,
    out: torch.Tensor | None = None,
    mean: torch.Tensor | None = None,
    rstd: torch.Tensor | None = None,
    *,
    start: int = -1,
    end: int | None = None,
    hints: Hints | None = None,
) -> torch.Tensor:
    """(input - mean) / deviation * (shift + weight) + bias over the dimensions from `start` to before `end`.

    `end` None: to the last. `mean`, `rstd`: where these and the deviation's inverse are written, f32.
    """
    check_is_tensor("input", input)
    extents = _squashed(input.shape, start, end)
    statistics = (extents[0], extents[2])
    result = _like(input, out)
    tensors = (
        ("out", result, extents),
        ("mean", _statistic(input, statistics, mean), None),
        ("rstd", _statistic(input, statistics, rstd), None),
        ("input", input, extents), ("weight", weight, FLAT), ("bias", bias, FLAT),
    )  # fmt: skip
    call("tileir_layer_norm", tensors, real("eps", eps), real("shift", shift), hints=hints)
    return result


def layer_norm_legacy(
    input: torch.Tensor,  # noqa: A002
    weight: torch.Tensor,
    bias: torch.Tensor,
    eps: float = 1e-5,
    shift: float = 0.0,
    out: torch.Tensor | None = None,
    mean: torch.Tensor | None = None,
    rstd: torch.Tensor | None = None,
    *,
    hints: Hints | None = None,
) -> torch.Tensor:
    """(input - mean) / deviation * (shift + weight) + bias along the last dimension, of at most 64 KiB.

    `mean`, `rstd`: where these and the deviation's inverse are written, f32.
    """
    result, tensors = _row_norm(input, weight, bias, out, mean, rstd)
    call("tileir_layer_norm_legacy", tensors, real("eps", eps), real("shift", shift), hints=hints)
    return result


def persistent_layer_norm(
    input: torch.Tensor,  # noqa: A002
    weight: torch.Tensor,
    bias: torch.Tensor,
    eps: float = 1e-5,
    out: torch.Tensor | None = None,
    mean: torch.Tensor | None = None,
    rstd: torch.Tensor | None = None,
    *,
    compute: bool | None = None,
    tile_rows: int = 0,
    hints: Hints | None = None,
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """(input - mean) / deviation * weight + bias along the last dimension, rounded to bf16; for bf16 and f32.

    Returns it with mean and the deviation's inverse. `compute`: whether `mean` and `rstd` are computed and
    written, or taken as they are. None: computed unless both are given. `tile_rows`: how many rows a tile
    has, a power of two; 0: eight.
    """
    compute = (mean is None or rstd is None) if compute is None else compute
    result, tensors = _row_norm(input, weight, bias, out, mean, rstd)
    call(
        "tileir_persistent_layer_norm",
        tensors,
        real("eps", eps),
        whole("compute", compute),
        whole("tile_rows", tile_rows),
        hints=hints,
    )
    return result, tensors[1][1], tensors[2][1]


def _row_norm(
    input: torch.Tensor,  # noqa: A002
    weight: torch.Tensor,
    bias: torch.Tensor,
    out: torch.Tensor | None,
    mean: torch.Tensor | None,
    rstd: torch.Tensor | None,
) -> tuple[torch.Tensor, tuple[Given, ...]]:
    """The result, and the tensors of a call that normalises rows."""
    check_is_tensor("input", input)
    result = _like(input, out)
    rows = (_row_count(input),)
    tensors = (
        ("out", result, ROWS), ("mean", _statistic(input, rows, mean), None),
        ("rstd", _statistic(input, rows, rstd), None), ("input", input, ROWS), ("weight", weight, None),
        ("bias", bias, None),
    )  # fmt: skip
    return result, tensors


def rope(
    query: torch.Tensor,
    key: torch.Tensor,
    cos: torch.Tensor,
    sin: torch.Tensor,
    rotated: int | None = None,
    *,
    hints: Hints | None = None,
) -> tuple[torch.Tensor, torch.Tensor]:
    """Rotates `query` and `key` of shape (batch, heads, positions, size) in place, and returns them.

    `cos`, `sin`: of (positions, rotated), for each sequence or once for all; only their first halves count.
    `rotated`: how many of the last dimension's elements; their half must be a power of two. None: all.
    Element i of the first half and i of the second are one pair. With `-sin`, gradients are turned back.
    """
    check_is_tensor("query", query)
    angles = [("cos", cos), ("sin", sin)]
    for name, tensor in angles:
        check_is_tensor(name, tensor)
    (_, cos), (_, sin) = [(name, tensor[None] if tensor.dim() == 2 else tensor) for name, tensor in angles]
    tensors = (("query", query, None), ("key", key, None), ("cos", cos, None), ("sin", sin, None))
    call("tileir_rope", tensors, 0 if rotated is None else whole("rotated", rotated), hints=hints)
    return query, key


def splitk_reduce(
    parts: torch.Tensor,
    lse: torch.Tensor,
    out: torch.Tensor | None = None,
    *,
    hints: Hints | None = None,
) -> torch.Tensor:
    """Attention over all keys, from that over parts of them.

    `parts` is of (batch, heads, number of parts, size). `lse`, f32 of (batch, heads, number of parts): the
    base-2 logarithms of the sums by which each part was divided.
    """
    check_is_tensor("parts", parts)
    result = _result(parts, (*parts.shape[:2], *parts.shape[3:]), out)
    call(
        "tileir_splitk_reduce",
        (("out", result, None), ("parts", parts, None), ("lse", lse, None)),
        hints=hints,
    )
    return result


def matmul(
    a: torch.Tensor,
    b: torch.Tensor,
    transpose_a: bool = False,
    transpose_b: bool = False,
    out: torch.Tensor | None = None,
    *,
    variant: str = "plain",
    tiling: Tiling | None = None,
    hints: Hints | None = None,
) -> torch.Tensor:
    """The product of two matrices; f32 is multiplied as tf32.

    `variant`: "plain", one tile of the product a block; "persistent", several tiles a block, and only this
    takes transposed matrices. `tiling`: by default 128 x 128 x 32, persistent 128 x 128 x 64.
    """
    return _product("tileir_matmul", a, b, (transpose_a, transpose_b), out, variant, tiling, hints)


def bmm(
    a: torch.Tensor,
    b: torch.Tensor,
    transpose_a: bool = False,
    transpose_b: bool = False,
    out: torch.Tensor | None = None,
    *,
    variant: str = "persistent",
    tiling: Tiling | None = None,
    hints: Hints | None = None,
) -> torch.Tensor:
    """The products of two matrices, many at a time; f32 is multiplied as it is. Otherwise as `matmul`.

    The persistent form is compiled for clusters of two blocks unless `hints` say otherwise.
    """
    return _product("tileir_bmm", a, b, (transpose_a, transpose_b), out, variant, tiling, hints)


def transpose(
    input: torch.Tensor,  # noqa: A002
    out: torch.Tensor | None = None,
    *,
    hints: Hints | None = None,
) -> torch.Tensor:
    """The transpose of a matrix, in memory of its own."""
    check_is_tensor("input", input)
    result = _result(input, input.shape[::-1], out)
    call("tileir_transpose", (("out", result, None), ("input", input, None)), hints=hints)
    return result


def _product(
    name: str,
    a: torch.Tensor,
    b: torch.Tensor,
    transposes: tuple[bool, bool],
    out: torch.Tensor | None,
    variant: str,
    tiling: Tiling | None,
    hints: Hints | None,
) -> torch.Tensor:
    check_is_tensor("a", a)
    check_is_tensor("b", b)
    code = _choice("variant", variant, PRODUCT_VARIANTS)
    turn_a, turn_b = bool(transposes[0]), bool(transposes[1])
    result = _result(a, _product_shape(a, b, turn_a, turn_b), out)
    cut = NULL if tiling is None else checked("tiling", tiling, Tiling).c
    call(
        name, (("out", result, None), ("a", a, None), ("b", b, None)), turn_a, turn_b, cut, code, hints=hints
    )
    return result


def _product_shape(a: torch.Tensor, b: torch.Tensor, turn_a: bool, turn_b: bool) -> tuple[int, ...]:
    """The shape of a product, or any where the call refuses the factors."""
    rank = a.dim()
    if rank < 2 or b.dim() < 2:
        return (1,)
    rows, columns = a.size(-1 if turn_a else -2), b.size(-2 if turn_b else -1)
    return (rows, columns) if rank == 2 else (*a.shape[:-2], rows, columns)


def _mixed(seed: int) -> int:
    """A signed number of 32 bits that all depend on the seed: the kernel itself hashes little."""
    product = (any_whole("seed", seed) * GOLDEN_RATIO) % (1 << 32)
    return product - (1 << 32) if product >> 31 else product


def _like(tensor: torch.Tensor, out: torch.Tensor | None) -> torch.Tensor:
    """What is written, where it has the shape of this: `out`, or a new one."""
    if out is None and tensor.is_contiguous():
        return torch.empty_like(tensor)  # takes half as long as to name a shape
    return _result(tensor, tensor.shape, out)


def _result(like: torch.Tensor, shape: tuple[int, ...], out: torch.Tensor | None) -> torch.Tensor:
    """What is written: `out`, or a new one with adjacent elements, of the same type and device."""
    if out is None:
        return like.new_empty(shape)
    check_is_tensor("out", out)
    if out.shape != shape:
        raise ValueError(f"out: shape {tuple(out.shape)}, but {tuple(shape)} follows from the input")
    return out


def _statistic(like: torch.Tensor, shape: tuple[int, ...], given: torch.Tensor | None) -> torch.Tensor:
    """A number in f32 for each row."""
    return like.new_empty(shape, dtype=torch.float32) if given is None else given


def _row_count(tensor: torch.Tensor) -> int:
    """How many rows there are, of all dimensions but the last."""
    return tensor.numel() // (tensor.shape[-1] or 1) if tensor.dim() else 1


@functools.lru_cache(maxsize=1024)
def _squashed(shape: torch.Size, start: int, end: int | None) -> tuple[int, int, int]:
    """How many elements lie before, in and after the dimensions from `start` to before `end`."""
    rank, start = len(shape), whole("start", start)
    first, last = (start + rank if start < 0 else start), (rank if end is None else whole("end", end))
    last = last + rank if last < 0 else last
    if not 0 <= first < last <= rank:
        raise ValueError(f"start: no dimensions of input lie in {start} to {end}; it has {rank}")
    return math.prod(shape[:first]), math.prod(shape[first:last]), math.prod(shape[last:])


def _choice(name: str, given: str, codes: dict[str, int]) -> int:
    try:
        return codes[given]
    except (KeyError, TypeError):
        raise ValueError(f"{name}: {given!r} is not one of {', '.join(codes)}") from None
