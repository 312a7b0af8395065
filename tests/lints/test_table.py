"""The table of lints, their pages, and what happens without a normal form."""

from __future__ import annotations

from pathlib import Path

import pytest

import tileir_diff.lints
from tileir_diff.dialect import parse_text
from tileir_diff.lints import LINTS, NEEDS_NORMAL_FORM, SEVERITIES, lint_entry, lint_of, skipped
from tileir_diff.lints.catalogue import HEADINGS, index, page
from tileir_diff.lints.facts import EntryFacts

SHARED = {"__init__", "catalogue", "edges", "facts", "model"}
FOLDER = Path(tileir_diff.lints.__file__).parent


def test_table_is_sorted_and_complete() -> None:
    assert list(LINTS) == sorted(LINTS)
    files = {path.stem for path in FOLDER.glob("*.py")} - SHARED
    assert {path.rpartition(".")[2] for path in LINTS.values()} == files
    assert {name.replace("-", "_") for name in LINTS} == files
    assert set(LINTS) >= NEEDS_NORMAL_FORM


@pytest.mark.parametrize("name", LINTS)
def test_page(name: str) -> None:
    text = page(f"lint/{name}")
    assert text is not None
    assert text == page(name)
    positions = [text.index(heading) for heading in HEADINGS]
    assert positions == sorted(positions)
    lint = lint_of(name)
    assert lint is not None
    assert lint.SEVERITY in SEVERITIES
    assert f"`lint/{name}`" in index()


def test_unknown_lint_has_no_page() -> None:
    assert page("lint/no-such-lint") is None
    assert page("lint") == index()


def test_without_normal_form(monkeypatch: pytest.MonkeyPatch) -> None:
    """A kernel that cannot be evaluated is still linted by structure, and the rest is named as skipped."""
    from tileir_diff.graph.evaluate import Evaluator

    def fail(self: Evaluator) -> None:
        raise RuntimeError("out of order")

    monkeypatch.setattr(Evaluator, "run", fail)
    module = parse_text(
        "entry @k(%p: tile<ptr<i32>>) {\n"
        "  %c = constant <i32: 1> : tile<i32>\n"
        "  %a = assume div_by<4>, %c : tile<i32>\n"
        "  %u = store_ptr_tko weak %p, %a : tile<ptr<i32>>, tile<i32> -> token\n"
        "  return\n}\n"
    )
    facts = EntryFacts(module.entries[0])
    assert [hit.rule for hit in lint_entry(module.entries[0], facts)] == ["lint/false-promise"]
    assert skipped(facts) == [f"lint/{name}" for name in LINTS if name in NEEDS_NORMAL_FORM]
    assert facts.failure == "RuntimeError: out of order"


def test_liveness_goes_through_loops_and_branches() -> None:
    module = parse_text(
        "entry @k(%p: tile<ptr<f32>>, %n: tile<i32>, %c: tile<i1>) {\n"
        "  %zero = constant <i32: 0> : tile<i32>\n"
        "  %one = constant <i32: 1> : tile<i32>\n"
        "  %x = constant <f32: 1.000000e+00> : tile<f32>\n"
        "  %for:2 = for %i in (%zero to %n, step %one) : tile<i32>"
        " iter_values(%a = %x, %b = %x) -> (tile<f32>, tile<f32>) {\n"
        "    %used = mulf %a, %a : tile<f32>\n"
        "    %dead = addf %b, %b : tile<f32>\n"
        "    %y = if %c -> (tile<f32>) {\n"
        "      %inner = subf %used, %x : tile<f32>\n"
        "      yield %inner : tile<f32>\n"
        "    } else {\n"
        "      yield %used : tile<f32>\n"
        "    }\n"
        "    continue %y, %dead : tile<f32>, tile<f32>\n"
        "  }\n"
        "  %u = store_ptr_tko weak %p, %for#0 : tile<ptr<f32>>, tile<f32> -> token\n"
        "  return\n}\n"
    )
    facts = EntryFacts(module.entries[0])
    live = {op.short for op in facts.live}
    assert {"mulf", "subf", "for", "if", "store_ptr_tko"} <= live
    assert "addf" not in live
