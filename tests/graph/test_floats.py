"""Floating-point formats, and the rewrites of the normal form: each keeps the value of ordinary inputs."""

from __future__ import annotations

import math
import struct
from decimal import Decimal, localcontext
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.graph.rounding import apply, evaluate, nearest
from tileir_diff.graph import floats, formats
from tileir_diff.graph.terms import Term, Terms

SLOW = (HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much)
quick = settings(max_examples=200, deadline=None, derandomize=True, suppress_health_check=SLOW, database=None)
PACKED = {"f16": ("<e", "<H", 16), "f32": ("<f", "<I", 32), "f64": ("<d", "<Q", 64)}
Tree = tuple[Any, ...]


# ---- formats ---------------------------------------------------------------------------------------------


def unpacked(element: str, bits: int) -> float:
    number, raw, _ = PACKED[element]
    return struct.unpack(number, struct.pack(raw, bits))[0]


def same(a: float | None, b: float) -> bool:
    if a is None:
        return False
    return (math.isnan(a) and math.isnan(b)) or (a == b and math.copysign(1, a) == math.copysign(1, b))


def test_every_f16_decodes_as_struct_says_and_encodes_back() -> None:
    for bits in range(1 << 16):
        number = floats.decode("f16", bits)
        assert same(number, unpacked("f16", bits)), hex(bits)
        assert number is not None
        if not math.isnan(number):
            assert floats.encode("f16", number) == bits, hex(bits)


def test_every_bf16_is_the_upper_half_of_an_f32() -> None:
    for bits in range(1 << 16):
        number = floats.decode("bf16", bits)
        assert same(number, unpacked("f32", bits << 16)), hex(bits)
        assert number is not None
        if not math.isnan(number):
            assert floats.encode("bf16", number) == bits, hex(bits)


@quick
@given(st.sampled_from(["f32", "f64"]), st.integers(0, (1 << 64) - 1))
def test_wide_formats_decode_as_struct_says_and_encode_back(element: str, bits: int) -> None:
    bits &= (1 << PACKED[element][2]) - 1
    number = floats.decode(element, bits)
    assert same(number, unpacked(element, bits))
    assert number is not None
    if not math.isnan(number):
        assert floats.encode(element, number) == bits


@quick
@given(st.floats(width=32, allow_nan=False))
def test_bf16_rounds_to_nearest_even(number: float) -> None:
    """The usual trick on the bits of an f32: add half a unit, one less where the last kept bit is even."""
    (bits,) = struct.unpack("<I", struct.pack("<f", number))
    assert floats.encode("bf16", number) == (bits + 0x7FFF + (bits >> 16 & 1)) >> 16


@quick
@given(st.sampled_from(["f16", "bf16", "f32"]), st.floats(allow_nan=False, allow_infinity=False))
def test_encoding_rounds_once_to_nearest_even(element: str, number: float) -> None:
    bits = floats.encode(element, number)
    assert bits is not None
    rounded = floats.decode(element, bits)
    assert rounded is not None
    assert math.copysign(1, rounded) == math.copysign(1, number)
    try:
        wanted = nearest(Fraction(number), element)
    except OverflowError:
        assert math.isinf(rounded)
    else:
        assert Fraction(rounded) == wanted


@quick
@given(st.floats(min_value=-70000, max_value=70000))
def test_f16_rounds_as_struct_does(number: float) -> None:
    try:
        (wanted,) = struct.unpack("<H", struct.pack("<e", number))
    except OverflowError:
        wanted = 0x7C00 | (0x8000 if number < 0 else 0)
    assert floats.encode("f16", number) == wanted


@pytest.mark.parametrize("element", ["f16", "bf16", "f32", "f64"])
def test_a_nan_stays_a_nan(element: str) -> None:
    bits = floats.encode(element, math.nan)
    assert bits is not None
    assert math.isnan(floats.decode(element, bits) or 0.0)


def test_formats_without_a_table_are_left_alone() -> None:
    assert floats.decode("f8E4M3FN", 0x38) is None
    assert floats.encode("f8E4M3FN", 1.0) is None
    terms = Terms()
    byte = floats.constant(terms, "f8E4M3FN", 0x38)
    assert terms.kind[terms.float_op(("ftof", ("f8E4M3FN", "f32"), ()), (byte,))] == "f"


