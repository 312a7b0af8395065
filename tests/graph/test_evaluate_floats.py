"""Floating point, reductions, scans, matrix products and conversions through whole kernels."""

from __future__ import annotations

import pytest

from tests.match.snippets import Pair, assert_equal, assert_found, found, kernel, with_value

T = "tile<128xf32>"
SPLAT = "%k = constant <f32: {}> : tile<128xf32>\n"


def splat(value: str) -> str:
    return SPLAT.format(value)


ELEMENTWISE = [
    Pair(
        "commuted sum",
        f"%w = addf %v, %one : {T}",
        f"%w = addf %one, %v : {T}",
        f"%w = subf %v, %one : {T} // here",
        ("arithmetic/op",),
    ),
    Pair(
        "commuted product",
        f"{splat('1.7')}%w = mulf %v, %k : {T}",
        f"{splat('1.7')}%w = mulf %k, %v : {T}",
        f"{splat('1.7')}%w = divf %v, %k : {T} // here",
        ("arithmetic",),
    ),
    Pair(
        "difference as a sum",
        f"%e = exp %v : {T}\n%w = subf %v, %e : {T}",
        f"%e = exp %v : {T}\n%g = negf %e : {T}\n%w = addf %v, %g : {T}",
    ),
    Pair(
        "operands of a difference",
        f"%e = exp %v : {T}\n%w = subf %v, %e : {T}",
        f"%e = exp %v : {T}\n%w = subf %v, %e : {T}",
        f"%e = exp %v : {T}\n%w = subf %e, %v : {T} // here",
        ("arithmetic/operands",),
    ),
    Pair(
        "operands of a quotient",
        f"%e = exp %v : {T}\n%w = divf %v, %e : {T}",
        f"%e = exp %v : {T}\n%w = divf %v, %e : {T}",
        f"%e = exp %v : {T}\n%w = divf %e, %v : {T} // here",
        ("arithmetic/operands",),
    ),
    Pair(
        "a square",
        f"%w = mulf %v, %v : {T}",
        f"%w = mulf %v, %v : {T}",
        f"%w = mulf %v, %one : {T} // here",
        ("arithmetic",),
    ),
    Pair(
        "quotient by a power of two",
        f"{splat('8.0')}%w = divf %v, %k : {T}",
        f"{splat('0.125')}%w = mulf %v, %k : {T}",
        f"{splat('0.25')}%w = mulf %v, %k : {T}",
        ("constant", "arithmetic"),
    ),
    Pair(
        "ordered and unordered opposites",
        (
            f"%c = cmpf less_than ordered %v, %one : {T} -> tile<128xi1>\n%w = select %c, %v, %one : "
            f"tile<128xi1>, {T}"
        ),
        (
            f"%c = cmpf greater_than_or_equal unordered %v, %one : {T} -> tile<128xi1>\n%w = select %c, "
            f"%one, %v : tile<128xi1>, {T}"
        ),
        (
            f"%c = cmpf less_than unordered %v, %one : {T} -> tile<128xi1> // here\n%w = select %c, %v, "
            f"%one : tile<128xi1>, {T}"
        ),
        ("float-mode",),
    ),
    Pair(
        "mirrored comparison",
        (
            f"%c = cmpf less_than ordered %v, %one : {T} -> tile<128xi1>\n%w = select %c, %v, %zero : "
            f"tile<128xi1>, {T}"
        ),
        (
            f"%c = cmpf greater_than ordered %one, %v : {T} -> tile<128xi1>\n%w = select %c, %v, %zero : "
            f"tile<128xi1>, {T}"
        ),
        (
            f"%c = cmpf greater_than ordered %v, %one : {T} -> tile<128xi1> // here\n%w = select %c, %v, "
            f"%zero : tile<128xi1>, {T}"
        ),
        ("control-flow", "arithmetic", "mask"),
    ),
    Pair(
        "an fma",
        f"%e = exp %v : {T}\n%w = fma %v, %e, %one : {T}",
        f"%e = exp %v : {T}\n%w = fma %e, %v, %one : {T}",
        f"%e = exp %v : {T}\n%w = fma %e, %one, %v : {T} // here",
        ("arithmetic",),
    ),
]


