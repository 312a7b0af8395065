"""Loops, branches and what they carry: one form for every spelling."""

from __future__ import annotations

import pytest

from tests.match.snippets import LOAD, STORE, Pair, assert_equal, assert_found, compared, found, kernel

T = "tile<128xf32>"
STORE_AT = (
    "%st = store_ptr_tko weak %pb, %w, %in token=%t : tile<128xptr<f32>>, tile<128xf32>, "
    "tile<128xi1> -> token"
)
LOAD_AT = (
    "%la = muli %k, %i128 : tile<i32>\n%la1 = reshape %la : tile<i32> -> tile<1xi32>\n"
    "%las = broadcast %la1 : tile<1xi32> -> tile<128xi32>\n%lo = addi %las, %lane : tile<128xi32>\n"
    "%lm = cmpi less_than %lo, %nv, signed : tile<128xi32> -> tile<128xi1>\n"
    "%lp = offset %av, %lo : tile<128xptr<f32>>, tile<128xi32> -> tile<128xptr<f32>>\n"
    "%v, %vt = load_ptr_tko weak %lp, %lm, %zero token=%t : "
    "tile<128xptr<f32>>, tile<128xi1>, tile<128xf32> -> tile<128xf32>, token\n"
)
"""Load tile `%k` of `a`."""
TILES = "%tiles = divi %N, %i128 signed rounding<positive_inf> : tile<i32>\n"


def loop(
    count: str = TILES,
    bounds: str = "%i0 to %tiles, step %i1",
    index: str = "",
    body: str = f"%next = addf %acc, %v : {T}",
    init: str = "%zero",
    after: str = "",
) -> str:
    """A sum over tiles of `a`; `%j` is the loop index, `%k` the tile, `%acc` the sum so far."""
    name = "%j" if index else "%k"
    return kernel(
        f"{count}%w = for {name} in ({bounds}) : tile<i32> iter_values(%acc = {init}) -> ({T}) {{\n"
        f"{index}{LOAD_AT}{body}\ncontinue %next : {T}\n}}\n{after}{STORE_AT}"
    )


def test_counting_from_elsewhere_in_other_steps() -> None:
    """0, 1, 2 by one; 0, 128, 256 by 128; 1, 2, 3 less one: the same tiles."""
    straight = loop()
    elements = loop(
        count="", bounds="%i0 to %N, step %i128", index="%k = divi %j, %i128 signed : tile<i32>\n"
    )
    shifted = loop(
        count=f"{TILES}%end = addi %tiles, %i1 : tile<i32>\n",
        bounds="%i1 to %end, step %i1",
        index="%k = subi %j, %i1 : tile<i32>\n",
    )
    assert_equal(straight, elements)
    assert_equal(elements, straight)
    assert_equal(straight, shifted)
    assert_found(
        straight,
        loop(count=f"{TILES}%end = addi %tiles, %i1 : tile<i32>\n", bounds="%i1 to %end, step %i1"),
        "loop",
        "addressing",
    )


@pytest.mark.parametrize(
    ("wrong", "rules"),
    [
        (loop(bounds="%i1 to %tiles, step %i1"), ("loop/bounds",)),
        (loop(bounds="%i0 to %tiles, step %i4"), ("loop/step",)),
        (loop(count="%tiles = divi %N, %i128 signed : tile<i32>\n"), ("loop/bounds", "integer-mode")),
        (
            loop(count="%tiles = divi %m, %i128 signed rounding<positive_inf> : tile<i32>\n"),
            ("loop/bounds", "addressing", "arithmetic"),
        ),
    ],
    ids=["start", "step", "rounding", "operand"],
)
def test_other_bounds_are_found(wrong: str, rules: tuple[str, ...]) -> None:
    assert assert_found(loop(), wrong, *rules).impact in ("logic", "bounds")


def test_what_is_carried() -> None:
    dropped = loop(body=f"%next = addf %zero, %v : {T}")
    first = assert_found(loop(), dropped, "loop/carried", "arithmetic", "accumulator")
    assert first.impact == "logic"
    started = loop(init="%one")
    first = assert_found(loop(), started, "loop/carried", "constant", "accumulator")
    assert first.impact == "logic"


