"""Blocks one after the other, for kernels whose blocks wait for each other.

Each block has a thread, and one of them runs at a time: a block that polls in vain hands its turn on, first
to the next block that has not begun. What an acquire has seen of a release orders their blocks for the watch
on memory.
"""

from __future__ import annotations

import threading
from collections import deque
from typing import TYPE_CHECKING, Any, Final

from tileir_diff.equivalence.backend import Tensor, torch

if TYPE_CHECKING:
    from collections.abc import Callable

    from tileir_diff.dialect.ir import TileOp

PATIENCE: Final = 8
"""Polls of one block before it hands its turn on."""
ROUNDS: Final = 200
"""Rounds in which nobody finishes before the blocks count as stuck."""
QUIET: Final = 16
"""Rounds in which nobody finishes and no memory changes before they do: what they wait for never comes."""
MOST_WAITING: Final = 512
"""Blocks that wait at once; threads are not free."""


class Stuck(Exception):  # noqa: N818  (no error: it ends the threads of blocks that wait forever)
    """Blocks wait for each other."""


class _Task:
    """One block on its thread; `resume` runs it until it waits or ends."""

    def __init__(self, body: Callable[[], None]) -> None:
        self._body = body
        self._go = threading.Semaphore(0)
        self._back = threading.Semaphore(0)
        self._thread = threading.Thread(target=self._main, daemon=True)
        self.done = False
        self.cancelled = False
        self.error: BaseException | None = None
        self.polls = 0
        self._thread.start()

    def _main(self) -> None:
        self._go.acquire()
        try:
            if not self.cancelled:
                self._body()
        except Stuck:
            pass
        except BaseException as error:
            self.error = error
        self.done = True
        self._back.release()

    def resume(self) -> None:
        self._go.release()
        self._back.acquire()
        if self.error is not None:
            raise self.error

    def wait(self) -> None:
        """Called on the block's own thread: others have their turn."""
        self._back.release()
        self._go.acquire()
        if self.cancelled:
            raise Stuck


class Turns:
    """Whose turn it is."""

    def __init__(self) -> None:
        self._current: _Task | None = None

    def run(
        self,
        count: int,
        body: Callable[[int], None],
        finished: Callable[[], None],
        changes: Callable[[], int],
    ) -> bool:
        """Runs all blocks; False if some are stuck. `changes`: how often memory has changed so far."""
        waiting: deque[_Task] = deque()
        begun, idle, quiet = 0, 0, 0
        try:
            while begun < count or waiting:
                if begun < count and len(waiting) < MOST_WAITING:
                    block = begun
                    begun += 1
                    task = _Task(lambda block=block: body(block))
                else:
                    task = waiting.popleft()
                    idle += 1
                self._current = task
                task.polls = 0
                before = changes()
                task.resume()
                if task.done:
                    idle = quiet = 0
                    finished()
                    continue
                waiting.append(task)
                quiet = quiet + 1 if changes() == before else 0
                if idle > ROUNDS * len(waiting) or quiet > QUIET * len(waiting):
                    return False
        finally:
            self._cancel(waiting)
        return True

    def _cancel(self, waiting: deque[_Task]) -> None:
        for task in waiting:
            if not task.done:
                task.cancelled = True
                task.resume()

    def polled(self) -> None:
        """A block has looked in vain, or so it seems: after a few times it is another's turn."""
        task = self._current
        if task is None:
            return
        task.polls += 1
        if task.polls >= PATIENCE:
            task.wait()


class Happened:
    """Which blocks' past a block has seen, by acquire and release on one address."""

    def __init__(self, count: int) -> None:
        self._count = count
        self._seen: dict[int, set[int]] = {}
        self._released: dict[int, set[int]] = {}

    def access(self, block: int, addresses: list[int], ordering: str) -> None:
        seen = self._seen.setdefault(block, {block})
        for address in addresses:
            if ordering in ("acquire", "acq_rel"):
                seen |= self._released.get(address, set())
            if ordering in ("release", "acq_rel"):
                self._released.setdefault(address, set()).update(seen)

    def known(self, block: int) -> Tensor:
        """By linear id plus 1, whether a block's past is seen; 0 stands for several blocks."""
        seen = self._seen.get(block, set())
        mask = torch.zeros(self._count + 1, dtype=torch.bool)
        if seen:
            mask[torch.tensor([other + 1 for other in seen])] = True
        mask[0] = len(seen) > 1
        return mask


def polling(entry: TileOp) -> list[TileOp]:
    """Memory ops by which a block may wait for another: atomic or ordered, in a loop that ends by break."""
    found: list[TileOp] = []
    everything: Any = entry.walk()
    for op in everything:
        short = op.short
        if not short.startswith(("atomic_cas", "atomic_rmw", "load_")):
            continue
        if op.get("memory_ordering") == "weak":
            continue
        outer = op.parent_op()
        while outer is not None and outer is not entry:
            if outer.short == "loop":
                found.append(op)
                break
            outer = outer.parent_op()
    return found
