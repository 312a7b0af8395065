"""Promises of a divisor about pointers that are chosen, carried, exchanged or loaded."""

from __future__ import annotations

from functools import partial

import pytest

from tests.match.snippets import assert_equal, assert_found, found, kernel

PARAMETERS = "%a: tile<ptr<f32>>, %b: tile<ptr<f32>>, %n: tile<i32>, %table: tile<ptr<i64>>"
PROLOGUE = """
%t = make_token : token
%x, %y, %z = get_tile_block_id : tile<i32>
%i0 = constant <i32: 0> : tile<i32>
%i1 = constant <i32: 1> : tile<i32>
%i4 = constant <i32: 4> : tile<i32>
%l0 = constant <i64: 0> : tile<i64>
%one = constant <f32: 1.0> : tile<f32>
"""
P = "tile<ptr<f32>>"
TWO = f"({P}, {P})"
STORE = f"%st = store_ptr_tko weak %p_, %one token=%t : {P}, tile<f32> -> token"
LOADED = "%ad, %at = load_ptr_tko weak PLACE token=%t : tile<ptr<i64>> -> tile<i64>, token\nPROMISE(ad)"
LOOP = "for %i in (%i0 to %n, step %i1) : tile<i32>"
SPELLINGS = {
    "select": f"""
      %c = cmpi less_than %x, %n, signed : tile<i32> -> tile<i1>
      %p = select %c, %a_, %b_ : tile<i1>, {P}
      PROMISE(p)
      {STORE}""",
    "if": f"""
      %c = cmpi less_than %x, %n, signed : tile<i32> -> tile<i1>
      %p = if %c -> ({P}) {{
        yield %a_ : {P}
      }} else {{
        yield %b_ : {P}
      }}
      PROMISE(p)
      {STORE}""",
    "select by the iteration": f"""
      {LOOP} {{
        %c = cmpi less_than %i, %x, signed : tile<i32> -> tile<i1>
        %p = select %c, %a_, %b_ : tile<i1>, {P}
        PROMISE(p)
        {STORE}
      }}""",
    "exchanged": f"""
      %r:2 = {LOOP} iter_values(%p = %a_, %q = %b_) -> {TWO} {{
        PROMISE(p)
        {STORE}
        continue %q, %p : {P}, {P}
      }}""",
    "exchanged in a loop around": f"""
      for %o in (%i0 to %n, step %i1) : tile<i32> {{
        %r:2 = {LOOP} iter_values(%p = %a_, %q = %b_) -> {TWO} {{
          PROMISE(p)
          {STORE}
          continue %q, %p : {P}, {P}
        }}
      }}""",
    "exchanged before": f"""
      %p, %q2 = {LOOP} iter_values(%r = %a_, %q = %b_) -> {TWO} {{
        continue %q, %r : {P}, {P}
      }}
      PROMISE(p)
      {STORE}""",
    "left with": f"""
      %p = loop iter_values(%r = %a_, %i = %i0) : {P}, tile<i32> -> {P} {{
        %e = cmpi greater_than_or_equal %i, %n, signed : tile<i32> -> tile<i1>
        if %e {{
          break %r : {P}
        }}
        %c = cmpi less_than %i, %x, signed : tile<i32> -> tile<i1>
        %s = select %c, %r, %b_ : tile<i1>, {P}
        %i2 = addi %i, %i1 : tile<i32>
        continue %s, %i2 : {P}, tile<i32>
      }}
      PROMISE(p)
      {STORE}""",
}
"""Of one of two arrays, whose pointers are `%a_` and `%b_`."""
LOADS = {
    "loaded": f"""
      {LOADED.replace("PLACE", "%table")}
      %p = int_to_ptr %ad_ : tile<i64> -> {P}
      PROMISE(p)
      {STORE}""",
    "loaded in each iteration": f"""
      {LOOP} {{
        %place = offset %table, %i : tile<ptr<i64>>, tile<i32> -> tile<ptr<i64>>
        {LOADED.replace("PLACE", "%place")}
        %p = int_to_ptr %ad_ : tile<i64> -> {P}
        PROMISE(p)
        {STORE}
      }}""",
}


