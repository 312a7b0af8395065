"""MLIR's generic form: `"cuda_tile.addf"(%a, %b) <{...}> : (T, T) -> T`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tileir_diff.dialect.assign import Assigned, position, read_dictionary
from tileir_diff.dialect.reading import read_sizes
from tileir_diff.dialect.signature import check
from tileir_diff.dialect.special import set_elements, set_identities
from tileir_diff.dialect.types import FunctionType, TensorView
from tileir_diff.syntax.nodes import Group
from tileir_diff.syntax.source import Problem
from tileir_diff.syntax.token import Token as Leaf

if TYPE_CHECKING:
    from xdsl.ir import Region, SSAValue

    from tileir_diff.dialect.builder import Builder
    from tileir_diff.dialect.ir import TileOp
    from tileir_diff.dialect.spec import OpSpec
    from tileir_diff.syntax.nodes import OpNode, RegionNode


def build_generic(builder: Builder, spec: OpSpec, node: OpNode, depth: int) -> TileOp:
    """Raises Problem for operands, attributes or regions that the op cannot have."""
    found, operands, regions = collect(spec, node)
    values = [builder.value(leaf) for leaf in operands]
    types, results = builder.signature(node)
    if len(types) != len(values):
        raise Problem(f"expected {len(values)} operand types, found {len(types)}", node.name_start)
    for operand, type_ in zip(values, types, strict=True):
        check(node, operand, type_)
    groups = _split(spec, node, found, values)
    _complete(builder, spec, node, found, groups, results)
    if len(regions) > spec.regions:
        raise Problem(
            f"{spec.name} has {spec.regions or 'no'} regions, found {len(regions)}", regions[-1].start
        )
    built = tuple([_region(builder, spec, region, depth) for region in regions if not _absent(spec, region)])
    if spec.custom == "function" and "function_type" not in found.attributes and built:
        inputs = tuple([argument.type for argument in built[0].block.args])
        found.attributes["function_type"] = FunctionType(inputs, ())  # pyright: ignore[reportArgumentType]
    return builder.finish(spec, node, found, groups, results, built)


def collect(spec: OpSpec, node: OpNode) -> tuple[Assigned, list[Leaf], list[RegionNode]]:
    """Attributes, operand leaves and regions of an op in generic form."""
    found = Assigned(node)
    operands: list[Leaf] = []
    regions: list[RegionNode] = list(node.regions)
    for item in node.items:
        if type(item) is Leaf and (item.type == "DICT" or item.startswith("<{")):
            read_dictionary(spec, found, item)
        elif type(item) is Group and item.kind in ("operands", "empty"):
            operands += item.values
        elif type(item) is Group and item.kind == "regions":
            regions += item.values
        else:
            raise Problem(f"unexpected '{str(item)[:40]}' in the generic form of {spec.name}", position(item))
    if node.attributes is not None:
        read_dictionary(spec, found, node.attributes)
    return found, operands, regions


def _split(spec: OpSpec, node: OpNode, found: Assigned, values: list[SSAValue]) -> list[list[SSAValue]]:
    """Operands by group: by `operandSegmentSizes`, or where at most one group can vary in size."""
    names = spec.operands
    sizes = (
        read_sizes(found.properties["operandSegmentSizes"])
        if "operandSegmentSizes" in found.properties
        else None
    )
    if sizes is None:
        vary = [name for name in names if name[-1] in "?*"]
        rest = len(values) - (len(names) - len(vary))
        if len(vary) > 1 and rest:
            raise Problem(f"{spec.name} needs operandSegmentSizes in generic form", node.name_start)
        sizes = [(rest if name == vary[0] else 0) if name in vary else 1 for name in names]
    good = len(sizes) == len(names) and sum(sizes) == len(values)
    if not good or any(not _allowed(name, size) for name, size in zip(names, sizes, strict=True)):
        raise Problem(f"{len(values)} operands do not fit {spec.name}", node.name_start)
    groups: list[list[SSAValue]] = []
    start = 0
    for size in sizes:
        groups.append(values[start : start + size])
        start += size
    return groups


def _allowed(name: str, size: int) -> bool:
    return size >= 0 if name[-1] == "*" else size in (0, 1) if name[-1] == "?" else size == 1


def _complete(
    builder: Builder,
    spec: OpSpec,
    node: OpNode,
    found: Assigned,
    groups: list[list[SSAValue]],
    results: list[Any],
) -> None:
    """Reads the attributes whose meaning hangs on types."""
    if spec.custom == "elements" and isinstance(found.attributes.get("value"), tuple):
        text, offset, type_leaf = found.attributes["value"]
        type_ = builder.type(type_leaf) if type_leaf is not None else results[0] if results else None
        element = getattr(type_, "element", None)
        set_elements(found, f"{element}: {text}", offset - len(f"{element}: "), type_)  # pyright: ignore[reportArgumentType]
        if spec.name == "global":
            found.attributes["type"] = type_
    if spec.custom == "reduce":
        set_identities(builder, spec, node, found, groups[0])
    if spec.custom == "tensor_view" and results and isinstance(results[0], TensorView):
        found.attributes["static_shape"] = results[0].shape
        found.attributes["static_strides"] = results[0].strides


def _region(builder: Builder, spec: OpSpec, region: RegionNode, depth: int) -> Region:
    arguments = region.arguments.values if region.arguments is not None else []
    names = [argument.name for argument in arguments]
    types = [builder.type(argument.type) for argument in arguments]
    return builder.region(spec, region, depth, names, types, isolated=spec.custom == "function")


def _absent(spec: OpSpec, region: RegionNode) -> bool:
    """The generic form prints `{}` for an `else` that is not there."""
    return spec.custom == "if" and not region.ops and region.arguments is None
