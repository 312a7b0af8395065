"""Types from text, in every spelling that is printed."""

from __future__ import annotations

from typing import Any, Final

from tileir_diff.dialect.scalars import SPELLINGS
from tileir_diff.dialect.types import (
    PADDING_VALUES,
    SCALARS,
    TOKEN,
    FunctionType,
    GatherScatterView,
    PartitionView,
    Ptr,
    Scalar,
    StridedView,
    TensorView,
    Tile,
    TileIRType,
    parse_type,
)
from tileir_diff.syntax.nodes import FunctionTypeNode, Listing, Shaped, ShapeGroup, Term
from tileir_diff.syntax.parser import parse_body
from tileir_diff.syntax.source import Problem
from tileir_diff.syntax.token import Token as Leaf


def scalar(text: str, offset: int = 0) -> Scalar:
    """The element type of that name, in any case for the small floats. Raises Problem."""
    name = SPELLINGS.get(text) or SPELLINGS.get(text.lower())
    if name is None:
        raise Problem(f"unknown element type '{text}'", offset)
    return SCALARS[name]


def read_type(text: str) -> TileIRType:
    prefix = 1 if text.startswith("!") else 0
    if text.startswith("cuda_tile.", prefix):
        prefix += len("cuda_tile.")
    opening = text.find("<", prefix)
    if opening < 0:
        name = text[prefix:]
        return TOKEN if name == "token" else scalar(name)
    head = text[prefix:opening]
    reader = _READERS.get(head)
    if reader is None:
        raise Problem(f"unknown type '{head}'", prefix)
    with Problem.shifted(opening + 1):
        return reader(parse_body(text[opening + 1 : -1]))


def _read_ptr(terms: list[Term]) -> Ptr:
    if not 1 <= len(terms) <= 2:
        raise Problem("expected ptr<element>", 0)
    attr = None if len(terms) == 1 else _pointer_attribute(_only(terms[1]))
    leaf = _only(terms[0])
    if type(leaf) is not Leaf:
        raise Problem("expected an element type", 0)
    pointee = _nested(leaf)
    if not isinstance(pointee, Scalar):
        raise Problem(f"pointers point to elements, not to '{pointee}'", _at(leaf))
    return Ptr(pointee, attr)


def _read_tile(terms: list[Term]) -> Tile:
    if len(terms) != 1:
        raise Problem("expected tile<shape x element>", 0)
    shape, element = _shaped(_only(terms[0]))
    if None in shape:
        raise Problem("a tile has a fixed shape, '?' is for tensor views", 0)
    if not isinstance(element, Scalar | Ptr):
        raise Problem(f"a tile cannot hold '{element}'", 0)
    return Tile(shape, element)  # pyright: ignore[reportArgumentType]


def _read_tensor_view(terms: list[Term]) -> TensorView:
    if not terms:
        raise Problem("expected tensor_view<shape x element, strides=[...]>", 0)
    first = _only(terms[0])
    if type(first) is Leaf and first.startswith("xf"):
        # The cuTile Rust printer's rank 0: no extents, and the `x` after them.
        shape, element = (), scalar(first[1:], _at(first))
    else:
        shape, element = _shaped(first)
    if not isinstance(element, Scalar):
        raise Problem(f"a tensor view cannot hold '{element}'", 0)
    strides: tuple[int | None, ...] = ()
    attr = None
    for term in terms[1:]:
        if term.key == "strides":
            strides = _integers(term, dynamic=True)
        elif term.key:
            raise Problem(f"unknown '{term.key}' in a tensor view", _at(term.values[0]))
        else:
            attr = _pointer_attribute(_only(term))
    return TensorView(shape, strides, element, attr)


class _Parts:
    """What the three tile views have in common: their terms by role."""

    def __init__(self, terms: list[Term], *extra: str) -> None:
        self.view: TensorView | None = None
        self.named: dict[str, Any] = {}
        for term in terms:
            key = term.key
            if not key:
                view = _nested(_only(term))
                if not isinstance(view, TensorView) or self.view is not None:
                    raise Problem("expected one tensor_view in a view type", _at(_only(term)))
                self.view = view
            elif key in self.named:
                raise Problem(f"'{key}' is given twice", _at(term.values[0]))
            elif key in ("tile", "padding_value", *extra):
                self.named[key] = _VIEW_PARTS[key](term)
            else:
                raise Problem(f"unknown '{key}' in a view type", _at(term.values[0]))
        for key in ("tile", *extra[:1]):
            if key not in self.named:
                raise Problem(f"view type without '{key}'", 0)

    def tensor_view(self) -> TensorView:
        if self.view is None:
            raise Problem("view type without its tensor_view", 0)
        return self.view

    def dim_map(self) -> tuple[int, ...]:
        return self.named.get("dim_map") or tuple(range(len(self.named["tile"])))


