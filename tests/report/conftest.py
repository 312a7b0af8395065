"""Two small kernels and what a comparison of them might say, for all tests of the report."""

from __future__ import annotations

import pytest

from tileir_diff.dialect import parse_text
from tileir_diff.dialect.ir import ModuleOp, TileOp
from tileir_diff.match.model import ArgumentPair, Comparison, Difference, Equivalence, Site
from tileir_diff.report.build import Dump, build_result
from tileir_diff.report.result import Result
from tileir_diff.rules import finding
from tileir_diff.verdict import FrontEnd, Policy, Waiver, judge

REFERENCE = """\
entry @softmax_Kt2(%arg0: tile<ptr<f32>>, %arg1: tile<i32>) optimization_hints=<default = {occupancy = 4}> {
  %0 = iota : tile<1024xi32> loc(#loc1)
  %reshape = reshape %arg1 : tile<i32> -> tile<1xi32> loc(#loc1)
  %bcast = broadcast %reshape : tile<1xi32> -> tile<1024xi32> loc(#loc1)
  %1 = cmpi less_than %0, %bcast, signed : tile<1024xi32> -> tile<1024xi1> loc(#loc1)
  %reshape_0 = reshape %arg0 : tile<ptr<f32>> -> tile<1xptr<f32>> loc(#loc1)
  %bcast_1 = broadcast %reshape_0 : tile<1xptr<f32>> -> tile<1024xptr<f32>> loc(#loc1)
  %2 = offset %bcast_1, %0 : tile<1024xptr<f32>>, tile<1024xi32> -> tile<1024xptr<f32>> loc(#loc1)
  %x, %t = load_ptr_tko weak %2, %1 : tile<1024xptr<f32>>, tile<1024xi1> -> tile<1024xf32>, token loc(#loc2)
  %3 = exp %x rounding<approx> : tile<1024xf32> loc(#loc3)
  %4 = store_ptr_tko weak %2, %3, %1 : tile<1024xptr<f32>>, tile<1024xf32>, tile<1024xi1> -> token loc(#loc4)
  return loc(#loc1)
} loc(#loc1)
#loc1 = loc("/src/softmax.py":20:5)
#loc2 = loc("/src/softmax.py":24:9)
#loc3 = loc("/src/softmax.py":28:9)
#loc4 = loc("/src/softmax.py":31:5)
"""

GENERATED = """\
entry @softmax_entry(%arg0: tile<ptr<f32>>, %arg1: tile<i32>) {
  %0 = iota : tile<1024xi32>
  %reshape_0 = reshape %arg0 : tile<ptr<f32>> -> tile<1xptr<f32>>
  %bcast_1 = broadcast %reshape_0 : tile<1xptr<f32>> -> tile<1024xptr<f32>>
  %2 = offset %bcast_1, %0 : tile<1024xptr<f32>>, tile<1024xi32> -> tile<1024xptr<f32>>
  %result, %result_token = load_ptr_tko weak %2 : tile<1024xptr<f32>> -> tile<1024xf32>, token
  %3 = exp %result  : tile<1024xf32>
  %4 = store_ptr_tko weak %2, %3 : tile<1024xptr<f32>>, tile<1024xf32> -> token
  print_tko "`done` *now*" -> token
  return
}
"""


def op_named(module: ModuleOp, short: str) -> TileOp:
    return next(op for op in module.entries[0].inner() if op.short == short)


@pytest.fixture(scope="session")
def reference() -> ModuleOp:
    return parse_text(REFERENCE, "softmax.mlir")


@pytest.fixture(scope="session")
def generated() -> ModuleOp:
    return parse_text(GENERATED, "rs.mlir")


@pytest.fixture
def comparison(reference: ModuleOp, generated: ModuleOp) -> Comparison:
    def here(short: str, part: str | None = None) -> Site:
        return Site(op_named(reference, short), "softmax_Kt2", part)

    def there(short: str, part: str | None = None) -> Site:
        return Site(op_named(generated, short), "softmax_entry", part)

    store = "store_ptr_tko"
    return Comparison(
        pairs=[("softmax_Kt2", "softmax_entry", 0.9375)],
        arguments=[
            ArgumentPair(("A.base",), ("arg0",), "role"),
            ArgumentPair(("n",), (), "unmatched"),
        ],
        differences=[
            Difference(
                "mask/missing",
                here(store, "mask"),
                there(store, "mask"),
                "n < A.shape0",
                "no mask",
                "MISSING",
            ),
            Difference(
                "float-mode/approx", here("exp", "rounding"), there("exp", "rounding"), "approx", "full"
            ),
            Difference("entry-hint/missing", None, None, "occupancy = 4", "", "MISSING"),
            Difference("debug-op/extra", None, there("print_tko"), "", '"done"', "EXTRA"),
        ],
        equivalences=[
            Equivalence("splat", here("broadcast"), there("broadcast"), "a reshaped scalar is a splat")
        ],
        obligations=["A.shape0 = 333"],
        assumptions=["the two pointers do not overlap"],
        not_checked=["@helper: an entry on one side only"],
    )


def make_result(comparison: Comparison, policy: Policy = Policy(), front_end: str = "cutile-rust") -> Result:
    generated = FrontEnd(front_end)
    findings = [finding(difference, front_end) for difference in comparison.differences]
    return build_result(
        Dump("kernels/softmax.mlir", "tileirdisasm", ("softmax_Kt2",), FrontEnd("cutile-python", "1.7.0")),
        Dump("rs.mlir", "tileirdisasm", ("softmax_entry",), generated),
        comparison,
        judge(
            findings,
            policy,
            front_end=generated,
            entries=("softmax_entry",),
            obligations=len(comparison.obligations),
            not_checked=len(comparison.not_checked),
        ),
        {"tileir-diff": "0.0.0"},
    )


@pytest.fixture
def failing(comparison: Comparison) -> Result:
    return make_result(comparison)


@pytest.fixture
def waived(comparison: Comparison) -> Result:
    """The same, with everything critical waived, and a waiver that nothing needs."""
    waivers = (
        Waiver("mask/*", "the host pads"),
        Waiver("float-mode/*", "fast on purpose"),
        Waiver("scan/*", "old"),
    )
    return make_result(comparison, Policy(waivers=waivers))


@pytest.fixture
def passing() -> Result:
    pairs: list[tuple[str | None, str | None, float]] = [("a", "a", 1.0)]
    return make_result(Comparison(pairs, [], [], [], [], [], []))
