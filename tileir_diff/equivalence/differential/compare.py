"""Whether two sides did the same: what they stored, and what went wrong.

Integers and moved values must be equal. Rounded ones may differ by one unit of the stored type and by what
the arithmetic of the two sides leaves open, which runs with noise show: `SLACK` times as far as these move.
Zeros are equal whatever their sign, and NaNs whatever their bits.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final, NamedTuple

from tileir_diff.dialect.scalars import FORMATS, INTEGER_BITS
from tileir_diff.equivalence.backend import Tensor, torch
from tileir_diff.equivalence.dtypes import SMALL, raw, to_float

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from tileir_diff.equivalence.differential.plan import Array
    from tileir_diff.equivalence.differential.sides import Ran
    from tileir_diff.equivalence.model import Finding

    Sample = Callable[[int, int], Ran]
    """Runs a side with noise of this number."""

SLACK: Final = 4.0
FEW: Final = 3
SOME: Final = 6
MANY: Final = 16
"""Runs with noise before a difference is suspected, before one of most elements is told, and any other."""
MOST: Final = 0.2
ENOUGH: Final = 1000
"""Share of the elements whose bits differ, and how many, that more runs would not explain all."""
LARGE: Final = 0.05
"""A difference that is larger, of the value, is none of rounding, where that was shown before."""
GROSS: Final = 64.0
"""Times as much as would be a difference: more runs with noise would not explain it."""
UNCLEAR: Final = frozenset({"fold/associative", "fold/identity"})
"""Findings that are tried on few elements, and depend on rounding."""
SIDES: Final = ("reference", "generated")


class Mismatch(NamedTuple):
    """One place where the sides part.

    With `rule`: a finding of the interpreter that only `side` has. Else an element of an array, and what
    each side leaves there; None: it is undetermined.
    """

    array: str = ""
    place: int = 0
    reference: float | int | None = None
    generated: float | int | None = None
    number: int = 0
    """How many elements of the array differ."""
    elements: int = 0
    rule: str = ""
    side: int = 1
    finding: Finding | None = None
    limit: str = ""
    """The tolerance that was asked for, where that alone makes it a difference."""

    def kind(self) -> tuple[str, int, str]:
        """What stays the same while an input is made smaller."""
        return self.rule, self.side if self.rule else 0, self.array

    def alike(self, other: Mismatch) -> bool:
        """Whether this is the same thing to go wrong, if not at the same place."""
        ops = [None if each.finding is None else each.finding.op for each in (self, other)]
        return self.kind() == other.kind() and ops[0] is ops[1]

    def was_in(self, arrays: Sequence[Array], runs: Sequence[Ran]) -> bool:
        """Whether these runs left the same values at the element."""
        at = next(at for at, each in enumerate(arrays) if each.name == self.array)
        return all(
            value is None or str(_number(run, at, arrays[at], self.place)) == str(value)
            for value, run in zip((self.reference, self.generated), runs, strict=True)
        )

    @property
    def ratio(self) -> float:
        """How large the difference is, of the larger value; infinity for another kind of value."""
        a, b = self.reference, self.generated
        if a is None or b is None or not (math.isfinite(a) and math.isfinite(b)):
            return math.inf
        return abs(a - b) / max(abs(a), abs(b), 5e-324)

    def __str__(self) -> str:
        if self.finding is not None:
            other = SIDES[1 - self.side]
            where = f" in block {self.finding.block}" if self.finding.block else ""
            return (
                f"the {SIDES[self.side]} kernel at line {self.finding.line}{where}: {self.finding.message}; "
                f"the {other} does not"
            )
        place = f"{self.array}[{self.place}]"
        more = f" ({self.number} of {self.elements} elements differ)" if self.number > 1 else ""
        a, b = (_shown(value) for value in (self.reference, self.generated))
        if a == b:
            a, b = repr(self.reference), repr(self.generated)
        return f"stores {b} at {place} where the reference stores {a}{more}{self.limit}"


def _shown(value: float | int | None) -> str:
    if value is None:
        return "an undetermined value"
    return f"{value:.9g}" if isinstance(value, float) else str(value)


def one_sided(reference: Ran, generated: Ran) -> Mismatch | None:
    """An error of one side that the other lacks; the generated side's first."""
    for side, own, other in ((1, generated, reference), (0, reference, generated)):
        for rule, finding in own.errors.items():
            if rule not in UNCLEAR and rule not in other.errors:
                return Mismatch(rule=rule, side=side, finding=finding)
    return None


