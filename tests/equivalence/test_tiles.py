"""Shapes, folds, products, views, gathers and atomics against numpy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.equivalence.support import apply, kernel, ml_dtypes, rules, run

ROW = "tensor_view<?x?xi32, strides=[?,1]>"
P, T = "tile<ptr<i32>>", "tile<64xi32>"
TILED = f"""entry @k(%p: tile<ptr<i32>>, %q: tile<ptr<i32>>, %n: tile<i32>, %m: tile<i32>) {{
  %x, %y, %z = get_tile_block_id : tile<i32>
  %u = make_tensor_view %p, shape = [%n, %m], strides = [%m, 1] : tile<i32> -> {ROW}
  %v = make_tensor_view %q, shape = [%n, %m], strides = [%m, 1] : tile<i32> -> {ROW}
  {{body}}
  return
}}"""


def test_moves() -> None:
    source = np.arange(64, dtype=np.int32)
    body = """
  %s = reshape %a : tile<64xi32> -> tile<8x8xi32>
  %p = permute %s [1, 0] : tile<8x8xi32> -> tile<8x8xi32>
  %c = cat %s, %p dim = 1 : tile<8x8xi32>, tile<8x8xi32> -> tile<8x16xi32>
  %1 = constant <i32: 1> : tile<i32>
  %3 = constant <i32: 3> : tile<i32>
  %e = extract %c[%1, %3] : tile<8x16xi32> -> tile<4x4xi32>
  %d = insert %e, %s[%1, %1] : tile<4x4xi32>, tile<8x8xi32>
  %y = reshape %d : tile<8x8xi32> -> tile<64xi32>"""
    result = np.zeros(64, np.int32)
    run(kernel({"a": ("i32", 64)}, body, {"y": ("i32", 64)}), [source, result])
    square = source.reshape(8, 8)
    expected = square.copy()
    expected[4:8, 4:8] = np.concatenate([square, square.T], axis=1)[4:8, 12:16]
    assert result.tolist() == expected.reshape(-1).tolist()


SUM = """
    %r = reduce %s dim={dim} identities=[0 : i32] : tile<8x8xi32> -> tile<8xi32>
    (%l: tile<i32>, %t: tile<i32>) {
      %q = addi %l, %t : tile<i32>
      yield %q : tile<i32>
    }"""


@pytest.mark.parametrize("dim", [0, 1])
def test_sum(dim: int) -> None:
    source = np.random.default_rng(0).integers(-99, 99, 64).astype(np.int32)
    body = "  %s = reshape %a : tile<64xi32> -> tile<8x8xi32>" + SUM.replace("{dim}", str(dim)).replace(
        "%r =", "%y ="
    )
    result = np.zeros(8, np.int32)
    run(kernel({"a": ("i32", 64)}, body, {"y": ("i32", 8)}), [source, result])
    assert result.tolist() == source.reshape(8, 8).sum(axis=dim).tolist()


def test_reduction_with_a_branch_and_an_outer_value() -> None:
    """The largest element below a limit that the body takes from outside, with its index."""
    source = np.random.default_rng(1).integers(0, 50, 64).astype(np.int32)
    body = """
  %i = iota : tile<64xi32>
  %lim = constant <i32: 40> : tile<i32>
  %y0, %y1 = reduce %a, %i dim=0 identities=[-1 : i32, -1 : i32] : {pair} -> tile<i32>, tile<i32>
  (%l: tile<i32>, %r: tile<i32>, %li: tile<i32>, %ri: tile<i32>) {
    %lo = cmpi less_than %l, %lim, signed : tile<i32> -> tile<i1>
    %ro = cmpi less_than %r, %lim, signed : tile<i32> -> tile<i1>
    %m = constant <i32: -1> : tile<i32>
    %le = select %lo, %l, %m : tile<i1>, tile<i32>
    %re = select %ro, %r, %m : tile<i1>, tile<i32>
    %g = cmpi greater_than %le, %re, signed : tile<i32> -> tile<i1>
    %k:2 = if %g -> (tile<i32>, tile<i32>) {
      yield %le, %li : tile<i32>, tile<i32>
    } else {
      yield %re, %ri : tile<i32>, tile<i32>
    }
    yield %k#0, %k#1 : tile<i32>, tile<i32>
  }
  %y = reshape %y0 : tile<i32> -> tile<1xi32>
  %w = reshape %y1 : tile<i32> -> tile<1xi32>"""
    best, at = np.zeros(1, np.int32), np.zeros(1, np.int32)
    body = body.replace("{pair}", "tile<64xi32>, tile<64xi32>")
    run(kernel({"a": ("i32", 64)}, body, {"y": ("i32", 1), "w": ("i32", 1)}), [source, best, at])
    assert best[0] == source[source < 40].max()
    assert source[at[0]] == best[0]


@pytest.mark.parametrize("reverse", ["false", "true"])
def test_scan(reverse: str) -> None:
    source = np.random.default_rng(2).integers(-9, 9, 32).astype(np.int32)
    op = f"""%y = scan %a dim=0 reverse={reverse} identities=[0 : i32] : tile<{{n}}xi32> -> tile<{{n}}xi32>
    (%l: tile<i32>, %r: tile<i32>) {{
      %q = addi %l, %r : tile<i32>
      yield %q : tile<i32>
    }}"""
    result, _ = apply(op, "i32", a=("i32", source))
    expected = source[::-1].cumsum()[::-1] if reverse == "true" else source.cumsum()
    assert result.tolist() == expected.tolist()


def test_scan_whose_order_matters() -> None:
    """Steps `y -> a * y + b`, composed: the total so far is the body's first argument."""
    random = np.random.default_rng(6)
    a, b = (random.integers(-2, 3, 16).astype(np.int32) for _ in range(2))
    body = """
  %m, %y = scan %a, %b dim=0 reverse=false identities=[1 : i32, 0 : i32] : {pair} -> {pair}
  (%a0: tile<i32>, %a1: tile<i32>, %b0: tile<i32>, %b1: tile<i32>) {
    %am = muli %a0, %a1 : tile<i32>
    %bm = muli %a1, %b0 : tile<i32>
    %bs = addi %bm, %b1 : tile<i32>
    yield %am, %bs : tile<i32>, tile<i32>
  }"""
    body = body.replace("{pair}", "tile<16xi32>, tile<16xi32>")
    result = np.zeros(16, np.int32)
    done = run(kernel({"a": ("i32", 16), "b": ("i32", 16)}, body, {"y": ("i32", 16)}), [a, b, result])
    total = 0
    expected: list[int] = []
    for factor, term in zip(a.tolist(), b.tolist(), strict=True):
        total = factor * total + term
        expected.append(int(np.int64(total).astype(np.int32)))
    assert result.tolist() == expected
    assert done.findings == []


