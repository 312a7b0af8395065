"""Random integer expressions: what z3 proves about the normal form, in every width, for every input.

The same expression is built three times: as IR that the comparison evaluates to a term in normal form,
straight as bit-vectors from what the dialect says of each op, and as Python integers from the dump.
"""

from __future__ import annotations

from typing import Any

from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from tests.equivalence.symbolic.support import pytest
from tests.graph.expressions import SYMBOLS, Expr, booleans, build, integers, symbols
from tileir_diff.dialect import parse_text
from tileir_diff.equivalence.symbolic.answer import PROVEN, UNKNOWN, Answer
from tileir_diff.equivalence.symbolic.backend import z3
from tileir_diff.equivalence.symbolic.concrete import CannotSayError, Concrete, Input
from tileir_diff.equivalence.symbolic.integers import Integers
from tileir_diff.equivalence.symbolic.parts import PREDICATES as PARTS
from tileir_diff.equivalence.symbolic.parts import made_alike
from tileir_diff.equivalence.symbolic.translate import Number, Translator, extended, same
from tileir_diff.graph.evaluate import Evaluator
from tileir_diff.graph.store import Range, Term
from tileir_diff.graph.terms import Terms

WIDTHS = (8, 16, 32)
NARROW = 60
"""Milliseconds are not counted, steps are: z3's resource limit, in thousands."""
BINARY = ("addi", "subi", "muli", "divi", "remi", "mini", "maxi", "andi", "ori", "xori", "mulhii")
ROUNDINGS = ("zero", "negative_inf", "positive_inf")
UNDESCRIBED = {"andi", "ori", "xori", "mulhii"}
"""Ops that unbounded integers say nothing about, at least not of all operands."""
Op = tuple[Any, ...]


# ---- random kernels ----------------------------------------------------------------------------------


@st.composite
def kernels(draw: st.DrawFn) -> tuple[int, list[Op]]:
    """A width, and ops: each a name, its mode, and the positions of its operands among the values so far."""
    width = draw(st.sampled_from(WIDTHS))
    ops: list[Op] = []
    for count in range(3, 3 + draw(st.integers(1, 6))):
        operand = st.integers(0, count - 1)
        name = draw(st.sampled_from((*BINARY, *BINARY, "shl", "shr", "neg", "abs", "select", "cast")))
        signed = draw(st.booleans())
        rounding = draw(st.sampled_from(ROUNDINGS if signed else ("zero", "positive_inf")))
        extra = draw(st.integers(0, width - 1 if name in ("shl", "shr") else 5))
        ops.append(
            (name, signed, rounding, draw(operand), draw(operand), draw(operand), draw(operand), extra)
        )
    return width, ops


PREDICATES = (
    "equal",
    "not_equal",
    "less_than",
    "less_than_or_equal",
    "greater_than",
    "greater_than_or_equal",
)


def text(width: int, ops: list[Op], constant: int) -> str:
    """The kernel as IR; values 0 and 1 are parameters, 2 a constant, and the last is an offset."""
    t = f"tile<i{width}>"
    lines = [
        f"%v0 = addi %n, %k0 : {t}",
        f"%v1 = addi %m, %k0 : {t}",
        f"%v2 = constant <i{width}: {constant}> : {t}",
    ]
    for position, (name, signed, rounding, a, b, c, d, extra) in enumerate(ops, 3):
        sign = "signed" if signed else "unsigned"
        x, y = f"%v{a}", f"%v{b}"
        match name:
            case "divi":
                how = "" if rounding == "zero" else f" rounding<{rounding}>"
                lines.append(f"%v{position} = divi {x}, {y} {sign}{how} : {t}")
            case "remi" | "mini" | "maxi":
                lines.append(f"%v{position} = {name} {x}, {y} {sign} : {t}")
            case "shl" | "shr":
                lines.append(f"%s{position} = constant <i{width}: {extra}> : {t}")
                mode = "" if name == "shl" else f" {sign}"
                lines.append(f"%v{position} = {name}i {x}, %s{position}{mode} : {t}")
            case "neg" | "abs":
                lines.append(f"%v{position} = {name}i {x} : {t}")
            case "select":
                flag = f"tile<i{width}> -> tile<i1>"
                lines.append(f"%c{position} = cmpi {PREDICATES[extra]} {x}, {y}, {sign} : {flag}")
                lines.append(f"%v{position} = select %c{position}, %v{c}, %v{d} : tile<i1>, {t}")
            case "cast":
                lines.append(f"%w{position} = exti {x} {sign} : {t} -> tile<i64>")
                lines.append(f"%y{position} = exti {y} {sign} : {t} -> tile<i64>")
                lines.append(f"%z{position} = {BINARY[extra % 3]} %w{position}, %y{position} : tile<i64>")
                lines.append(f"%v{position} = trunci %z{position} : tile<i64> -> {t}")
            case _:
                lines.append(f"%v{position} = {name} {x}, {y} : {t}")
    return f"""entry @k(%b: tile<ptr<f32>>, %n: {t}, %m: {t}) {{
%t = make_token : token
%one = constant <f32: 1.0> : tile<f32>
%k0 = constant <i{width}: 0> : {t}
{chr(10).join(lines)}
%p = offset %b, %v{len(ops) + 2} : tile<ptr<f32>>, {t} -> tile<ptr<f32>>
%st = store_ptr_tko weak %p, %one token=%t : tile<ptr<f32>>, tile<f32> -> token
return
}}"""