def spelled(text: str, **promises: int) -> str:
    """The kernel, where `%p_` is `%p` with the promise of a divisor, or without one; and so on."""

    def named(name: str) -> str:
        divisor = promises.get(name)
        if name == "ad":
            plain = "addi %ad, %l0 : tile<i64>"
            return f"%ad_ = assume div_by<{divisor}>, %ad : tile<i64>" if divisor else f"%ad_ = {plain}"
        plain = f"offset %{name}, %i0 : {P}, tile<i32> -> {P}"
        return f"%{name}_ = assume div_by<{divisor}>, %{name} : {P}" if divisor else f"%{name}_ = {plain}"

    for mark, name in (("PROMISE(p)", "p"), ("PROMISE(ad)", "ad")):
        text = text.replace(mark, named(name))
    return kernel(f"{named('a')}\n{named('b')}\n{text}", parameters=PARAMETERS, prologue=PROLOGUE)


@pytest.mark.parametrize("text", [*SPELLINGS.values(), *LOADS.values()], ids=[*SPELLINGS, *LOADS])
def test_a_promise_about_the_pointer_itself(text: str) -> None:
    made = partial(spelled, text)
    for weak, strong in ((0, 16), (16, 64)):
        assert assert_found(made(p=weak), made(p=strong), "divisibility/stronger").impact == "assume"
        assert_equal(made(p=strong), made(p=strong))
        assert [each.impact for each in found(made(p=strong), made(p=weak))] == ["hint"]
    assert_equal(made(), made(p=4))


@pytest.mark.parametrize("text", SPELLINGS.values(), ids=SPELLINGS)
def test_a_promise_that_both_arrays_keep_is_none(text: str) -> None:
    """What all pointers are multiples of that one is chosen from, it is too."""
    made = partial(spelled, text)
    for other in (16, 64):
        both = made(a=16, b=other)
        assert_equal(both, made(a=16, b=other, p=16))
        assert_equal(made(a=16, b=other, p=16), both)
        stronger = made(a=16, b=other, p=64)
        assert assert_found(both, stronger, "divisibility/stronger").impact == "assume"
    assert_found(made(a=16), made(a=16, p=16), "divisibility/stronger")


@pytest.mark.parametrize("text", SPELLINGS.values(), ids=SPELLINGS)
def test_a_promise_about_a_parameter_that_is_chosen(text: str) -> None:
    made = partial(spelled, text)
    assert assert_found(made(), made(b=16), "divisibility/stronger").impact == "assume"
    assert assert_found(made(a=16, b=16), made(a=16, b=64), "divisibility/stronger").impact == "assume"
    assert [each.impact for each in found(made(b=16), made())] == ["hint"]


@pytest.mark.parametrize("text", LOADS.values(), ids=LOADS)
def test_a_promise_about_the_number_that_a_pointer_is(text: str) -> None:
    made = partial(spelled, text)
    assert assert_found(made(), made(ad=16), "divisibility/stronger").impact == "assume"
    assert_equal(made(ad=16), made(ad=16, p=16))
    assert_found(made(ad=16), made(ad=16, p=64), "divisibility/stronger")


@pytest.mark.parametrize("text", [*SPELLINGS.values(), *LOADS.values()], ids=[*SPELLINGS, *LOADS])
def test_a_promise_about_a_pointer_that_nothing_uses(text: str) -> None:
    unused = partial(spelled, text.replace("weak %p_,", "weak %b,"))
    assert_equal(unused(), unused(p=64))


STEPPED = f"""
  %s = constant <i32: STEP> : tile<i32>
  %r = {LOOP} iter_values(%p = %a_) -> ({P}) {{
    PROMISE(p)
    {STORE}
    %q = offset %p, %s : {P}, tile<i32> -> {P}
    continue %q : {P}
  }}"""


def test_a_pointer_that_a_loop_steps() -> None:
    """It is a multiple of what its start and its steps of four bytes an element are."""
    made = partial(spelled, STEPPED.replace("STEP", "8"))
    assert_equal(made(a=32), made(a=32, p=32))
    assert_found(made(a=64), made(a=64, p=64), "divisibility/stronger")
    assert_found(made(a=16), made(a=16, p=32), "divisibility/stronger")


def test_an_offset_that_stands_before_its_pointer_is_no_pointer() -> None:
    """It counts elements, of the size that the pointer has; and the pointer counts bytes."""
    text = f"%p = offset %a_, %n : {P}, tile<i32> -> {P}\nPROMISE(p)\n{STORE}"

    def made(**promises: int) -> str:
        swapped = "%n: tile<i32>, %a: tile<ptr<f32>>, %b: tile<ptr<f32>>, %table: tile<ptr<i64>>"
        return spelled(text, **promises).replace(PARAMETERS, swapped)

    assert_found(made(a=16), made(a=16, p=64), "divisibility/stronger")
    assert_equal(made(a=16, p=16), made(a=16, p=16))
