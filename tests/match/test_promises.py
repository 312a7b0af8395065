"""Promises to the compiler: a stronger one must be proven, a weaker one only costs."""

from __future__ import annotations

import pytest

from tests.match.snippets import assert_equal, assert_found, compared, found, kernel
from tileir_diff.match.launch import ArgValue, Launch, SideLaunch
from tileir_diff.match.model import CompareOptions

PARAMETERS = "%a: tile<ptr<f32>>, %b: tile<ptr<f32>>, %n: tile<i32>, %m: tile<i32>"
HERE = " // here"


def promised(lines: str = "", pointer: str = "a", size: str = "n", name: str = "k") -> str:
    """A masked copy whose pointer and size are read through the promises in `lines`."""
    return kernel(
        f"%t = make_token : token\n%x, %y, %z = get_tile_block_id : tile<i32>\n{lines}\n"
        f"%l = iota : tile<128xi32>\n%n1 = reshape %{size} : tile<i32> -> tile<1xi32>\n"
        "%nv = broadcast %n1 : tile<1xi32> -> tile<128xi32>\n"
        "%in = cmpi less_than %l, %nv, signed : tile<128xi32> -> tile<128xi1>\n"
        f"%a1 = reshape %{pointer} : tile<ptr<f32>> -> tile<1xptr<f32>>\n"
        "%av = broadcast %a1 : tile<1xptr<f32>> -> tile<128xptr<f32>>\n"
        "%pa = offset %av, %l : tile<128xptr<f32>>, tile<128xi32> -> tile<128xptr<f32>>\n"
        "%b1 = reshape %b : tile<ptr<f32>> -> tile<1xptr<f32>>\n"
        "%bv = broadcast %b1 : tile<1xptr<f32>> -> tile<128xptr<f32>>\n"
        "%pb = offset %bv, %l : tile<128xptr<f32>>, tile<128xi32> -> tile<128xptr<f32>>\n"
        "%v, %vt = load_ptr_tko weak %pa, %in token=%t : tile<128xptr<f32>>, tile<128xi1> -> "
        "tile<128xf32>, token\n"
        "%st = store_ptr_tko weak %pb, %v, %in token=%t : tile<128xptr<f32>>, tile<128xf32>, "
        "tile<128xi1> -> token",
        parameters=PARAMETERS,
        prologue="",
        name=name,
    )


def divisible(number: int, of: str = "a", kind: str = "ptr<f32>", mark: str = "") -> str:
    return f"%d{of} = assume div_by<{number}>, %{of} : tile<{kind}>{mark}\n"


def bounded(low: str, high: str, mark: str = "") -> str:
    return f"%dn = assume bounded<{low}, {high}>, %n : tile<i32>{mark}\n"


def test_a_stronger_pointer_promise() -> None:
    reference = promised(divisible(16), "da")
    first = assert_found(reference, promised(divisible(64, mark=HERE), "da"), "divisibility/stronger")
    assert first.impact == "assume"
    assert_equal(reference, reference)


def test_a_new_pointer_promise() -> None:
    first = assert_found(promised(), promised(divisible(16, mark=HERE), "da"), "divisibility/stronger")
    assert first.impact == "assume"


def test_the_size_of_an_element_is_no_promise() -> None:
    """A pointer to f32 is a multiple of 4 anyway."""
    assert_equal(promised(), promised(divisible(4), "da"))


def test_a_weaker_pointer_promise_costs_only() -> None:
    reference = promised(divisible(64), "da")
    first = assert_found(reference, promised(divisible(16), "da"), "divisibility/weaker")
    assert first.impact == "hint"
    lost = assert_found(reference, promised(), "divisibility")
    assert lost.impact == "hint"


def test_a_stronger_size_promise() -> None:
    first = assert_found(
        promised(), promised(divisible(8, "n", "i32", HERE), size="dn"), "divisibility/stronger"
    )
    assert first.impact == "assume"


def test_a_launcher_that_specialises_makes_it_an_obligation() -> None:
    """cuTile Rust's launcher states the divisor of an argument from the launch itself."""
    generated = promised(divisible(8, "n", "i32"), size="dn", name="copy_entry")
    result = compared(promised(), generated)
    assert found(promised(), generated) == []
    assert any("multiple of 8" in line for line in result.obligations)


