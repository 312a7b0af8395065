"""Where ops and their parts stand in the dump and in the kernel's source."""

# ruff: noqa: E501  (IR stands here as it is printed)

import pytest

from tests.dialect.snippets import BLOCKS, LINES, first, module_of
from tileir_diff.dialect import parse_text
from tileir_diff.dialect.ir import SourceLoc, TileOp
from tileir_diff.syntax.source import Span


def part(op: TileOp, name: str) -> str | None:
    """The text at a part's span."""
    span = op.part_span(name)
    if span is None or op.dump is None:
        return None
    lines = op.dump.text.text.split("\n")
    assert span.line == span.end_line
    return lines[span.line - 1][span.column - 1 : span.end_column - 1]


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        (
            "%0 = addf %fv, %fv rounding<zero> flush_to_zero : tile<4xf32>",
            {
                "results": "%0",
                "name": "addf",
                "lhs": "%fv",
                "rhs": "%fv",
                "rounding": "rounding<zero>",
                "flush_to_zero": "flush_to_zero",
                "types": "tile<4xf32>",
            },
        ),
        (
            (
                "%x, %y = load_ptr_tko acquire sys %p, %b, %f token=%t optimization_hints = <sm_100 = {latency = 3}> : "
                "tile<ptr<f32>>, tile<i1>, tile<f32> -> tile<f32>, token"
            ),
            {
                "results": "%x, %y",
                "source": "%p",
                "mask": "%b",
                "padding": "%f",
                "token": "%t",
                "memory_scope": "sys",
                "hints": "optimization_hints = <sm_100 = {latency = 3}>",
                "types": "tile<ptr<f32>>, tile<i1>, tile<f32> -> tile<f32>, token",
            },
        ),
        (LINES[-1], {"view": "%part", "index": "%i, %i", "value": "%r", "mode": "addf", "token": "%t"}),
        (
            BLOCKS[2],
            {
                "lower": "%i",
                "upper": "%i",
                "step": "%i",
                "inits": "%f, %w = %i",
                "unsigned_cmp": "unsigned",
                "results": "%x:2",
            },
        ),
        (BLOCKS[0], {"operands": "%m", "dim": "dim=1", "identities": "identities=[0.000000e+00 : f32]"}),
        ("if %b {\n}", {"condition": "%b", "name": "if"}),
        ("%0 = constant <i32: 42> : tile<4xi32>", {"value": "<i32: 42>"}),
        ("%0 = assume div_by<16>, %i : tile<i32>", {"assumption": "div_by<16>", "value": "%i"}),
        (
            (
                "%0 = make_tensor_view %p, shape = [%i, 8], strides = [8, 1] : tile<i32> -> "
                "tensor_view<?x8xf32, strides=[8,1]>"
            ),
            {"base": "%p", "shape": "[%i, 8]", "strides": "[8, 1]"},
        ),
        ('assert %b, "message" : tile<i1>', {"condition": "%b", "message": '"message"'}),
        (
            '%0 = "cuda_tile.addf"(%fv, %fv) <{rounding_mode = 1 : i32}> : (tile<4xf32>, tile<4xf32>) -> tile<4xf32>',
            {"lhs": "%fv", "rhs": "%fv", "rounding": "<{rounding_mode = 1 : i32}>"},
        ),
    ],
)
def test_parts(text: str, parts: dict[str, str]) -> None:
    op = first(text)
    assert {name: part(op, name) for name in parts} == parts


def test_equal_operands_are_told_apart() -> None:
    op = first("%0 = addf %fv, %fv : tile<4xf32>")
    lhs, rhs = op.part_span("lhs"), op.part_span("rhs")
    assert lhs is not None
    assert rhs is not None
    assert (lhs.column, rhs.column) == (13, 18)


def test_what_is_not_written_has_no_place() -> None:
    op = first("%0 = addf %fv, %fv : tile<4xf32>")
    assert op.part_span("rounding") is None
    assert op.part_span("nonsense") is None
    assert first("return").part_span("results") is None


def test_elided_terminators_have_an_empty_span_at_the_brace() -> None:
    (entry,) = parse_text("entry @k() {\n}\n").entries
    (end,) = entry.inner()
    assert end.span == Span(2, 1, 2, 1)
    assert end.part_span("name") is None


def test_spans() -> None:
    text = "entry @k(%a: token) {\n  %0 = join_tokens %a,\n    %a : token loc(unknown)\n}\n"
    (entry,) = parse_text(text).entries
    join, _ = entry.inner()
    assert entry.span == Span(1, 1, 1, 22)
    assert join.span == Span(2, 3, 3, 15)
    assert join.text == "%0 = join_tokens %a,\n    %a : token"


def test_reduce_spans_its_own_line() -> None:
    assert first(BLOCKS[0]).span.line == first(BLOCKS[0]).span.end_line == 2


