"""Formulas that are the same function: named, with the worst that the other spelling can do."""

from __future__ import annotations

import math
from types import SimpleNamespace
from typing import cast

import pytest

from tests.match.fixtures import ROOT
from tests.match.snippets import assert_equal, assert_found, found, with_value
from tileir_diff.dialect.ir import TileOp
from tileir_diff.graph import floats
from tileir_diff.graph.show import show, show_both
from tileir_diff.graph.terms import Term, Terms
from tileir_diff.match.blame import Blame
from tileir_diff.match.reformulate import reformulation
from tileir_diff.match.written import as_written

T = "tile<128xf32>"


class Formula:
    """Terms by operators, so that a formula reads as one."""

    def __init__(self, terms: Terms, term: Term) -> None:
        self.terms, self.term = terms, term

    def _op(self, name: str, *operands: Formula, element: str = "f32") -> Formula:
        return Formula(
            self.terms, self.terms.float_op((name, element, ()), tuple(each.term for each in operands))
        )

    def __add__(self, other: Formula) -> Formula:
        return self._op("addf", self, other)

    def __sub__(self, other: Formula) -> Formula:
        return self._op("subf", self, other)

    def __mul__(self, other: Formula) -> Formula:
        return self._op("mulf", self, other)

    def __truediv__(self, other: Formula) -> Formula:
        return self._op("divf", self, other)

    def __neg__(self) -> Formula:
        return self._op("negf", self)

    def call(self, name: str, *others: Formula) -> Formula:
        return self._op(name, self, *others)

    def through(self, element: str) -> Formula:
        """Rounded to a coarser type and back."""
        narrow = self.terms.float_op(("ftof", ("f32", element), ()), (self.term,))
        return Formula(self.terms, self.terms.float_op(("ftof", (element, "f32"), ()), (narrow,)))


@pytest.fixture
def terms() -> Terms:
    return Terms()


@pytest.fixture
def x(terms: Terms) -> Formula:
    return Formula(terms, terms.leaf("arg", 0, 0))


@pytest.fixture
def y(terms: Terms) -> Formula:
    return Formula(terms, terms.leaf("arg", 0, 1))


def number(terms: Terms, value: float) -> Formula:
    bits = floats.encode("f32", value)
    assert bits is not None
    return Formula(terms, floats.constant(terms, "f32", bits))


def impact(a: Formula, b: Formula) -> str | None:
    known = reformulation(a.terms, a.term, b.term)
    back = reformulation(a.terms, b.term, a.term)
    assert (known is None) == (back is None)
    return None if known is None else known.impact


def test_a_sigmoid_that_overflows(terms: Terms, x: Formula) -> None:
    one = number(terms, 1.0)
    safe = one / (one + (-x).call("exp"))
    unsafe = x.call("exp") / (one + x.call("exp"))
    assert impact(safe, unsafe) == "logic"


def test_a_tangent_from_exponentials_overflows(terms: Terms, x: Formula) -> None:
    one, two = number(terms, 1.0), number(terms, 2.0)
    e = (two * x).call("exp")
    assert impact(x.call("tanh"), (e - one) / (e + one)) == "logic"


def test_a_tangent_by_a_form_that_cannot_overflow(terms: Terms, x: Formula) -> None:
    one, two = number(terms, 1.0), number(terms, 2.0)
    safe = one - two / ((two * x).call("exp") + one)
    assert impact(x.call("tanh"), safe) == "ulp"


def test_a_reciprocal(terms: Terms, x: Formula, y: Formula) -> None:
    assert impact(x / y, x * (number(terms, 1.0) / y)) == "ulp"


def test_a_root_and_a_division(terms: Terms, x: Formula) -> None:
    square = x * x
    assert impact(square.call("rsqrt"), number(terms, 1.0) / square.call("sqrt")) == "ulp"


def test_association(terms: Terms, x: Formula, y: Formula) -> None:
    z = Formula(terms, terms.leaf("arg", 0, 2))
    assert impact((x + y) + z, x + (y + z)) == "ulp"
    assert impact((x * y) * z, x * (y * z)) == "ulp"


def test_distribution(terms: Terms, x: Formula, y: Formula) -> None:
    z = Formula(terms, terms.leaf("arg", 0, 2))
    assert impact(x * (y + z), x * y + x * z) == "ulp"