# ---- one op in a wider type ------------------------------------------------------------------------------


def exactly(name: str, operands: list[Fraction]) -> Fraction | None:
    """The result of an op to far more digits than any format has; None where there is none."""
    if name == "sqrt":
        with localcontext(prec=80):
            a = operands[0]
            return None if a < 0 else Fraction((Decimal(a.numerator) / Decimal(a.denominator)).sqrt())
    if name == "divf" and operands[1] == 0:
        return None
    return apply(name, operands, None)


@settings(quick, max_examples=2000)
@given(
    st.sampled_from(["f16", "bf16"]),
    st.sampled_from(["addf", "subf", "mulf", "divf", "sqrt"]),
    st.lists(st.integers(0, (1 << 16) - 1), min_size=2, max_size=2),
)
def test_one_op_in_f32_is_rounded_once(element: str, name: str, bits: list[int]) -> None:
    numbers = [floats.decode(element, each) or 0.0 for each in bits][: 1 if name == "sqrt" else 2]
    if not all(map(math.isfinite, numbers)):
        return
    exact = exactly(name, [Fraction(each) for each in numbers])
    if exact is None:
        return

    def rounded(value: Fraction | None, into: str) -> Fraction | None:
        try:
            return None if value is None else nearest(value, into)
        except OverflowError:
            return None

    assert rounded(rounded(exact, "f32"), element) == rounded(exact, element)


def test_two_ops_in_f32_are_not() -> None:
    """The sum of 2048, 1 and 2^-10 in f32 is no tie between two numbers of f16; rounded twice it is one."""
    numbers = [Fraction(2048), Fraction(1), Fraction(1, 1024)]
    together = nearest(sum(numbers, Fraction(0)), "f32")
    first = nearest(numbers[0] + numbers[1], "f16")
    assert nearest(together, "f16") != nearest(first + numbers[2], "f16")


# ---- rewrites --------------------------------------------------------------------------------------------

CONSTANTS = (0.0, 1.0, -1.0, 2.0, 0.5, 4.0, -0.25, 3.0, 0.1, -1.7, 1e-6)
BINARY = ("addf", "subf", "mulf", "divf", "maxf", "minf")
MODES = ("nearest_even", "nearest_even", "nearest_even", "zero", "positive_inf", "negative_inf")


@st.composite
def trees(draw: st.DrawFn, depth: int = 3, modes: tuple[str, ...] = MODES) -> Tree:
    if depth == 0 or draw(st.integers(0, 5)) == 0:
        if draw(st.booleans()):
            return ("leaf", draw(st.integers(0, 3)))
        return ("const", draw(st.sampled_from(CONSTANTS)))
    name = draw(st.sampled_from((*BINARY, "negf", "fma", "mulf", "negf")))
    count = {"negf": 1, "fma": 3}.get(name, 2)
    mode = draw(st.sampled_from(modes)) if name in ("addf", "subf", "mulf", "divf", "fma") else "nearest_even"
    return (name, mode, *(draw(trees(depth - 1, modes)) for _ in range(count)))


def build(terms: Terms, tree: Tree, element: str) -> Term:
    match tree:
        case ("leaf", index):
            return terms.leaf("arg", 0, index)
        case ("const", number):
            bits = floats.encode(element, number)
            assert bits is not None
            return floats.constant(terms, element, bits)
        case (str(name), str(mode), *operands):
            mods = () if mode == "nearest_even" else (("rounding", mode),)
            return terms.float_op(
                (name, element, mods), tuple(build(terms, each, element) for each in operands)
            )
        case _:
            raise AssertionError(tree)


def value(tree: Tree, leaves: list[Fraction], element: str, *, exact: bool) -> Fraction:
    match tree:
        case ("leaf", int(index)):
            return leaves[index]
        case ("const", number):
            return nearest(Fraction(number), element)
        case (str(name), str(mode), *operands):
            given_ = [value(each, leaves, element, exact=exact) for each in operands]
            terms = Terms()
            folded = terms.kind[build(terms, tree, element)] == "fc"
            return apply(name, given_, None if exact and not folded else element, mode)
        case _:
            raise AssertionError(tree)


