"""Single defects put into the typed IR of real dumps, each with the rule that must name it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from xdsl.ir import SSAValue

from tileir_diff.dialect.attributes import Bounded, DenseElements, DivBy, SameElements, Value
from tileir_diff.dialect.ir import ModuleOp, TileOp
from tileir_diff.dialect.types import SCALARS, TensorView, Tile, Token

Undo = Callable[[], None]


class Mutant(NamedTuple):
    """A way to break one op; `apply` does it and gives back how to undo it."""

    name: str
    rule: str
    op: TileOp
    apply: Callable[[], Undo]
    only: bool = True


def attribute(op: TileOp, rule: str, name: str, data: Any) -> Mutant:
    """`name` of `op` becomes `data`; None takes it away."""

    def apply() -> Undo:
        properties: Any = op.properties
        before = dict(properties)
        if data is None:
            properties.pop(name, None)
        else:
            properties[name] = Value(data)

        def undo() -> None:
            properties.clear()
            properties.update(before)

        return undo

    return Mutant(f"{op.short}.{name}={data}", rule, op, apply)


def operand(op: TileOp, rule: str, position: int, new: SSAValue) -> Mutant:
    """Operand `position` becomes `new`."""

    def apply() -> Undo:
        old = op.operands[position]
        op.operands[position] = new

        def undo() -> None:
            op.operands[position] = old

        return undo

    return Mutant(f"{op.short} operand {position}", rule, op, apply)


def drop_last_operand(op: TileOp, rule: str) -> Mutant:
    def apply() -> Undo:
        operands, segments = list(op.operands), op.segments
        op.operands = operands[:-1]
        last = max(index for index, size in enumerate(segments) if size)
        op.segments = tuple(size - (index == last) for index, size in enumerate(segments))

        def undo() -> None:
            op.operands = operands
            op.segments = segments

        return undo

    return Mutant(f"{op.short} without its last operand", rule, op, apply)


def result_type(op: TileOp, rule: str, new: Any) -> Mutant:
    """The first result becomes `new`; the ops that use it may be blamed too."""

    def apply() -> Undo:
        result: Any = op.results[0]
        old = result._type

        def undo() -> None:
            result._type = old

        result._type = new
        return undo

    return Mutant(f"{op.short} gives {new}", rule, op, apply, only=False)


def move_before(op: TileOp, earlier: TileOp) -> Mutant:
    """`op` moves in front of `earlier`, which defines one of its operands."""

    def apply() -> Undo:
        block, following = op.parent_block(), op.next_op
        assert block is not None
        assert following is not None
        op.detach()
        block.insert_op_before(op, earlier)

        def undo() -> None:
            op.detach()
            block.insert_op_before(op, following)

        return undo

    return Mutant(f"{op.short} before its operand", "ssa/undefined-value", op, apply)


_BAD_MODES = {
    **dict.fromkeys(("addf", "subf", "mulf", "fma", "ftof", "ftoi", "itof", "divi"), "approx"),
    **dict.fromkeys(("divf", "sqrt"), "nearest_away"),
    **dict.fromkeys(("exp", "tanh"), "zero"),
}
_FTZ = ("addf", "subf", "mulf", "fma", "divf", "sqrt", "rsqrt", "exp2", "maxf", "minf")
_ORDERED = ("load_ptr_tko", "store_ptr_tko", "load_view_tko", "store_view_tko")
_UNCHECKED_OPERANDS = ("assume", "return", "continue", "break", "yield", "loop", "for", "print_tko", "if")


def mutants(module: ModuleOp) -> Iterator[Mutant]:
    """Every defect that makes sense in `module`, in the order of its text."""
    for entry in module.entries:
        token = next((v for op in entry.walk() for v in op.results if isinstance(v.type, Token)), None)
        for op in entry.walk():
            if isinstance(op, TileOp) and op is not entry:
                yield from _of_op(op, entry, token)


def _of_op(op: TileOp, entry: TileOp, token: SSAValue | None) -> Iterator[Mutant]:
    yield from _of_modes(op)
    yield from _of_shapes(op)
    yield from _of_memory(op)
    yield from _of_assumptions(op)
    yield from _of_control(op)
    yield from _of_operands(op, entry, token)


def _of_modes(op: TileOp) -> Iterator[Mutant]:
    if op.short in _BAD_MODES:
        yield attribute(op, f"{op.short}/rounding", "rounding", _BAD_MODES[op.short])
    element: Any = getattr(op.results[0].type, "element", None) if op.results else None
    if op.short in _FTZ and element.name != "f32":
        yield attribute(op, "flush-to-zero/f32", "flush_to_zero", True)
    if op.short in ("divf", "sqrt", "exp", "tanh") and element.name != "f32":
        yield attribute(op, f"{op.short}/f32-rounding", "rounding", "approx")
    if op.short == "divi" and op.get("signed") == "unsigned":
        yield attribute(op, "divi/unsigned-negative-inf", "rounding", "negative_inf")
    if op.short == "negi":
        yield attribute(op, "negi/overflow", "overflow", "nuw")


def _of_shapes(op: TileOp) -> Iterator[Mutant]:
    if op.short in ("reduce", "scan"):
        rank = len(op.operands[0].type.shape)  # type: ignore[attr-defined]
        yield attribute(op, "reduce/dim", "dim", rank)
        yield attribute(
            op, "reduce/identity-count", "identities", (*op.get("identities"), op.get("identities")[0])
        )
        wrong = DenseElements(SCALARS["fnv8E5M3FNU"], (), (0,))
        yield attribute(op, "reduce/identity-type", "identities", (wrong,) * len(op.operands))
    if op.short == "cat":
        yield attribute(op, "cat/dim", "dim", -1)
    if op.short == "permute":
        yield attribute(op, "permute/permutation", "permutation", (0,) * len(op.get("permutation")))
    if op.short == "constant":
        value: DenseElements = op.get("value")
        wrong = "i8" if value.element.name != "i8" else "i16"
        yield attribute(
            op, "constant/element-type", "value", DenseElements(SCALARS[wrong], value.shape, value.bits)
        )
        yield attribute(
            op, "constant/shape", "value", DenseElements(value.element, (*value.shape, 2), value.bits)
        )
    if op.results and isinstance(op.results[0].type, Tile) and op.results[0].type.shape:
        tile = op.results[0].type
        yield result_type(op, "tile/power-of-two", Tile((*tile.shape[:-1], 3), tile.element))
        yield result_type(op, "tile/positive", Tile((*tile.shape[:-1], 0), tile.element))
        yield result_type(op, "tile/element-count", Tile((1 << 24, 2), tile.element))


def _of_memory(op: TileOp) -> Iterator[Mutant]:
    if op.short in _ORDERED:
        yield attribute(op, f"{op.short}/ordering", "memory_ordering", "acq_rel")
        if op.get("memory_ordering") == "weak":
            yield attribute(op, "memory-order/weak-scope", "memory_scope", "sys")
            yield attribute(op, "memory-order/missing-scope", "memory_ordering", "relaxed")
    if op.short.startswith("atomic"):
        yield attribute(op, f"{op.short}/ordering", "memory_ordering", "weak")
        yield attribute(op, "memory-order/missing-scope", "memory_scope", None)
    if op.short == "atomic_rmw_tko":
        yield attribute(op, "atomic/element-type", "mode", "add" if op.get("mode") == "addf" else "addf")
    if op.short in ("load_view_tko", "store_view_tko"):
        yield attribute(op, "view-access/inbounds", "inbounds", (True,) * (len(op.group("index")) + 1))
    if op.short == "make_tensor_view":
        sizes = op.get("static_shape")
        if any(size is not None for size in sizes):
            wrong = tuple(size + 1 if size is not None else None for size in sizes)
            yield attribute(op, "make_tensor_view/static", "static_shape", wrong)
    if op.short == "get_global":
        yield attribute(op, "get_global/symbol", "sym_name", "no such symbol")


def _of_assumptions(op: TileOp) -> Iterator[Mutant]:
    if op.short == "print_tko":
        yield attribute(op, "print_tko/operand-count", "format", op.get("format") + " %d")
        yield attribute(op, "print_tko/format", "format", op.get("format") + "%")
    if op.short != "assume":
        return
    type_ = op.operands[0].type
    yield attribute(op, "div_by/divisor", "assumption", DivBy(3))
    if isinstance(type_, TensorView):
        yield attribute(op, "bounded/target", "assumption", Bounded(0, None))
        yield attribute(op, "same_elements/target", "assumption", SameElements(()))
        return
    assert isinstance(type_, Tile)
    yield attribute(op, "same_elements/sizes", "assumption", SameElements((1,) * (len(type_.shape) + 1)))
    yield attribute(op, "div_by/every", "assumption", DivBy(4, 1, len(type_.shape)))
    if getattr(type_.element, "is_int", False):
        yield attribute(op, "bounded/order", "assumption", Bounded(0, -1))
        yield attribute(op, "bounded/range", "assumption", Bounded(None, 1 << 63))


def _of_control(op: TileOp) -> Iterator[Mutant]:
    parent = op.parent_op()
    if op.short in ("continue", "break", "yield") and op.operands:
        target: Any = parent
        while op.short != "yield" and target.short == "if":
            target = target.parent_op()
        rule = "reduce/yield" if target.short in ("reduce", "scan") else f"{op.short}/operands"
        yield drop_last_operand(op, rule)


def _of_operands(op: TileOp, entry: TileOp, token: SSAValue | None) -> Iterator[Mutant]:
    if op.short in _UNCHECKED_OPERANDS or not op.operands:
        return
    parameter = entry.regions[0].block.args[0] if entry.regions[0].block.args else None
    first = op.operands[0]
    if token is not None and not isinstance(first.type, Token) and _defined_before(token, op):
        yield operand(op, "op/operand-type", 0, token)
    if parameter is not None and isinstance(first.type, Token):
        yield operand(op, "op/operand-type", 0, parameter)
    if not any(group.endswith(("?", "*")) for group in op.spec.operands):
        yield drop_last_operand(op, "op/operand-count")
    before = op.prev_op
    if isinstance(before, TileOp) and first in before.results and op.next_op is not None:
        yield move_before(op, before)


def _defined_before(token: SSAValue, op: TileOp) -> bool:
    """The token is a top-level value of the kernel, above `op`."""
    owner: Any = token.owner
    top: Any = op
    while top.parent_op() is not None and top.parent_op().spec.custom != "function":
        top = top.parent_op()
    return owner.parent_block() is top.parent_block() and owner.parent_block().get_operation_index(owner) < (
        owner.parent_block().get_operation_index(top)
    )
