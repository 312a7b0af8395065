"""What holds wherever both kernels are defined: promises, sizes, iterations, divisors."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from tileir_diff.dialect.attributes import Bounded, DivBy
from tileir_diff.equivalence.symbolic.answer import Fact
from tileir_diff.graph.values import View, is_pointer, operand

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tileir_diff.graph.kernel import Kernel, Promise
    from tileir_diff.graph.terms import Term, Terms

SIDES = ("reference", "generated")


class Known(NamedTuple):
    """A predicate that holds, with what says so; None: it holds by construction, and needs no mention."""

    term: Term
    fact: Fact | None
    about: Term | None = None
    """A symbol without which it says nothing: an iteration is below a count only where there is one."""


def facts_of(kernel: Kernel, show: Callable[[Term], str]) -> Iterator[Known]:
    """What holds for every block, lane and iteration in which the kernel is defined.

    Promises in branches and in loops hold only where they are reached, and are left out.
    """
    terms = kernel.terms
    for promise in kernel.promises:
        if promise.loops or promise.guard != terms.true or not isinstance(promise.term, int):
            continue
        term = _promised(terms, promise)
        if term not in (None, terms.true):
            yield Known(term, _said(kernel, promise.op.span.line, show(term)))
    for op in kernel.ops:
        view = kernel.values.get(op.results[0]) if op.short == "make_tensor_view" else None
        if isinstance(view, View) and getattr(op.parent_op(), "short", "") == "entry":
            for size in (*view.shape, *view.strides):
                term = terms.le0(terms.scale(size, -1))
                if term != terms.true:
                    yield Known(term, Fact(f"{show(term)}, a size or stride of an array", "dialect"))
    for loop in kernel.loops:
        if loop.trip is not None:
            last = terms.sub(loop.trip, terms.one)
            yield Known(terms.le0(terms.sub(terms.atom(loop.iteration), last)), None, loop.iteration)
    for axis in (axis for axis in range(3) if kernel.grid[axis] is None):
        block, grid = (terms.atom(terms.leaf(kind, axis)) for kind in ("block", "grid"))
        yield Known(terms.compare("less_than", block, grid), None)


def _promised(terms: Terms, promise: Promise) -> Term | None:
    """The promise as a predicate; None where it is not about single integers."""
    if is_pointer(operand(promise.op, "value")):
        return None
    what = promise.assumption
    if isinstance(what, Bounded):
        parts = [(what.lower, "greater_than_or_equal"), (what.upper, "less_than_or_equal")]
        return terms.conjunction(
            terms.compare(order, promise.term, terms.const(bound))
            for bound, order in parts
            if bound is not None
        )
    if isinstance(what, DivBy) and what.every is None:
        return terms.eq0(terms.mod(promise.term, terms.const(what.divisor)))
    return None


def _said(kernel: Kernel, line: int, text: str) -> Fact:
    return Fact(f"{text} (assume, line {line})", SIDES[kernel.side])


def divisions(kernel: Kernel) -> dict[Term, Fact]:
    """The divisors of all divisions that are done whatever the input, which are therefore not 0."""
    terms = kernel.terms
    found: dict[Term, Fact] = {}
    for op, divisor, guard in kernel.divisions:
        if guard == terms.true and not kernel_is_conditional(op):
            found.setdefault(
                divisor, Fact(f"the divisor of line {op.span.line} is not 0", SIDES[kernel.side])
            )
    return found


def kernel_is_conditional(op: object) -> bool:
    """Whether an op stands in a loop or a branch."""
    above = getattr(op, "parent_op", lambda: None)()
    return getattr(above, "short", "") != "entry"
