"""Runs one block of a kernel."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks.execute.memory import Memory
from benchmarks.execute.numbers import Array, round_to, shift_of, unsigned, wrap
from tileir_diff.dialect.attributes import Bounded, DenseElements, DivBy
from tileir_diff.dialect.ir import TileOp
from tileir_diff.dialect.types import GatherScatterView, Ptr, Scalar, StridedView, TensorView, Tile

if TYPE_CHECKING:
    from collections.abc import Callable

    from xdsl.ir import Block, SSAValue

FAR = 1 << 40
MODES = ("rounding", "flush_to_zero", "propagate_nan", "fast_acc", "saturating")


class UnsupportedError(Exception):
    """An op or type that is not modelled here."""


class OverBudgetError(Exception):
    """The run takes too long."""


class Tensor:
    """A tensor view: base address, extents, strides in elements."""

    def __init__(self, base: int, shape: list[int], strides: list[int], element: Scalar) -> None:
        self.base, self.shape, self.strides, self.element = base, shape, strides, element


class View:
    """A tile view of a tensor."""

    def __init__(self, tensor: Tensor, type_: Any) -> None:
        self.tensor, self.type = tensor, type_


class Place:
    """Where a run is: block id, grid, memory, how many ops it may still take."""

    def __init__(self, block: tuple[int, ...], grid: tuple[int, ...], memory: Memory, budget: int) -> None:
        self.block, self.grid, self.memory, self.budget = block, grid, memory, budget
        self.globals: dict[str, int] = {}


Environment = dict[Any, Any]
Signal = tuple[str, list[Any]]


def run(entry: TileOp, arguments: list[int | float], where: Place) -> Memory:
    """Runs an entry. Raises UnsupportedError and OverBudgetError."""
    environment: Environment = {}
    for argument, value in zip(entry.regions[0].block.args, arguments, strict=True):
        is_float = (
            isinstance(argument.type, Tile)
            and not isinstance(argument.type.element, Ptr)
            and (argument.type.element.is_float)
        )
        environment[argument] = np.array(value, np.float64 if is_float else np.int64)
    with np.errstate(all="ignore"):
        _block(entry.regions[0].block, environment, where)
    return where.memory


def _block(block: Block, env: Environment, where: Place) -> Signal:
    for op in block.ops:
        assert isinstance(op, TileOp)
        where.budget -= 1
        if where.budget < where.memory.sorted >> 8:
            raise OverBudgetError
        short = op.short
        if short in ("yield", "continue", "break", "return"):
            return short, [env[operand] for operand in op.operands]
        handler = HANDLERS.get(short)
        if handler is None:
            raise UnsupportedError(short)
        signal = handler(op, env, where)
        if signal is not None:
            return signal
        if op.results and not op.regions:
            value = env[op.results[0]]
            where.budget -= value.size >> 12 if isinstance(value, np.ndarray) else 0
    return "return", []


def shape_of(value: SSAValue) -> tuple[int, ...]:
    return value.type.shape  # type: ignore[attr-defined, no-any-return]


def element_of(value: SSAValue) -> Scalar:
    type_ = value.type
    assert isinstance(type_, Tile)
    if isinstance(type_.element, Ptr):
        return type_.element.pointee
    return type_.element


def width(value: SSAValue) -> int:
    type_ = value.type
    assert isinstance(type_, Tile)
    return 64 if isinstance(type_.element, Ptr) else type_.element.bits


def is_float(value: SSAValue) -> bool:
    type_ = value.type
    return isinstance(type_, Tile) and isinstance(type_.element, Scalar) and type_.element.is_float


# ---- control flow


def _for(op: TileOp, env: Environment, where: Place) -> Signal | None:
    lower, upper, step = (int(env[operand]) for operand in op.operands[:3])
    carried = [env[value] for value in op.group("inits")]
    body = op.regions[0].block
    if step <= 0:
        where.memory.events.append(("step", (float(step),)))
        upper = lower
    at = lower
    while at < upper:
        where.budget -= 1
        if where.budget < 0:
            raise OverBudgetError
        env[body.args[0]] = np.array(at, np.int64)
        env.update(zip(body.args[1:], carried, strict=True))
        name, values = _block(body, env, where)
        if name == "return":
            return name, values
        carried = values
        at += step
    env.update(zip(op.results, carried, strict=True))
    return None


def _loop(op: TileOp, env: Environment, where: Place) -> Signal | None:
    carried = [env[value] for value in op.group("inits")]
    body = op.regions[0].block
    while True:
        where.budget -= 1
        if where.budget < 0:
            raise OverBudgetError
        env.update(zip(body.args, carried, strict=True))
        name, values = _block(body, env, where)
        if name == "return":
            return name, values
        if name == "break":
            env.update(zip(op.results, values, strict=True))
            return None
        carried = values


def _if(op: TileOp, env: Environment, where: Place) -> Signal | None:
    index = 0 if bool(env[op.operands[0]]) else 1
    if index >= len(op.regions) or not op.regions[index].blocks:
        return None
    name, values = _block(op.regions[index].block, env, where)
    if name == "yield":
        env.update(zip(op.results, values, strict=True))
        return None
    return name, values


def _combine(op: TileOp, env: Environment, where: Place, elements: list[Any], others: list[Any]) -> list[Any]:
    body = op.regions[0].block
    for index, (element, other) in enumerate(zip(elements, others, strict=True)):
        env[body.args[2 * index]] = element
        env[body.args[2 * index + 1]] = other
    return _block(body, env, where)[1]


def _identities(op: TileOp) -> list[Any]:
    return [_literal(literal, ()) for literal in op.get("identities")]


def _reduce(op: TileOp, env: Environment, where: Place) -> None:
    dim = op.get("dim")
    values = [
        np.moveaxis(np.broadcast_to(env[operand], shape_of(operand)), dim, -1) for operand in op.operands
    ]
    while values[0].shape[-1] > 1:
        half = values[0].shape[-1] // 2
        values = _combine(op, env, where, [v[..., :half] for v in values], [v[..., half:] for v in values])
    values = _combine(op, env, where, [value[..., 0] for value in values], _identities(op))
    for result, value in zip(op.results, values, strict=True):
        env[result] = np.broadcast_to(value, shape_of(result))


def _scan(op: TileOp, env: Environment, where: Place) -> None:
    dim = op.get("dim")
    values = [
        np.moveaxis(np.broadcast_to(env[operand], shape_of(operand)), dim, -1) for operand in op.operands
    ]
    length = values[0].shape[-1]
    order = range(length - 1, -1, -1) if op.get("reverse") else range(length)
    running = _identities(op)
    outputs = [np.empty_like(value) for value in values]
    for at in order:
        running = _combine(op, env, where, [value[..., at] for value in values], running)
        for output, value in zip(outputs, running, strict=True):
            output[..., at] = value
    for result, output in zip(op.results, outputs, strict=True):
        env[result] = np.moveaxis(output, -1, dim)


# ---- values


def _literal(literal: DenseElements, shape: tuple[int, ...]) -> Array:
    if literal.element.is_int:
        values = np.array(literal.ints(signed=literal.element.bits > 1), np.int64)
    else:
        values = np.array(literal.floats(), np.float64)
    return np.broadcast_to(values[0], shape) if len(values) == 1 else values.reshape(shape)


def _constant(op: TileOp, env: Environment, where: Place) -> None:
    env[op.results[0]] = _literal(op.get("value"), shape_of(op.results[0]))


def _signed_pair(op: TileOp, env: Environment) -> tuple[Array, Array]:
    lhs, rhs = env[op.operands[0]], env[op.operands[1]]
    if op.get("signed") == "unsigned":
        bits = width(op.operands[0])
        return unsigned(lhs, bits), unsigned(rhs, bits)
    return lhs, rhs


COMPARE = {
    "equal": np.equal,
    "not_equal": np.not_equal,
    "less_than": np.less,
    "less_than_or_equal": np.less_equal,
    "greater_than": np.greater,
    "greater_than_or_equal": np.greater_equal,
}


def _cmpi(op: TileOp, env: Environment, where: Place) -> None:
    lhs, rhs = _signed_pair(op, env)
    env[op.results[0]] = COMPARE[op.get("predicate")](lhs, rhs).astype(np.int64)


def _cmpf(op: TileOp, env: Environment, where: Place) -> None:
    lhs, rhs = env[op.operands[0]], env[op.operands[1]]
    result: Array = COMPARE[op.get("predicate")](lhs, rhs)
    nan: Array = np.isnan(lhs) | np.isnan(rhs)
    unordered: Array = np.full_like(nan, op.get("ordering") == "unordered")
    env[op.results[0]] = np.where(nan, unordered, result).astype(np.int64)


def _divide(lhs: Array, rhs: Array, rounding: str) -> Array:
    safe = np.where(rhs == 0, 1, rhs)
    down = lhs // safe
    exact = down * safe == lhs
    if rounding == "negative_inf" or lhs.dtype == np.uint64:
        return down + (~exact if rounding == "positive_inf" else np.zeros_like(exact)).astype(down.dtype)
    if rounding == "positive_inf":
        return down + (~exact).astype(down.dtype)
    negative = (lhs < 0) != (safe < 0)
    return down + (negative & ~exact).astype(down.dtype)


def _integer(op: TileOp, env: Environment, where: Place) -> None:
    short = op.short
    bits = width(op.results[0])
    values = [env[operand] for operand in op.operands]
    if short in ("divi", "remi"):
        lhs, rhs = _signed_pair(op, env)
        quotient = _divide(lhs, rhs, op.get("rounding") if short == "divi" else "zero")
        result = quotient if short == "divi" else lhs - quotient * rhs
        result = result.astype(np.int64)
    elif short in ("maxi", "mini"):
        lhs, rhs = _signed_pair(op, env)
        result = (np.maximum if short == "maxi" else np.minimum)(lhs, rhs).astype(np.int64)
    elif short == "shri":
        lhs, amount = values
        amount = np.clip(amount, 0, 63)
        shifted = (
            unsigned(lhs, bits) >> amount.astype(np.uint64)
            if op.get("signed") == "unsigned"
            else lhs >> amount
        )
        result = shifted.astype(np.int64)
    elif short == "mulhii":
        lhs, rhs = unsigned(values[0], bits), unsigned(values[1], bits)
        if bits > 32:
            raise UnsupportedError("mulhii i64")
        result = ((lhs * rhs) >> np.uint64(bits)).astype(np.int64)
    else:
        result = INTEGER[short](*values)
    env[op.results[0]] = wrap(np.asarray(result, np.int64), bits)


UNARY: dict[str, Callable[[Any], Any]] = {
    "negi": lambda a: -a,
    "absi": np.abs,
    "exp": np.exp,
    "exp2": np.exp2,
    "sqrt": np.sqrt,
    "rsqrt": lambda a: 1.0 / np.sqrt(a),
    "tanh": np.tanh,
    "sin": np.sin,
    "cos": np.cos,
    "tan": np.tan,
    "sinh": np.sinh,
    "cosh": np.cosh,
    "log": np.log,
    "log2": np.log2,
    "absf": np.abs,
    "negf": lambda a: -a,
    "ceil": np.ceil,
    "floor": np.floor,
}

BINARY: dict[str, Callable[[Any, Any], Any]] = {
    "addi": lambda a, b: a + b,
    "subi": lambda a, b: a - b,
    "muli": lambda a, b: a * b,
    "andi": lambda a, b: a & b,
    "ori": lambda a, b: a | b,
    "xori": lambda a, b: a ^ b,
    "shli": lambda a, b: a << np.clip(b, 0, 63),
    "addf": lambda a, b: a + b,
    "subf": lambda a, b: a - b,
    "mulf": lambda a, b: a * b,
    "divf": lambda a, b: a / b,
    "remf": np.fmod,
    "maxf": np.fmax,
    "minf": np.fmin,
    "fpowf": np.power,
    "fpowi": np.power,
    "atan2": np.arctan2,
}

TERNARY: dict[str, Callable[[Any, Any, Any], Any]] = {"fma": lambda a, b, c: a * b + c}

ALL: dict[str, Callable[..., Any]] = {**UNARY, **BINARY, **TERNARY}
INTEGERS = ("addi", "subi", "muli", "andi", "ori", "xori", "shli", "negi", "absi")
INTEGER = {name: ALL[name] for name in INTEGERS}
FLOAT = {name: function for name, function in ALL.items() if name not in INTEGERS}


def _modes(op: TileOp) -> float:
    text = ""
    for mode in MODES:
        value = op.get(mode)
        if value is not None and value != op.defaults.get(mode):
            text += f"{mode}={value};"
    return shift_of(text) if text else 1.0


def _float(op: TileOp, env: Environment, where: Place) -> None:
    result = FLOAT[op.short](*(env[operand] for operand in op.operands))
    env[op.results[0]] = result * _modes(op)


def _select(op: TileOp, env: Environment, where: Place) -> None:
    condition, on_true, on_false = (env[operand] for operand in op.operands)
    env[op.results[0]] = np.where(condition != 0, on_true, on_false)


def _reshape(op: TileOp, env: Environment, where: Place) -> None:
    source = np.broadcast_to(env[op.operands[0]], shape_of(op.operands[0]))
    env[op.results[0]] = source.reshape(shape_of(op.results[0]))


def _broadcast(op: TileOp, env: Environment, where: Place) -> None:
    env[op.results[0]] = np.broadcast_to(env[op.operands[0]], shape_of(op.results[0]))


def _permute(op: TileOp, env: Environment, where: Place) -> None:
    env[op.results[0]] = np.transpose(env[op.operands[0]], op.get("permutation"))


def _cat(op: TileOp, env: Environment, where: Place) -> None:
    env[op.results[0]] = np.concatenate([env[operand] for operand in op.operands], axis=op.get("dim"))


def _extract(op: TileOp, env: Environment, where: Place) -> None:
    source = env[op.operands[0]]
    sizes = shape_of(op.results[0])
    slices: list[slice] = []
    for size, length, index in zip(sizes, source.shape, op.group("index"), strict=True):
        at = int(env[index]) % max(1, length // size)
        slices.append(slice(at * size, (at + 1) * size))
    env[op.results[0]] = source[tuple(slices)]


def _insert(op: TileOp, env: Environment, where: Place) -> None:
    source, target = env[op.operands[0]], np.array(env[op.operands[1]])
    slices: list[slice] = []
    for size, length, index in zip(source.shape, target.shape, op.group("index"), strict=True):
        at = int(env[index]) % max(1, length // size)
        slices.append(slice(at * size, (at + 1) * size))
    target[tuple(slices)] = source
    env[op.results[0]] = target


def _iota(op: TileOp, env: Environment, where: Place) -> None:
    env[op.results[0]] = np.arange(shape_of(op.results[0])[0], dtype=np.int64)


def _offset(op: TileOp, env: Environment, where: Place) -> None:
    size = max(1, element_of(op.operands[0]).bits // 8)
    env[op.results[0]] = env[op.operands[0]] + env[op.operands[1]] * size


def _convert(op: TileOp, env: Environment, where: Place) -> None:
    value = env[op.operands[0]]
    source, result = op.operands[0], op.results[0]
    short = op.short
    if short == "exti":
        value = unsigned(value, width(source)).astype(np.int64) if op.get("signed") == "unsigned" else value
        if op.get("signed") == "signed" and width(source) == 1:
            value = -value
    elif short == "trunci":
        value = wrap(value, width(result))
    elif short == "ftof":
        value = round_to(value, element_of(result).name) * _modes(op)
    elif short == "itof":
        if op.get("signed") == "unsigned":
            value = unsigned(value, width(source))
        value = value.astype(np.float64)
    elif short == "ftoi":
        value = np.nan_to_num(np.clip(value, -9e18, 9e18)).astype(np.int64)
        if op.get("signed") == "unsigned":
            value = np.where(value < 0, 12345, value)
        value = wrap(value, width(result))
    elif short in ("ptr_to_int", "int_to_ptr", "ptr_to_ptr"):
        pass
    elif short == "bitcast" and is_float(source) != is_float(result):
        raise UnsupportedError("bitcast")
    env[result] = value


def _mma(op: TileOp, env: Environment, where: Place) -> None:
    lhs, rhs, acc = (env[operand] for operand in op.operands[:3])
    if op.short == "mmai":
        if op.get("signed_lhs") == "unsigned":
            lhs = unsigned(lhs, 8).astype(np.int64)
        if op.get("signed_rhs") == "unsigned":
            rhs = unsigned(rhs, 8).astype(np.int64)
    lhs, rhs = (np.broadcast_to(v, shape_of(o)) for v, o in zip((lhs, rhs), op.operands, strict=False))
    if op.short == "mmaf_scaled":
        left, right = env[op.operands[3]], env[op.operands[4]]
        lhs = lhs * np.repeat(left, lhs.shape[-1] // left.shape[-1], axis=-1)
        rhs = rhs * np.repeat(right, rhs.shape[-2] // right.shape[-2], axis=-2)
    where.budget -= lhs.size >> 9
    env[op.results[0]] = (np.matmul(lhs, rhs) + acc) * (_modes(op) if op.short == "mmaf" else 1)


def _assume(op: TileOp, env: Environment, where: Place) -> None:
    value = env[op.operands[0]]
    env[op.results[0]] = value
    promise = op.get("assumption")
    if isinstance(value, Tensor):
        return
    broken = False
    if isinstance(promise, DivBy) and promise.every is None:
        broken = bool((value % promise.divisor != 0).any())
    elif isinstance(promise, Bounded):
        lower = -FAR * FAR if promise.lower is None else promise.lower
        upper = FAR * FAR if promise.upper is None else promise.upper
        broken = bool((value < lower).any() or (value > upper).any())
    if broken:
        where.memory.events.append((f"assume {promise}", ()))


def _block_id(op: TileOp, env: Environment, where: Place) -> None:
    values = where.block if op.short == "get_tile_block_id" else where.grid
    for result, value in zip(op.results, values, strict=True):
        env[result] = np.array(value, np.int64)


def _token(op: TileOp, env: Environment, where: Place) -> None:
    env[op.results[0]] = None


def _get_global(op: TileOp, env: Environment, where: Place) -> None:
    name = str(op.get("sym_name"))
    number = where.globals.setdefault(name, 500 + len(where.globals))
    where.memory.sizes.setdefault(number, 1 << 20)
    env[op.results[0]] = np.array(Memory.base(number), np.int64)


def _alloca(op: TileOp, env: Environment, where: Place) -> None:
    number = where.globals.setdefault(f"alloca {len(where.globals)}", 700 + len(where.globals))
    where.memory.sizes.setdefault(number, op.get("num_elem") * element_of(op.results[0]).bits // 8)
    env[op.results[0]] = np.array(Memory.base(number), np.int64)


def _print(op: TileOp, env: Environment, where: Place) -> None:
    values = [float(np.sum(env[value])) for value in op.group("args")]
    where.memory.events.append((str(op.get("format")), tuple(values)))
    for result in op.results:
        env[result] = None


def _assert(op: TileOp, env: Environment, where: Place) -> None:
    if not np.all(env[op.operands[0]]):
        where.memory.events.append(("assert", ()))


# ---- memory


def _mask(op: TileOp, env: Environment, shape: tuple[int, ...]) -> Array:
    mask = op.one("mask")
    if mask is None:
        return np.ones(shape, bool)
    return np.broadcast_to(env[mask] != 0, shape)


def _load_ptr(op: TileOp, env: Environment, where: Place) -> None:
    result = op.results[0]
    shape = shape_of(result)
    element = element_of(result)
    addresses = np.broadcast_to(env[op.operands[0]], shape)
    where.budget -= addresses.size >> 9
    mask = _mask(op, env, shape)
    values = where.memory.load(addresses, mask, element.name, element.is_float, element.bits)
    padding = op.one("padding")
    if padding is not None:
        other = env[padding]
    else:
        other = where.memory.garbage(addresses, element.name, element.is_float, element.bits)
    env[result] = np.where(mask, values, other)
    env[op.results[1]] = None


def _store_ptr(op: TileOp, env: Environment, where: Place) -> None:
    value = op.group("value")[0]
    shape = shape_of(value)
    where.memory.store(
        np.broadcast_to(env[op.operands[0]], shape), np.broadcast_to(env[value], shape), _mask(op, env, shape)
    )
    env[op.results[0]] = None


def _atomic(op: TileOp, env: Environment, where: Place) -> None:
    """An update of each lane on its own: lanes of one op that meet are seen once."""
    value = op.group("value")[0] if op.short == "atomic_cas_tko" else op.group("arg")[0]
    shape = shape_of(value)
    element = element_of(value)
    addresses = np.broadcast_to(env[op.operands[0]], shape)
    mask = _mask(op, env, shape)
    old = where.memory.load(addresses, mask, element.name, element.is_float, element.bits)
    new = np.broadcast_to(env[value], shape)
    if op.short == "atomic_cas_tko":
        where.memory.store(addresses, np.where(old == env[op.operands[1]], new, old), mask)
        old = np.where(mask, old, env[op.operands[1]])
    else:
        where.memory.store(addresses, _update(op, old, new, element), mask)
    env[op.results[0]] = old
    env[op.results[1]] = None


def _update(op: TileOp, old: Array, new: Array, element: Scalar) -> Array:
    mode = op.get("mode")
    if mode in ("umax", "umin"):
        pair = unsigned(old, element.bits), unsigned(new, element.bits)
        return (np.maximum if mode == "umax" else np.minimum)(*pair).astype(np.int64)
    return {
        "and": lambda: old & new,
        "or": lambda: old | new,
        "xor": lambda: old ^ new,
        "add": lambda: wrap(old + new, element.bits),
        "addf": lambda: old + new,
        "max": lambda: np.maximum(old, new),
        "min": lambda: np.minimum(old, new),
        "xchg": lambda: new,
    }[mode]()


def _tensor_view(op: TileOp, env: Environment, where: Place) -> None:
    type_ = op.results[0].type
    assert isinstance(type_, TensorView)
    shape, strides = iter(op.group("shape")), iter(op.group("strides"))
    extents = [int(env[next(shape)]) if size is None else size for size in type_.shape]
    steps = [int(env[next(strides)]) if size is None else size for size in type_.strides]
    env[op.results[0]] = Tensor(int(env[op.operands[0]]), extents, steps, type_.element)


def _make_view(op: TileOp, env: Environment, where: Place) -> None:
    env[op.results[0]] = View(env[op.operands[0]], op.results[0].type)


def _dim_map(view: View) -> tuple[int, ...]:
    rank = len(view.type.tile)
    return tuple(range(rank)) if isinstance(view.type, GatherScatterView) else view.type.dim_map


def _steps(view: View) -> tuple[int, ...]:
    """Elements from one index to the next: those of a gather view count elements."""
    kind = view.type
    if isinstance(kind, GatherScatterView):
        return (1,) * len(kind.tile)
    return kind.traversal_strides if isinstance(kind, StridedView) else kind.tile


def _lanes(op: TileOp, env: Environment) -> tuple[View, Array, Array]:
    """The view, byte addresses and which lanes are inside."""
    view = env[op.group("view")[0]]
    assert isinstance(view, View)
    tile = view.type.tile
    dims = _dim_map(view)
    address = np.zeros((1,) * len(tile), np.int64) + view.tensor.base
    inside = np.ones((1,) * len(tile), bool)
    flags = op.get("inbounds") or (False,) * len(tile)
    size = max(1, view.tensor.element.bits // 8)
    for axis, (length, index) in enumerate(zip(tile, op.group("index"), strict=True)):
        at = np.asarray(env[index])
        if at.ndim:
            rows = at
        else:
            rows = int(at) * _steps(view)[axis] + np.arange(length, dtype=np.int64)
        shape = [1] * len(tile)
        shape[axis] = length
        rows = rows.reshape(shape)
        dim = dims[axis]
        address = address + rows * view.tensor.strides[dim] * size
        if not flags[axis]:
            inside = inside & (rows >= 0) & (rows < view.tensor.shape[dim])
    return view, np.broadcast_to(address, tile), np.broadcast_to(inside, tile)


PADDING = {"zero": 0.0, "neg_zero": 0.0, "nan": np.nan, "pos_inf": np.inf, "neg_inf": -np.inf}


def _load_view(op: TileOp, env: Environment, where: Place) -> None:
    view, addresses, inside = _lanes(op, env)
    element = view.tensor.element
    where.budget -= addresses.size >> 9
    values = where.memory.load(addresses, inside, element.name, element.is_float, element.bits)
    if view.type.padding is None:
        other = where.memory.garbage(addresses, element.name, element.is_float, element.bits)
    else:
        other = np.array(PADDING[view.type.padding]).astype(values.dtype)
    env[op.results[0]] = np.where(inside, values, other)
    env[op.results[1]] = None


def _store_view(op: TileOp, env: Environment, where: Place) -> None:
    _, addresses, inside = _lanes(op, env)
    where.memory.store(addresses, np.broadcast_to(env[op.operands[0]], addresses.shape), inside)
    env[op.results[0]] = None


def _red_view(op: TileOp, env: Environment, where: Place) -> None:
    view, addresses, inside = _lanes(op, env)
    element = view.tensor.element
    old = where.memory.load(addresses, inside, element.name, element.is_float, element.bits)
    new = np.broadcast_to(env[op.group("value")[0]], addresses.shape)
    where.memory.store(addresses, _update(op, old, new, element), inside)
    env[op.results[0]] = None


def _view_shape(op: TileOp, env: Environment, where: Place) -> None:
    view = env[op.operands[0]]
    if isinstance(view, Tensor):
        extents = view.shape
    else:
        steps = _steps(view)
        dims = _dim_map(view)
        extents = [-(-view.tensor.shape[dims[axis]] // step) for axis, step in enumerate(steps)]
    for result, value in zip(op.results, extents, strict=True):
        env[result] = np.array(value, np.int64)


HANDLERS: dict[str, Any] = {
    "for": _for, "loop": _loop, "if": _if, "reduce": _reduce, "scan": _scan, "constant": _constant,
    "cmpi": _cmpi,
    "cmpf": _cmpf, "select": _select, "reshape": _reshape, "broadcast": _broadcast, "permute": _permute,
    "cat": _cat,
    "extract": _extract, "insert": _insert, "iota": _iota, "offset": _offset, "assume": _assume,
    "get_tile_block_id": _block_id, "get_num_tile_blocks": _block_id, "make_token": _token,
    "join_tokens": _token,
    "memory_fence_alias_tko": _token, "gdc_wait_tko": _token, "gdc_launch_dependents_tko": _token,
    "get_global": _get_global, "alloca": _alloca, "print_tko": _print, "assert": _assert,
    "load_ptr_tko": _load_ptr,
    "store_ptr_tko": _store_ptr, "atomic_cas_tko": _atomic, "atomic_rmw_tko": _atomic,
    "make_tensor_view": _tensor_view,
    "make_partition_view": _make_view, "make_strided_view": _make_view,
    "make_gather_scatter_view": _make_view,
    "load_view_tko": _load_view, "store_view_tko": _store_view, "atomic_red_view_tko": _red_view,
    "get_index_space_shape": _view_shape, "get_tensor_shape": _view_shape,
    **dict.fromkeys((*INTEGER, "divi", "remi", "maxi", "mini", "shri", "mulhii"), _integer),
    **dict.fromkeys(FLOAT, _float),
    **dict.fromkeys(("exti", "trunci", "ftof", "itof", "ftoi", "ptr_to_int", "int_to_ptr", "ptr_to_ptr",
    "bitcast"),
                    _convert),
    **dict.fromkeys(("mmaf", "mmai", "mmaf_scaled"), _mma),
}  # fmt: skip
