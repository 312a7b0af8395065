"""Ops in bytecode. How an op is laid out follows from its table entry.

In order: its number; types of its results; flags, which say what optional parts there are; attributes;
operands; regions.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

from tileir_diff.bytecode.attributes import encode_attribute
from tileir_diff.bytecode.encoding import sized, varint
from tileir_diff.bytecode.unwritable import Unwritable
from tileir_diff.bytecode.versions import minor, written_results
from tileir_diff.dialect.ir import TileOp
from tileir_diff.dialect.spec import REQUIRED, AttributeSpec, OpSpec

if TYPE_CHECKING:
    from xdsl.ir import Block, SSAValue

    from tileir_diff.bytecode.tables import Tables


@dataclass(frozen=True, eq=False)
class Layout:
    """What a version writes of an op.

    - `sized_results`: the number of results comes before their types.
    - `flags`: attributes that are a flag and no more, optional attributes, optional operand groups, from the
      lowest bit on.
    - `attributes`: those that are written, in order.
    - `total`: the number of operands comes first; else each group of any number has its own before it.
    """

    sized_results: bool
    flags: tuple[str, ...]
    attributes: tuple[AttributeSpec, ...]
    total: bool


@cache
def layout(spec: OpSpec, version: int) -> Layout:
    """The layout of an op in version 13.`version`."""
    written = [
        attribute
        for attribute in spec.attributes
        if attribute.style != "operands" and minor(attribute.since) <= version
    ]
    vary = [name for name in spec.operands if name[-1] in "?*"]
    optional = [name for name in vary if name[-1] == "?"] if len(vary) > 1 else []
    if spec.name == "print_tko" and version < 2:
        optional = []  # its token came with 13.2
    flags = [attribute.name for attribute in written if _is_flag(attribute) or _is_optional(attribute)]
    return Layout(
        sized_results=any(name[-1:] == "*" for name in (*spec.operands, *spec.results)),
        flags=(*flags, *(name[:-1] for name in optional)),
        attributes=tuple([attribute for attribute in written if not _is_flag(attribute)]),
        total=len(vary) == 1,
    )


def _is_flag(attribute: AttributeSpec) -> bool:
    return attribute.kind == "bool" and attribute.style == "flag"


def _is_optional(attribute: AttributeSpec) -> bool:
    return attribute.default is None or attribute.kind == "hints"


class Code:
    """The code of one entry. Values are numbered in the order of their definition."""

    def __init__(self, tables: Tables) -> None:
        self._tables = tables
        self._numbers: dict[SSAValue, int] = {}
        self._next = 0

    def block(self, block: Block) -> bytes:
        """The ops of a block whose arguments are numbered already. Raises Unwritable with its op."""
        out = bytearray()
        for op in block.ops:
            assert isinstance(op, TileOp)
            try:
                self._op(op, out)
            except Unwritable as reason:
                # What lies deeper has been blamed already.
                raise reason if reason.op is not None else Unwritable(str(reason), op) from None
        return bytes(out)

    def define(self, values: tuple[SSAValue, ...]) -> None:
        """Gives numbers to arguments or results."""
        for value in values:
            self._numbers[value] = self._next
            self._next += 1

    def _op(self, op: TileOp, out: bytearray) -> None:
        tables = self._tables
        how = layout(op.spec, tables.version)
        results = written_results(op, tables.version)
        out += varint(op.spec.opcode)
        if how.sized_results:
            out += varint(len(results))
        for result in results:
            out += varint(tables.type(result.type))
        if how.flags:
            out += varint(sum(1 << bit for bit, name in enumerate(how.flags) if _is_set(op, name)))
        for attribute in how.attributes:
            out += self._attribute(op, attribute)
        self._operands(op, how, out)
        if op.spec.regions:
            self._regions(op, out)
        self.define(tuple(results))

    def _attribute(self, op: TileOp, spec: AttributeSpec) -> bytes:
        stored: Any = op.properties.get(spec.name)
        if stored is None and _is_optional(spec):
            return b""
        data: Any = op.defaults[spec.name] if stored is None else stored.data
        if data is None and spec.default is REQUIRED:
            raise Unwritable(f"{op.short} lacks its {spec.name}")
        if spec.name == "inbounds" and not data:
            data = (False,) * len(op.group("index"))
        return encode_attribute(self._tables, spec, data)

    def _operands(self, op: TileOp, how: Layout, out: bytearray) -> None:
        if how.total:
            out += varint(len(op.operands))
        for name in op.spec.operands:
            numbers = [self._number(operand) for operand in op.group(name.rstrip("?*"))]
            if name[-1] == "*" and not how.total:
                out += sized(numbers)
            else:
                out += b"".join(map(varint, numbers))

    def _number(self, operand: SSAValue) -> int:
        number = self._numbers.get(operand)
        if number is None:
            raise Unwritable("an operand is used where it is not defined")
        return number

    def _regions(self, op: TileOp, out: bytearray) -> None:
        """Each region with its one block. Numbers given inside are given again behind it."""
        out += varint(op.spec.regions)
        for index in range(op.spec.regions):
            if index >= len(op.regions):
                out += varint(0)  # no `else`
                continue
            block, after = op.regions[index].block, self._next
            out += varint(1) + sized([self._tables.type(argument.type) for argument in block.args])
            self.define(tuple(block.args))
            out += varint(len(list(block.ops))) + self.block(block)
            self._next = after


def _is_set(op: TileOp, name: str) -> bool:
    """Whether an op has an optional attribute or operand, or a flag is set."""
    if name in op.group_index:
        return bool(op.group(name))
    return bool(op.get(name)) or (name == "hints" and name in op.properties)
