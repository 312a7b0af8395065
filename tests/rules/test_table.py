"""The table of families, its files, and what every rule must have."""

from __future__ import annotations

from pathlib import Path
from string import Formatter

import pytest

import tileir_diff.rules
from tileir_diff.rules import FAMILIES, family
from tileir_diff.rules.catalogue import HEADINGS, details, page
from tileir_diff.rules.docs import pages
from tileir_diff.rules.model import IMPACTS, MESSAGE_LIMIT
from tileir_diff.verdict.front_ends import NAMES, PRODUCERS, SUFFIXES

ROOT = Path(__file__).parents[2]
NO_FAMILIES = {"__init__", "catalogue", "docs", "model", "render", "root_cause"}
VALUES = {"expected", "actual", "of", "op", "at", "part", "entry"}
FRONT_ENDS = {*SUFFIXES.values(), *(name for _, name in PRODUCERS), *(name for _, name in NAMES)}


def test_table_names_exactly_the_files_on_disk() -> None:
    files = {path.stem for path in Path(tileir_diff.rules.__file__).parent.glob("*.py")} - NO_FAMILIES
    assert {module.rpartition(".")[2] for module in FAMILIES.values()} == files


def test_table_is_sorted_and_each_module_is_named_after_its_family() -> None:
    assert list(FAMILIES) == sorted(FAMILIES)
    for name, module in FAMILIES.items():
        assert module == f"tileir_diff.rules.{name.replace('-', '_')}"


@pytest.mark.parametrize("name", FAMILIES)
def test_docstring_has_the_headings_in_order_and_text_below_each(name: str) -> None:
    module = family(name)
    assert module is not None
    assert module.__doc__
    lines = module.__doc__.splitlines()
    assert lines[0].endswith(".")
    assert tuple(line for line in lines if line.startswith("#")) == HEADINGS
    sections = module.__doc__.split("\n## ")[1:]
    assert all(section.partition("\n")[2].strip() for section in sections)
    assert f"`{name}/" in module.__doc__, "the example must name a rule of the family"


@pytest.mark.parametrize("name", FAMILIES)
def test_details_are_sorted(name: str) -> None:
    module = family(name)
    assert module is not None
    assert list(module.DETAILS) == sorted(module.DETAILS)


@pytest.mark.parametrize("rule", [name for name, _ in details()])
def test_detail_is_complete(rule: str) -> None:
    detail = dict(details())[rule]
    assert detail.impact in IMPACTS
    assert detail.message
    assert detail.effect
    assert detail.fix
    assert len(detail.message) <= MESSAGE_LIMIT
    assert not detail.message.endswith(".")
    for template in (detail.message, detail.effect, detail.fix, *detail.fixes.values()):
        assert {field for _, field, _, _ in Formatter().parse(template) if field is not None} <= VALUES
    assert set(detail.fixes) <= FRONT_ENDS


@pytest.mark.parametrize("name", FAMILIES)
def test_example_names_a_detail_that_exists(name: str) -> None:
    text = page(name)
    assert text is not None
    example = text.split("## Example")[1].split("## Known problems")[0]
    named = [word for word in example.split("`") if word.startswith(f"{name}/")]
    assert named
    assert all(rule in dict(details()) for rule in named)


def test_pages_in_docs_are_fresh() -> None:
    folder = ROOT / "docs" / "rules"
    on_disk = {path.name: path.read_text(encoding="utf-8") for path in folder.glob("*.md")}
    assert on_disk == pages(), "run `make docs`"


def test_page_of_one_detail_leaves_out_the_others() -> None:
    text = page("mask/missing")
    assert text is not None
    assert "`mask/missing`" in text
    assert "## `mask/extra`" not in text


@pytest.mark.parametrize("rule", ["", "masks", "mask/", "mask/nothing", "/"])
def test_there_is_no_page_for_an_unknown_rule(rule: str) -> None:
    assert page(rule) is None
