"""Harmless rewrites of the text as such: names, order, spelling, dead and repeated code."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from benchmarks.mutate.anatomy import STRING, TOKEN
from benchmarks.mutate.context import name
from benchmarks.mutate.memory import ordered_before
from benchmarks.mutate.model import HARMLESS, Change, Edit
from benchmarks.mutate.registry import per_dump, per_op
from tileir_diff.dialect.ir import TileOp
from tileir_diff.dialect.spec import NO_MEMORY, PURE
from tileir_diff.dialect.types import Scalar, Tile

if TYPE_CHECKING:
    from collections.abc import Iterator

    from benchmarks.mutate.context import Context

PLAIN = (PURE, NO_MEMORY)
ADDRESSING = (
    "offset", "reshape", "broadcast", "assume", "make_tensor_view", "make_partition_view",
    "make_strided_view", "make_gather_scatter_view", "permute",
)  # fmt: skip
MIRRORED = {
    "less_than": "greater_than",
    "less_than_or_equal": "greater_than_or_equal",
    "greater_than": "less_than",
    "greater_than_or_equal": "less_than_or_equal",
    "equal": "equal",
    "not_equal": "not_equal",
}


def whole(context: Context, text: str) -> Change:
    """Replaces the whole dump."""
    return Change((Edit(0, len(context.text), text),), "")


def single(op: TileOp) -> bool:
    """Whether the op has one named result and no region."""
    return len(op.results) == 1 and not op.regions and op.text.startswith("%")


def inside_reduction(op: TileOp) -> bool:
    above = op.parent_op()
    while isinstance(above, TileOp):
        if above.short in ("reduce", "scan"):
            return True
        above = above.parent_op()
    return False


@per_dump("same.rename", HARMLESS)
def rename(context: Context) -> Iterator[Change]:
    """New names for all values."""
    strings = [match.span() for match in STRING.finditer(context.text)]
    names: dict[str, str] = {}

    def new(match: re.Match[str]) -> str:
        if any(start <= match.start() < end for start, end in strings):
            return match.group()
        stem, _, number = match.group().partition("#")
        # Packs keep their number; the order of the names tells nothing.
        fresh = names.setdefault(stem, f"%v{(len(names) * 7919) % 1000003}")
        return f"{fresh}#{number}" if number else fresh

    yield whole(context, TOKEN.sub(new, context.text))


@per_dump("same.prefix", HARMLESS)
def prefix(context: Context) -> Iterator[Change]:
    """`cuda_tile.` before each op."""
    edits: list[Edit] = []
    for _, op in context.ops:
        if op.text:
            parts = context.parts(op)
            if parts is None:
                return
            edits.append(context.edit(op, parts.body, parts.body, "cuda_tile."))
    yield Change(tuple(edits), "")


@per_dump("same.module", HARMLESS)
def module(context: Context) -> Iterator[Change]:
    """Wrapped in a module. Location aliases must stay outside."""
    if "#loc" not in context.text and "cuda_tile.module" not in context.text:
        yield whole(context, f"cuda_tile.module @kernels {{\n{context.text}\n}}\n")


@per_op("same.commute", HARMLESS)
def commute(context: Context, op: TileOp) -> Iterator[Change]:
    if op.spec.commutative and context.key(op.operands[0]) != context.key(op.operands[1]):
        edits = context.swap_operands(op, 0, 1)
        if edits:
            yield Change(edits, f"{op.short} operands swapped")


@per_op("same.mirror", HARMLESS, "cmpi", "cmpf")
def mirror(context: Context, op: TileOp) -> Iterator[Change]:
    now = op.get("predicate")
    edits = context.swap_operands(op, 0, 1)
    edit = context.word(op, rf"\b{now}\b", MIRRORED[now])
    if edits and edit is not None:
        yield Change((*edits, edit), "comparison mirrored")


@per_op("same.dead-code", HARMLESS)
def dead_code(context: Context, op: TileOp) -> Iterator[Change]:
    if inside_reduction(op) or op.regions:
        return
    a, b = context.fresh("unused"), context.fresh("unused")
    lines = (f"{a} = constant <i32: 12345> : tile<8xi32>", f"{b} = addi {a}, {a} : tile<8xi32>")
    yield Change((context.line_before(op, *lines),), "dead ops added")


@per_op("same.duplicate", HARMLESS)
def duplicate(context: Context, op: TileOp) -> Iterator[Change]:
    """A pure op is computed twice, and one of its users takes the copy."""
    if not single(op) or op.spec.effect not in PLAIN or op.short == "alloca":
        return
    uses = list(op.results[0].uses)
    if len(uses) < 2:
        return
    use = uses[-1]
    copy = context.fresh("copy")
    edit = context.set_operand(use.operation, use.index, copy) if isinstance(use.operation, TileOp) else None
    equals = op.text.index(" = ")
    if edit is not None:
        yield Change((context.line_after(op, f"{copy}{op.text[equals:]}"), edit), f"{op.short} twice")


@per_op("same.rematerialise", HARMLESS, "constant")
def rematerialise(context: Context, op: TileOp) -> Iterator[Change]:
    """A constant is made again right before one of its users."""
    equals = op.text.index(" = ")
    for use in op.results[0].uses:
        user = use.operation
        if not isinstance(user, TileOp) or not context.live(user) or user.short in ("for", "loop"):
            continue
        copy = context.fresh("again")
        edit = context.set_operand(user, use.index, copy)
        if edit is not None:
            yield Change(
                (context.line_before(user, f"{copy}{op.text[equals:]}"), edit), "constant made again"
            )


@per_op("same.assume-twice", HARMLESS, "assume")
def assume_twice(context: Context, op: TileOp) -> Iterator[Change]:
    again = context.fresh("assumed")
    equals = op.text.index(" = ")
    parts = context.parts(op)
    if parts is None or not op.results[0].uses:
        return
    start, end = parts.operands[0]
    text = op.text[equals:start] + name(op.results[0]) + op.text[end:]
    edits = [context.line_after(op, f"{again}{text}")]
    for use in op.results[0].uses:
        edit = (
            context.set_operand(use.operation, use.index, again)
            if isinstance(use.operation, TileOp)
            else None
        )
        if edit is None:
            return
        edits.append(edit)
    yield Change(tuple(edits), "assumed twice")


@per_op("same.assume-order", HARMLESS, "assume")
def assume_order(context: Context, op: TileOp) -> Iterator[Change]:
    """Two promises about one value, in the other order."""
    inner = op.operands[0].owner
    if not isinstance(inner, TileOp) or inner.short != "assume" or op.parent is not inner.parent:
        return
    edit, other = (
        context.word(inner, r"assume .*?, (?=%)", f"assume {op.get('assumption')}, "),
        context.word(op, r"assume .*?, (?=%)", f"assume {inner.get('assumption')}, "),
    )
    if edit is not None and other is not None and len(list(op.operands[0].uses)) == 1:
        yield Change((edit, other), "promises in another order")


@per_op("same.hint-key", HARMLESS)
def hint_key(context: Context, op: TileOp) -> Iterator[Change]:
    """Hints under the architecture's name instead of `default`."""
    parts = context.parts(op)
    if parts is None or "optimization_hints" not in parts.clean or "sm_" in parts.clean:
        return
    edit = context.word(op, r"<default = \{(?=[a-z])", "<sm_100 = {")
    if edit is not None:
        yield Change((edit,), "default -> sm_100", (), "the architecture is not known without the launch")