def test_contraction(x: Formula, y: Formula) -> None:
    assert impact(x.call("fma", y, x), x * y + x) == "ulp"


def test_an_exponential_of_base_two(terms: Terms, x: Formula) -> None:
    scaled = (x * number(terms, math.log2(math.e))).call("exp2")
    assert impact(x.call("exp"), scaled) == "ulp"


def test_an_extra_rounding(x: Formula, y: Formula) -> None:
    assert impact((x + y) * x, (x + y).through("bf16") * x) == "precision"
    assert impact((x + y) * x, (x + y).through("f16") * x) == "precision"


@pytest.mark.parametrize("factor", [0.999, 1.001, 1.0001])
def test_a_factor_is_no_reformulation(terms: Terms, x: Formula, y: Formula, factor: float) -> None:
    assert impact(x / y, x * number(terms, factor) / y) is None


def test_another_function_is_none(terms: Terms, x: Formula, y: Formula) -> None:
    one = number(terms, 1.0)
    assert impact(x - y, y - x) is None
    assert impact(x / y, y / x) is None
    assert impact(x.call("exp"), x.call("exp2")) is None
    assert impact(x.call("sin"), x.call("cos")) is None
    assert impact(one / (one + (-x).call("exp")), one / (one + x.call("exp"))) is None
    assert impact(x.call("maxf", y), x.call("minf", y)) is None


def test_a_small_term_is_not_swallowed(terms: Terms, x: Formula) -> None:
    """Epsilon under a root: an ordinary input is far larger, and still it counts near zero."""
    epsilon = number(terms, 1e-3)
    assert impact((x * x + epsilon).call("rsqrt"), (x * x).call("rsqrt")) is None


def test_values_without_inputs_are_none(terms: Terms) -> None:
    assert reformulation(terms, number(terms, 1.0).term, number(terms, 1.0001).term) is None


def test_a_limit_that_only_nan_meets_is_an_edge(terms: Terms, x: Formula, y: Formula) -> None:
    lowest = number(terms, -math.inf)
    assert impact(x + y, x.call("maxf", lowest) + y) == "edge"
    assert impact((x + y) + y, x.call("maxf", lowest) + (y + y)) == "ulp", "another order of sums"
    assert impact(x + y, x.call("maxf", number(terms, 0.0)) + y) is None


def why(left: Formula, right: Formula) -> str:
    known = reformulation(left.terms, left.term, right.term)
    assert known is not None
    assert known.impact == "edge", known
    return known.why


def test_an_edge_says_for_which_numbers(terms: Terms, x: Formula, y: Formula) -> None:
    scaled = (x * number(terms, 2.0**-80)) * number(terms, 2.0**80)
    assert why(x, scaled).endswith("differs for very small numbers")
    assert why(-(x - y), y - x).endswith(
        "differs for signed zeros, very large numbers and very small numbers"
    )
    less = terms.node("fcmp", ("less_than",), (x.term, y.term))
    larger = Formula(terms, terms.ite(less, y.term, x.term, "data"))
    assert why(x.call("maxf", y), larger).endswith("differs for NaN and signed zeros")


def test_a_maximum_that_is_left_out_is_another_function(terms: Terms, x: Formula, y: Formula) -> None:
    """Not hidden by a selection of something huge, whatever the condition."""
    condition, huge = terms.node("bool_op", ("any",), (x.term,)), number(terms, -1e30)
    for value in (x, y):
        chosen = Formula(terms, terms.ite(condition, value.term, huge.term, "data"))
        assert impact(chosen - x.call("maxf", y), chosen - y) is None


# ---- through whole kernels -------------------------------------------------------------------------------

SECOND = (
    "%u, %ut = load_ptr_tko weak %pb, %in, %zero token=%t : tile<128xptr<f32>>, tile<128xi1>, "
    f"{T} -> {T}, token\n%f = itof %o signed : tile<128xi32> -> {T}\n"
)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (("mulf %v, %u", "mulf %p, %f"), ("mulf %u, %f", "mulf %v, %p")),
        (("addf %v, %u", "addf %p, %f"), ("addf %f, %v", "addf %p, %u")),
        (("subf %v, %u", "subf %p, %f"), ("addf %u, %f", "subf %v, %p")),
    ],
)
def test_factors_in_another_order_are_no_wrong_loads(first: tuple[str, str], second: tuple[str, str]) -> None:
    sides = [
        with_value(f"{SECOND}%p = {inner} : {T}\n%w = {outer} : {T} // here")
        for inner, outer in (first, second)
    ]
    assert assert_found(*sides, "arithmetic/reformulated").impact == "ulp"