def test_carried_values_in_another_order_and_dead_ones() -> None:
    head = f"{TILES}%s:2 = for %k in (%i0 to %tiles, step %i1) : tile<i32> "
    tail = "\n%w = addf %s#0, %s#1 : " + T + f"\n{STORE_AT}"
    first = kernel(
        f"{head}iter_values(%p = %zero, %q = %one) -> ({T}, {T}) {{\n{LOAD_AT}%np = addf %p, %v : {T}\n"
        f"%nq = mulf %q, %v : {T}\ncontinue %np, %nq : {T}, {T}\n}}{tail}"
    )
    second = kernel(
        f"{head}iter_values(%q = %one, %p = %zero) -> ({T}, {T}) {{\n{LOAD_AT}%np = addf %p, %v : {T}\n"
        f"%nq = mulf %q, %v : {T}\ncontinue %nq, %np : {T}, {T}\n}}{tail}"
    )
    assert_equal(first, second)
    dead = kernel(
        f"{TILES}%s:3 = for %k in (%i0 to %tiles, step %i1) : tile<i32> "
        f"iter_values(%p = %zero, %d = %one, %q = %one) -> ({T}, {T}, {T}) "
        f"{{\n{LOAD_AT}%np = addf %p, %v : {T}\n"
        f"%nd = mulf %d, %d : {T}\n%nq = mulf %q, %v : {T}\ncontinue %np, %nd, %nq : {T}, {T}, {T}\n}}"
        f"\n%w = addf %s#0, %s#2 : {T}\n{STORE_AT}"
    )
    assert_equal(first, dead)
    crossed = first.replace("continue %np, %nq", "continue %nq, %np")
    assert assert_found(first, crossed, "loop/carried", "arithmetic").impact == "logic"


def test_an_index_carried_along_is_the_loop_index() -> None:
    carried = kernel(
        f"{TILES}%s:2 = for %j in (%i0 to %tiles, step %i1) : tile<i32> iter_values(%acc = %zero, %k "
        "= %i0) -> "
        f"({T}, tile<i32>) {{\n{LOAD_AT}%next = addf %acc, %v : {T}\n%k2 = addi %k, %i1 : tile<i32>\n"
        f"continue %next, %k2 : {T}, tile<i32>\n}}\n" + STORE_AT.replace("%w", "%s#0")
    )
    assert_equal(loop(), carried)
    assert_equal(carried, loop())
    twice = carried.replace("addi %k, %i1", "addi %k, %i4")
    assert_found(loop(), twice, "addressing", "loop", "mask")


def test_a_pointer_stepped_in_the_loop_is_an_address() -> None:
    stepped = kernel(
        f"{TILES}%first = offset %av, %lane : tile<128xptr<f32>>, tile<128xi32> -> tile<128xptr<f32>>\n"
        f"%s:2 = for %k in (%i0 to %tiles, step %i1) : tile<i32> iter_values(%acc = %zero, %lp = %first) -> "
        f"({T}, tile<128xptr<f32>>) {{\n"
        + "\n".join(line for line in LOAD_AT.split("\n") if not line.startswith("%lp"))
        + f"%wide = constant <i32: 128> : tile<128xi32>\n%next = addf %acc, %v : {T}\n"
        "%lp2 = offset %lp, %wide : tile<128xptr<f32>>, tile<128xi32> -> tile<128xptr<f32>>\n"
        f"continue %next, %lp2 : {T}, tile<128xptr<f32>>\n}}\n" + STORE_AT.replace("%w", "%s#0")
    )
    assert_equal(loop(), stepped)
    wrong = stepped.replace("constant <i32: 128> : tile<128xi32>", "constant <i32: 64> : tile<128xi32>")
    assert_found(loop(), wrong, "addressing", "constant", "loop")


