"""Which entry is compared with which, and what is said of those without a partner."""

from __future__ import annotations

import pytest

from tests.match.snippets import LOAD, STORE, assert_equal, assert_found, compared, found, kernel
from tileir_diff.errors import InputError
from tileir_diff.match.model import CompareOptions

T = "tile<128xf32>"
ONE, TWO = "addf %v, %one", "addf %v, %v"
"""Ops of one name: entries with them are equally alike."""


def named(name: str, op: str = "negf %v") -> str:
    return kernel(f"{LOAD}\n%w = {op} : {T}\n{STORE}", name=name)


LOOP = kernel(
    "for %j in (%i0 to %N, step %i1) : tile<i32> {\n%p = offset %b, %j : tile<ptr<f32>>, tile<i32> -> "
    "tile<ptr<f32>>\n%c = constant <f32: 1.0> : tile<f32>\n%s = store_ptr_tko weak %p, %c token=%t : "
    "tile<ptr<f32>>, tile<f32> -> token\ncontinue\n}",
    name="fill",
)


def module(*entries: str) -> str:
    return "".join(entries)


def test_one_entry_on_each_side_needs_no_name() -> None:
    assert_equal(named("a"), named("_Z1bPfS_ii"))
    result = compared(named("a"), named("b"))
    assert [pair[:2] for pair in result.pairs] == [("a", "b")]


def test_entries_with_one_name_are_partners_in_any_order() -> None:
    reference = module(named("a"), named("b", "exp %v"))
    generated = module(named("b", "exp %v"), named("a"))
    assert_equal(reference, generated)
    assert [pair[:2] for pair in compared(reference, generated).pairs] == [("a", "a"), ("b", "b")]


def test_renamed_entries_are_matched_by_likeness() -> None:
    reference = module(named("a"), LOOP)
    generated = module(LOOP.replace("@fill", "@kernel_2"), named("kernel_1"))
    assert_equal(reference, generated)
    assert [pair[:2] for pair in compared(reference, generated).pairs] == [
        ("a", "kernel_1"),
        ("fill", "kernel_2"),
    ]


def test_renamed_entries_that_are_alike_are_matched_by_what_they_compute() -> None:
    reference = module(named("a", ONE), named("b", TWO), named("c", "addf %one, %one"))
    generated = module(named("z", "addf %one, %one"), named("x", ONE), named("y", TWO))
    for order in (generated, module(named("x", ONE), named("z", "addf %one, %one"), named("y", TWO))):
        assert_equal(reference, order)
        assert [pair[:2] for pair in compared(reference, order).pairs] == [("a", "x"), ("b", "y"), ("c", "z")]


def test_a_chosen_entry_whose_partner_has_another_name() -> None:
    reference = module(named("a", ONE), named("b", TWO))
    generated = module(named("b", TWO), named("y", "addf %one, %one"), named("x", ONE))
    result = compared(reference, generated, CompareOptions(entry="a"))
    assert not result.differences
    assert [pair[:2] for pair in result.pairs] == [("a", "x")]
    assert compared(reference, generated, CompareOptions(entry="y")).pairs[0][:2] == ("a", "y")


def test_the_defect_of_a_renamed_entry_is_found_in_it() -> None:
    reference = module(named("a", ONE), named("b", TWO))
    generated = module(named("y", "addf %one, %one"), named("x", ONE))
    result = compared(reference, generated)
    assert [pair[:2] for pair in result.pairs] == [("a", "x"), ("b", "y")]
    assert result.differences


def test_a_name_counts_more_than_what_an_entry_computes() -> None:
    reference = module(named("a", ONE), named("b", TWO))
    generated = module(named("b", ONE), named("a", TWO))
    assert len(found(reference, generated)) == 2  # whoever launches @a gets what @b was


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("{}_Kt1_A1f32_1t1_p16", "{}_entry"),
        ("_{}_Kt2_I64", "_Z3{}ILi64EEvPfS_ii"),
        ("{}_entry", "_ZN4mine3{}EPfS_ii"),
    ],
)
def test_the_name_in_the_source_counts_as_one(one: str, other: str) -> None:
    reference = module(named(one.format("fwd"), ONE), named(one.format("bwd"), TWO))
    right = module(named(other.format("bwd"), TWO), named(other.format("fwd"), ONE))
    assert_equal(reference, right)
    wrong = module(named(other.format("bwd"), ONE), named(other.format("fwd"), TWO))
    assert len(found(reference, wrong)) == 2  # whoever launches fwd gets what bwd was


def test_one_name_for_two_entries_settles_nothing() -> None:
    reference = module(named("k_Kt1_I64", ONE), named("k_Kt1_I128", TWO))
    generated = module(named("k_entry", TWO), named("other_entry", ONE))
    assert_equal(reference, generated)


def test_a_missing_entry_is_a_finding() -> None:
    result = found(module(named("a"), LOOP), named("a"))
    assert [(each.rule.split("/")[0], each.impact, each.status) for each in result] == [
        ("entry-signature", "logic", "MISSING")
    ]
    assert result[0].reference is not None
    assert result[0].reference.entry == "fill"
    assert result[0].generated is None


def test_an_extra_entry_is_a_finding() -> None:
    result = compared(named("a"), module(named("a"), LOOP)).differences
    assert [(each.rule.split("/")[0], each.status) for each in result] == [("entry-signature", "EXTRA")]


def test_a_lone_entry_has_the_rule_that_speaks_of_entries() -> None:
    both = module(named("a"), LOOP)
    assert [each.rule for each in compared(both, named("a")).differences] == ["entry-signature/entry-missing"]
    assert [each.rule for each in compared(named("a"), both).differences] == ["entry-signature/entry-extra"]


def test_an_entry_chosen_by_name() -> None:
    reference = module(named("a"), named("b", "exp %v"))
    generated = module(named("a", "absf %v"), named("b", "exp %v"))
    assert_found(reference, generated, "arithmetic")
    assert_equal(reference, generated, CompareOptions(entry="b"))
    assert_found(reference, generated, "arithmetic", options=CompareOptions(entry="a"))


def test_an_entry_that_is_not_there() -> None:
    with pytest.raises(InputError, match="no entry @zz on either side; there are @a, @b"):
        compared(named("a"), named("b"), CompareOptions(entry="zz"))


def test_a_module_wrapper_is_nothing() -> None:
    wrapped = f"cuda_tile.module @kernels {{\n{named('a')}}}\n"
    assert_equal(named("a"), wrapped)
    assert_equal(wrapped, named("a"))


def test_names_of_values_are_nothing() -> None:
    text = named("a")
    renamed = text.replace("%v", "%loaded").replace("%w", "%result").replace("%zero", "%padding")
    assert renamed != text
    assert_equal(text, renamed)


def test_likeness_is_reported() -> None:
    assert compared(named("a"), named("a")).pairs == [("a", "a", 1.0)]
    (pair,) = compared(named("a"), LOOP).pairs
    assert 0 < pair[2] < 1
