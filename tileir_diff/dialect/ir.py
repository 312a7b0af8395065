"""The typed module: xDSL ops with named operand groups, plain attribute values and positions in the dump.

Classes are made from the op tables on first use.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from xdsl.ir import Attribute, Block, BlockArgument, Operation, OpResult, Region, SSAValue
from xdsl.ir.core import OpTraits, SSAValues, Use

from tileir_diff.dialect.ops import OPS
from tileir_diff.dialect.spec import REQUIRED, OpSpec
from tileir_diff.syntax.source import SourceText, Span

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from typing import Self

    from tileir_diff.dialect.attributes import Value
    from tileir_diff.dialect.locations import Locations


class SourceLoc(NamedTuple):
    """A place in the kernel's source, from the dump's debug locations.

    1-based line, column as the compiler gave it.
    """

    file: str
    line: int
    column: int
    called: SourceLoc | None = None
    """Of a place in a function that the kernel calls: the outermost call, in the same file."""


class NoLocation(Attribute):
    """Stands for xDSL's unknown location, whose import costs more than reading a dump."""

    name = "cuda_tile.no_location"

    def __post_init__(self) -> None:
        """Nothing to check."""

    def __str__(self) -> str:
        return "loc(unknown)"


NO_LOCATION: Any = NoLocation()


class Dump:
    """What all ops of one text share."""

    __slots__ = ("locations", "text")

    def __init__(self, text: SourceText, locations: Locations | None) -> None:
        self.text = text
        self.locations = locations


class Values(SSAValues[Any]):
    """xDSL's, indexed as fast as a tuple."""

    __slots__ = ()
    __getitem__: Any = tuple[Any].__getitem__


class TileOp(Operation):
    """An op of the `cuda_tile` dialect.

    `operands` are in the order of the dialect's definition; `group` names their parts. `segments` holds the
    size of each group. Positions are offsets into the dump's text: `start` and `end` of the op's head,
    `location` of its `loc(...)`.
    """

    spec: ClassVar[OpSpec]
    short: ClassVar[str]
    traits: ClassVar[OpTraits] = OpTraits(tuple)
    group_index: ClassVar[dict[str, int]]
    defaults: ClassVar[dict[str, Any]]

    segments: tuple[int, ...] = ()
    dump: Dump | None = None
    start: int = 0
    end: int = 0
    location_text: str | None = None

    @classmethod
    def build(
        cls,
        groups: Sequence[Sequence[SSAValue]],
        result_types: Sequence[Attribute],
        properties: dict[str, Value],
        regions: Sequence[Region] = (),
    ) -> TileOp:
        """A new op. `groups` are its operand groups in table order."""
        op = cls.__new__(cls)
        operands = Values([value for group in groups for value in group])
        op._operands = operands
        uses: list[Use] = []
        for index, operand in enumerate(operands):
            use = Use(op, index)
            operand.add_use(use)
            uses.append(use)
        op._operand_uses = tuple(uses)
        op.results = Values([OpResult(result, op, index) for index, result in enumerate(result_types)])
        op.properties = properties  # pyright: ignore[reportAttributeAccessIssue]
        op.attributes = {}
        op.location = NO_LOCATION
        op.regions = ()
        for region in regions:
            op.add_region(region)
        op.segments = tuple([len(group) for group in groups])
        return op

    def clone_without_regions(
        self, value_mapper: Any = None, block_mapper: Any = None, **options: Any
    ) -> Self:
        """As xDSL's, and keeps groups, position and names; xDSL itself refuses names such as `%0`."""
        mapper: dict[SSAValue, SSAValue] = {} if value_mapper is None else value_mapper
        named = options.pop("clone_name_hints", True)
        cloned = super().clone_without_regions(mapper, block_mapper, clone_name_hints=False, **options)
        for field in ("segments", "dump", "start", "end", "location_text"):
            setattr(cloned, field, getattr(self, field))
        if named:
            _copy_names(self.results, cloned.results)
        return cloned

    def clone(self, value_mapper: Any = None, block_mapper: Any = None, **options: Any) -> Self:
        """As xDSL's, names kept."""
        named = options.pop("clone_name_hints", True)
        cloned = super().clone(value_mapper, block_mapper, clone_name_hints=False, **options)
        if named:
            for old, new in zip(self.walk(), cloned.walk(), strict=True):
                _copy_names(_values(old), _values(new))
        return cloned

    def __str__(self) -> str:
        from tileir_diff.dialect.printer import print_op

        return print_op(self)

    @property
    def inputs(self) -> tuple[SSAValue, ...]:
        """The operands, to be read: xDSL's `operands` can be written too, and takes longer."""
        return self._operands

    def group(self, name: str) -> tuple[SSAValue, ...]:
        """The operands of one group; () when it is empty or the op has no such group."""
        index = self.group_index.get(name)
        if index is None:
            return ()
        segments = self.segments
        size = segments[index]
        if not size:
            return ()
        start = sum(segments[:index])
        return self._operands[start : start + size]

    def one(self, name: str) -> SSAValue | None:
        """The operand of a group of at most one; None when it is absent."""
        index = self.group_index.get(name)
        segments = self.segments
        if index is None or not segments[index]:
            return None
        return self._operands[sum(segments[:index])]

    def get(self, name: str) -> Any:
        """The plain value of an attribute, or its default; None where there is neither."""
        stored: Any = self.properties.get(name)
        data: Any = self.defaults.get(name) if stored is None else stored.data
        if name == "hints":
            return {arch: dict(pairs) for arch, pairs in data if pairs} if data is not None else None
        return data

    @property
    def symbol(self) -> str:
        """The symbol as reports name it: without `@`, and what is not printable as MLIR escapes it."""
        name = str(self.get("sym_name")).removeprefix("@")
        if name.isprintable():
            return name
        return "".join(char if char.isprintable() else f"\\{ord(char):02X}" for char in name)

    @property
    def span(self) -> Span:
        """Where the op's head stands in the dump; line 0 for an op that was not read from one."""
        return self.dump.text.span(self.start, self.end) if self.dump else Span(0, 0, 0, 0)

    @property
    def text(self) -> str:
        """The op's head as the dump has it; empty for an op that was not read from one."""
        return self.dump.text.text[self.start : self.end] if self.dump else ""

    @property
    def source(self) -> SourceLoc | None:
        """Where the kernel's source has it.

        The innermost location in the entry's own file, where there is one.
        """
        if self.dump is None or self.dump.locations is None or self.location_text is None:
            return None
        entry: Operation | None = self
        while entry is not None and not (isinstance(entry, TileOp) and entry.spec.custom == "function"):
            entry = entry.parent_op()
        home = entry.location_text if isinstance(entry, TileOp) else None
        return self.dump.locations.resolve(self.location_text, home)

    def part_span(self, name: str) -> Span | None:
        """Where a part of the op stands: an operand group, an attribute, "results" or "types".

        None if not printed.
        """
        from tileir_diff.dialect.parts import part_span

        return part_span(self, name)

    def inner(self) -> Iterator[TileOp]:
        """The ops of all its regions, in order, without those nested deeper."""
        for region in self.regions:
            for block in region.blocks:
                yield from ops_of(block)  # pyright: ignore[reportReturnType]


