"""Pointers that do not name their array where they are used: carried, chosen, converted."""

from __future__ import annotations

import pytest

from tests.match.snippets import assert_equal, compared, kernel

P = "tile<ptr<i32>>"
PARAMETERS = f"%a: {P}, %b: {P}, %c: {P}, %n: tile<i32>"
PROLOGUE = """
%t = make_token : token
%i0 = constant <i32: 0> : tile<i32>
%i1 = constant <i32: 1> : tile<i32>
%i8 = constant <i32: 8> : tile<i32>
%q = cmpi less_than %n, %i8, signed : tile<i32> -> tile<i1>
"""
DERIVED = {
    "select": f"%p = select %q, %a, %b : tile<i1>, {P}",
    "if": f"%p = if %q -> ({P}) {{\nyield %b : {P}\n}} else {{\nyield %a : {P}\n}}",
    "nested": f"%p = if %q -> ({P}) {{\n%d = iota : tile<8xi32>\n"
    "%sum = reduce %d dim=0 identities=[0 : i32] : tile<8xi32> -> tile<i32>\n"
    "(%l: tile<i32>, %h: tile<i32>) {\n"
    "%lh = addi %l, %h : tile<i32>\nyield %lh : tile<i32>\n}\n"
    f"%as = offset %a, %sum : {P}, tile<i32> -> {P}\nyield %a : {P}\n}} else {{\nyield %b : {P}\n}}",
    "for": f"%p = for %j in (%i0 to %n, step %i1) : tile<i32> iter_values(%u = %b) -> ({P}) {{\n"
    f"continue %a : {P}\n}}",
    "loop": f"%p:2 = loop iter_values(%u = %a, %j = %i0) : {P}, tile<i32> -> {P}, tile<i32> {{\n"
    "%last = cmpi equal %j, %n, signed : tile<i32> -> tile<i1>\n"
    f"if %last {{\nbreak %u, %j : {P}, tile<i32>\n}} else {{\n}}\n"
    f"%k = addi %j, %i1 : tile<i32>\ncontinue %b, %k : {P}, tile<i32>\n}}",
    "pointee": f"%f = ptr_to_ptr %a : {P} -> tile<ptr<f32>>\n%p = ptr_to_ptr %f : tile<ptr<f32>> -> {P}",
    "integer": f"%f = ptr_to_int %a : {P} -> tile<i64>\n%p = int_to_ptr %f : tile<i64> -> {P}",
}
"""Ways to a pointer `%p` that may be `%a`."""


def spelled(body: str) -> str:
    return kernel(body, parameters=PARAMETERS, prologue=PROLOGUE)


def load(name: str, array: str, token: str = "%t") -> str:
    return f"%{name}, %{name}t = load_ptr_tko weak {array} token={token} : {P} -> tile<i32>, token\n"


def store(name: str, array: str, value: str, token: str = "%t") -> str:
    return f"%{name} = store_ptr_tko weak {array}, {value} token={token} : {P}, tile<i32> -> token\n"


def told_apart(first: str, second: str, rule: str = "") -> None:
    for reference, generated in ((first, second), (second, first)):
        differences = compared(reference, generated).differences
        assert any(each.impact != "none" for each in differences)
    assert any(each.rule.startswith(rule) for each in compared(first, second).differences)
    assert_equal(first, first)
    assert_equal(second, second)


@pytest.mark.parametrize("way", DERIVED)
def test_a_store_through_a_derived_pointer_changes_what_is_loaded_next(way: str) -> None:
    p = "%p#0" if way == "loop" else "%p"
    body = f"{DERIVED[way]}\n{load('x', '%a')}{store('s', p, '%n', '%xt')}{load('y', '%a', '%s')}"
    told_apart(*(spelled(body + store("r", "%c", value, "%yt")) for value in ("%x", "%y")))


