"""The attributes of an elementwise op that change what it computes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tileir_diff.dialect.ir import TileOp

NAMES = ("rounding", "flush_to_zero", "propagate_nan", "signed", "saturating", "overflow")

_DEFAULTS = {"rounding": "nearest_even", "overflow": "none"}
_DEFAULTS_OF_OP = {
    ("divi", "rounding"): "zero",
    ("exp", "rounding"): "full",
    ("ftoi", "rounding"): "nearest_int_to_zero",
    ("itof", "signed"): "signed",
    ("tanh", "rounding"): "full",
}


def modifiers(op: TileOp) -> tuple[tuple[str, Any], ...]:
    """The modifiers that are set and not the op's default, in the order of ``NAMES``."""
    found: list[tuple[str, Any]] = []
    for name in NAMES:
        value = op.get(name)
        if value is None or value is False:
            continue
        if value != _DEFAULTS_OF_OP.get((op.short, name), _DEFAULTS.get(name)):
            found.append((name, value))
    return tuple(found)
