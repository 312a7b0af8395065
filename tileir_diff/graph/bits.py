"""Integers as bits: bitwise ops, shifts, widening and narrowing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tileir_diff.graph.integers import (
    fits,
    in_width,
    opaque,
    read_as_signed,
    say_what_is_divided,
    sides,
    taken_to_fit,
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
    ev.set(op, opaque(ev, op, sorted((lhs, rhs))))


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
    low_bits = constant > 0 and constant & (constant + 1) == 0
    if short == "andi" and low_bits and terms.nonneg(term):
        return terms.mod(term, terms.const(constant + 1))
    return None


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
    if amount is not None and 0 <= amount < bits:
        factor = terms.const(1 << amount)
        if op.short == "shli":
            if None not in terms.range(lhs) and amount <= SMALL_SHIFT:
                ev.set(op, in_width(ev, terms.mul(lhs, factor), bits, op.get("overflow")))
                return
        elif read_as_signed(terms, op, lhs):
            say_what_is_divided(ev, op, lhs)
            ev.set(op, terms.floordiv(lhs, factor))
            return
    ev.set(op, opaque(ev, op, (lhs, rhs)))


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
        ev.set(op, unsigned(terms, term, bits))
        return
    if not terms.exact and not fits(terms, term, bits):
        ev.kernel.assume(f"index arithmetic in i{bits} does not wrap before it is widened")
    ev.set(op, term)


def unsigned(terms: Terms, term: Term, bits: int) -> Term:
    """The pattern of a signed number as an unsigned one."""
    value = terms.value(term)
    if value is not None:
        return terms.const(value & ((1 << bits) - 1))
    if terms.nonneg(term):
        return term
    atom = terms.single(term)
    if atom is not None and terms.kind[atom] == "wrap" and terms.attr[atom] == (bits,):
        low, high = terms.range(terms.args[atom][0])
        if low is not None and low >= 0 and high is not None and high < 1 << bits:
            return terms.args[atom][0]
    return terms.atom(terms.node("zext", (bits,), (term,)))


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
    narrowed = op.get("overflow") in ("nsw", "nw") or (bits == 32 and taken_to_fit(ev, term, bits))
    if narrowed and terms.value(term) is None:
        ev.kernel.assume("index arithmetic fits i32 where it is narrowed to it")
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
