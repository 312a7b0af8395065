"""`for` and `loop`: the body is evaluated once, over symbols for the iteration and the carried values."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tileir_diff.dialect.types import Token
from tileir_diff.graph import closed_forms, colours, foresight
from tileir_diff.graph.carries import Body, Exit, own_lanes, substitute_carries
from tileir_diff.graph.growth import is_data
from tileir_diff.graph.integers import unsigned
from tileir_diff.graph.kernel import Carry, Loop
from tileir_diff.graph.orders import Merge, Way
from tileir_diff.graph.values import (
    element_bits,
    is_integer,
    last_op,
    signed_range,
    sort_of,
    union_of_tokens,
)
from tileir_diff.graph.writes import History

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from xdsl.ir import Block, SSAValue

    from tileir_diff.dialect.ir import TileOp
    from tileir_diff.graph.evaluate import Evaluator, Handler
    from tileir_diff.graph.terms import Term

RETURNED = -1
"""Stands for the index of a result where it is whether the body returned."""


def for_(ev: Evaluator, op: TileOp) -> None:
    terms = ev.terms
    lower, upper, step = (ev.operand(op, name) for name in ("lower", "upper", "step"))
    if op.get("unsigned_cmp"):
        if terms.exact:
            lower, upper = (unsigned(terms, bound, element_bits(op.operands[0])) for bound in (lower, upper))
        elif not (terms.nonneg(lower) and terms.nonneg(upper)):
            ev.kernel.assume(f"line {op.span.line}: unsigned loop bounds are taken as non-negative")
    trip = closed_forms.trip_count(terms, closed_forms.distance(terms, lower, upper), step)
    _, high = terms.range(trip)
    inits = [ev.env[value] for value in op.group("inits")]
    if high is not None and high <= 0:
        ev.kernel.skipped.append(op)
        _set_all(ev, op, inits)
        return
    block = op.regions[0].block
    shared = closed_forms.over_grid(ev, lower, step)
    if terms.value(trip) == 1 and not shared and not _continues_early(ev, op):
        _set_all(ev, op, _once(ev, block, lower, inits))
        return
    loop = _open(ev, op, lower, step, trip)
    loop.upper = upper
    index = terms.add(lower, terms.mul(step, terms.atom(loop.iteration)))
    if terms.exact and op.get("unsigned_cmp"):
        index = terms.wrap(element_bits(op.operands[0]), index)
    ev.env[block.args[0]] = index
    _run(ev, op, loop, block.args[1:], inits)


def loop_(ev: Evaluator, op: TileOp) -> None:
    inits = [ev.env[value] for value in op.group("inits")]
    passes = foresight.passes(ev, op, inits)
    if passes is not None:
        if passes == 1:
            ev.kernel.skipped.append(op)
        _set_all(ev, op, _left(ev, op.regions[0].block, inits, passes))
        return
    loop = _open(ev, op, ev.terms.zero, ev.terms.one, None)
    _run(ev, op, loop, op.regions[0].block.args, inits)


def _set_all(ev: Evaluator, op: TileOp, values: Sequence[Any]) -> None:
    for index, value in enumerate(values):
        ev.set(op, value, index)


def _once(ev: Evaluator, block: Block, lower: Term, inits: list[Any]) -> tuple[Any, ...]:
    """The results of a loop that runs exactly once, as straight-line code."""
    ev.env[block.args[0]] = lower
    for arg, init in zip(block.args[1:], inits, strict=True):
        ev.env[arg] = init
    return ev.block(block)[1]


def _left(ev: Evaluator, block: Block, inits: Sequence[Any], passes: int) -> tuple[Any, ...]:
    """The results of a `loop` that is left in the last of so many passes, as straight-line code."""
    live, values = ev.live, tuple(inits)
    ev.exits.append([])
    for _ in range(passes):
        for arg, value in zip(block.args, values, strict=True):
            ev.env[arg] = value
        kind, values = ev.block(block)
        if kind == "dead":
            break
    ways = ev.exits.pop()
    ev.live = live if ways else ev.terms.false  # a loop in the body that never ends
    return ways[-1].values if ways else ()


def _continues_early(ev: Evaluator, op: TileOp) -> bool:
    """Whether a loop body contains a ``continue`` of its own that is not its last op."""
    ends = ev.arrays.flows.ends.get(op, ())
    return any(end.short == "continue" and end.parent is not op.regions[0].block for end in ends)


def _open(ev: Evaluator, op: TileOp, lower: Term, step: Term, trip: Term | None) -> Loop:
    uid = ev.next_symbol()
    iteration = ev.terms.leaf("iter", ev.side, uid)
    closed_forms.bound_iteration(ev.terms, iteration, trip)
    loop = Loop(op, uid, len(ev.loops), iteration, lower, step, trip)
    ev.kernel.loops.append(loop)
    return loop


def _run(ev: Evaluator, op: TileOp, loop: Loop, args: Sequence[SSAValue], inits: list[Any]) -> None:
    first_effect, first_loop = len(ev.kernel.effects), len(ev.kernel.loops)
    markers = _enter(ev, loop, args, inits)
    exits = _exits_of_body(ev, op.regions[0].block, loop)
    body = Body(ev.kernel, loop, ev.kernel.effects[first_effect:], ev.kernel.loops[first_loop:])
    continues = [exit_ for exit_ in exits if exit_.kind == "continue"]
    breaks = [exit_ for exit_ in exits if exit_.kind == "break"]
    returns = [exit_ for exit_ in exits if exit_.kind == "return"]
    inside = range(first_effect, len(ev.kernel.effects))
    for index, marker in markers.items():
        start = Way(union_of_tokens((inits[index],)), inside, True, op=op)
        ways = start, *_ways(continues, index, inside)
        ev.kernel.merges[marker] = Merge(ways, loop, inside, True)
    for carry in loop.carries:
        onward = _choose(ev, continues, carry.index, carry.value, default=ev.env[carry.value])
        goes_on = ev.terms.disjunction([exit_.guard for exit_ in continues])
        carry.next = ev.terms.under(onward, ev.terms.conjuncts(goes_on)) if continues else onward
    if loop.trip is None:
        loop.exit = ev.terms.disjunction([exit_.guard for exit_ in breaks + returns])
    closed_forms.close(ev, body)
    breaks, returns = ([_closed(ev, loop, exit_) for exit_ in ways] for ways in (breaks, returns))
    closed_forms.count(ev.terms, body)
    closed_forms.over_tiles(ev, body)
    colours.finish(ev.terms, loop)
    if not closed_forms.ends(ev.terms, loop):
        _wait(ev, op, loop)
    for index, result in enumerate(op.results):
        if isinstance(result.type, Token):
            if op.short == "for":
                start = Way(union_of_tokens((inits[index],)), inside, True, op=op)
                ways = start, *_ways(continues, index, inside)
            else:
                ways = _ways_out(ev, breaks, index, inside, markers)
            ev.set(op, ev.kernel.merge_tokens(Merge(ways, loop, inside)), index)
        else:
            ev.set(op, _result(ev, loop, breaks, index, result), index)
    _close_arguments(ev, loop, args)
    if returns:
        _leave(ev, loop, returns)
    elif loop.trip is None and not breaks:
        ev.kernel.assume(f"line {op.span.line}: the loop has no break: what stands below it is not reached")
        ev.live = ev.terms.false


def _wait(ev: Evaluator, op: TileOp, loop: Loop) -> None:
    """That a loop ends is an effect of its own: what stands below it may not be reached."""
    around = ev.loops
    ev.loops = (*around, loop)
    ev.effect("wait", op)
    ev.loops = around


def _enter(ev: Evaluator, loop: Loop, args: Sequence[SSAValue], inits: list[Any]) -> dict[int, int]:
    """Give the block's arguments symbols; returns the numbers of carried tokens in ``Kernel.merges``."""
    markers: dict[int, int] = {}
    for index, (arg, init) in enumerate(zip(args, inits, strict=True)):
        if isinstance(arg.type, Token):
            ev.env[arg] = ev.kernel.merge_tokens(Merge(()))
            markers[index] = min(ev.env[arg])
        elif isinstance(init, int):
            data = is_integer(arg) and is_data(ev.arrays.flows, arg)
            leaf = ev.terms.leaf("carry", ev.side, loop.uid, index, data)
            loop.carries.append(Carry(index, leaf, init, str(arg.type), arg))
            ev.env[arg] = _at_own_lanes(ev, leaf, arg)
            if is_integer(arg):
                ev.terms.set_range(leaf, signed_range(element_bits(arg)))
        else:
            ev.env[arg] = init
    foresight.counters(ev, loop)
    return markers


