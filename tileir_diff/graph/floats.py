"""Normal form of elementwise floating-point ops: only rewrites that keep every result bit.

Those in ``EQUIVALENCES`` have names and can be switched off one by one. Some keep the value for every input
but a signed zero or a result below the normal range.
"""

from __future__ import annotations

import math
from functools import partial
from typing import TYPE_CHECKING, Any

from tileir_diff.dialect.scalars import FORMATS as ALL_FORMATS
from tileir_diff.graph import comparisons
from tileir_diff.graph.folding import FOLDED, folded
from tileir_diff.graph.formats import FORMATS, decode, encode, encode_integer, show
from tileir_diff.graph.widening import holds_integer, narrowed, source_of, widened, widens

if TYPE_CHECKING:
    from tileir_diff.graph.terms import Term, Terms

__all__ = [
    "COMMUTATIVE",
    "EQUIVALENCES",
    "constant",
    "constant_of",
    "decode",
    "encode",
    "negate",
    "normalise",
    "show",
]

EQUIVALENCES: dict[str, str] = {
    "additive-zero": "x + 0 is x, and 0 - x is -x (differs in the sign of a zero only)",
    "fma-zero": "fma(a, b, 0) is a * b (differs in the sign of a zero only)",
    "power-of-two-scale": (
        "a factor 2^k, from 2^-32 to 1, moves through f32 products and fma, and joins others (differs below "
        "the normal range, for factors below 2^-94, and where a product overflows before it is scaled down)"
    ),
    "flush-with-normal": "flush_to_zero has no effect on a sum with a constant of normal size",
    "double": "x + x is 2 * x (no result differs)",
    "narrow-arithmetic": (
        "one op on f16 or bf16 numbers that is done in f32, and rounded to their type, is done in that type "
        "(no result differs: f32 has more than twice their digits)"
    ),
}

LEAST_MOVED = -32
"""The exponent of the least factor that moves: it takes only what is below 2^-94 out of the normal range."""

COMMUTATIVE = frozenset({"addf", "mulf", "maxf", "minf"})
SIGNED_ZERO = ("signed_zero", True)
"""Of a sum with zero of which the sign counts, should it be zero."""


def constant(terms: Terms, element: str, bits: int) -> Term:
    return terms.node("fc", (element, bits))


def constant_of(terms: Terms, term: Term) -> float | None:
    if terms.kind[term] != "fc":
        return None
    element, bits = terms.attr[term]
    return decode(element, bits)


def _from_value(terms: Terms, element: str, value: float) -> Term | None:
    bits = encode(element, value)
    if bits is None or decode(element, bits) != value:
        return None
    return constant(terms, element, bits)


def _power_of_two(terms: Terms, term: Term) -> int | None:
    value = constant_of(terms, term)
    if value is None or value <= 0 or math.isinf(value) or math.isnan(value):
        return None
    mantissa, exponent = math.frexp(value)
    return exponent - 1 if mantissa == 0.5 else None


def _is(terms: Terms, term: Term, name: str) -> bool:
    return terms.kind[term] == "f" and terms.attr[term][0] == name


def negate(terms: Terms, element: str, term: Term) -> Term:
    return normalise(terms, ("negf", element, ()), (term,))


def normalise(terms: Terms, attr: tuple[Any, ...], args: tuple[Term, ...]) -> Term:
    """The canonical term of ``name(args)``; ``attr`` = (name, element type, sorted non-default modifiers)."""
    name, element, mods = attr
    if name in FOLDED and all(terms.kind[arg] == "fc" for arg in args):
        bits = folded(name, element, mods, [terms.attr[arg][1] for arg in args])
        if bits is not None:
            return constant(terms, element, bits)
    handler = _HANDLERS.get(name)
    if handler is not None:
        result = handler(terms, element, mods, args)
        if result is not None:
            return result
    if name in COMMUTATIVE:
        args = tuple(sorted(args))
    return terms.node("f", (name, element, mods), args)


def difference_from_zero(terms: Terms, element: str, mods: Any, term: Term) -> Term:
    """``0 - x`` as what it is, where ``term`` is ``-x``, as the equivalence takes it but under a division.

    By the one a positive number divided by ``x = 0`` is an infinity, by the other one its negative.
    """
    zero = constant(terms, element, 0)
    return terms.node("f", ("addf", element, (*mods, SIGNED_ZERO)), tuple(sorted((zero, term))))


