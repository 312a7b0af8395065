"""Values of a dump as the evaluator sees them: their types, their sorts and the operands of an op."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from tileir_diff.dialect.ir import TileOp, ops_of
from tileir_diff.dialect.types import PartitionView, Ptr, Scalar, StridedView, Tile

if TYPE_CHECKING:
    from collections.abc import Iterable

    from xdsl.ir import Region, SSAValue

    from tileir_diff.dialect.types import GatherScatterView, TensorView
    from tileir_diff.graph.terms import Term

    TileView = PartitionView | StridedView | GatherScatterView


class View:
    """A tensor view, or a tile view over one; ``shape`` and ``strides`` of the tensor."""

    __slots__ = ("pointer", "shape", "strides", "type")

    def __init__(
        self,
        kind: TensorView | TileView,
        pointer: Term,
        shape: tuple[Term, ...],
        strides: tuple[Term, ...],
    ) -> None:
        self.type = kind
        self.pointer = pointer
        self.shape = shape
        self.strides = strides


def operand(op: TileOp, name: str) -> SSAValue:
    """The operand of a group that is never empty."""
    value = op.one(name)
    assert value is not None
    return value


def tile_type(value: SSAValue) -> Tile:
    """The type of a value that is a tile."""
    kind = value.type
    assert isinstance(kind, Tile)
    return kind


def shape_of(value: SSAValue) -> tuple[int, ...]:
    return tile_type(value).shape


def element_name(value: SSAValue) -> str:
    return str(tile_type(value).element)


def scalar_type(value: SSAValue) -> Scalar:
    """The element type of a tile of numbers."""
    element = tile_type(value).element
    assert not isinstance(element, Ptr)
    return element


def element_bits(value: SSAValue) -> int:
    return scalar_type(value).bits


def pointee_bits(pointer: SSAValue) -> int:
    """The size of the elements that a pointer, or a tile of them, points to."""
    element = tile_type(pointer).element
    assert isinstance(element, Ptr)
    return stored_bits(element.pointee)


def stored_bits(kind: Scalar) -> int:
    """How many bits an element has in memory, where `i1` is a byte."""
    return 8 if kind.name == "i1" else kind.bits


def sort_of(value: SSAValue) -> str:
    """ "bool" for i1, "int" for other integers and pointers (polynomials), "data" for the rest."""
    kind = value.type
    if not isinstance(kind, Tile):
        return "data"
    element = kind.element
    if not isinstance(element, Scalar):
        return "int"
    if not element.is_int:
        return "data"
    return "bool" if element.bits == 1 else "int"


def is_pointer(value: SSAValue) -> bool:
    kind = value.type
    return isinstance(kind, Tile) and type(kind.element) is Ptr


def is_integer(value: SSAValue) -> bool:
    """An integer of more than one bit."""
    return sort_of(value) == "int" and not is_pointer(value)


def is_bool(value: SSAValue) -> bool:
    return sort_of(value) == "bool"


def signed_range(bits: int) -> tuple[int, int]:
    """The smallest and the largest signed number of this width."""
    return -(1 << (bits - 1)), (1 << (bits - 1)) - 1


def tensor_dim(kind: TileView | TensorView, dim: int) -> int:
    """The dimension of the tensor that a dimension of the view runs over."""
    return kind.dim_map[dim] if isinstance(kind, (PartitionView, StridedView)) else dim


def union_of_tokens(values: Iterable[Any]) -> frozenset[int]:
    """The effects behind the tokens among the values."""
    tokens: list[frozenset[int]] = [value for value in values if isinstance(value, frozenset)]
    return frozenset[int]().union(*tokens)


def last_op(region: Region) -> TileOp | None:
    """The terminator of a region of one block, or what stands in its place."""
    op = region.block.last_op
    return op if isinstance(op, TileOp) else None


def defining_op(value: SSAValue) -> TileOp | None:
    """The op whose result the value is; None for an argument of a block."""
    owner = value.owner
    return cast("TileOp", owner) if hasattr(owner, "short") else None


def around(op: TileOp) -> list[Any]:
    """The ops that an op stands in, innermost first."""
    found: list[Any] = []
    above = op.parent_op()
    while above is not None:
        found.append(above)
        above = above.parent_op()
    return found


def ops_within(op: TileOp) -> list[TileOp]:
    """The op and all ops nested in it, in order."""
    found = [op]
    for region in op.regions:
        for block in region.blocks:
            for inner in ops_of(block):
                if hasattr(inner, "short"):
                    each = cast("TileOp", inner)
                    found += ops_within(each) if each.regions else (each,)
    return found


def root_of(value: SSAValue) -> SSAValue:
    """The value that a chain of promises is about."""
    op = defining_op(value)
    while op is not None and op.short == "assume":
        value = operand(op, "value")
        op = defining_op(value)
    return value


def read_values(ops: Iterable[TileOp]) -> frozenset[SSAValue]:
    """Of all ops of an entry, the values that anything but pure ops reads, also through other ops."""
    work: list[Any] = [op for op in ops if _is_read_by(op)]
    read: set[SSAValue] = set()
    seen = {id(op) for op in work}
    while work:
        for value in work.pop().operands:
            read.add(value)
            maker = defining_op(value)
            if maker is not None and id(maker) not in seen:
                seen.add(id(maker))
                work.append(maker)
    return frozenset(read)


def is_used(op: TileOp) -> bool:
    """Whether anything but pure ops reads the first result, also through other ops."""
    work = [op.results[0]]
    seen: set[int] = set()
    while work:
        for use in work.pop().uses:
            user = use.operation
            if id(user) in seen:
                continue
            seen.add(id(user))
            if _is_read_by(user):
                return True
            work.extend(user.results)
    return False


def _is_read_by(user: Any) -> bool:
    """Whether an op does something with its operands, and is not only another value."""
    return bool(user.regions) or not user.results or getattr(user, "short", "").endswith("_tko")