def _at_own_lanes(ev: Evaluator, leaf: Term, arg: SSAValue) -> Term:
    """The carried value at the lanes of its own tile."""
    terms = ev.terms
    lanes = own_lanes(terms, arg)
    terms.carry_lanes[leaf] = tuple(atom for lane in lanes if (atom := terms.single(lane)) is not None)
    return ev.as_sort(terms.node("at", None, (leaf, *lanes)) if lanes else leaf, arg)


def _exits_of_body(ev: Evaluator, block: Block, loop: Loop) -> list[Exit]:
    """Evaluate the body; returns the ways out of it, in program order."""
    outer = ev.loops, ev.guard, ev.live
    stored_before = dict(ev.stored)
    ev.guard = ev.terms.conjunction((ev.guard, ev.live))
    ev.loops = (*ev.loops, loop)
    ev.live = ev.terms.true
    ev.exits.append([])
    kind, values = ev.block(block)
    exits = ev.exits.pop()
    if kind in ("continue", "end", "break"):
        exits.append(
            Exit(
                "break" if kind == "break" else "continue",
                ev.live,
                values,
                len(ev.kernel.effects),
                last_op(loop.op.regions[0]),
            )
        )
    ev.loops, ev.guard, ev.live = outer
    for array, history in ev.stored.items():
        before = stored_before.get(array, History())
        if history != before:
            ev.stored[array] = before.looped(history)
    return exits


