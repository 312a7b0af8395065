"""The same kernel in other spellings: MLIR tools, generic form, the cuTile Rust printer, older versions."""

# ruff: noqa: E501  (IR stands here as it is printed)

import pytest

from tests.dialect.snippets import first, module_of, wrap
from tileir_diff.dialect import parse_text
from tileir_diff.dialect.equality import structurally_equal
from tileir_diff.dialect.ir import ModuleOp
from tileir_diff.dialect.types import TOKEN
from tileir_diff.errors import InputError

PLAIN = """entry @k(%arg0: tile<ptr<f32>>, %n: tile<i32>) optimization_hints=<sm_100 = {occupancy = 2}> {
  %c = constant <i32: 4> : tile<4xi32>
  %d = divi %c, %c signed rounding<negative_inf> : tile<4xi32>
  %x, %t = load_ptr_tko weak %arg0 : tile<ptr<f32>> -> tile<f32>, token
  %r = for %i in (%n to %n, step %n) : tile<i32> iter_values(%a = %x) -> (tile<f32>) {
    %y = exp %a rounding<approx> : tile<f32>
    continue %y : tile<f32>
  }
  %u = store_ptr_tko weak %arg0, %r token=%t : tile<ptr<f32>>, tile<f32> -> token
  return
}
"""
BODY = PLAIN[PLAIN.index("{\n") + 1 :]

PREFIXED = """
#file = #cuda_tile.di_file<"k.py" in "/x">
module attributes {gpu.container} {
  // -----
  cuda_tile.module @kernels attributes {producer = "made by hand"} {
    cuda_tile.entry @k(%arg0: !cuda_tile.tile<!cuda_tile.ptr<f32>> loc("k.py":1:2), %n: !cuda_tile.tile<i32>)
        optimization_hints=<sm_100 = {occupancy = 2}> {
      %c = cuda_tile.constant <i32: 4> : !cuda_tile.tile<4xi32> loc(#loc1)
      %d = cuda_tile.divi %c, %c signed
             rounding<negative_inf> : !cuda_tile.tile<4xi32>
      %p:2 = cuda_tile.load_ptr_tko weak %arg0 : !cuda_tile.tile<ptr<f32>> -> !cuda_tile.tile<f32>, !cuda_tile.token
      %r = cuda_tile.for %i in (%n to %n, step %n) : !cuda_tile.tile<i32>
          iter_values(%a = %p) -> (!cuda_tile.tile<f32>) {
        %y = cuda_tile.exp %a rounding<approx> : !cuda_tile.tile<f32>
        cuda_tile.continue %y : !cuda_tile.tile<f32>
      } loc(#loc1)
      cuda_tile.store_ptr_tko weak %arg0, %r token = %p#1 : !cuda_tile.tile<ptr<f32>>, !cuda_tile.tile<f32> -> token
    } loc(#loc1)
  } loc(unknown)
}
#loc1 = loc("k.py":3:4)
"""

GENERIC = """
"builtin.module"() ({
  "cuda_tile.module"() <{sym_name = "kernels"}> ({
    "cuda_tile.entry"() <{function_type = (!cuda_tile.tile<ptr<f32>>, !cuda_tile.tile<i32>) -> (), sym_name = "k",
        arg_attrs = [{}, {}], optimization_hints = #cuda_tile.optimization_hints<sm_100 = {occupancy = 2}>}> ({
    ^bb0(%arg0: !cuda_tile.tile<ptr<f32>>, %n: !cuda_tile.tile<i32>):
      %c = "cuda_tile.constant"() <{value = dense<4> : !cuda_tile.tile<4xi32>}> : () -> !cuda_tile.tile<4xi32>
      %d = "cuda_tile.divi"(%c, %c) {signedness = #cuda_tile.signedness<signed>,
          rounding = #cuda_tile.rounding<negative_inf>}
          : (!cuda_tile.tile<4xi32>, !cuda_tile.tile<4xi32>) -> !cuda_tile.tile<4xi32>
      %x, %t = "cuda_tile.load_ptr_tko"(%arg0) <{memory_ordering_semantics = 0 : i32,
          operandSegmentSizes = array<i32: 1, 0, 0, 0>}>
          : (!cuda_tile.tile<ptr<f32>>) -> (!cuda_tile.tile<f32>, !cuda_tile.token)
      %r = "cuda_tile.for"(%n, %n, %n, %x) ({
      ^bb0(%i: !cuda_tile.tile<i32>, %a: !cuda_tile.tile<f32>):
        %y = "cuda_tile.exp"(%a) <{rounding_mode = #cuda_tile.rounding<approx>}>
            : (!cuda_tile.tile<f32>) -> !cuda_tile.tile<f32>
        "cuda_tile.continue"(%y) : (!cuda_tile.tile<f32>) -> ()
      }) : (!cuda_tile.tile<i32>, !cuda_tile.tile<i32>, !cuda_tile.tile<i32>, !cuda_tile.tile<f32>)
          -> !cuda_tile.tile<f32>
      %u = "cuda_tile.store_ptr_tko"(%arg0, %r, %t) <{memory_ordering_semantics = 0 : i32,
          operandSegmentSizes = array<i32: 1, 1, 0, 1>}>
          : (!cuda_tile.tile<ptr<f32>>, !cuda_tile.tile<f32>, !cuda_tile.token) -> !cuda_tile.token
      "cuda_tile.return"() : () -> ()
    }) : () -> ()
  }) : () -> ()
}) : () -> ()
"""

