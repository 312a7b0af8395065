"""Harmless rewrites of what is computed: the same integers and masks, written otherwise."""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchmarks.mutate.context import name
from benchmarks.mutate.harmless import inside_reduction, single
from benchmarks.mutate.model import HARMLESS, Change, Edit
from benchmarks.mutate.registry import per_op
from tileir_diff.dialect.types import Scalar, Tile

if TYPE_CHECKING:
    from collections.abc import Iterator

    from xdsl.ir import SSAValue

    from benchmarks.mutate.context import Context
    from tileir_diff.dialect.ir import TileOp


def bits(type_: Tile) -> str:
    """The type of a comparison of two tiles."""
    return str(Tile(type_.shape, Scalar("i1")))


def integer(type_: object) -> bool:
    return isinstance(type_, Tile) and isinstance(type_.element, Scalar) and type_.element.is_int


def mask_of(context: Context, op: TileOp) -> int | None:
    """The mask operand of a pointer access."""
    at = 0
    for group, size in zip(op.spec.operands, op.segments, strict=False):
        if group == "mask?" and size:
            return at
        at += size
    return None


@per_op("same.min-select", HARMLESS, "mini", "maxi")
def min_select(context: Context, op: TileOp) -> Iterator[Change]:
    """Minimum as comparison and select."""
    type_ = op.results[0].type
    assert isinstance(type_, Tile)
    lhs, rhs = (name(operand) for operand in op.operands)
    less = context.fresh("less")
    predicate = "less_than" if op.short == "mini" else "greater_than"
    line = f"{less} = cmpi {predicate} {lhs}, {rhs}, {op.get('signed')} : {type_} -> {bits(type_)}"
    head = f"{name(op.results[0])} = select {less}, {lhs}, {rhs} : {bits(type_)}, {type_}"
    yield Change(
        (context.line_before(op, line), context.edit(op, 0, len(op.text), head)), f"{op.short} by select"
    )


@per_op("same.min-if", HARMLESS, "mini", "maxi")
def min_if(context: Context, op: TileOp) -> Iterator[Change]:
    """Minimum of scalars as a branch."""
    type_ = op.results[0].type
    if not isinstance(type_, Tile) or type_.shape or inside_reduction(op):
        return
    lhs, rhs = (name(operand) for operand in op.operands)
    less = context.fresh("less")
    predicate = "less_than" if op.short == "mini" else "greater_than"
    head = f"{less} = cmpi {predicate} {lhs}, {rhs}, {op.get('signed')} : {type_} -> tile<i1>"
    lines = (
        f"{name(op.results[0])} = if {less} -> ({type_}) {{",
        f"  yield {lhs} : {type_}",
        "} else {",
        f"  yield {rhs} : {type_}",
        "}",
    )
    yield Change(
        (context.edit(op, 0, len(op.text), head), context.line_after(op, *lines)), f"{op.short} by if"
    )


@per_op("same.select-if", HARMLESS, "select")
def select_if(context: Context, op: TileOp) -> Iterator[Change]:
    """A scalar select as a branch."""
    condition, on_true, on_false = op.operands
    if str(condition.type) != "tile<i1>" or inside_reduction(op):
        return
    type_ = op.results[0].type
    lines = (
        f"  yield {name(on_true)} : {type_}",
        "} else {",
        f"  yield {name(on_false)} : {type_}",
        "}",
    )
    head = f"{name(op.results[0])} = if {name(condition)} -> ({type_}) {{"
    yield Change((context.edit(op, 0, len(op.text), head), context.line_after(op, *lines)), "select by if")


@per_op("same.negated", HARMLESS, "cmpi")
def negated(context: Context, op: TileOp) -> Iterator[Change]:
    """The opposite comparison, negated."""
    opposite = {
        "less_than": "greater_than_or_equal",
        "greater_than_or_equal": "less_than",
        "greater_than": "less_than_or_equal",
        "less_than_or_equal": "greater_than",
        "equal": "not_equal",
        "not_equal": "equal",
    }
    now = op.get("predicate")
    type_ = op.results[0].type
    parts = context.parts(op)
    if parts is None or not isinstance(type_, Tile) or not single(op):
        return
    raw, true = context.fresh("not"), context.fresh("true")
    hint = name(op.results[0])
    edit = context.word(op, rf"\b{now}\b", opposite[now])
    lines = (f"{true} = constant <i1: true> : {type_}", f"{hint} = xori {raw}, {true} : {type_}")
    if edit is not None:
        yield Change(
            (context.edit(op, 0, len(hint), raw), edit, context.line_after(op, *lines)), "negated opposite"
        )


