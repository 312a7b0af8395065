"""Defects of accesses through pointers: masks, padding, addresses, order, tokens, atomics, stores."""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchmarks.mutate.context import CROSS_LANE, name
from benchmarks.mutate.literals import other_literal
from benchmarks.mutate.model import DEFECT, Change, Edit
from benchmarks.mutate.registry import per_op
from tileir_diff.dialect.ir import TileOp
from tileir_diff.dialect.types import Scalar, Tile

if TYPE_CHECKING:
    from collections.abc import Iterator

    from xdsl.ir import SSAValue

    from benchmarks.mutate.context import Context

MASKED = ("load_ptr_tko", "store_ptr_tko", "atomic_cas_tko", "atomic_rmw_tko")
POINTERS = ("source", "destination", "pointers")
STORES = ("store_ptr_tko", "store_view_tko", "atomic_red_view_tko")
MODES_INT = ("and", "or", "xor", "add", "max", "min", "umax", "umin")


def group_index(op: TileOp, group: str) -> int | None:
    """Where the only operand of a group stands among the operands; None if it is absent."""
    at = 0
    for spec, size in zip(op.spec.operands, op.segments, strict=False):
        if spec.rstrip("?*") == group:
            return at if size else None
        at += size
    return None


def replacements(context: Context, op: TileOp, index: int) -> Iterator[tuple[Edit, str, SSAValue]]:
    """Edits that put another value of the same type in place of an operand."""
    for text, value in context.others(op, op.operands[index]):
        edit = context.set_operand(op, index, text)
        if edit is not None:
            yield edit, text, value


@per_op("mask.drop", DEFECT, *MASKED)
def mask_drop(context: Context, op: TileOp) -> Iterator[Change]:
    index = group_index(op, "mask")
    if index is None or _ambiguous(op):
        return
    constant = context.constant(op.operands[index])
    doubt = "the mask is a constant" if constant is not None and constant.bits == (1,) else ""
    types = {"atomic_cas_tko": 2}.get(op.short, index)
    edits = context.drop_operand(op, index, types)
    if edits:
        yield Change(edits, "mask dropped", ("mask", "bounds"), doubt)


@per_op("mask.replace", DEFECT, *MASKED)
def mask_replace(context: Context, op: TileOp) -> Iterator[Change]:
    index = group_index(op, "mask")
    if index is not None:
        for edit, text, _ in replacements(context, op, index):
            yield Change((edit,), f"mask replaced by {text}", ("mask", "bounds"))


@per_op("pad-operand.drop", DEFECT, "load_ptr_tko")
def padding_drop(context: Context, op: TileOp) -> Iterator[Change]:
    index = group_index(op, "padding")
    if index is None or op.one("mask") is None or _ambiguous(op):
        return
    edits = context.drop_operand(op, index, index)
    if edits:
        yield Change(edits, "padding dropped", ("padding",), padding_doubt(context, op))


@per_op("pad-operand.change", DEFECT, "load_ptr_tko")
def padding_change(context: Context, op: TileOp) -> Iterator[Change]:
    index = group_index(op, "padding")
    if index is None or op.one("mask") is None:
        return
    padding = op.operands[index]
    literal = context.constant(padding)
    if literal is None or not isinstance(padding.type, Tile) or not isinstance(padding.type.element, Scalar):
        return
    fresh = context.fresh("pad")
    text = other_literal(literal)
    line = f"{fresh} = constant <{padding.type.element.name}: {text}> : {padding.type}"
    edit = context.set_operand(op, index, fresh)
    if edit is not None and text:
        families = ("padding", "constant")
        yield Change(
            (context.line_before(op, line), edit), f"padding {text}", families, padding_doubt(context, op)
        )