def test_the_launcher_of_both_sides_states_alike() -> None:
    """Two dumps of one front end: what only one of them promises is a difference."""
    reference = promised(divisible(4, "n", "i32"), size="dn", name="copy_entry")
    generated = promised(divisible(8, "n", "i32", HERE), size="dn", name="copy_entry")
    assert assert_found(reference, generated, "divisibility/stronger").impact == "assume"


def test_a_promise_that_is_lost_where_the_launch_fixes_the_value() -> None:
    """The compiler does not know the launch."""
    arrays = ArgValue("ptr", "a"), ArgValue("ptr", "b")
    side = SideLaunch(None, (1, 1, 1), (*arrays, ArgValue("i32", 64), ArgValue("i32", 64)))
    options = CompareOptions(launch=Launch(side, side, "launch.json"))
    reference = promised(divisible(16, "n", "i32"), size="dn")
    for weaker, rule in (
        (promised(), "divisibility/missing"),
        (promised(divisible(8, "n", "i32"), size="dn"), "divisibility/weaker"),
    ):
        assert assert_found(reference, weaker, rule, options=options).impact == "hint"
        assert found(weaker, reference, options) == []
    assert_equal(reference, reference, options)


def test_a_false_promise_about_a_constant() -> None:
    constant = "%c = constant <i32: 1000> : tile<i32>\n"
    reference = promised(constant, size="c")
    true = promised(constant + divisible(8, "c", "i32"), size="dc")
    false = promised(constant + divisible(16, "c", "i32", HERE), size="dc")
    assert_equal(reference, true)
    first = assert_found(reference, false, "divisibility/stronger")
    assert first.evidence == "false here: the value is 1000 in the text itself"


def test_a_false_promise_says_where_the_value_is_known_from() -> None:
    arrays = ArgValue("ptr", "a"), ArgValue("ptr", "b")
    side = SideLaunch(None, (1, 1, 1), (*arrays, ArgValue("i32", 12), ArgValue("i32", 12)))
    options = CompareOptions(launch=Launch(side, side, "launch.json"))
    true, false = promised(divisible(4, "n", "i32"), size="dn"), promised(divisible(8, "n", "i32"), size="dn")
    first = assert_found(true, false, "divisibility/stronger", options=options)
    assert first.evidence == "false here: the value is 12 at this launch"


def test_two_promises_make_one() -> None:
    twice = promised(
        "%d0 = assume div_by<16>, %a : tile<ptr<f32>>\n%da = assume div_by<64>, %d0 : tile<ptr<f32>>\n", "da"
    )
    assert_equal(promised(divisible(64), "da"), twice)


def test_not_negative_is_a_fact_about_a_size() -> None:
    reference, generated = promised(), promised(bounded("0", "?"), size="dn")
    assert found(reference, generated) == []
    assert any("not negative" in line for line in compared(reference, generated).obligations)
    assert_equal(generated, reference)


def test_not_negative_is_no_news_of_a_block_index() -> None:
    more = "%xs = assume bounded<0, ?>, %x : tile<i32>\n"
    assert_equal(promised(), promised(more))
    assert compared(promised(), promised(more)).obligations == []


def test_an_upper_bound_is_a_promise() -> None:
    reference = promised(bounded("0", "?"), size="dn")
    first = assert_found(reference, promised(bounded("0", "1000", HERE), size="dn"), "bounds/stronger")
    assert first.impact == "assume"
    assert_equal(promised(bounded("0", "1000"), size="dn"), promised(bounded("0", "1000"), size="dn"))
    wider = promised(bounded("0", "2000"), size="dn")
    assert_found(promised(bounded("0", "3000"), size="dn"), wider, "bounds/stronger")
    assert_equal(promised(bounded("0", "1000"), size="dn"), wider)


def test_a_lost_bound_costs_at_most() -> None:
    result = found(promised(bounded("0", "1000"), size="dn"), promised())
    assert all(each.impact in ("hint", "none") for each in result)