@pytest.mark.parametrize("way", DERIVED)
def test_a_store_through_a_derived_pointer_is_waited_for(way: str) -> None:
    p = "%p#0" if way == "loop" else "%p"
    first = f"{DERIVED[way]}\n{store('s', p, '%i1')}"
    reference, generated = (spelled(first + store("r", "%a", "%n", token)) for token in ("%s", "%t"))
    (difference,) = compared(reference, generated).differences
    assert difference.rule == "token-order/missing"
    assert not compared(reference, reference).differences


@pytest.mark.parametrize("way", [way for way in DERIVED if way != "integer"])
def test_an_array_that_it_cannot_be_is_not_concerned(way: str) -> None:
    p = "%p#0" if way == "loop" else "%p"
    result = store("r", "%b", "%x", "%s" if way != "pointee" else "%t")
    first = f"{DERIVED[way]}\n{load('x', '%c')}{store('s', p, '%n')}{result}"
    second = f"{DERIVED[way]}\n{store('s', p, '%n')}{load('x', '%c')}{result}"
    assert_equal(spelled(first), spelled(second))


LOOP = "%e:2 = for %i in (%i0 to %i8, step %i1) : tile<i32> iter_values("


def test_a_store_through_a_carried_pointer_changes_what_is_loaded_in_the_loop() -> None:
    body = (
        f"{LOOP}%p = %a, %w = %t) -> ({P}, token) {{\n{load('x', '%a', '%w')}{store('s', '%p', '%i', '%xt')}"
        f"{load('y', '%a', '%s')}%to = offset %c, %i : {P}, tile<i32> -> {P}\n{{}}"
        f"%on = offset %p, %i1 : {P}, tile<i32> -> {P}\ncontinue %on, %yt : {P}, token\n}}"
    )
    kernels = [spelled(body.replace("{}", store("r", "%to", value))) for value in ("%x", "%y")]
    told_apart(*kernels)
    direct = (
        kernels[0]
        .replace("(%p = %a, %w = %t)", "(%w = %t)")
        .replace(f"-> ({P}, token) {{", f"-> (token) {{\n%p = offset %a, %i : {P}, tile<i32> -> {P}")
        .replace(f"continue %on, %yt : {P}, token", "continue %yt : token")
        .replace("%e:2", "%e")
    )
    assert direct != kernels[0]
    assert_equal(kernels[0], direct)
    assert_equal(direct, kernels[0])


def test_a_load_behind_a_loop_that_stores_through_a_carried_pointer() -> None:
    """Behind the loop it reads what was stored, before it what was there."""
    loop = (
        f"{LOOP}%p = %a, %w = {{}}) -> ({P}, token) {{\n{store('s', '%p', '%i', '%w')}"
        f"%on = offset %p, %i1 : {P}, tile<i32> -> {P}\ncontinue %on, %s : {P}, token\n}}\n"
    )
    result = store("r", "%b", "%x")
    told_apart(
        spelled(loop.replace("{}", "%t") + load("x", "%a", "%e#1") + result),
        spelled(load("x", "%a") + loop.replace("{}", "%xt") + result),
    )


def test_a_store_in_either_branch_is_one_store_for_what_is_loaded_next() -> None:
    result = load("x", "%a", "%s") + store("r", "%b", "%x", "%xt")
    branches = (
        f"%s = if %q -> (token) {{\n{store('s1', '%a', '%i1')}yield %s1 : token\n}} else {{\n"
        f"{store('s2', '%a', '%i8')}yield %s2 : token\n}}\n"
    )
    select = f"%v = select %q, %i1, %i8 : tile<i1>, tile<i32>\n{store('s', '%a', '%v')}"
    assert_equal(spelled(branches + result), spelled(select + result))
    before = load("x", "%a") + select.replace("token=%t", "token=%xt") + store("r", "%b", "%x")
    told_apart(spelled(select + result), spelled(before))
    told_apart(spelled(branches + result), spelled(before))
