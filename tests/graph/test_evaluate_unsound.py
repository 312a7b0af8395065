"""Pairs that look alike to an evaluator that is too generous: each must be told apart."""

from __future__ import annotations

import pytest

from tests.match.snippets import STORE, assert_equal, compared, found, kernel

T = "tile<128xf32>"
V = "tile<128xi32>"
STORE_TYPE = "tile<128xptr<f32>>, tile<128xf32>, tile<128xi1> -> token"
LOAD_TYPE = "tile<128xptr<f32>>, tile<128xi1>, tile<128xf32> -> tile<128xf32>, token"
KEYS = "%c: tile<ptr<i32>>, %a: tile<ptr<f32>>, %b: tile<ptr<f32>>, %n: tile<i32>, %m: tile<i32>"
KEY = (
    "%c1 = reshape %c : tile<ptr<i32>> -> tile<1xptr<i32>>\n"
    "%cv = broadcast %c1 : tile<1xptr<i32>> -> tile<128xptr<i32>>\n"
    f"%pc = offset %cv, %o : tile<128xptr<i32>>, {V} -> tile<128xptr<i32>>\n"
    f"%key, %kt = load_ptr_tko weak %pc token=%t : tile<128xptr<i32>> -> {V}, token\n"
)


def keyed(lines: str) -> str:
    """A kernel that stores `%r`, computed from the loaded integers `%key`."""
    return kernel(
        f"{KEY}{lines}\n%s = store_ptr_tko weak %pc, %r token=%t : tile<128xptr<i32>>, {V} -> token",
        parameters=KEYS,
    )


def splat(name: str, value: int) -> str:
    return f"%{name} = constant <i32: {value}> : {V}\n"


def told_apart(first: str, second: str) -> None:
    assert any(each.impact == "logic" for each in found(first, second))
    assert any(each.impact == "logic" for each in found(second, first))
    assert_equal(first, first)
    assert_equal(second, second)


def test_a_shift_there_and_back_extends_the_sign() -> None:
    """`(key << 16) >> 16` keeps 16 bits of a loaded integer."""
    told_apart(
        keyed(f"{splat('k', 16)}%u = shli %key, %k : {V}\n%r = shri %u, %k signed : {V}"),
        keyed(f"{splat('k', 0)}%r = addi %key, %k : {V}"),
    )


def test_a_product_of_loaded_integers_wraps() -> None:
    told_apart(
        keyed(f"{splat('k', 4096)}%u = muli %key, %k : {V}\n%r = divi %u, %k signed : {V}"),
        keyed(f"{splat('k', 0)}%r = addi %key, %k : {V}"),
    )


MASKED = (
    f"{KEY.rsplit('%key', 1)[0]}%key, %kt = load_ptr_tko weak %pc, %in, %pad token=%t : "
    f"tile<128xptr<i32>>, tile<128xi1>, {V} -> {V}, token\n"
)
W = "tile<128xi64>"
WIDEN = f"%wide = exti %key signed : {V} -> {W}\n"
NARROW = f"%r = trunci %h : {W} -> {V}"
FLAG = f"%r = exti %p unsigned : tile<128xi1> -> {V}"
ORDERS = [
    ("", f"cmpi less_than %key, %k, signed : {V}"),
    (f"%d = subi %key, %k : {V}\n%q = subi %k, %k : {V}\n", f"cmpi less_than %d, %q, signed : {V}"),
    (f"%d = addi %key, %key : {V}\n%q = addi %k, %k : {V}\n", f"cmpi less_than %d, %q, signed : {V}"),
    (f"%d = addi %key, %k : {V}\n%q = addi %k, %k : {V}\n", f"cmpi less_than %d, %q, signed : {V}"),
    (f"%d = negi %key : {V}\n%q = negi %k : {V}\n", f"cmpi greater_than %d, %q, signed : {V}"),
]
"""Spellings of `key < k` that are the same until something wraps."""
WIDENED = [
    (f"%h64 = muli %wide, %wide : {W}\n", f"%h32 = muli %key, %key : {V}\n"),
    (f"%h64 = addi %wide, %wide : {W}\n", f"%h32 = addi %key, %key : {V}\n"),
    (f"%h64 = shli %wide, %s64 : {W}\n", f"%h32 = shli %key, %s32 : {V}\n"),
    (f"%h64 = negi %wide : {W}\n", f"%h32 = negi %key : {V}\n"),
]
"""The same arithmetic of an i32 in i64, and in i32."""
SHIFTS = f"%s64 = constant <i64: 4> : {W}\n{splat('s32', 4)}"
LOADS = pytest.mark.parametrize("load", [KEY, f"{splat('pad', 0)}{MASKED}"], ids=["plain", "masked"])


