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


HALF_LINE = f"%h = ftof %v : {F} -> {H}\n"
OF_BF16 = f"\n%w = ftof %nn : {B} -> {F}"
DIRECT = f"{HALF_LINE}%nn = ftof %h : {H} -> {B}{OF_BF16}"
THROUGH = f"{HALF_LINE}%g = ftof %h : {H} -> {F}\n%nn = ftof %g : {F} -> {B}{OF_BF16}"
ROUNDED_ONCE = f"%nn = ftof %v : {F} -> {B}{OF_BF16}"

E4, E5 = "tile<128xf8E4M3FN>", "tile<128xf8E5M2>"
OF_E5 = f"\n%w = ftof %nn : {E5} -> {F}"
DIRECT_8 = f"%e = ftof %v : {F} -> {E4}\n%nn = ftof %e : {E4} -> {E5}{OF_E5}"
THROUGH_8 = f"%e = ftof %v : {F} -> {E4}\n%g = ftof %e : {E4} -> {H}\n%nn = ftof %g : {H} -> {E5}{OF_E5}"
ROUNDED_ONCE_8 = f"%nn = ftof %v : {F} -> {E5}{OF_E5}"


def converted(width: str, way: str, sign: str = "signed") -> str:
    """An integer of a width as f32, perhaps by way of another type."""
    kind = f"tile<128x{width}>"
    start = f"%i = bitcast %v : {F} -> {INT}\n"
    start += f"%k = trunci %i : {INT} -> {kind}\n" if width != "i32" else f"%k = addi %i, %lane : {INT}\n"
    if way == "f32":
        return f"{start}%w = itof %k {sign} : {kind} -> {F}"
    return f"{start}%g = itof %k {sign} : {kind} -> tile<128x{way}>\n%w = ftof %g : tile<128x{way}> -> {F}"


LIMITS = f"%low = constant <f32: -1.0> : {F}\n%high = constant <f32: 2.0> : {F}\n"


def clamped(first: str, second: str, keep: str = KEEP) -> str:
    return f"{LIMITS}%c = {first} {keep} : {F}\n%w = {second} {keep} : {F}"


BELOW_FIRST = clamped("maxf %v, %low", "minf %c, %high")
ABOVE_FIRST = clamped("minf %v, %high", "maxf %c, %low")
CROSSED = clamped("maxf %v, %high", "minf %c, %low")

SOME = f"%some = cmpi less_than %o, %mv, signed : {INT} -> {M}\n%least = constant <f32: {LOWEST}> : {F}\n"
SCALE = f"%scale = constant <f32: -1.4> : {F}\n"
HALF_ZERO = f"%none = constant <f16: 0.0> : {H}\n"


def chosen(arm: str, op: str, *, first: bool) -> str:
    """An op of a choice of the number or an arm, or the choice of its result or an arm."""
    if first:
        return f"{SOME}{SCALE}%c = select %some, %v, {arm} : {M}, {F}\n%w = {op.format('%c')} : {F}"
    return f"{SOME}{SCALE}%c = {op.format('%v')} : {F}\n%w = select %some, %c, {arm} : {M}, {F}"


def narrow_chosen(arm: str, *, first: bool) -> str:
    if first:
        half = f"%c = select %some, %v, {arm} : {M}, {F}\n%h = ftof %c : {F} -> {H}"
    else:
        half = f"%c = ftof %v : {F} -> {H}\n%h = select %some, %c, %none : {M}, {H}"
    return f"{SOME}{HALF_ZERO}{half}\n%w = ftof %h : {H} -> {F}"