@per_op("same.wide-mask", HARMLESS, "load_ptr_tko", "store_ptr_tko", "atomic_rmw_tko")
def wide_mask(context: Context, op: TileOp) -> Iterator[Change]:
    """A mask widened to i8 and compared with zero."""
    index = mask_of(context, op)
    if index is None:
        return
    mask = op.operands[index]
    assert isinstance(mask.type, Tile)
    wide_type = Tile(mask.type.shape, Scalar("i8"))
    wide, zero, again = context.fresh("wide"), context.fresh("zero"), context.fresh("mask")
    lines = (
        f"{wide} = exti {name(mask)} unsigned : {mask.type} -> {wide_type}",
        f"{zero} = constant <i8: 0> : {wide_type}",
        f"{again} = cmpi not_equal {wide}, {zero}, signed : {wide_type} -> {mask.type}",
    )
    edit = context.set_operand(op, index, again)
    if edit is not None:
        yield Change((context.line_before(op, *lines), edit), "mask through i8")


def not_negative(context: Context, value: SSAValue) -> bool:
    """Whether a value is not negative by construction or by a promise."""
    root = context.root(value)
    owner = root.owner
    literal = context.constant(value)
    if literal is not None:
        return literal.is_splat and literal.ints()[0] >= 0
    if _promised(value):
        return True
    short = getattr(owner, "short", "")
    return short in ("get_tile_block_id", "get_num_tile_blocks", "iota")


def _promised(value: SSAValue) -> bool:
    from tileir_diff.dialect.attributes import Bounded
    from tileir_diff.dialect.ir import TileOp

    owner = value.owner
    while isinstance(owner, TileOp) and owner.short == "assume":
        promise = owner.get("assumption")
        if isinstance(promise, Bounded) and promise.lower is not None and promise.lower >= 0:
            return True
        owner = owner.operands[0].owner
    return False


@per_op("same.ceil-division", HARMLESS, "divi")
def ceil_division(context: Context, op: TileOp) -> Iterator[Change]:
    """Ceiling division as (a + b - 1) / b."""
    lhs, rhs = op.operands
    divisor = context.constant(rhs)
    if op.get("rounding") != "positive_inf" or divisor is None or not not_negative(context, lhs):
        return
    if divisor.ints()[0] <= 0:
        return
    type_ = op.results[0].type
    assert isinstance(type_, Tile)
    element = type_.element
    one, total, less = context.fresh("one"), context.fresh("sum"), context.fresh("less")
    lines = (
        f"{one} = constant <{element}: 1> : {type_}",
        f"{total} = addi {name(lhs)}, {name(rhs)} : {type_}",
        f"{less} = subi {total}, {one} : {type_}",
    )
    head = f"{name(op.results[0])} = divi {less}, {name(rhs)} {op.get('signed')} : {type_}"
    # Sizes do not come near the type's end; what is read from memory may.
    doubt = "" if context.is_argument(lhs) else "the sum may overflow"
    edits = (context.line_before(op, *lines), context.edit(op, 0, len(op.text), head))
    yield Change(edits, "ceiling division spelled out", (), doubt)


@per_op("same.floor-modulo", HARMLESS, "remi")
def floor_modulo(context: Context, op: TileOp) -> Iterator[Change]:
    """The modulo of a language whose remainder has the divisor's sign, of values that are not negative."""
    lhs, rhs = op.operands
    divisor = context.constant(rhs)
    if op.get("signed") != "signed" or not not_negative(context, lhs) or not single(op):
        return
    if divisor is None or divisor.ints()[0] <= 0:
        return
    type_ = op.results[0].type
    assert isinstance(type_, Tile)
    mask = bits(type_)
    hint = name(op.results[0])
    raw, zero, sign_l, sign_r, other, nonzero, both, fixed = (
        context.fresh(stem) for stem in ("rem", "zero", "neg", "neg", "differ", "nonzero", "both", "fixed")
    )
    lines = (
        f"{zero} = constant <{type_.element}: 0> : {type_}",
        f"{sign_l} = cmpi less_than {raw}, {zero}, signed : {type_} -> {mask}",
        f"{sign_r} = cmpi less_than {name(rhs)}, {zero}, signed : {type_} -> {mask}",
        f"{other} = xori {sign_l}, {sign_r} : {mask}",
        f"{nonzero} = cmpi not_equal {raw}, {zero}, signed : {type_} -> {mask}",
        f"{both} = andi {other}, {nonzero} : {mask}",
        f"{fixed} = addi {raw}, {name(rhs)} : {type_}",
        f"{hint} = select {both}, {fixed}, {raw} : {mask}, {type_}",
    )
    yield Change(
        (context.edit(op, 0, len(hint), raw), context.line_after(op, *lines)), "floor modulo spelled out"
    )


