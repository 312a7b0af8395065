"""Integer arithmetic and comparison: polynomials where the result is known not to wrap, or taken not to."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from tileir_diff.graph.modifiers import modifiers
from tileir_diff.graph.terms import COMMUTATIVE_INT, WIDTHS
from tileir_diff.graph.values import element_bits, is_bool, operand, shape_of, signed_range

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
        "colour",
        "cp",
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
INDEX_BITS = 32
"""Index arithmetic is done in integers of so many bits or more: narrower ones may wrap."""
DIVISORS = "sizes and tile counts that index arithmetic divides by are positive"
NO_SIGNED_WRAP = ("nsw", "nw")
HASH_FACTOR = 1 << 16
"""A constant factor from here on is hash arithmetic, which wraps on purpose; below is index arithmetic.

So is a constant summand of half the largest number of its type, or more.
"""


def fits(terms: Terms, term: Term, bits: int) -> bool:
    """Whether the term is known to be a signed number of this width."""
    low, high = terms.range(term)
    smallest, largest = signed_range(bits)
    return low is not None and high is not None and low >= smallest and high <= largest


def index_like(terms: Terms, term: Term) -> bool:
    """Whether a term is index arithmetic: over parameters, block and loop indices and lanes only.

    Of what loops carry, what ``growth`` calls data is not.

    What a condition chooses between must be, not the condition: of a masked load the value counts.
    """
    if any(terms.kind[symbol] not in INDEX_SYMBOLS for symbol in terms.symbols[term]):
        return False
    work, seen = [term], {term}
    while work:
        node = work.pop()
        kind = terms.kind[node]
        if (kind != "poly" and kind not in INDEX_ATOMS) or (kind == "carry" and terms.attr[node][-1]):
            return False
        match kind:
            case "b2i":
                parts = ()
            case "loop_result":
                parts = terms.args[node][:1]
            case _:
                parts = terms.args[node][kind == "ite" :]
        work.extend(part for part in parts if part not in seen)
        seen.update(parts)
    return True


def wrapped(terms: Terms, term: Term, bits: int) -> Term:
    return term if fits(terms, term, bits) else terms.wrap(bits, term)


def in_width(ev: Evaluator, term: Term, bits: int, overflow: str | None = None) -> Term:
    """A result that wraps where it must: constants, narrow integers, and data with a range beyond the type.

    Index arithmetic is taken not to wrap; where that is used, when the value is widened, it is said.
    """
    wide = bits >= INDEX_BITS or overflow in NO_SIGNED_WRAP
    fitting = (wide and taken_to_fit(ev, term, bits)) or fits(ev.terms, term, bits)
    return term if fitting or said_to_fit(ev, term, overflow) else ev.terms.wrap(bits, term)


def said_to_fit(ev: Evaluator, term: Term, overflow: str | None) -> bool:
    """Whether a number that is made of what is loaded is taken by the promise that it does not wrap.

    As a rule it is compared as it wraps, so that the promise alone may differ.
    """
    if overflow not in NO_SIGNED_WRAP or ev.terms.exact or ev.terms.value(term) is not None:
        return False
    if taken_to_fit(ev, term, INDEX_BITS):
        return True
    ev.kernel.unwrapped.add("value")
    return "value" in ev.terms.unwraps


def taken_to_fit(ev: Evaluator, term: Term, bits: int) -> bool:
    """Whether a term is taken to fit a width: index arithmetic that the launch keeps in it."""
    terms = ev.terms
    if terms.exact:
        return False
    return terms.value(term) is None and index_like(terms, term) and not _leaves(ev, term, bits)


def _leaves(ev: Evaluator, term: Term, bits: int) -> bool:
    """Whether the launch takes a term out of the width, in the first lane of the last block and iteration.

    Only where all is known there, and that place is reached. Of lanes alone, some lane does.
    """
    terms = ev.terms
    if fits(terms, term, bits):
        return False
    if all(terms.kind[symbol] == "lane" for symbol in terms.symbols[term]):
        return True  # no launch has a say in it
    place: dict[Term, Term] = {}
    condition = terms.conjunction((ev.guard, ev.live))
    for symbol in terms.symbols[term] | terms.symbols[condition]:
        last = _last(ev, symbol)
        if last is None:
            return False
        place[symbol] = terms.const(last)
    value = terms.value(terms.subst(term, place))
    return (
        value is not None
        and not fits(terms, terms.const(value), bits)
        and terms.subst(condition, place) == terms.true
    )


def _last(ev: Evaluator, symbol: Term) -> int | None:
    """The largest value of a symbol, where the launch says it; of a lane 0, which masks spare."""
    terms = ev.terms
    match terms.kind[symbol]:
        case "lane":
            return 0
        case "block":
            axis: int = terms.attr[symbol][0]
            size = ev.grid[axis]
            return None if size is None else size - 1
        case "iter":
            trip = next((loop.trip for loop in ev.loops if loop.iteration == symbol), None)
            count = None if trip is None else terms.value(trip)
            return None if count is None else count - 1
        case _:
            return None


def read_as_signed(terms: Terms, op: TileOp, *values: Term) -> bool:
    """Whether the op may be read as signed: it is, or all operands are non-negative."""
    return op.get("signed") == "signed" or all(terms.nonneg(value) for value in values)


def unsigned(terms: Terms, term: Term, bits: int) -> Term:
    """A number of so many bits, read without its sign."""
    return term if terms.nonneg(term) else terms.low_bits(bits, term)


def opaque(ev: Evaluator, op: TileOp, args: Sequence[Term]) -> Term:
    """The op on these arguments without a meaning of its own, as an atom or a predicate."""
    if is_bool(op.results[0]):
        return ev.terms.node("bool_op", (op.short, *modifiers(op)), args)
    attr = (element_bits(op.results[0]), op.short, *modifiers(op))
    node = ev.terms.integer_op if op.short in COMMUTATIVE_INT else partial(ev.terms.node, "iop")
    return ev.terms.atom(node(attr, args))


def sides(ev: Evaluator, op: TileOp) -> tuple[Term, Term]:
    """Both operands of a binary op."""
    return ev.operand(op, "lhs"), ev.operand(op, "rhs")


def arithmetic(ev: Evaluator, op: TileOp) -> None:
    terms = ev.terms
    lhs, rhs = sides(ev, op)
    if is_bool(op.results[0]):
        product = op.short == "muli"  # sums and differences are modulo 2
        ev.set(op, terms.conjunction((lhs, rhs)) if product else terms.exclusive_or(lhs, rhs))
        return
    if op.short == "muli":
        for flag, number in ((lhs, rhs), (rhs, lhs)):
            atom = terms.single(flag)
            if atom is not None and terms.kind[atom] == "b2i":
                ev.set(op, terms.ite(terms.args[atom][0], number, terms.zero, "int"))
                return
    bits = element_bits(op.results[0])
    match op.short:
        case "addi":
            term = terms.add(lhs, rhs)
        case "subi":
            term = terms.sub(lhs, rhs)
        case _:
            term = terms.mul(lhs, rhs)
    large = HASH_FACTOR if op.short == "muli" else 1 << (bits - 2)
    if any(abs(terms.value(side) or 0) >= large for side in (lhs, rhs)):
        term = wrapped(terms, term, bits)
    ev.set(op, in_width(ev, term, bits, op.get("overflow")))


def negi(ev: Evaluator, op: TileOp) -> None:
    source = ev.operand(op, "source")
    if is_bool(op.results[0]):
        ev.set(op, source)  # modulo 2 a bit is its own negative
        return
    term = ev.terms.scale(source, -1)
    ev.set(op, in_width(ev, term, element_bits(op.results[0]), op.get("overflow")))


def iota(ev: Evaluator, op: TileOp) -> None:
    """The lane, modulo the width of the type."""
    terms = ev.terms
    result = op.results[0]
    lane = terms.lane(0, shape_of(result)[0])
    if is_bool(result):
        ev.set(op, terms.eq0(terms.sub(terms.mod(lane, terms.const(2)), terms.one)))
    else:
        ev.set(op, wrapped(terms, lane, element_bits(result)))


def mulhii(ev: Evaluator, op: TileOp) -> None:
    """The high half of the unsigned product."""
    terms = ev.terms
    factors = sides(ev, op)
    if is_bool(op.results[0]):
        ev.set(op, terms.false)
        return
    first, second = (terms.value(factor) for factor in factors)
    if first is None or second is None:
        ev.set(op, opaque(ev, op, factors))
        return
    bits = element_bits(op.results[0])
    modulus = 1 << bits
    ev.set(op, terms.wrap(bits, terms.const((first % modulus) * (second % modulus) >> bits)))


def absi(ev: Evaluator, op: TileOp) -> None:
    source = ev.operand(op, "source")
    same = is_bool(op.results[0])
    ev.set(op, source if same else _size(ev, source, element_bits(op.results[0])))


def _size(ev: Evaluator, term: Term, bits: int) -> Term:
    """Of a number and its negative it is the same, also of the least one."""
    terms = ev.terms
    if terms.nonneg(term):
        return term
    atom = terms.single(term)
    inside = atom is not None and terms.kind[atom] == "wrap" and terms.attr[atom] == (bits,)
    number = terms.args[atom][0] if atom is not None and inside else term
    first = next((factor for mono, factor in terms.items(number) if mono), 1)
    if first < 0:
        term = in_width(ev, terms.scale(number, -1), bits)
    return term if terms.nonneg(term) else terms.atom(terms.node("iop", (bits, "absi"), (term,)))


def say_what_is_divided(ev: Evaluator, op: TileOp, num: Term) -> None:
    """A quotient of ``n + 127`` is that of ``n`` rounded up as long as nothing wraps."""
    bits = element_bits(op.results[0])
    if not ev.terms.exact and not fits(ev.terms, num, bits) and ev.kernel.is_used(op):
        ev.kernel.assume(f"index arithmetic in i{bits} does not wrap before it is divided")


def divi(ev: Evaluator, op: TileOp) -> None:
    terms = ev.terms
    num, den = sides(ev, op)
    if is_bool(op.results[0]):
        ev.set(op, opaque(ev, op, (num, den)))
        return
    say_what_is_divided(ev, op, num)
    _take_as_positive(ev, op, den)
    rounding = op.get("rounding")
    if not read_as_signed(terms, op, num, den):
        parts = None if rounding == "positive_inf" else _without_sign(ev, op, num, den)
        term = opaque(ev, op, (num, den)) if parts is None else parts[0]
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
    if is_bool(op.results[0]):
        ev.set(op, opaque(ev, op, (num, den)))
        return
    say_what_is_divided(ev, op, num)
    _take_as_positive(ev, op, den)
    if not read_as_signed(terms, op, num, den):
        parts = _without_sign(ev, op, num, den)
        ev.set(op, opaque(ev, op, (num, den)) if parts is None else parts[1])
        return
    remainder = terms.sub(num, terms.mul(den, terms.truncdiv(num, den)))
    if terms.nonneg(num) and terms.nonneg(den) and not terms.nonneg(remainder):
        with terms.certain():
            doubted = not (terms.nonneg(num) and terms.nonneg(den))
        terms.assume_range(remainder, 0, None, doubted=doubted)
    ev.set(op, remainder)


def _without_sign(ev: Evaluator, op: TileOp, num: Term, den: Term) -> tuple[Term, Term] | None:
    """Quotient and remainder of a number that is read without its sign, by a positive constant."""
    terms = ev.terms
    divisor = terms.value(den)
    if terms.exact or divisor is None or divisor <= 0:
        return None
    bits = element_bits(op.results[0])
    power = divisor.bit_length() - 1
    if divisor == 1 << power:
        quotient = terms.low_bits(bits - power, terms.floordiv(num, den)) if power else num
        return quotient, terms.low_bits(power, num) if power else terms.zero
    number = unsigned(terms, num, bits)
    return terms.floordiv(number, den), terms.mod(number, den)


def _take_as_positive(ev: Evaluator, op: TileOp, divisor: Term) -> None:
    """A divisor built from sizes and block indices is a tile count: taken as positive, and said so.

    Not where the division is only reached if it is: that says nothing of it elsewhere.
    """
    terms = ev.terms
    if terms.exact:
        ev.kernel.divisions.append((op, divisor, terms.conjunction((ev.guard, ev.live))))
        return
    if not ev.kernel.is_used(op):
        return
    if terms.value(divisor) is None and not terms.positive(divisor) and index_like(terms, divisor):
        guards = terms.conjuncts(terms.conjunction((ev.guard, ev.live)))
        if terms.implies(guards, terms.le0(terms.sub(terms.one, divisor))):
            return
        if not guards and not ev.loops:
            terms.divided[ev.side].add(divisor)
        terms.assume_range(divisor, 1, None, doubted=True)
        terms.assumed |= terms.symbols[divisor]
    _say_what_is_assumed(ev, divisor)


def _say_what_is_assumed(ev: Evaluator, *values: Term) -> bool:
    """Values that were taken as positive may be known since another evaluation: it is said in each.

    Whether there are any.
    """
    met = any(ev.terms.symbols[value] & ev.terms.assumed for value in values)
    if met:
        ev.kernel.assume(DIVISORS)
    return met


def _note_test(ev: Evaluator, op: TileOp, predicate: str, lhs: Term, rhs: Term) -> None:
    """A comparison that only divisors taken as positive settle: what is taken to hold by that."""
    terms = ev.terms
    taken = terms.compare(predicate, lhs, rhs)
    if taken not in (terms.true, terms.false) or not ev.kernel.is_used(op):
        return
    with terms.certain():
        test = terms.compare(predicate, lhs, rhs)
        if taken == terms.false:
            test = terms.negate(test)
    if test != terms.true:
        ev.kernel.tested.setdefault(test, op)


def extreme(ev: Evaluator, op: TileOp) -> None:
    """`maxi` and `mini`."""
    lhs, rhs = sides(ev, op)
    if is_bool(op.results[0]):
        both = (op.short == "mini") != (op.get("signed") == "signed")  # a set bit is -1 as a signed number
        ev.set(op, (ev.terms.conjunction if both else ev.terms.disjunction)((lhs, rhs)))
        return
    if not read_as_signed(ev.terms, op, lhs, rhs):
        ev.set(op, ev.terms.unsigned_extreme(op.short, lhs, rhs))
        return
    if _say_what_is_assumed(ev, lhs, rhs):
        _note_test(ev, op, "less_than_or_equal", lhs, rhs)
        _note_test(ev, op, "less_than_or_equal", rhs, lhs)
    if op.short == "mini":
        ev.set(op, ev.terms.minimum((lhs, rhs)))
        return
    bits = element_bits(op.results[0])
    negatives = [in_width(ev, ev.terms.scale(side, -1), bits) for side in (lhs, rhs)]
    opposite = rhs == negatives[0] or lhs == negatives[1]
    ev.set(op, _size(ev, lhs, bits) if opposite else ev.terms.maximum((lhs, rhs)))


def cmpi(ev: Evaluator, op: TileOp) -> None:
    terms = ev.terms
    lhs, rhs = sides(ev, op)
    predicate: str = op.get("predicate")
    value = operand(op, "lhs")
    if _say_what_is_assumed(ev, lhs, rhs) and not is_bool(value):
        _note_test(ev, op, predicate, lhs, rhs)
    if is_bool(value):
        ev.set(op, _compare_bools(terms, op, lhs, rhs))
    elif predicate in ("equal", "not_equal"):
        ev.set(op, terms.compare(predicate, lhs, rhs))
    else:
        signed = read_as_signed(terms, op, lhs, rhs)
        result = (terms.compare if signed else partial(_compare_unsigned, terms))(predicate, lhs, rhs)
        if signed or any(map(terms.nonneg, (lhs, rhs))):
            _say_what_does_not_wrap(
                ev, element_bits(value), lhs, rhs, settled=result in (terms.true, terms.false)
            )
        ev.set(op, result)


def _say_what_does_not_wrap(ev: Evaluator, bits: int, lhs: Term, rhs: Term, *, settled: bool) -> None:
    """``x + 1 > x``, and ``x * x >= 0``, hold as long as nothing wraps."""
    terms = ev.terms
    if terms.exact:
        return
    common = {mono for mono, _ in terms.items(lhs)} & {mono for mono, _ in terms.items(rhs)} - {()}
    if (common or settled) and not (fits(terms, lhs, bits) and fits(terms, rhs, bits)):
        ev.kernel.assume(f"index arithmetic in i{bits} does not wrap before it is compared")


def _compare_bools(terms: Terms, op: TileOp, lhs: Term, rhs: Term) -> Term:
    predicate = op.get("predicate")
    if predicate == "equal":
        return terms.negate(terms.exclusive_or(lhs, rhs))
    if predicate == "not_equal":
        return terms.exclusive_or(lhs, rhs)
    sign = -1 if op.get("signed") == "signed" else 1  # a set bit is -1 as a signed number
    return terms.compare(predicate, terms.scale(terms.b2i(lhs), sign), terms.scale(terms.b2i(rhs), sign))


def _compare_unsigned(terms: Terms, predicate: str, lhs: Term, rhs: Term) -> Term:
    """All four orders by "less than"."""
    if predicate.startswith("greater"):
        lhs, rhs = rhs, lhs
    if predicate.endswith("or_equal"):
        return terms.negate(_less(terms, rhs, lhs))
    return _less(terms, lhs, rhs)


def _less(terms: Terms, lhs: Term, rhs: Term) -> Term:
    """Unsigned "less than"; nothing is less than 0, and all but 0 is more."""
    if lhs == terms.zero:
        return terms.negate(terms.eq0(rhs))
    if rhs in (terms.zero, terms.one):
        return terms.false if rhs == terms.zero else terms.eq0(lhs)
    if terms.nonneg(rhs):  # without its sign a negative number is more than any that has none
        signed = terms.compare("less_than", lhs, rhs)
        return terms.conjunction((terms.compare("greater_than_or_equal", lhs, terms.zero), signed))
    return terms.node("ult", WIDTHS[-1], (lhs, rhs))  # a sign that is extended changes no order


HANDLERS: dict[str, Handler] = {
    "absi": absi,
    "addi": arithmetic,
    "cmpi": cmpi,
    "divi": divi,
    "iota": iota,
    "maxi": extreme,
    "mini": extreme,
    "mulhii": mulhii,
    "muli": arithmetic,
    "negi": negi,
    "remi": remi,
    "subi": arithmetic,
}