@pytest.mark.parametrize("pair", ELEMENTWISE, ids=[pair.name for pair in ELEMENTWISE])
def test_elementwise(pair: Pair) -> None:
    assert_equal(with_value(pair.reference), with_value(pair.generated))
    assert_equal(with_value(pair.generated), with_value(pair.reference))
    if pair.wrong:
        marked = (
            with_value(pair.wrong)
            if pair.reference.count("\n") == pair.wrong.count("\n")
            else with_value(pair.wrong.replace(" // here", ""))
        )
        assert_found(with_value(pair.reference), marked, *pair.rules)


MODES = [
    ("addf %v, %one", "addf %v, %one rounding<zero>", "float-mode/rounding", "ulp"),
    ("mulf %v, %v", "mulf %v, %v flush_to_zero", "float-mode/ftz", "edge"),
    ("divf %v, %one2", "divf %v, %one2 rounding<approx>", "float-mode/approx", "precision"),
    ("exp %v", "exp %v rounding<approx>", "float-mode/approx", "precision"),
    ("maxf %v, %one", "maxf %v, %one propagate_nan", "float-mode/nan", "edge"),
    ("sqrt %v", "sqrt %v rounding<approx>", "float-mode/approx", "precision"),
    ("rsqrt %v", "rsqrt %v flush_to_zero", "float-mode/ftz", "edge"),
]


@pytest.mark.parametrize(
    ("reference", "generated", "rule", "impact"), MODES, ids=[f"{m[0]}-{m[2]}" for m in MODES]
)
def test_modes(reference: str, generated: str, rule: str, impact: str) -> None:
    head = f"%one2 = exp %v : {T}\n"
    first = assert_found(
        with_value(f"{head}%w = {reference} : {T}"), with_value(f"{head}%w = {generated} : {T} // here"), rule
    )
    assert first.impact == impact
    back = assert_found(
        with_value(f"{head}%w = {generated} : {T}"), with_value(f"{head}%w = {reference} : {T} // here"), rule
    )
    assert back.rule == first.rule


def test_association_is_a_matter_of_rounding() -> None:
    head = f"%e = exp %v : {T}\n"
    left = with_value(f"{head}%s = addf %v, %e : {T}\n%w = addf %s, %one : {T}")
    right = with_value(f"{head}%s = addf %e, %one : {T}\n%w = addf %v, %s : {T}")
    assert assert_found(left, right, "arithmetic").impact in ("ulp", "logic")


def test_fma_against_multiply_and_add_is_a_matter_of_rounding() -> None:
    head = f"%e = exp %v : {T}\n"
    fused = with_value(f"{head}%w = fma %v, %e, %one : {T}")
    split = with_value(f"{head}%p = mulf %v, %e : {T}\n%w = addf %p, %one : {T}")
    assert assert_found(fused, split, "arithmetic/reformulated").impact == "ulp"
    assert assert_found(split, fused, "arithmetic/reformulated").impact == "ulp"


# ---- conversions -----------------------------------------------------------------------------------------


def test_an_extra_conversion_rounds_once_more() -> None:
    straight = with_value(f"%w = exp %v : {T}")
    rounded = with_value(
        f"%e = exp %v : {T}\n%h = ftof %e : {T} -> tile<128xbf16>\n%w = ftof %h : tile<128xbf16> -> {T}"
    )
    assert (
        assert_found(straight, rounded, "conversion/extra", "arithmetic/extra-rounding").impact == "precision"
    )
    assert (
        assert_found(rounded, straight, "conversion/missing", "arithmetic/extra-rounding").impact
        == "precision"
    )


def test_signedness_of_a_conversion() -> None:
    def converted(sign: str) -> str:
        return with_value(
            f"%s = subi %o, %mv : tile<128xi32>\n%f = itof %s {sign} : tile<128xi32> -> {T}\n%w = addf "
            f"%v, %f : {T}"
        )

    assert_found(converted("signed"), converted("unsigned"), "integer-mode/signedness", "conversion")
    nonnegative = converted("signed").replace("subi %o, %mv", "addi %o, %nv")
    assert_equal(nonnegative, nonnegative.replace("itof %s signed", "itof %s unsigned"))


ZERO_POINT = (
    "%l = bitcast %v : tile<128xf32> -> tile<128xi32>\n%mask = constant <i32: {mask}> : tile<128xi32>\n"
    "%u = andi %l, %mask : tile<128xi32>\n%zp = constant <i32: 128> : tile<128xi32>\n"
    f"%zf = constant <f32: 128.0> : {T}\n"
)
WHOLE = f"%s = subi %u, %zp : tile<128xi32>\n%w = itof %s signed : tile<128xi32> -> {T}"
CONVERTED = f"%s = itof %u signed : tile<128xi32> -> {T}\n%w = subf {{}} : {T} // here"