def with_key(load: str, lines: str) -> str:
    return keyed(lines).replace(KEY, load)


@LOADS
@pytest.mark.parametrize(("before", "order"), ORDERS[1:], ids=["difference", "double", "sum", "negative"])
def test_an_order_of_loaded_integers_is_not_one_of_what_wraps(load: str, before: str, order: str) -> None:
    first, second = (
        with_key(load, f"{splat('k', 100)}{lines}%p = {test} -> tile<128xi1>\n{FLAG}")
        for lines, test in (ORDERS[0], (before, order))
    )
    told_apart(first, second)


@LOADS
def test_one_more_than_a_loaded_integer_may_be_less(load: str) -> None:
    told_apart(
        with_key(
            load,
            f"{splat('k', 1)}%d = addi %key, %k : {V}\n"
            f"%p = cmpi less_than %key, %d, signed : {V} -> tile<128xi1>\n{FLAG}",
        ),
        with_key(load, f"{splat('k', 1)}%r = muli %k, %k : {V}"),
    )


@LOADS
@pytest.mark.parametrize(("wide", "narrow"), WIDENED, ids=["product", "sum", "shift", "negative"])
def test_what_is_done_before_loaded_integers_are_widened(load: str, wide: str, narrow: str) -> None:
    halves = f"%c32 = constant <i64: 32> : {W}\n%h = shri %h64, %c32 signed : {W}\n{NARROW}"
    told_apart(
        with_key(load, f"{SHIFTS}{WIDEN}{wide}{halves}"),
        with_key(load, f"{SHIFTS}{narrow}%h64 = exti %h32 signed : {V} -> {W}\n{halves}"),
    )


@LOADS
def test_a_loaded_integer_loses_its_upper_bits_by_a_shift(load: str) -> None:
    told_apart(
        with_key(load, f"{splat('k', 16)}%u = shli %key, %k : {V}\n%r = shri %u, %k signed : {V}"),
        with_key(load, f"{splat('k', 0)}%r = addi %key, %k : {V}"),
    )


@LOADS
@pytest.mark.parametrize(("wide", "narrow"), WIDENED, ids=["product", "sum", "shift", "negative"])
def test_loaded_integers_of_which_the_lower_half_counts(load: str, wide: str, narrow: str) -> None:
    """Modulo 2^32 it does not matter where they are narrowed."""
    assert_equal(
        with_key(load, f"{SHIFTS}{WIDEN}{wide}%h = addi %h64, %s64 : {W}\n{NARROW}"),
        with_key(load, f"{SHIFTS}{narrow}%r = addi %h32, %s32 : {V}"),
    )


def test_a_remainder_of_a_negative_number_is_not_a_mask_of_bits() -> None:
    told_apart(
        keyed(f"{splat('k', 8)}%r = remi %key, %k signed : {V}"),
        keyed(f"{splat('k', 7)}%r = andi %key, %k : {V}"),
    )


def test_signed_and_unsigned_shifts_of_loaded_integers() -> None:
    told_apart(
        keyed(f"{splat('k', 26)}%r = shri %key, %k signed : {V}"),
        keyed(f"{splat('k', 26)}%r = shri %key, %k unsigned : {V}"),
    )


def test_a_narrowed_integer_is_another_one() -> None:
    told_apart(
        keyed(f"%h = trunci %key : {V} -> tile<128xi16>\n%r = exti %h signed : tile<128xi16> -> {V}"),
        keyed(f"%h = trunci %key : {V} -> tile<128xi16>\n%r = exti %h unsigned : tile<128xi16> -> {V}"),
    )
    told_apart(
        keyed(f"%h = trunci %key : {V} -> tile<128xi16>\n%r = exti %h signed : tile<128xi16> -> {V}"),
        keyed(f"{splat('k', 0)}%r = addi %key, %k : {V}"),
    )


def updating(before: str, inside: str) -> str:
    """`a` is stored to in a loop; the load is before it, or in it."""
    return kernel(
        f"{before}for %k in (%i0 to %i4, step %i1) : tile<i32> {{\n{inside}%w = addf %v, %one : {T}\n"
        f"%s = store_ptr_tko weak %pa, %w, %in token=%t : {STORE_TYPE}\ncontinue\n}}"
    )


