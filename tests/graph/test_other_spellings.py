"""Integer arithmetic in other spellings: equal pairs, and one that is close to them and wrong."""

from __future__ import annotations

import pytest

from tests.match.snippets import PARAMETERS, PROLOGUE, assert_equal, found, kernel

I32, I64, MASK = "tile<128xi32>", "tile<128xi64>", "tile<128xi1>"
F32 = "tile<128xf32>"
SCALAR, FLAG = "tile<i32>", "tile<i1>"


def over_integers(body: str) -> str:
    """A kernel that loads `%v`, computes `%w` in `body`, and stores it, in i32."""
    pointers = "tile<128xptr<i32>>"
    load = f"%v, %vt = load_ptr_tko weak %pa, %in, %none token=%t : {pointers}, {MASK}, {I32} -> {I32}, token"
    store = f"%st = store_ptr_tko weak %pb, %w, %in token=%t : {pointers}, {I32}, {MASK} -> token"
    parameters, prologue = (text.replace("ptr<f32>", "ptr<i32>") for text in (PARAMETERS, PROLOGUE))
    text = f"%none = constant <i32: 0> : {I32}\n{load}\n{body}\n{store}"
    return kernel(text, parameters=parameters, prologue=prologue)


def equal_but_for(reference: str, generated: str, wrong: str) -> None:
    assert_equal(reference, generated)
    assert_equal(generated, reference)
    for first, second in ((reference, wrong), (wrong, reference)):
        assert any(each.impact in ("logic", "bounds") for each in found(first, second))


# ---- comparisons by extremes -----------------------------------------------------------------------------


def stored_where(mask: str) -> str:
    types = f"tile<128xptr<f32>>, tile<128xf32>, {MASK} -> token"
    return kernel(f"{mask}\n%st = store_ptr_tko weak %pb, %one, %k token=%t : {types}")


def compared_to(extreme: str, predicate: str, other: str) -> str:
    return stored_where(
        f"%q = {extreme} %o, %nv signed : {I32}\n%k = cmpi {predicate} %q, {other}, signed : {I32} -> {MASK}"
    )


@pytest.mark.parametrize(
    ("predicate", "spelled", "wrong"),
    [
        ("less_than", ("maxi", "not_equal", "%o"), ("maxi", "not_equal", "%nv")),
        ("less_than", ("mini", "not_equal", "%nv"), ("mini", "not_equal", "%o")),
        ("less_than_or_equal", ("mini", "equal", "%o"), ("mini", "not_equal", "%nv")),
        ("greater_than_or_equal", ("maxi", "equal", "%o"), ("maxi", "equal", "%nv")),
    ],
)
def test_an_extreme_that_is_one_of_its_operands(
    predicate: str, spelled: tuple[str, str, str], wrong: tuple[str, str, str]
) -> None:
    plain = stored_where(f"%k = cmpi {predicate} %o, %nv, signed : {I32} -> {MASK}")
    equal_but_for(plain, compared_to(*spelled), compared_to(*wrong))


@pytest.mark.parametrize("product", ["muli %e, %f", "muli %f, %e", "andi %e, %f"])
def test_a_product_of_flags(product: str) -> None:
    second = (
        f"%zv = constant <i32: 3> : {I32}\n%far = cmpi greater_than %lane, %zv, signed : {I32} -> {MASK}\n"
    )
    flags = f"%e = exti %in unsigned : {MASK} -> {I32}\n%f = exti %far unsigned : {MASK} -> {I32}\n"
    tested = f"%z0 = constant <i32: 0> : {I32}\n%k = cmpi greater_than %g, %z0, signed : {I32} -> {MASK}"
    equal_but_for(
        stored_where(f"{second}%k = andi %in, %far : {MASK}"),
        stored_where(f"{second}{flags}%g = {product} : {I32}\n{tested}"),
        stored_where(f"{second}{flags}%g = addi %e, %f : {I32}\n{tested}"),
    )


# ---- quotients that are rounded up -----------------------------------------------------------------------