def _choose(ev: Evaluator, exits: list[Exit], index: int, value: SSAValue, default: Any) -> Any:
    """The value that one of the exits hands on, by their conditions."""
    if not exits or any(index >= len(e.values) or not isinstance(e.values[index], int) for e in exits):
        return default
    result: Term = exits[-1].values[index]
    for exit_ in reversed(exits[:-1]):
        result = ev.terms.ite(exit_.guard, exit_.values[index], result, sort_of(value))
    return result


def _ways(exits: Sequence[Exit], index: int, inside: range) -> tuple[Way, ...]:
    """The tokens that the ways out of a body hand on; what stands below a way out is not carried out."""
    return tuple(
        Way(
            union_of_tokens(exit_.values[index : index + 1]),
            range(exit_.effects, inside.stop),
            op=exit_.op,
        )
        for exit_ in exits
    )


def _ways_out(
    ev: Evaluator, breaks: Sequence[Exit], index: int, inside: range, markers: Mapping[int, int]
) -> tuple[Way, ...]:
    """The tokens that the breaks hand on. One that the loop carries is that of each way to the loop's head.

    What stands above the break has been carried out once more since.
    """
    heads = {frozenset((marker,)): marker for marker in markers.values()}
    found: list[Way] = []
    for exit_, way in zip(breaks, _ways(breaks, index, inside), strict=True):
        head = heads.get(way.sources)
        if head is None:
            found.append(way)
            continue
        above = range(inside.start, exit_.effects)
        for each in ev.kernel.merges[head].ways:
            absent = way.absent if each.entry else each.absent
            found.append(each._replace(absent=absent, again=above, op=way.op))
    return tuple(found)


