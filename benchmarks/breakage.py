"""Random changes of the typed IR, most of which break a constraint of the dialect, and can be undone.

Only what bytecode can say is changed: it has no place for a missing operand or a second copy of a type.
"""

from __future__ import annotations

import dataclasses
import math
from typing import TYPE_CHECKING, Any

from xdsl.ir import Block, BlockArgument, Region, SSAValue
from xdsl.ir.core import OpResult, SSAValues

from tileir_diff.dialect.attributes import Bounded, DenseElements, DivBy, SameElements, Value
from tileir_diff.dialect.ir import TileOp, new_block, op_class
from tileir_diff.dialect.spec import REQUIRED, TERMINATOR, AttributeSpec
from tileir_diff.dialect.types import (
    PADDING_VALUES,
    SCALARS,
    TOKEN,
    FunctionType,
    GatherScatterView,
    PartitionView,
    Ptr,
    Scalar,
    StridedView,
    TensorView,
    Tile,
)

if TYPE_CHECKING:
    import random
    from collections.abc import Callable

    from tileir_diff.dialect.ir import ModuleOp

    Undo = Callable[[], None]
    Change = Callable[[random.Random, TileOp], "tuple[str, Undo] | None"]

NUMBERS = (-(1 << 31), -2, -1, 0, 1, 2, 3, 4, 5, 7, 8, 16, 33, 64, 1 << 25, (1 << 31) - 1)
SIZES = (-1, 0, 1, 2, 3, 4, 8, 16, 64, 1 << 12, 1 << 25)


def change(rng: random.Random, module: ModuleOp) -> tuple[TileOp, str, Undo] | None:
    """Changes one op, all kinds of ops being equally likely: the op, what was done, and how to undo it."""
    kinds: dict[str, list[TileOp]] = {}
    for op in module.walk():
        if isinstance(op, TileOp) and op.short != "module":
            kinds.setdefault(op.short, []).append(op)
    op = rng.choice(kinds[rng.choice(sorted(kinds))])
    for name, make in rng.sample(CHANGES, len(CHANGES)):
        found = make(rng, op)
        if found is not None:
            return op, f"{name} {found[0]}", found[1]
    return None


# ---- operands
def visible(op: TileOp) -> list[SSAValue]:
    """Values defined before an op, in its block and those around it."""
    found: list[SSAValue] = []
    here: Any = op
    while here is not None and here.parent_block() is not None:
        block: Block = here.parent_block()
        found += block.args
        for earlier in block.ops:
            if earlier is here:
                break
            found += earlier.results
        here = block.parent_op()
        if here is not None and here.short in ("entry", "module"):
            break
    return found


def _operand(rng: random.Random, op: TileOp) -> tuple[str, Undo] | None:
    values = visible(op)
    if not op.operands or not values:
        return None
    at, new = rng.randrange(len(op.operands)), rng.choice(values)
    old = op.operands[at]
    if new is old:
        return None
    op.operands[at] = new
    return f"{at}: {old.type} -> {new.type}", lambda: op.operands.__setitem__(at, old)


def _swap(rng: random.Random, op: TileOp) -> tuple[str, Undo] | None:
    if len(op.operands) < 2:
        return None
    before = list(op.operands)
    a, b = rng.sample(range(len(before)), 2)
    after = list(before)
    after[a], after[b] = after[b], after[a]
    op.operands = after
    return f"{a} and {b}", lambda: setattr(op, "operands", before)


def _groups(op: TileOp, kinds: str) -> list[int]:
    return [index for index, name in enumerate(op.spec.operands) if name[-1] in kinds]


def _resize(rng: random.Random, op: TileOp) -> tuple[str, Undo] | None:
    """An optional operand goes or comes; one of any number goes or comes."""
    groups, values = _groups(op, "?*"), visible(op)
    if not groups:
        return None
    index = rng.choice(groups)
    segments, operands = list(op.segments or (0,) * len(op.spec.operands)), list(op.operands)
    at = sum(segments[:index])
    more = rng.random() < 0.5 if op.spec.operands[index][-1] == "*" else not segments[index]
    if (more and not values) or (not more and not segments[index]):
        return None
    before, sizes = list(operands), op.segments
    if more:
        operands.insert(at + segments[index], rng.choice(values))
    else:
        del operands[at + segments[index] - 1]
    segments[index] += 1 if more else -1
    op.operands, op.segments = operands, tuple(segments)

    def undo() -> None:
        op.operands, op.segments = before, sizes

    return f"{op.spec.operands[index]} {'more' if more else 'less'}", undo