LOAD = f"%v, %vt = load_ptr_tko weak %pa, %in, %zero token=%t : {LOAD_TYPE}\n"


def test_a_load_of_what_the_loop_writes_stays_in_it() -> None:
    """Four additions, or one that is stored four times."""
    told_apart(updating("", LOAD), updating(LOAD, ""))


def test_a_load_of_what_the_loop_only_reads_may_leave_it() -> None:
    other = LOAD.replace("%pa", "%pb")
    assert_equal(updating("", other), updating(other, ""))


def stored(lines: str) -> str:
    return (
        f"%j1 = reshape %k : tile<i32> -> tile<1xi32>\n%js = broadcast %j1 : tile<1xi32> -> {V}\n"
        f"%q = offset %bv, %js : tile<128xptr<f32>>, {V} -> tile<128xptr<f32>>\n"
        f"%s = store_ptr_tko weak %q, %one, %in token=%t : {STORE_TYPE}\n{lines}"
    )


def test_an_effect_before_the_exit_of_a_loop_happens_once_more() -> None:
    """`while k < n { store }` stores n times, `loop { store; if k >= n break }` once more."""
    leave = (
        "%done = cmpi greater_than_or_equal %k, %N, signed : tile<i32> -> tile<i1>\nif %done "
        "{\nbreak %k : tile<i32>\n}\n"
    )
    step = "%k2 = addi %k, %i1 : tile<i32>\ncontinue %k2 : tile<i32>\n}"
    head = "%last = loop iter_values(%k = %i0) : tile<i32> -> tile<i32> {\n"
    told_apart(kernel(f"{head}{leave}{stored('')}{step}"), kernel(f"{head}{stored('')}{leave}{step}"))


def test_the_count_of_a_loop_that_does_not_run() -> None:
    """The carried index is 0 after no iteration, also where the bound is negative."""

    def kept(lines: str) -> str:
        return kernel(
            f"{lines}%f = itof %r signed : tile<i32> -> tile<f32>\n%q = offset %b, %x : "
            "tile<ptr<f32>>, tile<i32> -> "
            "tile<ptr<f32>>\n%s = store_ptr_tko weak %q, %f token=%t : tile<ptr<f32>>, tile<f32> -> token"
        )

    counted = kept(
        "%r = for %j in (%i0 to %m, step %i1) : tile<i32> iter_values(%k = %i0) -> (tile<i32>) {\n"
        "%k2 = addi %k, %i1 : tile<i32>\ncontinue %k2 : tile<i32>\n}\n"
    )
    assert_equal(counted, kept("%r = maxi %m, %i0 signed : tile<i32>\n"))
    told_apart(counted, kept("%r = addi %m, %i0 : tile<i32>\n"))


def test_two_writes_of_one_place_in_another_order() -> None:
    def twice(first: str, second: str) -> str:
        return kernel(
            f"%s1 = store_ptr_tko weak %pa, %{first}, %in token=%t : {STORE_TYPE}\n"
            f"%s2 = store_ptr_tko weak %pa, %{second}, %in token=%s1 : {STORE_TYPE}"
        )

    told_apart(twice("one", "zero"), twice("zero", "one"))


def test_a_load_before_or_after_a_store() -> None:
    store = f"%s = store_ptr_tko weak %pa, %one, %in token=%t : {STORE_TYPE}\n"
    use = f"%w = negf %v : {T}\n%s2 = store_ptr_tko weak %pb, %w, %in token=%t : {STORE_TYPE}"
    told_apart(
        kernel(f"{LOAD}{store.replace('%t ', '%vt ')}{use}"),
        kernel(f"{store}{LOAD.replace('token=%t', 'token=%s')}{use}"),
    )


def test_a_value_of_the_last_iteration_is_not_that_of_the_first() -> None:
    def last(upper: str) -> str:
        return kernel(
            f"%w = for %k in (%i0 to %{upper}, step %i1) : tile<i32> iter_values(%acc = %zero) -> ({T}) {{\n"
            f"%f = itof %k signed : tile<i32> -> tile<f32>\n%f1 = reshape %f : tile<f32> -> tile<1xf32>\n"
            f"%next = broadcast %f1 : tile<1xf32> -> {T}\ncontinue %next : {T}\n}}\n"
            f"%s = store_ptr_tko weak %pb, %w, %in token=%t : {STORE_TYPE}"
        )

    told_apart(last("N"), last("i4"))


