"""Terms as a person reads them."""

from __future__ import annotations

import pytest

from tileir_diff.graph.show import WIDTH, show
from tileir_diff.graph.terms import Terms


@pytest.mark.parametrize("depth", [1, 3, 6, 40])
def test_a_long_term_is_shown_with_its_brackets_closed(depth: int) -> None:
    terms = Terms()
    value = terms.atom(terms.leaf("arg", 0, 0))
    for _ in range(depth):
        value = terms.node("call_of_a_long_name", None, (value, value))
    line = show(terms, value, {terms.leaf("arg", 0, 0): "some_argument"})
    assert len(line) <= WIDTH
    assert line.count("(") == line.count(")") or line.endswith("…")


def test_what_is_left_out_is_inside() -> None:
    terms = Terms()
    value = terms.leaf("arg", 0, 0)
    for _ in range(6):
        value = terms.node("function", None, (value,))
    wide = terms.node("pair", None, (value, terms.node("pair", None, (value, value))))
    line = show(terms, wide)
    assert line.startswith("pair(function(function(")
    assert line.endswith(")")
    assert "…" in line
