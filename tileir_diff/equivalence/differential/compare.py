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
    suspects: dict[int, Tensor] = {}
    for at, array in enumerate(arrays):
        suspect = _different(array, at, reference, generated)
        if suspect is not None and bool(suspect.any()):
            suspects[at] = suspect
    if most == 0:
        for at in list(suspects):
            suspects[at] = suspects[at] & _is_large(arrays[at], at, reference, generated)
            if not bool(suspects[at].any()):
                del suspects[at]
    if not suspects:
        return None
    if most == 0:
        at = min(suspects)
        return _first(arrays[at], at, reference, generated, suspects[at])
    spread = {at: torch.zeros(suspect.shape, dtype=torch.float64) for at, suspect in suspects.items()}
    counts = {at: int(suspect.sum()) for at, suspect in suspects.items()}
    rounded = False
    done = 0
    for rounds in (FEW, min(SOME, most), most):
        while done < rounds:
            # At first the reference alone: its arithmetic is mostly that of both.
            noisy = (sample(0, done), sample(1, done)) if done >= FEW else (sample(0, done),)
            rounded = _widen(arrays, (reference, generated), noisy, spread) or rounded
            done += 1
        gross = False
        for at in list(suspects):
            left = suspects[at] & ~_within(arrays[at], at, reference, generated, spread[at], rounded)
            if not bool(left.any()):
                del suspects[at]
                continue
            far = _within(arrays[at], at, reference, generated, spread[at], True, GROSS)
            gross = gross or bool((left & ~far).any())
            if done >= SOME and int(left.sum()) >= max(ENOUGH, MOST * counts[at]):
                gross = True
        if not suspects:
            return None
        if gross or (done > FEW and not rounded):
            break
    at = min(suspects)
    left = suspects[at] & ~_within(arrays[at], at, reference, generated, spread[at], rounded)
    return _first(arrays[at], at, reference, generated, left)


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
            found = _first(array, at, reference, generated, ~inside)
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


def _widen(
    arrays: Sequence[Array], plain: tuple[Ran, Ran], noisy: tuple[Ran, ...], spread: dict[int, Tensor]
) -> bool:
    """Adds how far a run with noise is off; whether anything moved anywhere."""
    moved = False
    for at, widest in spread.items():
        total = torch.zeros_like(widest)
        for side, other in enumerate(noisy):
            before, after = (_numbers(run.arrays[at], arrays[at]) for run in (plain[side], other))
            same = (before == after) | (torch.isnan(before) & torch.isnan(after))
            off = torch.nan_to_num((before - after).abs(), nan=math.inf, posinf=math.inf)
            off = torch.where(same, 0.0, off)
            mask = other.unsure[at]
            if mask is not None:
                off = torch.where(_fitted(mask, same), 0.0, off)
            total = total + off * (2 / len(noisy))
        spread[at] = torch.maximum(widest, total)
        moved = moved or bool((total > 0).any())
    return moved


def _within(
    array: Array,
    at: int,
    reference: Ran,
    generated: Ran,
    spread: Tensor,
    rounded: bool,
    times: float = 1.0,
) -> Tensor:
    """Elements whose difference rounding explains, or so many times as much would."""
    doubts = [mask for mask in (reference.unsure[at], generated.unsure[at]) if mask is not None]
    a, b = _numbers(reference.arrays[at], array), _numbers(generated.arrays[at], array)
    off = torch.nan_to_num((a - b).abs(), nan=math.inf, posinf=math.inf)
    if array.element in INTEGER_BITS:
        inside = spread > 0
        if times > 1:
            inside = inside | (off < times)
    else:
        floor = _unit(torch.maximum(a.abs(), b.abs()), array.element) if rounded else 0.0
        inside = off <= times * (floor + SLACK * spread)
    for mask in doubts:
        inside = inside & ~_fitted(mask, inside)
    return inside


def _is_large(array: Array, at: int, reference: Ran, generated: Ran) -> Tensor:
    a, b = _numbers(reference.arrays[at], array), _numbers(generated.arrays[at], array)
    off = torch.nan_to_num((a - b).abs(), nan=math.inf, posinf=math.inf)
    size = torch.nan_to_num(torch.maximum(a.abs(), b.abs()), nan=0.0, posinf=0.0)
    large = off > LARGE * size
    for mask in (reference.unsure[at], generated.unsure[at]):
        if mask is not None:
            large = large | _fitted(mask, large)
    return large


def _unit(size: Tensor, name: str) -> Tensor:
    """A unit in the last place of numbers of this size."""
    layout = FORMATS[name]
    _, exponent = torch.frexp(torch.where(torch.isfinite(size), size, 0.0))
    exponent = torch.clamp(exponent - 1, min=1 - layout.bias)
    return torch.ldexp(torch.ones_like(size), exponent - layout.mantissa_bits)


def _number(run: Ran, at: int, array: Array, place: int) -> float | int:
    return to_float(run.arrays[at], array.element)[place].item()


def _first(array: Array, at: int, reference: Ran, generated: Ran, left: Tensor) -> Mismatch:
    """The element of the largest difference, of the first ones."""
    places = torch.nonzero(left)[:, 0]
    values: list[float | int | None] = []
    a, b = _numbers(reference.arrays[at], array), _numbers(generated.arrays[at], array)
    off = torch.nan_to_num((a - b).abs(), nan=math.inf, posinf=math.inf)[places[:256]]
    index = int(places[int(torch.argmax(off))])
    for run in (reference, generated):
        mask = run.unsure[at]
        doubtful = mask is not None and index < len(mask) and bool(mask[index])
        values.append(None if doubtful else _number(run, at, array, index))
    return Mismatch(array.name, index, values[0], values[1], len(places), array.elements)