# ---- types
def _result(rng: random.Random, op: TileOp) -> tuple[str, Undo] | None:
    if not op.results:
        return None
    told, undo = _retype(rng, rng.choice(list(op.results)))
    before: Any = dict(op.properties)
    _follow_type(op, op.results[0].type)

    def undo_both() -> None:
        undo()
        properties: Any = op.properties
        properties.clear()
        properties.update(before)

    return told, undo_both


def _follow_type(op: TileOp, type_: Any) -> None:
    """What bytecode tells by the type alone says the same: the shape of a literal, the sizes of a view."""
    if op.short == "constant" and isinstance(type_, Tile) and isinstance(type_.element, Scalar):
        mask = (1 << type_.element.bits) - 1
        bits = tuple([pattern & mask for pattern in op.get("value").bits])
        _store(op, "value", DenseElements(type_.element, type_.shape, bits))
    if op.short == "make_tensor_view" and isinstance(type_, TensorView):
        _store(op, "static_shape", type_.shape)
        _store(op, "static_strides", type_.strides)


def _argument(rng: random.Random, op: TileOp) -> tuple[str, Undo] | None:
    arguments = [argument for region in op.regions for argument in region.block.args]
    if not arguments:
        return None
    if op.short != "entry":
        return _retype(rng, rng.choice(arguments))
    argument = rng.choice(arguments)
    told = _retype(rng, argument)
    stored: Any = op.properties["function_type"]
    types = tuple([each.type for each in arguments])
    _store(op, "function_type", FunctionType(types, stored.data.outputs))  # pyright: ignore[reportArgumentType]
    return told[0], lambda: (told[1](), op.properties.__setitem__("function_type", stored))[0]


def _retype(rng: random.Random, value: SSAValue) -> tuple[str, Undo]:
    old: Any = value.type
    target: Any = value
    target._type = new = other_type(rng, old)
    return f"{old} -> {new}", lambda: setattr(target, "_type", old)


def other_type(rng: random.Random, old: Any) -> Any:
    """Another type, near the old one more often than not."""
    if rng.random() < 0.08:
        return rng.choice(
            (
                TOKEN,
                Tile((), SCALARS["i32"]),
                Tile((4,), SCALARS["f32"]),
                TensorView((8,), (1,), SCALARS["f32"]),
            )
        )
    match old:
        case Tile(shape, element):
            if rng.random() < 0.5:
                return Tile(shape, _element(rng, element))
            return Tile(_sizes(rng, shape), element)
        case TensorView(shape, strides, element, attr):
            return rng.choice((
                lambda: TensorView(_extents(rng, shape), strides, element, attr),
                lambda: TensorView(shape, _extents(rng, strides), element, attr),
                lambda: TensorView(shape, strides, rng.choice(list(SCALARS.values())), attr),
                lambda: TensorView(shape, strides, element, None if attr else "none"),
            ))()  # fmt: skip
        case PartitionView() | StridedView() | GatherScatterView():
            return _other_view(rng, old)
        case _:
            return Tile((), SCALARS["i32"])


def _element(rng: random.Random, element: Any) -> Any:
    if isinstance(element, Ptr) and rng.random() < 0.7:
        return Ptr(rng.choice(list(SCALARS.values())), rng.choice((element.attr, element.attr, "none", None)))
    pick = rng.choice(list(SCALARS.values()))
    return Ptr(pick) if rng.random() < 0.1 else pick


