"""Runs one side on given arrays."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from tileir_diff.equivalence.differential.plan import Pointer
from tileir_diff.equivalence.host import Shifted
from tileir_diff.equivalence.interpret import Prepared
from tileir_diff.equivalence.machine import TimeUp

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tileir_diff.dialect.ir import ModuleOp, TileOp
    from tileir_diff.equivalence.backend import Tensor
    from tileir_diff.equivalence.differential.plan import Plan
    from tileir_diff.equivalence.model import Finding, Limits
    from tileir_diff.equivalence.noise import Noise


class Ran(NamedTuple):
    """What one side did.

    `arrays`: the plan's arrays afterwards; `unsure`: by array the elements that are undetermined, None for
    none; `errors`: the first finding of each rule; `complete`: no block was stopped.
    """

    arrays: list[Tensor]
    unsure: list[Tensor | None]
    errors: dict[str, Finding]
    complete: bool


class Side:
    """One side of a comparison: 0 the reference, 1 the generated kernel."""

    def __init__(self, number: int, module: ModuleOp, entry: TileOp) -> None:
        self.number = number
        self.entry = entry
        self.prepared = Prepared(module, entry)
        self.names = [str(each.name_hint or at) for at, each in enumerate(entry.regions[0].block.args)]

    def arguments(self, plan: Plan, arrays: Sequence[Any]) -> list[Any]:
        """The values of the parameters, with these arrays."""
        found: list[Any] = []
        for slot in plan.slots(self.number):
            if not isinstance(slot, Pointer):
                found.append(slot)
            elif slot.array is None:
                found.append(None)
            else:
                offset = plan.arrays[slot.array].offset
                data = arrays[slot.array]
                found.append(Shifted(data, offset) if offset else data)
        return found

    def run(
        self,
        plan: Plan,
        contents: Sequence[Tensor],
        limits: Limits,
        *,
        noise: Noise | None = None,
        reach: dict[str, int] | None = None,
    ) -> Ran:
        """Runs on copies of the arrays. Raises TimeUp."""
        arrays = [each.clone() for each in contents]
        grid = plan.grids[self.number]
        run = self.prepared.run(self.arguments(plan, arrays), grid, limits, noise=noise, reach=reach)
        if run.spent:
            raise TimeUp
        errors: dict[str, Finding] = {}
        for finding in run.errors:
            errors.setdefault(finding.rule, finding)
        unsure: list[Tensor | None] = [None] * len(arrays)
        for name, slot in zip(self.names, plan.slots(self.number), strict=True):
            if name in run.undetermined and isinstance(slot, Pointer) and slot.array is not None:
                size = arrays[slot.array].element_size()
                mask = run.undetermined[name]
                mask = mask[: len(mask) // size * size].reshape(-1, size).any(dim=1)
                unsure[slot.array] = mask[: arrays[slot.array].numel()]
        return Ran(arrays, unsure, errors, run.complete)
