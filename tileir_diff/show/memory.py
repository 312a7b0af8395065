"""The memory operations of an entry, in order."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tileir_diff.dialect.types import GatherScatterView, PartitionView, StridedView, Tile
from tileir_diff.lints.facts import ADDRESS_GROUP, LOADS, splat

if TYPE_CHECKING:
    from tileir_diff.dialect.ir import TileOp
    from tileir_diff.graph.kernel import Effect
    from tileir_diff.graph.terms import Term, Terms
    from tileir_diff.lints.facts import EntryFacts
    from tileir_diff.show.naming import Names

Json = dict[str, Any]

FAMILIES = ((PartitionView, "partition"), (StridedView, "strided"), (GatherScatterView, "gather"))


def memory_operations(facts: EntryFacts, names: Names) -> list[Json]:
    """One record an access, in the order of the text.

    `family` is partition, strided, gather or pointer. `at` says where: the tile index for a partition view
    where it is a whole one, else element coordinates or, through pointers, the offset from the base. `mask`
    is the predicate of a pointer access, `bounds` the part of a view access that can be cut off; null: all
    lanes take part.
    """
    return [_operation(facts, names, op) for op in facts.of(*ADDRESS_GROUP)]


def _operation(facts: EntryFacts, names: Names, op: TileOp) -> Json:
    address = op.one(ADDRESS_GROUP[op.short])
    value = _value_type(op)
    effect = facts.effects.get(op)
    view = address.type if address is not None and op.short.endswith("view_tko") else None
    record: Json = {
        "line": op.span.line,
        "op": op.short,
        "kind": "load" if op.short in LOADS else "atomic" if op.short.startswith("atomic") else "store",
        "family": next((name for kind, name in FAMILIES if isinstance(view, kind)), "pointer"),
        "array": names.array_of(address),
        "tile": list(value.shape) if value is not None else [],
        "element": str(value.element) if value is not None else "",
        "at": _where(facts, names, op, effect),
        "mask": None,
        "bounds": None,
        "padding": None,
        "ordering": op.get("memory_ordering"),
        "scope": op.get("memory_scope"),
        "mode": op.get("mode"),
        "inbounds": list(op.get("inbounds") or ()),
        "hints": op.get("hints") or {},
        "loops": _loops(facts, op),
        "guard": None,
        "reached": effect is not None or facts.kernel is None,
        "used": op in facts.live,
        "source": _source(op),
    }
    if isinstance(view, (PartitionView, StridedView, GatherScatterView)):
        record["padding"] = view.padding
        record["view"] = str(view)
        if effect is not None and effect.mask is not None and facts.terms is not None:
            record["bounds"] = None if effect.mask == facts.terms.true else names.say_term(effect.mask)
    else:
        mask, padding = op.one("mask"), op.one("padding")
        record["mask"] = None if mask is None else _mask(facts, names, op, effect)
        if padding is not None:
            number = splat(padding)
            record["padding"] = names.say(padding) if number is None else f"{number:g}"
    if effect is not None and facts.terms is not None and effect.guard != facts.terms.true:
        record["guard"] = names.say_term(effect.guard)
    return record


def _value_type(op: TileOp) -> Tile | None:
    value = op.results[0] if op.short in LOADS else op.one("tile") or op.one("value") or op.one("arg")
    return value.type if value is not None and isinstance(value.type, Tile) else None


def _mask(facts: EntryFacts, names: Names, op: TileOp, effect: Effect | None) -> str:
    if effect is not None and effect.mask is not None:
        return names.say_term(effect.mask)
    return names.say(op.one("mask"))


def _where(facts: EntryFacts, names: Names, op: TileOp, effect: Effect | None) -> str:
    terms = facts.terms
    if effect is None or terms is None or effect.pointer is None:
        index = op.group("index")
        return (
            f"[{', '.join(names.say(value) for value in index)}]"
            if index
            else names.say(op.one(ADDRESS_GROUP[op.short]))
        )
    if effect.coordinates:
        index = op.one("view")
        tile = index.type.tile if index is not None and isinstance(index.type, PartitionView) else None
        parts: list[str] = []
        for dimension, coordinate in enumerate(effect.coordinates):
            whole = None if tile is None else _in_tiles(terms, coordinate, dimension, tile[dimension])
            parts.append(names.say_term(coordinate if whole is None else whole))
        return f"[{', '.join(parts)}]"
    if effect.base is not None:
        return names.say_term(terms.sub(effect.pointer, effect.base))
    return names.say_term(effect.pointer)


def _in_tiles(terms: Terms, coordinate: Term, dimension: int, extent: int) -> Term | None:
    """The tile index of a coordinate `extent * index + lane`, where it is one."""
    start = terms.sub(coordinate, terms.lane(dimension, extent))
    items = terms.poly(start)
    if any(coefficient % extent for coefficient in items.values()):
        return None
    return terms.floordiv(start, terms.const(extent)) if extent > 1 else start


def _loops(facts: EntryFacts, op: TileOp) -> list[int]:
    """Lines of the loops around an op, outermost first."""
    lines: list[int] = []
    parent: Any = op.parent_op()
    while parent is not None and parent is not facts.entry:
        if getattr(parent, "short", "") in ("for", "loop"):
            lines.append(parent.span.line)
        parent = parent.parent_op()
    return lines[::-1]


def _source(op: TileOp) -> str | None:
    place = op.source
    return None if place is None else f"{place.file.rpartition('/')[2]}:{place.line}"
