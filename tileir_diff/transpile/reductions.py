"""Reductions, scans and matrix products."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Final

from tileir_diff.dialect.ir import TileOp, ops_of
from tileir_diff.dialect.types import Tile
from tileir_diff.graph.values import element_name, operand
from tileir_diff.transpile.layout import Call
from tileir_diff.transpile.refusal import refuse
from tileir_diff.transpile.writer import TILE, UNSIGNED

if TYPE_CHECKING:
    from tileir_diff.dialect.attributes import DenseElements
    from tileir_diff.transpile.arithmetic import Handler
    from tileir_diff.transpile.writer import Writer

COMBINERS: Final = {
    "addf": ("sum", "total"), "addi": ("sum", "total"),
    "mulf": ("prod", "product"), "muli": ("prod", "product"),
    "maxf": ("max", "largest"), "maxi": ("max", "largest"), "minf": ("min", "smallest"),
    "mini": ("min", "smallest"),
}  # fmt: skip
"""The function by the op that combines two elements, and what its result is called."""
TYPES: Final = ("f16", "bf16", "f32", "f64", "i32", "i64")
"""Element types that the functions take."""
MODES: Final = {
    "rounding": "nearest_even", "flush_to_zero": False, "propagate_nan": False, "overflow": "none",
}  # fmt: skip
"""What a combiner's modes are; no function has others."""
RANKS: Final = (2, 3)


def reduce(w: Writer, op: TileOp) -> None:
    combiner = _combiner(op)
    word, noun = COMBINERS[combiner.short]
    _element(op)
    unsigned = combiner.get("signed") == "unsigned"
    [identity] = op.get("identities")
    if not _is_neutral(identity, combiner, unsigned):
        raise refuse(op, f"cuTile Rust has no reduce_{word} from another identity than the neutral one")
    form = UNSIGNED if unsigned else TILE
    source = w.take(op.inputs[0], form).text
    w.define(op.results[0], form, Call(f"reduce_{word}", source, f"{op.get('dim')}i32"), noun)


def _element(op: TileOp) -> str:
    name = element_name(op.inputs[0])
    if name not in TYPES:
        raise refuse(op, f"cuTile Rust reduces no {name}")
    return name


def _combiner(op: TileOp) -> TileOp:
    """The op that combines two elements. Raises InputError for more than one op, or modes."""
    if len(op.inputs) != 1:
        raise refuse(op, "cuTile Rust reduces one tile at a time")
    block = op.regions[0].block
    ops: list[Any] = ops_of(block)
    if len(ops) != 2 or ops[0].short not in COMBINERS or list(ops[1].inputs) != list(ops[0].results):
        raise refuse(op, "a combination of elements by more than one op is not covered")
    if set(ops[0].inputs) != set(block.args):
        raise refuse(op, "a combination that uses one element only is not covered")
    for name, usual in MODES.items():
        if ops[0].get(name) not in (None, usual):
            raise refuse(op, f"cuTile Rust reduces without {name}={ops[0].get(name)}")
    return ops[0]


def _is_neutral(identity: DenseElements, combiner: TileOp, unsigned: bool) -> bool:
    """Whether combining with it changes nothing: what the functions begin with."""
    word = COMBINERS[combiner.short][0]
    bits = identity.bits[0]
    if identity.element.is_float:
        [value] = identity.floats()
        wanted = {"sum": 0.0, "prod": 1.0, "max": -math.inf, "min": math.inf}[word]
        return value == wanted
    width = identity.element.bits
    if unsigned:
        return bits == {"sum": 0, "prod": 1, "max": 0, "min": (1 << width) - 1}[word]
    return bits == {"sum": 0, "prod": 1, "max": 1 << width - 1, "min": (1 << width - 1) - 1}[word]


def scan(w: Writer, op: TileOp) -> None:
    combiner = _combiner(op)
    word, _ = COMBINERS[combiner.short]
    [identity] = op.get("identities")
    if op.get("dim") != 0:
        raise refuse(op, "cuTile Rust scans along dimension 0 only")
    if word != "sum" or identity.bits[0] != 0:
        raise refuse(op, "cuTile Rust scans sums from 0 only")
    element = _element(op)
    mode = f"reverse::{'Reverse' if op.get('reverse') else 'Forward'}"
    zero = f"0{element}" if element[0] == "i" else f"0.0{element}"
    if element in ("f16", "bf16"):
        raise refuse(op, f"a scan of {element} is not covered")
    made = Call("scan_sum", w.tile(op.inputs[0]), "0i32", mode, zero)
    w.define(op.results[0], TILE, made, "running_total")


def mmaf(w: Writer, op: TileOp) -> None:
    left, right, acc = (operand(op, name) for name in ("lhs", "rhs", "acc"))
    if element_name(acc) == "bf16":
        raise refuse(op, "cuTile Rust writes a product in bf16 that does not verify")
    assert isinstance(acc.type, Tile)
    rank = len(acc.type.shape)
    if rank not in RANKS:
        raise refuse(op, f"a product of rank {rank} is not covered")
    values = (w.name(left, TILE), w.name(right, TILE), w.name(acc, TILE))
    if op.get("fast_acc"):
        made = Call("mmaf_with_fast_acc", *values, "fast_acc::Enabled", unsafe=True)
    else:
        made = Call("mma" if rank == 2 else "mmaf", *values)
    w.define(op.results[0], TILE, made, "product")


def mmai(w: Writer, op: TileOp) -> None:
    values = (w.name(operand(op, name), TILE) for name in ("lhs", "rhs", "acc"))
    signs = (
        f"signedness::{'Signed' if op.get(name) == 'signed' else 'Unsigned'}"
        for name in ("signed_lhs", "signed_rhs")
    )
    w.define(op.results[0], TILE, Call("mmai", *values, *signs), "product")


def mmaf_scaled(w: Writer, op: TileOp) -> None:
    names = ("lhs", "rhs", "acc", "lhs_scale", "rhs_scale")
    values = (w.name(operand(op, name), TILE) for name in names)
    w.define(op.results[0], TILE, Call("mmaf_scaled", *values), "product")


HANDLERS: Final[dict[str, Handler]] = {
    "reduce": reduce, "scan": scan, "mmaf": mmaf, "mmai": mmai, "mmaf_scaled": mmaf_scaled,
}  # fmt: skip
"""How an op is written, by its name."""
