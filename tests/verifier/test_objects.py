"""Constraints that no text can break, as the reader refuses it first: broken in the typed IR instead."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

import pytest
from xdsl.ir.core import OpResult, SSAValues

from tileir_diff.dialect import parse_text
from tileir_diff.dialect.attributes import DenseElements, Value
from tileir_diff.dialect.types import SCALARS, Scalar, Tile
from tileir_diff.dialect.verifier import verify

from .snippets import func

if TYPE_CHECKING:
    from tileir_diff.dialect.ir import ModuleOp, TileOp

F32 = Tile((4,), SCALARS["f32"])
SHORT = DenseElements(SCALARS["i32"], (4,), (1, 2))


class Mutation(NamedTuple):
    """`text` is valid; after `mutate`, its op `op` breaks `rule`."""

    rule: str
    text: str
    op: str
    mutate: Callable[[TileOp], None]


def find(module: ModuleOp, short: str) -> TileOp:
    for op in module.walk():
        if getattr(op, "short", None) == short:
            return op  # type: ignore[return-value]
    raise AssertionError(f"no {short}")


def set_attribute(name: str, data: object) -> Callable[[TileOp], None]:
    def mutate(op: TileOp) -> None:
        op.properties[name] = Value(data)  # type: ignore[index]

    return mutate


def retype(element: Scalar, shape: tuple[int, ...] = (4,)) -> Callable[[TileOp], None]:
    def mutate(op: TileOp) -> None:
        op.results[0]._type = Tile(shape, element)  # type: ignore[attr-defined]

    return mutate


def add_result(op: TileOp) -> None:
    op.results = SSAValues([*op.results, OpResult(op.results[0].type, op, len(op.results))])


def drop_result(op: TileOp) -> None:
    op.results = SSAValues(list(op.results)[:-1])


def drop_operand(op: TileOp) -> None:
    op.operands = list(op.operands)[:-1]
    op.segments = (*op.segments[:-1], op.segments[-1] - 1)


def drop_operand_only(op: TileOp) -> None:
    op.operands = list(op.operands)[:-1]


def move_to_end(op: TileOp) -> None:
    block = op.parent_block()
    assert block is not None
    last = block.last_op
    assert last is not None
    op.detach()
    block.insert_op_before(op, last)


def use_inner(op: TileOp) -> None:
    """Let an op use the value that the first op of its own block's `if` defines."""
    block = op.parent_block()
    assert block is not None
    branch = next(inner for inner in block.ops if getattr(inner, "short", "") == "if")
    inner = branch.regions[0].block.first_op
    assert inner is not None
    op.operands = [inner.results[0]]


def use_other_kernel(op: TileOp) -> None:
    entry = op.parent_op()
    assert entry is not None
    other = entry.prev_op
    assert other is not None
    op.operands = [other.regions[0].block.args[0]]


_VALUES = "%x: tile<4xf32>, %c: tile<i1>"
_TV = "tensor_view<16x8xf32, strides=[8,1]>"
_PART = f"partition_view<tile=(4x4), {_TV}>"
_REDUCE = func(
    "%x: tile<8xf32>",
    "%0 = reduce %x dim=0 identities=[0.0 : f32] : tile<8xf32> -> tile<f32>\n"
    "(%a: tile<f32>, %b: tile<f32>) {\nyield %a : tile<f32>\n}",
)
_LITERAL = func("", "%c = constant <i32: [1, 2, 3, 4]> : tile<4xi32>")
_CHAIN = func(_VALUES, "%y = negf %x : tile<4xf32>\n%z = absf %y : tile<4xf32>")
_BRANCH = func(_VALUES, "if %c {\n%y = negf %x : tile<4xf32>\n}\n%z = absf %x : tile<4xf32>")
_KERNELS = (
    "entry @a(%x: tile<f32>) {\nreturn\n}\nentry @b(%x: tile<f32>) {\n%y = negf %x : tile<f32>\nreturn\n}\n"
)

_GLOBAL = "global @g <i32: [1, 2, 3, 4]> : tile<4xi32>\nentry @k() { return }\n"


def drop_terminator(op: TileOp) -> None:
    """The reader puts in those that a text leaves out; a module made otherwise may lack them."""
    last = op.regions[0].block.last_op
    assert last is not None
    last.detach()


MUTATIONS = [
    Mutation("op/operand-count", func(_VALUES, "%y = addf %x, %x : tile<4xf32>"), "addf", drop_operand),
    Mutation("op/operand-count", func(_VALUES, "%y = addf %x, %x : tile<4xf32>"), "addf", drop_operand_only),
    Mutation("op/operand-count", _REDUCE, "reduce", drop_operand),
    Mutation("op/result-count", func(_VALUES, "%y = addf %x, %x : tile<4xf32>"), "addf", add_result),
    Mutation("constant/element-type", _LITERAL, "constant", retype(SCALARS["i8"])),
    Mutation("constant/shape", _LITERAL, "constant", retype(SCALARS["i32"], (8,))),
    Mutation("constant/shape", _LITERAL, "constant", set_attribute("value", SHORT)),
    Mutation("constant/shape", _GLOBAL, "global", set_attribute("value", SHORT)),
    Mutation("constant/element-type", _GLOBAL, "global", set_attribute("type", Tile((4,), SCALARS["i8"]))),
    Mutation("terminator/missing", _KERNELS, "entry", drop_terminator),
    Mutation(
        "make_tensor_view/static",
        func("%p: tile<ptr<f32>>", f"%v = make_tensor_view %p, shape = [16, 8], strides = [8, 1] : {_TV}"),
        "make_tensor_view",
        set_attribute("static_shape", (16, 4)),
    ),
    Mutation(
        "get_index_space_shape/result-count",
        func(f"%v: {_PART}", f"%n:2 = get_index_space_shape %v : {_PART} -> tile<i64>"),
        "get_index_space_shape",
        drop_result,
    ),
    Mutation(
        "get_tensor_shape/result-count",
        func(f"%v: {_TV}", f"%n:2 = get_tensor_shape %v : {_TV} -> tile<i32>"),
        "get_tensor_shape",
        add_result,
    ),
    Mutation("reduce/identity-count", _REDUCE, "reduce", set_attribute("identities", ())),
    Mutation("atomic/mode", func(
        "%p: tile<ptr<i32>>, %v: tile<i32>",
        "%r, %t = atomic_rmw_tko relaxed sys %p, add, %v : tile<ptr<i32>>, tile<i32> -> tile<i32>, token",
    ), "atomic_rmw_tko", set_attribute("mode", "nand")),
    Mutation("ssa/undefined-value", _CHAIN, "negf", move_to_end),
    Mutation("ssa/undefined-value", _BRANCH, "absf", use_inner),
    Mutation("ssa/undefined-value", _KERNELS, "negf", use_other_kernel),
    Mutation("elementwise/same-type", _CHAIN, "absf", retype(SCALARS["f16"])),
    Mutation("tile/power-of-two", _CHAIN, "absf", retype(SCALARS["f32"], (3,))),
    Mutation("op/result-type", _CHAIN, "absf", retype(SCALARS["i32"])),
]  # fmt: skip


@pytest.mark.parametrize("mutation", MUTATIONS, ids=[f"{m.rule}-{n}" for n, m in enumerate(MUTATIONS)])
def test_broken_object_is_named(mutation: Mutation) -> None:
    module = parse_text(mutation.text)
    assert verify(module) == []
    target = find(module, mutation.op)
    mutation.mutate(target)
    errors = verify(module)
    assert [error.rule for error in errors] == [mutation.rule]
