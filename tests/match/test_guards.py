"""Guards that both sides have are never called extra, and what only stands near them is told as it is."""

from __future__ import annotations

from tests.match.snippets import LOAD, PARAMETERS, assert_found, found, kernel

F, M, INT = "tile<128xf32>", "tile<128xi1>", "tile<128xi32>"
DEAD = "\n".join(f"%dead{n} = constant <i32: {n}> : tile<i32>" for n in range(20))
"""Enough other text that the two entries are not aligned op by op."""


def stored(body: str, value: str = "%w", *, dead: str = "") -> str:
    """A kernel that loads `%v` under a mask, and stores every lane."""
    store = f"%st = store_ptr_tko weak %pb, {value} token=%t : tile<128xptr<f32>>, {F} -> token"
    return kernel(f"{dead}\n{LOAD}\n{body}\n{store}")


def chosen(condition: str, *, dead: str = "") -> str:
    """A kernel that chooses between twice what it loads and 1."""
    mark = " // here" if dead else ""
    select = f"%w = select %c, %d, %one : {M}, {F}"
    return stored(f"%d = addf %v, %v : {F}\n%c = {condition} : {INT} -> {M}{mark}\n{select}", dead=dead)


def test_a_wider_condition_is_the_only_finding() -> None:
    """Under the narrow one the padding of the load falls away; the load itself has its mask on both sides."""
    right = chosen("cmpi less_than %o, %nv, signed")
    wrong = chosen("cmpi less_than_or_equal %o, %nv, signed", dead=DEAD)
    assert "the condition is" in assert_found(right, wrong, "mask/changed").message
    assert [each.rule for each in found(right, wrong)] == ["mask/changed"]


def test_a_condition_in_its_negated_form_exchanges_no_arms() -> None:
    right = chosen("cmpi less_than %o, %mv, signed")
    wrong = chosen("cmpi less_than %mv, %o, signed", dead=DEAD)
    assert_found(right, wrong, "mask/changed")
    assert len(found(right, wrong)) == 1


def test_a_lost_op_is_no_mask() -> None:
    """The op is lost between a load and what stores it; the load is masked on both sides."""
    right = stored(f"%w = mulf %v, %v : {F}\n%e = exp %w : {F}", "%e")
    results = found(right, stored("", "%v", dead=DEAD))
    assert [each.rule.split("/")[0] for each in results] == ["arithmetic"]


def test_a_lost_select_is_not_the_mask_of_the_load() -> None:
    condition = f"%c = cmpi less_than %o, %mv, signed : {INT} -> {M}\n"
    right = stored(f"{condition}%w = select %c, %v, %one : {M}, {F}")
    results = found(right, stored("", "%v", dead=DEAD))
    assert results
    assert not [each for each in results if "is not masked" in each.message or "None" in each.fix]


def test_a_constant_that_others_read_rightly() -> None:
    """The op that reads the wrong one is to blame, not the constant."""

    def released(value: str, dead: str = "") -> str:
        swap = "token=%t : tile<ptr<i32>>, tile<i32> -> tile<i32>, token"
        free = "token=%lt : tile<ptr<i32>>, tile<i32> -> tile<i32>, token"
        return kernel(
            f"{dead}\n%l, %lt = atomic_cas_tko acquire device %q, %i0, %i1 {swap}\n"
            f"%r, %rt = atomic_rmw_tko release device %q, xchg, {value} {free} // here",
            parameters=f"{PARAMETERS}, %q: tile<ptr<i32>>",
        )

    first = assert_found(released("%i0"), released("%i1", DEAD), "constant/value")
    assert (first.expected, first.actual) == ("0", "1")