def as_extreme(terms: Terms, cond: Term, on_true: Term, on_false: Term) -> Term | None:
    """``c < x ? x : c`` as the larger of the two, with a constant c, and the like for the smaller one.

    For NaN both give c; where c is a zero, the spelling decides which of the two zeros is meant.
    """
    limit = constant_of(terms, on_false)
    if terms.kind[cond] != "fcmp" or limit is None or math.isnan(limit):
        return None
    for name, sides in (("maxf", (on_false, on_true)), ("minf", (on_true, on_false))):
        for predicate in ("less_than", "less_than_or_equal"):
            if comparisons.compare(terms, predicate, *sides) != cond:
                continue
            # of two zeros neither is less: one spelling gives c, the other one x; the sign of c must fit
            wrong = -1.0 if (name == "maxf") == (predicate == "less_than") else 1.0
            if limit == 0 and math.copysign(1.0, limit) == wrong:
                return None
            return normalise(terms, (name, terms.attr[on_false][0], ()), (on_true, on_false))
    return None


def chosen_before(terms: Terms, cond: Term, on_true: Term, on_false: Term) -> Term | None:
    """A choice between two results of one exact op as that op of what is chosen.

    So numbers are chosen before they are widened, and before they are squared, where the other one is zero.
    """
    arms = on_true, on_false
    source = source_of(terms, *arms)
    if source is not None:
        narrow = [narrowed(terms, normalise, source, arm) for arm in arms]
        if narrow[0] is not None and narrow[1] is not None:
            chosen = terms.ite(cond, narrow[0], narrow[1], "data")
            return normalise(terms, ("ftof", (source, _element(terms, on_true)), ()), (chosen,))
    for made, other in (arms, arms[::-1]):
        given = _given(terms, made, other)
        if given is not None:
            one, constant = given
            inner = terms.ite(cond, *((one, constant) if made == on_true else (constant, one)), "data")
            args = [inner if arg == one else arg for arg in terms.args[made]]
            return normalise(terms, terms.attr[made], tuple(args))
    for square, other in (arms, arms[::-1]):
        if not _is(terms, square, "mulf") or len(set(terms.args[square])) > 1:
            continue
        if terms.kind[other] == "fc" and terms.attr[other] == (_element(terms, square), 0):
            one = terms.args[square][0]
            inner = terms.ite(cond, *((one, other) if square == on_true else (other, one)), "data")
            return normalise(terms, terms.attr[square], (inner, inner))
    return None


FIXED = {"exp": {0.0: -math.inf}, "exp2": {0.0: -math.inf}, "tanh": {0.0: 0.0}}
FIXED["sqrt"] = {each: each for each in (0.0, 1.0, math.inf)}
"""Results that an op gives exactly, each with what it is given for it."""


def _given(terms: Terms, made: Term, result: Term) -> tuple[Term, Term] | None:
    """What an op of one number is given, and the constant for which it gives the constant ``result``."""
    value = constant_of(terms, result)
    if terms.kind[made] != "f" or value is None or math.isnan(value):
        return None
    (name, element, mods), args = terms.attr[made], terms.args[made]
    if name in FIXED:
        rounded = value == 1 and mods  # an approximate root of one need not be one
        wanted = FIXED[name].get(value) if math.copysign(1.0, value) > 0 and not rounded else None
        source = None if wanted is None else _from_value(terms, element, wanted)
        return None if source is None else (args[0], source)
    if name == "ftof" and not mods and not widens(element):
        wide = normalise(terms, ("ftof", element[::-1], ()), (result,))
        return (args[0], wide) if terms.kind[wide] == "fc" else None
    if name == "negf":
        return args[0], negate(terms, element, result)
    if name == "absf" and not mods and math.copysign(1.0, value) > 0:
        return args[0], result
    if name == "mulf" and not mods and (value == 0 or math.isinf(value)):
        for factor, one in (args, args[::-1]):
            by = constant_of(terms, factor)
            if by is not None and by != 0 and math.isfinite(by) and terms.kind[one] != "fc":
                source = _from_value(terms, element, math.copysign(1.0, by) * value)
                return None if source is None else (one, source)
    return None


