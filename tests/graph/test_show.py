"""Terms as a person reads them."""

from __future__ import annotations

from pathlib import Path

import pytest

from tileir_diff.excerpt import cut
from tileir_diff.graph.show import NOTATION, WIDTH, show
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


def test_each_kind_of_number_is_spelled_for_people() -> None:
    terms = Terms()
    a, b = (terms.atom(terms.leaf("arg", 0, index)) for index in (0, 1))
    names = {terms.single(a) or 0: "a", terms.single(b) or 0: "b"}
    assert show(terms, terms.node("tdiv", None, (a, b)), names) == "trunc(a / b)"
    assert show(terms, terms.node("div", None, (a, b)), names) == "floor(a / b)"
    assert show(terms, terms.node("ult", 32, (a, b)), names) == "a < b (unsigned)"
    assert show(terms, terms.node("wrap", (32,), (a,)), names) == "i32(a)"
    assert show(terms, terms.node("zext", (8,), (a,)), names) == "u8(a)"


def test_a_factor_of_a_quotient_stands_outside_of_it() -> None:
    """Multiplied first, `200*(a + b) / 200` would be another number."""
    terms = Terms()
    a, b = (terms.atom(terms.leaf("arg", 0, index)) for index in (0, 1))
    names = {terms.single(a) or 0: "a", terms.single(b) or 0: "b"}
    quotient = terms.scale(terms.floordiv(terms.add(a, b), terms.const(200)), 200)
    assert show(terms, quotient, names) == "200*floor((a + b) / 200)"
    inner = terms.floordiv(terms.floordiv(a, b), terms.scale(b, 3))
    assert show(terms, inner, names) in ("floor(floor(a / b) / (3*b))", "floor(a / (3*b*b))")


@pytest.mark.parametrize("width", range(16, 42))
def test_a_cut_leaves_no_half_word(width: int) -> None:
    text = "block.x*some_size + iteration*other_size"
    shown = cut(text, width)
    assert len(shown) <= width
    assert shown == text or (shown[-1] == "…" and text.startswith(shown[:-1]))
    rest = text[len(shown) - 1 :]
    assert shown == text or not (shown[-2].isalnum() and rest[0].isalnum())


def test_the_notation_is_documented() -> None:
    page = (Path(__file__).parents[2] / "docs" / "reference.md").read_text(encoding="utf-8")
    for spelling, meaning in NOTATION.items():
        assert f"| `{spelling}` | {meaning} |" in page
