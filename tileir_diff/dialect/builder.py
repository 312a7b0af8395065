"""Syntax to typed IR.

Resolves names, sorts operands into groups, checks that printed types fit, and fills in what was elided.
"""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING, Any, Final

from xdsl.ir import Region

from tileir_diff.dialect import loops, special
from tileir_diff.dialect.assign import Assigned, assign, position
from tileir_diff.dialect.attributes import value
from tileir_diff.dialect.generic import build_generic, collect
from tileir_diff.dialect.ir import Dump, ModuleOp, TileOp, new_block, op_class, set_name
from tileir_diff.dialect.locations import Locations
from tileir_diff.dialect.ops import OPS, canonical_name
from tileir_diff.dialect.signature import result_types
from tileir_diff.dialect.spec import REQUIRED, TERMINATOR, AttributeSpec, OpSpec
from tileir_diff.dialect.types import TOKEN, TileIRType, parse_type
from tileir_diff.syntax.nodes import Group
from tileir_diff.syntax.source import Problem

if TYPE_CHECKING:
    from xdsl.ir import Block, SSAValue

    from tileir_diff.syntax.nodes import OpNode, RegionNode, SyntaxFile
    from tileir_diff.syntax.source import SourceText
    from tileir_diff.syntax.token import Token as Leaf

# Deeper nesting than any compiler prints; Python's own stack bounds what can be walked.
NESTING: Final = 100
MODULE_NESTING: Final = 3
RESULT: Final = re.compile(r"%([\w$.\-]+)(?:\s*:\s*(\d+))?")
MODULES: Final = {"module", "cuda_tile.module", "builtin.module"}

_SPECIAL: Final[dict[str, Any]] = {
    "function": special.build_function,
    "elements": special.build_elements,
    "pointer_load": special.build_pointer_load,
    "tensor_view": special.build_tensor_view,
    "reduce": special.build_reduce,
    "for": loops.build_for,
    "loop": loops.build_loop,
    "if": loops.build_if,
}


def build_module(source: SourceText, syntax: SyntaxFile, format_: str) -> ModuleOp:
    """The typed module of a parsed dump; `format_` is the printer's name. Raises InputError."""
    try:
        return Builder(source, syntax, format_).module()
    except Problem as problem:
        raise source.error(problem.message, problem.offset, problem.rule) from None


