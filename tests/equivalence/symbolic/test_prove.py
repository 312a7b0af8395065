"""What z3 settles where the normal form does not, under which facts, and what it leaves."""

from __future__ import annotations

import re
import sys
from typing import Any

import pytest

from tests.equivalence.symbolic.support import (
    B,
    N,
    P,
    assert_open,
    assert_proven,
    assert_refuted,
    compared,
    entry,
    proven,
    store_at,
    store_if,
)
from tileir_diff import Execution, diff
from tileir_diff.dialect import parse_text
from tileir_diff.equivalence.symbolic.backend import z3

SIZE = f"%N = assume bounded<0, ?>, %n : {N}\n"
SMALL = f"%N = assume bounded<0, 2147483520>, %n : {N}\n"


# ---- one value ---------------------------------------------------------------------------------------

ADDED = f"%u = addi %N, %i127 : {N}\n%s = divi %u, %i128 signed : {N}"
CEILING = f"%s = divi %N, %i128 signed rounding<positive_inf> : {N}"


def test_ceiling_division_spelled_out_names_the_range_that_it_needs() -> None:
    report = compared(store_at(SMALL + ADDED), store_at(SMALL + CEILING))
    assert report.ok
    (line,) = [line for line in report.assumptions if "proven" in line]
    assert "0 <= " in line
    assert "<= 2147483520 (assume" in line
    assert "fits" not in line


def test_ceiling_division_without_an_upper_bound_rests_on_a_sum_that_does_not_wrap() -> None:
    report = compared(store_at(SIZE + ADDED), store_at(SIZE + CEILING))
    (line,) = [line for line in report.assumptions if "proven" in line]
    assert "+ 127 fits i32" in line


def test_ceiling_division_of_a_negative_number_differs() -> None:
    assert_refuted(*(store_at(body.replace("%N", "%n")) for body in (ADDED, CEILING)), "=-")


ROUND_UP = (
    f"%u = addi %N, %i127 : {N}\n%k = constant <i32: 127> : {N}\n%l = ori %u, %k : {N}\n"
    f"%s = subi %l, %k : {N}"
)
TILES = f"%c = divi %N, %i128 signed rounding<positive_inf> : {N}\n%s = muli %c, %i128 : {N}"


def test_a_solver_that_gives_up_after_a_first_answer_proves_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    check, found = z3.Solver.check, list[bool]()

    def once(solver: Any) -> Any:
        if any(found):
            return z3.unknown
        found.append(check(solver) == z3.sat)
        return z3.sat if found[-1] else z3.unknown

    monkeypatch.setattr(z3.Solver, "check", once)
    report = compared(*(store_at(body.replace("%N", "%n")) for body in (ADDED, CEILING)))
    assert any(found)
    assert not report.ok
    assert not proven(report)


def test_rounding_up_by_setting_bits() -> None:
    assert_proven(store_at(SIZE + ROUND_UP), store_at(SIZE + TILES))


def test_rounding_up_to_another_multiple() -> None:
    wrong = ROUND_UP.replace("i32: 127", "i32: 63")
    assert_refuted(store_at(SIZE + wrong), store_at(SIZE + TILES), "element 64, generated element 0")


FLOOR = f"%s = divi %n, %i128 signed rounding<negative_inf> : {N}"
SPELLED = f"""
%r = remi %n, %i128 signed : {N}
%g = cmpi less_than %r, %i0, signed : {N} -> {B}
%u = divi %n, %i128 signed : {N}
%d = exti %g unsigned : {B} -> {N}
%s = subi %u, %d : {N}
"""


def test_floor_division_spelled_with_a_remainder() -> None:
    report = compared(store_at(FLOOR), store_at(SPELLED))
    assert report.ok


def test_floor_division_against_division_towards_zero() -> None:
    plain = f"%s = divi %n, %i128 signed : {N}"
    assert_refuted(store_at(FLOOR), store_at(plain), "reference element -1, generated element 0")


FLOOR_OF_ANY = FLOOR.replace("%i128", "%m")
SPELLED_OF_ANY = f"""
%r = remi %n, %m signed : {N}
%l1 = cmpi less_than %r, %i0, signed : {N} -> {B}
%l2 = cmpi less_than %m, %i0, signed : {N} -> {B}
%o = xori %l1, %l2 : {B}
%rest = cmpi not_equal %r, %i0, signed : {N} -> {B}
%g = andi %o, %rest : {B}
%by = divi %n, %m signed : {N}
%d = subi %by, %i1 : {N}
%s = select %g, %d, %by : {B}, {N}
"""


