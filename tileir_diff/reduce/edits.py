"""Ways to make a module smaller. Each names the places where it applies, and changes a copy at some of them.

A place is the number of an op in `module.walk()`. What an edit makes need not be valid: the verifier decides.
"""

from __future__ import annotations

from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any, Final, NamedTuple, cast

from tileir_diff.dialect.attributes import DenseElements, value
from tileir_diff.dialect.ir import TileOp, op_class, replace_uses
from tileir_diff.dialect.spec import REQUIRED
from tileir_diff.dialect.types import FunctionType, Scalar, Tile, Token

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from xdsl.ir import Block, BlockArgument, Operation, SSAValue

    from tileir_diff.dialect.ir import ModuleOp

OPTIONAL: Final = "?"
STRUCTURE: Final = ("module", "return", "continue", "break", "yield")
LOOPS: Final = ("for", "loop")
NUMBERLESS: Final = ("i4",)
"""Element types of which there is no constant."""


class Edit(NamedTuple):
    """One way. `places` of a module in order; `apply` changes a copy at those numbers, and returns it."""

    name: str
    places: Callable[[ModuleOp], list[int]]
    apply: Callable[[ModuleOp, Collection[int]], ModuleOp]


def _ops(module: ModuleOp) -> list[TileOp]:
    return [cast("TileOp", op) for op in module.walk()]


def _where(test: Callable[[TileOp], bool]) -> Callable[[ModuleOp], list[int]]:
    return lambda module: [number for number, op in enumerate(_ops(module)) if test(op)]


def _each(change: Callable[[TileOp], None]) -> Callable[[ModuleOp, Collection[int]], ModuleOp]:
    """Changes the ops at some places of a copy, later ones first: users before what they use."""

    def apply(module: ModuleOp, places: Collection[int]) -> ModuleOp:
        copy = module.clone()
        ops = _ops(copy)
        for place in sorted(places, reverse=True):
            change(ops[place])
        return copy

    return apply


# ---- ops


def _is_removable(op: TileOp) -> bool:
    return op.short not in STRUCTURE and op.parent_op() is not None


def _remove(op: TileOp) -> None:
    """Takes an op out; what still uses its results gets another value of the type. Else it stays."""
    stand_ins: list[SSAValue | None] = [_stand_in(op, result) for result in op.results]
    if None in stand_ins:
        return
    for result, other in zip(op.results, stand_ins, strict=True):
        if other is not None and other is not result:
            replace_uses(result, other)
    op.detach()
    op.drop_all_references()


def _stand_in(op: TileOp, result: SSAValue) -> SSAValue | None:
    """What may stand for a result: itself where nothing uses it, an operand, a parameter, a constant."""
    if result.first_use is None:
        return result
    entry: Operation | None = op
    while entry is not None and not (isinstance(entry, TileOp) and entry.spec.custom == "function"):
        entry = entry.parent_op()
    parameters = list(entry.regions[0].block.args) if entry is not None else []
    for other in (*op.operands, *parameters):
        if other.type == result.type:
            return other
    return _made(op, result)


def _made(op: TileOp, result: SSAValue) -> SSAValue | None:
    """A new value of a type, before an op: zeros, or a token."""
    type_: Any = result.type
    if isinstance(type_, Token) and op.short != "make_token":
        made = op_class("make_token").build([], [type_], {})
    elif isinstance(type_, Tile) and isinstance(type_.element, Scalar) and op.short != "constant":
        if type_.element.name in NUMBERLESS:
            return None
        zeros = DenseElements(type_.element, type_.shape, (0,))
        made = op_class("constant").build([], [type_], {"value": value(zeros)})
    else:
        return None
    block = op.parent_block()
    assert block is not None  # only the module has none
    block.insert_op_before(made, op)
    return made.results[0]


# ---- regions


def _inline(op: TileOp) -> None:
    """The body of a loop once, or the first branch of an `if`, in its place. Else it stays."""
    block: Block = op.regions[0].block
    last = block.last_op
    ends = "yield" if op.short == "if" else "continue"
    if not isinstance(last, TileOp) or last.short != ends or len(last.operands) != len(op.results):
        return
    if any(inner.short in ("break", "return") for inner in _inner(block)):
        return
    starts = list(op.group("inits"))
    if op.short == "for":
        starts.insert(0, op.group("lower")[0])
    for argument, start in zip(block.args, starts, strict=True):
        replace_uses(argument, start)
    results = list(last.operands)
    outer = op.parent_block()
    assert outer is not None  # it stands in an entry
    for inner in list(block.ops):
        inner.detach()
        if inner is not last:
            outer.insert_op_before(inner, op)
    for result, end in zip(op.results, results, strict=True):
        replace_uses(result, end)
    last.drop_all_references()
    op.detach()
    op.drop_all_references()


def _inner(block: Block) -> list[TileOp]:
    return [cast("TileOp", inner) for op in block.ops for inner in op.walk()]


# ---- parts of ops


def _optional(op: TileOp) -> list[int]:
    """Operands in groups of at most one, by position."""
    found: list[int] = []
    at = 0
    for group, size in zip(op.spec.operands, op.segments, strict=True):
        if group.endswith(OPTIONAL) and size:
            found.append(at)
        at += size
    return found


