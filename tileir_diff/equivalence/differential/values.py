"""What is in the arrays: kinds of numbers that show what goes wrong, made from a seed."""

from __future__ import annotations

import math
import zlib
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from tileir_diff.dialect.scalars import FORMATS, INTEGER_BITS
from tileir_diff.equivalence.backend import Tensor, torch
from tileir_diff.equivalence.dtypes import dtype, literal
from tileir_diff.equivalence.noise import HALVES
from tileir_diff.equivalence.rounding import to_format
from tileir_diff.graph.values import ops_within

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from tileir_diff.dialect.ir import TileOp
    from tileir_diff.equivalence.differential.plan import Array

    Make = Callable[[int, str, Any], Tensor]
    """Number of elements, element type and generator to values in f64."""

WILD: Final = "out of range"
"""Integers of any size, where the reference takes them; other arrays hold ordinary numbers."""
NAMED: Final = "near-constant"
"""Constants of the kernels, and what is next to them."""
OUTSIDE: Final = frozenset({WILD, NAMED})
"""Kinds whose integers need not be what the kernels expect in an array."""
SPECIAL: Final = (math.inf, -math.inf, math.nan, -0.0, 1e-40, 6e4, -6e4)
SPECIALS: Final = 24.0
"""How many special numbers there are at most, on average: more would leave no ordinary result."""
CONSTANTS: Final = 64
"""How many elements of a constant are looked at."""
LARGE: Final = 100.0
"""Far enough to overflow exp in f32."""


class Constants(NamedTuple):
    """What stands in the kernels, in order."""

    floats: tuple[float, ...] = ()
    integers: tuple[int, ...] = ()


NO_CONSTANTS: Final = Constants()


class Recipe(NamedTuple):
    """How the arrays of one run are filled: by array the kind of numbers; for integers how large they get."""

    kinds: tuple[str, ...]
    seed: int

    @property
    def special(self) -> bool:
        """Whether anything but ordinary numbers is among them."""
        return any(kind in EDGES for kind in self.kinds)

    def __str__(self) -> str:
        kinds = tuple(dict.fromkeys(self.kinds))
        return f"{' and '.join(kinds)} numbers"


def _normal(scale: float) -> Make:
    return lambda n, name, rng: torch.randn(n, generator=rng, dtype=torch.float64) * scale


def _uniform(n: int, rng: Any) -> Tensor:
    return torch.rand(n, generator=rng, dtype=torch.float64)


def _sign(n: int, rng: Any) -> Tensor:
    return torch.where(_uniform(n, rng) < 0.5, -1.0, 1.0)


def _powers(low: float, high: float) -> Make:
    """Numbers whose exponents are spread evenly; shares of the type's range: 0 is 1, 1 the largest."""

    def make(n: int, name: str, rng: Any) -> Tensor:
        top = float(FORMATS[name].bias)
        power = (low + (high - low) * _uniform(n, rng)) * (top - 0.5)
        return _sign(n, rng) * torch.exp2(power)

    return make


def _subnormal(n: int, name: str, rng: Any) -> Tensor:
    layout = FORMATS[name]
    return _sign(n, rng) * _uniform(n, rng) * 2.0 ** (1 - layout.bias)


def _zeros(n: int, name: str, rng: Any) -> Tensor:
    return _sign(n, rng) * 0.0


def _equal(n: int, name: str, rng: Any) -> Tensor:
    return _normal(1.0)(1, name, rng).repeat(n)


def _few(n: int, name: str, rng: Any) -> Tensor:
    return torch.randint(-2, 3, (n,), generator=rng).double() * 0.5


