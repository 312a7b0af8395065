"""What is known of parameters comes from ops that are reached and used."""

from __future__ import annotations

import pytest

from tests.match.snippets import assert_equal, found, kernel

VIEW = "tensor_view<?xf32, strides=[1]>"
SIZED = f"%tv = make_tensor_view %b, shape = [%m], strides = [1] : tile<i32> -> {VIEW}"
PART = f"partition_view<tile=(128), {VIEW}>"
FILLED = (
    f"{SIZED}\n%pv = make_partition_view %tv : {PART}\n"
    f"%sv = store_view_tko weak %one, %pv[%x] token = %t : tile<128xf32>, {PART}, tile<i32> -> token"
)
KNOWN = "%mm = assume bounded<0, ?>, %m : tile<i32>"
COUNT = "%c = ptr_to_ptr %a : tile<ptr<f32>> -> tile<ptr<i32>>\n"
STORED = "%s = store_ptr_tko weak %c, %k token=%t : tile<ptr<i32>>, tile<i32> -> token"
CLAMP = "%k = maxi %m, %i0 signed : tile<i32>"
PLAIN = "%k = addi %m, %i0 : tile<i32>"
QUOTIENT = "%q = divi %n, %m signed : tile<i32>"


def stored(*lines: str) -> str:
    return kernel("\n".join((COUNT, *lines, STORED)))


def branch(body: str) -> str:
    return f"%low = cmpi less_than %n, %i4, signed : tile<i32> -> tile<i1>\nif %low {{\n{body}\n}}"


def looped(body: str) -> str:
    return f"for %i in (%i0 to %n, step %i1) : tile<i32> {{\n{body}\n}}"


HIDDEN = [
    branch(f"{KNOWN}\n%sm = store_ptr_tko weak %c, %mm token=%t : tile<ptr<i32>>, tile<i32> -> token"),
    branch(FILLED),
    looped(FILLED),
    SIZED,
]


@pytest.mark.parametrize("lines", HIDDEN)
def test_what_may_not_be_reached_or_is_not_used_says_nothing(lines: str) -> None:
    assert [each.impact for each in found(stored(lines, CLAMP), stored(lines, PLAIN))] == ["logic"]
    assert_equal(stored(lines, CLAMP), stored(lines, CLAMP))


@pytest.mark.parametrize("lines", [KNOWN, FILLED])
def test_what_is_always_reached_holds_everywhere(lines: str) -> None:
    assert_equal(stored(lines, CLAMP), stored(lines, PLAIN))


@pytest.mark.parametrize("op", [QUOTIENT, QUOTIENT.replace("divi", "remi")])
def test_a_divisor_of_what_nothing_uses_may_be_zero(op: str) -> None:
    least = CLAMP.replace("%i0", "%i1")
    assert {each.impact for each in found(stored(least), stored(op, PLAIN))} == {"logic"}


@pytest.mark.parametrize(("most", "equal"), [(512, True), (999, True), (511, False)])
def test_a_counter_stops_at_its_last_step(most: int, equal: bool) -> None:
    def counted(k: str) -> str:
        return kernel(
            f"{COUNT}%end = constant <i32: 1000> : tile<i32>\n%step = constant <i32: 512> : tile<i32>\n"
            f"for %i in (%i0 to %end, step %step) : tile<i32> {{\n{k}\n{STORED}\n}}"
        )

    promised = counted(f"%k = assume bounded<0, {most}>, %i : tile<i32>")
    findings = found(counted("%k = addi %i, %i0 : tile<i32>"), promised)
    assert [each.rule for each in findings] == ([] if equal else ["bounds/stronger"])