@per_op("same.order", HARMLESS)
def order(context: Context, op: TileOp) -> Iterator[Change]:
    """An op moves in front of the one before it, which it does not need."""
    before = op.prev_op
    if not isinstance(before, TileOp) or not before.text or op.regions or before.regions:
        return
    if op.short not in ("load_view_tko", "load_ptr_tko") and op.spec.effect not in PLAIN:
        return
    if before.spec.effect not in PLAIN and before.short not in ("load_view_tko", "load_ptr_tko", "assume"):
        return
    if any(operand.owner is before for operand in op.operands) or before.short == "constant":
        return
    if context.text.count("\n", before.start, op.start) != 1 or "\n" in op.text or "\n" in before.text:
        return
    edits = (
        context.edit(before, 0, len(before.text), op.text),
        context.edit(op, 0, len(op.text), before.text),
    )
    yield Change(edits, f"{op.short} before {before.short}")


@per_op("same.reshape", HARMLESS)
def reshape(context: Context, op: TileOp) -> Iterator[Change]:
    """A value goes through another shape and back."""
    if not single(op) or inside_reduction(op) or not isinstance(op.results[0].type, Tile):
        return
    if op.spec.effect not in PLAIN:
        return
    type_ = op.results[0].type
    other = Tile((1, *type_.shape), type_.element)
    raw, shaped = context.fresh("raw"), context.fresh("shaped")
    hint = name(op.results[0])
    lines = (
        f"{shaped} = reshape {raw} : {type_} -> {other}",
        f"{hint} = reshape {shaped} : {other} -> {type_}",
    )
    yield Change(
        (context.edit(op, 0, len(hint), raw), context.line_after(op, *lines)), f"{op.short} reshaped"
    )