def test_sums_in_one_body_have_their_own_indices() -> None:
    """`sum(a) * sum(b)` against `sum(a * b)`."""
    first = f"%v, %vt = load_ptr_tko weak %pa, %in, %zero token=%t : {LOAD_TYPE}\n"
    second = f"%u, %ut = load_ptr_tko weak %pb, %in, %zero token=%t : {LOAD_TYPE}\n"

    def total(name: str, of: str) -> str:
        return (
            f"%{name} = reduce %{of} dim=0 identities=[0.0 : f32] : {T} -> tile<f32>\n"
            "(%l: tile<f32>, %r: tile<f32>) {\n%both = addf %l, %r : tile<f32>\nyield %both : tile<f32>\n}\n"
        )

    end = (
        "%q = offset %b, %x : tile<ptr<f32>>, tile<i32> -> tile<ptr<f32>>\n"
        "%s = store_ptr_tko weak %q, %w token=%t : tile<ptr<f32>>, tile<f32> -> token"
    )
    separate = kernel(
        f"{first}{second}{total('p', 'v')}{total('q0', 'u')}%w = mulf %p, %q0 : tile<f32>\n{end}"
    )
    joint = kernel(f"{first}{second}%d = mulf %v, %u : {T}\n{total('w', 'd')}{end}")
    told_apart(separate, joint)


def test_a_product_of_loaded_integers_wraps_under_a_floor_division() -> None:
    told_apart(
        keyed(
            f"{splat('k', 4096)}%u = muli %key, %k : {V}\n%r = divi %u, %k signed "
            f"rounding<negative_inf> : {V}"
        ),
        keyed(f"{splat('k', 0)}%r = addi %key, %k : {V}"),
    )


def test_bytes_are_added_before_or_after_they_are_widened() -> None:
    """Loaded bytes are data: their sum wraps in i8 and does not in i32."""

    def summed(lines: str) -> str:
        return keyed(
            f"%h = trunci %key : {V} -> tile<128xi8>\n%o8 = constant <i8: 100> : tile<128xi8>\n"
            f"%o32 = constant <i32: 100> : {V}\n{lines}"
        )

    told_apart(
        summed(f"%u = addi %h, %o8 : tile<128xi8>\n%r = exti %u signed : tile<128xi8> -> {V}"),
        summed(f"%u = exti %h signed : tile<128xi8> -> {V}\n%r = addi %u, %o32 : {V}"),
    )


def test_a_flag_is_polled_in_the_loop() -> None:
    """Another block sets the flag: a load that has left the loop never sees it."""
    load = (
        "%flag, %ft = load_ptr_tko relaxed device %c token=%t : tile<ptr<i32>> -> tile<i32>, token\n"
        "%set = cmpi not_equal %flag, %i0, signed : tile<i32> -> tile<i1>\n"
    )

    def wait(before: str, inside: str) -> str:
        return kernel(
            f"{before}loop {{\n{inside}if %set {{\nbreak\n}}\ncontinue\n}}\n"
            f"%s = store_ptr_tko weak %pb, %one, %in token=%t : {STORE_TYPE}",
            parameters=KEYS,
        )

    told_apart(wait("", load), wait(load, ""))


def test_a_select_by_a_loaded_sum_that_may_wrap() -> None:
    """`key + 1 <= m` is not `key < m` for the largest integer, so it is taken only with a word about it."""

    def chosen(lines: str) -> str:
        return keyed(f"{lines}%r = select %c2, %key, %mv : tile<128xi1>, {V}")

    plus = chosen(
        f"{splat('k', 1)}%u = addi %key, %k : {V}\n%c2 = cmpi less_than_or_equal %u, %mv, signed : {V} "
        "-> tile<128xi1>\n"
    )
    plain = chosen(f"%c2 = cmpi less_than %key, %mv, signed : {V} -> tile<128xi1>\n")
    assert found(plus, plain) or compared(plus, plain).assumptions


def test_arrays_that_do_not_overlap_are_an_assumption() -> None:
    """Two parameters may point to one array; that they do not is said in the result."""
    ordered = kernel(
        f"%s = store_ptr_tko weak %pa, %one, %in token=%t : {STORE_TYPE}\n"
        f"%s2 = store_ptr_tko weak %pb, %zero, %in token=%s : {STORE_TYPE}"
    )
    loose = ordered.replace("token=%s :", "token=%t :")
    assert any("overlap" in line or "alias" in line for line in compared(ordered, loose).assumptions)


