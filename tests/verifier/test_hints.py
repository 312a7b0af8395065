"""Hints never break a module; the ones that the assembler drops are noted."""

from __future__ import annotations

import pytest

from tileir_diff.dialect import parse_text
from tileir_diff.dialect.verifier import verify
from tileir_diff.dialect.verifier.hints import NOTES, ignored_hint

from .snippets import module

_LOAD = (
    "entry @k(%p: tile<ptr<f32>>) {{\n"
    "%r, %t = load_ptr_tko weak %p optimization_hints = <{hints}> : tile<ptr<f32>> -> tile<f32>, token\n"
    "return\n}}\n"
)


def entry(hints: str) -> str:
    return module(f"entry @k() optimization_hints=<{hints}> {{ return }}")


@pytest.mark.parametrize(
    ("hints", "note"),
    [
        ("sm_100 = {num_cta_in_cga = 2, occupancy = 4}, default = {num_worker_warps_per_cta = 8}", None),
        ("sm_100 = {num_cta_in_cga = 3}", "hint/value"),
        ("sm_80 = {num_cta_in_cga = 2}", "hint/value"),
        ("sm_90 = {occupancy = 33}", "hint/value"),
        ("sm_90 = {num_worker_warps_per_cta = 5}", "hint/value"),
        ("sm_42 = {occupancy = 1}", "hint/architecture"),
        ("sm_90 = {latency = 1}", "hint/key"),
        ("sm_90 = {speed = 1}", "hint/key"),
    ],
)
def test_entry_hints(hints: str, note: str | None) -> None:
    parsed = parse_text(entry(hints))
    assert verify(parsed) == []
    broken = ignored_hint(parsed.entries[0])
    assert (broken.rule if broken is not None else None) == note


@pytest.mark.parametrize(
    ("hints", "note"),
    [
        ("sm_100 = {latency = 10}", None),
        ("sm_100 = {latency = 11}", "hint/value"),
        ("sm_100 = {latency = 0}", "hint/value"),
        ("sm_100 = {allow_tma = false}", "hint/key"),
        ("sm_100 = {occupancy = 1}", "hint/key"),
    ],
)
def test_load_hints(hints: str, note: str | None) -> None:
    parsed = parse_text(_LOAD.format(hints=hints))
    assert verify(parsed) == []
    load = next(parsed.entries[0].inner())
    broken = ignored_hint(load)
    assert (broken.rule if broken is not None else None) == note
    assert note is None or note in NOTES