def _element(terms: Terms, term: Term) -> str:
    """The type of a number that is the result of an op, or a constant, or chosen from such."""
    if terms.kind[term] == "ite":
        return _element(terms, terms.args[term][1])
    element: str | tuple[str, str] = terms.attr[term][0 if terms.kind[term] == "fc" else 1]
    return element if isinstance(element, str) else element[1]


def _negf(terms: Terms, element: str, mods: Any, args: tuple[Term, ...]) -> Term | None:
    (x,) = args
    if _is(terms, x, "negf"):
        return terms.args[x][0]
    if terms.kind[x] == "fc" and element in FORMATS:
        exponent_bits, mantissa_bits, _ = FORMATS[element]
        return constant(terms, element, terms.attr[x][1] ^ 1 << (exponent_bits + mantissa_bits))
    return None


def _absf(terms: Terms, element: str, mods: Any, args: tuple[Term, ...]) -> Term | None:
    (x,) = args
    if _is(terms, x, "negf"):
        return normalise(terms, ("absf", element, mods), terms.args[x])
    return x if _is(terms, x, "absf") else None


def _to_integer(other: str, terms: Terms, element: str, mods: Any, args: tuple[Term, ...]) -> Term | None:
    """The integer below a negative number is the negative of the one above the number, and the other way."""
    x, negative = _strip_negation(terms, args[0])
    return negate(terms, element, normalise(terms, (other, element, mods), (x,))) if negative else None


MAX_OPERANDS = 64
"""A maximum of more numbers is not written as one op."""


def _extreme(name: str, terms: Terms, element: str, mods: Any, args: tuple[Term, ...]) -> Term | None:
    """The largest or smallest of any number of operands: which of two is compared first makes no difference.

    Zeros are in order too, and NaN is either ignored or kept. One operand alone is not the same: of a NaN
    other bits come out than go in.
    """
    attr = name, element, mods
    flat: dict[Term, None] = {}
    for arg in args:
        flat.update(dict.fromkeys(terms.args[arg] if terms.attr[arg] == attr else (arg,)))
    if len(flat) == 1 or len(flat) > MAX_OPERANDS:
        return None
    constants = [arg for arg in flat if terms.kind[arg] == "fc"]
    if len(constants) > 1:
        bits = folded(name, element, mods, [terms.attr[each][1] for each in constants])
        if bits is not None:
            flat = {arg: None for arg in flat if terms.kind[arg] != "fc"}
            flat[constant(terms, element, bits)] = None
    operands = sorted(flat)
    clamped = _clamped_below(terms, attr, operands) if len(operands) == 2 and name == "maxf" else None
    if clamped is not None:
        return clamped
    if len(operands) == 2 and name == "maxf" and not any(key == "flush_to_zero" for key, _ in mods):
        for x, y in (operands, operands[::-1]):
            if _is(terms, y, "negf") and terms.args[y] == (x,):
                return normalise(terms, ("absf", element, ()), (x,))
    return terms.node("f", attr, operands)


def _clamped_below(terms: Terms, attr: tuple[Any, ...], operands: list[Term]) -> Term | None:
    """``max(min(x, high), low)`` as ``min(max(x, low), high)``, with constants low <= high.

    Of a NaN that is ignored the first one gives the upper limit, the second one the lower.
    """
    name, element, mods = attr
    for low, inner in (operands, operands[::-1]):
        limits = [arg for arg in terms.args[inner] if terms.kind[arg] == "fc"]
        if terms.kind[low] != "fc" or terms.attr[inner] != ("minf", element, mods) or len(limits) != 1:
            continue
        rest = tuple(arg for arg in terms.args[inner] if arg not in limits)
        known = ("propagate_nan", True) in mods or all(comparisons.is_number(terms, arg) for arg in rest)
        least, most = (_place(terms, limit) for limit in (low, *limits))
        if known and least is not None and most is not None and least <= most:
            number = rest[0] if len(rest) == 1 else normalise(terms, ("minf", element, mods), rest)
            lower = normalise(terms, (name, element, mods), (number, low))
            return normalise(terms, ("minf", element, mods), (lower, *limits))
    return None


def _place(terms: Terms, term: Term) -> tuple[float, float] | None:
    """Where a constant stands among all numbers: a negative zero is below the other one."""
    value = constant_of(terms, term)
    return None if value is None or math.isnan(value) else (value, math.copysign(1.0, value))