CUTILE_RS = """cuda_tile.module @kernels {
  entry @k(%0: tile<ptr<f32>>, %1: tile<i32>) optimization_hints = #cuda_tile.optimization_hints<sm_100 = {occupancy = 2}> {
    %2 = constant <i32: 4, 4, 4, 4> : tile<4xi32>
    %3 = divi %2, %2 signed rounding negative_inf : tile<4xi32>
    %4, %5 = load_ptr_tko weak %0 : tile<ptr<f32>> -> tile<f32>, token
    %8 = for %6 in (%1 to %1, step %1) : tile<i32> iter_values(%7 = %4) -> (tile<f32>) {
      %9 = exp %7 {rounding_mode = 4} : tile<f32>
      continue %9 : tile<f32>
    }
    %10 = store_ptr_tko weak %0, %8 token = %5 : tile<ptr<f32>>, tile<f32> -> token
    return
  }
}
"""


def entry_equal(left: ModuleOp, right: ModuleOp) -> bool:
    return structurally_equal(left.entries[0], right.entries[0])


@pytest.mark.parametrize(
    ("text", "format_"), [(PREFIXED, "mlir"), (GENERIC, "mlir-generic"), (CUTILE_RS, "cutile-rs")]
)
def test_same_kernel(text: str, format_: str) -> None:
    module = parse_text(text)
    assert module.format == format_
    assert module.get("sym_name") == "kernels"
    assert entry_equal(module, parse_text(PLAIN))


def test_module_attributes() -> None:
    assert parse_text(PREFIXED).get("producer") == "made by hand"
    assert parse_text(PLAIN).get("producer") is None


def test_modules_side_by_side_are_one() -> None:
    text = "module @a {\n entry @x() {\n }\n}\n// -----\nmodule @b {\n entry @y() {\n }\n}\n"
    assert [entry.get("sym_name") for entry in parse_text(text).entries] == ["x", "y"]


def test_builtin_module_may_have_a_name_of_its_own() -> None:
    assert parse_text("builtin.module {\n entry @x() {\n }\n}").get("sym_name") == ""


