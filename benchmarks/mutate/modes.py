"""Defects of modes: rounding, subnormals, NaN, overflow, saturation, extra casts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchmarks.mutate.model import DEFECT, Change
from benchmarks.mutate.registry import per_op
from tileir_diff.dialect.ir import TileOp
from tileir_diff.dialect.types import Scalar, Tile

if TYPE_CHECKING:
    from collections.abc import Iterator

    from xdsl.ir import SSAValue

    from benchmarks.mutate.context import Context

DIRECTED = ("addf", "subf", "mulf", "fma")
ROUNDED: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(DIRECTED, ("zero", "positive_inf")),
    "divf": ("zero", "approx", "full"),
    "sqrt": ("zero", "approx"),
    "exp": ("approx",),
    "tanh": ("approx",),
}
F32_ONLY = ("approx", "full")
FLUSHING = (*DIRECTED, "divf", "sqrt", "rsqrt", "exp2", "maxf", "minf")
DIVISIONS = ("zero", "positive_inf", "negative_inf")


def element(op: TileOp) -> str:
    return _element(op.results[0])


@per_op("rounding.add", DEFECT, *ROUNDED)
def rounding_add(context: Context, op: TileOp) -> Iterator[Change]:
    parts = context.parts(op)
    if parts is None or "rounding<" in parts.clean:
        return
    for mode in ROUNDED[op.short]:
        if mode in F32_ONLY and element(op) != "f32":
            continue
        end = parts.operands[-1][1]
        yield Change(
            (context.edit(op, end, end, f" rounding<{mode}>"),), f"rounding<{mode}> added", ("float-mode",)
        )


@per_op("rounding.drop", DEFECT, *ROUNDED)
def rounding_drop(context: Context, op: TileOp) -> Iterator[Change]:
    edit = context.word(op, r" rounding<\w+>", "")
    if edit is not None:
        yield Change((edit,), "rounding dropped", ("float-mode",))


@per_op("ftz.add", DEFECT, *FLUSHING)
def ftz_add(context: Context, op: TileOp) -> Iterator[Change]:
    parts = context.parts(op)
    if parts is None or op.get("flush_to_zero") or element(op) != "f32":
        return
    # Modifiers stand in a fixed order: rounding, flush_to_zero, propagate_nan.
    edit = context.word(op, r"( rounding<\w+>)", r"\1 flush_to_zero")
    if edit is None:
        end = parts.operands[-1][1]
        edit = context.edit(op, end, end, " flush_to_zero")
    yield Change((edit,), "flush_to_zero added", ("float-mode",), flush_doubt(context, op))


@per_op("ftz.drop", DEFECT, *FLUSHING)
def ftz_drop(context: Context, op: TileOp) -> Iterator[Change]:
    edit = context.word(op, r" flush_to_zero", "")
    if edit is not None:
        yield Change((edit,), "flush_to_zero dropped", ("float-mode",), flush_doubt(context, op))


def flush_doubt(context: Context, op: TileOp) -> str:
    """Why flushing may not matter: a sum with a constant far from zero has no subnormal part that counts."""
    if op.short in ("addf", "subf"):
        for operand in op.operands:
            literal = context.constant(operand)
            if literal is not None and literal.is_splat and abs(literal.floats()[0]) > 2.0**-90:
                return "the constant operand hides subnormal values"
    if op.short in ("mulf", "addf", "subf") and all(_from_half(context, operand) for operand in op.operands):
        return "no operand or result of f16 values is subnormal in f32"
    return ""


def _element(value: SSAValue) -> str:
    return (
        value.type.element.name
        if isinstance(value.type, Tile) and isinstance(value.type.element, Scalar)
        else ""
    )


def _from_half(context: Context, value: SSAValue) -> bool:
    """Whether a value is a cast from f16, or a constant that is far from subnormal."""
    literal = context.constant(value)
    if literal is not None:
        return literal.is_splat and abs(literal.floats()[0]) > 2.0**-60
    owner = value.owner
    while isinstance(owner, TileOp) and owner.short in ("reshape", "broadcast", "permute"):
        owner = owner.operands[0].owner
    return isinstance(owner, TileOp) and owner.short == "ftof" and _element(owner.operands[0]) == "f16"


@per_op("nan.toggle", DEFECT, "maxf", "minf")
def nan_toggle(context: Context, op: TileOp) -> Iterator[Change]:
    edit = context.word(op, r" propagate_nan", "")
    what = "propagate_nan dropped"
    if edit is None:
        edit = context.before_types(op, "propagate_nan")
        what = "propagate_nan added"
    if edit is not None:
        yield Change((edit,), what, ("float-mode",))


@per_op("mma.fast-acc", DEFECT, "mmaf")
def fast_acc(context: Context, op: TileOp) -> Iterator[Change]:
    edit = context.word(op, r" fast_acc", "")
    what = "fast_acc dropped"
    if edit is None:
        edit = context.before_types(op, "fast_acc")
        what = "fast_acc added"
    if edit is not None:
        yield Change((edit,), what, ("mma", "float-mode"))


@per_op("division.rounding", DEFECT, "divi")
def division_rounding(context: Context, op: TileOp) -> Iterator[Change]:
    now = op.get("rounding")
    divisor = context.constant(op.operands[1])
    for wanted in DIVISIONS:
        if wanted == now or (wanted == "negative_inf" and op.get("signed") == "unsigned"):
            continue
        doubt = "equal for values that are not negative" if "positive_inf" not in (wanted, now) else ""
        if divisor is not None and divisor.bits == (1,):
            doubt = "division by one"
        parts = context.parts(op)
        edit = context.word(op, r" rounding<\w+>", "" if wanted == "zero" else f" rounding<{wanted}>")
        if edit is None and parts is not None:
            edit = context.before_types(op, f"rounding<{wanted}>")
        if edit is not None:
            found = context.families(op.results[0], "integer-mode", "arithmetic", "loop", "control-flow")
            yield Change((edit,), f"{now} -> {wanted}", found, doubt)


@per_op("overflow.add", DEFECT, "addi", "subi", "muli", "shli")
def overflow_add(context: Context, op: TileOp) -> Iterator[Change]:
    parts = context.parts(op)
    if parts is None or op.get("overflow") != "none":
        return
    known = [context.constant(operand) is not None for operand in op.operands]
    arguments = [context.is_argument(operand) for operand in op.operands]
    sure = op.short == "muli" and not any(known) and any(arguments)
    end = parts.operands[-1][1]
    edit = context.edit(op, end, end, " overflow<no_signed_wrap>")
    doubt = "" if sure else "the op may never overflow"
    yield Change((edit,), "no_signed_wrap added", ("integer-mode",), doubt)


@per_op("saturate.toggle", DEFECT, "ftoi")
def saturate(context: Context, op: TileOp) -> Iterator[Change]:
    edit = context.word(op, r" saturating", "")
    what, doubt = "saturating dropped", ""
    if edit is None:
        edit = context.before_types(op, "saturating")
        what, doubt = "saturating added", "defines what was undefined"
    if edit is not None:
        yield Change((edit,), what, ("conversion", "float-mode", "integer-mode"), doubt)


@per_op("ftof.rounding", DEFECT, "ftof")
def ftof_rounding(context: Context, op: TileOp) -> Iterator[Change]:
    source = op.operands[0].type
    if not isinstance(source, Tile) or (getattr(source.element, "name", ""), element(op)) not in (
        ("f32", "f16"),
        ("f32", "bf16"),
        ("f32", "tf32"),
        ("f64", "f16"),
    ):
        return
    parts = context.parts(op)
    if parts is None or "rounding<" in parts.clean:
        return
    end = parts.operands[-1][1]
    doubt = "a constant" if context.constant(op.operands[0]) is not None else ""
    edit = context.edit(op, end, end, " rounding<zero>")
    yield Change((edit,), "rounding<zero> added", ("conversion", "float-mode", "arithmetic"), doubt)


@per_op("cast.extra", DEFECT, "addf", "mulf", "subf", "divf", "fma", "mmaf", "reduce", "exp", "exp2", "rsqrt")
def extra_cast(context: Context, op: TileOp) -> Iterator[Change]:
    """Rounds an f32 result through f16, and goes on in f32."""
    if len(op.results) != 1 or element(op) != "f32" or op.regions:
        return
    result = op.results[0]
    assert isinstance(result.type, Tile)
    narrow = Tile(result.type.shape, Scalar("f16"))
    hint = f"%{result.name_hint}"
    raw, half = context.fresh("wide"), context.fresh("half")
    lines = (
        f"{half} = ftof {raw} : {result.type} -> {narrow}",
        f"{hint} = ftof {half} : {narrow} -> {result.type}",
    )
    families = ("conversion", "arithmetic", "accumulator", "element-type")
    edits = (context.edit(op, 0, len(hint), raw), context.line_after(op, *lines))
    yield Change(edits, "rounded through f16", families)