@per_op("same.splat", HARMLESS, "constant")
def splat(context: Context, op: TileOp) -> Iterator[Change]:
    """A splat as a scalar that is reshaped and broadcast."""
    type_ = op.results[0].type
    literal = op.get("value")
    match = re.search(r"<\w+: ([^\[\]>]*)>", op.text)
    if not isinstance(type_, Tile) or not type_.shape or match is None or not literal.is_splat:
        return
    scalar, ones = context.fresh("scalar"), context.fresh("ones")
    zero_d, unit = Tile((), type_.element), Tile((1,) * len(type_.shape), type_.element)
    lines = (
        f"{ones} = reshape {scalar} : {zero_d} -> {unit}",
        f"{name(op.results[0])} = broadcast {ones} : {unit} -> {type_}",
    )
    head = f"{scalar} = constant {match.group()} : {zero_d}"
    yield Change(
        (context.edit(op, 0, len(op.text), head), context.line_after(op, *lines)),
        "splat by reshape and broadcast",
    )


@per_op("same.into-loop", HARMLESS)
def into_loop(context: Context, op: TileOp) -> Iterator[Change]:
    """A pure op outside a loop is made again inside it."""
    if not single(op) or op.spec.effect not in PLAIN:
        return
    equals = op.text.index(" = ")
    for use in op.results[0].uses:
        user = use.operation
        above = user.parent_op()
        if (
            not isinstance(user, TileOp)
            or not isinstance(above, TileOp)
            or above.short not in ("for", "loop")
        ):
            continue
        if above is op.parent_op() or not context.live(user):
            continue
        # Operand names may be shadowed inside; only what still means the same there is moved.
        scope = context.scope(user)
        if any(scope.get(name(operand)) is not operand for operand in op.operands):
            continue
        copy = context.fresh("inner")
        edit = context.set_operand(user, use.index, copy)
        if edit is not None:
            yield Change(
                (context.line_before(user, f"{copy}{op.text[equals:]}"), edit), f"{op.short} in the loop"
            )


@per_dump("same.tokens", HARMLESS)
def tokens(context: Context) -> Iterator[Change]:
    """Loads of arrays that nobody writes get a token of their own."""
    written: set[object] = set()
    for _, op in context.ops:
        if ("store" in op.short or "atomic" in op.short) and op.short.endswith("tko"):
            written.add(base_of(context, op))
    if None in written:
        return
    for _, op in context.ops:
        if op.short not in ("load_view_tko", "load_ptr_tko") or op.get("memory_ordering") != "weak":
            continue
        base = base_of(context, op)
        token = op.one("token")
        parts = context.parts(op)
        if base is None or base in written or token is None or parts is None:
            continue
        if any(not before.short.startswith(("load", "store")) for before in ordered_before(token)):
            continue  # it waits for a fence, an atomic or another launch
        fresh = context.fresh("token")
        edit = context.edit(op, *parts.operands[len(op.operands) - 1], fresh)
        yield Change((context.line_before(op, f"{fresh} = make_token : token"), edit), "token of its own")


def base_of(context: Context, op: TileOp) -> object:
    """The array that an access is made to: a parameter; None if that is not clear."""
    value = op.operands[0] if not op.short.startswith("store_view") else op.operands[1]
    for _ in range(64):
        owner = value.owner
        if not isinstance(owner, TileOp):
            return value if context.is_argument(value) else None
        if owner.short not in ADDRESSING:
            return None
        value = owner.operands[0]
    return None


@per_op("same.widened-index", HARMLESS, "load_view_tko", "store_view_tko")
def widened_index(context: Context, op: TileOp) -> Iterator[Change]:
    """Indices in i64 instead of i32."""
    indices = op.group("index")
    parts = context.parts(op)
    if parts is None or any(str(index.type) != "tile<i32>" for index in indices):
        return
    first = len(op.group("tile")) + 1
    spans = parts.type_spans()
    printed = [span for span in spans if parts.text[span[0] : span[1]] == "tile<i32>"]
    if len(printed) != 1:
        return
    lines: list[str] = []
    edits: list[Edit] = [context.edit(op, *printed[0], "tile<i64>")]
    for at, index in enumerate(indices):
        wide = context.fresh("wide")
        lines.append(f"{wide} = exti {name(index)} signed : tile<i32> -> tile<i64>")
        edits.append(context.edit(op, *parts.operands[first + at], wide))
    yield Change((context.line_before(op, *lines), *edits), "indices widened")


def is_float_scalar(type_: object) -> bool:
    return isinstance(type_, Tile) and isinstance(type_.element, Scalar) and type_.element.is_float
