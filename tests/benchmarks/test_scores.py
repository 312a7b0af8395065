"""How outcomes are counted."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks import score
from benchmarks.data import pairs, re_exports
from benchmarks.judge import Found, Outcome, judge_texts
from benchmarks.mutate.model import DEFECT, Change, Edit, make_mutant
from benchmarks.notes import supported
from benchmarks.tally import Tally, share
from tests.benchmarks.kernels import KERNEL


def finding(rule: str, reference: int, generated: int, actual: str = "", severity: str = "critical") -> Found:
    return Found(rule, severity, "logic", reference, generated, actual, "")


MUTANT = make_mutant(
    "kind", DEFECT, "p", "aa\nbb\ncc\n", Change((Edit(3, 3, "new\n"), Edit(6, 8, "CC")), "w")
)


def test_a_finding_that_only_moved_is_not_new() -> None:
    base = Outcome("FAIL_FIXABLE", (finding("mask/missing", 3, 3),))
    moved = Outcome("FAIL_FIXABLE", (finding("mask/missing", 3, 4),))
    assert score.new_findings(moved, base, MUTANT) == []


def test_a_finding_that_is_worded_otherwise_is_new() -> None:
    base = Outcome("FAIL_FIXABLE", (finding("mask/changed", 3, 3, "a"),))
    other = Outcome("FAIL_FIXABLE", (finding("mask/changed", 3, 4, "b"), finding("mask/changed", 3, 4, "a")))
    assert [found.actual for found in score.new_findings(other, base, MUTANT)] == ["b"]


def test_a_finding_that_replaces_one_of_other_words_is_not_new() -> None:
    base = Outcome("FAIL_FIXABLE", (finding("mask/changed", 1, 1, "a"),))
    reworded, other = finding("mask/changed", 1, 1, "b"), finding("mask/missing", 1, 1, "b")
    assert score.new_findings(Outcome("FAIL_FIXABLE", (reworded,)), base, MUTANT) == []
    assert score.new_findings(Outcome("FAIL_FIXABLE", (other,)), base, MUTANT) == [other]


def test_the_place() -> None:
    assert score.at_the_place(finding("a/b", 1, 2), MUTANT)
    assert not score.at_the_place(finding("a/b", 2, 1), MUTANT)
    assert score.at_the_place(finding("a/b", 2, 0), MUTANT)
    # of what is no longer there, the place is that of its partner
    assert score.at_the_place(finding("a/b", 7, 0), MUTANT, {2: frozenset({7})})
    assert not score.at_the_place(finding("a/b", 2, 0), MUTANT, {2: frozenset({7})})


def test_a_crash_is_an_outcome(monkeypatch: pytest.MonkeyPatch) -> None:
    def crash(*_: object, **__: object) -> None:
        raise ZeroDivisionError("here")

    monkeypatch.setattr("benchmarks.judge.diff", crash)
    outcome = judge_texts(KERNEL, KERNEL)
    assert outcome.verdict == "CRASHED"
    assert "ZeroDivisionError: here" in outcome.error


def test_broken_text_is_blocked() -> None:
    assert judge_texts(KERNEL, "entry @").verdict == "BLOCKED"


def test_notes_support_families() -> None:
    families, unknown = supported(["exp rounding<approx> (py) vs exp (c++)", "never heard of"])
    assert families is not None
    assert "float-mode" in families
    assert "mask" not in families
    assert unknown == ["never heard of"]
    assert supported(["not the same job: ..."])[0] is None
    assert supported([]) == (set(), [])


def test_all_notes_are_in_the_table(pair_dirs: list[Path]) -> None:
    for pair in pairs([pair_dirs[0].parents[1]]):
        assert supported(list(pair.meta["why"]))[1] == []


def test_shares() -> None:
    assert share(3, 3) == "100%"
    assert share(2, 3) == "66.66%"
    assert share(0, 0) == "-"
    # Never rounded up to what it is not.
    assert share(99_999, 100_000) == "99.99%"


def test_totals() -> None:
    tally = Tally("t", ("good",))
    tally.row("a").add(good=True)
    tally.row("b").add(good=False)
    assert dict(tally.total().counts) == {"n": 2, "good": 1}
    assert "50.00%" in tally.text()


def test_scores_a_folder(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "k.mlir").write_text(KERNEL, encoding="utf-8")
    figures = tmp_path / "figures.json"
    arguments = [
        "self",
        str(tmp_path),
        "--kinds",
        "same.mirror,mask.drop",
        "--json",
        str(figures),
        "--no-screen",
    ]
    assert score.main(arguments) == 0
    shown = capsys.readouterr().out
    assert "mask.drop" in shown
    assert "same.mirror" in shown
    assert '"single defects"' in figures.read_text(encoding="utf-8")


def test_no_manifest_no_re_exports(tmp_path: Path) -> None:
    assert re_exports(tmp_path) == []
