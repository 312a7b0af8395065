"""Floating-point arithmetic with its modes.

f16 and bf16 are computed in f32 and rounded once more, as the dialect says; the library functions are
computed in f64, which is nearer to the exact result than any hardware.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from tileir_diff.equivalence.backend import Tensor, numpy, torch
from tileir_diff.equivalence.dtypes import DTYPES, element
from tileir_diff.equivalence.exact import fused
from tileir_diff.equivalence.integers import COMPARE
from tileir_diff.equivalence.rounding import directed, flush, two_product, two_sum

if TYPE_CHECKING:
    from collections.abc import Callable

    from tileir_diff.dialect.ir import TileOp
    from tileir_diff.equivalence.machine import Handler, Machine

HALVES: Final = ("f16", "bf16")
HUGE_DIVISOR: Final = 2.0**126
LOG2_E: Final = 1.4426950408889634


# ---- sums, products, quotients, roots: in one precision, f32 or f64


def _add_error(a: Tensor, b: Tensor, total: Tensor) -> Tensor:
    error = two_sum(a, b)[1]
    # Where the sum overflowed, the exact one is nearer to zero.
    overflowed = torch.isinf(total) & torch.isfinite(a) & torch.isfinite(b)
    return torch.where(overflowed, -torch.sign(total), torch.nan_to_num(error, nan=0.0))


def _multiply_error(a: Tensor, b: Tensor, product: Tensor) -> Tensor:
    if a.dtype == torch.float32:
        return a.double() * b.double() - product.double()
    overflowed = torch.isinf(product) & torch.isfinite(a) & torch.isfinite(b)
    error = scaled_product_error(a, b, product)
    return torch.where(overflowed, -torch.sign(product), torch.nan_to_num(error, nan=0.0))


def scaled_product_error(a: Tensor, b: Tensor, product: Tensor) -> Tensor:
    """A number with the sign of a * b - product, for f64 of any size."""
    a_part, a_power = torch.frexp(a)
    b_part, b_power = torch.frexp(b)
    part, power = torch.frexp(product)
    high, low = two_product(a_part, b_part)
    shift = (power.to(torch.int64) - a_power - b_power).clamp(-1000, 1000)
    scaled = torch.ldexp(part, shift.to(torch.float64))
    zero = product == 0
    return torch.where(zero, torch.sign(a) * torch.sign(b), (high - scaled) + low)


def _divide_error(a: Tensor, b: Tensor, quotient: Tensor) -> Tensor:
    if a.dtype == torch.float32:
        rest = a.double() - quotient.double() * b.double()
    else:
        rest = -scaled_product_error(quotient, b, a)
    overflowed = torch.isinf(quotient) & torch.isfinite(a) & (b != 0)
    exact = torch.isinf(a) | torch.isinf(b) | (b == 0) | torch.isnan(quotient) | (a == 0)
    error = rest * torch.sign(b)
    vanished = (quotient == 0) & (a != 0) & torch.isfinite(b)
    error = torch.where(vanished, torch.sign(a).to(error.dtype) * torch.sign(b).to(error.dtype), error)
    error = torch.where(overflowed, -torch.sign(quotient).to(error.dtype), error)
    return torch.where(exact, torch.zeros_like(error), error)


def _root_error(a: Tensor, root: Tensor) -> Tensor:
    if a.dtype == torch.float32:
        error = a.double() - root.double() * root.double()
    else:
        error = -scaled_product_error(root, root, a)
    return torch.where(torch.isfinite(root) & (root != 0), error, torch.zeros_like(error))


def add(a: Tensor, b: Tensor, mode: str) -> Tensor:
    total = a + b
    if mode == "nearest_even":
        return total
    result = directed(total, _add_error(a, b, total), mode)
    if mode == "negative_inf":
        # An exact zero of opposite operands is negative when rounding down.
        cancels = (total == 0) & (a == -b) & (torch.signbit(a) != torch.signbit(b))
        result = torch.where(cancels, -torch.zeros_like(result), result)
    return result


def multiply(a: Tensor, b: Tensor, mode: str) -> Tensor:
    product = a * b
    return product if mode == "nearest_even" else directed(product, _multiply_error(a, b, product), mode)


def divide(a: Tensor, b: Tensor, mode: str) -> Tensor:
    quotient = a / b
    if mode in ("nearest_even", "full"):
        return quotient
    if mode == "approx":
        # a * (1 / b), where the reciprocal of a huge divisor is zero.
        huge = (b.abs() >= HUGE_DIVISOR) & torch.isfinite(b)
        return torch.where(huge, a * torch.copysign(torch.zeros_like(b), b), quotient)
    return directed(quotient, _divide_error(a, b, quotient), mode)


def nearest_root(a: Tensor) -> Tensor:
    """By numpy, which asks the processor: torch's vector library may be a unit off."""
    with numpy.errstate(invalid="ignore"):
        return torch.from_numpy(numpy.sqrt(a.numpy()))