def test_floor_division_by_an_unknown_number_spelled_with_a_remainder() -> None:
    report = compared(store_at(FLOOR_OF_ANY), store_at(SPELLED_OF_ANY))
    (line,) = [line for line in report.assumptions if "proven" in line]
    assert line.endswith("under: reference: the divisor of line 11 is not 0")


def test_floor_division_spelled_without_the_sign_of_the_divisor_needs_a_positive_one() -> None:
    forgot = SPELLED_OF_ANY.replace("%g = andi %o", "%g = andi %l1")
    report = compared(store_at(FLOOR_OF_ANY), store_at(forgot))
    (line,) = [line for line in report.assumptions if "proven" in line]
    assert "> 0, a divisor" in line


def test_a_remainder_as_what_a_quotient_leaves() -> None:
    by_quotient = f"%by = divi %n, %m signed : {N}\n%whole = muli %by, %m : {N}\n%s = subi %n, %whole : {N}"
    report = compared(store_at(f"%s = remi %n, %m signed : {N}"), store_at(by_quotient))
    assert report.ok


SWIZZLE = f"""
%tiles = divi %N, %i128 signed rounding<positive_inf> : {N}
%i4 = constant <i32: 4> : {N}
%group = muli %tiles, %i4 : {N}
{{quotient}}
%first = muli %by, %i4 : {N}
%left = subi %m, %first : {N}
%size = mini %left, %i4 signed : {N}
%within = remi %x, %group signed : {N}
%row = remi %within, %size signed : {N}
%column = divi %within, %size signed : {N}
%u = addi %first, %row : {N}
%v = muli %u, %i128 : {N}
%s = addi %v, %column : {N}
"""


def test_one_division_inside_of_others() -> None:
    """What is left by a remainder, divided: proven by itself, and then put in place in the whole."""
    plain = SWIZZLE.format(quotient=f"%by = divi %x, %group signed : {N}")
    spelled = SWIZZLE.format(
        quotient=f"""%r = remi %x, %group signed : {N}
%e = subi %x, %r : {N}
%by = divi %e, %group signed : {N}"""
    )
    assert_proven(store_at(SIZE + plain), store_at(SIZE + spelled), "is not 0")


def test_an_op_that_promises_not_to_wrap_is_a_fact() -> None:
    wide = f"""%e = exti %n signed : {N} -> tile<i64>
%f = exti %m signed : {N} -> tile<i64>
%s = muli %e, %f : tile<i64>"""
    narrow = f"""%u = muli %n, %m overflow<no_signed_wrap> : {N}
%s = exti %u signed : {N} -> tile<i64>"""
    report = compared(store_at(narrow, "i64"), store_at(wide, "i64"))
    (line,) = [line for line in report.assumptions if "proven" in line]
    assert "reference: the muli of line 11 does not wrap, as it promises" in line


def test_what_wrapped_before_an_op_is_no_matter_of_its_promise() -> None:
    """`(n + 64) - 1`: only the second op promises not to wrap."""
    body = f"""%k = constant <i32: 64> : {N}
%u = addi %n, %k : {N}
%v = subi %u, %i1 overflow<no_signed_wrap> : {N}
%s = exti %v signed : {N} -> tile<i64>"""
    wide = f"""%e = exti %n signed : {N} -> tile<i64>
%k = constant <i64: 63> : tile<i64>
%s = addi %e, %k : tile<i64>"""
    report = compared(store_at(body, "i64"), store_at(wide, "i64"))
    (line,) = [line for line in report.assumptions if "proven" in line]
    assert "fits i32" in line
    assert "as it promises" not in line


def set_bits(name: str = "s") -> str:
    """127 more than a multiple of 128, by setting bits of which one is set: no sum in the normal form."""
    return f"%h = addi %u, %i1 : {N}\n%{name} = ori %h, %i127 : {N}"


def test_an_or_that_is_a_sum() -> None:
    scaled = f"%u = muli %n, %i128 : {N}\n"
    assert_proven(store_at(scaled + set_bits()), store_at(f"{scaled}%s = addi %u, %i127 : {N}"))