@per_op("same.times-one", HARMLESS, "addi", "muli", "iota", "exti")
def times_one(context: Context, op: TileOp) -> Iterator[Change]:
    """An integer times one, plus zero."""
    type_ = op.results[0].type
    if not isinstance(type_, Tile) or not single(op) or not integer(type_):
        return
    hint = name(op.results[0])
    raw, one, zero, product = (context.fresh(stem) for stem in ("raw", "one", "zero", "product"))
    lines = (
        f"{one} = constant <{type_.element}: 1> : {type_}",
        f"{zero} = constant <{type_.element}: 0> : {type_}",
        f"{product} = muli {raw}, {one} : {type_}",
        f"{hint} = addi {product}, {zero} : {type_}",
    )
    yield Change((context.edit(op, 0, len(hint), raw), context.line_after(op, *lines)), "times one plus zero")


@per_op("same.bound-facts", HARMLESS, "get_tile_block_id")
def bound_facts(context: Context, op: TileOp) -> Iterator[Change]:
    """A promise that holds by construction."""
    for result in op.results:
        uses = list(result.uses)
        if not uses:
            continue
        fact = context.fresh("fact")
        edits = [context.line_after(op, f"{fact} = assume bounded<0, ?>, {name(result)} : tile<i32>")]
        for use in uses:
            edit = context.set_operand(use.operation, use.index, fact)  # type: ignore[arg-type]
            if edit is None:
                return
            edits.append(edit)
        yield Change(tuple(edits), "block id assumed not negative")


@per_op("same.signed-compare", HARMLESS, "cmpi")
def signed_compare(context: Context, op: TileOp) -> Iterator[Change]:
    """The other signedness where neither operand is negative, or for equality."""
    now = op.get("signed")
    wanted = "unsigned" if now == "signed" else "signed"
    equality = op.get("predicate") in ("equal", "not_equal")
    if equality or all(not_negative(context, operand) for operand in op.operands):
        edit = context.word(op, rf"\b{now}\b", wanted)
        if edit is not None:
            yield Change((edit,), f"{now} -> {wanted}")


@per_op("same.unused-carried", HARMLESS, "for")
def unused_carried(context: Context, op: TileOp) -> Iterator[Change]:
    """A loop carries a value that nobody needs."""
    if op.results or "iter_values" in op.text or not op.text.endswith(" {"):
        return
    body = list(op.regions[0].block.ops)
    last = body[-1]
    if getattr(last, "text", "") or op.regions[0].block.last_op is not last:
        return
    start, carried, result = context.fresh("start"), context.fresh("carried"), context.fresh("loop")
    head = f"{result} = {op.text[:-2]} iter_values({carried} = {start}) -> (tile<i32>) {{"
    line = f"{start} = constant <i32: 0> : tile<i32>"
    # The elided terminator has an empty span at the closing brace.
    end = context.text.rfind("\n", 0, getattr(last, "start", 0)) + 1
    tail = Edit(end, end, f"continue {carried} : tile<i32>\n")
    edits = (context.line_before(op, line), context.edit(op, 0, len(op.text), head), tail)
    yield Change(edits, "unused carried value")


@per_op("same.extend-twice", HARMLESS, "exti")
def exti_twice(context: Context, op: TileOp) -> Iterator[Change]:
    """i32 to i64 by way of i32 again: truncated and extended."""
    type_ = op.results[0].type
    source = op.operands[0].type
    if not isinstance(type_, Tile) or not isinstance(source, Tile) or not single(op):
        return
    if str(source.element) != "i32" or str(type_.element) != "i64":
        return
    hint = name(op.results[0])
    raw, narrow = context.fresh("raw"), context.fresh("narrow")
    lines = (
        f"{narrow} = trunci {raw} : {type_} -> {source}",
        f"{hint} = exti {narrow} {op.get('signed')} : {source} -> {type_}",
    )
    yield Change((context.edit(op, 0, len(hint), raw), context.line_after(op, *lines)), "extended twice")