BYTE = "tile<128xi8>"
BYTES = f"%h = trunci %lane : {V} -> {BYTE}\n"


def byte(name: str, value: int) -> str:
    return f"%{name} = constant <i8: {value}> : {BYTE}\n"


@pytest.mark.parametrize(
    ("narrow", "wide"),
    [
        (
            f"{byte('k', 100)}%u = addi %h, %k : {BYTE}\n%r = exti %u signed : {BYTE} -> {V}",
            f"{splat('k', 100)}%r = addi %lane, %k : {V}",
        ),
        (
            (
                f"{byte('k', 4)}%u = muli %h, %k : {BYTE}\n%d = divi %u, %k signed : {BYTE}\n"
                f"%r = exti %d signed : {BYTE} -> {V}"
            ),
            f"{splat('k', 0)}%r = addi %lane, %k : {V}",
        ),
        (
            f"{byte('k', 100)}%u = addi %h, %k : {BYTE}\n%r = exti %u signed : {BYTE} -> {V}",
            f"{BYTES}{byte('k', 100)}%u = addi %h, %k : {BYTE}\n%r = exti %u unsigned : {BYTE} -> {V}",
        ),
    ],
)
def test_index_arithmetic_in_bytes_wraps(narrow: str, wide: str) -> None:
    told_apart(keyed(BYTES + narrow), keyed(wide))


def test_index_arithmetic_in_bytes_that_fits() -> None:
    """Up to 227 as an unsigned byte, and up to 127 as a signed one."""
    assert_equal(
        keyed(
            f"{BYTES}{byte('k', 100)}%u = addi %h, %k : {BYTE}\n%r = exti %u unsigned : {BYTE} -> {V}",
        ),
        keyed(f"{splat('k', 100)}%r = addi %lane, %k : {V}"),
    )
    assert_equal(
        keyed(f"{BYTES}{byte('k', -100)}%u = addi %h, %k : {BYTE}\n%r = exti %u signed : {BYTE} -> {V}"),
        keyed(f"{splat('k', -100)}%r = addi %lane, %k : {V}"),
    )


@pytest.mark.parametrize("op", ["divi %p, %q {}", "remi %p, %q {}", "maxi %p, %q {}", "mini %p, %q {}"])
def test_integer_ops_on_single_bits(op: str) -> None:
    """A set bit is 1 or -1, and no number to do arithmetic on."""

    def flag(sign: str, widened: str) -> str:
        return keyed(
            f"%p = cmpi less_than %key, %mv, signed : {V} -> tile<128xi1>\n"
            f"%q = cmpi less_than %key, %nv, signed : {V} -> tile<128xi1>\n"
            f"%w = {op.format(sign)} : tile<128xi1>\n%r = exti %w {widened} : tile<128xi1> -> {V}"
        )

    told_apart(flag("signed", "signed"), flag("signed", "unsigned"))
    told_apart(flag("signed", "signed"), flag("unsigned", "signed"))


def test_what_a_division_takes_for_granted_is_said_of_each_side() -> None:
    """A divisor is taken as positive: it is so also where an evaluation before this one learnt that."""
    loaded = keyed(f"%r = divi %key, %mv signed : {V}")
    down = keyed(f"%r = divi %o, %mv signed rounding<negative_inf> : {V}")
    plain = keyed(f"%r = divi %o, %mv signed : {V}")
    for generated in (plain, down, loaded):
        said = [line for line in compared(plain, generated).assumptions if "positive" in line]
        assert [line.split(":")[0] for line in said] == ["reference", "generated"]


WIDE = "tile<256xi8>"


def lanes(lines: str) -> str:
    """A kernel that stores `%r`, computed from the lanes of 256, as integers."""
    return kernel(
        "%cs = reshape %c : tile<ptr<i32>> -> tile<1xptr<i32>>\n"
        "%cb = broadcast %cs : tile<1xptr<i32>> -> tile<256xptr<i32>>\n%l = iota : tile<256xi32>\n"
        f"%pc = offset %cb, %l : tile<256xptr<i32>>, tile<256xi32> -> tile<256xptr<i32>>\n{lines}\n"
        "%s = store_ptr_tko weak %pc, %r token=%t : tile<256xptr<i32>>, tile<256xi32> -> token",
        parameters=KEYS,
    )