def test_a_zero_point_taken_off_before_or_after_the_conversion() -> None:
    byte = ZERO_POINT.format(mask=255)
    whole = with_value(byte + WHOLE)
    after = with_value(byte + CONVERTED.format("%s, %zf"))
    assert_equal(whole, after)
    assert_equal(after, whole)
    for wrong in ("%zf, %s", "%s, %one"):
        assert_found(whole, with_value(byte + CONVERTED.format(wrong)), "arithmetic", "constant")
    directed = CONVERTED.format("%s, %zf rounding<negative_inf>")
    assert_found(whole, with_value(byte + directed), "arithmetic", "float-mode")


def test_a_sum_that_is_not_exact_is_another_than_that_of_the_integers() -> None:
    large = ZERO_POINT.format(mask=0x3FFFFFFF)
    assert_found(
        with_value(large + WHOLE), with_value(large + CONVERTED.format("%s, %zf")), "arithmetic", "conversion"
    )


def test_a_bit_pattern_is_no_value() -> None:
    cast = with_value(f"%s = bitcast %o : tile<128xi32> -> {T}\n%w = addf %v, %s : {T}")
    converted = with_value(f"%s = itof %o signed : tile<128xi32> -> {T} // here\n%w = addf %v, %s : {T}")
    assert_found(cast, converted, "conversion", "arithmetic", "element-type")


# ---- reductions, scans, products -------------------------------------------------------------------------


def reduced(
    dim: int = 1,
    identity: str = "0.0",
    op: str = "addf %l, %r",
    shape: str = "8x16",
    kept: int = 8,
    mark: str = "",
) -> str:
    """Sum along one axis of the block as a square of lanes, stored to the block's first elements."""
    return kernel(
        "%v, %vt = load_ptr_tko weak %pa, %in, %zero token=%t : "
        "tile<128xptr<f32>>, tile<128xi1>, tile<128xf32> -> tile<128xf32>, token\n"
        f"%sq = reshape %v : {T} -> tile<{shape}xf32>\n"
        f"%w = reduce %sq dim={dim} identities=[{identity} : f32] : tile<{shape}xf32> -> "
        f"tile<{kept}xf32>{mark}\n"
        f"(%l: tile<f32>, %r: tile<f32>) {{\n%s = {op} : tile<f32>\nyield %s : tile<f32>\n}}\n"
        f"%ln = iota : tile<{kept}xi32>\n%bp = broadcast %b1 : tile<1xptr<f32>> -> tile<{kept}xptr<f32>>\n"
        f"%q = offset %bp, %ln : tile<{kept}xptr<f32>>, tile<{kept}xi32> -> tile<{kept}xptr<f32>>\n"
        f"%st = store_ptr_tko weak %q, %w token=%t : tile<{kept}xptr<f32>>, tile<{kept}xf32> -> token"
    )


def test_names_and_order_of_a_combiner_do_not_matter() -> None:
    assert_equal(reduced(), reduced(op="addf %r, %l"))
    assert_equal(
        reduced(),
        reduced()
        .replace("%l", "%element")
        .replace("%r,", "%sum,")
        .replace("%r:", "%sum:")
        .replace("%r :", "%sum :"),
    )


@pytest.mark.parametrize(
    ("wrong", "rule", "impact"),
    [
        (reduced(op="maxf %l, %r"), "reduction/combiner", "logic"),
        (reduced(op="addf %l, %r flush_to_zero"), "float-mode/ftz", "edge"),
        (reduced(identity="1.0"), "reduction/identity", "logic"),
        (reduced(identity="-0.0"), "reduction/identity", None),
    ],
    ids=["combiner", "mode", "identity", "negative zero"],
)
def test_a_changed_reduction(wrong: str, rule: str, impact: str | None) -> None:
    first = assert_found(reduced(), wrong, rule)
    assert impact is None or first.impact == impact


