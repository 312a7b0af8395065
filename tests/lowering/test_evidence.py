"""What the assembler does becomes evidence of a finding: other code fails, the same code stays a note."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.lowering.cases import CASES, recorded, report
from tileir_diff.errors import InputError

if TYPE_CHECKING:
    from pathlib import Path

    from tileir_diff.report.model import Finding, Report


@pytest.fixture
def lowered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Report]:
    """Reports by case, made when they are asked for."""

    class Reports(dict[str, "Report"]):
        def __missing__(self, name: str) -> Report:
            return report(CASES[name], tmp_path, monkeypatch, recorded())

    return Reports()


def finding(made: Report, rule: str) -> Finding:
    return next(each for each in made.findings if each.rule == rule)


@pytest.mark.parametrize(
    ("case", "rule", "words"),
    [
        (
            "stride",
            "divisibility/missing",
            "is TMA load, and is now Ldgsts (no TMA: stride not 16-byte aligned)",
        ),
        ("base", "divisibility/weaker", "(no TMA: base pointer not 16-byte aligned)"),
        ("latency", "latency-hint/changed", "shared memory 115940 bytes, now 91324 bytes"),
        ("tma-off", "tma-hint/extra", "with allow_tma = true in the generated kernel the load_view_tko"),
    ],
)
def test_what_changes_the_code_fails(lowered: dict[str, Report], case: str, rule: str, words: str) -> None:
    made = lowered[case]
    assert made.verdict == "FAIL_FIXABLE"
    found = finding(made, rule)
    assert (found.severity, found.impact, found.owner) == ("critical", "hint", "kernel")
    assert words in found.evidence
    assert f"tileiras 13.4.92 for {CASES[case].arch}" in found.evidence


def test_what_changes_no_code_stays_a_note(lowered: dict[str, Report]) -> None:
    made = lowered["alike"]
    assert made.verdict == "PASS_WITH_NOTES"
    found = finding(made, "entry-hint/missing")
    assert found.severity == "warn"
    assert "tileiras 13.4.92 lowers both alike for sm_90" in found.evidence


def test_a_hint_for_another_machine_is_no_evidence_here(lowered: dict[str, Report]) -> None:
    found = finding(lowered["other-arch"], "tma-hint/extra")
    assert found.severity == "warn"
    assert found.evidence == "neither side has such a hint for sm_90"


def test_nothing_is_claimed_of_accesses_through_pointers(lowered: dict[str, Report]) -> None:
    found = finding(lowered["pointer"], "memory-family/changed")
    assert found.severity == "warn"
    assert found.evidence.startswith("not settled for sm_90")


def test_a_faithful_port_has_no_finding_for_its_registers(lowered: dict[str, Report]) -> None:
    made = lowered["faithful"]
    assert (made.verdict, made.findings) == ("PASS", [])
    [record] = made.lowering
    assert (record.arch, record.assembler, record.same_code) == ("sm_90", "13.4.92", False)
    assert record.reference is not None
    assert record.reference.registers == 255
    said = [(each.expected, each.actual) for each in record.operations]
    assert said == [(word, word) for word in ("TMA load", "TMA load", "TMA store", "Tensor-core SM90")]
    assert made.versions["tileiras"] == "13.4.92"


def test_a_finding_that_is_critical_anyway_is_not_told_again(lowered: dict[str, Report]) -> None:
    made = lowered["no-tensor-cores"]
    assert [each.rule for each in made.findings if each.rule.startswith("lowering/")] == []
    [record] = made.lowering
    products = [each for each in record.operations if each.generated and each.generated.op == "mmaf"]
    assert [each.expected for each in products] == ["Tensor-core SM90"]
    assert products[0].actual.startswith("FMA (MMA operation failed to optimize to use Tensor Cores")


def test_the_text_shows_both_sides(lowered: dict[str, Report]) -> None:
    from tileir_diff.report.layout import lowering_lines

    made = lowered["stride"]
    lines = lowering_lines(made)  # pyright: ignore[reportArgumentType] # the model has the fields of the result
    assert "shared memory 206080 | 165048 bytes" in lines[0]
    assert "TMA load | Ldgsts (no TMA: stride not 16-byte aligned)" in lines[1]


def test_without_an_assembler_there_is_one_message(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    from tests.lowering.cases import FIXTURES, MATMUL
    from tileir_diff import diff

    monkeypatch.setenv("TILEIR_TOOLCHAIN", str(tmp_path))
    with pytest.raises(InputError, match="no tileiras was found"):
        diff(FIXTURES / MATMUL, FIXTURES / MATMUL, lower="sm_90")
