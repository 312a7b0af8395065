"""Runs a kernel on the CPU: `interpret` is the whole of it.

Blocks run together, in chunks as large as the memory limit allows. Where they turn out to touch each other's
memory, everything is undone and they run one after the other.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from tileir_diff.equivalence.backend import torch
from tileir_diff.equivalence.clock import Stopwatch
from tileir_diff.equivalence.dtypes import literal
from tileir_diff.equivalence.frames import Frame
from tileir_diff.equivalence.host import Empty, bind
from tileir_diff.equivalence.liveness import Liveness
from tileir_diff.equivalence.log import Log, block_of
from tileir_diff.equivalence.machine import Machine, TimeUp
from tileir_diff.equivalence.memory import DependentBlocks, Memory, size_of, to_memory
from tileir_diff.equivalence.model import Limits, Run
from tileir_diff.equivalence.order import Happened, Turns, polling
from tileir_diff.equivalence.parameters import choose_entry
from tileir_diff.errors import InputError

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterable, Sequence

    from tileir_diff.dialect.ir import ModuleOp, TileOp
    from tileir_diff.equivalence.noise import Noise

    Progress = Callable[[int, int], None]
    """Called with the number of blocks that have run, and of all."""

__all__ = ["Empty", "interpret"]

LARGEST: Final = (1 << 31) - 1
"""Blocks along an axis, whose number is an i32."""


def interpret(
    source: str | os.PathLike[str] | ModuleOp,
    args: Sequence[Any],
    *,
    grid: int | Sequence[int],
    entry: str | None = None,
    trace: Iterable[int] = (),
    trace_block: Sequence[int] = (0, 0, 0),
    limits: Limits = Limits(),
    progress: Progress | None = None,
) -> Run:
    """Runs one kernel; the arrays in `args` are changed in place.

    `source` is a path, "-" or a parsed module; `entry` is needed where it holds several kernels.
    `args` are the parameters in the entry's order: a torch tensor or numpy array for each pointer (None: a
    null pointer; `Empty(array)`: its content means nothing), a number for each scalar.
    `grid` is the number of blocks along x, y, z. `trace` are lines of the dump whose results are kept, for
    the block `trace_block`.

    Raises InputError for input that cannot be read or does not verify, and for values that do not go with
    the parameters. What the kernel does wrong is a finding in the result, never an exception.
    """
    from tileir_diff.api import load

    module, dump = load(source, "source")
    chosen = choose_entry(module, entry, dump.path)
    return run_entry(
        module, chosen, dump.path, args, grid=grid, trace=trace, trace_block=trace_block, limits=limits,
        progress=progress,
    )  # fmt: skip


def run_entry(
    module: ModuleOp,
    entry: TileOp,
    path: str,
    args: Sequence[Any],
    *,
    grid: int | Sequence[int],
    trace: Iterable[int] = (),
    trace_block: Sequence[int] = (0, 0, 0),
    limits: Limits = Limits(),
    progress: Progress | None = None,
) -> Run:
    """As `interpret`, of a module that verifies; `path` is what errors name. Raises InputError."""
    launch = _Launch(module, entry, path, _grid(grid), limits, progress)
    launch.tracing = frozenset(trace)
    launch.traced_block = _linear(trace_block, launch.grid)
    launch.bind(args)
    return launch.run()


class Prepared:
    """An entry of a module that verifies, to be run many times."""

    def __init__(self, module: ModuleOp, entry: TileOp, path: str = "") -> None:
        self.module, self.entry, self.path = module, entry, path
        self._liveness = Liveness(entry)

    def run(
        self,
        args: Sequence[Any],
        grid: tuple[int, int, int],
        limits: Limits = Limits(),
        *,
        noise: Noise | None = None,
        reach: dict[str, int] | None = None,
    ) -> Run:
        """As `interpret`. `noise` moves results; `reach` gets, by buffer, one past the last byte accessed.

        Raises InputError for values that do not go with the parameters.
        """
        launch = _Launch(self.module, self.entry, self.path, grid, limits, None, self._liveness)
        launch.noise = noise
        launch.memory.reach = reach
        launch.bind(args)
        return launch.run()


class _Launch:
    """One launch: the memory stays, the machine is made anew where the blocks must run another way."""

    def __init__(
        self,
        module: ModuleOp,
        entry: TileOp,
        path: str,
        grid: tuple[int, int, int],
        limits: Limits,
        progress: Progress | None,
        liveness: Liveness | None = None,
    ) -> None:
        self.module, self.entry, self.path, self.grid = module, entry, path, grid
        self.limits, self.progress = limits, progress
        self.count = grid[0] * grid[1] * grid[2]
        self.liveness = liveness or Liveness(entry)
        self.noise: Noise | None = None
        self.name = entry.symbol
        self.memory = Memory(Log(self.name, grid))
        self.memory.alone = self.count == 1
        self.tracing: frozenset[int] = frozenset()
        self.traced_block = 0
        self.done = 0
        self.watch = Stopwatch()
        self.globals: dict[str, int] = {}

    def bind(self, args: Sequence[Any]) -> None:
        """Lays out the memory. Raises InputError."""
        parameters = tuple(self.entry.regions[0].block.args)
        self.values, self.arrays = bind(self.memory, parameters, args, self.path)
        self.parameters = parameters
        for each in self.module.globals:
            self._add_global(each)
        self.kept = len(self.memory.buffers)

    def _add_global(self, op: TileOp) -> None:
        """A global; one without initial values (some printers lose them) counts as never written."""
        name, value = str(op.get("sym_name")), op.get("value")
        if value is None:
            kind = op.get("type")
            self.globals[name] = self.memory.allocate(f"@{name}", kind.size * size_of(kind.element.name)).base
            return
        data = literal(value).expand(1, *value.shape).reshape(-1).contiguous()
        raw = to_memory(data, value.element.name).view(torch.uint8).clone()
        constant = bool(op.get("constant"))
        self.globals[name] = self.memory.add(f"@{name}", raw, constant=constant).base

    def run(self) -> Run:
        waits = polling(self.entry) if self.count > 1 else []
        if waits:
            self.memory.log.add("order/blocks", waits[0], message="blocks wait for each other: run in order")
            return self._in_order()
        machine = self._machine()
        try:
            return self._together(machine)
        except DependentBlocks as first:
            self._undo()
            if first.track:
                self.memory.track = True
                try:
                    return self._together(self._machine())
                except DependentBlocks as second:
                    self._undo()
                    first = second
            self.memory.log.add("order/blocks", first.op)
            return self._in_order()

    def _machine(self) -> Machine:
        machine = Machine(
            self.entry,
            self.grid,
            self.memory,
            self.memory.log,
            self.liveness,
            self.limits,
            self.tracing,
            self.traced_block,
            self.noise,
        )
        machine.globals = self.globals
        self.watch = machine.watch
        self.done = 0
        return machine

    def _undo(self) -> None:
        del self.memory.buffers[self.kept :]
        for buffer in self.memory.buffers:
            buffer.restore()
        self.memory.log = Log(self.name, self.grid)

    def _together(self, machine: Machine) -> Run:
        chunk = max(1, self.limits.memory // max(1, self.liveness.peak))
        try:
            for start in range(0, self.count, chunk):
                self._blocks(machine, start, min(chunk, self.count - start))
                self._advance(min(chunk, self.count - start))
        except TimeUp:
            self._stopped(machine)
        return self._result(machine, "together")

    def _blocks(self, machine: Machine, start: int, count: int) -> None:
        blocks = torch.arange(start, start + count)
        frame = Frame(torch.arange(count), blocks)
        for parameter, value in zip(self.parameters, self.values, strict=True):
            frame.set(parameter, value)
        machine.run(self.entry.regions[0].block, frame)

    def _in_order(self) -> Run:
        machine = self._machine()
        machine.turns = turns = Turns()
        machine.polls = frozenset(polling(self.entry))
        machine.happened = Happened(self.count)
        self.memory.together = False
        self.memory.known = machine.happened.known
        try:
            if not turns.run(
                self.count,
                lambda block: self._blocks(machine, block, 1),
                lambda: self._advance(1),
                lambda: self.memory.changes,
            ):
                waiting = next(iter(polling(self.entry)), None)
                self.memory.log.add("order/stuck", waiting)
                machine.complete = False
        except TimeUp:
            self._stopped(machine)
        return self._result(machine, "in order")

    def _stopped(self, machine: Machine) -> None:
        machine.complete = False
        text = f"stopped after {self.limits.seconds} s: {self.done} of {self.count} blocks had run"
        machine.approximations.setdefault(text)
        machine.spent = True

    def _advance(self, blocks: int) -> None:
        self.done += blocks
        if self.watch.beyond(self.limits.seconds) and self.done < self.count:
            raise TimeUp
        if self.progress is not None:
            self.progress(self.done, self.count)

    def _result(self, machine: Machine, how: str) -> Run:
        changed: list[str] = []
        undetermined: dict[str, Any] = {}
        for index in self.arrays:
            address = int(self.values[index])
            buffer = next(
                each for each in self.memory.buffers if each.base <= address <= each.base + each.size
            )
            name = _parameter_name(self.parameters[index], index)
            if buffer.before is not None and not torch.equal(buffer.before, buffer.data):
                changed.append(name)
            if buffer.unsure is not None and bool(buffer.unsure.any()):
                undetermined[name] = buffer.unsure[address - buffer.base :]
        return Run(
            entry=self.name,
            grid=self.grid,
            findings=self.memory.log.findings,
            freedoms=list(machine.freedoms.values()),
            traced=machine.traced,
            printed=machine.printed,
            changed=changed,
            undetermined=undetermined,
            how=how,
            complete=machine.complete,
            spent=machine.spent,
            approximations=[*self.module.approximations, *machine.approximations],
        )


def _parameter_name(parameter: Any, index: int) -> str:
    return str(parameter.name_hint or index)


def _grid(grid: int | Sequence[int]) -> tuple[int, int, int]:
    sizes = [grid] if isinstance(grid, int) else list(grid)
    if not 1 <= len(sizes) <= 3 or any(size < 1 for size in sizes):
        raise InputError(f"a grid has one to three sizes of at least 1, not {tuple(sizes)}", "grid")
    if max(sizes) > LARGEST:
        raise InputError(f"a grid has at most {LARGEST} blocks along an axis, not {max(sizes)}", "grid")
    x, y, z = (*sizes, 1, 1)[:3]
    return x, y, z


def _linear(block: Sequence[int], grid: tuple[int, int, int]) -> int:
    x, y, z = (*block, 0, 0, 0)[:3]
    linear = x + grid[0] * (y + grid[1] * z)
    if (x, y, z) != block_of(linear, grid) or z >= grid[2] or min(x, y, z) < 0:
        raise InputError(f"block {tuple(block)} is not in the grid {grid}", "trace_block")
    return linear
