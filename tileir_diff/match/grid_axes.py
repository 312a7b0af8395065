"""Two axes of the grid that are exchanged: one reason for all that is then found."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tileir_diff.graph.kernel import Kernel
    from tileir_diff.graph.terms import Term
    from tileir_diff.match.blame import Blame, Op
    from tileir_diff.match.effects import EffectPair
    from tileir_diff.match.model import Difference
    from tileir_diff.match.search import Attempt

AXES = "xyz"


def exchanged_axes(blame: Blame, attempt: Attempt) -> list[Difference]:
    """The one finding where the unequal effects are equal with two axes exchanged; else []."""
    unequal = [pair for pair in attempt.match.pairs if not pair.equal]
    if not unequal:
        return []
    terms = blame.terms
    for first, second in combinations(range(3), 2):
        x, y = terms.leaf("block", first), terms.leaf("block", second)
        swap = {x: terms.atom(y), y: terms.atom(x)}
        if not all(_equal_under(blame, pair, swap) and _uses(blame, pair, x, y) for pair in unequal):
            continue
        ops = _index_op(attempt.reference), _index_op(attempt.generated)
        names = f"block.{AXES[first]}", f"block.{AXES[second]}"
        return [blame.make("grid/axis", *ops, ", ".join(names), ", ".join(names[::-1]))]
    return []


def _equal_under(blame: Blame, pair: EffectPair, swap: dict[Term, Term]) -> bool:
    gen = pair.generated

    def swapped(term: Term) -> Term:
        return blame.terms.subst(term, swap)

    changed = replace(
        gen,
        trips=tuple(map(swapped, gen.trips)),
        pointer=None if gen.pointer is None else swapped(gen.pointer),
        condition=swapped(gen.condition),
        values=tuple(map(swapped, gen.values)),
    )
    return pair.reference.key() == changed.key()


def _uses(blame: Blame, pair: EffectPair, x: Term, y: Term) -> bool:
    """Whether the reference uses both axes; else one is taken for the other, and its use is the place."""
    pointer = pair.reference.pointer
    return pointer is not None and {x, y} <= blame.terms.symbols[pointer]


def _index_op(kernel: Kernel) -> Op:
    """The op that gives the indices of a block: the first one."""
    return next((op for op in kernel.ops if op.short == "get_tile_block_id"), None)