def test_an_or_that_is_no_sum() -> None:
    scaled = f"%u = muli %n, %i1 : {N}\n"
    assert_refuted(
        store_at(f"{scaled}%s = ori %u, %i127 : {N}"), store_at(f"{scaled}%s = addi %u, %i127 : {N}")
    )


# ---- width -------------------------------------------------------------------------------------------

NARROW = f"%u = muli %N, %i128 : {N}\n%s = exti %u signed : {N} -> tile<i64>"
WIDE = f"""
%e = exti %N signed : {N} -> tile<i64>
%k = constant <i64: 128> : tile<i64>
%s = muli %e, %k : tile<i64>
"""


def test_offsets_of_other_width_are_equal_under_a_size() -> None:
    fact = f"%N = assume bounded<0, 16777215>, %n : {N}\n"
    report = compared(store_at(fact + NARROW, "i64"), store_at(fact + WIDE, "i64"))
    assert any("<= 16777215 (assume" in line and "fits" not in line for line in report.assumptions)


def test_offsets_of_other_width_without_a_size_rest_on_no_wrapping() -> None:
    report = compared(store_at(SIZE + NARROW, "i64"), store_at(SIZE + WIDE, "i64"))
    assert any("128*" in line and "fits i32" in line for line in report.assumptions)


def test_a_product_that_is_meant_to_wrap_is_not_taken_to_fit() -> None:
    """A hash wraps, so that a wider one is another."""
    narrow = f"""%h = constant <i32: 1664525> : {N}
%u = muli %n, %h : {N}
%s = exti %u signed : {N} -> tile<i64>"""
    wide = f"""%e = exti %n signed : {N} -> tile<i64>
%k = constant <i64: 1664525> : tile<i64>
%s = muli %e, %k : tile<i64>"""
    assert_refuted(store_at(narrow, "i64"), store_at(wide, "i64"))


# ---- conditions --------------------------------------------------------------------------------------

UNSIGNED = f"%c = cmpi less_than %n, %M, unsigned : {N} -> {B}"
BOTH = f"""
%c1 = cmpi less_than %n, %M, signed : {N} -> {B}
%c2 = cmpi greater_than_or_equal %n, %i0, signed : {N} -> {B}
%c = andi %c1, %c2 : {B}
"""


def test_an_unsigned_comparison_is_two_signed_ones_under_a_condition() -> None:
    """Under a promise the normal form says so."""
    condition = f"%c0 = cmpi greater_than_or_equal %m, %i0, signed : {N} -> {B}"
    unsigned, both = (
        f"{condition}\n{body.replace('%M', '%m').replace('%c =', '%d =')}\n%c = andi %c0, %d : {B}"
        for body in (UNSIGNED, BOTH)
    )
    assert_proven(store_if(unsigned), store_if(both))


def test_without_the_promise_it_is_not() -> None:
    bodies = (body.replace("%M", "%m") for body in (UNSIGNED, BOTH))
    assert_refuted(*map(store_if, bodies), "reference active, generated inactive")


def test_a_promise_in_a_branch_is_none_outside() -> None:
    fact = f"if %x0 {{\n%M2 = assume bounded<0, ?>, %m : {N}\nyield\n}}\n"
    head = f"%x0 = cmpi equal %x, %i1, signed : {N} -> {B}\n{fact}"
    bodies = (head + body.replace("%M", "%m") for body in (UNSIGNED, BOTH))
    assert_refuted(*map(store_if, bodies))


def test_signedness_alone() -> None:
    plain = "%c = cmpi less_than %n, %i128, {} : tile<i32> -> tile<i1>"
    assert_refuted(
        store_if(plain.format("unsigned")), store_if(plain.format("signed")), "inactive, generated active"
    )


def test_a_block_is_inside_the_grid() -> None:
    """Without a launch: the index of a block is below the number of blocks."""
    inside = f"%c = cmpi less_than %x, %gx, unsigned : {N} -> {B}\n"
    doubled = f"""
%x2 = muli %x, %x : {N}
%g2 = muli %gx, %gx : {N}
%l1 = cmpi less_than_or_equal %x2, %g2, signed : {N} -> {B}
%l2 = cmpi less_than %x, %gx, signed : {N} -> {B}
%c = andi %l2, %l2 : {B}
"""
    assert compared(store_if(inside), store_if(doubled)).ok