def ordinary(numbers: list[float], element: str) -> list[Fraction]:
    return [nearest(Fraction(number), element) for number in numbers]


inputs: st.SearchStrategy[list[float]] = st.lists(
    st.one_of(st.floats(0.01, 100.0), st.floats(-100.0, -0.01)),
    min_size=4,
    max_size=4,
)


def compared(tree: Tree, numbers: list[float], element: str, *, exact: bool) -> None:
    terms = Terms()
    leaves = [terms.leaf("arg", 0, index) for index in range(4)]
    values = ordinary(numbers, element)
    term = build(terms, tree, element)
    try:
        wanted = value(tree, values, element, exact=exact)
        smallest = Fraction(2) ** -60
        if wanted != 0 and abs(wanted) < smallest:
            return
    except (ZeroDivisionError, OverflowError):
        return  # not ordinary: a quotient by zero, or infinity
    try:
        got = evaluate(terms, term, dict(zip(leaves, values, strict=True)), exact=exact)
    except (ZeroDivisionError, OverflowError):
        pytest.fail("the normal form divides by zero or overflows where the op does not")
    assert got == wanted


@quick
@given(trees(), inputs, st.sampled_from(["f32", "f16", "bf16"]))
def test_a_rewrite_keeps_the_exact_value(tree: Tree, numbers: list[float], element: str) -> None:
    compared(tree, numbers, element, exact=True)


@quick
@given(trees(modes=("nearest_even",)), inputs, st.sampled_from(["f32", "bf16"]))
def test_a_rewrite_keeps_every_rounding_to_nearest(tree: Tree, numbers: list[float], element: str) -> None:
    compared(tree, numbers, element, exact=False)


@quick
@given(trees(modes=("nearest_even", "zero")), inputs)
def test_a_rewrite_keeps_rounding_to_zero(tree: Tree, numbers: list[float]) -> None:
    compared(tree, numbers, "f32", exact=False)


@pytest.mark.parametrize("name", ["mulf", "divf"])
@pytest.mark.parametrize("mode", ["positive_inf", "negative_inf"])
def test_negation_turns_a_directed_rounding_around(name: str, mode: str) -> None:
    terms = Terms()
    x, y = leaf(terms, 0), leaf(terms, 1)
    inside = op(terms, name, op(terms, "negf", x), y, rounding=mode)
    outside = op(terms, "negf", op(terms, name, x, y, rounding=mode))
    assert inside != outside


@quick
@given(trees(), inputs)
def test_a_rewrite_keeps_directed_rounding(tree: Tree, numbers: list[float]) -> None:
    compared(tree, numbers, "f32", exact=False)


def leaf(terms: Terms, index: int) -> Term:
    return terms.leaf("arg", 0, index)


def op(terms: Terms, name: str, *operands: Term, element: str = "f32", **mods: object) -> Term:
    return terms.float_op((name, element, tuple(sorted(mods.items()))), operands)


def number(terms: Terms, value: float, element: str = "f32") -> Term:
    bits = floats.encode(element, value)
    assert bits is not None
    return floats.constant(terms, element, bits)


@pytest.fixture
def terms() -> Terms:
    return Terms()


def test_sums_and_products_commute_and_differences_do_not(terms: Terms) -> None:
    x, y = leaf(terms, 0), leaf(terms, 1)
    for name in ("addf", "mulf", "maxf", "minf"):
        assert op(terms, name, x, y) == op(terms, name, y, x)
    for name in ("subf", "divf", "remf", "atan2", "fpowf"):
        assert op(terms, name, x, y) != op(terms, name, y, x)


def test_a_square_keeps_both_operands(terms: Terms) -> None:
    x = leaf(terms, 0)
    for name in ("mulf", "maxf"):
        squared = op(terms, name, x, x)
        assert terms.args[squared] == (x, x)
        assert squared != x


def test_sums_do_not_associate(terms: Terms) -> None:
    x, y, z = (leaf(terms, index) for index in range(3))
    for name in ("addf", "mulf"):
        assert op(terms, name, op(terms, name, x, y), z) != op(terms, name, x, op(terms, name, y, z))


