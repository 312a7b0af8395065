"""Every op of the dialect has a handler."""

from __future__ import annotations

from tests.equivalence.support import run as _needs_torch

assert _needs_torch is not None

REGIONS_AND_SYMBOLS = {"module", "entry", "testing$func", "global"}
TERMINATORS = {"yield", "continue", "break", "return"}


def test_every_op_can_be_run() -> None:
    from tileir_diff.dialect.ops import OPS
    from tileir_diff.equivalence.machine import HANDLERS

    assert set(HANDLERS) == set(OPS) - REGIONS_AND_SYMBOLS - TERMINATORS