@pytest.mark.parametrize(
    ("text", "same"),
    [
        ("%0 = pow %fv, %fv : tile<4xf32>", "%0 = fpowf %fv, %fv : tile<4xf32>"),
        ('print "x %d", %i : tile<i32>', '%0 = print_tko "x %d", %i : tile<i32> -> token'),
        (
            "%0 = addi %iv, %iv overflow nsw : tile<4xi32>",
            "%0 = addi %iv, %iv overflow<no_signed_wrap> : tile<4xi32>",
        ),
        ("%0 = negi %iv {overflow = 3} : tile<4xi32>", "%0 = negi %iv overflow<no_wrap> : tile<4xi32>"),
        ("%0 = exp %fv {rounding_mode = 5} : tile<4xf32>", "%0 = exp %fv : tile<4xf32>"),
        (
            "%0 = mmaf %a16, %b16, %r {fast_acc = true} : tile<4x8xf16>, tile<8x2xf16>, tile<4x2xf32>",
            "%0 = mmaf %a16, %b16, %r fast_acc : tile<4x8xf16>, tile<8x2xf16>, tile<4x2xf32>",
        ),
        (
            "%0 = assume #cuda_tile.div_by<16>, %i : tile<i32>",
            "%0 = assume div_by<16>, %i : tile<i32>",
        ),
        (
            (
                "%x, %y = atomic_rmw_tko relaxed device %p, %f, %b, %t {mode = 4} : tile<ptr<f32>>, tile<f32>, tile<i1>, "
                "token -> tile<f32>, token"
            ),
            (
                "%x, %y = atomic_rmw_tko relaxed device %p, addf, %f, %b token=%t : tile<ptr<f32>>, tile<f32>, tile<i1> "
                "-> tile<f32>, token"
            ),
        ),
        (
            (
                "%x, %y = atomic_cas_tko relaxed sys %pi, %i, %i token=%t : tile<ptr<i32>>, tile<i32>, tile<i32>, token "
                "-> tile<i32>, token"
            ),
            "%x, %y = atomic_cas_tko relaxed sys %pi, %i, %i token=%t : tile<ptr<i32>>, tile<i32> -> tile<i32>, token",
        ),
        (
            '%0 = print_tko "a\\n\\u{e9}", %f, %t : tile<f32>, token',
            '%0 = print_tko "a\\0A\\C3\\A9", %f token=%t : tile<f32> -> token',
        ),
        (
            (
                "%x, %y = load_view_tko weak %rows[%iv, %i] : gather_scatter_view<tile=(4x2), "
                "tensor_view<64x128xf32, strides=[128,1]>, sparse_dim=0>, tile<4xi32> -> tile<4x2xf32>, token"
            ),
            (
                "%x, %y = load_view_tko weak %rows[%iv, %i] : gather_scatter_view<tile=(4x2), "
                "tensor_view<64x128xf32, strides=[128,1]>, sparse_dim=0>, tile<4xi32>, tile<i32> -> tile<4x2xf32>, token"
            ),
        ),
        (
            (
                "%x = reduce %m dim=1 identities=[0] : tile<8x2xf32> -> tile<8xf32> {\n^bb0(%q: tile<f32>, %w: tile<f32>):\n"
                " yield %q : tile<f32>\n}"
            ),
            (
                "%x = reduce %m dim=1 identities=[0.0 : f32] : tile<8x2xf32> -> tile<8xf32>\n"
                "(%q: tile<f32>, %w: tile<f32>) {\n yield %q : tile<f32>\n}"
            ),
        ),
        (
            "%x = cuda_tile.loop : tile<f32> {\n break %f : tile<f32>\n}",
            "%x = loop : tile<f32> {\n break %f : tile<f32>\n}",
        ),
        ("%0 = maxf %fv, %fv {rounding_mode = 0} : tile<4xf32>", "%0 = maxf %fv, %fv : tile<4xf32>"),
        ("make_token : token", "%0 = make_token : token"),
        ("%0:1 = make_token : token", "%0 = make_token : token"),
        ("if %b {\n} else {\n} {a.b = 1}", "if %b {\n} else {\n}"),
        ("if %b {\n yield\n}", "if %b {\n}"),
        (
            "for %n in (%i to %i, step %i) : tile<i32> {\n continue\n}",
            "for %n in (%i to %i, step %i) : tile<i32> {\n}",
        ),
    ],
)
def test_same_op(text: str, same: str) -> None:
    assert structurally_equal(module_of(text), module_of(same))


def test_results_need_not_be_named() -> None:
    op = first('print "x"')
    assert [result.type for result in op.results] == [TOKEN]
    assert op.results[0].name_hint is None


def test_bare_pack_name_is_its_first_result() -> None:
    text = "%9:2 = load_ptr_tko weak %p : tile<ptr<f32>> -> tile<f32>, token\n%1 = negf %9 : tile<f32>"
    load, negation, _ = module_of(text).entries[0].inner()
    assert negation.operands[0] is load.results[0]
    assert [result.name_hint for result in load.results] == ["9#0", "9#1"]


def test_elided_terminators_are_put_in() -> None:
    module = parse_text("entry @k(%c: tile<i1>) {\n  if %c {\n  }\n}")
    shorts = [op.short for op in module.walk()]  # type: ignore[attr-defined]
    assert shorts == ["module", "entry", "if", "yield", "return"]


def test_test_functions() -> None:
    text = "testing$func @f(%a: tile<i32>) -> tile<i32> {\n  return %a : tile<i32>\n}"
    (function,) = parse_text(text).entries
    assert function.short == "testing$func"
    assert str(function.get("function_type")) == "(tile<i32>) -> tile<i32>"