def _drop_optional(op: TileOp) -> None:
    """The op without its optional operands; a padding needs its mask, so all go at once."""
    groups = [() if group.endswith(OPTIONAL) else op.group(group.rstrip("?*")) for group in op.spec.operands]
    _rebuilt(op, groups, [result.type for result in op.results])


def _drop_one_optional(op: TileOp) -> None:
    """The op without the last of its optional operands."""
    last = [group for group, size in zip(op.spec.operands, op.segments, strict=True) if size][-1]
    groups = [
        () if group == last and group.endswith(OPTIONAL) else op.group(group.rstrip("?*"))
        for group in op.spec.operands
    ]
    _rebuilt(op, groups, [result.type for result in op.results])


def _rebuilt(op: TileOp, groups: list[tuple[SSAValue, ...]], types: list[Any]) -> None:
    """Another op of the same kind with these operands and results in its place."""
    properties: Any = dict(op.properties)
    regions = list(op.regions)
    for region in regions:
        op.detach_region(region)
    made = type(op).build(groups, types, properties, regions)
    block = op.parent_block()
    assert block is not None  # only the module has none
    block.insert_op_before(made, op)
    for result, other in zip(op.results, made.results, strict=True):
        replace_uses(result, other)
    op.detach()
    op.drop_all_references()


def _has_defaults(op: TileOp) -> bool:
    return any(name in op.defaults and op.defaults[name] != _data(op, name) for name in _droppable(op))


def _data(op: TileOp, name: str) -> object:
    stored: Any = op.properties[name]
    return stored.data


def _droppable(op: TileOp) -> list[str]:
    """Attributes that need not be written."""
    optional = {each.name for each in op.spec.attributes if each.default is not REQUIRED}
    return [name for name in op.properties if name in optional and name not in ("function_type", "sym_name")]


def _drop_attributes(op: TileOp) -> None:
    for name in _droppable(op):
        op.properties.pop(name)


# ---- parameters


def _unused_parameters(op: TileOp) -> list[BlockArgument]:
    if op.spec.custom != "function":
        return []
    return [argument for argument in op.regions[0].block.args if argument.first_use is None]


def _drop_parameters(op: TileOp) -> None:
    block = op.regions[0].block
    for argument in reversed(_unused_parameters(op)):
        block.erase_arg(argument)
    inputs: Any = tuple(argument.type for argument in block.args)
    old: FunctionType = op.get("function_type")
    op.properties["function_type"] = value(replace(old, inputs=inputs))


# ---- shapes


def halved(module: ModuleOp, extent: int) -> ModuleOp | None:
    """All tiles with half the extent wherever it is this one; None where a constant cannot follow."""
    copy = module.clone()
    for op in _ops(copy):
        for name, stored in list(op.properties.items()):
            data: Any = getattr(stored, "data", None)
            if isinstance(data, DenseElements):
                if extent in data.shape and not data.is_splat:
                    return None
                if data.shape:
                    shape = _halved(data.shape, extent)
                    op.properties[name] = value(replace(data, shape=shape))
            elif isinstance(data, FunctionType):
                op.properties[name] = value(_halved_type(data, extent))
        for result in (*op.results, *(each for region in op.regions for each in region.block.args)):
            result._type = _halved_type(result.type, extent)  # pyright: ignore
    return copy


def _halved(shape: tuple[int, ...], extent: int) -> tuple[int, ...]:
    return tuple(size // 2 if size == extent else size for size in shape)


def _halved_type(type_: Any, extent: int) -> Any:
    """The type with each tile extent halved that is the given one; arrays in memory stay."""
    changes: dict[str, Any] = {}
    for field in fields(type_):
        part = getattr(type_, field.name)
        if field.name in ("tile", "shape") and type(type_).__name__ != "TensorView":
            changes[field.name] = _halved(part, extent)
        elif field.name in ("inputs", "outputs"):
            changes[field.name] = tuple(_halved_type(each, extent) for each in part)
    return replace(type_, **changes) if changes else type_


def extents(module: ModuleOp) -> list[int]:
    """The extents of tiles from two on, largest first."""
    found: set[int] = set()
    for op in _ops(module):
        for result in op.results:
            if isinstance(result.type, Tile):
                found |= {extent for extent in result.type.shape if extent > 1}
    return sorted(found, reverse=True)


EDITS: Final = (
    Edit("ops removed", _where(_is_removable), _each(_remove)),
    Edit("regions inlined", _where(lambda op: op.short in (*LOOPS, "if")), _each(_inline)),
    Edit("optional operands dropped", _where(lambda op: bool(_optional(op))), _each(_drop_optional)),
    Edit("an optional operand dropped", _where(lambda op: bool(_optional(op))), _each(_drop_one_optional)),
    Edit("attributes dropped", _where(_has_defaults), _each(_drop_attributes)),
    Edit("parameters dropped", _where(lambda op: bool(_unused_parameters(op))), _each(_drop_parameters)),
)
"""In the order in which they are tried: what takes most away first."""
