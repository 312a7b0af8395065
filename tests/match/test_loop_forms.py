"""A `loop` that is left at a bound in place of a `for`: what is told is how often it runs."""

from __future__ import annotations

import pytest

from tests.match.snippets import assert_equal, assert_found, found, kernel

F, P, S = "tile<128xf32>", "tile<128xptr<f32>>", "tile<i32>"
NEXT = f"%s2 = addf %s, %one : {F}"
STORED = f"%st = store_ptr_tko weak %pb, %sum token=%t : {P}, {F} -> token"
TILES = (
    f"%i127 = constant <i32: 127> : {S}\n%up = addi {{}}, %i127 : {S}\n%k = divi %up, %i128 signed : {S}\n"
)


def counted(end: str, step: str = "%i1", head: str = "") -> str:
    loop = f"for %i in (%i0 to {end}, step {step}) : {S} iter_values(%s = %zero) -> ({F})"
    return kernel(f"{head}%sum = {loop} {{ // here\n{NEXT}\ncontinue %s2 : {F}\n}}\n{STORED}")


def left(leave: str, end: str, step: str = "%i1", head: str = "") -> str:
    carried = f"{F}, {S}"
    return kernel(
        f"{head}%sum, %last = loop iter_values(%s = %zero, %i = %i0) : {carried} -> {carried} {{ // here\n"
        f"%out = cmpi {leave} %i, {end}, signed : {S} -> tile<i1>\nif %out {{\nbreak %s, %i : {carried}\n}}\n"
        f"{NEXT}\n%next = addi %i, {step} : {S}\ncontinue %s2, %next : {carried}\n}}\n{STORED}"
    )


@pytest.mark.parametrize("size", ["%N", "%n"])
@pytest.mark.parametrize("step", ["%i1", "%i128"])
def test_left_one_pass_later(size: str, step: str) -> None:
    reference = counted(size, step)
    assert_equal(reference, left("greater_than_or_equal", size, step))
    first = assert_found(reference, left("greater_than", size, step), "loop/trip-count")
    assert first.impact == "logic"


@pytest.mark.parametrize("size", ["%N", "%n"])
def test_one_more_than_a_quotient_is_not_another_rounding(size: str) -> None:
    head = TILES.format(size)
    more = f"{head}%k1 = addi %k, %i1 : {S}\n"
    (only,) = found(counted("%k", head=head), counted("%k1", head=more))
    assert only.rule.startswith("loop/")
    assert_found(counted("%k", head=head), left("greater_than", "%k", head=head), "loop/trip-count")
    assert_equal(counted("%k", head=head), left("greater_than_or_equal", "%k", head=head))


def test_another_step_of_two_counted_loops() -> None:
    assert_found(counted("%m"), counted("%m", "%i4"), "loop/step")


@pytest.mark.parametrize("extreme", ["mini", "maxi"])
def test_left_at_the_nearest_or_the_last_of_several_bounds(extreme: str) -> None:
    """A quotient of the smaller size is reached where a number of tiles, or a size, is."""
    head = f"%start64 = muli %x, %i4 : {S}\n%size = {extreme} %start64, %n signed : {S}\n"
    head += f"%k = divi %size, %i4 signed rounding<positive_inf> : {S}\n"
    assert_equal(counted("%k", head=head), left("greater_than_or_equal", "%k", head=head))
    assert_found(counted("%k", head=head), left("greater_than", "%k", head=head), "loop/trip-count")


def one_trip(words: str, leave: str = "") -> str:
    """A loop of one trip, or of none, around another loop that has a `continue` of its own."""
    inner = f"for %j in (%i0 to %i4, step %i1) : {S} iter_values(%s = %zero) -> ({F})"
    body = f"%sum = {inner} {{\n{NEXT}\ncontinue %s2 : {F}\n}}\n{STORED}\n"
    end = f"%next = addi %i, %i1 : {S}\ncontinue %next : {S}\n" if leave else ""
    return f"{words} {{\n{leave}{body}{end}}}"


@pytest.mark.parametrize(
    ("end", "head"), [("%i1", ""), ("%k", f"%k = mini %N, %i1 signed : {S}\n")], ids=["one", "at most one"]
)
def test_a_loop_of_one_trip_around_a_loop(end: str, head: str) -> None:
    leave = f"%out = cmpi greater_than_or_equal %i, {end}, signed : {S} -> tile<i1>\nif %out {{\nbreak\n}}\n"
    reference = kernel(head + one_trip(f"for %i in (%i0 to {end}, step %i1) : {S}"))
    assert_equal(reference, kernel(head + one_trip(f"loop iter_values(%i = %i0) : {S}", leave)))


def test_a_pass_that_never_ends() -> None:
    """A loop without a way out stands in one that is left in its second pass."""
    leave = f"%out = cmpi greater_than_or_equal %i, %i1, signed : {S} -> tile<i1>\nif %out {{\nbreak\n}}\n"
    endless = "loop {\ncontinue\n}\n"
    body = one_trip(f"loop iter_values(%i = %i0) : {S}", leave + endless)
    assert_equal(kernel(body), kernel(body))


@pytest.mark.parametrize("other", ["greater_than", "less_than_or_equal", "not_equal"])
def test_the_predicate_by_which_a_loop_is_left(other: str) -> None:
    """Where nothing counts the passes, as where a sum that is carried decides."""

    def until(predicate: str, name: str) -> str:
        fold = "(%p: tile<f32>, %q: tile<f32>) {\n%e = addf %p, %q : tile<f32>\nyield %e : tile<f32>\n}"
        return kernel(
            f"%limit = constant <f32: 10.0> : tile<f32>\n"
            f"%sum = loop iter_values(%s = %zero) : {F} -> {F} {{\n"
            f"{NEXT}\n%all = reduce %s2 dim=0 identities=[0.0 : f32] : {F} -> tile<f32> {fold}\n"
            f"%out = cmpf {predicate} ordered %all, %limit : tile<f32> -> tile<i1> // here\n"
            f"if %out {{\nbreak %s2 : {F}\n}}\ncontinue %s2 : {F}\n}}\n{STORED}",
            name=name,
        )

    for names in (("k", "k"), ("k_Kt1_A1f32", "k_entry")):
        (only,) = found(until("less_than", names[0]), until(other, names[1]))
        assert (only.rule, only.effect) == ("control-flow/exit", "another number of trips is made")
        assert only.message == f"the loop is left where the cmpf is {other}; in the reference less_than"
