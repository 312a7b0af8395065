"""The verifier against the disassembler, and the changes that it is asked about."""

from __future__ import annotations

import random
from collections import Counter
from pathlib import Path

import pytest

from benchmarks.breakage import change
from benchmarks.combinations import combinations
from benchmarks.oracle import Tally, combination, seeds, typed
from benchmarks.roundtrip import difference_of, round_trip
from tileir_diff.dialect import parse_text
from tileir_diff.dialect.equality import structurally_equal
from tileir_diff.dialect.printer import print_module
from tileir_diff.dialect.verifier import verify

ROOT = Path(__file__).parents[2]
OWN = ROOT / "fixtures" / "kernels"


def test_changes_are_undone() -> None:
    rng, kinds = random.Random(1), Counter[str]()
    path = OWN / "softmax" / "rs.g.mlir"
    text = path.read_text(encoding="utf-8")
    module, before = parse_text(text), parse_text(text)
    for _ in range(400):
        found = change(rng, module)
        assert found is not None
        kinds[found[1].split(" ")[0]] += 1
        found[2]()
        assert structurally_equal(module, before), found[1]
    assert print_module(module) == print_module(before)
    assert verify(module) == []
    assert len(kinds) >= 10


def test_combinations_are_read() -> None:
    found = list(combinations())
    assert len(found) > 20_000
    assert len({text for _, text in found}) > 0.9 * len(found)
    sample = found[::101]
    assert 0.05 < sum(not verify(parse_text(text)) for _, text in sample) / len(sample) < 0.5


@pytest.mark.usefixtures("real_disassembler")
def test_disassembler_agrees() -> None:
    rng, tally = random.Random(7), Tally()
    for texts in seeds([OWN]):
        for _ in range(4):
            typed(rng, parse_text(rng.choice(texts)), tally, 20)
    for shown, text in list(combinations())[::400]:
        combination(shown, text, tally)
    assert not tally.differences, tally.examples
    assert tally.counts["accepted by both"] > 20
    assert tally.counts["refused by both"] > 60


@pytest.mark.usefixtures("real_disassembler")
def test_round_trip_is_told_apart() -> None:
    path = OWN / "softmax" / "rs.g.mlir"
    text = path.read_text(encoding="utf-8")
    assert round_trip(path, "13.2") == ("the same text", "")
    module = parse_text(text)
    assert difference_of(module, parse_text(text)) == ""
    for old, new, difference in (
        ("exp %", "exp2 %", "ops"),
        ("loc(#loc67)", "loc(#loc66)", "locations"),
        ("{occupancy = 4}", "{occupancy = 4}, sm_90 = {}", "hints"),
    ):
        assert old in text
        assert difference_of(module, parse_text(text.replace(old, new, 1))) == difference
