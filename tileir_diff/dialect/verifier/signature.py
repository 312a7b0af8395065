"""Operands, results and regions of every op: how many, and of which kind of type.

The numbers come from the op tables; the kinds stand here.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from tileir_diff.dialect.ir import types_of
from tileir_diff.dialect.verifier.broken import Broken, Rules
from tileir_diff.dialect.verifier.kinds import (
    ANY,
    BASE_FLOAT_TILE,
    FLOAT_TILE,
    GATHER_VIEW,
    I1_SCALAR,
    I1_TILE,
    I8_TILE,
    I32_SCALAR,
    I32_TILE,
    I64_TILE,
    INT_OR_I4_TILE,
    INT_SCALAR,
    INT_TILE,
    NUMBER_TILE,
    PACKABLE_TILE,
    PARTITION_VIEW,
    POINTER,
    POINTER_TILE,
    STRIDED_VIEW,
    TENSOR_VIEW,
    TILE,
    TILE_VIEW,
    TOKEN,
    Kind,
    tile_of,
)

if TYPE_CHECKING:
    from tileir_diff.dialect.ir import TileOp
    from tileir_diff.dialect.spec import OpSpec

MANY = 1 << 30

RULES: Rules = {
    "op/operand-count": "an op has as many operands in each group as its kind takes",
    "op/result-count": "an op has as many results as its kind gives",
    "op/region-count": "an op has as many regions as its kind takes, each of one block",
    "op/operand-type": "an operand has a type that the op accepts in that place",
    "op/result-type": "a result has a type that the op can give",
}

_MMAF_INPUT = tile_of(("f16", "bf16", "f32", "f64", "tf32", "f8E4M3FN", "f8E5M2"))
_MMAF_ACC = tile_of(("f16", "f32", "f64"))
_SCALED_INPUT = tile_of(("f8E4M3FN", "f8E5M2", "f4E2M1FN"))
_SCALE = tile_of(("f8E4M3FN", "f8E8M0FNU", "fnv8E5M3FNU"))
_F32_TILE = tile_of(("f32",))
_EXPONENT = tile_of(("i1", "i8", "i16", "i32"))

# One kind per operand group, then one per named result.
_Kinds = tuple[tuple[Kind, ...], tuple[Kind, ...]]


def _same(kind: Kind, groups: int, result: Kind | None = None) -> _Kinds:
    return (kind,) * groups, (result or kind,)


_BINARY_INT = (
    "addi", "subi", "muli", "shli", "divi", "remi", "maxi", "mini", "shri", "mulhii", "andi", "ori", "xori",
)  # fmt: skip
_BINARY_FLOAT = ("addf", "subf", "mulf", "divf", "maxf", "minf", "remf", "atan2", "fpowf")
_UNARY_FLOAT = (
    "sqrt", "rsqrt", "exp", "exp2", "tanh", "absf", "negf", "ceil", "floor",
    "cos", "cosh", "sin", "sinh", "tan", "log", "log2",
)  # fmt: skip
_TERMINATOR: _Kinds = ((ANY,), ())
_BLOCK_ID: _Kinds = ((), (I32_SCALAR,) * 3)

KINDS: dict[str, _Kinds] = {
    "module": ((), ()),
    "entry": ((), ()),
    "testing$func": ((), ()),
    "global": ((), ()),
    "get_global": ((), (POINTER,)),
    "get_tile_block_id": _BLOCK_ID,
    "get_num_tile_blocks": _BLOCK_ID,
    "constant": ((), (NUMBER_TILE,)),
    "reshape": _same(TILE, 1),
    "broadcast": _same(TILE, 1),
    "cat": _same(TILE, 2),
    "permute": _same(TILE, 1),
    "extract": ((TILE, I32_SCALAR), (TILE,)),
    "insert": ((TILE, TILE, I32_SCALAR), (TILE,)),
    "iota": ((), (INT_TILE,)),
    "select": ((I1_TILE, TILE, TILE), (TILE,)),
    "pack": _same(PACKABLE_TILE, 1, I8_TILE),
    "unpack": _same(I8_TILE, 1, PACKABLE_TILE),
    "offset": ((POINTER_TILE, INT_TILE), (POINTER_TILE,)),
    **{name: _same(INT_TILE, 2) for name in _BINARY_INT},
    "negi": _same(INT_TILE, 1),
    "absi": _same(INT_TILE, 1),
    "cmpi": _same(INT_TILE, 2, I1_TILE),
    **{name: _same(BASE_FLOAT_TILE, 2) for name in _BINARY_FLOAT},
    **{name: _same(BASE_FLOAT_TILE, 1) for name in _UNARY_FLOAT},
    "fma": _same(BASE_FLOAT_TILE, 3),
    "cmpf": _same(BASE_FLOAT_TILE, 2, I1_TILE),
    "fpowi": ((BASE_FLOAT_TILE, _EXPONENT), (BASE_FLOAT_TILE,)),
    "bitcast": _same(NUMBER_TILE, 1),
    "exti": _same(INT_OR_I4_TILE, 1),
    "trunci": _same(INT_OR_I4_TILE, 1),
    "ftof": _same(FLOAT_TILE, 1),
    "ftoi": _same(FLOAT_TILE, 1, INT_TILE),
    "itof": _same(INT_TILE, 1, FLOAT_TILE),
    "ptr_to_int": _same(POINTER_TILE, 1, I64_TILE),
    "int_to_ptr": _same(I64_TILE, 1, POINTER_TILE),
    "ptr_to_ptr": _same(POINTER_TILE, 1),
    "mmaf": ((_MMAF_INPUT, _MMAF_INPUT, _MMAF_ACC), (_MMAF_ACC,)),
    "mmai": ((I8_TILE, I8_TILE, I32_TILE), (I32_TILE,)),
    "mmaf_scaled": ((_SCALED_INPUT, _SCALED_INPUT, _F32_TILE, _SCALE, _SCALE), (_F32_TILE,)),
    "reduce": _same(PACKABLE_TILE, 1),
    "scan": _same(PACKABLE_TILE, 1),
    "for": ((INT_SCALAR, INT_SCALAR, INT_SCALAR, ANY), (ANY,)),
    "loop": _same(ANY, 1),
    "if": ((I1_SCALAR,), (ANY,)),
    "continue": _TERMINATOR,
    "break": _TERMINATOR,
    "yield": _TERMINATOR,
    "return": _TERMINATOR,
    "assert": ((I1_TILE,), ()),
    "load_ptr_tko": ((POINTER_TILE, I1_TILE, NUMBER_TILE, TOKEN), (NUMBER_TILE, TOKEN)),
    "store_ptr_tko": ((POINTER_TILE, NUMBER_TILE, I1_TILE, TOKEN), (TOKEN,)),
    "alloca": ((), (POINTER,)),
    "atomic_cas_tko": ((POINTER_TILE, NUMBER_TILE, NUMBER_TILE, I1_TILE, TOKEN), (NUMBER_TILE, TOKEN)),
    "atomic_rmw_tko": ((POINTER_TILE, NUMBER_TILE, I1_TILE, TOKEN), (NUMBER_TILE, TOKEN)),
    "make_tensor_view": ((POINTER, INT_SCALAR, INT_SCALAR), (TENSOR_VIEW,)),
    "make_partition_view": ((TENSOR_VIEW,), (PARTITION_VIEW,)),
    "make_strided_view": ((TENSOR_VIEW,), (STRIDED_VIEW,)),
    "make_gather_scatter_view": ((TENSOR_VIEW,), (GATHER_VIEW,)),
    "load_view_tko": ((TILE_VIEW, INT_TILE, TOKEN), (NUMBER_TILE, TOKEN)),
    "store_view_tko": ((NUMBER_TILE, TILE_VIEW, INT_TILE, TOKEN), (TOKEN,)),
    "atomic_red_view_tko": ((TILE_VIEW, INT_TILE, NUMBER_TILE, TOKEN), (TOKEN,)),
    "get_index_space_shape": ((TILE_VIEW,), (INT_SCALAR,)),
    "get_tensor_shape": ((TENSOR_VIEW,), (INT_SCALAR,)),
    "make_token": ((), (TOKEN,)),
    "join_tokens": _same(TOKEN, 1),
    "memory_fence_alias_tko": _same(TOKEN, 1),
    "gdc_launch_dependents_tko": _same(TOKEN, 1),
    "gdc_wait_tko": _same(TOKEN, 1),
    "assume": _same(ANY, 1),
    "print_tko": ((TILE, TOKEN), (TOKEN,)),
}

# Ops with a variadic group that may not be empty.
_NEEDS_ONE = frozenset(("reduce", "scan"))
_MAY_LACK_REGIONS = {"if": 1}


@cache
def _arities(spec: OpSpec) -> tuple[tuple[str, int, int], ...]:
    """Name, fewest and most operands of each group of an op."""
    arities: list[tuple[str, int, int]] = []
    for group in spec.operands:
        if group.endswith("*"):
            arities.append((group[:-1], 1 if spec.name in _NEEDS_ONE else 0, MANY))
        elif group.endswith("?"):
            arities.append((group[:-1], 0, 1))
        else:
            arities.append((group, 1, 1))
    return tuple(arities)


def _range(low: int, high: int) -> str:
    if low == high:
        return str(low)
    return f"at least {low}" if high >= MANY else f"{low} to {high}"


# Kinds of op without regions, with the types of operands and results, that keep the rules of this module and
# those on types: most ops are of a few hundred such. Types are told by identity; the lists keep them alive.
_known: dict[tuple[Any, ...], list[Any]] = {}
_KEEP = 20_000


def _key(op: TileOp, named: list[Any]) -> tuple[Any, ...]:
    return (op.short, op.segments, len(op.results), *map(id, named))


def is_known(op: TileOp) -> bool:
    """Whether numbers and types of `op` have been found to be right, in this op or in one like it."""
    return not op.regions and _key(op, types_of((*op.inputs, *op.results))) in _known


def keep(op: TileOp) -> None:
    """Numbers and types of `op` are right. (The type of a global is not among those that are compared.)"""
    if op.regions or op.short == "global":
        return
    if len(_known) > _KEEP:
        _known.clear()
    named = types_of((*op.inputs, *op.results))
    _known[_key(op, named)] = named


def check_counts(op: TileOp) -> Broken | None:
    """Numbers of operands, results, regions and blocks: whatever comes after may index into them."""
    spec = op.spec
    for (group, low, high), found in zip(_arities(spec), op.segments, strict=True):
        if not low <= found <= high:
            message = f"`{op.short}` takes {_range(low, high)} operand(s) as {group}, found {found}"
            return Broken("op/operand-count", message)
    if sum(op.segments) != len(op.inputs):
        message = f"the operand groups of `{op.short}` hold {sum(op.segments)}, found {len(op.inputs)}"
        return Broken("op/operand-count", message)
    variadic = bool(spec.results) and spec.results[0].endswith("*")
    if not variadic and len(op.results) != len(spec.results):
        message = f"`{op.short}` gives {len(spec.results)} result(s), found {len(op.results)}"
        return Broken("op/result-count", message)
    fewest, found = _MAY_LACK_REGIONS.get(op.short, spec.regions), len(op.regions)
    if not fewest <= found <= spec.regions:
        message = f"`{op.short}` takes {_range(fewest, spec.regions)} region(s), found {found}"
        return Broken("op/region-count", message)
    for number, region in enumerate(op.regions):
        if len(region.blocks) > 1 or (not region.blocks and number < fewest):
            message = f"a region of `{op.short}` holds one block, found {len(region.blocks)}"
            return Broken("op/region-count", message)
    return None


def check_operands(op: TileOp) -> Broken | None:
    """Every operand is of a kind that the op accepts in its group."""
    operands = op.inputs
    position = 0
    for kind, count, (name, _, _) in zip(KINDS[op.short][0], op.segments, _arities(op.spec), strict=True):
        for value in operands[position : position + count]:
            if not kind.accepts(value.type):
                message = f"`{op.short}` takes {kind.name} as {name}, found {value.type}"
                return Broken("op/operand-type", message, name)
        position += count
    return None


def check_results(op: TileOp) -> Broken | None:
    """Every result is of a kind that the op can give."""
    kinds = KINDS[op.short][1]
    for number, result in enumerate(op.results):
        kind = kinds[min(number, len(kinds) - 1)]
        if not kind.accepts(result.type):
            message = f"`{op.short}` gives {kind.name}, found {result.type}"
            return Broken("op/result-type", message, "result")
    return None
