"""Hostile and huge input: one clear error, no traceback, no hang."""

# ruff: noqa: E501  (IR stands here as it is printed)

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.dialect.snippets import BLOCKS, LINES, wrap
from tileir_diff.dialect import parse_text
from tileir_diff.dialect.printer import print_module
from tileir_diff.errors import InputError

MANY = 100_000


@pytest.mark.parametrize(
    "text",
    [
        "(" * MANY,
        "%0 = join_tokens " + "(" * MANY,
        "%0 = permute %x " + "[" * MANY,
        "%0 = permute %x " + "[" * MANY + "]" * MANY,
        "%0 = constant " + "<" * MANY,
        "%0 = constant <i32: " + "[" * MANY + "1" + "]" * MANY + "> : tile<1xi32>",
        "%0 = constant <i32: " + "[" * 2000 + "1" + "]" * 2000 + "> : tile<" + "1x" * 2000 + "i32>",
        "%0 = constant <i32: " + "9" * MANY + "> : tile<i32>",
        "%0 = iota : " + "tile<" * MANY + "f32" + ">" * MANY,
        "%0 = iota : tile<" + "9" * 10_000 + "xi32>",
        "{" * MANY,
        "return {" + "a = {" * MANY,
        '"' + "a" * MANY,
        '"' + "\\" * MANY,
        "return loc(" + "callsite(" * MANY,
        "entry @k(%c: tile<i1>) {\n" + "if %c {\n" * 10_000 + "}\n" * 10_001,
        "module {\n" * 10_000 + "}\n" * 10_000,
        "\n" * MANY,
        " " * MANY + "\x01",
        "%" * MANY,
        "%0:" + "9" * MANY + " = make_token : token",
        "!a = !a\n%0 = iota : !a",
        "\udcff",
        "",
    ],
    ids=range(24),
)
def test_clean_error_in_time(text: str) -> None:
    start = time.process_time()
    with pytest.raises(InputError) as caught:
        parse_text(text)
    assert len(str(caught.value)) < 2000
    assert time.process_time() - start < 10


def test_deep_but_possible_nesting() -> None:
    depth = 95
    text = "entry @k(%c: tile<i1>) {\n" + "if %c {\n" * depth + "}\n" * depth + "}"
    module = parse_text(text)
    assert print_module(module).count("if %c") == depth


def test_many_ops_take_linear_time() -> None:
    def seconds(count: int) -> float:
        lines = ["entry @k(%a: tile<16xf32>) {"]
        lines += [
            f"  %{index} = addf %{index - 1 if index else 'a'}, %a : tile<16xf32>" for index in range(count)
        ]
        text = "\n".join([*lines, "  return\n}"])
        start = time.process_time()
        parse_text(text)
        return time.process_time() - start

    seconds(100)
    small, large = seconds(1_000), seconds(10_000)
    assert large < 25 * small + 1


def test_long_operand_lists_take_linear_time() -> None:
    text = "entry @k(%a: token) {\n  %0 = join_tokens " + ", ".join(["%a"] * 20_000) + " : token\n  return\n}"
    start = time.process_time()
    parse_text(text)
    assert time.process_time() - start < 10


PIECES = st.sampled_from(
    [
        *"<>{}()[]=:,%@#!^\"\\ \n-?x0",
        "%0", "%a#1", "%a:2 =", "tile<4xf32>", "token", "->", "addf", "for", "if", "else", "iter_values(", "loc(",
        "constant", "<i32: 1>", "{a = 1}", "return", "yield", "entry", "module", "@k", "rounding<zero>", "signed",
        "to", "step", "in", "1.5", "0x7F", "inf", "-inf", "nan", '"cuda_tile.addf"', "<{", "}>", "({", "})", "^bb0",
        "dense<1>", "array<i32: 1>", "#loc = loc(unknown)", "//", "\x00", "é", "²", "optimization_hints = <>",
    ]
)  # fmt: skip


@settings(max_examples=300, deadline=None)
@given(st.lists(PIECES, max_size=40))
def test_any_pieces_are_read_or_refused(pieces: list[str]) -> None:
    try:
        parse_text(" ".join(pieces))
    except InputError:
        return


@settings(max_examples=300, deadline=None)
@given(st.data())
def test_damaged_dumps_are_read_or_refused(data: st.DataObject) -> None:
    text = wrap(data.draw(st.sampled_from(LINES + BLOCKS)))
    for _ in range(data.draw(st.integers(1, 3))):
        start = data.draw(st.integers(0, len(text)))
        end = min(start + data.draw(st.integers(0, 8)), len(text))
        text = text[:start] + data.draw(PIECES | st.text(max_size=3)) + text[end:]
    try:
        module = parse_text(text)
    except InputError:
        return
    print_module(module)
