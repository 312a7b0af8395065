"""Launches that are made up: sizes around the tiles, strides, scalars, and a grid that covers the output.

The reference's parameters are chosen, and the generated side's follow from the correspondence that the
comparison found. A launch is taken if the reference keeps to its arrays and both sides' promises hold.
"""

from __future__ import annotations

import contextlib
import math
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from tileir_diff.dialect.attributes import Bounded, DivBy
from tileir_diff.dialect.scalars import decode
from tileir_diff.dialect.types import Tile
from tileir_diff.equivalence.backend import torch
from tileir_diff.equivalence.differential.grids import Grids
from tileir_diff.equivalence.differential.launches import (
    PLACEHOLDER,
    CannotMakeError,
    pointee,
    span,
)
from tileir_diff.equivalence.differential.plan import Array, Plan, Pointer
from tileir_diff.equivalence.dtypes import literal
from tileir_diff.equivalence.machine import TimeUp
from tileir_diff.graph.terms import Terms
from tileir_diff.match import arguments
from tileir_diff.match.search import search

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from tileir_diff.dialect.ir import TileOp
    from tileir_diff.equivalence.differential.execute import Pair
    from tileir_diff.equivalence.differential.plan import Slot
    from tileir_diff.graph.terms import Term
    from tileir_diff.match.model import CompareOptions
    from tileir_diff.match.search import Attempt

ENOUGH: Final = 4
"""Launches to find."""
MOST_ELEMENTS: Final = 1 << 17
MOST_GIVEN: Final = 1 << 21
"""Elements of an array whose sizes are constants of a side: no smaller one will do."""
USUAL: Final = 37
"""A size where the kernel has no tiles to go by."""
SQUARE: Final = 2
"""So many sizes are tried that multiply no matrices, before some are that do."""
APART: Final = 2
"""The launch whose arrays have gaps between their rows."""
FREE: Final = (-1, 0)
"""In place of a pointer and a dimension: integers that are no sizes of an array."""
NUMBERS: Final = (0.3, 1.7)
"""Floating-point numbers; f16 and bf16 have neither."""
PASSING: Final = frozenset({"assume", "broadcast", "exti", "ftof", "reshape", "trunci"})
"""Ops behind which a number is looked for where it is compared."""


class Promised(NamedTuple):
    """What is promised of a number."""

    divisor: int = 1
    lower: int = 0
    upper: int = 1 << 30

    def both(self, other: Promised) -> Promised:
        return Promised(
            math.lcm(self.divisor, other.divisor),
            max(self.lower, other.lower),
            min(self.upper, other.upper),
        )

    def holds(self, number: int) -> bool:
        return number % self.divisor == 0 and self.lower <= number <= self.upper