def root(a: Tensor, mode: str) -> Tensor:
    result = nearest_root(a)
    return result if mode in ("nearest_even", "approx") else directed(result, _root_error(a, result), mode)


BINARY: Final[dict[str, Callable[[Tensor, Tensor, str], Tensor]]] = {
    "addf": add,
    "subf": lambda a, b, mode: add(a, -b, mode),
    "mulf": multiply,
    "divf": divide,
}


def binary_function(short: str, name: str, mode: str, flushed: bool) -> Callable[[Tensor, Tensor], Tensor]:
    """addf, subf, mulf or divf of an element type as a function of two tensors."""
    compute = BINARY[short]
    if name in HALVES:
        half = DTYPES[name]
        return lambda a, b: compute(a.float(), b.float(), mode).to(half)
    if not flushed:
        return lambda a, b: compute(a, b, mode)
    return lambda a, b: flush(compute(flush(a), flush(b), mode))


def binary(m: Machine, op: TileOp) -> None:
    name, mode = element(op.results[0]), op.get("rounding")
    compute = binary_function(op.short, name, mode, op.get("flush_to_zero"))
    result = compute(m.get(op.operands[0]), m.get(op.operands[1]))
    approximate = mode in ("approx", "full")
    m.set(op, m.moved(result, name, 2.0 if approximate else 1.0))
    if approximate:
        m.free(op, f"divf {mode}", "2 ulp")


def fma(m: Machine, op: TileOp) -> None:
    name, mode = element(op.results[0]), op.get("rounding")
    a, b, c = (m.get(operand) for operand in op.operands)
    if op.get("flush_to_zero"):
        a, b, c = flush(a), flush(b), flush(c)
    result = m.moved(fused(a, b, c, name, mode), name)
    m.set(op, flush(result) if op.get("flush_to_zero") else result)


def sqrt(m: Machine, op: TileOp) -> None:
    name, mode = element(op.results[0]), op.get("rounding")
    source = m.get(op.operands[0])
    if op.get("flush_to_zero"):
        source = flush(source)
    result = root(source.float(), mode).to(DTYPES[name]) if name in HALVES else root(source, mode)
    result = m.moved(result, name)
    m.set(op, flush(result) if op.get("flush_to_zero") else result)
    if mode == "approx":
        m.free(op, "sqrt approx", "1 ulp")


# ---- functions of a library

LIBRARY: Final[dict[str, tuple[Callable[[Tensor], Tensor], str]]] = {
    "cos": (torch.cos, "2 ulp"),
    "cosh": (torch.cosh, "2 ulp"),
    "exp": (torch.exp, "2 ulp"),
    "exp2": (torch.exp2, "2 ulp"),
    "log": (torch.log, "1 ulp"),
    "log2": (torch.log2, "1 ulp"),
    "rsqrt": (torch.rsqrt, "2 ulp"),
    "sin": (torch.sin, "2 ulp"),
    "sinh": (torch.sinh, "3 ulp"),
    "tan": (torch.tan, "4 ulp"),
    "tanh": (torch.tanh, "2 ulp"),
}
"""By op: the function in f64, and how far the hardware's f32 version may be off."""


COARSE: Final = 2.0**13.1
"""Units of f32 that are 2^-10.9 of the value: the bound of `tanh approx`."""


def library(m: Machine, op: TileOp) -> None:
    name = element(op.results[0])
    source = m.get(op.operands[0])
    flushed = bool(op.get("flush_to_zero"))
    if flushed:
        source = flush(source)
    compute, bound = LIBRARY[op.short]
    mode = op.get("rounding")
    if mode == "approx" and op.short == "exp":
        # The hardware multiplies by log2(e) first, and rounds.
        result = torch.exp2((source * LOG2_E).double()).float()
        # A rounding of the product is as many units of the result as the product is large.
        result = m.moved(
            result, name, 2.0 + torch.nan_to_num(source.abs(), nan=0.0).clamp(max=200.0) * LOG2_E
        )
        m.free(op, "exp approx", "2 ulp of exp2, and the rounding of x * log2(e)")
    else:
        approximate = mode == "approx"
        result = narrowed(compute(source.double()), name)
        result = m.moved(result, name, COARSE if approximate else float(bound.split()[0]))
        m.free(op, f"{op.short}{' approx' if approximate else ''}", "2^-10.9" if approximate else bound)
    m.set(op, flush(result) if flushed else result)


