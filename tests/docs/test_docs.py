"""What the documentation shows is what the command prints, and its links lead somewhere."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.docs.console import GAP, ROOT, Command, commands, matches, pages, run, shown
from tileir_diff.report.glossary import GLOSSARY
from tileir_diff.rules.docs import lint_pages

ALL = [command for page in pages() for command in commands(page) if command.is_checked]
LINK = re.compile(r"\[[^\]\n]*\]\(([^)\s]+)\)")
FENCED = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
CODE = re.compile(r"^```(?:python|rust)\n(.*?)\n```$", re.MULTILINE | re.DOTALL)
LINKED = [*pages(), *sorted((ROOT / "docs" / "rules").rglob("*.md")), ROOT / "CONTRIBUTING.md"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("bin")


def test_readme_and_tutorial_show_commands() -> None:
    count = {page: sum(command.page.name == page for command in ALL) for page in ("README.md", "tutorial.md")}
    assert min(count.values()) >= 3, count


@pytest.mark.parametrize("command", ALL, ids=lambda command: f"{command.page.name}:{command.number}")
def test_command_prints_what_is_shown(command: Command, folder: Path) -> None:
    actual = run(command, folder)
    if not matches(command.expected, actual):
        # For the failure's diff: run `python -m tests.docs.refresh` if the new output is right.
        assert list(command.expected) == shown(command.expected, actual)


@pytest.mark.parametrize("page", LINKED, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page: Path) -> None:
    text = FENCED.sub("", page.read_text(encoding="utf-8"))
    for target in LINK.findall(text):
        if "://" in target:
            continue
        path, _, anchor = target.partition("#")
        linked = page.parent / path if path else page
        assert linked.exists(), f"{target} of {page.name}"
        if anchor:
            assert anchor in _anchors(linked), f"{target} of {page.name}"


def test_code_of_the_tutorial_is_that_of_the_fixtures() -> None:
    text = (ROOT / "docs" / "tutorial.md").read_text(encoding="utf-8")
    shown_code = CODE.findall(text)
    assert len(shown_code) >= 4
    kernel = ROOT / "fixtures" / "kernels" / "softmax"
    sources = [(kernel / name).read_text(encoding="utf-8") for name in ("kernel.py", "kernel.rs")]
    edits = [
        path.read_text(encoding="utf-8")
        for path in sorted((ROOT / "fixtures" / "mistakes").glob("*/mistake.toml"))
    ]
    for code in shown_code:
        assert any(code in source for source in [*sources, *edits]), code


def test_words_of_a_report_are_in_the_reference() -> None:
    text = (ROOT / "docs" / "reference.md").read_text(encoding="utf-8")
    table = text.partition("## Words of a report")[2].partition("\n## ")[0].split("\n")
    rows = [
        f"| `{word}` | {kind} | {meaning} |"
        for kind, entries in GLOSSARY.items()
        for word, meaning in entries.items()
    ]
    assert [row for row in table if row.startswith("| `")] == rows


def test_index_names_every_page() -> None:
    text = (ROOT / "docs" / "index.md").read_text(encoding="utf-8")
    named = {page.name for page in pages()} - {"index.md", "README.md"}
    assert {name for name in named if f"({name})" not in text} == set()


def test_lint_pages_are_fresh() -> None:
    folder = ROOT / "docs" / "rules" / "lint"
    on_disk = {path.name: path.read_text(encoding="utf-8") for path in folder.glob("*.md")}
    assert on_disk == lint_pages(), "run `make docs`"


@pytest.mark.parametrize(
    ("expected", "actual", "same"),
    [
        (("a", "b"), ["a", "b"], True),
        (("a", "b"), ["a", "c"], False),
        (("a",), ["a", "b"], False),
        (("a", GAP, "d"), ["a", "b", "c", "d"], True),
        (("a", GAP, "d"), ["a", "d"], True),
        (("a", GAP), ["b"], False),
        ((GAP, "c"), ["a", "b"], False),
    ],
)
def test_a_gap_stands_for_any_number_of_lines(
    expected: tuple[str, ...], actual: list[str], same: bool
) -> None:
    assert matches(expected, actual) is same


def _anchors(page: Path) -> set[str]:
    """The anchors of the page's headings: lower case, no punctuation, dashes for spaces."""
    headings = re.findall(r"^#+ (.+)$", FENCED.sub("", page.read_text(encoding="utf-8")), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}