class Need(NamedTuple):
    """What a parameter must keep, and what it must break (None: nothing)."""

    kept: Promised = Promised()
    broken: Promised | None = None

    def fit(self, wanted: int) -> int:
        """The least number from `wanted` on that will do, else the largest that keeps the promises."""
        divisor, lower, upper = self.kept
        number = -(-max(wanted, lower) // divisor) * divisor
        if self.broken is not None and self.broken.holds(number):
            # Either the next number is no multiple of what it must not be, or the range ends somewhere.
            others = number + divisor, -(-(self.broken.upper + 1) // divisor) * divisor
            number = next((each for each in others if not self.broken.holds(each)), number)
        return number if number <= upper else upper // divisor * divisor


class Doubts(NamedTuple):
    """What the comparison leaves open, and a launch may show.

    `promises`: the generated side alone makes them. `bounds`: whether the sides may reach different memory;
    if not, the report says that the host must keep the generated side within its arrays.
    """

    promises: frozenset[TileOp] = frozenset()
    bounds: bool = True

    @property
    def excluded(self) -> tuple[str, ...]:
        """What must not happen on the generated side."""
        promises = () if self.promises else ("assume/",)
        return promises if self.bounds else (*promises, "bounds/", "undetermined/")


def made_plans(pair: Pair, options: CompareOptions, doubts: Doubts) -> list[Plan]:
    """Up to `ENOUGH` launches of different sizes. Raises CannotMakeError.

    Where promises are in doubt, another launch is sought which breaks them and keeps all others.
    """
    entries = pair.sides[0].entry, pair.sides[1].entry
    attempt = search(Terms(options.disabled_equivalences), *entries, options)
    maker = _Maker(pair, attempt, options, doubts._replace(promises=frozenset()))
    plans = _found(maker, ENOUGH)
    pair.smaller = maker.smaller
    if doubts.promises:
        with contextlib.suppress(CannotMakeError):
            plans += [each for each in _found(_Maker(pair, attempt, options, doubts), 1) if each not in plans]
    return plans


def _found(maker: _Maker, enough: int) -> list[Plan]:
    """As many launches. Raises CannotMakeError where there is none."""
    plans: list[Plan] = []
    why = "no sizes were found with which the reference keeps to its arrays"
    for sizes in maker.sizes():
        if len(plans) == enough:
            break
        try:
            # a promise about a row breaks where rows are some way apart
            plan = maker.plan(sizes, APART if maker.doubts.promises else len(plans))
        except CannotMakeError as error:
            why = str(error)
            continue
        except TimeUp:
            why = "the time was up before a launch was found"
            break
        if plan is not None and plan not in plans:
            plans.append(plan)
    if not plans:
        raise CannotMakeError(why)
    return plans


class _Maker:
    def __init__(self, pair: Pair, attempt: Attempt, options: CompareOptions, doubts: Doubts) -> None:
        self.pair, self.attempt, self.doubts = pair, attempt, doubts
        self.terms = attempt.reference.terms
        self.binding = attempt.binding
        launch = options.launch
        given = (None, None, None) if launch is None else launch.reference.grid
        self.grid = [size or self.binding.grid.get(axis) for axis, size in enumerate(given)]
        self.tiles = tile_extents(pair.sides[0].entry)
        self.grids = Grids(pair, self.grid, self.tiles, doubts.excluded)
        self.parameters = list(pair.sides[0].entry.regions[0].block.args)
        self.roles = arguments.roles(attempt.reference)
        self.pointers = [at for at, each in enumerate(self.parameters) if pointee(each) is not None]
        self.ranks = {
            base: 1 + max(dim for other, _, dim in self.roles.values() if other == base)
            for base in dict.fromkeys(base for base, _, _ in self.roles.values())
        }
        self.needs = self._needs()
        self.free = [at for at in range(len(self.parameters)) if at not in (*self.roles, *self.pointers)]
        self.others = [(at, number) for at in self.free for number in self._others(at)]
        self.made: dict[Plan, tuple[dict[tuple[int, int], int], int]] = {}
        self.tried: dict[tuple[int | float, ...], Plan | None] = {}

    def _needs(self) -> list[Need]:
        needs = [Need(_all(_promises(each))) for each in self.parameters]
        for at, parameter in enumerate(self.pair.sides[1].entry.regions[0].block.args):
            partner = self.binding.partner.get(at)
            if partner is None:
                continue
            own = _promises(parameter)
            kept = needs[partner].kept.both(_all(each for each in own if each not in self.doubts.promises))
            broken = [each for each in own if each in self.doubts.promises]
            needs[partner] = Need(kept, _all(broken) if broken else None)
        return needs

    def _others(self, at: int) -> list[int | float]:
        """What else than usual a number may be that is no size: what it is compared with."""
        kind: Any = self.parameters[at].type
        if kind.element.bits == 1:
            return [0]
        others = self.pair.sides[1].entry.regions[0].block.args
        partners = [others[other] for other, own in self.binding.partner.items() if own == at]
        values = (self.parameters[at], *partners)
        named = sorted({each for value in values for each in _compared_with(value)})
        if kind.element.is_float:
            return [*named, *NUMBERS[1:]]
        return [each for each in named if self.needs[at].fit(int(each)) == each]

    # ---- sizes

    def sizes(self) -> Iterator[dict[tuple[int, int], int]]:
        """By pointer and dimension a size: all arrays alike, then as matrices multiply, then all equal."""
        tiles = sorted({each for each in self.tiles if each > 1}, reverse=True) or [USUAL]
        large, small = tiles[0], tiles[-1]
        triples = [
            (small + small // 3 + 1, small + small // 2 + 3, large - large // 3),
            (2 * small + 1, small - small // 3, 2 * large + large // 3),
            (3, 5, large),
            (1, 1, 1),
            (2 * small, 2 * small, large),
            (large, 2 * large, large),
            (2, 3, 2 * large),
            (small + 5, small + 5, small + 5),
        ]
        for size in self._constants():
            triples[2:2] = [(small, size, large), (small, small + 5, size)]
        free = (USUAL, 2 * large + large // 3, large, 1, *(last for _, _, last in triples))
        for place, ((lead, middle, last), number) in enumerate(zip(triples, free, strict=False)):
            if place and all(plan.grids[0] == (1, 1, 1) for plan in self.made):
                yield from self._transposed(large)
            if place == SQUARE and not self.made:
                yield from self._products(triples)
            yield self._alike(lead, middle, last) | {FREE: number}
        if self.made:
            yield from self._products(triples)
        for size in (*self._constants(), large, small):
            yield {(base, dim): size for base, rank in self.ranks.items() for dim in range(rank)}

    def _alike(self, lead: int, middle: int, last: int) -> dict[tuple[int, int], int]:
        """The same sizes for all arrays, from their last dimensions on."""
        return {
            (base, dim): self._from_the_end(dim, rank, lead, middle, last)
            for base, rank in self.ranks.items()
            for dim in range(rank)
        }

    def _transposed(self, tile: int) -> Iterator[dict[tuple[int, int], int]]:
        """Sizes of a matrix and its transpose, where with equal ones but one block keeps to its arrays."""
        flat = [base for base, rank in self.ranks.items() if rank == 2]
        if len(flat) == 2:
            m, n = 2 * tile + 1, tile + tile // 3
            yield self._alike(m, m, n) | {(flat[0], 0): m, (flat[0], 1): n, (flat[1], 0): n, (flat[1], 1): m}

    def _products(self, triples: Sequence[tuple[int, int, int]]) -> Iterator[dict[tuple[int, int], int]]:
        """Sizes of matrices that multiply, in groups of several tiles first."""
        flat = [base for base, rank in self.ranks.items() if rank == 2]
        if len(flat) != 3:
            return
        tile = max(self.tiles, default=1)
        for m, n, k in ((7 * tile - 3, tile + 1, tile + 3), *triples):
            pairs = (m, k), (k, n), (m, n)
            yield self._alike(m, m, n) | {
                (base, dim): size
                for base, shape in zip(flat, pairs, strict=True)
                for dim, size in enumerate(shape)
            }

    def _constants(self) -> list[int]:
        """Sizes that one side has as constants and the other one as parameters."""
        bounds = [*self.binding.reference, *self.binding.generated]
        numbers = {None if bound is None else self.terms.value(bound) for bound in bounds}
        return sorted(each for each in numbers if each is not None and 1 < each < MOST_ELEMENTS)

    @staticmethod
    def _from_the_end(dim: int, rank: int, lead: int, middle: int, last: int) -> int:
        back = rank - 1 - dim
        return (last, middle, min(lead, 3), 2)[min(back, 3)]

    # ---- one launch

    def smaller(self, plan: Plan, most: int) -> Plan | None:
        """A launch with the sizes of one that was made, but none above `most`; None where nothing changes."""
        sizes, choice = self.made.get(plan, ({}, 0))
        if max(sizes.values(), default=0) <= most:
            return None
        with contextlib.suppress(CannotMakeError):
            return self._plan({key: min(size, most) for key, size in sizes.items()}, choice)
        return None

    def plan(self, sizes: dict[tuple[int, int], int], choice: int) -> Plan | None:
        """The launch with about these sizes; None if the reference, or a promise, does not allow it.

        `choice`: 0 for usual numbers, a higher one for some others in their place, if that will do.
        """
        if choice == APART or (choice and self.others):
            with contextlib.suppress(CannotMakeError):
                plan = self._plan(sizes, choice)
                if plan is not None:
                    return plan
        return self._plan(sizes, 0)

    def _plan(self, sizes: dict[tuple[int, int], int], choice: int) -> Plan | None:
        values = tuple(self._reference_values(sizes, choice))
        if values not in self.tried:
            self.tried[values] = None
            plan = self.tried[values] = self._with_values(values)
            if plan is not None:
                self.made[plan] = sizes, choice
        return self.tried[values]

    def _with_values(self, values: tuple[int | float, ...]) -> Plan | None:
        slots: list[Slot] = []
        arrays: list[Array] = []
        missing: list[int] = []
        for at, parameter in enumerate(self.parameters):
            element = pointee(parameter)
            if element is None:
                slots.append(values[at])
                continue
            count = self._elements(at, values)
            if count is None:
                missing.append(len(arrays))
            elif count > (MOST_GIVEN if self._is_given(at) else MOST_ELEMENTS):
                return None
            name = str(parameter.name_hint or at)
            slots.append(Pointer(len(arrays)))
            arrays.append(Array(name, element, PLACEHOLDER if count is None else count))
        grid = tuple(size or 1 for size in self.grid)
        whole = grid[0], grid[1], grid[2]
        first = Plan(tuple(arrays), tuple(slots), (), (whole, whole))
        generated = self._generated(first, values)
        plan = first._replace(
            arrays=tuple(generated[1]), generated=tuple(generated[0]), sized=tuple(self._sized())
        )
        for axis in range(3):
            plan = plan.with_blocks(axis, whole[axis])
        missing += range(len(arrays), len(plan.arrays))
        # Arrays of unknown size are as large as what is reached once the grid is known; it needs them first.
        sizes_of = [at for at, (_, word, _) in self.roles.items() if word == "shape"] or self.free
        numbers = [slot for slot in (first.reference[at] for at in sizes_of) if isinstance(slot, int)]
        plan = self.grids.fit(plan, missing, numbers)
        if plan is None:
            return None
        shapes = sorted({values[at] for at, (_, word, _) in self.roles.items() if word == "shape"})
        words = f"sizes {', '.join(map(str, shapes))}" if shapes else "a launch made up"
        return plan._replace(what=words)

    def _reference_values(self, sizes: dict[tuple[int, int], int], choice: int) -> list[int | float]:
        values: list[int | float] = [0] * len(self.parameters)
        known: dict[int, int | float] = {}
        for at, bound in enumerate(self.binding.reference):
            number = None if bound is None else self._number(bound, values)
            if number is not None:
                known[at] = number
        order = sorted(self.roles, key=lambda at: (self.roles[at][1] != "shape", -self.roles[at][2]))
        for at in order:
            base, word, dim = self.roles[at]
            if word == "shape":
                values[at] = known.get(at, self.needs[at].fit(sizes[base, dim]))
        for at, bound in enumerate(self.binding.reference):  # sizes that stand for each other
            if at not in known and bound is not None and pointee(self.parameters[at]) is None:
                for other in self._strides_in(bound):  # ... or for how far rows are apart
                    if other not in known:
                        known[other] = values[other] = self.needs[other].fit(max(1, int(values[at])))
                number = self._number(bound, values, True)
                if number is not None:
                    known[at] = values[at] = number
        for at in order:
            base, word, dim = self.roles[at]
            if word == "stride":
                values[at] = known.get(at, self._stride(at, base, dim, values, choice == APART))
        others = dict(self.others[choice - 1 :: ENOUGH - 1] if choice else ())
        for at in self.free:
            usual = self._scalar(at, values, sizes.get(FREE, USUAL))
            values[at] = known.get(at, others.get(at, usual))
        return values

    def _strides_in(self, term: Term) -> list[int]:
        """The strides of the reference that a term depends on."""
        leaves = [leaf for leaf in self.terms.symbols[term] if self.terms.kind[leaf] == "arg"]
        found = [at for side, at in (self.terms.attr[leaf] for leaf in leaves) if side == 0]
        return sorted(at for at in found if at in self.roles and self.roles[at][1] == "stride")

    def _stride(self, at: int, base: int, dim: int, values: list[int | float], apart: bool = False) -> int:
        """Packed, but for what the promises want; or rows some way apart, in each array another one."""
        step = 1
        for other, (owner, word, inner) in self.roles.items():
            if owner == base and word == "stride" and inner == dim + 1:
                step = int(values[other])
        size = next(
            (
                int(values[other])
                for other, (owner, word, inner) in self.roles.items()
                if owner == base and word == "shape" and inner == dim + 1
            ),
            1,
        )
        if dim + 1 == self.ranks[base]:
            return self.needs[at].fit(1)
        wanted = step * size
        if apart and dim + 2 == self.ranks[base]:  # odd, as far as the promises allow
            wanted = (wanted + step * (1 + 2 * list(self.ranks).index(base))) | 1
        return self.needs[at].fit(max(1, wanted))

    def _scalar(self, at: int, values: list[int | float], usual: int) -> int | float:
        kind: Any = self.parameters[at].type
        if kind.element.is_float:
            return NUMBERS[0]
        if kind.element.bits == 1:
            return 1
        sizes = [int(values[other]) for other, (_, word, _) in self.roles.items() if word == "shape"]
        return self.needs[at].fit(max(sizes, default=usual))

    def _sized(self) -> Iterator[tuple[int, int, int]]:
        """Parameters that stand for the size of the grid: side, parameter, axis."""
        for side, bounds in enumerate((self.binding.reference, self.binding.generated)):
            for at, bound in enumerate(bounds):
                leaf = None if bound is None else self.terms.single(bound)
                if leaf is not None and self.terms.kind[leaf] == "grid":
                    yield side, at, self.terms.attr[leaf][0]

    def _number(
        self, term: Term, values: Sequence[int | float], of_parameters: bool = False
    ) -> int | float | None:
        """A term's value; None for one that depends on parameters, unless they are wanted."""
        terms = self.terms
        number = terms.value(term)
        if number is not None:
            return number
        if terms.kind[term] == "fc":
            name, bits = terms.attr[term]
            return decode(bits, name)
        if not of_parameters or terms.kind[term] != "poly":
            return None
        total = 0
        for atoms, factor in terms.poly(term).items():
            product = factor
            for atom in atoms:
                if terms.kind[atom] != "arg" or terms.attr[atom][0] != 0:
                    return None
                index: int = terms.attr[atom][1]
                product *= int(values[index])
            total += product
        return total

    def _is_given(self, base: int) -> bool:
        """Whether constants of the generated side say a size or a stride of the array."""
        extents = [at for at, (owner, _, _) in self.roles.items() if owner == base]
        bounds = [self.binding.reference[at] for at in extents]
        return any(bound is not None and self.terms.value(bound) not in (None, 1) for bound in bounds)

    def _elements(self, base: int, values: Sequence[int | float]) -> int | None:
        rank = self.ranks.get(base, 0)
        found: dict[tuple[str, int], int] = {}
        for at, (owner, word, dim) in self.roles.items():
            if owner == base:
                found[word, dim] = int(values[at])
        if not rank or len(found) != 2 * rank:
            return None
        return span(
            [found["shape", dim] for dim in range(rank)], [found["stride", dim] for dim in range(rank)]
        )

    def _generated(self, plan: Plan, values: Sequence[int | float]) -> tuple[list[Slot], list[Array]]:
        """The generated side's arguments, and the arrays with its own. Raises CannotMakeError."""
        slots: list[Slot] = []
        arrays = list(plan.arrays)
        used = arguments.used_parameters(self.attempt.generated)
        sized = {at for side, at, _ in self._sized() if side == 1}
        for at, parameter in enumerate(self.pair.sides[1].entry.regions[0].block.args):
            element, partner = pointee(parameter), self.binding.partner.get(at)
            if element is not None:
                if partner is not None:
                    slots.append(plan.reference[partner])
                    continue
                slots.append(Pointer(len(arrays)))
                arrays.append(Array(f"generated_{parameter.name_hint or at}", element, PLACEHOLDER))
                continue
            bound = self.binding.generated[at]
            number = None if bound is None else self._number(bound, values, True)
            if number is None and partner is not None:
                number = values[partner]
            if number is None and at not in sized and (at in used or _is_counted_with(parameter)):
                raise CannotMakeError(f"nothing says what the generated side's %{parameter.name_hint} is")
            slots.append(0 if number is None else number)
        return slots, arrays


def _compared_with(value: Any) -> Iterator[int | float]:
    """Constants that a number is compared with."""
    for use in value.uses:
        op: Any = use.operation
        if op.short in PASSING:
            yield from _compared_with(op.results[0])
        elif op.short in ("cmpi", "cmpf"):
            other = op.operands[1 - use.index].owner
            if getattr(other, "short", "") == "constant":
                numbers: Any = literal(other.get("value")).flatten()[:1]
                if numbers.dtype != torch.uint8:
                    yield from (each for each in numbers.tolist() if math.isfinite(each))


def _is_counted_with(parameter: Any) -> bool:
    """Whether a parameter is a bound or the step of a loop, so that 0 for it would mean something."""
    return any(
        (use.operation.short == "for" and use.index < 3)
        or (use.operation.short == "assume" and _is_counted_with(use.operation.results[0]))
        for use in parameter.uses
    )


def tile_extents(entry: TileOp) -> list[int]:
    """Extents of the tiles that an entry loads and stores, largest first."""
    found: set[int] = set()
    for op in entry.walk():
        each: Any = op
        if str(getattr(each, "short", "")).startswith(("load_", "store_", "atomic_")):
            for value in (*each.operands, *each.results):
                if isinstance(value.type, Tile):
                    found.update(value.type.shape)
    return sorted((extent for extent in found if extent > 1), reverse=True)


def _promises(parameter: Any) -> list[TileOp]:
    """The promises about a parameter, directly behind it."""
    found: list[TileOp] = []
    todo = [parameter]
    while todo:
        for use in todo.pop().uses:
            op: Any = use.operation
            if getattr(op, "short", "") == "assume":
                found.append(op)
                todo.append(op.results[0])
    return found


def _all(promises: Iterable[TileOp]) -> Promised:
    """What some promises say together of a number."""
    found = Promised()
    for op in promises:
        promise = op.get("assumption")
        if isinstance(promise, DivBy) and promise.every is None:
            found = found.both(Promised(promise.divisor))
        elif isinstance(promise, Bounded):
            lower = found.lower if promise.lower is None else promise.lower
            upper = found.upper if promise.upper is None else promise.upper
            found = found.both(Promised(1, lower, upper))
    return found