def test_a_difference_is_a_sum_with_the_negative(terms: Terms) -> None:
    x, y = leaf(terms, 0), leaf(terms, 1)
    assert op(terms, "subf", x, y) == op(terms, "addf", x, op(terms, "negf", y))
    assert op(terms, "negf", op(terms, "negf", x)) == x


def test_fma_is_not_multiply_and_add(terms: Terms) -> None:
    x, y, z = (leaf(terms, index) for index in range(3))
    fused = op(terms, "fma", x, y, z)
    assert fused == op(terms, "fma", y, x, z)
    assert fused != op(terms, "fma", x, z, y)
    assert fused != op(terms, "addf", op(terms, "mulf", x, y), z)


def test_division_by_a_power_of_two_is_multiplication(terms: Terms) -> None:
    x = leaf(terms, 0)
    assert op(terms, "divf", x, number(terms, 8.0)) == op(terms, "mulf", x, number(terms, 0.125))
    assert op(terms, "divf", x, number(terms, 3.0)) != op(terms, "mulf", x, number(terms, 1 / 3))
    half = op(terms, "divf", x, number(terms, 8.0, "f16"), element="f16")
    assert half != op(terms, "mulf", x, number(terms, 0.125, "f16"), element="f16")


def scaled(terms: Terms, x: Term, *exponents: int) -> Term:
    """`x` times these powers of two, one after the other."""
    for k in exponents:
        x = op(terms, "mulf", x, number(terms, 2.0**k))
    return x


@pytest.mark.parametrize(
    "exponents", [(-149, 126, 12, 11), (-100, 100), (-33, 33), (-20, -20, 40), (100, -100)]
)
def test_powers_of_two_with_an_extreme_product_between_do_not_cancel(
    terms: Terms, exponents: tuple[int, ...]
) -> None:
    x = leaf(terms, 0)
    assert scaled(terms, x, *exponents) != x


@given(st.lists(st.integers(-30, 0), max_size=3), st.lists(st.integers(0, 40), max_size=3))
def test_powers_of_two_join_only_where_ordinary_numbers_stay_normal(down: list[int], up: list[int]) -> None:
    """What is joined gives the same bits for 2^-40 as one factor after the other."""
    terms = Terms()
    exponents = (*down, *up)
    if scaled(terms, leaf(terms, 0), *exponents) == scaled(terms, leaf(terms, 0), sum(exponents)):
        value = 2.0**-40 * (1 + 2.0**-23)
        apart = struct.pack("f", value)
        for k in exponents:
            apart = struct.pack("f", struct.unpack("f", apart)[0] * 2.0**k)
        assert apart == struct.pack("f", value * 2.0 ** sum(exponents))


@pytest.mark.parametrize("exponents", [(-3, -4), (-20, 20), (-32, 32), (30, 40), (-60, -30)])
def test_ordinary_powers_of_two_join(terms: Terms, exponents: tuple[int, ...]) -> None:
    x = leaf(terms, 0)
    total = sum(exponents)
    assert scaled(terms, x, *exponents) == (scaled(terms, x, total) if total else x)


def test_only_an_ordinary_power_of_two_moves_through_a_product(terms: Terms) -> None:
    x, y = leaf(terms, 0), leaf(terms, 1)
    for k, moves in ((-32, True), (-33, False), (-90, False)):
        within = op(terms, "mulf", scaled(terms, x, k), y)
        assert (within == scaled(terms, op(terms, "mulf", x, y), k)) == moves
        assert (
            op(terms, "fma", scaled(terms, x, k), y, x) == op(terms, "fma", x, scaled(terms, y, k), x)
        ) == moves


@pytest.mark.parametrize("mods", [{"rounding": "zero"}, {"flush_to_zero": True}, {"rounding": "approx"}])
def test_modifiers_are_part_of_the_op(terms: Terms, mods: dict[str, object]) -> None:
    operands = leaf(terms, 0), leaf(terms, 1)
    for name in ("addf", "mulf", "divf"):
        changed = terms.float_op((name, "f32", tuple(mods.items())), operands)
        assert op(terms, name, *operands) != changed