# ---- rows ------------------------------------------------------------------------------------------------


ROW = f"""
%rows = assume bounded<0, ?>, %n : {N}
%u = muli %x, %i128 : {N}
"""
EVERY = f"{ROW}%c = constant <i1: true> : {B}"


@pytest.mark.parametrize("launch", [None, "grid.x=8"])
def test_a_lost_row_mask_is_equal_if_the_launch_covers_exactly_the_rows(launch: str | None) -> None:
    masked = f"{ROW}%c = cmpi less_than %u, %rows, signed : {N} -> {B}"
    report = compared(store_if(masked), store_if(EVERY), launch=launch)
    assert report.verdict == "PASS_WITH_NOTES"
    assert any("128*block.x < " in line for line in report.obligations)


def test_a_row_mask_that_only_the_generated_side_has_is_a_difference() -> None:
    """It may leave out rows that the reference handles."""
    masked = f"{ROW}%c = cmpi less_than %u, %rows, signed : {N} -> {B}"
    assert not compared(store_if(EVERY), store_if(masked)).ok


def test_a_row_mask_that_is_another_is_a_difference() -> None:
    """One row too many: the generated side says which rows it handles, and these are not the reference's."""
    masks = [
        f"{ROW}%c = cmpi {order} %x, %rows, signed : {N} -> {B}"
        for order in ("less_than", "less_than_or_equal")
    ]
    assert not compared(*map(store_if, masks)).ok


@pytest.mark.parametrize(
    "condition",
    [
        f"%c = cmpi less_than %x, %i1, signed : {N} -> {B}",
        f"%c = cmpi equal %x, %rows, signed : {N} -> {B}",
        f"%c = cmpi greater_than %x, %rows, signed : {N} -> {B}",
    ],
)
def test_a_lost_choice_of_blocks_is_no_row_mask(condition: str) -> None:
    """The first block, or one that a parameter names: no launch of several blocks has it true for all."""
    assert not compared(store_if(ROW + condition), store_if(EVERY)).ok


TILE = f"""
%lanes = iota : tile<128xi32>
%n1 = reshape %n : {N} -> tile<1xi32>
%ns = broadcast %n1 : tile<1xi32> -> tile<128xi32>
%inside = cmpi less_than %lanes, %ns, signed : tile<128xi32> -> tile<128xi1>
%b1 = reshape %b : {P} -> tile<1xptr<f32>>
%bs = broadcast %b1 : tile<1xptr<f32>> -> tile<128xptr<f32>>
%p = offset %bs, %lanes : tile<128xptr<f32>>, tile<128xi32> -> tile<128xptr<f32>>
%ones = constant <f32: 1.0> : tile<128xf32>
"""


def test_a_lost_mask_over_lanes_is_a_difference_that_names_when_it_is_none() -> None:
    types = "tile<128xptr<f32>>, tile<128xf32>"
    masked = f"{TILE}%st = store_ptr_tko weak %p, %ones, %inside token=%t : {types}, tile<128xi1> -> token"
    bare = f"{TILE}%st = store_ptr_tko weak %p, %ones token=%t : {types} -> token"
    report = assert_refuted(entry(masked), entry(bare), "generated active; proven equal where i0 < ")
    assert report.verdict == "FAIL_FIXABLE"


# ---- where the reference is undefined --------------------------------------------------------------------


def beside_load(index: str, where: str) -> str:
    """A kernel that stores to `where`, and loads a tile of 128 of 300 elements."""
    view = "tensor_view<300xf32, strides=[1]>"
    tiles = f"partition_view<tile=(128), {view}>"
    return store_at(f"""
%tv = make_tensor_view %a, shape = [300], strides = [1] : {view}
%pv = make_partition_view %tv : {tiles}
%v, %vt = load_view_tko weak %pv[{index}] token = %t : {tiles}, {N} -> tile<128xf32>, token
{where}""")


CLAMPED = f"%i2 = constant <i32: 2> : {N}\n%s = mini %x, %i2 signed : {N}"
PLAIN = f"%s = addi %x, %i0 : {N}"