def _strip_negation(terms: Terms, term: Term) -> tuple[Term, bool]:
    if _is(terms, term, "negf"):
        return terms.args[term][0], True
    value = constant_of(terms, term)
    if value is not None and math.copysign(1.0, value) < 0 and not math.isnan(value):
        element = terms.attr[term][0]
        if element in FORMATS:
            return negate(terms, element, term), True
    return term, False


def _directed(mods: Any) -> bool:
    """Rounding up or down: a sign may not move through it."""
    return any(key == "rounding" and value in ("positive_inf", "negative_inf") for key, value in mods)


def _without(mods: Any, key: str) -> Any:
    return tuple(item for item in mods if item[0] != key)


def _addf(terms: Terms, element: str, mods: Any, args: tuple[Term, ...]) -> Term | None:
    a, b = args
    if SIGNED_ZERO in mods:
        return None
    rounding = any(key == "rounding" for key, _ in mods)
    whole = None if rounding else _whole_sum(terms, element, a, b)
    if whole is not None:
        return whole
    if terms.enabled("additive-zero") and not rounding:
        for x, y in ((a, b), (b, a)):
            value = constant_of(terms, x)
            if value == 0 and not any(key == "flush_to_zero" for key, _ in mods):
                terms.note("additive-zero")
                return y
    if mods and terms.enabled("flush-with-normal") and not rounding:
        for x in (a, b):
            value = constant_of(terms, x)
            if value is not None and 1e-30 < abs(value) < 1e38:
                lean = _without(mods, "flush_to_zero")
                if lean != mods:
                    terms.note("flush-with-normal")
                    return normalise(terms, ("addf", element, lean), args)
    return _doubled(terms, element, mods, args)


def _whole_sum(terms: Terms, element: str, a: Term, b: Term) -> Term | None:
    """A sum of two converted integers as the conversion of their sum, where all three are exact."""
    if element not in FORMATS or all(_is(terms, each, "negf") for each in (a, b)):
        return None  # the sum of two negative zeros is one
    limit = 1 << (FORMATS[element][1] + 1)
    parts = _whole(terms, a), _whole(terms, b)
    if parts[0] is None or parts[1] is None or terms.kind[a] == terms.kind[b] == "fc":
        return None
    total = terms.add(parts[0], parts[1])
    if not all(terms.within(each, -limit, limit + 1) for each in (*parts, total) if each is not None):
        return None
    return normalise(terms, ("itof", element, ()), (total,))


def _whole(terms: Terms, number: Term) -> Term | None:
    """The integer that a number is, where it is converted from one, or a constant but 0; None for others."""
    value = constant_of(terms, number)
    if value is not None:
        return terms.const(int(value)) if value and math.isfinite(value) and value == int(value) else None
    if _is(terms, number, "negf"):
        inner = _whole(terms, terms.args[number][0])
        return None if inner is None else terms.scale(inner, -1)
    return terms.args[number][0] if _is(terms, number, "itof") and not terms.attr[number][2] else None


def _doubled(terms: Terms, element: str, mods: Any, args: tuple[Term, ...]) -> Term | None:
    """A sum of a number with itself as a product: both are exact before they are rounded."""
    two = _from_value(terms, element, 2.0) if args[0] == args[1] and terms.enabled("double") else None
    if two is None:
        return None
    terms.note("double")
    return normalise(terms, ("mulf", element, mods), (two, args[0]))


def _subf(terms: Terms, element: str, mods: Any, args: tuple[Term, ...]) -> Term | None:
    return normalise(terms, ("addf", element, mods), (args[0], negate(terms, element, args[1])))


def _split_scale(terms: Terms, element: str, mods: Any, term: Term) -> tuple[int, Term]:
    """``term`` as 2^k * rest, looking through one product with a power of two."""
    if element != "f32" or mods:
        return 0, term
    if _is(terms, term, "mulf") and not terms.attr[term][2]:
        for x, y in (terms.args[term], terms.args[term][::-1]):
            k = _power_of_two(terms, x)
            if k is not None:
                return k, y
    return 0, term