def test_folds_that_are_none() -> None:
    source = np.arange(8, dtype=np.int32)
    op = """%y = scan %a dim=0 reverse=false identities=[{identity} : i32] : tile<{n}xi32> -> tile<{n}xi32>
    (%l: tile<i32>, %r: tile<i32>) {
      %q = {body} %l, %r : tile<i32>
      yield %q : tile<i32>
    }"""
    expected = {("0", "addi"): [], ("0", "subi"): ["fold/associative"], ("1", "addi"): ["fold/identity"]}
    for (identity, body), found in expected.items():
        text = op.replace("{identity}", identity).replace("{body}", body)
        _, done = apply(text, "i32", a=("i32", source))
        assert [rule for rule in rules(done) if rule.startswith("fold")] == found


@settings(max_examples=10, deadline=None)
@given(st.sampled_from(["f16", "bf16", "f32"]), st.integers(0, 99))
def test_product(element: str, seed: int) -> None:
    random = np.random.default_rng(seed)
    kind: Any = {"f16": np.float16, "bf16": ml_dtypes.bfloat16, "f32": np.float32}[element]
    a, b = (random.standard_normal(64).astype(kind) for _ in range(2))
    c = random.standard_normal(64).astype(np.float32)
    body = f"""
  %l = reshape %a : tile<64x{element}> -> tile<8x8x{element}>
  %r = reshape %b : tile<64x{element}> -> tile<8x8x{element}>
  %s = reshape %c : tile<64xf32> -> tile<8x8xf32>
  %m = mmaf %l, %r, %s : tile<8x8x{element}>, tile<8x8x{element}>, tile<8x8xf32>
  %y = reshape %m : tile<8x8xf32> -> tile<64xf32>"""
    result = np.zeros(64, np.float32)
    inputs = {"a": (element, 64), "b": (element, 64), "c": ("f32", 64)}
    run(kernel(inputs, body, {"y": ("f32", 64)}), [a, b, c, result])
    exact = a.astype(float).reshape(8, 8) @ b.astype(float).reshape(8, 8) + c.reshape(8, 8)
    assert np.abs(result.reshape(8, 8) - exact).max() < 1e-5