def test_ops_made_by_hand_have_no_place() -> None:
    op = first("%0 = negf %fv : tile<4xf32>")
    built = type(op).build((list(op.operands),), (op.results[0].type,), {})
    assert built.span == Span(0, 0, 0, 0)
    assert built.text == ""
    assert built.part_span("source") is None
    assert built.source is None


# ---- debug locations

LOCATED = """entry @k(%a: token) {
  %0 = join_tokens %a, %a : token loc(#loc5)
  %1 = join_tokens %a, %a : token loc(#loc6)
  %2 = join_tokens %a, %a : token loc(#loc)
  %3 = join_tokens %a, %a : token loc("other.py":7:8)
  %4 = join_tokens %a, %a : token
  %5 = join_tokens %a, %a : token loc(fused[#loc3, #loc2])
  %6 = join_tokens %a, %a : token loc(#missing)
  return loc(#loc4)
} loc(#loc4)
#di_file = #cuda_tile.di_file<"k.py" in "/x">
#loc = loc(unknown)
#loc1 = loc("k.py":3:0)
#loc2 = loc("k.py":9:4)
#loc3 = loc("lib.py":70:2)
#di_compile_unit = #cuda_tile.di_compile_unit<file = #di_file>
#di_subprogram = #cuda_tile.di_subprogram<file = #di_file, line = 3, name = "k", linkageName = "k", compileUnit = \
#di_compile_unit, scopeLine = 3>
#loc4 = #cuda_tile.di_loc<#loc1 in #di_subprogram>
#loc5 = #cuda_tile.di_loc<#loc2 in #di_subprogram>
#loc6 = loc(callsite(#loc3 at #loc5))
"""


def test_sources() -> None:
    module = parse_text(LOCATED)
    assert module.format == "disassembly-g"
    (entry,) = module.entries
    assert entry.source == SourceLoc("k.py", 3, 0)
    assert [op.source for op in entry.inner()] == [
        SourceLoc("k.py", 9, 4),
        SourceLoc("k.py", 9, 4),  # the call in the kernel's own file, not the library's line
        None,
        SourceLoc("other.py", 7, 8),
        None,
        SourceLoc("k.py", 9, 4),
        None,
        SourceLoc("k.py", 3, 0),
    ]


def test_the_call_of_a_function_of_the_same_file() -> None:
    """The kernel itself is no call, though a front end may inline it into its entry."""
    text = """entry @k(%a: token) {
  %0 = join_tokens %a, %a : token loc(callsite(#helper at #call))
  %1 = join_tokens %a, %a : token loc(callsite(#inner at #nested))
  %2 = join_tokens %a, %a : token loc(callsite(#call at #kernel))
  %3 = join_tokens %a, %a : token loc(fused[#helper, #call])
  return
} loc(#kernel)
#kernel = loc("k.py":1:0)
#call = loc("k.py":9:4)
#helper = loc("k.py":70:2)
#inner = loc("k.py":80:2)
#nested = loc(callsite(#helper at #call))
"""
    call = SourceLoc("k.py", 9, 4)
    assert [op.source for op in parse_text(text).entries[0].inner()] == [
        SourceLoc("k.py", 70, 2, call),
        SourceLoc("k.py", 80, 2, call),
        call,
        SourceLoc("k.py", 70, 2),
        None,
    ]


def test_locations_that_turn_in_circles_are_unknown() -> None:
    text = "return loc(#a)\n#a = loc(#b)\n#b = loc(callsite(#a at #b))\n"
    (op,) = parse_text(text).inner()
    assert op.source is None


def test_long_chains_of_locations_are_cut() -> None:
    aliases = "".join(f"#a{index} = loc(fused[#a{index + 1}, #a{index + 1}])\n" for index in range(5000))
    (op,) = parse_text("return loc(#a0)\n" + aliases).inner()
    assert op.source is None


def test_malformed_locations_are_unknown() -> None:
    (op,) = parse_text('return loc("a":1.5:2)\n#a = loc(unknown)').inner()
    assert op.source is None


def test_locations_may_stand_everywhere() -> None:
    text = """entry @k(%a: token loc("k.py":1:1)) {
  %0 = loop iter_values(%b = %a) : token -> token {
    break %b : token loc(#x)
  } loc(#x)
  return loc(unknown)
} loc(callsite(#x at "k.py":1:1))
#x = loc("f"("k.py":2:2))
"""
    assert [op.short for op in parse_text(text).entries[0].inner()] == ["loop", "return"]


def test_text_of_every_op_holds_its_name() -> None:
    for text in LINES + BLOCKS:
        for op in module_of(text).entries[0].inner():
            assert op.short in op.text


def test_a_symbol_is_shown_without_what_a_terminal_would_act_on() -> None:
    module = parse_text('entry @"k\\1B[31mred\\0A" () {\n  return\n}\n')
    (entry,) = module.entries
    assert entry.symbol == "k\\1B[31mred\\0A"
