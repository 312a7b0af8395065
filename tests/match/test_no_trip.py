"""A loop that no launch enters is no port of one that runs as often as a size says."""

from __future__ import annotations

import pytest

from tests.match.snippets import HERE, PROLOGUE, assert_equal, assert_found, compared, found, kernel

SIZED, SIZELESS = (
    "%a: tile<ptr<f32>>, %b: tile<ptr<f32>>, %n: tile<i32>",
    "%a: tile<ptr<f32>>, %b: tile<ptr<f32>>",
)
ADDRESSES = PROLOGUE.split("%n1 =")[0] + PROLOGUE[PROLOGUE.index("%a1 =") :]
COUNTED = "%end = divi %N, %i128 signed rounding<positive_inf> : tile<i32>"
TILES = "tile<128xptr<f32>>"

ADDRESS = """%at = muli %i, %i128 : tile<i32>
  %at1 = reshape %at : tile<i32> -> tile<1xi32>
  %ats = broadcast %at1 : tile<1xi32> -> tile<128xi32>"""
READ = f"""{ADDRESS}
  %pq = offset %pa, %ats : {TILES}, tile<128xi32> -> {TILES}
  %v, %vt = load_ptr_tko weak %pq token=%t : {TILES} -> tile<128xf32>, token
  %s2 = addf %s, %v : tile<128xf32>"""
MARK = " // mark"
SUM = f"""
%acc = for %i in (%i0 to %end, step %i1) : tile<i32> iter_values(%s = %zero) -> (tile<128xf32>) {{{MARK}
  {READ}
  continue %s2 : tile<128xf32>
}}
%st = store_ptr_tko weak %pb, %acc token=%t : {TILES}, tile<128xf32> -> token"""
KINDS = "tile<128xf32>, tile<i32>"
WHILE = f"""%acc, %last = loop iter_values(%s = %zero, %i = %i0) : {KINDS} -> {KINDS} {{
  %done = cmpi greater_than_or_equal %i, %end, signed : tile<i32> -> tile<i1>
  if %done {{
    break %s, %i : tile<128xf32>, tile<i32>
  }}
  {READ}
  %j = addi %i, %i1 : tile<i32>
  continue %s2, %j : tile<128xf32>, tile<i32>
}}
%st = store_ptr_tko weak %pb, %acc token=%t : {TILES}, tile<128xf32> -> token"""
STORES = f"""for %i in (%i0 to %end, step %i1) : tile<i32> {{{MARK}
  {ADDRESS}
  %pq = offset %pb, %ats : {TILES}, tile<128xi32> -> {TILES}
  %st = store_ptr_tko weak %pq, %one token=%t : {TILES}, tile<128xf32> -> token
  continue
}}"""
NOTHING = f"%st = store_ptr_tko weak %pb, %zero token=%t : {TILES}, tile<128xf32> -> token"


def sized(body: str, *, name: str = "k") -> str:
    return kernel(f"{COUNTED}\n{body}", parameters=SIZED, prologue=ADDRESSES, name=name)


def fixed(body: str, end: int, *, name: str = "k_entry") -> str:
    """A port that has a constant where the reference has the size, and no size."""
    prologue = "\n".join(line for line in ADDRESSES.split("\n") if not line.startswith("%N ="))
    constant = f"%end = constant <i32: {end}> : tile<i32>"
    return kernel(f"{constant}\n{body}", parameters=SIZELESS, prologue=prologue, name=name)


@pytest.mark.parametrize("end", [-3, 0])
@pytest.mark.parametrize("body", [SUM, STORES], ids=["sum", "stores"])
def test_a_constant_that_lets_no_launch_in_is_found_at_the_loop(body: str, end: int) -> None:
    marked = body.replace(MARK, f" {HERE}")
    first = assert_found(sized(body), fixed(marked, end), "loop/bounds")
    assert (first.impact, first.actual) == ("logic", "0")
    assert not any("= 0" in line for line in compared(sized(body), fixed(body, end)).obligations)
    back = found(fixed(body, end, name="k"), sized(body, name="k_entry"))
    assert back
    assert back[0].impact == "logic"


@pytest.mark.parametrize("end", [-3, 0])
def test_so_is_a_loop_that_is_left_at_once(end: int) -> None:
    first = found(sized(WHILE), fixed(WHILE, end))
    assert first
    assert first[0].impact == "logic"


@pytest.mark.parametrize("body", [SUM, WHILE], ids=["for", "loop"])
def test_a_loop_that_is_not_there_is_no_empty_array(body: str) -> None:
    first = found(sized(body), fixed(NOTHING, 0))
    assert first
    assert first[0].impact == "logic"


@pytest.mark.parametrize("end", [-3, 0])
def test_two_loops_that_make_no_trip_are_equal(end: int) -> None:
    assert_equal(fixed(SUM, end, name="k"), fixed(SUM, 0))