def test_lane_numbers_in_bytes_wrap() -> None:
    signed, unsigned = (
        lanes(f"%u = iota : {WIDE}\n%r = exti %u {sign} : {WIDE} -> tile<256xi32>")
        for sign in ("signed", "unsigned")
    )
    told_apart(signed, unsigned)
    assert_equal(unsigned, lanes("%k = constant <i32: 0> : tile<256xi32>\n%r = addi %l, %k : tile<256xi32>"))


def test_lane_numbers_in_single_bits_are_flags() -> None:
    """0, 1, 0, 1, ..: the lowest bit of the lane."""
    bit = "%u = iota : tile<256xi1>\n%r = exti %u {} : tile<256xi1> -> tile<256xi32>"
    low = "%k = constant <i32: 1> : tile<256xi32>\n%u = andi %l, %k : tile<256xi32>\n"
    low += "%z0 = constant <i32: 0> : tile<256xi32>\n%r = addi %u, %z0 : tile<256xi32>"
    assert_equal(lanes(bit.format("unsigned")), lanes(low))
    told_apart(lanes(bit.format("unsigned")), lanes(bit.format("signed")))


def test_a_sum_compared_with_its_own_part_is_said_to_stay_in_its_type() -> None:
    more = (
        "%more = addi %n, %i1 : tile<i32>\n%c = cmpi greater_than %more, %n, signed : tile<i32> -> tile<i1>\n"
    )
    flat = "%c = constant <i1: true> : tile<i1>\n"
    rest = (
        "%f = select %c, %i1, %i0 : tile<i1>, tile<i32>\n"
        "%f1 = reshape %f : tile<i32> -> tile<1xi32>\n%fs = broadcast %f1 : tile<1xi32> -> tile<128xi32>\n"
        f"%w = itof %fs signed : tile<128xi32> -> tile<128xf32>\n{STORE}"
    )
    result = compared(kernel(more + rest), kernel(flat + rest))
    assert not result.differences
    assert any("does not wrap before it is compared" in line for line in result.assumptions)
    assert not any(
        "compared" in line for line in compared(kernel(flat + rest), kernel(flat + rest)).assumptions
    )


def test_an_atomic_in_a_loop_gives_another_value_in_each_iteration() -> None:
    """Steps that sum up are no multiple of one step; `%q` moves by what the atomic gave."""
    head = "%i8 = constant <i32: 8> : tile<i32>\n"
    taken = (
        "%d, %dt = atomic_rmw_tko relaxed device %c, add, %i1 token=%t : "
        "tile<ptr<i32>>, tile<i32> -> tile<i32>, token\n"
    )
    store = "%s = store_ptr_tko weak %{}, %i token=%t : tile<ptr<i32>>, tile<i32> -> token\n"
    summed = kernel(
        f"{head}%e = for %i in (%i0 to %i8, step %i1) : tile<i32> iter_values(%p = %d0) -> (tile<ptr<i32>>)"
        f" {{\n{taken}{store.format('p')}"
        "%q = offset %p, %d : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>\ncontinue %q : tile<ptr<i32>>\n}",
        parameters=f"%d0: tile<ptr<i32>>, {KEYS}",
    )
    multiplied = kernel(
        f"{head}for %i in (%i0 to %i8, step %i1) : tile<i32> {{\n{taken}"
        "%il = exti %i signed : tile<i32> -> tile<i64>\n%dl = exti %d signed : tile<i32> -> tile<i64>\n"
        "%by = muli %il, %dl : tile<i64>\n"
        f"%q = offset %d0, %by : tile<ptr<i32>>, tile<i64> -> tile<ptr<i32>>\n{store.format('q')}}}",
        parameters=f"%d0: tile<ptr<i32>>, {KEYS}",
    )
    told_apart(summed, multiplied)


