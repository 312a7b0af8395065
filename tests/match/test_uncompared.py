"""Another structure hides neither another function nor another axis of the grid."""

from __future__ import annotations

import pytest

from tests.match.snippets import LOAD, STORE, found, kernel

AGAIN = "for %k in (%i0 to %m, step %i1) : tile<i32> {{\n{0}\n}}"


def computing(op: str, around: str) -> str:
    return kernel(around.format(f"{LOAD}\n%w = {op} %v : tile<128xf32>\n{STORE}"))


@pytest.mark.parametrize("op", ["sin", "log2", "rsqrt"])
def test_another_function_in_another_loop(op: str) -> None:
    plain = {each.rule for each in found(computing("exp", "{0}"), computing("exp", AGAIN))}
    assert plain
    assert "arithmetic/op" not in plain
    told = {each.rule: each for each in found(computing("exp", "{0}"), computing(op, AGAIN))}
    assert op in told["arithmetic/op"].message
    assert told.keys() >= plain


def test_a_function_behind_a_carried_value_is_one_of_the_reference() -> None:
    loop = """%r = for %k in (%i0 to %m, step %i1) : tile<i32> iter_values(%c = %v) -> (tile<128xf32>) {{
  {0}
  %w = absf %c : tile<128xf32>
  {1}
  %d = sin %c : tile<128xf32>
  continue %d : tile<128xf32>
}}"""
    inside = kernel(f"{LOAD}\n{loop.format('', STORE)}")
    outside = kernel(f"{LOAD}\n%s = sin %v : tile<128xf32>\n%w = absf %s : tile<128xf32>\n{STORE}")
    told = {each.rule: each.message for each in found(inside, outside)}
    assert told
    assert "never does" not in " ".join(told.values())


def test_functions_that_spell_each_other_are_silent() -> None:
    rules = {each.rule for each in found(computing("exp", "{0}"), computing("exp2", AGAIN))}
    assert rules == {each.rule for each in found(computing("exp", "{0}"), computing("exp", AGAIN))}


@pytest.mark.parametrize("around", ["{0}", AGAIN])
def test_another_axis_in_another_loop(around: str) -> None:
    reference, generated = computing("exp", "{0}"), computing("exp", around)
    swapped = generated.replace("%x, %y, %z = get", "%z, %y, %x = get")
    told = {each.rule: each for each in found(reference, swapped)}
    assert "z" in told["grid/axis"].message
    assert "grid/axis" not in {each.rule for each in found(reference, generated)}
