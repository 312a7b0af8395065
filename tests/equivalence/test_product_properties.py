"""Any values: products of integers and of scaled numbers, reductions into views, assertions, printing."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.equivalence.support import NUMPY, kernel, ml_dtypes, run, wrap
from tests.equivalence.test_tile_properties import MODES

if TYPE_CHECKING:
    from collections.abc import Callable

FEW = settings(max_examples=12, deadline=None)
EXTENTS = st.sampled_from((1, 2, 4, 8))
I32 = st.one_of(st.integers(-3, 3), st.integers(-(1 << 31), (1 << 31) - 1))
I8 = st.one_of(st.sampled_from((-128, -1, 0, 127)), st.integers(-128, 127))


def several(numbers: st.SearchStrategy[Any], count: int) -> st.SearchStrategy[list[Any]]:
    return st.lists(numbers, min_size=count, max_size=count)


# ---- products


@pytest.mark.parametrize("left", ["signed", "unsigned"])
@pytest.mark.parametrize("right", ["signed", "unsigned"])
@FEW
@given(EXTENTS, EXTENTS, EXTENTS, st.data())
def test_products_of_integers_wrap(
    left: str, right: str, m: int, n: int, k: int, data: st.DataObject
) -> None:
    a, b = data.draw(several(I8, m * k)), data.draw(several(I8, k * n))
    c = data.draw(several(I32, m * n))
    body = f"""
  %l = reshape %a : tile<{m * k}xi8> -> tile<{m}x{k}xi8>
  %r = reshape %b : tile<{k * n}xi8> -> tile<{k}x{n}xi8>
  %s = reshape %c : tile<{m * n}xi32> -> tile<{m}x{n}xi32>
  %p = mmai %l, %r, %s {left} {right} : tile<{m}x{k}xi8>, tile<{k}x{n}xi8>, tile<{m}x{n}xi32>
  %y = reshape %p : tile<{m}x{n}xi32> -> tile<{m * n}xi32>"""
    result = np.zeros(m * n, np.int32)
    inputs = {"a": ("i8", m * k), "b": ("i8", k * n), "c": ("i32", m * n)}
    arrays = [np.array(a, np.int8), np.array(b, np.int8), np.array(c, np.int32), result]
    assert run(kernel(inputs, body, {"y": ("i32", m * n)}), arrays).findings == []
    x = [value % 256 if left == "unsigned" else value for value in a]
    y = [value % 256 if right == "unsigned" else value for value in b]
    expected = [
        wrap(c[row * n + column] + sum(x[row * k + at] * y[at * n + column] for at in range(k)), 32)
        for row in range(m)
        for column in range(n)
    ]
    assert result.tolist() == expected


@pytest.mark.parametrize("element", ["f8E4M3FN", "f8E5M2"])
@FEW
@given(EXTENTS, EXTENTS, st.sampled_from((1, 2)), st.data())
def test_scaled_products_are_sums_of_scaled_numbers(
    element: str, m: int, n: int, blocks: int, data: st.DataObject
) -> None:
    """Within a rounding for each of the sums, against fractions."""
    k, kind, scale = 32 * blocks, NUMPY[element], ml_dtypes.float8_e8m0fnu
    random = np.random.default_rng(data.draw(st.integers(0, 9999)))
    a, b = (random.standard_normal(count).astype(kind) for count in (m * k, k * n))
    p, q = (np.exp2(random.integers(-9, 10, count)).astype(scale) for count in (m * blocks, blocks * n))
    c = random.standard_normal(m * n).astype(np.float32)
    types = {"l": f"{m}x{k}x{element}", "r": f"{k}x{n}x{element}", "s": f"{m}x{n}xf32"}
    types |= {"g": f"{m}x{blocks}xf8E8M0FNU", "h": f"{blocks}x{n}xf8E8M0FNU"}
    of = {"l": ("a", m * k, element), "r": ("b", k * n, element), "s": ("c", m * n, "f32")}
    of |= {"g": ("p", m * blocks, "f8E8M0FNU"), "h": ("q", blocks * n, "f8E8M0FNU")}
    body = "".join(
        f"  %{name} = reshape %{source} : tile<{count}x{kind_}> -> tile<{types[name]}>\n"
        for name, (source, count, kind_) in of.items()
    )
    listed = ", ".join(f"tile<{types[name]}>" for name in ("l", "r", "s", "g", "h"))
    body += f"  %t = mmaf_scaled %l, %r, %s, %g, %h : {listed}\n"
    body += f"  %y = reshape %t : tile<{m}x{n}xf32> -> tile<{m * n}xf32>"
    result = np.zeros(m * n, np.float32)
    inputs = {source: (kind_, count) for source, count, kind_ in of.values()}
    order = {"a": a, "b": b, "c": c, "p": p, "q": q}
    run(kernel(inputs, body, {"y": ("f32", m * n)}), [*(order[name] for name in inputs), result])
    for row in range(m):
        for column in range(n):
            terms = [Fraction(float(c[row * n + column]))] + [
                Fraction(float(a[row * k + at]))
                * Fraction(float(p[row * blocks + at // 32]))
                * Fraction(float(b[at * n + column]))
                * Fraction(float(q[at // 32 * n + column]))
                for at in range(k)
            ]
            off = abs(Fraction(float(result[row * n + column])) - sum(terms))
            assert off <= sum(map(abs, terms)) * (k + 1) / (1 << 23)


# ---- reductions into views

VIEW = """entry @k(%p: tile<ptr<{kind}>>, %q: tile<ptr<{kind}>>, %n: tile<i32>, %m: tile<i32>) {{
  %bx, %by, %bz = get_tile_block_id : tile<i32>
  %u = make_tensor_view %p, shape = [%n, %m], strides = [%m, 1] : tile<i32> -> tensor_view<?x?x{kind}, strides=[?,1]>
  %v = make_tensor_view %q, shape = [%n, %m], strides = [%m, 1] : tile<i32> -> tensor_view<?x?x{kind}, strides=[?,1]>
  %a = make_partition_view %u : {view}
  %b = make_partition_view %v : {bare}
  %t, %k = load_view_tko weak %a[%by, %bx] : {view}, tile<i32> -> tile<2x4x{kind}>, token
  %z = constant <i32: 0> : tile<i32>
  %r = atomic_red_view_tko relaxed device %b[{index}], {mode}, %t : tile<2x4x{kind}>, {bare}, tile<i32> -> token
  return
}}"""  # noqa: E501


def into_view(kind: str, mode: str, index: str) -> str:
    """A kernel that takes each block's tile of one array, zeros outside, into a tile of another."""
    array = f"tensor_view<?x?x{kind}, strides=[?,1]>"
    view = f"partition_view<tile=(2x4), padding_value = zero, {array}>"
    bare = f"partition_view<tile=(2x4), {array}>"
    return VIEW.format(kind=kind, view=view, bare=bare, mode=mode, index=index)