def test_what_two_loads_leave_in_masked_lanes_is_not_the_same() -> None:
    """The lanes outside the mask are stored: a difference of two loads is no zero there."""
    flags = "tile<128xi1>"
    unpadded = f"token=%t : tile<128xptr<i32>>, {flags} -> {V}, token\n"
    loads = (
        f"{splat('one1', 1)}%pn = offset %pc, %one1 : tile<128xptr<i32>>, {V} -> tile<128xptr<i32>>\n"
        f"%u, %ut = load_ptr_tko weak %pc, %in {unpadded}%w, %wt = load_ptr_tko weak %pn, %in {unpadded}"
        f"%yes = constant <i1: true> : {flags}\n%out = xori %in, %yes : {flags}\n"
    )
    outside = f"%s = store_ptr_tko weak %pc, %r, %out token=%t : tile<128xptr<i32>>, {V}, {flags} -> token"
    difference, nothing = (
        kernel(f"{KEY}{loads}{line}\n{outside}", parameters=KEYS)
        for line in (f"%r = subi %u, %w : {V}", f"%r = constant <i32: 0> : {V}")
    )
    assert any(each.impact in ("logic", "bounds") for each in found(difference, nothing))
    assert any(each.impact in ("logic", "bounds") for each in found(nothing, difference))
    assert_equal(difference, difference)


# ---- what loops carry ------------------------------------------------------------------------------------

S = "tile<i32>"
HASH = f"%h31 = muli %acc, %k31 : {S}\n%next = addi %h31, %e : {S}\n"
CARRIES = {
    "hash of loaded values": HASH.replace("%e", "%loaded"),
    "hash of an argument": HASH.replace("%e", "%m"),
    "doubled": f"%next = addi %acc, %acc : {S}\n",
    "largest loaded value": f"%next = maxi %acc, %loaded signed : {S}\n",
}
THERE_AND_BACK = {
    "quotient of a product": (
        f"%p = muli %{{0}}, %i4 : {S}\n%back = divi %p, %i4 signed rounding<negative_inf> : {S}\n"
    ),
    "shift of a shift": f"%p = shli %{{0}}, %i4 : {S}\n%back = shri %p, %i4 signed : {S}\n",
}


def carrying(step: str, inside: str = "", below: str = "") -> str:
    """A kernel that stores `%back` of what a loop carries."""
    return kernel(
        f"%k31 = constant <i32: 31> : {S}\n%pe = offset %c, %m : tile<ptr<i32>>, {S} -> tile<ptr<i32>>\n"
        f"%loaded, %lt = load_ptr_tko weak %pe token=%t : tile<ptr<i32>> -> {S}, token\n"
        f"%h = for %i in (%i0 to %N, step %i1) : {S} iter_values(%acc = %i1) -> ({S}) {{\n"
        f"{inside}{step.replace('%acc', '%back') if inside else step}continue %next : {S}\n}}\n"
        f"{below or f'%back = addi %h, %i0 : {S}'}\n"
        f"%s = store_ptr_tko weak %c, %back token=%t : tile<ptr<i32>>, {S} -> token",
        parameters=KEYS,
    )


@pytest.mark.parametrize("step", CARRIES.values(), ids=list(CARRIES))
@pytest.mark.parametrize("spelling", THERE_AND_BACK.values(), ids=list(THERE_AND_BACK))
def test_what_a_loop_carries_wraps_where_it_is_no_index(step: str, spelling: str) -> None:
    plain = carrying(step)
    told_apart(plain, carrying(step, below=spelling.format("h")))
    told_apart(plain, carrying(step, inside=spelling.format("acc")))


def test_a_hash_is_the_same_in_another_order() -> None:
    """Modulo 2^32 sums and products commute."""
    again = (
        f"%k32 = constant <i32: 32> : {S}\n%h32 = muli %acc, %k32 : {S}\n%less = subi %h32, %acc : {S}\n"
        f"%next = addi %loaded, %less : {S}\n"
    )
    assert_equal(carrying(CARRIES["hash of loaded values"]), carrying(again))


