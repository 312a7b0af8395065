"""Two launches whose grids differ in size: whether blocks are left out or handled that the other has not."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tileir_diff.match.model import Difference, Site
from tileir_diff.match.repeats import AXES, counts, shared_axes

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tileir_diff.graph.kernel import Kernel
    from tileir_diff.match.launch import Launch
    from tileir_diff.match.search import Attempt


def both_single(launch: Launch) -> tuple[Launch, list[str]]:
    """The launch with an axis of one block on both sides where only one side's is given, as the index of a
    block is 0 then; and what the host must guarantee by that."""
    grids = [list(side.grid) for side in (launch.reference, launch.generated)]
    conditions: list[str] = []
    for axis, sizes in enumerate(zip(*grids, strict=True)):
        if set(sizes) == {1, None}:
            at = sizes.index(None)
            grids[at][axis] = 1
            open_, given = ("reference", "generated") if at == 0 else ("generated", "reference")
            conditions.append(f"{open_} grid.{AXES[axis]} = 1, like that of the {given}")
    reference, generated = (
        side._replace(grid=(x, y, z))
        for side, (x, y, z) in zip((launch.reference, launch.generated), grids, strict=True)
    )
    return launch._replace(reference=reference, generated=generated), conditions


def grid_sizes(
    attempt: Attempt,
    reference: Sequence[int | None],
    generated: Sequence[int | None],
    told: Sequence[Difference],
) -> Iterator[Difference]:
    """The axes along which one grid has more blocks, if those do something that nothing else does.

    A kernel that loops over all tiles in steps of the grid does the same in every grid. One that is ``told``
    to access another array may do so no more for this reason: its iterations then meet in this array.
    """
    if any(each.rule == "addressing/base" for each in told):
        return
    for axis, (expected, actual) in enumerate(zip(reference, generated, strict=True)):
        if expected is None or actual is None or expected == actual:
            continue
        larger = attempt.reference if expected > actual else attempt.generated
        if _busy_beyond(larger, axis, min(expected, actual)):
            ref, gen = (Site(kernel.entry, kernel.name) for kernel in (attempt.reference, attempt.generated))
            along = f"blocks along {AXES[axis]}"
            yield Difference("grid/size", ref, gen, f"{expected} {along}", f"{actual} {along}")


def _busy_beyond(kernel: Kernel, axis: int, size: int) -> bool:
    """Whether a block of index ``size`` or more does something on memory that the others have not done.

    An index of which there is one is a constant on the other side: what differs shows where it is used.
    """
    terms = kernel.terms
    block = terms.leaf("block", axis)
    further = terms.leaf("block", axis, "further")
    terms.set_range(further, (0, None))
    beyond = {block: terms.add(terms.atom(further), terms.const(size))}
    for effect in kernel.effects:
        fields = effect.guard, effect.mask, effect.pointer, *effect.values
        used = any(block in terms.symbols[term] for term in fields if term is not None)
        if (used and size == 1) or not (used or (counts(kernel, effect) and axis not in shared_axes(effect))):
            continue
        mask = terms.true if effect.mask is None else effect.mask
        reached = (terms.subst(condition, beyond) for condition in (effect.guard, mask))
        if terms.conjunction(reached) != terms.false:
            return True
    return False
