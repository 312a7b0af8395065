"""Two spellings of one value, exact in every bit, and one beside them that is another value."""

from __future__ import annotations

import pytest

from tests.match.snippets import LOAD, STORE, Pair, assert_equal, assert_found, found, kernel, with_value

F, B, H, M, INT = (f"tile<128x{kind}>" for kind in ("f32", "bf16", "f16", "i1", "i32"))
NARROW = f"%n0 = ftof %v : {F} -> {B}"
SPREAD = f"%r1 = reshape %r : tile<f32> -> tile<1xf32>\n%w = broadcast %r1 : tile<1xf32> -> {F}"
LEAST = {"bf16": {"maxf": "0xFF80", "minf": "0x7F80"}, "f32": {"maxf": "0xFF800000", "minf": "0x7F800000"}}


def folded(source: str, element: str, op: str, identity: str | None = None, name: str = "%r") -> str:
    start = identity or LEAST[element][op]
    return f"""{name} = reduce {source} dim=0 identities=[{start} : {element}] :
  tile<128x{element}> -> tile<{element}> (%p: tile<{element}>, %q: tile<{element}>) {{
  %chosen = {op} %p, %q : tile<{element}>
  yield %chosen : tile<{element}>
}}"""


def fold_narrow(op: str) -> str:
    body = folded("%n0", "bf16", op, "0.0" if op == "addf" else None, name="%rn")
    return f"{NARROW}\n{body}\n%r = ftof %rn : tile<bf16> -> tile<f32>\n{SPREAD}"


def fold_wide(op: str, identity: str | None = None) -> str:
    return f"{NARROW}\n%wide = ftof %n0 : {B} -> {F}\n{folded('%wide', 'f32', op, identity)}\n{SPREAD}"


def fold_wide_narrowed(op: str) -> str:
    body = folded("%wide", "f32", op, name="%r0")
    casts = "%rn = ftof %r0 : tile<f32> -> tile<bf16>\n%r = ftof %rn : tile<bf16> -> tile<f32>"
    return f"{NARROW}\n%wide = ftof %n0 : {B} -> {F}\n{body}\n{casts}\n{SPREAD}"


MASKED = f"%in2 = cmpi less_than %o, %mv, signed : {INT} -> {M}"


def fold_masked_narrow() -> str:
    fill = f"%fill = constant <bf16: 0xFF80> : {B}\n%kept = select %in2, %n0, %fill : {M}, {B}"
    body = folded("%kept", "bf16", "maxf", name="%rn")
    return f"{NARROW}\n{MASKED}\n{fill}\n{body}\n%r = ftof %rn : tile<bf16> -> tile<f32>\n{SPREAD}"


def fold_masked_wide(bits: str) -> str:
    fill = f"%fill = constant <f32: {bits}> : {F}\n%kept = select %in2, %wide, %fill : {M}, {F}"
    body = folded("%kept", "f32", "maxf")
    return f"{NARROW}\n{MASKED}\n%wide = ftof %n0 : {B} -> {F}\n{fill}\n{body}\n{SPREAD}"


HALF = f"%h = ftof %v : {F} -> {H}"
AS_BYTES = f"{HALF}\n%bytes = pack %h : {H} -> tile<256xi8>"
PACKED = f"{AS_BYTES}\n%g = unpack %bytes : tile<256xi8> -> {H}\n%w = ftof %g : {H} -> {F}"
OTHER_TYPE = f"{AS_BYTES}\n%g = unpack %bytes : tile<256xi8> -> {B}\n%w = ftof %g : {B} -> {F}"

KEEP = "propagate_nan"


def fold_absolute(start: str, keep: str = KEEP, body: str = "absf %v") -> str:
    """The largest absolute value, or the largest of another body, from a start."""
    fold = folded("%m0", "f32", "maxf", start).replace("%q : ", f"%q {keep} : ")
    return f"%m0 = {body} : {F}\n{fold}\n{SPREAD}"


LOWEST = "0xFF800000"