def test_a_false_bound_on_a_constant() -> None:
    constant = "%c = constant <i32: 1000> : tile<i32>\n"
    false = promised(constant + f"%dc = assume bounded<0, 999>, %c : tile<i32>{HERE}\n", size="dc")
    first = assert_found(promised(constant, size="c"), false, "bounds/stronger")
    assert first.evidence == "false here: the value is 1000 in the text itself"


def test_wrapping_promises_on_arithmetic() -> None:
    """`overflow<no_unsigned_wrap>` on a difference that may be negative."""

    def difference(flag: str, mark: str = "") -> str:
        return kernel(
            f"%d = subi %o, %mv {flag} : tile<128xi32>{mark}\n"
            "%q = offset %bv, %d : tile<128xptr<f32>>, tile<128xi32> -> tile<128xptr<f32>>\n"
            "%st = store_ptr_tko weak %q, %one, %in token=%t : tile<128xptr<f32>>, tile<128xf32>, "
            "tile<128xi1> -> token"
        )

    first = assert_found(
        difference(""), difference("overflow<no_unsigned_wrap>", HERE), "integer-mode/overflow"
    )
    assert first.impact == "assume"
    assert_equal(difference("overflow<no_unsigned_wrap>"), difference(""))


def scaled(op: str, *, name: str = "k", kind: str = "i32", before: str = "") -> str:
    """A store at an offset that `op` computes from the parameters."""
    return kernel(
        f"{before}%d = {op} : tile<{kind}>\n"
        f"%q = offset %b, %d : tile<ptr<f32>>, tile<{kind}> -> tile<ptr<f32>>\n"
        "%one0 = constant <f32: 1.0> : tile<f32>\n"
        "%st = store_ptr_tko weak %q, %one0 token=%t : tile<ptr<f32>>, tile<f32> -> token",
        name=name,
    )


SIGNED, UNSIGNED = "overflow<no_signed_wrap>", "overflow<no_unsigned_wrap>"
CPP = "_Z1kPfS_ii"


@pytest.mark.parametrize("flag", [SIGNED, UNSIGNED, "overflow<no_wrap>"])
def test_a_promise_of_an_op_that_the_other_side_lacks(flag: str) -> None:
    """Of another width, so that no op of the reference computes the same."""
    wide = "%m64 = exti %m signed : tile<i32> -> tile<i64>\n%n64 = exti %N signed : tile<i32> -> tile<i64>\n"
    reference = scaled("muli %m64, %n64", kind="i64", before=wide)
    first = assert_found(reference, scaled(f"muli %m, %N {flag}"), "integer-mode/overflow")
    assert (first.impact, first.reference) == ("assume", None)
    assert_equal(reference, scaled("muli %m, %N"))


@pytest.mark.parametrize("flag", [SIGNED, UNSIGNED])
def test_a_promise_between_two_dumps_of_tile_cpp(flag: str) -> None:
    """However many of the reference's own ops promise the same."""
    before = "".join(f"%c{index} = addi %m, %i4 {SIGNED} : tile<i32>\n" for index in range(8))
    plain, promised = (scaled(f"muli %m, %N {each}", name=CPP, before=before) for each in ("", flag))
    assert_found(plain, promised, "integer-mode/overflow")
    assert_equal(promised, promised)
    extra = promised.replace(before, before + before.replace("%c", "%e"))
    assert_found(plain, extra, "integer-mode/overflow")


def test_what_the_language_promises_is_taken_for_granted_and_said() -> None:
    plain, promised = (scaled(f"muli %m, %N {each}", name=name) for each, name in (("", "k"), (SIGNED, CPP)))
    assert_equal(plain, promised)
    assert any("signed arithmetic of tile C++" in line for line in compared(plain, promised).assumptions)
    assert not any("tile C++" in line for line in compared(plain, plain).assumptions)


@pytest.mark.parametrize(
    ("op", "flag"),
    [
        ("addi %big, %i1", SIGNED),  # wraps, and the wrapped value is a number of its type
        ("subi %i0, %i1", UNSIGNED),
        ("addi %minus, %i4", UNSIGNED),  # the sum is 3; as an unsigned one it wraps
        ("muli %minus, %minus", UNSIGNED),
    ],
)
def test_a_promise_that_is_false(op: str, flag: str) -> None:
    before = "%big = constant <i32: 2147483647> : tile<i32>\n%minus = constant <i32: -1> : tile<i32>\n"
    plain, promised = (scaled(f"{op} {each}", before=before) for each in ("", flag))
    assert_found(plain, promised, "integer-mode/overflow")


