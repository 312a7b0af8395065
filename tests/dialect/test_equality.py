"""Structural equality: sees every difference but names, positions and spelling."""

import pytest

from tests.dialect.snippets import LINES, module_of
from tileir_diff.dialect.equality import structurally_equal


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("%0 = subf %f, %f : tile<f32>", "%0 = addf %f, %f : tile<f32>"),
        ("%0 = addf %f, %f : tile<f32>", "%0 = addf %f, %f rounding<zero> : tile<f32>"),
        ("%0 = maxi %i, %i signed : tile<i32>", "%0 = maxi %i, %i unsigned : tile<i32>"),
        ("%0 = join_tokens %t, %u : token", "%0 = join_tokens %u, %t : token"),
        ("%0 = join_tokens %t, %u : token", "%0 = join_tokens %t, %u, %u : token"),
        ("%0 = constant <i32: 1> : tile<i32>", "%0 = constant <i32: 2> : tile<i32>"),
        ("%0 = constant <f32: 0.0> : tile<f32>", "%0 = constant <f32: -0.0> : tile<f32>"),
        ("%0 = iota : tile<4xi32>", "%0 = iota : tile<8xi32>"),
        ("%0 = iota : tile<4xi32>", "%0 = iota : tile<4xi32>\n%1 = iota : tile<4xi32>"),
        ("if %b {\n}", "if %b {\n} else {\n}"),
        ("if %b {\n return\n}", "if %b {\n}"),
        (
            "for %n in (%i to %i, step %i) : tile<i32> {\n}",
            "for unsigned %n in (%i to %i, step %i) : tile<i32> {\n}",
        ),
        (
            "%x, %y = load_ptr_tko weak %p, %b : tile<ptr<f32>>, tile<i1> -> tile<f32>, token",
            "%x, %y = load_ptr_tko weak %p, %f : tile<ptr<f32>>, tile<f32> -> tile<f32>, token",
        ),
        (
            (
                "%x = reduce %fv dim=0 identities=[0.0 : f32] : tile<4xf32> -> tile<f32>\n"
                "(%q: tile<f32>, %w: tile<f32>) {\n yield %q : tile<f32>\n}"
            ),
            (
                "%x = reduce %fv dim=0 identities=[0.0 : f32] : tile<4xf32> -> tile<f32>\n"
                "(%q: tile<f32>, %w: tile<f32>) {\n yield %w : tile<f32>\n}"
            ),
        ),
    ],
)
def test_different(left: str, right: str) -> None:
    assert not structurally_equal(module_of(left), module_of(right))
    assert structurally_equal(module_of(left), module_of(left))


def test_names_do_not_matter() -> None:
    left = "%a = negf %f : tile<f32>\n%c = absf %a : tile<f32>"
    assert structurally_equal(module_of(left), module_of(left.replace("%a", "%zz").replace("%c", "%7")))


def test_every_two_lines_differ() -> None:
    modules = [module_of(line) for line in LINES]
    for index, left in enumerate(modules):
        assert not any(structurally_equal(left, right) for right in modules[index + 1 :])
