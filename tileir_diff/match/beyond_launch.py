"""Differences that one launch hides: sizes that fill the tiles, or two sizes that happen to be equal."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from tileir_diff.graph.terms import Terms
from tileir_diff.match.explain import explain
from tileir_diff.match.model import CompareOptions
from tileir_diff.match.obligations import block_only
from tileir_diff.match.search import UNKNOWN_GRID, evaluate, refine, search
from tileir_diff.match.tokens import memory_nodes
from tileir_diff.match.witness import differ

if TYPE_CHECKING:
    from tileir_diff.dialect.ir import TileOp
    from tileir_diff.graph.kernel import Effect, Kernel
    from tileir_diff.graph.terms import Term
    from tileir_diff.match.effects import EffectPair
    from tileir_diff.match.explain import EntryResult
    from tileir_diff.match.search import Attempt

PLACES = frozenset(
    {
        "mask",
        "padding",
        "bounds",
        "addressing",
        "stride",
        "grid",
        "dim-map",
        "shape-op",
        "loop",
        "constant",
        "control-flow",
        "integer-mode",
        "arithmetic",
        "tile-shape",
    }
)
"""Families of differences in where and how often memory is accessed."""
EQUAL = (0, 0, 0)
"""The score of a matching in which all is equal."""


def beyond_launch(
    ref_entry: TileOp, gen_entry: TileOp, options: CompareOptions, at_launch: Attempt, result: EntryResult
) -> None:
    """Whether the result holds for every launch, where both sides take the same runtime parameters.

    A difference that this launch hides is added to ``result`` if there are other sizes for which an address,
    a mask or a trip count really differs, of an access that is equal ``at_launch``. Unless all is equal at
    every launch, under the same conditions on the host, the result says that it holds for this one.
    """
    types = [[arg.type for arg in entry.regions[0].block.args] for entry in (ref_entry, gen_entry)]
    if types[0] == types[1]:
        attempt = search(Terms(options.disabled_equivalences), ref_entry, gen_entry, CompareOptions())
        if attempt.match.score != EQUAL:
            _add_hidden(_with_constants(attempt, ref_entry, gen_entry), at_launch, result)
        elif not _settles(explain(attempt), result):
            return
    source = options.launch.source if options.launch is not None else ""
    result.assumptions.append(f"the result holds for the launch given: {source}".removesuffix(": "))


def _settles(without: EntryResult, result: EntryResult) -> bool:
    """Whether the launch settles a condition on the host, or a difference, that there is without it."""
    conditions = set(without.obligations) - set(result.obligations)
    return bool(conditions) or len(without.differences) > len(result.differences)


def _add_hidden(attempt: Attempt, at_launch: Attempt, result: EntryResult) -> None:
    """Add what really differs for other sizes, in an access that is equal ``at_launch``."""
    told = {id(each.generated.op) for each in result.differences if each.generated is not None}
    pairs = (*attempt.match.pairs, *attempt.match.loads)
    explained = _unequal(at_launch) | told
    read = frozenset(
        node
        for effect in attempt.generated.effects
        if id(effect.op) in explained and effect.result is not None
        for node in memory_nodes(attempt.generated, effect.result)
    )
    for pair in pairs:
        ops = {id(pair.reference.effect.op), id(pair.generated.effect.op)}
        if not ops.isdisjoint(explained) or _rests_on(attempt.generated, pair.generated.effect, read):
            pair.equal = True  # has been explained, and what it computes may rest on what is wrong
    if not any(_witnessed(attempt.reference, pair) for pair in pairs):
        return
    for difference in explain(attempt).differences:
        place = difference.generated
        family = difference.rule.split("/")[0]
        if family in PLACES and place is not None and id(place.op) not in explained:
            note = "no effect at the launch given; another one shows it"
            result.differences.append(replace(difference, note=note))


def _unequal(attempt: Attempt) -> set[int]:
    """The accesses, by the id of their op, that differ."""
    match = attempt.match
    lone = (*match.only_reference, *match.only_generated, *match.lone_loads[0], *match.lone_loads[1])
    pairs = [pair for pair in (*match.pairs, *match.loads) if not pair.equal]
    unequal = [side for pair in pairs for side in (pair.reference, pair.generated)]
    return {id(item.effect.op) for item in (*unequal, *lone)}


def _rests_on(kernel: Kernel, effect: Effect, read: frozenset[Term]) -> bool:
    """Whether what an access writes is made of some values that are read."""
    work = list(effect.values)
    seen: set[Term] = set()
    while work and read:
        node = work.pop()
        if node in read:
            return True
        if node not in seen:
            seen.add(node)
            work.extend(kernel.terms.args[node])
    return False


def _with_constants(attempt: Attempt, ref_entry: TileOp, gen_entry: TileOp) -> Attempt:
    """The matching, found where nothing is known of the launch, with the sizes that one side fixes."""
    constants = refine(attempt, constants_only=True)
    if constants is None:
        return attempt
    terms = attempt.reference.terms
    fixed = evaluate(terms, ref_entry, gen_entry, constants, UNKNOWN_GRID, UNKNOWN_GRID)
    # a size that one side fixes, and that the launch makes equal, is no difference
    return fixed if fixed.match.score <= attempt.match.score else attempt


def _witnessed(kernel: Kernel, pair: EffectPair) -> bool:
    """Whether values exist for which the two accesses differ in address, lanes or number."""
    terms = kernel.terms
    ref, gen = pair.reference, pair.generated
    if ref.effect.padding != gen.effect.padding and ref.condition == gen.condition:
        return differ(terms, ref.condition, terms.true) is not None
    if pair.equal and ref.effect.padding == gen.effect.padding:
        return False
    trips = zip(ref.trips, gen.trips, strict=True) if len(ref.trips) == len(gen.trips) else ()
    if any(differ(terms, a, b) for a, b in trips):
        return True
    if ref.pointer is not None and gen.pointer is not None and differ(terms, ref.pointer, gen.pointer):
        return True
    lanes = (
        terms.conjunction(atom for atom in terms.conjuncts(side.condition) if not block_only(kernel, atom))
        for side in (ref, gen)
    )
    return differ(terms, *lanes) is not None
