"""The normal form keeps the value: what the constructors build equals plain arithmetic."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings

from tests.graph.expressions import (
    Expr,
    assignments,
    booleans,
    build,
    evaluate,
    integers,
    symbols,
    value,
)
from tileir_diff.graph.terms import Term, Terms

SLOW = (HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much)
many = settings(max_examples=150, deadline=None, derandomize=True, suppress_health_check=SLOW, database=None)


def agrees(expr: Expr, points: list[tuple[int, ...]]) -> None:
    terms = Terms()
    leaves = symbols(terms)
    term = build(terms, expr)
    for point in points:
        assert evaluate(terms, term, dict(zip(leaves, point, strict=True))) == value(expr, point), point


@many
@given(integers(), assignments())
def test_an_integer_keeps_its_value(expr: Expr, points: list[tuple[int, ...]]) -> None:
    agrees(expr, points)


@many
@given(booleans(), assignments())
def test_a_predicate_keeps_its_value(expr: Expr, points: list[tuple[int, ...]]) -> None:
    agrees(expr, points)


@many
@given(integers(depth=3), assignments())
def test_the_value_lies_in_the_range(expr: Expr, points: list[tuple[int, ...]]) -> None:
    terms = Terms()
    symbols(terms)
    low, high = terms.range(build(terms, expr))
    for point in points:
        number = value(expr, point)
        assert low is None or low <= number, point
        assert high is None or number <= high, point


@many
@given(integers(depth=3), integers(depth=3))
def test_rebuilding_gives_the_same_term(first: Expr, second: Expr) -> None:
    """Equal expressions get one id, in whatever order the store met them."""
    terms = Terms()
    symbols(terms)
    left = build(terms, first)
    build(terms, second)
    assert build(terms, first) == left


@many
@given(integers(depth=2), integers(depth=2), integers(depth=2))
def test_sums_and_products_are_a_ring(a: Expr, b: Expr, c: Expr) -> None:
    terms = Terms()
    symbols(terms)
    x, y, z = (build(terms, expr) for expr in (a, b, c))
    assert terms.add(x, y) == terms.add(y, x)
    assert terms.mul(x, y) == terms.mul(y, x)
    assert terms.add(terms.add(x, y), z) == terms.add(x, terms.add(y, z))
    assert terms.mul(x, terms.add(y, z)) == terms.add(terms.mul(x, y), terms.mul(x, z))
    assert terms.sub(x, x) == terms.zero


@pytest.fixture
def terms() -> Terms:
    return Terms()


def test_operands_of_a_difference_are_ordered(terms: Terms) -> None:
    x, y = (terms.atom(leaf) for leaf in symbols(terms)[:2])
    assert terms.sub(x, y) != terms.sub(y, x)
    assert terms.add(x, y) == terms.add(y, x)


def test_a_square_keeps_both_factors(terms: Terms) -> None:
    x = terms.atom(symbols(terms)[1])
    assert terms.mul(x, x) != x
    assert terms.poly(terms.mul(x, x)) == {(terms.single(x), terms.single(x)): 1}


def test_quotient_and_remainder_make_up_the_dividend(terms: Terms) -> None:
    x, d = (terms.atom(symbols(terms)[index]) for index in (4, 2))
    for divisor in (d, terms.const(12)):
        quotient, remainder = terms.floordiv(x, divisor), terms.mod(x, divisor)
        assert terms.add(terms.mul(quotient, divisor), remainder) == x


def test_nested_division_is_one_division(terms: Terms) -> None:
    x = terms.atom(symbols(terms)[4])
    inner = terms.floordiv(x, terms.const(4))
    assert terms.floordiv(inner, terms.const(8)) == terms.floordiv(x, terms.const(32))


def test_the_divisor_divides_out(terms: Terms) -> None:
    x, d = (terms.atom(symbols(terms)[index]) for index in (4, 2))
    assert terms.floordiv(terms.mul(x, d), d) == x
    assert terms.floordiv(terms.add(terms.mul(x, d), terms.one), d) != x


def test_lanes_of_a_tile_split_and_join(terms: Terms) -> None:
    """Reshape 8x4 to 32 and back is nothing."""
    row, column = terms.lane(0, 8), terms.lane(1, 4)
    linear = terms.add(terms.scale(row, 4), column)
    assert terms.floordiv(linear, terms.const(4)) == row
    assert terms.mod(linear, terms.const(4)) == column


def test_ceiling_division_spelled_out(terms: Terms) -> None:
    n = terms.atom(symbols(terms)[1])
    spelled = terms.truncdiv(terms.add(n, terms.const(127)), terms.const(128))
    assert spelled == terms.ceildiv(n, terms.const(128))
    off_by_one = terms.truncdiv(terms.add(n, terms.const(128)), terms.const(128))
    assert off_by_one != spelled


def test_truncating_division_of_a_negative_number_is_not_floor_division(terms: Terms) -> None:
    x = terms.atom(symbols(terms)[3])
    assert terms.truncdiv(x, terms.const(4)) != terms.floordiv(x, terms.const(4))
    n = terms.atom(symbols(terms)[1])
    assert terms.truncdiv(n, terms.const(4)) == terms.floordiv(n, terms.const(4))


def test_a_minimum_in_its_spellings(terms: Terms) -> None:
    a, b = (terms.atom(symbols(terms)[index]) for index in (1, 4))
    least = terms.minimum((a, b))
    for predicate, left, right in (
        ("less_than", a, b),
        ("less_than_or_equal", a, b),
        ("greater_than", b, a),
        ("greater_than_or_equal", b, a),
    ):
        assert terms.ite(terms.compare(predicate, left, right), a, b, "int") == least
        assert terms.ite(terms.compare(predicate, left, right), b, a, "int") == terms.maximum((a, b))
    assert terms.maximum((a, b)) != least


def test_mirrored_and_shifted_comparisons_are_one(terms: Terms) -> None:
    a, b = (terms.atom(symbols(terms)[index]) for index in (1, 4))
    less = terms.compare("less_than", a, b)
    assert terms.compare("greater_than", b, a) == less
    assert terms.compare("less_than_or_equal", terms.add(a, terms.one), b) == less
    assert terms.negate(terms.compare("greater_than_or_equal", a, b)) == less
    assert terms.compare("less_than_or_equal", a, b) != less


def test_a_scaled_comparison_is_divided(terms: Terms) -> None:
    block, n = (terms.atom(symbols(terms)[index]) for index in (1, 4))
    whole = terms.compare("less_than", terms.scale(block, 64), terms.scale(n, 64))
    assert whole == terms.compare("less_than", block, n)


def test_equality_of_a_value_at_its_bound_is_an_inequality(terms: Terms) -> None:
    n = terms.atom(symbols(terms)[1])
    assert terms.compare("equal", n, terms.zero) == terms.compare("less_than_or_equal", n, terms.zero)


def test_equality_that_divisibility_excludes(terms: Terms) -> None:
    n = terms.atom(symbols(terms)[4])
    assert terms.compare("equal", terms.scale(n, 4), terms.const(6)) == terms.false
    assert terms.compare("equal", terms.scale(n, 4), terms.const(8)) == terms.compare(
        "equal", n, terms.const(2)
    )


def test_masks_through_integers(terms: Terms) -> None:
    """`i8(p) & i8(q) != 0` is `p and q`."""
    n = terms.atom(symbols(terms)[4])
    p = terms.compare("less_than", n, terms.const(5))
    q = terms.compare("equal", n, terms.const(3))
    assert terms.compare("not_equal", terms.b2i(p), terms.zero) == p
    assert terms.compare("equal", terms.b2i(p), terms.zero) == terms.negate(p)
    assert terms.compare("greater_than", terms.scale(terms.b2i(q), -1), terms.const(-1)) == terms.negate(q)


def test_a_stronger_condition_absorbs_a_weaker_one(terms: Terms) -> None:
    n = terms.atom(symbols(terms)[4])
    narrow = terms.compare("less_than", n, terms.const(5))
    wide = terms.compare("less_than", n, terms.const(9))
    assert terms.conjunction((narrow, wide)) == narrow
    assert terms.disjunction((narrow, wide)) == wide
    assert terms.conjunction((wide, terms.negate(narrow))) not in (wide, terms.negate(narrow), terms.false)


def test_contradiction_and_tautology(terms: Terms) -> None:
    n = terms.atom(symbols(terms)[4])
    p = terms.compare("less_than", n, terms.const(5))
    q = terms.compare("equal", n, terms.const(70))
    for each in (p, q):
        assert terms.conjunction((each, terms.negate(each))) == terms.false
        assert terms.disjunction((each, terms.negate(each))) == terms.true
        assert terms.negate(terms.negate(each)) == each
    assert terms.exclusive_or(p, p) == terms.false


def test_a_long_product_is_kept_whole(terms: Terms) -> None:
    """A product of two sums of 30 is 900 monomials: kept as one opaque factor, with its value."""
    leaves = [terms.leaf("arg", 0, index) for index in range(60)]
    left = terms.sum((terms.atom(leaf), 1) for leaf in leaves[:30])
    right = terms.sum((terms.atom(leaf), 1) for leaf in leaves[30:])
    product = terms.mul(left, right)
    assert len(terms.poly(product)) == 1
    assert product == terms.mul(right, left)
    values = {leaf: index for index, leaf in enumerate(leaves)}
    assert evaluate(terms, product, values) == sum(range(30)) * sum(range(30, 60))


def test_a_zero_divisor_is_no_crash(terms: Terms) -> None:
    """Undefined behaviour in a kernel, or a size of zero in a launch, must not end in a traceback."""
    n = terms.atom(symbols(terms)[1])
    for divide in (terms.floordiv, terms.ceildiv, terms.truncdiv, terms.mod):
        quotient: Term = divide(n, terms.zero)
        assert quotient != terms.one


def test_a_bound_by_a_minimum_is_a_bound_by_each(terms: Terms) -> None:
    x, a, b = (terms.atom(terms.leaf("arg", 0, index)) for index in range(3))
    each = terms.conjunction((terms.compare("less_than", x, a), terms.compare("less_than", x, b)))
    one = terms.disjunction((terms.compare("less_than", x, a), terms.compare("less_than", x, b)))
    assert terms.compare("less_than", x, terms.minimum((a, b))) == each
    assert terms.compare("less_than", x, terms.maximum((a, b))) == one
    assert terms.compare("greater_than_or_equal", x, terms.minimum((a, b))) == terms.negate(each)


def test_a_bound_by_a_number_of_tiles_is_one_by_the_size(terms: Terms) -> None:
    block, size = terms.atom(terms.leaf("block", 0)), terms.atom(terms.leaf("arg", 0, 0))
    tiles = terms.ceildiv(size, terms.const(256))
    first = terms.scale(block, 256)
    assert terms.compare("less_than", block, tiles) == terms.compare("less_than", first, size)
    assert terms.compare("less_than", tiles, block) == terms.compare(
        "less_than_or_equal", size, terms.sub(first, terms.const(256))
    )


def test_what_another_part_settles_falls_away(terms: Terms) -> None:
    a, b = (terms.le0(terms.atom(terms.leaf("arg", 0, index))) for index in range(2))
    assert terms.disjunction((a, terms.conjunction((terms.negate(a), b)))) == terms.disjunction((a, b))
    assert terms.conjunction((a, terms.disjunction((terms.negate(a), b)))) == terms.conjunction((a, b))


def test_a_clamp_is_the_same_before_and_after_a_sum(terms: Terms) -> None:
    x, eight = terms.atom(terms.leaf("arg", 0, 0)), terms.const(8)
    inner = terms.minimum((terms.const(7), terms.maximum((terms.const(-8), x))))
    outer = terms.minimum((terms.const(15), terms.maximum((terms.zero, terms.add(x, eight)))))
    assert terms.add(inner, eight) == outer
    assert terms.add(inner, eight) != terms.minimum(
        (terms.const(15), terms.maximum((terms.one, terms.add(x, eight))))
    )


def test_a_ceiling_by_two_negations(terms: Terms) -> None:
    x, tile = terms.atom(terms.leaf("arg", 0, 0)), terms.const(256)
    turned = terms.scale(terms.floordiv(terms.scale(x, -1), tile), -1)
    assert turned == terms.ceildiv(x, tile) != terms.floordiv(x, tile)
