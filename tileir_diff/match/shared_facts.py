"""Numbers given for arguments of one side, for the arguments of the other side that stand for the same."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tileir_diff.graph.terms import Terms
from tileir_diff.match.roles import argument_index
from tileir_diff.match.search import search

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tileir_diff.dialect.ir import TileOp
    from tileir_diff.match.launch import Launch, SideLaunch
    from tileir_diff.match.model import CompareOptions
    from tileir_diff.match.search import Attempt


def shared_facts(reference: TileOp, generated: TileOp, options: CompareOptions, launch: Launch) -> Launch:
    """The launch with what it says of one side said of the other too.

    Which arguments correspond is found without the numbers: a mask that a number made simpler is no longer
    like the mask on the other side.
    """
    ref, gen = (
        _by_index(entry, side.named)
        for entry, side in ((reference, launch.reference), (generated, launch.generated))
    )
    if not ref and not gen:
        return launch
    bare = launch._replace(
        reference=launch.reference._replace(named={}), generated=launch.generated._replace(named={})
    )
    unknown = options._replace(launch=bare)
    attempt = search(Terms(options.disabled_equivalences), reference, generated, unknown)
    ref_symbols, gen_symbols = _symbols(attempt)
    known = {ref_symbols[index]: value for index, value in ref.items()}
    known |= {gen_symbols[index]: value for index, value in gen.items() if gen_symbols[index] not in known}
    return launch._replace(
        reference=_with(launch.reference, ref_symbols, known, ref),
        generated=_with(launch.generated, gen_symbols, known, gen),
    )


def _by_index(entry: TileOp, named: Mapping[str, float]) -> dict[int, float]:
    found = ((argument_index(entry, name), value) for name, value in named.items())
    return {index: value for index, value in found if index is not None}


def _symbols(attempt: Attempt) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The terms of the arguments of both sides: equal where they stand for the same."""
    return attempt.reference.arguments, attempt.generated.arguments


def _with(
    side: SideLaunch, symbols: tuple[int, ...], known: Mapping[int, float], own: Mapping[int, float]
) -> SideLaunch:
    """The side with what is known of its other arguments, by their positions."""
    more = {
        str(index): known[term] for index, term in enumerate(symbols) if term in known and index not in own
    }
    return side._replace(named={**side.named, **more})
