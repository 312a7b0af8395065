"""From a difference to a finding."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tileir_diff.dialect import parse_text
from tileir_diff.match.model import Difference, Site
from tileir_diff.rules import FAMILIES, finding
from tileir_diff.rules.catalogue import details
from tileir_diff.rules.model import IMPACTS, MESSAGE_LIMIT
from tileir_diff.rules.render import elide, focus

RULES = [name for name, _ in details()]


def difference(rule: str, expected: str = "this", actual: str = "that", **rest: object) -> Difference:
    return Difference(rule, None, None, expected, actual, **rest)  # type: ignore[arg-type]


def test_takes_impact_message_effect_and_fix_from_the_table() -> None:
    found = finding(difference("reduction/axis", "dim=1", "dim=0"))
    assert found.impact == "logic"
    assert found.message == "the reduction runs along dim=0; in the reference along dim=1"
    assert found.effect == "other elements are combined with each other"
    assert found.fix == "reduce along dim=1"
    assert found.family == "reduction"


def test_the_fix_is_worded_for_the_front_end() -> None:
    assert "reduce_*" in finding(difference("reduction/axis", "dim=1", "dim=0"), "cutile-rust").fix
    assert "reduce_*" not in finding(difference("reduction/axis", "dim=1", "dim=0"), "tile-cpp").fix


def test_the_comparison_knows_better_than_the_rule() -> None:
    assert finding(difference("reduction/axis", impact="none")).impact == "none"


def test_the_effect_of_another_formula_is_that_of_its_impact() -> None:
    """Each impact has its own, and only that of rounding says that it rounds."""
    effects = {each: finding(difference("arithmetic/reformulated", impact=each)).effect for each in IMPACTS}
    told = {each: effects[each] for each in ("none", "hint", "edge", "ulp", "precision", "logic")}
    assert len(set(told.values())) == len(told)
    assert [each for each, effect in told.items() if "rounds" in effect] == ["ulp"]
    assert [each for each, effect in told.items() if "NaN" in effect] == ["edge"]


@pytest.mark.parametrize("rule", ["mask/unheard-of", "unheard-of/mask", "mask", ""])
def test_what_is_not_in_the_table_has_the_worst_impact(rule: str) -> None:
    found = finding(difference(rule))
    assert found.impact == "logic"
    assert "that where the reference has this" in found.message


def test_an_impact_off_the_scale_becomes_the_worst() -> None:
    assert finding(difference("debug-op/extra", impact="harmless")).impact == "logic"


@pytest.mark.parametrize(
    ("expected", "actual", "impact"),
    [("approx", "full", "ulp"), ("full", "approx", "precision"), ("approx ftz", "approx", "ulp")],
)
def test_an_approximation_of_its_own_is_worse_than_one_that_is_missing(
    expected: str, actual: str, impact: str
) -> None:
    assert finding(difference("float-mode/approx", expected, actual)).impact == impact


def test_values_of_the_difference_reach_the_templates_of_nothing_else() -> None:
    """Braces in a value are text, not a template."""
    found = finding(difference("constant/value", "{actual}", "{0.__class__}"))
    assert found.message == "the constant is {0.__class__}; in the reference {actual}"


def test_two_values_that_read_alike_are_not_contrasted() -> None:
    found = finding(difference("accumulator/init", "mulf(x, ...", "mulf(x, ..."), "cutile-rust")
    assert found.message == "differs from the reference in a part that is not shown: mulf(x, ..."
    assert found.fix == "compare the two lines: what differs stands deeper in their operands"
    assert found.effect == "what the product is added to is part of every result"


def test_names_the_op_and_the_line_of_the_source() -> None:
    text = """entry @k(%arg0: tile<f32>) {
  %0 = exp %arg0 : tile<f32> loc(#loc1)
  return loc(#loc1)
} loc(#loc1)
#loc1 = loc("/x/softmax.rs":58:9)
"""
    op = next(iter(parse_text(text).entries[0].inner()))
    site = Site(op, "k")
    found = finding(Difference("float-mode/ftz", site, site, "flush_to_zero", "subnormals kept"))
    assert found.message == "exp keeps subnormals; in the reference it flushes subnormals to zero"
    assert found.fix.endswith(" at softmax.rs:58")


@given(st.sampled_from(RULES), st.text(max_size=300), st.text(max_size=300))
def test_every_message_is_one_short_line(rule: str, expected: str, actual: str) -> None:
    found = finding(difference(rule, expected, actual))
    assert len(found.message) <= MESSAGE_LIMIT
    assert len(found.message.splitlines()) == 1
    assert found.impact in IMPACTS


def test_a_long_message_keeps_its_words_and_where_its_values_differ() -> None:
    nested = "mulf(" * 30 + "{}" + ")" * 30
    long = finding(difference("arithmetic/op", nested.format("x"), nested.format("y"))).message
    assert long.startswith("computes …")
    assert "(y)" in long
    assert "(x)" in long
    short = finding(difference("arithmetic/op", "a" * 300, "exp(x)")).message
    assert short.startswith("computes exp(x); the reference aaa")


@given(st.text(max_size=40), st.integers(1, 50))
def test_elide_keeps_both_ends(text: str, width: int) -> None:
    short = elide(text, width)
    assert len(short) <= max(width, 0)
    if len(text) <= width:
        assert short == text
    elif width >= 3:
        assert text.startswith(short.partition("…")[0])
        assert text.endswith(short.rpartition("…")[2])


@given(st.text("ab", max_size=60), st.text("ab", max_size=60), st.integers(20, 50))
def test_focus_shows_the_first_difference(text: str, other: str, width: int) -> None:
    shown = focus(text, other, width)
    assert len(shown) <= width
    same = next((i for i, pair in enumerate(zip(text, other, strict=False)) if len(set(pair)) == 2), 0)
    if len(text) <= width:
        assert shown == text
    elif not other.startswith(text) and not text.startswith(other):
        assert text[same : same + 8] in shown


def test_every_family_of_the_contract_is_there() -> None:
    contract = (
        "memory-family tile-shape element-type reduction scan mask padding addressing stride dim-map "
        "tma-hint latency-hint entry-hint divisibility bounds float-mode integer-mode accumulator mma loop "
        "control-flow constant arithmetic conversion shape-op token-order memory-order atomic grid "
        "entry-signature runtime-check debug-op dead-code"
    )
    assert set(contract.split()) <= set(FAMILIES)


ADDRESS = "64*block.x - 8192*(block.x / 128) + i0 + 32*block.y"


def test_a_fix_names_the_place_of_what_nobody_writes() -> None:
    text = "entry @k(%a: tile<i32>) {\n%b = addi %a, %a : tile<i32>\nreturn\n}\n"
    op = next(op for op in parse_text(text).walk() if getattr(op, "short", "") == "addi")
    site = Site(op, "@k")  # type: ignore[arg-type]
    long = finding(Difference("addressing/index", site, site, ADDRESS, "i0"))
    assert long.fix == "at line 2 of the dump, use the formula at line 2 of the reference"
    assert ADDRESS in long.expected
    short = finding(Difference("addressing/index", site, site, "64*block.x", "i0"))
    assert short.fix == "use 64*block.x at line 2 of the dump"


def test_a_fix_never_passes_the_sizes_of_a_launch_off_as_code() -> None:
    known = difference("mask/missing", "i0 <= 999", "nothing", detail={"launch": True})
    assert finding(known).fix.endswith("(for this launch)")
    assert not finding(difference("mask/missing", "i0 <= 999", "nothing")).fix.endswith("launch)")
    assert not finding(difference("reduction/axis", "dim=10", "dim=0", detail={"launch": True})).fix.endswith(
        ")"
    )
