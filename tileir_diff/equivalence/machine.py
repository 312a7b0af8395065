"""Runs one entry on a set of blocks at once.

What an op does is a function in the module of its subject (see HANDLERS at the end); this one has the state
that they share. Values are described in `frames`, memory in `memory`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tileir_diff.equivalence import (
    atomics,
    constants,
    contractions,
    control,
    conversions,
    doubts,
    floats,
    folds,
    integers,
    pointers,
    promises,
    shapes,
    views,
)
from tileir_diff.equivalence.clock import Stopwatch
from tileir_diff.equivalence.dtypes import element, shape
from tileir_diff.equivalence.frames import Frame, Outcome
from tileir_diff.equivalence.log import block_of
from tileir_diff.equivalence.model import Freedom, Printed, Traced

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from xdsl.ir import Block, SSAValue

    from tileir_diff.dialect.ir import TileOp
    from tileir_diff.equivalence.backend import Tensor
    from tileir_diff.equivalence.liveness import Liveness
    from tileir_diff.equivalence.log import Grid, Log
    from tileir_diff.equivalence.memory import Memory
    from tileir_diff.equivalence.model import Limits
    from tileir_diff.equivalence.noise import Noise
    from tileir_diff.equivalence.order import Happened, Turns

TERMINATORS = frozenset({"yield", "continue", "break", "return"})
IMPLICIT = {"for": "continue", "loop": "continue", "if": "yield"}
COMPUTED = ("assume/", "conversion/", "integer/")
"""Rules about the values of operands, which undetermined lanes do not have."""


class TimeUp(Exception):  # noqa: N818  (no error: the run ends early, and says so)
    """The seconds of a run are spent."""


class Machine:
    """The state of a run.

    `frame`: the blocks that run now, and their values. `turns`: hands the turn to another block where blocks
    run one after the other. `tracing`: lines whose results are kept, for the block `traced_block`.
    """

    def __init__(
        self,
        entry: TileOp,
        grid: Grid,
        memory: Memory,
        log: Log,
        liveness: Liveness,
        limits: Limits,
        tracing: frozenset[int] = frozenset(),
        traced_block: int = 0,
        noise: Noise | None = None,
    ) -> None:
        self.entry = entry
        self.grid = grid
        self.globals: dict[str, int] = {}
        self.memory = memory
        self.log = log
        self.limits = limits
        self.dying = liveness.dying
        self.tracing = tracing
        self.traced_block = traced_block
        self.noise = noise
        self.turns: Turns | None = None
        self.polls: frozenset[TileOp] = frozenset()
        self.happened: Happened | None = None
        self.checked: dict[TileOp, bool] = {}
        self._constants: dict[TileOp, Tensor] = {}
        self.frame: Frame = None  # pyright: ignore[reportAttributeAccessIssue]  (set before any op runs)
        self.doubtful = False
        self.complete = True
        self.spent = False
        self.watch = Stopwatch()
        self.freedoms: dict[tuple[TileOp, str], Freedom] = {}
        self.traced: list[Traced] = []
        self.printed: list[Printed] = []
        self.approximations: dict[str, None] = {}

    def run(self, block: Block, frame: Frame) -> list[Outcome]:
        """Runs a region; returns how its blocks left it."""
        outcomes: list[Outcome] = []
        self.frame = frame
        ops: Any = block.ops
        for op in ops:
            self.tick()
            short = op.short
            if short in TERMINATORS:
                outcomes.append(self.outcome(short, op.operands))
                return outcomes
            left = HANDLERS[short](self, op)
            if left:
                outcomes += left
                if not len(self.frame):
                    return outcomes
            if self.doubtful:
                doubts.spread(self, op)
            if self.tracing and op.results:
                self._trace(op)
            for value in self.dying.get(op, ()):
                self.frame.drop(value)
        kind = IMPLICIT.get(block.parent_op().short, "return")  # pyright: ignore
        outcomes.append(self.outcome(kind, ()))
        return outcomes

    def outcome(self, kind: str, values: Sequence[SSAValue]) -> Outcome:
        """The blocks of the current frame leave their region."""
        frame = self.frame
        return Outcome(
            kind,
            frame.rows,
            tuple([frame.get(value) for value in values]),
            tuple([frame.doubt(value) for value in values]) if self.doubtful else (None,) * len(values),
        )

    def keep(self, positions: Tensor) -> None:
        """Goes on with the blocks at these positions; the others have left the region."""
        kept = self.frame.part(positions)
        kept.region = False
        self.frame = kept

    # ---- values

    def get(self, value: SSAValue) -> Any:
        return self.frame.get(value)

    def one(self, op: TileOp, group: str) -> Any:
        """The value of an operand that may be absent: None."""
        value = op.one(group)
        return None if value is None else self.frame.get(value)

    def set(self, op: TileOp, data: Any, index: int = 0) -> None:
        self.frame.set(op.results[index], data)

    def set_doubt(self, op: TileOp, unknown: Tensor, index: int = 0) -> None:
        """Lanes of a result are undetermined."""
        self.doubtful = True
        self.frame.unknown[op.results[index]] = unknown

    def moved(self, data: Tensor, name: str, units: float | Tensor = 1.0) -> Tensor:
        """A rounded result, or in a run with noise another one that it might have been."""
        return data if self.noise is None else self.noise.moved(data, name, units)

    def full(self, value: SSAValue) -> Tensor:
        """The value with all of its tile's extents; the first dimension may still be 1."""
        data = self.frame.get(value)
        return data.expand(data.shape[0], *shape(value))

    def once(self, op: TileOp, make: Callable[[], Tensor]) -> Tensor:
        """What an op gives each time, made the first time."""
        known = self._constants.get(op)
        if known is None:
            known = self._constants[op] = make()
        return known

    # ---- what happened

    def report(
        self,
        rule: str,
        op: TileOp,
        bad: Tensor,
        values: dict[str, Tensor] | None = None,
        message: str = "",
    ) -> bool:
        """Reports the lanes set in `bad`, if there are any; an undetermined value is no evidence."""
        if self.doubtful and rule.startswith(COMPUTED):
            for operand in op.operands:
                unknown = self.frame.doubt(operand)
                bad = bad if unknown is None else bad & ~unknown
        return self.log.lanes(rule, op, bad, self.frame.blocks, values, message)

    def free(self, op: TileOp, what: str, bound: str) -> None:
        """The hardware may choose the result of an op within a bound."""
        self.freedoms.setdefault((op, what), Freedom(op, what, bound))

    def poll(self, op: TileOp) -> None:
        """Called before an access to memory; a block that waits for another hands its turn on."""
        if self.turns is not None and op in self.polls:
            frame = self.frame
            self.turns.polled()
            self.frame = frame

    def synchronise(self, op: TileOp, addresses: Tensor, mask: Tensor | None) -> None:
        """An acquire sees what a release at the same address has seen; for blocks that run in order."""
        ordering = op.get("memory_ordering")
        if self.happened is None or ordering in ("weak", "relaxed"):
            return
        chosen = addresses if mask is None else addresses[mask.expand(addresses.shape)]
        self.happened.access(int(self.frame.blocks[0]), chosen.reshape(-1).unique().tolist(), ordering)

    def tick(self) -> None:
        """Called before each op. Raises TimeUp."""
        if self.watch.beyond(self.limits.seconds):
            raise TimeUp

    def block_at(self, row: int) -> tuple[int, int, int]:
        return block_of(int(self.frame.blocks[row]), self.grid)

    def _trace(self, op: TileOp) -> None:
        if op.span.line not in self.tracing:
            return
        here = (self.frame.blocks == self.traced_block).nonzero()
        if not len(here):
            return
        row = int(here[0])
        for result in op.results:
            data = self.frame.get(result)
            if data is None or isinstance(data, tuple):
                continue
            part = data[row if data.shape[0] > 1 else 0].expand(shape(result))
            shown = constants.plain(part, element(result))
            name = f"%{result.name_hint}" if result.name_hint else ""
            self.traced.append(Traced(op, name, block_of(self.traced_block, self.grid), shown))


if TYPE_CHECKING:
    Handler = Callable[[Machine, TileOp], list[Outcome] | None]

HANDLERS: dict[str, Handler] = {
    **atomics.HANDLERS,
    **constants.HANDLERS,
    **contractions.HANDLERS,
    **control.HANDLERS,
    **conversions.HANDLERS,
    **floats.HANDLERS,
    **folds.HANDLERS,
    **integers.HANDLERS,
    **pointers.HANDLERS,
    **promises.HANDLERS,
    **shapes.HANDLERS,
    **views.HANDLERS,
}
"""What each op does."""
