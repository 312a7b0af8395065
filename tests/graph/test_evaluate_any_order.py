"""Integer ops and reductions whose operands have no order, and other spellings of one integer function."""

from __future__ import annotations

import pytest

from tests.graph.test_evaluate_packed import by, of_loaded, splat
from tests.match.snippets import LOAD, Pair, assert_equal, found, kernel

V, B, F = "tile<128xi32>", "tile<128xi1>", "tile<128xf32>"


def told_apart(first: str, second: str) -> None:
    for reference, generated in ((first, second), (second, first)):
        assert any(each.impact in ("logic", "precision", "edge") for each in found(reference, generated))


def check(pair: Pair) -> None:
    assert_equal(pair.reference, pair.generated)
    assert_equal(pair.generated, pair.reference)
    told_apart(pair.reference, pair.wrong)
    told_apart(pair.generated, pair.wrong)


def chain(op: str, *steps: str) -> str:
    """`%u = op a, b`, then `%r = op c, d`."""
    first, second = steps
    mode = " unsigned" if op in ("maxi", "mini") else ""
    return f"%u = {op} {first}{mode} : {V}\n%r = {op} {second}{mode} : {V}"


THIRD = f"%third = muli %lane, %mv : {V}\n"
WIDE = "tile<128xi64>"


def widened(*steps: str) -> str:
    lines = "\n".join(steps)
    square = f"%third = muli %key, %key : {V}\n%zb = exti %third signed : {V} -> {WIDE}\n"
    return f"{square}%ka = exti %key signed : {V} -> {WIDE}\n{lines}\n"


def narrowed(op: str, sign: str = "signed") -> str:
    """The op in i32, widened."""
    return widened(f"%q = {op} %key, %third : {V}", f"%w8 = exti %q {sign} : {V} -> {WIDE}")


NARROW = (
    f"\n%h = constant <i64: 3> : {WIDE}\n%d = divi %w8, %h signed : {WIDE}\n%r = trunci %d : {WIDE} -> {V}"
)
LARGER = f"%l = maxi %key, %mv signed : {V}\n"
FLAG = f"%p = cmpi less_than %key, %bx, signed : {V} -> {B}\n%f = exti %p unsigned : {B} -> {V}\n"
PAIRS = [
    *(Pair(f"{op} of three", THIRD + chain(op, "%key, %mv", "%u, %third"),
           THIRD + chain(op, "%third, %mv", "%key, %u"),
           THIRD + chain(op, "%third, %bx", "%key, %u")) for op in ("andi", "ori", "xori", "maxi", "mini")),
    Pair("another op between", THIRD + f"%u = andi %key, %mv : {V}\n%r = ori %u, %third : {V}",
         THIRD + f"%u = andi %mv, %key : {V}\n%r = ori %third, %u : {V}",
         THIRD + f"%u = andi %key, %third : {V}\n%r = ori %u, %mv : {V}"),
    Pair("twice the same bits", THIRD + f"%r = xori %key, %third : {V}",
         THIRD + f"%u = xori %third, %mv : {V}\n%k = xori %u, %key : {V}\n%r = xori %mv, %k : {V}",
         THIRD + f"%u = ori %third, %mv : {V}\n%k = xori %u, %key : {V}\n%r = xori %mv, %k : {V}"),
    Pair("bits with themselves", splat("zero", 0) + f"%r = addi %key, %zero : {V}",
         f"%u = andi %key, %key : {V}\n%r = ori %u, %key : {V}", f"%r = xori %key, %key : {V}"),
    *(Pair(f"{op} in a wider type", narrowed(op) + NARROW, widened(f"%w8 = {op} %ka, %zb : {WIDE}") + NARROW,
           narrowed(op, "unsigned") + NARROW) for op in ("andi", "ori", "xori")),
    Pair("a clamp", by("maxi", "key", -3, "signed ", "u") + by("mini", "u", 200, "signed "),
         by("mini", "key", 200, "signed ", "u") + by("maxi", "u", -3, "signed "),
         by("mini", "key", 200, "signed ", "u") + by("maxi", "u", -2, "signed ")),
    Pair("a clamp of a maximum",
         f"{LARGER}{by('maxi', 'l', 0, 'signed ', 'u')}{by('mini', 'u', 9, 'signed ')}",
         f"{LARGER}{by('mini', 'l', 9, 'signed ', 'u')}{by('maxi', 'u', 0, 'signed ')}",
         f"{LARGER}{by('mini', 'l', 9, 'signed ', 'u')}{by('maxi', 'u', 1, 'signed ')}"),
    Pair("the size as the larger one", f"%r = absi %key : {V}",
         f"%u = negi %key : {V}\n%r = maxi %u, %key signed : {V}",
         f"%u = negi %key : {V}\n%r = mini %u, %key signed : {V}"),
    Pair("a difference against zero",
         f"%u = subi %key, %mv : {V}\n{splat('zero', 0)}%p = cmpi equal %u, %zero, signed : {V} -> {B}\n"
         f"%r = select %p, %lane, %bx : {B}, {V}",
         f"%p = cmpi equal %key, %mv, signed : {V} -> {B}\n%r = select %p, %lane, %bx : {B}, {V}",
         f"%p = cmpi not_equal %key, %mv, signed : {V} -> {B}\n%r = select %p, %lane, %bx : {B}, {V}"),
    Pair("a flag as a factor", f"{FLAG}{splat('zero', 0)}%r = select %p, %key, %zero : {B}, {V}",
         f"{FLAG}%r = muli %key, %f : {V}", f"{FLAG}%r = addi %key, %f : {V}"),
]  # fmt: skip