def counted(exit_: str, tail: str = "") -> str:
    """The sum as a `loop` that leaves by `break`."""
    return kernel(
        f"{TILES}%w, %last = loop iter_values(%acc = %zero, %k = %i0) : {T}, tile<i32> -> {T}, tile<i32> {{\n"
        f"%done = cmpi {exit_}, signed : tile<i32> -> tile<i1>\n"
        f"if %done {{\nbreak %acc, %k : {T}, tile<i32>\n}}\n"
        f"{LOAD_AT}%next = addf %acc, %v : {T}\n%k2 = addi %k, %i1 : tile<i32>\n"
        f"continue %next, %k2 : {T}, tile<i32>\n}}\n{tail}{STORE_AT}"
    )


def test_a_loop_with_break_is_a_counted_loop() -> None:
    while_ = counted("greater_than_or_equal %k, %tiles")
    assert_equal(loop(), while_)
    assert_equal(while_, loop())
    assert_found(loop(), counted("greater_than %k, %tiles"), "loop", "control-flow", "arithmetic/op")
    assert_found(while_, counted("greater_than %k, %tiles"), "loop", "control-flow")


def test_a_number_of_tiles_of_which_no_sign_is_known_counts_both_kinds_of_loops() -> None:
    tiles = "%tiles = divi %end, %i128 signed : tile<i32>\n"
    unknown = f"%i127 = constant <i32: 127> : tile<i32>\n%end = addi %m, %i127 : tile<i32>\n{tiles}"
    for_, while_ = loop(count=unknown), counted("greater_than_or_equal %k, %tiles").replace(TILES, unknown)
    assert_equal(for_, while_)
    assert_equal(while_, for_)
    shorter = counted("greater_than_or_equal %k, %tiles").replace(TILES, tiles.replace("%end", "%m"))
    assert_found(for_, shorter, "loop", "integer-mode", "arithmetic")


TILE_I = """
%ri = muli %i, %i128 : tile<i32>
%ri1 = reshape %ri : tile<i32> -> tile<1xi32>
%ris = broadcast %ri1 : tile<1xi32> -> tile<128xi32>
%oi = addi %lane, %ris : tile<128xi32>
%pi = offset %bv, %oi : tile<128xptr<f32>>, tile<128xi32> -> tile<128xptr<f32>>
%s = store_ptr_tko weak %pi, %one token=%t : tile<128xptr<f32>>, tile<128xf32> -> token
"""
POSITIVE = "%mp = assume bounded<1, ?>, %m : tile<i32>\n"


def over(lower: str, upper: str, step: str, head: str = "") -> str:
    return kernel(f"{head}for %i in ({lower} to {upper}, step {step}) : tile<i32> {{\n{TILE_I}}}")


def left(lower: str, upper: str, step: str, leave: str = "greater_than_or_equal", head: str = "") -> str:
    return kernel(
        f"{head}loop iter_values(%i = {lower}) : tile<i32> {{\n"
        f"%out = cmpi {leave} %i, {upper}, signed : tile<i32> -> tile<i1>\nif %out {{\nbreak\n}}\n{TILE_I}"
        f"%next = addi %i, {step} : tile<i32>\ncontinue %next : tile<i32>\n}}"
    )


@pytest.mark.parametrize("bounds", [("%i0", "%m"), ("%m", "%n"), ("%x", "%m"), ("%i4", "%m")])
@pytest.mark.parametrize("step", ["%i1", "%i4"])
def test_a_count_below_zero_is_none(bounds: tuple[str, str], step: str) -> None:
    """Nothing is known of the bounds: both forms stop before the first trip where there is none."""
    assert_equal(over(*bounds, step), left(*bounds, step))
    assert_equal(left(*bounds, step), over(*bounds, step))
    once_more = left(*bounds, step, "greater_than")
    assert "logic" in {each.impact for each in found(over(*bounds, step), once_more)}


def test_all_tiles_or_those_of_each_block_of_a_number_of_which_no_sign_is_known() -> None:
    head = (
        "%g, %gy, %gz = get_num_tile_blocks : tile<i32>\n%i127 = constant <i32: 127> : tile<i32>\n"
        "%end = addi %m, %i127 : tile<i32>\n%tiles = divi %end, %i128 signed : tile<i32>\n"
    )
    shared, each = over("%x", "%tiles", "%g", head), over("%i0", "%tiles", "%i1", head)
    for sides in ((shared, each), (each, shared)):
        assert {found_.impact for found_ in found(*sides)} <= {"hint", "none"}


