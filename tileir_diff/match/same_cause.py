"""Places that differ for one reason: the same part of an index is wrong in several accesses."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tileir_diff.graph.terms import Mono, Term
    from tileir_diff.match.blame import Blame
    from tileir_diff.match.model import Difference

INDEX, AXIS, MASKS = "addressing/index", "grid/axis", "mask"
VALUES = frozenset({"arithmetic/not-proven", "arithmetic/op", "arithmetic/operands"})
"""Rules of values of which the numbers in which they differ are known."""
CONSTANT: frozenset[Mono] = frozenset(((),))
WRITES = ("store", "atomic")


def differing_parts(blame: Blame, a: Term, b: Term) -> frozenset[Mono]:
    """The summands in which two addresses or conditions differ, without their sizes and strides."""
    terms = blame.terms
    left, right = _summands(blame, a), _summands(blame, b)
    return frozenset(
        tuple(atom for atom in mono if terms.kind[atom] != "arg")
        for mono, _ in left.symmetric_difference(right)
    )


def _summands(blame: Blame, term: Term) -> set[tuple[Mono, int]]:
    terms = blame.terms
    if terms.kind[term] == "poly":
        return set(terms.items(term))
    parts = terms.conjuncts(term)
    polys = [terms.args[part][0] for part in parts if terms.kind[part] == "le"]
    return {item for poly in polys for item in terms.items(poly)}


def one_cause(blame: Blame, found: list[Difference]) -> list[Difference]:
    """Findings about places, with those left out that follow from one before.

    An index, or the axis of the grid in it, is told where it is first met, with the lines of the other
    accesses that have the same part of it wrong; a mask that differs in this part goes with it. A value is
    told where a wrong number is first met in such an op. Where another array is written, what is read before
    or after a write is no finding of its own.
    """
    other_array = any(each.rule == "addressing/base" and _writes(each) for each in found)
    found = [each for each in found if not (other_array and each.rule == "token-order/changed")]
    kept: list[Difference] = []
    also: dict[int, list[Difference]] = {}
    roots = [each for each in found if each.rule in {INDEX, AXIS, *VALUES} and _parts(blame, each)]
    for difference in found:
        root = _root(blame, roots, difference)
        if root is None or root is difference:
            kept.append(difference)
        else:
            also.setdefault(id(root), []).append(difference)
    return [each.at_lines_too(also.get(id(each), ())) for each in kept]


def _root(blame: Blame, roots: list[Difference], difference: Difference) -> Difference | None:
    """The first finding of which the same part is wrong; None where the difference stands for itself."""
    if difference.rule in VALUES:
        return next((root for root in roots if _same_numbers(blame, difference, root)), None)
    if difference.rule not in (INDEX, AXIS) and not difference.rule.startswith(f"{MASKS}/"):
        return None
    places = (root for root in roots if root.rule in (INDEX, AXIS))
    return next((root for root in places if root is difference or same_parts(blame, difference, root)), None)


def _same_numbers(blame: Blame, one: Difference, other: Difference) -> bool:
    """Whether two values differ from the reference's in the same numbers."""
    return other.rule in VALUES and _parts(blame, one) == _parts(blame, other)


def same_parts(blame: Blame, one: Difference, other: Difference) -> bool:
    """Whether the same summands differ in two addresses or masks."""
    return _shared(_parts(blame, one), _parts(blame, other))


def _shared(one: frozenset[Mono], other: frozenset[Mono]) -> bool:
    """Whether the same summands differ; a constant alone says something only where there is nothing else."""
    named = one - CONSTANT, other - CONSTANT
    return bool(named[0] & named[1]) if any(named) else bool(one & other)


def _parts(blame: Blame, difference: Difference) -> frozenset[Mono]:
    place = difference.generated
    return frozenset() if place is None else blame.parts.get((difference.rule, id(place.op)), frozenset())


def without_identities(found: list[Difference]) -> list[Difference]:
    """The findings, without what a reduction or scan starts from, where it is told to combine otherwise.

    Nor in which type: that of a maximum may be a narrower one than the dump's.
    """
    other = {
        id(op)
        for each in found
        if each.rule.endswith("/combiner") and each.generated is not None
        for op in (each.generated.op, each.generated.op.parent_op())
    }
    return [
        each
        for each in found
        if not each.rule.endswith(("/identity", "element-type/changed"))
        or each.generated is None
        or id(each.generated.op) not in other
    ]


def _writes(difference: Difference) -> bool:
    return difference.generated is not None and difference.generated.op.short.startswith(WRITES)
