"""What holds wherever both kernels are defined: promises, sizes, iterations, divisors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from tileir_diff.dialect.attributes import Bounded, DivBy
from tileir_diff.dialect.types import GatherScatterView
from tileir_diff.equivalence.symbolic.answer import Fact
from tileir_diff.equivalence.symbolic.concrete import may_leave
from tileir_diff.graph.integers import NO_SIGNED_WRAP
from tileir_diff.graph.values import View, element_bits, is_pointer, operand
from tileir_diff.match.overflow import exact_result

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from tileir_diff.dialect.ir import TileOp
    from tileir_diff.graph.kernel import Kernel, Promise
    from tileir_diff.graph.terms import Term, Terms

INDEX_KINDS = frozenset({"poly", "div", "tdiv", "min", "max", "ite", "b2i", "wrap", "zext", "mul"})
INDEX_SYMBOLS = frozenset({"arg", "block", "grid", "lane", "bound", "iter", "it", "carry_lane"})
CONDITIONS = frozenset({"le", "eq", "not", "and", "or", "ult", "true", "false"})
SIDES = ("reference", "generated")


class Known(NamedTuple):
    """A predicate that holds, with what says so; None: it holds by construction, and needs no mention.

    owed  it holds only where the generated side is defined, which must be shown
    """

    term: Term
    fact: Fact | None
    owed: bool = False


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
            what = promise.assumption
            divisor = what.divisor if isinstance(what, DivBy) else None
            words = show(term) if divisor is None else f"{show(promise.term)} is a multiple of {divisor}"
            yield Known(term, _said(kernel, promise.op.span.line, words))
    for op in kernel.ops:
        view = kernel.values.get(op.results[0]) if op.short == "make_tensor_view" else None
        if isinstance(view, View) and getattr(op.parent_op(), "short", "") == "entry":
            for size in (*view.shape, *view.strides):
                term = terms.le0(terms.scale(size, -1))
                if term != terms.true:
                    yield Known(term, Fact(f"{show(term)}, a size or stride of an array", "dialect"))
    yield from _inside_of_views(kernel)
    yield from _in_range(kernel)
    for loop in kernel.loops:
        if loop.trip is not None:
            last = terms.sub(loop.trip, terms.one)
            yield Known(terms.le0(terms.sub(terms.atom(loop.iteration), last)), None)
    for axis in (axis for axis in range(3) if kernel.grid[axis] is None):
        block, grid = (terms.atom(terms.leaf(kind, axis)) for kind in ("block", "grid"))
        yield Known(terms.compare("less_than", block, grid), None)


def _inside_of_views(kernel: Kernel) -> Iterator[Known]:
    """An access through a view has its tile begin inside the view: it is undefined otherwise.

    Where it is in a branch or a loop, as far as it is reached.
    """
    terms = kernel.terms
    for effect in kernel.effects:
        running = [loop.trip for loop in effect.loops if loop.trip is not None and loop.stride is None]
        if not effect.coordinates or len(running) < len(effect.loops):
            continue
        reached = terms.conjunction(
            (effect.guard, *(terms.le0(terms.sub(terms.one, trip)) for trip in running))
        )
        if isinstance(operand(effect.op, "view").type, GatherScatterView):
            continue  # one of elements may begin outside
        for coordinate, size in zip(effect.coordinates, effect.extents, strict=True):
            lanes = {s: terms.zero for s in terms.symbols[coordinate] if terms.kind[s] == "lane"}
            first = terms.subst(coordinate, lanes)
            inside = terms.conjunction(
                (terms.le0(terms.scale(first, -1)), terms.compare("less_than", first, size))
            )
            term = terms.disjunction((terms.negate(reached), inside))
            if term != terms.true and of_indices(terms, term):
                line = effect.op.span.line
                fact = Fact(f"the tile of line {line} begins inside of its view", SIDES[kernel.side])
                yield Known(term, fact, owed=kernel.side == 1)


def promised_to_fit(kernel: Kernel) -> dict[Term, Known]:
    """Ops that promise not to wrap as signed ones are undefined where they do: facts by what may wrap.

    Those of the generated side count too: the comparison tells them apart from the reference's.
    """
    terms = kernel.terms
    loops = {id(loop.op): loop.iteration for loop in kernel.loops if loop.stride is None}
    found: dict[Term, Known] = {}
    for op in kernel.ops:
        term = kernel.values.get(op.results[0]) if op.get("overflow") in NO_SIGNED_WRAP else None
        wrap = terms.single(term) if isinstance(term, int) else None
        if wrap is None or terms.kind[wrap] != "wrap":
            continue
        around = _always_around(op)
        iterations = None if around is None else [loops.get(id(each)) for each in around]
        if iterations is None or any(each not in terms.symbols[wrap] for each in iterations):
            continue
        operands = [each for value in op.operands if isinstance(each := kernel.values.get(value), int)]
        # of the operands as they are: what they wrapped is no matter of this op
        result = exact_result(terms, op, operands) if len(operands) == len(op.operands) else None
        if result is not None:
            line = op.span.line
            fact = Fact(f"the {op.short} of line {line} does not wrap, as it promises", SIDES[kernel.side])
            found[wrap] = Known(in_width(terms, result, terms.attr[wrap][0]), fact)
    return found


def _always_around(op: TileOp) -> list[TileOp] | None:
    """The loops around an op that each of their iterations reaches; None where one may pass it over."""
    found: list[TileOp] = []
    inner: Any = op
    while inner.short != "entry":
        above: Any = inner.parent_op()
        if may_leave(inner) or above.short not in ("entry", "for"):
            return None
        if above.short == "for":
            found.append(above)
        inner = above
    return found


def _in_range(kernel: Kernel) -> Iterator[Known]:
    """The least number of a type divided by -1 does not fit the type, so that it is undefined."""
    terms = kernel.terms
    for op, divisor, guard in kernel.divisions:
        dividend = kernel.values.get(operand(op, "lhs"))
        if op.get("signed") != "signed" or guard != terms.true or kernel_is_conditional(op):
            continue
        least = -(1 << (element_bits(op.results[0]) - 1))
        if isinstance(dividend, int):
            overflows = terms.conjunction(
                (
                    terms.eq0(terms.sub(dividend, terms.const(least))),
                    terms.eq0(terms.add(divisor, terms.one)),
                )
            )
            term = terms.negate(overflows)
            if term != terms.true and of_indices(terms, term):
                fact = Fact(f"the division of line {op.span.line} does not overflow", SIDES[kernel.side])
                yield Known(term, fact, owed=kernel.side == 1)


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


def of_indices(terms: Terms, term: Term) -> bool:
    """Index arithmetic, or a condition on it: over sizes, blocks, lanes and iterations."""
    kinds = INDEX_KINDS | INDEX_SYMBOLS | CONDITIONS
    return all(terms.kind[node] in kinds for node in nodes_under(terms, (term,)))


def nodes_under(terms: Terms, roots: Iterable[Term]) -> Iterator[Term]:
    """All terms that some terms are made of, themselves included, each once."""
    seen = dict.fromkeys(roots)
    work = list(seen)
    while work:
        node = work.pop()
        yield node
        new = [arg for arg in dict.fromkeys(terms.args[node]) if arg not in seen]
        seen.update(dict.fromkeys(new))
        work += new


def in_width(terms: Terms, term: Term, bits: int) -> Term:
    """That an integer is a signed number of this width."""
    half = 1 << (bits - 1)
    return terms.conjunction(
        (terms.le0(terms.sub(term, terms.const(half - 1))), terms.le0(terms.sub(terms.const(-half), term)))
    )