def test_a_step_that_may_be_zero_is_not_over() -> None:
    steps = "%x", "%n", "%m"
    assert_equal(over(*steps, POSITIVE), left(*steps, head=POSITIVE))
    assert "logic" in {each.impact for each in found(over(*steps), left(*steps))}


@pytest.mark.parametrize("step", ["%i1", "%i4"])
def test_a_bound_that_is_not_below_the_start(step: str) -> None:
    plain = over("%m", "%n", step)
    assert_equal(plain, over("%m", "%most", step, "%most = maxi %n, %m signed : tile<i32>\n"))
    more = "%m2 = addi %m, %i1 : tile<i32>\n%most = maxi %n, %m2 signed : tile<i32>\n"
    beyond = over("%m", "%most", step, more)
    assert "logic" in {each.impact for each in found(plain, beyond)}


def test_a_loop_until_a_loaded_value_is_no_counted_loop() -> None:
    def spin(predicate: str) -> str:
        return kernel(
            "%c0 = constant <f32: 0.0> : tile<f32>\n"
            "%r = loop iter_values(%k = %i0) : tile<i32> -> tile<i32> {\n"
            "%p = offset %a, %k : tile<ptr<f32>>, tile<i32> -> tile<ptr<f32>>\n"
            "%v, %vt = load_ptr_tko weak %p token=%t : tile<ptr<f32>> -> tile<f32>, token\n"
            f"%done = cmpf {predicate} ordered %v, %c0 : tile<f32> -> tile<i1>\n"
            "if %done {\nbreak %k : tile<i32>\n}\n%k2 = addi %k, %i1 : tile<i32>\ncontinue %k2 : "
            "tile<i32>\n}\n"
            "%f = itof %r signed : tile<i32> -> tile<f32>\n%q = offset %b, %x : tile<ptr<f32>>, tile<i32> -> "
            "tile<ptr<f32>>\n%st = store_ptr_tko weak %q, %f token=%t : tile<ptr<f32>>, tile<f32> -> token"
        )

    assert_equal(spin("less_than"), spin("less_than"))
    found = assert_found(spin("less_than"), spin("greater_than"), "control-flow", "loop", "arithmetic")
    assert found.impact == "logic"


def test_an_early_continue_is_a_select() -> None:
    """Tiles beyond `m` are skipped: by `continue`, or by choosing the old sum."""
    test = "%skip = cmpi greater_than %k, %m, signed : tile<i32> -> tile<i1>\n"
    early = loop(body=f"{test}if %skip {{\ncontinue %acc : {T}\n}}\n%next = addf %acc, %v : {T}")
    chosen = loop(
        body=f"{test}%sum = addf %acc, %v : {T}\n%s1 = reshape %skip : tile<i1> -> tile<1xi1>\n"
        "%sv = broadcast %s1 : tile<1xi1> -> tile<128xi1>\n%next = select %sv, %acc, %sum : "
        f"tile<128xi1>, {T}"
    )
    assert_equal(early, chosen)
    assert_found(early, loop(), "control-flow", "mask", "arithmetic", "loop")
    swapped = early.replace("greater_than %k, %m", "less_than %k, %m")
    assert_found(early, swapped, "control-flow", "mask", "arithmetic", "loop")