@pytest.mark.parametrize(("left", "right"), [("signed", "unsigned"), ("unsigned", "signed")])
def test_integer_product(left: str, right: str) -> None:
    random = np.random.default_rng(3)
    a, b = (random.integers(-128, 128, 64).astype(np.int8) for _ in range(2))
    body = f"""
  %l = reshape %a : tile<64xi8> -> tile<8x8xi8>
  %r = reshape %b : tile<64xi8> -> tile<8x8xi8>
  %s = constant <i32: 2147483647> : tile<8x8xi32>
  %m = mmai %l, %r, %s {left} {right} : tile<8x8xi8>, tile<8x8xi8>, tile<8x8xi32>
  %y = reshape %m : tile<8x8xi32> -> tile<64xi32>"""
    result = np.zeros(64, np.int32)
    run(kernel({"a": ("i8", 64), "b": ("i8", 64)}, body, {"y": ("i32", 64)}), [a, b, result])
    x, y = (v.view(np.uint8) if how == "unsigned" else v for v, how in ((a, left), (b, right)))
    exact = x.astype(np.int64).reshape(8, 8) @ y.astype(np.int64).reshape(8, 8) + 2147483647
    assert result.reshape(-1).tolist() == exact.astype(np.int32).reshape(-1).tolist()


def test_scaled_product() -> None:
    random = np.random.default_rng(4)
    kind, scale = ml_dtypes.float8_e4m3fn, ml_dtypes.float8_e8m0fnu
    a, b = (random.standard_normal(256).astype(kind) for _ in range(2))
    p, q = (np.exp2(random.integers(-3, 4, 8)).astype(scale) for _ in range(2))
    body = """
  %l = reshape %a : tile<256xf8E4M3FN> -> tile<4x64xf8E4M3FN>
  %r = reshape %b : tile<256xf8E4M3FN> -> tile<64x4xf8E4M3FN>
  %s = constant <f32: 0.0> : tile<4x4xf32>
  %g = reshape %p : tile<8xf8E8M0FNU> -> tile<4x2xf8E8M0FNU>
  %h = reshape %q : tile<8xf8E8M0FNU> -> tile<2x4xf8E8M0FNU>
  %m = mmaf_scaled %l, %r, %s, %g, %h : tile<4x64xf8E4M3FN>, tile<64x4xf8E4M3FN>, tile<4x4xf32>, tile<4x2xf8E8M0FNU>, tile<2x4xf8E8M0FNU>
  %y = reshape %m : tile<4x4xf32> -> tile<16xf32>"""  # noqa: E501
    result = np.zeros(16, np.float32)
    inputs = {"a": ("f8E4M3FN", 256), "b": ("f8E4M3FN", 256), "p": ("f8E8M0FNU", 8), "q": ("f8E8M0FNU", 8)}
    run(kernel(inputs, body, {"y": ("f32", 16)}), [a, b, p, q, result])
    left = a.astype(float).reshape(4, 64) * np.repeat(p.astype(float).reshape(4, 2), 32, axis=1)
    right = b.astype(float).reshape(64, 4) * np.repeat(q.astype(float).reshape(2, 4), 32, axis=0)
    assert np.allclose(result.reshape(4, 4), left @ right, rtol=1e-5)