@pytest.mark.parametrize(
    ("op", "flag"),
    [("addi %i128, %i4", UNSIGNED), ("subi %i0, %i1", SIGNED), ("muli %x, %i1", "overflow<no_wrap>")],
)
def test_a_promise_that_the_facts_show(op: str, flag: str) -> None:
    assert_equal(scaled(op), scaled(f"{op} {flag}"))


STEPPED = """%k = constant <i32: {step}> : tile<i32>
%s = muli %x, %k : tile<i32>
%p = offset %a, %s : tile<ptr<f32>>, tile<i32> -> tile<ptr<f32>>
"""
ROWS = f"{STEPPED}%q = assume div_by<16>, %p : tile<ptr<f32>>\n"


def launched(grid: int) -> CompareOptions:
    arrays = ArgValue("ptr", "a"), ArgValue("ptr", "b")
    side = SideLaunch(None, (grid, 1, 1), (*arrays, ArgValue("i32", 64), ArgValue("i32", 64)))
    return CompareOptions(launch=Launch(side, side, "launch.json"))


@pytest.mark.parametrize(("step", "grid"), [(1001, 4), (1002, 2)])
def test_a_promise_that_two_blocks_cannot_both_keep(step: int, grid: int) -> None:
    """Wherever the array begins: the addresses of two blocks are no multiple of 16 bytes apart."""
    reference = promised(STEPPED.format(step=step), "p")
    generated = promised(ROWS.format(step=step), "q", name="_Z1k")
    first = found(reference, generated, launched(grid))[0]
    assert first.rule == "divisibility/stronger"
    assert first.evidence == f"false here: from block.x = 0 to 1 the value grows by {4 * step} bytes"
    assert f"promises div_by<16> of a + {step}*block.x; the reference has no such promise" == first.message


def test_a_promise_that_all_blocks_may_keep_is_not_called_false() -> None:
    reference, generated = promised(STEPPED.format(step=1000), "p"), promised(ROWS.format(step=1000), "q")
    assert [each.evidence for each in found(reference, generated, launched(4))] == [""]
    one = promised(STEPPED.format(step=1001), "p"), promised(ROWS.format(step=1001), "q")
    assert [each.evidence for each in found(*one, launched(1))] == [""]
    assert [each.evidence for each in found(*one)] == [""]


def test_blocks_that_have_left_before_promise_nothing() -> None:
    leave = "%one = constant <i32: 1> : tile<i32>\n%c = cmpi greater_than_or_equal %x, %one, signed : "
    leave += "tile<i32> -> tile<i1>\nif %c {\n return\n}\n"
    reference = promised(leave + STEPPED.format(step=1001), "p")
    generated = promised(leave + ROWS.format(step=1001), "q")
    assert all("false here" not in each.evidence for each in found(reference, generated, launched(4)))


def test_what_a_lost_promise_is_about() -> None:
    reference = promised(divisible(16), "da")
    assert found(reference, promised())[0].message == "lacks the reference's promise div_by<16> of a"


def copied_row(promise: str) -> str:
    """Copies the element whose number is loaded from `ids`, after a promise about that number."""
    return f"""entry @k(%ids: tile<ptr<i32>>, %a: tile<ptr<f32>>, %b: tile<ptr<f32>>) {{
%t = make_token : token
%id, %idt = load_ptr_tko weak %ids token=%t : tile<ptr<i32>> -> tile<i32>, token
%zero = constant <i32: 0> : tile<i32>
%c = maxi %id, %zero signed : tile<i32>
{promise}
%p = offset %a, %r : tile<ptr<f32>>, tile<i32> -> tile<ptr<f32>>
%v, %vt = load_ptr_tko weak %p token=%t : tile<ptr<f32>> -> tile<f32>, token
%st = store_ptr_tko weak %b, %v token=%t : tile<ptr<f32>>, tile<f32> -> token
return
}}
"""