def test_globals() -> None:
    text = 'global private constant @"a b" alignment = 16 <f32: [1.0, 2.0]> : tile<2xf32>\nglobal @c <i32: 1> : tile<1xi32>'
    first_, second = parse_text(text).globals
    shown = [first_.get(name) for name in ("visibility", "constant", "sym_name", "alignment")]
    assert shown == ["private", True, "a b", 16]
    assert first_.get("value").floats() == (1.0, 2.0)
    assert [second.get(name) for name in ("visibility", "constant", "alignment")] == ["public", False, 0]


# ---- what the cuTile Rust printer loses


def test_losses_are_named() -> None:
    text = """cuda_tile.module @m {
  cuda_tile.global @g alignment = 16 : tile<2xf32>
  entry @k(%0: tile<4xf32>, %1: tile<i32>) {
    for %2 in (%1 to %1, step %1) : tile<i32> {
      continue
    }
    %3 = reduce %0 dim=0 identities=[0] : tile<4xf32> -> tile<f32> {
    ^bb0(%4: tile<f32>, %5: tile<f32>):
      yield %4 : tile<f32>
    }
    return
  }
}
"""
    module = parse_text(text)
    assert module.globals[0].get("value") is None
    assert str(module.globals[0].get("type")) == "tile<2xf32>"
    assert [line.split(":")[0] for line in module.approximations] == ["line 2", "line 4", "line 7"]
    words = " ".join(module.approximations)
    assert all(word in words for word in ("initial value", "'unsigned'", "identity"))


def test_nothing_is_lost_by_the_disassembler() -> None:
    text = wrap(
        "%x = reduce %l dim=0 identities=[0] : tile<i64> -> tile<i64>\n(%q: tile<i64>, %w: tile<i64>) {\n"
        " yield %q : tile<i64>\n}\nfor %n in (%i to %i, step %i) : tile<i32> {\n}"
    )
    assert parse_text(text).approximations == []


def test_debug_names_on_entries_say_nothing() -> None:
    text = 'entry @k(%0: tile<i32>) di_name = "k" optimization_hints = <sm_90 = {occupancy = 2}> {\n}'
    (entry,) = parse_text(text).entries
    assert entry.get("hints") == {"sm_90": {"occupancy": 2}}


def test_modes_that_an_op_does_not_have_are_refused() -> None:
    with pytest.raises(InputError, match="maxf has no attribute 'rounding_mode'"):
        module_of("%0 = maxf %fv, %fv {rounding_mode = 1} : tile<4xf32>")


def test_left_out_ops_name_the_way_out() -> None:
    with pytest.raises(InputError, match="export bytecode and disassemble") as caught:
        parse_text(
            "cuda_tile.module @m {\n  entry @k() {\n    %0 = alloca <structural-op>\n    return\n  }\n}"
        )
    assert (caught.value.line, caught.value.column) == (3, 17)


# ---- generic form


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('%0 = "cuda_tile.addf"(%fv) : (tile<4xf32>) -> tile<4xf32>', "1 operands do not fit addf"),
        (
            '%0 = "cuda_tile.addf"(%fv, %fv) : (tile<4xf32>) -> tile<4xf32>',
            "expected 2 operand types, found 1",
        ),
        (
            '%0 = "cuda_tile.negf"(%fv) : (tile<f32>) -> tile<f32>',
            "has type tile<4xf32>, but is used as tile<f32>",
        ),
        (
            '%0 = "cuda_tile.negf"(%fv) <{speed = 1}> : (tile<4xf32>) -> tile<4xf32>',
            "negf has no attribute 'speed'",
        ),
        (
            '%0 = "cuda_tile.exp"(%fv) {rounding_mode = 99 : i32} : (tile<4xf32>) -> tile<4xf32>',
            "has no value 99",
        ),
        ('"arith.addf"(%fv, %fv) : (tile<4xf32>, tile<4xf32>) -> ()', "unknown op"),
        (
            (
                '%x, %y = "cuda_tile.load_ptr_tko"(%p, %b) <{memory_ordering_semantics = 0 : i32}> : '
                "(tile<ptr<f32>>, tile<i1>) -> (tile<f32>, token)"
            ),
            "operandSegmentSizes",
        ),
    ],
)
def test_generic_faults(text: str, message: str) -> None:
    with pytest.raises(InputError) as caught:
        module_of(text)
    assert message in caught.value.message