def as_bits(width: int, ops: list[Op], constant: int) -> tuple[Any, list[Any]]:
    """The last value as a bit-vector over n and m, and the conditions under which all is defined."""
    values: list[Any] = [z3.BitVec("n", width), z3.BitVec("m", width), z3.BitVecVal(constant, width)]
    defined: list[Any] = []
    least = z3.BitVecVal(-(1 << (width - 1)), width)
    for name, signed, rounding, a, b, c, d, extra in ops:
        x, y = values[a], values[b]
        less = (x < y) if signed else z3.ULT(x, y)
        match name:
            case "divi" | "remi":
                defined.append(y != 0)
                if signed:
                    defined.append(z3.Not(z3.And(x == least, y == -1)))
                quotient, rest = (x / y, z3.SRem(x, y)) if signed else (z3.UDiv(x, y), z3.URem(x, y))
                opposite = (x < 0) != (y < 0) if signed else z3.BoolVal(False)
                up, down = z3.And(rest != 0, z3.Not(opposite)), z3.And(rest != 0, opposite)
                rounded = {
                    "zero": quotient,
                    "negative_inf": z3.If(down, quotient - 1, quotient),
                    "positive_inf": z3.If(up, quotient + 1, quotient),
                }
                values.append(rest if name == "remi" else rounded[rounding])
            case "mini" | "maxi":
                values.append(z3.If(less, x, y) if name == "mini" else z3.If(less, y, x))
            case "shl":
                values.append(x << extra)
            case "shr":
                values.append(x >> extra if signed else z3.LShR(x, extra))
            case "neg":
                values.append(-x)
            case "abs":
                values.append(z3.If(x < 0, -x, x))
            case "select":
                equal = x == y
                flags = (
                    equal,
                    z3.Not(equal),
                    less,
                    z3.Or(less, equal),
                    z3.Not(z3.Or(less, equal)),
                    z3.Not(less),
                )
                values.append(z3.If(flags[extra], values[c], values[d]))
            case "cast":
                long = [(z3.SignExt if signed else z3.ZeroExt)(64 - width, v) for v in (x, y)]
                result = (long[0] + long[1], long[0] - long[1], long[0] * long[1])[extra % 3]
                values.append(z3.Extract(width - 1, 0, result))
            case "mulhii":
                both = z3.ZeroExt(width, x) * z3.ZeroExt(width, y)
                values.append(z3.Extract(2 * width - 1, width, both))
            case _:
                plain = {
                    "addi": x + y,
                    "subi": x - y,
                    "muli": x * y,
                    "andi": x & y,
                    "ori": x | y,
                    "xori": x ^ y,
                }
                values.append(plain[name])
    return values[-1], defined


def evaluated(source: str, *, exact: bool) -> tuple[Evaluator, Term]:
    """The entry, and the offset that it stores at."""
    entry = parse_text(source, "k.mlir").entries[0]
    evaluator = Evaluator(entry, Terms(exact=exact), 0)
    evaluator.learn_facts()
    kernel = evaluator.run()
    (effect,) = kernel.effects
    assert effect.pointer is not None
    return evaluator, evaluator.terms.sub(effect.pointer, kernel.arguments[0])


def never(solver: Any, conditions: list[Any]) -> bool:
    """Whether the conditions never hold; a question that is too hard is no example."""
    solver.set("rlimit", NARROW * 1000)
    solver.add(*conditions)
    result = solver.check()
    assume(result != z3.unknown)
    return result == z3.unsat


def symbols_equal(evaluator: Evaluator, translator: Translator, width: int) -> list[Any]:
    """That the parameters of both formulas are the same."""
    found: list[Any] = []
    for index, name in ((1, "n"), (2, "m")):
        leaf = evaluator.terms.leaf("arg", 0, index)
        if leaf in translator.symbols:
            found.append(translator.symbols[leaf] == z3.BitVec(name, width))
    return found


FEW = settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much]
)


