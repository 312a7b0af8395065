"""Memory: masks and padding of loads, atomics, order by tokens, prints and asserts."""

from __future__ import annotations

import pytest

from tests.match.snippets import LOAD, STORE, assert_equal, assert_found, compared, found, kernel, with_value
from tileir_diff.graph.evaluate import HANDLERS

T = "tile<128xf32>"
NEG = f"%w = negf %v : {T}"
LOAD_TYPE = "tile<128xptr<f32>>, tile<128xi1>, tile<128xf32> -> tile<128xf32>, token"
STORE_TYPE = "tile<128xptr<f32>>, tile<128xf32>, tile<128xi1> -> token"
HERE = " // here"
UNPADDED = (
    "%v, %vt = load_ptr_tko weak %pa, %in token=%t : tile<128xptr<f32>>, tile<128xi1> -> tile<128xf32>, token"
)
SQUARED = (
    f"%total = reduce %v dim=0 identities=[0.0 : f32] : {T} -> tile<f32>\n"
    "(%l: tile<f32>, %r: tile<f32>) {\n%s = addf %l, %r : tile<f32>\nyield %s : tile<f32>\n}\n"
    "%t1 = reshape %total : tile<f32> -> tile<1xf32>\n"
    f"%ts = broadcast %t1 : tile<1xf32> -> {T}\n%w = divf %v, %ts : {T}"
)
"""Every lane that was loaded counts."""


def loaded(load: str, body: str = SQUARED) -> str:
    return kernel(f"{load}\n{body}\n{STORE}")


def test_the_mask_of_a_load() -> None:
    unmasked = "%v, %vt = load_ptr_tko weak %pa token=%t : tile<128xptr<f32>> -> tile<128xf32>, token"
    first = assert_found(loaded(LOAD), loaded(unmasked + HERE), "mask/missing")
    assert first.impact == "bounds"
    assert_found(loaded(unmasked), loaded(LOAD + HERE), "mask/extra")


def test_a_load_outside_is_found_where_its_value_is_not_used() -> None:
    """The lanes are masked at the store, but reading them may fault."""
    unmasked = "%v, %vt = load_ptr_tko weak %pa token=%t : tile<128xptr<f32>> -> tile<128xf32>, token"
    first = assert_found(loaded(LOAD, NEG), loaded(unmasked + HERE, NEG), "mask/missing")
    assert first.impact == "bounds"


@pytest.mark.parametrize(
    ("load", "rule"),
    [
        (LOAD.replace("%zero token", "%one token"), "padding/changed"),
        (UNPADDED, "padding/missing"),
    ],
    ids=["changed", "missing"],
)
def test_the_padding_of_a_load(load: str, rule: str) -> None:
    assert load != LOAD
    assert assert_found(loaded(LOAD), loaded(load + HERE), rule).impact == "bounds"
    assert_equal(loaded(LOAD, NEG), loaded(load, NEG))


def test_padding_by_a_select_is_padding() -> None:
    unpadded = (
        "%u, %vt = load_ptr_tko weak %pa, %in token=%t : tile<128xptr<f32>>, tile<128xi1> -> "
        "tile<128xf32>, token\n"
        f"%v = select %in, %u, %zero : tile<128xi1>, {T}"
    )
    assert_equal(loaded(LOAD), loaded(unpadded))


def test_a_lost_store_and_an_extra_one() -> None:
    twice = with_value(f"{NEG}\n{STORE.replace('%st', '%s0').replace('%w', '%v')}")
    assert_found(twice, with_value(NEG), "memory-family/missing", "memory-family")
    assert_found(with_value(NEG), twice, "memory-family/extra", "memory-family")


def test_a_store_of_another_value() -> None:
    other = kernel(f"{LOAD}\n{NEG}\n{STORE.replace('%w', '%v')}{HERE}")
    assert assert_found(with_value(NEG), other, "arithmetic").impact == "logic"


