"""The saved LALR tables belong to the grammar."""

from tileir_diff.syntax.generate import lark, tables
from tileir_diff.syntax.parser import TABLES


def test_tables_are_those_of_the_grammar() -> None:
    assert TABLES.read_text(encoding="utf-8") == tables(lark()), "run python -m tileir_diff.syntax.generate"


def test_tables_do_not_depend_on_the_run() -> None:
    assert tables(lark()) == tables(lark())
