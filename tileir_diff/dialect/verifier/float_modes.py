"""Rounding modes and flush-to-zero of floating-point ops."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tileir_diff.dialect.verifier.access import number, result_tile
from tileir_diff.dialect.verifier.broken import Broken, Constraints, Rules
from tileir_diff.dialect.verifier.kinds import phrase

if TYPE_CHECKING:
    from tileir_diff.dialect.ir import TileOp

IEEE = ("nearest_even", "zero", "negative_inf", "positive_inf")

# The modes an op takes for every element type, and those it takes for f32 alone.
MODES: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "addf": (IEEE, ()),
    "subf": (IEEE, ()),
    "mulf": (IEEE, ()),
    "fma": (IEEE, ()),
    "divf": (IEEE, ("approx", "full")),
    "sqrt": (IEEE, ("approx",)),
    "exp": (("full",), ("approx",)),
    "tanh": (("full",), ("approx",)),
}
FLUSH_TO_ZERO_OPS = ("addf", "subf", "mulf", "fma", "divf", "sqrt", "rsqrt", "exp2", "maxf", "minf")

RULES: Rules = {
    **{
        f"{name}/rounding": f"the rounding mode of {name} is {phrase((*modes, *f32_modes))}"
        for name, (modes, f32_modes) in MODES.items()
    },
    **{
        f"{name}/f32-rounding": f"rounding mode {phrase(f32_modes)} of {name} is for f32 only"
        for name, (_, f32_modes) in MODES.items()
        if f32_modes
    },
    "flush-to-zero/f32": "flush_to_zero is for f32 only",
}


def rounding(op: TileOp) -> Broken | None:
    mode = op.get("rounding")
    modes, f32_modes = MODES[op.short]
    if mode in modes:
        return None
    if mode not in f32_modes:
        message = f"`{op.short}` rounds to {phrase((*modes, *f32_modes))}, found {mode}"
        return Broken(f"{op.short}/rounding", message, "rounding")
    element = number(result_tile(op))
    if element.name != "f32":
        message = f"rounding mode {mode} of `{op.short}` is for f32 only, found {element}"
        return Broken(f"{op.short}/f32-rounding", message, "rounding")
    return None


def flush_to_zero(op: TileOp) -> Broken | None:
    element = number(result_tile(op))
    if op.get("flush_to_zero") and element.name != "f32":
        return Broken("flush-to-zero/f32", f"flush_to_zero is for f32 only, found {element}", "flush_to_zero")
    return None


CONSTRAINTS: Constraints = {
    name: (*((rounding,) if name in MODES else ()), *((flush_to_zero,) if name in FLUSH_TO_ZERO_OPS else ()))
    for name in sorted({*MODES, *FLUSH_TO_ZERO_OPS})
}