PAIRS = [
    Pair("largest", fold_narrow("maxf"), fold_wide("maxf"), fold_wide("maxf", "0.0"), ("reduction",)),
    Pair("smallest", fold_narrow("minf"), fold_wide("minf"), fold_wide("maxf"), ("reduction",)),
    Pair("masked", fold_masked_narrow(), fold_masked_wide("0xFF800000"), fold_masked_wide("0.0")),
    Pair("narrowed again", fold_narrow("maxf"), fold_wide_narrowed("maxf"), fold_wide_narrowed("minf")),
    Pair("packed and unpacked", f"{HALF}\n%w = ftof %h : {H} -> {F}", PACKED, OTHER_TYPE),
    Pair("start of absolute values", fold_absolute(LOWEST), fold_absolute("0.0"), fold_absolute("1.0")),
    Pair(
        "start below",
        fold_absolute("0.0", body="exp %v"),
        fold_absolute("-1.0", body="exp %v"),
        fold_absolute("1.0", body="exp %v"),
    ),
    Pair(
        "squared",
        f"%w = mulf %v, %v : {F}",
        f"%c = absf %v : {F}\n%w = mulf %c, %c : {F}",
        f"%c = absf %v : {F}\n%w = mulf %c, %v : {F}",
    ),
    Pair(
        "rounded down",
        f"%w = floor %v : {F}",
        f"%c = negf %v : {F}\n%d = ceil %c : {F}\n%w = negf %d : {F}",
        f"%c = negf %v : {F}\n%d = floor %c : {F}\n%w = negf %d : {F}",
    ),
]


def test_a_start_shows_where_all_is_nan() -> None:
    """Of a maximum that ignores NaN it is the result there, and only there."""
    found = assert_found(
        with_value(fold_absolute(LOWEST, "")), with_value(fold_absolute("0.0", "")), "reduction/identity"
    )
    assert found.impact == "edge"


@pytest.mark.parametrize("pair", PAIRS, ids=lambda pair: pair.name)
def test_exact_forms(pair: Pair) -> None:
    reference, generated = with_value(pair.reference), with_value(pair.generated)
    assert_equal(reference, generated)
    assert_equal(generated, reference)
    rules = pair.rules or ("constant", "arithmetic", "conversion", "reduction", "element-type")
    assert_found(reference, with_value(pair.wrong), *rules)


def test_a_sum_is_rounded_in_its_type() -> None:
    """Only what chooses one of the numbers is the same in both types."""
    assert_found(with_value(fold_narrow("addf")), with_value(fold_wide("addf", "0.0")), "element-type")


# ---- unsigned extremes -------------------------------------------------------------------------------

KINDS = f"%k = bitcast %v : {F} -> {INT}"
SPELLED = {
    "maxi": [
        ("greater_than", "%k, %mv"),
        ("less_than_or_equal", "%mv, %k"),
        ("greater_than_or_equal", "%k, %mv"),
    ],
    "mini": [
        ("less_than", "%k, %mv"),
        ("greater_than_or_equal", "%mv, %k"),
        ("less_than_or_equal", "%k, %mv"),
    ],
}


def integers(body: str) -> str:
    return kernel(f"{LOAD}\n{KINDS}\n{body}\n%w = bitcast %z0 : {INT} -> {F}\n{STORE}")


def selected(comparison: tuple[str, str], signed: str, arms: str) -> str:
    predicate, sides = comparison
    return integers(
        f"%c = cmpi {predicate} {sides}, {signed} : {INT} -> {M}\n%z0 = select %c, {arms} : {M}, {INT}"
    )


@pytest.mark.parametrize("bound", ["%mv", "%nv"])
@pytest.mark.parametrize("name", SPELLED)
@pytest.mark.parametrize("spelling", range(3))
def test_an_unsigned_extreme_spelled_out(name: str, spelling: int, bound: str) -> None:
    """Also by a bound that has no sign, whose comparison is two signed ones."""
    predicate, sides = SPELLED[name][spelling]
    comparison, arms = (predicate, sides.replace("%mv", bound)), f"%k, {bound}"
    extreme = integers(f"%z0 = {name} {arms} unsigned : {INT}")
    assert_equal(extreme, selected(comparison, "unsigned", arms))
    assert_equal(selected(comparison, "unsigned", arms), extreme)
    assert_found(extreme, selected(comparison, "unsigned", f"{bound}, %k"), "arithmetic")
    assert_found(extreme, selected(comparison, "signed", arms), "integer-mode", "mask", "arithmetic")