def test_the_axis_of_a_reduction_of_equal_extents() -> None:
    """8 x 16 has other types along its axes; half of the block is 8 x 8."""
    halves = reduced(shape="8x8").replace(f"reshape %v : {T}", "reshape %half : tile<64xf32>")
    halves = halves.replace("%sq = ", f"%half = extract %v[%i0] : {T} -> tile<64xf32>\n%sq = ")
    other = halves.replace(
        "dim=1 identities=[0.0 : f32] : tile<8x8xf32> -> tile<8xf32>",
        "dim=0 identities=[0.0 : f32] : tile<8x8xf32> -> tile<8xf32> // here",
    )
    assert other != halves
    first = assert_found(halves, other, "reduction/axis")
    assert first.impact == "logic"


def test_a_reduction_of_the_transposed_along_the_other_axis_is_the_same() -> None:
    transposed = reduced(dim=0, shape="16x8").replace(
        f"%sq = reshape %v : {T} -> tile<16x8xf32>",
        (
            f"%s0 = reshape %v : {T} -> tile<8x16xf32>\n%sq = permute %s0 [1, 0] : tile<8x16xf32> -> "
            "tile<16x8xf32>"
        ),
    )
    assert_equal(reduced(), transposed)


def scanned(
    reverse: str = "false", dim: int = 0, op: str = "addf %l, %r", identity: str = "0.0", shape: str = "128"
) -> str:
    before = f"%sq = reshape %v : {T} -> tile<{shape}xf32>\n"
    return with_value(
        f"{before}%sc = scan %sq dim={dim} reverse={reverse} identities=[{identity} : f32] : "
        f"tile<{shape}xf32> -> tile<{shape}xf32>\n"
        f"(%l: tile<f32>, %r: tile<f32>) {{\n%s = {op} : tile<f32>\nyield %s : tile<f32>\n}}\n"
        f"%w = reshape %sc : tile<{shape}xf32> -> {T}"
    )


@pytest.mark.parametrize(
    ("wrong", "rule"),
    [
        (scanned(reverse="true"), "scan/direction"),
        (scanned(op="mulf %l, %r"), "scan/combiner"),
        (scanned(identity="1.0"), "scan/identity"),
    ],
)
def test_a_changed_scan(wrong: str, rule: str) -> None:
    assert assert_found(scanned(), wrong, rule).impact == "logic"


def test_a_scan_of_a_row_is_a_scan() -> None:
    assert_equal(scanned(), scanned(dim=1, shape="1x128"))
    assert_found(scanned(dim=1, shape="8x16"), scanned(dim=0, shape="8x16"), "scan/axis")


A = "tile<8x16xf32>"


def product(
    line: str = "%p = mmaf %l, %r, %acc : tile<8x16xf32>, tile<16x8xf32>, tile<8x8xf32>", acc: str = "0.0"
) -> str:
    """`A * A^T` of two loaded tiles."""
    load = "tile<128xptr<f32>>, tile<128xi1>, tile<128xf32> -> tile<128xf32>, token"
    return kernel(
        f"%v, %vt = load_ptr_tko weak %pa, %in, %zero token=%t : {load}\n"
        f"%u, %ut = load_ptr_tko weak %pb, %in, %zero token=%t : {load}\n"
        f"%l = reshape %v : {T} -> tile<8x16xf32>\n%ur = reshape %u : {T} -> tile<8x16xf32>\n"
        "%r = permute %ur [1, 0] : tile<8x16xf32> -> tile<16x8xf32>\n"
        "%lt = permute %l [1, 0] : tile<8x16xf32> -> tile<16x8xf32>\n"
        f"%acc = constant <f32: {acc}> : tile<8x8xf32>\n{line}\n"
        "%w = reshape %p : tile<8x8xf32> -> tile<64xf32>\n%ln = iota : tile<64xi32>\n"
        "%bp = broadcast %b1 : tile<1xptr<f32>> -> tile<64xptr<f32>>\n"
        "%q = offset %bp, %ln : tile<64xptr<f32>>, tile<64xi32> -> tile<64xptr<f32>>\n"
        "%st = store_ptr_tko weak %q, %w token=%vt : tile<64xptr<f32>>, tile<64xf32> -> token"
    )


def test_a_product_transposed_on_both_sides_is_the_same() -> None:
    turned = product(
        "%p0 = mmaf %ur, %lt, %acc : tile<8x16xf32>, tile<16x8xf32>, tile<8x8xf32>\n"
        "%p = permute %p0 [1, 0] : tile<8x8xf32> -> tile<8x8xf32>"
    )
    assert_equal(product(), turned)


