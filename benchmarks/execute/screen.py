"""Whether a mutant is seen to differ when it runs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from benchmarks.execute.kernel import OverBudgetError, Place, UnsupportedError, run
from benchmarks.execute.launches import Launch, invented
from benchmarks.execute.memory import Memory
from tileir_diff.dialect import parse_text

if TYPE_CHECKING:
    from benchmarks.execute.numbers import Array
    from tileir_diff.dialect.ir import TileOp

DIFFERS = "differs"
SAME = "same"
UNKNOWN = "unknown"
OVER = "over budget"
BUDGET = 20_000
TOTAL = 25_000
"""Ops, large tiles counted more often, that all runs of a mutant may take."""
WHOLE = 25_000
"""The same for all blocks of a launch together."""
SEEDS = (1, 2, 3, 4, 5)
Blocks = tuple[tuple[int, int, int], ...]


# What numpy and the handlers raise where a mutant makes shapes or numbers that do not fit.
FAULTS = (ValueError, IndexError, KeyError, TypeError, OverflowError, ArithmeticError)


@dataclass(frozen=True)
class Trace:
    """What a run did to memory and what it told."""

    addresses: Array
    values: Array
    outside: frozenset[tuple[str, int]]
    events: frozenset[tuple[str, tuple[float, ...]]]

    def same(self, other: Trace) -> bool:
        """Whether `other` did and told the same; it may break fewer promises."""
        if self.outside != other.outside or self.addresses.shape != other.addresses.shape:
            return False
        if not np.array_equal(self.addresses, other.addresses):
            return False
        told = [
            {event for event in trace.events if not event[0].startswith("assume ")} for trace in (self, other)
        ]
        broken = {event for event in other.events if event[0].startswith("assume ")} - self.events
        return (
            told[0] == told[1]
            and not broken
            and np.allclose(self.values, other.values, rtol=1e-6, atol=1e-9, equal_nan=True)
        )


class Screen:
    """Runs of one dump, to hold its mutants against: of some blocks, each alone, or of the whole grid.

    A mutant that a block alone shows may still leave the same once all have run, where blocks do each other's
    work.
    """

    def __init__(self, text: str, launches: list[Launch] | None = None, *, whole: bool = False) -> None:
        entries = parse_text(text).entries
        self.runs: list[tuple[str, Launch, Blocks, Trace]] = []
        self.budget = WHOLE if whole else BUDGET
        self.why_not = ""
        self.recorded = launches is not None
        runs: list[tuple[int, tuple[str, Launch, Blocks, Trace]]] = []
        for entry in entries:
            given = launches or [made for seed in SEEDS if (made := invented(entry, seed)) is not None]
            for launch in given:
                for blocks in (
                    [tuple(np.ndindex(*launch.grid))] if whole else [(each,) for each in launch.blocks]
                ):
                    trace, cost = self._trace(entry, launch, blocks)
                    if isinstance(trace, Trace):
                        runs.append((cost, (str(entry.get("sym_name")), launch, blocks, trace)))
                    else:
                        self.why_not = trace
        # The cheapest first: most mutants show at once, and long runs are few.
        spent = 0
        for cost, one in sorted(runs, key=lambda run: run[0]):
            spent += cost
            if not self.runs or spent <= TOTAL:
                self.runs.append(one)

    def _trace(self, entry: TileOp, launch: Launch, blocks: Blocks) -> tuple[Trace | str, int]:
        """What a run did, or why there is none, and what it cost."""
        if len(launch.arguments) != len(entry.regions[0].block.args):
            return "arguments", 0
        memory = Memory(dict(launch.sizes), 5)
        budget = self.budget
        try:
            for block in blocks:
                place = Place(block, launch.grid, memory, budget)
                run(entry, list(launch.arguments), place)
                budget = place.budget
        except UnsupportedError as error:
            return f"not modelled: {error}", 0
        except OverBudgetError:
            return OVER, 0
        except FAULTS as error:
            return f"{type(error).__name__}: {error}", 0
        addresses, values = memory.result()
        trace = Trace(addresses, values, frozenset(memory.outside), frozenset(memory.events))
        return trace, self.budget - budget

    def judge(self, text: str) -> tuple[str, int]:
        """DIFFERS, SAME or UNKNOWN, and the number of runs that tell; those that take too long do not."""
        entries = {str(entry.get("sym_name")): entry for entry in parse_text(text).entries}
        agreed, long = 0, False
        for name, launch, blocks, before in self.runs:
            entry = entries.get(name)
            if entry is None:
                return UNKNOWN, agreed
            trace, _ = self._trace(entry, launch, blocks)
            if isinstance(trace, str):
                long = long or trace == OVER
                continue
            if not before.same(trace):
                return DIFFERS, agreed + 1
            agreed += 1
        return (SAME if agreed and not long else UNKNOWN), agreed