def narrowed(value: Tensor, name: str) -> Tensor:
    """An f64 result in an element type; to a half by way of f32."""
    if name == "f64":
        return value
    single = value.float()
    return single if name == "f32" else single.to(DTYPES[name])


PAIRS: Final[dict[str, tuple[Callable[[Tensor, Tensor], Tensor], str]]] = {
    "atan2": (torch.atan2, "3 ulp"),
    "fpowf": (torch.pow, "8 ulp"),
}


def library_pair(m: Machine, op: TileOp) -> None:
    compute, bound = PAIRS[op.short]
    a, b = m.get(op.operands[0]).double(), m.get(op.operands[1]).double()
    name = element(op.results[0])
    m.set(op, m.moved(narrowed(compute(a, b), name), name, float(bound.split()[0])))
    m.free(op, op.short, bound)


def fpowi(m: Machine, op: TileOp) -> None:
    base, power = m.get(op.operands[0]).double(), m.get(op.operands[1])
    if power.dtype == torch.bool:  # a true i1 is -1
        power = -power.to(torch.int64)
    name = element(op.results[0])
    m.set(op, m.moved(narrowed(torch.pow(base, power.double()), name), name, 8.0))
    m.free(op, "fpowi", "8 ulp")


# ---- exact ones


def _bits_unary(compute: Callable[[Tensor], Tensor]) -> Handler:
    def handler(m: Machine, op: TileOp) -> None:
        m.set(op, compute(m.get(op.operands[0])))

    return handler


def remf(m: Machine, op: TileOp) -> None:
    """Exact in any type; by numpy, since torch's gives NaN where the quotient is large."""
    name = element(op.results[0])
    a, b = (m.get(operand) for operand in op.operands)
    if name in HALVES:
        a, b = a.float(), b.float()
    with numpy.errstate(invalid="ignore"):
        rest = torch.from_numpy(numpy.fmod(a.numpy(), b.numpy()))
    m.set(op, rest.to(DTYPES[name]))


def extreme(short: str, propagates: bool) -> Callable[[Tensor, Tensor], Tensor]:
    """maxf or minf: +0 is above -0; a NaN wins if it propagates, else loses."""
    largest = short == "maxf"
    plain = torch.maximum if largest else torch.minimum
    numbers = torch.fmax if largest else torch.fmin
    choose = plain if propagates else numbers

    def compute(a: Tensor, b: Tensor) -> Tensor:
        result = choose(a, b)
        zeros = (a == 0) & (b == 0)
        if bool(zeros.any()):
            sum_ = a + b if largest else -(-a - b)
            result = torch.where(zeros, sum_, result)
        return result

    return compute


def minmax(m: Machine, op: TileOp) -> None:
    m.set(op, minmax_function(op)(m.get(op.operands[0]), m.get(op.operands[1])))


def minmax_function(op: TileOp) -> Callable[[Tensor, Tensor], Tensor]:
    compute = extreme(op.short, bool(op.get("propagate_nan")))
    if op.get("flush_to_zero"):
        return lambda a, b: flush(compute(flush(a), flush(b)))
    return compute


def cmpf(m: Machine, op: TileOp) -> None:
    a, b = m.get(op.operands[0]), m.get(op.operands[1])
    predicate = op.get("predicate")
    result = COMPARE[predicate](a, b)
    unordered = op.get("ordering") == "unordered"
    if unordered != (predicate == "not_equal"):  # what torch says where there is a NaN is not what is wanted
        nan = torch.isnan(a) | torch.isnan(b)
        result = result | nan if unordered else result & ~nan
    m.set(op, result)


def pair_function(op: TileOp) -> Any:
    """A binary float op as a function of two tensors; None for others."""
    name = element(op.results[0])
    if op.short in BINARY:
        return binary_function(op.short, name, op.get("rounding"), bool(op.get("flush_to_zero")))
    if op.short in ("maxf", "minf"):
        return minmax_function(op)
    return None


HANDLERS: dict[str, Handler] = {
    **dict.fromkeys(BINARY, binary),
    **dict.fromkeys(LIBRARY, library),
    **dict.fromkeys(PAIRS, library_pair),
    "absf": _bits_unary(torch.abs),
    "ceil": _bits_unary(torch.ceil),
    "cmpf": cmpf,
    "floor": _bits_unary(torch.floor),
    "fma": fma,
    "fpowi": fpowi,
    "maxf": minmax,
    "minf": minmax,
    "negf": _bits_unary(torch.neg),
    "remf": remf,
    "sqrt": sqrt,
}
