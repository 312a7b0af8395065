"""What changes no value and is told all the same: prints in another order, alignment, unsigned loops."""

from __future__ import annotations

import pytest

from tests.match.snippets import assert_equal, compared, found, kernel

PRINTS = '%p1 = print_tko "a" token=%t -> token\n%p2 = print_tko "b" token=%p1 -> token'
SWAPPED = '%p1 = print_tko "b" token=%t -> token\n%p2 = print_tko "a" token=%p1 -> token'
APART = '%p1 = print_tko "a" token=%t -> token\n%p2 = print_tko "b" token=%t -> token'
ORDER = "debug-op/changed"


def rules(reference: str, generated: str) -> list[tuple[str, str | None]]:
    return [(each.rule, each.impact) for each in compared(kernel(reference), kernel(generated)).differences]


def test_prints_in_another_order() -> None:
    assert rules(PRINTS, PRINTS) == []
    assert [rule for rule, _ in rules(PRINTS, SWAPPED)] == [ORDER]
    assert [rule for rule, _ in rules(PRINTS, APART)] == [ORDER]
    assert rules(APART, PRINTS) == []
    assert found(kernel(PRINTS), kernel(SWAPPED)) == []


def scratch(alignment: int, elements: int = 64) -> str:
    return (
        f"%g = alloca num_elem = {elements}, alignment = {alignment} : tile<ptr<f32>>\n"
        "%c = constant <f32: 1.0> : tile<f32>\n"
        "%s = store_ptr_tko weak %g, %c token=%t : tile<ptr<f32>>, tile<f32> -> token"
    )


def test_memory_of_the_kernel_that_is_aligned_less() -> None:
    less = found(kernel(scratch(128)), kernel(scratch(4)))
    assert [(each.rule, each.impact) for each in less] == [("divisibility/weaker", "hint")]
    assert_equal(kernel(scratch(4)), kernel(scratch(128)))
    assert_equal(kernel(scratch(128)), kernel(scratch(128)))


def test_a_global_that_is_aligned_less() -> None:
    body = (
        "%g = get_global @g : tile<ptr<f32>>\n"
        "%c, %ct = load_ptr_tko weak %g token=%t : tile<ptr<f32>> -> tile<f32>, token\n"
        "%s = store_ptr_tko weak %a, %c token=%t : tile<ptr<f32>>, tile<f32> -> token"
    )
    wide, narrow = (
        f"global @g{text} <f32: [1.0, 2.0]> : tile<2xf32>\n{kernel(body)}"
        for text in (" alignment = 128", "")
    )
    assert [(each.rule, each.impact) for each in found(wide, narrow)] == [("divisibility/weaker", "hint")]
    assert_equal(narrow, wide)
    assert_equal(wide, wide)


ACCESS = (
    "%g = get_global @g : tile<ptr<f32>>\n"
    "%c, %ct = load_ptr_tko weak %g token=%t : tile<ptr<f32>> -> tile<f32>, token\n"
    "%s = store_ptr_tko weak %a, %c token=%t : tile<ptr<f32>>, tile<f32> -> token"
)


def with_global(kind: str, body: str = ACCESS) -> str:
    return f"global {kind}@g alignment = 16 <f32: [1.0, 2.0]> : tile<2xf32>\n{kernel(body)}"


def test_a_global_that_only_one_side_takes_as_never_written() -> None:
    mutable, constant = with_global(""), with_global("constant ")
    promised = found(mutable, constant)
    assert [(each.rule, each.impact) for each in promised] == [("constant/read-only", "assume")]
    assert [(each.rule, each.impact) for each in found(constant, mutable)] == [("constant/writable", "hint")]


def test_a_global_that_is_not_accessed_may_be_anything() -> None:
    body = ACCESS.replace("load_ptr_tko weak %g", "load_ptr_tko weak %b")
    assert_equal(with_global("", body), with_global("constant ", body))
    assert_equal(with_global("constant "), with_global("constant "))


def counted(unsigned: str, bound: str) -> str:
    return kernel(
        f"%r = for {unsigned}%k in (%i0 to {bound}, step %i1) : tile<i32> iter_values(%s = %i0) -> "
        "(tile<i32>) {\n"
        "%d = muli %k, %s : tile<i32>\n%s2 = addi %d, %k : tile<i32>\ncontinue %s2 : tile<i32>\n}\n"
        "%f = itof %r signed : tile<i32> -> tile<f32>\n"
        "%st = store_ptr_tko weak %b, %f token=%t : tile<ptr<f32>>, tile<f32> -> token"
    )


@pytest.mark.parametrize("swapped", [False, True])
def test_a_loop_that_compares_unsigned_on_one_side_is_a_note(swapped: bool) -> None:
    reference, generated = (counted(text, "%m") for text in ("", "unsigned ")[:: -1 if swapped else 1])
    assert_equal(reference, generated)
    result = compared(reference, generated)
    assert [line.partition(":")[0] for line in result.obligations] == ["b.stride0 >= 0"]