def padding_doubt(context: Context, load: TileOp) -> str:
    """Why the lanes that a pointer load pads may never be seen."""
    mask = context.key(load.operands[1]) if load.one("mask") is not None else None
    observed = False
    for role, op, crossed in context.reach(load.results[0]):
        if crossed or role in ("loop", "condition", "index", "address", "extract"):
            observed = True
        elif role == "value":
            store_mask = op.one("mask")
            if op.short == "store_ptr_tko" and (store_mask is None or context.key(store_mask) != mask):
                return "the padded lanes may not be stored"
    if not observed:
        return "the padded lanes are not stored"
    return "a select may hide the padded lanes" if _selected(load) else ""


def _selected(load: TileOp) -> bool:
    """Whether a select stands between a load and the first op that mixes lanes."""
    seen: set[SSAValue] = set()
    todo: list[SSAValue] = [load.results[0]]
    while todo:
        value = todo.pop()
        if value in seen:
            continue
        seen.add(value)
        for use in value.uses:
            op = use.operation
            if not isinstance(op, TileOp) or op.short in CROSS_LANE:
                continue
            if op.short == "select":
                return True
            todo += op.results
    return False


@per_op("address.replace", DEFECT, *MASKED)
def address_replace(context: Context, op: TileOp) -> Iterator[Change]:
    index = 0
    for edit, text, _ in replacements(context, op, index):
        yield Change((edit,), f"address replaced by {text}", ("addressing",))


@per_op("store.value", DEFECT, *STORES)
def store_value(context: Context, op: TileOp) -> Iterator[Change]:
    index = group_index(op, "tile" if op.short == "store_view_tko" else "value")
    assert index is not None
    families = ("arithmetic", "constant", "conversion", "control-flow", "loop", "reduction", "addressing",
                "memory-family", "atomic", "shape-op", "padding", "mask")  # fmt: skip
    for edit, text, _ in replacements(context, op, index):
        yield Change((edit,), f"stored value replaced by {text}", families)


@per_op("store.drop", DEFECT, *STORES)
def store_drop(context: Context, op: TileOp) -> Iterator[Change]:
    token = op.one("token")
    edits = [context.delete_line(op)]
    uses = list(op.results[0].uses)
    if uses and token is None:
        return
    for use in uses:
        user = use.operation
        parts = context.parts(user) if isinstance(user, TileOp) else None
        if parts is None or token is None or not isinstance(user, TileOp):
            return
        edits.append(context.edit(user, *parts.operands[use.index], name(token)))
    families = ("memory-family", "dead-code", "arithmetic", "control-flow", "atomic", "loop", "token-order")
    yield Change(tuple(edits), "store dropped", families)


@per_op("memory.order", DEFECT, *MASKED, "load_view_tko", "store_view_tko")
def memory_order(context: Context, op: TileOp) -> Iterator[Change]:
    now = op.get("memory_ordering")
    strong = {"load_ptr_tko": "acquire", "load_view_tko": "acquire"}.get(op.short, "release")
    for wanted in ("weak", "relaxed", strong):
        atomic = op.short.startswith("atomic")
        if wanted == now or (atomic and wanted == "weak"):
            continue
        if now == "weak":
            edit = context.word(op, r"\bweak\b", f"{wanted} device")
        elif wanted == "weak":
            edit = context.word(op, rf"\b{now} \w+", "weak")
        else:
            edit = context.word(op, rf"\b{now}\b", wanted)
        if edit is not None:
            yield Change((edit,), f"{now} -> {wanted}", ("memory-order",))


@per_op("memory.scope", DEFECT, *MASKED, "load_view_tko", "store_view_tko", "atomic_red_view_tko")
def memory_scope(context: Context, op: TileOp) -> Iterator[Change]:
    now = op.get("memory_scope")
    if now is None:
        return
    for wanted in ("tl_blk", "device", "sys"):
        if wanted != now and not (op.short == "atomic_red_view_tko" and wanted == "sys"):
            edit = context.word(op, rf"\b{now}\b", wanted)
            if edit is not None:
                yield Change((edit,), f"scope {now} -> {wanted}", ("memory-order",))


