"""A size that is loaded as i64 and cut to i32, said to fit or not: one difference at most."""

from __future__ import annotations

import pytest

from tests.match.snippets import assert_equal, found, kernel

PARAMETERS = "%a: tile<ptr<f32>>, %b: tile<ptr<f32>>, %sizes: tile<ptr<i64>>"
PROMISE = " overflow<no_signed_wrap>"
PROLOGUE = """%t = make_token : token
%x, %y, %z = get_tile_block_id : tile<i32>
%long, %lt = load_ptr_tko weak %sizes token=%t : tile<ptr<i64>> -> tile<i64>, token
"""
CUT = "%N = trunci %long{promise} : tile<i64> -> tile<i32>"
MASKED = """%low = constant <i64: 4294967295> : tile<i64>
%kept = andi %long, %low : tile<i64>
%N = trunci %kept : tile<i64> -> tile<i32>"""
TENSOR = "tensor_view<?x?xf32, strides=[?,1]>"
VIEW = f"partition_view<tile=(128x1), padding_value = zero, {TENSOR}>"


def copied(size: str, kind: str = "i32", promise: str = "", *, name: str = "k") -> str:
    """The size is in the shape, the index, and the bound of a loop."""
    block = "%first = exti %x signed : tile<i32> -> tile<i64>"
    body = f"""{size}
{block if kind == "i64" else "%first = assume bounded<0, ?>, %x : tile<i32>"}
%one = constant <{kind}: 1> : tile<{kind}>
%c127 = constant <{kind}: 127> : tile<{kind}>
%c128 = constant <{kind}: 128> : tile<{kind}>
%av = make_tensor_view %a, shape = [%N, %N], strides = [%N, 1] : tile<{kind}> -> {TENSOR}
%bv = make_tensor_view %b, shape = [%N, %N], strides = [%N, 1] : tile<{kind}> -> {TENSOR}
%ap = make_partition_view %av : {VIEW}
%bp = make_partition_view %bv : {VIEW}
%up = addi %N, %c127{promise} : tile<{kind}>
%tiles = divi %up, %c128 signed : tile<{kind}>
%end = muli %tiles, %N{promise} : tile<{kind}>
%e = for %i in (%first to %end, step %one) : tile<{kind}> iter_values(%k = %t) -> (token) {{
  %row = divi %i, %N signed : tile<{kind}>
  %before = muli %row, %N{promise} : tile<{kind}>
  %column = subi %i, %before{promise} : tile<{kind}>
  %v, %vt = load_view_tko weak %ap[%row, %column] token = %k : {VIEW}, tile<{kind}> -> tile<128x1xf32>, token
  %w = exp %v : tile<128x1xf32>
  %st = store_view_tko weak %w, %bp[%row, %column] token = %vt :
    tile<128x1xf32>, {VIEW}, tile<{kind}> -> token
  continue %st : token
}}"""
    return kernel(body, parameters=PARAMETERS, prologue=PROLOGUE, name=name)


PLAIN, SAID = (CUT.format(promise=promise) for promise in ("", PROMISE))
WEAKER = {"plain": PLAIN, "masked": MASKED}


@pytest.mark.parametrize("rest", ["", PROMISE], ids=["plain", "promised"])
@pytest.mark.parametrize("weaker", WEAKER)
def test_the_promise_is_the_only_difference(weaker: str, rest: str) -> None:
    """Nor is it told of what the size is used in that the reference promises nothing there."""
    reference, generated = copied(WEAKER[weaker], promise=rest), copied(SAID, promise=rest, name="k_entry")
    result = found(reference, generated)
    assert [(each.rule, each.actual) for each in result] == [("integer-mode/overflow", "nsw")]
    assert result[0].generated is not None
    assert result[0].generated.op.short == "trunci"


@pytest.mark.parametrize("rest", ["", PROMISE], ids=["plain", "promised"])
@pytest.mark.parametrize("weaker", WEAKER)
def test_less_is_promised(weaker: str, rest: str) -> None:
    assert_equal(copied(SAID, promise=rest), copied(WEAKER[weaker], promise=rest, name="k_entry"))


def test_a_size_that_is_not_cut_is_one_that_is_said_to_fit() -> None:
    long = copied("%N = assume bounded<?, ?>, %long : tile<i64>", "i64", PROMISE, name="k_entry")
    cut = copied(SAID, promise=PROMISE)
    rules = {each.rule for each in found(cut, long)}
    assert rules <= {"integer-mode/overflow"}


@pytest.mark.parametrize("cuts", [(PLAIN, SAID), (SAID, PLAIN)], ids=["added", "dropped"])
def test_another_size_is_found_beside_the_promise(cuts: tuple[str, str]) -> None:
    reference, generated = copied(cuts[0]), copied(cuts[1], name="k_entry")
    other = generated.replace("<i32: 127>", "<i32: 128>")
    assert any(each.impact == "logic" for each in found(reference, other))