class ModuleOp(TileOp):
    """The whole dump: globals and entries.

    `approximations` names what its printer lost, each with its line.
    """

    approximations: Sequence[str] = ()
    format: str = ""

    @property
    def body(self) -> Block:
        return self.regions[0].block

    @property
    def entries(self) -> list[TileOp]:
        """Entries and functions in order."""
        return [op for op in self.inner() if op.spec.custom == "function"]

    @property
    def globals(self) -> list[TileOp]:
        return [op for op in self.inner() if op.short == "global"]


@cache
def op_class(short: str) -> type[TileOp]:
    """The class of an op. Raises KeyError for a name that is not in the tables."""
    spec = OPS[short]
    base = ModuleOp if short == "module" else TileOp
    members: dict[str, Any] = {
        "name": f"cuda_tile.{short}",
        "short": short,
        "spec": spec,
        "group_index": {group.rstrip("?*"): index for index, group in enumerate(spec.operands)},
        "defaults": {
            attribute.name: None if attribute.default is REQUIRED else attribute.default
            for attribute in spec.attributes
        },
        "__doc__": spec.doc,
        "__module__": __name__,
    }
    title = "".join(part.capitalize() for part in short.replace("$", "_").split("_")) + "Op"
    metaclass: Any = type(base)
    return metaclass(title, (base,), members)


def _values(op: Operation) -> list[SSAValue]:
    """What an op defines: its results and the arguments of its regions."""
    return [*op.results, *(argument for region in op.regions for argument in region.block.args)]


def _copy_names(values: Sequence[SSAValue], copies: Sequence[SSAValue]) -> None:
    for value, copy in zip(values, copies, strict=True):
        copy._name = value.name_hint  # pyright: ignore[reportPrivateUsage]


def new_block(types: Sequence[Attribute]) -> Block:
    """An empty block with arguments of these types."""
    block = Block()
    block._args = tuple(  # pyright: ignore[reportPrivateUsage]
        [BlockArgument(type_, block, index, NO_LOCATION) for index, type_ in enumerate(types)]
    )
    return block


def ops_of(block: Block) -> list[Operation]:
    """The ops of a block, in order, faster than `block.ops`."""
    ops: list[Operation] = []
    op = block.first_op
    while op is not None:
        ops.append(op)
        op = op._next_op  # pyright: ignore[reportPrivateUsage]
    return ops


def types_of(values: Iterable[SSAValue]) -> list[Attribute]:
    """The types of values, in order."""
    return [value._type for value in values]  # pyright: ignore[reportPrivateUsage]


def set_name(value: SSAValue, name: str) -> None:
    """Names a value as the dump does; xDSL's own setter drops trailing numbers."""
    value._name = name  # pyright: ignore[reportPrivateUsage]


def replace_uses(value: SSAValue, other: SSAValue) -> None:
    """Puts another value in all places that use this one; xDSL's own refuses names such as `%0`."""
    for use in tuple(value.uses):
        use.operation.operands[use.index] = other
