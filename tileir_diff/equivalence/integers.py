"""Integer arithmetic. Tensors are signless; read as unsigned they widen to i64, or turn their sign bit."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from tileir_diff.equivalence.backend import Tensor, torch
from tileir_diff.equivalence.dtypes import DTYPES, bits, element

if TYPE_CHECKING:
    from collections.abc import Callable

    from tileir_diff.dialect.ir import TileOp
    from tileir_diff.equivalence.machine import Handler, Machine

LOWEST: Final = -(1 << 63)


def wide(tensor: Tensor, name: str, signed: bool) -> Tensor:
    """The values in i64; an unsigned i64 keeps its bits."""
    width = bits(name)
    if name == "i1":
        values = tensor.to(torch.int64)
        return -values if signed else values
    values = tensor.to(torch.int64)
    return values if signed or width == 64 else values & ((1 << width) - 1)


def wrapped(values: Tensor, name: str) -> Tensor:
    """i64 values as elements of a type, too large ones cut to its width."""
    if name == "i1":
        return (values & 1) != 0
    if name == "i4":
        return ((values & 15 ^ 8) - 8).to(torch.int8)
    return values if name == "i64" else values.to(DTYPES[name])


def ordered(tensor: Tensor, name: str, signed: bool) -> Tensor:
    """Values that compare as signed numbers the way the elements are to be compared."""
    if name == "i64":
        return tensor if signed else tensor ^ LOWEST
    return tensor if signed and name != "i1" else wide(tensor, name, signed)


def _is_signed(op: TileOp) -> bool:
    return op.get("signed") == "signed"


# ---- wrapping arithmetic

ARITHMETIC: Final[dict[str, Callable[[Tensor, Tensor], Tensor]]] = {
    "addi": torch.add,
    "subi": torch.sub,
    "muli": torch.mul,
}


def arithmetic(m: Machine, op: TileOp) -> None:
    name = element(op.results[0])
    lhs, rhs = m.get(op.operands[0]), m.get(op.operands[1])
    compute = ARITHMETIC[op.short]
    if name == "i1":
        result = wrapped(compute(wide(lhs, name, False), wide(rhs, name, False)), name)
    else:
        result = compute(lhs, rhs)
    m.set(op, result)
    flag = op.get("overflow")
    if flag != "none":
        _check_overflow(m, op, name, flag, lhs, rhs, result)


def _check_overflow(
    m: Machine, op: TileOp, name: str, flag: str, lhs: Tensor, rhs: Tensor, result: Tensor
) -> None:
    bad: Tensor | None = None
    for letter, signed in (("nsw", True), ("nuw", False)):
        if flag not in (letter, "nw"):
            continue
        if bits(name) <= 32:
            exact = ARITHMETIC[op.short](wide(lhs, name, signed), wide(rhs, name, signed))
            wraps = exact != wide(result, name, signed)
        else:
            wraps = OVERFLOW_64[op.short, signed](lhs, rhs, result)
        bad = wraps if bad is None else bad | wraps
    assert bad is not None
    _overflows(m, op, bad, lhs, rhs)


def _overflows(m: Machine, op: TileOp, bad: Tensor, lhs: Tensor, rhs: Tensor | None = None) -> None:
    values = {"lhs": lhs} if rhs is None else {"lhs": lhs, "rhs": rhs}
    promise = {"nsw": "signed", "nuw": "unsigned", "nw": "signed or unsigned"}[op.get("overflow")]
    m.report("integer/overflow", op, bad, values, f"{op.short} overflows, promised not to ({promise})")


def _below(a: Tensor, b: Tensor) -> Tensor:
    """a < b, both unsigned i64."""
    return (a ^ LOWEST) < (b ^ LOWEST)


def _product_wraps(lhs: Tensor, rhs: Tensor, signed: bool) -> Tensor:
    high = high_product(lhs, rhs)
    if not signed:
        return high != 0
    high = high - torch.where(lhs < 0, rhs, 0) - torch.where(rhs < 0, lhs, 0)
    return high != ((lhs * rhs) >> 63)


OVERFLOW_64: Final[dict[tuple[str, bool], Callable[[Tensor, Tensor, Tensor], Tensor]]] = {
    ("addi", True): lambda a, b, r: ((a ^ r) & (b ^ r)) < 0,
    ("addi", False): lambda a, b, r: _below(r, a),
    ("subi", True): lambda a, b, r: ((a ^ b) & (a ^ r)) < 0,
    ("subi", False): lambda a, b, r: _below(a, b),
    ("muli", True): lambda a, b, r: _product_wraps(a, b, True),
    ("muli", False): lambda a, b, r: _product_wraps(a, b, False),
}


def negi(m: Machine, op: TileOp) -> None:
    source, name = m.get(op.operands[0]), element(op.results[0])
    m.set(op, source if name == "i1" else -source)
    if op.get("overflow") != "none":
        lowest = wide(source, name, True) == -(1 << (bits(name) - 1))
        _overflows(m, op, lowest, source)


def absi(m: Machine, op: TileOp) -> None:
    source, name = m.get(op.operands[0]), element(op.results[0])
    m.set(op, source if name == "i1" else torch.where(source < 0, -source, source))


def mulhii(m: Machine, op: TileOp) -> None:
    name = element(op.results[0])
    lhs, rhs = m.get(op.operands[0]), m.get(op.operands[1])
    if name == "i64":
        m.set(op, high_product(lhs, rhs))
        return
    product = wide(lhs, name, False) * wide(rhs, name, False)
    m.set(op, wrapped(logical_shift(product, bits(name)), name))


def high_product(lhs: Tensor, rhs: Tensor) -> Tensor:
    """The high 64 bits of the unsigned product of two i64."""
    mask = (1 << 32) - 1
    a, b = lhs & mask, (lhs >> 32) & mask
    c, d = rhs & mask, (rhs >> 32) & mask
    low = a * c
    middle = b * c + logical_shift(low, 32)
    other = a * d + (middle & mask)
    return b * d + logical_shift(middle, 32) + logical_shift(other, 32)


def logical_shift(value: Tensor, amount: int) -> Tensor:
    """An i64 shifted right by 1 to 63 bits, zeros shifted in."""
    return (value >> amount) & ((1 << (64 - amount)) - 1)


# ---- division


def divi(m: Machine, op: TileOp) -> None:
    lhs, rhs, name, signed = _dividends(m, op)
    rounding = op.get("rounding")
    quotient, rest = _divide(lhs, rhs, signed or name != "i64")
    if rounding == "positive_inf":
        upward = (rest != 0) & ((rest < 0) == (rhs < 0)) if signed else rest != 0
        quotient = quotient + upward.to(torch.int64)
    elif rounding == "negative_inf" and signed:
        downward = (rest != 0) & ((rest < 0) != (rhs < 0))
        quotient = quotient - downward.to(torch.int64)
    m.set(op, wrapped(quotient, name))


def remi(m: Machine, op: TileOp) -> None:
    lhs, rhs, name, signed = _dividends(m, op)
    m.set(op, wrapped(_divide(lhs, rhs, signed or name != "i64")[1], name))


def _dividends(m: Machine, op: TileOp) -> tuple[Tensor, Tensor, str, bool]:
    """Both operands in i64, with what has no quotient reported and made harmless."""
    name, signed = element(op.results[0]), _is_signed(op)
    lhs, rhs = wide(m.get(op.operands[0]), name, signed), wide(m.get(op.operands[1]), name, signed)
    zero = rhs == 0
    undefined: Tensor | None = None
    m.report("integer/division-by-zero", op, zero, {"lhs": lhs, "rhs": rhs})
    if bool(zero.any()):
        rhs = torch.where(zero, 1, rhs)
        undefined = zero
    if signed:
        beyond = (rhs == -1) & (lhs == -(1 << (bits(name) - 1)))
        m.report("integer/division-overflow", op, beyond, {"lhs": lhs, "rhs": rhs})
        if bool(beyond.any()):
            rhs = torch.where(beyond, 1, rhs)
            undefined = beyond if undefined is None else undefined | beyond
    if undefined is not None:
        m.set_doubt(op, undefined)
    return lhs, rhs, name, signed


def _divide(lhs: Tensor, rhs: Tensor, plain: bool) -> tuple[Tensor, Tensor]:
    """Quotient rounded to zero, and remainder; `plain` is False for unsigned i64."""
    if plain:
        quotient = torch.div(lhs, rhs, rounding_mode="trunc")
        return quotient, lhs - quotient * rhs
    halved = torch.div(logical_shift(lhs, 1), torch.where(rhs < 0, 1, rhs), rounding_mode="trunc") << 1
    halved = torch.where(rhs < 0, 0, halved)
    more = ~_below(lhs - halved * rhs, rhs)
    quotient = halved + more.to(torch.int64)
    return quotient, lhs - quotient * rhs


# ---- bits


def bitwise(m: Machine, op: TileOp) -> None:
    m.set(op, BITWISE[op.short](m.get(op.operands[0]), m.get(op.operands[1])))


BITWISE: Final[dict[str, Callable[[Tensor, Tensor], Tensor]]] = {
    "andi": torch.bitwise_and,
    "ori": torch.bitwise_or,
    "xori": torch.bitwise_xor,
}


def _amount(m: Machine, op: TileOp, name: str) -> tuple[Tensor, Tensor]:
    """The shift amount, and where it is too large."""
    amount = wide(m.get(op.operands[1]), name, False)
    width = bits(name)
    too_large = (amount < 0) | (amount >= width)
    message = f"a shift by as many bits as {name} has, or more, is not specified"
    m.report("integer/shift", op, too_large, {"amount": amount}, message)
    return torch.where(too_large, 0, amount), too_large


def shli(m: Machine, op: TileOp) -> None:
    name = element(op.results[0])
    source = m.get(op.operands[0])
    amount, too_large = _amount(m, op, name)
    shifted = wide(source, name, True) << amount
    result = wrapped(torch.where(too_large, 0, shifted), name)
    m.set(op, result)
    flag = op.get("overflow")
    if flag == "none":
        return
    bad = torch.zeros_like(too_large)
    for letter, signed in (("nsw", True), ("nuw", False)):
        if flag in (letter, "nw"):
            back = _shift_right(wide(result, name, signed), amount, signed)
            bad = bad | (back != wide(source, name, signed))
    _overflows(m, op, bad, source, amount)


def shri(m: Machine, op: TileOp) -> None:
    name, signed = element(op.results[0]), _is_signed(op)
    source = wide(m.get(op.operands[0]), name, signed)
    amount, too_large = _amount(m, op, name)
    sign = source >> 63 if signed else 0
    m.set(op, wrapped(torch.where(too_large, sign, _shift_right(source, amount, signed)), name))


def _shift_right(value: Tensor, amount: Tensor, signed: bool) -> Tensor:
    if signed:
        return value >> amount
    kept = torch.where(amount == 0, -1, (1 << (64 - torch.clamp(amount, min=1))) - 1)
    return (value >> amount) & kept


# ---- order


def minmax(m: Machine, op: TileOp) -> None:
    name, signed = element(op.results[0]), _is_signed(op)
    m.set(op, select_extreme(op.short, name, signed)(m.get(op.operands[0]), m.get(op.operands[1])))


def select_extreme(short: str, name: str, signed: bool) -> Callable[[Tensor, Tensor], Tensor]:
    """`maxi` or `mini` as a function of two tensors."""
    if signed and name != "i1":
        return torch.maximum if short == "maxi" else torch.minimum

    def choose(lhs: Tensor, rhs: Tensor) -> Tensor:
        a, b = ordered(lhs, name, signed), ordered(rhs, name, signed)
        return torch.where(a >= b if short == "maxi" else a <= b, lhs, rhs)

    return choose


COMPARE: Final[dict[str, Callable[[Tensor, Tensor], Tensor]]] = {
    "equal": torch.eq,
    "not_equal": torch.ne,
    "less_than": torch.lt,
    "less_than_or_equal": torch.le,
    "greater_than": torch.gt,
    "greater_than_or_equal": torch.ge,
}


def cmpi(m: Machine, op: TileOp) -> None:
    name, signed = element(op.operands[0]), _is_signed(op)
    lhs, rhs = (ordered(m.get(operand), name, signed) for operand in op.operands)
    m.set(op, COMPARE[op.get("predicate")](lhs, rhs))


HANDLERS: dict[str, Handler] = {
    "absi": absi,
    **dict.fromkeys(ARITHMETIC, arithmetic),
    **dict.fromkeys(BITWISE, bitwise),
    "cmpi": cmpi,
    "divi": divi,
    "maxi": minmax,
    "mini": minmax,
    "mulhii": mulhii,
    "negi": negi,
    "remi": remi,
    "shli": shli,
    "shri": shri,
}


def pair_function(op: TileOp) -> Any:
    """A binary integer op as a function of two tensors, where it is one that cannot go wrong; else None."""
    name = element(op.results[0])
    if op.short in ARITHMETIC and op.get("overflow") == "none" and name != "i1":
        return ARITHMETIC[op.short]
    if op.short in BITWISE:
        return BITWISE[op.short]
    if op.short in ("maxi", "mini"):
        return select_extreme(op.short, name, _is_signed(op))
    return None
