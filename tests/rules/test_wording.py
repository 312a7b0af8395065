"""What the rules say, against a file to be read aloud: `UPDATE_SNAPSHOTS=1 pytest tests/rules` writes it."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from tests.rules.wording import CASES, Case
from tileir_diff.rules import finding
from tileir_diff.rules.catalogue import details
from tileir_diff.rules.model import MESSAGE_LIMIT, Finding

GOLDEN = Path(__file__).parent / "wording.txt"
FRONT_ENDS = ("", "cutile-rust", "cutile-python", "tile-cpp")
NO_SENTENCE = re.compile(
    r"\b(None|True|False)\b(?![`,])|\bnothing elements\b|\b1 loops\b|\bis (subnormals|NaN|no propagate)"
    r"|\bno more than (no|none|nothing)\b|\brounds rounds\b|\bfor after\b|\bmakes counted\b|[{}?]"
)


def findings(case: Case) -> list[tuple[str, Finding]]:
    return [(front_end, finding(case.difference(), front_end)) for front_end in FRONT_ENDS]


def spoken(case: Case) -> str:
    """One case as the golden file has it; a fix of a front end only where it has its own."""
    first, *others = findings(case)
    said = first[1]
    lines = [f"{case.rule}: {said.message}", f"  {said.effect}", f"  {said.fix}"]
    lines += [f"  {front_end}: {each.fix}" for front_end, each in others if each.fix != said.fix]
    return "\n".join(lines)


def test_every_rule_has_a_case() -> None:
    assert {name for name, _ in details()} - {case.rule for case in CASES} == set()
    assert [case.rule for case in CASES] == sorted(case.rule for case in CASES)


def test_wording_is_as_read() -> None:
    text = "\n".join(spoken(case) for case in CASES) + "\n"
    if os.environ.get("UPDATE_SNAPSHOTS"):
        GOLDEN.write_text(text, encoding="utf-8")
    assert text == GOLDEN.read_text(encoding="utf-8")


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.rule}-{case.expected}-{case.actual}")
def test_every_sentence_makes_sense(case: Case) -> None:
    for _, said in findings(case):
        assert len(said.message) <= MESSAGE_LIMIT
        for text in (said.message, said.effect, said.fix):
            # A selection and an open bound hold question marks that are theirs.
            own = text.replace(" ? ", " ").replace("<?, ", "<").replace(", ?>", ">")
            assert not NO_SENTENCE.search(own), text


def test_reordered_operands_are_not_to_be_removed() -> None:
    swapped = Case("arithmetic/operands", "divf", "divf(x, y)", "divf(y, x)", "EXTRA")
    for _, said in findings(swapped):
        assert "remove" not in said.fix
        assert "divf(x, y)" in said.fix
