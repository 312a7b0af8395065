"""Integer arithmetic in its spellings: equal where it is equal, and the wrong one next to it is found."""

from __future__ import annotations

import pytest

from tests.match.snippets import (
    LOAD,
    STORE,
    Pair,
    assert_equal,
    assert_found,
    compared,
    found,
    kernel,
)

V = "tile<128xi32>"
MASK = f"{V} -> tile<128xi1>"


def splat(name: str, value: int, element: str = "i32") -> str:
    return f"%{name} = constant <{element}: {value}> : tile<128x{element}>\n"


def address(lines: str, index: str, element: str = "i32") -> str:
    """A kernel that stores `%v` at `%b + index`."""
    return kernel(
        f"{LOAD}\n{lines}\n%q = offset %bv, %{index} : tile<128xptr<f32>>, tile<128x{element}> -> "
        "tile<128xptr<f32>>\n%st = store_ptr_tko weak %q, %v, %in token=%t : "
        "tile<128xptr<f32>>, tile<128xf32>, tile<128xi1> -> token"
    )


def masked(lines: str, mask: str) -> str:
    """A kernel that stores `%v` where the mask holds."""
    return kernel(
        f"{LOAD}\n{lines}\n%st = store_ptr_tko weak %pb, %v, %{mask} token=%t : "
        "tile<128xptr<f32>>, tile<128xf32>, tile<128xi1> -> token"
    )


