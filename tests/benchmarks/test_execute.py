"""Runs of kernels: what they compute, and that harmless rewrites do not show."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from benchmarks.execute.kernel import Place, run
from benchmarks.execute.launches import Launch, invented
from benchmarks.execute.memory import Memory
from benchmarks.execute.numbers import round_to, unsigned, wrap
from benchmarks.execute.screen import DIFFERS, SAME, UNKNOWN, Screen
from benchmarks.mutate import HARMLESS, mutants
from tests.benchmarks.kernels import KERNEL
from tileir_diff.dialect import parse_text


def test_a_kernel_computes_what_it_says() -> None:
    entry = parse_text(KERNEL).entries[0]
    memory = Memory({1: 400, 2: 400}, 5)
    source, target = Memory.base(1), Memory.base(2)
    run(entry, [source, 6, 10, target], Place((2, 0, 0), (3, 1, 1), memory, 1000))
    addresses, values = memory.result()
    wanted = target + 4 * (2 * 10 + np.arange(6))
    assert (addresses == wanted).all()
    read = memory.load(source + 4 * (20 + np.arange(6)), np.ones(6, bool), "f32", True, 32)
    assert np.allclose(values, read - read.sum())


def test_numbers() -> None:
    assert wrap(np.array([127, 128, -129]), 8).tolist() == [127, -128, 127]
    assert unsigned(np.array([-1]), 8).tolist() == [255]
    assert round_to(np.array([1.0 + 2**-12, 65504.0, 70000.0]), "f16").tolist() == [
        1.0,
        65504.0,
        float("inf"),
    ]


def test_harmless_rewrites_do_not_show() -> None:
    screen = Screen(KERNEL)
    assert len(screen.runs) > 5
    for mutant in mutants(KERNEL, classes=[HARMLESS], per_kind=3):
        assert screen.judge(mutant.text)[0] == SAME, mutant.kind


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("less_than %1", "less_than_or_equal %1"),
        ("subf %result, %bcast_6", "subf %bcast_6, %result"),
        ("addf %reduce_lhs", "mulf %reduce_lhs"),
        ("%8, %6, %2 token=%0 : tile<8xptr<f32>>, tile<8xf32>, tile<8xi1>",
         "%8, %6 token=%0 : tile<8xptr<f32>>, tile<8xf32>"),
        ("muli %blockId_x", "muli %blockId_y"),
        ("subf %result, %bcast_6 ", "subf %result, %bcast_6 rounding<zero> "),
    ],
)  # fmt: skip
def test_defects_show(before: str, after: str) -> None:
    assert before in KERNEL
    assert Screen(KERNEL).judge(KERNEL.replace(before, after, 1))[0] == DIFFERS


def test_a_change_of_dead_code_does_not_show() -> None:
    assert Screen(KERNEL).judge(KERNEL.replace("mulf %6, %6", "addf %6, %6"))[0] == SAME


def blocks_of(size: int) -> str:
    """A kernel whose blocks store 8 elements each, so many apart."""
    return f"""entry @k(%x: tile<ptr<f32>>) {{
  %b, %c, %d = get_tile_block_id : tile<i32>
  %size = constant <i32: {size}> : tile<i32>
  %start = muli %b, %size : tile<i32>
  %r = reshape %start : tile<i32> -> tile<1xi32>
  %s = broadcast %r : tile<1xi32> -> tile<8xi32>
  %i = iota : tile<8xi32>
  %at = addi %s, %i : tile<8xi32>
  %p = reshape %x : tile<ptr<f32>> -> tile<1xptr<f32>>
  %q = broadcast %p : tile<1xptr<f32>> -> tile<8xptr<f32>>
  %o = offset %q, %at : tile<8xptr<f32>>, tile<8xi32> -> tile<8xptr<f32>>
  %n = constant <i32: 16> : tile<8xi32>
  %m = cmpi less_than %at, %n, signed : tile<8xi32> -> tile<8xi1>
  %v = itof %at signed : tile<8xi32> -> tile<8xf32>
  %t = store_ptr_tko weak %o, %v, %m : tile<8xptr<f32>>, tile<8xf32>, tile<8xi1> -> token
  return
}}"""


@pytest.mark.parametrize(("size", "whole"), [(7, SAME), (9, DIFFERS)])
def test_blocks_may_do_what_others_do(size: int, whole: str) -> None:
    launch = Launch((Memory.base(1),), ((1, 64),), (3, 1, 1), ((0, 0, 0), (1, 0, 0)))
    assert Screen(blocks_of(8), [launch]).judge(blocks_of(size))[0] == DIFFERS
    assert Screen(blocks_of(8), [launch], whole=True).judge(blocks_of(size))[0] == whole


def test_a_run_that_takes_too_long_tells_nothing() -> None:
    def kernel(steps: int) -> str:
        loop = f"""  %none = constant <i32: 0> : tile<i32>
  %many = constant <i32: {steps}> : tile<i32>
  %one = constant <i32: 1> : tile<i32>
  for %k in (%none to %many, step %one) : tile<i32> {{
    %twice = addi %k, %k : tile<i32>
    continue
  }}
"""
        return blocks_of(8).replace("  %size =", f"{loop}  %size =")

    launch = Launch((Memory.base(1),), ((1, 64),), (3, 1, 1), ((0, 0, 0),))
    screen = Screen(kernel(3), [launch])
    assert screen.judge(kernel(5))[0] == SAME
    assert screen.judge(kernel(1 << 20))[0] == UNKNOWN


@pytest.mark.parametrize("element", ["f16", "bf16", "f32"])
def test_memory_holds_numbers_of_its_type(element: str) -> None:
    values = Memory({1: 4096}, 5).load(Memory.base(1) + np.arange(64), np.ones(64, bool), element, True, 16)
    assert (round_to(values, element) == values).all()


def test_invented_launches_keep_the_promises() -> None:
    text = KERNEL.replace("bounded<0, ?>, %arg1", "div_by<64>, %arg1")
    for seed in range(6):
        launch = invented(parse_text(text).entries[0], seed)
        assert launch is not None
        assert launch.arguments[1] % 64 == 0


def test_the_fixtures_run(kernel_dumps: list[Path]) -> None:
    for path in kernel_dumps:
        if path.name == "py.mlir":
            screen = Screen(path.read_text(encoding="utf-8"))
            assert screen.runs, f"{path.parent.name}: {screen.why_not}"
