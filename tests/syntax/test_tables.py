"""The saved LALR tables belong to the grammar."""

from pathlib import Path

import pytest

from tileir_diff.syntax import parser
from tileir_diff.syntax.generate import grammar_path, tables
from tileir_diff.syntax.parser import TABLES


def test_tables_are_those_of_the_grammar() -> None:
    expected = tables(grammar_path().read_text(encoding="utf-8"))
    assert TABLES.read_text(encoding="utf-8") == expected, "run python -m tileir_diff.syntax.generate"


def test_tables_do_not_depend_on_the_run() -> None:
    grammar = grammar_path().read_text(encoding="utf-8")
    assert tables(grammar) == tables(grammar)


@pytest.mark.parametrize("content", [None, "{}", "not json", '{"data": {}, "memo": {}}'])
def test_tables_that_cannot_be_used_cost_time_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, content: str | None
) -> None:
    path = tmp_path / "tables.json"
    if content is not None:
        path.write_text(content)
    monkeypatch.setattr(parser, "TABLES", path)
    monkeypatch.setattr(parser, "engine", parser.engine.__wrapped__)
    assert len(parser.parse_body("a, b = 1")) == 2