def largest_with_index(tie: str, indices: str = "%lane", better: str = "greater_than") -> str:
    """The largest number, and the index that a tie decides."""
    return f"""%fixed = constant <i32: 3> : {INT}
%r:2 = reduce %v, {indices} dim=0 identities=[{LOWEST} : f32, 0 : i32] : {F}, {INT} -> tile<f32>, tile<i32>
(%va: tile<f32>, %vb: tile<f32>, %ia: tile<i32>, %ib: tile<i32>) {{
  %more = cmpf {better} ordered %va, %vb : tile<f32> -> tile<i1>
  %same = cmpf equal ordered %va, %vb : tile<f32> -> tile<i1>
  %before = cmpi {tie}, signed : tile<i32> -> tile<i1>
  %tie = andi %same, %before : tile<i1>
  %c = ori %more, %tie : tile<i1>
  %x1 = select %c, %va, %vb : tile<i1>, tile<f32>
  %x2 = select %c, %ia, %ib : tile<i1>, tile<i32>
  yield %x1, %x2 : tile<f32>, tile<i32>
}}
%index = itof %r#1 signed : tile<i32> -> tile<f32>
%sum = addf %r#0, %index : tile<f32>
%r1 = reshape %sum : tile<f32> -> tile<1xf32>
%w = broadcast %r1 : tile<1xf32> -> {F}"""


PAIRS = [
    Pair("converted at once", DIRECT, THROUGH, ROUNDED_ONCE),
    Pair("bytes converted at once", DIRECT_8, THROUGH_8, ROUNDED_ONCE_8),
    Pair(
        "small integers", converted("i8", "f32"), converted("i8", "f16"), converted("i8", "f16", "unsigned")
    ),
    Pair("integers of 16 bits", converted("i16", "f32"), converted("i16", "f64"), converted("i16", "f16")),
    Pair("integers of 32 bits", converted("i32", "f32"), converted("i32", "f64"), converted("i32", "bf16")),
    Pair("clamped", BELOW_FIRST, ABOVE_FIRST, CROSSED),
    Pair(
        "chosen before exp",
        chosen("%least", "exp {}", first=True),
        chosen("%zero", "exp {}", first=False),
        chosen("%one", "exp {}", first=False),
        ("arithmetic", "constant", "mask", "padding"),
    ),
    Pair(
        "chosen before a root",
        chosen("%zero", "sqrt {}", first=True),
        chosen("%zero", "sqrt {}", first=False),
        chosen("%least", "sqrt {}", first=False),
        ("arithmetic", "constant", "mask"),
    ),
    Pair(
        "chosen before a factor",
        chosen("%least", "mulf {}, %scale", first=False),
        f"{SOME}{SCALE}%most = constant <f32: 0x7F800000> : {F}\n"
        f"%c = select %some, %v, %most : {M}, {F}\n%w = mulf %c, %scale : {F}",
        chosen("%least", "mulf {}, %scale", first=True),
        ("padding",),
    ),
    Pair(
        "chosen before it is narrowed",
        narrow_chosen("%zero", first=True),
        narrow_chosen("", first=False),
        narrow_chosen("%one", first=True),
    ),
    Pair(
        "the first of the largest",
        largest_with_index("less_than %ia, %ib"),
        largest_with_index("greater_than_or_equal %ib, %ia"),
        largest_with_index("greater_than %ia, %ib"),
        ("reduction", "control-flow", "mask"),
    ),
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


def test_what_tells_two_zeros_apart_decides_a_tie() -> None:
    """Where the index is the same at each place, one of them may be the negative zero."""
    strict, other = (
        largest_with_index(f"{each} %ia, %ib", "%fixed") for each in ("less_than", "less_than_or_equal")
    )
    assert found(with_value(strict), with_value(other))


def test_a_clamp_without_nan_depends_on_its_order() -> None:
    first, second = (
        clamped("maxf %v, %low", "minf %c, %high", ""),
        clamped("minf %v, %high", "maxf %c, %low", ""),
    )
    result = assert_found(with_value(first), with_value(second), "arithmetic/reformulated")
    assert result.impact == "edge"
    number = f"%i = bitcast %v : {F} -> {INT}\n%k = itof %i signed : {INT} -> {F}\n"
    first, second = (number + each.replace("%v,", "%k,") for each in (first, second))
    assert_equal(with_value(first), with_value(second))


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


def test_an_approximate_root_of_one_may_be_another_number() -> None:
    for op, exact in (("sqrt {}", True), ("sqrt {} rounding<approx>", False)):
        before, after = (with_value(chosen("%one", op, first=first)) for first in (True, False))
        assert (found(before, after) == []) is exact