def _sparse(n: int, name: str, rng: Any) -> Tensor:
    values = torch.zeros(n, dtype=torch.float64)
    if n:
        at = torch.randint(0, n, (max(1, n // 97),), generator=rng)
        values[at] = _normal(1.0)(len(at), name, rng) + 1.0
    return values


def _mixed(n: int, name: str, rng: Any) -> Tensor:
    values = _normal(0.5)(n, name, rng)
    chosen = torch.tensor(SPECIAL, dtype=torch.float64)[torch.randint(0, len(SPECIAL), (n,), generator=rng)]
    return torch.where(_uniform(n, rng) < min(1 / 64, SPECIALS / max(n, 1)), chosen, values)


def _lone(value: float) -> Make:
    """One special number among ordinary ones."""

    def make(n: int, name: str, rng: Any) -> Tensor:
        values = _normal(0.5)(n, name, rng)
        if n:
            values[torch.randint(0, n, (1,), generator=rng)] = value
        return values

    return make


def _all(value: float) -> Make:
    return lambda n, name, rng: torch.full((n,), value, dtype=torch.float64)


FLOATS: Final[dict[str, Make]] = {
    "ordinary": _normal(0.5),
    "unit": _normal(1.0),
    "positive": lambda n, name, rng: _normal(1.0)(n, name, rng).abs() + 0.1,
    "negative": lambda n, name, rng: -(_normal(1.0)(n, name, rng).abs() + 0.1),
    "large": _normal(LARGE),
    "equal": _equal,
    "few": _few,
    "sparse": _sparse,
    "small": _normal(1e-3),
    "wide": _powers(-0.3, 0.3),
    "vast": _powers(0.75, 1.0),
    "tiny": _powers(-1.0, -0.5),
    "subnormal": _subnormal,
    "zero": _zeros,
    "mixed": _mixed,
    "lone NaN": _lone(math.nan),
    "lone infinity": _lone(math.inf),
    "lone -infinity": _lone(-math.inf),
    "all -infinity": _all(-math.inf),
    "all infinity": _all(math.inf),
    "all NaN": _all(math.nan),
}
"""Kinds of floating-point numbers, ordinary ones first."""

EDGES: Final = frozenset({
    "vast", "tiny", "subnormal", "zero", "mixed", "lone NaN", "lone infinity", "lone -infinity",
    "all -infinity", "all infinity", "all NaN", WILD, NAMED,
})  # fmt: skip
"""Kinds that ordinary input does not have."""

EVERYWHERE: Final = ("ordinary", "large", "mixed", "equal", "sparse", "subnormal", "positive", "negative",
                     "few", "unit", "zero", "wide", "tiny", "small", "vast", WILD, NAMED)  # fmt: skip
"""Kinds that are tried in all arrays at once, in this order."""
ALONE: Final = ("lone NaN", "all -infinity", "lone infinity", "lone -infinity", "all infinity", "zero",
                "subnormal", "large")  # fmt: skip
"""Kinds that are tried in one array, with ordinary numbers in the others."""


INTEGERS: Final = frozenset({"ordinary", "equal", "zero", WILD, NAMED})
"""Kinds that are different for integers."""


def is_float(name: str) -> bool:
    return name not in INTEGER_BITS


def constants_of(*entries: TileOp) -> Constants:
    floats: set[float] = set()
    integers: set[int] = set()
    for op in (op for entry in entries for op in ops_within(entry) if op.short == "constant"):
        value: Any = op.get("value")
        numbers = literal(value).flatten()[:CONSTANTS]
        if numbers.is_floating_point():
            floats.update(number for number in numbers.double().tolist() if math.isfinite(number))
        elif not is_float(value.element.name):
            integers.update(numbers.to(torch.int64).tolist())
    return Constants(tuple(sorted(floats)), tuple(sorted(integers)))


def fill(array: Array, kind: str, level: int, seed: int, constants: Constants = NO_CONSTANTS) -> Tensor:
    """The content of an array; the same for the same arguments. Integers lie in 0 to `level` - 1."""
    rng = torch.Generator().manual_seed(zlib.crc32(f"{array.name}/{kind}/{seed}".encode()))
    if is_float(array.element):
        values = FLOATS["ordinary" if kind in OUTSIDE else kind](array.elements, array.element, rng)
        if kind == NAMED and constants.floats:
            values = _some(values, constants.floats, rng)
        # by way of f32, which is much faster: where a tie goes does not matter here
        return to_format(values.float() if array.element in HALVES else values, array.element)
    wanted = dtype(array.element)
    if array.element == "i1":
        return torch.randint(0, 2, (array.elements,), generator=rng).to(torch.bool)
    if kind == "equal":
        return torch.randint(0, level, (1,), generator=rng).to(wanted).repeat(array.elements)
    if kind == "zero":
        return torch.zeros(array.elements, dtype=wanted)
    if kind == WILD:
        values = torch.randint(-(1 << 31), 1 << 31, (array.elements,), generator=rng)
        if array.element == "i64":  # half of them fit 32 bits
            values = values << torch.randint(-31, 32, (array.elements,), generator=rng).clamp(min=0)
        return torch.where(_uniform(array.elements, rng) < 1 / 8, _extremes(values, wanted, rng), values).to(
            wanted
        )
    if kind == NAMED and constants.integers:
        values = torch.randint(0, level, (array.elements,), generator=rng)
        return (_some(values, constants.integers, rng) + _next_to(values, rng)).to(wanted)
    # Of all sizes alike: where indices may be anything, most of those that mean something are small.
    size = torch.exp2(_uniform(array.elements, rng) * math.log2(level + 1))
    return (size.to(torch.int64) - 1).clamp(0, level - 1).to(wanted)


def _some(values: Tensor, chosen: Sequence[float], rng: Any) -> Tensor:
    """Half of the values replaced by some that are given."""
    count = len(values)
    picked = torch.tensor(chosen, dtype=values.dtype)[torch.randint(0, len(chosen), (count,), generator=rng)]
    return torch.where(_uniform(count, rng) < 0.5, picked, values)


def _extremes(values: Tensor, wanted: Any, rng: Any) -> Tensor:
    """The least and the largest integers of a type, and -1, at random."""
    limits = torch.iinfo(wanted)
    chosen = torch.tensor([limits.min, limits.max, -1])
    return chosen[torch.randint(0, len(chosen), values.shape, generator=rng)]


def _next_to(values: Tensor, rng: Any) -> Tensor:
    """-1, 0 or 1; 0 for half of them."""
    step = torch.randint(-1, 2, (len(values),), generator=rng)
    return torch.where(_uniform(len(values), rng) < 0.5, step, 0)


def recipes(arrays: Sequence[Array], seed: int) -> list[Recipe]:
    """Ways to fill the arrays: a kind everywhere, then one in a single array."""
    count = len(arrays)
    floats = [at for at, array in enumerate(arrays) if is_float(array.element) and array.elements]
    whole = [at for at, array in enumerate(arrays) if not is_float(array.element) and array.elements]
    everywhere = [kind for kind in EVERYWHERE if (whole if kind == WILD else floats or kind in INTEGERS)]
    found = [Recipe((kind,) * count, seed) for kind in everywhere]

    def alone(kind: str, at: int) -> Recipe:
        return Recipe(tuple(kind if each == at else "ordinary" for each in range(count)), seed)

    if len(whole) > 1:
        found += [alone(WILD, at) for at in whole]
    for kind in ALONE:
        found += [alone(kind, at) for at in floats] if len(floats) > 1 else []
        if len(floats) == 1 and kind not in EVERYWHERE:
            found.append(Recipe((kind,) * count, seed))
    return found
