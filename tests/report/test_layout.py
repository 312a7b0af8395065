"""How places and arguments read, and how long lines are cut."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tileir_diff.report import layout
from tileir_diff.report.markdown_format import UNLIMITED
from tileir_diff.report.result import Argument, Place, Side, Source


def place(text: str, mark: tuple[int, int] | None = None, line: int = 7) -> Place:
    return Place("k", "exp", line, 3, text, None, mark, None)


def side(path: str) -> Side:
    return Side(path, "unknown", None, None, [])


def test_a_location_is_the_path_as_given_with_line_and_column() -> None:
    assert layout.location(side("a/b.mlir"), place("x")) == "a/b.mlir:7:3"
    assert layout.location(side("a/" * 40 + "b.mlir"), place("x")) == "a/" * 40 + "b.mlir:7:3"
    assert layout.location(side("<reference>"), place("x", line=0)) == "<reference>"
    assert layout.location(side("a.mlir"), None) == "-"


def test_a_source_is_shown_by_its_name() -> None:
    known = Place("k", "exp", 7, 3, "exp", None, None, Source("/src/softmax.py", 31, 5))
    assert layout.source(known) == "softmax.py:31"
    helper = known._replace(source=Source("/src/softmax.py", 9, 5, known.source))
    assert layout.source(helper) == "softmax.py:9, called from line 31"
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
        "by role: A.base, A.shape0 = %a_ptr, %a_dim; B.base = %b_ptr",
        "given: n = %m",
        "reference only: k",
        "generated only: %l",
    ]
    assert layout.argument_lines([arguments[0], arguments[-1]], width=48) == [
        "by role: A.base, A.shape0 = %a_ptr, %a_dim;",
        "         B.base = %b_ptr",
    ]


def test_arguments_of_one_name_are_counted_and_values_share_a_line() -> None:
    same = [Argument([f"arg{i}"], [f"arg{i}"], "role") for i in range(3)]
    assert layout.argument_lines(same[:1]) == ["1 argument corresponds one to one"]
    values = [
        Argument(["A.shape0"], ["1000"], "use"),
        Argument(["A.stride0"], ["-inf"], "use"),
        Argument(["B.shape0"], ["1000"], "use"),
        Argument(["1"], ["n"], "use"),
    ]
    assert layout.argument_lines([*values, *same]) == [
        "3 arguments correspond one to one",
        "reference values: A.shape0, B.shape0 = 1000; A.stride0 = -inf",
        "generated values: %n = 1",
    ]
    assert layout.argument_lines([]) == []


def test_arguments_that_must_be_multiples_share_a_line_for_each_side_and_reason() -> None:
    why = "(stated by the launcher's specialisation)"
    obligations = [
        f"generated %arg1 is a multiple of 8 {why}",
        "reference arg3.shape0 = arg0.shape0",
        f"generated %arg2 is a multiple of 4 {why}",
        f"generated %arg3 is a multiple of 8 {why}",
        "reference %arg4 is a multiple of 8",
        "%arg5 is a multiple of 2",
    ]
    assert layout.obligation_lines(obligations, width=130) == [
        "reference arg3.shape0 = arg0.shape0",
        f"generated: %arg1, %arg3 are multiples of 8; %arg2 is a multiple of 4 {why}",
        "reference: %arg4 is a multiple of 8",
        "%arg5 is a multiple of 2",
    ]


def test_what_is_said_of_several_sizes_shares_a_line() -> None:
    blocks = "for all blocks launched"
    obligations = [
        "reference b.shape0 = a.shape0",
        f"block.x < a.shape0 {blocks}",
        "reference c.shape0 = a.shape0",
        f"block.x < b.shape0 {blocks}",
        "c.shape1 <= a.shape1",
        "generated %arg1 is a multiple of 8",
        "c.shape1 <= b.shape1",
    ]
    assert layout.obligation_lines(obligations) == [
        "reference b.shape0, c.shape0 = a.shape0",
        f"block.x < a.shape0, b.shape0 {blocks}",
        "c.shape1 <= a.shape1, b.shape1",
        "generated: %arg1 is a multiple of 8",
    ]
    assert layout.obligation_lines(obligations, width=36)[:3] == [
        "reference b.shape0,",
        "          c.shape0 = a.shape0",
        "block.x < a.shape0,",
    ]


def test_what_is_cut_away_before_the_mark_leaves_the_name_of_the_op() -> None:
    text = "%x = exp %0 : " + "a" * 200 + " padding_value = zero, " + "b" * 200
    start = text.index("padding_value")
    shown, mark = layout.clip(place(text, (start, start + 20)), 64)
    assert mark is not None
    assert shown.startswith("%x = exp …")
    assert shown.endswith("…")
    assert len(shown) <= 64
    assert shown[slice(*mark)] == "padding_value = zero"


def test_captions_of_two_long_formulas_show_where_they_differ() -> None:
    same = "addf(mulf(load[x + 4096*block.x + i0], load[w + i0]), "
    texts = (f"{same}load[bias + 128*block.x + i0]) and more of it", f"{same}load[bias + i0]) and more of it")
    captions = [
        layout.caption(place("x"), text, other) for text, other in zip(texts, texts[::-1], strict=True)
    ]
    assert captions[0] != captions[1]
    assert all("load[bias + " in caption and len(caption) <= layout.CAPTION for caption in captions)


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


def test_a_list_in_markdown_has_one_item_for_each_side() -> None:
    many = [f"generated %arg{n} is a multiple of {n}" for n in range(10, 60)]
    assert len(layout.obligation_lines(many)) > 1
    assert len(layout.obligation_lines(many, UNLIMITED)) == 1