def test_the_lanes_of_an_inner_loop_are_not_those_that_a_selection_is_about() -> None:
    """The inner loop reads its rows as columns: rows that the selection drops still count in it."""
    tile = "tile<8x8xf32>"

    def nested(kept: str) -> str:
        return kernel(
            "%row = iota : tile<8xi32>\n%row1 = reshape %row : tile<8xi32> -> tile<8x1xi32>\n"
            "%rows = broadcast %row1 : tile<8x1xi32> -> tile<8x8xi32>\n"
            "%half = constant <i32: 4> : tile<8x8xi32>\n%all = constant <i1: true> : tile<8x8xi1>\n"
            "%upper = cmpi less_than %rows, %half, signed : tile<8x8xi32> -> tile<8x8xi1>\n"
            f"%none = constant <f32: 0.0> : {tile}\n%three = constant <f32: 3.0> : {tile}\n"
            f"%begin = itof %rows signed : tile<8x8xi32> -> {tile}\n"
            f"%r = for %i in (%i0 to %N, step %i1) : {S} iter_values(%acc = %begin) -> ({tile}) {{\n"
            f"%u = for %j in (%i0 to %m, step %i1) : {S} iter_values(%turned = %acc) -> ({tile}) {{\n"
            f"%p = permute %turned [1, 0] : {tile} -> {tile}\n"
            f"%q = select {kept}, %p, %none : tile<8x8xi1>, {tile}\n"
            f"%next = addf %q, %three : {tile}\ncontinue %next : {tile}\n}}\n"
            f"%w = select %upper, %u, %three : tile<8x8xi1>, {tile}\ncontinue %w : {tile}\n}}\n"
            f"%flat = reshape %r : {tile} -> tile<64xf32>\n%lane64 = iota : tile<64xi32>\n"
            "%b64 = broadcast %b1 : tile<1xptr<f32>> -> tile<64xptr<f32>>\n"
            "%p64 = offset %b64, %lane64 : tile<64xptr<f32>>, tile<64xi32> -> tile<64xptr<f32>>\n"
            "%s = store_ptr_tko weak %p64, %flat token=%t : tile<64xptr<f32>>, tile<64xf32> -> token"
        )

    told_apart(nested("%all"), nested("%upper"))


# ---- promises on some paths only ---------------------------------------------------------------------------

BOUNDED = f"%known = assume bounded<0, ?>, %key : {V}\n"
FIRST = f"%s0 = store_ptr_tko weak %pc, %known token=%t : tile<128xptr<i32>>, {V} -> token\n"


@pytest.mark.parametrize(
    "around",
    [
        f"%few = cmpi less_than %n, %m, signed : {S} -> tile<i1>\nif %few {{{{\n{{0}}}}}}\n",
        f"for %i in (%i0 to %m, step %i1) : {S} {{{{\n{{0}}}}}}\n",
    ],
    ids=["branch", "loop"],
)
def test_a_promise_that_may_not_be_reached_says_nothing_elsewhere(around: str) -> None:
    before = f"{splat('k8', 8)}{splat('k7', 7)}{around.format(BOUNDED + FIRST)}"
    told_apart(
        keyed(f"{before}%r = remi %key, %k8 signed : {V}"), keyed(f"{before}%r = andi %key, %k7 : {V}")
    )


def test_an_unsigned_value_that_is_narrowed_again() -> None:
    assert_equal(
        keyed(f"%wide = exti %key unsigned : {V} -> {W}\n%r = trunci %wide : {W} -> {V}"),
        keyed(f"{splat('k', 0)}%r = addi %key, %k : {V}"),
    )


def test_the_body_of_a_reduction_within_another_reads_its_own_total_or_the_outer_one() -> None:
    def summed(total: str) -> str:
        return keyed(
            "%f = bitcast %key : tile<128xi32> -> tile<128xf32>\n"
            "%sum = reduce %f dim=0 identities=[0.0 : f32] : tile<128xf32> -> tile<f32>\n"
            "(%e: tile<f32>, %outer: tile<f32>) {\n"
            "%e1 = reshape %e : tile<f32> -> tile<1xf32>\n"
            "%e4 = broadcast %e1 : tile<1xf32> -> tile<4xf32>\n"
            "%in4 = reduce %e4 dim=0 identities=[0.0 : f32] : tile<4xf32> -> tile<f32>\n"
            "(%e2: tile<f32>, %inner: tile<f32>) {\n"
            f"%q2 = addf %e2, {total} : tile<f32>\nyield %q2 : tile<f32>\n}}\n"
            "%q = addf %in4, %outer : tile<f32>\nyield %q : tile<f32>\n}\n"
            "%b0 = bitcast %sum : tile<f32> -> tile<i32>\n"
            "%b1_ = reshape %b0 : tile<i32> -> tile<1xi32>\n"
            f"%r = broadcast %b1_ : tile<1xi32> -> {V}"
        )

    told_apart(summed("%inner"), summed("%outer"))


def test_lanes_alone_wrap_whatever_the_launch() -> None:
    """`lane * 60000 * 60000` does not fit i32 for lane 1, and no launch has a say in it."""
    lanes = f"{splat('f', 60000)}%j = muli %lane, %f : {V}\n%k = muli %j, %f : {V}\n{splat('g', 0)}"
    told_apart(
        keyed(f"{lanes}%r = maxi %k, %g signed : {V}"),
        keyed(f"{lanes}%r = addi %k, %g : {V}"),
    )
