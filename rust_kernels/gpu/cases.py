"""What is run on a GPU: each operator on shapes, types and layouts, by ours and by the reference's kernel.

The same cases are packed ahead (`pack.py`), run on a GPU (`run.py`), and interpreted without one (the tests).
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import tileir_kernels
import torch

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

DTYPES = {"f32": torch.float32, "f16": torch.float16, "bf16": torch.bfloat16}
TOLERANCE = {"f32": 2e-5, "f16": 6e-3, "bf16": 5e-2}
GAP = 24
"""Elements between the rows of a padded matrix."""
TANH_SCALE = 0.7978845608028654
CUBIC = 0.044715
HOPELESS = 1e30


class Case(NamedTuple):
    """One operator on one shape. `shape` is that of the output.

    `layout`: "packed"; "padded", rows with a gap between; "offset", an address that is aligned to an element
    only. `timed`: for the benchmark. `inner`: the extent that the operator sums over, where the output lacks
    it.
    """

    operator: str
    form: str
    dtype: str
    shape: tuple[int, ...]
    layout: str = "packed"
    timed: bool = False
    inner: int = 0

    @property
    def name(self) -> str:
        form = f"-{self.form}" if self.form else ""
        extents = (*self.shape, self.inner) if self.inner else self.shape
        return f"{self.operator}{form}-{self.dtype}-{'x'.join(map(str, extents))}-{self.layout}"


class Reference(NamedTuple):
    """A launch of the cuTile Python kernel: its parameters in order, tensors by their name in the case.

    `flat`: it takes the tensors as vectors. `hints`: to the assembler, instead of its own.
    """

    kernel: str
    parameters: tuple[tuple[str, str | int | float | bool], ...]
    grid: int | tuple[int, int, int]
    flat: bool = False
    hints: tuple[tuple[str, int], ...] = ()


class Operator(NamedTuple):
    """How cases of one operator are made, run and judged.

    `factor`: the input that multiplies the rounded result of the rest, so that errors grow with it.
    `computes`: the type whose tolerance holds for the type of a case, where that is another.
    `beside`: packed tensors in f32 that it writes, or reads, beside its result. `start`: what tensors hold at
    first, where that depends on others. `views`: parts of them under a name of their own. `dtypes`: of cases.
    """

    inputs: Callable[[Case], dict[str, tuple[int, ...]]]
    ours: Callable[[Case, dict[str, torch.Tensor]], Any]
    expected: Callable[[Case, dict[str, torch.Tensor]], torch.Tensor]
    reference: Callable[[Case, int], Reference]
    factor: Callable[[Case, dict[str, torch.Tensor]], torch.Tensor] | None = None
    beside: Callable[[Case], dict[str, tuple[int, ...]]] = lambda case: {}
    start: Callable[[Case, dict[str, torch.Tensor]], None] = lambda case, given: None
    views: Callable[[dict[str, torch.Tensor]], dict[str, torch.Tensor]] = lambda given: {}
    computes: Callable[[str], str] = lambda dtype: dtype
    dtypes: tuple[str, ...] = tuple(DTYPES)


def tensors(case: Case, device: str, seed: int = 0) -> dict[str, torch.Tensor]:
    """The inputs by name, and `out`, full of NaN."""
    generator = torch.Generator(device).manual_seed(seed)
    operator = OPERATORS[case.operator]
    made = {
        name: _place(_values(shape, generator), case, device) for name, shape in operator.inputs(case).items()
    }
    for name, shape in operator.beside(case).items():
        made[name] = torch.full(shape, math.nan, device=device)
    made["out"] = _place(torch.full(case.shape, math.nan, device=device), case, device)
    operator.start(case, made)
    return made | operator.views(made)


def untouched(case: Case, device: str = "cpu") -> dict[str, torch.Tensor]:
    """The same tensors without any values: only where they lie matters."""
    operator = OPERATORS[case.operator]
    shapes = {**operator.inputs(case), "out": case.shape}
    made = {name: _lay_out(shape, case, device) for name, shape in shapes.items()}
    for name, shape in operator.beside(case).items():
        made[name] = torch.empty(shape, device=device)
    return made | operator.views(made)


def _values(shape: tuple[int, ...], generator: torch.Generator) -> torch.Tensor:
    """Mostly of the order of one; some large, and a few zero."""
    values = torch.randn(shape, generator=generator, device=generator.device)
    kind = torch.rand(shape, generator=generator, device=generator.device)
    values = torch.where(kind < 0.02, values * 30, values)
    return torch.where(kind > 0.99, 0.0, values)


def _place(values: torch.Tensor, case: Case, device: str) -> torch.Tensor:
    placed = _lay_out(tuple(values.shape), case, device)
    if case.layout == "padded":  # what lies between the rows is no number, so that a use of it shows
        size = placed.untyped_storage().nbytes() // placed.element_size()
        placed.as_strided((size,), (1,)).fill_(math.nan)
    return placed.copy_(values)


def _lay_out(shape: tuple[int, ...], case: Case, device: str) -> torch.Tensor:
    dtype, size = DTYPES[case.dtype], math.prod(shape)
    if case.layout == "padded" and len(shape) == 2:
        rows, columns = shape
        return torch.empty((rows, columns + GAP), dtype=dtype, device=device)[:, :columns]
    if case.layout == "offset":
        return torch.empty(size + 1, dtype=dtype, device=device)[1:].view(shape)
    return torch.empty(shape, dtype=dtype, device=device)


def error(case: Case, given: dict[str, torch.Tensor], result: torch.Tensor, right: torch.Tensor) -> float:
    """The largest error, relative to the result or to a factor above one; HOPELESS for no number."""
    size = right.abs().clamp(min=1.0)
    factor = OPERATORS[case.operator].factor
    if factor is not None:
        size = torch.maximum(size, factor(case, given).double().abs())
    largest = ((result.double() - right.double()).abs() / size).max().item()
    return largest if math.isfinite(largest) else HOPELESS


def tolerance(case: Case) -> float:
    """The largest error of a right result."""
    return TOLERANCE[OPERATORS[case.operator].computes(case.dtype)]


def blocks_of(size: int, tile: int) -> int:
    return -(-size // tile)


def power_of_two(number: int) -> int:
    return 1 << (number - 1).bit_length()


# softmax

_SOFTMAX = "tilegym.ops.cutile.softmax:_softmax_kernel"


def _softmax_reference(case: Case, multiprocessors: int) -> Reference:
    rows, columns = case.shape
    tile = power_of_two(columns)
    arrays = (("output", "out"), ("input", "input"))
    if case.form == "one_row":
        kernel = f"{_SOFTMAX}_multi_wave_full_row_reg_cached_ldg"
        return Reference(kernel, (*arrays, ("N", columns), ("TILE_SIZE", tile)), rows)
    if case.form == "views":
        constants = (("N_ROWS", rows), ("N_COLS", columns), ("TILE_SIZE", tile))
        return Reference(f"{_SOFTMAX}_tma", (*arrays, *constants), min(multiprocessors * 2, rows))
    blocks = min(multiprocessors * 4, rows)
    if case.form == "chunked":
        constants = (("N_ROWS", rows), ("N_COLS", columns), ("TILE_SIZE", min(tile, 8192)))
        return Reference(f"{_SOFTMAX}_chunked", (*arrays, *constants), blocks)
    constants = (("N_ROWS", rows), ("TILE_SIZE", tile), ("DIM_COLS", columns))
    return Reference(_SOFTMAX, (*arrays, *constants), blocks)


# silu_and_mul, swiglu


def _silu_inputs(case: Case) -> dict[str, tuple[int, ...]]:
    rows, columns = case.shape
    return {"input": (rows, 2 * columns)}


def _silu_expected(case: Case, given: dict[str, torch.Tensor]) -> torch.Tensor:
    left, right = given["input"].double().chunk(2, dim=-1)
    return torch.nn.functional.silu(left) * right


def _silu_reference(case: Case, multiprocessors: int) -> Reference:
    rows, columns = case.shape
    constants = (("TILE_SIZE", power_of_two(columns)), ("TOTAL_HIDDEN_SIZE", columns))
    arrays = (("input", "input"), ("output", "out"))
    return Reference(
        "tilegym.ops.cutile.silu_and_mul:_silu_and_mul_kernel_row_wise", (*arrays, *constants), rows
    )


def _swiglu_expected(case: Case, given: dict[str, torch.Tensor]) -> torch.Tensor:
    silu = torch.nn.functional.silu(given["gate"].double())
    return silu.to(DTYPES[case.dtype]).double() * given["up"].double()


def _swiglu_reference(case: Case, multiprocessors: int) -> Reference:
    rows, columns = case.shape
    tile = power_of_two(columns)
    arrays = (("a", "gate"), ("b", "up"), ("c", "out"))
    constants = (("TILE_SIZE", tile), ("check_bounds", tile != columns))
    return Reference("tilegym.ops.cutile.swiglu:_swiglu_forward_kernel", (*arrays, *constants), rows)


# relu, gelu, geglu, dropout


def _relu_reference(case: Case, multiprocessors: int) -> Reference:
    [size] = case.shape
    parameters = (("x", "input"), ("y", "out"), ("N_ELEMENTS", size), ("BLOCK_SIZE", 1024))
    return Reference("tilegym.ops.cutile.activation.relu:_relu_fwd_kernel", parameters, blocks_of(size, 1024))


def _gelu_expected(case: Case, given: dict[str, torch.Tensor]) -> torch.Tensor:
    x = given["input"].double()
    return 0.5 * x * (1 + torch.tanh(TANH_SCALE * (x + CUBIC * x**3)))


def _gelu_reference(case: Case, multiprocessors: int) -> Reference:
    [size] = case.shape
    tile = 4096 if size >= 1 << 24 else 1024
    constants = (("N_ELEMENTS", size), ("BLOCK_SIZE", tile), ("APPROXIMATE", int(case.form == "tanh")))
    parameters = (("y", "out"), ("x", "input"), *constants)
    return Reference("tilegym.ops.cutile.activation.gelu:_gelu_kernel", parameters, blocks_of(size, tile))


def _geglu_inputs(case: Case) -> dict[str, tuple[int, ...]]:
    *outer, inner = case.shape
    return {"input": (*outer, 2 * inner)}


def _geglu_expected(case: Case, given: dict[str, torch.Tensor]) -> torch.Tensor:
    left, right = given["input"].double().chunk(2, dim=-1)
    return left * 0.5 * right * (1 + torch.tanh(TANH_SCALE * (right + CUBIC * right**3)))


def _geglu_reference(case: Case, multiprocessors: int) -> Reference:
    """It takes both tensors flat."""
    *_, inner = case.shape
    strides = (("N", inner), ("M_STRIDE", 2 * inner), ("MY_STRIDE", inner))
    constants = (*strides, ("BLOCK_SIZE", 256), ("APPROXIMATE", int(case.form == "tanh")))
    parameters = (("y", "out"), ("x", "input"), *constants)
    blocks = blocks_of(math.prod(case.shape), 256)
    return Reference("tilegym.ops.cutile.activation.geglu:_geglu_fwd_kernel", parameters, blocks, flat=True)


SEED, DROPPED = 1234, 0.3


def _dropout_expected(case: Case, given: dict[str, torch.Tensor]) -> torch.Tensor:
    """Which elements stay, said once more: with wrapping arithmetic, for torch has it."""
    index = torch.arange(given["input"].numel(), dtype=torch.int32, device=given["input"].device)
    hashed = index * 1103515245 + ops_seed(SEED)
    hashed = hashed ^ (hashed >> 16)
    hashed = hashed ^ (hashed << 8)
    hashed = hashed ^ (hashed >> 4)
    kept = (hashed & 0x7FFFFFFF).float() / 2147483647.0 > DROPPED
    scale = torch.tensor(1 / (1 - DROPPED), dtype=DTYPES[case.dtype]).double()
    return torch.where(kept, given["input"].double() * scale, 0.0)


def ops_seed(seed: int) -> int:
    """As TileGym mixes a seed before it is hashed."""
    mixed = (seed * 0x9E3779B1) & 0xFFFFFFFF
    return mixed - (1 << 32) if mixed & 0x80000000 else mixed


def _dropout_reference(case: Case, multiprocessors: int) -> Reference:
    [size] = case.shape
    constants = (("P", DROPPED), ("SEED", ops_seed(SEED)), ("TILE_SIZE", 1024), ("TRAINING", True))
    parameters = (("x", "input"), ("output", "out"), *constants)
    return Reference("tilegym.ops.cutile.dropout:_dropout_kernel", parameters, blocks_of(size, 1024))


EPS = 1e-5


def _rms_norm_inputs(case: Case) -> dict[str, tuple[int, ...]]:
    return {"input": case.shape, "weight": case.shape[1:]}


def _rms_norm_expected(case: Case, given: dict[str, torch.Tensor]) -> torch.Tensor:
    x = given["input"].double()
    return x * torch.rsqrt(x.square().mean(dim=-1, keepdim=True) + EPS) * (1 + given["weight"].double())


def _rms_norm_reference(case: Case, multiprocessors: int) -> Reference:
    module = "tilegym.ops.cutile.rms_norm:_rms_norm_kernel"
    rows, columns = case.shape
    tile = power_of_two(columns)
    if case.form == "persistent":
        each = 16 if tile <= 1024 else 2 if tile >= 16_384 else 4
        arrays = (("X", "input"), ("Y", "out"), ("W", "weight"), ("Rstd", "rstd"))
        constants = (("TILE_SIZE_M", each), ("TILE_SIZE_N", tile), ("EPS", EPS), ("OFFSET", 1.0))
        blocks = min(multiprocessors, blocks_of(rows, each))
        return Reference(f"{module}_static_persistent", (*arrays, *constants), blocks)
    arrays = (("x", "input"), ("w", "weight"), ("out", "out"), ("Rstd", "rstd"))
    if case.form == "cached":
        constants = (("N", columns), ("eps", EPS), ("offset", 1.0), ("TILE_SIZE", tile))
        return Reference(f"{module}_multi_wave_cached", (*arrays, *constants), rows)
    tile = min(tile, 4096 // DTYPES[case.dtype].itemsize)
    constants = (("N", columns), ("EPS", EPS), ("OFFSET", 1.0), ("TILE_SIZE", tile))
    return Reference(f"{module}_gather", (*arrays, *constants), rows)


# layer_norm: its form follows from the number of columns


def _layer_norm_inputs(case: Case) -> dict[str, tuple[int, ...]]:
    return {"input": case.shape, "weight": case.shape[1:2], "bias": case.shape[1:2]}


def _statistics(case: Case) -> dict[str, tuple[int, ...]]:
    rows, _, columns = case.shape
    return {"mean": (rows, columns), "rstd": (rows, columns)}


def _layer_norm_parts(given: dict[str, torch.Tensor]) -> tuple[torch.Tensor, torch.Tensor]:
    """What is weighted, and what is added then."""
    x = given["input"].double()
    weight, bias = (given[name].double()[:, None] for name in ("weight", "bias"))
    variance, mean = torch.var_mean(x, dim=1, keepdim=True, correction=0)
    return (x - mean) * torch.rsqrt(variance + EPS) * (1 + weight), bias


def _layer_norm_ours(case: Case, given: dict[str, torch.Tensor]) -> torch.Tensor:
    results = (given["out"], given["mean"], given["rstd"])
    x, weight, bias = given["input"], given["weight"], given["bias"]
    return tileir_kernels.layer_norm(x, weight, bias, EPS, 1.0, *results, start=1, end=2)


def _layer_norm_expected(case: Case, given: dict[str, torch.Tensor]) -> torch.Tensor:
    scaled, bias = _layer_norm_parts(given)
    return scaled + bias


def _layer_norm_factor(case: Case, given: dict[str, torch.Tensor]) -> torch.Tensor:
    scaled, bias = _layer_norm_parts(given)
    return scaled.abs() + bias.abs()


def _layer_norm_reference(case: Case, multiprocessors: int) -> Reference:
    kernel = "tilegym.ops.cutile.layer_norm:_layer_norm_fwd_kernel"
    rows, channels, columns = case.shape
    width = min(1024, power_of_two(columns))
    tile = min(65_536 // width // DTYPES[case.dtype].itemsize, power_of_two(channels))
    arrays = (
        ("x", "input"), ("y", "out"), ("w", "weight"), ("b", "bias"), ("mean", "mean"), ("rstd", "rstd"),
    )  # fmt: skip
    extents = (("C", channels), ("W", columns), ("EPS", EPS), ("WEIGHT_SHIFT", 1.0))
    grid = (rows, blocks_of(columns, width), 1)
    if case.form == "views":
        tiles = (("BLOCK_SIZE_C", min(tile, 1024)), ("BLOCK_SIZE_W", width))
        return Reference(kernel, (*arrays, *extents, *tiles), grid)
    strides = (("STRIDE_N", channels * columns), ("STRIDE_C", columns), ("STRIDE_W", 1))
    sizes = (("N_ELEMENTS", math.prod(case.shape)), ("STAT_N_ELEMENTS", rows * columns))
    tiles = (("BLOCK_SIZE_C", tile), ("BLOCK_SIZE_W", width))
    return Reference(f"{kernel}_gather", (*arrays, *strides, *extents, *tiles, *sizes), grid, flat=True)


# layer_norm_legacy, persistent_layer_norm: of rows; "computed-16x4": 16 rows a tile, 4 warps


def _row_statistics(case: Case) -> dict[str, tuple[int, ...]]:
    return {"mean": case.shape[:1], "rstd": case.shape[:1]}


def _row_inputs(case: Case) -> dict[str, tuple[int, ...]]:
    return {"input": case.shape, "weight": case.shape[1:], "bias": case.shape[1:]}


def _row_parts(case: Case, given: dict[str, torch.Tensor]) -> tuple[torch.Tensor, torch.Tensor]:
    """What is weighted, and what is added then."""
    x, weight, bias = (given[name].double() for name in ("input", "weight", "bias"))
    variance, mean = torch.var_mean(x, dim=1, keepdim=True, correction=0)
    inverse = torch.rsqrt(variance + EPS)
    if case.form == "given":
        mean, inverse = given["mean"].double()[:, None], given["rstd"].double()[:, None]
    shift = 1 if case.operator == "layer_norm_legacy" else 0
    return (x - mean) * inverse * (shift + weight), bias


def _row_expected(case: Case, given: dict[str, torch.Tensor]) -> torch.Tensor:
    scaled, bias = _row_parts(case, given)
    return scaled + bias


def _row_factor(case: Case, given: dict[str, torch.Tensor]) -> torch.Tensor:
    scaled, bias = _row_parts(case, given)
    return scaled.abs() + bias.abs()


_ROW_ARRAYS = (
    ("X", "input"), ("Y", "out"), ("W", "weight"), ("B", "bias"), ("Mean", "mean"), ("Rstd", "rstd"),
)  # fmt: skip


def _legacy_ours(case: Case, given: dict[str, torch.Tensor]) -> torch.Tensor:
    results = (given["out"], given["mean"], given["rstd"])
    x, weight, bias = given["input"], given["weight"], given["bias"]
    return tileir_kernels.layer_norm_legacy(x, weight, bias, EPS, 1.0, *results)


def _legacy_reference(case: Case, multiprocessors: int) -> Reference:
    rows, columns = case.shape
    tile = 1 << (columns.bit_length() - 1)
    constants = (("N", columns), ("EPS", EPS), ("WEIGHT_SHIFT", 1.0), ("BLOCK_SIZE", tile))
    kernel = "tilegym.ops.cutile.layer_norm_legacy:_layer_norm_fwd_kernel"
    return Reference(kernel, (*_ROW_ARRAYS, *constants), rows)


def _persistent_start(case: Case, given: dict[str, torch.Tensor]) -> None:
    if case.form == "given":
        given["mean"].copy_(given["input"][:, 0])
        given["rstd"].fill_(0.5)


def _persistent_tile(case: Case) -> tuple[int, int]:
    """The rows of a tile and the warps: those that it has where it does not search, or those of the form."""
    _, _, chosen = case.form.partition("-")
    height, _, warps = (chosen or "8x8").partition("x")
    return int(height), int(warps)


def _persistent_ours(case: Case, given: dict[str, torch.Tensor]) -> Any:
    height, warps = _persistent_tile(case)
    hints = tileir_kernels.Hints(num_ctas=1, num_worker_warps=warps)
    computed = case.form != "given"
    x, weight, bias = given["input"], given["weight"], given["bias"]
    results = (given["out"], given["mean"], given["rstd"])
    return tileir_kernels.persistent_layer_norm(
        x, weight, bias, EPS, *results, compute=computed, tile_rows=height, hints=hints
    )


def _persistent_reference(case: Case, multiprocessors: int) -> Reference:
    rows, columns = case.shape
    height, warps = _persistent_tile(case)
    blocks = min(multiprocessors, blocks_of(rows, height))
    strides = (("STRIDE_X", columns), ("STRIDE_Y", columns), ("IS_SWISH", 0), ("TRAINING", 1))
    tiles = (("BLOCK_N", height), ("BLOCK_D", power_of_two(columns)))
    last = (("COMPUTE_MEAN_AND_RSTD", int(case.form != "given")), ("NUM_SMS", blocks))
    constants = (("N", rows), ("D", columns), ("EPS", EPS), *strides, *tiles, *last)
    kernel = "tilegym.ops.cutile.layer_norm_legacy:_persistent_layer_norm_fwd_kernel"
    hints = (("num_ctas", 1), ("num_worker_warps", warps))
    return Reference(kernel, (*_ROW_ARRAYS, *constants), blocks, hints=hints)


# rope: query and key are heads of one tensor, four to one, that is rotated in place; "full-7": occupancy 7


def _rope_inputs(case: Case) -> dict[str, tuple[int, ...]]:
    """The form "quarter": of the elements are rotated, and each sequence has angles of its own."""
    batches, _, length, size = case.shape
    angles = (batches, length, size // 4) if case.form == "quarter" else (1, length, size)
    return {"input": case.shape, "cos": angles, "sin": angles}


def _rope_occupancy(case: Case) -> int:
    """What it has where it does not search, or that of the form."""
    return int(case.form.partition("-")[2] or 9)


def _rope_ours(case: Case, given: dict[str, torch.Tensor]) -> Any:
    hints = tileir_kernels.Hints(occupancy=_rope_occupancy(case))
    arguments = (given[name] for name in ("query", "key", "cos", "sin"))
    return tileir_kernels.rope(*arguments, given["cos"].shape[-1], hints=hints)


def _rope_start(case: Case, given: dict[str, torch.Tensor]) -> None:
    angle = given["cos"].clone()
    given["cos"].copy_(angle.cos())
    given["sin"].copy_(angle.sin())
    given["out"].copy_(given["input"])


def _rope_views(given: dict[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    key_heads = given["out"].shape[1] // 5
    return {"query": given["out"][:, key_heads:], "key": given["out"][:, :key_heads]}


def _rope_parts(given: dict[str, torch.Tensor]) -> list[torch.Tensor]:
    """Both halves of what is rotated, and the rest."""
    rotated = given["cos"].shape[-1]
    half = rotated // 2
    return given["input"].double().split([half, half, given["input"].shape[-1] - rotated], dim=-1)


def _rope_expected(case: Case, given: dict[str, torch.Tensor]) -> torch.Tensor:
    left, right, rest = _rope_parts(given)
    half = left.shape[-1]
    cos, sin = (given[name][..., :half].double().unsqueeze(1) for name in ("cos", "sin"))
    return torch.cat((left * cos - right * sin, right * cos + left * sin, rest), dim=-1)


def _rope_factor(case: Case, given: dict[str, torch.Tensor]) -> torch.Tensor:
    left, right, rest = (part.abs() for part in _rope_parts(given))
    return torch.cat((left + right, left + right, rest), dim=-1)


def _rope_reference(case: Case, multiprocessors: int) -> Reference:
    batches, heads, length, _ = case.shape
    sequences, _, rotated = _rope_inputs(case)["cos"]
    tiles = (
        ("TILE_QH", power_of_two(heads // 5 * 4)),
        ("TILE_KH", power_of_two(heads // 5)),
        ("TILE_RD", rotated // 2),
    )
    arrays = (("q", "query"), ("k", "key"), ("cos", "cos"), ("sin", "sin"))
    parameters = (*arrays, ("COS_BS", sequences), ("SEQ_LEN", length), *tiles)
    kernel = "tilegym.ops.cutile.rope:_rope_kernel"
    return Reference(kernel, parameters, batches * length, hints=(("occupancy", _rope_occupancy(case)),))


# splitk_reduce


def _splitk_start(_case: Case, given: dict[str, torch.Tensor]) -> None:
    """Logarithms between -4 and 4."""
    lse = given["lse"]
    lse.copy_(4 * torch.arange(lse.numel(), device=lse.device).sin().view_as(lse))


def _splitk_mean(lse: torch.Tensor, parts: torch.Tensor) -> torch.Tensor:
    weight = torch.softmax(lse.double() * math.log(2), dim=-1)
    return (weight.unsqueeze(-2) @ parts.double()).squeeze(-2)


def _splitk_reference(case: Case, multiprocessors: int) -> Reference:
    batches, heads, size = case.shape
    lanes, tile = power_of_two(case.inner), min(128, power_of_two(size))
    extents = (("B", batches), ("S_KV", 64 * case.inner), ("NUM_HEADS", heads), ("HEAD_DIM", size))
    tiles = (("NUM_KV_SPLITS", case.inner), ("NUM_KV_SPLITS_POW2", lanes), ("TILE_D", tile))
    arrays = (("attn_splitk_out", "parts"), ("lse_splitk_out", "lse"), ("attn_out", "out"))
    parameters = (*arrays, *extents, *tiles, ("USE_DOT", lanes >= 16))
    kernel = "tilegym.ops.cutile.splitk_reduce:_splitk_reduce_kernel"
    return Reference(kernel, parameters, (batches, heads, blocks_of(size, tile)))


# matmul, bmm: "persistent-tn" is A as (K, M), B as (K, N); tilings that TileGym tries on this GPU


def _turned(case: Case) -> tuple[bool, bool]:
    """Whether A and B are transposed."""
    _, _, letters = case.form.partition("-")
    return letters[:1] == "t", letters[1:] == "t"


def _product_inputs(case: Case) -> dict[str, tuple[int, ...]]:
    *batch, rows, columns = case.shape
    turn_a, turn_b = _turned(case)
    a = (case.inner, rows) if turn_a else (rows, case.inner)
    b = (columns, case.inner) if turn_b else (case.inner, columns)
    return {"a": (*batch, *a), "b": (*batch, *b)}


def _factors(case: Case, given: dict[str, torch.Tensor]) -> tuple[torch.Tensor, torch.Tensor]:
    a, b = given["a"].double(), given["b"].double()
    turn_a, turn_b = _turned(case)
    return a.mT if turn_a else a, b.mT if turn_b else b


def _product_expected(case: Case, given: dict[str, torch.Tensor]) -> torch.Tensor:
    a, b = _factors(case, given)
    return a @ b


def _product_size(case: Case, given: dict[str, torch.Tensor]) -> torch.Tensor:
    """The root of the sum of squares of what is added up: errors of the terms grow like it."""
    a, b = _factors(case, given)
    return (a.square() @ b.square()).sqrt()


def _matmul_reference(case: Case, multiprocessors: int) -> Reference:
    rows, columns = case.shape
    arrays = (("A", "a"), ("B", "b"), ("C", "out"))
    kernel = "tilegym.ops.cutile.matmul:"
    tiles = blocks_of(rows, 128) * blocks_of(columns, 128)
    sizes = (("TILE_SIZE_M", 128), ("TILE_SIZE_N", 128))
    if case.form == "plain":
        hints = (("num_ctas", 1), ("occupancy", 1))
        parameters = (*arrays, *sizes, ("TILE_SIZE_K", 32))
        return Reference(f"{kernel}_matmul_kernel", parameters, tiles, hints=hints)
    turn_a, turn_b = _turned(case)
    extents = (("M", rows), ("N", columns), ("K", case.inner))
    turns = (("TRANSPOSE_A", turn_a), ("TRANSPOSE_B", turn_b), ("GROUP_SIZE_M", 8), ("LOAD_LATENCY", -1))
    parameters = (*arrays, *extents, *sizes, ("TILE_SIZE_K", 64), *turns)
    hints = (("num_ctas", 1), ("occupancy", 1))
    grid = min(multiprocessors, tiles)
    return Reference(f"{kernel}_static_persistent_matmul_kernel", parameters, grid, hints=hints)


def _bmm_reference(case: Case, multiprocessors: int) -> Reference:
    batches, rows, columns = case.shape
    arrays = (("A", "a"), ("B", "b"), ("C", "out"))
    tiles = (blocks_of(rows, 128), blocks_of(columns, 128), batches)
    kernel = "tilegym.ops.cutile.bmm:"
    if case.form == "plain":
        return Reference(f"{kernel}_bmm_kernel", (*arrays, ("TM", 128), ("TN", 128), ("TK", 32)), tiles)
    turn_a, turn_b = _turned(case)
    extents = (("Batch", batches), ("M", rows), ("N", columns), ("K", case.inner))
    sizes = (("TILE_M", 128), ("TILE_N", 128), ("TILE_K", 64), ("GROUP_SIZE_M", 8), ("LATENCY", 3))
    parameters = (*arrays, *extents, *sizes, ("TRANSPOSE_A", turn_a), ("TRANSPOSE_B", turn_b))
    hints = (("num_ctas", 2), ("occupancy", 1))
    grid = min(multiprocessors // 2, math.prod(tiles))
    return Reference(f"{kernel}_static_persistent_bmm_kernel", parameters, grid, hints=hints)


def _product_of(
    name: str, reference: Callable[[Case, int], Reference], computes: Callable[[str], str]
) -> Operator:
    def ours(case: Case, given: dict[str, torch.Tensor]) -> Any:
        call = getattr(tileir_kernels, name)
        variant, _, _ = case.form.partition("-")
        hints = tileir_kernels.Hints(**dict(reference(case, 1).hints))
        return call(given["a"], given["b"], *_turned(case), given["out"], variant=variant, hints=hints)

    return Operator(
        _product_inputs, ours, _product_expected, reference, factor=_product_size, computes=computes
    )


# transpose


def _transpose_reference(case: Case, multiprocessors: int) -> Reference:
    columns, rows = case.shape
    large = DTYPES[case.dtype].itemsize == 2 and min(case.shape) >= 4096
    tile = 128 if large else 64
    constants = (("M", rows), ("N", columns), ("BLOCK_M", tile), ("BLOCK_N", tile))
    blocks = (blocks_of(rows, tile), blocks_of(columns, tile), 1)
    parameters = (("input", "input"), ("output", "out"), *constants)
    return Reference("tilegym.ops.cutile.transpose:_transpose_kernel", parameters, blocks)


def _one_input(case: Case) -> dict[str, tuple[int, ...]]:
    return {"input": case.shape}


OPERATORS = {
    "softmax": Operator(
        _one_input,
        lambda case, given: tileir_kernels.softmax(given["input"], given["out"], variant=case.form),
        lambda case, given: torch.softmax(given["input"].double(), dim=-1),
        _softmax_reference,
    ),
    "silu_and_mul": Operator(
        _silu_inputs,
        lambda case, given: tileir_kernels.silu_and_mul(given["input"], given["out"]),
        _silu_expected,
        _silu_reference,
    ),
    "swiglu": Operator(
        lambda case: {"gate": case.shape, "up": case.shape},
        lambda case, given: tileir_kernels.swiglu(given["gate"], given["up"], given["out"]),
        _swiglu_expected,
        _swiglu_reference,
    ),
    "relu": Operator(
        _one_input,
        lambda case, given: tileir_kernels.relu(given["input"], given["out"]),
        lambda case, given: torch.relu(given["input"].double()),
        _relu_reference,
    ),
    "gelu": Operator(
        _one_input,
        lambda case, given: tileir_kernels.gelu(given["input"], case.form, given["out"]),
        _gelu_expected,
        _gelu_reference,
    ),
    "geglu": Operator(
        _geglu_inputs,
        lambda case, given: tileir_kernels.geglu(given["input"], -1, case.form, given["out"]),
        _geglu_expected,
        _geglu_reference,
        lambda case, given: given["input"].chunk(2, dim=-1)[0],
    ),
    "dropout": Operator(
        _one_input,
        lambda case, given: tileir_kernels.dropout(given["input"], SEED, DROPPED, given["out"]),
        _dropout_expected,
        _dropout_reference,
    ),
    "rms_norm": Operator(
        _rms_norm_inputs,
        lambda case, given: tileir_kernels.rms_norm(
            given["input"], given["weight"], EPS, 1.0, given["out"], given["rstd"], variant=case.form
        ),
        _rms_norm_expected,
        _rms_norm_reference,
        beside=lambda case: {"rstd": case.shape[:1]},
    ),
    "layer_norm": Operator(
        _layer_norm_inputs,
        _layer_norm_ours,
        _layer_norm_expected,
        _layer_norm_reference,
        _layer_norm_factor,
        beside=_statistics,
    ),
    "layer_norm_legacy": Operator(
        _row_inputs,
        _legacy_ours,
        _row_expected,
        _legacy_reference,
        _row_factor,
        beside=_row_statistics,
    ),
    # Its result is rounded to bf16, and then widened for f32.
    "persistent_layer_norm": Operator(
        _row_inputs,
        _persistent_ours,
        _row_expected,
        _persistent_reference,
        _row_factor,
        beside=_row_statistics,
        start=_persistent_start,
        computes=lambda dtype: "bf16",
        dtypes=("f32", "bf16"),
    ),
    "rope": Operator(
        _rope_inputs,
        _rope_ours,
        _rope_expected,
        _rope_reference,
        _rope_factor,
        start=_rope_start,
        views=_rope_views,
    ),
    "splitk_reduce": Operator(
        lambda case: {"parts": (*case.shape[:2], case.inner, case.shape[2])},
        lambda case, given: tileir_kernels.splitk_reduce(given["parts"], given["lse"], given["out"]),
        lambda case, given: _splitk_mean(given["lse"], given["parts"]),
        _splitk_reference,
        lambda case, given: _splitk_mean(given["lse"], given["parts"].abs()),
        beside=lambda case: {"lse": (*case.shape[:2], case.inner)},
        start=_splitk_start,
    ),
    "matmul": _product_of("matmul", _matmul_reference, lambda dtype: "f16" if dtype == "f32" else dtype),
    "bmm": _product_of("bmm", _bmm_reference, lambda dtype: dtype),
    "transpose": Operator(
        lambda case: {"input": case.shape[::-1]},
        lambda case, given: tileir_kernels.transpose(given["input"], given["out"]),
        lambda case, given: given["input"].double().t(),
        _transpose_reference,
    ),
}


Shapes: TypeAlias = "tuple[tuple[int, ...], ...]"
EACH_LAYOUT = ("packed", "padded", "offset")
ADJACENT = ("packed", "offset")


def _all(
    operator: str, forms: tuple[str, ...], layouts: tuple[str, ...], checked: Shapes, timed: Shapes
) -> Iterator[Case]:
    """`checked`: shapes, the first in every layout; `timed`: shapes for the benchmark."""
    first, *others = checked
    for form in forms:
        for dtype in OPERATORS[operator].dtypes:
            yield from (Case(operator, form, dtype, first, layout) for layout in layouts)
            yield from (Case(operator, form, dtype, shape) for shape in others)
            yield from (Case(operator, form, dtype, shape, timed=True) for shape in timed)


def searched() -> Iterator[Case]:
    """Every choice that TileGym's own search has on this GPU, for those who search."""
    for rows, columns in ((4096, 1024), (4096, 4096)):
        for height in (1, 2, 4, 8, 16, 32):
            if height * columns <= 65_536:  # beyond that the search leaves a choice out
                forms = [f"computed-{height}x{warps}" for warps in (4, 8)]
                yield from _all("persistent_layer_norm", tuple(forms), (), ((1, 1),), ((rows, columns),))
    for shape in ((1, 40, 4096, 128), (8, 40, 1024, 128)):
        forms = [f"full-{occupancy}" for occupancy in (1, 7, 9, 12)]
        yield from _all("rope", tuple(forms), (), ((1, 1),), (shape,))