def _split_down(terms: Terms, element: str, term: Term) -> tuple[int, Term]:
    """``term`` as 2^k * rest with k <= 0: a larger factor may overflow where it stands, and stays there.

    So does a much smaller one, which may leave nothing of an ordinary number.
    """
    k, rest = _split_scale(terms, element, (), term)
    return (k, rest) if LEAST_MOVED <= k < 0 else (0, term)


def _scaled(terms: Terms, element: str, k: int, term: Term) -> Term:
    if k == 0:
        return term
    terms.note("power-of-two-scale")
    factor = _from_value(terms, element, math.ldexp(1.0, k))
    assert factor is not None
    inner, negative = _strip_negation(terms, term)
    product = terms.node("f", ("mulf", element, ()), tuple(sorted((factor, inner))))
    return negate(terms, element, product) if negative else product


def _mulf(terms: Terms, element: str, mods: Any, args: tuple[Term, ...]) -> Term | None:
    if _directed(mods):
        return None
    (a, neg_a), (b, neg_b) = (_strip_negation(terms, arg) for arg in args)
    if neg_a or neg_b:
        product = normalise(terms, ("mulf", element, mods), (a, b))
        return negate(terms, element, product) if neg_a != neg_b else product
    if a == b and _is(terms, a, "absf"):
        return normalise(terms, ("mulf", element, mods), terms.args[a] * 2)
    if mods:
        return None
    for x, y in ((a, b), (b, a)):
        if constant_of(terms, x) == 1.0:
            return y
    if not terms.enabled("power-of-two-scale"):
        return None
    for x, y in ((a, b), (b, a)):
        k = _power_of_two(terms, x) if element == "f32" else None
        if k is not None and terms.kind[y] != "fc":
            return _scaled_again(terms, element, k, y)
    (ka, a), (kb, b) = (_split_down(terms, element, factor) for factor in (a, b))
    if ka + kb < -100 or ka + kb == 0:
        return None
    return _scaled(terms, element, ka + kb, normalise(terms, ("mulf", element, ()), (a, b)))


def _scaled_again(terms: Terms, element: str, k: int, term: Term) -> Term | None:
    """``term * 2^k``, with the factor that ``term`` has already.

    They join unless the product with the first may overflow, or lose bits below the normal range, and that
    with both not.
    """
    inner, rest = _split_scale(terms, element, (), term)
    if inner > 0 > k or (k > 0 and inner < LEAST_MOVED):
        inner, rest = 0, term
    if not -100 <= inner + k <= 100:
        return None
    if inner:
        terms.note("power-of-two-scale")
    return _scaled(terms, element, inner + k, rest)


def _divf(terms: Terms, element: str, mods: Any, args: tuple[Term, ...]) -> Term | None:
    if _directed(mods):
        return None
    (a, neg_a), (b, neg_b) = (_strip_negation(terms, arg) for arg in args)
    if neg_a or neg_b:
        quotient = normalise(terms, ("divf", element, mods), (a, b))
        return negate(terms, element, quotient) if neg_a != neg_b else quotient
    if constant_of(terms, b) == 1.0 and not mods:
        return a
    k = _power_of_two(terms, b)
    if k is None or element != "f32" or not -100 <= k <= 100 or not terms.enabled("power-of-two-scale"):
        return None
    inverse = _from_value(terms, element, math.ldexp(1.0, -k))
    if mods or terms.kind[a] == "fc" or inverse is None:
        return None
    terms.note("power-of-two-scale")
    return normalise(terms, ("mulf", element, ()), (a, inverse))


def _fma(terms: Terms, element: str, mods: Any, args: tuple[Term, ...]) -> Term | None:
    if _directed(mods):
        first, second = sorted(args[:2])
        return terms.node("f", ("fma", element, mods), (first, second, args[2]))
    (a, neg_a), (b, neg_b) = (_strip_negation(terms, arg) for arg in args[:2])
    c = args[2]
    negative = neg_a != neg_b
    moves = terms.enabled("power-of-two-scale")
    if not mods:
        if constant_of(terms, c) == 0 and terms.enabled("fma-zero"):
            terms.note("fma-zero")
            product = normalise(terms, ("mulf", element, ()), (a, b))
            return negate(terms, element, product) if negative else product
        for x, y in ((a, b), (b, a)):
            k = _power_of_two(terms, x)
            if k == 0 or (k is not None and k < 0 and element == "f32" and moves):
                if k:
                    terms.note("power-of-two-scale")
                product = normalise(terms, ("mulf", element, ()), (x, y))
                product = negate(terms, element, product) if negative else product
                return normalise(terms, ("addf", element, ()), (product, c))
        (ka, a2), (kb, b2) = (_split_down(terms, element, factor) for factor in (a, b))
        if moves and -100 <= ka + kb < 0:
            # keep the factor on the smaller operand, so that its place does not matter
            first, second = sorted((a2, b2))
            a, b = _scaled(terms, element, ka + kb, first), second
    first, second = sorted((a, b))
    if negative:
        first = negate(terms, element, first)
    return terms.node("f", ("fma", element, mods), (first, second, c))


