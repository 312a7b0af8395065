"""Compares two modules: entries, arguments, effects, values, promises, hints, order."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from tileir_diff.errors import InputError
from tileir_diff.graph.terms import Terms
from tileir_diff.match.deep import deep
from tileir_diff.match.entries import MANY, lone_entry, match_entries, similarity, symbol
from tileir_diff.match.explain import explain
from tileir_diff.match.model import Comparison
from tileir_diff.match.search import evaluate, search

if TYPE_CHECKING:
    from tileir_diff.dialect.ir import ModuleOp, TileOp
    from tileir_diff.match.explain import EntryResult
    from tileir_diff.match.launch import Launch
    from tileir_diff.match.model import CompareOptions


def compare(reference: ModuleOp, generated: ModuleOp, options: CompareOptions) -> Comparison:
    """Compare every entry of the reference with its partner.

    Raises InputError for an unknown ``options.entry``, for launch facts that do not fit the entries, and for
    what nests too deeply.
    """
    if options.launch is not None:
        from tileir_diff.match.launch_facts import check_launch

        check_launch(reference, generated, options.launch)
    result = Comparison([], [], [], [], [], [], [])
    compared: dict[tuple[TileOp, TileOp], EntryResult] = {}

    def of_pair(ref_entry: TileOp, gen_entry: TileOp) -> EntryResult:
        pair = ref_entry, gen_entry
        if pair not in compared:
            compared[pair] = compare_entries(ref_entry, gen_entry, options)
        return compared[pair]

    def differences(ref_entry: TileOp, gen_entry: TileOp) -> int:
        try:
            return len(of_pair(ref_entry, gen_entry).differences)
        except InputError:  # a launch that does not fit these two may be one of two others
            return MANY

    pairs = match_entries(reference, generated, options.entry, differences, _launched(options.launch))
    for ref_entry, gen_entry in pairs:
        if ref_entry is None or gen_entry is None:
            result.differences.append(lone_entry(ref_entry, gen_entry))
            result.pairs.append((symbol(ref_entry), symbol(gen_entry), 0.0))
            continue
        result.pairs.append((symbol(ref_entry), symbol(gen_entry), similarity(ref_entry, gen_entry)))
        _add(result, of_pair(ref_entry, gen_entry))
    return result


def compare_entries(ref_entry: TileOp, gen_entry: TileOp, options: CompareOptions) -> EntryResult:
    """Evaluate, match and explain one pair of entries. Raises InputError as ``compare``."""
    with deep():
        return _compare_entries(ref_entry, gen_entry, options)


def _compare_entries(ref_entry: TileOp, gen_entry: TileOp, options: CompareOptions) -> EntryResult:
    from tileir_diff.match.at_launch import launch_binding
    from tileir_diff.match.beyond_launch import beyond_launch
    from tileir_diff.match.grids import both_single, grid_sizes
    from tileir_diff.match.launch_facts import applies, by_position
    from tileir_diff.match.launched_sizes import with_sizes
    from tileir_diff.match.shared_facts import shared_facts

    launch = options.launch
    terms = Terms(options.disabled_equivalences)
    if launch is None:
        return explain(search(terms, ref_entry, gen_entry, options), options.prover)
    if not applies(launch, ref_entry, gen_entry):
        result = explain(search(terms, ref_entry, gen_entry, options._replace(launch=None)), options.prover)
        result.assumptions.append(f"@{symbol(ref_entry)}: the launch is not one of it, and was not used")
        return result
    launch, taken = both_single(by_position(launch, ref_entry, gen_entry))
    grids = launch.reference.grid, launch.generated.grid
    binding = launch_binding(terms, ref_entry, gen_entry, launch)
    if binding is None:
        shared = options._replace(launch=shared_facts(ref_entry, gen_entry, options, launch))
        sides = enumerate((launch.reference, launch.generated))
        given = frozenset((at, int(index)) for at, side in sides for index in side.named)
        attempt = search(terms, ref_entry, gen_entry, shared)
        result = explain(attempt, options.prover, given)
        result.differences.extend(grid_sizes(attempt, *grids, result.differences))
        result.obligations.extend(taken)
        result.assumptions.append(f"the launch facts given hold: {launch.source}")
        return result
    attempt = evaluate(terms, ref_entry, gen_entry, binding, *grids)
    result = explain(attempt, options.prover)
    result.differences.extend(grid_sizes(attempt, *grids, result.differences))
    result.obligations.extend(taken)
    result.differences = with_sizes(ref_entry, gen_entry, launch, options, result.differences)
    at_launch = {"launch": True}
    result.differences = [replace(each, detail={**each.detail, **at_launch}) for each in result.differences]
    beyond_launch(ref_entry, gen_entry, options, attempt, result)
    return result


def _launched(launch: Launch | None) -> tuple[str | None, str | None]:
    """The entries of reference and generated that the launch names."""
    sides = (None, None) if launch is None else (launch.reference, launch.generated)
    names = [None if side is None or side.entry is None else side.entry.removeprefix("@") for side in sides]
    return names[0], names[1]


def _add(result: Comparison, entry: EntryResult) -> None:
    """Append what was found for one pair of entries; a line that holds for several is told once."""
    result.arguments.extend(entry.arguments)
    result.differences.extend(entry.differences)
    result.equivalences.extend(entry.equivalences)
    if entry.matched is not None:
        result.matched.append(entry.matched)
    for target, lines in (
        (result.obligations, entry.obligations),
        (result.assumptions, entry.assumptions),
        (result.not_checked, entry.not_checked),
    ):
        target.extend(line for line in lines if line not in target)
