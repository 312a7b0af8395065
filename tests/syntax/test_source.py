"""Offsets, lines and quoted errors."""

import pytest

from tileir_diff.errors import QUOTE_WIDTH, InputError
from tileir_diff.syntax.source import Problem, SourceText, Span


@pytest.mark.parametrize(
    ("offset", "position"), [(0, (1, 1)), (2, (1, 3)), (3, (2, 1)), (4, (3, 1)), (7, (3, 4)), (8, (4, 1))]
)
def test_position(offset: int, position: tuple[int, int]) -> None:
    assert SourceText("ab\n\nxyz\n").position(offset) == position


def test_span_and_line() -> None:
    text = SourceText("ab\nxyz")
    assert text.span(3, 5) == Span(2, 1, 2, 3)
    assert text.line_at(4) == "xyz"
    assert text.line_at(2) == "ab"


def test_error_shows_the_line_and_a_caret() -> None:
    error = SourceText("one\ntwo three", "k.mlir").error("what is this", 8)
    assert str(error) == "k.mlir:2:5: error: what is this\n  two three\n      ^"


def test_error_without_position() -> None:
    assert str(InputError("cannot be read", "k.mlir")) == "k.mlir: error: cannot be read"
    assert str(InputError("no input")) == "error: no input"


def test_long_lines_are_cut_around_the_caret() -> None:
    line = "a" * 500 + "!" + "b" * 500
    head, quoted, caret = str(InputError("bang", "k", 1, 501, line)).split("\n")
    assert head == "k:1:501: error: bang"
    assert len(quoted) < QUOTE_WIDTH + 10
    assert quoted[caret.index("^")] == "!"


def test_control_characters_do_not_reach_the_terminal() -> None:
    assert "\x1b" not in str(InputError("x", "k", 1, 1, "\x1b[31mred"))


def test_nested_problems_add_up_their_offsets() -> None:
    with pytest.raises(Problem) as caught, Problem.shifted(10), Problem.shifted(5):
        raise Problem("inner", 2)
    assert caught.value.offset == 17


def test_shift_leaves_other_errors_alone() -> None:
    with pytest.raises(KeyError), Problem.shifted(10):
        raise KeyError("x")