@FEW
@given(kernels(), st.sampled_from((0, 1, -1, 2, 3, 7, 8, -8, 100)))
def test_exact_terms_are_what_the_ops_say(kernel: tuple[int, list[Op]], constant: int) -> None:
    width, ops = kernel
    evaluator, term = evaluated(text(width, ops, constant), exact=True)
    translator = Translator(evaluator.terms)
    number = translator.number(term)
    value, defined = as_bits(width, ops, constant)
    size = max(number.bits.size(), width)
    differs = extended(number.bits, size) != extended(value, size)
    alike = symbols_equal(evaluator, translator, width)
    assert never(z3.Solver(), [differs, *defined, *alike, *translator.bounds])


@FEW
@given(kernels(), st.sampled_from((0, 1, -1, 3, 8, -8)), st.data())
def test_python_integers_agree_with_bit_vectors(
    kernel: tuple[int, list[Op]], constant: int, data: st.DataObject
) -> None:
    width, ops = kernel
    entry = parse_text(text(width, ops, constant), "k.mlir").entries[0]
    numbers = st.integers(-(1 << (width - 1)), (1 << (width - 1)) - 1) | st.integers(-3, 3)
    n, m = data.draw(numbers), data.draw(numbers)
    value, defined = as_bits(width, ops, constant)
    at = [(z3.BitVec("n", width), z3.BitVecVal(n, width)), (z3.BitVec("m", width), z3.BitVecVal(m, width))]
    fine = z3.is_true(z3.simplify(z3.substitute(z3.And(*defined, z3.BoolVal(True)), *at)))
    expected = z3.simplify(z3.substitute(value, *at)).as_signed_long()
    store = next(op for op in entry.inner() if op.short == "store_ptr_tko")
    concrete = Concrete(entry, Input((0, n, m), (0, 0, 0), (None, None, None), {}))
    try:
        touched = concrete.touched(store, ())
    except CannotSayError:
        assert not fine
        return
    if fine:
        assert touched.address == expected


def assert_allowed(source: str, n: int, m: int, *, alone: bool) -> bool:
    """That unbounded integers allow what the dump gives for these parameters; ``alone``: and nothing else.

    Whether z3 has an answer.
    """
    entry = parse_text(source, "k.mlir").entries[0]
    store = next(op for op in entry.inner() if op.short == "store_ptr_tko")
    concrete = Concrete(entry, Input((0, n, m), (0, 0, 0), (None, None, None), {}))
    try:
        address = concrete.touched(store, ()).address
    except CannotSayError:
        return True
    evaluator, term = evaluated(source, exact=True)
    terms = evaluator.terms
    translator = Integers(terms)
    number = translator.number(term)
    solver = z3.Solver()
    solver.set("rlimit", NARROW * 1000)
    for index, value in ((1, n), (2, m)):
        solver.add(translator.number(terms.leaf("arg", 0, index)) == value)
    solver.add(*translator.definitions)
    result = solver.check(number == address)
    assert result != z3.unsat
    assert not alone or solver.check(number != address) != z3.sat
    return result == z3.sat


@FEW
@given(kernels(), st.sampled_from((0, 1, -1, 3, 8, -8)), st.data())
def test_unbounded_integers_allow_what_the_ops_give(
    kernel: tuple[int, list[Op]], constant: int, data: st.DataObject
) -> None:
    width, ops = kernel
    numbers = st.integers(-(1 << (width - 1)), (1 << (width - 1)) - 1) | st.integers(-3, 3)
    n, m = data.draw(numbers), data.draw(numbers)
    described = not {op[0] for op in ops} & UNDESCRIBED
    assume(assert_allowed(text(width, ops, constant), n, m, alone=described))


@pytest.mark.parametrize("signed", [True, False])
@pytest.mark.parametrize("name", ["divi", "remi", "mini", "maxi", "shl", "shr", "abs", "select", "cast"])
def test_unbounded_integers_describe_each_op(name: str, signed: bool) -> None:
    numbers = (-128, -7, 0, 2, 127)
    for rounding in ROUNDINGS if name == "divi" else ("zero",):
        if signed or rounding != "negative_inf":
            source = text(8, [(name, signed, rounding, 0, 1, 0, 1, 2)], 0)
            for n in numbers:
                for m in numbers:
                    assert assert_allowed(source, n, m, alone=True)


# ---- the normal form -------------------------------------------------------------------------------------


class Small(Translator):
    """Symbols without bounds have the values of a few bits: all of them are tried."""

    def _symbol(self, term: Term, bounds: Range) -> Number:
        low, high = bounds
        return super()._symbol(term, (-40 if low is None else low, 40 if high is None else high))