def _read_partition_view(terms: list[Term]) -> PartitionView:
    parts = _Parts(terms, "tile", "dim_map")
    return PartitionView(
        parts.named["tile"], parts.named.get("padding_value"), parts.tensor_view(), parts.dim_map()
    )


def _read_strided_view(terms: list[Term]) -> StridedView:
    parts = _Parts(terms, "traversal_strides", "dim_map")
    named = parts.named
    return StridedView(
        named["tile"],
        named["traversal_strides"],
        named.get("padding_value"),
        parts.tensor_view(),
        parts.dim_map(),
    )


def _read_gather_scatter_view(terms: list[Term]) -> GatherScatterView:
    parts = _Parts(terms, "sparse_dim")
    named = parts.named
    return GatherScatterView(
        named["tile"], named.get("padding_value"), parts.tensor_view(), named["sparse_dim"]
    )


def _padding_value(term: Term) -> str:
    text = str(term.values[0])
    if text not in PADDING_VALUES:
        raise Problem(
            f"unknown padding value '{text}', expected one of {', '.join(PADDING_VALUES)}",
            _at(term.values[0]),
        )
    return text


def _tile_shape(term: Term) -> tuple[int, ...]:
    group = term.values[0]
    if type(group) is not ShapeGroup:
        raise Problem("expected a tile shape such as (4x8)", _at(group))
    return tuple(_integer(part) for part in group.text.split("x"))


def _integers(term: Term, dynamic: bool = False) -> tuple[int | None, ...]:
    listing = term.values[0]
    if type(listing) is not Listing:
        raise Problem("expected a list such as [1, 2]", _at(listing))
    return tuple(None if dynamic and str(leaf) == "?" else _integer(leaf) for leaf in listing.values)


def _integer(leaf: Any) -> int:
    try:
        return int(str(leaf), 10)
    except ValueError:
        raise Problem(f"expected a whole number, found '{str(leaf)[:40]}'", _at(leaf)) from None


def _sparse_dim(term: Term) -> int:
    return _integer(term.values[0])


_VIEW_PARTS: Final[dict[str, Any]] = {
    "tile": _tile_shape,
    "padding_value": _padding_value,
    "dim_map": _integers,
    "traversal_strides": _integers,
    "sparse_dim": _sparse_dim,
}
_READERS: Final[dict[str, Any]] = {
    "ptr": _read_ptr,
    "tile": _read_tile,
    "tensor_view": _read_tensor_view,
    "partition_view": _read_partition_view,
    "strided_view": _read_strided_view,
    "gather_scatter_view": _read_gather_scatter_view,
}


def _shaped(node: Any) -> tuple[tuple[int | None, ...], TileIRType]:
    """Extents (None for '?') and element of `4x?xf32`."""
    if type(node) is not Shaped:
        if type(node) is not Leaf:
            raise Problem("expected a shape and an element type", _at(node))
        return (), _nested(node)
    dims = tuple(None if extent == "?" else _integer(extent) for extent in str(node.dims)[:-1].split("x"))
    return dims, _nested(node.element)


def _nested(leaf: Any) -> TileIRType:
    if type(leaf) is not Leaf:
        raise Problem("expected a type", _at(leaf))
    with Problem.shifted(_at(leaf)):
        return parse_type(str(leaf))


def _pointer_attribute(leaf: Any) -> str:
    """The inside of `<none>` or `#cuda_tile.ptr_attr<none>`."""
    text = str(leaf)
    head, _, rest = text.partition("<")
    if type(leaf) is not Leaf or head not in ("", "#cuda_tile.ptr_attr", "ptr_attr") or not rest:
        raise Problem(f"expected a pointer attribute, found '{text[:40]}'", _at(leaf))
    return rest[:-1].strip()


def _only(term: Term) -> Any:
    if term.relation or len(term.values) != 1:
        raise Problem(f"unexpected '{term.key or str(term.values[-1])[:40]}' in a type", _at(term.values[0]))
    return term.values[0]


def _at(node: Any) -> int:
    """Offset of a node in the text it was parsed from."""
    return (node.start_pos or 0) if type(node) is Leaf else getattr(node, "start", 0)


def function_type(node: FunctionTypeNode) -> FunctionType:
    """The function type of a syntax node. Raises Problem."""
    return FunctionType(tuple(map(_nested, node.inputs)), tuple(map(_nested, node.outputs)))
