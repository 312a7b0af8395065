"""Which blocks run an iteration of a loop, where that is part of what the kernel does.

A store that two blocks make is one store. What an atomic adds, and what is updated in place, is done twice.
And of iterations that write the same element the last one counts: only one block runs them in order.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tileir_diff.graph.arrays import meet
from tileir_diff.graph.values import is_used
from tileir_diff.match.iterations import keep_apart

if TYPE_CHECKING:
    from tileir_diff.graph.kernel import Effect, Kernel, Loop
    from tileir_diff.graph.terms import Terms
    from tileir_diff.match.blame import Blame
    from tileir_diff.match.iterations import Apart
    from tileir_diff.match.model import Difference
    from tileir_diff.match.search import Attempt

SETTLING = frozenset({"and", "or", "max", "min", "umax", "umin"})
"""Modes of atomics that change nothing when the same argument comes again."""
WRITES = frozenset({"store", "atomic_rmw", "atomic_cas"})
MOVING = frozenset({"lane", "iter", "carry"})
"""Symbols whose value is another in another iteration, or on another lane."""
AXES = "xyz"


def counts(kernel: Kernel, effect: Effect) -> bool:
    """Whether memory is another when the effect takes place once more."""
    if effect.kind == "atomic_rmw":
        return effect.op.get("mode") not in SETTLING or _returns(effect)
    if effect.kind == "atomic_cas":
        return True
    if effect.kind != "store":
        return False
    read = {other.base for other in kernel.effects if other.kind not in ("store", "print", "assert", "fence")}
    unknown = effect.base not in kernel.arguments or not read <= set(kernel.arguments)
    return effect.base in read or (unknown and bool(read))


def _returns(effect: Effect) -> bool:
    """Whether something reads what an atomic has found."""
    return effect.op.short != "atomic_red_view_tko" and is_used(effect.op)


def shared_axes(effect: Effect) -> frozenset[int]:
    """The axes of the grid whose blocks share the iterations of a loop around the effect."""
    return frozenset(loop.shared for loop in effect.loops if loop.shared is not None)


def shared_loops(blame: Blame, attempt: Attempt) -> list[Difference]:
    """Loops that the blocks share on one side, and each block runs whole on the other.

    Around stores that may be made again, and in any order, this costs only.
    """
    found: dict[tuple[int, int], Difference] = {}
    sides = attempt.reference, attempt.generated
    grids = zip(*(each.grid for each in sides), strict=True)
    several = frozenset(axis for axis, sizes in enumerate(grids) if 1 not in sizes)
    for pair in attempt.match.pairs:
        ref, gen = pair.reference.effect, pair.generated.effect
        loops = zip(ref.loops, gen.loops, strict=True) if pair.equal else ()
        others = [each for each in loops if _shared(sides[0], each[0]) != _shared(sides[1], each[1])]
        if not others:
            continue
        meeting = next((each for loop, _ in others if (each := _meeting(attempt, ref, loop))), "")
        repeated = shared_axes(ref) & several != shared_axes(gen) & several
        matters = bool(meeting) or (repeated and (counts(sides[0], ref) or counts(sides[1], gen)))
        ours, theirs = others[0]
        if matters or (repeated and (ours.uid, theirs.uid) not in found):
            found[ours.uid, theirs.uid] = blame.make(
                "loop/step",
                ours.op,
                theirs.op,
                _words(sides[0], ours),
                _words(sides[1], theirs),
                impact=None if matters else "hint",
                note=meeting,
            )
    return list(found.values())


def _shared(kernel: Kernel, loop: Loop) -> int | None:
    """The axis along which several blocks share the iterations."""
    return None if loop.shared is None or kernel.grid[loop.shared] == 1 else loop.shared


def _meeting(attempt: Attempt, effect: Effect, loop: Loop) -> str:
    """What may access, in another iteration or outside the loop, what the effect writes; "" for nothing.

    Or what the loop reads, if each block writes only its own part of it outside the loop.
    """
    if effect.kind not in WRITES:
        return ""
    kernel = attempt.reference
    for read in (each for each in kernel.effects if loop in each.loops and each.kind == "load"):
        for other in (each for each in kernel.effects if each.kind in WRITES and loop not in each.loops):
            if is_used(read.op) and meet(read.arrays, other.arrays) and _by_block(kernel.terms, other):
                return (
                    f"line {other.op.span.line} writes outside the loop what line {read.op.span.line} reads"
                )
    for other in kernel.effects:
        if not meet(effect.arrays, other.arrays) or not _in_order(kernel.terms, effect, other):
            continue
        apart: list[Apart | None] = [None]
        if loop in other.loops and effect.base == other.base:
            pairs = (effect, other), (other, effect)
            apart = [keep_apart(kernel, *each, loop, anywhere=True) for each in pairs]
        if None in apart:
            where = "in another iteration" if loop in other.loops else "outside the loop"
            what = f"line {other.op.span.line} {'reads' if other.kind == 'load' else 'writes'}"
            return f"{what} {where} what line {effect.op.span.line} of the reference writes"
        if "assumed" in apart:
            kernel.assume(f"line {loop.op.span.line}: the iterations of the loop access different elements")
    return ""


def _by_block(terms: Terms, effect: Effect) -> bool:
    """Whether the blocks write other elements each."""
    if effect.pointer is None or shared_axes(effect):
        return True
    return any(terms.kind[symbol] == "block" for symbol in terms.symbols[effect.pointer])


def _in_order(terms: Terms, effect: Effect, other: Effect) -> bool:
    """Whether it is seen which of the two comes first where they access the same element."""
    if other.kind == "load":
        return is_used(other.op)
    if effect.kind == other.kind == "atomic_rmw":
        modes = {each.op.get("mode") for each in (effect, other)}
        return len(modes) > 1 or "xchg" in modes or _returns(effect) or _returns(other)
    if effect.kind == other.kind == "store" and effect.element == other.element:
        (value,) = effect.values
        return other.values != (value,) or any(terms.kind[leaf] in MOVING for leaf in terms.symbols[value])
    return other.kind in WRITES


def _words(kernel: Kernel, loop: Loop) -> str:
    if loop.shared is None:
        return "run by every block"
    shared = _shared(kernel, loop) is not None
    return f"shared by the blocks along {AXES[loop.shared]}" if shared else "run by one block"