# ---- memory through views

COPY = """
  %a = make_partition_view %u : partition_view<tile=(4x8), padding_value = zero, {row}{map}>
  %b = make_partition_view %v : partition_view<tile=(4x8), {row}{map}>
  %t, %k = load_view_tko weak %a[%x, %y] : partition_view<tile=(4x8), padding_value = zero, {row}{map}>, tile<i32> -> tile<4x8xi32>, token
  %w = store_view_tko weak %t, %b[%x, %y] : tile<4x8xi32>, partition_view<tile=(4x8), {row}{map}>, tile<i32> -> token"""  # noqa: E501


@pytest.mark.parametrize("transposed", [False, True])
@pytest.mark.parametrize(("n", "m"), [(8, 16), (7, 13), (1, 1)])
def test_ragged_copy(n: int, m: int, transposed: bool) -> None:
    text = TILED.replace(
        "{body}", COPY.replace("{row}", ROW).replace("{map}", ", dim_map=[1, 0]" if transposed else "")
    )
    source, target = np.arange(n * m, dtype=np.int32), np.full(n * m, -1, np.int32)
    first, second = (m, n) if transposed else (n, m)
    done = run(text, [source, target, n, m], grid=(-(-first // 4), -(-second // 8)))
    assert target.tolist() == source.tolist()
    assert done.findings == []


def test_strided_view() -> None:
    view = (
        "strided_view<tile=(4), traversal_strides=[3], padding_value = zero, tensor_view<?xi32, strides=[1]>>"
    )
    text = f"""entry @k(%p: tile<ptr<i32>>, %q: tile<ptr<i32>>, %n: tile<i32>, %m: tile<i32>) {{
  %x, %y, %z = get_tile_block_id : tile<i32>
  %u = make_tensor_view %p, shape = [%n], strides = [1] : tile<i32> -> tensor_view<?xi32, strides=[1]>
  %v = make_tensor_view %q, shape = [%m], strides = [1] : tile<i32> -> tensor_view<?xi32, strides=[1]>
  %a = make_strided_view %u : {view}
  %b = make_partition_view %v : partition_view<tile=(4), tensor_view<?xi32, strides=[1]>>
  %t, %k = load_view_tko weak %a[%x] : {view}, tile<i32> -> tile<4xi32>, token
  %w = store_view_tko weak %t, %b[%x] : tile<4xi32>, partition_view<tile=(4), tensor_view<?xi32, strides=[1]>>, tile<i32> -> token
  return
}}"""  # noqa: E501
    source, target = np.arange(10, dtype=np.int32) + 1, np.zeros(16, np.int32)
    done = run(text, [source, target, 10, 16], grid=4)
    assert target.reshape(4, 4).tolist() == [[1, 2, 3, 4], [4, 5, 6, 7], [7, 8, 9, 10], [10, 0, 0, 0]]
    assert done.findings == []


@settings(max_examples=8, deadline=None)
@given(st.integers(0, 40), st.integers(0, 40), st.integers(1, 4), st.integers(1, 3))
def test_sizes_of_views_and_grids(n: int, m: int, x: int, z: int) -> None:
    partition, strided = (
        f"partition_view<tile=(4x8), {ROW}>",
        f"strided_view<tile=(4x8), traversal_strides=[3,5], {ROW}>",
    )
    stores = "".join(
        f"""
  %j{at} = constant <i32: {at}> : tile<i32>
  %o{at} = offset %q, %j{at} : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>
  %w{at} = store_ptr_tko weak %o{at}, {name} : tile<ptr<i32>>, tile<i32> -> token"""
        for at, name in enumerate(("%s#0", "%s#1", "%i#0", "%i#1", "%e#0", "%e#1", "%gx", "%gz"))
    )
    body = f"""
  %a = make_partition_view %u : {partition}
  %b = make_strided_view %u : {strided}
  %s:2 = get_tensor_shape %u : {ROW} -> tile<i32>
  %i:2 = get_index_space_shape %a : {partition} -> tile<i32>
  %e:2 = get_index_space_shape %b : {strided} -> tile<i32>
  %gx, %gy, %gz = get_num_tile_blocks : tile<i32>{stores}"""
    result = np.zeros(8, np.int32)
    run(TILED.replace("{body}", body), [np.zeros(max(1, n * m), np.int32), result, n, m], grid=(x, 1, z))
    tiles = [-(-n // 4), -(-m // 8), -(-n // 3), -(-m // 5)]
    assert result.tolist() == [n, m, *tiles, x, z]


def _unsigned_minimum(a: Any, b: Any) -> Any:
    return np.minimum(a.view(np.uint32), b.view(np.uint32)).view(np.int32)


@pytest.mark.parametrize("mode", ["add", "max", "umin", "xor"])
def test_a_tile_is_taken_into_an_array(mode: str) -> None:
    n, m = 7, 13
    view = f"partition_view<tile=(4x8), {ROW}>"
    body = f"""
  %a = make_partition_view %u : {view}
  %b = make_partition_view %v : {view}
  %t, %k = load_view_tko weak %a[%x, %y] : {view}, tile<i32> -> tile<4x8xi32>, token
  %r = atomic_red_view_tko relaxed device %b[%x, %y], {mode}, %t : tile<4x8xi32>, {view}, tile<i32> -> token"""  # noqa: E501
    random = np.random.default_rng(1)
    values, memory = (random.integers(-9, 9, n * m).astype(np.int32) for _ in range(2))
    combine: Any = {"add": np.add, "max": np.maximum, "umin": _unsigned_minimum, "xor": np.bitwise_xor}[mode]
    expected = combine(memory, values)
    done = run(TILED.replace("{body}", body), [values, memory, n, m], grid=(2, 2))
    assert memory.tolist() == expected.tolist()
    assert done.errors == []


def test_the_bytes_of_an_element_are_reached_by_another_pointer() -> None:
    text = """entry @k(%p: tile<ptr<i32>>, %q: tile<ptr<i32>>) {
  %c = ptr_to_ptr %p : tile<ptr<i32>> -> tile<ptr<i8>>
  %1 = constant <i32: 1> : tile<i32>
  %d = offset %c, %1 : tile<ptr<i8>>, tile<i32> -> tile<ptr<i8>>
  %b, %t = load_ptr_tko weak %d : tile<ptr<i8>> -> tile<i8>, token
  %w = exti %b unsigned : tile<i8> -> tile<i32>
  %s = store_ptr_tko weak %q, %w : tile<ptr<i32>>, tile<i32> -> token
  return
}"""
    result = np.zeros(1, np.int32)
    run(text, [np.array([0x12345678], np.int32), result])
    assert result[0] == 0x56


@pytest.mark.parametrize(("kind", "index"), [("i8", 200), ("i16", 40000), ("i32", 40000)])
def test_indices_of_views_are_unsigned(kind: str, index: int) -> None:
    """Offsets of pointers are signed."""
    size = index + 1
    view = f"partition_view<tile=(1), tensor_view<{size}xi32, strides=[1]>>"
    text = f"""entry @k(%p: tile<ptr<i32>>, %q: tile<ptr<i32>>, %i: tile<{kind}>) {{
  %u = make_tensor_view %p, shape = [{size}], strides = [1] : tensor_view<{size}xi32, strides=[1]>
  %a = make_partition_view %u : {view}
  %t, %k = load_view_tko weak %a[%i] : {view}, tile<{kind}> -> tile<1xi32>, token
  %v = reshape %t : tile<1xi32> -> tile<i32>
  %s = store_ptr_tko weak %q, %v : tile<ptr<i32>>, tile<i32> -> token
  %o = offset %q, %i : tile<ptr<i32>>, tile<{kind}> -> tile<ptr<i32>>
  %r = store_ptr_tko weak %o, %v : tile<ptr<i32>>, tile<i32> -> token
  return
}}"""
    source, target = np.arange(size, dtype=np.int32), np.zeros(size, np.int32)
    done = run(text, [source, target, index])
    assert target[0] == index
    assert [each.rule for each in done.errors] == ([] if kind == "i32" else ["bounds/pointer"])


def test_gather_takes_coordinates() -> None:
    view = f"gather_scatter_view<tile=(4x4), padding_value = zero, {ROW}, sparse_dim=0>"
    part = f"partition_view<tile=(4x4), {ROW}>"
    body = f"""
  %g = make_gather_scatter_view %u : {view}
  %b = make_partition_view %v : {part}
  %rows = constant <i32: [5, 0, 9, 5]> : tile<4xi32>
  %c = constant <i32: 2> : tile<i32>
  %t, %k = load_view_tko weak %g[%rows, %c] : {view}, tile<4xi32>, tile<i32> -> tile<4x4xi32>, token
  %w = store_view_tko weak %t, %b[%x, %y] : tile<4x4xi32>, {part}, tile<i32> -> token"""
    n, m = 6, 5
    source, target = np.arange(n * m, dtype=np.int32), np.full(n * m, -1, np.int32)
    run(TILED.replace("{body}", body), [source, target, n, m])
    wide = np.zeros((10, 8), np.int32)
    wide[:n, :m] = source.reshape(n, m)
    assert target.reshape(n, m)[:4, :4].tolist() == wide[[5, 0, 9, 5], 2:6].tolist()


@pytest.mark.parametrize("mode", ["add", "max", "min", "umax", "umin", "and", "or", "xor", "xchg"])
def test_atomics_take_lanes_in_order(mode: str) -> None:
    """64 lanes on four elements: old values and results as one lane after the other."""
    random = np.random.default_rng(5)
    memory = random.integers(-50, 50, 4).astype(np.int32)
    at, values = random.integers(0, 4, 64).astype(np.int32), random.integers(-50, 50, 64).astype(np.int32)
    text = f"""entry @k(%p: {P}, %p_i: {P}, %p_v: {P}, %p_y: {P}) {{
{kernel({"i": ("i32", 64), "v": ("i32", 64)}, "", {}).partition("{")[2].rpartition("return")[0]}
  %s = reshape %p : tile<ptr<i32>> -> tile<1xptr<i32>>
  %c = broadcast %s : tile<1xptr<i32>> -> tile<64xptr<i32>>
  %d = offset %c, %i : tile<64xptr<i32>>, tile<64xi32> -> tile<64xptr<i32>>
  %y, %k = atomic_rmw_tko relaxed device %d, {mode}, %v : tile<64xptr<i32>>, {T} -> {T}, token
{kernel({}, "", {"y": ("i32", 64)}).partition("{")[2].rpartition("return")[0]}
  return
}}"""
    expected = memory.copy()
    old: list[int] = []
    for lane, value in zip(at.tolist(), values.tolist(), strict=True):
        now = int(expected[lane])
        old.append(now)
        x, y = now & 0xFFFFFFFF, value & 0xFFFFFFFF
        unsigned = max(x, y) if mode == "umax" else min(x, y)
        new = {"add": now + value, "max": max(now, value), "min": min(now, value), "umax": unsigned,
               "umin": unsigned, "and": now & value, "or": now | value, "xor": now ^ value,
               "xchg": value}[mode]  # fmt: skip
        expected[lane] = np.int64(new).astype(np.int32)
    result = np.zeros(64, np.int32)
    done = run(text, [memory, at, values, result])
    assert result.tolist() == old
    assert memory.tolist() == expected.tolist()
    assert rules(done) == ["order/atomic"]


def test_atomic_sum_of_many_blocks() -> None:
    text = """entry @k(%p: tile<ptr<f32>>) {
  %x, %y, %z = get_tile_block_id : tile<i32>
  %f = itof %x signed : tile<i32> -> tile<f32>
  %r, %k = atomic_rmw_tko relaxed device %p, addf, %f : tile<ptr<f32>>, tile<f32> -> tile<f32>, token
  return
}"""
    memory = np.zeros(1, np.float32)
    done = run(text, [memory], grid=500)
    assert memory[0] == 500 * 499 / 2
    assert done.findings == []
