"""Index arithmetic in fewer bits than the reference's is the host's to keep small."""

from __future__ import annotations

import pytest

from tests.match.snippets import assert_equal, compared, kernel

PARAMETERS = "%p: tile<ptr<f32>>, %n: tile<i32>, %m: tile<i32>, %l: tile<i64>"
START = """%t = make_token : token
%x, %y, %z = get_tile_block_id : tile<i32>
%v = constant <f32: 1.0> : tile<f32>
%i5 = constant <i32: 5> : tile<i32>
%c5 = constant <i64: 5> : tile<i64>
%n8 = exti %n signed : tile<i32> -> tile<i64>
%m8 = exti %m signed : tile<i32> -> tile<i64>
%l4 = trunci %l : tile<i64> -> tile<i32>"""


def at(body: str, index: str, kind: str) -> str:
    """A store at an offset."""
    address = f"%q = offset %p, {index} : tile<ptr<f32>>, tile<{kind}> -> tile<ptr<f32>>"
    store = "%s = store_ptr_tko weak %q, %v token=%t : tile<ptr<f32>>, tile<f32> -> token"
    return kernel(f"{body}\n{address}\n{store}", parameters=PARAMETERS, prologue=START)


def under(body: str, condition: str) -> str:
    """A store under a condition."""
    store = "%s = store_ptr_tko weak %p, %v token=%t : tile<ptr<f32>>, tile<f32> -> token"
    return kernel(f"{body}\nif {condition} {{\n{store}\n}}", parameters=PARAMETERS, prologue=START)


WIDE = at("%o = muli %n8, %m8 : tile<i64>", "%o", "i64")
NARROW = at("%o = muli %n, %m : tile<i32>", "%o", "i32")
WIDENED = at("%j = muli %n, %m : tile<i32>\n%o = exti %j signed : tile<i32> -> tile<i64>", "%o", "i64")
WIDE_TEST = under(
    "%j = muli %n8, %m8 : tile<i64>\n%c = cmpi less_than %j, %c5, signed : tile<i64> -> tile<i1>", "%c"
)
NARROW_TEST = under(
    "%j = muli %n, %m : tile<i32>\n%c = cmpi less_than %j, %i5, signed : tile<i32> -> tile<i1>", "%c"
)


def told(reference: str, generated: str) -> list[str]:
    assert_equal(reference, generated)
    return [line for line in compared(reference, generated).obligations if "fits" in line]


@pytest.mark.parametrize(
    ("reference", "generated"), [(WIDE, NARROW), (WIDE, WIDENED), (WIDE_TEST, NARROW_TEST)]
)
def test_a_product_in_fewer_bits_must_fit_them(reference: str, generated: str) -> None:
    assert told(reference, generated) == ["n*m fits i32"]


@pytest.mark.parametrize(
    ("reference", "generated"),
    [(NARROW, NARROW), (NARROW, WIDENED), (WIDENED, NARROW), (WIDE, WIDE), (NARROW, WIDE),
     (NARROW_TEST, NARROW_TEST), (NARROW_TEST, WIDE_TEST)],
)  # fmt: skip
def test_the_same_width_or_a_larger_one_asks_for_nothing(reference: str, generated: str) -> None:
    assert told(reference, generated) == []


def test_a_parameter_that_is_narrowed_must_fit() -> None:
    whole = at("", "%l", "i64")
    assert told(whole, at("%o = exti %l4 signed : tile<i32> -> tile<i64>", "%o", "i64")) == ["l fits i32"]


def test_of_a_sum_the_whole_must_fit_and_not_its_parts() -> None:
    wide = at("%j = muli %n8, %m8 : tile<i64>\n%o = addi %j, %c5 : tile<i64>", "%o", "i64")
    narrow = at("%j = muli %n, %m : tile<i32>\n%o = addi %j, %i5 : tile<i32>", "%o", "i32")
    assert told(wide, narrow) == ["n*m + 5 fits i32"]


def test_another_use_of_the_reference_does_not_make_it_wrap_alike() -> None:
    """It widens the product in i64, and stores under a condition on the one in i32."""
    both = (
        "%c = cmpi less_than %k, %i5, signed : tile<i32> -> tile<i1>\n"
        "%w = select %c, %v, %v : tile<i1>, tile<f32>"
    )
    wide = at(f"%k = muli %n, %m : tile<i32>\n{both}\n%o = muli %n8, %m8 : tile<i64>", "%o", "i64")
    narrow = at(f"%k = muli %n, %m : tile<i32>\n{both}", "%k", "i32")
    assert told(wide.replace("%q, %v token", "%q, %w token"), narrow.replace("%q, %v token", "%q, %w token"))