@per_op("atomic.mode", DEFECT, "atomic_rmw_tko", "atomic_red_view_tko")
def atomic_mode(context: Context, op: TileOp) -> Iterator[Change]:
    now = op.get("mode")
    swaps = {"addf": ("xchg",), "xchg": ()}.get(now, MODES_INT)
    for wanted in swaps:
        if wanted == now or (op.short == "atomic_red_view_tko" and wanted == "xchg"):
            continue
        edit = context.word(op, rf", {now},", f", {wanted},")
        if edit is not None:
            yield Change((edit,), f"mode {now} -> {wanted}", ("atomic",))


@per_op("token.drop", DEFECT, *MASKED, "load_view_tko", "store_view_tko", "print_tko")
def token_drop(context: Context, op: TileOp) -> Iterator[Change]:
    """Takes the token of an access away that must come after an access of the same memory."""
    index = group_index(op, "token")
    parts = context.parts(op)
    if index is None or parts is None:
        return
    before = ordered_before(op.operands[index])
    if not before:
        return
    start, end = parts.operands[index]
    begin = parts.clean.rfind("token", 0, start)
    edit = context.edit(op, len(parts.clean[:begin].rstrip()), end, "")
    same = [other for other in before if _same_place(context, op, other)]
    if op.short == "print_tko":
        doubt = "" if any(other.short == "print_tko" for other in before) else "only prints are ordered"
    elif not same:
        doubt = "the accesses before it may be elsewhere"
    else:
        # Data that the access needs orders it behind the load that it comes from.
        needed = all("load" in other.short and op in _users(context, other) for other in same)
        doubt = "data orders the accesses" if needed else ""
    yield Change((edit,), "token dropped", ("token-order", "debug-op"), doubt)


def _users(context: Context, load: TileOp) -> set[TileOp]:
    """Accesses that need what a load reads."""
    return {op for _, op, _ in context.reach(load.results[0])}


def ordered_before(token: SSAValue) -> list[TileOp]:
    """Memory ops that a token waits for, as far as straight-line code shows."""
    found: dict[TileOp, None] = {}
    seen: set[SSAValue] = set()
    todo = [token]
    while todo:
        value = todo.pop()
        owner = value.owner
        if value in seen or not isinstance(owner, TileOp):
            continue
        seen.add(value)
        if owner.short == "join_tokens":
            todo += owner.operands
        elif owner.short.endswith("_tko"):
            found[owner] = None
            after = owner.one("token")
            if after is not None:
                todo.append(after)
    return list(found)


def _same_place(context: Context, op: TileOp, other: TileOp) -> bool:
    """Whether two accesses certainly touch the same memory and one of them writes."""
    if "load" in op.short and "load" in other.short:
        return False
    return _place(context, op) == _place(context, other) and _place(context, op) is not None


def _place(context: Context, op: TileOp) -> tuple[int, ...] | None:
    for group in POINTERS:
        if op.one(group) is not None:
            return (context.key(op.group(group)[0]),)
    view = op.one("view")
    if view is None or not isinstance(view.owner, TileOp):
        return None
    tensor = view.owner.one("tensor_view")
    if tensor is None or not isinstance(tensor.owner, TileOp):
        return None
    base = tensor.owner.one("base")
    assert base is not None
    return (context.key(base), *(context.key(index) for index in op.group("index")))


@per_op("assert.drop", DEFECT, "assert")
def assert_drop(context: Context, op: TileOp) -> Iterator[Change]:
    yield Change((context.delete_line(op),), "assert dropped", ("runtime-check",))


@per_op("assert.condition", DEFECT, "assert")
def assert_condition(context: Context, op: TileOp) -> Iterator[Change]:
    for edit, text, _ in replacements(context, op, 0):
        yield Change((edit,), f"asserts {text}", ("runtime-check",))


def _ambiguous(op: TileOp) -> bool:
    """Whether mask and padding of a load look alike."""
    loaded = op.results[0].type
    return isinstance(loaded, Tile) and isinstance(loaded.element, Scalar) and loaded.element.name == "i1"
