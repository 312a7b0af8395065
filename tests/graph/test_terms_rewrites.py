"""Substitution, simplification under guards, implication and facts keep the value."""

from __future__ import annotations

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.graph.expressions import (
    DIVISORS,
    SYMBOLS,
    Expr,
    assignments,
    booleans,
    build,
    evaluate,
    integers,
    symbols,
    value,
)
from tileir_diff.graph.terms import Terms

SLOW = (HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much)
many = settings(max_examples=150, deadline=None, derandomize=True, suppress_health_check=SLOW, database=None)
Points = list[tuple[int, ...]]


def inside(number: int, bounds: tuple[int | None, int | None]) -> bool:
    low, high = bounds
    return (low is None or low <= number) and (high is None or number <= high)


@many
@given(st.one_of(integers(), booleans()), st.integers(0, len(SYMBOLS) - 1), integers(depth=2), assignments())
def test_substitution_is_evaluation_elsewhere(expr: Expr, index: int, new: Expr, points: Points) -> None:
    terms = Terms()
    leaves = symbols(terms)
    if index in DIVISORS:
        new = ("max", ("const", 1), new)  # stays a divisor
    term = terms.subst(build(terms, expr), {leaves[index]: build(terms, new)})
    for point in points:
        replaced = value(new, point)
        if not inside(replaced, SYMBOLS[index]):
            continue  # the term was normalised under a range that the new value breaks
        there = tuple(replaced if position == index else old for position, old in enumerate(point))
        assert evaluate(terms, term, dict(zip(leaves, point, strict=True))) == value(expr, there), point


@many
@given(integers(depth=3), st.permutations(range(len(SYMBOLS))), assignments())
def test_substitution_is_simultaneous(expr: Expr, order: list[int], points: Points) -> None:
    """Symbols without ranges exchanged among each other: no replacement is replaced again."""
    terms = Terms()
    leaves = [terms.leaf("arg", 0, index) for index in range(len(SYMBOLS))]
    for index in DIVISORS:
        terms.ranges[leaves[index]] = (1, None)
    order = [
        index if index in DIVISORS or order[index] in DIVISORS else order[index]
        for index in range(len(order))
    ]
    term = build(terms, expr)
    moved = terms.subst(term, {leaf: terms.atom(leaves[to]) for leaf, to in zip(leaves, order, strict=True)})
    for point in points:
        there = tuple(point[to] for to in order)
        assert evaluate(terms, moved, dict(zip(leaves, point, strict=True))) == value(expr, there), point


@many
@given(st.one_of(integers(), booleans()), booleans(depth=2), assignments())
def test_a_simplified_term_is_equal_where_the_guards_hold(expr: Expr, guard: Expr, points: Points) -> None:
    terms = Terms()
    leaves = symbols(terms)
    simplified = terms.under(build(terms, expr), terms.conjuncts(build(terms, guard)))
    for point in points:
        if value(guard, point):
            assert evaluate(terms, simplified, dict(zip(leaves, point, strict=True))) == value(expr, point), (
                point
            )


@many
@given(st.lists(booleans(depth=1), min_size=1, max_size=3), booleans(depth=2), assignments())
def test_what_is_implied_holds(guards: list[Expr], goal: Expr, points: Points) -> None:
    terms = Terms()
    symbols(terms)
    if terms.implies([build(terms, guard) for guard in guards], build(terms, goal)):
        for point in points:
            if all(value(guard, point) for guard in guards):
                assert value(goal, point), point


@many
@given(
    integers(depth=2),
    st.integers(-20, 20),
    st.integers(0, 60),
    st.one_of(integers(3), booleans()),
    assignments(),
)
def test_an_assumed_range_keeps_values_where_it_holds(
    fact: Expr, low: int, width: int, expr: Expr, points: Points
) -> None:
    terms = Terms()
    leaves = symbols(terms)
    about = build(terms, fact)
    items = terms.attr[about]
    if terms.value(about) is not None or (len(items) == 1 and len(items[0][0]) > 1):
        return  # of a product it is taken that the factors are positive, too
    terms.assume_range(about, low, low + width)
    term = build(terms, expr)
    bounds = terms.range(term) if expr[0] not in ("cmp", "and", "or", "not", "xor", "bite") else (0, 1)
    for point in points:
        if inside(value(fact, point), (low, low + width)):
            number = value(expr, point)
            assert evaluate(terms, term, dict(zip(leaves, point, strict=True))) == number, point
            assert inside(number, bounds), point


def test_a_guard_settles_the_same_condition_inside() -> None:
    terms = Terms()
    n, x = (terms.atom(symbols(terms)[index]) for index in (4, 3))
    guard = terms.compare("less_than", n, terms.const(5))
    chosen = terms.ite(guard, x, terms.const(77), "int")
    assert terms.under(chosen, (guard,)) == x
    assert terms.under(chosen, (terms.negate(guard),)) == terms.const(77)
    assert terms.under(chosen, (terms.compare("less_than", n, terms.const(6)),)) == chosen


def test_a_weaker_guard_settles_nothing() -> None:
    terms = Terms()
    n = terms.atom(symbols(terms)[4])
    narrow, wide = (terms.compare("less_than", n, terms.const(size)) for size in (5, 6))
    assert terms.implies((narrow,), wide)
    assert not terms.implies((wide,), narrow)


