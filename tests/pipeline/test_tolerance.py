"""Tolerances of the analysis are those of the host's gate, and none is wider than the element type's."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.pipeline.real import KERNELS, ROOT, array, edited, port_of
from tileir_diff.pipeline.artifacts import Compared
from tileir_diff.pipeline.gates.analyst import TOLERANCE, tolerances
from tileir_diff.pipeline.gates.host import interpreted

APPROXIMATE = ROOT / "fixtures" / "mistakes" / "exp_approx" / "gen.g.mlir"
"""A softmax that is off by a unit in the last place of f16, here and there."""


def compared(folder: Path, **claim: Any) -> Compared:
    """A softmax against one of another exp, under this tolerance for its result."""
    given = port_of(folder, "softmax")
    analysis = edited(given, tolerance={"y": claim} if claim else {})
    launch = json.loads((KERNELS / "softmax" / "launch.json").read_text("utf-8"))
    dump = folder / "softmax.mlir"
    dump.write_bytes(APPROXIMATE.read_bytes())
    return interpreted(given, analysis.variants[0], dump, launch)


@pytest.mark.parametrize(
    ("claim", "outcome", "said"),
    [
        ({}, "equal", "y within rtol 0.01, atol 0.01"),
        ({"rtol": 2e-3, "atol": 0.0}, "equal", "y within rtol 0.002, atol 0"),
        ({"rtol": 0.0, "atol": 0.0}, "different", "beyond rtol 0 and atol 0"),
        ({"rtol": 1e-5, "atol": 1e-6}, "different", "beyond rtol 1e-05 and atol 1e-06"),
    ],
)
def test_the_host_keeps_the_tolerance_of_the_analysis(
    claim: dict[str, float], outcome: str, said: str, tmp_path: Path
) -> None:
    found = compared(tmp_path, **claim)
    assert found.outcome == outcome
    assert said in found.detail


def test_a_tolerance_is_no_wider_than_its_type_whoever_asks(tmp_path: Path) -> None:
    given = port_of(tmp_path, "softmax")
    wide = {"rtol": 0.5, "atol": 1e-9}
    [variant] = edited(given, tolerance={"y": wide}).variants
    assert tolerances(variant) == {"y": (TOLERANCE["f16"][0], 1e-9)}
    whole = {"y": array(given, "y").model_copy(update={"dtype": "i32"}).model_dump()}
    [variant] = edited(given, arrays=whole, tolerance={"y": wide}).variants
    assert tolerances(variant) == {"y": (0.0, 0.0)}
    [variant] = edited(given, arrays=whole, tolerance={}).variants
    assert tolerances(variant) == {}
