"""`for`, `loop` and `if`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tileir_diff.dialect.assign import assign
from tileir_diff.dialect.signature import check
from tileir_diff.syntax.source import Problem

if TYPE_CHECKING:
    from xdsl.ir import SSAValue

    from tileir_diff.dialect.builder import Builder
    from tileir_diff.dialect.ir import TileOp
    from tileir_diff.dialect.spec import OpSpec
    from tileir_diff.syntax.nodes import Group, OpNode
    from tileir_diff.syntax.token import Token as Leaf


def build_for(builder: Builder, spec: OpSpec, node: OpNode, depth: int) -> TileOp:
    """`for [unsigned] %i in (%lower to %upper, step %step) : T [iter_values(...) -> (...)] { }`."""
    found = assign(spec, node)
    ranges = [group for group in found.groups if group.kind == "range"]
    if len(ranges) != 1 or len(found.positional) != 1:
        raise Problem("expected for %i in (%lower to %upper, step %step)", node.name_start)
    types, results = builder.signature(node)
    if len(types) != 1:
        raise Problem("expected the type of the induction variable after ':'", node.name_start)
    bounds = [builder.value(leaf) for leaf in ranges[0].values]
    for bound in bounds:
        check(node, bound, types[0])
    names, inits = _bindings(builder, node.signature.bindings if node.signature else None)
    if len(results) != len(inits):
        raise Problem(f"expected {len(inits)} result types, found {len(results)}", node.name_start)
    for init, result in zip(inits, results, strict=True):
        check(node, init, result)
    if builder.format == "cutile-rs" and "unsigned_cmp" not in found.attributes:
        builder.approximate("the printer drops 'unsigned' of a for; its bounds are read as signed", node)
    names = [found.positional[0], *names]
    region = builder.region(spec, builder.only_region(spec, node), depth, names, [types[0], *results])
    return builder.finish(spec, node, found, [*([bound] for bound in bounds), inits], results, (region,))


def build_loop(builder: Builder, spec: OpSpec, node: OpNode, depth: int) -> TileOp:
    """`loop [iter_values(...) : T...] [-> R...] { }`; without carried values `loop : R... { }`."""
    found = assign(spec, node)
    bindings = [group for group in found.groups if group.kind == "bindings"]
    names, inits = _bindings(builder, bindings[0] if bindings else None)
    types, results = builder.signature(node)
    if not inits and not results:
        types, results = [], types
    if len(types) != len(inits):
        raise Problem(f"expected {len(inits)} types of carried values, found {len(types)}", node.name_start)
    for init, type_ in zip(inits, types, strict=True):
        check(node, init, type_)
    region = builder.region(spec, builder.only_region(spec, node), depth, names, types)
    return builder.finish(spec, node, found, [inits], results, (region,))


def build_if(builder: Builder, spec: OpSpec, node: OpNode, depth: int) -> TileOp:
    """`if %c [-> (T...)] { } [else { }]`."""
    found = assign(spec, node)
    groups = builder.groups(spec, found)
    types, results = builder.signature(node)
    if types:
        raise Problem("if prints its result types after '->'", node.name_start)
    if not node.regions:
        raise Problem("expected the body of if", node.end)
    regions = [builder.region(spec, region, depth, [], []) for region in node.regions]
    return builder.finish(spec, node, found, groups, results, tuple(regions))


def _bindings(builder: Builder, group: Group | None) -> tuple[list[Leaf], list[SSAValue]]:
    if group is None:
        return [], []
    return [name for name, _ in group.values], [builder.value(init) for _, init in group.values]