def test_tiles_begin_inside_of_their_view() -> None:
    report = assert_proven(beside_load("%x", CLAMPED), beside_load("%x", PLAIN))
    (finding,) = proven(report)
    assert "reference: the tile of line 14 begins inside of its view" in finding.evidence


def test_that_the_generated_side_may_leave_its_view_proves_nothing() -> None:
    assert_open(beside_load("%i0", CLAMPED), beside_load("%x", PLAIN), "the generated side may be undefined")


def test_an_example_names_only_what_matters() -> None:
    report = assert_refuted(*(store_at(body.replace("%N", "%n")) for body in (ADDED, CEILING)))
    found = re.search(r"differs for: (.*): reference element", report.findings[0].evidence)
    assert found
    assert re.fullmatch(r"\S+=-\d+", found[1])


# ---- what is left --------------------------------------------------------------------------------------


def test_a_loaded_value_is_no_counterexample() -> None:
    load = f"%v, %vt = load_ptr_tko weak %q token=%t : tile<ptr<i32>> -> {N}, token\n"
    reference = store_at(f"{load}%s = divi %v, %i128 signed : {N}")
    generated = store_at(f"{load}%s = divi %v, %i128 signed rounding<negative_inf> : {N}")
    report = assert_open(reference, generated, "depends on what is loaded")
    assert "proven equal where load[" in report.findings[0].evidence
    assert report.findings[0].evidence.endswith("is not negative")


def test_loaded_values_are_equal_where_they_are_loaded_from_one_address() -> None:
    def body(address: str) -> str:
        return f"""{address}
%r = offset %q, %e : tile<ptr<i32>>, {N} -> tile<ptr<i32>>
%s, %vt = load_ptr_tko weak %r token=%t : tile<ptr<i32>> -> {N}, token"""

    scaled = f"%u = muli %n, %i128 : {N}\n"
    assert_proven(
        store_at(body(scaled + set_bits("e"))),
        store_at(body(f"{scaled}%e = addi %u, %i127 : {N}")),
    )


@pytest.mark.parametrize(("divisor", "equal"), [("%m", False), ("%i128", True)])
def test_a_division_that_only_the_generated_side_makes(divisor: str, equal: bool) -> None:
    """`n / m * m + n % m` is `n`, and undefined where m is 0."""
    divided = f"""
%d = divi %n, {divisor} unsigned : {N}
%e = muli %d, {divisor} : {N}
%r = remi %n, {divisor} unsigned : {N}
%s = addi %e, %r : {N}
"""
    report = compared(store_at(f"%s = addi %n, %i0 : {N}"), store_at(divided), seconds=5)
    assert report.ok == equal


def test_the_time_is_limited() -> None:
    """A product by parts of its bits, which no solver settles in a moment."""
    product = store_at(f"%s = muli %n, %m : {N}")
    by_bits = store_at(f"""
%all = constant <i32: -1> : {N}
%either = ori %n, %m : {N}
%both = andi %n, %m : {N}
%not_n = xori %n, %all : {N}
%not_m = xori %m, %all : {N}
%only_n = andi %n, %not_m : {N}
%only_m = andi %m, %not_n : {N}
%p1 = muli %either, %both : {N}
%p2 = muli %only_n, %only_m : {N}
%s = addi %p1, %p2 : {N}
""")
    report = compared(product, by_bits, seconds=0.1)
    assert not report.ok
    assert "no answer in 0.1 s" in report.findings[0].evidence


# ---- loops -----------------------------------------------------------------------------------------------


def loop(body: str, count: str = "%n") -> str:
    return entry(f"""
for %k in (%i0 to {count}, step %i1) : {N} {{
{body}
%p = offset %b, %s : {P}, {N} -> {P}
%st = store_ptr_tko weak %p, %one token=%t : {P}, tile<f32> -> token
continue
}}""")


def test_addresses_in_a_loop() -> None:
    scaled = f"%u = muli %k, %i128 : {N}\n"
    assert_proven(loop(scaled + set_bits()), loop(f"{scaled}%s = addi %u, %i127 : {N}"))


def test_an_address_that_differs_in_one_iteration() -> None:
    third = f"%c3 = constant <i32: 3> : {N}\n"
    wrong = f"{third}%s = mini %k, %c3 signed : {N}"
    report = assert_refuted(loop(f"%s = addi %k, %i0 : {N}"), loop(wrong))
    same = r"iteration=(\d+): reference element \1, generated element 3"
    assert re.search(same, report.findings[0].evidence)