def test_nan_rules_are_kept_apart(terms: Terms) -> None:
    x, y = leaf(terms, 0), leaf(terms, 1)
    assert op(terms, "maxf", x, y) != op(terms, "maxf", x, y, propagate_nan=True)


def test_types_are_kept_apart(terms: Terms) -> None:
    x, y = leaf(terms, 0), leaf(terms, 1)
    assert op(terms, "addf", x, y, element="f16") != op(terms, "addf", x, y, element="bf16")


def in_f32(terms: Terms, name: str, *operands: Term, element: str = "f16", **mods: str | bool) -> Term:
    """The op in f32 on numbers of a smaller type, rounded to it."""
    wide = [terms.float_op(("ftof", (element, "f32"), ()), (each,)) for each in operands]
    result = op(terms, name, *wide, element="f32", **mods)
    return terms.float_op(("ftof", ("f32", element), ()), (result,))


@pytest.mark.parametrize("element", ["f16", "bf16"])
@pytest.mark.parametrize("name", ["addf", "subf", "mulf", "divf", "maxf", "minf"])
def test_one_op_in_f32_is_one_in_the_type_of_its_operands(terms: Terms, name: str, element: str) -> None:
    x, y = leaf(terms, 0), leaf(terms, 1)
    narrow = op(terms, name, x, y, element=element)
    assert in_f32(terms, name, x, y, element=element) == narrow
    assert in_f32(terms, name, y, x, element=element) == op(terms, name, y, x, element=element)
    assert in_f32(terms, name, x, x, element=element) == op(terms, name, x, x, element=element)
    flushed = in_f32(terms, name, x, y, element=element, flush_to_zero=True)
    assert (flushed == narrow) == (element == "f16"), "all sums and products of f16 are normal numbers of f32"


@pytest.mark.parametrize("name", ["sqrt", "absf", "negf"])
def test_one_op_of_one_number_in_f32(terms: Terms, name: str) -> None:
    x = leaf(terms, 0)
    assert in_f32(terms, name, x) == op(terms, name, x, element="f16")


def test_other_ops_in_f32_are_others(terms: Terms) -> None:
    x, y, z = (leaf(terms, index) for index in range(3))

    def narrow(term: Term) -> Term:
        return terms.float_op(("ftof", ("f32", "f16"), ()), (term,))

    def wide(term: Term, element: str = "f16") -> Term:
        return terms.float_op(("ftof", (element, "f32"), ()), (term,))

    def sum_of(*operands: Term, element: str = "f16") -> Term:
        return op(terms, "addf", *operands, element=element)

    assert narrow(sum_of(sum_of(wide(x), wide(y), element="f32"), wide(z), element="f32")) != sum_of(
        sum_of(x, y), z
    )
    assert in_f32(terms, "addf", x, y, rounding="zero") != sum_of(x, y)
    assert in_f32(terms, "fma", x, y, z) != op(terms, "fma", x, y, z, element="f16")
    assert in_f32(terms, "exp", x) != op(terms, "exp", x, element="f16")
    assert in_f32(terms, "divf", x, y, rounding="approx") != op(terms, "divf", x, y, element="f16")
    assert narrow(sum_of(wide(x, "bf16"), wide(y, "bf16"), element="f32")) != sum_of(x, y)
    assert narrow(sum_of(wide(x), y, element="f32")) != sum_of(x, y)
    down = terms.float_op(
        ("ftof", ("f32", "f16"), (("rounding", "zero"),)), (sum_of(wide(x), wide(y), element="f32"),)
    )
    assert down != sum_of(x, y)


def test_a_constant_beside_a_narrow_number(terms: Terms) -> None:
    x = leaf(terms, 0)

    def scaled(value: float) -> tuple[Term, Term]:
        wide = op(terms, "mulf", terms.float_op(("ftof", ("f16", "f32"), ()), (x,)), number(terms, value))
        narrow = op(terms, "mulf", x, number(terms, value, "f16"), element="f16")
        return terms.float_op(("ftof", ("f32", "f16"), ()), (wide,)), narrow

    for value, same in ((0.5, True), (3.0, True), (0.1, False)):
        first, second = scaled(value)
        assert (first == second) == same, value