def test_nested_loops_are_not_exchanged() -> None:
    def nest(outer: str, inner: str, row: str, column: str) -> str:
        return kernel(
            f"for %p in (%i0 to %{outer}, step %i1) : tile<i32> "
            f"{{\nfor %q in (%i0 to %{inner}, step %i1) : tile<i32> {{\n"
            f"%r = muli %{row}, %N : tile<i32>\n%at = addi %r, %{column} : tile<i32>\n"
            "%pv = offset %a, %at : tile<ptr<f32>>, tile<i32> -> tile<ptr<f32>>\n"
            "%v, %vt = load_ptr_tko weak %pv token=%t : tile<ptr<f32>> -> tile<f32>, token\n"
            "%qv = offset %b, %at : tile<ptr<f32>>, tile<i32> -> tile<ptr<f32>>\n"
            "%st = store_ptr_tko weak %qv, %v token=%t : tile<ptr<f32>>, tile<f32> -> token\n"
            "continue\n}\ncontinue\n}"
        )

    straight = nest("m", "N", "p", "q")
    assert_equal(straight, nest("m", "N", "p", "q").replace("%p ", "%pp ").replace("%p,", "%pp,"))
    assert_found(straight, nest("m", "N", "q", "p"), "addressing", "loop")
    assert_found(straight, nest("N", "m", "p", "q"), "loop")


def test_a_loop_of_one_iteration_is_no_loop() -> None:
    once = loop(count="", bounds="%i0 to %i1, step %i1")
    straight = kernel(f"%k = constant <i32: 0> : tile<i32>\n{LOAD_AT}%w = addf %zero, %v : {T}\n{STORE_AT}")
    assert_equal(once, straight)
    never = loop(count="", bounds="%i1 to %i1, step %i1")
    assert_equal(never, kernel(f"%w = addf %zero, %zero : {T}\n{STORE_AT}"))


# ---- branches --------------------------------------------------------------------------------------------

VALUE = (
    "%v, %vt = load_ptr_tko weak %pa, %in, %zero token=%t : "
    "tile<128xptr<f32>>, tile<128xi1>, tile<128xf32> -> tile<128xf32>, token\n"
)
TEST = "%c = cmpi less_than %N, %m, signed : tile<i32> -> tile<i1>\n"


def branch(test: str, then: str, otherwise: str) -> str:
    return kernel(
        f"{VALUE}{test}%w = if %c -> ({T}) {{\n{then}\nyield %p : {T}\n}} else "
        f"{{\n{otherwise}\nyield %q : {T}\n}}\n{STORE_AT}"
    )


STRAIGHT = branch(TEST, f"%p = negf %v : {T}", f"%q = exp %v : {T}")

BRANCHES = [
    Pair(
        "exchanged branches of the opposite test",
        STRAIGHT,
        branch(
            "%c = cmpi greater_than_or_equal %N, %m, signed : tile<i32> -> tile<i1>\n",
            f"%p = exp %v : {T}",
            f"%q = negf %v : {T}",
        ),
        branch(TEST, f"%p = exp %v : {T}", f"%q = negf %v : {T}"),
        ("arithmetic", "control-flow"),
    ),
    Pair(
        "a select of both values",
        STRAIGHT,
        kernel(
            f"{VALUE}{TEST}%p = negf %v : {T}\n%q = exp %v : {T}\n%c1 = reshape %c : tile<i1> -> tile<1xi1>\n"
            "%cv = broadcast %c1 : tile<1xi1> -> tile<128xi1>\n%w = select %cv, %p, %q : "
            f"tile<128xi1>, {T}\n{STORE_AT}"
        ),
        branch(TEST.replace("less_than", "less_than_or_equal"), f"%p = negf %v : {T}", f"%q = exp %v : {T}"),
        ("control-flow", "mask", "arithmetic"),
    ),
    Pair(
        "both branches the same",
        kernel(f"{VALUE}%w = negf %v : {T}\n{STORE_AT}"),
        branch(TEST, f"%p = negf %v : {T}", f"%q = negf %v : {T}"),
        branch(TEST, f"%p = negf %v : {T}", f"%q = absf %v : {T}"),
        ("control-flow", "mask", "arithmetic"),
    ),
]


@pytest.mark.parametrize("pair", BRANCHES, ids=[pair.name for pair in BRANCHES])
def test_branches(pair: Pair) -> None:
    assert_equal(pair.reference, pair.generated)
    assert_equal(pair.generated, pair.reference)
    assert assert_found(pair.reference, pair.wrong, *pair.rules).impact == "logic"