def _ftof(terms: Terms, element: str, mods: Any, args: tuple[Term, ...]) -> Term | None:
    """``element`` is ``(from, to)``."""
    source, target = element
    (x,) = args
    chosen = _of_choice(terms, source, target, x) if terms.kind[x] == "ite" and not mods else None
    if chosen is not None:
        return chosen
    if terms.kind[x] == "fc" and not mods:
        value = decode(source, terms.attr[x][1])
        if value is not None:
            bits = encode(target, value)
            if bits is not None:
                return constant(terms, target, bits)
    if widens((source, target)):
        if mods:
            return normalise(terms, ("ftof", element, ()), args)
        exact = widened(terms, normalise, (source, target), x)
    else:
        exact = None if terms.kind[x] == "fc" else narrowed(terms, normalise, target, x)
    if exact is None:
        exact = _from_source(terms, target, mods, x)
    if exact is not None or mods:
        return exact
    if _is(terms, x, "negf") and source in FORMATS and target in FORMATS:
        return negate(terms, target, normalise(terms, ("ftof", element, ()), terms.args[x]))
    return _done_in(terms, target, x) if source == "f32" and target in ("f16", "bf16") else None


def _of_choice(terms: Terms, source: str, target: str, choice: Term) -> Term | None:
    """A conversion of a choice: of two constants it is done; else one is as the narrower type rounds it."""
    attr = ("ftof", (source, target), ())
    cond, *arms = terms.args[choice]
    if widens((source, target)):
        results = [normalise(terms, attr, (arm,)) for arm in arms]
        done = all(terms.kind[each] == "fc" for each in results)
        return terms.ite(cond, results[0], results[1], "data") if done else None
    rounded = [_rounded(terms, source, target, arm) for arm in arms]
    if rounded == arms:
        return None
    return normalise(terms, attr, (terms.ite(cond, rounded[0], rounded[1], "data"),))


def _rounded(terms: Terms, source: str, target: str, term: Term) -> Term:
    """A constant as it comes back from a narrower type; what is none, or has no such type, as it is."""
    if terms.kind[term] == "fc":
        narrow = normalise(terms, ("ftof", (source, target), ()), (term,))
        back = normalise(terms, ("ftof", (target, source), ()), (narrow,))
        if terms.kind[back] == "fc":
            return back
    return term


def _from_source(terms: Terms, target: str, mods: Any, term: Term) -> Term | None:
    """A number as it is converted from the type, or the integer, that it was widened from; or a choice."""
    if _is(terms, term, "itof") and not terms.attr[term][2]:
        element, integer = terms.attr[term][1], terms.args[term]
        if holds_integer(terms, element, integer[0]):
            return normalise(terms, ("itof", target, mods), integer)
    source = source_of(terms, term)
    narrow = None if source is None else narrowed(terms, normalise, source, term)
    if source is not None and narrow is not None and source != _element(terms, term):
        return normalise(terms, ("ftof", (source, target), mods), (narrow,))
    return None


ROUNDED_ONCE = frozenset({"addf", "mulf", "divf", "sqrt"})
"""Ops that round twice, to f32 and to a type of at most 11 digits, as they round once: 24 >= 2 * 11 + 2."""