def test_trip_counts() -> None:
    body = f"%s = addi %k, %i0 : {N}"
    tiles = f"%c = divi %N, %i128 signed rounding<positive_inf> : {N}\n"
    masked = f"%u = addi %N, %i127 : {N}\n%c7 = constant <i32: 7> : {N}\n%c = shri %u, %c7 unsigned : {N}\n"

    def counted(count: str) -> str:
        return loop(body, "%c").replace("\nfor", f"\n{SMALL}{count}for")

    report = compared(counted(tiles), counted(masked))
    assert report.ok
    wrong = masked.replace("i32: 7", "i32: 6")
    assert_refuted(counted(tiles), counted(wrong), "runs ")


def sums(address: str) -> str:
    return entry(f"""
%zero = constant <f32: 0.0> : tile<f32>
%sum = for %k in (%i0 to %n, step %i1) : {N} iter_values(%acc = %zero) -> (tile<f32>) {{
%u = muli %k, %i128 : {N}
{address}
%p = offset %a, %s : {P}, {N} -> {P}
%v, %vt = load_ptr_tko weak %p token=%t : {P} -> tile<f32>, token
%next = addf %acc, %v : tile<f32>
continue %next : tile<f32>
}}
%st = store_ptr_tko weak %b, %sum token=%t : {P}, tile<f32> -> token""")


def test_sums_in_a_loop_are_equal_by_induction() -> None:
    assert_proven(sums(set_bits()), sums(f"%s = addi %u, %i127 : {N}"))


def test_sums_of_other_elements_are_not() -> None:
    report = compared(sums(f"%s = ori %u, %i127 : {N}"), sums(f"%s = addi %u, %i128 : {N}"))
    assert not report.ok
    assert not proven(report)


def test_that_a_loop_exists_says_not_that_it_runs() -> None:
    """An iteration is below the count of its loop, which is no fact about the count elsewhere."""
    body = f"""
for %k in (%i0 to %n, step %i1) : {N} {{
%p = offset %a, %k : {P}, {N} -> {P}
%st = store_ptr_tko weak %p, %one token=%t : {P}, tile<f32> -> token
continue
}}
"""
    reference, generated = (
        body + f"%s = divi %n, %i128 signed rounding<{rounding}> : {N}"
        for rounding in ("zero", "negative_inf")
    )
    assert_refuted(store_at(reference.replace("rounding<zero> ", "")), store_at(generated))


# ---- before runs -----------------------------------------------------------------------------------------


def test_what_is_open_is_proven_before_both_sides_are_run() -> None:
    pytest.importorskip("torch")
    modules = [parse_text(store_at(SIZE + body), "k.mlir") for body in (ROUND_UP, TILES)]
    report = diff(*modules, execute=Execution(runs=1, budget=20))
    assert report.ok
    assert proven(report)
    assert not report.notices