ADDRESSES = [
    Pair(
        "commuted sum",
        f"%r = addi %o, %nv : {V}",
        f"%r = addi %nv, %o : {V}",
        f"%r = addi %nv, %lane : {V} // here",
        ("addressing", "grid"),
    ),
    Pair(
        "commuted product",
        f"%r = muli %o, %nv : {V}",
        f"%r = muli %nv, %o : {V}",
        f"%r = muli %nv, %nv : {V} // here",
        ("addressing", "grid"),
    ),
    Pair(
        "commuted high half of a product",
        f"%r = mulhii %o, %nv : {V}",
        f"%r = mulhii %nv, %o : {V}",
        f"%r = mulhii %nv, %nv : {V}",
        ("addressing", "arithmetic"),
    ),
    Pair(
        "distributed product",
        f"%s = addi %o, %nv : {V}\n%r = muli %s, %mv : {V}",
        f"%p = muli %o, %mv : {V}\n%q0 = muli %nv, %mv : {V}\n%r = addi %p, %q0 : {V}",
        f"%p = muli %o, %mv : {V}\n%q0 = muli %nv, %mv : {V}\n%r = subi %p, %q0 : {V}",
        ("addressing", "arithmetic"),
    ),
    Pair(
        "difference as a sum with the negative",
        f"%r = subi %o, %nv : {V}",
        f"%g = negi %nv : {V}\n%r = addi %o, %g : {V}",
        f"%r = subi %nv, %o : {V} // here",
        ("addressing", "arithmetic"),
    ),
    Pair(
        "product with a power of two as a shift",
        f"{splat('k', 8)}%r = muli %lane, %k : {V}",
        f"{splat('k', 3)}%r = shli %lane, %k : {V}",
        f"{splat('k', 4)}%r = shli %lane, %k : {V}",
        ("addressing", "constant"),
    ),
    Pair(
        "ceiling division spelled out",
        f"{splat('k', 32)}%r = divi %nv, %k signed rounding<positive_inf> : {V}",
        f"{splat('k', 32)}{splat('h', 31)}%s = addi %nv, %h : {V}\n%r = divi %s, %k signed : {V}",
        f"{splat('k', 32)}{splat('h', 32)}%s = addi %nv, %h : {V}\n%r = divi %s, %k signed : {V}",
        ("addressing", "constant"),
    ),
    Pair(
        "division of what is not negative, in any rounding down",
        f"{splat('k', 32)}%r = divi %o, %k signed rounding<negative_inf> : {V}",
        f"{splat('k', 32)}%r = divi %o, %k unsigned : {V}",
        f"{splat('k', 32)}%r = divi %o, %k signed rounding<positive_inf> : {V} // here",
        ("integer-mode", "addressing"),
    ),
    Pair(
        "floor division of what may be negative",
        f"{splat('k', 32)}%s = subi %o, %mv : {V}\n%r = divi %s, %k signed rounding<negative_inf> : {V}",
        f"{splat('k', 5)}%s = subi %o, %mv : {V}\n%r = shri %s, %k signed : {V}",
        f"{splat('k', 32)}%s = subi %o, %mv : {V}\n%r = divi %s, %k signed : {V} // here",
        ("integer-mode", "addressing", "constant"),
    ),
    Pair(
        "remainder of what is not negative as a mask of bits",
        f"{splat('k', 32)}%r = remi %o, %k signed : {V}",
        f"{splat('k', 31)}%r = andi %o, %k : {V}",
        f"{splat('k', 30)}%r = andi %o, %k : {V}",
        ("addressing", "constant", "arithmetic"),
    ),
    Pair(
        "remainder from the quotient",
        f"{splat('k', 24)}%r = remi %o, %k signed : {V}",
        f"{splat('k', 24)}%d = divi %o, %k signed : {V}\n%p = muli %d, %k : {V}\n%r = subi %o, %p : {V}",
        f"{splat('k', 24)}{splat('h', 25)}%d = divi %o, %k signed : {V}\n%p = muli %d, %h : {V}\n"
        f"%r = subi %o, %p : {V}",
        ("addressing", "constant"),
    ),
    Pair(
        "minimum as a select",
        f"%r = mini %o, %mv signed : {V}",
        f"%c = cmpi less_than %o, %mv, signed : {MASK}\n%r = select %c, %o, %mv : tile<128xi1>, {V}",
        f"%c = cmpi less_than %o, %mv, signed : {MASK}\n%r = select %c, %mv, %o : tile<128xi1>, {V} // here",
        ("addressing", "arithmetic"),
    ),
    Pair(
        "quotient of a minimum as the minimum of quotients",
        f"{splat('k', 32)}%q0 = mini %o, %mv signed : {V}\n"
        f"%r = divi %q0, %k signed rounding<negative_inf> : {V}",
        f"{splat('k', 32)}%q0 = divi %mv, %k signed rounding<negative_inf> : {V}\n"
        f"%p0 = divi %o, %k signed rounding<negative_inf> : {V}\n%r = mini %p0, %q0 signed : {V}",
        f"{splat('k', 32)}%q0 = divi %mv, %k signed rounding<negative_inf> : {V}\n"
        f"%p0 = divi %o, %k signed rounding<negative_inf> : {V}\n%r = maxi %p0, %q0 signed : {V}",
        ("addressing", "arithmetic"),
    ),
    Pair(
        "quotient of a negative minimum as a maximum of quotients",
        f"{splat('k', 32)}{splat('h', 0)}%q0 = mini %o, %mv signed : {V}\n%s = subi %h, %q0 : {V}\n"
        f"%r = divi %s, %k signed rounding<negative_inf> : {V}",
        f"{splat('k', 32)}{splat('h', 0)}%a0 = subi %h, %o : {V}\n%b0 = subi %h, %mv : {V}\n"
        f"%q0 = divi %b0, %k signed rounding<negative_inf> : {V}\n"
        f"%p0 = divi %a0, %k signed rounding<negative_inf> : {V}\n%r = maxi %p0, %q0 signed : {V}",
        f"{splat('k', 32)}{splat('h', 0)}%a0 = subi %h, %o : {V}\n%b0 = subi %h, %mv : {V}\n"
        f"%q0 = divi %b0, %k signed rounding<negative_inf> : {V}\n"
        f"%p0 = divi %a0, %k signed rounding<negative_inf> : {V}\n%r = mini %p0, %q0 signed : {V}",
        ("addressing", "arithmetic"),
    ),
    Pair(
        "maximum by the opposite comparison",
        f"%r = maxi %o, %mv signed : {V}",
        f"%c = cmpi less_than_or_equal %o, %mv, signed : {MASK}\n%r = select %c, %mv, %o : tile<128xi1>, {V}",
        f"%r = mini %o, %mv signed : {V} // here",
        ("addressing", "arithmetic"),
    ),
    Pair(
        "repeated op",
        f"%s = addi %o, %nv : {V}\n%r = addi %s, %s : {V}",
        f"%s = addi %o, %nv : {V}\n%u = addi %o, %nv : {V}\n%r = addi %s, %u : {V}",
        f"%s = addi %o, %nv : {V}\n%u = addi %o, %mv : {V} // here\n%r = addi %s, %u : {V}",
        ("addressing",),
    ),
    Pair(
        "splat by broadcast or as a constant",
        f"%c = constant <i32: 7> : tile<i32>\n%c1 = reshape %c : tile<i32> -> tile<1xi32>\n"
        f"%cv = broadcast %c1 : tile<1xi32> -> {V}\n%r = muli %o, %cv : {V}",
        f"{splat('cv', 7)}%r = muli %o, %cv : {V}",
        f"{splat('cv', 9)}%r = muli %o, %cv : {V}",
        ("addressing", "constant"),
    ),
    Pair(
        "counting constant or iota",
        "%r = iota : tile<128xi32>",
        f"%r = constant <i32: [{', '.join(str(i) for i in range(128))}]> : {V}",
        f"%r = constant <i32: [{', '.join(str(i + 1) for i in range(128))}]> : {V} // here",
        ("addressing", "constant", "arithmetic"),
    ),
    Pair(
        "dead ops",
        f"%r = addi %o, %nv : {V}",
        f"%d = muli %o, %o : {V}\n%e = divi %d, %o signed : {V}\n%r = addi %o, %nv : {V}",
        f"%d = muli %o, %o : {V}\n%r = addi %d, %nv : {V} // here",
        ("addressing",),
    ),
    Pair(
        "no-op reshape",
        f"%r = addi %o, %nv : {V}",
        f"%e = reshape %o : {V} -> tile<1x128xi32>\n%f = reshape %e : tile<1x128xi32> -> {V}\n"
        f"%r = addi %f, %nv : {V}",
    ),
]


