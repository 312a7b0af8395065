"""What shows even where two effects are too unlike to be compared: the blocks, and the functions computed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tileir_diff.graph.values import ops_within
from tileir_diff.match.sites import text

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tileir_diff.dialect.ir import TileOp
    from tileir_diff.graph.kernel import Effect, Kernel
    from tileir_diff.graph.terms import Term, Terms
    from tileir_diff.match.blame import Blame
    from tileir_diff.match.model import Difference

FUNCTIONS: dict[str, frozenset[str]] = {
    **dict.fromkeys(("exp", "exp2", "sinh", "cosh", "tanh"), frozenset({"exponential"})),
    **dict.fromkeys(("log", "log2"), frozenset({"logarithm"})),
    **dict.fromkeys(("sqrt", "rsqrt"), frozenset({"root"})),
    "pow": frozenset({"exponential", "logarithm", "root"}),
    "tan": frozenset({"sin", "cos"}),
    "sin": frozenset({"sin"}),
    "cos": frozenset({"cos"}),
}
"""By op, what it computes; two ops of one kind may stand for each other, of two kinds never."""


def uncompared(blame: Blame, ref: Effect, gen: Effect) -> list[Difference]:
    """Other blocks than those of the reference's effect, or functions that the reference computes nowhere."""
    return other_blocks(blame, ref, gen) + other_functions(blame)


def other_blocks(blame: Blame, ref: Effect, gen: Effect) -> list[Difference]:
    """An address that depends on none of the axes of the grid that the reference's depends on."""
    axes = _axes(blame, ref), _axes(blame, gen)
    if not axes[0] or axes[0] & axes[1]:
        return []
    return [blame.make("grid/axis", ref.op, gen.op, *map(_named, axes), part="index")]


def other_functions(blame: Blame) -> list[Difference]:
    """A function that nothing in the reference can spell."""
    ours, theirs = _functions(blame.reference), _functions(blame.generated)
    ref_kinds, gen_kinds = ({kind for op in ops for kind in FUNCTIONS[op.short]} for ops in (ours, theirs))
    strange = next((op for op in theirs if not FUNCTIONS[op.short] & ref_kinds), None)
    if strange is None:
        return []
    lost = next((op for op in ours if not FUNCTIONS[op.short] & gen_kinds), None)
    lost = lost or next((op for op in ours if len(_alike(ours, op)) > len(_alike(theirs, op))), None)
    expected = "never does" if lost is None else text(lost)
    return [blame.make("arithmetic/op", lost, strange, expected, text(strange))]


def _axes(blame: Blame, effect: Effect) -> set[int]:
    """The axes of the grid that the address of an effect depends on, by its loops too."""
    terms = blame.terms
    behind = [] if effect.pointer is None else [effect.pointer]
    axes: set[int] = set()
    for loop in effect.loops:
        behind += [loop.lower, *(each for carry in loop.carries for each in (carry.init, carry.next))]
        if loop.shared is not None:
            axes.add(loop.shared)
    return axes | axes_of(terms, behind)


def axes_of(terms: Terms, behind: Iterable[Term]) -> set[int]:
    """The axes of the grid on which terms depend."""
    leaves = {leaf for term in behind for leaf in terms.symbols[term] if terms.kind[leaf] == "block"}
    return {terms.attr[leaf][0] for leaf in leaves}


def _named(axes: set[int]) -> str:
    return " and ".join(f"block.{'xyz'[axis]}" for axis in sorted(axes)) or "no block id that varies"


def _functions(kernel: Kernel) -> list[TileOp]:
    """The ops of a kernel that compute a function, in the order of the dump."""
    return [op for op in ops_within(kernel.entry) if op.short in FUNCTIONS]


def _alike(ops: list[TileOp], one: TileOp) -> list[TileOp]:
    return [op for op in ops if op.short == one.short]
