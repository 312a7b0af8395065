"""Ops whose text is more than operands, keywords and types: functions, literals, views, reductions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tileir_diff.dialect.assign import Assigned, assign, position
from tileir_diff.dialect.literals import dense, read_elements
from tileir_diff.dialect.signature import check, result_types
from tileir_diff.dialect.types import SCALARS, FunctionType, Ptr, Scalar, TensorView, Tile
from tileir_diff.syntax.nodes import Listing, Typed
from tileir_diff.syntax.source import Problem
from tileir_diff.syntax.token import Token as Leaf

if TYPE_CHECKING:
    from xdsl.ir import SSAValue

    from tileir_diff.dialect.attributes import DenseElements
    from tileir_diff.dialect.builder import Builder
    from tileir_diff.dialect.ir import TileOp
    from tileir_diff.dialect.spec import OpSpec
    from tileir_diff.dialect.types import TileIRType
    from tileir_diff.syntax.nodes import OpNode

Extents = tuple[int | None, ...]


def build_function(builder: Builder, spec: OpSpec, node: OpNode, depth: int) -> TileOp:
    """An entry, or a function of the dialect's tests."""
    found = assign(spec, node)
    parameters = [group for group in found.groups if group.kind in ("arguments", "empty")]
    if len(parameters) != 1:
        raise Problem(f"expected the parameters of {spec.name}", node.name_start)
    names = [argument.name for argument in parameters[0].values]
    types = [builder.type(argument.type) for argument in parameters[0].values]
    outputs = builder.types(node.signature.results) if node.signature else []
    found.attributes["function_type"] = FunctionType(tuple(types), tuple(outputs))
    region = builder.region(spec, builder.only_region(spec, node), depth, names, types, isolated=True)
    return builder.finish(spec, node, found, [], [], (region,))


def build_elements(builder: Builder, spec: OpSpec, node: OpNode, depth: int) -> TileOp:
    """A constant or global: its literal is read once its type is known."""
    found = assign(spec, node)
    builder.no_regions(spec, node)
    types = builder.types(node.signature.types) if node.signature else []
    if len(types) != 1:
        raise Problem(f"expected one type after ':' of {spec.name}", node.name_start)
    text = found.attributes.get("value")
    if text is not None:
        set_elements(found, text, position(found.where["value"]) + 1, types[0])
    if spec.name == "constant":
        return builder.finish(spec, node, found, [], types)
    if text is None:
        builder.approximate(
            "the printer leaves out initial value, visibility and constness of this global", node
        )
    found.attributes["type"] = types[0]
    return builder.finish(spec, node, found, [], [])


def set_elements(found: Assigned, text: str, offset: int, type_: TileIRType) -> None:
    """Reads `i32: ...`, which stands at an offset of the dump, as elements of a tile type."""
    with Problem.shifted(offset):
        if not isinstance(type_, Tile) or not isinstance(type_.element, Scalar):
            raise Problem(f"a literal cannot be a {type_}", 0)
        elements = read_elements(text, type_.shape)
        if elements.element is not type_.element:
            raise Problem(f"literal of {elements.element} in a tile of {type_.element}", 0)
    found.attributes["value"] = elements


def build_pointer_load(builder: Builder, spec: OpSpec, node: OpNode, depth: int) -> TileOp:
    """One optional operand alone is the mask if it is a tile of i1, else the padding."""
    found = assign(spec, node)
    builder.no_regions(spec, node)
    groups = builder.groups(spec, found)
    mask, padding = groups[1], groups[2]
    if mask and not padding and getattr(mask[0].type, "element", None) is not SCALARS["i1"]:
        groups[1], groups[2] = [], mask
    types, results = builder.signature(node)
    return builder.finish(spec, node, found, groups, result_types(spec, node, groups, types, results))


