"""Integer arithmetic and comparison: polynomials where the result is known not to wrap, or taken not to."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tileir_diff.graph.modifiers import modifiers
from tileir_diff.graph.values import element_bits, is_bool, operand, signed_range

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tileir_diff.dialect.ir import TileOp
    from tileir_diff.graph.evaluate import Evaluator, Handler
    from tileir_diff.graph.terms import Term, Terms

INDEX_ATOMS = frozenset(
    [
        "arg",
        "block",
        "grid",
        "lane",
        "iter",
        "carry",
        "at",
        "div",
        "tdiv",
        "min",
        "max",
        "ite",
        "b2i",
        "loop_result",
        "mul",
    ]
)
INDEX_SYMBOLS = frozenset(["arg", "block", "grid", "lane", "iter", "carry"])
HASH_FACTOR = 1 << 16
"""A constant factor from here on is hash arithmetic, which wraps on purpose; below is index arithmetic."""


def fits(terms: Terms, term: Term, bits: int) -> bool:
    """Whether the term is known to be a signed number of this width."""
    low, high = terms.range(term)
    smallest, largest = signed_range(bits)
    return low is not None and high is not None and low >= smallest and high <= largest


def index_like(terms: Terms, term: Term) -> bool:
    """Whether a term is index arithmetic: over parameters, block and loop indices and lanes only."""
    if terms.kind[term] == "poly" and any(terms.kind[atom] not in INDEX_ATOMS for atom in terms.args[term]):
        return False
    return all(terms.kind[symbol] in INDEX_SYMBOLS for symbol in terms.symbols[term])


def wrapped(terms: Terms, term: Term, bits: int) -> Term:
    return term if fits(terms, term, bits) else terms.wrap(bits, term)


def in_width(terms: Terms, term: Term, bits: int) -> Term:
    """A result that wraps where it must: constants, and data whose range is wider than the type.

    Index arithmetic is taken not to wrap; where that is used, when the value is widened, it is said.
    """
    if terms.value(term) is None and index_like(terms, term):
        return term
    return wrapped(terms, term, bits)


def read_as_signed(terms: Terms, op: TileOp, *values: Term) -> bool:
    """Whether the op may be read as signed: it is, or all operands are non-negative."""
    return op.get("signed") == "signed" or all(terms.nonneg(value) for value in values)


def opaque(ev: Evaluator, op: TileOp, args: Sequence[Term]) -> Term:
    """The op on these arguments without a meaning of its own, as an atom."""
    attr = (element_bits(op.results[0]), op.short, *modifiers(op))
    return ev.terms.atom(ev.terms.node("iop", attr, args))


def sides(ev: Evaluator, op: TileOp) -> tuple[Term, Term]:
    """Both operands of a binary op."""
    return ev.operand(op, "lhs"), ev.operand(op, "rhs")


def arithmetic(ev: Evaluator, op: TileOp) -> None:
    terms = ev.terms
    lhs, rhs = sides(ev, op)
    if is_bool(op.results[0]):
        ev.set(op, terms.node("bool_op", (op.short,), (lhs, rhs)))
        return
    bits = element_bits(op.results[0])
    match op.short:
        case "addi":
            term = terms.add(lhs, rhs)
        case "subi":
            term = terms.sub(lhs, rhs)
        case _:
            term = terms.mul(lhs, rhs)
            if any(abs(terms.value(side) or 0) >= HASH_FACTOR for side in (lhs, rhs)):
                term = wrapped(terms, term, bits)
    ev.set(op, in_width(terms, term, bits))


def negi(ev: Evaluator, op: TileOp) -> None:
    term = ev.terms.scale(ev.operand(op, "source"), -1)
    ev.set(op, in_width(ev.terms, term, element_bits(op.results[0])))


def absi(ev: Evaluator, op: TileOp) -> None:
    source = ev.operand(op, "source")
    ev.set(op, source if ev.terms.nonneg(source) else opaque(ev, op, (source,)))


def divi(ev: Evaluator, op: TileOp) -> None:
    terms = ev.terms
    num, den = sides(ev, op)
    _take_as_positive(ev, den)
    rounding = op.get("rounding")
    if not read_as_signed(terms, op, num, den):
        term = opaque(ev, op, (num, den))
    elif rounding == "negative_inf":
        term = terms.floordiv(num, den)
    elif rounding == "positive_inf":
        term = terms.ceildiv(num, den) if terms.nonneg(den) else opaque(ev, op, (num, den))
    else:
        term = terms.truncdiv(num, den)
    ev.set(op, term)


def remi(ev: Evaluator, op: TileOp) -> None:
    terms = ev.terms
    num, den = sides(ev, op)
    _take_as_positive(ev, den)
    if not read_as_signed(terms, op, num, den):
        ev.set(op, opaque(ev, op, (num, den)))
        return
    remainder = terms.sub(num, terms.mul(den, terms.truncdiv(num, den)))
    if terms.nonneg(num) and terms.nonneg(den) and not terms.nonneg(remainder):
        terms.assume_range(remainder, 0, None)
    ev.set(op, remainder)


def _take_as_positive(ev: Evaluator, divisor: Term) -> None:
    """A divisor built from sizes and block indices is a tile count: taken as positive, and said so."""
    terms = ev.terms
    if terms.value(divisor) is not None or terms.positive(divisor) or not index_like(terms, divisor):
        return
    terms.assume_range(divisor, 1, None)
    ev.kernel.assume("sizes and tile counts that index arithmetic divides by are positive")


def extreme(ev: Evaluator, op: TileOp) -> None:
    """`maxi` and `mini`."""
    lhs, rhs = sides(ev, op)
    if not read_as_signed(ev.terms, op, lhs, rhs):
        ev.set(op, opaque(ev, op, sorted((lhs, rhs))))
        return
    choose = ev.terms.minimum if op.short == "mini" else ev.terms.maximum
    ev.set(op, choose((lhs, rhs)))


def cmpi(ev: Evaluator, op: TileOp) -> None:
    terms = ev.terms
    lhs, rhs = sides(ev, op)
    predicate: str = op.get("predicate")
    value = operand(op, "lhs")
    if is_bool(value):
        ev.set(op, _compare_bools(terms, op, lhs, rhs))
    elif predicate in ("equal", "not_equal") or read_as_signed(terms, op, lhs, rhs):
        ev.set(op, terms.compare(predicate, lhs, rhs))
    else:
        ev.set(op, _compare_unsigned(terms, predicate, element_bits(value), lhs, rhs))


def _compare_bools(terms: Terms, op: TileOp, lhs: Term, rhs: Term) -> Term:
    predicate = op.get("predicate")
    if predicate == "equal":
        return terms.negate(terms.exclusive_or(lhs, rhs))
    if predicate == "not_equal":
        return terms.exclusive_or(lhs, rhs)
    sign = -1 if op.get("signed") == "signed" else 1  # a set bit is -1 as a signed number
    return terms.compare(predicate, terms.scale(terms.b2i(lhs), sign), terms.scale(terms.b2i(rhs), sign))


def _compare_unsigned(terms: Terms, predicate: str, bits: int, lhs: Term, rhs: Term) -> Term:
    """All four orders by "less than"."""
    if predicate.startswith("greater"):
        lhs, rhs = rhs, lhs
    if predicate.endswith("or_equal"):
        return terms.negate(terms.node("ult", bits, (rhs, lhs)))
    return terms.node("ult", bits, (lhs, rhs))


HANDLERS: dict[str, Handler] = {
    "absi": absi,
    "addi": arithmetic,
    "cmpi": cmpi,
    "divi": divi,
    "maxi": extreme,
    "mini": extreme,
    "muli": arithmetic,
    "negi": negi,
    "remi": remi,
    "subi": arithmetic,
}