@pytest.mark.parametrize("pair", ADDRESSES, ids=[pair.name for pair in ADDRESSES])
def test_equal_addresses(pair: Pair) -> None:
    assert_equal(address(pair.reference, "r"), address(pair.generated, "r"))
    assert_equal(address(pair.generated, "r"), address(pair.reference, "r"))


WRONG = [pair for pair in ADDRESSES if pair.wrong]


@pytest.mark.parametrize("pair", WRONG, ids=[pair.name for pair in WRONG])
def test_unequal_addresses(pair: Pair) -> None:
    for reference in (pair.reference, pair.generated):
        assert_found(address(reference, "r"), address(pair.wrong, "r").replace(" // here", ""), *pair.rules)


PLACED = [
    (
        "divi_floor",
        f"{splat('k', 32)}%s = subi %o, %mv : {V}\n%r = divi %s, %k signed rounding<negative_inf> : {V}",
        f"{splat('k', 32)}%s = subi %o, %mv : {V}\n%r = divi %s, %k signed : {V} // here",
        "integer-mode/division-rounding",
    ),
    (
        "shift",
        f"{splat('k', 5)}%s = subi %o, %mv : {V}\n%r = shri %s, %k signed : {V}",
        f"{splat('k', 5)}%s = subi %o, %mv : {V}\n%r = shri %s, %k unsigned : {V} // here",
        "integer-mode",
    ),
    ("operand", f"%r = addi %o, %nv : {V}", f"%r = addi %o, %mv : {V} // here", "addressing/index"),
    ("kind", f"%r = maxi %o, %nv signed : {V}", f"%r = mini %o, %nv signed : {V} // here", "arithmetic/op"),
    (
        "signedness",
        f"%s = subi %o, %mv : {V}\n%r = maxi %s, %nv signed : {V}",
        f"%s = subi %o, %mv : {V}\n%r = maxi %s, %nv unsigned : {V} // here",
        "integer-mode/signedness",
    ),
]


@pytest.mark.parametrize(("name", "reference", "generated", "rule"), PLACED, ids=[row[0] for row in PLACED])
def test_an_edited_op_is_found_on_its_line(name: str, reference: str, generated: str, rule: str) -> None:
    assert_found(address(reference, "r"), address(generated, "r"), rule)


def test_offsets_in_32_or_64_bits() -> None:
    narrow = address(f"%r = addi %o, %nv : {V}", "r")
    wide = address(
        f"%wo = exti %o signed : {V} -> tile<128xi64>\n%wn = exti %nv signed : {V} -> tile<128xi64>\n"
        "%r = addi %wo, %wn : tile<128xi64>",
        "r",
        "i64",
    )
    assert_equal(narrow, wide)
    assert_equal(wide, narrow)


