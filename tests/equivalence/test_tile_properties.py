"""Any shape, axis, index and mask: moves, folds, views and atomics against numpy and lane by lane."""

from __future__ import annotations

import math
from functools import reduce
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.equivalence.support import NUMPY, apply, kernel, load, run, store, wrap

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

EXTENTS = st.sampled_from((1, 2, 4))
SHAPES = st.lists(EXTENTS, min_size=1, max_size=3)
FEW = settings(max_examples=10, deadline=None)


def tile(shape: Sequence[int], element: str = "i32") -> str:
    return f"tile<{''.join(f'{extent}x' for extent in shape)}{element}>"


def moved(source: Any, body: str, after: Sequence[int]) -> Any:
    """What `%d`, of shape `after`, is where `%s` is `source`."""
    count = math.prod(after)
    text = f"""
  %s = reshape %x : {tile([source.size])} -> {tile(source.shape)}
  {body}
  %y = reshape %d : {tile(after)} -> {tile([count])}"""
    result = np.full(count, -1, np.int32)
    done = run(
        kernel({"x": ("i32", source.size)}, text, {"y": ("i32", count)}),
        [source.reshape(-1).copy(), result],
    )
    assert done.findings == []
    return result.reshape(after)


def numbered(shape: Sequence[int]) -> Any:
    return np.arange(math.prod(shape), dtype=np.int32).reshape(shape)


# ---- moves


@FEW
@given(SHAPES, st.data())
def test_dimensions_are_exchanged(shape: list[int], data: st.DataObject) -> None:
    order = data.draw(st.permutations(range(len(shape))))
    source = numbered(shape)
    expected = source.transpose(order)
    body = f"%d = permute %s {list(order)} : {tile(shape)} -> {tile(expected.shape)}"
    if len(shape) > 1:
        assert np.array_equal(moved(source, body, expected.shape), expected)


@FEW
@given(SHAPES, st.data())
def test_dimensions_of_one_are_repeated(shape: list[int], data: st.DataObject) -> None:
    wide = [data.draw(EXTENTS) if extent == 1 else extent for extent in shape]
    body = f"%d = broadcast %s : {tile(shape)} -> {tile(wide)}"
    source = numbered(shape)
    assert np.array_equal(moved(source, body, wide), np.broadcast_to(source, wide))


@FEW
@given(SHAPES, st.data())
def test_tiles_are_joined(shape: list[int], data: st.DataObject) -> None:
    dim = data.draw(st.integers(0, len(shape) - 1))
    source = numbered(shape)
    expected = np.concatenate([source, source + 1], axis=dim)
    body = f"""%one = constant <i32: 1> : {tile(shape)}
  %more = addi %s, %one : {tile(shape)}
  %d = cat %s, %more dim = {dim} : {tile(shape)}, {tile(shape)} -> {tile(expected.shape)}"""
    assert np.array_equal(moved(source, body, expected.shape), expected)


