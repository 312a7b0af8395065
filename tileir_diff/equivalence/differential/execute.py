"""One pair of entries on many inputs."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, NamedTuple

from tileir_diff.equivalence.backend import Tensor, torch
from tileir_diff.equivalence.clock import Stopwatch
from tileir_diff.equivalence.differential.compare import FEW, LARGE, MANY, Mismatch, beyond, mismatch
from tileir_diff.equivalence.differential.launches import INVALID, ITERATIONS, misaligned
from tileir_diff.equivalence.differential.shrink import shrink
from tileir_diff.equivalence.differential.values import (
    EDGES,
    FLOATS,
    OUTSIDE,
    Recipe,
    constants_of,
    fill,
    is_float,
    recipes,
)
from tileir_diff.equivalence.machine import TimeUp
from tileir_diff.equivalence.model import Limits
from tileir_diff.equivalence.noise import Noise, shared_types

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from tileir_diff.equivalence.differential.plan import Plan
    from tileir_diff.equivalence.differential.sides import Ran, Side

ASTRAY: Final = ("bounds/", "memory/")
"""Errors of one that leaves its arrays."""
UNTOLD: Final = ("race/", "undetermined/")
"""Errors of the reference by which integers are too large to tell much: fewer results are determined."""
LARGE_RULES: Final = ((*INVALID, *UNTOLD), (*ASTRAY, "loop/"))
"""Errors of either side by which integers are too large, where it does not make them otherwise."""
LEVELS: Final = (4, 16, 64, 256, 1024, 1 << 16)
"""How large integers in arrays may get, as far as both sides stay within their arrays; sizes
among the arguments are tried too."""
SIZES: Final = (1, 3, 8, 24, 72, 216)
"""Sizes that are tried, the smallest first, where a difference is made small."""
MOST_INDICES: Final = 1 << 24
LEVELS_SHARE: Final = 0.7
"""Part of the time for one pair that is left when no larger integers are tried any more."""
SHRINK_SHARE: Final = 0.5
"""Part of the time for one pair that making an input small may take."""


class Found(NamedTuple):
    """An input on which the sides differ: the launch, what is in the arrays, how it was made."""

    plan: Plan
    contents: list[Tensor]
    recipe: Recipe
    mismatch: Mismatch


class Tested(NamedTuple):
    """What running one pair gave. `runs`: on how many inputs; `unusable`: inputs that the reference does not
    take; `kinds`: of numbers; `why`: it ended before all runs were made."""

    found: Found | None
    runs: int
    unusable: int
    kinds: tuple[str, ...]
    why: str


@dataclass
class Tried:
    """What running one pair has given so far."""

    found: Found | None = None
    runs: int = 0
    unusable: int = 0
    kinds: dict[str, None] = field(default_factory=dict[str, None])


class Pair:
    """Two entries, ready to run."""

    def __init__(
        self, reference: Side, generated: Side, seed: int, seconds: float, small: bool = True
    ) -> None:
        self.sides = reference, generated
        self.seed = seed
        self.watch = Stopwatch()
        self.seconds = seconds
        self.small = small
        self.recent: dict[object, Ran] = {}
        """What the reference did last, by the input."""
        self.filled: dict[object, list[Tensor]] = {}
        """The arrays that were made last, by the input."""
        self.reach = True
        """Whether the comparison leaves open that the sides reach different memory."""
        self.tolerance: Mapping[str, tuple[float, float]] = {}
        """What ordinary numbers must keep besides: rtol and atol by array."""
        self.types = shared_types(reference.entry, generated.entry)
        self.constants = constants_of(reference.entry, generated.entry)
        self.usual: dict[Plan, frozenset[str]] = {}
        self.levels: dict[tuple[Plan, int], int] = {}
        self.smaller: Callable[[Plan, int], Plan | None] = lambda plan, most: None
        """A launch like one that was made up, no size above `most`; None where there is none."""

    def left(self) -> float:
        """Seconds that are left."""
        return self.seconds - self.watch.spent()

    def limits(self, reserve: float = 0.0, iterations: int = Limits().iterations) -> Limits:
        """For one run; a share of all the time stays unspent. Raises TimeUp where no time is left."""
        seconds = self.left() - reserve * self.seconds
        if seconds <= 0:
            raise TimeUp
        return Limits(seconds=seconds, iterations=iterations)

    # ---- one input

    def check(
        self,
        plan: Plan,
        contents: list[Tensor],
        usual: frozenset[str],
        most: int = MANY,
        known: Ran | None = None,
        tolerance: Mapping[str, tuple[float, float]] | None = None,
        iterations: int = Limits().iterations,
    ) -> Mismatch | str | None:
        """The difference on one input; a text: why it does not count. `most`: as `mismatch` takes it.

        `known`: what the reference does, where it ran already; `tolerance`: as `beyond` takes it;
        `iterations`: after which a loop counts as endless. Raises TimeUp.
        """
        reference = known or self.sides[0].run(plan, contents, self.limits(iterations=iterations))
        unusable = [rule for rule in reference.errors if rule.startswith(INVALID) and rule not in usual]
        if unusable:
            return unusable[0]
        generated = self.sides[1].run(plan, contents, self.limits(iterations=iterations))

        def sample(side: int, number: int) -> Ran:
            noise = Noise(self.seed * 1000 + number, self.types)
            return self.sides[side].run(plan, contents, self.limits(), noise=noise)

        found = mismatch(plan.arrays, reference, generated, sample, most)
        return found or beyond(plan.arrays, reference, generated, tolerance or {})

    # ---- many inputs

    def test(self, plans: list[Plan], runs: int) -> Tested:
        """Runs until a difference is found, or all inputs were tried, or the time is up."""
        tried = Tried()
        why = ""
        try:
            self._try(plans, runs, tried)
        except TimeUp:
            missing = runs - tried.runs - tried.unusable
            why = f"the time was up, {missing} of {runs} inputs were not run"
        found = tried.found
        if found is not None and self.small:
            found = self._small(found)
        return Tested(found, tried.runs, tried.unusable, tuple(tried.kinds), why)

    def _try(self, plans: list[Plan], runs: int, tried: Tried) -> None:
        """Raises TimeUp."""
        for plan, recipe in self._inputs(plans, runs):
            if tried.found is not None and recipe.special:
                continue  # one difference with special numbers is enough; ordinary ones would tell more
            if tried.found is not None and self.left() <= self.seconds * SHRINK_SHARE:
                return
            contents = self.contents(plan, recipe)
            known = self.recent.pop(self._key(plan, recipe), None)
            tolerance = self.tolerance if set(recipe.kinds) == {"ordinary"} else None
            outside = not OUTSIDE.isdisjoint(recipe.kinds)
            iterations = ITERATIONS if outside else Limits().iterations
            result = self.check(
                plan, contents, self.usual[plan], known=known, tolerance=tolerance, iterations=iterations
            )
            if isinstance(result, Mismatch) and outside and not self._counts(result):
                result = result.rule
            if isinstance(result, str):
                tried.unusable += 1
                continue
            tried.runs += 1
            tried.kinds.update(dict.fromkeys(recipe.kinds))
            if result is not None and (tried.found is None or not recipe.special):
                tried.found = Found(plan, contents, recipe, result)
                if not recipe.special or result.rule:
                    return

    def _key(self, plan: Plan, recipe: Recipe) -> object:
        return plan, recipe, tuple(self.levels.get((plan, at)) for at in range(len(plan.arrays)))

    def _counts(self, mismatch: Mismatch) -> bool:
        """Whether a difference counts that integers out of range show: nothing says that they are passed.

        If the sides may reach different memory, it does that one leaves its arrays.
        """
        return not mismatch.rule.startswith(INVALID) or (self.reach and mismatch.rule.startswith(ASTRAY))

    def contents(self, plan: Plan, recipe: Recipe) -> list[Tensor]:
        key = self._key(plan, recipe)
        if key not in self.filled:
            self.filled = {key: [
                fill(array, kind, self.levels.get((plan, at), 2), recipe.seed, self.constants)
                for at, (array, kind) in enumerate(zip(plan.arrays, recipe.kinds, strict=True))
            ]}  # fmt: skip
        return self.filled[key]

    def _inputs(self, plans: list[Plan], runs: int) -> Iterator[tuple[Plan, Recipe]]:
        """`runs` inputs: all plans with ordinary numbers, then kinds of numbers in turn over the plans."""
        count = len(plans[0].arrays)
        listed = recipes(plans[0].arrays, self.seed)
        made = 0
        for plan in plans:
            self._learn(plan)
            yield plan, listed[0]
            made += 1
        for number, recipe in enumerate(listed[1:]):
            if made >= runs:
                return
            yield plans[number % len(plans)], recipe
            made += 1
        chance = torch.Generator().manual_seed(self.seed)
        names = [*FLOATS]
        while made < runs:
            picks: list[int] = torch.randint(0, len(names), (count,), generator=chance).tolist()
            plain = made % 2 == 0
            kinds = [names[pick] for pick in picks]
            kinds = ["ordinary" if plain and kind in EDGES else kind for kind in kinds]
            yield plans[made % len(plans)], Recipe(tuple(kinds), self.seed + made)
            made += 1

    def _learn(self, plan: Plan) -> None:
        """What the reference always does with this launch, and how large integers in arrays may get.

        Raises TimeUp.
        """
        if plan in self.usual:
            return
        recipe = Recipe(("ordinary",) * len(plan.arrays), self.seed)
        integers = [
            at for at, array in enumerate(plan.arrays) if not is_float(array.element) and array.elements
        ]
        first = self._errors(plan, recipe, 0, INVALID)
        if first and integers:
            for at in integers:
                self.levels[plan, at] = 1
            first = self._errors(plan, recipe, 0, INVALID)
        self.usual[plan] = first
        if not integers:
            return
        usual = tuple([self._errors(plan, recipe, side, rules) for side, rules in enumerate(LARGE_RULES)])
        with contextlib.suppress(TimeUp):  # the levels that were found so far will do
            for at in integers:
                levels = sorted({*LEVELS, *_sizes(plan)})
                if self._fits(plan, recipe, at, levels[-1], usual):
                    continue
                # where one fits, smaller ones mostly do
                low, high = 0, len(levels) - 1
                while low < high:
                    middle = (low + high) // 2
                    if self._fits(plan, recipe, at, levels[middle], usual):
                        low = middle + 1
                    else:
                        high = middle

    def _fits(
        self,
        plan: Plan,
        recipe: Recipe,
        at: int,
        level: int,
        usual: tuple[frozenset[str], ...],
    ) -> bool:
        """Whether both sides take integers below `level` in an array; then they get them from now on.

        Raises TimeUp.
        """
        before = self.levels.get((plan, at), 2)
        self.levels[plan, at] = level
        fits = False
        try:
            limits = self.limits(LEVELS_SHARE, ITERATIONS)
            fits = all(
                self._errors(plan, recipe, side, rules, limits) <= usual[side]
                for side, rules in enumerate(LARGE_RULES)
            )
        finally:
            if not fits:
                self.levels[plan, at] = before
        return fits

    def _errors(
        self, plan: Plan, recipe: Recipe, side: int, rules: tuple[str, ...], limits: Limits | None = None
    ) -> frozenset[str]:
        """Errors of these rules that a side makes. Raises TimeUp."""
        key = self._key(plan, recipe)
        ran = None if side else self.recent.get(key)
        if ran is None:
            ran = self.sides[side].run(plan, self.contents(plan, recipe), limits or self.limits())
        if side == 0:
            self.recent = {key: ran}
        return frozenset(rule for rule in ran.errors if rule.startswith(rules))

    def _small(self, found: Found) -> Found:
        """The difference with smaller arrays, fewer blocks and fewer elements, as far as the time goes."""
        with contextlib.suppress(TimeUp):
            found = self._with_small_sizes(found)
        with contextlib.suppress(TimeUp):
            found = self._with_few_blocks(found)
        return self._with_few_elements(found)

    def _with_small_sizes(self, found: Found) -> Found:
        """Raises TimeUp."""
        for most in SIZES:
            plan = self.smaller(found.plan, most)
            if plan is None:
                continue
            self._learn(plan)
            contents = self.contents(plan, found.recipe)
            shown = self.check(plan, contents, self.usual[plan])
            if isinstance(shown, Mismatch) and shown.alike(found.mismatch):
                return Found(plan, contents, found.recipe, shown)
        return found

    def _with_few_blocks(self, found: Found) -> Found:
        """Keeps the first blocks along each axis, where the difference that they show was there before.

        With fewer blocks the sides may differ otherwise: blocks that do the same need not have the same
        number on both sides. Raises TimeUp.
        """
        if found.plan.grids[0] != found.plan.grids[1]:
            return found
        before = [side.run(found.plan, found.contents, self.limits()) for side in self.sides]
        usual, what = self.usual[found.plan], found.plan.what
        for axis in range(3):
            count = 1
            while count < found.plan.grids[0][axis]:
                plan = found.plan.with_blocks(axis, count)._replace(what=f"{what}, fewer blocks")
                shown = self.check(plan, found.contents, usual)
                if (
                    isinstance(shown, Mismatch)
                    and shown.alike(found.mismatch)
                    and (shown.rule or shown.was_in(plan.arrays, before))
                ):
                    self.usual[plan] = usual
                    found = found._replace(plan=plan, mismatch=shown)
                    break
                count *= 2
        return found

    def _with_few_elements(self, found: Found) -> Found:
        usual = self.usual[found.plan]

        usually = 0 if found.mismatch.rule or found.mismatch.ratio > 2 * LARGE else 2 * FEW

        def again(trial: list[Tensor], most: int = usually) -> Mismatch | None:
            try:
                result = self.check(found.plan, trial, usual, most)
            except TimeUp:
                return None
            return None if isinstance(result, str) else result

        contents, shown = shrink(found.contents, found.mismatch, again, self.left() * SHRINK_SHARE)
        sure = again(contents, MANY)
        return found if sure is None else found._replace(contents=contents, mismatch=shown)


def _sizes(plan: Plan) -> set[int]:
    """Integers among the arguments that may be sizes of what is indexed."""
    return {slot for slot in plan.reference if isinstance(slot, int) and 4 < slot < MOST_INDICES}


def with_misaligned(pair: Pair, plans: list[Plan]) -> list[Plan]:
    """The plans, and the first with its arrays no better aligned than the reference is promised."""
    other = misaligned(pair.sides, plans[0])
    return plans if other is None else [*plans, other]