# ---- atomics ---------------------------------------------------------------------------------------------

ATOMIC_PARAMETERS = "%a: tile<ptr<f32>>, %b: tile<ptr<f32>>, %n: tile<i32>, %m: tile<i32>, %c: tile<ptr<i32>>"


def atomic(
    mode: str = "add", order: str = "relaxed device", value: str = "%one", where: str = "%x", mark: str = ""
) -> str:
    return kernel(
        "%uno = constant <i32: 1> : tile<i32>\n%dos = constant <i32: 2> : tile<i32>\n"
        f"%p = offset %c, {where} : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>\n"
        f"%old, %ot = atomic_rmw_tko {order} %p, {mode}, "
        f"{value.replace('one', 'uno').replace('two', 'dos')} token=%t : "
        f"tile<ptr<i32>>, tile<i32> -> tile<i32>, token{mark}",
        parameters=ATOMIC_PARAMETERS,
    )


@pytest.mark.parametrize(
    ("wrong", "rules"),
    [
        (atomic(mode="max", mark=HERE), ("atomic/mode",)),
        (atomic(order="relaxed tl_blk", mark=HERE), ("memory-order/scope",)),
        (atomic(value="%two"), ("constant/value", "arithmetic/operands")),
        (atomic(where="%y"), ("addressing", "grid")),
    ],
    ids=["mode", "scope", "value", "address"],
)
def test_a_changed_atomic(wrong: str, rules: tuple[str, ...]) -> None:
    assert assert_found(atomic(), wrong, *rules).impact == "logic"


@pytest.mark.parametrize(
    ("weaker", "stronger", "detail"),
    [
        ("relaxed device", "release device", "ordering"),
        ("acquire device", "acq_rel device", "ordering"),
        ("relaxed device", "relaxed sys", "scope"),
        ("relaxed tl_blk", "relaxed device", "scope"),
    ],
)
def test_a_stronger_order_is_told_as_that(weaker: str, stronger: str, detail: str) -> None:
    rule = f"memory-order/{detail}"
    less, more = (atomic(order=each, mark=HERE) for each in (weaker, stronger))
    assert assert_found(more, less, rule).impact == "logic"
    costs = assert_found(less, more, rule)
    assert (costs.impact, "no result differs" in costs.effect) == ("logic", True)


def test_neither_of_two_orders_is_the_stronger() -> None:
    acquire, release = (atomic(order=f"{each} device", mark=HERE) for each in ("acquire", "release"))
    assert assert_found(acquire, release, "memory-order/ordering").impact == "logic"


def test_behind_a_stronger_order_all_else_is_compared() -> None:
    other = atomic(order="acq_rel device", value="%two")
    families = {each.rule.split("/")[0] for each in found(atomic(), other)}
    assert len(families) == 2, families


def test_a_lost_atomic() -> None:
    nothing = kernel("", parameters=ATOMIC_PARAMETERS)
    assert assert_found(atomic(), nothing, "atomic/missing").impact == "logic"
    assert assert_found(nothing, atomic(), "atomic/extra").impact == "logic"


def test_an_atomic_is_no_store() -> None:
    stored = kernel(
        "%uno = constant <i32: 1> : tile<i32>\n%p = offset %c, %x : tile<ptr<i32>>, tile<i32> -> "
        "tile<ptr<i32>>\n"
        "%s = store_ptr_tko weak %p, %uno token=%t : tile<ptr<i32>>, tile<i32> -> token",
        parameters=ATOMIC_PARAMETERS,
    )
    assert assert_found(atomic(), stored, "atomic").impact == "logic"


def swap(expected: str, desired: str) -> str:
    return kernel(
        "%no = constant <i32: 0> : tile<i32>\n%yes = constant <i32: 1> : tile<i32>\n"
        f"%old, %ot = atomic_cas_tko acquire device %c, %{expected}, %{desired} token=%t : "
        "tile<ptr<i32>>, tile<i32> -> tile<i32>, token",
        parameters=ATOMIC_PARAMETERS,
    )


