"""What the mutations ask about one dump: scope, equal values, roles, and edits at an op."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from xdsl.ir import BlockArgument, OpResult

from benchmarks.mutate.anatomy import TOKEN as NAME
from benchmarks.mutate.anatomy import Anatomy, anatomy
from benchmarks.mutate.liveness import TERMINATORS, Liveness, parent, target, walk
from benchmarks.mutate.model import Edit
from tileir_diff.dialect import parse_text
from tileir_diff.dialect.attributes import DenseElements
from tileir_diff.dialect.ir import TileOp
from tileir_diff.dialect.spec import NO_MEMORY, PURE

if TYPE_CHECKING:
    from collections.abc import Iterator

    from xdsl.ir import SSAValue

ROLE_FAMILIES: dict[str, tuple[str, ...]] = {
    "mask": ("mask", "bounds"),
    "address": ("addressing", "stride"),
    "index": ("addressing",),
    "base": ("addressing",),
    "shape": ("bounds", "tile-shape", "stride", "mask", "padding", "addressing"),
    "stride": ("stride", "addressing"),
    "loop": ("loop",),
    "condition": ("control-flow", "loop"),
    "selection": ("mask", "control-flow"),
    "padding": ("padding",),
    "extract": ("shape-op", "addressing"),
    "assert": ("runtime-check",),
    "print": ("debug-op",),
    "value": ("arithmetic", "constant"),
    "atomic": ("atomic", "arithmetic", "constant"),
}
"""Rule families that fit a change of a value, by what the value is used for."""

GROUP_ROLES: dict[tuple[str, str], str] = {
    ("load_ptr_tko", "source"): "address",
    ("load_ptr_tko", "mask"): "mask",
    ("load_ptr_tko", "padding"): "padding",
    ("store_ptr_tko", "destination"): "address",
    ("store_ptr_tko", "value"): "value",
    ("store_ptr_tko", "mask"): "mask",
    ("load_view_tko", "index"): "index",
    ("store_view_tko", "tile"): "value",
    ("store_view_tko", "index"): "index",
    ("atomic_cas_tko", "pointers"): "address",
    ("atomic_cas_tko", "cmp"): "atomic",
    ("atomic_cas_tko", "value"): "atomic",
    ("atomic_cas_tko", "mask"): "mask",
    ("atomic_rmw_tko", "pointers"): "address",
    ("atomic_rmw_tko", "arg"): "atomic",
    ("atomic_rmw_tko", "mask"): "mask",
    ("atomic_red_view_tko", "index"): "index",
    ("atomic_red_view_tko", "value"): "atomic",
    ("make_tensor_view", "base"): "base",
    ("make_tensor_view", "shape"): "shape",
    ("make_tensor_view", "strides"): "stride",
    ("for", "lower"): "loop",
    ("for", "upper"): "loop",
    ("for", "step"): "loop",
    ("if", "condition"): "condition",
    ("select", "condition"): "selection",
    ("extract", "index"): "extract",
    ("insert", "index"): "extract",
    ("assert", "condition"): "assert",
    ("print_tko", "args"): "print",
}

CROSS_LANE = frozenset({"reduce", "scan", "mmaf", "mmai", "mmaf_scaled"})


class Context:
    """One parsed dump. Raises InputError for text that does not parse."""

    def __init__(self, text: str, path: str = "<text>") -> None:
        self.text = text
        self.path = path
        self.module = parse_text(text, path)
        self.entries = [op for op in self.module.entries if op.short == "entry"]
        self.ops: list[tuple[TileOp, TileOp]] = []
        self.liveness: dict[TileOp, Liveness] = {}
        for entry in self.entries:
            self.liveness[entry] = Liveness(entry)
            self.ops += [(entry, op) for op in walk(entry)]
        self._live = {op for entry, op in self.ops if self.liveness[entry].op(op)}
        self._entry = {op: entry for entry, op in self.ops}
        self._names = set(NAME.findall(text))
        self._scopes: dict[TileOp, dict[str, SSAValue]] = {}
        self._keys: dict[SSAValue, int] = {}
        self._numbers: dict[object, int] = {}
        self._anatomies: dict[TileOp, Anatomy | None] = {}

    # ---- questions

    def live_ops(self) -> Iterator[TileOp]:
        """Ops that matter, in the order of the text; terminators included."""
        for _, op in self.ops:
            if op.text and (op in self._live or op.short in TERMINATORS):
                yield op

    def live(self, op: TileOp) -> bool:
        return op in self._live

    def operand_live(self, op: TileOp, index: int) -> bool:
        return self.liveness[self._entry[op]].operand(op, index)

    def value_live(self, value: SSAValue) -> bool:
        return any(value in liveness.values for liveness in self.liveness.values())

    def parts(self, op: TileOp) -> Anatomy | None:
        if op not in self._anatomies:
            self._anatomies[op] = anatomy(op)
        return self._anatomies[op]

    def scope(self, op: TileOp) -> dict[str, SSAValue]:
        """Values that `op` may use, by name as printed with `%`."""
        known = self._scopes.get(op)
        if known is not None:
            return known
        block = op.parent
        assert block is not None
        above = parent(op)
        outer = {} if above is None or above.spec.custom == "function" else dict(self.scope(above))
        for value in block.args:
            outer[name(value)] = value
        for other in block.ops:
            if other is op:
                break
            for value in other.results:
                outer[name(value)] = value
        self._scopes[op] = outer
        return outer

    def others(self, op: TileOp, value: SSAValue) -> list[tuple[str, SSAValue]]:
        """Values in scope of the type of `value` that are not the same value, written otherwise."""
        key = self.key(value)
        found: dict[int, tuple[str, SSAValue]] = {}
        for text, other in self.scope(op).items():
            if other.type == value.type and self.key(other) != key:
                found.setdefault(self.key(other), (text, other))
        return list(found.values())

    def key(self, value: SSAValue) -> int:
        """A number that two values share if they are the same pure ops of the same values; assumes are
        skipped."""
        known = self._keys.get(value)
        if known is None:
            root = self.root(value)
            known = self._number(self._form(root)) if root is value else self.key(root)
            self._keys[value] = known
        return known

    def _number(self, form: object) -> int:
        return self._numbers.setdefault(form, len(self._numbers))

    def _form(self, value: SSAValue) -> object:
        if not isinstance(value, OpResult) or not isinstance(value.op, TileOp):
            return value
        op = value.op
        if op.short == "constant":
            literal = op.get("value")
            return ("constant", str(value.type), literal.bits)
        if op.spec.effect in (PURE, NO_MEMORY) and not op.regions:
            keys = [self.key(operand) for operand in op.operands]
            if op.spec.commutative:
                keys = sorted(keys[:2]) + keys[2:]
            attributes = tuple(sorted((key, str(attribute)) for key, attribute in op.properties.items()))
            return (op.short, tuple(keys), attributes, str(value.type), value.index)
        return value

    def constant(self, value: SSAValue) -> DenseElements | None:
        """The literal behind a value, through shape changes and assumes."""
        while isinstance(value, OpResult) and isinstance(value.op, TileOp):
            op = value.op
            if op.short == "constant":
                literal = op.get("value")
                return literal if isinstance(literal, DenseElements) else None
            if op.short not in ("reshape", "broadcast", "assume"):
                return None
            value = op.operands[0]
        return None

    def root(self, value: SSAValue) -> SSAValue:
        """The value behind assumes."""
        while isinstance(value, OpResult) and isinstance(value.op, TileOp) and value.op.short == "assume":
            value = value.op.operands[0]
        return value

    def is_argument(self, value: SSAValue) -> bool:
        """Whether it is a parameter of the kernel, perhaps with promises."""
        value = self.root(value)
        owner = value.block.parent_op() if isinstance(value, BlockArgument) else None
        return isinstance(owner, TileOp) and owner.spec.custom == "function"

    def roles(self, value: SSAValue) -> tuple[str, ...]:
        """What a value is used for in the end."""
        return tuple(dict.fromkeys(role for role, _, _ in self.reach(value)))

    def reach(self, value: SSAValue) -> list[tuple[str, TileOp, bool]]:
        """Where a value ends up: role, the op that has it, and whether it crossed lanes on its way."""
        found: dict[tuple[str, TileOp, bool], None] = {}
        seen: set[tuple[SSAValue, bool]] = set()
        todo = [(value, False)]
        while todo:
            item = todo.pop()
            if item in seen:
                continue
            seen.add(item)
            current, crossed = item
            for use in current.uses:
                op = use.operation
                if not isinstance(op, TileOp):
                    continue
                role = self._role(op, use.index)
                if role:
                    found[(role, op, crossed)] = None
                if role not in (None, "base", "shape", "stride", "address", "mask", "index") or role is None:
                    crossing = crossed or op.short in CROSS_LANE
                    todo += [(after, crossing) for after in self._after(op, use.index)]
        return list(found)

    def families(self, value: SSAValue, *own: str) -> tuple[str, ...]:
        """Rule families that fit a change of `value`: those given, and those of what it is used for."""
        found = dict.fromkeys(own)
        for role in self.roles(value):
            found.update(dict.fromkeys(ROLE_FAMILIES.get(role, ())))
        above: TileOp | None = (
            value.op if isinstance(value, OpResult) and isinstance(value.op, TileOp) else None
        )
        while above is not None:
            if above.short in ("reduce", "scan"):
                found["reduction" if above.short == "reduce" else "scan"] = None
            above = parent(above)
        return tuple(found)

    def _role(self, op: TileOp, index: int) -> str | None:
        at = 0
        for group, size in zip(op.spec.operands, op.segments, strict=False):
            if at <= index < at + size:
                return GROUP_ROLES.get((op.short, group.rstrip("?*")))
            at += size
        return None

    def _after(self, op: TileOp, index: int) -> list[SSAValue]:
        """The values that an operand becomes part of."""
        if op.short in TERMINATORS:
            above = target(op)
            if above is None:
                return []
            values: list[SSAValue] = []
            if index < len(above.results):
                values.append(above.results[index])
            if op.short == "continue":
                values.append(above.regions[0].block.args[index + (above.short == "for")])
            return values
        if op.short in ("for", "loop"):
            place = index - (len(op.operands) - len(op.group("inits")))
            if place < 0:
                return [op.regions[0].block.args[0]]
            after: list[SSAValue] = [op.regions[0].block.args[place + (op.short == "for")]]
            return after + ([op.results[place]] if op.short == "for" else [])
        if op.short in ("reduce", "scan"):
            return [*op.results, *op.regions[0].block.args]
        if op.short == "if":
            return list(op.results)
        return list(op.results)

    # ---- edits

    def edit(self, op: TileOp, start: int, end: int, text: str) -> Edit:
        """Replaces a part of the head of `op`; offsets count from the start of the head."""
        return Edit(op.start + start, op.start + end, text)

    def set_operand(self, op: TileOp, index: int, text: str) -> Edit | None:
        parts = self.parts(op)
        if parts is None:
            return None
        return self.edit(op, *parts.operands[index], text)

    def swap_operands(self, op: TileOp, first: int, second: int) -> tuple[Edit, ...]:
        parts = self.parts(op)
        if parts is None:
            return ()
        (a, b), (c, d) = parts.operands[first], parts.operands[second]
        return (self.edit(op, a, b, parts.text[c:d]), self.edit(op, c, d, parts.text[a:b]))

    def drop_operand(self, op: TileOp, index: int, type_index: int) -> tuple[Edit, ...]:
        """Takes an operand that follows another one out of the list, with its type."""
        parts = self.parts(op)
        if parts is None:
            return ()
        start, end = parts.operands[index]
        types = parts.type_spans()
        before = parts.text.rfind(",", 0, start)
        if before < 0 or not 0 < type_index < len(types):
            return ()
        return (
            self.edit(op, before, end, ""),
            self.edit(op, types[type_index - 1][1], types[type_index][1], ""),
        )

    def word(self, op: TileOp, pattern: str, replacement: str) -> Edit | None:
        """Replaces the first match of a pattern between the op's name and its type list."""
        parts = self.parts(op)
        if parts is None:
            return None
        end = parts.types if parts.types >= 0 else len(parts.clean)
        match = re.compile(pattern).search(parts.clean, parts.body, end)
        if match is None:
            return None
        return self.edit(op, match.start(), match.end(), match.expand(replacement))

    def before_types(self, op: TileOp, text: str) -> Edit | None:
        """Inserts modifiers in front of the type list."""
        parts = self.parts(op)
        if parts is None or parts.types < 0:
            return None
        colon = parts.clean.rfind(":", 0, parts.types)
        at = len(parts.clean[:colon].rstrip())
        return self.edit(op, at, colon, f" {text} ")

    def line_before(self, op: TileOp, *lines: str) -> Edit:
        """Inserts whole lines in front of the line on which `op` begins."""
        start = self.text.rfind("\n", 0, op.start) + 1
        indent = self.text[start : len(self.text[start:]) - len(self.text[start:].lstrip(" ")) + start]
        return Edit(start, start, "".join(f"{indent}{line}\n" for line in lines))

    def line_after(self, op: TileOp, *lines: str) -> Edit:
        """Inserts whole lines behind the line on which the head of `op` ends."""
        start = self.text.rfind("\n", 0, op.start) + 1
        indent = self.text[start : op.start]
        end = self.text.find("\n", op.end)
        return Edit(end, end, "".join(f"\n{indent}{line}" for line in lines))

    def delete_line(self, op: TileOp) -> Edit:
        """Takes out the line of an op without regions, its line break included."""
        start = self.text.rfind("\n", 0, op.start) + 1
        end = self.text.find("\n", op.end)
        return Edit(start, end + 1, "")

    def retype(self, value: SSAValue, new: str) -> tuple[Edit, ...]:
        """Changes the printed type of a view wherever it is printed: where it is made and at each use."""
        old = str(value.type)
        owner = value.owner
        assert isinstance(owner, TileOp)
        edits: list[Edit] = []
        for op in (owner, *dict.fromkeys(use.operation for use in value.uses)):
            if not isinstance(op, TileOp):
                return ()
            parts = self.parts(op)
            at = parts.text.find(old) if parts is not None else -1
            if at < 0:
                return ()
            edits.append(self.edit(op, at, at + len(old), new))
        return tuple(edits)

    def fresh(self, stem: str) -> str:
        """A name, with `%`, that the dump does not use."""
        count = 0
        while f"%{stem}_{count}" in self._names:
            count += 1
        self._names.add(f"%{stem}_{count}")
        return f"%{stem}_{count}"


def name(value: SSAValue) -> str:
    """A value as the dump writes it."""
    return f"%{value.name_hint}"
