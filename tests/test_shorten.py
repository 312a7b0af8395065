"""Formulas that are cut to fit a line."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tileir_diff.rules.render import fitted
from tileir_diff.shorten import balanced, shortened

SUM = "divf(reduce(loop result), itof(arg0.shape1))"
ROW = "arg0.stride0*block.x"


@pytest.mark.parametrize(
    ("text", "other", "width", "expected"),
    [
        ("a + b", "a - b", 10, "a + b"),
        (f"addf(arg22, {SUM})", SUM, 30, "addf(arg22, divf(…))"),
        (f"absf(load[{ROW} + i0])", f"negf(load[{ROW} + i0])", 20, "absf(load[…])"),
        (f"{ROW} + i0 + 128*k1", f"{ROW} + i0 + 64*k1", 20, "… + 128*k1"),
        (f"ftof(({ROW} < n ? load[x + 4] : 0))", f"({ROW} < n ? load[x + 4] : 0)", 20, "ftof(load[…])"),
        ("mulf((i0 < n ? load[x + i0] : 0), y)", "mulf((i0 < m ? load[z + i0] : 0), y)", 24,
         "…(i0 < n ? load[…] : 0)…"),
        ("mulf((i0 < n ? load[x + i0] : 0), y)", "mulf((i0 < n ? load[z + i0] : 0), y)", 24,
         "mulf(load[x + …], y)"),
        ("(i0 < n ? load[x + i0] : 0)", "(i0 < m ? load[x + i0] : 0)", 26, "(i0 < n ? load[…] : 0)"),
        (f"load[{ROW}] < n (unsigned)", f"load[{ROW}] < n", 24, "load[…] < n (unsigned)"),
        ("min(floor(arg0.shape1 / 64), 2*block.x + 2)", "min(floor(arg0.shape1 / 64), 2*block.x)", 32,
         "min(floor(…), 2*block.x + 2)"),
    ],
)  # fmt: skip
def test_what_both_have_is_left_out_first(text: str, other: str, width: int, expected: str) -> None:
    assert shortened(text, other, width) == expected


def test_nothing_is_returned_where_the_two_would_read_alike_or_not_fit() -> None:
    assert shortened("f(aaaaaaaaaa)", "f(bbbbbbbbbb)", 6) is None
    assert shortened("a_very_long_name_without_any_part", "another", 10) is None


INDEX = (
    "[block.x + {0}*floor(block.x / ({0}*floor((arg16 + 255) / 256))) - min({0}, arg15)*floor(block.x / 8), "
    "floor((block.x - {0}*floor(arg15 / arg16)) / min({0}, arg16))]"
)
"""A list of which all parts differ, deep inside."""


def test_parts_that_read_alike_when_cut_are_left_out() -> None:
    assert shortened(INDEX.format(4), INDEX.format(8), 30) == "[… + 4*floor(…) - …, …]"
    assert shortened("[a + 4*x(b + c), 7]", "[a + 8*x(b + c), 7]", 18) == "[a + 4*x(…), 7]"


@pytest.mark.parametrize("width", range(16, 130, 3))
def test_brackets_are_whole_at_each_width(width: int) -> None:
    lines = [fitted(INDEX.format(own), INDEX.format(other), width) for own, other in ((4, 8), (8, 4))]
    assert lines[0] != lines[1]
    for line in lines:
        assert len(line) <= width
        assert line == balanced(line)


@pytest.mark.parametrize(
    ("cut", "whole"),
    [
        ("… + f(a", "… + f(a)"),
        ("…a) + b", "(…a) + b"),
        ("…x))…", "…x…"),
        ("[f(g…", "[f(g…)]"),
        ("f(a[i])", "f(a[i])"),
        ("", ""),
    ],
)
def test_brackets_that_a_cut_leaves_open(cut: str, whole: str) -> None:
    assert balanced(cut) == whole


@pytest.mark.parametrize("text", ["f(a, (b + c", "a) + b]", "", "((", "…)*(…"])
def test_brackets_that_do_not_match(text: str) -> None:
    line = shortened(text, "x", 3)
    assert line is None or len(line) <= 3


NAMES = st.sampled_from(["x", "arg0.shape1", "block.x", "128", "iteration"])
FORMULAS = st.recursive(
    NAMES,
    lambda inner: st.one_of(
        st.builds("{}({}, {})".format, st.sampled_from(["addf", "min"]), inner, inner),
        st.builds("floor(({} + {}) / {})".format, inner, inner, NAMES),
        st.builds("{} + 4*load[{}]".format, inner, inner),
        st.builds("({} < {} ? {} : 0)".format, NAMES, inner, inner),
        st.builds("[{}, {}]".format, inner, inner),
    ),
    max_leaves=14,
)


@given(text=FORMULAS, other=FORMULAS, width=st.integers(8, 90))
@settings(max_examples=400, deadline=None)
def test_a_line_that_was_cut_fits_and_has_whole_brackets(text: str, other: str, width: int) -> None:
    line = fitted(text, other, width)
    assert len(line) <= max(width, 8)
    assert line == balanced(line)
    short = shortened(text, other, width)
    assert short is None or short != other


@given(inner=FORMULAS, around=FORMULAS)
@settings(max_examples=200, deadline=None)
def test_the_place_that_differs_is_kept(inner: str, around: str) -> None:
    """Deep inside, beside much that is equal: the one number that is another is still to be read."""
    first, second = (f"[{around}, floor(({inner} + {n}) / 7), {around}]" for n in ("2048", "4096"))
    line = fitted(first, second, 40)
    assert len(line) <= 40
    assert "2048" in line


@pytest.mark.parametrize("bracket", ["[", "load[", "f(", "[a + "])
def test_brackets_without_end_are_no_formula(bracket: str) -> None:
    deep = bracket * 3000 + "x"
    assert shortened(deep, "x", 40) is None
    assert shortened("x + y", deep, 4) is None
    assert len(fitted(deep, "x", 40)) <= 40
