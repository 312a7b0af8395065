"""Optimization hints: nothing in them breaks a module, but the assembler drops what it cannot use.

These are notes, not errors: `verify` never reports them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tileir_diff.dialect.verifier.broken import Broken, Rules

if TYPE_CHECKING:
    from tileir_diff.dialect.ir import TileOp

ARCHITECTURES = (
    "default", "sm_80", "sm_86", "sm_87", "sm_88", "sm_89", "sm_90", "sm_100", "sm_103", "sm_107", "sm_110",
    "sm_120", "sm_121",
)  # fmt: skip
_ONE_CTA = frozenset(("sm_80", "sm_86", "sm_87", "sm_88", "sm_89"))
_VIEW_OPS = ("load_view_tko", "store_view_tko")
_POINTER_OPS = ("load_ptr_tko", "store_ptr_tko")

KEYS: dict[str, tuple[str, ...]] = {
    "num_cta_in_cga": ("entry",),
    "num_worker_warps_per_cta": ("entry",),
    "occupancy": ("entry",),
    "allow_tma": _VIEW_OPS,
    "latency": (*_VIEW_OPS, *_POINTER_OPS),
}

NOTES: Rules = {
    "hint/architecture": "a hint is keyed by an architecture that the assembler does not know",
    "hint/key": "a hint has a key that its op does not take",
    "hint/value": "a hint has a value that the assembler does not take",
}


def ignored_hint(op: TileOp) -> Broken | None:
    """The first hint of `op` that the assembler drops, and why; None if it takes them all."""
    hints: dict[str, dict[str, Any]] = op.get("hints") or {}
    for architecture in sorted(hints):
        if architecture not in ARCHITECTURES:
            return Broken(
                "hint/architecture", f"no architecture {architecture}: its hints are ignored", "hints"
            )
        for key, value in sorted(hints[architecture].items()):
            if op.short not in KEYS.get(key, ()):
                return Broken("hint/key", f"`{op.short}` takes no hint `{key}`: it is ignored", "hints")
            if not _takes(architecture, key, value):
                message = f"`{key}` = {value} is out of range on {architecture}: it is ignored"
                return Broken("hint/value", message, "hints")
    return None


def _takes(architecture: str, key: str, value: Any) -> bool:
    if key == "allow_tma":
        return isinstance(value, bool)
    if not isinstance(value, int) or isinstance(value, bool):
        return False
    if key == "num_cta_in_cga":
        return value == 1 or (value in (2, 4, 8, 16) and architecture not in _ONE_CTA)
    if key == "num_worker_warps_per_cta":
        return value in (1, 2, 4, 8, 16, 32)
    return 1 <= value <= (32 if key == "occupancy" else 10)