def build_tensor_view(builder: Builder, spec: OpSpec, node: OpNode, depth: int) -> TileOp:
    """Extents and strides are numbers where the type has them and operands where it has `?`."""
    found = assign(spec, node)
    builder.no_regions(spec, node)
    if len(found.positional) != 1:
        raise Problem(
            f"make_tensor_view takes one base pointer, found {len(found.positional)}", node.name_start
        )
    base = builder.value(found.positional[0])
    types, results = builder.signature(node)
    operand_types, shown = (types, results) if results else ([], types)
    if len(shown) != 1 or not isinstance(shown[0], TensorView):
        raise Problem("expected a tensor_view as the type of make_tensor_view", node.name_start)
    view = shown[0]
    shape = _extents(builder, "shape", view.shape, found, node)
    strides = _extents(builder, "strides", view.strides, found, node)
    for type_ in operand_types:
        if isinstance(type_, Tile) and isinstance(type_.element, Ptr):
            check(node, base, type_)
            continue
        for operand in shape + strides:
            check(node, operand, type_)
    return builder.finish(spec, node, found, [[base], shape, strides], [view])


def _extents(builder: Builder, name: str, extents: Extents, found: Assigned, node: OpNode) -> list[SSAValue]:
    """The operands in `shape = [...]`; the whole list becomes the attribute `static_shape`."""
    listing = found.named_operands.get(name)
    if type(listing) is not Listing:
        raise Problem(f"expected {name} = [...] in make_tensor_view", node.name_start)
    dynamic = [leaf for leaf in listing.values if type(leaf) is Leaf and leaf.type == "SSA"]
    static = tuple([_extent(leaf) for leaf in listing.values])
    if static != extents:
        raise Problem(f"{name} does not match the tensor_view type", listing.start)
    found.attributes[f"static_{name}"] = static
    return [builder.value(leaf) for leaf in dynamic]


def _extent(leaf: Any) -> int | None:
    if type(leaf) is Leaf:
        if leaf.type == "SSA":
            return None
        if leaf.isdigit():
            return int(leaf)
    raise Problem("expected a value or a whole number", position(leaf))


def build_reduce(builder: Builder, spec: OpSpec, node: OpNode, depth: int) -> TileOp:
    """A reduction or scan, with the arguments of its body before or inside the braces."""
    found = assign(spec, node)
    groups = builder.groups(spec, found)
    types, results = builder.signature(node)
    if len(types) != len(groups[0]):
        raise Problem(f"expected {len(groups[0])} operand types, found {len(types)}", node.name_start)
    for operand, type_ in zip(groups[0], types, strict=True):
        check(node, operand, type_)
    set_identities(builder, spec, node, found, groups[0])
    body = builder.only_region(spec, node)
    arguments = node.arguments or body.arguments
    if arguments is None:
        raise Problem(f"expected the arguments of the body of {spec.name}", body.start)
    names = [argument.name for argument in arguments.values]
    region = builder.region(
        spec, body, depth, names, [builder.type(argument.type) for argument in arguments.values]
    )
    return builder.finish(spec, node, found, groups, results, (region,))


def set_identities(
    builder: Builder, spec: OpSpec, node: OpNode, found: Assigned, operands: list[SSAValue]
) -> None:
    """One literal an operand.

    MLIR leaves out the types of f64, i64 and i1 literals, the cuTile Rust printer leaves out all.
    """
    items = found.attributes.get("identities")
    if items is None:
        return
    if len(items) != len(operands):
        raise Problem(
            f"expected {len(operands)} identities, found {len(items)}", position(found.where["identities"])
        )
    identities: list[DenseElements] = []
    for item, operand in zip(items, operands, strict=True):
        element = getattr(operand.type, "element", None)
        if type(item) is Typed:
            element = builder.type(item.type)
        if not isinstance(element, Scalar):
            raise Problem(f"{spec.name} takes tiles of numbers", node.name_start)
        if type(item) is not Typed and element.name not in ("f64", "i64", "i1"):
            builder.approximate(
                "the printer leaves out the type of the identity; that of the operand is taken", node
            )
        identities.append(dense(element, (), item))
    found.attributes["identities"] = tuple(identities)
