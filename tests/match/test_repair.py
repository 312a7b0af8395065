"""A mistake in a kernel of another front end is told at the op that was changed, as one finding."""

from __future__ import annotations

import pytest

from tests.match.snippets import HERE, LOAD, PROLOGUE, STORE, assert_found, found, kernel, parsed
from tests.match.test_apart import DEAD
from tileir_diff.match.compare import compare
from tileir_diff.match.edits import own_edits, with_operand
from tileir_diff.match.model import CompareOptions

BODY = f"{LOAD}\n%w = exp %v : tile<128xf32>\n{STORE}"

MISTAKES = {
    "another kind of op": ("%o = addi", "%o = subi"),
    "another operand": ("offset %av, %o", "offset %av, %lane"),
    "a bound that counts": ("less_than %o", "less_than_or_equal %o"),
    "another factor": ("%i128 = constant <i32: 128>", "%i128 = constant <i32: 127>"),
    "another axis": ("%x, %y, %z = get", "%y, %x, %z = get"),
    "another lane": ("%lane = iota", "%lane = muli %iota, %twos"),
}


def changed(old: str, new: str) -> str:
    """The kernel as another front end writes it, with one line changed and marked."""
    extra = "%iota = iota : tile<128xi32>\n%twos = constant <i32: 2> : tile<128xi32>"
    lines = [
        line.replace(old, new) + f" {HERE}" if line.startswith(old) or f" {old}" in line else line
        for line in PROLOGUE.split("\n")
    ]
    return kernel(f"{DEAD}\n{BODY}", prologue="\n".join([extra, *lines]), name="k_entry")


@pytest.mark.parametrize("name", sorted(MISTAKES))
def test_a_mistake_is_told_where_it_is_and_once(name: str) -> None:
    reference, generated = kernel(BODY), changed(*MISTAKES[name])
    first = assert_found(
        reference, generated, "addressing", "mask", "arithmetic", "constant", "grid", "control-flow"
    )
    assert [each.rule for each in found(reference, generated)] == [first.rule]
    assert "found by trial" in first.evidence


def test_an_op_that_is_one_too_many_is_told_as_such() -> None:
    value = "%w = exp %v : tile<128xf32>"
    wrong = f"%w0 = exp %v : tile<128xf32>\n%w = exp %w0 : tile<128xf32> {HERE}"
    generated = kernel(f"{DEAD}\n{BODY.replace(value, wrong)}", name="k_entry")
    assert_found(kernel(BODY), generated, "arithmetic")


def test_what_is_computed_for_nothing_was_meant_to_be_read() -> None:
    store = BODY.replace("%pb, %w,", "%pb, %v,") + f" {HERE}"
    assert_found(kernel(BODY), kernel(f"{DEAD}\n{store}", name="k_entry"), "arithmetic", "memory-family")


def test_two_mistakes_stay_two_findings() -> None:
    generated = changed("less_than %o", "less_than_or_equal %o").replace("exp %v", "exp2 %v")
    assert len(found(kernel(BODY), generated)) == 2


def test_an_edit_is_undone() -> None:
    module = parsed(kernel(BODY))
    ops = [op for op in module.walk() if getattr(op, "short", "") == "cmpi"]
    before = str(module)
    for edit in own_edits(ops[0]):  # pyright: ignore[reportArgumentType]
        with edit.applied():
            assert str(module) != before
        assert str(module) == before


def test_an_edit_is_undone_where_what_it_is_for_fails() -> None:
    module = parsed(kernel(BODY))
    op = next(op for op in module.walk() if getattr(op, "short", "") == "subi" or op.name.endswith("addi"))
    before = str(module)
    edit = with_operand(op, 0, "lhs", op.operands[1])  # pyright: ignore[reportArgumentType]
    with pytest.raises(ZeroDivisionError), edit.applied():
        raise ZeroDivisionError
    assert str(module) == before


def test_what_is_tried_is_not_known_afterwards() -> None:
    """An edit that divides by a size must not make the size positive for what is compared after it."""
    reference, generated = parsed(kernel(BODY)), parsed(changed("less_than %o", "less_than_or_equal %o"))
    once = compare(reference, generated, CompareOptions())
    again = compare(reference, generated, CompareOptions())
    assert [(each.rule, each.note) for each in once.differences] == [
        (each.rule, each.note) for each in again.differences
    ]
    assert once.assumptions == again.assumptions