@pytest.mark.parametrize("element", ["f16", "bf16", "f32", "f64"])
def test_a_sum_of_a_number_with_itself_is_twice_the_number(terms: Terms, element: str) -> None:
    x, y = leaf(terms, 0), leaf(terms, 1)
    two = number(terms, 2.0, element)
    for mods in ((), (("rounding", "zero"),), (("rounding", "positive_inf"),), (("flush_to_zero", True),)):
        twice = terms.float_op(("addf", element, mods), (x, x))
        assert twice == terms.float_op(("mulf", element, mods), (two, x))
        assert twice != terms.float_op(("addf", element, mods), (x, y))
    assert op(terms, "addf", x, x, element=element) != op(
        terms, "mulf", two, x, element=element, rounding="zero"
    )
    three = op(terms, "addf", op(terms, "addf", x, x, element=element), x, element=element)
    assert three != op(terms, "mulf", number(terms, 3.0, element), x, element=element)


def test_the_size_of_a_number_and_of_its_negative(terms: Terms) -> None:
    x, y = leaf(terms, 0), leaf(terms, 1)
    size = op(terms, "absf", x)
    assert op(terms, "absf", op(terms, "negf", x)) == size
    assert op(terms, "absf", size) == size
    assert op(terms, "negf", size) != size
    assert op(terms, "absf", op(terms, "mulf", x, op(terms, "negf", y))) == op(
        terms, "absf", op(terms, "mulf", x, y)
    )
    assert op(terms, "absf", op(terms, "subf", x, y)) != op(terms, "absf", op(terms, "addf", x, y))


def test_an_equivalence_can_be_switched_off() -> None:
    def zero_dropped(terms: Terms) -> bool:
        x = leaf(terms, 0)
        return op(terms, "addf", x, number(terms, 0.0)) == x

    def scale_moved(terms: Terms) -> bool:
        x, y = leaf(terms, 0), leaf(terms, 1)
        half = number(terms, 0.5)
        return op(terms, "mulf", op(terms, "mulf", x, half), y) == op(
            terms, "mulf", x, op(terms, "mulf", y, half)
        )

    def fma_unfused(terms: Terms) -> bool:
        x, y = leaf(terms, 0), leaf(terms, 1)
        return op(terms, "fma", x, y, number(terms, 0.0)) == op(terms, "mulf", x, y)

    def flush_dropped(terms: Terms) -> bool:
        x, one = leaf(terms, 0), number(terms, 1.0)
        return op(terms, "addf", x, one, flush_to_zero=True) == op(terms, "addf", x, one)

    def doubled(terms: Terms) -> bool:
        x = leaf(terms, 0)
        return op(terms, "addf", x, x) == op(terms, "mulf", x, number(terms, 2.0))

    def narrowed(terms: Terms) -> bool:
        x, y = leaf(terms, 0), leaf(terms, 1)
        return in_f32(terms, "addf", x, y) == op(terms, "addf", x, y, element="f16")

    checks = {
        "double": doubled,
        "narrow-arithmetic": narrowed,
        "additive-zero": zero_dropped,
        "power-of-two-scale": scale_moved,
        "fma-zero": fma_unfused,
        "flush-with-normal": flush_dropped,
    }
    assert set(checks) == set(floats.EQUIVALENCES)
    for name, check in checks.items():
        assert check(Terms()), name
        assert not check(Terms(frozenset({name}))), name


@pytest.mark.parametrize("k", [1, 10, 120])
def test_a_factor_above_one_stays_where_it_may_overflow(terms: Terms, k: int) -> None:
    x, y = leaf(terms, 0), leaf(terms, 1)
    large, small = number(terms, 2.0**k), number(terms, 2.0**-k)
    scaled = op(terms, "mulf", x, large)
    assert op(terms, "mulf", scaled, small) != x
    assert op(terms, "mulf", scaled, y) != op(terms, "mulf", op(terms, "mulf", x, y), large)
    assert op(terms, "fma", scaled, y, x) != op(terms, "fma", x, op(terms, "mulf", y, large), x)
    assert op(terms, "fma", x, large, y) != op(terms, "addf", scaled, y)
    assert op(terms, "fma", x, small, y) == op(terms, "addf", op(terms, "mulf", x, small), y)


