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