def test_the_operands_of_a_compare_and_swap_are_ordered() -> None:
    assert_equal(swap("no", "yes"), swap("no", "yes"))
    assert assert_found(swap("no", "yes"), swap("yes", "no"), "constant", "arithmetic").impact == "logic"


# ---- order -----------------------------------------------------------------------------------------------


def in_place(second: str, source: str = "%pa") -> str:
    """Two stores to `a`, the second under a token; then a load of what they wrote, stored to `b`."""
    return kernel(
        f"%s1 = store_ptr_tko weak %pa, %one, %in token=%t : {STORE_TYPE}\n"
        f"%s2 = store_ptr_tko weak {source}, %zero, %in token=%{second} : {STORE_TYPE}"
    )


def test_a_lost_order_of_two_writes_of_one_array() -> None:
    first = assert_found(
        in_place("s1"),
        in_place("t").replace(
            "token=%t : " + STORE_TYPE + "\nreturn", "token=%t : " + STORE_TYPE + HERE + "\nreturn"
        ),
        "token-order/missing",
    )
    assert first.impact == "logic"
    assert first.status == "MISSING"
    assert_equal(in_place("t"), in_place("s1"))


def test_writes_of_two_arrays_need_no_order() -> None:
    assert_equal(in_place("s1", "%pb"), in_place("t", "%pb"))


def test_a_read_after_a_write() -> None:
    def body(token: str) -> str:
        return kernel(
            f"%s1 = store_ptr_tko weak %pa, %one, %in token=%t : {STORE_TYPE}\n"
            f"%v, %vt = load_ptr_tko weak %pa, %in, %zero token=%{token} : {LOAD_TYPE}\n"
            f"%w = negf %v : {T}\n{STORE}"
        )

    assert_equal(body("s1"), body("s1"))
    assert_found(body("s1"), body("t"), "token-order/missing")


def test_reads_need_no_order() -> None:
    def body(token: str) -> str:
        return kernel(
            f"{LOAD}\n%u, %ut = load_ptr_tko weak %pa, %in, %one token=%{token} : {LOAD_TYPE}\n"
            f"%w = addf %v, %u : {T}\n{STORE}"
        )

    assert_equal(body("vt"), body("t"))


def test_one_chain_or_one_token_for_each_array() -> None:
    chained = kernel(f"{LOAD}\n{NEG}\n{STORE.replace('token=%t', 'token=%vt')}")
    assert_equal(chained, with_value(NEG))


def test_joined_tokens_order_as_well() -> None:
    joined = in_place("both").replace("%s2 = ", "%both = join_tokens %t, %s1 : token\n%s2 = ")
    assert_equal(in_place("s1"), joined)


def test_disjoint_tiles_of_one_array_need_no_order() -> None:
    def body(token: str) -> str:
        return kernel(
            "%far = constant <i32: 128> : tile<128xi32>\n%o2 = addi %o, %far : tile<128xi32>\n"
            "%pf = offset %av, %o2 : tile<128xptr<f32>>, tile<128xi32> -> tile<128xptr<f32>>\n"
            f"%s1 = store_ptr_tko weak %pa, %one, %in token=%t : {STORE_TYPE}\n"
            f"%s2 = store_ptr_tko weak %pf, %zero, %in token=%{token} : {STORE_TYPE}"
        )

    assert_equal(body("s1"), body("t"))


# ---- prints, asserts -------------------------------------------------------------------------------------


def test_prints() -> None:
    """They change no result: the finding has no impact, and is still there."""

    def printed(text: str) -> str:
        return with_value(f'%pt = print_tko "{text}", %x token=%t : tile<i32> -> token\n{NEG}')

    def rules(reference: str, generated: str) -> list[str]:
        return [difference.rule for difference in compared(reference, generated).differences]

    assert rules(printed("x %d"), printed("y %d")) == ["debug-op/changed"]
    assert rules(printed("x %d"), with_value(NEG)) == ["debug-op/missing"]
    assert rules(with_value(NEG), printed("x %d")) == ["debug-op/extra"]
    assert rules(printed("x %d"), printed("x %d")) == []