def test_widening_without_the_sign_is_another_offset() -> None:
    signed = address(f"%s = subi %o, %mv : {V}\n%r = exti %s signed : {V} -> tile<128xi64>", "r", "i64")
    unsigned = address(
        f"%s = subi %o, %mv : {V}\n%r = exti %s unsigned : {V} -> tile<128xi64> // here", "r", "i64"
    )
    assert_found(signed, unsigned, "integer-mode", "conversion")


def test_row_pointers_stepped_by_scalars() -> None:
    """`(base + row * n) + lane` and `base + (row * n + lane)`."""
    store = (
        "\n%st = store_ptr_tko weak %q, %v, %in token=%t : tile<128xptr<f32>>, tile<128xf32>, "
        "tile<128xi1> -> token"
    )
    at_once = kernel(
        f"{LOAD}\n%row = muli %y, %N : tile<i32>\n%row1 = reshape %row : tile<i32> -> tile<1xi32>\n"
        f"%rows = broadcast %row1 : tile<1xi32> -> {V}\n%r = addi %rows, %o : {V}\n"
        f"%q = offset %bv, %r : tile<128xptr<f32>>, {V} -> tile<128xptr<f32>>{store}"
    )

    def stepped(scalar: str) -> str:
        return kernel(
            f"{LOAD}\n%row = muli %y, %{scalar} : tile<i32>\n"
            "%p = offset %b, %row : tile<ptr<f32>>, tile<i32> -> tile<ptr<f32>>\n"
            "%p1 = reshape %p : tile<ptr<f32>> -> tile<1xptr<f32>>\n"
            "%ps = broadcast %p1 : tile<1xptr<f32>> -> tile<128xptr<f32>>\n"
            f"%q = offset %ps, %o : tile<128xptr<f32>>, {V} -> tile<128xptr<f32>>{store}"
        )

    assert_equal(at_once, stepped("N"))
    assert_found(at_once, stepped("m"), "addressing", "stride")


BITS = f"%l = bitcast %v : tile<128xf32> -> {V}\n"
"""Numbers from memory, which wrap as the hardware does."""

