"""Types of the `cuda_tile` dialect: frozen, hashable, printed as the 13.4 disassembler prints them.

`parse_type` reads one type and keeps it by its text: a dump has thousands of types and a few dozen different
ones.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from xdsl.ir import TypeAttribute

from tileir_diff.dialect.scalars import FORMATS, INTEGER_BITS

PADDING_VALUES: Final = ("zero", "neg_zero", "nan", "pos_inf", "neg_inf")


class TileIRType(TypeAttribute):
    """Base of all types here. Subclasses print themselves with `__str__`."""

    def __post_init__(self) -> None:
        """Nothing to check: the verifier checks types, so that a bad one can still be shown."""


@dataclass(frozen=True)
class Scalar(TileIRType):
    """An element type: `i32`, `f32`, `bf16`, `f8E4M3FN`."""

    name: str  # pyright: ignore[reportIncompatibleVariableOverride]

    @property
    def is_int(self) -> bool:
        return self.name in INTEGER_BITS

    @property
    def is_float(self) -> bool:
        return self.name in FORMATS

    @property
    def bits(self) -> int:
        """Width of the bit pattern; 19 for tf32, 4 for f4E2M1FN."""
        return INTEGER_BITS.get(self.name) or FORMATS[self.name].bits

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True)
class Ptr(TileIRType):
    """A pointer to elements: `ptr<f32>`; `attr` is the inside of a 13.4 pointer attribute, such as `none`."""

    name = "cuda_tile.ptr"
    pointee: Scalar
    attr: str | None = None

    def __str__(self) -> str:
        return f"ptr<{self.pointee}>" if self.attr is None else f"ptr<{self.pointee}, <{self.attr}>>"


@dataclass(frozen=True)
class Tile(TileIRType):
    """A value of fixed shape: `tile<4x8xf32>`; rank 0 is a scalar."""

    name = "cuda_tile.tile"
    shape: tuple[int, ...]
    element: Scalar | Ptr

    @property
    def rank(self) -> int:
        return len(self.shape)

    @property
    def size(self) -> int:
        """Number of elements."""
        total = 1
        for extent in self.shape:
            total *= extent
        return total

    def __str__(self) -> str:
        return f"tile<{''.join(f'{extent}x' for extent in self.shape)}{self.element}>"


@dataclass(frozen=True)
class TensorView(TileIRType):
    """A strided array in memory:

    `tensor_view<?x16xf32, strides=[?,1]>`; None is a size known at run time only.
    """

    name = "cuda_tile.tensor_view"
    shape: tuple[int | None, ...]
    strides: tuple[int | None, ...]
    element: Scalar
    attr: str | None = None

    @property
    def rank(self) -> int:
        return len(self.shape)

    def __str__(self) -> str:
        dims = "".join(f"{_extent(extent)}x" for extent in self.shape)
        strides = (
            f", strides=[{','.join(_extent(stride) for stride in self.strides)}]" if self.strides else ""
        )
        attr = f", #cuda_tile.ptr_attr<{self.attr}>" if self.attr is not None else ""
        return f"tensor_view<{dims}{self.element}{strides}{attr}>"


@dataclass(frozen=True)
class PartitionView(TileIRType):
    """A tensor cut into tiles side by side. `dim_map[i]` is the tensor dimension of tile dimension i."""

    name = "cuda_tile.partition_view"
    tile: tuple[int, ...]
    padding: str | None
    tensor_view: TensorView
    dim_map: tuple[int, ...]

    @property
    def steps(self) -> tuple[int, ...]:
        """By dimension, how many elements lie between one index and the next."""
        return self.tile

    def __str__(self) -> str:
        head = f"partition_view<{_tile(self.tile)}{_padding(self.padding)}"
        return f"{head}, {self.tensor_view}{_dim_map(self.dim_map)}>"


@dataclass(frozen=True)
class StridedView(TileIRType):
    """Tiles of a tensor, `traversal_strides` elements apart; they may overlap or leave gaps."""

    name = "cuda_tile.strided_view"
    tile: tuple[int, ...]
    traversal_strides: tuple[int, ...]
    padding: str | None
    tensor_view: TensorView
    dim_map: tuple[int, ...]

    @property
    def steps(self) -> tuple[int, ...]:
        """By dimension, how many elements lie between one index and the next."""
        return self.traversal_strides

    def __str__(self) -> str:
        strides = f", traversal_strides=[{','.join(map(str, self.traversal_strides))}]"
        tail = f"{_padding(self.padding)}, {self.tensor_view}{_dim_map(self.dim_map)}"
        return f"strided_view<{_tile(self.tile)}{strides}{tail}>"


@dataclass(frozen=True)
class GatherScatterView(TileIRType):
    """Tiles by a list of rows along `sparse_dim`, and by their first element along the other dimensions."""

    name = "cuda_tile.gather_scatter_view"
    tile: tuple[int, ...]
    padding: str | None
    tensor_view: TensorView
    sparse_dim: int

    @property
    def steps(self) -> tuple[int, ...]:
        """By dimension, how many elements lie between one index and the next."""
        return (1,) * len(self.tile)

    def __str__(self) -> str:
        head = f"gather_scatter_view<{_tile(self.tile)}{_padding(self.padding)}"
        return f"{head}, {self.tensor_view}, sparse_dim={self.sparse_dim}>"


@dataclass(frozen=True)
class Token(TileIRType):
    """Orders memory operations."""

    name = "cuda_tile.token"

    def __str__(self) -> str:
        return "token"


@dataclass(frozen=True)
class FunctionType(TileIRType):
    """`(A, B) -> C`, of an entry or function."""

    name = "cuda_tile.function"
    inputs: tuple[TileIRType, ...]
    outputs: tuple[TileIRType, ...]

    def __str__(self) -> str:
        outputs = ", ".join(map(str, self.outputs))
        tail = outputs if len(self.outputs) == 1 else f"({outputs})"
        return f"({', '.join(map(str, self.inputs))}) -> {tail}"


View = PartitionView | StridedView | GatherScatterView
ALL_TYPES: Final = (
    Scalar, Ptr, Tile, TensorView, PartitionView, StridedView, GatherScatterView, Token, FunctionType,
)  # fmt: skip

SCALARS: Final = {name: Scalar(name) for name in (*INTEGER_BITS, *FORMATS)}
# The dialect knows classes by name; `Scalar` instances carry the name of the element type itself.
Scalar.name = "cuda_tile.scalar"  # pyright: ignore[reportAttributeAccessIssue]
TOKEN: Final = Token()


def _extent(value: int | None) -> str:
    return "?" if value is None else str(value)


def _tile(shape: tuple[int, ...]) -> str:
    return f"tile=({'x'.join(map(str, shape))})"


def _padding(padding: str | None) -> str:
    return "" if padding is None else f", padding_value = {padding}"


def _dim_map(dim_map: tuple[int, ...]) -> str:
    if dim_map == tuple(range(len(dim_map))):
        return ""
    return f", dim_map=[{', '.join(map(str, dim_map))}]"


# ---- reading

_KNOWN: dict[str, TileIRType] = {}
_KEEP: Final = 20_000


def parse_type(text: str) -> TileIRType:
    """The type that a text denotes. Raises Problem, with an offset into the text, when there is none."""
    known = _KNOWN.get(text)
    if known is None:
        from tileir_diff.dialect.type_reader import read_type

        if len(_KNOWN) > _KEEP:
            _KNOWN.clear()
        known = _KNOWN[text] = read_type(text)
    return known