def assumed(reference: str, generated: str) -> list[str]:
    assert_equal(reference, generated)
    return [line for line in compared(reference, generated).assumptions if "before it is compared" in line]


def bounded(body: str, predicate: str) -> str:
    return under(
        f"{POSITIVE}\n{body}\n%c = cmpi greater_than %j, %i0, {predicate} : tile<i32> -> tile<i1>", "%c"
    )


POSITIVE = (
    "%i0 = constant <i32: 0> : tile<i32>\n%a = assume bounded<0, ?>, %n : tile<i32>\n"
    "%b = assume bounded<0, ?>, %m : tile<i32>"
)
PRODUCT = "%j = muli %a, %b : tile<i32>"


@pytest.mark.parametrize(
    ("reference", "generated"),
    [
        (bounded(PRODUCT, "signed"), bounded(PRODUCT, "unsigned")),
        (
            bounded("%j = addi %a, %i0 : tile<i32>", "signed"),
            bounded("%j = muli %a, %i5 : tile<i32>", "signed"),
        ),
    ],
)
def test_a_number_that_may_wrap_and_is_compared_otherwise_is_taken_not_to(
    reference: str, generated: str
) -> None:
    assert "generated: index arithmetic in i32 does not wrap before it is compared" in assumed(
        reference, generated
    )
    assert assumed(generated, generated) == []


def test_what_is_known_to_fit_asks_for_nothing() -> None:
    wide = at(
        "%b = exti %x signed : tile<i32> -> tile<i64>\n%k = assume bounded<0, 9>, %m8 : tile<i64>\n"
        "%o = addi %k, %c5 : tile<i64>", "%o", "i64",
    )  # fmt: skip
    narrow = at("%k = assume bounded<0, 9>, %m : tile<i32>\n%o = addi %k, %i5 : tile<i32>", "%o", "i32")
    assert told(wide, narrow) == []


SUM = "%j = addi %n, %m : tile<i32>\n"
SUM8 = f"{SUM}%j8 = exti %j signed : tile<i32> -> tile<i64>\n"
FIVE_TIMES = at(f"{SUM}%o = muli %j, %i5 : tile<i32>", "%o", "i32")
SUM_TEST = under(f"{SUM}%c = cmpi less_than %j, %i5, signed : tile<i32> -> tile<i1>", "%c")
CUT_AGAIN = at(
    f"{SUM8}%k8 = muli %j8, %c5 : tile<i64>\n%o = trunci %k8 : tile<i64> -> tile<i32>", "%o", "i32"
)
WIDENED_TEST = under(f"{SUM8}%c = cmpi less_than %j8, %c5, signed : tile<i64> -> tile<i1>", "%c")
WIDE_SUM_TEST = under(
    "%j8 = addi %n8, %m8 : tile<i64>\n%c = cmpi less_than %j8, %c5, signed : tile<i64> -> tile<i1>", "%c"
)
WIDE_FIVE_TIMES = at("%j8 = addi %n8, %m8 : tile<i64>\n%o = muli %j8, %c5 : tile<i64>", "%o", "i64")
WIDENED_FIVE_TIMES = at(f"{SUM8}%o = muli %j8, %c5 : tile<i64>", "%o", "i64")


@pytest.mark.parametrize(
    ("reference", "generated"), [(FIVE_TIMES, CUT_AGAIN), (SUM_TEST, WIDENED_TEST), (WIDENED_TEST, SUM_TEST)]
)
def test_what_is_widened_only_to_be_cut_or_compared_wraps_alike(reference: str, generated: str) -> None:
    assert told(reference, generated) == []


@pytest.mark.parametrize(
    ("reference", "generated"),
    [(WIDE_SUM_TEST, WIDENED_TEST), (WIDE_FIVE_TIMES, WIDENED_FIVE_TIMES)],
)
def test_what_the_reference_computes_in_more_bits_must_fit(reference: str, generated: str) -> None:
    assert told(reference, generated) == ["n + m fits i32"]
