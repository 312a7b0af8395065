"""Effects that count each time: how often one takes place over all blocks is part of what the kernel does.

A store that two blocks make is one store. What an atomic adds, and what is updated in place, is done twice.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tileir_diff.graph.values import is_used

if TYPE_CHECKING:
    from tileir_diff.graph.kernel import Effect, Kernel, Loop
    from tileir_diff.match.blame import Blame
    from tileir_diff.match.model import Difference
    from tileir_diff.match.search import Attempt

SETTLING = frozenset({"and", "or", "max", "min", "umax", "umin"})
"""Modes of atomics that change nothing when the same argument comes again."""
AXES = "xyz"


def counts(kernel: Kernel, effect: Effect) -> bool:
    """Whether memory is another when the effect takes place once more."""
    if effect.kind == "atomic_rmw":
        returns = effect.op.short != "atomic_red_view_tko"
        return effect.op.get("mode") not in SETTLING or (returns and is_used(effect.op))
    if effect.kind == "atomic_cas":
        return True
    if effect.kind != "store":
        return False
    read = {other.base for other in kernel.effects if other.kind not in ("store", "print", "assert", "fence")}
    unknown = effect.base not in kernel.arguments or not read <= set(kernel.arguments)
    return effect.base in read or (unknown and bool(read))


def shared_axes(effect: Effect) -> frozenset[int]:
    """The axes of the grid whose blocks share the iterations of a loop around the effect."""
    return frozenset(loop.shared for loop in effect.loops if loop.shared is not None)


def shared_loops(blame: Blame, attempt: Attempt) -> list[Difference]:
    """Loops that the blocks share on one side, and each block runs whole on the other.

    Around stores that may be made again, this costs only.
    """
    found: dict[tuple[int, int], Difference] = {}
    grids = zip(attempt.reference.grid, attempt.generated.grid, strict=True)
    several = frozenset(axis for axis, sizes in enumerate(grids) if 1 not in sizes)
    for pair in attempt.match.pairs:
        ref, gen = pair.reference.effect, pair.generated.effect
        if not pair.equal or shared_axes(ref) & several == shared_axes(gen) & several:
            continue
        counted = counts(attempt.reference, ref) or counts(attempt.generated, gen)
        ours, theirs = next(
            loops for loops in zip(ref.loops, gen.loops, strict=True) if loops[0].shared != loops[1].shared
        )
        if counted or (ours.uid, theirs.uid) not in found:
            found[ours.uid, theirs.uid] = blame.make(
                "loop/step",
                ours.op,
                theirs.op,
                _words(ours),
                _words(theirs),
                impact=None if counted else "hint",
            )
    return list(found.values())


def _words(loop: Loop) -> str:
    return "run by every block" if loop.shared is None else f"shared by the blocks along {AXES[loop.shared]}"