def mismatch(
    arrays: Sequence[Array], reference: Ran, generated: Ran, sample: Sample, most: int = MANY
) -> Mismatch | None:
    """The first difference of two runs on one input.

    `sample` runs both with noise, at most `most` times; for 0 only large differences count.
    """
    found = one_sided(reference, generated)
    if found is not None:
        return found
    suspects: list[_Suspects] = []
    for at, array in enumerate(arrays):
        different = _different(array, at, reference, generated)
        if different is not None and bool(different.any()):
            suspects.append(_Suspects(array, at, (reference, generated), torch.nonzero(different)[:, 0]))
    if most == 0:
        for each in suspects:
            each.keep(each.large())
    else:
        _explain(arrays, (reference, generated), sample, most, suspects)
    first = next((each for each in suspects if len(each.places)), None)
    return None if first is None else _first(first.array, first.at, reference, generated, first.places)


def _explain(
    arrays: Sequence[Array], plain: tuple[Ran, Ran], sample: Sample, most: int, suspects: list[_Suspects]
) -> None:
    """Drops the suspects that runs with noise explain; may stop before all of them are tried."""
    if not suspects:
        return
    counts = [len(each.places) for each in suspects]
    rounded = False
    done = 0
    for rounds in (FEW, min(SOME, most), most):
        while done < rounds:
            # At first the reference alone: its arithmetic is mostly that of both.
            noisy = (sample(0, done), sample(1, done)) if done >= FEW else (sample(0, done),)
            for each in suspects:
                each.widen(noisy)
                rounded = rounded or _moved(arrays, each.at, plain, noisy)
            done += 1
        left = [~each.within(rounded) for each in suspects]
        gross = any(
            bool((out & ~each.within(True, GROSS)).any())
            or (done >= SOME and int(out.sum()) >= max(ENOUGH, MOST * count))
            for each, out, count in zip(suspects, left, counts, strict=True)
        )
        if (
            gross
            or rounds == most
            or (done > FEW and not rounded)
            or not any(bool(out.any()) for out in left)
        ):
            for each, out in zip(suspects, left, strict=True):
                each.keep(out)
            return


def beyond(
    arrays: Sequence[Array], reference: Ran, generated: Ran, tolerance: Mapping[str, tuple[float, float]]
) -> Mismatch | None:
    """The first difference of more than atol + rtol * |reference|, by array; whatever rounding explains."""
    for at, array in enumerate(arrays):
        if array.name not in tolerance:
            continue
        rtol, atol = tolerance[array.name]
        a, b = _numbers(reference.arrays[at], array), _numbers(generated.arrays[at], array)
        off = (a - b).abs()
        inside = torch.isfinite(off) & (off <= atol + rtol * a.abs())
        inside |= (a == b) | (torch.isnan(a) & torch.isnan(b))
        for mask in (reference.unsure[at], generated.unsure[at]):
            if mask is not None:
                inside |= _fitted(mask, inside)
        if not bool(inside.all()):
            found = _first(array, at, reference, generated, torch.nonzero(~inside)[:, 0])
            return found._replace(limit=f", beyond rtol {rtol:g} and atol {atol:g}")
    return None


def _different(array: Array, at: int, reference: Ran, generated: Ran) -> Tensor | None:
    """Elements whose bits differ, but for NaN and the sign of zero, or of which one is undetermined."""
    a, b = reference.arrays[at], generated.arrays[at]
    unsure = reference.unsure[at], generated.unsure[at]
    different = raw(a, array.element) != raw(b, array.element)
    if unsure == (None, None) and not bool(different.any()):
        return None
    if array.element not in INTEGER_BITS:
        x, y = _numbers(a, array), _numbers(b, array)
        different &= ~((x == y) | (torch.isnan(x) & torch.isnan(y)))
    none = torch.zeros(different.shape, dtype=torch.bool)
    doubt_a, doubt_b = (none if mask is None else _fitted(mask, none) for mask in unsure)
    return (different & ~doubt_a & ~doubt_b) | (doubt_a ^ doubt_b)


def _fitted(mask: Tensor, like: Tensor) -> Tensor:
    """The mask with as many elements as the array."""
    if len(mask) == len(like):
        return mask
    whole = torch.zeros_like(like)
    whole[: len(mask)] = mask[: len(like)]
    return whole


def _numbers(tensor: Tensor, array: Array) -> Tensor:
    """The elements in f64."""
    return (to_float(tensor, array.element) if array.element in SMALL else tensor).double()