class Builder:
    """Builds one dump. Offsets in `Problem`s are those of the dump's text."""

    def __init__(self, source: SourceText, syntax: SyntaxFile, format_: str) -> None:
        self.source = source
        self.syntax = syntax
        self.format = format_
        aliases = syntax.aliases
        self.type_aliases = {name: str(alias) for name, alias in aliases.items() if name.startswith("!")}
        self.dump = Dump(source, Locations(aliases) if len(aliases) > len(self.type_aliases) else None)
        self.values: dict[str, SSAValue] = {}
        # One frame a region: the names it defines, and what each hid. On leaving, the frame is undone.
        self.frames: list[dict[str, SSAValue | None]] = [{}]
        self.approximations: list[str] = []

    # ---- module
    def module(self) -> ModuleOp:
        properties: dict[str, Any] = {}
        block = new_block(())
        self._fill(self.syntax.ops, block, properties, 0)
        if block.is_empty:
            raise Problem("the input holds no ops", 0)
        module = op_class("module").build((), (), properties, (Region(block),))
        assert isinstance(module, ModuleOp)
        module.dump = self.dump
        module.end = len(self.source.text)
        module.approximations = self.approximations
        module.format = self.format
        return module

    def _fill(self, nodes: list[OpNode], block: Block, properties: dict[str, Any], depth: int) -> None:
        """Puts the ops of all modules, wrapped in each other or side by side, into one block."""
        for node in nodes:
            if node.name.strip('"') not in MODULES:
                block.add_op(self.op(node, 1))
                continue
            if depth > MODULE_NESTING:
                raise Problem("modules nested too deeply", node.start)
            regions = self._module_regions(node, properties)
            for region in regions:
                self._fill(region.ops, block, properties, depth + 1)

    def _module_regions(self, node: OpNode, properties: dict[str, Any]) -> list[RegionNode]:
        spec = OPS["module"]
        if node.name.startswith('"'):
            found, _, regions = (
                collect(spec, node) if "cuda_tile" in node.name else (Assigned(node), [], _regions(node))
            )
        elif node.name == "cuda_tile.module" or any(
            getattr(item, "type", "") == "SYMBOL" for item in node.items
        ):
            found, regions = assign(spec, node), node.regions
        else:
            found, regions = Assigned(node), node.regions  # the builtin module: its attributes are not ours
        for name, data in found.attributes.items():
            properties.setdefault(name, value(data))
        if not regions:
            raise Problem("expected the body of the module", node.end)
        return regions

    # ---- ops
    def op(self, node: OpNode, depth: int) -> TileOp:
        if depth > NESTING:
            raise Problem(f"regions nested deeper than {NESTING}", node.start)
        generic = node.name.startswith('"')
        spec = OPS.get(canonical_name(node.name[1:-1] if generic else node.name))
        if spec is None or spec.custom == "module":
            raise Problem(_unknown_op(node.name), node.name_start)
        build = build_generic if generic else _SPECIAL.get(spec.custom)
        op = build(self, spec, node, depth) if build is not None else self._plain(spec, node)
        op.dump = self.dump
        op.start, op.end = node.start, node.end
        if node.location is not None:
            op.location_text = str(node.location)
        return op

    def _plain(self, spec: OpSpec, node: OpNode) -> TileOp:
        found = assign(spec, node)
        self.no_regions(spec, node)
        groups = self.groups(spec, found)
        types, results = self.signature(node)
        return self.finish(spec, node, found, groups, result_types(spec, node, groups, types, results))

    def finish(
        self, spec: OpSpec, node: OpNode, found: Assigned, groups: list[list[SSAValue]], types:
        list[TileIRType], regions: tuple[Region, ...] = (),
    ) -> TileOp:  # fmt: skip
        """The op, its results named."""
        if found.groups and spec.custom not in ("function", "for", "loop"):
            raise Problem(f"unexpected '(' in {spec.name}", found.groups[0].start)
        if "inbounds" in found.attributes and not any(found.attributes["inbounds"]):
            del found.attributes["inbounds"]  # no promise at all, which is the default
        properties = {name: value(data) for name, data in found.attributes.items()}
        for attribute in _required(spec):
            if attribute.name not in properties:
                raise Problem(_missing(spec, attribute), node.name_start)
        op = op_class(spec.name).build(groups, types, properties, regions)
        if node.results is not None:
            self._name_results(spec, node, op)
        return op

    def approximate(self, message: str, node: OpNode) -> None:
        line, _ = self.source.position(node.start)
        self.approximations.append(f"line {line}: {message}")

    def no_regions(self, spec: OpSpec, node: OpNode) -> None:
        for region in node.regions:
            # `{}` after an op without regions is an empty attribute dictionary.
            if region.ops or region.arguments is not None:
                raise Problem(f"{spec.name} has no region", region.start)
        if node.arguments is not None:
            raise Problem(f"{spec.name} has no region", node.arguments.start)

    def only_region(self, spec: OpSpec, node: OpNode) -> RegionNode:
        if len(node.regions) != 1:
            raise Problem(f"expected one body of {spec.name}", node.end)
        return node.regions[0]

    # ---- operands
    def value(self, leaf: Leaf) -> SSAValue:
        """The value of a name in scope. Raises Problem."""
        name = leaf[1:]
        known = self.values.get(name)
        if known is None and name.endswith("#0"):
            known = self.values.get(name[:-2])
        if known is None:
            raise Problem(f"use of undefined value '{leaf}'", leaf.start_pos or 0)
        return known

    def groups(self, spec: OpSpec, found: Assigned) -> list[list[SSAValue]]:
        """Operands by group, in table order. Raises Problem when there are too many or too few."""
        values = [self.value(leaf) for leaf in found.positional]
        slots, least, variadic = _slots(spec)
        filled: dict[str, list[SSAValue]] = {name: [] for name in spec.operands}
        if "token?" in filled:
            leaf = found.named_operands.get("token")
            if leaf is not None:
                filled["token?"] = [self.value(leaf)]
            elif len(values) > least and values[-1].type == TOKEN:
                filled["token?"] = [values.pop()]  # the cuTile Rust printer's place for it
        if found.bracketed:
            filled[f"{spec.bracket}*"] = [self.value(leaf) for leaf in found.bracketed]
        if len(values) < least or (len(values) > len(slots) and not variadic):
            where = (
                position(found.positional[len(slots)]) if len(values) > len(slots) else found.node.name_start
            )
            raise Problem(_count(spec, least, len(slots), variadic, len(values)), where)
        for slot, operand in zip(slots, values, strict=False):
            filled[slot] = [operand]
        if variadic:
            filled[slots[-1]] = values[len(slots) - 1 :]
        return list(filled.values())

    # ---- types
    def type(self, leaf: Leaf) -> TileIRType:
        text = str(leaf)
        if self.type_aliases and "!" in text:
            for name, alias in self.type_aliases.items():
                text = re.sub(re.escape(name) + r"(?![\w$.])", alias.replace("\\", r"\\"), text)
        try:
            return parse_type(text)
        except Problem as problem:
            problem.offset += leaf.start_pos or 0
            raise

    def types(self, leaves: list[Leaf] | None) -> list[TileIRType]:
        return [self.type(leaf) for leaf in leaves] if leaves else []

    def signature(self, node: OpNode) -> tuple[list[TileIRType], list[TileIRType]]:
        """The printed types, left and right of `->`."""
        signature = node.signature
        if signature is None:
            return [], []
        return self.types(signature.types), self.types(signature.results)

    # ---- names
    def _name_results(self, spec: OpSpec, node: OpNode, op: TileOp) -> None:
        names = result_names(node.results)
        results = op.results
        if len(names) == 1 == len(results) and names[0][1] < 2:
            self.define(names[0][0], results[0], node.start)
            return
        total = sum([count or 1 for _, count in names])
        if total != len(results):
            raise Problem(
                f"{spec.name} has {len(results) or 'no'} result{'s' * (len(results) != 1)}, {total} named",
                node.start,
            )
        index = 0
        for name, count in names:
            self.define(name, results[index], node.start)
            if count > 1:
                for part in range(count):
                    self.define(f"{name}#{part}", results[index + part], node.start)
            index += count or 1

    def define(self, name: str, defined: SSAValue, offset: int) -> None:
        """Brings a name into the scope of the current region. Raises Problem if the region has it already."""
        frame = self.frames[-1]
        if name in frame:
            raise Problem(f"redefinition of value '%{name}'", offset)
        frame[name] = self.values.get(name)
        self.values[name] = defined
        set_name(defined, name)

    # ---- regions
    def region(
        self,
        spec: OpSpec,
        node: RegionNode,
        depth: int,
        names: list[Leaf],
        types: list[TileIRType],
        isolated: bool = False,
    ) -> Region:
        """One region: its arguments defined, its ops built, its elided terminator put in."""
        block = new_block(types)
        outer = self.values
        if isolated:
            self.values = {}
        self.frames.append({})
        for name, argument in zip(names, block.args, strict=True):
            self.define(str(name)[1:], argument, position(name))
        for inner in node.ops:
            block.add_op(self.op(inner, depth + 1))
        for name, hidden in self.frames.pop().items():
            if hidden is None:
                del self.values[name]
            else:
                self.values[name] = hidden
        self.values = outer
        self._end(spec, block, node)
        return Region(block)

    def _end(self, spec: OpSpec, block: Block, node: RegionNode) -> None:
        last = block.last_op
        if not spec.implicit or (isinstance(last, TileOp) and last.spec.effect == TERMINATOR):
            return
        op = op_class(spec.terminator).build(((),), (), {})
        op.dump = self.dump
        op.start = op.end = node.end - 1
        block.add_op(op)