def test_factors_that_overflow_together_join(terms: Terms) -> None:
    x, four = leaf(terms, 0), number(terms, 4.0)
    two, half = number(terms, 2.0), number(terms, 0.5)
    assert op(terms, "mulf", op(terms, "mulf", x, two), two) == op(terms, "mulf", x, four)
    assert op(terms, "mulf", op(terms, "mulf", x, half), four) == op(terms, "mulf", x, two)
    assert op(terms, "mulf", op(terms, "mulf", x, half), two) == x


def test_a_widened_value_narrows_back_to_itself(terms: Terms) -> None:
    x = leaf(terms, 0)
    wide = terms.float_op(("ftof", ("bf16", "f32"), ()), (x,))
    assert terms.float_op(("ftof", ("f32", "bf16"), ()), (wide,)) == x
    narrow = terms.float_op(("ftof", ("f32", "bf16"), ()), (x,))
    assert terms.float_op(("ftof", ("bf16", "f32"), ()), (narrow,)) != x
    other = terms.float_op(("ftof", ("f16", "f32"), ()), (x,))
    assert terms.float_op(("ftof", ("f32", "bf16"), ()), (other,)) != x


@quick
@given(st.floats(width=32, allow_nan=False), st.sampled_from(["f16", "bf16"]))
def test_a_constant_is_converted_when_it_is_known(value: float, element: str) -> None:
    terms = Terms()
    folded = terms.float_op(("ftof", ("f32", element), ()), (number(terms, value),))
    assert terms.attr[folded] == (element, floats.encode(element, value))


@quick
@given(st.integers(-(2**31), 2**31 - 1))
def test_an_integer_constant_is_converted_with_one_rounding(value: int) -> None:
    terms = Terms()
    folded = terms.float_op(("itof", "f32", ()), (terms.const(value),))
    assert Fraction(floats.constant_of(terms, folded) or 0.0) == nearest(Fraction(value), "f32")


def test_a_wide_integer_constant_is_rounded_once() -> None:
    terms = Terms()
    wide = (
        2**60 + 2**36 + 1
    )  # just above the middle between two f32 numbers; the double next to it is the middle
    folded = terms.float_op(("itof", "f32", ()), (terms.const(wide),))
    assert Fraction(floats.constant_of(terms, folded) or 0.0) == nearest(Fraction(wide), "f32")


@pytest.mark.parametrize("value", [-0.0, math.inf, -math.inf, 5e-324, 1.5])
def test_the_negative_of_a_constant_flips_its_sign_bit(terms: Terms, value: float) -> None:
    negative = floats.negate(terms, "f64", number(terms, value, "f64"))
    assert same(floats.constant_of(terms, negative), -value)


def test_a_constant_reads_as_a_number() -> None:
    assert floats.show("f32", 0x3F800000) == "1"
    assert floats.show("f32", 0x7F800000) == "inf"
    assert floats.show("f16", 0x3E00) == "1.5"
    assert floats.show("f16", 0x34CD) == "0.3"
    assert floats.show("f8E4M3FN", 0x38) == "0x38"


@pytest.mark.parametrize(
    ("value", "text"),
    [(-1e30, "-1e+30"), (0.1, "0.1"), (1.5, "1.5"), (1.44269504, "1.442695"), (-0.0, "-0"), (1e-45, "1e-45"),
     (1000.0, "1000"), (240.0, "240"), (16777216.0, "16777216")],
)  # fmt: skip
def test_a_constant_is_shown_with_as_few_digits_as_tell_it_from_others(value: float, text: str) -> None:
    bits = struct.unpack("<I", struct.pack("<f", value))[0]
    assert formats.show("f32", bits) == text


@given(st.integers(0, 0xFFFFFFFF))
def test_a_constant_that_is_shown_reads_back(bits: int) -> None:
    text = formats.show("f32", bits)
    value = float(text)
    if math.isfinite(value):
        assert struct.unpack("<I", struct.pack("<f", value))[0] == bits
