"""Which gate is whose."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tileir_diff.pipeline.gates import analyst, diff, host, investigator, kernel, performance

if TYPE_CHECKING:
    from tileir_diff.pipeline.gates.common import Gate
    from tileir_diff.pipeline.stages import Stage


def gates() -> dict[Stage, Gate]:
    """All gates by stage."""
    return {
        "analyst": analyst.judge,
        "kernel": kernel.judge,
        "host": host.judge,
        "performance": performance.judge,
        "diff": diff.judge,
        "investigator": investigator.judge,
    }
