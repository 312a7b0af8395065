"""Ops that move elements, and where tiles come from: block ids, lanes, constants."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tileir_diff.dialect.types import Ptr, Tile
from tileir_diff.transpile.layout import Call
from tileir_diff.transpile.refusal import refuse
from tileir_diff.transpile.writer import SCALAR, TILE

if TYPE_CHECKING:
    from xdsl.ir import SSAValue

    from tileir_diff.dialect.ir import TileOp
    from tileir_diff.transpile.arithmetic import Handler
    from tileir_diff.transpile.writer import Writer

GRID: Final = {"get_tile_block_id": "block", "get_num_tile_blocks": "blocks"}
AXES: Final = "xyz"


def _type(value: SSAValue) -> Tile:
    assert isinstance(value.type, Tile)
    return value.type


def grid(w: Writer, op: TileOp) -> None:
    """The three numbers as one tuple; each that is used has a name."""
    for axis, result in enumerate(op.results):
        if w.plan.uses[result]:
            name = w.fresh(f"{GRID[op.short]}_{AXES[axis]}")
            w.let(name, "i32", f"{op.short}().{axis}")
            w.bind(result, SCALAR, name)


def iota(w: Writer, op: TileOp) -> None:
    w.define(op.results[0], TILE, Call("iota", w.shape(_type(op.results[0]).shape)), "lane")


def constant(w: Writer, op: TileOp) -> None:
    raise refuse(op, "a constant whose elements differ is not covered")


def reshape(w: Writer, op: TileOp) -> None:
    """Also `broadcast`: a scalar in all elements is one call."""
    result = op.results[0]
    type_, scalar = _type(result), w.plan.splat(result)
    if isinstance(type_.element, Ptr):
        source = w.other(op.inputs[0]) if scalar is None else w.helpers.pointer_tile(w, scalar)
        return w.define(result, "other", Call(f"{source}.{op.short}", w.shape(type_.shape)), "pointers")
    if scalar is None:
        source = w.name(op.inputs[0], TILE)
        noun = source.rstrip("_0123456789") if not source.startswith("operand") else "spread"
        return w.define(result, TILE, Call(f"{source}.{op.short}", w.shape(type_.shape)), noun)
    narrow = w.plan.widened.get(result)
    if narrow is not None and type_.shape:
        text = w.scalar(narrow)
        noun = f"{text.rstrip('_0123456789')}_wide" if text.isidentifier() else "wide"
        made = Call(w.helpers.wide(len(type_.shape)), text, w.shape(type_.shape))
        return w.define(result, TILE, made, noun)
    if w.is_scalar(scalar):
        text = w.scalar(scalar)
        noun = text if text.isidentifier() else "spread"
        made = Call("broadcast_scalar", text, w.shape(type_.shape))
        return w.define(result, TILE, made, f"{noun.rstrip('_0123456789')}_tile")
    source = w.name(scalar, TILE)
    noun = f"{source.rstrip('_0123456789')}_tile"
    ones = (1,) * len(type_.shape)
    if type_.shape == ones:
        return w.define(result, TILE, Call(f"{source}.reshape", w.shape(ones)), noun)
    single = w.fresh(f"{source.rstrip('_0123456789')}_single")
    element = w.form_type(scalar, SCALAR)
    listed = ", ".join(["1"] * len(ones))
    w.let(single, f"Tile<{element}, {{ [{listed}] }}>", Call(f"{source}.reshape", w.shape(ones)))
    return w.define(result, TILE, Call(f"{single}.broadcast", w.shape(type_.shape)), noun)


def permute(w: Writer, op: TileOp) -> None:
    source = w.tile(op.inputs[0])
    w.define(op.results[0], TILE, Call("permute", source, w.array(op.get("permutation"))), "turned")


def packed(w: Writer, op: TileOp) -> None:
    """Elements as bytes, or bytes as elements."""
    noun = "bytes" if op.short == "pack" else "elements"
    w.define(op.results[0], TILE, Call(op.short, w.tile(op.inputs[0])), noun)


def cat(w: Writer, op: TileOp) -> None:
    left, right = (w.tile(each) for each in op.inputs)
    w.define(op.results[0], TILE, Call("cat", left, right, str(op.get("dim"))), "joined")


def extract(w: Writer, op: TileOp) -> None:
    index = ", ".join(w.tile(each) for each in op.group("index"))
    source = op.one("source")
    assert source is not None
    w.define(op.results[0], TILE, Call("extract", w.tile(source), f"[{index}]"), "part")


def insert(w: Writer, op: TileOp) -> None:
    index = ", ".join(w.tile(each) for each in op.group("index"))
    source, destination = op.one("source"), op.one("destination")
    assert source is not None
    assert destination is not None
    made = Call("insert", w.tile(source), w.tile(destination), f"[{index}]", unsafe=True)
    w.define(op.results[0], TILE, made, "whole")


HANDLERS: Final[dict[str, Handler]] = {
    **dict.fromkeys(GRID, grid), "iota": iota, "constant": constant, "reshape": reshape, "broadcast": reshape,
    "permute": permute, "cat": cat, "extract": extract, "insert": insert,
    "pack": packed, "unpack": packed,
}  # fmt: skip
"""How an op is written, by its name."""
