"""The interpreter against what an H200 computed: every port of every fixture kernel, launched directly."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from benchmarks.hardware.cases import Case, cases, contents, torch_type
from benchmarks.hardware.record import positions
from benchmarks.truth import compare
from tileir_diff import interpret
from tileir_diff.equivalence.backend import torch

RECORD = json.loads((Path(__file__).parents[2] / "fixtures/gpu/h200.json").read_text(encoding="utf-8"))
LAUNCHES: dict[str, dict[str, str]] = {each["name"]: each["arrays"] for each in RECORD["launches"]}
CASES = [case for case in cases() if case.name in LAUNCHES]
PORTS = [case for case in CASES if not case.name.startswith("mistakes.")]


def after(case: Case) -> tuple[dict[str, Any], dict[str, Any]]:
    """Arrays after a run, and before it."""
    before = {
        name: torch.frombuffer(bytearray(content), dtype=torch_type(kind))
        for name, (kind, content) in contents(case.kernel).items()
    }
    buffers = {name: buffer.clone() for name, buffer in before.items()}
    values = [
        buffers[value] if kind == "ptr" else value
        for argument in case.launch["args"]
        for kind, value in argument.items()
    ]
    interpret(str(case.dump), values, grid=case.launch["grid"], entry=case.launch["entry"])
    return buffers, before


@pytest.mark.parametrize("case", PORTS, ids=[case.name for case in PORTS])
def test_a_run_leaves_what_the_gpu_left(case: Case) -> None:
    recorded = LAUNCHES[case.name]
    assert recorded
    kinds = {name: kind for name, (kind, _) in contents(case.kernel).items()}
    buffers, before = after(case)
    for name, buffer in buffers.items():
        if name not in recorded:
            assert torch.equal(buffer.view(torch.uint8), before[name].view(torch.uint8)), name
            continue
        chosen = buffer[torch.tensor(positions(buffer.numel()))]
        expected = torch.frombuffer(bytearray.fromhex(recorded[name]), dtype=buffer.dtype)
        status, detail = compare(expected, chosen, kinds[name], None)
        assert status in ("equal", "close"), f"{name}: {detail}"


def test_most_launches_are_recorded() -> None:
    """A record that went missing must not pass as a green run."""
    assert len(PORTS) >= 50
    assert len(CASES) >= 180
