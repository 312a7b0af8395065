"""From values that z3 found to an input that both kernels were evaluated for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from tileir_diff.dialect.attributes import Bounded, DivBy
from tileir_diff.equivalence.symbolic.answer import COUNTEREXAMPLE, Answer, unknown
from tileir_diff.equivalence.symbolic.concrete import CannotSayError, Concrete, Input, Touched, lanes_of
from tileir_diff.graph.values import is_pointer, operand, shape_of
from tileir_diff.match.witness import evaluate

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tileir_diff.equivalence.symbolic.again import Again
    from tileir_diff.graph.kernel import Effect, Kernel
    from tileir_diff.graph.terms import Term
    from tileir_diff.match.blame import Blame

MAX_LANES = 16384
"""Of larger tiles it is not shown that the other side touches other elements, and not only in other lanes."""


class Found(NamedTuple):
    """What z3 found: values by symbol, in which part of two effects, with the lanes of each side as terms."""

    part: str
    values: Mapping[Term, int]
    reference: Effect
    generated: Effect
    lanes: tuple[dict[Term, Term], dict[Term, Term]]
    position: int = 0
    """Which of the values, where the part is one."""


def checked(again: Again, blame: Blame, found: Found) -> Answer:
    """The counterexample, evaluated on both dumps; unknown where they do not differ, or nobody can say."""
    terms = again.terms
    odd = [s for s in found.values if terms.kind[s] in ("carry", "carry_lane", "bound", "it")]
    if odd:
        return unknown(f"it depends on {blame.show(odd[0])}")
    try:
        sides = [
            Concrete(kernel.entry, _input(kernel, effect, blame, found.values))
            for kernel, effect in ((again.reference, found.reference), (again.generated, found.generated))
        ]
        words = _differing(again, found, sides)
        read = [frozenset(side.read) for side in sides]
        for kernel, side in zip((again.reference, again.generated), sides, strict=True):
            _keeps_promises(kernel, side)
            for op in kernel.ops:
                side.check(op)
    except CannotSayError as reason:
        return unknown(f"z3 names an input, which cannot be checked: {reason}")
    if words is None:
        return unknown("z3 names an input for which only the order of lanes differs, or nothing")
    lanes, ours, theirs = words
    symbols = _asked_for(again, read)
    values = {symbol: value for symbol, value in found.values.items() if symbol in symbols}
    where = ", ".join([*_names(terms, blame, values), *lanes]) or "every input"
    return Answer(COUNTEREXAMPLE, example=f"{where}: reference {ours}, generated {theirs}")


def _asked_for(again: Again, read: Sequence[frozenset[int | tuple[str, int]]]) -> frozenset[Term]:
    """The symbols of what either side read of the input; of iterations all."""
    terms = again.terms
    found: set[Term] = set()
    for kernel, asked in zip((again.reference, again.generated), read, strict=True):
        for what in asked:
            found |= terms.symbols[kernel.arguments[what]] if isinstance(what, int) else {terms.leaf(*what)}
        found |= {loop.iteration for loop in kernel.loops}
    return frozenset(found)


def _input(kernel: Kernel, effect: Effect, blame: Blame, values: Mapping[Term, int]) -> Input:
    terms = kernel.terms
    given = dict(values)
    arguments: list[int | None] = []
    for param, term in zip(kernel.entry.regions[0].block.args, kernel.arguments, strict=True):
        known = given if not is_pointer(param) else dict.fromkeys(terms.symbols[term], 0) | given
        missing = any(symbol not in known for symbol in terms.symbols[term])
        arguments.append(None if missing else evaluate(terms, term, known))
    block = tuple(given.get(terms.leaf("block", axis), 0) for axis in range(3))
    grid = [given.get(terms.leaf("grid", axis)) for axis in range(3)]
    for axis, size in enumerate(kernel.grid):
        if size is not None:
            grid[axis] = size
            if block[axis] >= size:
                raise CannotSayError("a block outside of the grid")
    iterations: dict[int, int] = {}
    for loop in effect.loops:
        if loop.stride is not None:
            raise CannotSayError("a loop over all tiles")
        # two loops that are each other's run in step
        number = blame.rename(terms.atom(loop.iteration)) if kernel.side else terms.atom(loop.iteration)
        known = {symbol: given.get(symbol, 0) for symbol in terms.symbols[number]}
        iterations[id(loop.op)] = evaluate(terms, number, known) or 0
    return Input(tuple(arguments), (block[0], block[1], block[2]), (grid[0], grid[1], grid[2]), iterations)


def _keeps_promises(kernel: Kernel, side: Concrete) -> None:
    """Raises CannotSayError where a promise about an integer does not hold for the input."""
    for promise in kernel.promises:
        op = promise.op
        what = promise.assumption
        if getattr(op.parent_op(), "short", "") != "entry" or is_pointer(operand(op, "value")):
            continue
        if not isinstance(what, (Bounded, DivBy)):
            continue
        try:
            numbers = [side.value(operand(op, "value"), lanes) for lanes in _of(operand(op, "value"))]
        except CannotSayError:
            continue  # about something else, which can be chosen to fulfil it
        for number in numbers:
            if isinstance(what, Bounded):
                fine = (what.lower is None or number >= what.lower) and (
                    what.upper is None or number <= what.upper
                )
            else:
                fine = what.every is not None or number % what.divisor == 0
            if not fine:
                raise CannotSayError(f"the promise of line {op.span.line} does not hold")


def _of(value: Any) -> list[tuple[int, ...]]:
    return lanes_of(shape_of(value), MAX_LANES)


def _differing(again: Again, found: Found, sides: Sequence[Concrete]) -> tuple[list[str], str, str] | None:
    """The lane, and what each side does there; None where both do the same, in whatever order of lanes."""
    effects = found.reference, found.generated
    if found.part == "trip count":
        pairs = zip(found.reference.loops, found.generated.loops, strict=True)
        for x, y in pairs:
            counts = [side.trips(loop.op) for side, loop in zip(sides, (x, y), strict=True)]
            if counts[0] != counts[1]:
                return [], f"runs {_times(counts[0])}", f"runs {_times(counts[1])}"
        return None
    at = [
        _lanes(again, effect, mapping, found.values)
        for effect, mapping in zip(effects, found.lanes, strict=True)
    ]
    if found.part == "value":
        return _values(found, sides, at)
    here = [side.touched(effect.op, lanes) for side, effect, lanes in zip(sides, effects, at, strict=True)]
    if here[0] == here[1]:
        return None
    touched = [
        {side.touched(effect.op, lanes) for lanes in lanes_of(effect.shape, MAX_LANES)}
        for side, effect in zip(sides, effects, strict=True)
    ]
    inactive = Touched(False, None)
    if touched[0] - {inactive} == touched[1] - {inactive}:
        return None
    return _lane_words(found.reference, at[0]), *_access_words(here)


def _values(
    found: Found, sides: Sequence[Concrete], at: Sequence[tuple[int, ...]]
) -> tuple[list[str], str, str] | None:
    """Integers that are stored, or stand for a condition."""
    numbers: list[int] = []
    for side, effect, lanes in zip(sides, (found.reference, found.generated), at, strict=True):
        if not side.touched(effect.op, lanes).active:
            return None
        name = next(
            (name for name in ("value", "tile", "arg", "condition") if effect.op.one(name) is not None), None
        )
        if name is None or found.position or effect.kind == "atomic_cas":
            raise CannotSayError("a value of several")
        numbers.append(side.value(operand(effect.op, name), lanes))
    if numbers[0] == numbers[1]:
        return None
    return _lane_words(found.reference, at[0]), str(numbers[0]), str(numbers[1])


def _times(count: int) -> str:
    return "once" if count == 1 else f"{count} times"


def _access_words(here: Sequence[Touched]) -> tuple[str, str]:
    words = ["inactive" if not each.active else "active" for each in here]
    addresses = [each.address for each in here]
    if None not in addresses:
        words = [f"element {address}" for address in addresses]
    return words[0], words[1]


def _lane_words(effect: Effect, lanes: tuple[int, ...]) -> list[str]:
    shown = [str(lane) for lane, extent in zip(lanes, effect.shape, strict=True) if extent > 1]
    return [f"lane={shown[0] if len(shown) == 1 else '(' + ', '.join(shown) + ')'}"] if shown else []


def _lanes(
    again: Again, effect: Effect, mapping: Mapping[Term, Term], values: Mapping[Term, int]
) -> tuple[int, ...]:
    terms = again.terms
    found: list[int] = []
    for dim, extent in enumerate(effect.shape):
        leaf = terms.leaf("lane", dim, extent)
        term = mapping.get(leaf, leaf)
        known = {symbol: values.get(symbol, 0) for symbol in terms.symbols[term]}
        number = evaluate(terms, term, known) if extent > 1 else 0
        found.append(number or 0)
    return tuple(found)


def _names(terms: Any, blame: Blame, values: Mapping[Term, int]) -> list[str]:
    """The symbols that a person can set, in the order: sizes, grid, block, iterations."""
    order = {"arg": 0, "grid": 1, "block": 2, "iter": 3}
    found = sorted((order[terms.kind[s]], s, value) for s, value in values.items() if terms.kind[s] in order)
    return [f"{blame.show(s)}={value}" for _, s, value in found]
