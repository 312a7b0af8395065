"""Making views, their shapes, and loads and stores through them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tileir_diff.dialect.types import GatherScatterView, Tile
from tileir_diff.dialect.verifier.access import operand_tile, pointee, tensor_view, tile, view
from tileir_diff.dialect.verifier.broken import Broken, Constraints, Rules

if TYPE_CHECKING:
    from tileir_diff.dialect.ir import TileOp

RULES: Rules = {
    "make_tensor_view/pointee": "the base of a tensor_view points to its element type",
    "make_tensor_view/pointer-attribute": "a tensor_view and its base have one pointer attribute, or none",
    "make_tensor_view/dynamic-count": "make_tensor_view takes one operand per dynamic size and stride",
    "make_tensor_view/static": "sizes and strides written in make_tensor_view are those of its result type",
    "make_tensor_view/index-type": "all dynamic sizes and strides have one type",
    "view/tensor-view": "a view is made from a tensor_view of the type it names",
    "view-access/index-count": "a view is indexed by one value per dimension of its tile",
    "view-access/scalar-index": "an index of a view is a rank-0 tile",
    "view-access/index-type": "all rank-0 indices of a view access have one type",
    "view-access/sparse-index": "the sparse index is a rank-1 tile, with one element per row of the tile",
    "view-access/tile-type": "a load gives, and a store takes, the tile that the view names",
    "view-access/inbounds": "inbounds has one entry per index",
    "get_index_space_shape/result-count": "get_index_space_shape has one result per dimension of the tile",
    "get_tensor_shape/result-count": "get_tensor_shape has one result per dimension of the tensor_view",
}


def make_tensor_view(op: TileOp) -> Broken | None:
    made, base = tensor_view(op.results[0]), operand_tile(op)
    if pointee(base) != made.element:
        message = f"a tensor_view of {made.element} needs a pointer to it, found {base}"
        return Broken("make_tensor_view/pointee", message, "operand:0")
    attribute = getattr(base.element, "attr", None)
    if attribute != made.attr:
        message = f"{base} and {made} differ in their pointer attribute"
        return Broken("make_tensor_view/pointer-attribute", message, "operand:0")
    for what, declared, group, written in (
        ("size", made.shape, "shape", op.get("static_shape")),
        ("stride", made.strides, "strides", op.get("static_strides")),
    ):
        dynamic, given = sum(number is None for number in declared), len(op.group(group))
        if (
            written is not None
            and [n for n in written if n is not None]
            and tuple(written) != tuple(declared)
        ):
            message = f"the {what}s {_sizes(written)} do not match those of {made}, {_sizes(declared)}"
            return Broken("make_tensor_view/static", message, f"static_{group}")
        if dynamic != given:
            message = f"{made} has {dynamic} dynamic {what}(s), found {given} operand(s)"
            return Broken("make_tensor_view/dynamic-count", message, f"static_{group}")
    indices = op.operands[1 : 1 + len(op.group("shape")) + len(op.group("strides"))]
    for position, index in enumerate(indices, 1):
        if index.type != indices[0].type:
            message = (
                f"dynamic sizes and strides must have one type, found {indices[0].type} and {index.type}"
            )
            return Broken("make_tensor_view/index-type", message, f"operand:{position}")
    return None


def _sizes(numbers: tuple[int | None, ...]) -> str:
    return "[" + ", ".join("?" if number is None else str(number) for number in numbers) + "]"


def make_view(op: TileOp) -> Broken | None:
    given, named = op.operands[0].type, view(op.results[0]).tensor_view
    if given != named:
        message = f"the view names {named}, but is made from {given}"
        return Broken("view/tensor-view", message, "operand:0")
    return None


def view_indices(op: TileOp) -> Broken | None:
    """Number, rank and type of the indices of a load, store or reduction through a view."""
    accessed, indices = view(op.group("view")[0]), op.group("index")
    if len(indices) != len(accessed.tile):
        message = f"the view has {len(accessed.tile)} dimension(s), found {len(indices)} index operand(s)"
        return Broken("view-access/index-count", message)
    sparse = accessed.sparse_dim if isinstance(accessed, GatherScatterView) else None
    scalar_type = None
    for dim, index in enumerate(indices):
        if dim == sparse:
            if tile(index).shape != (accessed.tile[dim],):
                message = (
                    f"the sparse index takes {accessed.tile[dim]} rows as a rank-1 tile, found {index.type}"
                )
                return Broken("view-access/sparse-index", message, "index")
            continue
        if tile(index).shape:
            message = f"index {dim} of the view must be a rank-0 tile, found {index.type}"
            return Broken("view-access/scalar-index", message, "index")
        if scalar_type is not None and index.type != scalar_type and op.short != "atomic_red_view_tko":
            message = f"all rank-0 indices must have one type, found {scalar_type} and {index.type}"
            return Broken("view-access/index-type", message, "index")
        scalar_type = scalar_type or index.type
    return None


def view_tile(op: TileOp) -> Broken | None:
    """The tile that is loaded or stored is the one that the view names."""
    accessed = view(op.group("view")[0])
    expected = Tile(accessed.tile, accessed.tensor_view.element)
    if op.short == "load_view_tko":
        found, where = op.results[0].type, "result"
    else:
        group = "tile" if op.short == "store_view_tko" else "value"
        found, where = op.group(group)[0].type, group
    if found != expected:
        message = f"the view holds {expected}, found {found}"
        return Broken("view-access/tile-type", message, where)
    return None


def _inbounds(op: TileOp) -> Broken | None:
    inbounds, indices = op.get("inbounds"), op.group("index")
    if inbounds and len(inbounds) != len(indices):
        message = f"`inbounds` needs one entry per index, {len(indices)}, found {len(inbounds)}"
        return Broken("view-access/inbounds", message, "inbounds")
    return None


def index_space_shape(op: TileOp) -> Broken | None:
    rank = len(view(op.operands[0]).tile)
    if len(op.results) != rank:
        message = f"the view has {rank} dimension(s), found {len(op.results)} result(s)"
        return Broken("get_index_space_shape/result-count", message)
    return None


def tensor_shape(op: TileOp) -> Broken | None:
    rank = len(tensor_view(op.operands[0]).shape)
    if len(op.results) != rank:
        message = f"the tensor_view has {rank} dimension(s), found {len(op.results)} result(s)"
        return Broken("get_tensor_shape/result-count", message)
    return None


CONSTRAINTS: Constraints = {
    "make_tensor_view": (make_tensor_view,),
    "make_partition_view": (make_view,),
    "make_strided_view": (make_view,),
    "make_gather_scatter_view": (make_view,),
    "load_view_tko": (view_indices, view_tile, _inbounds),
    "store_view_tko": (view_indices, view_tile, _inbounds),
    "get_index_space_shape": (index_space_shape,),
    "get_tensor_shape": (tensor_shape,),
}