def tiles(count: str) -> str:
    """Store to each of `%c` tiles."""
    place = (
        f"%s = muli %i, %i128 : {SCALAR}\n%s1 = reshape %s : {SCALAR} -> tile<1xi32>\n"
        f"%sv = broadcast %s1 : tile<1xi32> -> {I32}\n%l = addi %sv, %lane : {I32}\n"
        f"%pl = offset %bv, %l : tile<128xptr<f32>>, {I32} -> tile<128xptr<f32>>\n"
        "%st = store_ptr_tko weak %pl, %one token=%t : tile<128xptr<f32>>, tile<128xf32> -> token\n"
    )
    return kernel(f"{count}\nfor %i in (%i0 to %c, step %i1) : {SCALAR} {{\n{place}}}")


UP = f"%c = divi %N, %i128 signed rounding<positive_inf> : {SCALAR}"
DOWN = f"%d = divi %N, %i128 signed : {SCALAR}\n%m0 = muli %d, %i128 : {SCALAR}\n"
REST = f"%r = remi %N, %i128 signed : {SCALAR}\n%e0 = cmpi not_equal %r, %i0, signed : {SCALAR} -> {FLAG}\n"
ADDED = f"%e1 = exti %e0 unsigned : {FLAG} -> {SCALAR}\n%c = addi %d, %e1 : {SCALAR}"
CHOSEN = f"%d1 = addi %d, %i1 : {SCALAR}\n%c = select %e0, %d1, %d : {FLAG}, {SCALAR}"


@pytest.mark.parametrize("end", [ADDED, CHOSEN])
@pytest.mark.parametrize(
    "test",
    [
        REST,
        f"%e0 = cmpi less_than %m0, %N, signed : {SCALAR} -> {FLAG}\n",
        f"%e0 = cmpi not_equal %m0, %N, signed : {SCALAR} -> {FLAG}\n",
    ],
)
def test_a_quotient_and_one_more_where_there_is_a_remainder(test: str, end: str) -> None:
    wrong = f"{DOWN}{test}{end}".replace("not_equal", "equal").replace("less_than", "equal")
    equal_but_for(tiles(UP), tiles(f"{DOWN}{test}{end}"), tiles(wrong))


# ---- low bits --------------------------------------------------------------------------------------------


def hashed(bits: int, last: str = "xori", shift: bool = False) -> str:
    """Multiplied, added to and mixed in i32, or in i64 of which i32 is taken."""
    kind = f"tile<128xi{bits}>"

    def constant(name: str, value: int) -> str:
        low = value % (1 << bits)
        return f"%{name} = constant <i{bits}: {low - (1 << bits) * (low >> (bits - 1))}> : {kind}\n"

    start = f"%x0 = exti %v unsigned : {I32} -> {I64}\n" if bits == 64 else f"%x0 = addi %v, %none : {I32}\n"
    end = f"%w = trunci %h : {I64} -> {I32}" if bits == 64 else f"%w = addi %h, %none : {I32}"
    mixed = f"%p2 = shri %p1, %sh unsigned : {kind}\n" if shift else f"%p2 = addi %p1, %cb : {kind}\n"
    return over_integers(
        constant("ca", 2654435761)
        + constant("cb", 12345678901)
        + constant("sh", 16)
        + start
        + f"%p1 = muli %x0, %ca : {kind}\n{mixed}%h = {last} %p2, %x0 : {kind}\n{end}"
    )


@pytest.mark.parametrize("last", ["xori", "andi", "ori", "addi", "subi"])
def test_a_hash_in_wide_integers_of_which_the_low_bits_are_taken(last: str) -> None:
    other = "addi" if last == "xori" else "xori"
    equal_but_for(hashed(64, last), hashed(32, last), hashed(32, other))


def test_what_is_shifted_to_the_right_needs_the_high_bits() -> None:
    assert found(hashed(64, shift=True), hashed(32, shift=True))


# ---- bodies of reductions --------------------------------------------------------------------------------