def _sizes(rng: random.Random, shape: tuple[int, ...]) -> tuple[int, ...]:
    sizes = list(shape)
    kind = rng.randrange(4)
    if kind == 0 or not sizes:
        sizes.insert(rng.randrange(len(sizes) + 1), rng.choice(SIZES))
    elif kind == 1:
        del sizes[rng.randrange(len(sizes))]
    elif kind == 2:
        at = rng.randrange(len(sizes))
        sizes[at] = rng.choice((sizes[at] * 2, max(1, sizes[at] // 2), rng.choice(SIZES)))
    else:
        rng.shuffle(sizes)
    return tuple(sizes)


def _extents(rng: random.Random, extents: tuple[int | None, ...]) -> tuple[int | None, ...]:
    found: list[int | None] = list(extents)
    if not found or rng.random() < 0.2:
        found.insert(rng.randrange(len(found) + 1), rng.choice((None, *SIZES)))
    elif rng.random() < 0.2:
        found.pop()
    else:
        found[rng.randrange(len(found))] = rng.choice((None, *SIZES))
    return tuple(found)


def _other_view(rng: random.Random, old: Any) -> Any:
    fields = {
        field.name: getattr(old, field.name)
        for field in dataclasses.fields(old)
        if field.init and field.name != "name"
    }
    name = rng.choice(sorted(fields))
    if name in ("tile", "traversal_strides", "dim_map"):
        fields[name] = _sizes(rng, fields[name])
    elif name == "padding":
        fields[name] = rng.choice((None, *PADDING_VALUES))
    elif name == "sparse_dim":
        fields[name] = rng.choice((0, 1, 2, 3))
    else:
        fields[name] = other_type(rng, fields[name])
        if not isinstance(fields[name], TensorView):
            return fields[name]
    return type(old)(**fields)


# ---- attributes
def _store(op: TileOp, name: str, data: Any) -> None:
    properties: Any = op.properties
    properties[name] = Value(data)


def _attribute(rng: random.Random, op: TileOp) -> tuple[str, Undo] | None:
    specs = [spec for spec in op.spec.attributes if spec.style != "operands" and spec.name != "producer"]
    if not specs:
        return None
    spec = rng.choice(specs)
    before: Any = dict(op.properties)
    old: Any = before[spec.name].data if spec.name in before else op.defaults[spec.name]
    properties: Any = op.properties
    if spec.name in properties and spec.default is not REQUIRED and rng.random() < 0.3:
        del properties[spec.name]
        told = f"{spec.name} dropped"
    else:
        new = _other_value(rng, op, spec, old)
        if new == old:
            return None
        _store(op, spec.name, new)
        told = f"{spec.name}: {str(old)[:40]} -> {str(new)[:40]}"

    def undo() -> None:
        properties.clear()
        properties.update(before)

    return told, undo


def _other_value(rng: random.Random, op: TileOp, spec: AttributeSpec, old: Any) -> Any:
    match spec.kind:
        case "enum":
            return rng.choice(spec.values)
        case "bool":
            return not old
        case "int":
            return rng.choice([number for number in NUMBERS if number >= 0])
        case "ints":
            return _sizes(rng, old)
        case "bools":
            return tuple([rng.random() < 0.5 for _ in range(rng.choice((1, 2, 3)))])
        case "string":
            return rng.choice(("k", "g", "nowhere", "%d", "%d %f", "%%", "%", "%lld %s", "%5.2f", "%c", ""))
        case "hints":
            value = rng.choice((True, 3, -1, 64, "word"))
            return (
                (
                    rng.choice(("sm_100", "default", "sm_7")),
                    ((rng.choice(("latency", "occupancy", "x")), value),),
                ),
            )
        case "literals":
            return _other_literals(rng, old)
        case "elements":
            return _other_elements(rng, old)
        case _:
            return rng.choice((
                DivBy(rng.choice(NUMBERS)),
                DivBy(rng.choice((1, 4, 16)), rng.choice(NUMBERS), rng.choice(NUMBERS)),
                DivBy(1 << rng.choice((31, 61, 62, 63))),
                Bounded(rng.choice((None, *NUMBERS)), rng.choice((None, *NUMBERS))),
                Bounded(-(1 << 63), (1 << 63) - 1),
                SameElements(tuple([rng.choice(NUMBERS) for _ in range(rng.choice((0, 1, 2, 3)))])),
            ))  # fmt: skip


def _other_literals(rng: random.Random, old: Any) -> Any:
    kind = rng.randrange(3)
    if kind == 0:
        return old[:-1]
    if kind == 1:
        return (*old, old[-1]) if old else old
    element = rng.choice([scalar for scalar in SCALARS.values() if scalar.name != "i4"])
    return (DenseElements(element, (), (1,)), *old[1:])


def _other_elements(rng: random.Random, old: DenseElements) -> DenseElements:
    """Another number of elements: bytecode has no shape of its own for them, but their bytes."""
    count = rng.choice((9, 17, 33, 100))
    bits = tuple([index % 2 for index in range(count)])
    return DenseElements(old.element, (count,), bits) if count != math.prod(old.shape) else old


# ---- ops and regions
def _drop_op(rng: random.Random, op: TileOp) -> tuple[str, Undo] | None:
    if any(result.uses.get_length() for result in op.results) or op.short in ("entry", "global"):
        return None
    block: Any = op.parent_block()
    after: Any = op.next_op
    op.detach()
    return "", lambda: block.insert_op_before(op, after) if after is not None else block.add_op(op)


def _other_terminator(rng: random.Random, op: TileOp) -> tuple[str, Undo] | None:
    if op.spec.effect != TERMINATOR:
        return None
    block: Any = op.parent_block()
    name = rng.choice([each for each in ("yield", "continue", "break", "return") if each != op.short])
    keep = rng.random() < 0.5
    new = op_class(name).build((list(op.operands) if keep else [],), (), {})
    op.detach()
    block.add_op(new)

    def undo() -> None:
        new.detach()
        new.drop_all_references()
        block.add_op(op)

    return f"{op.short} -> {name} {'with' if keep else 'without'} operands", undo


def _early_terminator(rng: random.Random, op: TileOp) -> tuple[str, Undo] | None:
    block: Any = op.parent_block()
    if op.short in ("entry", "global"):
        return None
    new = op_class(rng.choice(("yield", "continue", "break", "return"))).build(((),), (), {})
    block.insert_op_before(new, op)

    def undo() -> None:
        new.detach()

    return new.short, undo


def _else(rng: random.Random, op: TileOp) -> tuple[str, Undo] | None:
    if op.short != "if":
        return None
    if len(op.regions) == 1:
        block = new_block(())
        block.add_op(op_class("yield").build(((),), (), {}))
        region = Region(block)
        op.add_region(region)
        return "added", lambda: setattr(op, "regions", op.regions[:1])
    before = op.regions
    op.regions = before[:1]
    return "dropped", lambda: setattr(op, "regions", before)


def _results(rng: random.Random, op: TileOp) -> tuple[str, Undo] | None:
    """One result more, or one less where it is not used."""
    if not op.spec.results or not op.spec.results[0].endswith("*"):
        return None
    before = op.results
    if rng.random() < 0.5 or not before or before[-1].uses.get_length():
        type_ = before[0].type if before else Tile((), SCALARS["i32"])
        op.results = SSAValues([*before, OpResult(type_, op, len(before))])
        return "more", lambda: setattr(op, "results", before)
    op.results = SSAValues(list(before)[:-1])
    return "less", lambda: setattr(op, "results", before)


def _arguments(rng: random.Random, op: TileOp) -> tuple[str, Undo] | None:
    """One block argument more, or one less where it is not used."""
    blocks = [region.block for region in op.regions if op.short not in ("entry", "module")]
    if not blocks:
        return None
    block: Any = rng.choice(blocks)
    before = block._args
    if rng.random() < 0.5 or not before or before[-1].uses.get_length():
        type_ = before[0].type if before else Tile((), SCALARS["i32"])
        block._args = SSAValues([*before, BlockArgument(type_, block, len(before))])
        return "more", lambda: setattr(block, "_args", before)
    block._args = SSAValues(list(before)[:-1])
    return "less", lambda: setattr(block, "_args", before)


def _outputs(rng: random.Random, op: TileOp) -> tuple[str, Undo] | None:
    if op.short != "entry":
        return None
    stored: Any = op.properties["function_type"]
    _store(op, "function_type", FunctionType(stored.data.inputs, (Tile((), SCALARS["f32"]),)))
    return "one", lambda: op.properties.__setitem__("function_type", stored)  # pyright: ignore[reportAttributeAccessIssue]


# ---- debug locations
def _location(rng: random.Random, op: TileOp) -> tuple[str, Undo] | None:
    """Another location of the dump, one of a subprogram that is none's, or none."""
    if op.dump is None or op.dump.locations is None:
        return None
    before = op.location_text
    aliases = [name for name in op.dump.locations.texts if name.startswith("#loc")]
    subprogram = next((name for name in op.dump.locations.texts if "di_subprogram" in name), None)
    place = aliases[-1] if aliases else "unknown"
    choices = [None, "loc(unknown)", *(f"loc({name})" for name in rng.sample(aliases, min(3, len(aliases))))]
    if subprogram is not None:
        text = op.dump.locations.texts[subprogram]
        other = text.replace('linkageName = "', 'linkageName = "other_')
        choices += [f'loc(#cuda_tile.di_loc<loc("a.py":1:2) in {scope}>)' for scope in (subprogram, other)]
        choices.append(f'loc(callsite(#cuda_tile.di_loc<loc("a.py":1:2) in {other}> at {place}))')
        choices.append(f'loc(callsite({place} at #cuda_tile.di_loc<loc("a.py":1:2) in {other}>))')
    op.location_text = rng.choice(choices)
    if op.location_text == before:
        return None
    return f"{before} -> {op.location_text}", lambda: setattr(op, "location_text", before)


CHANGES: list[tuple[str, Change]] = [
    ("operand", _operand),
    ("operand", _operand),
    ("operands swapped", _swap),
    ("operand group", _resize),
    ("result type", _result),
    ("result type", _result),
    ("argument type", _argument),
    ("attribute", _attribute),
    ("attribute", _attribute),
    ("attribute", _attribute),
    ("op dropped", _drop_op),
    ("other terminator", _other_terminator),
    ("early terminator", _early_terminator),
    ("else", _else),
    ("results", _results),
    ("block arguments", _arguments),
    ("outputs", _outputs),
    ("location", _location),
]