def test_prints_of_a_constant_write_as_many_elements_as_the_tile_has() -> None:
    def printed(count: int) -> str:
        kind = f"tile<{count}xf32>"
        return with_value(
            f'%f = constant <f32: 1.0> : {kind}\n%pt = print_tko "v %f", %f token=%t : {kind} -> token\n{NEG}'
        )

    (difference,) = compared(printed(4), printed(8)).differences
    assert difference.rule == "debug-op/changed"
    assert compared(printed(4), printed(4)).differences == []


def asserted(predicate: str) -> str:
    return with_value(
        f"%ok = cmpi {predicate} %N, %m, signed : tile<i32> -> tile<i1>\n"
        f'assert %ok, "too small" : tile<i1>\n{NEG}'
    )


def test_asserts() -> None:
    assert_found(asserted("less_than"), asserted("greater_than"), "runtime-check/changed", "control-flow")


def test_a_lost_assert() -> None:
    assert_found(asserted("less_than"), with_value(NEG), "runtime-check/missing")


def test_an_op_without_a_model_is_said_so(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is equal to itself on equal operands, and the report says that it was not understood."""
    monkeypatch.delitem(HANDLERS, "mulhii")
    body = (
        "%h = mulhii %o, %mv : tile<128xi32>\n%f = itof %h signed : tile<128xi32> -> tile<128xf32>\n"
        f"%w = addf %v, %f : {T}"
    )
    text = with_value(body)
    assert found(text, text) == []
    assert any("mulhii" in line for line in compared(text, text).not_checked)
    wrong = with_value(body.replace("%o, %mv", "%o, %nv"))
    assert found(text, wrong) != []


GLOBAL_KEYS = "%c: tile<ptr<i32>>, %a: tile<ptr<f32>>, %b: tile<ptr<f32>>, %n: tile<i32>, %m: tile<i32>"
GLOBALS = "global @g1 <i32: [1, 2]> : tile<2xi32>\nglobal @g2 <i32: [1, 2]> : tile<2xi32>\n"
READ_BACK = (
    "%g = get_global @g1 : tile<ptr<i32>>\n%h = get_global @g2 : tile<ptr<i32>>\n"
    "%t1 = store_ptr_tko weak %g, %i4 token=%t : tile<ptr<i32>>, tile<i32> -> token\n"
    "%r, %t2 = load_ptr_tko weak {} token=%t1 : tile<ptr<i32>> -> tile<i32>, token\n"
    "%s = store_ptr_tko weak %c, %r token=%t2 : tile<ptr<i32>>, tile<i32> -> token"
)


def test_globals_with_equal_contents_are_two_arrays() -> None:
    own, other = (GLOBALS + kernel(READ_BACK.format(g), parameters=GLOBAL_KEYS) for g in ("%g", "%h"))
    assert found(own, other) != []
    assert found(other, own) != []
    for text in (own, other):
        assert_equal(text, text.replace("@g1", "@first").replace("@g2", "@second"))


def test_constant_globals_with_equal_contents_are_one() -> None:
    constants = GLOBALS.replace("global", "global constant")
    load = (
        "%g = get_global @{} : tile<ptr<i32>>\n"
        "%r, %t2 = load_ptr_tko weak %g token=%t : tile<ptr<i32>> -> tile<i32>, token\n"
        "%s = store_ptr_tko weak %c, %r token=%t2 : tile<ptr<i32>>, tile<i32> -> token"
    )
    first, second = (constants + kernel(load.format(g), parameters=GLOBAL_KEYS) for g in ("g1", "g2"))
    assert_equal(first, second)
