"""Compares two modules: entries, arguments, effects, values, promises, hints, order."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tileir_diff.graph.terms import Terms
from tileir_diff.match.entries import lone_entry, match_entries, similarity, symbol
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

    Raises InputError for an unknown ``options.entry``, and for launch facts that do not fit the entries.
    """
    if options.launch is not None:
        _check_entries(reference, generated, options.launch)
    result = Comparison([], [], [], [], [], [], [])
    compared: dict[tuple[TileOp, TileOp], EntryResult] = {}

    def of_pair(ref_entry: TileOp, gen_entry: TileOp) -> EntryResult:
        pair = ref_entry, gen_entry
        if pair not in compared:
            compared[pair] = compare_entries(ref_entry, gen_entry, options)
        return compared[pair]

    def differences(ref_entry: TileOp, gen_entry: TileOp) -> int:
        return len(of_pair(ref_entry, gen_entry).differences)

    for ref_entry, gen_entry in match_entries(reference, generated, options.entry, differences):
        if ref_entry is None or gen_entry is None:
            result.differences.append(lone_entry(ref_entry, gen_entry))
            result.pairs.append((symbol(ref_entry), symbol(gen_entry), 0.0))
            continue
        result.pairs.append((symbol(ref_entry), symbol(gen_entry), similarity(ref_entry, gen_entry)))
        _add(result, of_pair(ref_entry, gen_entry))
    return result


def compare_entries(ref_entry: TileOp, gen_entry: TileOp, options: CompareOptions) -> EntryResult:
    """Evaluate, match and explain one pair of entries. Raises InputError as ``compare``."""
    from tileir_diff.match.at_launch import launch_binding
    from tileir_diff.match.beyond_launch import beyond_launch
    from tileir_diff.match.grids import grid_sizes
    from tileir_diff.match.shared_facts import shared_facts

    launch = options.launch
    terms = Terms(options.disabled_equivalences)
    if launch is None:
        return explain(search(terms, ref_entry, gen_entry, options))
    binding = launch_binding(terms, ref_entry, gen_entry, launch)
    if binding is None:
        _check_names(ref_entry, gen_entry, launch)
        shared = options._replace(launch=shared_facts(ref_entry, gen_entry, options, launch))
        result = explain(search(terms, ref_entry, gen_entry, shared))
        result.assumptions.append(f"the launch facts given hold: {launch.source}")
        return result
    grids = launch.reference.grid, launch.generated.grid
    attempt = evaluate(terms, ref_entry, gen_entry, binding, *grids)
    result = explain(attempt)
    result.differences.extend(grid_sizes(attempt, *grids))
    beyond_launch(ref_entry, gen_entry, options, attempt, result)
    return result


def _check_entries(reference: ModuleOp, generated: ModuleOp, launch: Launch) -> None:
    """A launch is one of an entry that is there. Raises InputError otherwise."""
    from tileir_diff.errors import InputError

    for name, module, side in (
        ("reference", reference, launch.reference),
        ("generated", generated, launch.generated),
    ):
        known = [str(symbol(entry)) for entry in module.entries]
        if side.entry is not None and side.entry.removeprefix("@") not in known:
            there = ", ".join(f"@{each}" for each in known)
            message = (
                f"'{name}' is a launch of @{side.entry}, which the {name} does not have; there are {there}"
            )
            raise InputError(message, launch.source)


def _check_names(ref_entry: TileOp, gen_entry: TileOp, launch: Launch) -> None:
    """Every named fact must name an argument of a side. Raises InputError otherwise."""
    from tileir_diff.errors import InputError
    from tileir_diff.match.launch import argument_index

    sides = (ref_entry, launch.reference), (gen_entry, launch.generated)
    for name in dict.fromkeys((*launch.reference.named, *launch.generated.named)):
        if not any(name in side.named and argument_index(entry, name) is not None for entry, side in sides):
            raise InputError(f"{name}=...: neither entry has an argument '{name}'", "--launch")


def _add(result: Comparison, entry: EntryResult) -> None:
    """Append what was found for one pair of entries; a line that holds for several is told once."""
    result.arguments.extend(entry.arguments)
    result.differences.extend(entry.differences)
    result.equivalences.extend(entry.equivalences)
    for target, lines in (
        (result.obligations, entry.obligations),
        (result.assumptions, entry.assumptions),
        (result.not_checked, entry.not_checked),
    ):
        target.extend(line for line in lines if line not in target)
