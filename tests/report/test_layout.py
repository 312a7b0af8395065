"""How places and arguments read, and how long lines are cut."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tileir_diff.report import layout
from tileir_diff.report.result import Argument, Place, Side, Source


def place(text: str, mark: tuple[int, int] | None = None, line: int = 7) -> Place:
    return Place("k", "exp", line, 3, text, None, mark, None)


def side(path: str) -> Side:
    return Side(path, "unknown", None, None, [])


def test_a_short_path_is_shown_in_full_and_a_long_one_by_its_name() -> None:
    assert layout.location(side("a/b.mlir"), place("x")) == "a/b.mlir:7"
    assert layout.location(side("a/" * 40 + "b.mlir"), place("x")) == "b.mlir:7"
    assert layout.location(side("<reference>"), place("x", line=0)) == "<reference>"
    assert layout.location(side("a.mlir"), None) == "-"


def test_a_source_is_shown_by_its_name() -> None:
    known = Place("k", "exp", 7, 3, "exp", None, None, Source("/src/softmax.py", 31, 5))
    assert layout.source(known) == "softmax.py:31"
    assert layout.source(place("x")) == ""


def test_arguments_are_grouped_by_how_they_were_paired() -> None:
    arguments = [
        Argument(["A.base", "A.shape0"], ["a_ptr", "a_dim"], "role"),
        Argument(["n"], ["m"], "given"),
        Argument(["k"], [], "unmatched"),
        Argument([], ["l"], "unmatched"),
        Argument(["B.base"], ["b_ptr"], "role"),
    ]
    assert layout.argument_lines(arguments, width=64) == [
        "by role: A.base, A.shape0 = a_ptr, a_dim; B.base = b_ptr",
        "given: n = m",
        "no counterpart: k = nothing; nothing = l",
    ]
    assert layout.argument_lines(arguments[:1] * 2, width=64) == [
        "by role: A.base, A.shape0 = a_ptr, a_dim",
        "         A.base, A.shape0 = a_ptr, a_dim",
    ]


def test_types_are_left_out_of_a_long_line_unless_they_matter() -> None:
    text = "%0 = load_ptr_tko weak %arg0, %1 : " + ", ".join(["tile<1024xptr<f32>>"] * 4)
    assert layout.clip(place(text, (24, 29))) == ("%0 = load_ptr_tko weak %arg0, %1", (24, 29))
    shown, mark = layout.clip(place(text, (len(text) - 19, len(text))))
    assert mark is not None
    assert shown[slice(*mark)] == "tile<1024xptr<f32>>"


@given(st.text("abc %:,", min_size=1, max_size=400), st.data())
def test_a_clipped_line_is_short_and_keeps_the_mark(text: str, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(text) - 1))
    end = data.draw(st.integers(start + 1, min(len(text), start + 30)))
    shown, mark = layout.clip(place(text, (start, end)))
    assert len(shown) <= layout.WIDTH
    assert mark is not None
    assert shown[slice(*mark)] == text[start:end]
