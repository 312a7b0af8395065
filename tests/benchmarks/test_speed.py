"""What the speed benchmark times has to have worked."""

from __future__ import annotations

import sys

import pytest

from benchmarks.speed import timed


def test_a_process_that_fails_has_no_time() -> None:
    assert timed([sys.executable, "-c", "import tileir_diff"])[0] > 0
    with pytest.raises(RuntimeError, match="exit status 3"):
        timed([sys.executable, "-c", "raise SystemExit(3)"])
