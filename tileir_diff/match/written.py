"""Values as the dump has them, where the normal form writes their last op otherwise."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tileir_diff.graph import floats

if TYPE_CHECKING:
    from tileir_diff.graph.terms import Term
    from tileir_diff.match.blame import Blame, Op


def as_written(blame: Blame, a: Term, b: Term, ref_op: Op, gen_op: Op) -> tuple[str, str]:
    """How two unequal values read, each by the op that computes it.

    A quotient by a power of two is a product in the normal form, and an ``fma`` with an exact product is a
    sum: a finding at such an op would quote a formula that nobody wrote.
    """
    shown = blame.both(a, b)
    ours, theirs = _written(blame, a, ref_op), _written(blame, b, gen_op)
    words = ours or shown[0], theirs or shown[1]
    return words if words[0] != words[1] else shown


def _written(blame: Blame, term: Term, op: Op) -> str:
    """ "" where the value reads as the op does."""
    terms = blame.terms
    if op is None or terms.kind[term] != "f" or len(terms.args[term]) != 2:
        return ""
    form = op.short, terms.attr[term][0]
    if form == ("divf", "mulf"):
        return _quotient(blame, *terms.args[term]) or _quotient(blame, *terms.args[term][::-1])
    if form == ("fma", "addf"):
        return _fused(blame, *terms.args[term]) or _fused(blame, *terms.args[term][::-1])
    return ""


def _quotient(blame: Blame, value: Term, factor: Term) -> str:
    number = floats.constant_of(blame.terms, factor)
    return f"divf({blame.show(value)}, {1 / number:.9g})" if number else ""


def _fused(blame: Blame, product: Term, summand: Term) -> str:
    """Only a product with a constant can be exact."""
    terms = blame.terms
    factors = terms.args[product]
    is_product = terms.kind[product] == "f" and terms.attr[product][0] == "mulf" and len(factors) == 2
    if not is_product or all(terms.kind[factor] != "fc" for factor in factors):
        return ""
    return f"fma({', '.join(map(blame.show, (*factors, summand)))})"
