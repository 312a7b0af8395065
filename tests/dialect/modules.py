"""Random modules from the op tables: well formed for the parser, not for the verifier."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hypothesis import strategies as st
from xdsl.ir import Block, Region, SSAValue

from tileir_diff.dialect.attributes import Bounded, DenseElements, DivBy, SameElements, value
from tileir_diff.dialect.ir import ModuleOp, TileOp, new_block, op_class, set_name
from tileir_diff.dialect.ops import OPS
from tileir_diff.dialect.signature import type_slots
from tileir_diff.dialect.spec import REQUIRED, AttributeSpec, OpSpec
from tileir_diff.dialect.types import (
    SCALARS,
    TOKEN,
    FunctionType,
    GatherScatterView,
    PartitionView,
    Ptr,
    StridedView,
    TensorView,
    Tile,
    TileIRType,
)

Draw = Any
REGION_DEPTH = 3
PLAIN = sorted(name for name, spec in OPS.items() if not spec.custom and spec.effect != "terminator")
CUSTOM = ["constant", "make_tensor_view", "load_ptr_tko", "reduce", "scan", "for", "loop", "if"]
NAMES = ["a", "x", "assume_4", "cst_-1_i8", "7", "for#0", "b#1", "0", None]

scalars = st.sampled_from(sorted(SCALARS)).map(SCALARS.__getitem__)
extents = st.sampled_from([1, 2, 4, 64])
pointers = st.builds(Ptr, scalars, st.sampled_from([None, "none"]))


@st.composite
def tiles(draw: Draw) -> Tile:
    return Tile(tuple(draw(st.lists(extents, max_size=3))), draw(scalars | pointers))


@st.composite
def tensor_views(draw: Draw, rank: int | None = None) -> TensorView:
    size = draw(st.integers(0, 3)) if rank is None else rank
    dims = st.none() | st.integers(1, 5000)
    shape = tuple(draw(st.lists(dims, min_size=size, max_size=size)))
    strides = tuple(draw(st.lists(dims, min_size=size, max_size=size)))
    return TensorView(shape, strides, draw(scalars), draw(st.sampled_from([None, "none"])))


@st.composite
def views(draw: Draw) -> TileIRType:
    rank = draw(st.integers(1, 3))
    tile = tuple(draw(st.lists(extents, min_size=rank, max_size=rank)))
    padding = draw(st.sampled_from([None, "zero", "neg_inf", "nan"]))
    view = draw(tensor_views(rank))
    dim_map = tuple(draw(st.permutations(range(rank))))
    kind = draw(st.sampled_from(["partition", "strided", "gather"]))
    if kind == "partition":
        return PartitionView(tile, padding, view, dim_map)
    if kind == "strided":
        strides = tuple(draw(st.lists(st.integers(1, 9), min_size=rank, max_size=rank)))
        return StridedView(tile, strides, padding, view, dim_map)
    return GatherScatterView(tile, padding, view, draw(st.integers(0, rank - 1)))


types = tiles() | views() | tensor_views()


@st.composite
def literals(draw: Draw, type_: Tile) -> DenseElements:
    element = type_.element
    assert not isinstance(element, Ptr)
    pattern = st.integers(0, (1 << element.bits) - 1)
    count = type_.size if type_.size <= 16 else 1
    bits = tuple(draw(st.lists(pattern, min_size=count, max_size=count)))
    return DenseElements(element, type_.shape, bits[:1] if len(set(bits)) == 1 else bits)


numbers = tiles().filter(lambda tile: not isinstance(tile.element, Ptr))
texts = st.text(st.characters(codec="utf-8", exclude_categories=("Cs",)), max_size=12)
assumptions = st.one_of(
    st.builds(DivBy, st.integers(1, 1 << 62)),
    st.builds(DivBy, st.integers(1, 64), st.integers(1, 9), st.integers(0, 3)),
    st.builds(Bounded, st.none() | st.integers(-9, 9), st.none() | st.integers(-9, 9)),
    st.builds(SameElements, st.lists(st.integers(1, 9), max_size=3).map(tuple)),
)
hints = st.lists(
    st.tuples(
        st.sampled_from(["default", "sm_90", "sm_100"]),
        st.lists(
            st.tuples(st.sampled_from(["latency", "allow_tma"]), st.integers(0, 9) | st.booleans()),
            max_size=2,
        )
        .map(dict)
        .map(lambda items: tuple(items.items())),
    ),
    max_size=2,
    unique_by=lambda pair: pair[0],
).map(tuple)


def attribute_values(spec: AttributeSpec) -> st.SearchStrategy[Any]:
    match spec.kind:
        case "enum":
            return st.sampled_from(spec.values)
        case "bool":
            return st.booleans()
        case "int":
            return st.integers(0, 1 << 40)
        case "ints":
            return st.lists(st.integers(0, 9), max_size=4).map(tuple)
        case "bools":
            return st.lists(st.booleans(), max_size=3).map(lambda items: tuple(items) if any(items) else ())
        case "string":
            return texts
        case "hints":
            return hints
        case "assumption":
            return assumptions
        case _:
            return st.nothing()


@st.composite
def properties(draw: Draw, spec: OpSpec) -> dict[str, Any]:
    """Attributes that are not bound to types; those with a default may be left out."""
    chosen: dict[str, Any] = {}
    for attribute in spec.attributes:
        if attribute.kind in ("elements", "literals", "type") or attribute.style in ("operands", "generic"):
            continue
        if attribute.default is REQUIRED or draw(st.booleans()):
            chosen[attribute.name] = value(draw(attribute_values(attribute)))
    return chosen


class Scope:
    """Values that an op under construction may use: entry arguments, one for each type asked for."""

    def __init__(self, draw: Draw) -> None:
        self.draw = draw
        self.block = new_block(())

    def value(self, type_: TileIRType) -> SSAValue:
        known = [argument for argument in self.block.args if argument.type == type_]
        if known and self.draw(st.booleans()):
            return self.draw(st.sampled_from(known))
        argument = self.block.insert_arg(type_, len(self.block.args), _no_location())
        name(self.draw, argument)
        return argument


def _no_location() -> Any:
    from tileir_diff.dialect.ir import NO_LOCATION

    return NO_LOCATION


def name(draw: Draw, named: SSAValue) -> None:
    hint = draw(st.sampled_from(NAMES))
    if hint is not None:
        set_name(named, hint)


def plain_op(draw: Draw, scope: Scope, spec: OpSpec) -> TileOp:
    left, right = type_slots(spec.types)
    by_group: dict[str, TileIRType] = {}
    result_type: TileIRType | None = None
    for slot in left:
        slot_type: TileIRType = draw(views()) if "view" in slot else draw(types)
        by_group |= dict.fromkeys(slot, slot_type)
        if "result" in slot or "results" in slot:
            result_type = slot_type
    groups: list[list[SSAValue]] = []
    for operand in spec.operands:
        group = operand.rstrip("?*")
        if group == "token":
            count = 1 if operand == "token" else draw(st.integers(0, 1))
            groups.append([scope.value(TOKEN) for _ in range(count)])
            continue
        count = (
            draw(st.integers(0, 2))
            if operand[-1] == "*"
            else draw(st.integers(0, 1))
            if operand[-1] == "?"
            else 1
        )
        drawn = by_group.get(group)
        groups.append(
            [scope.value(drawn if drawn is not None and count == 1 else draw(types)) for _ in range(count)]
        )
    if spec.name == "load_ptr_tko":
        groups[1:3] = draw(masks(scope))
    if result_type is not None:
        results = [result_type] * len(spec.results)
    elif right == ("results",):
        view = groups[0][0].type
        rank = len(view.shape if isinstance(view, TensorView) else view.tile)  # type: ignore[attr-defined]
        results = [draw(types)] * rank
    elif left or right:
        results = [TOKEN if item == "result_token" else draw(types) for item in right]
    else:
        results = [TOKEN] * len(spec.results)
    return op_class(spec.name).build(groups, results, draw(properties(spec)))


@st.composite
def masks(draw: Draw, scope: Scope) -> list[list[SSAValue]]:
    """Mask and padding of a load; a padding alone is not a tile of i1, which would be read as a mask."""
    mask = [scope.value(Tile((4,), SCALARS["i1"]))] if draw(st.booleans()) else []
    padding = [scope.value(Tile((4,), SCALARS["f32"]))] if draw(st.booleans()) else []
    return [mask, padding]


def custom_op(draw: Draw, scope: Scope, short: str, depth: int) -> TileOp:
    spec = OPS[short]
    chosen = draw(properties(spec))
    if short == "constant":
        type_ = draw(numbers)
        return op_class(short).build((), [type_], {"value": value(draw(literals(type_)))})
    if short == "load_ptr_tko":
        return plain_op(draw, scope, spec)
    if short == "make_tensor_view":
        view = draw(tensor_views())
        index = Tile((), SCALARS["i32"])
        chosen = {"static_shape": value(view.shape), "static_strides": value(view.strides)}
        dynamic = [
            [scope.value(index) for extent in part if extent is None] for part in (view.shape, view.strides)
        ]
        return op_class(short).build([[scope.value(draw(tiles()))], *dynamic], [view], chosen)
    if short in ("reduce", "scan"):
        operands = [scope.value(draw(numbers)) for _ in range(draw(st.integers(1, 2)))]
        chosen["identities"] = value(
            tuple(draw(literals(Tile((), operand.type.element))) for operand in operands)  # type: ignore[union-attr]
        )
        inner = [Tile((), operand.type.element) for operand in operands for _ in range(2)]  # type: ignore[union-attr]
        results = [draw(types) for _ in operands]
        return op_class(short).build(
            [operands], results, chosen, [region(draw, scope, inner, "yield", depth)]
        )
    carried = [draw(types | st.just(TOKEN)) for _ in range(draw(st.integers(0, 2)))]
    inits = [scope.value(type_) for type_ in carried]
    if short == "for":
        bound = draw(tiles())
        bounds = [[scope.value(bound)] for _ in range(3)]
        body = region(draw, scope, [bound, *carried], "continue", depth)
        return op_class(short).build([*bounds, inits], carried, chosen, [body])
    results = [draw(types) for _ in range(draw(st.integers(0, 2)))]
    if short == "loop":
        return op_class(short).build([inits], results, {}, [region(draw, scope, carried, "continue", depth)])
    bodies = [region(draw, scope, [], "yield", depth) for _ in range(draw(st.integers(1, 2)))]
    return op_class(short).build([[scope.value(Tile((), SCALARS["i1"]))]], results, {}, bodies)


def region(draw: Draw, scope: Scope, arguments: Sequence[TileIRType], terminator: str, depth: int) -> Region:
    block = new_block(arguments)
    for argument in block.args:
        name(draw, argument)
    fill(draw, scope, block, depth + 1)
    operands = [scope.value(draw(types)) for _ in range(draw(st.integers(0, 2)))]
    block.add_op(op_class(terminator).build([operands], (), {}))
    return Region(block)


def fill(draw: Draw, scope: Scope, block: Block, depth: int) -> None:
    for _ in range(draw(st.integers(0, 3))):
        custom = draw(st.booleans())
        simple = CUSTOM[:3] if depth >= REGION_DEPTH else CUSTOM
        if custom:
            op = custom_op(draw, scope, draw(st.sampled_from(simple)), depth)
        else:
            op = plain_op(draw, scope, OPS[draw(st.sampled_from(PLAIN))])
        for result in op.results:
            name(draw, result)
        block.add_op(op)


@st.composite
def modules(draw: Draw) -> ModuleOp:
    top = new_block(())
    if draw(st.booleans()):
        type_ = draw(numbers)
        chosen = draw(properties(OPS["global"])) | {
            "value": value(draw(literals(type_))),
            "type": value(type_),
        }
        top.add_op(op_class("global").build((), (), chosen))
    for _ in range(draw(st.integers(1, 2))):
        scope = Scope(draw)
        fill(draw, scope, scope.block, 0)
        scope.block.add_op(op_class("return").build([[]], (), {}))
        chosen = draw(properties(OPS["entry"]))
        inputs = tuple(argument.type for argument in scope.block.args)
        chosen["function_type"] = value(FunctionType(inputs, ()))  # type: ignore[arg-type]
        top.add_op(op_class("entry").build((), (), chosen, [Region(scope.block)]))
    chosen = {"sym_name": value(draw(texts))} if draw(st.booleans()) else {}
    if draw(st.booleans()):
        chosen["producer"] = value(draw(texts))
    module = op_class("module").build((), (), chosen, [Region(top)])
    assert isinstance(module, ModuleOp)
    return module
