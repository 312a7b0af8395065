"""Loads that synchronise with other blocks, and loops that may not end: each is there on both sides."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.match.snippets import LOAD, PARAMETERS, STORE, assert_equal, assert_found, compared, found, kernel

FLAGS = f"{PARAMETERS}, %f: tile<ptr<i32>>, %g: tile<ptr<i32>>"
FLAG = "tile<ptr<i32>> -> tile<i32>, token"
POLL = f"%q, %qt = load_ptr_tko acquire device %f token=%u : {FLAG}"
READ = LOAD.replace("token=%t", "token=%after")


def reading(before: str, after: str = "%t") -> str:
    """A kernel that does something first, and then copies under the token `%after`."""
    token = f"%after = join_tokens {after}, %t : token"
    return kernel(f"{before}\n{token}\n{READ}\n{STORE.replace('%w', '%v')}", parameters=FLAGS)


def flag(order: str = "acquire device", array: str = "%f", name: str = "%q") -> str:
    return f"{name}, {name}t = load_ptr_tko {order} {array} token=%t : {FLAG}"


# ---- loads that are not weak -------------------------------------------------------------------------


@pytest.mark.parametrize("order", ["acquire device", "acquire sys", "relaxed device"])
def test_a_load_that_synchronises_is_there_on_both_sides(order: str) -> None:
    """Whether or not its value is used."""
    plain, ordered = reading(""), reading(f"{flag(order)} // here", "%qt")
    assert assert_found(ordered, plain, "memory-order/missing").impact == "logic"
    assert assert_found(plain, ordered, "memory-order/extra").impact == "logic"
    assert_equal(ordered, ordered)


@pytest.mark.parametrize(
    ("one", "other", "rule"),
    [
        ("acquire device", "relaxed device", "ordering"),
        ("acquire device", "weak", "ordering"),
        ("relaxed device", "weak", "ordering"),
        ("acquire device", "acquire sys", "scope"),
        ("relaxed tl_blk", "relaxed device", "scope"),
    ],
)
def test_it_synchronises_in_the_same_way(one: str, other: str, rule: str) -> None:
    for first, second in ((one, other), (other, one)):
        reference, generated = (reading(flag(order), "%qt") for order in (first, second))
        assert assert_found(reference, generated, f"memory-order/{rule}").impact == "logic"


def test_it_synchronises_through_the_same_flag() -> None:
    there = reading(f"{flag(array='%g')} // here", "%qt")
    assert_found(reading(flag(), "%qt"), there, "addressing")


def test_a_weak_load_whose_value_is_unused_does_not_matter() -> None:
    assert_equal(reading(flag("weak")), reading(""))
    for first, second in ((flag("weak"), flag()), (flag(), flag("weak"))):
        one = reading(f"{first}\n{second.replace('%q', '%p')}")
        assert_equal(one, reading(f"{second}\n{first.replace('%q', '%p')}"))


def test_through_a_view() -> None:
    view = "tensor_view<?xi32, strides=[1]>"
    tiles = f"partition_view<tile=(1), {view}>"

    def text(order: str) -> str:
        return reading(
            f"%fv = make_tensor_view %f, shape = [%N], strides = [1] : tile<i32> -> {view}\n"
            f"%fp = make_partition_view %fv : {tiles}\n"
            f"%q, %qt = load_view_tko {order} %fp[%x] token = %t : {tiles}, tile<i32> -> tile<1xi32>, token",
            "%qt",
        )

    assert_found(text("acquire device"), text("weak"), "memory-order/ordering")
    assert_equal(text("acquire device"), text("acquire device"))


def test_what_comes_after_an_acquire_stays_after_it() -> None:
    kept, lost = (reading(flag(), after) for after in ("%qt", "%t"))
    assert_found(kept, lost, "token-order/missing")
    assert_equal(lost, kept)


def test_two_relaxed_loads_of_one_flag_stay_in_order() -> None:
    def text(token: str, array: str = "%f") -> str:
        second = flag("relaxed device", array, "%p").replace("token=%t", f"token={token}")
        return reading(f"{flag('relaxed device')}\n{second}", "%pt")

    assert_found(text("%qt"), text("%t"), "token-order/missing")
    assert_equal(text("%t"), text("%qt"))
    assert_equal(text("%qt", "%g"), text("%t", "%g"))


# ---- loops that only wait ----------------------------------------------------------------------------


def waiting(
    poll: str = POLL,
    predicate: str = "not_equal",
    against: str = "%i0",
    leave: str = "break %qt : token",
    *,
    after: str = "%l",
) -> str:
    """A kernel that polls a flag before it reads."""
    return reading(
        f"""%l = loop iter_values(%u = %t) : token -> token {{ // loop
          {poll} // poll
          %c = cmpi {predicate} %q, {against}, signed : tile<i32> -> tile<i1> // test
          if %c {{
            {leave}
          }}
          continue %qt : token
        }}""",
        after,
    )


@pytest.mark.parametrize("order", ["acquire device", "relaxed sys", "weak"])
def test_a_wait_is_there_on_both_sides(order: str) -> None:
    wait = waiting(POLL.replace("acquire device", order)).replace("// loop", "// here")
    assert assert_found(wait, reading(""), "control-flow/missing").impact == "logic"
    assert assert_found(reading(""), wait, "control-flow/extra").impact == "logic"
    assert_equal(wait, wait)


def test_a_wait_that_asks_once() -> None:
    once = reading(POLL.replace("%u", "%t"), "%qt")
    assert_found(waiting(), once, "loop/missing", "control-flow/missing")
    assert "loop/extra" in [each.rule for each in found(once, waiting())]


@pytest.mark.parametrize("order", ["acquire device", "weak"])
@pytest.mark.parametrize(
    ("change", "mark", "rules"),
    [
        ({"predicate": "equal"}, "// test", ("control-flow",)),
        ({"predicate": "less_than"}, "// test", ("control-flow",)),
        ({"against": "%i4"}, "// test", ("control-flow", "constant", "arithmetic")),
        ({"poll": POLL.replace("%f", "%g")}, "// poll", ("addressing",)),
    ],
)
def test_a_wait_for_something_else(
    order: str, change: dict[str, str], mark: str, rules: tuple[str, ...]
) -> None:
    def text(**change: str) -> str:
        return waiting(**change).replace("acquire device", order)

    wrong = text(**change).replace(mark, "// here")
    assert assert_found(text(), wrong, *rules).impact == "logic"
    wrong = wrong.replace("// here", "")
    assert assert_found(wrong, text().replace(mark, "// here"), *rules).impact == "logic"


def test_two_spellings_of_one_wait() -> None:
    other = waiting(predicate="equal", leave="continue %qt : token").replace(
        "continue %qt : token\n        }", "break %qt : token\n        }"
    )
    assert_equal(waiting(), other)
    assert_equal(other, waiting())


def test_what_follows_a_wait_stays_after_it() -> None:
    assert_found(waiting(), waiting(after="%t"), "token-order/missing")
    assert_equal(waiting(after="%t"), waiting())


# ---- loops that do nothing ---------------------------------------------------------------------------


def idle(body: str, *, kind: str = "tile<i32>", start: str = "%i0") -> str:
    """A kernel with a loop that nothing uses."""
    return reading(f"%l = loop iter_values(%i = {start}) : {kind} -> {kind} {{ // here\n{body}\n}}")


def counting(test: str, step: str, weak: str = "") -> str:
    return f"""{weak}
      %c = {test} : tile<i32> -> tile<i1>
      if %c {{
        break %i : tile<i32>
      }}
      %j = {step} : tile<i32>
      continue %j : tile<i32>"""


UP = counting("cmpi greater_than %i, %n, signed", "addi %i, %i1")
AT_LEAST_ONCE = counting(
    "cmpi greater_than %i, %n, signed", "addi %i, %i4", f"%q, %qt = load_ptr_tko weak %f token=%t : {FLAG}"
)
DOWN = counting("cmpi less_than %i, %n, signed", "subi %i, %i1")
AT_ONCE = "break %i : tile<i32>"
TRIES = f"""%q, %qt = load_ptr_tko weak %f token=%t : {FLAG}
  %set = cmpi not_equal %q, %i0, signed : tile<i32> -> tile<i1>
  if %set {{
    break %i : tile<i32>
  }}
  {UP}"""

STANDS = counting("cmpi greater_than %i, %n, signed", "addi %i, %i0")
AWAY = counting("cmpi greater_than %i, %n, signed", "subi %i, %i1")
NEVER = "continue %i : tile<i32>"
MISSES = counting("cmpi equal %i, %n, signed", "addi %i, %i4")


@pytest.mark.parametrize("body", [STANDS, AWAY, NEVER, MISSES])
def test_a_loop_that_may_never_end_is_there_on_both_sides(body: str) -> None:
    assert assert_found(reading(""), idle(body), "control-flow/extra").impact == "logic"
    assert (
        assert_found(idle(body), reading(""), "control-flow/missing", "memory-family/missing").impact
        == "logic"
    )
    assert_equal(idle(body), idle(body))


@pytest.mark.parametrize("body", [UP, DOWN, AT_LEAST_ONCE, AT_ONCE, TRIES])
def test_a_loop_that_ends_and_does_nothing_does_not_matter(body: str) -> None:
    assert_equal(idle(body), reading(""))
    result = found(reading(""), idle(body))  # but that it reads may
    assert {each.rule for each in result} <= {"dead-code/dead-load", "memory-family/extra"}
    assert bool(result) == ("load" in body)


def test_a_counted_loop_that_no_longer_ends() -> None:
    for body in (STANDS, AWAY):
        result = found(idle(UP), idle(body))
        assert [each.impact for each in result] == ["logic"]
    assert_equal(idle(UP), idle(DOWN))


def test_a_for_always_ends() -> None:
    assert_equal(reading("for %i in (%i0 to %n, step %i1) : tile<i32> {\ncontinue\n}"), reading(""))


def test_a_loop_that_ends_for_other_sizes() -> None:
    first, other = (idle(STANDS.replace("%i, %n", f"%i, {bound}")) for bound in ("%m", "%n"))
    assert_found(first.replace("// here", ""), other.replace("// here", ""), "control-flow", "arithmetic")


def test_a_loop_that_may_never_end_under_another_condition() -> None:
    """It is not reached in the same cases."""
    test = "%few = cmpi less_than %m, %i4, signed : tile<i32> -> tile<i1>"
    always = waiting(POLL.replace("acquire device", "weak")).replace("%l =", f"{test}\n%l =")
    some = always.replace("%l =", "%l = if %few -> (token) {\n%k =").replace(
        "%after =", "yield %k : token\n} else {\nyield %t : token\n}\n%after ="
    )
    assert_found(some, always, "control-flow", "mask")
    assert_found(always, some, "control-flow", "mask")
    assert_equal(some, some)


# ---- a lock whose index one side checks --------------------------------------------------------------

KERNELS = Path(__file__).parents[2] / "fixtures" / "kernels" / "locked_sum"
CHECKED, UNCHECKED = ((KERNELS / name).read_text(encoding="utf-8") for name in ("py.mlir", "rs.mlir"))
TAKEN = "atomic_cas_tko acquire device %3, %cst_0_i32, %cst_1_i32"
WRONG = {
    "another lock": ("offset %assume_10, %assume_blockId_y", "offset %assume_10, %assume_blockId_x"),
    "taken when it is taken": (TAKEN, TAKEN.replace("%cst_0_i32, ", "%cst_1_i32, ")),
    "left when it is taken": ("cmpi not_equal %result_22", "cmpi equal %result_22"),
    "never taken": (TAKEN, TAKEN.replace("%cst_1_i32", "%cst_0_i32")),
}


def test_the_launch_keeps_the_index_of_a_lock_in_range() -> None:
    for reference, generated in ((CHECKED, UNCHECKED), (UNCHECKED, CHECKED)):
        assert [each.rule for each in found(reference, generated) if each.impact != "hint"] == []
        lines = compared(reference, generated).obligations
        assert any(line.startswith("block.y < ") and "all blocks" in line for line in lines)


@pytest.mark.parametrize("wrong", WRONG.values(), ids=WRONG)
def test_what_else_differs_in_a_lock_is_found(wrong: tuple[str, str]) -> None:
    edited = UNCHECKED.replace(*wrong)
    assert edited != UNCHECKED
    assert any(each.impact == "logic" for each in found(CHECKED, edited))
