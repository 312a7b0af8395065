"""Which entry of the generated module is which entry of the reference."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from tileir_diff.dialect.ir import TileOp
from tileir_diff.graph.values import ops_within
from tileir_diff.match.model import Difference, Site

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tileir_diff.dialect.ir import ModuleOp

EntryPair: TypeAlias = tuple[TileOp | None, TileOp | None]
"""Reference and generated; one of them None where there is no partner."""

MIN_SIMILARITY = 0.2
"""Entries that have less in common are not taken as each other's."""
QUIET = frozenset(
    ("constant", "assume", "reshape", "broadcast", "exti", "make_token", "return", "continue", "yield")
)
"""Ops that front ends emit at will: they say nothing about likeness."""


def match_entries(reference: ModuleOp, generated: ModuleOp, only: str | None) -> list[EntryPair]:
    """Partners by symbol, then by likeness, with what is left over on either side.

    ``only``: the symbol, on either side, of the one entry to compare. Raises InputError where there is none.
    """
    ref, gen = list(reference.entries), list(generated.entries)
    if only is not None:
        ref, gen = _chosen(ref, gen, only)
    if len(ref) == len(gen) == 1:
        return [(ref[0], gen[0])]
    partners: dict[int, int] = {}
    symbols = [symbol(entry) for entry in gen]
    for index, entry in enumerate(ref):
        same = (i for i, name in enumerate(symbols) if name == symbol(entry) and i not in partners.values())
        position = next(same, None)
        if position is not None:
            partners[index] = position
    _by_likeness(ref, gen, partners)
    pairs: list[EntryPair] = [
        (entry, gen[partners[index]] if index in partners else None) for index, entry in enumerate(ref)
    ]
    taken = frozenset(partners.values())
    return pairs + [(None, entry) for position, entry in enumerate(gen) if position not in taken]


def _chosen(ref: list[TileOp], gen: list[TileOp], only: str) -> tuple[list[TileOp], list[TileOp]]:
    """The entries of that symbol; on a side without one, the entry that is most like the other side's."""
    chosen_ref = [entry for entry in ref if symbol(entry) == only]
    chosen_gen = [entry for entry in gen if symbol(entry) == only]
    if not chosen_ref and not chosen_gen:
        from tileir_diff.errors import InputError

        known = ", ".join(f"@{symbol(entry)}" for entry in (*ref, *gen))
        raise InputError(f"no entry @{only} on either side; there are {known}")
    if not chosen_gen and gen:
        chosen_gen = [max(gen, key=lambda entry: similarity(chosen_ref[0], entry))]
    if not chosen_ref and ref:
        chosen_ref = [max(ref, key=lambda entry: similarity(entry, chosen_gen[0]))]
    return chosen_ref, chosen_gen


def _by_likeness(ref: Sequence[TileOp], gen: Sequence[TileOp], partners: dict[int, int]) -> None:
    """Add to ``partners`` those entries without one of their name, the most alike first."""
    scored = [
        (-similarity(entry, other), index, position)
        for index, entry in enumerate(ref)
        if index not in partners
        for position, other in enumerate(gen)
        if position not in partners.values()
    ]
    for score, index, position in sorted(scored):
        if -score >= MIN_SIMILARITY and index not in partners and position not in partners.values():
            partners[index] = position


def symbol(entry: TileOp | None) -> str | None:
    return None if entry is None else str(entry.get("sym_name"))


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