def reduced(body: str) -> str:
    return over_integers(
        f"%s = reduce %v dim=0 identities=[-2147483648 : i32] : {I32} -> {SCALAR} "
        f"(%p: {SCALAR}, %q: {SCALAR}) {{\n{body}\nyield %e : {SCALAR}\n}}\n"
        f"%s1 = reshape %s : {SCALAR} -> tile<1xi32>\n%w = broadcast %s1 : tile<1xi32> -> {I32}"
    )


@pytest.mark.parametrize(
    "before", ["%u = addi %p, %i0", "%u0 = addi %p, %i1 : tile<i32>\n%u = subi %u0, %i1"]
)
def test_what_a_body_is_given_fits_its_type(before: str) -> None:
    equal_but_for(
        reduced(f"%e = maxi %p, %q signed : {SCALAR}"),
        reduced(f"{before} : {SCALAR}\n%e = maxi %u, %q signed : {SCALAR}"),
        reduced(f"%u = addi %p, %i1 : {SCALAR}\n%e = maxi %u, %q signed : {SCALAR}"),
    )


# ---- truth values in memory ------------------------------------------------------------------------------


def chosen_by(kind: str, test: str) -> str:
    """Store one where what is loaded as `kind` passes a test, which gives `%k`, else zero."""
    values = f"tile<128x{kind}>"
    types = f"tile<128xptr<{kind}>>, {MASK}, {values} -> {values}, token"
    stored = f"tile<128xptr<f32>>, tile<128xf32>, {MASK} -> token"
    lines = [line for line in PROLOGUE.split("\n") if "%b" not in line]
    others = [line for line in PROLOGUE.split("\n") if "%b" in line]
    prologue = "\n".join([*(line.replace("ptr<f32>", f"ptr<{kind}>") for line in lines), *others])
    return kernel(
        f"%none = constant <{kind}: 0> : {values}\n"
        f"%v, %vt = load_ptr_tko weak %pa, %in, %none token=%t : {types}\n"
        f"{test}\n%w = select %k, %one, %zero : {MASK}, tile<128xf32>\n"
        f"%st = store_ptr_tko weak %pb, %w, %in token=%t : {stored}",
        parameters=PARAMETERS.replace("ptr<f32>", f"ptr<{kind}>", 1),
        prologue=prologue,
    )


TRUE = f"%yes = constant <i1: true> : {MASK}\n%k = andi %v, %yes : {MASK}"
BYTE = f"%c = constant <i8: {{}}> : tile<128xi8>\n%k = cmpi {{}} %v, %c, {{}} : tile<128xi8> -> {MASK}"


@pytest.mark.parametrize(
    ("number", "predicate", "sign"), [(0, "not_equal", "signed"), (1, "greater_than_or_equal", "unsigned")]
)
def test_a_byte_that_is_not_zero_is_true(number: int, predicate: str, sign: str) -> None:
    equal_but_for(
        chosen_by("i1", TRUE),
        chosen_by("i8", BYTE.format(number, predicate, sign)),
        chosen_by("i8", BYTE.format(1, "equal", "signed")),
    )


# ---- masks as numbers ------------------------------------------------------------------------------------


AS_FLOAT = f"%e = exti %in unsigned : {MASK} -> {I32}\n%f = itof %e signed : {I32} -> {F32}\n"


@pytest.mark.parametrize(
    ("number", "wrong"),
    [
        (
            f"%f = select %in, %one, %zero : {MASK}, {F32}\n%k = cmpf greater_than ordered %f, %zero",
            f"%f = select %in, %zero, %one : {MASK}, {F32}\n%k = cmpf greater_than ordered %f, %zero",
        ),
        (
            f"{AS_FLOAT}%k = cmpf not_equal unordered %f, %zero",
            f"{AS_FLOAT}%k = cmpf not_equal unordered %f, %one",
        ),
    ],
)
def test_a_mask_by_way_of_floats(number: str, wrong: str) -> None:
    plain = stored_where("%k = andi %in, %in : tile<128xi1>")
    equal_but_for(plain, *(stored_where(f"{text} : {F32} -> {MASK}") for text in (number, wrong)))