def test_a_guarded_store_is_a_masked_store() -> None:
    """`if block < m { store }`, or the test in the mask."""
    test = "%c = cmpi less_than %x, %m, signed : tile<i32> -> tile<i1>\n"
    guarded = kernel(f"{VALUE}%w = negf %v : {T}\n{test}if %c {{\n{STORE_AT}\n}}")
    masked = kernel(
        f"{VALUE}%w = negf %v : {T}\n{test}%c1 = reshape %c : tile<i1> -> tile<1xi1>\n"
        "%cv = broadcast %c1 : tile<1xi1> -> tile<128xi1>\n%both = andi %in, %cv : tile<128xi1>\n"
        + STORE_AT.replace("%in", "%both")
    )
    assert_equal(guarded, masked)


def test_a_lost_or_added_guard_of_a_store() -> None:
    test = "%c = cmpi less_than %x, %m, signed : tile<i32> -> tile<i1>\n"
    guarded = kernel(f"{VALUE}%w = negf %v : {T}\n{test}if %c {{\n{STORE_AT}\n}}")
    unguarded = kernel(f"{VALUE}%w = negf %v : {T}\n{STORE_AT}")
    assert_found(guarded, unguarded, "mask", "control-flow")
    assert_found(unguarded, guarded, "mask", "control-flow")


def test_a_minimum_as_a_branch() -> None:
    def stored(lines: str) -> str:
        return kernel(
            f"{lines}\n%f = itof %r signed : tile<i32> -> tile<f32>\n%q = offset %b, %x : "
            "tile<ptr<f32>>, tile<i32> -> "
            "tile<ptr<f32>>\n%st = store_ptr_tko weak %q, %f token=%t : tile<ptr<f32>>, tile<f32> -> token"
        )

    least = stored("%r = mini %N, %m signed : tile<i32>")
    by_branch = stored(
        f"{TEST}%r = if %c -> (tile<i32>) {{\nyield %N : tile<i32>\n}} else {{\nyield %m : tile<i32>\n}}"
    )
    assert_equal(least, by_branch)
    wrong = stored(
        f"{TEST}%r = if %c -> (tile<i32>) {{\nyield %m : tile<i32>\n}} else {{\nyield %N : tile<i32>\n}}"
    )
    assert assert_found(least, wrong, "arithmetic", "control-flow").impact == "logic"


def test_a_store_in_both_branches_is_one_store_of_either_value() -> None:
    """Two stores under opposite tests are not merged; each must be found on the other side."""
    two = kernel(
        f"{VALUE}{TEST}if %c {{\n%w = negf %v : {T}\n{STORE_AT}\n}} else "
        f"{{\n%w = exp %v : {T}\n{STORE_AT}\n}}"
    )
    assert_equal(two, two)
    lost = kernel(f"{VALUE}{TEST}if %c {{\n%w = negf %v : {T}\n{STORE_AT}\n}}")
    assert assert_found(two, lost, "memory-family/missing").impact == "logic"


def test_an_early_return_guards_what_follows() -> None:
    test = "%c = cmpi greater_than_or_equal %x, %m, signed : tile<i32> -> tile<i1>\n"
    early = kernel(f"{test}if %c {{\nreturn\n}}\n{VALUE}%w = negf %v : {T}\n{STORE_AT}")
    guarded = kernel(
        "%c = cmpi less_than %x, %m, signed : tile<i32> -> tile<i1>\n"
        f"if %c {{\n{VALUE}%w = negf %v : {T}\n{STORE_AT}\n}}"
    )
    assert_equal(early, guarded)


def test_a_lost_return_is_a_lost_guard() -> None:
    test = "%c = cmpi greater_than_or_equal %x, %m, signed : tile<i32> -> tile<i1>\n"
    early = kernel(f"{test}if %c {{\nreturn\n}}\n{VALUE}%w = negf %v : {T}\n{STORE_AT}")
    assert_found(early, kernel(f"{VALUE}%w = negf %v : {T}\n{STORE_AT}"), "mask", "control-flow")


ENDLESS = (
    "%w = loop iter_values(%acc = %zero) : {T} -> {T} {{\n"
    "%more = addf %acc, %acc : {T}\n{exit}continue %more : {T}\n}}\n"
).format