@FEW
@given(SHAPES, st.data())
def test_slices_are_taken_and_put_back(shape: list[int], data: st.DataObject) -> None:
    part = [data.draw(st.sampled_from([each for each in (1, 2, 4) if each <= extent])) for extent in shape]
    slices = [data.draw(st.integers(0, whole // piece - 1)) for whole, piece in zip(shape, part, strict=True)]
    place = tuple(slice(at * piece, (at + 1) * piece) for at, piece in zip(slices, part, strict=True))
    indices = "\n  ".join(f"%i{dim} = constant <i32: {at}> : tile<i32>" for dim, at in enumerate(slices))
    names = ", ".join(f"%i{dim}" for dim in range(len(shape)))
    source = numbered(shape)
    taken = f"{indices}\n  %d = extract %s[{names}] : {tile(shape)} -> {tile(part)}"
    assert np.array_equal(moved(source, taken, part), source[place])
    expected = np.zeros(shape, np.int32)
    expected[place] = source[place]
    put = f"""{taken.replace("%d", "%e")}
  %zero = constant <i32: 0> : {tile(shape)}
  %d = insert %e, %zero[{names}] : {tile(part)}, {tile(shape)}"""
    assert np.array_equal(moved(source, put, shape), expected)


@FEW
@given(st.lists(st.booleans(), min_size=8, max_size=8))
def test_each_lane_is_chosen_by_its_own_flag(flags: list[bool]) -> None:
    result, _ = apply(
        "%n = iota : tile<{n}xi32>\n%y = select %c, %n, %x : tile<{n}xi1>, tile<{n}xi32>", "i32",
        c=("i1", np.array(flags)), x=("i32", np.full(8, -5, np.int32)),
    )  # fmt: skip
    assert result.tolist() == [lane if flag else -5 for lane, flag in enumerate(flags)]


# ---- folds

FOLDS: dict[str, tuple[int, Callable[[int, int], int]]] = {
    "addi": (0, lambda a, b: wrap(a + b, 32)),
    "muli": (1, lambda a, b: wrap(a * b, 32)),
    "maxi": (-(1 << 31), max),
    "mini": ((1 << 31) - 1, min),
    "andi": (-1, lambda a, b: a & b),
    "ori": (0, lambda a, b: a | b),
    "xori": (0, lambda a, b: a ^ b),
}


@pytest.mark.parametrize("short", FOLDS)
@FEW
@given(SHAPES, st.integers(0, 999), st.booleans(), st.data())
def test_folds_along_any_dimension(
    short: str, shape: list[int], seed: int, reverse: bool, data: st.DataObject
) -> None:
    dim = data.draw(st.integers(0, len(shape) - 1))
    identity, combine = FOLDS[short]
    source = np.random.default_rng(seed).integers(-(1 << 31), 1 << 31, shape).astype(np.int32)
    lines = np.moveaxis(source, dim, -1).astype(object)
    signed = " signed" if short in ("maxi", "mini") else ""
    region = f"""(%l: tile<i32>, %t: tile<i32>) {{
      %q = {short} %l, %t{signed} : tile<i32>
      yield %q : tile<i32>
    }}"""
    rest = [extent for at, extent in enumerate(shape) if at != dim]
    head = f"dim={dim} identities=[{identity} : i32] : {tile(shape)}"
    if rest:
        whole = moved(source, f"%d = reduce %s {head} -> {tile(rest)}\n    {region}", rest)
        assert np.array_equal(whole, np.apply_along_axis(lambda line: reduce(combine, line), -1, lines))

    def totals(line: Any) -> list[int]:
        order = list(line)[::-1] if reverse else list(line)
        found = [reduce(combine, order[: end + 1]) for end in range(len(order))]
        return found[::-1] if reverse else found

    head = head.replace("identities", f"reverse={str(reverse).lower()} identities")
    each = moved(source, f"%d = scan %s {head} -> {tile(shape)}\n    {region}", shape)
    expected = np.moveaxis(np.apply_along_axis(totals, -1, lines), -1, dim)
    assert np.array_equal(each, expected)


@pytest.mark.parametrize("element", ["f16", "bf16", "f32", "f64"])
@pytest.mark.parametrize("short", ["maxf", "minf"])
@pytest.mark.parametrize("propagates", [False, True])
@FEW
@given(
    st.lists(
        st.tuples(*[st.sampled_from((0.0, -0.0, 1.0, -2.5, math.inf, -math.inf, math.nan))] * 2),
        min_size=8, max_size=8,
    )
)  # fmt: skip
def test_extremes_of_any_type(
    element: str, short: str, propagates: bool, pairs: list[tuple[float, float]]
) -> None:
    a, b = (np.array([pair[side] for pair in pairs]).astype(NUMPY[element]) for side in (0, 1))
    flag = " propagate_nan" if propagates else ""
    result, _ = apply(f"%y = {short} %a, %b{flag} : tile<{{n}}x{element}>", element,
                      a=(element, a), b=(element, b))  # fmt: skip

    def expected(x: float, y: float) -> float:
        numbers = [each for each in (x, y) if each == each]
        if not numbers or (propagates and len(numbers) < 2):
            return math.nan
        return (max if short == "maxf" else min)(numbers, key=lambda each: (each, math.copysign(1, each)))

    for (x, y), found in zip(pairs, result.astype(np.float64).tolist(), strict=True):
        wanted = expected(x, y)
        assert str(found) == str(wanted), (x, y)


# ---- views

ROW = "tensor_view<?x?xi32, strides=[?,1]>"


COORDINATES = st.integers(-3, 9)


@pytest.mark.parametrize("kind", ["partition", "transposed", "strided", "gather"])
@settings(max_examples=15, deadline=None)
@given(st.integers(1, 7), st.integers(1, 9), st.data())
def test_tiles_of_memory(kind: str, n: int, m: int, data: st.DataObject) -> None:
    """A tile is loaded through a view, and stored to the same place of another array."""
    steps, order, options = (2, 4), (0, 1), ""
    if kind == "strided":
        steps = data.draw(st.tuples(st.integers(1, 5), st.integers(1, 5)))
        options = f"traversal_strides=[{steps[0]},{steps[1]}], "
    if kind == "transposed":
        order = 1, 0
    extents = [(n, m)[dim] for dim in order]
    if kind == "gather":
        rows = data.draw(st.lists(COORDINATES, min_size=2, max_size=2, unique=True))
        columns = data.draw(COORDINATES)
        constants = f"%i = constant <i32: {rows}> : tile<2xi32>\n%j = constant <i32: {columns}> : tile<i32>"
        places = [rows, [columns + lane for lane in range(4)]]
        tail, name, types = ", sparse_dim=0", "gather_scatter", "tile<2xi32>, tile<i32>"
    else:
        at = [data.draw(st.integers(0, -(-extent // step) - 1))
              for extent, step in zip(extents, steps, strict=True)]  # fmt: skip
        constants = "\n".join(
            f"%{name} = constant <i32: {number}> : tile<i32>" for name, number in zip("ij", at, strict=True)
        )
        starts = [number * step for number, step in zip(at, steps, strict=True)]
        places = [[starts[0] + lane for lane in range(2)], [starts[1] + lane for lane in range(4)]]
        tail = ", dim_map=[1, 0]" if kind == "transposed" else ""
        name, types = ("strided" if kind == "strided" else "partition"), "tile<i32>"
    padded, plain = (
        f"{name}_view<tile=(2x4), {options}{pad}{ROW}{tail}>" for pad in ("padding_value = zero, ", "")
    )
    text = f"""entry @k(%p: tile<ptr<i32>>, %q: tile<ptr<i32>>, %p_y: tile<ptr<i32>>, %n: tile<i32>, %m: tile<i32>) {{
  %u = make_tensor_view %p, shape = [%n, %m], strides = [%m, 1] : tile<i32> -> {ROW}
  %v = make_tensor_view %q, shape = [%n, %m], strides = [%m, 1] : tile<i32> -> {ROW}
  %a = make_{name}_view %u : {padded}
  %b = make_{name}_view %v : {plain}
  {constants}
  %t, %k = load_view_tko weak %a[%i, %j] : {padded}, {types} -> tile<2x4xi32>, token
  %w = store_view_tko weak %t, %b[%i, %j] : tile<2x4xi32>, {plain}, {types} -> token
  %y = reshape %t : tile<2x4xi32> -> tile<8xi32>
{store("y", "i32", 8)}
  return
}}"""  # noqa: E501
    source = np.arange(n * m, dtype=np.int32).reshape(n, m) + 1
    target, loaded = np.full((n, m), -1, np.int32), np.full(8, -1, np.int32)
    done = run(text, [source, target, loaded, n, m])
    assert done.findings == []
    expected, kept = np.zeros((2, 4), np.int32), np.full((n, m), -1, np.int32)
    for first, x in enumerate(places[0]):
        for second, y in enumerate(places[1]):
            row, column = (x, y) if order == (0, 1) else (y, x)
            if 0 <= row < n and 0 <= column < m:
                expected[first, second] = kept[row, column] = source[row, column]
    assert loaded.reshape(2, 4).tolist() == expected.tolist()
    assert target.tolist() == kept.tolist()


# ---- atomics

MODES: dict[str, Callable[[int, int, int], int]] = {
    "add": lambda a, b, width: a + b,
    "and": lambda a, b, width: a & b,
    "max": lambda a, b, width: max(a, b),
    "min": lambda a, b, width: min(a, b),
    "or": lambda a, b, width: a | b,
    "umax": lambda a, b, width: max(a % (1 << width), b % (1 << width)),
    "umin": lambda a, b, width: min(a % (1 << width), b % (1 << width)),
    "xchg": lambda a, b, width: b,
    "xor": lambda a, b, width: a ^ b,
}


@pytest.mark.parametrize("width", [32, 64])
@pytest.mark.parametrize("mode", [*MODES, "cas"])
@FEW
@given(st.data())
def test_atomics_of_any_values(mode: str, width: int, data: st.DataObject) -> None:
    """Lanes that share elements, some of them masked, one after the other."""
    kind, dtype = f"i{width}", np.int32 if width == 32 else np.int64
    numbers = st.one_of(st.integers(-2, 2), st.integers(-(1 << (width - 1)), (1 << (width - 1)) - 1))
    eight = st.lists(numbers, min_size=8, max_size=8)
    memory = data.draw(st.lists(numbers, min_size=3, max_size=3))
    values, wanted = data.draw(eight), data.draw(eight)
    at = data.draw(st.lists(st.integers(0, 2), min_size=8, max_size=8))
    mask = data.draw(st.lists(st.booleans(), min_size=8, max_size=8))
    pointers, tiles = f"tile<8xptr<{kind}>>", f"tile<8x{kind}>"
    op = (
        f"atomic_cas_tko relaxed device %d, %c, %v, %m : {pointers}, {tiles}, tile<8xi1> -> {tiles}, token"
        if mode == "cas"
        else f"atomic_rmw_tko relaxed device %d, {mode}, %v, %m : {pointers}, {tiles}, tile<8xi1> -> {tiles}, token"  # noqa: E501
    )
    text = f"""entry @k(%p: tile<ptr<{kind}>>, %p_i: tile<ptr<i32>>, %p_v: tile<ptr<{kind}>>, %p_c: tile<ptr<{kind}>>, %p_m: tile<ptr<i1>>, %p_y: tile<ptr<{kind}>>) {{
{load("i", "i32", 8)}{load("v", kind, 8)}{load("c", kind, 8)}{load("m", "i1", 8)}
  %s = reshape %p : tile<ptr<{kind}>> -> tile<1xptr<{kind}>>
  %b = broadcast %s : tile<1xptr<{kind}>> -> {pointers}
  %d = offset %b, %i : {pointers}, tile<8xi32> -> {pointers}
  %old, %k = {op}
  %y = select %m, %old, %c : tile<8xi1>, {tiles}
{store("y", kind, 8)}
  return
}}"""  # noqa: E501
    after, result = np.array(memory, dtype), np.zeros(8, dtype)
    run(text, [after, np.array(at, np.int32), np.array(values, dtype), np.array(wanted, dtype),
               np.array(mask), result])  # fmt: skip
    old: list[int] = []
    for lane, active in enumerate(mask):
        now = memory[at[lane]]
        old.append(now if active else wanted[lane])
        if not active:
            continue
        if mode == "cas":
            memory[at[lane]] = values[lane] if now == wanted[lane] else now
        else:
            memory[at[lane]] = wrap(MODES[mode](now, values[lane], width), width)
    assert after.tolist() == memory
    assert result.tolist() == old
