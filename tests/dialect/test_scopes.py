"""Names: regions have their own, packs are numbered, entries see nothing from outside."""

# ruff: noqa: E501  (IR stands here as it is printed)

import pytest

from tileir_diff.dialect import parse_text
from tileir_diff.errors import InputError


def test_sibling_regions_may_use_the_same_names() -> None:
    text = """entry @k(%c: tile<i1>, %f: tile<f32>) {
  if %c {
    %7 = negf %f : tile<f32>
  } else {
    %7 = absf %f : tile<f32>
  }
  %7 = ceil %f : tile<f32>
  return
}"""
    assert parse_text(text).entries[0].regions[0].block.last_op is not None


def test_a_region_may_hide_an_outer_name() -> None:
    text = """entry @k(%c: tile<i1>, %f: tile<f32>) {
  %x = negf %f : tile<f32>
  if %c {
    %x = absf %f : tile<f32>
    %y = ceil %x : tile<f32>
  }
  %z = floor %x : tile<f32>
  return
}"""
    negation, branch, floor, _ = parse_text(text).entries[0].inner()
    inner = list(branch.inner())
    assert floor.operands[0] is negation.results[0]
    assert inner[1].operands[0] is inner[0].results[0]


@pytest.mark.parametrize(
    ("text", "line", "column", "message"),
    [
        ("entry @k(%c: tile<i1>) {\n  if %c {\n    %t = make_token : token\n  }\n  memory_fence_alias_tko %t\n}", 5, 26,
         "undefined value '%t'"),
        ("%t = make_token : token\nentry @k() {\n  memory_fence_alias_tko %t\n}", 3, 26, "undefined value '%t'"),
        ("entry @k() {\n  memory_fence_alias_tko %t\n  %t = make_token : token\n}", 2, 26, "undefined value '%t'"),
        ("entry @k() {\n  %t = make_token : token\n  %t = make_token : token\n}", 3, 3, "redefinition of value '%t'"),
        ("entry @k(%a: token, %a: token) {\n}", 1, 21, "redefinition of value '%a'"),
        ("entry @k(%a: token) {\n  %b:2 = get_tensor_shape %a#1 : token -> tile<i32>\n}", 2, 27,
         "undefined value '%a#1'"),
    ],
)  # fmt: skip
def test_faults(text: str, line: int, column: int, message: str) -> None:
    with pytest.raises(InputError) as caught:
        parse_text(text)
    assert message in caught.value.message
    assert (caught.value.line, caught.value.column) == (line, column)


def test_packs() -> None:
    text = """entry @k(%f: tile<f32>, %i: tile<i32>) {
  %p:2 = loop : tile<f32>, tile<i32> {
    break %f, %i : tile<f32>, tile<i32>
  }
  %a = negf %p#0 : tile<f32>
  %b = negi %p#1 : tile<i32>
  return
}"""
    loop, first, second, _ = parse_text(text).entries[0].inner()
    assert [result.name_hint for result in loop.results] == ["p#0", "p#1"]
    assert first.operands[0] is loop.results[0]
    assert second.operands[0] is loop.results[1]


def test_plain_names_may_be_written_with_their_number() -> None:
    text = "entry @k(%f: tile<f32>) {\n  %a = negf %f : tile<f32>\n  %b = negf %a#0 : tile<f32>\n  return\n}"
    first, second, _ = parse_text(text).entries[0].inner()
    assert second.operands[0] is first.results[0]


@pytest.mark.parametrize(
    "name", ["cst_-1_i8", "cst_-9223372036854775808_i64", "0", "a.b$c-d", "assume_assume_4"]
)
def test_names_are_kept_as_printed(name: str) -> None:
    (op,) = parse_text(f"%{name} = make_token : token").inner()
    assert op.results[0].name_hint == name
