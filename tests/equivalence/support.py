"""Runs one op on given elements."""

from __future__ import annotations

import importlib
import math
from fractions import Fraction
from typing import Any

import numpy as np

ml_dtypes: Any = importlib.import_module("ml_dtypes")  # it has no types

NUMPY: dict[str, Any] = {
    "i1": np.bool_,
    "i8": np.int8,
    "i16": np.int16,
    "i32": np.int32,
    "i64": np.int64,
    "f16": np.float16,
    "bf16": ml_dtypes.bfloat16,
    "f32": np.float32,
    "tf32": np.float32,
    "f64": np.float64,
    "f8E4M3FN": ml_dtypes.float8_e4m3fn,
    "f8E5M2": ml_dtypes.float8_e5m2,
    "f8E8M0FNU": ml_dtypes.float8_e8m0fnu,
}


def run(text: str, args: list[Any], grid: Any = 1, **options: Any) -> Any:
    """Runs the one kernel of a text."""
    from tileir_diff import interpret
    from tileir_diff.dialect import parse_text

    return interpret(parse_text(text), args, grid=grid, **options)


def rules(result: Any) -> list[str]:
    return [finding.rule for finding in result.findings]


def _addresses(name: str, element: str, count: int) -> str:
    """IR for `%o_NAME`: the addresses of `count` elements of the parameter `%p_NAME`."""
    pointer = f"tile<{count}xptr<{element}>>"
    return f"""
  %r_{name} = reshape %p_{name} : tile<ptr<{element}>> -> tile<1xptr<{element}>>
  %b_{name} = broadcast %r_{name} : tile<1xptr<{element}>> -> {pointer}
  %i_{name} = iota : tile<{count}xi32>
  %o_{name} = offset %b_{name}, %i_{name} : {pointer}, tile<{count}xi32> -> {pointer}"""


def load(name: str, element: str, count: int) -> str:
    """IR that loads `count` elements of the parameter `%p_NAME` as `%NAME`."""
    pointer = f"tile<{count}xptr<{element}>>"
    return f"""{_addresses(name, element, count)}
  %{name}, %t_{name} = load_ptr_tko weak %o_{name} : {pointer} -> tile<{count}x{element}>, token"""


def store(name: str, element: str, count: int) -> str:
    """IR that stores `%NAME` to the parameter `%p_NAME`."""
    pointer = f"tile<{count}xptr<{element}>>"
    return f"""{_addresses(name, element, count)}
  %t_{name} = store_ptr_tko weak %o_{name}, %{name} : {pointer}, tile<{count}x{element}> -> token"""


def kernel(inputs: dict[str, tuple[str, int]], body: str, outputs: dict[str, tuple[str, int]]) -> str:
    """A kernel that loads tiles, computes, and stores tiles; by name their element types and sizes."""
    parameters = ", ".join(
        f"%p_{name}: tile<ptr<{element}>>" for name, (element, _) in {**inputs, **outputs}.items()
    )
    loads = "".join(load(name, *kind) for name, kind in inputs.items())
    stores = "".join(store(name, *kind) for name, kind in outputs.items())
    return f"entry @k({parameters}) {{{loads}\n{body}{stores}\n  return\n}}"


def padded(values: list[Any], element: str) -> Any:
    """Values as an array whose size is a power of two; the last one is repeated."""
    size = 1 << max(0, (len(values) - 1).bit_length())
    whole = values + [values[-1]] * (size - len(values))
    if element in ("i8", "i16", "i32", "i64"):
        width = int(element[1:])
        return np.array([wrap(value, width) for value in whole], NUMPY[element])
    return np.array(whole, np.float64 if element != "i1" else np.bool_).astype(NUMPY[element])


def wrap(value: int, width: int) -> int:
    """The signed reading of the low bits."""
    value &= (1 << width) - 1
    return value - (1 << width) if value >> (width - 1) else value


def apply(op: str, result: str, **operands: tuple[str, Any]) -> tuple[Any, Any]:
    """`op` on arrays; `{n}` in it is their size. Returns the elements of its result `%y`, and the run."""
    count = len(next(iter(operands.values()))[1])
    text = kernel(
        {name: (element, count) for name, (element, _) in operands.items()},
        "  " + op.replace("{n}", str(count)),
        {"y": (result, count)},
    )
    output = np.zeros(count, NUMPY[result])
    done = run(text, [*(array for _, array in operands.values()), output])
    return output, done


def exactly_rounded(actual: float, exact: Fraction, mode: str, neighbours: tuple[float, float]) -> bool:
    """Whether a finite or infinite result is what a directed mode wants, between its neighbours."""
    below, above = neighbours
    if mode == "zero":
        mode = "negative_inf" if exact > 0 else "positive_inf"
    if mode == "negative_inf":
        return _le(actual, exact) and not _le(above, exact)
    return not _lt(actual, exact) and _lt(below, exact)


def _le(value: float, exact: Fraction) -> bool:
    return value < 0 if math.isinf(value) else Fraction(value) <= exact


def _lt(value: float, exact: Fraction) -> bool:
    return value < 0 if math.isinf(value) else Fraction(value) < exact
