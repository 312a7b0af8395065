"""Block indices, promises, tokens, debugging aids and casts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tileir_diff.dialect.attributes import Bounded
from tileir_diff.dialect.types import Token
from tileir_diff.graph import unwrapped
from tileir_diff.graph.kernel import Promise
from tileir_diff.graph.ranges import meet
from tileir_diff.graph.shapes import relane
from tileir_diff.graph.values import (
    element_bits,
    element_name,
    is_used,
    operand,
    pointee_bits,
    root_of,
    shape_of,
    sort_of,
)

if TYPE_CHECKING:
    from tileir_diff.dialect.ir import TileOp
    from tileir_diff.graph.evaluate import Evaluator, Handler
    from tileir_diff.graph.terms import Term, Terms

GRID_MAX = (2**31 - 1, 65535, 65535)
"""The largest grid that a launch may have, by axis."""
BOUNDED_ELSEWHERE = frozenset({"poly", "arg", "lane", "block", "grid", "iter"})
"""Terms whose range a promise inside the kernel does not narrow: they are bounded where they arise."""


def get_tile_block_id(ev: Evaluator, op: TileOp) -> None:
    terms = ev.terms
    for axis in range(3):
        size = ev.grid[axis]
        if size == 1:
            ev.set(op, terms.zero, axis)
            continue
        leaf = terms.leaf("block", axis)
        bound = ev.blocks[axis]
        terms.set_range(leaf, (0, (bound if bound is not None else GRID_MAX[axis]) - 1))
        ev.set(op, terms.atom(leaf), axis)


def get_num_tile_blocks(ev: Evaluator, op: TileOp) -> None:
    terms = ev.terms
    for axis in range(3):
        size = ev.grid[axis]
        leaf = terms.leaf("grid", axis)
        terms.set_range(leaf, (1, GRID_MAX[axis]))
        ev.set(op, terms.const(size) if size is not None else terms.atom(leaf), axis)


def select(ev: Evaluator, op: TileOp) -> None:
    condition, then, other = (ev.operand(op, name) for name in ("condition", "on_true", "on_false"))
    ev.set(op, ev.terms.ite(condition, then, other, sort_of(op.results[0])))


def offset(ev: Evaluator, op: TileOp) -> None:
    ev.set(op, ev.terms.add(ev.operand(op, "ptr"), unwrapped.index(ev, operand(op, "offset"))))


def assume(ev: Evaluator, op: TileOp) -> None:
    value = operand(op, "value")
    term = ev.env[value]
    root = root_of(value)
    argument = next((index for index, param in enumerate(ev.params) if param is root), None)
    assumption = op.get("assumption")
    if isinstance(assumption, Bounded):
        assumption = _of_use(assumption, element_bits(op.results[0]))
    guard = ev.terms.conjunction((ev.guard, ev.live))
    ev.kernel.promises.append(Promise(op, term, assumption, argument, ev.loops, guard))
    if isinstance(term, int) and isinstance(assumption, Bounded) and _holds_always(ev, term):
        _narrow(ev, term, assumption)
    ev.env[op.results[0]] = term


def _of_use(promise: Bounded, bits: int) -> Bounded:
    """A promise without the bounds that each number of the type keeps."""
    least, most = -(1 << (bits - 1)), (1 << (bits - 1)) - 1
    lower, upper = promise.lower, promise.upper
    return Bounded(None if lower == least else lower, None if upper == most else upper)


def _holds_always(ev: Evaluator, term: Term) -> bool:
    """Whether a promise about a term is made wherever the term may be used: in no branch, nor in a loop that
    the term does not come from, as its body may not be reached."""
    terms = ev.terms
    if terms.conjunction((ev.guard, ev.live)) != terms.true:
        return False
    inside = {leaf for loop in ev.loops[-1:] for leaf in (loop.iteration, *(c.leaf for c in loop.carries))}
    return not inside or bool(inside & terms.symbols[term])


def _narrow(ev: Evaluator, term: Term, promise: Bounded) -> None:
    terms = ev.terms
    leaf = terms.single(term)
    if terms.exact or leaf is None or terms.kind[leaf] in BOUNDED_ELSEWHERE:
        return
    known = terms.range(leaf)
    narrowed = meet(known, (promise.lower, promise.upper))
    if narrowed != known:
        terms.learn_range(leaf, narrowed)


def make_token(ev: Evaluator, op: TileOp) -> None:
    ev.env[op.results[0]] = frozenset[int]()


def join_tokens(ev: Evaluator, op: TileOp) -> None:
    ev.env[op.results[0]] = frozenset[int]().union(*(ev.token(value) for value in op.operands))


def fence(ev: Evaluator, op: TileOp) -> None:
    """Ops that only order memory accesses."""
    effect = ev.effect("fence", op)
    if op.operands and not effect.after:
        effect.after = ev.token(op.operands[0])
    ev.set_token(op, effect)


def print_(ev: Evaluator, op: TileOp) -> None:
    values = tuple([term for value in op.group("args") if isinstance(term := ev.env[value], int)])
    effect = ev.effect("print", op, values=values)
    if op.results:
        ev.set_token(op, effect)


def assert_(ev: Evaluator, op: TileOp) -> None:
    condition = operand(op, "condition")
    ev.effect("assert", op, values=(ev.env[condition],), shape=shape_of(condition))


def alloca(ev: Evaluator, op: TileOp) -> None:
    # those of one size and type are told apart by their order, and the others by what they are
    kind = op.get("num_elem"), op.get("is_global"), element_name(op.results[0])
    attr = ("alloca", *kind, ev.allocations[kind])
    ev.allocations[kind] += is_used(op)
    ev.set(op, ev.terms.atom(ev.terms.node("symbol", attr, ())))


def pointer_cast(ev: Evaluator, op: TileOp) -> None:
    if op.short == "ptr_to_ptr" and pointee_bits(op.operands[0]) == pointee_bits(op.results[0]):
        ev.set(op, ev.operand(op, "source"))  # addresses count in elements, and these are of one size
        return
    names = (element_name(op.operands[0]), element_name(op.results[0]))
    node = ev.terms.node("f", (op.short, names, ()), (ev.operand(op, "source"),))
    ev.set(op, ev.terms.atom(node))


def pack(ev: Evaluator, op: TileOp) -> None:
    """Reinterpretation of a row of elements: opaque, with the source closed over its index."""
    terms = ev.terms
    source, result = op.operands[0], op.results[0]
    term: Term = ev.env[source]
    extent = shape_of(source)[0]
    before = _before(terms, term, (str(result.type), str(source.type)), extent, shape_of(result)[0])
    if before is not None:
        ev.set(op, before)
        return
    index = terms.atom(terms.bound(terms.height[term] + 1, extent)) if extent > 1 else terms.zero
    body = relane(terms, term, (extent,), [index])
    lane = terms.lane(0, shape_of(result)[0])
    ev.set_node(op, terms.node("reinterpret", (op.short, (str(source.type), str(result.type))), (body, lane)))


def _before(terms: Terms, term: Term, types: tuple[str, str], extent: int, elements: int) -> Term | None:
    """What a row of ``extent`` was before it was packed, or unpacked, out of so many elements."""
    node = terms.single(term)
    if node is None or terms.kind[node] != "reinterpret" or terms.attr[node][1] != types:
        return None
    body, lane = terms.args[node]
    if lane != terms.lane(0, extent):
        return None
    index = terms.leaf("bound", terms.height[body], elements)
    return terms.subst(body, {index: terms.lane(0, elements)})


def opaque(ev: Evaluator, op: TileOp) -> None:
    """An op without a model: equal only to itself on equal operands, and listed in the result."""
    ev.kernel.not_modelled.append(op)
    args = tuple([term for value in op.operands if isinstance(term := ev.env[value], int)])
    for index, result in enumerate(op.results):
        if isinstance(result.type, Token):
            ev.env[result] = frozenset[int]()
        else:
            ev.set_node(op, ev.terms.node("opaque", (op.short, index, str(result.type)), args), index)


HANDLERS: dict[str, Handler] = {
    "alloca": alloca,
    "assert": assert_,
    "assume": assume,
    "gdc_launch_dependents_tko": fence,
    "gdc_wait_tko": fence,
    "get_num_tile_blocks": get_num_tile_blocks,
    "get_tile_block_id": get_tile_block_id,
    "int_to_ptr": pointer_cast,
    "join_tokens": join_tokens,
    "make_token": make_token,
    "memory_fence_alias_tko": fence,
    "offset": offset,
    "pack": pack,
    "print_tko": print_,
    "ptr_to_int": pointer_cast,
    "ptr_to_ptr": pointer_cast,
    "select": select,
    "unpack": pack,
}
