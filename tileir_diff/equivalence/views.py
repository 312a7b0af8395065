"""Views of arrays, and tiles of memory through them."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from tileir_diff.dialect.types import GatherScatterView, PartitionView, StridedView, TensorView
from tileir_diff.equivalence.backend import Tensor, torch
from tileir_diff.equivalence.dtypes import bits, element, padding
from tileir_diff.equivalence.frames import TensorValue
from tileir_diff.equivalence.integers import wide, wrapped
from tileir_diff.equivalence.memory import size_of
from tileir_diff.equivalence.pointers import doubtful_place, doubtful_store, load_lanes, store_lanes

if TYPE_CHECKING:
    from xdsl.ir import SSAValue

    from tileir_diff.dialect.ir import TileOp
    from tileir_diff.dialect.types import View
    from tileir_diff.equivalence.machine import Handler, Machine


def make_tensor_view(m: Machine, op: TileOp) -> None:
    kind = op.results[0].type
    assert isinstance(kind, TensorView)
    shape = _extents(m, kind.shape, op.group("shape"))
    strides = _extents(m, kind.strides, op.group("strides"))
    m.set(op, TensorValue(m.get(op.operands[0]), shape, strides))


def _extents(m: Machine, static: tuple[int | None, ...], dynamic: tuple[SSAValue, ...]) -> tuple[Tensor, ...]:
    given = iter(dynamic)
    found: list[Tensor] = []
    for extent in static:
        if extent is not None:
            found.append(torch.tensor([extent], dtype=torch.int64))
            continue
        value = next(given)
        found.append(wide(m.get(value), element(value), True))
    return tuple(found)


def same(m: Machine, op: TileOp) -> None:
    """What a view adds to its tensor view is in its type."""
    m.set(op, m.get(op.operands[0]))


def view_type(value: SSAValue) -> View:
    kind = value.type
    assert isinstance(kind, (PartitionView, StridedView, GatherScatterView))
    return kind


def dim_map(kind: View) -> tuple[int, ...]:
    """By tile dimension its tensor dimension."""
    return tuple(range(len(kind.tile))) if isinstance(kind, GatherScatterView) else kind.dim_map


def get_tensor_shape(m: Machine, op: TileOp) -> None:
    view: TensorValue = m.get(op.operands[0])
    for index, extent in enumerate(view.shape):
        m.set(op, wrapped(extent, element(op.results[index])), index)


def get_index_space_shape(m: Machine, op: TileOp) -> None:
    view: TensorValue = m.get(op.operands[0])
    kind = view_type(op.operands[0])
    for index, (step, dim) in enumerate(zip(kind.steps, dim_map(kind), strict=True)):
        m.set(op, wrapped(_tiles(view.shape[dim], step), element(op.results[index])), index)


def _tiles(extent: Tensor, step: int) -> Tensor:
    return torch.div(extent + (step - 1), step, rounding_mode="floor")


# ---- where a tile lies


class Place(NamedTuple):
    """Addresses of a tile's lanes (blocks or 1, *tile), and which lanes are in the array; None: all."""

    addresses: Tensor
    inside: Tensor | None


def place(m: Machine, op: TileOp, view_value: SSAValue) -> Place:
    kind = view_type(view_value)
    view: TensorValue = m.get(view_value)
    rank = len(kind.tile)
    promised = op.get("inbounds") or (False,) * rank
    linear: Tensor | None = None
    inside: Tensor | None = None
    for axis, (value, dim) in enumerate(zip(op.group("index"), dim_map(kind), strict=True)):
        coordinates = _coordinates(m, op, kind, view, axis, value)
        extent = view.shape[dim].reshape(-1, *([1] * rank))
        within = (coordinates >= 0) & (coordinates < extent)
        if not bool(within.all()):
            if promised[axis]:
                named = {"coordinate": coordinates, "extent": extent}
                m.report("bounds/inbounds", op, ~within, named)
            inside = within if inside is None else inside & within
        part = coordinates * view.strides[dim].reshape(-1, *([1] * rank))
        linear = part if linear is None else linear + part
    assert linear is not None
    base = view.base.reshape(-1, *([1] * rank))
    name = kind.tensor_view.element.name
    if name == "f4E2M1FN":
        return Place(base * 2 + linear, inside)
    return Place(base + linear * size_of(name), inside)


def _index(m: Machine, value: SSAValue) -> Tensor:
    """Indices of views are unsigned; in 32 bits or more what is negative lies outside either way."""
    name = element(value)
    return wide(m.get(value), name, bits(name) >= 32)


