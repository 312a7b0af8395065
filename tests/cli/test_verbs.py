"""The verbs that need no two inputs."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result

from tileir_diff import __version__
from tileir_diff.cli.equivalences import PAGES
from tileir_diff.lints import LINTS
from tileir_diff.match.equivalences import equivalences
from tileir_diff.report.glossary import words
from tileir_diff.rules.catalogue import details
from tileir_diff.rules.model import IMPACTS, STATUSES
from tileir_diff.verdict import EXIT_STATUS, OWNERS, SEVERITIES

Run = Callable[..., Result]


def test_help_shows_both_forms_and_all_verbs(run: Run) -> None:
    text = run("--help").output
    assert "tileir-diff [OPTIONS] REFERENCE GENERATED" in text
    for verb in ("diff", "batch", "check", "show", "explain", "rules", "completion"):
        assert f"\n  {verb} " in text


def test_without_arguments_help_is_shown(run: Run) -> None:
    assert "Usage:" in run().output


@pytest.mark.parametrize(
    ("word", "verb"), [("chek", "check"), ("shwo", "show"), ("exlain", "explain"), ("bach", "batch")]
)
def test_a_mistyped_verb_is_not_taken_for_a_file(run: Run, word: str, verb: str) -> None:
    result = run(word, "ref.mlir")
    assert result.exit_code == 2
    assert f"'{word}' is neither a file nor a verb; did you mean '{verb}'?" in result.stderr


def test_a_file_may_have_a_name_close_to_a_verb(run: Run, folder: Path) -> None:
    (folder / "chek").write_text((folder / "ref.mlir").read_text())
    assert run("chek", "gen.mlir").stdout.endswith("VERDICT: PASS\n")


def test_a_file_that_is_not_there_is_no_mistyped_verb(run: Run) -> None:
    assert "none.mlir: error: " in run("none.mlir", "gen.mlir").stderr


def test_version(run: Run) -> None:
    assert run("--version").output == f"tileir-diff {__version__}\n"


def test_rules_lists_every_rule(run: Run) -> None:
    lines = [line.split()[:2] for line in run("rules").output.splitlines()]
    assert lines[: len(details())] == [[name, record.impact] for name, record in details()]
    assert [name for name, _ in lines[len(details()) :]] == [f"lint/{name}" for name in LINTS]
    listed = json.loads(run("rules", "--format", "json").output)
    assert [rule["rule"] for rule in listed["rules"]] == [name for name, _ in details()]
    assert [lint["rule"] for lint in listed["lints"]] == [f"lint/{name}" for name in LINTS]


def test_explain(run: Run) -> None:
    assert run("explain", "mask/missing").output.startswith("# mask/missing\n")
    for family in ("mask", "mask/", "mask/*"):
        assert run("explain", family).output.startswith("# mask\n")
    assert run("explain", "lint/dead-mask").output.startswith("# lint/dead-mask\n")


@pytest.mark.parametrize("word", list(words()))
def test_words_of_a_report_are_explained(run: Run, word: str) -> None:
    page = run("explain", word)
    assert page.exit_code == 0
    assert f"{word} (" in page.stdout


def test_each_word_that_the_verdict_uses_is_explained() -> None:
    used = {*IMPACTS, *STATUSES, *EXIT_STATUS, *SEVERITIES, *OWNERS, *filter(None, OWNERS.values())}
    assert used - set(words()) == set()


def test_a_kind_of_words_is_explained_by_its_words(run: Run) -> None:
    page = run("explain", "impact").stdout
    assert [line.partition(":")[0] for line in page.splitlines()[2:] if line[:1].isalpha()] == list(IMPACTS)


def test_a_word_of_several_kinds_is_explained_as_each(run: Run) -> None:
    assert run("explain", "bounds").stdout.startswith("# bounds\n")
    assert "bounds (impact): " in run("explain", "bounds").stdout
    kinds = [line.partition(":")[0] for line in run("explain", "host").stdout.splitlines() if ":" in line]
    assert kinds == ["host (cause)", "host (owner)"]


@pytest.mark.parametrize(
    ("said", "known"),
    [
        ("Edge", "edge (impact): "),
        ("pass with notes", "PASS_WITH_NOTES (verdict): "),
        ("block.x < arg0.shape0 for all blocks launched", "… for all blocks launched (phrase): "),
        ("i1", "i0, i1: "),
    ],
)
def test_words_and_phrases_are_explained_as_they_are_read(run: Run, said: str, known: str) -> None:
    assert run("explain", said).stdout.startswith(known)


def test_all_words_are_listed(run: Run) -> None:
    listed = run("explain", "words").stdout
    assert [word for word in words() if f"\n{word}: " not in listed] == []
    assert max(map(len, listed.splitlines())) <= 100


@pytest.mark.parametrize(
    ("rule", "hint"),
    [("lint", "one by one: lint/"), ("lint/", "one by one: lint/"), ("lint/dead-maks", "lint/dead-mask")],
)
def test_explain_helps_with_lints(run: Run, rule: str, hint: str) -> None:
    result = run("explain", rule)
    assert result.exit_code == 2
    assert hint in result.stderr


def test_help_is_an_option(run: Run) -> None:
    result = run("help")
    assert result.exit_code == 2
    assert "did you mean '--help'?" in result.stderr


def test_explain_helps_with_a_typo_in_a_word(run: Run) -> None:
    result = run("explain", "PAS_WITH_NOTES")
    assert result.exit_code == 2
    assert "did you mean PASS_WITH_NOTES" in result.stderr


def test_explain_helps_with_a_typo(run: Run) -> None:
    result = run("explain", "maks")
    assert result.exit_code == 2
    assert "did you mean mask" in result.stderr


@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_completion_prints_a_script(run: Run, shell: str) -> None:
    assert "_TILEIR_DIFF_COMPLETE" in run("completion", shell).output


def test_completion_completes_verbs(run: Run) -> None:
    environment = {
        "_TILEIR_DIFF_COMPLETE": "bash_complete",
        "COMP_WORDS": "tileir-diff ex",
        "COMP_CWORD": "1",
    }
    assert run(**environment).output == "plain,explain\n"


def test_completion_completes_options_of_a_comparison(run: Run) -> None:
    words = {"COMP_WORDS": "tileir-diff a.mlir b.mlir --fail", "COMP_CWORD": "3"}
    assert run(_TILEIR_DIFF_COMPLETE="bash_complete", **words).output == "plain,--fail-on\n"


def test_the_case_of_a_rule_does_not_matter_for_the_hint(run: Run) -> None:
    assert "did you mean mask/missing" in run("explain", "MASK/missing").stderr


@pytest.mark.parametrize("name", equivalences())
def test_equivalences_are_explained(run: Run, name: str) -> None:
    page = run("explain", name)
    assert page.exit_code == 0
    assert page.stdout.startswith(f"# {name}\n")
    assert [line for line in page.stdout.splitlines() if line.startswith("##")] == [
        "## What it means",
        "## Example",
        "## What to do",
    ]
    assert f"--no-equivalence {name}" in page.stdout
    assert set(PAGES) == set(equivalences())
    assert f"did you mean {name}" in run("explain", f"{name}s").stderr


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("tileir-diff --st", "plain,--stat\nplain,--strict\n"),
        ("tileir-diff --ver", "plain,--version\n"),
        ("tileir-diff kern", "file,kern\n"),
        ("tileir-diff a.mlir b.mlir --ignore entry-h", "plain,entry-hint\n"),
        ("tileir-diff a.mlir b.mlir --ignore mask/mis", "plain,mask/missing\n"),
        ("tileir-diff a.mlir b.mlir --no-equivalence fma", "plain,fma-zero\n"),
        ("tileir-diff explain entry-h", "plain,entry-hint\n"),
        ("tileir-diff explain lint/dead-m", "plain,lint/dead-mask\n"),
    ],
)
def test_completion_completes_values(run: Run, words: str, expected: str) -> None:
    environment = {"COMP_WORDS": words, "COMP_CWORD": str(len(words.split()) - 1)}
    assert run(_TILEIR_DIFF_COMPLETE="bash_complete", **environment).output == expected