@cache
def _slots(spec: OpSpec) -> tuple[list[str], int, bool]:
    """Groups of operands outside brackets, how many may not be empty, and whether the last is variadic."""
    slots = [name for name in spec.operands if name != "token?" and name[:-1] != spec.bracket]
    least = sum([slot[-1] not in "?*" for slot in slots])
    return slots, least, bool(slots) and slots[-1][-1] == "*"


@cache
def _required(spec: OpSpec) -> list[AttributeSpec]:
    return [attribute for attribute in spec.attributes if attribute.default is REQUIRED]


def result_names(results: Any) -> list[tuple[str, int]]:
    """Names before `=`, each with the size of its pack, 0 for a plain name."""
    if isinstance(results, str):
        if ":" not in results and "," not in results:
            return [(results[1 : results.index("=")].rstrip(), 0)]
        return [(match[1], int(match[2] or 0)) for match in RESULT.finditer(results)]
    return results


def _regions(node: OpNode) -> list[RegionNode]:
    groups = [item for item in node.items if type(item) is Group and item.kind == "regions"]
    return groups[0].values if groups else []


def _unknown_op(name: str) -> str:
    from difflib import get_close_matches

    short = name.strip('"').removeprefix("cuda_tile.")
    near = get_close_matches(short, sorted(OPS), 1)
    return f"unknown op '{short[:60]}'" + (f", did you mean '{near[0]}'?" if near else "")


def _missing(spec: OpSpec, attribute: AttributeSpec) -> str:
    if attribute.style == "keyword":
        return f"{spec.name} needs one of {', '.join(attribute.values)}"
    return f"{spec.name} needs its {attribute.key or attribute.name}"


def _count(spec: OpSpec, least: int, most: int, variadic: bool, found: int) -> str:
    wanted = f"at least {least}" if variadic else str(least) if least == most else f"{least} to {most}"
    return f"{spec.name} takes {wanted} operands, found {found}"
