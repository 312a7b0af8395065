"""How long something takes: time in which the machine does other work is not counted."""

from __future__ import annotations

import time


class Stopwatch:
    """Counts seconds from when it is made: of the clock or of the processors, whichever are fewer."""

    def __init__(self) -> None:
        self._start = time.monotonic()
        self._used = time.process_time()

    def spent(self) -> float:
        """Seconds so far."""
        return min(time.monotonic() - self._start, time.process_time() - self._used)

    def beyond(self, seconds: float | None) -> bool:
        """Whether more than so many seconds are spent; None: never."""
        # the clock alone is much faster to read
        return seconds is not None and time.monotonic() - self._start > seconds and self.spent() > seconds