# ---- the bounds of a loaded index ----------------------------------------------------------------------


def bounded_index(test: str) -> str:
    """Chooses by a test of a loaded number `%k` against a size."""
    wide = f"%kw = exti %k signed : {INT} -> {LONG}\n%nw = exti %nv signed : {INT} -> {LONG}"
    wide += f"\n%mw = exti %mv signed : {INT} -> {LONG}"
    zero = f"%none = constant <i32: 0> : {INT}"
    return integers(f"{wide}\n{zero}\n{test}\n%z0 = select %c, %k, %none : {M}, {INT}")


LONG = "tile<128xi64>"
LOW = f"%low = cmpi greater_than_or_equal %k, %none, signed : {INT} -> {M}"
HIGH = f"%high = cmpi less_than %k, %nv, signed : {INT} -> {M}"
ONE_TEST = [
    f"%c = cmpi less_than %k, %nv, unsigned : {INT} -> {M}",
    f"%c = cmpi less_than %kw, %nw, unsigned : {LONG} -> {M}",
    f"%c = cmpi greater_than %nv, %k, unsigned : {INT} -> {M}",
]


@pytest.mark.parametrize("test", ONE_TEST)
def test_one_unsigned_test_is_two_signed_ones(test: str) -> None:
    both = f"{LOW}\n{HIGH}\n%c = andi %low, %high : {M}"
    assert_equal(bounded_index(test), bounded_index(both))
    assert_equal(bounded_index(both), bounded_index(test))
    assert found(bounded_index(test), bounded_index(HIGH.replace("%high", "%c")))
    assert found(bounded_index(test), bounded_index(both.replace("less_than ", "less_than_or_equal ")))


@pytest.mark.parametrize("bound", ["m", "n"])
def test_the_width_of_an_unsigned_test_is_no_matter(bound: str) -> None:
    """Where the bound may be negative, too: the sign is extended on both sides."""
    narrow = f"%c = cmpi less_than %k, %{bound}v, unsigned : {INT} -> {M}"
    wide = f"%c = cmpi less_than %kw, %{bound}w, unsigned : {LONG} -> {M}"
    assert_equal(bounded_index(narrow), bounded_index(wide))
    assert_equal(bounded_index(wide), bounded_index(narrow))


def test_no_two_signed_tests_where_the_bound_may_be_negative() -> None:
    signed = f"{LOW}\n{HIGH.replace('%nv', '%mv')}\n%c = andi %low, %high : {M}"
    assert found(bounded_index(ONE_TEST[0].replace("%nv", "%mv")), bounded_index(signed))


# ---- the sign of a zero under a division ---------------------------------------------------------------

BELOW = {"0 - x": f"%d0 = subf %zero, %v : {F}", "-x": f"%d0 = negf %v : {F}"}
SPREAD_OUT = f"%d1 = reshape %d0 : {F} -> tile<1x128xf32>\n%d = reshape %d1 : tile<1x128xf32> -> {F}"


@pytest.mark.parametrize("way", ["", SPREAD_OUT], ids=["direct", "reshaped"])
def test_a_division_by_zero_less_a_number_is_none_by_its_negative(way: str) -> None:
    """Where the number is 0, one is an infinity and the other one its negative."""
    by = "%d" if way else "%d0"
    less, negative = (with_value(f"{BELOW[x]}\n{way}\n%w = divf %one, {by} : {F}") for x in BELOW)
    for sides in ((less, negative), (negative, less)):
        result = found(*sides)
        assert [(each.rule, each.impact) for each in result] == [("arithmetic/reformulated", "edge")]
    assert_equal(less, less)


@pytest.mark.parametrize("use", ["mulf %one, %d0", "divf %d0, %one", "addf %d0, %one"])
def test_elsewhere_they_are_taken_as_equal(use: str) -> None:
    less, negative = (with_value(f"{each}\n%w = {use} : {F}") for each in BELOW.values())
    assert_equal(less, negative)


def test_what_is_added_to_zero_may_be_divided_by() -> None:
    """The sum of a loop that begins with 0, mostly; only a negative zero would tell."""
    assert_equal(
        with_value(f"%d0 = addf %zero, %v : {F}\n%w = divf %one, %d0 : {F}"),
        with_value(f"%w = divf %one, %v : {F}"),
    )