MASKS = [
    Pair(
        "a number from memory and one more than it",
        splat("c", 1) + BITS + f"%d = subi %nv, %c : {V}\n%k = cmpi equal %l, %d, signed : {MASK}",
        splat("c", 1) + BITS + f"%d = addi %l, %c : {V}\n%k = cmpi equal %d, %nv, signed : {MASK}",
        splat("c", 1) + BITS + f"%d = addi %l, %c : {V}\n%k = cmpi equal %l, %nv, signed : {MASK} // here",
        ("mask",),
    ),
    Pair(
        "an order of numbers from memory, which one more may turn around",
        splat("c", 1) + BITS + f"%d = subi %nv, %c : {V}\n%k = cmpi less_than %l, %d, signed : {MASK}",
        splat("c", 1) + BITS + f"%d = subi %nv, %c : {V}\n%k = cmpi greater_than %d, %l, signed : {MASK}",
        splat("c", 1)
        + BITS
        + f"%d = addi %l, %c : {V}\n%k = cmpi less_than %d, %nv, signed : {MASK} // here",
        ("mask",),
    ),
    Pair(
        "a bound of an index rounded down follows from its own",
        f"%k = cmpi less_than %o, %nv, signed : {MASK}",
        splat("d", 32) + f"%q = divi %o, %d signed : {V}\n%g = muli %q, %d : {V}\n"
        f"%l = cmpi less_than %g, %nv, signed : {MASK}\n%k = andi %in, %l : tile<128xi1>",
        splat("d", 32) + f"%q = divi %o, %d signed : {V}\n%g = muli %q, %d : {V}\n"
        f"%k = cmpi less_than %g, %nv, signed : {MASK} // here",
        ("mask",),
    ),
    Pair(
        "mirrored comparison",
        f"%k = cmpi less_than %o, %mv, signed : {MASK}",
        f"%k = cmpi greater_than %mv, %o, signed : {MASK}",
        f"%k = cmpi greater_than %o, %mv, signed : {MASK} // here",
        ("mask",),
    ),
    Pair(
        "strict against not strict",
        f"%k = cmpi less_than %o, %mv, signed : {MASK}",
        f"{splat('e', 1)}%p = addi %o, %e : {V}\n%k = cmpi less_than_or_equal %p, %mv, signed : {MASK}",
        f"%k = cmpi less_than_or_equal %o, %mv, signed : {MASK} // here",
        ("mask",),
    ),
    Pair(
        "negated comparison",
        f"%k = cmpi less_than %o, %mv, signed : {MASK}",
        f"%ge = cmpi greater_than_or_equal %o, %mv, signed : {MASK}\n%T = constant <i1: true> : "
        "tile<128xi1>\n"
        "%k = xori %ge, %T : tile<128xi1>",
        f"%k = cmpi greater_than_or_equal %o, %mv, signed : {MASK} // here",
        ("mask",),
    ),
    Pair(
        "signed or unsigned, where both are not negative",
        f"%k = cmpi less_than %o, %nv, signed : {MASK}",
        f"%k = cmpi less_than %o, %nv, unsigned : {MASK}",
        f"%k = cmpi less_than %o, %mv, unsigned : {MASK} // here",
        ("mask", "integer-mode"),
    ),
    Pair(
        "conjunction in any order",
        f"%p = cmpi less_than %o, %nv, signed : {MASK}\n%q = cmpi less_than %lane, %mv, signed : {MASK}\n"
        "%k = andi %p, %q : tile<128xi1>",
        f"%q = cmpi less_than %lane, %mv, signed : {MASK}\n%p = cmpi less_than %o, %nv, signed : {MASK}\n"
        "%k = andi %q, %p : tile<128xi1>",
        f"%q = cmpi less_than %lane, %mv, signed : {MASK}\n%p = cmpi less_than %o, %nv, signed : {MASK}\n"
        "%k = ori %q, %p : tile<128xi1> // here",
        ("mask", "arithmetic"),
    ),
    Pair(
        "through i8",
        f"%p = cmpi less_than %o, %nv, signed : {MASK}\n%q = cmpi less_than %lane, %mv, signed : {MASK}\n"
        "%k = andi %p, %q : tile<128xi1>",
        f"%p = cmpi less_than %o, %nv, signed : {MASK}\n%q = cmpi less_than %lane, %mv, signed : {MASK}\n"
        "%p8 = exti %p unsigned : tile<128xi1> -> tile<128xi8>\n"
        "%q8 = exti %q unsigned : tile<128xi1> -> tile<128xi8>\n%k8 = andi %p8, %q8 : tile<128xi8>\n"
        f"{splat('z8', 0, 'i8')}%k = cmpi not_equal %k8, %z8, signed : tile<128xi8> -> tile<128xi1>",
        f"%p = cmpi less_than %o, %nv, signed : {MASK}\n%q = cmpi less_than %lane, %mv, signed : {MASK}\n"
        "%p8 = exti %p unsigned : tile<128xi1> -> tile<128xi8>\n"
        "%q8 = exti %q unsigned : tile<128xi1> -> tile<128xi8>\n%k8 = ori %p8, %q8 : tile<128xi8>\n"
        f"{splat('z8', 0, 'i8')}%k = cmpi not_equal %k8, %z8, signed : tile<128xi8> -> tile<128xi1>",
        ("mask", "arithmetic"),
    ),
    Pair(
        "truncated from i8",
        f"%k = cmpi less_than %o, %nv, signed : {MASK}",
        f"%p = cmpi less_than %o, %nv, signed : {MASK}\n%p8 = exti %p unsigned : tile<128xi1> -> "
        "tile<128xi8>\n"
        "%k = trunci %p8 : tile<128xi8> -> tile<128xi1>",
    ),
    Pair(
        "a condition that the other implies",
        f"{splat('e', 0)}%p = cmpi less_than %o, %nv, signed : {MASK}\n"
        f"%q = cmpi greater_than_or_equal %o, %e, signed : {MASK}\n%k = andi %p, %q : tile<128xi1>",
        f"%k = cmpi less_than %o, %nv, signed : {MASK}",
        f"%e2 = subi %nv, %mv : {V}\n%k = cmpi less_than %o, %e2, signed : {MASK}",
        ("mask",),
    ),
    Pair(
        "de Morgan",
        f"%p = cmpi less_than %o, %nv, signed : {MASK}\n%q = cmpi less_than %lane, %mv, signed : {MASK}\n"
        "%k = andi %p, %q : tile<128xi1>",
        f"%p = cmpi greater_than_or_equal %o, %nv, signed : {MASK}\n"
        f"%q = cmpi greater_than_or_equal %lane, %mv, signed : {MASK}\n%d = ori %p, %q : tile<128xi1>\n"
        "%T = constant <i1: true> : tile<128xi1>\n%k = xori %d, %T : tile<128xi1>",
    ),
]


