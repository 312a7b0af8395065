"""A bound that is off by a constant, where the two sides have other argument lists: told as that."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.match.snippets import HERE, STORE, assert_found, compared, found, kernel

ARRAYS = "%a: tile<ptr<f32>>, %n: tile<i32>, %s: tile<i32>, %b: tile<ptr<f32>>, %m: tile<i32>, %r: tile<i32>"
SOURCE = "%a: tile<ptr<f32>>, %b: tile<ptr<f32>>, %n: tile<i32>, %m: tile<i32>"
FRONT_ENDS = pytest.mark.parametrize("name", ["k_entry", "_Z1k"])

LOADED = """
%inn = cmpi {predicate} %o, %nv, signed : tile<128xi32> -> tile<128xi1>{here}
%v, %vt = load_ptr_tko weak %pa, %inn, %zero token=%t :
  tile<128xptr<f32>>, tile<128xi1>, tile<128xf32> -> tile<128xf32>, token
"""
COPY = f"{LOADED}%w = exp %v : tile<128xf32>\n{STORE.replace('%in', '{mask}')}"
OTHER_MASK = "%inm = cmpi less_than %o, %mv, signed : tile<128xi32> -> tile<128xi1>\n"
SUM = f"""{LOADED}
%sum = reduce %v dim=0 identities=[0.0 : f32] : tile<128xf32> -> tile<f32> (%p: tile<f32>, %q: tile<f32>) {{{{
  %add = addf %p, %q : tile<f32>
  yield %add : tile<f32>
}}}}
%at = offset %b, %x : tile<ptr<f32>>, tile<i32> -> tile<ptr<f32>>
%st = store_ptr_tko weak %at, %sum token=%t : tile<ptr<f32>>, tile<f32> -> token
"""


def copied(predicate: str, *, name: str) -> str:
    """`b = exp(a)`: the source masks both with one size, and the arrays have one each."""
    if name == "k":
        body = OTHER_MASK + COPY.format(predicate=predicate, mask="%inm", here="")
        return kernel(body, parameters=ARRAYS, name=name)
    body = COPY.format(predicate=predicate, mask="%inn", here=f" {HERE}")
    return kernel(body, parameters=SOURCE, name=name)


def summed(predicate: str, *, name: str) -> str:
    parameters = ARRAYS if name == "k" else SOURCE
    return kernel(SUM.format(predicate=predicate, here=""), parameters=parameters, name=name)


@FRONT_ENDS
@pytest.mark.parametrize("body", [copied, summed])
def test_sizes_are_found_behind_a_mask(body: Callable[..., str], name: str) -> None:
    reference, generated = body("less_than", name="k"), body("less_than", name=name)
    assert found(reference, generated) == []
    assert not any("lanes" in line for line in compared(reference, generated).obligations)


@FRONT_ENDS
def test_a_mask_that_takes_one_lane_too_many_is_one_finding(name: str) -> None:
    reference, generated = copied("less_than", name="k"), copied("less_than_or_equal", name=name)
    first = assert_found(reference, generated, "mask/changed")
    assert (first.impact, first.actual) == ("bounds", "less_than_or_equal")
    assert len(found(reference, generated)) == 1


@FRONT_ENDS
def test_a_lane_too_many_that_only_a_sum_shows(name: str) -> None:
    reference, generated = summed("less_than", name="k"), summed("less_than_or_equal", name=name)
    assert [each.rule for each in found(reference, generated)] == ["mask/changed"]