def _coordinates(m: Machine, op: TileOp, kind: View, view: TensorValue, axis: int, value: SSAValue) -> Tensor:
    """Coordinates of the lanes along one tile dimension; the other dimensions are 1."""
    rank = len(kind.tile)
    index = _index(m, value)
    lanes = torch.arange(kind.tile[axis]).reshape([-1 if at == axis else 1 for at in range(rank)])
    if isinstance(kind, GatherScatterView):  # indices are coordinates, not numbers of tiles
        if axis == kind.sparse_dim:
            return index.reshape(index.shape[0], *[-1 if at == axis else 1 for at in range(rank)])
        return index.reshape(-1, *([1] * rank)) + lanes
    extent = view.shape[dim_map(kind)[axis]]
    count = _tiles(extent, kind.steps[axis])
    outside = (index < 0) | (index >= count)
    if bool(outside.any()):
        message = f"tile index {{}} in dimension {axis} is outside the view's index space of {{}}"
        at = torch.nonzero(outside.expand(len(m.frame)))[0]
        shown = (int(each[at % each.shape[0]]) for each in (index, count))
        m.report("bounds/index-space", op, outside, {"index": index, "tiles": count}, message.format(*shown))
    return (index * kind.steps[axis]).reshape(-1, *([1] * rank)) + lanes


def _full(m: Machine, tensor: Tensor, tile: tuple[int, ...]) -> Tensor:
    return tensor.expand(len(m.frame), *tile)


def load_view(m: Machine, op: TileOp) -> None:
    view_value = op.operands[0]
    kind = view_type(view_value)
    scalar = kind.tensor_view.element
    doubtful_place(m, op, "index")
    m.poll(op)
    where = place(m, op, view_value)
    addresses = _full(m, where.addresses, kind.tile)
    inside = None if where.inside is None else _full(m, where.inside, kind.tile)
    m.synchronise(op, addresses, inside)
    if scalar.name == "f4E2M1FN":
        values, lanes, unwritten = _load_nibbles(m, op, addresses, inside)
    else:
        values, lanes, unwritten = load_lanes(m, op, addresses, scalar.name, inside)
    unknown = unwritten
    if lanes is not None and kind.padding is not None and where.inside is not None:
        values = torch.where(_full(m, where.inside, kind.tile), values, padding(kind.padding, scalar))
        lanes = lanes | ~_full(m, where.inside, kind.tile)
    if lanes is not None and not bool(lanes.all()):
        unknown = ~lanes if unknown is None else unknown | ~lanes
    m.set(op, values)
    if unknown is not None:
        m.set_doubt(op, unknown)
    m.set(op, None, 1)


def store_view(m: Machine, op: TileOp) -> None:
    tile_value = op.operands[0]
    (view_value,) = op.group("view")
    kind = view_type(view_value)
    name = kind.tensor_view.element.name
    doubtful_place(m, op, "index")
    m.poll(op)
    where = place(m, op, view_value)
    inside = None if where.inside is None else _full(m, where.inside, kind.tile)
    unknown = m.frame.doubt(tile_value) if m.doubtful else None
    doubtful_store(m, op, unknown, inside, kind.tile)
    addresses = _full(m, where.addresses, kind.tile)
    m.synchronise(op, addresses, inside)
    values = m.get(tile_value)
    if name == "f4E2M1FN":
        _store_nibbles(m, op, addresses, _full(m, values, kind.tile), inside)
    else:
        store_lanes(m, op, addresses, values, name, inside, unknown)
    m.set(op, None)


# ---- elements of four bits: addresses count halves of bytes


def _load_nibbles(
    m: Machine, op: TileOp, halves: Tensor, mask: Tensor | None
) -> tuple[Tensor, Tensor | None, Tensor | None]:
    packed, lanes, unwritten = load_lanes(m, op, halves >> 1, "f4E2M1FN", mask)
    return torch.where((halves & 1) != 0, packed >> 4, packed & 15), lanes, unwritten


def _store_nibbles(m: Machine, op: TileOp, halves: Tensor, values: Tensor, mask: Tensor | None) -> None:
    """Low halves first, then high ones, each with the other half as memory has it."""
    for high in (False, True):
        mine = ((halves & 1) != 0) == high
        lanes = mine if mask is None else mine & mask
        if not bool(lanes.any()):
            continue
        old, _, _ = load_lanes(m, op, halves >> 1, "f4E2M1FN", lanes)
        new = (old & 15) | (values << 4) if high else (old & 0xF0) | values
        store_lanes(m, op, halves >> 1, new, "f4E2M1FN", lanes)


HANDLERS: dict[str, Handler] = {
    "get_index_space_shape": get_index_space_shape,
    "get_tensor_shape": get_tensor_shape,
    "load_view_tko": load_view,
    "make_gather_scatter_view": same,
    "make_partition_view": same,
    "make_strided_view": same,
    "make_tensor_view": make_tensor_view,
    "store_view_tko": store_view,
}