@pytest.mark.parametrize("pair", MASKS, ids=[pair.name for pair in MASKS])
def test_equal_masks(pair: Pair) -> None:
    assert_equal(masked(pair.reference, "k"), masked(pair.generated, "k"))
    assert_equal(masked(pair.generated, "k"), masked(pair.reference, "k"))


@pytest.mark.parametrize("pair", [p for p in MASKS if p.wrong], ids=[p.name for p in MASKS if p.wrong])
def test_unequal_masks(pair: Pair) -> None:
    assert_found(masked(pair.generated, "k"), masked(pair.wrong, "k").replace(" // here", ""), *pair.rules)


LOST = kernel(
    f"{LOAD}\n%w = addf %v, %one : tile<128xf32>\n"
    "%st = store_ptr_tko weak %pb, %w token=%t : tile<128xptr<f32>>, tile<128xf32> -> token // here"
)


def test_a_lost_mask_is_found_at_the_store() -> None:
    reference = kernel(f"{LOAD}\n%w = addf %v, %one : tile<128xf32>\n{STORE}")
    generated = LOST
    first = assert_found(reference, generated, "mask/missing")
    assert first.impact == "bounds"
    back = assert_found(generated.replace(" // here", ""), reference, "mask/extra")
    assert back.impact == "logic"


def test_a_lost_mask_is_missing() -> None:
    generated = LOST.replace(" // here", "")
    first = assert_found(
        kernel(f"{LOAD}\n%w = addf %v, %one : tile<128xf32>\n{STORE}"), generated, "mask/missing"
    )
    assert first.status == "MISSING"


FLOORED = f"{splat('k', 32)}{splat('e', 0)}%s = subi %o, %mv : {V}\n%f = remi %s, %k signed : {V}\n"


@pytest.mark.parametrize("sign", ["less_than %f, %e", "greater_than %e, %f"])
def test_floor_modulo_spelled_out(sign: str) -> None:
    """The remainder of a truncating division, moved up by the divisor where it is negative."""
    floor = (
        f"{splat('k', 32)}%s = subi %o, %mv : {V}\n%d = divi %s, %k signed rounding<negative_inf> : {V}\n"
        f"%p = muli %d, %k : {V}\n%r = subi %s, %p : {V}"
    )
    spelled = (
        f"{FLOORED}%neg = cmpi {sign}, signed : {MASK}\n%up = addi %f, %k : {V}\n"
        f"%r = select %neg, %up, %f : tile<128xi1>, {V}"
    )
    assert_equal(address(floor, "r"), address(spelled, "r"))
    truncated = f"{splat('k', 32)}%s = subi %o, %mv : {V}\n%r = remi %s, %k signed : {V}"
    assert_found(address(floor, "r"), address(truncated, "r"), "addressing", "integer-mode", "arithmetic")


def test_floor_modulo_of_two_front_ends() -> None:
    """With the sign compared by xor, or by one comparison: the same where the divisor is positive."""
    one = (
        f"{FLOORED}%neg = cmpi less_than %f, %e, signed : {MASK}\n%up = addi %f, %k : {V}\n"
        f"%r = select %neg, %up, %f : tile<128xi1>, {V}"
    )
    other = (
        f"{FLOORED}%neg = cmpi less_than %f, %e, signed : {MASK}\n%kn = cmpi less_than %k, %e, signed "
        f": {MASK}\n"
        f"%not = cmpi not_equal %f, %e, signed : {MASK}\n%mixed = xori %neg, %kn : tile<128xi1>\n"
        f"%both = andi %mixed, %not : tile<128xi1>\n%up = addi %f, %k : {V}\n"
        f"%r = select %both, %up, %f : tile<128xi1>, {V}"
    )
    assert_equal(address(one, "r"), address(other, "r"))