def test_runs_without_z3_say_that_nothing_was_proven(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("torch")
    for name in [name for name in sys.modules if name.startswith("tileir_diff.equivalence.symbolic")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "z3", None)
    module = parse_text(store_at(SIZE + TILES), "k.mlir")
    report = diff(module, module, execute=Execution(runs=1, budget=20))
    assert report.ok
    assert "nothing was proven before both sides were run: proofs need z3" in report.notices[0]


def test_what_a_loop_carries_is_not_equal_because_of_a_condition_that_was_only_tried() -> None:
    """Loads and a store without their masks: equal where that of the store holds, which nobody guarantees.

    So is the loop, and what is stored of it without a mask.
    """

    def kernel(load: str, store: str) -> str:
        return entry(f"""
%zero = constant <f32: 0.0> : tile<f32>
%all = cmpi less_than_or_equal %m, %n, signed : {N} -> {B}
%sum = for %k in (%i0 to %m, step %i1) : {N} iter_values(%acc = %zero) -> (tile<f32>) {{
%c = cmpi less_than %k, %n, signed : {N} -> {B}
%p = offset %a, %k : {P}, {N} -> {P}
%v, %vt = load_ptr_tko weak %p{load} -> tile<f32>, token
%next = addf %acc, %v : tile<f32>
continue %next : tile<f32>
}}
%st = store_ptr_tko weak %b, %sum{store} -> token
%after = offset %b, %i1 : {P}, {N} -> {P}
%whole = store_ptr_tko weak %after, %sum token=%t : {P}, tile<f32> -> token""")

    masked = kernel(f", %c, %zero token=%t : {P}, {B}, tile<f32>", f", %all token=%t : {P}, tile<f32>, {B}")
    bare = kernel(f" token=%t : {P}", f" token=%t : {P}, tile<f32>")
    report = compared(masked, bare)
    assert not report.ok
    assert not report.obligations
    assert "proven equal where" in " ".join(finding.evidence for finding in report.findings)


def test_a_finding_at_the_end_of_a_loop() -> None:
    """A terminator computes nothing; what is known of the access behind it is told elsewhere."""

    def kernel(carried: str) -> str:
        return entry(f"""
%last = for %k in (%i0 to %n, step %i1) : {N} iter_values(%acc = %i0) -> ({N}) {{
%next = addi %acc, %k : {N}
continue %{carried} : {N}
}}
%p = offset %b, %last : {P}, {N} -> {P}
%st = store_ptr_tko weak %p, %one token=%t : {P}, tile<f32> -> token""")

    assert not compared(kernel("next"), kernel("acc")).ok


@pytest.mark.parametrize("divisor", ["-8", "m"])
def test_nothing_follows_from_what_never_holds(divisor: str) -> None:
    """A divisor that is negative is not taken to be positive, and a proof does not rest on facts that
    exclude one another."""
    known = (
        f"%d = constant <i32: {divisor}> : {N}\n"
        if divisor == "-8"
        else f"%d = assume bounded<?, -1>, %m : {N}\n"
    )
    quotient, remainder, total = (
        store_at(f"{known}%s = {op} %n, %d{sign} : {N}")
        for op, sign in (("divi", " signed"), ("remi", " signed"), ("addi", ""))
    )
    for other in (remainder, total):
        report = compared(quotient, other)
        assert not report.ok
        assert proven(report) == []
        assert not any("> 0" in line for line in report.obligations)


def test_promises_of_the_host_that_exclude_one_another() -> None:
    """That `n - m + c` fits i32 says that n <= m, that `m - n + 1 + c` does says that m < n."""
    both = f"""
%c = constant <i32: 2147483647> : {N}
%u = subi %n, %m : {N}
%p1 = addi %u, %c : {N}
%v = subi %m, %n : {N}
%v1 = addi %v, %i1 : {N}
%p2 = addi %v1, %c : {N}
%q1 = divi %p1, %i127 signed : {N}
"""
    reference = store_at(f"{both}%q2 = divi %p2, %i127 signed : {N}\n%s = addi %q1, %q2 : {N}")
    generated = store_at(f"{both}%q2 = remi %p2, %i128 signed : {N}\n%s = addi %q1, %q2 : {N}")
    report = compared(reference, generated)
    assert proven(report) == []
    assert not report.ok


def test_nobody_chooses_the_lanes() -> None:
    """That a product of lanes and a constant fits is no matter of the host."""
    product = """%l = iota : tile<65536xi32>
%f = constant <i32: 65535> : tile<65536xi32>
%g = muli %l, %f : tile<65536xi32>
%o = constant <i32: 0> : tile<65536xi32>
"""
    stored = """
%v = exti %c unsigned : tile<65536xi1> -> tile<65536xi32>
%q1 = reshape %q : tile<ptr<i32>> -> tile<1xptr<i32>>
%qs = broadcast %q1 : tile<1xptr<i32>> -> tile<65536xptr<i32>>
%p = offset %qs, %l : tile<65536xptr<i32>>, tile<65536xi32> -> tile<65536xptr<i32>>
%st = store_ptr_tko weak %p, %v token=%t : tile<65536xptr<i32>>, tile<65536xi32> -> token"""
    negative = "%c = cmpi less_than %g, %o, signed : tile<65536xi32> -> tile<65536xi1>"
    never = "%c = cmpi less_than %l, %o, signed : tile<65536xi32> -> tile<65536xi1>"
    report = compared(entry(product + negative + stored), entry(product + never + stored))
    assert not report.ok
    assert proven(report) == []