def spelled(translator: Translator, terms: Terms, expr: Expr) -> Any:
    """The expression as it is written: a ``Number``, or a formula for a predicate."""
    match expr:
        case ("sym", index):
            return translator.number(terms.leaf("arg", 0, index))
        case ("const", int(number)):
            return Number(z3.BitVecVal(number, 12), number, number)
        case ("b2i", inner):
            flag = spelled(translator, terms, inner)
            return Number(z3.If(flag, z3.BitVecVal(1, 2), z3.BitVecVal(0, 2)), 0, 1)
        case ("not", inner):
            return z3.Not(spelled(translator, terms, inner))
        case (("ite" | "bite"), cond, left, right):
            flag, a, b = (spelled(translator, terms, part) for part in (cond, left, right))
            return translator.hull(flag, a, b) if expr[0] == "ite" else z3.If(flag, a, b)
        case ("cmp", predicate, left, right):
            a, b = aligned(*(spelled(translator, terms, part) for part in (left, right)))
            less, equal = a < b, a == b
            return {
                "less_than": less,
                "less_than_or_equal": z3.Or(less, equal),
                "greater_than": z3.Not(z3.Or(less, equal)),
                "greater_than_or_equal": z3.Not(less),
                "equal": equal,
                "not_equal": z3.Not(equal),
            }[predicate]
        case (kind, left, right):
            return binary(kind, spelled(translator, terms, left), spelled(translator, terms, right))
        case _:
            raise AssertionError(expr)


def aligned(a: Number, b: Number, more: int = 2) -> tuple[Any, Any]:
    size = max(a.bits.size(), b.bits.size()) + more
    return extended(a.bits, size), extended(b.bits, size)


def binary(kind: str, a: Any, b: Any) -> Any:
    if kind in ("and", "or", "xor"):
        return {"and": z3.And, "or": z3.Or, "xor": z3.Xor}[kind](a, b)
    more = b.bits.size() if kind == "mul" else 2
    x, y = aligned(a, b, more)
    rest = z3.SRem(x, y)
    quotient = x / y
    down = z3.And(rest != 0, (x < 0) != (y < 0))
    up = z3.And(rest != 0, (x < 0) == (y < 0))
    bits = {
        "add": x + y,
        "sub": x - y,
        "mul": x * y,
        "truncdiv": quotient,
        "floordiv": z3.If(down, quotient - 1, quotient),
        "ceildiv": z3.If(up, quotient + 1, quotient),
        "mod": z3.If(z3.And(rest != 0, (rest < 0) != (y < 0)), rest + y, rest),
        "min": z3.If(x < y, x, y),
        "max": z3.If(x < y, y, x),
    }[kind]
    half = 1 << (bits.size() - 1)
    return Number(bits, -half, half - 1)


@FEW
@given(integers(3))
def test_the_normal_form_of_an_integer_is_equal_for_every_value(expr: Expr) -> None:
    terms = Terms()
    symbols(terms)
    translator = Small(terms)
    a, b = aligned(translator.number(build(terms, expr)), spelled(translator, terms, expr))
    assert never(z3.Solver(), [a != b, *translator.bounds])


@FEW
@given(booleans(3))
def test_the_normal_form_of_a_predicate_is_equal_for_every_value(expr: Expr) -> None:
    terms = Terms()
    symbols(terms)
    translator = Small(terms)
    differs = z3.Xor(translator.predicate(build(terms, expr)), spelled(translator, terms, expr))
    assert never(z3.Solver(), [differs, *translator.bounds])


def test_all_symbols_are_tried() -> None:
    assert len(SYMBOLS) == 7
    assert pytest is not None


@FEW
@given(integers(3), integers(3), st.integers(0, 7))
def test_parts_in_place_of_equal_ones_leave_the_whole_as_it_is(left: Expr, right: Expr, shift: int) -> None:
    """Whatever z3 says is equal: what comes out is the second term for every value."""
    terms = Terms()
    symbols(terms)
    a, b = build(terms, left), build(terms, ("add", right, ("sub", left, ("const", shift))))

    def ask(x: int, y: int) -> Answer:
        translator = Small(terms)
        if terms.kind[x] in PARTS:
            differs = z3.Xor(translator.predicate(x), translator.predicate(y))
        else:
            differs = z3.Not(same(translator.number(x).bits, translator.number(y).bits))
        solver = z3.Solver()
        solver.set("rlimit", NARROW * 1000)
        equal = solver.check(differs, *translator.bounds) == z3.unsat
        return Answer(PROVEN if equal else UNKNOWN)

    alike, _ = made_alike(terms, a, b, (), ask)
    translator = Small(terms)
    x, y = aligned(translator.number(alike), translator.number(b))
    assert never(z3.Solver(), [x != y, *translator.bounds])
