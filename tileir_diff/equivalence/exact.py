"""Multiply and add with one rounding, in every precision and direction.

f32 and halves go through f64, where the product is exact and the sum is rounded to odd. f64 follows Boldo and
Melquiond (2008): error-free products and sums, the last one but one rounded to odd.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Final

from tileir_diff.equivalence.backend import Tensor, torch
from tileir_diff.equivalence.dtypes import DTYPES
from tileir_diff.equivalence.rounding import directed, odd_sum, to_format, two_product, two_sum

SAFE: Final = (2.0**-400, 2.0**400)
"""Between these sizes no intermediate result of an f64 fma overflows or loses bits."""


def fused(a: Tensor, b: Tensor, c: Tensor, name: str, mode: str) -> Tensor:
    """a * b + c, rounded once; a half in another mode than nearest_even by way of f32."""
    if name == "f64":
        return _fused_f64(a, b, c, mode)
    product = a.double() * b.double()
    exact = c.double()
    total = odd_sum(*torch.broadcast_tensors(product, exact))
    if mode == "nearest_even":
        return to_format(total, name)
    target = "f32"
    result = to_format(total, target, mode)
    if mode == "negative_inf":
        result = _minus_zero(result, product, exact)
    return result if name == "f32" else result.to(DTYPES[name])


def _minus_zero(result: Tensor, product: Tensor, c: Tensor) -> Tensor:
    """An exact zero of opposite operands is negative when rounding down."""
    cancels = torch.isfinite(c) & (product == -c) & (torch.signbit(product) != torch.signbit(c))
    return torch.where(cancels, -torch.zeros_like(result), result)


def _fused_f64(a: Tensor, b: Tensor, c: Tensor, mode: str) -> Tensor:
    a, b, c = torch.broadcast_tensors(a, b, c)
    high, low = two_product(a, b)
    t_high, t_low = two_sum(c, low)
    v_high, v_low = two_sum(high, t_high)
    rest = odd_sum(t_low, v_low)
    result = v_high + rest
    if mode != "nearest_even":
        result = directed(result, two_sum(v_high, rest)[1], mode)
        if mode == "negative_inf":
            result = _minus_zero(result, torch.where(low == 0, high, math.nan), c)
    # A product that overflows is finite all the same: it leaves an infinite c as it is.
    plain = torch.where(torch.isinf(c) & torch.isfinite(a) & torch.isfinite(b), c, a * b + c)
    if mode == "negative_inf":
        plain = _minus_zero(plain, torch.where((a == 0) | (b == 0), a * b, math.nan), c)
    safe = _within(a * b) & (_within(c) | (c == 0)) & _within(a) & _within(b)
    simple = (
        (a == 0)
        | (b == 0)
        | ~torch.isfinite(plain) & ~(torch.isfinite(a) & torch.isfinite(b) & torch.isfinite(c))
    )
    result = torch.where(simple, plain, result)
    hard = ~safe & ~simple
    return _by_fractions(result, hard, a, b, c, mode) if bool(hard.any()) else result


def _within(value: Tensor) -> Tensor:
    size = value.abs()
    return (size > SAFE[0]) & (size < SAFE[1])


def _by_fractions(result: Tensor, hard: Tensor, a: Tensor, b: Tensor, c: Tensor, mode: str) -> Tensor:
    """The few lanes that are very large or very small, one by one."""
    result = result.clone()
    exact = [
        _rounded(Fraction(x) * Fraction(y) + Fraction(z), mode)
        for x, y, z in zip(a[hard].tolist(), b[hard].tolist(), c[hard].tolist(), strict=True)
    ]
    result[hard] = torch.tensor(exact, dtype=torch.float64)
    return result


def _rounded(value: Fraction, mode: str) -> float:
    """A fraction in f64; a zero is one of opposite operands."""
    if not value:
        return -0.0 if mode == "negative_inf" else 0.0
    try:
        nearest = value.numerator / value.denominator
    except OverflowError:
        nearest = float("inf") if value > 0 else float("-inf")
    if mode == "nearest_even":
        return nearest
    if nearest in (float("inf"), float("-inf")):
        error = -1.0 if nearest > 0 else 1.0
    else:
        rest = value - Fraction(nearest)
        error = float((rest > 0) - (rest < 0))
    pair = torch.tensor([nearest, error], dtype=torch.float64)
    return directed(pair[:1], pair[1:], mode).item()
