"""A division by a size does not settle the very test that protects it."""

from __future__ import annotations

import pytest

from tests.match.snippets import assert_equal, assert_found, compared, found, kernel

PARAMETERS = "%p: tile<ptr<i32>>, %n: tile<i32>, %m: tile<i32>"
START = """%t = make_token : token
%i0 = constant <i32: 0> : tile<i32>
%i1 = constant <i32: 1> : tile<i32>
%test = cmpi greater_than %n, %i0, signed : tile<i32> -> tile<i1>"""
DIVIDE = "%q = divi %m, {} signed : tile<i32>"


def store(value: str) -> str:
    return f"store_ptr_tko weak %p, {value} token=%t : tile<ptr<i32>>, tile<i32> -> token"


def divided(body: str) -> str:
    return kernel(body, parameters=PARAMETERS, prologue=START)


PLAIN = divided(f"{DIVIDE.format('%n')}\n%s = {store('%q')}")
GUARDED = divided(f"if %test {{\n{DIVIDE.format('%n')}\n%s = {store('%q')}\n}}")
WITH_ELSE = divided(
    f"if %test {{\n{DIVIDE.format('%n')}\n%s = {store('%q')}\n}} else {{\n%s = {store('%i0')}\n}}"
)
CHOSEN = divided(
    f"{DIVIDE.format('%n')}\n%w = select %test, %q, %i0 : tile<i1>, tile<i32>\n%s = {store('%w')}"
)
AT_LEAST_ONE = divided(f"%d = maxi %n, %i1 signed : tile<i32>\n{DIVIDE.format('%d')}\n%s = {store('%q')}")
EVERY = [PLAIN, GUARDED, WITH_ELSE, CHOSEN, AT_LEAST_ONE]


def told(reference: str, generated: str) -> list[str]:
    return [line for line in compared(reference, generated).obligations if "tested by" in line]


@pytest.mark.parametrize("reference", [GUARDED, WITH_ELSE, AT_LEAST_ONE])
def test_a_test_that_protects_a_division_must_not_be_dropped(reference: str) -> None:
    assert assert_found(reference, PLAIN, "control-flow/size-test").impact == "edge"


def test_a_reference_that_divides_all_the_same_has_no_result_for_zero() -> None:
    assert_equal(CHOSEN, PLAIN)
    (line,) = told(CHOSEN, PLAIN)
    assert line.endswith("tested by the reference only, at line 5")


@pytest.mark.parametrize("generated", [GUARDED, WITH_ELSE, AT_LEAST_ONE, CHOSEN])
def test_a_test_that_only_the_generated_kernel_makes_is_told(generated: str) -> None:
    assert_equal(PLAIN, generated)
    (line,) = told(PLAIN, generated)
    assert "tested by the generated only" in line


def test_what_is_done_for_no_elements_must_be_done() -> None:
    assert found(WITH_ELSE, GUARDED) != []
    assert found(GUARDED, WITH_ELSE) != []


@pytest.mark.parametrize("text", EVERY)
def test_a_test_of_both_sides_is_no_matter(text: str) -> None:
    assert_equal(text, text)
    assert told(text, text) == []


@pytest.mark.parametrize(
    "predicate", ["less_than %i0, %n", "not_equal %n, %i0", "greater_than_or_equal %n, %i1"]
)
def test_other_spellings_of_a_test(predicate: str) -> None:
    other = GUARDED.replace("greater_than %n, %i0", predicate)
    assert_found(other, PLAIN, "control-flow/size-test")


def test_a_promise_makes_the_test_superfluous() -> None:
    promised = "%n1 = assume bounded<1, ?>, %n : tile<i32>\n"
    reference, generated = (text.replace("%q =", f"{promised}%q =") for text in (CHOSEN, PLAIN))
    assert_equal(reference, generated)
    assert told(reference, generated) == []