def test_exchanged_factors_are_found() -> None:
    wrong = product("%p = mmaf %ur, %lt, %acc : tile<8x16xf32>, tile<16x8xf32>, tile<8x8xf32> // here")
    assert assert_found(product(), wrong, "mma", "addressing", "shape-op").impact == "logic"


def test_what_a_product_starts_from() -> None:
    first = assert_found(product(), product(acc="1.0"), "accumulator/init", "constant/value")
    assert first.impact == "logic"


def test_what_a_factor_and_the_accumulator_share_is_told_once() -> None:
    def fed(line: str) -> str:
        spread = "%s1 = reshape %sum : tile<8xf32> -> tile<8x1xf32>\n"
        return product(
            f"{line}\n%sum = reduce %h dim=1 identities=[0.0 : f32] : {A} -> tile<8xf32> "
            "(%x1: tile<f32>, %x2: tile<f32>) {\n%x3 = addf %x1, %x2 : tile<f32>\nyield %x3 : tile<f32>\n}\n"
            f"{spread}%from = broadcast %s1 : tile<8x1xf32> -> tile<8x8xf32>\n"
            f"%p = mmaf %h, %r, %from : {A}, tile<16x8xf32>, tile<8x8xf32>"
        )

    signs = "".join(f"%s{n + 1} = negf %s{n} : {A}\n" for n in range(2, 9))  # two texts that do not align
    reference = fed(f"%h = exp %l : {A}")
    generated = fed(f"%s2 = negf %l : {A}\n{signs}%sign = negf %s9 : {A}\n%h = tanh %sign : {A} // here")
    assert [each.rule for each in found(reference, generated)] == ["arithmetic/op"]
    assert_found(reference, generated, "arithmetic/op")


def test_fast_accumulation() -> None:
    def half(flag: str) -> str:
        return product(
            "%lh = ftof %l : tile<8x16xf32> -> tile<8x16xf16>\n%rh = ftof %r : tile<16x8xf32> -> "
            "tile<16x8xf16>\n"
            f"%p = mmaf %lh, %rh, %acc{flag} : tile<8x16xf16>, tile<16x8xf16>, tile<8x8xf32>"
        )

    assert_found(half(""), half(" fast_acc"), "mma/fast-acc")
    assert_found(half(""), product(), "mma/operand-type", "conversion")


SELECTED = [
    # limit, predicate with the limit on the left, whether that is the larger of the two
    ("0.0", "less_than", True),
    ("-0.0", "less_than", False),
    ("0.0", "less_than_or_equal", False),
    ("-0.0", "less_than_or_equal", True),
    ("1.5", "less_than", True),
    ("1.5", "less_than_or_equal", True),
    ("0x7FC00000", "less_than", False),
]


@pytest.mark.parametrize(("limit", "predicate", "equal"), SELECTED)
def test_a_selection_of_what_is_larger_than_a_constant(limit: str, predicate: str, equal: bool) -> None:
    """Equal for NaN, and for zeros where the spelling leaves the one that is larger, or smaller."""
    c = f"%c = constant <f32: {limit}> : tile<128xf32>\n"

    def chosen(op: str, order: str) -> tuple[str, str]:
        choose = (
            f"{c}%q = cmpf {predicate} ordered {order} : tile<128xf32> -> tile<128xi1>\n"
            "%w = select %q, %v, %c : tile<128xi1>, tile<128xf32>"
        )
        return with_value(f"{c}%w = {op} %v, %c : tile<128xf32>"), with_value(choose)

    zero = limit.lstrip("-") == "0.0"
    for op, order, same in (("maxf", "%c, %v", equal), ("minf", "%v, %c", equal != zero)):
        assert bool(found(*chosen(op, order))) != same


def test_a_flag_as_a_number_is_one_or_nothing() -> None:
    def stored(value: str) -> str:
        store = f"%st = store_ptr_tko weak %pb, %w token=%t : tile<128xptr<f32>>, {T} -> token"
        return kernel(f"{value}\n{store}")

    number = stored(
        f"%e = exti %in unsigned : tile<128xi1> -> tile<128xi32>\n%w = itof %e signed : tile<128xi32> -> {T}"
    )
    assert_equal(stored(f"%w = select %in, %one, %zero : tile<128xi1>, {T}"), number)
    assert found(stored(f"%w = select %in, %zero, %one : tile<128xi1>, {T}"), number)