def test_a_rewritten_term_keeps_its_origin() -> None:
    terms = Terms()
    leaves = symbols(terms)
    term = terms.floordiv(terms.atom(leaves[4]), terms.const(3))
    terms.origins[0][term] = "divi"
    moved = terms.subst(term, {leaves[4]: terms.atom(leaves[1])})
    assert moved != term
    assert terms.origins[0][moved] == "divi"


def test_a_commuted_matrix_product_is_one_term() -> None:
    """Factors of a contraction are ordered again after a substitution."""
    terms = Terms()
    a, b, c, d = (terms.leaf("arg", 0, index) for index in range(4))
    attr = ("mmaf", "f32", 8, (("f16", None), ("f16", None)), ())
    left = terms.contraction(attr, (a, b, c))
    assert left == terms.contraction(attr, (b, a, c))
    moved = terms.subst(left, {a: d})
    assert moved == terms.contraction(attr, (d, b, c))
    assert terms.contraction(attr, (a, a, c)) != terms.contraction(attr, (a, b, c))


def test_a_divisor_that_can_only_be_zero_has_a_range() -> None:
    """`assume bounded<0, 0>` on a divisor: undefined, and still no traceback."""
    terms = Terms()
    leaves = [terms.leaf("arg", 0, index) for index in range(2)]
    terms.ranges[leaves[0]] = (1, 9)
    terms.ranges[leaves[1]] = (0, 0)
    quotient = terms.floordiv(terms.atom(leaves[0]), terms.atom(leaves[1]))
    low, high = terms.range(quotient)
    assert low is None or high is None or low <= high


@many
@given(st.integers(2, 9), st.integers(-3, 3), st.integers(-3, 3), st.booleans(), st.integers(-60, 60))
def test_a_quotient_corrected_by_its_remainder_is_rounded_down(
    divisor: int, factor: int, step: int, swapped: bool, point: int
) -> None:
    """`r < 0 ? x - step : x`, with `factor` times the truncated quotient in x: right for every step."""
    terms = Terms()
    leaf = terms.leaf("arg", 0, 0)
    num, den = terms.atom(leaf), terms.const(divisor)
    quotient = terms.truncdiv(num, den)
    remainder = terms.sub(num, terms.mul(den, quotient))
    negative = terms.compare("less_than", remainder, terms.zero)
    plain = terms.sum(((quotient, factor), (num, 1)))
    moved = terms.sub(plain, terms.const(step))
    if swapped:
        chosen = terms.ite(terms.negate(negative), plain, moved, "int")
    else:
        chosen = terms.ite(negative, moved, plain, "int")
    towards_zero = int(point / divisor)
    expected = point + factor * towards_zero - (step if point - divisor * towards_zero < 0 else 0)
    assert evaluate(terms, chosen, {leaf: point}) == expected
    if factor == step:
        floor = terms.floordiv(num, den)
        assert chosen == terms.sum(((floor, factor), (num, 1)))


def test_a_sign_settles_that_a_number_is_not_zero() -> None:
    terms = Terms()
    number = terms.atom(terms.leaf("arg", 0, 0))
    nonzero = terms.compare("not_equal", number, terms.zero)
    zero = terms.compare("equal", number, terms.zero)
    for strict, loose in (("less_than", "greater_than_or_equal"), ("greater_than", "less_than_or_equal")):
        sign = terms.compare(strict, number, terms.zero)
        assert terms.conjunction((sign, nonzero)) == sign
        rest = terms.compare(loose, number, terms.zero)
        assert terms.disjunction((rest, zero)) == rest
        assert terms.conjunction((rest, nonzero)) != rest
        assert terms.disjunction((sign, zero)) != sign
    beyond = terms.compare("less_than", number, terms.const(2))
    assert terms.conjunction((beyond, nonzero)) != beyond


def test_long_chains_of_connectives_are_built_in_no_time() -> None:
    """Each part is negated once: a chain of selects uses its condition twice at every step."""
    terms = Terms()
    flags = [terms.leaf("region", number) for number in range(600)]
    chosen = joined = flags[0]
    for index, flag in enumerate(flags):
        chosen = terms.ite(chosen, flag, flags[index - 1], "bool")
        joined = (terms.conjunction if index % 2 else terms.disjunction)((joined, flag))
    assert terms.negate(terms.negate(chosen)) == chosen
    terms.forget_ranges()
    assert terms.negate(terms.negate(joined)) == joined
    first, second = terms.node("datum", 1), terms.node("datum", 2)
    inner = terms.ite(chosen, first, second, "data")
    assert terms.ite(chosen, inner, second, "data") == inner


def test_many_parts_are_flat_and_sorted() -> None:
    terms = Terms()
    flags = [terms.compare("less_than", terms.atom(terms.leaf("arg", 0, n)), terms.zero) for n in range(300)]
    whole = terms.conjunction(flags)
    assert whole == terms.conjunction(reversed(flags))
    assert terms.conjunction((whole, terms.negate(flags[7]))) == terms.false
    assert terms.negate(whole) == terms.disjunction([terms.negate(flag) for flag in flags])
