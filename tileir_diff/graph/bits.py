"""Integers as bits: bitwise ops, shifts, widening and narrowing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tileir_diff.graph.integers import (
    fits,
    in_width,
    opaque,
    read_as_signed,
    said_to_fit,
    say_what_is_divided,
    sides,
    taken_to_fit,
    wrapped,
)
from tileir_diff.graph.values import element_bits, is_bool, operand

if TYPE_CHECKING:
    from tileir_diff.dialect.ir import TileOp
    from tileir_diff.graph.evaluate import Evaluator, Handler
    from tileir_diff.graph.terms import Term, Terms

SMALL_SHIFT = 16
"""A shift to the left by at most so many bits is index arithmetic, a product; by more it packs bits."""


def bitwise(ev: Evaluator, op: TileOp) -> None:
    """`andi`, `ori`, `xori`."""
    terms = ev.terms
    lhs, rhs = sides(ev, op)
    if is_bool(op.results[0]):
        ev.set(op, _connect(terms, op.short, lhs, rhs))
        return
    left_flag, right_flag = as_flag(terms, lhs), as_flag(terms, rhs)
    if left_flag is not None and right_flag is not None:
        ev.set(op, terms.b2i(_connect(terms, op.short, left_flag, right_flag)))
        return
    for value, other in ((rhs, lhs), (lhs, rhs)):
        constant = terms.value(value)
        folded = None if constant is None else _with_constant(terms, op.short, other, constant)
        if folded is not None:
            ev.set(op, folded)
            return
    if not _disjoint(terms, lhs, rhs):
        ev.set(op, opaque(ev, op, (lhs, rhs)))
    elif op.short == "andi":
        ev.set(op, terms.zero)
    else:
        ev.set(op, in_width(ev, terms.add(lhs, rhs), element_bits(op.results[0])))


def _disjoint(terms: Terms, lhs: Term, rhs: Term) -> bool:
    """Whether no bit is set in both: all bits of one are below the lowest one of the other."""
    for low, high in ((lhs, rhs), (rhs, lhs)):
        least, most = terms.range(low)
        if least is not None and least >= 0 and most is not None and most < 1 << _zeros(terms, high):
            return True
    return False


def _zeros(terms: Terms, term: Term, depth: int = 8) -> int:
    """How many of the lowest bits are known to be 0."""
    if depth == 0:
        return 0
    return min(
        (
            (coef & -coef).bit_length() - 1 + sum(_zeros_of_atom(terms, atom, depth) for atom in mono)
            for mono, coef in terms.items(term)
        ),
        default=64,
    )


def _zeros_of_atom(terms: Terms, atom: Term, depth: int) -> int:
    match terms.kind[atom]:
        case "ite" | "min" | "max" as kind:
            parts = terms.args[atom][kind == "ite" :]
        case "wrap" | "zext":
            parts = terms.args[atom]
        case _:
            return 0
    return min(_zeros(terms, part, depth - 1) for part in parts)


def _connect(terms: Terms, short: str, lhs: Term, rhs: Term) -> Term:
    """The op on two predicates."""
    if short == "andi":
        return terms.conjunction((lhs, rhs))
    if short == "ori":
        return terms.disjunction((lhs, rhs))
    return terms.exclusive_or(lhs, rhs)


def _with_constant(terms: Terms, short: str, term: Term, constant: int) -> Term | None:
    """The op on a term and a constant, where that is arithmetic."""
    value = terms.value(term)
    if value is not None:
        return terms.const(
            {"andi": value & constant, "ori": value | constant, "xori": value ^ constant}[short]
        )
    if constant == 0:
        return terms.zero if short == "andi" else term
    if constant == -1:
        return {"andi": term, "ori": terms.const(-1), "xori": terms.sub(terms.const(-1), term)}[short]
    if short != "andi":
        return None
    lowest = (constant & -constant).bit_length() - 1
    ones = constant >> lowest
    if ones & (ones + 1):
        return None  # the ones are not all in one row
    kept = terms.floordiv(term, terms.const(1 << lowest))
    if ones > 0:
        kept = terms.low_bits(ones.bit_length(), kept)
    return terms.scale(kept, 1 << lowest)


def as_flag(terms: Terms, term: Term) -> Term | None:
    """The predicate behind an integer that is 0 or 1."""
    value = terms.value(term)
    if value in (0, 1):
        return terms.bool_const(value == 1)
    atom = terms.single(term)
    if atom is not None and terms.kind[atom] == "b2i":
        return terms.args[atom][0]
    if terms.range(term) == (0, 1):
        return terms.le0(terms.sub(terms.one, term))
    flipped = terms.single(terms.sub(terms.one, term))
    if flipped is not None and terms.kind[flipped] == "b2i":
        return terms.negate(terms.args[flipped][0])
    return None


def shift(ev: Evaluator, op: TileOp) -> None:
    """`shli` and `shri` by a constant as product and floor division."""
    terms = ev.terms
    lhs, rhs = sides(ev, op)
    bits = element_bits(op.results[0])
    amount = terms.value(rhs)
    if amount is None or not 0 <= amount < bits:
        ev.set(op, opaque(ev, op, (lhs, rhs)))
    elif op.short == "shli":
        ev.set(op, _to_the_left(ev, op, lhs, amount))
    elif read_as_signed(terms, op, lhs):
        say_what_is_divided(ev, op, lhs)
        ev.set(op, _to_the_right(terms, lhs, amount))
    elif terms.exact:
        ev.set(op, opaque(ev, op, (lhs, rhs)))
    else:
        ev.set(op, terms.low_bits(bits - amount, _to_the_right(terms, lhs, amount)) if amount else lhs)


def _to_the_left(ev: Evaluator, op: TileOp, term: Term, amount: int) -> Term:
    terms = ev.terms
    bits = element_bits(op.results[0])
    product = terms.scale(term, 1 << amount)
    if amount > SMALL_SHIFT:
        return wrapped(terms, product, bits)
    if None in terms.range(term):
        return opaque(ev, op, sides(ev, op))
    return in_width(ev, product, bits, op.get("overflow"))


def _to_the_right(terms: Terms, term: Term, amount: int) -> Term:
    """``floor(term / 2^amount)``: of a number with no other bits its sign, of a product that wrapped what is
    left of it."""
    power = 1 << amount
    atom = terms.single(term)
    if atom is not None and terms.kind[atom] == "wrap" and not terms.exact:
        (inner,) = terms.args[atom]
        width = terms.attr[atom][0]
        shared = min(amount, _zeros(terms, inner), width - 1)
        if shared:
            left = terms.wrap(width - shared, terms.floordiv(inner, terms.const(1 << shared)))
            return _to_the_right(terms, left, amount - shared)
    low, high = terms.range(term)
    if amount and low is not None and -power <= low < 0 and high is not None and 0 <= high < power:
        return terms.scale(terms.b2i(terms.le0(terms.add(term, terms.one))), -1)
    return terms.floordiv(term, terms.const(power))


def exti(ev: Evaluator, op: TileOp) -> None:
    terms = ev.terms
    source = operand(op, "source")
    term = ev.operand(op, "source")
    signed = op.get("signed") == "signed"
    bits = element_bits(source)
    if is_bool(source):
        ev.set(op, terms.scale(terms.b2i(term), -1 if signed else 1))
        return
    if not signed and not terms.nonneg(term):
        ev.set(op, terms.low_bits(bits, term))
        return
    if not terms.exact and not fits(terms, term, bits):
        ev.kernel.assume(f"index arithmetic in i{bits} does not wrap before it is widened")
    ev.set(op, term)


def trunci(ev: Evaluator, op: TileOp) -> None:
    terms = ev.terms
    term = ev.operand(op, "source")
    if is_bool(op.results[0]):
        flag = as_flag(terms, term)
        odd = terms.eq0(terms.sub(terms.mod(term, terms.const(2)), terms.one)) if flag is None else flag
        ev.set(op, odd)
        return
    bits = element_bits(op.results[0])
    if fits(terms, term, bits):
        ev.set(op, term)
        return
    if terms.exact:
        ev.set(op, terms.wrap(bits, term))
        return
    narrowed = (bits == 32 and taken_to_fit(ev, term, bits)) or said_to_fit(ev, term, op.get("overflow"))
    if narrowed and terms.value(term) is None:
        ev.kernel.assume(f"index arithmetic fits i{bits} where it is narrowed to it")
        ev.set(op, term)
        return
    ev.set(op, terms.wrap(bits, term))


HANDLERS: dict[str, Handler] = {
    "andi": bitwise,
    "exti": exti,
    "ori": bitwise,
    "shli": shift,
    "shri": shift,
    "trunci": trunci,
    "xori": bitwise,
}