@pytest.mark.parametrize("pair", PAIRS, ids=[pair.name for pair in PAIRS])
def test_integers(pair: Pair) -> None:
    check(
        pair._replace(
            **{side: of_loaded(getattr(pair, side)) for side in ("reference", "generated", "wrong")}
        )
    )


def test_limits_the_other_way_round_are_no_clamp() -> None:
    """Where the lower limit is above the upper one the last op decides."""
    first = by("maxi", "key", 200, "signed ", "u") + by("mini", "u", -3, "signed ")
    second = by("mini", "key", -3, "signed ", "u") + by("maxi", "u", 200, "signed ")
    told_apart(of_loaded(first), of_loaded(second))


# ---- reductions ------------------------------------------------------------------------------------------


def stored(lines: str, kind: str = "f32") -> str:
    """A kernel that reduces the loaded `%v` to `%r` and stores it."""
    return kernel(
        f"{LOAD}\n{lines}\n%q = ptr_to_ptr %b : tile<ptr<f32>> -> tile<ptr<{kind}>>\n"
        f"%s = store_ptr_tko weak %q, %r token=%t : tile<ptr<{kind}>>, tile<{kind}> -> token"
    )


def argmax(first: str, keep: str = "greater_than", result: int = 0) -> str:
    """The position of the largest number; `first` is the operand that is given first: a value or an index."""
    value, index = "%e: tile<f32>, %acc: tile<f32>", "%ei: tile<i32>, %ai: tile<i32>"
    body = (
        f"%c = cmpf {keep} ordered %e, %acc : tile<f32> -> tile<i1>\n"
        "%m8 = select %c, %e, %acc : tile<i1>, tile<f32>\n%mi = select %c, %ei, %ai : tile<i1>, tile<i32>\n"
    )
    if first == "index":
        return stored(
            f"%k:2 = reduce %lane, %v dim=0 identities=[0 : i32, 0xFF800000 : f32] : {V}, {F} -> tile<i32>, "
            f"tile<f32> ({index}, {value}) {{\n{body}yield %mi, %m8 : tile<i32>, tile<f32>\n}}\n"
            f"%r = addi %k#0, %i0 : tile<i32>", "i32"
        )  # fmt: skip
    return stored(
        f"%k:2 = reduce %v, %lane dim=0 identities=[0xFF800000 : f32, 0 : i32] : {F}, {V} -> tile<f32>, "
        f"tile<i32> ({value}, {index}) {{\n{body}yield %m8, %mi : tile<f32>, tile<i32>\n}}\n"
        f"%r = addi %k#1, %i0 : tile<i32>", "i32"
    )  # fmt: skip


