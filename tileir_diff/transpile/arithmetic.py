"""Arithmetic, comparisons and conversions: which operator or function of cuTile Rust is which op."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from tileir_diff.dialect.types import Tile
from tileir_diff.graph.values import element_name
from tileir_diff.transpile.layout import Call
from tileir_diff.transpile.refusal import refuse
from tileir_diff.transpile.spelling import ELEMENTS, OVERFLOW, PREDICATES, ROUNDING
from tileir_diff.transpile.writer import ATOM, SCALAR, TILE, UNSIGNED

if TYPE_CHECKING:
    from collections.abc import Callable

    from xdsl.ir import SSAValue

    from tileir_diff.dialect.ir import TileOp
    from tileir_diff.transpile.writer import Writer

    Handler = Callable[[Writer, TileOp], None]


class Operator(NamedTuple):
    """An infix operator: its text, its strength, what the result is called."""

    text: str
    strength: int
    noun: str


OPERATORS: Final = {
    "addf": Operator("+", 5, "sum"), "addi": Operator("+", 5, "sum"),
    "subf": Operator("-", 5, "difference"), "subi": Operator("-", 5, "difference"),
    "mulf": Operator("*", 6, "product"), "muli": Operator("*", 6, "product"),
    "divf": Operator("/", 6, "quotient"), "divi": Operator("/", 6, "quotient"),
    "remi": Operator("%", 6, "remainder"),
    "shli": Operator("<<", 4, "shifted"), "shri": Operator(">>", 4, "shifted"),
    "andi": Operator("&", 3, "both"), "xori": Operator("^", 2, "differing"),
    "ori": Operator("|", 1, "either"),
}  # fmt: skip
"""Where the op has no mode but the usual one."""
BITWISE: Final = ("andi", "ori", "xori", "shli", "shri")
"""Their operands stand in parentheses, whatever binds stronger."""
COMPARISONS: Final = {
    "equal": ("==", "eq_tile", "equal"), "not_equal": ("!=", "ne_tile", "unequal"),
    "less_than": ("<", "lt_tile", "below"), "less_than_or_equal": ("<=", "le_tile", "at_most"),
    "greater_than": (">", "gt_tile", "above"), "greater_than_or_equal": (">=", "ge_tile", "at_least"),
}  # fmt: skip
"""By predicate: the operator of scalars, the function of tiles, what the result is called."""
COMPARE: Final = 0
WITHOUT_OPERATORS: Final = ("i16", "tf32", "f8E4M3FN", "f8E5M2", "f8E8M0FNU")
"""Element types for which the front end has neither operators nor comparisons."""
WHOLE: Final = ("i1", "i32", "i64")
"""Types of scalars that are counted and compared with: they are scalars wherever they can be."""
FUNCTIONS: Final = {
    "absf": ("absf", "absolute"), "absi": ("absi", "absolute"), "atan2": ("atan2", "angle"),
    "ceil": ("ceil", "rounded_up"), "cos": ("cos", "cosine"), "cosh": ("cosh", "hyperbolic_cosine"),
    "floor": ("floor", "rounded_down"), "log": ("log", "logarithm"), "log2": ("log2", "logarithm"),
    "mulhii": ("mulhii", "high_product"), "negf": ("negf", "negated"), "remf": ("remf", "remainder"),
    "sin": ("sin", "sine"), "sinh": ("sinh", "hyperbolic_sine"), "tan": ("tan", "tangent"),
    "select": ("select", "chosen"),
}  # fmt: skip
"""Functions of all operands, in order, without modes."""
UNSAFE: Final = {"fpowf": "power", "fpowi": "power"}
ROUNDED: Final = {"addf": "sum", "subf": "difference", "mulf": "product", "divf": "quotient", "fma": "fused",
                  "sqrt": "root"}  # fmt: skip
"""Functions with a rounding and a flush to zero."""
FLUSHED: Final = {"rsqrt": "inverse_root", "exp2": "exponential"}
EXTREMA: Final = {"maxf": "larger", "minf": "smaller"}
TRANSCENDENTAL: Final = {"exp": "exponential", "tanh": "hyperbolic_tangent"}
SIGNED_EXTREMA: Final = {"maxi": ("max", "larger"), "mini": ("min", "smaller")}


def operator(w: Writer, op: TileOp) -> None:
    """An infix operator, on scalars where both are at hand as such."""
    if op.short in ROUNDED and (op.get("rounding") != "nearest_even" or op.get("flush_to_zero")):
        return rounded(w, op)
    if op.short == "divi" and (op.get("rounding") != "zero" or not op.get("signed")):
        return divided(w, op)
    if _unsigned(op):
        return unsigned_function(w, op)
    if op.get("overflow") not in (None, "none"):
        mode = f"overflow::{OVERFLOW[op.get('overflow')]}"
        made = Call(op.short, *(w.tile(each) for each in op.inputs), mode)
        return w.define(op.results[0], TILE, made, OPERATORS[op.short].noun)
    return infix(w, op, OPERATORS[op.short])


def infix(w: Writer, op: TileOp, how: Operator) -> None:
    if element_name(op.inputs[0]) in WITHOUT_OPERATORS:
        raise refuse(op, f"cuTile Rust has no operators of {element_name(op.inputs[0])}")
    form = _form(w, *op.inputs)
    left, right = (how.strength, how.strength + 1) if op.short not in BITWISE else (ATOM, ATOM)
    text = f"{w.operand(op.inputs[0], form, left)} {how.text} {w.operand(op.inputs[1], form, right)}"
    w.define(op.results[0], form, text, how.noun, how.strength)


def _form(w: Writer, *values: SSAValue) -> str:
    """Scalars for whole numbers of rank 0, and for others where none is only there as a tile."""
    if any(_rank(each) for each in values):
        return TILE
    whole = all(element_name(each) in WHOLE for each in values)
    return SCALAR if whole or all(w.is_scalar(each) for each in values) else TILE


def _rank(value: SSAValue) -> int:
    assert isinstance(value.type, Tile)
    return len(value.type.shape)


def _unsigned(op: TileOp) -> bool:
    return op.get("signed") == "unsigned"


def unsigned_function(w: Writer, op: TileOp) -> None:
    """An op on unsigned numbers: the type says so."""
    names = {"maxi": "maxi", "mini": "mini", "remi": "remi", "shri": "shri"}
    made = Call(names[op.short], *(w.take(each, UNSIGNED).text for each in op.inputs))
    w.define(op.results[0], UNSIGNED, made, "unsigned_result")


def divided(w: Writer, op: TileOp) -> None:
    """A division that rounds up or down, or of unsigned numbers."""
    form = UNSIGNED if _unsigned(op) else TILE
    rounding = op.get("rounding")
    if form == TILE and rounding == "positive_inf" and _form(w, *op.inputs) == SCALAR:
        made = Call("ceil_div", *(w.scalar(each) for each in op.inputs))
        return w.define(op.results[0], SCALAR, made, "tiles")
    scalar = not _rank(op.inputs[0]) and element_name(op.inputs[0]) == "i32"
    if form == TILE and rounding == "negative_inf" and scalar:
        made = Call(w.helpers.floored("quotient"), *(w.scalar(each) for each in op.inputs))
        return w.define(op.results[0], SCALAR, made, "quotient")
    if form == UNSIGNED and rounding == "negative_inf":
        rounding = "zero"  # the same for numbers that are not negative; the assembler takes no other
    made = Call("divi", *(w.take(each, form).text for each in op.inputs), f"rounding::{ROUNDING[rounding]}")
    return w.define(op.results[0], form, made, "quotient")


def rounded(w: Writer, op: TileOp) -> None:
    rounding = op.get("rounding")
    if op.short == "divf" and rounding == "full":
        raise refuse(op, "cuTile Rust has no `divf` with rounding<full>: its serialiser fails")
    if rounding not in ROUNDING:
        raise refuse(op, f"cuTile Rust has no rounding<{rounding}>")
    modes = (f"rounding::{ROUNDING[rounding]}", _flush(op))
    made = Call(op.short, *(w.tile(each) for each in op.inputs), *modes)
    w.define(op.results[0], TILE, made, ROUNDED[op.short])


def _flush(op: TileOp) -> str:
    return f"ftz::{'Enabled' if op.get('flush_to_zero') else 'Disabled'}"


def flushed(w: Writer, op: TileOp) -> None:
    w.define(op.results[0], TILE, Call(op.short, w.tile(op.inputs[0]), _flush(op)), FLUSHED[op.short])


def extremum(w: Writer, op: TileOp) -> None:
    if _form(w, *op.inputs) == SCALAR and not op.get("propagate_nan") and not op.get("flush_to_zero"):
        made = Call(op.short[:3], *(w.scalar(each) for each in op.inputs))
        return w.define(op.results[0], SCALAR, made, EXTREMA[op.short])
    modes = (f"nan::{'Enabled' if op.get('propagate_nan') else 'Disabled'}", _flush(op))
    made = Call(op.short, *(w.tile(each) for each in op.inputs), *modes)
    return w.define(op.results[0], TILE, made, EXTREMA[op.short])


def integer_extremum(w: Writer, op: TileOp) -> None:
    if _unsigned(op):
        return unsigned_function(w, op)
    scalar, noun = SIGNED_EXTREMA[op.short]
    form = _form(w, *op.inputs)
    made = Call(scalar if form == SCALAR else op.short, *(w.take(each, form).text for each in op.inputs))
    return w.define(op.results[0], form, made, noun)


def transcendental(w: Writer, op: TileOp) -> None:
    rounding, noun = op.get("rounding"), TRANSCENDENTAL[op.short]
    source = w.tile(op.inputs[0])
    if rounding == "full":
        return w.define(op.results[0], TILE, Call(op.short, source), noun)
    if rounding not in ROUNDING:
        raise refuse(op, f"cuTile Rust has no rounding<{rounding}>")
    made = Call(f"{op.short}_with_rounding", source, f"rounding::{ROUNDING[rounding]}", unsafe=True)
    return w.define(op.results[0], TILE, made, noun)


def function(w: Writer, op: TileOp) -> None:
    name, noun = FUNCTIONS[op.short]
    w.define(op.results[0], TILE, Call(name, *(w.tile(each) for each in op.inputs)), noun)


def select(w: Writer, op: TileOp) -> None:
    floored = w.plan.floored.get(op.results[0])
    if floored is None:
        return function(w, op)
    made = Call(w.helpers.floored("remainder"), *(w.scalar(each) for each in floored))
    return w.define(op.results[0], SCALAR, made, "remainder")


def unsafe_function(w: Writer, op: TileOp) -> None:
    made = Call(op.short, *(w.tile(each) for each in op.inputs), unsafe=True)
    w.define(op.results[0], TILE, made, UNSAFE[op.short])


def negi(w: Writer, op: TileOp) -> None:
    mode = OVERFLOW.get(op.get("overflow"), "None")
    w.define(op.results[0], TILE, Call("negi", w.tile(op.inputs[0]), f"overflow::{mode}"), "negated")


def cmpf(w: Writer, op: TileOp) -> None:
    predicate = op.get("predicate")
    noun = COMPARISONS[predicate][-1]
    if op.get("ordering") == "ordered":
        return _compare(w, op, TILE)
    made = Call(
        "cmpf", *(w.tile(each) for each in op.inputs), f"predicate::{PREDICATES[predicate]}",
        "cmp_ordering::Unordered",
    )  # fmt: skip
    return w.define(op.results[0], TILE, made, noun)


def cmpi(w: Writer, op: TileOp) -> None:
    equality = op.get("predicate") in ("equal", "not_equal")
    if element_name(op.inputs[0]) == "i1" and not equality:
        raise refuse(op, "an order of i1 is not covered")
    _compare(w, op, UNSIGNED if _unsigned(op) and not equality else TILE)


def _compare(w: Writer, op: TileOp, form: str) -> None:
    if element_name(op.inputs[0]) in WITHOUT_OPERATORS:
        raise refuse(op, f"cuTile Rust compares no {element_name(op.inputs[0])}")
    infix_, tile, noun = COMPARISONS[op.get("predicate")]
    if form == TILE and _form(w, *op.inputs) == SCALAR:
        left, right = (w.operand(each, SCALAR, COMPARE + 1) for each in op.inputs)
        return w.define(op.results[0], SCALAR, f"{left} {infix_} {right}", noun, COMPARE)
    rank = _rank(op.inputs[0])
    if form == UNSIGNED and rank:
        tile = w.helpers.compare_unsigned(rank, ELEMENTS[element_name(op.inputs[0])], noun, tile)
        form = TILE
    made = Call(tile, *(w.take(each, form).text for each in op.inputs))
    return w.define(op.results[0], TILE, made, noun)


# ---- conversions


def ftof(w: Writer, op: TileOp) -> None:
    rounding = op.get("rounding")
    if rounding == "nearest_even":
        return converted(w, op)
    if rounding not in ROUNDING:
        raise refuse(op, f"cuTile Rust has no rounding<{rounding}>")
    made = Call("ftof", w.tile(op.inputs[0]), f"rounding::{ROUNDING[rounding]}")
    return w.define(op.results[0], TILE, made, "converted")


def converted(w: Writer, op: TileOp) -> None:
    """`convert_scalar` of a scalar, `convert_tile` of a tile."""
    source = op.inputs[0]
    if _form(w, source) == SCALAR and w.plan.constant(source) is None:
        return w.define(op.results[0], SCALAR, Call("convert_scalar", w.scalar(source)), "converted")
    return w.define(op.results[0], TILE, Call("convert_tile", w.tile(source)), "converted")


def itof(w: Writer, op: TileOp) -> None:
    if op.get("rounding") != "nearest_even":
        raise refuse(op, "an `itof` that rounds otherwise than to nearest is not covered")
    logical = element_name(op.inputs[0]) == "i1"
    if logical and not _unsigned(op):
        raise refuse(op, "a signed i1 is not covered")
    if logical or not _unsigned(op):
        return converted(w, op)
    made = Call("convert_tile", w.take(op.inputs[0], UNSIGNED).text)
    return w.define(op.results[0], TILE, made, "converted")


def ftoi(w: Writer, op: TileOp) -> None:
    if op.get("rounding") != "nearest_int_to_zero":
        raise refuse(op, "an `ftoi` that does not truncate is not covered")
    logical = element_name(op.results[0]) == "i1"
    if logical and not _unsigned(op):
        raise refuse(op, "a signed i1 is not covered")
    form = UNSIGNED if _unsigned(op) and not logical else TILE
    source = w.tile(op.inputs[0])
    if op.get("saturating"):
        made = Call("ftoi_saturating", source, "saturating::Enabled", unsafe=True)
    else:
        made = Call("convert_tile", source)
    w.define(op.results[0], form, made, "whole")


def exti(w: Writer, op: TileOp) -> None:
    logical = element_name(op.inputs[0]) == "i1"
    if logical and not _unsigned(op):
        raise refuse(op, "a signed i1 is not covered")
    form = UNSIGNED if _unsigned(op) and not logical else TILE
    w.define(op.results[0], form, Call("exti", w.take(op.inputs[0], form).text), "wide")


def trunci(w: Writer, op: TileOp) -> None:
    if op.get("overflow") == "none":
        raise refuse(op, "cuTile Rust has no `trunci` that promises nothing: its serialiser fails")
    made = Call("trunci", w.tile(op.inputs[0]), f"overflow::{OVERFLOW[op.get('overflow')]}")
    w.define(op.results[0], TILE, made, "narrow")


def bitcast(w: Writer, op: TileOp) -> None:
    w.define(op.results[0], TILE, Call("bitcast", w.tile(op.inputs[0])), "bits")


HANDLERS: Final[dict[str, Handler]] = {
    **dict.fromkeys(OPERATORS, operator), **dict.fromkeys(FUNCTIONS, function),
    **dict.fromkeys(UNSAFE, unsafe_function), **dict.fromkeys(FLUSHED, flushed),
    **dict.fromkeys(EXTREMA, extremum), **dict.fromkeys(SIGNED_EXTREMA, integer_extremum),
    **dict.fromkeys(TRANSCENDENTAL, transcendental), "fma": rounded, "sqrt": rounded, "negi": negi,
    "cmpf": cmpf, "cmpi": cmpi, "ftof": ftof, "itof": itof, "ftoi": ftoi, "exti": exti, "trunci": trunci,
    "bitcast": bitcast, "select": select,
}  # fmt: skip
"""How an op is written, by its name."""
