"""Defects of views: padding, maps, strides, indices, sizes, base; and of slices."""

from __future__ import annotations

import re
from itertools import combinations
from typing import TYPE_CHECKING

from benchmarks.mutate.memory import replacements
from benchmarks.mutate.model import DEFECT, Change, Edit
from benchmarks.mutate.registry import per_op
from tileir_diff.dialect.ir import TileOp
from tileir_diff.dialect.types import GatherScatterView, PartitionView, StridedView

if TYPE_CHECKING:
    from collections.abc import Iterator

    from xdsl.ir import SSAValue

    from benchmarks.mutate.context import Context

MAKERS = ("make_partition_view", "make_strided_view", "make_gather_scatter_view")
ACCESSES = ("load_view_tko", "store_view_tko", "atomic_red_view_tko")
PADDINGS = ("zero", "neg_zero", "nan", "pos_inf", "neg_inf")


def static_extent(view: object, dim: int) -> tuple[int | None, int]:
    """Extent (None: dynamic) and tile length along an index dimension of a view."""
    assert isinstance(view, (PartitionView, StridedView, GatherScatterView))
    tensor_dim = dim if isinstance(view, GatherScatterView) else view.dim_map[dim]
    return view.tensor_view.shape[tensor_dim], view.tile[dim]


def fits(view: object) -> bool:
    """Whether no tile can overhang: every extent is known and a multiple of the tile's."""
    if not isinstance(view, PartitionView):
        return False
    extents = [static_extent(view, dim) for dim in range(len(view.tile))]
    return all(extent is not None and extent % tile == 0 for extent, tile in extents)


def loads(view: SSAValue) -> list[TileOp]:
    return [
        use.operation
        for use in view.uses
        if isinstance(use.operation, TileOp) and use.operation.short == "load_view_tko"
    ]


def _padding_doubt(context: Context, view: SSAValue) -> str:
    users = loads(view)
    if not any(context.value_live(user.results[0]) for user in users):
        return "skip"
    if fits(view.type):
        return "no tile can overhang"
    if all(all(user.get("inbounds") or (False,)) for user in users):
        return "all accesses are said to be in bounds"
    for user in users:
        for role, _, crossed in context.reach(user.results[0]):
            if crossed or role in ("loop", "condition", "index", "address", "extract"):
                return ""
    return "the padded lanes may not be stored"


@per_op("padding.drop", DEFECT, *MAKERS)
def padding_drop(context: Context, op: TileOp) -> Iterator[Change]:
    view = op.results[0]
    old = str(view.type)
    doubt = _padding_doubt(context, view)
    if "padding_value" in old and doubt != "skip":
        edits = context.retype(view, re.sub(r" padding_value = \w+,", "", old))
        if edits:
            yield Change(edits, "padding_value dropped", ("padding",), doubt)


@per_op("padding.change", DEFECT, *MAKERS)
def padding_change(context: Context, op: TileOp) -> Iterator[Change]:
    view = op.results[0]
    doubt = _padding_doubt(context, view)
    type_ = view.type
    assert isinstance(type_, (PartitionView, StridedView, GatherScatterView))
    if type_.padding is None or doubt == "skip" or not type_.tensor_view.element.is_float:
        return
    for wanted in PADDINGS:
        if wanted == type_.padding:
            continue
        zero = {wanted, type_.padding} == {"zero", "neg_zero"}
        text = str(type_).replace(f"padding_value = {type_.padding}", f"padding_value = {wanted}", 1)
        edits = context.retype(view, text)
        if edits:
            yield Change(
                edits, f"padding {type_.padding} -> {wanted}", ("padding",), doubt or "sign of a zero" * zero
            )


@per_op("padding.add", DEFECT, *MAKERS)
def padding_add(context: Context, op: TileOp) -> Iterator[Change]:
    view = op.results[0]
    if "padding_value" not in str(view.type) and loads(view):
        edits = context.retype(
            view, re.sub(r"(tile=\([^)]*\),)", r"\1 padding_value = zero,", str(view.type))
        )
        if edits:
            yield Change(edits, "padding added", ("padding",), "undetermined lanes become zero")


