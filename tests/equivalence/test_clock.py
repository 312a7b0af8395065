"""Which time counts."""

from __future__ import annotations

import time

from tileir_diff.equivalence.clock import Stopwatch


def test_time_in_which_nothing_is_done_does_not_count() -> None:
    watch = Stopwatch()
    time.sleep(0.3)
    assert watch.spent() < 0.25
    assert not watch.beyond(0.25)
    assert not watch.beyond(None)


def test_time_in_which_something_is_done_counts() -> None:
    watch = Stopwatch()
    used = time.process_time()
    while time.process_time() - used < 0.1:
        pass
    assert watch.spent() >= 0.09
    assert watch.beyond(0.05)