def _result(ev: Evaluator, loop: Loop, breaks: list[Exit], index: int, result: SSAValue) -> Term | None:
    if loop.trip is not None and not breaks:
        carry = next((carry for carry in loop.carries if carry.index == index), None)
        return None if carry is None else _last_value(ev, loop, carry.leaf, index, result)
    value = _choose(ev, breaks, index, result, default=None)
    return None if value is None else _exit_value(ev, loop, value, index, result)


def _last_value(ev: Evaluator, loop: Loop, leaf: Term, index: int, result: SSAValue) -> Term:
    """A carried value after the last iteration."""
    terms = ev.terms
    if leaf in loop.closed:
        return _after_last(ev, loop, loop.closed[leaf])
    return _result_term(ev, loop, terms.args[loop.canonical[leaf]][0], index, result)


def _after_last(ev: Evaluator, loop: Loop, form: Term) -> Term:
    """A function of the iteration at the trip count."""
    assert loop.trip is not None
    return ev.terms.subst(form, {loop.iteration: ev.terms.maximum((ev.terms.zero, loop.trip))})


def _closed(ev: Evaluator, loop: Loop, exit_: Exit) -> Exit:
    """A way out as a function of the iteration: of any, as it is taken in one that does not go on."""
    memo: dict[Term, Term] = {}

    def change(value: Any) -> Any:
        known = isinstance(value, int)
        return substitute_carries(ev.terms, value, loop.closed, memo) if known else value

    return exit_._replace(guard=change(exit_.guard), values=tuple(map(change, exit_.values)))


def _exit_value(ev: Evaluator, loop: Loop, value: Term, index: int, result: SSAValue | None) -> Term:
    """A value that leaves a ``loop`` by ``break``, seen from outside; without a ``result`` a predicate."""
    terms = ev.terms
    carried = {carry.leaf for carry in loop.carries}
    if not terms.symbols[value] & (carried | {loop.iteration}):
        return value
    if loop.trip is not None:
        for carry in loop.carries:
            if result is not None and value == ev.env.get(carry.value):
                return _last_value(ev, loop, carry.leaf, carry.index, result)
        if not terms.symbols[value] & carried:
            return _after_last(ev, loop, value)
    closed = value if result is None else colours.closed_lanes(terms, value, result)
    colour = terms.node("colour", ("exit_value",), (substitute_carries(terms, closed, loop.canonical, {}),))
    return _result_term(ev, loop, colour, index, result)


def _leave(ev: Evaluator, loop: Loop, returns: list[Exit]) -> None:
    """What stands below a loop is not reached where its body returned, nor is what the loop around does."""
    terms = ev.terms
    returned = terms.disjunction([exit_.guard for exit_ in returns])
    returned = terms.true if returned == loop.exit else _exit_value(ev, loop, returned, RETURNED, None)
    if ev.exits:
        guard = terms.conjunction((ev.live, returned))
        ev.exits[-1].append(Exit("return", guard, (), len(ev.kernel.effects)))
    ev.live = terms.conjunction((ev.live, terms.negate(returned)))


def _result_term(ev: Evaluator, loop: Loop, colour: Term, index: int, result: SSAValue | None) -> Term:
    terms = ev.terms
    ev.kernel.loop_results.setdefault(colour, (loop, index))
    lanes = [] if result is None else own_lanes(terms, result)
    count = loop.trip if loop.trip is not None else terms.node("until", None, (loop.canonical[-1],))
    node = terms.node("loop_result", None, (colour, count, *lanes))
    return node if result is None else ev.as_sort(node, result)


def _close_arguments(ev: Evaluator, loop: Loop, args: Sequence[SSAValue]) -> None:
    """Arguments of the body are what they turned out to be."""
    for arg in args:
        term = ev.env.get(arg)
        leaf = ev.terms.single(term) if isinstance(term, int) else None
        if leaf in loop.closed:
            ev.env[arg] = loop.closed[leaf]


HANDLERS: dict[str, Handler] = {"for": for_, "loop": loop_}
