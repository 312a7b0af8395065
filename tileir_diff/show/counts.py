"""What an entry has many of: conversions, float modes, constants, promises, dead ops."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tileir_diff.dialect.types import Tile
from tileir_diff.lints.facts import splat, spread_from

if TYPE_CHECKING:
    from tileir_diff.lints.facts import EntryFacts
    from tileir_diff.show.naming import Names

Json = dict[str, Any]

CONVERSIONS = ("ftof", "ftoi", "itof", "exti", "trunci", "bitcast", "ptr_to_int", "int_to_ptr", "ptr_to_ptr")
PLUMBING = ("constant", "make_token", "join_tokens", "assume")
"""Ops that are not counted as dead code: front ends leave them everywhere, and they cost nothing."""


def conversions(facts: EntryFacts) -> list[Json]:
    """How often each conversion occurs among live ops: `{"op", "from", "to", "count"}`, sorted."""
    counts: dict[tuple[str, str, str], int] = {}
    for op in facts.of(*CONVERSIONS):
        source, result = op.operands[0].type, op.results[0].type
        if op in facts.live and isinstance(source, Tile) and isinstance(result, Tile):
            key = (op.short, str(source.element), str(result.element))
            counts[key] = counts.get(key, 0) + 1
    return [
        {"op": op, "from": source, "to": result, "count": count}
        for (op, source, result), count in sorted(counts.items())
    ]


def float_modes(facts: EntryFacts) -> list[Json]:
    """How often each float op occurs with each set of modes: `{"op", "element", "modes", "count"}`, sorted.

    `modes` are those that differ from plain IEEE arithmetic to nearest even, as they are written; `exp` and
    `tanh` count as full where nothing is written.
    """
    counts: dict[tuple[str, str, str], int] = {}
    for op in facts.ops:
        if op not in facts.live or not op.results or op.short in CONVERSIONS:
            continue
        kind = op.results[0].type
        rounding = op.get("rounding")
        if not isinstance(kind, Tile) or (rounding is None and op.get("flush_to_zero") is None):
            continue
        modes = [] if rounding in (None, "nearest_even") or op.short == "divi" else [str(rounding)]
        modes += [name for name in ("flush_to_zero", "propagate_nan") if op.get(name)]
        if op.short != "divi":
            key = (op.short, str(kind.element), " ".join(modes))
            counts[key] = counts.get(key, 0) + 1
    return [
        {"op": op, "element": element, "modes": modes.split(), "count": count}
        for (op, element, modes), count in sorted(counts.items())
    ]


def constants(facts: EntryFacts) -> list[Json]:
    """Distinct numbers among live constants: `{"value", "element", "count"}`; only splats."""
    counts: dict[tuple[str, str], int] = {}
    for op in facts.of("constant"):
        number, kind = splat(op.results[0]), op.results[0].type
        if op in facts.live and number is not None and isinstance(kind, Tile):
            shown = f"{number:.9g}" if isinstance(number, float) else str(number)
            key = (str(kind.element), shown)
            counts[key] = counts.get(key, 0) + 1
    return [
        {"value": value, "element": element, "count": count}
        for (element, value), count in sorted(counts.items())
    ]


def promises(facts: EntryFacts, names: Names) -> list[Json]:
    """Promises by the value they are about, once each: `{"value", "promises", "lines"}`, in order."""
    found: dict[str, tuple[dict[str, None], list[int]]] = {}
    for op in facts.of("assume"):
        value = op.one("value")
        root = spread_from(value)
        name = names.by_value.get(root) if root is not None else None  # pyright: ignore[reportArgumentType]
        kinds, lines = found.setdefault(name or names.say(value), ({}, []))
        kinds[str(op.get("assumption"))] = None
        lines.append(op.span.line)
    return [
        {"value": value, "promises": list(kinds), "lines": lines} for value, (kinds, lines) in found.items()
    ]


def dead_code(facts: EntryFacts) -> Json:
    """Ops whose results nothing needs: `{"count", "ops": {name: count}}`; constants and the like left out."""
    counts: dict[str, int] = {}
    for op in facts.ops:
        parent = getattr(op.parent_op(), "short", "")
        if op in facts.live or not op.results or op.short in PLUMBING or parent in ("reduce", "scan"):
            continue
        if all(str(result.type) == "token" for result in op.results):
            continue
        counts[op.short] = counts.get(op.short, 0) + 1
    return {"count": sum(counts.values()), "ops": dict(sorted(counts.items()))}