def test_below_a_loop_that_never_ends_nothing_is_reached() -> None:
    leaves = ENDLESS(T=T, exit=f"if %first {{\nbreak %more : {T}\n}}\n")
    stays = ENDLESS(T=T, exit="")
    first = "%first = cmpi equal %N, %i0, signed : tile<i32> -> tile<i1>\n"
    ends = kernel(f"{first}{leaves}{STORE}")
    never = kernel(f"{first}{stays}{STORE}")
    assert_equal(never, never)
    assert_found(ends, never, "control-flow")
    assert any("no break" in line for line in compared(never, never).assumptions)


SCALAR = "tile<ptr<f32>>"


def leaving(
    early: str, below: str = "%w = addf %v, %one : tile<128xf32>\n" + STORE, around: str = "{0}"
) -> str:
    """A loop that may be left at a zero that it loads, by `early`."""
    body = (
        "loop iter_values(%k = %i0) : tile<i32> {\n%k2 = addi %k, %i1 : tile<i32>\n"
        "%end = cmpi greater_than_or_equal %k, %N, signed : tile<i32> -> tile<i1>\nif %end {\nbreak\n}\n"
        f"%p = offset %a, %k : {SCALAR}, tile<i32> -> {SCALAR}\n"
        f"%e, %et = load_ptr_tko weak %p token=%t : {SCALAR} -> tile<f32>, token\n"
        "%none = constant <f32: 0.0> : tile<f32>\n"
        "%zeros = cmpf equal ordered %e, %none : tile<f32> -> tile<i1>\n"
        f"if %zeros {{\n{early}\n}}\n"
        "%d, %dt = atomic_rmw_tko relaxed device %b, addf, %e token=%t : "
        f"{SCALAR}, tile<f32> -> tile<f32>, token\ncontinue %k2 : tile<i32>\n}}"
    )
    return kernel(f"{LOAD}\n{around.format(body)}\n{below}")


def test_a_return_in_a_loop_leaves_the_kernel() -> None:
    returns = leaving("return")
    assert_equal(returns, returns)
    for other in ("break", "continue %k2 : tile<i32>"):
        assert any(each.impact == "logic" for each in found(returns, leaving(other)))
        assert any(each.impact == "logic" for each in found(leaving(other), returns))
    assert_equal(leaving("return", below=""), leaving("break", below=""))


def test_a_return_in_an_inner_loop_leaves_the_outer_one() -> None:
    around = (
        "loop iter_values(%j = %i0) : tile<i32> {{\n{0}\n%j2 = addi %j, %i1 : tile<i32>\n"
        "%last = cmpi greater_than %j2, %m, signed : tile<i32> -> tile<i1>\nif %last {{\nbreak\n}}\n"
        "continue %j2 : tile<i32>\n}}"
    )
    for below in ("", STORE.replace("%w", "%one")):
        returns = leaving("return", below, around)
        assert_equal(returns, returns)
        assert any(each.impact == "logic" for each in found(returns, leaving("break", below, around)))


def test_where_a_loop_goes_on_nothing_is_negative() -> None:
    """Division and shift to the right agree where the loop stays only while the value is positive."""

    def halving(step: str, leave: str = "greater_than %k, %i0") -> str:
        return kernel(
            f"{LOAD}\n%two = constant <i32: 2> : tile<i32>\n"
            f"%w = loop iter_values(%k = %m, %acc = %v) : tile<i32>, {T} -> {T} {{\n"
            f"%q = cmpi {leave}, signed : tile<i32> -> tile<i1>\nif %q {{\n}} else {{\nbreak %acc : {T}\n}}\n"
            f"{step}\n%more = addf %acc, %one : {T}\ncontinue %half, %more : tile<i32>, {T}\n}}\n{STORE}"
        )

    divided, shifted = "%half = divi %k, %two signed : tile<i32>", "%half = shri %k, %i1 signed : tile<i32>"
    assert_equal(halving(divided), halving(shifted))
    anyway = "not_equal %k, %i0"
    assert found(halving(divided, anyway), halving(shifted, anyway))
