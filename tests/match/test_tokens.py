"""Memory order by tokens: on every path, out of loops, and from one iteration to the next."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.match.snippets import compared
from tileir_diff.match.model import Difference

HEAD = """entry @k(%o: tile<ptr<i32>>, %n: tile<i32>, %m: tile<i32>) {
  %t = make_token : token
  %c0 = constant <i32: 0> : tile<i32>
  %c1 = constant <i32: 1> : tile<i32>
"""
STORE_AFTER = "%s = store_ptr_tko weak %o, %n token=%w : tile<ptr<i32>>, tile<i32> -> token"
STORE = "store_ptr_tko weak %o, {value} token={token} : tile<ptr<i32>>, tile<i32> -> token"


def kernel(body: str) -> str:
    return f"{HEAD}{body}\n  return\n}}"


def lost(reference: str, generated: str) -> list[Difference]:
    found = compared(kernel(reference), kernel(generated)).differences
    return [difference for difference in found if difference.rule == "token-order/missing"]


def carried(token: str, handed_on: str) -> str:
    store = STORE.format(value="%i", token=token)
    return f"""%f = for %i in (%c0 to %n, step %c1) : tile<i32> iter_values(%c = %t) -> (token) {{
      %j = join_tokens %c, %t : token
      %s = {store}
      continue {handed_on} : token
    }}"""


def branches(then: str, other: str) -> str:
    first, last = STORE.format(value="%n", token="%t"), STORE.format(value="%m", token="%b")
    return f"""%q = cmpi less_than %n, %m, signed : tile<i32> -> tile<i1>
    %s = {first}
    %b = if %q -> (token) {{
      yield {then} : token
    }} else {{
      yield {other} : token
    }}
    %r = {last}"""


def locked(handed_out: str) -> str:
    """A lock, taken by polling; what follows must wait for it."""
    return f"""%l:2 = loop iter_values(%u = %t, %v = %t) : token, token -> token, token {{
      %old, %lock = atomic_cas_tko acquire device %o, %c0, %c1 token=%u :
        tile<ptr<i32>>, tile<i32> -> tile<i32>, token
      %q = cmpi equal %old, %c1, signed : tile<i32> -> tile<i1>
      if %q {{
      }} else {{
        break %lock, {handed_out} : token, token
      }}
      continue %lock, %lock : token, token
    }}
    %s = {STORE.format(value="%n", token="%l#1")}"""


@pytest.mark.parametrize(
    ("token", "handed_on", "place"),
    [
        ("%t", "%s", "store_ptr_tko"),
        ("%c", "%c", "continue"),
        ("%t", "%c", "store_ptr_tko"),
        ("%j", "%t", "continue"),
        ("%t", "%t", "store_ptr_tko"),
    ],
)
def test_a_store_of_the_iteration_before_is_waited_for(token: str, handed_on: str, place: str) -> None:
    """One address in all iterations: the last one must win. It is told where the token is lost."""
    (difference,) = lost(carried("%c", "%s"), carried(token, handed_on))
    assert difference.generated is not None
    assert difference.generated.op.short == place


def test_a_token_joined_on_the_way_orders_as_well() -> None:
    assert not lost(carried("%c", "%s"), carried("%j", "%s"))


@pytest.mark.parametrize(("then", "other"), [("%s", "%t"), ("%t", "%s"), ("%t", "%t")])
def test_both_branches_must_hand_on_the_order(then: str, other: str) -> None:
    assert lost(branches("%s", "%s"), branches(then, other))


def test_order_that_the_reference_has_on_one_path_only_is_not_asked_for() -> None:
    assert not lost(branches("%s", "%t"), branches("%t", "%t"))
    assert not lost(branches("%t", "%t"), branches("%s", "%s"))


def test_a_chain_through_data_is_not_the_order_of_the_reference() -> None:
    """Store, load what was stored, store what depends on it: the second store must wait for the first."""

    def chain(token: str) -> str:
        first, last = STORE.format(value="%n", token="%t"), STORE.format(value="%w", token=token)
        return f"""%s = {first}
        %v, %u = load_ptr_tko weak %o token=%s : tile<ptr<i32>> -> tile<i32>, token
        %w = addi %v, %m : tile<i32>
        %r = {last}"""

    assert lost(chain("%s"), chain("%t"))
    assert not lost(chain("%u"), chain("%s")), "a store waits for the value it stores"


@pytest.mark.parametrize("handed_out", ["%t", "%v"])
def test_each_result_of_a_loop_hands_on_its_own_token(handed_out: str) -> None:
    """`%v` is the token of the failed attempt before, or of none."""
    assert lost(locked("%lock"), locked(handed_out))


def test_equal_loops_lose_nothing() -> None:
    for text in (carried("%c", "%s"), branches("%s", "%t"), locked("%lock")):
        assert not compared(kernel(text), kernel(text)).differences


@pytest.mark.parametrize(
    ("reference", "generated"),
    [("gdc_wait_tko", "gdc_launch_dependents_tko"), ("gdc_launch_dependents_tko", "gdc_wait_tko")],
)
def test_fences_of_different_kinds_are_no_partners(reference: str, generated: str) -> None:
    first, second = (kernel(f"%w = {op} -> token\n{STORE_AFTER}") for op in (reference, generated))
    assert compared(first, second).differences


def iterations(token: str, *, written: str = "%i", read: str, step: str = "%c1") -> str:
    """Each iteration stores to one element of the array, and then loads one."""
    return f"""%p = assume bounded<0, ?>, %m : tile<i32>
    %c3 = constant <i32: 3> : tile<i32>
    %c41 = constant <i32: 41> : tile<i32>
    %f:2 = for %i in (%c0 to %n, step {step}) : tile<i32>
        iter_values(%c = %t, %sum = %c0) -> (token, tile<i32>) {{
      %before = subi %i, %c1 : tile<i32>
      %twice = addi %i, %i : tile<i32>
      %after = addi %i, %c1 : tile<i32>
      %turn = remi %i, %c41 signed : tile<i32>
      %pw = offset %o, {written} : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>
      %pr = offset %o, {read} : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>
      %s = store_ptr_tko weak %pw, %sum token={token} : tile<ptr<i32>>, tile<i32> -> token
      %v, %u = load_ptr_tko weak %pr token={token} : tile<ptr<i32>> -> tile<i32>, token
      %sum2 = addi %sum, %v : tile<i32>
      %both = join_tokens %s, %u : token
      continue %both, %sum2 : token, tile<i32>
    }}"""


@pytest.mark.parametrize(
    ("written", "read", "step"),
    [
        ("%i", "%p", "%c1"),  # the place that is read may be written in some iteration
        ("%p", "%i", "%c1"),
        ("%i", "%before", "%c1"),
        ("%after", "%i", "%c1"),
        ("%i", "%after", "%c1"),  # written after it was read
        ("%turn", "%turn", "%c1"),  # the same place after 41 iterations
    ],
)
def test_what_another_iteration_accesses_is_waited_for(written: str, read: str, step: str) -> None:
    ordered, loose = (iterations(token, written=written, read=read, step=step) for token in ("%c", "%t"))
    assert lost(ordered, loose)
    assert not lost(ordered, ordered)


@pytest.mark.parametrize(
    ("written", "read", "step"), [("%i", "%i", "%c1"), ("%twice", "%twice", "%c1"), ("%i", "%before", "%c3")]
)
def test_iterations_that_keep_apart_need_no_order(written: str, read: str, step: str) -> None:
    ordered, loose = (iterations(token, written=written, read=read, step=step) for token in ("%c", "%t"))
    assert not lost(ordered, loose)


# ---- one token, one finding ------------------------------------------------------------------------------

LOCKED = (Path(__file__).parents[2] / "fixtures" / "kernels" / "locked_sum" / "py.mlir").read_text()
FRESH = "    %fresh = make_token : token\n"
TAKEN = (
    "    %result_33, %result_token_34 = atomic_cas",
    f"{FRESH}    %result_33, %result_token_34 = atomic_cas",
)
HELD = ("    if %20 {", f"{FRESH}    if %20 {{")
LEFT = "break %result_token_34, %result_token_34"
STORED = ("token = %11", "token = %0")
FREED = ("token=%18", "token=%0")


def edited(*edits: tuple[str, str]) -> str:
    text = LOCKED
    for old, new in edits:
        assert old in text
        text = text.replace(old, new, 1)
    return text


@pytest.mark.parametrize(
    ("edits", "places"),
    [
        ([TAKEN, ("token=%19", "token=%fresh")], ["atomic_cas_tko"]),
        ([HELD, (LEFT, "break %fresh, %fresh")], ["break"]),
        ([HELD, (LEFT, "break %result_token_34, %fresh")], ["break"]),
        ([("    continue", f"{FRESH}    continue"), ("continue %result_token_34", "continue %fresh")], []),
        ([STORED], ["store_view_tko"]),
        ([FREED], ["atomic_rmw_tko"]),
        ([STORED, FREED], ["store_view_tko", "atomic_rmw_tko"]),
        ([TAKEN, ("token=%19", "token=%fresh"), FREED], ["atomic_cas_tko", "atomic_rmw_tko"]),
    ],
)
def test_one_other_token_is_one_finding(edits: list[tuple[str, str]], places: list[str]) -> None:
    """However many orders it costs; and two are two."""
    found = compared(LOCKED, edited(*edits)).differences
    assert [each.rule for each in found] == ["token-order/missing"] * len(places)
    assert [each.generated.op.short for each in found if each.generated] == places


# ---- iterations whose lanes overlap ----------------------------------------------------------------------


def tiles(token: str, address: str, *, mask: bool, trip: str, shown: int) -> str:
    """Each iteration adds to 256 elements, at ``%at`` from the array's start, as ``address`` computes it."""
    wide, masked, kinds = "", "", ""
    if mask:
        wide = (
            f"%shown = constant <i32: {shown}> : tile<256xi32>\n"
            "%in = cmpi less_than %lane, %shown, signed : tile<256xi32> -> tile<256xi1>\n"
            "%pad = constant <i32: 0> : tile<256xi32>"
        )
        masked, kinds = ", %in", ", tile<256xi1>"
    pad, padded = (", %pad", ", tile<256xi32>") if mask else ("", "")
    return f"""%lane = iota : tile<256xi32>
    {wide}
    %c2 = constant <i32: 2> : tile<i32>
    %c4 = constant <i32: 4> : tile<i32>
    %c18 = constant <i32: 18> : tile<i32>
    %c100 = constant <i32: 100> : tile<i32>
    %c255 = constant <i32: 255> : tile<i32>
    %c256 = constant <i32: 256> : tile<i32>
    %c1024 = constant <i32: 1024> : tile<i32>
    %o1 = reshape %o : tile<ptr<i32>> -> tile<1xptr<i32>>
    %ov = broadcast %o1 : tile<1xptr<i32>> -> tile<256xptr<i32>>
    %pl = offset %ov, %lane : tile<256xptr<i32>>, tile<256xi32> -> tile<256xptr<i32>>
    %data, %dt = load_ptr_tko weak %q token=%t : tile<ptr<i32>> -> tile<i32>, token
    %f = for %i in (%c0 to {trip}, step %c1) : tile<i32> iter_values(%c = %t) -> (token) {{
      {address}
      %a1 = reshape %at : tile<i32> -> tile<1xi32>
      %av = broadcast %a1 : tile<1xi32> -> tile<256xi32>
      %p = offset %pl, %av : tile<256xptr<i32>>, tile<256xi32> -> tile<256xptr<i32>>
      %v, %u = load_ptr_tko weak %p{masked}{pad} token={token} :
        tile<256xptr<i32>>{kinds}{padded} -> tile<256xi32>, token
      %w = addi %v, %v : tile<256xi32>
      %s = store_ptr_tko weak %p, %w{masked} token=%u :
        tile<256xptr<i32>>, tile<256xi32>{kinds} -> token
      continue %s : token
    }}"""


def overlap(
    address: str, *, mask: bool = False, trip: str = "%n", shown: int = 100
) -> tuple[list[str], list[str]]:
    """The findings and assumptions where an iteration does not wait for the one before."""
    head = HEAD.replace("%o: tile<ptr<i32>>", "%o: tile<ptr<i32>>, %q: tile<ptr<i32>>")
    ordered, loose = (
        f"{head}{tiles(token, address, mask=mask, trip=trip, shown=shown)}\n  return\n}}"
        for token in ("%c", "%t")
    )
    result = compared(ordered, loose)
    assumed = [each for each in result.assumptions if "iterations of the loop" in each]
    return [each.rule for each in result.differences], assumed


def by(step: str) -> str:
    return f"%at = muli %i, {step} : tile<i32>"


def four_tiles_a_row(length: str) -> str:
    return f"""%r = divi %i, %c4 signed : tile<i32>
    %r4 = muli %r, %c4 : tile<i32>
    %col = subi %i, %r4 : tile<i32>
    %a = muli %r, {length} : tile<i32>
    %b = muli %col, %c256 : tile<i32>
    %at = addi %a, %b : tile<i32>"""


def down_then_across(rows: str) -> str:
    """Tiles in the order of rows within groups of four rows, the last group with fewer."""
    return f"""%c3 = constant <i32: 3> : tile<i32>
    %per = muli %c4, %c3 : tile<i32>
    %g = divi %i, %per signed : tile<i32>
    %first = muli %g, %c4 : tile<i32>
    %left = subi {rows}, %first : tile<i32>
    %size = mini %left, %c4 signed : tile<i32>
    %in = remi %i, %size signed : tile<i32>
    %row = addi %first, %in : tile<i32>
    %gone = muli %g, %per : tile<i32>
    %rest = subi %i, %gone : tile<i32>
    %col = divi %rest, %size signed : tile<i32>
    %a = muli %row, %c1024 : tile<i32>
    %b = muli %col, %c256 : tile<i32>
    %at = addi %a, %b : tile<i32>"""


@pytest.mark.parametrize(
    "address",
    [
        by("%c1"),
        by("%c100"),
        by("%c255"),
        by("%i"),
        by("%data"),  # may be zero
        "%at = divi %i, %c2 signed : tile<i32>",
        "%half = divi %i, %c2 signed : tile<i32>\n%at = muli %half, %c1024 : tile<i32>",
        "%half = divi %i, %c2 signed : tile<i32>\n%at = muli %half, %m : tile<i32>",
    ],
)
def test_lanes_that_meet_those_of_another_iteration_are_waited_for(address: str) -> None:
    assert overlap(address) == (["token-order/missing"], [])


@pytest.mark.parametrize(
    "address",
    [
        by("%c256"),
        by("%c1024"),
        f"%back = subi %c0, %i : tile<i32>\n{by('%c256').replace('%i,', '%back,')}",
        four_tiles_a_row("%c1024"),
    ],
)
def test_tiles_beside_each_other_need_no_order(address: str) -> None:
    assert overlap(address) == ([], [])


def test_lanes_that_the_mask_leaves_out_do_not_meet() -> None:
    assert overlap(by("%c100"), mask=True) == ([], [])
    assert overlap(by("%c100"), mask=True, shown=101) == (["token-order/missing"], [])


@pytest.mark.parametrize(
    "address",
    [
        by("%m"),
        four_tiles_a_row("%m"),
    ],
)
def test_a_stride_that_is_taken_as_long_enough_is_named(address: str) -> None:
    found, (assumed,) = overlap(address)
    assert not found
    assert assumed.startswith("generated: line ")


def test_tiles_in_another_order_are_tried_and_named() -> None:
    tiles = f"%six = constant <i32: 6> : tile<i32>\n{down_then_across('%six')}"
    found, assumed = overlap(tiles, trip="%c18")
    assert found == []
    assert len(assumed) == 1
    columns_lost = tiles.replace("%at = addi %a, %b", "%at = addi %a, %c0")
    assert overlap(columns_lost, trip="%c18") == (["token-order/missing"], [])


def test_a_loop_of_one_iteration_has_no_order_to_lose() -> None:
    assert overlap(by("%c100"), trip="%c2") == (["token-order/missing"], [])
    assert overlap(by("%c100"), trip="%c1") == ([], [])


def rows(token: str, step: int) -> str:
    """Each iteration adds to one tile of 64 columns of a view."""
    view = f"strided_view<tile=(64), traversal_strides=[{step}], tensor_view<?xi32, strides=[1]>>"
    return f"""%l = assume bounded<0, ?>, %m : tile<i32>
    %tv = make_tensor_view %o, shape = [%l], strides = [1] : tile<i32> -> tensor_view<?xi32, strides=[1]>
    %pv = make_strided_view %tv : {view}
    %f = for %i in (%c0 to %n, step %c1) : tile<i32> iter_values(%c = %t) -> (token) {{
      %v, %u = load_view_tko weak %pv[%i] token={token} : {view}, tile<i32> -> tile<64xi32>, token
      %w = addi %v, %v : tile<64xi32>
      %s = store_view_tko weak %w, %pv[%i] token=%u : tile<64xi32>, {view}, tile<i32> -> token
      continue %s : token
    }}"""


def test_tiles_of_a_view_meet_where_it_steps_by_less_than_a_tile() -> None:
    assert not lost(rows("%c", 64), rows("%t", 64))
    assert lost(rows("%c", 32), rows("%t", 32))


def test_a_value_that_is_read_again_is_waited_for_each_time() -> None:
    def reading(again: str, before: str) -> str:
        load = "load_ptr_tko weak %o token={} : tile<ptr<i32>> -> tile<i32>, token"
        second = f"%y, %yt = {load.format(again)}\n" if again else ""
        value, done = ("%y", before) if again else ("%x", "%xt")
        return f"""%s = {STORE.format(value="%n", token="%t")}
        %x, %xt = {load.format("%s")}
        {second}%z = addi %x, {value} : tile<i32>
        %j = join_tokens %xt, {done} : token
        %r = {STORE.format(value="%z", token="%j")}"""

    once = reading("", "%t")
    assert not lost(once, reading("%s", "%yt"))
    assert len(lost(once, reading("%t", "%yt"))) == 1
    assert not lost(reading("%s", "%yt"), once)


def while_(
    leave: str, after: str, *, handed_on: str = "%s", carried_at: int = 1, counted: bool = True
) -> str:
    """A loop that is left at its head, and a store that must come after it; the result is only a token."""
    test = "%end = cmpi greater_than_or_equal %i, %n, signed : tile<i32> -> tile<i1>"
    if not counted:
        load = "load_ptr_tko weak %q : tile<ptr<i32>> -> tile<i32>, token"
        test = (
            "%q = offset %o, %i : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>\n"
            f"%x, %xt = {load}\n%end = cmpi equal %x, %c0, signed : tile<i32> -> tile<i1>"
        )
    types, inits = ["tile<i32>", "token"], ["%i = %c0", "%c = %t"]
    going_on = ["%next", handed_on]
    order = [0, 1] if carried_at == 1 else [1, 0]
    types, inits, going_on = ([each[at] for at in order] for each in (types, inits, going_on))
    return f"""%l = loop iter_values({", ".join(inits)}) : {", ".join(types)} -> token {{
      {test}
      if %end {{
        break {leave} : token
      }}
      %s = {STORE.format(value="%i", token="%c")}
      %next = addi %i, %c1 : tile<i32>
      continue {", ".join(going_on)} : {", ".join(types)}
    }}
    %r = {STORE.format(value="%n", token=after)}"""


@pytest.mark.parametrize("counted", [True, False])
@pytest.mark.parametrize("carried_at", [0, 1])
def test_what_comes_after_a_loop_with_a_break_waits_for_its_body(carried_at: int, counted: bool) -> None:
    def loop(leave: str, after: str, handed_on: str = "%s") -> str:
        return while_(leave, after, handed_on=handed_on, carried_at=carried_at, counted=counted)

    reference = loop("%c", "%l")
    assert not lost(reference, reference)
    for wrong, place in (
        (loop("%c", "%t"), "store_ptr_tko"),
        (loop("%t", "%l"), "break"),
        (loop("%c", "%l", "%c"), "continue"),
    ):
        (difference,) = lost(reference, wrong)
        assert difference.generated is not None
        assert difference.generated.op.short == place


def test_a_loop_with_a_break_hands_out_its_token_as_a_counted_one_does() -> None:
    counted = carried("%c", "%s").replace("%j = join_tokens %c, %t : token\n", "")
    after = STORE.format(value="%n", token="{}")
    assert not lost(while_("%c", "%l"), f"{counted}\n%r = {after.format('%f')}")
    assert lost(while_("%c", "%l"), f"{counted}\n%r = {after.format('%t')}")


def test_a_token_that_no_argument_of_the_loop_stands_for() -> None:
    """A loop may hand out more than it carries."""
    loop = while_("%c", "%l#1").replace("-> token {", "-> tile<i32>, token {")
    loop = loop.replace("break %c : token", "break %i, %c : tile<i32>, token").replace(
        "%l = loop", "%l:2 = loop"
    )
    assert not lost(loop, loop)
    assert lost(loop, loop.replace("%l#1", "%t"))


def stores(*bodies: str) -> str:
    """Loops after each other; a body is the offset and the value of each of its stores."""
    lines: list[str] = []
    token = "%t"
    for number, body in enumerate(bodies):
        head = (
            f"%f{number} = for %i in (%c0 to %n, step %c1) : tile<i32> iter_values(%c = {token}) -> (token)"
        )
        lines.append(f"{head} {{")
        last = "%c"
        for place, store in enumerate(body.split(", ")):
            offset, value = store.split(": ")
            name = f"{number}_{place}"
            kinds = "tile<ptr<i32>>, tile<i32>"
            lines += [
                f"%a{name} = addi %i, %c{offset} : tile<i32>",
                f"%p{name} = offset %o, %a{name} : {kinds} -> tile<ptr<i32>>",
                f"%s{name} = store_ptr_tko weak %p{name}, %{value} token={last} : {kinds} -> token",
            ]
            last = f"%s{name}"
        lines.append(f"continue {last} : token\n}}")
        token = f"%f{number}"
    return "\n".join(lines)


@pytest.mark.parametrize(
    ("first", "second", "told"),
    [
        ("0: n", "1: m", True),  # the second loop overwrites what the first stores one iteration later
        ("1: n", "0: m", False),  # the first loop is always ahead
        ("0: n", "0: m", False),
    ],
)
def test_loops_after_each_other_are_one_loop_only_where_no_iteration_is_overtaken(
    first: str, second: str, *, told: bool
) -> None:
    assert bool(lost(stores(first, second), stores(f"{first}, {second}"))) == told
    assert lost(stores(first, second), stores(first, second)) == []
    fused = stores(f"{first}, {second}")
    assert lost(fused, fused) == []


def in_order(*stores: str) -> str:
    """Stores of these values to the elements of these names, each after the one before."""
    lines: list[str] = []
    token = "%t"
    for index, store in enumerate(stores):
        element, value = store.split(": ")
        kinds = "tile<ptr<i32>>, tile<i32>"
        lines += [
            f"%p{index} = offset %o, %{element} : {kinds} -> tile<ptr<i32>>",
            f"%s{index} = store_ptr_tko weak %p{index}, %{value} token={token} : {kinds} -> token",
        ]
        token = f"%s{index}"
    return "\n".join(lines)


def test_the_other_order_is_told_as_such() -> None:
    """Not as an order that is lost: the token of the other one cannot be passed, as it waits itself."""
    there, back = in_order("n: c0", "m: c1"), in_order("m: c1", "n: c0")
    for reference, generated in ((there, back), (back, there)):
        (told,) = compared(kernel(reference), kernel(generated)).differences
        assert told.rule == "token-order/reversed"
        assert told.generated is not None
        assert told.actual.startswith("before the store of line")
    unordered = back.replace("token=%s0", "token=%t")
    (told,) = compared(kernel(there), kernel(unordered)).differences
    assert told.rule == "token-order/missing"