def _with_inner(found: Iterator[Case]) -> Iterator[Case]:
    """The same where the last number of a shape is the extent that is summed over."""
    return (case._replace(shape=case.shape[:-1], inner=case.shape[-1]) for case in found)


def cases() -> list[Case]:
    """All cases, by operator."""
    ragged, wide = ((67, 1000), (5, 17)), ((67, 20_000), (5, 17))
    rows = ((4096, 1024), (4096, 4096), (8192, 2000))
    hidden = ((4096, 1024), (4096, 4096), (4096, 5632), (2048, 14_336))
    vectors, long = ((100_003,), (17,)), ((1 << 22,), (1 << 24,), (50_000_003,))
    images, few = ((32, 256, 3136), (8, 1024, 4096)), ((4096, 1024, 4), (1024, 4096, 8))
    single = tuple((*shape, 1) for shape in rows)
    heads = ((2, 15, 37, 64), (1, 5, 3, 32))
    parts = ((3, 5, 96, 7), (3, 5, 100, 24), (2, 3, 200, 3))
    one, large = ((333, 201, 130), (70, 1000, 520)), ((4096, 4096, 4096), (8192, 2000, 1024))
    many, several = ((3, 333, 201, 130), (2, 70, 300, 520)), ((16, 2048, 2048, 512), (64, 1000, 520, 256))
    return [
        *_all("softmax", ("rows", "views", "one_row"), EACH_LAYOUT, ragged, rows),
        *_all("softmax", ("chunked",), EACH_LAYOUT, wide, ((4096, 16_384), (2048, 30_000))),
        *_all("silu_and_mul", ("",), EACH_LAYOUT, ragged, hidden),
        *_all("swiglu", ("",), EACH_LAYOUT, ragged, hidden),
        *_all("relu", ("",), ADJACENT, vectors, long),
        *_all("gelu", ("none", "tanh"), ADJACENT, vectors, long),
        *_all("geglu", ("none", "tanh"), ADJACENT, ((7, 13, 1000), (5, 17)), ((4096, 4096), (2048, 14_336))),
        *_all("rms_norm", ("reload", "persistent", "cached"), EACH_LAYOUT, ragged, rows),
        *_all("dropout", ("",), ADJACENT, vectors, long),
        *_all("layer_norm", ("views",), ADJACENT, ((3, 1100, 40), (2, 33, 17)), images),
        *_all("layer_norm", ("columns",), ADJACENT, ((3, 9000, 5), (2, 33, 15)), few),
        *_all("layer_norm", ("rows",), ADJACENT, ((67, 1000, 1), (3, 33_000, 1), (5, 17, 1)), single),
        *_all("layer_norm_legacy", ("",), EACH_LAYOUT, ((67, 1000), (5, 17), (3, 16_384)), rows),
        *_all("persistent_layer_norm", ("computed", "given"), EACH_LAYOUT, ragged, rows),
        *_all("rope", ("full", "quarter"), ADJACENT, heads, ((1, 40, 4096, 128), (8, 40, 1024, 128))),
        *_with_inner(_all("splitk_reduce", ("",), ADJACENT, parts, ((64, 32, 128, 8), (64, 32, 128, 64)))),
        *_with_inner(_all("matmul", ("plain", "persistent-nn", "persistent-nt"), EACH_LAYOUT, one, large)),
        *_with_inner(_all("matmul", ("persistent-tn", "persistent-tt"), EACH_LAYOUT, one, ())),
        *_with_inner(_all("bmm", ("plain", "persistent-nn"), ADJACENT, many, several)),
        *_with_inner(_all("bmm", ("persistent-nt", "persistent-tn", "persistent-tt"), ADJACENT, many, ())),
        *_all("transpose", ("",), EACH_LAYOUT, ragged, ((4096, 4096), (8192, 2000))),
        *(case for case in searched() if case.dtype == "bf16"),
    ]