def test_the_order_of_the_operands_of_a_reduction() -> None:
    check(Pair("", argmax("value"), argmax("index"), argmax("index", "less_than")))
    told_apart(argmax("value"), argmax("value", "less_than"))


def once(op: str, identity: str, kind: str) -> str:
    return reduced("from", "r", "128", 0, op, identity, kind)


def reduced(source: str, name: str, shape: str, dim: int, op: str, identity: str, kind: str) -> str:
    left = "x".join(extent for at, extent in enumerate(shape.split("x")) if at != dim)
    result = f"tile<{left}x{kind}>" if left else f"tile<{kind}>"
    return (
        f"%{name} = reduce %{source} dim={dim} identities=[{identity} : {kind}] : tile<{shape}x{kind}> -> "
        f"{result} (%p{name}: tile<{kind}>, %q{name}: tile<{kind}>) {{\n"
        f"%o{name} = {op.format(f'%p{name}, %q{name}')} : tile<{kind}>\nyield %o{name} : tile<{kind}>\n}}\n"
    )


def twice(op: str, identity: str, kind: str, first: int, shape: str = "8x16", inner: str = "") -> str:
    left = shape.split("x")[1 - first]
    return (
        f"%g = reshape %from : tile<128x{kind}> -> tile<{shape}x{kind}>\n"
        + reduced("g", "half", shape, first, inner or op, identity, kind)
        + reduced("half", "r", left, 0, op, identity, kind)
    )


LEAST = "-2147483648"
SAME = f"%from = addf %v, %zero : {F}\n"
NUMBERS = f"%u8 = bitcast %v : {F} -> {V}\n%from = addi %u8, %lane : {V}\n"
FOLDS = [
    ("maxf {}", "0xFF800000", "f32", "minf {}"),
    ("maxf {} propagate_nan", "0xFF800000", "f32", "maxf {}"),
    ("minf {}", "0x7F800000", "f32", "maxf {}"),
    ("addi {}", "0", "i32", "maxi {} signed"),
    ("maxi {} signed", LEAST, "i32", "mini {} signed"),
    ("mini {} unsigned", "-1", "i32", "mini {} signed"),
    ("andi {}", "-1", "i32", "ori {}"),
    ("xori {}", "0", "i32", "ori {}"),
]


@pytest.mark.parametrize(("op", "identity", "kind", "other"), FOLDS, ids=[fold[0] for fold in FOLDS])
def test_a_reduction_in_two_steps(op: str, identity: str, kind: str, other: str) -> None:
    head = SAME if kind == "f32" else NUMBERS
    whole = stored(head + once(op, identity, kind), kind)
    for first in (0, 1):
        steps = stored(head + twice(op, identity, kind, first), kind)
        assert_equal(whole, steps)
        assert_equal(steps, whole)
        assert_equal(steps, stored(head + twice(op, identity, kind, first, "32x4"), kind))
        mixed = stored(head + twice(op, identity, kind, first, inner=other), kind)
        told_apart(whole, mixed)
        told_apart(steps, mixed)


def test_sums_of_floats_in_two_steps_are_told() -> None:
    whole = stored(SAME + once("addf {}", "0.0", "f32"))
    for first in (0, 1):
        told_apart(whole, stored(SAME + twice("addf {}", "0.0", "f32", first)))


def test_an_identity_that_counts_is_taken_as_often_as_it_was() -> None:
    whole = stored(NUMBERS + once("addi {}", "1", "i32"), "i32")
    told_apart(whole, stored(NUMBERS + twice("addi {}", "1", "i32", 0), "i32"))
