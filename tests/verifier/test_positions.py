"""An error points at the offending part of its op, not just at its line."""

from __future__ import annotations

import pytest

from tileir_diff.check import check_text

from .snippets import func, module

_POINTERS = "%p: tile<4xptr<f32>>, %m: tile<i1>, %x: tile<4xf32>, %h: tile<4xf16>"


@pytest.mark.parametrize(
    ("text", "line", "start"),
    [
        (func("%a: tile<f32>, %b: tile<3xf32>", ""), 1, "tile<3xf32>)"),
        (func("", "%0 = iota : tile<6xi32>"), 2, "tile<6xi32>"),
        (func("%a: tile<4xf16>", "%0 = addf %a, %a flush_to_zero : tile<4xf16>"), 2, "flush_to_zero :"),
        (func("%a: tile<4xf16>", "%0 = exp %a rounding<approx> : tile<4xf16>"), 2, "rounding<approx> :"),
        (func("%a: tile<4xf32>", "%0 = ftof %a  : tile<4xf32> -> tile<4xf32>"), 2, "tile<4xf32>\n"),
        (func("%a: tile<4xi32>", "%0 = sin %a : tile<4xi32>"), 2, "%a :"),
        (
            func(
                _POINTERS,
                "%0 = store_ptr_tko weak %p, %x, %m : tile<4xptr<f32>>, tile<4xf32>, tile<i1> -> token",
            ),
            2,
            "%m :",
        ),
        (
            func(_POINTERS, "%0, %1 = load_ptr_tko weak %p : tile<4xptr<f32>> -> tile<4xf16>, token"),
            2,
            "tile<4xf16>, token",
        ),
        (
            func(_POINTERS, "%0, %1 = load_ptr_tko acq_rel sys %p : tile<4xptr<f32>> -> tile<4xf32>, token"),
            2,
            "acq_rel sys",
        ),
        (func("%a: tile<i32>", "%0 = assume div_by<6>, %a : tile<i32>"), 2, "div_by<6>"),
        (func("%a: tile<f32>", '%0 = print_tko "%d %d", %a : tile<f32> -> token'), 2, '"%d %d"'),
        (module("entry @k(%a: tile<f32>, %b: tile<2xf32>) {\nreturn\n}"), 1, "tile<2xf32>)"),
        (module("entry @k() {\nreturn\n}\nentry @k() {\nreturn\n}"), 4, "@k()"),
        (module("entry @k() {\n%0 = get_global @g : tile<ptr<f32>>\nreturn\n}"), 2, "@g :"),
    ],
)
def test_error_points_at_the_part(text: str, line: int, start: str) -> None:
    result = check_text(text)
    assert len(result.errors) == 1
    error = result.errors[0]
    assert error.line == line
    rest = "\n".join(result.lines[line - 1 :])[error.column - 1 :]
    assert rest.startswith(start), rest.split("\n")[0]
