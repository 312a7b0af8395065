"""A number that one side takes as an argument and the other one has as a constant: the host's business."""

from __future__ import annotations

import pytest

from tests.match.snippets import LOAD, PARAMETERS, STORE, compared, found, kernel

F = "tile<128xf32>"
SPLAT = "%f1 = reshape %f : tile<f32> -> tile<1xf32>\n%fv = broadcast %f1 : tile<1xf32> -> " + F


def scaled(op: str, number: str, *, parameter: str = "", name: str = "k", more: str = "") -> str:
    """A kernel that stores `op` of what it loads and a number; `more` is computed besides."""
    return kernel(
        f"{LOAD}\n{number}\n{SPLAT}\n{more}%w = {op.format('%v', '%fv')} : {F}\n{STORE}",
        parameters=f"{PARAMETERS}, {parameter}" if parameter else PARAMETERS,
        name=name,
    )


FLOAT = ("%s: tile<f32>", "%f1 = reshape %s : tile<f32> -> tile<1xf32>")
COUNT = ("%s: tile<i32>", "%f = itof %s signed : tile<i32> -> tile<f32>")


def passed(kind: tuple[str, str], op: str, name: str) -> str:
    parameter, number = kind
    text = scaled(op, number, parameter=parameter, name=name)
    return text.replace("%f1 = reshape %f : tile<f32> -> tile<1xf32>\n", "") if kind is FLOAT else text


def fixed(value: float, op: str, name: str, parameter: str = "") -> str:
    return scaled(op, f"%f = constant <f32: {value}> : tile<f32>", name=name, parameter=parameter)


@pytest.mark.parametrize("op", ["mulf {}, {}", "mulf {1}, {0}", "addf {}, {}", "divf {}, {}"])
@pytest.mark.parametrize("kind", [FLOAT, COUNT], ids=["float", "count"])
@pytest.mark.parametrize("unused", [False, True], ids=["lacks it", "does not use it"])
def test_a_number_that_one_side_has_as_a_constant(op: str, kind: tuple[str, str], unused: bool) -> None:
    value = 0.15625 if kind is FLOAT else 77.0
    for names in (("k", "k_entry"), ("k_entry", "k")):
        pair = passed(kind, op, names[0]), fixed(value, op, names[1], kind[0] if unused else "")
        for side, (reference, generated) in (("reference s", pair), ("generated %s", pair[::-1])):
            result = compared(reference, generated)
            other = "generated" if side == "reference s" else "reference"
            assert found(reference, generated) == []
            assert f"{side} = {value:g} (a number in the {other} kernel)" in result.obligations


def test_a_constant_that_no_integer_gives() -> None:
    pair = passed(COUNT, "mulf {}, {}", "k"), fixed(77.5, "mulf {}, {}", "k_entry")
    for reference, generated in (pair, pair[::-1]):
        assert {each.impact for each in found(reference, generated)} == {"logic"}


def test_a_number_that_would_have_to_be_two() -> None:
    def twice(first: str, second: str, name: str, parameter: str) -> str:
        return kernel(
            f"{LOAD}\n{first}\n{second}\n%u = mulf %v, %fv : {F}\n%w = addf %u, %gv : {F}\n{STORE}",
            parameters=f"{PARAMETERS}{parameter}",
            name=name,
        )

    splat = SPLAT.replace("%f ", "%s ")
    passed_once = twice(splat, splat.replace("%f", "%g"), "k", ", %s: tile<f32>")
    constants = (f"%{name}v = constant <f32: {{}}> : {F}" for name in "fg")
    first, second = constants
    same = twice(first.format(0.75), second.format(0.75), "k_entry", "")
    other = twice(first.format(0.75), second.format(0.5), "k_entry", "")
    assert found(passed_once, same) == []
    for reference, generated in ((passed_once, other), (other, passed_once)):
        assert found(reference, generated)


@pytest.mark.parametrize(("op", "neutral"), [("addf {}, {}", 0.0), ("mulf {}, {}", 1.0)])
def test_a_number_without_effect_is_one_of_the_reference_only_where_it_is_written(
    op: str, neutral: float
) -> None:
    """A factor or a summand of which the reference knows nothing is one too many, not a number it has."""
    generated = passed(FLOAT, op, "k_entry")
    written = fixed(neutral, op, "k")
    assert found(written, generated) == []
    assert (
        f"generated %s = {neutral:g} (a number in the reference kernel)"
        in compared(written, generated).obligations
    )
    nothing = kernel(f"{LOAD}\n{STORE.replace('%w', '%v')}")
    assert [each.impact for each in found(nothing, generated)] == ["logic"]