@per_op("dim-map.change", DEFECT, *MAKERS)
def dim_map_change(context: Context, op: TileOp) -> Iterator[Change]:
    view = op.results[0]
    type_ = view.type
    if isinstance(type_, GatherScatterView) or not any(
        isinstance(use.operation, TileOp) and use.operation.short in ACCESSES for use in view.uses
    ):
        return
    assert isinstance(type_, (PartitionView, StridedView))
    for first, second in combinations(range(len(type_.dim_map)), 2):
        swapped = list(type_.dim_map)
        swapped[first], swapped[second] = swapped[second], swapped[first]
        bare = re.sub(r", dim_map=\[[^\]]*\]>$", ">", str(type_))
        identity = swapped == list(range(len(swapped)))
        text = bare if identity else f"{bare[:-1]}, dim_map={swapped}>"
        edits = context.retype(view, text)
        if edits:
            yield Change(edits, f"dim_map {swapped}", ("dim-map", "addressing", "stride", "tile-shape"))


@per_op("traversal.change", DEFECT, "make_strided_view")
def traversal_change(context: Context, op: TileOp) -> Iterator[Change]:
    view = op.results[0]
    type_ = view.type
    assert isinstance(type_, StridedView)
    for dim in range(len(type_.traversal_strides)):
        strides = list(type_.traversal_strides)
        strides[dim] += 1
        joined = ",".join(map(str, strides))
        text = re.sub(r"traversal_strides=\[[^\]]*\]", f"traversal_strides=[{joined}]", str(type_))
        edits = context.retype(view, text)
        if edits:
            extent, tile = static_extent(type_, dim)
            doubt = "one tile along this dimension" if extent is not None and extent <= tile else ""
            yield Change(edits, f"traversal strides {joined}", ("stride", "addressing", "tile-shape"), doubt)


@per_op("index.swap", DEFECT, *ACCESSES)
def index_swap(context: Context, op: TileOp) -> Iterator[Change]:
    first = len(op.group("tile")) + 1
    indices = op.group("index")
    for a, b in combinations(range(len(indices)), 2):
        if indices[a].type == indices[b].type and context.key(indices[a]) != context.key(indices[b]):
            edits = context.swap_operands(op, first + a, first + b)
            if edits:
                yield Change(edits, f"indices {a} and {b} swapped", ("addressing",))


@per_op("index.replace", DEFECT, *ACCESSES)
def index_replace(context: Context, op: TileOp) -> Iterator[Change]:
    first = len(op.group("tile")) + 1
    for at in range(len(op.group("index"))):
        doubt = _one_tile(op, at)
        for edit, text, _ in replacements(context, op, first + at):
            yield Change((edit,), f"index {at} replaced by {text}", ("addressing",), doubt)


@per_op("index.off-by-one", DEFECT, *ACCESSES)
def index_off_by_one(context: Context, op: TileOp) -> Iterator[Change]:
    first = len(op.group("tile")) + 1
    for at, index in enumerate(op.group("index")):
        if str(index.type) not in ("tile<i32>", "tile<i64>"):
            continue
        one, total = context.fresh("one"), context.fresh("next")
        element = str(index.type)[5:-1]
        lines = (
            f"{one} = constant <{element}: 1> : {index.type}",
            f"{total} = addi %{index.name_hint}, {one} : {index.type}",
        )
        edit = context.set_operand(op, first + at, total)
        if edit is not None:
            yield Change(
                (context.line_before(op, *lines), edit), f"index {at} + 1", ("addressing",), _one_tile(op, at)
            )


def _one_tile(op: TileOp, at: int) -> str:
    view = op.one("view")
    assert view is not None
    extent, tile = static_extent(view.type, at)
    if extent is not None and extent <= tile and not isinstance(view.type, GatherScatterView):
        return "only one tile along this dimension: any other index is out of the view"
    return ""


@per_op("tensor-view.shape", DEFECT, "make_tensor_view")
def tensor_view_shape(context: Context, op: TileOp) -> Iterator[Change]:
    yield from _swap(
        context, op, "shape", ("bounds", "stride", "tile-shape", "addressing", "mask", "padding")
    )


@per_op("tensor-view.strides", DEFECT, "make_tensor_view")
def tensor_view_strides(context: Context, op: TileOp) -> Iterator[Change]:
    yield from _swap(context, op, "strides", ("stride", "addressing"))


