"""Cost hints of matched ops and of the entries: they change speed, never results."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from tileir_diff.graph.values import ops_within

if TYPE_CHECKING:
    from collections.abc import Iterator, Set

    from tileir_diff.dialect.ir import TileOp

DEFAULTS: dict[str, Any] = {"allow_tma": True}
"""What a hint means when it is absent."""
HINTED = frozenset({"load_ptr_tko", "load_view_tko", "store_ptr_tko", "store_view_tko"})
"""Accesses that take hints."""
_RULES = {"allow_tma": "tma-hint", "latency": "latency-hint"}

Hints = Mapping[str, Mapping[str, Any]]


def effective(hints: Hints, arch: str) -> dict[str, Any]:
    """The hints for one architecture: its own, else the default ones, without values that change nothing."""
    chosen = hints.get(arch, hints.get("default", {}))
    return {key: value for key, value in chosen.items() if DEFAULTS.get(key) != value}


def compare_hints(reference: Hints, generated: Hints) -> list[tuple[str, str, str, str]]:
    """Differences as (rule, key, expected, actual).

    Sides that key their hints alike are compared key by key, others on each architecture that both speak of,
    by name or by ``default``: the rest is for other machines. Where there is none, the closest two count.
    """
    keys = [
        key for key in dict.fromkeys((*reference, *generated)) if reference.get(key) or generated.get(key)
    ]
    named = sorted(key for key in keys if key != "default")
    ref_named = {key for key in named if reference.get(key)}
    gen_named = {key for key in named if generated.get(key)}
    if not named:
        candidates = [["default"]]
    elif ref_named == gen_named:
        candidates = [sorted(keys)]
    else:
        common = [arch for arch in named if _speaks_of(reference, arch) and _speaks_of(generated, arch)]
        candidates = [common] if common else [[arch] for arch in named]
    results = [_compare(reference, generated, archs) for archs in candidates]
    return min(results, key=len) if results else []


def never_made(reference: TileOp, generated: TileOp, reached: Set[TileOp]) -> Iterator[tuple[TileOp, TileOp]]:
    """Accesses of two entries that are not ``reached``: those of one kind and type are paired in order."""
    waiting: dict[tuple[str, ...], list[TileOp]] = {}
    for op in _accesses(generated, reached):
        waiting.setdefault(_kind(op), []).append(op)
    for op in _accesses(reference, reached):
        alike = waiting.get(_kind(op))
        if alike:
            yield op, alike.pop(0)


def _accesses(entry: TileOp, reached: Set[TileOp]) -> Iterator[TileOp]:
    return (op for op in ops_within(entry) if op.short in HINTED and op not in reached)


def _kind(op: TileOp) -> tuple[str, ...]:
    kind, family, _ = op.short.split("_")
    written = op.one("tile" if family == "view" else "value")
    return kind, str((op.results[0] if kind == "load" or written is None else written).type)


def _speaks_of(hints: Hints, arch: str) -> bool:
    return bool(hints.get(arch) or hints.get("default"))


def _compare(reference: Hints, generated: Hints, archs: list[str]) -> list[tuple[str, str, str, str]]:
    found: list[tuple[str, str, str, str]] = []
    for arch in archs:
        ref, gen = effective(reference, arch), effective(generated, arch)
        for key in sorted(ref.keys() | gen.keys()):
            if ref.get(key) == gen.get(key):
                continue
            family = _RULES.get(key, "entry-hint")
            detail = "changed" if key in ref and key in gen else "missing" if key in ref else "extra"
            where = "" if arch == "default" else f" for {arch}"
            found.append(
                (
                    f"{family}/{detail}",
                    key,
                    f"{key} = {_show(ref.get(key))}{where}",
                    f"{key} = {_show(gen.get(key))}{where}",
                )
            )
    return found


def _show(value: Any) -> str:
    if value is None:
        return "(none)"
    return str(value).lower() if isinstance(value, bool) else str(value)