def test_a_mask_that_can_be_negative_is_another_compare() -> None:
    signed = masked(f"%s = subi %o, %mv : {V}\n%k = cmpi less_than %s, %nv, signed : {MASK}", "k")
    unsigned = masked(f"%s = subi %o, %mv : {V}\n%k = cmpi less_than %s, %nv, unsigned : {MASK} // here", "k")
    first = assert_found(signed, unsigned, "integer-mode/signedness", "mask/changed")
    assert first.impact in ("bounds", "logic")


def test_hash_arithmetic_wraps_as_a_whole() -> None:
    """A large odd factor is meant to wrap: the product is kept as one op, and its shift is not a division."""
    lines = (
        f"{splat('f', -1640531527)}%h = muli %mv, %f : {V}\n{splat('s', 24)}%r = shri %h, %s unsigned : {V}"
    )
    assert_equal(address(lines, "r"), address(lines, "r"))
    other = lines.replace("shri %h, %s unsigned", "shri %h, %s signed")
    assert_found(address(lines, "r"), address(other, "r"), "integer-mode", "addressing")


def test_a_summand_near_the_limit_of_the_type_wraps() -> None:
    """``x + 2147483647 < 2147483647`` is no ``x < 0``: the sum is negative where x is positive."""
    limit = splat("k", 2147483647)
    wrapping = masked(f"{limit}%s = addi %o, %k : {V}\n%c = cmpi less_than %s, %k, signed : {MASK}", "c")
    plain = masked(f"{splat('k', 0)}%c = cmpi less_than %o, %k, signed : {MASK}", "c")
    assert found(wrapping, plain) != []
    assert_equal(wrapping, wrapping)


@pytest.mark.parametrize(("values", "told"), [("%mv, %mv", True), ("%lane, %lane", False)])
def test_a_comparison_that_is_settled_because_nothing_wraps_says_so(values: str, told: bool) -> None:
    text = masked(
        f"{splat('k', 0)}%s = muli {values} : {V}\n%c = cmpi less_than_or_equal %k, %s, signed : {MASK}", "c"
    )
    assert (
        any("does not wrap before it is compared" in line for line in compared(text, text).assumptions)
        == told
    )


def test_division_by_zero_is_no_crash() -> None:
    lines = f"{splat('k', 0)}%r = divi %mv, %k signed rounding<negative_inf> : {V}"
    assert_equal(address(lines, "r"), address(lines, "r"))


def test_a_sum_that_is_divided_is_taken_not_to_wrap_and_that_is_said() -> None:
    """`(m + 127) / 128` is m / 128 rounded up, but for the largest numbers."""

    def stored(quotient: str) -> str:
        return kernel(
            f"%i127 = constant <i32: 127> : tile<i32>\n{quotient}\n"
            "%pq = offset %b, %q : tile<ptr<f32>>, tile<i32> -> tile<ptr<f32>>\n"
            "%number = constant <f32: 1.0> : tile<f32>\n"
            "%s = store_ptr_tko weak %pq, %number token=%t : tile<ptr<f32>>, tile<f32> -> token"
        )

    spelled = stored(
        "%more = addi %m, %i127 : tile<i32>\n%q = divi %more, %i128 signed rounding<negative_inf> : tile<i32>"
    )
    rounded = stored("%q = divi %m, %i128 signed rounding<positive_inf> : tile<i32>")
    assert_equal(rounded, spelled)
    line = "index arithmetic in i32 does not wrap before it is divided"
    assert f"generated: {line}" in compared(rounded, spelled).assumptions
    assert not [each for each in compared(rounded, rounded).assumptions if each.endswith(line)]


def test_all_but_zero_is_more_than_zero_without_a_sign() -> None:
    def stored(test: str) -> str:
        return kernel(
            f"{LOAD}\n%key = bitcast %v : tile<128xf32> -> {V}\n{splat('none', 0)}{splat('single', 1)}"
            f"%q = cmpi {test} : {MASK}\n%w = select %q, %one, %zero : tile<128xi1>, tile<128xf32>\n{STORE}"
        )

    assert_equal(stored("not_equal %key, %none, signed"), stored("greater_than %key, %none, unsigned"))
    assert_equal(stored("equal %key, %none, signed"), stored("less_than %key, %single, unsigned"))
    assert found(stored("not_equal %key, %none, signed"), stored("greater_than %key, %none, signed"))
