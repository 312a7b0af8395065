"""Which entry of the generated module is which entry of the reference."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING, TypeAlias

from tileir_diff.dialect.ir import TileOp
from tileir_diff.graph.values import ops_within
from tileir_diff.match.model import Difference, Site

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from tileir_diff.dialect.ir import ModuleOp

EntryPair: TypeAlias = tuple[TileOp | None, TileOp | None]
"""Reference and generated; one of them None where there is no partner."""

MIN_SIMILARITY = 0.2
"""Entries that have less in common are not taken as each other's."""
MAX_TRIALS = 32
"""How many pairs of entries without a partner by name are compared to find the partners."""
MANY = 1 << 30
"""More differences than a comparison finds: two entries that were not compared."""
MANGLED = re.compile(r"_Kt\d.*$|_entry$")
"""What cuTile Python and cuTile Rust put behind the name of a kernel."""
ITANIUM = re.compile(r"_ZN?(?=\d)")
"""What tile C++ puts before the names of a kernel's namespaces and its own, each behind its length."""
QUIET = frozenset(
    ("constant", "assume", "reshape", "broadcast", "exti", "make_token", "return", "continue", "yield")
)
"""Ops that front ends emit at will: they say nothing about likeness."""


def match_entries(
    reference: ModuleOp,
    generated: ModuleOp,
    only: str | None,
    differences: Callable[[TileOp, TileOp], int],
    launched: tuple[str | None, str | None] = (None, None),
) -> list[EntryPair]:
    """Partners by launch, by symbol, by the name in the source, then by content; and what is left over.

    ``only``: the symbol, on either side, of the one entry to compare. ``differences``: how many a comparison
    of two entries finds. ``launched``: the symbols of the two entries that one launch is of.
    Raises InputError where there is no entry of that symbol.
    """
    ref, gen = list(reference.entries), list(generated.entries)
    only = only and only.removeprefix("@")
    if only is not None:
        ref, gen = _chosen(ref, gen, only)
    if len(ref) == len(gen) == 1:
        return [(ref[0], gen[0])]
    partners: dict[int, int] = {}
    symbols = [entry.symbol for entry in gen]
    for index, entry in enumerate(ref):
        if symbol(entry) == launched[0] and launched[1] in symbols:
            partners[index] = symbols.index(launched[1])
    for index, entry in enumerate(ref):
        if index in partners:
            continue
        same = (i for i, name in enumerate(symbols) if name == symbol(entry) and i not in partners.values())
        position = next(same, None)
        if position is not None:
            partners[index] = position
    _by_source_name(ref, gen, partners)
    _by_content(ref, gen, partners, differences)
    pairs: list[EntryPair] = [
        (entry, gen[partners[index]] if index in partners else None) for index, entry in enumerate(ref)
    ]
    taken = frozenset(partners.values())
    pairs += [(None, entry) for position, entry in enumerate(gen) if position not in taken]
    return [pair for pair in pairs if only is None or only in map(symbol, pair)]


def _chosen(ref: list[TileOp], gen: list[TileOp], only: str) -> tuple[list[TileOp], list[TileOp]]:
    """The entries of that symbol; of a side without one, those that the other side has no symbol of."""
    chosen = [[entry for entry in side if symbol(entry) == only] for side in (ref, gen)]
    if not any(chosen):
        from tileir_diff.errors import InputError

        known = ", ".join(f"@{symbol(entry)}" for entry in (*ref, *gen))
        raise InputError(f"no entry @{only} on either side; there are {known}")
    shared = frozenset(map(symbol, ref)) & frozenset(map(symbol, gen))
    others = [[entry for entry in side if symbol(entry) not in shared] or side for side in (ref, gen)]
    return chosen[0] or others[0], chosen[1] or others[1]


def _by_source_name(ref: Sequence[TileOp], gen: Sequence[TileOp], partners: dict[int, int]) -> None:
    """Add to ``partners`` the entries whose name in the source one open entry of the other side has.

    Who launches a kernel by its name gets this one, whatever another one computes.
    """
    taken = frozenset(partners.values())
    open_ref = {index: source_name(entry.symbol) for index, entry in enumerate(ref) if index not in partners}
    open_gen = {index: source_name(entry.symbol) for index, entry in enumerate(gen) if index not in taken}
    counts = Counter(open_ref.values()), Counter(open_gen.values())
    for index, name in open_ref.items():
        if counts[0][name] == counts[1][name] == 1:
            partners[index] = next(position for position, other in open_gen.items() if other == name)


def source_name(symbol: str) -> str:
    """The name of a kernel in its source, as far as the symbol of its entry tells."""
    mangled = ITANIUM.match(symbol)
    if mangled is None:
        return MANGLED.sub("", symbol).strip("_")
    name, rest = symbol, symbol[mangled.end() :]
    while (length := re.match(r"\d+", rest)) is not None:
        end = length.end() + int(length.group())
        name, rest = rest[length.end() : end], rest[end:]
    return name


def _by_content(
    ref: Sequence[TileOp],
    gen: Sequence[TileOp],
    partners: dict[int, int],
    differences: Callable[[TileOp, TileOp], int],
) -> None:
    """Add to ``partners`` those entries without one of their name.

    The most alike are tried first; entries without a difference are partners at once, and of the others those
    with the fewest. Where there are too many to try, likeness decides.
    """
    scored = sorted(
        (-likeness, index, position)
        for index, entry in enumerate(ref)
        if index not in partners
        for position, other in enumerate(gen)
        if position not in partners.values() and (likeness := similarity(entry, other)) >= MIN_SIMILARITY
    )
    tried: list[tuple[int, float, int, int]] = []
    for score, index, position in scored:
        if index in partners or position in partners.values():
            continue
        lone = len(scored) == 1
        count = MANY if lone or len(tried) >= MAX_TRIALS else differences(ref[index], gen[position])
        if count == 0:
            partners[index] = position
        tried.append((count, score, index, position))
    for _, _, index, position in sorted(tried):
        if index not in partners and position not in partners.values():
            partners[index] = position


def symbol(entry: TileOp | None) -> str | None:
    return None if entry is None else entry.symbol


def similarity(ref: TileOp, gen: TileOp) -> float:
    """Share of common ops by name, leaving out those that front ends emit at will; 0 to 1."""
    a, b = _counts(ref), _counts(gen)
    common = sum(min(count, b.get(name, 0)) for name, count in a.items())
    total = max(sum(a.values()), sum(b.values()))
    return round(common / total, 4) if total else 1.0


def _counts(entry: TileOp) -> dict[str, int]:
    counts: dict[str, int] = {}
    for op in ops_within(entry):
        if op.short not in QUIET:
            counts[op.short] = counts.get(op.short, 0) + 1
    return counts


def lone_entry(ref: TileOp | None, gen: TileOp | None) -> Difference:
    """An entry without a partner."""
    if ref is not None:
        name = f"@{symbol(ref)}"
        site = Site(ref, str(symbol(ref)))
        return Difference("entry-signature/entry-missing", site, None, name, "no such entry", "MISSING")
    assert gen is not None
    site = Site(gen, str(symbol(gen)))
    return Difference("entry-signature/entry-extra", None, site, "no such entry", f"@{symbol(gen)}", "EXTRA")