@pytest.mark.parametrize("width", [32, 64])
@pytest.mark.parametrize("mode", [mode for mode in MODES if mode != "xchg"])
@FEW
@given(st.integers(1, 5), st.integers(1, 9), st.booleans(), st.data())
def test_tiles_are_taken_into_views(
    mode: str, width: int, n: int, m: int, folds: bool, data: st.DataObject
) -> None:
    """Each block into its own tile, or all into the first; lanes past the edge nowhere."""
    kind, dtype = f"i{width}", np.int32 if width == 32 else np.int64
    numbers = st.one_of(st.integers(-2, 2), st.integers(-(1 << (width - 1)), (1 << (width - 1)) - 1))
    values, memory = data.draw(several(numbers, n * m)), data.draw(several(numbers, n * m))
    text = into_view(kind, mode, "%z, %z" if folds else "%by, %bx")
    source, target = np.array(values, dtype), np.array(memory, dtype)
    grid = (-(-m // 4), -(-n // 2))
    assert run(text, [source, target, n, m], grid=grid).errors == []
    combine: Callable[[int, int, int], int] = MODES[mode]
    for y in range(grid[1]):
        for x in range(grid[0]):
            for row in range(2):
                for column in range(4):
                    at = (row, column) if folds else (2 * y + row, 4 * x + column)
                    if at[0] >= n or at[1] >= m:
                        continue
                    inside = 2 * y + row < n and 4 * x + column < m
                    value = values[(2 * y + row) * m + 4 * x + column] if inside else 0
                    place = at[0] * m + at[1]
                    memory[place] = wrap(combine(memory[place], value, width), width)
    assert target.tolist() == memory


@pytest.mark.parametrize("element", ["f16", "f32", "f64"])
@FEW
@given(st.integers(1, 5), st.integers(1, 9), st.integers(0, 9999))
def test_sums_are_taken_into_views(element: str, n: int, m: int, seed: int) -> None:
    random, dtype = np.random.default_rng(seed), NUMPY[element]
    values, memory = (random.standard_normal(n * m).astype(dtype) for _ in range(2))
    text = into_view(element, "addf", "%by, %bx")
    expected = memory + values  # numpy rounds each sum once, to its own type
    assert run(text, [values, memory, n, m], grid=(-(-m // 4), -(-n // 2))).errors == []
    assert memory.tolist() == expected.tolist()


# ---- assertions and printing


@FEW
@given(several(st.booleans(), 8), st.integers(0, 3))
def test_an_assertion_fails_in_the_blocks_where_a_lane_is_false(flags: list[bool], least: int) -> None:
    body = f"""
  %bx, %by, %bz = get_tile_block_id : tile<i32>
  %c = constant <i32: {least}> : tile<i32>
  %late = cmpi greater_than_or_equal %bx, %c, signed : tile<i32> -> tile<i1>
  %r = reshape %late : tile<i1> -> tile<1xi1>
  %w = broadcast %r : tile<1xi1> -> tile<8xi1>
  %y = ori %x, %w : tile<8xi1>
  assert %y, "all set" : tile<8xi1>"""
    done = run(kernel({"x": ("i1", 8)}, body, {}), [np.array(flags)], grid=4)
    failed = 0 if all(flags) else least
    assert [each.message for each in done.findings] == ["assertion failed: all set"] * bool(failed)
    assert [(each.block, each.times) for each in done.findings] == (
        [((0, 0, 0), failed * flags.count(False))] * bool(failed)
    )
    assert done.complete == (failed == 0)


SPECIFIERS = st.from_regex(r"\A%[-+ 0]?[1-9]?(d|i|u|x|X|o)\Z")
REALS = st.from_regex(r"\A%[-+ 0]?[1-9]?(\.[0-9])?(f|e|g|E|G)\Z")


@FEW
@given(SPECIFIERS, REALS, I32, st.floats(width=32, allow_subnormal=False), st.sampled_from(("", "%%", "é")))
def test_printing_is_that_of_c(whole: str, real: str, number: int, value: float, between: str) -> None:
    """Python's `%` knows the same conversions, but takes unsigned ones for signed."""
    text = f"{whole}|{between}|{real}".replace("é", "\\C3\\A9")
    body = f'  print_tko "{text}", %a, %b : tile<1xi32>, tile<1xf32> -> token'
    done = run(kernel({"a": ("i32", 1), "b": ("f32", 1)}, body, {}),
               [np.array([number], np.int32), np.array([value], np.float32)])  # fmt: skip
    unsigned = whole[-1] in "uxXo"
    first = whole[:-1] + "d" if whole[-1] in "ui" else whole
    first = first.replace("+", "").replace(" ", "") % (number % (1 << 32)) if unsigned else first % number
    second = real % value
    assert [each.text for each in done.printed] == [f"[{first}]|{between.replace('%%', '%')}|[{second}]"]
