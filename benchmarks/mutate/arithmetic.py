"""Defects of what is computed: ops, operands, constants, comparisons, signedness."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from xdsl.ir import OpResult

from benchmarks.mutate.literals import other_literal, smaller_literal
from benchmarks.mutate.liveness import parent
from benchmarks.mutate.memory import replacements
from benchmarks.mutate.model import DEFECT, Change
from benchmarks.mutate.registry import per_op
from tileir_diff.dialect.attributes import DenseElements
from tileir_diff.dialect.ir import TileOp
from tileir_diff.dialect.types import Ptr, Scalar, Tile

if TYPE_CHECKING:
    from collections.abc import Iterator

    from xdsl.ir import SSAValue

    from benchmarks.mutate.context import Context

ORDERED = ("less_than", "less_than_or_equal", "greater_than", "greater_than_or_equal")
EQUALITY = ("equal", "not_equal")
NON_COMMUTATIVE = (
    "subf", "divf", "remf", "subi", "divi", "remi", "shli", "shri", "fpowf", "atan2",
)  # fmt: skip
ELEMENTWISE = frozenset(
    {
        "addf", "subf", "mulf", "divf", "remf", "fma", "maxf", "minf", "addi", "subi", "muli", "divi",
        "remi", "maxi",
        "mini", "shli", "shri", "andi", "ori", "xori", "cmpf", "cmpi", "select", "offset", "fpowf", "atan2",
        "mmaf",
        "exp", "exp2", "negf", "negi", "rsqrt", "sqrt", "tanh", "ftof", "itof", "ftoi", "exti", "trunci",
        "reduce",
        "log", "log2", "absf", "absi", "floor", "ceil", "sin", "cos", "permute", "broadcast", "scan",
        "mulhii",
        "bitcast", "reshape", "if",
    }
)  # fmt: skip

# Same operands, same result type. Each swap keeps modifiers that both ops take.
SAME_SIGNATURE: dict[str, tuple[str, ...]] = {
    "addf": ("subf", "mulf"),
    "subf": ("addf",),
    "mulf": ("addf",),
    "maxf": ("minf",),
    "minf": ("maxf",),
    "addi": ("subi", "muli"),
    "subi": ("addi",),
    "muli": ("addi",),
    "maxi": ("mini",),
    "mini": ("maxi",),
    "andi": ("ori", "xori"),
    "ori": ("andi",),
    "xori": ("andi", "ori"),
    "shli": ("muli",),
    "ceil": ("floor",),
    "floor": ("ceil",),
    "exp": ("sin",),
    "exp2": ("rsqrt",),
    "rsqrt": ("exp2",),
    "log": ("log2",),
    "log2": ("log",),
    "sin": ("cos",),
    "cos": ("sin",),
    "tanh": ("exp",),
    "absf": ("negf",),
    "negf": ("absf",),
    "absi": ("negi",),
    "negi": ("absi",),
    "sinh": ("cosh",),
    "cosh": ("sinh",),
    "atan2": ("fpowf",),
    "remi": ("maxi",),
}

INTEGER = ("arithmetic", "integer-mode", "constant")
FLOAT = ("arithmetic", "constant")


def is_integer(value: SSAValue) -> bool:
    type_ = value.type
    return isinstance(type_, Tile) and isinstance(type_.element, Scalar) and type_.element.is_int


def families(context: Context, op: TileOp, *own: str) -> tuple[str, ...]:
    base = INTEGER if op.results and is_integer(op.results[0]) else FLOAT
    if op.short == "offset":
        base = ("addressing",)
    return context.families(op.results[0], *base, *own)


@per_op("operands.swap", DEFECT, *NON_COMMUTATIVE)
def operands_swap(context: Context, op: TileOp) -> Iterator[Change]:
    lhs, rhs = op.operands[:2]
    if lhs.type == rhs.type and context.key(lhs) != context.key(rhs):
        edits = context.swap_operands(op, 0, 1)
        if edits:
            yield Change(edits, "operands swapped", families(context, op))


@per_op("select.arms", DEFECT, "select")
def select_arms(context: Context, op: TileOp) -> Iterator[Change]:
    if context.key(op.operands[1]) != context.key(op.operands[2]):
        edits = context.swap_operands(op, 1, 2)
        if edits:
            yield Change(edits, "arms swapped", families(context, op, "mask", "control-flow", "padding"))


@per_op("mma.swap", DEFECT, "mmaf", "mmai")
def mma_swap(context: Context, op: TileOp) -> Iterator[Change]:
    lhs, rhs = op.operands[:2]
    if lhs.type == rhs.type and context.key(lhs) != context.key(rhs):
        edits = context.swap_operands(op, 0, 1)
        if edits:
            yield Change(edits, "lhs and rhs swapped", ("mma", "arithmetic", "addressing"))


@per_op("op.replace", DEFECT, *SAME_SIGNATURE)
def op_replace(context: Context, op: TileOp) -> Iterator[Change]:
    parts = context.parts(op)
    if parts is None:
        return
    for other in SAME_SIGNATURE[op.short]:
        if other == "sin" and "rounding" in parts.clean:
            continue
        if op.short in ("exp2", "rsqrt", "maxf") and other == "sin":
            continue
        if other in ("absi", "negf", "absf") and "overflow" in parts.clean:
            continue
        end = parts.body + len(op.short)
        edits = [context.edit(op, parts.body, end, other)]
        if op.short == "remi":
            doubt = ""
        else:
            doubt = _same_by_constant(context, op, other)
        if other in ("muli", "addi", "subi") or op.short in ("addi", "subi", "muli", "shli"):
            # An overflow promise of the old op says nothing about the new one.
            flag = re.search(r" overflow<\w+>", parts.clean)
            if flag:
                edits.append(context.edit(op, flag.start(), flag.end(), ""))
        yield Change(tuple(edits), f"{op.short} -> {other}", families(context, op), doubt)


def _same_by_constant(context: Context, op: TileOp, other: str) -> str:
    """Known operands for which both ops give the same."""
    values = [context.constant(operand) for operand in op.operands]
    known = [value for value in values if value is not None and value.is_splat]
    zero = any(value.bits[0] == 0 for value in known)
    one_bit = is_integer(op.results[0]) and "i1" in str(op.results[0].type)
    if {op.short, other} <= {"addi", "subi", "addf", "subf"} and zero:
        return "one operand is zero"
    if {op.short, other} <= {"maxi", "mini", "andi", "ori"} and context.key(op.operands[0]) == context.key(
        op.operands[1]
    ):
        return "both operands are the same"
    if op.short == "xori" and one_bit:
        return ""
    return ""


@per_op("operand.replace", DEFECT, *sorted(ELEMENTWISE))
def operand_replace(context: Context, op: TileOp) -> Iterator[Change]:
    for index, operand in enumerate(op.operands):
        own = {"select": ("mask", "control-flow", "padding"), "mmaf": ("mma", "accumulator"),
               "if": ("control-flow",)}.get(op.short, ())  # fmt: skip
        candidates = replacements(context, op, index)
        for edit, text, value in candidates:
            if not op.results:
                continue
            fits = (*own, *(_families_of(context, operand)), *(_families_of(context, value)))
            yield Change((edit,), f"operand {index} replaced by {text}", families(context, op, *fits))


def _families_of(context: Context, value: SSAValue) -> tuple[str, ...]:
    """What a finding may be about when this very value is the one that is exchanged."""
    value = context.root(value)
    if not isinstance(value, OpResult) or not isinstance(value.op, TileOp):
        above = value.owner.parent_op() if not isinstance(value.owner, TileOp) else None  # type: ignore[union-attr]
        loop = isinstance(above, TileOp) and above.short in ("for", "loop")
        return ("loop",) if loop else ("addressing", "entry-signature")
    return {
        "get_tile_block_id": ("grid", "addressing"),
        "get_num_tile_blocks": ("grid",),
        "reduce": ("reduction",),
        "scan": ("scan",),
        "load_view_tko": ("addressing", "memory-family", "padding"),
        "load_ptr_tko": ("addressing", "memory-family", "padding", "mask"),
        "mmaf": ("mma",),
        "for": ("loop",),
        "loop": ("loop",),
        "if": ("control-flow",),
        "permute": ("shape-op", "addressing", "dim-map"),
        "extract": ("shape-op",),
        "ftof": ("conversion",),
        "itof": ("conversion",),
        "select": ("mask", "control-flow", "padding"),
        "broadcast": ("shape-op",),
        "reshape": ("shape-op",),
        "iota": ("shape-op", "addressing"),
    }.get(value.op.short, ())


@per_op("constant.change", DEFECT, "constant")
def constant_change(context: Context, op: TileOp) -> Iterator[Change]:
    literal = op.get("value")
    parts = context.parts(op)
    if not isinstance(literal, DenseElements) or parts is None or not literal.is_splat:
        return
    match = re.search(r"<\w+: ([^\[\]>]*)>", parts.clean)
    if match is None:
        return
    words = dict.fromkeys((other_literal(literal), smaller_literal(literal)))
    own = ("loop", "reduction", "tile-shape", "padding", "mask", "accumulator", "stride", "grid", "bounds")
    for text in words:
        if text:
            edit = context.edit(op, *match.span(1), text)
            yield Change((edit,), f"{match.group(1)} -> {text}", families(context, op, *own))


@per_op("cmp.predicate", DEFECT, "cmpi", "cmpf")
def cmp_predicate(context: Context, op: TileOp) -> Iterator[Change]:
    now = op.get("predicate")
    same = context.key(op.operands[0]) == context.key(op.operands[1])
    if same:
        return
    for wanted in EQUALITY if now in EQUALITY else ORDERED:
        if wanted != now:
            edit = context.word(op, rf"\b{now}\b", wanted)
            if edit is not None:
                yield Change((edit,), f"{now} -> {wanted}", families(context, op, "mask", "control-flow"))


@per_op("cmp.ordering", DEFECT, "cmpf")
def cmp_ordering(context: Context, op: TileOp) -> Iterator[Change]:
    now = op.get("ordering")
    wanted = "unordered" if now == "ordered" else "ordered"
    edit = context.word(op, rf"\b{now}\b", wanted)
    if edit is not None:
        doubt = ""
        if all(_from_integer(context, operand) for operand in op.operands):
            doubt = "neither operand can be NaN"
        yield Change((edit,), f"{now} -> {wanted}", ("float-mode", *families(context, op, "mask")), doubt)


def _from_integer(context: Context, value: SSAValue) -> bool:
    if context.constant(value) is not None:
        return True
    return isinstance(value, OpResult) and isinstance(value.op, TileOp) and value.op.short == "itof"


SIGNED_OPS = ("cmpi", "divi", "remi", "shri", "maxi", "mini", "exti", "itof", "ftoi")


@per_op("signedness", DEFECT, *SIGNED_OPS)
def signedness(context: Context, op: TileOp) -> Iterator[Change]:
    now = op.get("signed")
    wanted = "unsigned" if now == "signed" else "signed"
    if op.short == "cmpi" and op.get("predicate") in EQUALITY:
        return
    if op.short == "divi" and op.get("rounding") == "negative_inf":
        return
    edit = context.word(op, rf"\b{now}\b", wanted)
    if edit is None:
        return
    if op.short == "ftoi":
        doubt = "" if _signed_float(op) else "the value may never be negative"
    else:
        negative = any(may_be_negative(context, operand) for operand in op.operands)
        doubt = "" if negative else "no operand is surely able to be negative"
    found = families(context, op, "integer-mode", "conversion", "mask", "control-flow")
    yield Change((edit,), f"{now} -> {wanted}", found, doubt)


def _signed_float(op: TileOp) -> bool:
    value = op.operands[0]
    return isinstance(value, OpResult) and isinstance(value.op, TileOp) and value.op.short.startswith("load")


def may_be_negative(context: Context, value: SSAValue, depth: int = 0) -> bool:
    """Whether an integer is certainly able to have its top bit set: read from memory, or made from such
    values."""
    if not isinstance(value, OpResult) or not isinstance(value.op, TileOp) or depth > 8:
        return False
    op = value.op
    if op.short in ("load_view_tko", "load_ptr_tko"):
        return True
    if op.short == "constant":
        literal = op.get("value")
        return isinstance(literal, DenseElements) and literal.is_splat and literal.ints()[0] < 0
    if op.short in ("reshape", "broadcast", "permute", "negi", "bitcast"):
        return may_be_negative(context, op.operands[0], depth + 1)
    if op.short == "exti":
        return op.get("signed") == "signed" and may_be_negative(context, op.operands[0], depth + 1)
    if op.short in ("addi", "subi", "muli"):
        return any(may_be_negative(context, operand, depth + 1) for operand in op.operands)
    return False


@per_op("mma.sign", DEFECT, "mmai")
def mma_sign(context: Context, op: TileOp) -> Iterator[Change]:
    lhs, rhs = op.get("signed_lhs"), op.get("signed_rhs")
    flip = {"signed": "unsigned", "unsigned": "signed"}
    for new_lhs, new_rhs in ((flip[lhs], rhs), (lhs, flip[rhs])):
        edit = context.word(op, rf"\b{lhs} {rhs}\b", f"{new_lhs} {new_rhs}")
        if edit is not None:
            yield Change((edit,), f"{lhs} {rhs} -> {new_lhs} {new_rhs}", ("mma", "integer-mode"))


@per_op("iota.reverse", DEFECT, "iota")
def iota_reverse(context: Context, op: TileOp) -> Iterator[Change]:
    """Counts from one, as after a port from a language that does."""
    result = op.results[0]
    assert isinstance(result.type, Tile)
    element = result.type.element
    if isinstance(element, Ptr) or element.bits < 16:
        return
    raw, one = context.fresh("raw"), context.fresh("one")
    hint = f"%{result.name_hint}"
    lines = (
        f"{one} = constant <{element.name}: 1> : {result.type}",
        f"{hint} = addi {raw}, {one} : {result.type}",
    )
    parts = context.parts(op)
    if parts is None:
        return
    edit = context.edit(op, 0, len(hint), raw)
    own = ("addressing", "mask", "shape-op")
    yield Change((edit, context.line_after(op, *lines)), "iota + 1", families(context, op, *own))


def inside_reduction(op: TileOp) -> bool:
    above = parent(op)
    while above is not None:
        if above.short in ("reduce", "scan"):
            return True
        above = parent(above)
    return False
