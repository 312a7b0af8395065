"""Blocks that part and meet: loops, branches, early exits, waiting for each other."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.equivalence.support import rules, run

HEAD = """entry @k(%p: tile<ptr<i32>>, %n: tile<i32>) {
  %x, %y, %z = get_tile_block_id : tile<i32>
  %c0 = constant <i32: 0> : tile<i32>
  %c1 = constant <i32: 1> : tile<i32>
  %c2 = constant <i32: 2> : tile<i32>
  %q = offset %p, %x : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>
"""
TAIL = """
  %w = store_ptr_tko weak %q, %r : tile<ptr<i32>>, tile<i32> -> token
  return
}"""


def results(body: str, blocks: int, n: int = 0, **options: Any) -> tuple[list[int], Any]:
    memory = np.full(blocks, -7, np.int32)
    done = run(HEAD + body + TAIL, [memory, n], grid=blocks, **options)
    return memory.tolist(), done


def test_trip_counts_differ() -> None:
    body = """
  %r = for %i in (%c0 to %x, step %c2) : tile<i32> iter_values(%s = %n) -> (tile<i32>) {
    %t = addi %s, %i : tile<i32>
    continue %t : tile<i32>
  }"""
    memory, done = results(body, 9, 100)
    assert memory == [100 + sum(range(0, x, 2)) for x in range(9)]
    assert done.how == "together"


def test_unsigned_bounds() -> None:
    body = """
  %m = constant <i32: -3> : tile<i32>
  %e = constant <i32: -1> : tile<i32>
  %r = for {u}%i in (%m to %e, step %c1) : tile<i32> iter_values(%s = %c0) -> (tile<i32>) {
    %t = addi %s, %c1 : tile<i32>
    continue %t : tile<i32>
  }"""
    assert results(body.replace("{u}", "unsigned "), 2)[0] == [2, 2]
    zero = body.replace("{u}", "unsigned ").replace("%m to %e", "%m to %c1")
    assert results(zero, 2)[0] == [0, 0]
    assert results(zero.replace("unsigned ", ""), 2)[0] == [4, 4]


def collatz(value: int) -> int:
    count = 0
    while value > 1:
        value, count = (value // 2 if value % 2 == 0 else 3 * value + 1), count + 1
    return count


def test_loops_with_breaks_and_branches() -> None:
    body = """
  %c3 = constant <i32: 3> : tile<i32>
  %r = loop iter_values(%v = %x, %k = %c0) : tile<i32>, tile<i32> -> tile<i32> {
    %g = cmpi less_than_or_equal %v, %c1, signed : tile<i32> -> tile<i1>
    if %g {
      break %k : tile<i32>
    }
    %k1 = addi %k, %c1 : tile<i32>
    %b = remi %v, %c2 signed : tile<i32>
    %o = cmpi equal %b, %c1, signed : tile<i32> -> tile<i1>
    if %o {
      %a = muli %v, %c3 : tile<i32>
      %d = addi %a, %c1 : tile<i32>
      continue %d, %k1 : tile<i32>, tile<i32>
    }
    %h = divi %v, %c2 signed : tile<i32>
    continue %h, %k1 : tile<i32>, tile<i32>
  }"""
    memory, _ = results(body, 40)
    assert memory == [collatz(x) for x in range(40)]


def test_early_return() -> None:
    body = """
  %b = remi %x, %c2 signed : tile<i32>
  %o = cmpi equal %b, %c1, signed : tile<i32> -> tile<i1>
  if %o {
    return
  }
  %r = addi %x, %n : tile<i32>"""
    assert results(body, 6, 10)[0] == [10, -7, 12, -7, 14, -7]


def test_branches_with_results_that_are_the_same_for_all() -> None:
    body = """
  %o = cmpi less_than %x, %c2, signed : tile<i32> -> tile<i1>
  %r = if %o -> (tile<i32>) {
    yield %n : tile<i32>
  } else {
    %s = addi %n, %x : tile<i32>
    yield %s : tile<i32>
  }"""
    assert results(body, 4, 5)[0] == [5, 5, 7, 8]


def test_small_chunks_change_nothing() -> None:
    from tileir_diff.equivalence.model import Limits

    body = "  %r = addi %x, %n : tile<i32>"
    assert results(body, 33, 1, limits=Limits(memory=1))[0] == list(range(1, 34))


def test_limits() -> None:
    from tileir_diff.equivalence.model import Limits

    body = """
  %r = for %i in (%c0 to %n, step %c1) : tile<i32> iter_values(%s = %n) -> (tile<i32>) {
    continue %s : tile<i32>
  }"""
    _, done = results(body, 2, 1 << 30, limits=Limits(iterations=10))
    assert rules(done) == ["loop/endless"]
    assert not done.complete
    _, done = results(body, 2, 1 << 30, limits=Limits(seconds=0.05))
    assert done.approximations == ["stopped after 0.05 s: 0 of 2 blocks had run"]
    assert done.spent
    # without a loop too
    _, done = results("  %r = addi %x, %n : tile<i32>", 2, 1, limits=Limits(seconds=1e-9))
    assert (done.spent, done.complete) == (True, False)
    _, done = results(body.replace("step %c1", "step %c0"), 2, 5)
    assert rules(done) == ["loop/step"]


LOCK = """entry @k(%p: tile<ptr<i32>>, %l: tile<ptr<i32>>) {
  %c0 = constant <i32: 0> : tile<i32>
  %c1 = constant <i32: 1> : tile<i32>
  loop {
    %o, %k = atomic_cas_tko acquire device %l, %c0, %c1 : tile<ptr<i32>>, tile<i32> -> tile<i32>, token
    %g = cmpi equal %o, %c0, signed : tile<i32> -> tile<i1>
    if %g {
      break
    }
  }
  %v, %t = load_ptr_tko weak %p : tile<ptr<i32>> -> tile<i32>, token
  %w = addi %v, %c1 : tile<i32>
  %s = store_ptr_tko weak %p, %w : tile<ptr<i32>>, tile<i32> -> token
  %u, %h = atomic_rmw_tko release device %l, xchg, %c0 : tile<ptr<i32>>, tile<i32> -> tile<i32>, token
  return
}"""


def test_a_lock_orders_its_blocks() -> None:
    memory, lock = np.zeros(1, np.int32), np.zeros(1, np.int32)
    done = run(LOCK, [memory, lock], grid=20)
    assert (memory[0], lock[0]) == (20, 0)
    assert done.how == "in order"
    assert rules(done) == ["order/blocks"]


def test_a_lock_that_orders_nothing_is_a_race() -> None:
    memory, lock = np.zeros(1, np.int32), np.zeros(1, np.int32)
    done = run(LOCK.replace("acquire", "relaxed").replace("release", "relaxed"), [memory, lock], grid=3)
    assert "race/read-write" in rules(done)


def test_a_lock_that_is_never_released() -> None:
    memory, lock = np.zeros(1, np.int32), np.ones(1, np.int32)
    done = run(LOCK, [memory, lock], grid=3)
    assert "order/stuck" in rules(done)
    assert not done.complete


def test_waiting_for_a_later_block() -> None:
    """Block 0 waits until the last one has set a flag."""
    text = """entry @k(%p: tile<ptr<i32>>, %l: tile<ptr<i32>>) {
  %x, %y, %z = get_tile_block_id : tile<i32>
  %c0 = constant <i32: 0> : tile<i32>
  %c1 = constant <i32: 1> : tile<i32>
  %f = cmpi equal %x, %c0, signed : tile<i32> -> tile<i1>
  if %f {
    loop {
      %o, %k = load_ptr_tko acquire device %l : tile<ptr<i32>> -> tile<i32>, token
      %g = cmpi equal %o, %c1, signed : tile<i32> -> tile<i1>
      if %g {
        break
      }
    }
    %v, %t = load_ptr_tko weak %p : tile<ptr<i32>> -> tile<i32>, token
    %w = addi %v, %c1 : tile<i32>
    %s = store_ptr_tko weak %p, %w : tile<ptr<i32>>, tile<i32> -> token
  } else {
    %c9 = constant <i32: 9> : tile<i32>
    %s = store_ptr_tko weak %p, %c9 : tile<ptr<i32>>, tile<i32> -> token
    %u = store_ptr_tko release device %l, %c1 : tile<ptr<i32>>, tile<i32> -> token
  }
  return
}"""
    memory, flag = np.zeros(1, np.int32), np.zeros(1, np.int32)
    done = run(text, [memory, flag], grid=2)
    assert memory[0] == 10
    assert [rule for rule in rules(done) if rule.startswith("race")] == []


@pytest.mark.parametrize("name", ["vector_add", "softmax", "rms_norm", "transpose"])
def test_own_kernels_compute_the_same_from_both_front_ends(name: str) -> None:
    """The launch of each fixture on random arrays: the sides agree but for rounding, and do nothing wrong."""
    import json

    home = Path(__file__).parents[2] / "fixtures" / "kernels" / name
    launch = json.loads((home / "launch.json").read_text(encoding="utf-8"))
    first, second = (_launched(home / file, launch[key]) for key, file in
                     (("reference", "py.mlir"), ("generated", "rs.mlir")))  # fmt: skip
    assert first[0].errors == []
    assert second[0].errors == []
    for key, array in first[1].items():
        assert np.allclose(array.astype(float), second[1][key].astype(float), rtol=2e-3, atol=1e-5), key


def _launched(path: Path, launch: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
    from tests.equivalence.support import NUMPY
    from tileir_diff import interpret
    from tileir_diff.dialect import parse_file
    from tileir_diff.dialect.types import Ptr, Tile

    module = parse_file(str(path))
    arrays: dict[str, Any] = {}
    values: list[Any] = []
    for parameter, given in zip(module.entries[0].regions[0].block.args, launch["args"], strict=True):
        (value,) = given.values()
        if "ptr" in given:
            kind = parameter.type
            assert isinstance(kind, Tile)
            assert isinstance(kind.element, Ptr)
            drawn = np.random.default_rng(len(value)).standard_normal(1 << 17)
            value = arrays.setdefault(value, drawn.astype(NUMPY[kind.element.pointee.name]))
        values.append(value)
    return interpret(module, values, grid=launch["grid"]), arrays
