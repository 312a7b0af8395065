"""Stores in the branches of an ``if`` against one store, lanes backwards, and masks spelled otherwise."""

from __future__ import annotations

import pytest

from tests.match.snippets import LOAD, STORE, assert_equal, assert_found, kernel

T, M, P = "tile<128xf32>", "tile<128xi1>", "tile<128xptr<f32>>"
TYPES = f"{P}, {T}, {M} -> token"
PICK = "%c = cmpi less_than %n, %m, signed : tile<i32> -> tile<i1>\n"
SPREAD = (
    f"%c1 = reshape %c : tile<i1> -> tile<1xi1>\n%cv = broadcast %c1 : tile<1xi1> -> {M}\n"
    f"%w = select %cv, %v, %one : {M}, {T}\n"
)


def branches(then: str, otherwise: str, pick: str = PICK) -> str:
    return kernel(
        f"{LOAD}\n{pick}if %c {{\n%s1 = store_ptr_tko weak {then}\n}} else {{\n"
        f"%s2 = store_ptr_tko weak {otherwise}\n}}"
    )


def stored(value: str, mask: str = "%in", pointer: str = "%pb") -> str:
    return f"{pointer}, {value}, {mask} token=%t : {TYPES}"


CHOSEN = kernel(f"{LOAD}\n{PICK}{SPREAD}{STORE}")
PLAIN = kernel(f"{LOAD}\n{STORE.replace('%w', '%v')}")


@pytest.mark.parametrize("swapped", [False, True])
def test_a_store_in_each_branch_is_one_store(swapped: bool) -> None:
    for apart, together in (
        (branches(stored("%v"), stored("%one")), CHOSEN),
        (branches(stored("%v"), stored("%v")), PLAIN),
    ):
        assert_equal(*((together, apart) if swapped else (apart, together)))


@pytest.mark.parametrize(
    ("then", "otherwise"),
    [
        (stored("%one"), stored("%v")),
        (stored("%v"), stored("%zero")),
        (stored("%v"), stored("%one", pointer="%pa")),
        (stored("%v"), f"%pb, %one token=%t : {P}, {T} -> token"),
    ],
)
def test_but_only_the_same_one(then: str, otherwise: str) -> None:
    families = "arithmetic", "mask", "memory-family", "control-flow", "addressing", "constant"
    assert_found(CHOSEN, branches(then, otherwise), *families)
    assert_found(branches(then, otherwise), CHOSEN, *families)


def test_stores_that_both_take_place_are_two() -> None:
    both = kernel(
        f"{LOAD}\n{PICK}if %c {{\n%s1 = store_ptr_tko weak {stored('%v')}\n}}\n"
        f"%s2 = store_ptr_tko weak {stored('%one')}"
    )
    assert_found(CHOSEN, both, "memory-family", "arithmetic", "mask", "control-flow")


def test_a_load_between_the_two_stores_keeps_them_apart() -> None:
    first = f"%k1 = if %c -> (token) {{\n%s1 = store_ptr_tko weak {stored('%v')}\nyield %s1 : token\n}} "
    first += "else {\nyield %t : token\n}\n"
    read = f"%r, %k2 = load_ptr_tko weak %pb, %in, %zero token=%k1 : {P}, {M}, {T} -> {T}, token\n"
    last = f"%s2 = store_ptr_tko weak {stored('%one').replace('%t', '%k2')}\n"
    keep = f"%s3 = store_ptr_tko weak %pa, %r, %in token=%k2 : {TYPES}"
    apart = kernel(f"{LOAD}\n{PICK}{first}{read}if %c {{\n}} else {{\n{last}}}\n{keep}")
    together = kernel(f"{LOAD}\n{PICK}{SPREAD}{STORE}\n{read.replace('%k1', '%st')}{keep}")
    assert_found(apart, together, "token-order")
    assert_found(together, apart, "token-order", "memory-family")


BACKWARDS = f"""
%last = constant <i32: 127> : tile<128xi32>
%back = subi %last, %lane : tile<128xi32>
%ob = addi %starts, %back : tile<128xi32>
%pab = offset %av, %ob : {P}, tile<128xi32> -> {P}
%pbb = offset %bv, %ob : {P}, tile<128xi32> -> {P}
%inb = cmpi less_than %ob, %nv, signed : tile<128xi32> -> {M}
"""


def copied(source: str, target: str, mask: str = "%in", target_mask: str = "%in") -> str:
    load = LOAD.replace("%pa,", f"{source},").replace("%in", mask)
    return kernel(f"{BACKWARDS}{load}\n%s = store_ptr_tko weak {stored('%v', target_mask, target)}")


def test_lanes_backwards_on_both_accesses_are_the_same_copy() -> None:
    assert_equal(copied("%pa", "%pb"), copied("%pab", "%pbb", "%inb", "%inb"))
    assert_equal(copied("%pab", "%pbb", "%inb", "%inb"), copied("%pa", "%pb"))


def test_lanes_backwards_on_one_access_are_not() -> None:
    straight = copied("%pa", "%pb")
    for other in (
        copied("%pab", "%pb", "%inb"),
        copied("%pa", "%pbb", "%in", "%inb"),
        copied("%pab", "%pbb", "%inb", "%in"),
    ):
        assert_found(straight, other, "addressing", "mask", "padding", "arithmetic")


SECOND = f"%in2 = cmpi less_than %o, %mv, signed : tile<128xi32> -> {M}\n"
XOR = f"{SECOND}%k = xori %in, %in2 : {M}\n"
SPELLED = (
    f"{SECOND}%T = constant <i1: true> : {M}\n%x1 = xori %in, %T : {M}\n%x2 = xori %in2, %T : {M}\n"
    f"%u = andi %in, %x2 : {M}\n%u2 = andi %x1, %in2 : {M}\n%k = ori %u, %u2 : {M}\n"
)


def test_exclusive_or_spelled_out() -> None:
    one, other = (
        kernel(f"{LOAD}\n{mask}{STORE.replace('%w', '%v').replace('%in', '%k')}") for mask in (XOR, SPELLED)
    )
    assert_equal(one, other)
    assert_equal(other, one)
    wrong = other.replace("ori %u, %u2", "ori %u, %in2")
    assert_found(one, wrong, "mask")


@pytest.mark.parametrize("count", [32, 300])
def test_a_long_chain_of_masks_takes_no_long_time(count: int) -> None:
    lines = [f"%k0 = xori %in, %in : {M}"]
    for index in range(count):
        lines.append(f"%f{index} = constant <f32: {index}.5> : {T}")
        lines.append(f"%q{index} = cmpf less_than ordered %v, %f{index} : {T} -> {M}")
        lines.append(f"%k{index + 1} = xori %k{index}, %q{index} : {M}")
    mask = "\n".join(lines)
    one = kernel(f"{LOAD}\n{mask}\n{STORE.replace('%w', '%v').replace('%in', f'%k{count}')}")
    assert_equal(one, one)
    assert_found(one, one.replace("f32: 9.5", "f32: 9.25"), "mask", "constant")