PLAIN = copied_row("%r = addi %id, %zero : tile<i32>")


@pytest.mark.parametrize("bounds", ["0, ?", "0, 127", "?, 127"])
def test_a_range_of_loaded_data_is_promised_by_both_or_told(bounds: str) -> None:
    """Nobody can guarantee it but who writes the data: not the launch, and not the promise itself."""
    stated = copied_row(f"%r = assume bounded<{bounds}>, %id : tile<i32>")
    assert [(each.rule, each.impact) for each in found(PLAIN, stated)] == [("bounds/stronger", "assume")]
    assert found(stated, stated) == []
    assert [each for each in found(stated, PLAIN) if each.impact != "hint"] == []


def test_a_range_that_an_op_gives_needs_no_promise() -> None:
    clamped = copied_row("%r = addi %c, %zero : tile<i32>")
    assert found(clamped, copied_row("%r = assume bounded<0, ?>, %c : tile<i32>")) == []


def looped(promise: str) -> str:
    """A store in each pass of a loop from 2 below 10, at what is promised of its counter."""
    return promised(
        "%two = constant <i32: 2> : tile<i32>\n%four = constant <i32: 4> : tile<i32>\n"
        "%ten = constant <i32: 10> : tile<i32>\n%f = constant <f32: 1.0> : tile<f32>\n"
        "for %j in (%two to %ten, step %four) : tile<i32> {\n"
        f"  %c = assume {promise}, %j : tile<i32>\n"
        "  %pj = offset %a, %c : tile<ptr<f32>>, tile<i32> -> tile<ptr<f32>>\n"
        "  %sj = store_ptr_tko weak %pj, %f token=%t : tile<ptr<f32>>, tile<f32> -> token\n}"
    )


@pytest.mark.parametrize(
    ("promise", "told"),
    [
        ("bounded<2, 9>", False),
        ("bounded<0, 63>", False),
        ("bounded<?, 9>", False),
        ("bounded<2, 5>", True),
        ("bounded<3, 9>", True),
    ],
)
def test_what_the_bounds_of_a_loop_say_of_its_counter_is_no_promise(promise: str, *, told: bool) -> None:
    rules = [each.rule for each in found(looped("div_by<1>"), looped(promise))]
    assert ("bounds/stronger" in rules) == told


def ranged(low: int | str, high: int | str) -> str:
    """An index about which nothing else is known."""
    return kernel(
        "%q = addi %mv, %lane : tile<128xi32>\n"
        f"%r = assume bounded<{low}, {high}>, %q : tile<128xi32>\n"
        "%pr = offset %av, %r : tile<128xptr<f32>>, tile<128xi32> -> tile<128xptr<f32>>\n"
        "%sr = store_ptr_tko weak %pr, %one token=%t : tile<128xptr<f32>>, tile<128xf32> -> token"
    )


def test_what_each_number_of_the_type_keeps_is_no_promise() -> None:
    least, most = -(1 << 31), (1 << 31) - 1
    assert_equal(ranged("?", "?"), ranged(least, most))
    for bounds in ((7, most), (least, 1000), (least, most - 1)):
        assert [each.rule for each in found(ranged("?", "?"), ranged(*bounds))] == ["bounds/stronger"]


def grouped(promise: str) -> str:
    return ranged("?", "?").replace("bounded<?, ?>", promise)


@pytest.mark.parametrize(
    ("reference", "generated", "rule"),
    [
        ("div_by<4, every 4 along 0>", "div_by<2, every 4 along 0>", "divisibility/weaker"),
        ("div_by<4, every 4 along 0>", "div_by<4, every 8 along 0>", "divisibility/missing"),
        ("div_by<4, every 4 along 0>", "bounded<?, ?>", "divisibility/missing"),
        ("div_by<2, every 4 along 0>", "div_by<4, every 4 along 0>", "divisibility/stronger"),
        ("div_by<4, every 8 along 0>", "div_by<4, every 4 along 0>", "divisibility/stronger"),
    ],
)
def test_divisors_of_groups(reference: str, generated: str, rule: str) -> None:
    assert [each.rule for each in found(grouped(reference), grouped(generated))] == [rule]
    assert_equal(grouped(reference), grouped(reference))