def _done_in(terms: Terms, target: str, term: Term) -> Term | None:
    """One op in f32, on numbers of ``target`` and rounded to it, as the op in ``target``.

    Of f16 no result is below the normal range of f32; of bf16 it may be, and must not be flushed.
    """
    if terms.kind[term] != "f" or not terms.enabled("narrow-arithmetic"):
        return None
    name, element, mods = terms.attr[term]
    lean = _without(mods, "flush_to_zero") if target == "f16" else mods
    if name not in ROUNDED_ONCE or element != "f32" or any(key != "propagate_nan" for key, _ in lean):
        return None
    operands = [narrowed(terms, normalise, target, arg) for arg in terms.args[term]]
    known = [each for each in operands if each is not None]
    if len(known) < len(operands) or all(terms.kind[each] == "fc" for each in known):
        return None
    terms.note("narrow-arithmetic")
    return normalise(terms, (name, target, lean), tuple(known))


_INTEGERS = {"i8": 8, "i16": 16, "i32": 32, "i64": 64}
"""Bits of the integers that memory holds as they are."""


def _bitcast(terms: Terms, element: str, mods: Any, args: tuple[Term, ...]) -> Term | None:
    """The same bits read as another type: of a constant, of a choice, or of what a load gives."""
    source, target = element
    (x,) = args
    value = terms.value(x)
    if value is not None and target in ALL_FORMATS:
        return constant(terms, target, value & ((1 << ALL_FORMATS[target].bits) - 1))
    node = terms.single(x)
    if node is None:
        return None
    kind, attr, inside = terms.kind[node], terms.attr[node], terms.args[node]
    if kind == "fc" and target in _INTEGERS and source in ALL_FORMATS:
        return terms.const(_signed(attr[1], _INTEGERS[target]))
    if kind == "f" and attr[0] == "bitcast":
        return _as_sort(terms, target, normalise(terms, ("bitcast", (attr[1][0], target), ()), inside))
    if kind == "ite":
        arms = [
            _as_sort(terms, target, normalise(terms, ("bitcast", element, ()), (arm,))) for arm in inside[1:]
        ]
        return terms.ite(inside[0], arms[0], arms[1], "int" if target in _INTEGERS else "data")
    if kind == "mem" and _same_storage(source, target):
        return _as_sort(terms, target, _reread(terms, node, target))
    if kind == "undefined" and terms.kind[inside[0]] == "mem" and _same_storage(source, target):
        memory = _reread(terms, inside[0], target)
        return _as_sort(terms, target, terms.node("undefined", target, (memory, *inside[1:])))
    return None


def _reread(terms: Terms, memory: Term, target: str) -> Term:
    """What a load gives, had it been of another type of as many bits."""
    again = terms.node("mem", (target, *terms.attr[memory][1:]), terms.args[memory])
    terms.inherit(memory, again)
    return again


def _signed(bits: int, width: int) -> int:
    return bits - (1 << width) if bits >> (width - 1) else bits


def _as_sort(terms: Terms, element: str, term: Term) -> Term:
    """Integers are polynomials."""
    return terms.atom(term) if element in _INTEGERS else term


def _same_storage(source: str, target: str) -> bool:
    """Whether memory holds the bits of both types, and as many of them."""
    widths = [_INTEGERS.get(name) or _FLOAT_BITS.get(name) for name in (source, target)]
    return widths[0] is not None and widths[0] == widths[1]


_FLOAT_BITS = {name: sum(parts[:2]) + 1 for name, parts in FORMATS.items() if name != "tf32"}
"""Not tf32, of which memory holds more bits than it has."""


def _itof(terms: Terms, element: str, mods: Any, args: tuple[Term, ...]) -> Term | None:
    value = terms.value(args[0])
    if value is None and terms.range(args[0]) == (0, 1) and element in FORMATS:
        one, zero = (normalise(terms, ("itof", element, ()), (flag,)) for flag in (terms.one, terms.zero))
        return terms.ite(terms.le0(terms.sub(terms.one, args[0])), one, zero, "data")
    if value is None or mods:
        return None
    bits = encode_integer(element, value)
    return None if bits is None else constant(terms, element, bits)


_HANDLERS: dict[str, Any] = {
    "absf": _absf,
    "floor": partial(_to_integer, "ceil"),
    "ceil": partial(_to_integer, "floor"),
    "maxf": partial(_extreme, "maxf"),
    "minf": partial(_extreme, "minf"),
    "negf": _negf,
    "addf": _addf,
    "subf": _subf,
    "mulf": _mulf,
    "divf": _divf,
    "fma": _fma,
    "ftof": _ftof,
    "bitcast": _bitcast,
    "itof": _itof,
}