def _swap(context: Context, op: TileOp, group: str, families: tuple[str, ...]) -> Iterator[Change]:
    first = 1 if group == "shape" else 1 + len(op.group("shape"))
    values = op.group(group)
    for a, b in combinations(range(len(values)), 2):
        if context.key(values[a]) != context.key(values[b]):
            edits = context.swap_operands(op, first + a, first + b)
            if edits:
                yield Change(edits, f"{group} {a} and {b} swapped", families)
    for at in range(len(values)):
        for edit, text, value in replacements(context, op, first + at):
            if context.is_argument(value):
                yield Change((edit,), f"{group} {at} replaced by {text}", families)


@per_op("tensor-view.base", DEFECT, "make_tensor_view")
def tensor_view_base(context: Context, op: TileOp) -> Iterator[Change]:
    for edit, text, _ in replacements(context, op, 0):
        yield Change((edit,), f"base replaced by {text}", ("addressing",))


@per_op("inbounds.add", DEFECT, "load_view_tko", "store_view_tko")
def inbounds_add(context: Context, op: TileOp) -> Iterator[Change]:
    view = op.one("view")
    assert view is not None
    rank = len(op.group("index"))
    if any(op.get("inbounds")):
        return
    edit = context.before_types(op, f"inbounds = [{', '.join(['true'] * rank)}]")
    if edit is not None and not isinstance(view.type, GatherScatterView):
        yield Change(
            (edit,), "inbounds added", ("bounds",), "no tile can overhang" if fits(view.type) else ""
        )


@per_op("extract.index", DEFECT, "extract", "insert")
def extract_index(context: Context, op: TileOp) -> Iterator[Change]:
    first = len(op.operands) - len(op.group("index"))
    whole, piece = (
        (op.operands[0], op.results[0]) if op.short == "extract" else (op.operands[1], op.operands[0])
    )
    for at in range(len(op.group("index"))):
        # One slice along a dimension: any other index is undefined.
        one = whole.type.shape[at] == piece.type.shape[at]  # type: ignore[attr-defined]
        for edit, text, _ in replacements(context, op, first + at):
            doubt = "only one slice along this dimension" if one else ""
            yield Change((edit,), f"slice index {at} replaced by {text}", ("shape-op", "addressing"), doubt)


@per_op("cat.swap", DEFECT, "cat")
def cat_swap(context: Context, op: TileOp) -> Iterator[Change]:
    lhs, rhs = op.operands
    if lhs.type == rhs.type and context.key(lhs) != context.key(rhs):
        edits = context.swap_operands(op, 0, 1)
        if edits:
            yield Change(edits, "cat operands swapped", ("shape-op", "arithmetic"))


@per_op("permute.change", DEFECT, "permute")
def permute_change(context: Context, op: TileOp) -> Iterator[Change]:
    source = op.operands[0].type
    result = op.results[0].type
    old = op.get("permutation")
    for a, b in combinations(range(len(old)), 2):
        new = list(old)
        new[a], new[b] = new[b], new[a]
        if tuple(source.shape[dim] for dim in new) != result.shape:  # type: ignore[attr-defined]
            continue
        doubt = "permutes dimensions of length 1" if result.shape[a] == 1 else ""  # type: ignore[attr-defined]
        edit = context.word(op, r"\[[0-9, ]+\]", str(new))
        if edit is not None:
            yield Change((edit,), f"permutation {new}", ("shape-op", "dim-map"), doubt)


@per_op("grid.axis", DEFECT, "get_tile_block_id", "get_num_tile_blocks")
def grid_axis(context: Context, op: TileOp) -> Iterator[Change]:
    parts = context.parts(op)
    if parts is None:
        return
    names = [f"%{result.name_hint}" for result in op.results]
    spots = [parts.text.find(text) for text in names]
    for a, b in combinations(range(3), 2):
        if not (context.value_live(op.results[a]) or context.value_live(op.results[b])):
            continue
        edits: tuple[Edit, ...] = (
            context.edit(op, spots[a], spots[a] + len(names[a]), names[b]),
            context.edit(op, spots[b], spots[b] + len(names[b]), names[a]),
        )
        own = ("grid", "addressing", "loop", "mask", "arithmetic", "control-flow")
        yield Change(edits, f"axes {'xyz'[a]} and {'xyz'[b]} swapped", own)