def _moved(arrays: Sequence[Array], at: int, plain: tuple[Ran, Ran], noisy: tuple[Ran, ...]) -> bool:
    """Whether noise moved anything in an array that is not undetermined."""
    for side, other in enumerate(noisy):
        changed = _different(arrays[at], at, plain[side], other)
        for mask in (plain[side].unsure[at], other.unsure[at]):
            if changed is not None and mask is not None:
                changed &= ~_fitted(mask, changed)
        if changed is not None and bool(changed.any()):
            return True
    return False


class _Suspects:
    """Elements of an array in which two runs differ, and how far noise moves them."""

    def __init__(self, array: Array, at: int, plain: tuple[Ran, Ran], places: Tensor) -> None:
        self.array, self.at, self.places = array, at, places
        self.plain = tuple(self._numbers(run) for run in plain)
        self.size = torch.maximum(*(each.abs() for each in self.plain))
        self.off = _distance(*self.plain)
        self.unsure = torch.zeros(places.shape, dtype=torch.bool)
        for run in plain:
            self.unsure |= self._unsure(run)
        self.spread = torch.zeros(places.shape, dtype=torch.float64)
        self.low, self.high = list(self.plain), list(self.plain)
        """By side the least and the largest values of an element, with noise and without."""

    def _numbers(self, run: Ran) -> Tensor:
        return _numbers(run.arrays[self.at][self.places], self.array)

    def _unsure(self, run: Ran) -> Tensor:
        mask = run.unsure[self.at]
        none = torch.zeros(self.array.elements, dtype=torch.bool)
        return (none if mask is None else _fitted(mask, none))[self.places]

    def widen(self, noisy: tuple[Ran, ...]) -> None:
        """Adds how far runs with noise are off, of the reference and perhaps the other side."""
        total = torch.zeros_like(self.spread)
        for side, run in enumerate(noisy):
            before = self.plain[side]
            values = torch.where(self._unsure(run), before, self._numbers(run))
            total += _distance(before, values) * (2 / len(noisy))
            self.low[side] = torch.minimum(self.low[side], values)
            self.high[side] = torch.maximum(self.high[side], values)
        self.spread = torch.maximum(self.spread, total)

    def within(self, rounded: bool, times: float = 1.0) -> Tensor:
        """Which ones rounding explains, or so many times as much would."""
        if self.array.element in INTEGER_BITS:
            # An index of what is nearly equal jumps, but to where the other side's jumps too.
            meet = (self.low[0] <= self.high[1]) & (self.low[1] <= self.high[0])
            inside = (self.spread > 0) & (meet | (self.off <= SLACK * self.spread))
            if times > 1:
                inside |= self.off < times
        else:
            floor = _unit(self.size, self.array.element) if rounded else 0.0
            inside = self.off <= times * (floor + SLACK * self.spread)
        return inside & ~self.unsure

    def large(self) -> Tensor:
        """Which ones are too far off for rounding, where that was shown before."""
        size = torch.nan_to_num(self.size, nan=0.0, posinf=0.0)
        return (self.off > LARGE * size) | self.unsure

    def keep(self, chosen: Tensor) -> None:
        """Goes on with some of them, after the last run with noise."""
        self.places = self.places[chosen]


def _distance(a: Tensor, b: Tensor) -> Tensor:
    """How far numbers are apart: not at all where both are NaN, infinitely where one alone is finite."""
    same = (a == b) | (torch.isnan(a) & torch.isnan(b))
    return torch.where(same, 0.0, torch.nan_to_num((a - b).abs(), nan=math.inf, posinf=math.inf))


def _unit(size: Tensor, name: str) -> Tensor:
    """A unit in the last place of numbers of this size."""
    layout = FORMATS[name]
    _, exponent = torch.frexp(torch.where(torch.isfinite(size), size, 0.0))
    exponent = torch.clamp(exponent - 1, min=1 - layout.bias)
    return torch.ldexp(torch.ones_like(size), exponent - layout.mantissa_bits)


def _number(run: Ran, at: int, array: Array, place: int) -> float | int:
    return to_float(run.arrays[at], array.element)[place].item()


def _first(array: Array, at: int, reference: Ran, generated: Ran, places: Tensor) -> Mismatch:
    """The element of the largest difference, of the first ones of these places."""
    values: list[float | int | None] = []
    a, b = (_numbers(run.arrays[at][places[:256]], array) for run in (reference, generated))
    off = torch.nan_to_num((a - b).abs(), nan=math.inf, posinf=math.inf)
    index = int(places[int(torch.argmax(off))])
    for run in (reference, generated):
        mask = run.unsure[at]
        doubtful = mask is not None and index < len(mask) and bool(mask[index])
        values.append(None if doubtful else _number(run, at, array, index))
    return Mismatch(array.name, index, values[0], values[1], len(places), array.elements)