def sigmoid(form: str) -> str:
    body = {
        "safe": f"%g = negf %v : {T}\n%e = exp %g : {T}\n%d = addf %one, %e : {T}\n%w = divf %one, %d : {T}",
        "unsafe": f"%e = exp %v : {T}\n%d = addf %one, %e : {T}\n%w = divf %e, %d : {T}",
        "half": f"%k = constant <f32: 0.5> : {T}\n%h = mulf %v, %k : {T}\n%a = tanh %h : {T}\n"
        f"%b2 = fma %a, %k, %k : {T}\n%w = addf %b2, %zero : {T}",
        "wrong": f"%e = exp %v : {T}\n%d = addf %one, %e : {T}\n%w = divf %one, %d : {T}",
    }[form]
    return with_value(body.replace("%a = tanh", "%th = tanh").replace("fma %a,", "fma %th,"))


def test_sigmoids() -> None:
    assert_equal(sigmoid("safe"), sigmoid("safe"))
    assert assert_found(sigmoid("safe"), sigmoid("unsafe"), "arithmetic/reformulated").impact == "logic"
    assert assert_found(sigmoid("safe"), sigmoid("half"), "arithmetic/reformulated").impact == "ulp"
    assert assert_found(sigmoid("safe"), sigmoid("wrong"), "arithmetic").impact == "logic"


def test_a_reformulation_is_never_silent() -> None:
    """Agreement at some points is no proof: the finding stays."""
    first = with_value(f"%e = exp %v : {T}\n%w = divf %e, %v : {T}")
    second = with_value(f"%e = exp %v : {T}\n%r = divf %one, %v : {T}\n%w = mulf %e, %r : {T}")
    result = found(first, second)
    assert [each.impact for each in result][:1] == ["ulp"]


@pytest.mark.parametrize(("test", "impact"), [("less_than", "edge"), ("greater_than", "logic")])
def test_a_maximum_by_selection_in_a_reduction(test: str, impact: str) -> None:
    """It differs for NaN and signed zeros only; the minimum is another function."""

    def reduced(combine: str) -> str:
        return with_value(
            f"%most = reduce %v dim=0 identities=[0xFF800000 : f32] : {T} -> tile<f32> "
            f"(%p: tile<f32>, %q: tile<f32>) {{\n{combine}\nyield %r : tile<f32>\n}}\n"
            f"%most1 = reshape %most : tile<f32> -> tile<1xf32>\n%w = broadcast %most1 : tile<1xf32> -> {T}"
        )

    chosen = (
        f"%c = cmpf {test} ordered %p, %q : tile<f32> -> tile<i1>\n"
        "%r = select %c, %q, %p : tile<i1>, tile<f32>"
    )
    results = found(reduced("%r = maxf %p, %q : tile<f32>"), reduced(chosen))
    assert {each.impact for each in results} == {impact}


# ---- what an impact says at worst --------------------------------------------------------------------

ADDED = f"""%least = constant <f32: 0xFF800000> : {T}
%bias = select %in, %zero, %least : tile<128xi1>, {T}
%masked = addf %v, %bias : {T}
%w = exp %masked : {T}"""
CHOSEN = f"""%least = constant <f32: 0xFF800000> : {T}
%masked = select %in, %v, %least : tile<128xi1>, {T}
%w = exp %masked : {T}"""
FINITE = ADDED.replace("0xFF800000", "-100.0")


def unmasked(body: str) -> str:
    """As ``with_value``, for all lanes: the mask is the body's own."""
    return (
        with_value(body)
        .replace("%pa, %in, %zero token=%t : tile<128xptr<f32>>, tile<128xi1>, tile<128xf32>", PLAIN)
        .replace("%pb, %w, %in token=%t : tile<128xptr<f32>>, tile<128xf32>, tile<128xi1>", STORED)
    )


PLAIN = "%pa token=%t : tile<128xptr<f32>>"
STORED = "%pb, %w token=%t : tile<128xptr<f32>>, tile<128xf32>"


