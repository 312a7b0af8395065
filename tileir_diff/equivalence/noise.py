"""Other roundings: what a result may be if sums are made in another order, or a function is less exact.

A run with noise moves the result of each rounding op by a unit in the last place, up or down, at random
(Monte Carlo arithmetic, Parker 1997), and of each approximation by as much as its bound allows. How far the
stored values move is how well the kernel's own arithmetic determines them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from tileir_diff.equivalence.backend import Tensor, torch
from tileir_diff.equivalence.dtypes import BITS_OF, NATIVE

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tileir_diff.dialect.ir import TileOp

UNIT: Final = {"f16": 2.0**-11, "bf16": 2.0**-8, "f32": 2.0**-24, "f64": 2.0**-53}
"""Half a unit in the last place, relative."""
LIBRARY: Final = frozenset({
    "atan2", "cos", "cosh", "exp", "exp2", "fpowf", "fpowi", "log", "log2", "rsqrt", "sin", "sinh", "tan",
    "tanh",
})  # fmt: skip
HALVES: Final = ("f16", "bf16")
ROUNDING: Final = frozenset({"addf", "divf", "fma", "mmaf", "mmaf_scaled", "mulf", "sqrt", "subf"}) | LIBRARY
"""Ops whose results are rounded. Conversions are not among them: they round what they are given, no more."""


class Noise:
    """Moves results at random; the same for the same seed.

    `types`: element types in which results are moved. `touched`: whether anything was rounded at all.
    """

    def __init__(self, seed: int, types: Iterable[str]) -> None:
        self.types = frozenset(types)
        self.touched = False
        self._generator = torch.Generator().manual_seed(seed)

    def moved(self, data: Tensor, name: str, units: float | Tensor = 1.0) -> Tensor:
        """Results of an element type, each up to so many units in the last place off, if it is no zero."""
        if name not in self.types:
            return data
        self.touched = True
        bits = data.view(BITS_OF[data.element_size()])
        step = torch.rand(data.shape, generator=self._generator) * 2 - 1
        if isinstance(units, Tensor):
            step = torch.round(step * units)
        else:
            units = 1.0 if name in HALVES else units  # computed in f32, and rounded once more
            # the least step is a whole unit: else most results would stay as they are
            step = torch.round(step * (units + 0.4999))
        usable = torch.isfinite(data) & (data != 0)
        moved = (bits + torch.where(usable, step, 0.0).to(bits.dtype)).view(data.dtype)
        return torch.where(torch.isnan(moved) & usable, data, moved)

    def shifted(self, data: Tensor, name: str, size: Tensor) -> Tensor:
        """Sums of an element type, each off by up to a unit of `size`, the sum of the sizes of its terms."""
        if name not in self.types:
            return data
        self.touched = True
        step = torch.rand(data.shape, generator=self._generator) * 2 - 1
        shift = step * (2 * UNIT[name]) * torch.where(torch.isfinite(size), size, 0.0)
        return (data + shift.to(data.dtype)).to(data.dtype)


def rounded_types(entry: TileOp) -> frozenset[str]:
    """The element types in which an entry computes with rounding."""
    found: set[str] = set()
    for op in entry.walk():
        each: Any = op
        if getattr(each, "short", "") in ROUNDING and each.results:
            found.add(str(getattr(getattr(each.results[0].type, "element", None), "name", "")))
    return frozenset(name for name in found if name in NATIVE)


def shared_types(reference: TileOp, generated: TileOp) -> frozenset[str]:
    """The types in which both sides may round otherwise: those in which both compute, and the finest.

    A type in which one side alone computes is a coarser computation, and no other order of the same one.
    """
    one, other = rounded_types(reference), rounded_types(generated)
    finest = [name for name in ("f64", "f32", "bf16", "f16") if name in one | other][:1]
    return (one & other) | frozenset(finest)
