"""What of an entry has to be written: each value once, nothing unused, constants and facts told apart.

Nothing is changed in the entry: a plan says for each value which one stands for it.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any, Final

from xdsl.ir import BlockArgument

from tileir_diff.dialect.attributes import DenseElements
from tileir_diff.dialect.ir import TileOp, ops_of
from tileir_diff.dialect.spec import NO_MEMORY, PURE, RECURSIVE, TERMINATOR
from tileir_diff.dialect.types import Tile
from tileir_diff.graph.values import defining_op

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from xdsl.ir import Block, SSAValue

    from tileir_diff.dialect.attributes import Assumption

SHAPES: Final = ("broadcast", "reshape")
"""Ops that keep a splat a splat."""
SPREAD: Final = {"load_ptr_tko": "padding", "offset": "ptr"}
"""Operands that are written as a scalar where all their elements are one."""


class Plan:
    """The values of one entry.

    `constants` are splats, by value; `splats` are tiles of one scalar, `widened` those of a scalar of 32 bits
    that becomes one of 64; `floored` are remainders with the sign of the divisor, by dividend and divisor;
    `facts` are what is assumed of parameters; `uses` counts how often a value is used by what is written.
    """

    def __init__(self, entry: TileOp) -> None:
        self.entry = entry
        self.body: Block = entry.regions[0].block
        self.parameters: tuple[BlockArgument, ...] = tuple(self.body.args)
        self.constants: dict[SSAValue, DenseElements] = {}
        self.splats: dict[SSAValue, SSAValue] = {}
        self.widened: dict[SSAValue, SSAValue] = {}
        self.floored: dict[SSAValue, tuple[SSAValue, SSAValue]] = {}
        self.facts: dict[SSAValue, list[Assumption]] = {each: [] for each in self.parameters}
        self.uses: Counter[SSAValue] = Counter()
        self.users: dict[SSAValue, list[TileOp]] = {}
        self._same: dict[SSAValue, SSAValue] = {}
        self._live: set[TileOp] = set()
        self._read(self.body, [{}])
        self._mark_all()
        self._count()

    def of(self, value: SSAValue) -> SSAValue:
        """The value that stands for this one."""
        return self._same.get(value, value)

    def live(self, op: TileOp) -> bool:
        """Whether an op has to be written."""
        return op in self._live

    def operands(self, op: TileOp) -> list[SSAValue]:
        """The values that are read where an op is written."""
        if op.short == "select" and op.results[0] in self.floored:
            return list(self.floored[op.results[0]])
        found: list[SSAValue] = []
        padding = op.one("padding") if op.short == "load_ptr_tko" and op.one("mask") is None else None
        for operand in op.inputs:
            if operand is padding:
                continue
            value = self.of(operand)
            if op.short in SHAPES and op.results[0] in self.splats:
                value = self.widened.get(op.results[0], self.splats[op.results[0]])
            elif self.spread(op, operand):
                value = self.splats[value]
            found.append(value)
        return found

    def spread(self, op: TileOp, operand: SSAValue) -> bool:
        """Whether an op is written with the scalar that all elements of its operand are."""
        return operand is op.one(SPREAD.get(op.short, "")) and self.of(operand) in self.splats

    def constant(self, value: SSAValue) -> DenseElements | None:
        """The number that all elements of a value are; None where they are not constant."""
        return self.constants.get(self.of(value))

    def splat(self, value: SSAValue) -> SSAValue | None:
        """The scalar that all elements of a tile are; None where it is none."""
        return self.splats.get(self.of(value))

    # ---- which values are the same

    def _read(self, block: Block, known: list[dict[Any, TileOp]]) -> None:
        for op in _ops(block):
            if self._is_fact(op) or self._is_constant(op) or self._is_alias(op):
                continue
            for region in op.regions:
                if op.short not in ("reduce", "scan"):
                    self._read(region.block, [*known, {}])
            if op.regions or not (op.spec.effect in (PURE, NO_MEMORY) or op.short == "assume"):
                continue
            key = self._key(op)
            first = next((scope[key] for scope in known if key in scope), None)
            if first is None:
                known[-1][key] = op
                self._note_splat(op)
                self._note_floored(op)
                continue
            for result, other in zip(op.results, first.results, strict=True):
                self._same[result] = other

    def _key(self, op: TileOp) -> Any:
        attributes = tuple(sorted((name, str(value)) for name, value in op.properties.items()))
        types = tuple(str(result.type) for result in op.results)
        return op.short, op.segments, tuple(self.of(value) for value in op.inputs), attributes, types

    def _is_fact(self, op: TileOp) -> bool:
        """An assumption of a parameter, made in the entry's own block: it holds for the parameter."""
        if op.short != "assume" or op.parent is not self.body:
            return False
        root = self.of(op.inputs[0])
        if root not in self.facts:
            return False
        fact = op.get("assumption")
        if fact not in self.facts[root]:
            self.facts[root].append(fact)
        self._same[op.results[0]] = root
        return True

    def _is_constant(self, op: TileOp) -> bool:
        value: DenseElements | None = None
        if op.short == "constant":
            value = op.get("value")
            assert value is not None
            if not value.is_splat and len(set(value.bits)) != 1:
                return False
        elif op.short in SHAPES:
            value = self.constant(op.inputs[0])
        if value is None:
            return False
        self.constants[op.results[0]] = DenseElements(value.element, (), value.bits[:1])
        return True

    def _is_alias(self, op: TileOp) -> bool:
        """What changes nothing: the same shape, or a product with one."""
        if op.short in SHAPES and op.inputs[0].type == op.results[0].type:
            self._same[op.results[0]] = self.of(op.inputs[0])
            return True
        if op.short != "muli" or op.get("overflow") != "none":
            return False
        for one, other in (op.inputs, op.inputs[::-1]):
            number = self.constant(one)
            if number is not None and number.bits[0] == 1 and self.constant(other) is None:
                self._same[op.results[0]] = self.of(other)
                return True
        return False

    def _note_splat(self, op: TileOp) -> None:
        if op.short not in SHAPES:
            return
        source = self.of(op.inputs[0])
        type_ = source.type
        assert isinstance(type_, Tile)
        scalar = source if not type_.shape else self.splats.get(source)
        if scalar is None:
            return
        self.splats[op.results[0]] = scalar
        wide = defining_op(scalar)
        if wide is not None and wide.short == "exti" and wide.get("signed") == "signed":
            narrow = self.of(wide.inputs[0])
            if str(narrow.type) == "tile<i32>" and str(scalar.type) == "tile<i64>":
                self.widened[op.results[0]] = narrow

    def _note_floored(self, op: TileOp) -> None:
        """`a % b` of cuTile Python, for scalars: the truncated remainder, put right where signs differ."""
        if op.short != "select" or str(op.results[0].type) != "tile<i32>":
            return
        condition, plus, rest = (self._made(each) for each in op.inputs)
        if rest is None or rest.short != "remi" or rest.get("signed") != "signed":
            return
        dividend, divisor = (self.of(each) for each in rest.inputs)
        remainder = rest.results[0]
        if plus is None or plus.short != "addi" or plus.get("overflow") != "none":
            return
        if {self.of(each) for each in plus.inputs} != {remainder, divisor}:
            return
        if self._is_wrong_sign(condition, remainder, divisor):
            self.floored[op.results[0]] = (dividend, divisor)

    def _is_wrong_sign(self, condition: TileOp | None, remainder: SSAValue, divisor: SSAValue) -> bool:
        """Whether it is `((remainder < 0) ^ (divisor < 0)) & (remainder != 0)`."""
        if condition is None or condition.short != "andi":
            return False
        for one, other in (condition.inputs, condition.inputs[::-1]):
            differ = self._made(one)
            if differ is None or differ.short != "xori":
                continue
            if not self._is_zero_test(other, "not_equal", remainder):
                continue
            for left, right in (differ.inputs, differ.inputs[::-1]):
                if self._is_zero_test(left, "less_than", remainder) and self._is_zero_test(
                    right, "less_than", divisor
                ):
                    return True
        return False

    def _is_zero_test(self, value: SSAValue, predicate: str, of: SSAValue) -> bool:
        """Whether a value is the comparison of another with 0."""
        made = self._made(value)
        if made is None or made.short != "cmpi" or made.get("predicate") != predicate:
            return False
        zero = self.constant(made.inputs[1])
        return (
            self.of(made.inputs[0]) is of
            and zero is not None
            and zero.bits[0] == 0
            and (predicate != "less_than" or made.get("signed") == "signed")
        )

    def _made(self, value: SSAValue) -> TileOp | None:
        return defining_op(self.of(value))

    # ---- what is used

    def _mark_all(self) -> None:
        for op in _walk(self.body):
            effect = op.spec.effect
            if effect in (PURE, NO_MEMORY, RECURSIVE, TERMINATOR) or op.short in ("assume",):
                continue
            self._mark(op)
        for op in _ops(self.body):
            if op.spec.effect == TERMINATOR:
                self._mark(op)
        for op in _walk(self.body):
            if op.short == "return":
                self._mark(op)

    def _mark(self, op: TileOp) -> None:
        work = [op]
        while work:
            current = work.pop()
            if current in self._live:
                continue
            self._live.add(current)
            for value in self.operands(current):
                definition = _owner(value)
                if definition is not None and self.constant(value) is None:
                    work.append(definition)
            parent = current.parent_op()
            if isinstance(parent, TileOp) and parent.spec.effect == RECURSIVE:
                work.append(parent)
            if current.short in ("for", "loop", "if"):
                work += [
                    inner for region in current.regions for inner in _walk(region.block)
                    if inner.spec.effect == TERMINATOR and not _in_combiner(inner)
                ]  # fmt: skip

    def _count(self) -> None:
        for op in _walk(self.body):
            if op in self._live:
                for value in self.operands(op):
                    self.uses[value] += 1
                    self.users.setdefault(value, []).append(op)


def _owner(value: SSAValue) -> TileOp | None:
    """The op that makes a value: also that whose region has it as an argument."""
    if isinstance(value, BlockArgument):
        parent = value.block.parent_op()
        return parent if isinstance(parent, TileOp) and parent.spec.effect == RECURSIVE else None
    return defining_op(value)


def _in_combiner(op: TileOp) -> bool:
    parent = op.parent_op()
    return isinstance(parent, TileOp) and parent.short in ("reduce", "scan")


def _ops(block: Block) -> Iterable[TileOp]:
    return ops_of(block)  # pyright: ignore[reportReturnType]


def _walk(block: Block) -> Iterator[TileOp]:
    """All ops in a block and below, without what combines two elements."""
    for op in _ops(block):
        yield op
        if op.short not in ("reduce", "scan"):
            for region in op.regions:
                yield from _walk(region.block)