def test_a_mask_that_is_added_is_no_rounding() -> None:
    """A finite number masked by adding minus infinity is what a selection gives."""
    for reference, generated in ((ADDED, CHOSEN), (CHOSEN, ADDED)):
        first = found(unmasked(reference), unmasked(generated))[0]
        assert (first.rule, first.impact) == ("arithmetic/reformulated", "edge")
    assert all(each.impact != "edge" for each in found(unmasked(CHOSEN), unmasked(FINITE)))


@pytest.mark.parametrize(
    ("use", "other", "expected"),
    [
        ("mulf %v, %c", "0x3E095D4E", "ulp"),
        ("addf %v, %c", "0x3E095D50", "ulp"),
        ("mulf %v, %c", "0x3E095D51", "logic"),
        ("mulf %v, %c", "0xBE095D4F", "logic"),
        ("maxf %v, %c", "0x3E095D4E", "logic"),
    ],
)
def test_a_factor_that_is_off_by_its_last_bit(use: str, other: str, expected: str) -> None:
    def text(bits: str) -> str:
        return with_value(f"%c = constant <f32: {bits}> : {T}\n%w = {use} : {T}")

    (only,) = found(text("0x3E095D4F"), text(other))
    assert (only.rule, only.impact) == ("constant/value", expected)


def written(x: Formula, value: Formula, short: str) -> str:
    """How a report tells a value that such an op computes."""
    names = {x.term: "x"}

    def one(term: Term) -> str:
        return show(x.terms, term, names)

    def both(a: Term, b: Term) -> tuple[str, str]:
        return show_both(x.terms, a, b, names)

    blame = SimpleNamespace(terms=x.terms, show=one, both=both)
    op = cast("TileOp", SimpleNamespace(short=short))
    return as_written(cast("Blame", blame), value.term, x.term, op, None)[0]


@pytest.mark.parametrize(("short", "read"), [("divf", "divf(x, 1024)"), ("mulf", "mulf(x, 0.0009765625)")])
def test_a_quotient_by_a_power_of_two_reads_as_the_op_is(x: Formula, short: str, read: str) -> None:
    """The normal form makes a product of it."""
    assert written(x, x / number(x.terms, 1024), short) == read


def test_a_fused_exact_product_reads_as_the_op_is(x: Formula) -> None:
    """The normal form makes a sum of it."""
    value = number(x.terms, 0.5).call("fma", x, x.call("exp"))
    assert written(x, value, "fma").startswith("fma(")
    assert written(x, value, "addf").startswith("addf(")


def test_what_reads_other_inputs_is_no_reformulation(terms: Terms, x: Formula, y: Formula) -> None:
    """Both give zero wherever they are tried, since what is compared is too small."""
    z, none, limit = (Formula(terms, terms.leaf("arg", 0, 2)), number(terms, 0.0), number(terms, 0.3))

    def dropped(seed: Formula, scale: float) -> Formula:
        small = (seed * number(terms, scale)).term
        cond = terms.node("fcmp", ("less_than",), (limit.term, small))
        return Formula(terms, terms.ite(cond, x.term, none.term, "data"))

    assert impact(dropped(y, 3e-10), dropped(z, 3e-10)) is None
    assert impact(dropped(y, 3e-10), dropped(y, 3.0001e-10)) is not None


@pytest.mark.parametrize(
    ("factors", "total", "told"),
    [
        ("%17, %18, %cst_0_f32", "%iterArg0, %19a", ("arithmetic/reformulated", "ulp")),
        ("%17, %18, %cst_0_f32", "%19a, %19a", None),
        ("%17, %18, %iterArg0", "%iterArg0, %19a", None),
    ],
)
def test_a_product_that_is_added_by_an_op_of_its_own(
    factors: str, total: str, told: tuple[str, str] | None
) -> None:
    reference, generated = ((ROOT / f"kernels/matmul/{side}.mlir").read_text() for side in ("py", "rs"))
    line = next(each for each in generated.splitlines() if "= mmaf" in each)
    kinds = line[line.index(" : ") :]
    wide = f"{{0}} : {kinds.rpartition(', ')[2]}".format
    added = f"    %19a = mmaf {factors}{kinds}\n    %19 = addf {wide(total)}"
    found_ = [(each.rule, each.impact) for each in found(reference, generated.replace(line, added))]
    assert found_ == [told] if told else found_ and ("arithmetic/reformulated", "ulp") not in found_