def test_but_not_where_it_is_the_same() -> None:
    for reference, generated in (
        (counted("unsigned ", "%m"), counted("unsigned ", "%m")),
        (counted("", "%N"), counted("unsigned ", "%N")),
    ):
        assert compared(reference, generated).obligations == []


def several(*allocas: str) -> str:
    """Block memory of these names, written and read through; the allocations in this order."""
    sizes = {"dead": 8, "floats": 64, "fewer": 32, "integers": 64}
    kinds = dict.fromkeys(sizes, "f32") | {"integers": "i32"}
    made = [
        f"%{name} = alloca num_elem = {sizes[name]}, alignment = 128 : tile<ptr<{kinds[name]}>>"
        for name in allocas
    ]
    return kernel(
        "\n".join(
            [
                *made,
                "%c = constant <f32: 1.0> : tile<f32>",
                "%s1 = store_ptr_tko weak %floats, %c token=%t : tile<ptr<f32>>, tile<f32> -> token",
                "%s2 = store_ptr_tko weak %fewer, %c token=%s1 : tile<ptr<f32>>, tile<f32> -> token",
                "%s3 = store_ptr_tko weak %integers, %i4 token=%s2 : tile<ptr<i32>>, tile<i32> -> token",
                "%v, %vt = load_ptr_tko weak %floats token=%s3 : tile<ptr<f32>> -> tile<f32>, token",
                "%s4 = store_ptr_tko weak %a, %v token=%vt : tile<ptr<f32>>, tile<f32> -> token",
            ]
        )
    )


def test_memory_of_the_kernel_in_another_order() -> None:
    plain = several("floats", "fewer", "integers")
    for other in (("integers", "fewer", "floats"), ("dead", "floats", "fewer", "integers")):
        assert_equal(plain, several(*other))
        assert_equal(several(*other), plain)
    smaller = plain.replace(
        "num_elem = 64, alignment = 128 : tile<ptr<f32>>", "num_elem = 16, alignment = 128 : tile<ptr<f32>>"
    )
    (told,) = found(plain, smaller)
    assert (told.rule, told.expected, told.actual) == ("addressing/base", "64", "16")


SEEN = (
    "%in_range = cmpi less_than %n, %i4, signed : tile<i32> -> tile<i1>\n"
    'assert %in_range, "n is too large" : tile<i1>'
)
PRINTED = '%p1 = print_tko "n is %d", %n token=%t : tile<i32> -> token'


@pytest.mark.parametrize(
    ("line", "family", "words"),
    [(SEEN, "runtime-check", "<= 3 ('n is too large')"), (PRINTED, "debug-op", "'n is %d'")],
    ids=["assert", "print"],
)
def test_what_is_seen_on_one_side_only_is_told_in_words(line: str, family: str, words: str) -> None:
    for sides, detail in (((line, ""), "missing"), (("", line), "extra")):
        reference, generated = map(kernel, sides)
        (told,) = compared(reference, generated).differences
        assert told.rule == f"{family}/{detail}"
        assert any(said.endswith(words) for said in (told.expected, told.actual))


def test_one_other_value_of_a_table_is_told_where_it_stands() -> None:
    def table(last: str) -> str:
        return f"global @g <f32: [1.0, 2.0, {last}, 4.0]> : tile<4xf32>\n{kernel(ACCESS)}"

    (told,) = compared(table("3.0"), table("5.0")).differences
    assert (told.rule, told.expected, told.actual) == (
        "constant/value",
        "3.0 as element 2",
        "5.0 as element 2",
    )
    assert told.generated is not None
    assert told.generated.op.short == "global"
    assert found(table("3.0"), table("3.0")) == []


COUNTER = """
%cnt = get_global @cnt : tile<ptr<i32>>
%old, %ct = atomic_rmw_tko relaxed device %cnt, add, %i1 token=%t
  : tile<ptr<i32>>, tile<i32> -> tile<i32>, token
%few = cmpi less_than %old, %n, signed : tile<i32> -> tile<i1>
if %few {
  %at = offset %b, %old : tile<ptr<f32>>, tile<i32> -> tile<ptr<f32>>
  %number = itof %x signed : tile<i32> -> tile<f32>
  %st = store_ptr_tko weak %at, %number token=%ct : tile<ptr<f32>>, tile<f32> -> token
}
"""


@pytest.mark.parametrize(
    ("start", "words"), [("0, 1", "1 as element 1"), ("2, 0", "2 as element 0"), ("7, 7", "7 as element 0")]
)
def test_another_start_of_a_counter_is_told_at_the_global(start: str, words: str) -> None:
    """Once, whatever is made of what the counter gives: an index, a condition."""

    def counting(values: str) -> str:
        return f"global @cnt <i32: [{values}]> : tile<2xi32>\n{kernel(COUNTER)}"

    (told,) = compared(counting("0, 0"), counting(start)).differences
    assert (told.rule, told.actual) == ("constant/value", words)
    assert told.generated is not None
    assert told.generated.op.short == "global"
